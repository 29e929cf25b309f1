//! The lines as they are read: what a source had sent, out of text that anybody may have written.
//!
//! Unknown fields are passed over, and so is whatever is derived. A figure that cannot be one becomes an absent reading with
//! that reason; it is never bent into range.

mod gpu;
mod process;
mod values;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;

use super::facts::FactsTable;
use super::time::Time;
use crate::model::{Event, EventKind, Fault, GpuId, Header, OwnCost, ProcessFacts, ProcessKey, Record, SafeText, Sample};
use values::{Text, count};

/// What every line has.
#[derive(Deserialize)]
pub(super) struct Envelope<'a> {
    /// Which kind of line it is.
    #[serde(borrow)]
    pub(super) r#type: Cow<'a, str>,
    /// Headers and samples say it.
    pub(super) schema: Option<u64>,
    /// Samples and events say it.
    pub(super) elapsed_ms: Option<u64>,
}

/// The latest time that is believed: beyond it doubles and sums of times would go wrong.
const CLOCK_LIMIT_MS: u64 = 1 << 53;

/// More devices than any machine has: 16 GPUs with seven MIG instances each are 128. Pictures compare all of them with each other.
const MOST_DEVICES: usize = 256;

/// The longest step that a log can be asked for: a day.
const LONGEST_STEP_MS: u64 = 86_400_000;

/// What no machine and no log of ours can have written.
#[derive(Debug, thiserror::Error)]
pub(super) enum Impossible {
    #[error("its time is beyond any clock")]
    Time,
    #[error("its steps are longer than a day")]
    Step,
    #[error("it has {0} devices, and at most {MOST_DEVICES} are read")]
    Devices(usize),
}

fn on_clock(ms: u64) -> Result<u64, Impossible> {
    (ms <= CLOCK_LIMIT_MS).then_some(ms).ok_or(Impossible::Time)
}

#[derive(Deserialize)]
pub(super) struct HeaderLine {
    time: Time,
    #[serde(default)]
    version: Text,
    #[serde(default)]
    host: Text,
    driver: Option<Text>,
    cuda: Option<Text>,
    #[serde(default)]
    interval_ms: u64,
    #[serde(default)]
    memory_hz: u32,
    #[serde(default)]
    gpus: Vec<gpu::FactsLine>,
}

impl HeaderLine {
    pub(super) fn restore(self) -> Result<Arc<Header>, Impossible> {
        if self.gpus.len() > MOST_DEVICES {
            return Err(Impossible::Devices(self.gpus.len()));
        }
        if self.interval_ms > LONGEST_STEP_MS {
            return Err(Impossible::Step);
        }
        Ok(Arc::new(Header {
            time: self.time.0,
            version: self.version.0,
            host: self.host.0,
            driver: self.driver.map(Text::safe),
            cuda: self.cuda.map(Text::safe),
            interval_ms: self.interval_ms.max(1),
            memory_hz: self.memory_hz,
            gpus: self.gpus.into_iter().map(|gpu| Arc::new(gpu.restore())).collect(),
        }))
    }
}

#[derive(Deserialize)]
pub(super) struct ProcessLine {
    uuid: Text,
    #[serde(flatten)]
    facts: process::FactsLine,
}

impl ProcessLine {
    /// Where the process was seen first, and its facts.
    pub(super) fn restore(self) -> (GpuId, Arc<ProcessFacts>) {
        (self.uuid.id(), Arc::new(self.facts.restore()))
    }
}

#[derive(Deserialize)]
pub(super) struct SampleLine {
    time: Time,
    elapsed_ms: u64,
    #[serde(default)]
    gpus: Vec<gpu::SampleLine>,
    #[serde(default)]
    processes: Vec<process::SampleLine>,
    #[serde(default)]
    faults: Vec<FaultLine>,
    #[serde(default)]
    own: OwnLine,
}

impl SampleLine {
    /// The sample under this header: its devices in the header's order, its processes with what is known about them.
    pub(super) fn restore(self, header: &Header, known: &mut FactsTable) -> Result<Sample, Impossible> {
        let elapsed_ms = on_clock(self.elapsed_ms)?;
        let place = |uuid: &SafeText| header.gpus.iter().position(|facts| facts.id.as_str() == uuid.as_str());
        let mut gpus: Vec<_> = header.gpus.iter().map(|facts| gpu::unread(&facts.id)).collect();
        for line in self.gpus {
            if let Some(slot) = place(line.uuid()).and_then(|at| gpus.get_mut(at)) {
                *slot = line.restore(slot.id.clone(), elapsed_ms)?;
            }
        }
        let place_of = |line: &process::SampleLine| line.uuid().and_then(place);
        let processes = self.processes.into_iter().filter_map(|line| Some(line.restore(place_of(&line)?, known))).collect();
        known.end_sample();
        Ok(Sample {
            time: self.time.0,
            elapsed_ms,
            gpus,
            processes,
            faults: self.faults.into_iter().map(FaultLine::restore).collect(),
            own: self.own.restore(),
        })
    }
}

#[derive(Deserialize)]
struct FaultLine {
    uuid: Option<Text>,
    #[serde(default)]
    call: Text,
    #[serde(default)]
    reason: Text,
}

impl FaultLine {
    fn restore(self) -> Fault {
        Fault { gpu: self.uuid.map(|uuid| uuid.id()), call: values::call(self.call.0.as_str()), reason: self.reason.0 }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OwnLine {
    cpu_percent: Option<f64>,
    driver_ms_per_s: Option<f64>,
    rss: Option<crate::model::Bytes>,
}

impl OwnLine {
    fn restore(&self) -> OwnCost {
        OwnCost {
            cpu_permille: self.cpu_percent.and_then(|percent| count(percent, 10.0)),
            driver_us_per_s: self.driver_ms_per_s.and_then(|ms| count(ms, 1000.0)),
            rss: self.rss,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct EventLine {
    time: Time,
    elapsed_ms: u64,
    uuid: Option<Text>,
    #[serde(default)]
    event: Text,
    #[serde(default)]
    ms: u64,
    #[serde(default)]
    reason: Text,
    pid: Option<u32>,
    start_ticks: Option<u64>,
}

impl EventLine {
    /// The event, unless it is one that the monitor concludes anew or one that this version has no word for.
    pub(super) fn restore(self) -> Result<Option<Record>, Impossible> {
        let key = self.pid.map(|pid| ProcessKey { pid, start_ticks: self.start_ticks });
        let kind = match (self.event.0.as_str(), key) {
            ("untracked", Some(key)) => EventKind::Untracked(key),
            ("tracked", Some(key)) => EventKind::Tracked(key),
            ("gap", _) => EventKind::Gap { ms: self.ms },
            ("lost", _) => EventKind::Lost(self.reason.0),
            ("found", _) => EventKind::Found,
            _ => return Ok(None),
        };
        let gpu = self.uuid.map(|uuid| uuid.id());
        Ok(Some(Record::Event(Event { time: self.time.0, elapsed_ms: on_clock(self.elapsed_ms)?, gpu, kind })))
    }
}
