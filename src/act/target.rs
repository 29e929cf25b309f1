//! A process that a signal can be sent to, and to no other: bound by a handle of the kernel and by its start time.
//!
//! A PID alone is no identity, since it can pass to another process between a look and a signal.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{self, Pid, PidfdFlags};

use crate::model::{ProcessKey, Refusal, RunState, SafeText, Signal};

/// One process, whatever becomes of its number.
#[derive(Debug)]
pub struct Target {
    key: ProcessKey,
    handle: OwnedFd,
    /// Its `stat`, opened before the handle was: reading it fails once the process is gone.
    stat: File,
}

impl Target {
    /// Takes hold of a process, and says in which state it is.
    ///
    /// # Errors
    /// When it has ended, is another than the one that is meant, or may not be signalled.
    pub fn open(proc_root: &Path, key: ProcessKey) -> Result<(Self, RunState), Refusal> {
        key.start_ticks.ok_or(Refusal::NotHere)?;
        let pid = i32::try_from(key.pid).ok().and_then(Pid::from_raw).ok_or(Refusal::NotHere)?;
        let stat = File::open(proc_root.join(key.pid.to_string()).join("stat")).map_err(|error| refusal_of(&error))?;
        check(&stat, key)?;
        let handle = process::pidfd_open(pid, PidfdFlags::empty()).map_err(why)?;
        // The process that `stat` was opened on still lives, so the number was its own all the while: the handle is of it.
        let state = check(&stat, key)?;
        process::test_kill_process(pid).map_err(why)?;
        Ok((Self { key, handle, stat }, state))
    }

    /// Who it is.
    pub const fn key(&self) -> ProcessKey {
        self.key
    }

    /// Sends a signal to it, if it is still the same, and says in which state it was.
    ///
    /// # Errors
    /// When it has ended, or the kernel refuses.
    pub fn send(&self, signal: Signal) -> Result<RunState, Refusal> {
        let state = check(&self.stat, self.key)?;
        process::pidfd_send_signal(&self.handle, number(signal)).map_err(why)?;
        Ok(state)
    }
}

/// The state of the process that a `stat` is of, if it began when it should have.
fn check(stat: &File, key: ProcessKey) -> Result<RunState, Refusal> {
    let mut line = [0; 1024];
    let length = stat.read_at(&mut line, 0).map_err(|error| refusal_of(&error))?;
    let seen = parse(&line[..length]).ok_or(Refusal::Ended)?;
    match seen.state {
        _ if Some(seen.start_ticks) != key.start_ticks => Err(Refusal::Replaced),
        // The first thread of a process may end before the others, which a signal still reaches.
        RunState('Z') if seen.threads < 2 => Err(Refusal::Zombie),
        state => Ok(state),
    }
}

/// What counts of a `stat`.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    state: RunState,
    threads: u64,
    start_ticks: u64,
}

/// The name before the figures may hold anything, so it ends at the last parenthesis.
fn parse(line: &[u8]) -> Option<Seen> {
    let close = line.iter().rposition(|byte| *byte == b')')?;
    let mut fields = std::str::from_utf8(line.get(close + 1..)?).ok()?.split_ascii_whitespace();
    // Numbered from 1 as in proc(5): the state is field 3, the number of threads field 20, the start field 22.
    let state = RunState(fields.next()?.chars().next()?);
    let threads = fields.nth(20 - 4)?.parse().ok()?;
    let start_ticks = fields.nth(22 - 21)?.parse().ok()?;
    Some(Seen { state, threads, start_ticks })
}

const fn number(signal: Signal) -> process::Signal {
    match signal {
        Signal::Term => process::Signal::TERM,
        Signal::Int => process::Signal::INT,
        Signal::Kill => process::Signal::KILL,
        Signal::Hup => process::Signal::HUP,
        Signal::Quit => process::Signal::QUIT,
        Signal::Stop => process::Signal::STOP,
        Signal::Cont => process::Signal::CONT,
        Signal::Usr1 => process::Signal::USR1,
        Signal::Usr2 => process::Signal::USR2,
    }
}

fn why(errno: Errno) -> Refusal {
    match errno {
        Errno::SRCH => Refusal::Ended,
        Errno::PERM | Errno::ACCESS => Refusal::NotPermitted,
        Errno::NOSYS => Refusal::OldKernel,
        other => Refusal::Failed(SafeText::new(&io::Error::from(other).to_string())),
    }
}

