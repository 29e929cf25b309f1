//! The words for what is the matter with memory: one set for failures in logs and for what allocators say of themselves.
//!
//! Which one it is each reader decides; here is only the vocabulary, and what counts as much.

use crate::model::Bytes;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$case_doc])* $case,)* }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$case,)*];

            /// As it is written.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$case => $word,)* }
            }
        }
    };
}

pub(super) use words;

words! {
    /// What is the matter with memory, in one word.
    Verdict {
        /// The job's own live memory fills the device.
        FullSelf = "full-self",
        /// One request is above what the device could ever give.
        TooBig = "too-big",
        /// Enough is unused inside the allocator, but not in one usable piece.
        Fragmented = "fragmented",
        /// Captured graphs hold it.
        GraphPool = "graph-pool",
        /// Somebody else holds the bulk.
        OtherProcess = "other-process",
        /// A limit a process was hit while the device has room.
        ProcessCap = "process-cap",
        /// A framework's pool, arena or an engine's budget was hit.
        PoolCap = "pool-cap",
        /// The limit is that of a MIG or software slice.
        SliceCap = "slice-cap",
        /// Bytes of this process, or the buffer that failed, are not the framework's.
        OutsideFramework = "outside-framework",
        /// Already spilling to host memory.
        HostSpill = "host-spill",
        /// RAM, page-locked memory, /dev/shm or the pool of an integrated board.
        HostMemory = "host-memory",
        /// A library's status code that usually hides a shortage.
        Masked = "masked",
        /// The size is nonsense: a bug, an overflow, or a peer that died first.
        BogusSize = "bogus-size",
        /// The total is enough, one device's share is not.
        UnevenSplit = "uneven-split",
        /// The program retried and went on.
        WarningOnly = "warning-only",
        /// No shortage of VRAM at all.
        NotVram = "not-vram",
        /// What is shown has too little.
        Unknown = "unknown",
        /// Nothing failed; much is free inside the allocator and can be given back.
        Cached = "cached",
        /// Nothing is the matter.
        Sound = "sound",
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
