//! The host's side of the processes that the driver lists: who they are, and what CPU and memory they use.
//!
//! A process is read once, at first sight; CPU, RSS and state only for those that somebody looks at or records. It refuses to name
//! a process that the driver may not mean, to wait for a user directory, and to keep an environment.

mod family;
mod look;
mod machine;
mod process;
mod stat;
#[cfg(test)]
mod tests;
mod usage;
mod users;
mod visible;

pub use look::look;
pub use machine::Pool;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::model::{Absence, Bytes, HostReading, Moment, ProcessFacts, ProcessKey, Rank, Reading, SafeText, Visibility};
use family::Families;
use machine::Machine;
use nix::unistd::getuid;
use process::{KernelUnits, Seen};
use usage::{StatFile, Usage};
use users::Users;
use visible::Namespace;

/// The most files that are kept open, which is more than a screen has rows: where more processes are recorded, theirs are opened each time.
const MOST_KEPT: usize = 128;

/// What is known of the processes that the driver lists.
#[derive(Debug)]
pub struct Host {
    root: PathBuf,
    namespace: Namespace,
    clock: KernelUnits,
    boot_s: Option<u64>,
    uid: u32,
    known: HashMap<u32, Known>,
    users: Users,
    machine: Machine,
    /// Of this program itself.
    own: Option<StatFile>,
    /// The number of the last refresh.
    round: u64,
}

/// One process.
#[derive(Debug)]
struct Known {
    facts: Arc<ProcessFacts>,
    /// The owner whose name is still to come.
    unnamed: Option<u32>,
    /// It has to be read again: it was stuck, it is gone, or its PID has passed on.
    again: bool,
    /// CPU time in milliseconds, and when it was that.
    cpu: Option<(u64, u64)>,
    /// Kept open while it is asked for.
    stat: Option<StatFile>,
    /// In which round it was asked, and what it answered.
    reading: (u64, Reading<HostReading>),
}

impl Host {
    /// Reads processes under `proc_root`, which is `/proc` but in tests. The figures of [`Host::pool`] come from sysinfo, which knows
    /// only `/proc`.
    pub fn new(proc_root: &Path) -> Self {
        Self::with_users(proc_root, Users::new())
    }

    fn with_users(proc_root: &Path, users: Users) -> Self {
        Self {
            root: proc_root.to_owned(),
            namespace: Namespace::of(proc_root),
            clock: KernelUnits::read(),
            boot_s: machine::boot_s(),
            uid: getuid().as_raw(),
            known: HashMap::new(),
            users,
            machine: Machine::default(),
            own: StatFile::open(proc_root, "self"),
            round: 0,
        }
    }

    /// Whether PIDs mean the same here as to the driver.
    pub const fn sees_host_pids(&self) -> bool {
        self.namespace.is_host()
    }

    /// Meets PIDs: reads those that are not known yet, and adds to `changed` the facts that are new or have changed (a user's name
    /// that arrived, a PID that now belongs to another process). Never waits for a user directory. Known PIDs cost nothing.
    pub fn meet(&mut self, pids: &[u32], changed: &mut Vec<Arc<ProcessFacts>>) {
        self.meet_some(pids, usize::MAX, changed);
    }

    /// As [`Host::meet`], but at most `budget` processes are read; the others stay unknown until the next call. Returns whether
    /// all are known.
    pub fn meet_some(&mut self, pids: &[u32], budget: usize, changed: &mut Vec<Arc<ProcessFacts>>) -> bool {
        if self.users.take() {
            self.rename(changed);
        }
        let mut left = budget;
        let mut families = Families::default();
        for &pid in pids {
            if self.known.get(&pid).is_some_and(|known| !known.again) {
                continue;
            }
            if left == 0 {
                return false;
            }
            left -= 1;
            self.look_at(pid, &mut families, changed);
        }
        true
    }

    /// What is known of a process; `None` for one that was never met.
    pub fn facts(&self, pid: u32) -> Option<&Arc<ProcessFacts>> {
        self.known.get(&pid).map(|known| &known.facts)
    }

