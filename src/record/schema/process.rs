//! A process on the wire: its facts in a line of their own, and one step's readings in a sample.

use serde::Serialize;

use super::super::absent::{Absences, NOT_ASKED, NOT_YET};
use super::super::time::Time;
use super::{Each, Form, TrendFields, text};
use crate::model::{Ancestor, Bytes, GpuId, ProcessFacts, ProcessSample, SafeText, Sample, UtilizationPercent, Visibility};
use crate::monitor::Monitor;

/// What does not change about a process.
#[derive(Serialize)]
pub(super) struct FactsFields<'a> {
    user: Option<&'a str>,
    what: &'a str,
    command: &'a str,
    cmdline: Texts<'a>,
    container: Option<&'a str>,
    job: Option<&'a str>,
    rank: Option<u32>,
    world_size: Option<u32>,
    local_rank: Option<u32>,
    visible: bool,
    mine: bool,
    started: Option<Time>,
    parent: Option<u32>,
    ancestors: Family<'a>,
}

/// Who started it, the nearest first.
struct Family<'a>(&'a [Ancestor]);

#[derive(Serialize)]
struct AncestorFields<'a> {
    pid: u32,
    start_ticks: Option<u64>,
    name: &'a str,
}

impl<'a> Serialize for Family<'a> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields =
            |ancestor: &'a Ancestor| AncestorFields { pid: ancestor.key.pid, start_ticks: ancestor.key.start_ticks, name: ancestor.name.as_str() };
        Each(self.0.iter().map(fields)).serialize(serializer)
    }
}

struct Texts<'a>(&'a [SafeText]);

impl Serialize for Texts<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Each(self.0.iter().map(SafeText::as_str)).serialize(serializer)
    }
}

impl<'a> FactsFields<'a> {
    pub(super) fn new(facts: &'a ProcessFacts) -> Self {
        Self {
            user: text(facts.user.as_ref()),
            what: facts.what.as_str(),
            command: facts.what_full.as_str(),
            cmdline: Texts(&facts.cmdline),
            container: text(facts.container.as_ref()),
            job: text(facts.job.as_ref()),
            rank: facts.rank.map(|rank| rank.rank),
            world_size: facts.rank.and_then(|rank| rank.world),
            local_rank: facts.rank.and_then(|rank| rank.local),
            visible: facts.visibility == Visibility::Here,
            mine: facts.mine,
            started: facts.started.map(Time),
            parent: facts.parent,
            ancestors: Family(&facts.ancestors),
        }
    }
}

/// One process of a sample.
#[derive(Serialize)]
pub(super) struct SampleFields<'a> {
    gpu: Option<u32>,
    uuid: Option<&'a str>,
    pid: u32,
    start_ticks: Option<u64>,
    r#type: &'static str,
    memory: Option<Bytes>,
    memory_min: Option<Bytes>,
    memory_max: Option<Bytes>,
    peak: Option<Bytes>,
    sm_percent: Option<UtilizationPercent>,
    cpu_percent: Option<f64>,
    rss: Option<Bytes>,
    state: Option<char>,
    #[serde(flatten)]
    facts: Option<FactsFields<'a>>,
    /// Null until the probe tells it.
    layers: Option<()>,
    trend: TrendFields,
    absent: Absences<'a, 12>,
}

impl<'a> SampleFields<'a> {
    pub(super) fn new(process: &'a ProcessSample, sample: &'a Sample, monitor: &Monitor, form: Form) -> Self {
        let key = process.facts.key;
        let row = monitor.process(process.gpu, key.pid);
        let peak = row.and_then(|row| row.peak);
        let rate = row.and_then(|row| row.bytes_per_minute().get());
        let host = process.host.value();
        let no_host = process.host.absence();
        let no_cpu = host.is_some_and(|host| host.cpu_permille.is_none());
        let no_range = process.range.is_none().then(|| process.memory.absence().unwrap_or(&NOT_YET));
        Self {
            gpu: monitor.gpus().get(process.gpu).and_then(|row| row.facts.index),
            uuid: sample.gpus.get(process.gpu).map(|gpu| GpuId::as_str(&gpu.id)),
            pid: key.pid,
            start_ticks: key.start_ticks,
            r#type: process.kind.letters(),
            memory: process.memory.get(),
            memory_min: process.range.map(|(min, _)| min),
            memory_max: process.range.map(|(_, max)| max),
            peak: peak.map(|peak| peak.bytes),
            sm_percent: process.sm_percent.get(),
            cpu_percent: host.and_then(|host| host.cpu_permille).map(|permille| f64::from(permille) / 10.0),
            rss: host.map(|host| host.rss),
            state: host.map(|host| host.state.0),
            facts: (form == Form::Alone).then(|| FactsFields::new(&process.facts)),
            layers: None,
            trend: TrendFields::new(rate),
            absent: Absences([
                ("memory", process.memory.absence()),
                ("memory_min", no_range),
                ("memory_max", no_range),
                ("peak", peak.is_none().then_some(&NOT_YET)),
                ("sm_percent", process.sm_percent.absence()),
                ("cpu_percent", no_host.or(no_cpu.then_some(&NOT_YET))),
                ("rss", no_host),
                ("state", no_host),
                ("layers", Some(&NOT_ASKED)),
                ("trend", rate.is_none().then_some(&NOT_YET)),
                ("trend.state", rate.map(|_| &NOT_YET)),
                ("trend.full_in_s", rate.map(|_| &NOT_YET)),
            ]),
        }
    }
}
