//! What is asked about one process only because somebody looks at it closely.

use super::{ProcessKey, Reading, SafeText};

/// The answer. It is of the moment of asking, and in no record.
#[derive(Clone, Debug, PartialEq)]
pub struct Details {
    /// Of whom.
    pub key: ProcessKey,
    /// Name and value of each variable as it was started, with secrets masked.
    pub environment: Reading<Vec<(SafeText, SafeText)>>,
}

impl Details {
    /// One variable of its environment.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.value()?.iter().find(|(known, _)| known.as_str() == name).map(|(_, value)| value.as_str())
    }
}
