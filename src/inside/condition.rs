//! How an allocator is doing, in one word. The words are those of out-of-memory texts, and two for when nothing failed.

use crate::model::Bytes;

/// How an allocator is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// What is free is in pieces that can not be joined.
    Fragmented,
    /// Captured graphs or other private pools hold it.
    GraphPool,
    /// Live memory fills the device.
    FullSelf,
    /// A request failed although the device had room for it.
    ProcessCap,
    /// A request failed, and what is shown does not say why.
    Unknown,
    /// Much is free inside the allocator and can be given back.
    Cached,
    /// Nothing is the matter.
    Sound,
}

impl Condition {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fragmented => "fragmented",
            Self::GraphPool => "graph-pool",
            Self::FullSelf => "full-self",
            Self::ProcessCap => "process-cap",
            Self::Unknown => "unknown",
            Self::Cached => "cached",
            Self::Sound => "sound",
        }
    }
}

/// From this share of what torch holds on, a part of it is a matter of its own (a quarter, as for `inactive_split / reserved`).
const SHARE: u64 = 4;
/// Less than this is never the matter.
const NOISE: Bytes = Bytes::mib(64);

/// Whether a part is so large that it is a matter of its own.
pub(super) fn is_much(part: Bytes, whole: Bytes) -> bool {
    part >= NOISE && part.0.saturating_mul(SHARE) >= whole.0
}
