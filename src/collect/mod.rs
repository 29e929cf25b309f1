//! Where records come from: the driver and the host, or a recording. Both are a [`Source`]; nothing below can tell them apart.
//!
//! This layer draws no conclusions and knows no terminal.

mod clock;
pub mod host;
mod lanes;
mod live;
pub mod nvml;
mod only;
mod poller;
mod power;
mod replay;
mod slow;
mod step;
pub mod what;

pub use clock::{Clock, SystemClock};
pub use live::{Exchange, FixedFacts, HostScope, LiveOptions, LiveSource, TelemetryScope};
pub use only::{Only, Wanted};
pub use poller::{Feed, spawn};
pub use power::all_asleep;
pub use replay::{Playback, ReplayOptions, ReplaySource};

use crate::model::{Record, SelectionError};

/// Sends records, one after another.
pub trait Source {
    /// Blocks until the next record is due.
    ///
    /// # Errors
    /// [`SourceEnd`] when there is no further record.
    fn next(&mut self) -> Result<Record, SourceEnd>;
}

/// Why a source has no further record.
#[derive(Debug)]
pub enum SourceEnd {
    /// It was read to its end.
    Finished,
    /// It cannot go on.
    Failed(SourceError),
}

/// What keeps a source from going on.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// No library, driver or GPU answers.
    #[error(transparent)]
    Driver(#[from] nvml::OpenError),
    /// The driver answers and has no GPU.
    #[error(
        "the NVIDIA driver answers, but it has no GPU.\nIs one passed to this machine or container (lspci, docker --gpus all)? Without one: vramtop demo"
    )]
    NoGpu,
    /// There are GPUs and not one of them could be opened.
    #[error(
        "no GPU could be opened: {reasons}\nThe driver knows them; see dmesg for NVRM and Xid lines, and whether this user may open /dev/nvidia*"
    )]
    NoneReadable {
        /// Why, each.
        reasons: String,
        /// Whether a permission is all that is missing.
        not_permitted: bool,
    },
    /// The GPUs that were asked for are not there.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// The GPUs that were asked for are not among those that could be opened.
    #[error("{error}.\nNot opened, so it may be that one: {reasons}. See dmesg for NVRM and Xid lines, and whether this user may open /dev/nvidia*")]
    SelectionUnopened {
        /// What was not found among the others.
        error: SelectionError,
        /// Why those could not be opened, each.
        reasons: String,
        /// Whether a permission is all that is missing.
        not_permitted: bool,
    },
    /// The recording cannot be read.
    #[error("{0}")]
    Recording(String),
    /// A thread that reads has panicked; the text names what it said.
    #[error("internal error while reading: {0}")]
    Panicked(String),
}