fn refusal_of(error: &io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::NotFound => Refusal::Ended,
        _ => error.raw_os_error().map_or_else(|| Refusal::Failed(SafeText::new(&error.to_string())), |code| why(Errno::from_raw_os_error(code))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Child, Command};
    use std::time::{Duration, Instant};

    const PROC: &str = "/proc";

    /// A child that is ended with the test.
    struct Sleeper(Child);

    impl Sleeper {
        fn start() -> Self {
            Self(Command::new("sleep").arg("600").spawn().unwrap())
        }

        fn key(&self) -> ProcessKey {
            let line = fs::read(format!("/proc/{}/stat", self.0.id())).unwrap();
            ProcessKey { pid: self.0.id(), start_ticks: parse(&line).map(|seen| seen.start_ticks) }
        }

        fn ended_of(&mut self) -> Option<i32> {
            let end = Instant::now() + Duration::from_secs(10);
            while Instant::now() < end {
                if let Some(status) = self.0.try_wait().unwrap() {
                    return status.signal();
                }
                std::thread::yield_now();
            }
            None
        }

        fn lives(&mut self) -> bool {
            self.0.try_wait().unwrap().is_none()
        }
    }

    impl Drop for Sleeper {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn open(key: ProcessKey) -> Result<(Target, RunState), Refusal> {
        Target::open(Path::new(PROC), key)
    }

    #[test]
    fn it_ends_the_one_that_is_meant_and_no_other() {
        let (mut meant, mut other) = (Sleeper::start(), Sleeper::start());
        let (target, _) = open(meant.key()).unwrap();
        assert!(target.send(Signal::Term).is_ok());
        assert_eq!(meant.ended_of(), Some(15));
        assert!(other.lives());
    }

    #[test]
    fn another_start_time_is_another_process() {
        let mut child = Sleeper::start();
        let key = child.key();
        let earlier = ProcessKey { start_ticks: key.start_ticks.map(|ticks| ticks - 1), ..key };
        assert_eq!(open(earlier).unwrap_err(), Refusal::Replaced);
        assert_eq!(open(ProcessKey { start_ticks: None, ..key }).unwrap_err(), Refusal::NotHere);
        assert!(child.lives());
    }

    #[test]
    fn one_that_has_ended_since_is_not_signalled() {
        let mut child = Sleeper::start();
        let key = child.key();
        let (target, _) = open(key).unwrap();
        child.0.kill().unwrap();
        child.0.wait().unwrap();
        assert_eq!(target.send(Signal::Kill), Err(Refusal::Ended));
        assert_eq!(open(key).unwrap_err(), Refusal::Ended);
    }

    /// Where the kernel lets a test choose the next PID, a newcomer is given that of a target that has ended.
    #[test]
    fn a_newcomer_with_the_same_number_is_safe() {
        let mut child = Sleeper::start();
        let (target, _) = open(child.key()).unwrap();
        let pid = child.0.id();
        child.0.kill().unwrap();
        child.0.wait().unwrap();
        for _ in 0..200 {
            if fs::write("/proc/sys/kernel/ns_last_pid", (pid - 1).to_string()).is_err() {
                return;
            }
            let mut newcomer = Sleeper::start();
            if newcomer.0.id() == pid {
                assert_eq!(target.send(Signal::Kill), Err(Refusal::Ended));
                assert!(newcomer.lives());
                return;
            }
        }
    }

    #[test]
    fn a_zombie_is_sent_nothing() {
        let mut child = Sleeper::start();
        let key = child.key();
        let (target, _) = open(key).unwrap();
        child.0.kill().unwrap();
        let end = Instant::now() + Duration::from_secs(10);
        while open(key).is_ok() {
            assert!(Instant::now() < end, "it never becomes a zombie");
        }
        assert_eq!((open(key).unwrap_err(), target.send(Signal::Term)), (Refusal::Zombie, Err(Refusal::Zombie)));
        child.0.wait().unwrap();
    }

    #[test]
    fn the_state_is_read_behind_a_hostile_name() {
        let line = |state| format!("7 (a) R 1) {state} 1 1 1 0 -1 4194304 9 0 0 0 3 4 0 0 20 0 5 0 4711 5885952 417 0 0\n");
        assert_eq!(parse(line('D').as_bytes()), Some(Seen { state: RunState('D'), threads: 5, start_ticks: 4711 }));
        assert_eq!(parse(b"7 (a) D 1 1"), None);
    }

    #[test]
    fn every_reason_has_its_word() {
        let cases = [(Errno::SRCH, Refusal::Ended), (Errno::PERM, Refusal::NotPermitted), (Errno::NOSYS, Refusal::OldKernel)];
        for (errno, refusal) in cases {
            assert_eq!(why(errno), refusal);
            assert_eq!(refusal_of(&io::Error::from(errno)), refusal);
        }
        assert!(matches!(why(Errno::INVAL), Refusal::Failed(_)));
    }
}
