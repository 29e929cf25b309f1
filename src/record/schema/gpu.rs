//! A GPU on the wire: its static facts in the header, and one step's readings in a sample.

use serde::Serialize;

use super::super::absent::{Absences, NOT_ASKED, NOT_SUPPORTED, NOT_YET, UNTOLD};
use super::super::time::Time;
use super::{Each, Form, TrendFields, text};
use crate::model::{
    Bytes, DeviceMemory, GpuFacts, GpuId, GpuSample, GpuState, LanePoint, ListState, MemorySource, PcieRate, Reading, Throttle, Untracked,
    UtilizationPercent,
};
use crate::monitor::{GpuRow, Monitor};

/// Milliwatts as watts. Every whole count has a nearest double of its own, so nothing is lost.
fn watts(milliwatts: &Reading<u32>) -> Option<f64> {
    milliwatts.get().map(|milliwatts| f64::from(milliwatts) / 1000.0)
}

#[derive(Serialize)]
struct Clocks {
    sm_mhz: Option<u32>,
    memory_mhz: Option<u32>,
}

/// One GPU of a header.
#[derive(Serialize)]
pub(super) struct FactsLine<'a> {
    index: Option<u32>,
    uuid: &'a str,
    pci: Option<&'a str>,
    name: &'a str,
    parent: Option<&'a str>,
    instance: Option<u32>,
    memory_total: Option<Bytes>,
    shared_with_host: bool,
    power_limit_w: Option<f64>,
    max_clocks: Clocks,
    bar1_total: Option<Bytes>,
    mig: Option<bool>,
    absent: Absences<'a, 6>,
}

impl<'a> FactsLine<'a> {
    pub(super) fn new(facts: &'a GpuFacts) -> Self {
        Self {
            index: facts.index,
            uuid: facts.id.as_str(),
            pci: text(facts.pci.as_ref()),
            name: facts.name.as_str(),
            parent: facts.parent.as_ref().map(GpuId::as_str),
            instance: facts.instance,
            memory_total: facts.total.get(),
            shared_with_host: facts.shared_with_host,
            power_limit_w: watts(&facts.power_limit_mw),
            max_clocks: Clocks { sm_mhz: facts.max_sm_mhz.get(), memory_mhz: facts.max_memory_mhz.get() },
            bar1_total: facts.bar1_total.get(),
            mig: facts.mig.get(),
            absent: Absences([
                ("memory_total", facts.total.absence()),
                ("power_limit_w", facts.power_limit_mw.absence()),
                ("max_clocks.sm_mhz", facts.max_sm_mhz.absence()),
                ("max_clocks.memory_mhz", facts.max_memory_mhz.absence()),
                ("bar1_total", facts.bar1_total.absence()),
                ("mig", facts.mig.absence()),
            ]),
        }
    }
}

/// What does not change about a GPU, for a sample that stands alone.
#[derive(Serialize)]
struct MergedFacts {
    power_limit_w: Option<f64>,
    max_clocks: Clocks,
    bar1_total: Option<Bytes>,
    mig: Option<bool>,
    instance: Option<u32>,
}

/// One GPU of a sample.
#[derive(Serialize)]
pub(super) struct SampleFields<'a> {
    index: Option<u32>,
    uuid: &'a str,
    pci: Option<&'a str>,
    name: Option<&'a str>,
    parent: Option<&'a str>,
    memory: MemoryFields<'a>,
    utilization: Utilization,
    temperature_c: Option<u32>,
    fan_percent: Option<u32>,
    power_w: Option<f64>,
    #[serde(flatten)]
    facts: Option<MergedFacts>,
    clocks: Clocks,
    pstate: Option<u8>,
    throttle: Option<ThrottleNames>,
    throttle_bits: Option<u64>,
    ecc_errors: Option<u64>,
    remapped_rows: Option<u32>,
    pcie: Option<PcieFields>,
    energy_mj: Option<u64>,
    state: &'static str,
    state_since_ms: Option<u64>,
    process_list: Option<&'static str>,
    untracked: Untracked,
    trend: TrendFields,
    absent: Absences<'a, 37>,
}

#[derive(Serialize)]
struct Utilization {
    gpu: Option<UtilizationPercent>,
    bus: Option<UtilizationPercent>,
    encoder: Option<UtilizationPercent>,
    decoder: Option<UtilizationPercent>,
}

#[derive(Serialize)]
struct PcieFields {
    sent: u64,
    received: u64,
}

impl From<PcieRate> for PcieFields {
    fn from(rate: PcieRate) -> Self {
        Self { sent: rate.sent, received: rate.received }
    }
}

