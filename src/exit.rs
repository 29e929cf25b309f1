//! How the program ends: the documented exit codes, and the rule that a closed pipe is success.

use std::io;
use std::process::ExitCode;

use crate::collect::SourceError;
use crate::collect::nvml::OpenError;
use crate::config::ConfigError;
use crate::model::SelectionError;

/// Exit codes. They are a contract: scripts depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All is well.
    Fine = 0,
    /// Something failed, or the answer is no.
    Failed = 1,
    /// The command line, or what it names, is wrong.
    Usage = 2,
    /// There is no NVIDIA driver, library or GPU.
    NoDriver = 3,
    /// The system does not permit it.
    NotPermitted = 4,
    /// Some GPUs could not be read; the others were.
    SomeUnreadable = 5,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    /// All of them, with what each says.
    pub const ALL: [(Self, &str); 6] = [
        (Self::Fine, "fine, also when the reader of a pipe went away"),
        (Self::Failed, "failed, or the answer is no"),
        (Self::Usage, "wrong usage, or a GPU or setting that cannot be"),
        (Self::NoDriver, "no NVIDIA driver, library or GPU"),
        (Self::NotPermitted, "not permitted"),
        (Self::SomeUnreadable, "some GPUs could not be read; the others were"),
    ];

    /// The code that an error stands for; `None` where it is a closed pipe, which is no error.
    pub fn of(error: &anyhow::Error) -> Option<Self> {
        for cause in error.chain() {
            if let Some(io) = cause.downcast_ref::<io::Error>() {
                match io.kind() {
                    io::ErrorKind::BrokenPipe => return None,
                    io::ErrorKind::PermissionDenied => return Some(Self::NotPermitted),
                    _ => {}
                }
            }
            if let Some(source) = cause.downcast_ref::<SourceError>() {
                return Some(Self::of_source(source));
            }
            if cause.is::<UsageError>() || cause.is::<ConfigError>() {
                return Some(Self::Usage);
            }
        }
        Some(Self::Failed)
    }

    fn of_source(error: &SourceError) -> Self {
        match error {
            SourceError::Driver(OpenError::NoPermission { .. })
            | SourceError::NoneReadable { not_permitted: true, .. }
            | SourceError::SelectionUnopened { not_permitted: true, .. } => Self::NotPermitted,
            SourceError::Driver(_) | SourceError::NoGpu | SourceError::NoneReadable { .. } => Self::NoDriver,
            SourceError::Selection(
                SelectionError::Nothing { .. }
                | SelectionError::Unknown { .. }
                | SelectionError::Ambiguous { .. }
                | SelectionError::MixedCards { .. },
            ) => Self::Usage,
            SourceError::SelectionUnopened { .. } | SourceError::Recording(_) | SourceError::Panicked(_) => Self::Failed,
        }
    }
}

/// What was asked for makes no sense together; the text says what to ask for instead.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);
