//! Signals as messages, and the way to die of one.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use nix::sys::signal;
use nix::unistd::{Pid, getpgid, getpgrp, getppid, getsid};
use signal_hook::consts::{SIGALRM, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ};
use signal_hook::iterator::Signals;

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// To end, with this signal's own fate.
    End(i32),
    /// To stop as Ctrl-Z does.
    Stop,
    /// The process goes on after a stop that it did not choose (SIGSTOP).
    Continue,
}

/// The signals that somebody sends to end a program, or whose fate is its end unless it knows them.
const ENDING: [i32; 8] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU];

/// Whoever is told to end may be stuck in a write that nobody takes. After this long the process ends all the same.
const GRACE: Duration = Duration::from_secs(2);

/// Set before this program stops its own job, so that the signal that reaches itself is passed over.
static STOPS_ITSELF: AtomicBool = AtomicBool::new(false);

/// Sends each signal to `send`, from a thread of its own, until it answers `false`.
///
/// # Errors
/// The system's, when a handler cannot be set.
pub(super) fn watch(job_control: bool, mut send: impl FnMut(Signal) -> bool + Send + 'static) -> io::Result<()> {
    // What was ignored when this program began (by nohup, or a shell's background) stays ignored.
    let ignored = ignored();
    let mut wanted = ENDING.to_vec();
    wanted.retain(|signal| ignored >> (signal - 1) & 1 == 0);
    if job_control {
        wanted.extend([SIGTSTP, SIGCONT]);
    }
    let mut signals = Signals::new(wanted)?;
    let run = move || {
        for number in signals.forever() {
            let signal = match number {
                SIGTSTP if STOPS_ITSELF.swap(false, Ordering::SeqCst) => continue,
                SIGTSTP => Signal::Stop,
                SIGCONT => Signal::Continue,
                other => {
                    end_at_last(other);
                    Signal::End(other)
                }
            };
            if !send(signal) {
                return;
            }
        }
    };
    thread::Builder::new().name("signals".into()).stack_size(128 * 1024).spawn(run).map(drop)
}

/// A file that outgrows what this process may write (`ulimit -f`) is an error of the write from now on, and no death without a word.
///
/// # Errors
/// The system's, when a handler cannot be set.
pub(super) fn outlive_file_limit() -> io::Result<()> {
    // Whoever is caught is not killed; the write says what happened, so nobody has to look at the flag.
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map(drop)
}

/// The set of signals that are ignored: bit 0 is signal 1.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0)
}

fn end_at_last(signal: i32) {
    let run = move || {
        thread::sleep(GRACE);
        // What can be restored of a terminal that takes nothing.
        let _ = crossterm::terminal::disable_raw_mode();
        die_of(signal)
    };
    // Without a thread to be had, the loop's own answer is all there is.
    let _ = thread::Builder::new().name("last resort".into()).stack_size(64 * 1024).spawn(run);
}

/// Stops the whole job, as the terminal does on Ctrl-Z where it is not raw, and returns when it goes on. A script around this
/// program has to stop with it: the shell waits for all of the job.
///
/// # Errors
/// The system's, when it does not stop us.
pub(super) fn stop_job() -> io::Result<()> {
    STOPS_ITSELF.store(true, Ordering::SeqCst);
    signal::kill(Pid::from_raw(0), signal::Signal::SIGTSTP)?;
    signal_hook::low_level::emulate_default_handler(SIGTSTP)
}

/// Whether there is a shell that could bring a stopped job back: the first process around us that is not of our job is of our
/// session. As the only program of a terminal or a container we would be stopped for ever.
pub(super) fn can_come_back() -> bool {
    let (job, session) = (getpgrp(), getsid(None));
    let mut around = getppid();
    while getsid(Some(around)) == session {
        match getpgid(Some(around)) {
            Ok(group) if group == job => match parent_of(around) {
                Some(parent) => around = parent,
                None => return false,
            },
            of => return of.is_ok(),
        }
    }
    false
}

fn parent_of(pid: Pid) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(") ")?;
    after_name.split(' ').nth(1)?.parse().ok().map(Pid::from_raw)
}

/// Ends the process by the signal itself, so that whoever waits sees the real cause (130 and 143 in a shell).
pub(super) fn die_of(signal: i32) -> ! {
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    // A signal that does not end us (it may be blocked): the shell's number for it.
    std::process::exit(128 + signal)
}
