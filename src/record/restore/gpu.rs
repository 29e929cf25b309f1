//! A GPU read back: its static facts, and one step's readings.

use serde::Deserialize;

use super::super::absent::Reasons;
use super::values::{Text, count};
use super::{Impossible, on_clock};
use crate::model::{
    Absence, Bytes, DeviceMemory, GpuFacts, GpuId, GpuSample, GpuState, Lane, LanePoint, ListState, PcieRate, Reading, SafeText, Telemetry, Throttle,
    Untracked, UtilizationPercent,
};

/// Watts as they are written, in milliwatts.
fn milliwatts(reasons: &Reasons, path: &str, watts: Option<f64>) -> Reading<u32> {
    reasons.reading(path, watts).and_then(|watts| count(watts, 1000.0).map_or(Reading::failed("not a power"), Reading::Value))
}

fn percent(reasons: &Reasons, path: &str, percent: Option<u32>) -> Reading<UtilizationPercent> {
    let figure = reasons.reading(path, percent);
    figure.and_then(|figure| UtilizationPercent::new(figure).map_or(Reading::failed("more than 100 %"), Reading::Value))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Clocks {
    sm_mhz: Option<u32>,
    memory_mhz: Option<u32>,
}

#[derive(Deserialize)]
pub(super) struct FactsLine {
    index: Option<u32>,
    uuid: Text,
    pci: Option<Text>,
    #[serde(default)]
    name: Text,
    parent: Option<Text>,
    instance: Option<u32>,
    memory_total: Option<Bytes>,
    #[serde(default)]
    shared_with_host: bool,
    power_limit_w: Option<f64>,
    #[serde(default)]
    max_clocks: Clocks,
    bar1_total: Option<Bytes>,
    mig: Option<bool>,
    #[serde(default)]
    absent: Reasons,
}

impl FactsLine {
    pub(super) fn restore(self) -> GpuFacts {
        let reasons = &self.absent;
        GpuFacts {
            id: self.uuid.id(),
            index: self.index,
            instance: self.instance,
            parent: self.parent.map(|uuid| uuid.id()),
            pci: self.pci.map(Text::safe),
            name: self.name.safe(),
            total: reasons.reading("memory_total", self.memory_total),
            shared_with_host: self.shared_with_host,
            power_limit_mw: milliwatts(reasons, "power_limit_w", self.power_limit_w),
            max_sm_mhz: reasons.reading("max_clocks.sm_mhz", self.max_clocks.sm_mhz),
            max_memory_mhz: reasons.reading("max_clocks.memory_mhz", self.max_clocks.memory_mhz),
            bar1_total: reasons.reading("bar1_total", self.bar1_total),
            mig: reasons.reading("mig", self.mig),
        }
    }
}

#[derive(Deserialize)]
pub(super) struct SampleLine {
    uuid: Text,
    #[serde(default)]
    memory: MemoryLine,
    #[serde(default)]
    utilization: Utilization,
    temperature_c: Option<u32>,
    fan_percent: Option<u32>,
    power_w: Option<f64>,
    #[serde(default)]
    clocks: Clocks,
    pstate: Option<u8>,
    throttle_bits: Option<u64>,
    ecc_errors: Option<u64>,
    remapped_rows: Option<u32>,
    pcie: Option<PcieLine>,
    energy_mj: Option<u64>,
    #[serde(default)]
    state: Text,
    state_since_ms: Option<u64>,
    process_list: Option<Text>,
    #[serde(default)]
    untracked: Untracked,
    #[serde(default)]
    absent: Reasons,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MemoryLine {
    total: Option<u64>,
    used: Option<u64>,
    free: Option<u64>,
    driver: Option<u64>,
    source: Option<Text>,
    used_min: Option<Bytes>,
    used_max: Option<Bytes>,
    lane: Vec<(u64, Option<Bytes>)>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Utilization {
    gpu: Option<u32>,
    bus: Option<u32>,
    encoder: Option<u32>,
    decoder: Option<u32>,
}

#[derive(Deserialize)]
struct PcieLine {
    sent: u64,
    received: u64,
}

impl SampleLine {
    pub(super) const fn uuid(&self) -> &SafeText {
        &self.uuid.0
    }

    pub(super) fn restore(self, id: GpuId, elapsed_ms: u64) -> Result<GpuSample, Impossible> {
        let since_ms = self.state_since_ms.unwrap_or(elapsed_ms).min(elapsed_ms);
        let state = match self.state.0.as_str() {
            "lost" => GpuState::Lost { since_ms },
            "asleep" => GpuState::Asleep { since_ms },
            _ => GpuState::Present,
        };
        Ok(GpuSample {
            id,
            state,
            memory: self.memory.figures(&self.absent),
            processes: list_state(&self.absent, self.process_list.as_ref()),
            untracked: self.untracked,
            telemetry: self.telemetry(),
            lane: self.memory.lane()?,
        })
    }

    fn telemetry(&self) -> Telemetry {
        let reasons = &self.absent;
        Telemetry {
            gpu: percent(reasons, "utilization.gpu", self.utilization.gpu),
            bus: percent(reasons, "utilization.bus", self.utilization.bus),
            encoder: percent(reasons, "utilization.encoder", self.utilization.encoder),
            decoder: percent(reasons, "utilization.decoder", self.utilization.decoder),
            temperature_c: reasons.reading("temperature_c", self.temperature_c),
            fan_percent: reasons.reading("fan_percent", self.fan_percent),
            power_mw: milliwatts(reasons, "power_w", self.power_w),
            sm_mhz: reasons.reading("clocks.sm_mhz", self.clocks.sm_mhz),
            memory_mhz: reasons.reading("clocks.memory_mhz", self.clocks.memory_mhz),
            pstate: reasons.reading("pstate", self.pstate),
            throttle: reasons.reading("throttle_bits", self.throttle_bits.map(Throttle)),
            ecc_errors: reasons.reading("ecc_errors", self.ecc_errors),
            remapped_rows: reasons.reading("remapped_rows", self.remapped_rows),
            pcie: reasons.reading("pcie", self.pcie.as_ref().map(|rate| PcieRate { sent: rate.sent, received: rate.received })),
            energy_mj: reasons.reading("energy_mj", self.energy_mj),
            asked: Vec::new(),
        }
    }
}

fn list_state(reasons: &Reasons, written: Option<&Text>) -> Reading<ListState> {
    reasons.reading("process_list", written).and_then(|text| match text.0.as_str() {
        "fresh" => Reading::Value(ListState::Fresh),
        "partial" => Reading::Value(ListState::Partial(reasons.of("process_list.rest"))),
        _ => Reading::failed("unknown state of the list"),
    })
}

impl MemoryLine {
    /// The figures pass the same checks as a driver's.
    fn figures(&self, reasons: &Reasons) -> Reading<DeviceMemory> {
        let is_shared = self.source.as_ref().is_some_and(|source| source.0.as_str() == "host");
        match (self.total, self.free, self.used) {
            (Some(total), Some(free), used) if is_shared => DeviceMemory::shared(Bytes(total), Bytes(free), used.map(Bytes)),
            (Some(total), Some(free), Some(used)) => DeviceMemory::new(total, used, free, self.driver),
            _ => reasons.reading("memory", None),
        }
    }

    fn lane(self) -> Result<Lane, Impossible> {
        let points = self.lane.into_iter().map(|(ms, used)| Ok(LanePoint { at_ms: on_clock(ms)?, used }));
        Ok(Lane::from_parts(points.collect::<Result<_, Impossible>>()?, self.used_min, self.used_max))
    }
}

/// A device of the header that a sample does not speak of.
pub(super) fn unread(id: &GpuId) -> GpuSample {
    GpuSample {
        id: id.clone(),
        state: GpuState::Present,
        memory: Reading::NOT_ASKED,
        lane: Lane::default(),
        processes: Reading::NOT_ASKED,
        untracked: Untracked::default(),
        telemetry: Telemetry::absent(&Absence::NotAsked),
    }
}
