//! What a source sends, one record after another: a header, processes at first sight, samples, events.
//!
//! These are the lines of a recording, too: a live run and its replay send the same records.

use std::sync::Arc;

use super::{Bytes, GpuFacts, GpuId, GpuSample, Moment, ProcessFacts, ProcessKey, ProcessSample, SafeText};

/// The frame of what follows: sent first, and again after the driver was loaded anew.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// When it was made.
    pub time: Moment,
    /// The version of vramtop that made it.
    pub version: SafeText,
    /// The machine's name.
    pub host: SafeText,
    /// Driver version, `580.159.04`.
    pub driver: Option<SafeText>,
    /// CUDA version that the driver offers, `13.0`.
    pub cuda: Option<SafeText>,
    /// Length of a step in milliseconds.
    pub interval_ms: u64,
    /// Readings of the memory lane per second.
    pub memory_hz: u32,
    /// Every device, in the driver's order; MIG instances after their parent.
    pub gpus: Vec<Arc<GpuFacts>>,
}

/// A call that failed in a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which device; `None` where it concerns all.
    pub gpu: Option<GpuId>,
    /// Which question, in the product's words: `memory`, `processes`, `utilization`, …
    pub call: &'static str,
    /// The driver's word for what happened.
    pub reason: SafeText,
}

impl Fault {
    /// The driver's word where it does not permit a call.
    pub const NOT_PERMITTED: &str = "Insufficient Permissions";

    /// Whether all that is wrong is a permission.
    pub fn is_of_permission(&self) -> bool {
        self.reason.as_str().ends_with(Self::NOT_PERMITTED)
    }
}

/// What looking costs; the rates are unknown until there is a span to measure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnCost {
    /// CPU time of this program in thousandths of a core.
    pub cpu_permille: Option<u32>,
    /// Time spent in driver calls, in microseconds per second.
    pub driver_us_per_s: Option<u32>,
    /// Resident set size of this program, where it could be read.
    pub rss: Option<Bytes>,
}

/// One step's worth of readings. Immutable once sent; every figure on a screen comes from samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Wall clock at the end of the step.
    pub time: Moment,
    /// Milliseconds since the source began, on a clock that never jumps: all arithmetic uses this.
    pub elapsed_ms: u64,
    /// Every device, in the header's order.
    pub gpus: Vec<GpuSample>,
    /// Every tracked process on every GPU; a process on two GPUs stands here twice.
    pub processes: Vec<ProcessSample>,
    /// Calls that failed in this step.
    pub faults: Vec<Fault>,
    /// What looking cost in this step.
    pub own: OwnCost,
}

/// Something that happened at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When, on the wall clock.
    pub time: Moment,
    /// When, on the clock of [`Sample::elapsed_ms`].
    pub elapsed_ms: u64,
    /// Which device, where it concerns one.
    pub gpu: Option<GpuId>,
    /// What.
    pub kind: EventKind,
}

/// What happened. `Came` and `Gone` are concluded from samples, the others are read.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// A process was seen for the first time.
    Came(ProcessKey),
    /// A process is no longer listed; its highest figure.
    Gone {
        /// Which process.
        key: ProcessKey,
        /// The most that it held.
        peak: Option<Bytes>,
    },
    /// A process is still listed and only counted from now on, because others hold more. What it does meanwhile is not told.
    Untracked(ProcessKey),
    /// A process that was only counted is tracked again.
    Tracked(ProcessKey),
    /// A lane missed its deadline: nothing is known for this long, up to the event's time.
    Gap {
        /// Length in milliseconds.
        ms: u64,
    },
    /// The driver has lost the device, or the driver itself is gone (no device named).
    Lost(SafeText),
    /// The device answers again.
    Found,
}

/// One thing that a source sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// The frame of what follows.
    Header(Arc<Header>),
    /// What does not change about a process; `gpu` is where it was seen first.
    Process {
        /// Where it was seen first.
        gpu: GpuId,
        /// The facts.
        facts: Arc<ProcessFacts>,
    },
    /// One finished step.
    Sample(Box<Sample>),
    /// Something that happened.
    Event(Event),
}
