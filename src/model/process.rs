//! One process that holds GPU memory: who it is, and what one step read of it.

use std::sync::Arc;

use super::{Bytes, Moment, Reading, SafeText, UtilizationPercent};

/// The identity of a process: its PID can be given to another, its start time cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessKey {
    /// The PID as the driver gives it (in the host's namespace).
    pub pid: u32,
    /// Field 22 of `/proc/PID/stat`, in clock ticks since boot; `None` where the process is not visible here.
    pub start_ticks: Option<u64>,
}

impl ProcessKey {
    /// Whether both are of one process: equal PIDs, and start times that do not contradict each other. One that became known later
    /// makes no other process of it.
    pub fn is_same(self, other: Self) -> bool {
        self.pid == other.pid && self.start_ticks.zip(other.start_ticks).is_none_or(|(a, b)| a == b)
    }
}

/// In which of the driver's lists a process stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    /// The compute list.
    pub compute: bool,
    /// The graphics list.
    pub graphics: bool,
    /// The MPS client list.
    pub mps: bool,
}

impl Kind {
    /// nvidia-smi's letters: `C`, `G`, `C+G`; `M` for a client of MPS alone, `M+C` as nvidia-smi writes both.
    pub const fn letters(self) -> &'static str {
        match (self.mps, self.compute, self.graphics) {
            (false, true, false) => "C",
            (false, false, true) => "G",
            (false, true, true) => "C+G",
            (true, false, false) => "M",
            (true, true, false) => "M+C",
            (true, false, true) => "M+G",
            (true, true, true) => "M+C+G",
            (false, false, false) => "?",
        }
    }

    /// The kind that has these letters.
    pub fn from_letters(text: &str) -> Self {
        let has = |letter| text.split('+').any(|part| part == letter);
        Self { compute: has("C"), graphics: has("G"), mps: has("M") }
    }

    /// In one list or the other.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self { compute: self.compute || other.compute, graphics: self.graphics || other.graphics, mps: self.mps || other.mps }
    }
}

/// Whether the driver's PID is a process that we can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// The local process of that PID is the one that the driver means: it may be named, and offered for a signal.
    Here,
    /// It is in another PID namespace, or gone, or not ours to read.
    NotHere,
}

/// Which of a job's ranks a process is, from the launcher's environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Its number in the whole job.
    pub rank: u32,
    /// How many ranks the job has.
    pub world: Option<u32>,
    /// Its number on this machine.
    pub local: Option<u32>,
}

/// A process above another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ancestor {
    /// Who it is.
    pub key: ProcessKey,
    /// `torchrun train.py`, `bash`, `tmux: server`: a launcher with what it launches, else the kernel's name of it.
    pub name: SafeText,
}

/// What does not change while a process lives. Sent again when more becomes known (a slow user directory).
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessFacts {
    /// Who it is.
    pub key: ProcessKey,
    /// Whether it can be seen here.
    pub visibility: Visibility,
    /// The owner's name, or the number of the user while the name is not known.
    pub user: Option<SafeText>,
    /// Whether the owner is the user who runs vramtop.
    pub mine: bool,
    /// The short name of its work.
    pub what: SafeText,
    /// The same with its telling arguments.
    pub what_full: SafeText,
    /// The whole command line, bounded.
    pub cmdline: Vec<SafeText>,
    /// The container that it runs in.
    pub container: Option<SafeText>,
    /// The job that it belongs to, `slurm 48211.0`.
    pub job: Option<SafeText>,
    /// Its rank in that job.
    pub rank: Option<Rank>,
    /// When it started.
    pub started: Option<Moment>,
    /// The PID of the process that started it, as it was at first sight.
    pub parent: Option<u32>,
    /// Who started it, and who started that one, the nearest first; without the first process of the machine, which is everybody's.
    /// As they were at first sight: one that dies since stays, so that who belongs together does not change with it.
    pub ancestors: Vec<Ancestor>,
}

impl ProcessFacts {
    /// Whether it was seen here and is no longer, although it is listed: the start of one that never was is not known.
    pub const fn is_gone(&self) -> bool {
        matches!(self.visibility, Visibility::NotHere) && self.key.start_ticks.is_some()
    }

    /// A process of which nothing but its number is known.
    pub fn unseen(pid: u32) -> Self {
        Self {
            key: ProcessKey { pid, start_ticks: None },
            visibility: Visibility::NotHere,
            user: None,
            mine: false,
            what: SafeText::new("not visible here"),
            what_full: SafeText::new("not visible here"),
            cmdline: Vec::new(),
            container: None,
            job: None,
            rank: None,
            started: None,
            parent: None,
            ancestors: Vec::new(),
        }
    }
}

/// The scheduler's word for a process, one letter as `ps` prints it (`R`, `S`, `D`, `Z`, …).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunState(pub char);

/// What the host says of a process that somebody looks at or records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostReading {
    /// CPU time in tenths of a percent of one core since the step before; passes 1 000 with several busy threads.
    pub cpu_permille: Option<u32>,
    /// Resident set size.
    pub rss: Bytes,
    /// Scheduler state.
    pub state: RunState,
}

/// What one step read of one process on one GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessSample {
    /// Which of the sample's GPUs, by position in [`super::Sample::gpus`].
    pub gpu: usize,
    /// Who it is.
    pub facts: Arc<ProcessFacts>,
    /// In which lists it stands.
    pub kind: Kind,
    /// What the driver charges it with; absent where the driver does not say.
    pub memory: Reading<Bytes>,
    /// The lowest and highest figure of the lists of this step.
    pub range: Option<(Bytes, Bytes)>,
    /// Share of time in which its kernels ran, from the slow lane.
    pub sm_percent: Reading<UtilizationPercent>,
    /// The host's side.
    pub host: Reading<HostReading>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_nvidia_smis() {
        for letters in ["C", "G", "C+G", "M", "M+C"] {
            assert_eq!(Kind::from_letters(letters).letters(), letters);
        }
        let both = Kind::from_letters("C").or(Kind::from_letters("G"));
        assert_eq!(both.letters(), "C+G");
    }
}
