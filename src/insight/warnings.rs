//! What deserves a sentence in line 2: each case with its sentence, worst first. Empty means that all is well.

use std::fmt;

use crate::model::{Bytes, ProcessKey, SafeText};

/// How loud a warning is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Warn,
    /// Something is lost, or about to be.
    Alarm,
}

/// A process that a sentence names.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// Who it is.
    pub key: ProcessKey,
    /// The short name of its work.
    pub what: SafeText,
    /// What it holds.
    pub bytes: Bytes,
}

/// One thing to be said. `gpu` is the device's label (`0`, or `0.2` for an instance).
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// The driver has lost the device.
    Lost {
        /// Label of the device.
        gpu: String,
    },
    /// The driver could not open a device, so that it has no row.
    Unopened {
        /// Its number and the driver's word for why.
        reason: SafeText,
    },
    /// The driver itself is gone (being reloaded, or of another version than its library).
    DriverGone {
        /// The driver's word for it.
        reason: SafeText,
    },
    /// Less than [`Warning::EDGE`] of the room is free.
    AtTheEdge {
        /// Label of the device.
        gpu: String,
        /// What is free.
        free: Bytes,
        /// The largest holder.
        holder: Option<Named>,
    },
    /// The memory figures make no sense or cannot be read.
    MemoryUnknown {
        /// Label of the device.
        gpu: String,
        /// Why.
        reason: String,
    },
    /// The process list cannot be read, so nobody can be named.
    HoldersUnknown {
        /// Label of the device.
        gpu: String,
        /// Why.
        reason: String,
    },
    /// The process lists cannot be read now, so the holders and their figures are those of the last ones.
    HoldersOld {
        /// Label of the device.
        gpu: String,
        /// How old the oldest figure is.
        age_ms: u64,
        /// Why.
        reason: String,
    },
    /// One of the process lists cannot be read, so others may hold memory, too.
    HoldersMissing {
        /// Label of the device.
        gpu: String,
        /// Why.
        reason: String,
    },
    /// Much memory is used that no listed process owns.
    Unattributed {
        /// Label of the device.
        gpu: String,
        /// How much.
        bytes: Bytes,
    },
}

impl Warning {
    /// Below this share of the room (3 %) a card is at the edge.
    pub const EDGE: f64 = 0.03;
    /// Unattributed memory above this share of the room is worth a sentence.
    pub const UNATTRIBUTED: f64 = 0.03;

    /// How loud.
    pub const fn severity(&self) -> Severity {
        match self {
            Self::Lost { .. } | Self::Unopened { .. } | Self::DriverGone { .. } => Severity::Alarm,
            _ => Severity::Warn,
        }
    }

    /// The process that the sentence names, and the label of its device.
    pub fn names(&self) -> Option<(&str, ProcessKey)> {
        match self {
            Self::AtTheEdge { gpu, holder: Some(holder), .. } => Some((gpu, holder.key)),
            _ => None,
        }
    }

    /// Place in the order of line 2, lowest first; of the cards at the edge the fullest.
    pub const fn order(&self) -> (u8, Bytes) {
        let place = match self {
            Self::DriverGone { .. } => 0,
            Self::Lost { .. } => 1,
            Self::Unopened { .. } => 2,
            Self::AtTheEdge { free, .. } => return (3, *free),
            Self::MemoryUnknown { .. } => 4,
            Self::HoldersUnknown { .. } | Self::HoldersOld { .. } | Self::HoldersMissing { .. } => 5,
            Self::Unattributed { .. } => 6,
        };
        (place, Bytes::ZERO)
    }

    /// Whether both say the same of the same device, be it with other figures.
    pub fn is_about_same(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other) && self.device() == other.device()
    }

    fn device(&self) -> Option<&str> {
        match self {
            Self::DriverGone { .. } => None,
            Self::Unopened { reason } => Some(reason.as_str()),
            Self::Lost { gpu }
            | Self::AtTheEdge { gpu, .. }
            | Self::MemoryUnknown { gpu, .. }
            | Self::HoldersUnknown { gpu, .. }
            | Self::HoldersOld { gpu, .. }
            | Self::HoldersMissing { gpu, .. }
            | Self::Unattributed { gpu, .. } => Some(gpu),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { gpu } => write!(f, "GPU {gpu} is lost: the driver no longer answers for it"),
            Self::Unopened { reason } => write!(f, "{reason}: it could not be opened and is left out"),
            Self::DriverGone { reason } => write!(f, "the driver is gone ({reason}): figures are the last known, looking for it again"),
            Self::AtTheEdge { gpu, free, holder: None } => write!(f, "GPU {gpu} at the edge: {free} free"),
            Self::AtTheEdge { gpu, free, holder: Some(holder) } => {
                write!(f, "GPU {gpu} at the edge: {free} free. {} holds {}", holder.what, holder.bytes)
            }
            Self::MemoryUnknown { gpu, reason } => write!(f, "GPU {gpu}: memory unknown ({reason})"),
            Self::HoldersUnknown { gpu, reason } => write!(f, "GPU {gpu}: the driver does not name the holders ({reason})"),
            Self::HoldersOld { gpu, age_ms, reason } => {
                write!(f, "GPU {gpu}: the holders are of {} s ago: the process lists cannot be read now ({reason})", age_ms / 1000)
            }
            Self::HoldersMissing { gpu, reason } => write!(f, "GPU {gpu}: not all holders are known: a process list cannot be read ({reason})"),
            Self::Unattributed { gpu, bytes } => write!(f, "GPU {gpu}: {bytes} in use that no listed process owns"),
        }
    }
}
