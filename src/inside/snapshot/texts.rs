//! Texts of a pickle, each kept once. Those that a snapshot is made of have fixed numbers, so that reading compares numbers.

use std::collections::HashMap;
use std::sync::Arc;

macro_rules! words {
    ($($word:ident = $text:literal,)*) => {
        /// A text that means something in a snapshot.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Word { $($word),* }
        const WORDS: &[(Word, &str)] = &[$((Word::$word, $text)),*];
    };
}

words! {
    // Of the whole, and of its settings.
    Segments = "segments",
    DeviceTraces = "device_traces",
    AllocatorSettings = "allocator_settings",
    AllocConf = "PYTORCH_CUDA_ALLOC_CONF",
    NewAllocConf = "PYTORCH_ALLOC_CONF",
    ExpandableSegments = "expandable_segments",
    MaxSplitSize = "max_split_size",
    RoundupDivisions = "roundup_power2_divisions",
    // Of a segment.
    Device = "device",
    Address = "address",
    TotalSize = "total_size",
    Stream = "stream",
    SegmentType = "segment_type",
    SegmentPoolId = "segment_pool_id",
    IsExpandable = "is_expandable",
    Blocks = "blocks",
    Small = "small",
    Large = "large",
    // Of a block.
    Size = "size",
    RequestedSize = "requested_size",
    State = "state",
    Frames = "frames",
    History = "history",
    RealSize = "real_size",
    ActiveAllocated = "active_allocated",
    ActivePendingFree = "active_pending_free",
    ActiveAwaitingFree = "active_awaiting_free",
    Inactive = "inactive",
    // Of a frame.
    Filename = "filename",
    Line = "line",
    Name = "name",
    // Of an event.
    Action = "action",
    Addr = "addr",
    DeviceFree = "device_free",
    TimeUs = "time_us",
    Alloc = "alloc",
    FreeRequested = "free_requested",
    FreeCompleted = "free_completed",
    SegmentAlloc = "segment_alloc",
    SegmentFree = "segment_free",
    SegmentMap = "segment_map",
    SegmentUnmap = "segment_unmap",
    SnapshotTaken = "snapshot",
    Oom = "oom",
}

/// The number of a text.
pub(super) type TextId = u32;

/// Every text once.
pub(super) struct Texts {
    known: HashMap<Arc<str>, TextId>,
    all: Vec<Arc<str>>,
}

impl Texts {
    pub(super) fn new() -> Self {
        let mut texts = Self { known: HashMap::new(), all: Vec::new() };
        for (_, text) in WORDS {
            texts.keep(text);
        }
        texts
    }

    /// The number of a text, and how many bytes it costs to keep it: none where it is known.
    pub(super) fn keep(&mut self, text: &str) -> (TextId, u64) {
        if let Some(id) = self.known.get(text) {
            return (*id, 0);
        }
        let id = TextId::try_from(self.all.len()).unwrap_or(TextId::MAX);
        let text: Arc<str> = Arc::from(text);
        self.all.push(Arc::clone(&text));
        let cost = text.len() as u64 + 80;
        self.known.insert(text, id);
        (id, cost)
    }

    pub(super) fn get(&self, id: TextId) -> &str {
        self.all.get(id as usize).map_or("", |text| text)
    }

    /// The texts alone, for whoever only looks them up.
    pub(super) fn into_all(self) -> Vec<Arc<str>> {
        self.all
    }
}

/// What a text means, if it means something.
pub(super) fn word(id: TextId) -> Option<Word> {
    WORDS.get(id as usize).map(|(word, _)| *word)
}
