//! The signals that can be asked for, and why one may not reach its process.

use std::fmt;

use super::SafeText;

/// A signal that the dialog offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The polite end.
    Term,
    /// What Ctrl-C sends.
    Int,
    /// The end that cannot be refused.
    Kill,
    /// The terminal is gone.
    Hup,
    /// The end with a core dump.
    Quit,
    /// Stand still.
    Stop,
    /// Go on.
    Cont,
    /// Whatever the program makes of it.
    Usr1,
    /// Whatever the program makes of it.
    Usr2,
}

impl Signal {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 9] = [Self::Term, Self::Int, Self::Kill, Self::Hup, Self::Quit, Self::Stop, Self::Cont, Self::Usr1, Self::Usr2];

    /// `TERM`
    pub const fn name(self) -> &'static str {
        match self {
            Self::Term => "TERM",
            Self::Int => "INT",
            Self::Kill => "KILL",
            Self::Hup => "HUP",
            Self::Quit => "QUIT",
            Self::Stop => "STOP",
            Self::Cont => "CONT",
            Self::Usr1 => "USR1",
            Self::Usr2 => "USR2",
        }
    }

    /// What it does to a process that does nothing about it.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Term => "asks it to end; it may save its work first",
            Self::Int => "as Ctrl-C: Python raises KeyboardInterrupt",
            Self::Kill => "ends it at once: nothing is saved",
            Self::Hup => "as when its terminal is closed",
            Self::Quit => "ends it with a core dump",
            Self::Stop => "it stands still and keeps its memory",
            Self::Cont => "it goes on after STOP",
            Self::Usr1 => "many trainers save a checkpoint; without a handler it ends",
            Self::Usr2 => "the program's own; without a handler it ends",
        }
    }
}

/// Why a signal was not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Which local process the driver means is not known.
    NotHere,
    /// The process has ended.
    Ended,
    /// It has ended, and the driver lists it all the same.
    StillListed,
    /// It has ended, and its parent has not taken note of that yet.
    Zombie,
    /// The number belongs to another process by now.
    Replaced,
    /// It belongs to somebody else.
    NotPermitted,
    /// The kernel has no handles of processes (before 5.3), so that no signal is safe.
    OldKernel,
    /// Anything else, in the system's words.
    Failed(SafeText),
}

impl Refusal {
    /// In a few words, for a line of a list.
    pub fn short(&self) -> &str {
        match self {
            Self::NotHere => "not visible here",
            Self::Ended => "has ended",
            Self::StillListed => "has ended, still listed",
            Self::Zombie => "has ended (a zombie)",
            Self::Replaced => "has ended: another has its number",
            Self::NotPermitted => "not permitted: another user's",
            Self::OldKernel => "this kernel has no process handles",
            Self::Failed(reason) => reason.as_str(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotHere => f.write_str("it is not visible here (another container or PID namespace): run vramtop on the host"),
            Self::Ended => f.write_str("it has ended"),
            Self::StillListed => f.write_str("it has ended, and the driver still lists it"),
            Self::Zombie => f.write_str("it has ended and is a zombie: its memory is freed when its parent takes note"),
            Self::Replaced => f.write_str("it has ended, and its number belongs to another process now"),
            Self::NotPermitted => f.write_str("not permitted: it belongs to another user (sudo vramtop may)"),
            Self::OldKernel => f.write_str("this kernel has no process handles (Linux 5.3 has): no signal could be sent safely"),
            Self::Failed(reason) => write!(f, "{reason}"),
        }
    }
}
