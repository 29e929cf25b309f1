//! The lines as they are written: their fields, in this order. They borrow from the model and own nothing.
//!
//! Later versions only add fields. What a line says of the past is taken from the monitor, never computed here.

mod gpu;
mod process;

use serde::{Serialize, Serializer};

use super::time::Time;
use crate::model::{Bytes, Event, EventKind, Fault, GpuId, Header, OwnCost, ProcessFacts, SafeText, Sample};
use crate::monitor::Monitor;

/// The version of the lines. A reader refuses any other.
pub const SCHEMA: u32 = 1;

/// The `type` of a line.
pub(super) mod tag {
    pub(in super::super) const HEADER: &str = "header";
    pub(in super::super) const PROCESS: &str = "process";
    pub(in super::super) const SAMPLE: &str = "sample";
    pub(in super::super) const EVENT: &str = "event";
}

/// Whether a sample stands alone or follows a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// What changes; what does not stands in lines before it.
    InRecording,
    /// With the static facts merged in.
    Alone,
}

/// An array whose elements are made while they are written.
struct Each<I>(I);

impl<I> Serialize for Each<I>
where
    I: Iterator + Clone,
    I::Item: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

#[derive(Serialize)]
struct HeaderLine<'a, G> {
    r#type: &'static str,
    schema: u32,
    time: Time,
    version: &'a str,
    host: &'a str,
    driver: Option<&'a str>,
    cuda: Option<&'a str>,
    interval_ms: u64,
    memory_hz: u32,
    gpus: G,
}

/// The line of a header.
pub(super) fn header(header: &Header) -> impl Serialize {
    HeaderLine {
        r#type: tag::HEADER,
        schema: SCHEMA,
        time: Time(header.time),
        version: header.version.as_str(),
        host: header.host.as_str(),
        driver: text(header.driver.as_ref()),
        cuda: text(header.cuda.as_ref()),
        interval_ms: header.interval_ms,
        memory_hz: header.memory_hz,
        gpus: Each(header.gpus.iter().map(|facts| gpu::FactsLine::new(facts))),
    }
}

#[derive(Serialize)]
struct ProcessLine<'a> {
    r#type: &'static str,
    uuid: &'a str,
    pid: u32,
    start_ticks: Option<u64>,
    #[serde(flatten)]
    facts: process::FactsFields<'a>,
}

/// The line of a process's facts.
pub(super) fn process<'a>(gpu: &'a GpuId, facts: &'a ProcessFacts) -> impl Serialize + use<'a> {
    ProcessLine {
        r#type: tag::PROCESS,
        uuid: gpu.as_str(),
        pid: facts.key.pid,
        start_ticks: facts.key.start_ticks,
        facts: process::FactsFields::new(facts),
    }
}

#[derive(Serialize)]
struct SampleLine<'a, G, P, F> {
    r#type: &'static str,
    schema: u32,
    time: Time,
    elapsed_ms: u64,
    host: Option<&'a str>,
    driver: Option<&'a str>,
    cuda: Option<&'a str>,
    gpus: G,
    processes: P,
    faults: F,
    own: OwnFields,
}

/// The line of a sample that `monitor` has just taken in.
pub(super) fn sample<'a>(sample: &'a Sample, monitor: &'a Monitor, form: Form) -> impl Serialize + use<'a> {
    let header = monitor.header();
    SampleLine {
        r#type: tag::SAMPLE,
        schema: SCHEMA,
        time: Time(sample.time),
        elapsed_ms: sample.elapsed_ms,
        host: header.map(|header| header.host.as_str()),
        driver: header.and_then(|header| text(header.driver.as_ref())),
        cuda: header.and_then(|header| text(header.cuda.as_ref())),
        gpus: Each(sample.gpus.iter().enumerate().map(move |(at, gpu)| gpu::SampleFields::new(at, gpu, monitor, form))),
        processes: Each(sample.processes.iter().map(move |process| process::SampleFields::new(process, sample, monitor, form))),
        faults: Each(sample.faults.iter().map(move |fault| FaultFields::new(fault, monitor))),
        own: OwnFields::new(sample.own),
    }
}

