//! Signals as messages, and the way to die of one.

use std::io;
use std::thread;

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
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

/// Sends each signal to `send`, from a thread of its own, until it answers `false`.
///
/// # Errors
/// The system's, when a handler cannot be set.
pub(super) fn watch(job_control: bool, mut send: impl FnMut(Signal) -> bool + Send + 'static) -> io::Result<()> {
    let mut wanted = vec![SIGINT, SIGTERM, SIGHUP];
    if job_control {
        wanted.extend([SIGTSTP, SIGCONT]);
    }
    let mut signals = Signals::new(wanted)?;
    let run = move || {
        for number in signals.forever() {
            let signal = match number {
                SIGTSTP => Signal::Stop,
                SIGCONT => Signal::Continue,
                other => Signal::End(other),
            };
            if !send(signal) {
                return;
            }
        }
    };
    thread::Builder::new().name("signals".into()).stack_size(128 * 1024).spawn(run).map(drop)
}

/// Ends the process by the signal itself, so that whoever waits sees the real cause (130 and 143 in a shell).
pub(super) fn die_of(signal: i32) -> ! {
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    // A signal that does not end us (it may be blocked): the shell's number for it.
    std::process::exit(128 + signal)
}