    /// Asks for CPU, RSS and state of these processes and no others. `now_ms` is of any clock that never jumps. A process that is
    /// gone, or whose PID has passed to another, is read anew by the next [`Host::meet`].
    pub fn refresh(&mut self, pids: &[u32], now_ms: u64) {
        self.round += 1;
        let round = self.round;
        for pid in pids {
            let Some(known) = self.known.get_mut(pid) else { continue };
            // A process on two GPUs is listed twice and asked once.
            if known.reading.0 == round || known.facts.visibility == Visibility::NotHere {
                continue;
            }
            let stat = known.stat.take().or_else(|| StatFile::open(&self.root, &pid.to_string()));
            let usage = stat.as_ref().and_then(|stat| stat.usage(self.clock)).filter(|usage| known.is_same(usage));
            known.again |= usage.is_none();
            known.stat = stat.filter(|_| usage.is_some() && pids.len() <= MOST_KEPT);
            known.reading = (round, usage.map_or(Reading::failed("process is gone"), |usage| Reading::Value(known.take(usage, now_ms))));
        }
        for known in self.known.values_mut().filter(|known| known.reading.0 != round) {
            known.stat = None;
        }
    }

    /// What the last refresh found of a process: not asked where it was not in it, not permitted where it cannot be seen here.
    pub fn reading(&self, pid: u32) -> Reading<HostReading> {
        match self.known.get(&pid) {
            Some(known) if known.facts.visibility == Visibility::NotHere => Reading::Absent(Absence::NotPermitted),
            Some(known) if known.reading.0 == self.round => known.reading.1.clone(),
            _ => Reading::NOT_ASKED,
        }
    }

    /// Forgets the processes that are no longer listed: their PIDs are met anew should they come back.
    pub fn retain(&mut self, listed: &dyn Fn(u32) -> bool) {
        self.known.retain(|pid, _| listed(*pid));
    }

    /// For one-shot modes: gives the names that were asked for a moment to arrive, at most `deadline`. Processes that were stuck in
    /// the kernel get a second look.
    pub fn wait_for_users(&mut self, deadline: Duration, changed: &mut Vec<Arc<ProcessFacts>>) {
        self.users.wait(deadline);
        self.rename(changed);
        let again: Vec<u32> = self.known.iter().filter(|(_, known)| known.again).map(|(pid, _)| *pid).collect();
        self.meet(&again, changed);
    }

    /// The machine's memory, for GPUs that share it.
    pub fn pool(&mut self) -> Reading<Pool> {
        self.machine.pool()
    }

    /// CPU time that this program has used so far, in microseconds, and its RSS; `None` where the kernel does not tell it.
    pub fn own(&self) -> (Option<u64>, Option<Bytes>) {
        (usage::own_cpu_us(), self.own.as_ref().and_then(|own| own.usage(self.clock)).map(|usage| usage.rss))
    }

    /// The machine's name; `?` where it has none.
    pub fn hostname() -> SafeText {
        machine::hostname()
    }

    fn look_at(&mut self, pid: u32, families: &mut Families, changed: &mut Vec<Arc<ProcessFacts>>) {
        let seen = Seen::read(&self.root, pid).filter(|_| self.namespace.sees(&self.root, pid));
        let before = self.known.remove(&pid);
        let again = seen.as_ref().is_some_and(|seen| seen.partial);
        let (facts, unnamed) = match (seen, &before) {
            (Some(seen), Some(before)) if seen.partial && before.facts.key == seen.key(pid) => ((*before.facts).clone(), before.unnamed),
            (Some(seen), _) => {
                // Whose parent has died since is the child of another now; the family stays that of first sight.
                let known = before.as_ref().filter(|before| before.facts.key == seen.key(pid)).map(|before| &before.facts);
                let parent = known.map_or_else(|| Some(seen.stat.parent).filter(|pid| *pid > 0), |facts| facts.parent);
                let ancestors = known.map_or_else(|| families.of(&self.root, &seen.stat), |facts| facts.ancestors.clone());
                let (facts, unnamed) = self.introduce(pid, seen);
                (ProcessFacts { parent, ancestors, ..facts }, unnamed)
            }
            // The driver still charges it with memory: the row keeps its name and loses its signals.
            (None, Some(before)) => (ProcessFacts { visibility: Visibility::NotHere, ..(*before.facts).clone() }, before.unnamed),
            (None, None) => (ProcessFacts::unseen(pid), None),
        };
        let known = match before {
            Some(before) if *before.facts == facts => Known { again, ..before },
            before => {
                let same = before.filter(|before| before.facts.key == facts.key);
                let facts = Arc::new(facts);
                changed.push(Arc::clone(&facts));
                Known { facts, unnamed, again, cpu: same.and_then(|same| same.cpu), stat: None, reading: (0, Reading::NOT_ASKED) }
            }
        };
        self.known.insert(pid, known);
    }

