//! What a snapshot holds, as plain records: segments, their blocks, events, settings. No conclusions.

use std::ops::Range;
use std::sync::Arc;

use crate::model::{Bytes, SafeText};

/// A snapshot as it was read.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// Every segment, device by device; [`Snapshot::segments_of`] has those of one.
    pub segments: Vec<Segment>,
    /// The blocks of all segments; each segment says which are its own.
    pub blocks: Vec<Block>,
    /// The events of all devices; [`Snapshot::trace`] has those of one.
    pub events: Vec<Event>,
    /// Which events are whose, by device.
    pub traces: Vec<Run>,
    /// How the allocator was set up; absent from older layouts.
    pub settings: Option<Settings>,
    pub(super) sites: Vec<Site>,
    pub(super) frames: Vec<Frame>,
    pub(super) texts: Vec<Arc<str>>,
}

impl Snapshot {
    /// The blocks of a segment, in order of address.
    pub fn blocks_of(&self, segment: &Segment) -> &[Block] {
        self.blocks.get(segment.blocks.range()).unwrap_or_default()
    }

    /// The segments of a device, in the file's order.
    pub fn segments_of(&self, device: u32) -> &[Segment] {
        let start = self.segments.partition_point(|segment| segment.device < device);
        let rest = self.segments.get(start..).unwrap_or_default();
        rest.get(..rest.partition_point(|segment| segment.device == device)).unwrap_or_default()
    }

    /// The events of a device, oldest first; none where nothing was recorded.
    pub fn trace(&self, device: u32) -> &[Event] {
        self.traces.get(device as usize).and_then(|run| self.events.get(run.range())).unwrap_or_default()
    }

    /// The devices that have segments or events, in order.
    pub fn devices(&self) -> Vec<u32> {
        let mut devices: Vec<u32> = self.segments.iter().map(|segment| segment.device).collect();
        let traced = self.traces.iter().zip(0..).filter(|(run, _)| run.len > 0).map(|(_, device)| device);
        devices.extend(traced);
        devices.sort_unstable();
        devices.dedup();
        devices
    }

    /// The frame that a site is named after: the innermost line of the person's own Python, else of any Python.
    pub fn place(&self, site: SiteId) -> Option<Place> {
        let site = self.sites.get(site.0 as usize)?;
        let own = self.place_of(site.own.or(site.inner).or(site.native)?)?;
        let through = site.inner.filter(|inner| site.own.is_some_and(|own| own != *inner)).and_then(|inner| self.place_of(inner));
        Some(Place { through: through.map(|place| (place.function, place.file, place.line)), ..own })
    }

    fn place_of(&self, frame: u32) -> Option<Place> {
        let frame = self.frames.get(frame as usize)?;
        let text = |id: u32| SafeText::new(self.texts.get(id as usize).map_or("", |text| text));
        Some(Place { file: text(frame.file), line: frame.line, function: text(frame.name), through: None })
    }

    /// A number that two sites share where their [`Snapshot::place`] is the same.
    pub(super) fn place_key(&self, site: SiteId) -> Option<u32> {
        self.sites.get(site.0 as usize).and_then(|site| site.own.or(site.inner).or(site.native))
    }
}

/// A line of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as the program named it.
    pub file: SafeText,
    /// The line, 0 where it is not known.
    pub line: u32,
    /// The function around it.
    pub function: SafeText,
    /// Function, file and line of the library that was called there, where that is another one.
    pub through: Option<(SafeText, SafeText, u32)>,
}

/// A range of records in one of the lists of a [`Snapshot`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    pub(super) start: u32,
    pub(super) len: u32,
}

impl Run {
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end() as usize
    }

    pub(super) fn end(self) -> u32 {
        self.start.saturating_add(self.len)
    }
}

/// A piece of memory that the allocator took from the driver.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// The device, as torch numbers it.
    pub device: u32,
    /// Where it begins.
    pub address: u64,
    /// How large it is.
    pub size: Bytes,
    /// The stream whose requests it serves; 0 is the default one.
    pub stream: i64,
    /// Whether it serves small requests (up to 1 MiB) or large ones.
    pub small: bool,
    /// The pool: `(0, 0)` is the one that everybody uses, any other is private (captured graphs, a `MemPool`).
    pub pool: (i64, i64),
    /// Whether it can grow and give back single pages.
    pub expandable: bool,
    pub(super) blocks: Run,
}

impl Segment {
    /// Whether only its owner may use it: a captured graph or a `MemPool`.
    pub fn is_private(&self) -> bool {
        self.pool != (0, 0)
    }
}

/// A part of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Where it begins.
    pub address: u64,
    /// How large it is.
    pub size: Bytes,
    /// What was asked for; the rest is rounding.
    pub requested: Bytes,
    /// Whether it is in use.
    pub state: State,
    /// Where it was asked for, where that was recorded.
    pub site: SiteId,
}

/// Whether a block is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A tensor lives in it.
    Live,
    /// Freed by its tensor, but a stream may still be using it.
    Pending,
    /// Free.
    Free,
}

/// Something that the allocator did.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// What it did.
    pub action: Action,
    /// Which memory; for [`Action::Oom`] the bytes that were free on the device.
    pub address: u64,
    /// How much.
    pub size: Bytes,
    /// When, in microseconds since 1970; 0 where the layout has no times.
    pub time_us: i64,
    /// Where, where that was recorded.
    pub site: SiteId,
}

/// What the allocator did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Gave memory to a tensor.
    Alloc,
    /// A tensor gave it back.
    FreeRequested,
    /// And no stream uses it any more.
    FreeCompleted,
    /// Took a segment, or a page of one, from the driver.
    SegmentTaken,
    /// Gave one back.
    SegmentReturned,
    /// Could not serve a request.
    Oom,
    /// Anything else.
    Other,
}

/// How the allocator was set up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The text of `PYTORCH_CUDA_ALLOC_CONF`.
    pub conf: Option<SafeText>,
    /// Whether segments may grow.
    pub expandable: Option<bool>,
    /// Blocks of this size and more are not split; `None` without a limit.
    pub max_split_size: Option<Bytes>,
    /// From this many MiB on, sizes are rounded to so many parts of a power of two; 0 parts where they are not.
    pub roundup: Vec<(u64, u64)>,
}

/// The number of a place that asked for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SiteId(pub(super) u32);

impl SiteId {
    /// Nothing was recorded.
    pub const UNKNOWN: Self = Self(u32::MAX);
}

/// What is kept of a stack of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Site {
    /// The innermost frame of the person's own Python.
    pub(super) own: Option<u32>,
    /// The innermost frame of any Python.
    pub(super) inner: Option<u32>,
    /// The innermost frame at all that has a file; only where there is no Python.
    pub(super) native: Option<u32>,
}

/// A line of a program, by the numbers of its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    pub(super) file: u32,
    pub(super) line: u32,
    pub(super) name: u32,
}