/// The reasons by name; bits without a name (idle among them) stand in `throttle_bits` alone.
struct ThrottleNames(Throttle);

impl Serialize for ThrottleNames {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.names())
    }
}

impl<'a> SampleFields<'a> {
    pub(super) fn new(at: usize, gpu: &'a GpuSample, monitor: &'a Monitor, form: Form) -> Self {
        let row = monitor.gpus().get(at).filter(|row| row.facts.id == gpu.id);
        let facts = row.map(|row| &*row.facts);
        let merged = facts.filter(|_| form == Form::Alone);
        let telemetry = &gpu.telemetry;
        let (state, state_since_ms) = match gpu.state {
            GpuState::Present => ("present", None),
            GpuState::Lost { since_ms } => ("lost", Some(since_ms)),
            GpuState::Asleep { since_ms } => ("asleep", Some(since_ms)),
        };
        Self {
            index: facts.and_then(|facts| facts.index),
            uuid: gpu.id.as_str(),
            pci: facts.and_then(|facts| text(facts.pci.as_ref())),
            name: facts.map(|facts| facts.name.as_str()),
            parent: facts.and_then(|facts| facts.parent.as_ref()).map(GpuId::as_str),
            memory: MemoryFields::new(gpu, row),
            utilization: Utilization {
                gpu: telemetry.gpu.get(),
                bus: telemetry.bus.get(),
                encoder: telemetry.encoder.get(),
                decoder: telemetry.decoder.get(),
            },
            temperature_c: telemetry.temperature_c.get(),
            fan_percent: telemetry.fan_percent.get(),
            power_w: watts(&telemetry.power_mw),
            facts: merged.map(|facts| MergedFacts {
                power_limit_w: watts(&facts.power_limit_mw),
                max_clocks: Clocks { sm_mhz: facts.max_sm_mhz.get(), memory_mhz: facts.max_memory_mhz.get() },
                bar1_total: facts.bar1_total.get(),
                mig: facts.mig.get(),
                instance: facts.instance,
            }),
            clocks: Clocks { sm_mhz: telemetry.sm_mhz.get(), memory_mhz: telemetry.memory_mhz.get() },
            pstate: telemetry.pstate.get(),
            throttle: telemetry.throttle.get().map(ThrottleNames),
            throttle_bits: telemetry.throttle.get().map(|throttle| throttle.0),
            ecc_errors: telemetry.ecc_errors.get(),
            remapped_rows: telemetry.remapped_rows.get(),
            pcie: telemetry.pcie.get().map(PcieFields::from),
            energy_mj: telemetry.energy_mj.get(),
            state,
            state_since_ms,
            process_list: gpu.processes.value().map(|list| match list {
                ListState::Fresh => "fresh",
                ListState::Partial(_) => "partial",
            }),
            untracked: gpu.untracked,
            trend: TrendFields::new(row.and_then(|row| row.bytes_per_minute().get())),
            absent: absences(at, gpu, row, merged, monitor),
        }
    }
}