    /// The facts of a process that was seen, but for its family, and its owner if the name is still to come.
    fn introduce(&mut self, pid: u32, seen: Seen) -> (ProcessFacts, Option<u32>) {
        let name = seen.uid.and_then(|uid| self.users.name(uid));
        let unnamed = seen.uid.filter(|_| name.is_none());
        let facts = ProcessFacts {
            key: seen.key(pid),
            visibility: Visibility::Here,
            user: name.or_else(|| seen.uid.map(|uid| SafeText::new(&uid.to_string()))),
            mine: seen.uid == Some(self.uid),
            what: SafeText::new(&seen.what.short),
            what_full: SafeText::new(&seen.what.full),
            cmdline: seen.cmdline,
            container: seen.what.container.as_deref().map(SafeText::new),
            job: seen.what.job.as_deref().map(SafeText::new),
            rank: seen.what.rank.map(|rank| Rank { rank: rank.rank, world: rank.world, local: rank.local }),
            started: self.boot_s.and_then(|boot_s| started(boot_s, seen.stat.start_ticks, self.clock)),
            parent: None,
            ancestors: Vec::new(),
        };
        (facts, unnamed)
    }

    /// Gives the processes of users whose names have arrived these names.
    fn rename(&mut self, changed: &mut Vec<Arc<ProcessFacts>>) {
        for known in self.known.values_mut() {
            if let Some(name) = known.unnamed.and_then(|uid| self.users.known(uid)) {
                Arc::make_mut(&mut known.facts).user = Some(name.clone());
                known.unnamed = None;
                changed.push(Arc::clone(&known.facts));
            }
        }
    }
}

impl Seen {
    const fn key(&self, pid: u32) -> ProcessKey {
        ProcessKey { pid, start_ticks: Some(self.stat.start_ticks) }
    }
}

impl Known {
    /// Whether what was read is still this process.
    fn is_same(&self, usage: &Usage) -> bool {
        self.facts.key.start_ticks == Some(usage.start_ticks)
    }

    /// Its reading, and the mark from which the next one counts CPU time.
    fn take(&mut self, usage: Usage, now_ms: u64) -> HostReading {
        let cpu_permille = self.cpu.and_then(|(cpu_ms, at_ms)| permille(usage.cpu_ms.saturating_sub(cpu_ms), now_ms.saturating_sub(at_ms)));
        self.cpu = Some((usage.cpu_ms, now_ms));
        HostReading { cpu_permille, rss: usage.rss, state: usage.state }
    }
}

/// A share of time in thousandths; `None` where no time has passed.
fn permille(part_ms: u64, whole_ms: u64) -> Option<u32> {
    u32::try_from(part_ms.saturating_mul(1_000).checked_div(whole_ms)?).ok()
}

/// The wall-clock time of a start that is given in ticks since boot.
fn started(boot_s: u64, start_ticks: u64, clock: KernelUnits) -> Option<Moment> {
    let since_boot_ms = start_ticks.checked_mul(1_000)? / clock.ticks_per_s;
    let unix_ms = boot_s.checked_mul(1_000)?.checked_add(since_boot_ms)?;
    Some(Moment { unix_ms: i64::try_from(unix_ms).ok()? })
}
