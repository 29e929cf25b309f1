//! A value, or the reason for its absence. Absent is never zero: only [`Reading::Value`] may enter sums, sorting or percentages.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// What one question to the driver or the host came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading<T> {
    /// The answer.
    Value(T),
    /// Why there is none.
    Absent(Absence),
}

/// Why a reading is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absence {
    /// The device, driver or system does not offer it. It is not asked again on that device.
    NotSupported,
    /// This user or container may not read it.
    NotPermitted,
    /// The question failed this time; the name is the driver's word for it.
    Failed(Cow<'static, str>),
    /// It costs too much to be asked unless somebody looks at it.
    NotAsked,
    /// Too early: the first answer or a long enough history is still to come.
    NotYet,
    /// The last answer is older than the step: since when, in milliseconds of the sample's own clock.
    StaleSince(u64),
}

impl<T> Reading<T> {
    /// The reading was not asked for.
    pub const NOT_ASKED: Self = Self::Absent(Absence::NotAsked);
    /// The reading is still to come.
    pub const NOT_YET: Self = Self::Absent(Absence::NotYet);
    /// The device does not offer the reading.
    pub const NOT_SUPPORTED: Self = Self::Absent(Absence::NotSupported);
    /// Somebody else's.
    pub const NOT_PERMITTED: Self = Self::Absent(Absence::NotPermitted);

    /// A failure by name.
    pub const fn failed(name: &'static str) -> Self {
        Self::Absent(Absence::Failed(Cow::Borrowed(name)))
    }

    /// The value, where there is one.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent(_) => None,
        }
    }

    /// A copy of the value, where there is one.
    pub fn get(&self) -> Option<T>
    where
        T: Copy,
    {
        self.value().copied()
    }

    /// The reason, where there is no value.
    pub const fn absence(&self) -> Option<&Absence> {
        match self {
            Self::Value(_) => None,
            Self::Absent(why) => Some(why),
        }
    }

    /// Whether there is a value.
    pub const fn is_value(&self) -> bool {
        matches!(self, Self::Value(_))
    }

    /// The same reading with its value changed; an absence stays what it is.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Reading<U> {
        match self {
            Self::Value(value) => Reading::Value(f(value)),
            Self::Absent(why) => Reading::Absent(why),
        }
    }

    /// The same reading, or the absence that `f` finds in its value.
    pub fn and_then<U>(self, f: impl FnOnce(T) -> Reading<U>) -> Reading<U> {
        match self {
            Self::Value(value) => f(value),
            Self::Absent(why) => Reading::Absent(why),
        }
    }

    /// The reading by reference.
    pub fn as_ref(&self) -> Reading<&T> {
        match self {
            Self::Value(value) => Reading::Value(value),
            Self::Absent(why) => Reading::Absent(why.clone()),
        }
    }
}

impl<T> From<Option<T>> for Reading<T> {
    /// `None` means that it was never known, so it is [`Absence::NotYet`].
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::NOT_YET, Self::Value)
    }
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSupported => f.write_str("not supported"),
            Self::NotPermitted => f.write_str("not permitted"),
            Self::Failed(name) => write!(f, "failed: {name}"),
            Self::NotAsked => f.write_str("not asked"),
            Self::NotYet => f.write_str("not yet"),
            Self::StaleSince(ms) => write!(f, "stale since {ms}"),
        }
    }
}

/// The text was none of the reasons that a reading can be absent for.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a reason for an absent reading")]
pub struct ParseAbsenceError;

impl FromStr for Absence {
    type Err = ParseAbsenceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "not supported" => Self::NotSupported,
            "not permitted" => Self::NotPermitted,
            "not asked" => Self::NotAsked,
            "not yet" => Self::NotYet,
            _ => {
                if let Some(name) = text.strip_prefix("failed: ") {
                    Self::Failed(Cow::Owned(name.to_owned()))
                } else if let Some(ms) = text.strip_prefix("stale since ") {
                    Self::StaleSince(ms.parse().map_err(|_| ParseAbsenceError)?)
                } else {
                    return Err(ParseAbsenceError);
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_survives_being_written_down() {
        for why in [
            Absence::NotSupported,
            Absence::NotPermitted,
            Absence::Failed("GPU is lost".into()),
            Absence::NotAsked,
            Absence::NotYet,
            Absence::StaleSince(1250),
        ] {
            assert_eq!(why.to_string().parse(), Ok(why));
        }
        assert_eq!("nothing known".parse::<Absence>(), Err(ParseAbsenceError));
    }
}