/// Why each null of a GPU's fields is one.
fn absences<'a>(at: usize, gpu: &'a GpuSample, row: Option<&'a GpuRow>, merged: Option<&'a GpuFacts>, monitor: &'a Monitor) -> Absences<'a, 37> {
    let telemetry = &gpu.telemetry;
    let memory = gpu.memory.absence();
    let driver_inside = gpu.memory.value().is_some_and(|memory| memory.driver().is_none());
    let known = memory.is_none();
    let list = gpu.processes.lacking().filter(|_| known);
    let untold = row.and_then(GpuRow::ledger_of_step).is_none_or(|ledger| ledger.processes.is_none()) && known;
    let share = || monitor.processes_of(at).find_map(|row| row.memory.absence()).unwrap_or(&UNTOLD);
    let untold = list.or_else(|| untold.then(share));
    // Of a shared pool, used is the sum of the processes.
    let unparted = untold.filter(|_| gpu.memory.value().is_some_and(|memory| memory.used().is_none()));
    let no_rate = row.is_none_or(|row| !row.bytes_per_minute().is_value());
    Absences([
        ("memory", memory),
        ("memory.used", unparted),
        ("memory.driver", driver_inside.then_some(&NOT_SUPPORTED)),
        ("memory.host", list.filter(|_| host_of(gpu).is_none()).or(unparted)),
        ("memory.processes", untold),
        ("memory.unattributed", untold),
        ("memory.overlap", untold),
        ("memory.used_min", (known && gpu.lane.min().is_none()).then(|| unparted.unwrap_or(&NOT_YET))),
        ("memory.used_max", (known && gpu.lane.max().is_none()).then(|| unparted.unwrap_or(&NOT_YET))),
        ("memory.peak", row.is_none_or(|row| row.peak.is_none()).then_some(&NOT_YET)),
        ("memory.peak_accounting", Some(&NOT_ASKED)),
        ("utilization.gpu", telemetry.gpu.absence()),
        ("utilization.bus", telemetry.bus.absence()),
        ("utilization.encoder", telemetry.encoder.absence()),
        ("utilization.decoder", telemetry.decoder.absence()),
        ("temperature_c", telemetry.temperature_c.absence()),
        ("fan_percent", telemetry.fan_percent.absence()),
        ("power_w", telemetry.power_mw.absence()),
        ("power_limit_w", merged.and_then(|facts| facts.power_limit_mw.absence())),
        ("max_clocks.sm_mhz", merged.and_then(|facts| facts.max_sm_mhz.absence())),
        ("max_clocks.memory_mhz", merged.and_then(|facts| facts.max_memory_mhz.absence())),
        ("bar1_total", merged.and_then(|facts| facts.bar1_total.absence())),
        ("mig", merged.and_then(|facts| facts.mig.absence())),
        ("clocks.sm_mhz", telemetry.sm_mhz.absence()),
        ("clocks.memory_mhz", telemetry.memory_mhz.absence()),
        ("pstate", telemetry.pstate.absence()),
        ("throttle", telemetry.throttle.absence()),
        ("throttle_bits", telemetry.throttle.absence()),
        ("ecc_errors", telemetry.ecc_errors.absence()),
        ("remapped_rows", telemetry.remapped_rows.absence()),
        ("pcie", telemetry.pcie.absence()),
        ("energy_mj", telemetry.energy_mj.absence()),
        ("process_list", gpu.processes.absence()),
        ("process_list.rest", gpu.processes.lacking().filter(|_| gpu.processes.is_value())),
        ("trend", no_rate.then_some(&NOT_YET)),
        ("trend.state", (!no_rate).then_some(&NOT_YET)),
        ("trend.full_in_s", (!no_rate).then_some(&NOT_YET)),
    ])
}

#[derive(Serialize)]
struct MemoryFields<'a> {
    total: Option<Bytes>,
    used: Option<Bytes>,
    free: Option<Bytes>,
    driver: Option<Bytes>,
    host: Option<Bytes>,
    processes: Option<Bytes>,
    unattributed: Option<Bytes>,
    overlap: Option<Bytes>,
    used_min: Option<Bytes>,
    used_max: Option<Bytes>,
    lane: LanePoints<'a>,
    shared_with_host: bool,
    peak: Option<Bytes>,
    peak_time: Option<Time>,
    peak_accounting: Option<Bytes>,
    source: Option<&'static str>,
}

impl<'a> MemoryFields<'a> {
    fn new(gpu: &'a GpuSample, row: Option<&GpuRow>) -> Self {
        let memory = gpu.memory.value();
        let ledger = row.and_then(GpuRow::ledger_of_step);
        let peak = row.and_then(|row| row.peak);
        Self {
            total: memory.map(DeviceMemory::total),
            used: memory.and_then(DeviceMemory::used),
            free: memory.map(DeviceMemory::free),
            driver: memory.and_then(DeviceMemory::driver),
            host: host_of(gpu),
            processes: ledger.and_then(|ledger| ledger.processes),
            unattributed: ledger.and_then(|ledger| ledger.unattributed),
            overlap: ledger.and_then(|ledger| ledger.overlap),
            used_min: gpu.lane.min(),
            used_max: gpu.lane.max(),
            lane: LanePoints(gpu.lane.points()),
            shared_with_host: row.is_some_and(|row| row.facts.shared_with_host),
            peak: peak.map(|peak| peak.bytes),
            peak_time: peak.map(|peak| Time(peak.at)),
            peak_accounting: None,
            source: memory.map(|memory| match memory.source() {
                MemorySource::V2 => "v2",
                MemorySource::V1 => "v1",
                MemorySource::Host => "host",
            }),
        }
    }
}

/// The host's part. Of a shared pool it is what the processes leave of all that is in use, so it rests on a list of this step.
fn host_of(gpu: &GpuSample) -> Option<Bytes> {
    let memory = gpu.memory.value()?;
    (memory.source() != MemorySource::Host || gpu.processes.is_whole()).then(|| memory.host()).flatten()
}

/// `[[ms, used],…]`; a null begins a gap.
struct LanePoints<'a>(&'a [LanePoint]);

impl Serialize for LanePoints<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Each(self.0.iter().map(|point| (point.at_ms, point.used))).serialize(serializer)
    }
}
