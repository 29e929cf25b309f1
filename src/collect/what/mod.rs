//! The short name of a process's work, from what `/proc` says about it.
//!
//! This file holds the API and the order of the steps: bounded words (`argv`), the program behind
//! wrappers and interpreters (`interpreters`, `wrappers`), the first rule that knows it (`rules`), and
//! who the process is in a bigger job (`identity`). It refuses to hold I/O: the caller reads
//! `/proc`, these are pure functions of what was read.

mod apps;
mod argv;
mod identity;
mod interpreters;
mod name;
mod parallel;
mod program;
mod rules;
mod servers;
mod shell;
mod telling;
mod text;
mod wrappers;

#[cfg(test)]
mod tests;

use std::fmt;

/// The longest short name, in characters; most are under 20.
const SHORT: usize = 40;
/// The longest full name, in characters.
const FULL: usize = 160;

/// What the host said about a process, as text that is not yet safe to print.
pub struct Facts<'a> {
    /// The kernel's name of the process: at most 15 bytes (`/proc/PID/comm`).
    pub comm: &'a str,
    /// The arguments, one per NUL of `/proc/PID/cmdline`; empty for kernel threads and zombies.
    pub args: &'a [String],
    /// Looks up one variable of `/proc/PID/environ`; always `None` where it may not be read.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// `/proc/PID/cgroup`: the whole file or one path of it.
    pub cgroup: &'a str,
}

/// The short name of the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct What {
    /// `train.py`, `vllm Qwen3-32B`: fits 20 columns where it can.
    pub short: String,
    /// `train.py --config 7b.yaml --bs 16`.
    pub full: String,
    /// Its place among the processes of one distributed program.
    pub rank: Option<Rank>,
    /// The batch job it belongs to: `slurm 48211.0`.
    pub job: Option<String>,
    /// The container it runs in: `docker 3f2a9c11be04`.
    pub container: Option<String>,
}

/// A process's place among the processes of one distributed program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rank {
    /// The global rank, from 0.
    pub rank: u32,
    /// How many ranks there are.
    pub world: Option<u32>,
    /// The rank among those of this host.
    pub local: Option<u32>,
}

impl fmt::Display for Rank {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.world {
            Some(world) => write!(out, "rank {} of {world}", self.rank),
            None => write!(out, "rank {}", self.rank),
        }
    }
}

/// Names the work of a process.
///
/// The cost is bounded whatever the process put in its arguments (the first 64 of them, 4 KiB of
/// each), and the names hold no control characters. Other hazards of untrusted text, such as
/// bidirectional marks, are the printer's to deal with.
#[must_use]
pub fn what(facts: &Facts<'_>) -> What {
    let seen = name::Seen { program: interpreters::program(argv::argv(facts.args, facts.comm)), facts };
    let name = rules::name(&seen);
    What {
        short: presentable(&name.short, SHORT, facts.comm),
        full: presentable(&name.full, FULL, facts.comm),
        rank: identity::rank(facts.env),
        job: identity::job(facts.env, facts.cgroup),
        container: identity::container(facts.env, facts.cgroup),
    }
}

/// A name made printable; the kernel's name, in brackets, where nothing is left of it.
fn presentable(name: &str, limit: usize, comm: &str) -> String {
    let name = text::shorten(&text::clean(name), limit);
    if name.is_empty() { text::bracketed(comm) } else { name }
}
