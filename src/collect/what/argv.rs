//! A command line in bounded words.
//!
//! It holds the two shapes `/proc/PID/cmdline` comes in: arguments, and a title that the process
//! wrote over them (one string with spaces). It refuses to know what any word means.

use super::text;

/// How many arguments are looked at.
const MAX_WORDS: usize = 64;
/// How many bytes of each are.
const MAX_BYTES: usize = 4096;

/// A command line in words.
pub(super) struct Argv {
    /// The words, the first naming the program.
    pub(super) words: Vec<String>,
    /// Whether they were split from one string, as `setproctitle(3)` and Chromium leave it.
    pub(super) title: bool,
}

/// The words of a command line, of which `comm` is the kernel's name.
pub(super) fn argv(args: &[String], comm: &str) -> Argv {
    let mut words: Vec<&str> = args.iter().take(MAX_WORDS).map(|arg| text::cut(arg, MAX_BYTES)).collect();
    // A title shorter than the arguments it overwrites is padded with NULs.
    while words.last().is_some_and(|word| word.trim().is_empty()) {
        words.pop();
    }
    match words.as_slice() {
        [only] if only.trim().contains(char::is_whitespace) && !is_program(only, comm) => split(only),
        _ => Argv { words: words.into_iter().map(str::to_owned).collect(), title: false },
    }
}

/// Whether the whole string is the path of the program, spaces and all.
fn is_program(path: &str, comm: &str) -> bool {
    path.contains(['/', '\\']) && !comm.is_empty() && text::cut(text::base(path), 15) == comm
}

/// One string in words; a Windows path keeps its spaces.
fn split(title: &str) -> Argv {
    let windows_end = (title.get(1..3) == Some(":\\")).then(|| title.to_ascii_lowercase().find(".exe")).flatten();
    let (program, rest) = windows_end.map_or((None, title), |at| (title.get(..at + 4), title.get(at + 4..).unwrap_or_default()));
    let rest = rest.split_whitespace().take(MAX_WORDS);
    Argv { words: program.into_iter().chain(rest).map(str::to_owned).collect(), title: program.is_none() }
}