#[derive(Serialize)]
struct FaultFields<'a> {
    gpu: Option<u32>,
    uuid: Option<&'a str>,
    call: &'static str,
    reason: &'a str,
}

impl<'a> FaultFields<'a> {
    fn new(fault: &'a Fault, monitor: &Monitor) -> Self {
        Self {
            gpu: fault.gpu.as_ref().and_then(|id| index_of(id, monitor)),
            uuid: fault.gpu.as_ref().map(GpuId::as_str),
            call: fault.call,
            reason: fault.reason.as_str(),
        }
    }
}

#[derive(Serialize)]
struct OwnFields {
    cpu_percent: Option<f64>,
    driver_ms_per_s: Option<f64>,
    rss: Option<Bytes>,
}

impl OwnFields {
    fn new(own: OwnCost) -> Self {
        Self {
            cpu_percent: own.cpu_permille.map(|permille| f64::from(permille) / 10.0),
            driver_ms_per_s: own.driver_us_per_s.map(|us| f64::from(us) / 1000.0),
            rss: own.rss,
        }
    }
}

#[derive(Serialize)]
struct EventLine<'a> {
    r#type: &'static str,
    time: Time,
    elapsed_ms: u64,
    gpu: Option<u32>,
    uuid: Option<&'a str>,
    #[serde(flatten)]
    what: EventFields<'a>,
}

/// `event` names what happened; the other fields depend on it.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum EventFields<'a> {
    Came { pid: u32, start_ticks: Option<u64> },
    Gone { pid: u32, start_ticks: Option<u64>, peak: Option<Bytes> },
    Untracked { pid: u32, start_ticks: Option<u64> },
    Tracked { pid: u32, start_ticks: Option<u64> },
    Gap { ms: u64 },
    Lost { reason: &'a str },
    Found,
}

/// The line of an event.
pub(super) fn event<'a>(event: &'a Event, monitor: &Monitor) -> impl Serialize + use<'a> {
    let what = match &event.kind {
        EventKind::Came(key) => EventFields::Came { pid: key.pid, start_ticks: key.start_ticks },
        EventKind::Gone { key, peak } => EventFields::Gone { pid: key.pid, start_ticks: key.start_ticks, peak: *peak },
        EventKind::Untracked(key) => EventFields::Untracked { pid: key.pid, start_ticks: key.start_ticks },
        EventKind::Tracked(key) => EventFields::Tracked { pid: key.pid, start_ticks: key.start_ticks },
        EventKind::Gap { ms } => EventFields::Gap { ms: *ms },
        EventKind::Lost(reason) => EventFields::Lost { reason: reason.as_str() },
        EventKind::Found => EventFields::Found,
    };
    EventLine {
        r#type: tag::EVENT,
        time: Time(event.time),
        elapsed_ms: event.elapsed_ms,
        gpu: event.gpu.as_ref().and_then(|id| index_of(id, monitor)),
        uuid: event.gpu.as_ref().map(GpuId::as_str),
        what,
    }
}

fn text(text: Option<&SafeText>) -> Option<&str> {
    text.map(SafeText::as_str)
}

fn index_of(id: &GpuId, monitor: &Monitor) -> Option<u32> {
    monitor.gpus().iter().find(|row| row.facts.id == *id).and_then(|row| row.facts.index)
}

/// How fast something grows. The verdict and the forecast are null until there are any.
#[derive(Serialize)]
struct TrendFields {
    state: Option<&'static str>,
    bytes_per_s: Option<i64>,
    full_in_s: Option<[u64; 2]>,
}

impl TrendFields {
    fn new(bytes_per_minute: Option<f64>) -> Self {
        Self { state: None, bytes_per_s: bytes_per_minute.map(|rate| whole(rate / 60.0)), full_in_s: None }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a rate of more than 8 EiB/s is none: the cast saturates")]
fn whole(figure: f64) -> i64 {
    figure.round() as i64
}
