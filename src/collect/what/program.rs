//! A program and how it was given. It refuses to hold how that is found out: see [`super::interpreters`] and [`super::wrappers`].

use super::text;

/// How a program was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// No command line at all.
    Nothing,
    /// A program of its own.
    Binary,
    /// A title that the process gave itself.
    Title,
    /// A file that an interpreter reads.
    Script,
    /// A dotted name that an interpreter looks up.
    Module,
    /// Code on the command line.
    Code,
    /// Code from a pipe.
    Stdin,
    /// An interpreter with nothing to run.
    Interactive,
}

/// A program and its arguments.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) kind: Kind,
    /// The interpreter's plain name (`python`), empty where there is none.
    pub(super) runner: &'static str,
    /// The path, the dotted name or the code.
    pub(super) path: String,
    pub(super) args: Vec<String>,
}

impl Program {
    /// The name people call it by: a path's last part, a dotted name whole.
    pub(super) fn name(&self) -> &str {
        let name = text::stem(text::base(&self.path)).trim_start_matches('-');
        match self.path.strip_suffix("/__main__.py") {
            Some(folder) => text::base(folder),
            None => name.strip_suffix(".__main__").unwrap_or(name),
        }
    }
}
