//! What can be wrong with a setting. Each text names the place, and what to write there instead.

use crate::model::SafeText;

/// Why the settings cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the configuration {file}: {reason}")]
    Unreadable {
        /// Which file.
        file: SafeText,
        /// The system's reason.
        reason: String,
    },
    /// A line of the file is wrong.
    #[error("{file}:{line}: {what}")]
    Line {
        /// Which file.
        file: SafeText,
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A variable is wrong.
    #[error("{name}: {what} (in the environment)")]
    Variable {
        /// Which variable.
        name: &'static str,
        /// What is wrong with it.
        what: String,
    },
}
