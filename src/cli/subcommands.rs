//! What each subcommand takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::values::size;

/// `vramtop replay`.
#[derive(Args, Debug)]
pub struct Replay {
    /// The recording (vramtop -l 1 --format json writes one); - reads stdin.
    pub file: PathBuf,
}

/// `vramtop explain`.
#[derive(Args, Debug)]
pub struct Explain {
    /// Logs, torch memory snapshots or recordings; - or none reads stdin.
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Form of the answers.
    #[arg(long, value_name = "FORM", value_enum, default_value_t = ReportForm::Text)]
    pub format: ReportForm,

    /// With a torch memory snapshot: whether a request of SIZE would fit, and why not (such as 2GiB, 512MiB).
    ///
    /// Ends with 0 where it fits on every GPU of the snapshot, and with 1 where it does not, or where that depends on what the driver has.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub fit: Option<u64>,

    /// Add what this recording shows at the time of the failure (vramtop -l 1 --format json -o FILE makes one).
    #[arg(long, value_name = "FILE")]
    pub recording: Option<PathBuf>,

    /// Do not add what a GPU of this machine shows now.
    #[arg(long)]
    pub no_device: bool,
}

/// `vramtop doctor`.
#[derive(Args, Debug)]
pub struct Doctor {
    /// Form of the report.
    #[arg(long, value_name = "FORM", value_enum, default_value_t = ReportForm::Text)]
    pub format: ReportForm,

    /// Ask GPUs that runtime power management has put to sleep, too: it wakes them.
    #[arg(long)]
    pub wake: bool,
}

/// Form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportForm {
    /// For people.
    Text,
    /// One object, for programs.
    Json,
}

/// `vramtop completions`.
#[derive(Args, Debug)]
pub struct Completions {
    /// For which shell.
    pub shell: Shell,
}

/// A shell that completions are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// GNU bash with bash-completion.
    Bash,
    /// The Z shell.
    Zsh,
    /// fish.
    Fish,
}
