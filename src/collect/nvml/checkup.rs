//! Every question of the program put to one device, one after another: what comes of it and how long it takes.
//!
//! It is for whoever wants to know what works here. It learns nothing about the device and judges nothing.

use std::time::{Duration, Instant};

use nvml_wrapper::enum_wrappers::device::{Clock, EccCounter, MemoryError, PcieUtilCounter, TemperatureSensor};
use nvml_wrapper::error::NvmlError;

use super::call::Call;
use super::device::Device;
use super::raw::{self, Handle, ListBuffer, ListVersion, UseBuffer, Which};
use super::telemetry::{fan_percent, throttle_bits};
use super::words;
use crate::model::Absence;

/// What came of one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The question, in words.
    pub question: &'static str,
    /// Which version of the call answered, where there are several.
    pub version: Option<&'static str>,
    /// Why there is no answer; `None` where there is one.
    pub absence: Option<Absence>,
    /// How long it took when it was put first.
    pub first: Duration,
    /// How long it took when it was put again: the first time is costly. Only what was answered is asked again.
    pub second: Option<Duration>,
}

/// What the answers bring to light beside being answers.
#[derive(Debug, Default)]
struct Found {
    version: Option<&'static str>,
    pids: Vec<u32>,
    list: ListBuffer,
    uses: UseBuffer,
}

type Question = fn(&Handle, &mut Found) -> Result<(), NvmlError>;

/// Questions that a MIG instance has an answer to.
const OF_ALL: [(Call, &str, Question); 4] = [
    (Call::Memory, "memory", memory),
    (Call::ComputeList, "compute list", |gpu, found| list(gpu, Which::Compute, found)),
    (Call::GraphicsList, "graphics list", |gpu, found| list(gpu, Which::Graphics, found)),
    (Call::MpsList, "MPS list", |gpu, found| list(gpu, Which::Mps, found)),
];

/// Those that only a whole GPU has an answer to; the costly ones last.
const OF_GPUS: [(Call, &str, Question); 20] = [
    (Call::Mig, "MIG mode", |gpu, _| gpu.mig_mode().map(drop)),
    (Call::Utilization, "utilization", |gpu, _| gpu.utilization_rates().map(drop)),
    (Call::Encoder, "encoder", |gpu, _| gpu.encoder_utilization().map(drop)),
    (Call::Decoder, "decoder", |gpu, _| gpu.decoder_utilization().map(drop)),
    (Call::Temperature, "temperature", |gpu, _| gpu.temperature(TemperatureSensor::Gpu).map(drop)),
    (Call::Fan, "fan", |gpu, _| fan_percent(gpu).map(drop)),
    (Call::Power, "power", |gpu, _| gpu.power_usage().map(drop)),
    (Call::PowerLimit, "power limit", |gpu, _| gpu.enforced_power_limit().map(drop)),
    (Call::SmClock, "SM clock", |gpu, _| gpu.clock_info(Clock::SM).map(drop)),
    (Call::MemoryClock, "memory clock", |gpu, _| gpu.clock_info(Clock::Memory).map(drop)),
    (Call::MaxSmClock, "highest SM clock", |gpu, _| gpu.max_clock_info(Clock::SM).map(drop)),
    (Call::MaxMemoryClock, "highest mem clock", |gpu, _| gpu.max_clock_info(Clock::Memory).map(drop)),
    (Call::Pstate, "P-state", |gpu, _| gpu.performance_state().map(drop)),
    (Call::Throttle, "throttle reasons", |gpu, _| throttle_bits(gpu).map(drop)),
    (Call::Ecc, "ECC errors", |gpu, _| gpu.total_ecc_errors(MemoryError::Uncorrected, EccCounter::Volatile).map(drop)),
    (Call::RemappedRows, "remapped rows", |gpu, _| raw::remapped_rows(gpu).map(drop)),
    (Call::Bar1, "BAR1", |gpu, _| gpu.bar1_memory_info().map(drop)),
    (Call::ProcessUtilization, "process use", process_use),
    (Call::Energy, "energy", |gpu, _| gpu.total_energy_consumption().map(drop)),
    (Call::Pcie, "PCIe traffic", |gpu, _| gpu.pcie_throughput(PcieUtilCounter::Send).map(drop)),
];

impl Device {
    /// Every question that [`Device::check_up`] puts to this device, in its order.
    pub fn questions(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.asked().map(|(_, question, _)| *question)
    }

    /// Puts every question twice. `tell` hears of each as it is done, and stops the rest with `false`: the question that hangs is the one
    /// after the last that was told. Returns the PIDs that the lists hold.
    pub fn check_up(&self, mut tell: impl FnMut(Check) -> bool) -> Vec<u32> {
        let mut found = Found::default();
        for (call, question, put) in self.asked() {
            found.version = None;
            let (answer, first) = self.time(*call, *put, &mut found);
            let second = answer.is_ok().then(|| self.time(*call, *put, &mut found).1);
            let absence = answer.err().map(|error| words::absence(&error, self.is_instance()));
            let version = found.version.filter(|_| absence.is_none());
            if !tell(Check { question, version, absence, first, second }) {
                break;
            }
        }
        found.pids.sort_unstable();
        found.pids.dedup();
        found.pids
    }

    fn asked(&self) -> impl Iterator<Item = &'static (Call, &'static str, Question)> + use<> {
        OF_ALL.iter().chain(OF_GPUS.iter().take(if self.is_instance() { 0 } else { OF_GPUS.len() }))
    }

    fn time(&self, call: Call, put: Question, found: &mut Found) -> (Result<(), NvmlError>, Duration) {
        let began = Instant::now();
        let answer = self.line.put(call, |handle| put(handle, found));
        (answer, began.elapsed())
    }
}

fn memory(gpu: &Handle, found: &mut Found) -> Result<(), NvmlError> {
    let (version, ()) = words::newest(&["v2", "v1"], |version| match version {
        "v2" => gpu.memory_info().map(drop),
        _ => raw::memory_v1(gpu).map(drop),
    })?;
    found.version = Some(version);
    Ok(())
}

fn list(gpu: &Handle, which: Which, found: &mut Found) -> Result<(), NvmlError> {
    let versions = [(ListVersion::V3, "v3"), (ListVersion::V2, "v2"), (ListVersion::V1, "v1")];
    let ((_, name), pids) = words::newest(&versions, |(version, _)| {
        let mut pids = Vec::new();
        raw::processes(gpu, which, version, &mut found.list, |row| pids.push(row.pid)).map(|()| pids)
    })?;
    found.version = Some(name);
    found.pids.extend(pids.into_iter().filter(|pid| *pid != 0));
    Ok(())
}

/// The driver says "not found" where nothing was measured: that is an answer.
fn process_use(gpu: &Handle, found: &mut Found) -> Result<(), NvmlError> {
    match raw::process_utilization(gpu, 0, &mut found.uses, |_| {}) {
        Err(NvmlError::NotFound) => Ok(()),
        answer => answer,
    }
}
