//! A dictionary's values by the keys that mean something. What they amount to is decided in `store`.

use super::texts::{Word, word};
use super::value::Value;

/// The values of a dictionary whose keys mean something.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) action: Option<Value>,
    pub(super) address: Option<Value>,
    pub(super) blocks: Option<Value>,
    pub(super) conf: Option<Value>,
    pub(super) device: Option<Value>,
    pub(super) device_free: Option<Value>,
    pub(super) expandable: Option<Value>,
    pub(super) file: Option<Value>,
    pub(super) frames: Option<Value>,
    pub(super) history: Option<Value>,
    pub(super) kind: Option<Value>,
    pub(super) line: Option<Value>,
    pub(super) max_split: Option<Value>,
    pub(super) name: Option<Value>,
    pub(super) pool: Option<Value>,
    pub(super) real_size: Option<Value>,
    pub(super) requested: Option<Value>,
    pub(super) roundup: Option<Value>,
    pub(super) segments: Option<Value>,
    pub(super) settings: Option<Value>,
    pub(super) size: Option<Value>,
    pub(super) state: Option<Value>,
    pub(super) stream: Option<Value>,
    pub(super) time: Option<Value>,
    pub(super) total: Option<Value>,
    pub(super) traces: Option<Value>,
}

impl Fields {
    pub(super) fn of(pairs: &[Value]) -> Self {
        let mut fields = Self::default();
        for pair in pairs.chunks_exact(2) {
            let (Value::Text(key), value) = (pair[0], Some(pair[1])) else { continue };
            match word(key) {
                Some(Word::Action) => fields.action = value,
                Some(Word::Address | Word::Addr) => fields.address = value,
                Some(Word::Blocks) => fields.blocks = value,
                Some(Word::AllocConf | Word::NewAllocConf) => fields.conf = value,
                Some(Word::Device) => fields.device = value,
                Some(Word::DeviceFree) => fields.device_free = value,
                Some(Word::ExpandableSegments | Word::IsExpandable) => fields.expandable = value,
                Some(Word::Filename) => fields.file = value,
                Some(Word::Frames) => fields.frames = value,
                Some(Word::History) => fields.history = value,
                Some(Word::SegmentType) => fields.kind = value,
                Some(Word::Line) => fields.line = value,
                Some(Word::MaxSplitSize) => fields.max_split = value,
                Some(Word::Name) => fields.name = value,
                Some(Word::SegmentPoolId) => fields.pool = value,
                Some(Word::RealSize) => fields.real_size = value,
                Some(Word::RequestedSize) => fields.requested = value,
                Some(Word::RoundupDivisions) => fields.roundup = value,
                Some(Word::Segments) => fields.segments = value,
                Some(Word::AllocatorSettings) => fields.settings = value,
                Some(Word::Size) => fields.size = value,
                Some(Word::State) => fields.state = value,
                Some(Word::Stream) => fields.stream = value,
                Some(Word::TimeUs) => fields.time = value,
                Some(Word::TotalSize) => fields.total = value,
                Some(Word::DeviceTraces) => fields.traces = value,
                _ => {}
            }
        }
        fields
    }
}
