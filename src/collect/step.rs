//! One device within the step that is being filled: what its lanes have read so far, and how that becomes a sample.

use std::collections::HashMap;

use super::nvml::{Condition, Device, Listed};
use super::{Clock, TelemetryScope};
use crate::model::{
    Absence, Bytes, DeviceMemory, Fault, GpuFacts, GpuId, GpuSample, GpuState, Lane, LanePoint, ListState, Reading, Telemetry, Untracked,
    UtilizationPercent,
};

/// Memory of the machine, for devices without any of their own: total and available.
pub(super) type Pool = Reading<(Bytes, Bytes)>;

/// A device and its part of the current step.
pub(super) struct GpuStep {
    pub(super) device: Device,
    pub(super) state: GpuState,
    /// Whether its memory is the host's.
    pub(super) shares_host_memory: bool,
    lane: Lane,
    memory: Reading<DeviceMemory>,
    /// The memory that was read right after the list.
    paired: Reading<DeviceMemory>,
    listed: Vec<Listed>,
    list: Reading<ListState>,
    list_at_ms: u64,
    /// Lowest and highest figure of each process in this step.
    ranges: HashMap<u32, (Bytes, Bytes)>,
    telemetry: Telemetry,
    /// Kernel time a process, from the slow lane's last answer.
    pub(super) sm: HashMap<u32, UtilizationPercent>,
    pub(super) sm_asked: Reading<()>,
}

/// What the lanes had read of a step that was cut off with the driver.
pub(super) struct CutOff {
    id: GpuId,
    lane: Lane,
    ranges: HashMap<u32, (Bytes, Bytes)>,
}

impl GpuStep {
    pub(super) fn new(device: Device) -> Self {
        let shares_host_memory = device.facts().shared_with_host;
        Self {
            device,
            state: GpuState::Present,
            shares_host_memory,
            lane: Lane::default(),
            memory: Reading::NOT_YET,
            paired: Reading::NOT_YET,
            listed: Vec::new(),
            list: Reading::NOT_YET,
            list_at_ms: 0,
            ranges: HashMap::new(),
            telemetry: Telemetry::absent(&Absence::NotYet),
            sm: HashMap::new(),
            sm_asked: Reading::NOT_ASKED,
        }
    }

    /// What is fixed about it, as far as it is known by now.
    pub(super) fn facts(&self) -> GpuFacts {
        GpuFacts { shared_with_host: self.shares_host_memory, ..self.device.facts().clone() }
    }

    pub(super) fn is_asleep(&self) -> bool {
        matches!(self.state, GpuState::Asleep { .. })
    }

    /// The memory lane: device used, at `now_ms`. `pool` is asked only where the device has no memory of its own.
    pub(super) fn read_memory(&mut self, now_ms: u64, pool: impl FnOnce() -> Pool) {
        if self.is_asleep() {
            return;
        }
        let read = if self.shares_host_memory {
            let processes = self.held();
            pool().and_then(|(total, available)| DeviceMemory::shared(total, available, processes))
        } else {
            self.device.memory()
        };
        self.note_condition(now_ms);
        self.lane.push(LanePoint { at_ms: now_ms, used: read.get().and_then(|memory| memory.used()) });
        self.memory = read;
    }

    /// The process lane: the lists, then the memory at once, so that the pair agrees. Where the processes claim more
    /// than is used, the pair is read once more: one may have come in between.
    ///
    /// Returns what the lists alone took by `clock`, in microseconds, where they could be read.
    pub(super) fn read_processes(&mut self, now_ms: u64, clock: &impl Clock, mut pool: impl FnMut() -> Pool) -> Option<u64> {
        if self.is_asleep() {
            return None;
        }
        let mut spent_us = 0;
        for again in [false, true] {
            let before = clock.now_us();
            self.list = self.device.processes(now_ms, &mut self.listed);
            spent_us += clock.now_us().saturating_sub(before);
            self.list_at_ms = now_ms;
            self.read_memory(now_ms, &mut pool);
            self.paired = self.memory.clone();
            let claimed: Bytes = self.listed.iter().filter_map(|l| l.memory.get()).sum();
            if again || self.memory.get().and_then(|memory| memory.used()).is_none_or(|used| claimed <= used) {
                break;
            }
        }
        self.listed.sort_unstable_by_key(|l| l.pid);
        for listed in &self.listed {
            if let Some(bytes) = listed.memory.get() {
                let range = self.ranges.entry(listed.pid).or_insert((bytes, bytes));
                *range = (range.0.min(bytes), range.1.max(bytes));
            }
        }
        self.list.is_value().then_some(spent_us)
    }

    /// Whether what came back says that the device has no memory of its own: nothing shows that it has any, and the call is not
    /// supported or the total is nonsense; or one process holds more than all of it and no more than the host has. A MIG instance that tells nothing
    /// is another case.
    pub(super) fn looks_shared(&mut self, pool: impl FnOnce() -> Pool) -> bool {
        if self.shares_host_memory || self.device.facts().parent.is_some() {
            return false;
        }
        match &self.memory {
            Reading::Absent(Absence::NotSupported) => !self.device.has_own_memory(),
            Reading::Absent(Absence::Failed(name)) => name == DeviceMemory::NO_TOTAL && !self.device.has_own_memory(),
            Reading::Absent(_) => false,
            Reading::Value(_) => self.device.beyond_limit().is_some_and(|bytes| pool().get().is_some_and(|(total, _)| bytes <= total)),
        }
    }

    /// From now on its memory is the host's: its processes may hold as much as that.
    pub(super) fn share_host_memory(&mut self, now_ms: u64, clock: &impl Clock, mut pool: impl FnMut() -> Pool) {
        self.shares_host_memory = true;
        if let Some((total, _)) = pool().get() {
            self.device.set_process_limit(total);
        }
        self.read_processes(now_ms, clock, pool);
    }

    /// The telemetry lane, as much of it as `scope` says.
    pub(super) fn read_telemetry(&mut self, now_ms: u64, scope: &TelemetryScope) {
        if self.is_asleep() {
            return;
        }
        let (pcie, energy_mj) = (self.telemetry.pcie.clone(), self.telemetry.energy_mj.clone());
        // A lost device is not asked seven more questions.
        self.telemetry = match self.state {
            GpuState::Lost { .. } => Telemetry::absent(&Absence::Failed(GpuState::LOST.into())),
            _ => match scope {
                TelemetryScope::Full => Telemetry { pcie, energy_mj, ..self.device.telemetry() },
                TelemetryScope::Glance => self.device.glance(),
                TelemetryScope::Asked(asks) => {
                    let asked = asks.iter().map(|ask| (*ask, self.device.answer(*ask))).collect();
                    Telemetry { asked, ..Telemetry::absent(&Absence::NotAsked) }
                }
            },
        };
        self.note_condition(now_ms);
    }

    pub(super) fn set_slow(&mut self, pcie: Reading<crate::model::PcieRate>, energy_mj: Reading<u64>) {
        self.telemetry.pcie = pcie;
        self.telemetry.energy_mj = energy_mj;
    }

    fn note_condition(&mut self, now_ms: u64) {
        self.state = match (self.device.condition(), &self.state) {
            (Condition::Lost, GpuState::Lost { since_ms }) => GpuState::Lost { since_ms: *since_ms },
            (Condition::Lost, _) => GpuState::Lost { since_ms: now_ms },
            _ => GpuState::Present,
        };
    }

    /// The driver is gone: what was read since the last sample.
    pub(super) fn cut_off(self) -> CutOff {
        CutOff { id: self.device.facts().id.clone(), lane: self.lane, ranges: self.ranges }
    }

    /// Goes on with the step that was cut off, where it was this device's.
    pub(super) fn go_on(&mut self, cut_off: &mut Vec<CutOff>) {
        if let Some(at) = cut_off.iter().position(|cut_off| cut_off.id == self.device.facts().id) {
            let before = cut_off.swap_remove(at);
            (self.lane, self.ranges) = (before.lane, before.ranges);
        }
    }

    /// A time without readings begins: what was last known is not carried on.
    pub(super) fn break_off(&mut self, at_ms: u64) {
        self.lane.push(LanePoint { at_ms, used: None });
    }

    /// Leaves the device alone from now on, so that it can sleep.
    pub(super) fn let_sleep(&mut self, now_ms: u64) {
        self.break_off(now_ms);
        self.state = GpuState::Asleep { since_ms: now_ms };
        self.memory = Reading::Absent(Absence::StaleSince(now_ms));
        self.list = Reading::Absent(Absence::StaleSince(now_ms));
        self.telemetry = Telemetry::absent(&Absence::StaleSince(now_ms));
        self.listed.clear();
    }

    pub(super) fn wake(&mut self) {
        self.state = GpuState::Present;
    }

    /// No process and no work: it could sleep. A utilization that cannot be told (not supported, or not asked for) is no sign of work;
    /// one that failed is none of rest.
    pub(super) fn is_idle(&self) -> bool {
        let works = match &self.telemetry.gpu {
            Reading::Value(percent) => percent.value() > 0,
            Reading::Absent(why) => matches!(why, Absence::Failed(_)),
        };
        self.listed.is_empty() && self.list.is_whole() && !works
    }

    /// What its processes hold together, by the last list; `None` where that cannot be read, or not in whole, or one of them has no
    /// figure.
    fn held(&self) -> Option<Bytes> {
        if !self.list.is_whole() {
            return None;
        }
        self.listed.iter().map(|listed| listed.memory.get()).sum()
    }

    pub(super) fn listed(&self) -> &[Listed] {
        &self.listed
    }

    /// Whether its list could be read when it was asked last.
    pub(super) const fn is_listed(&self) -> bool {
        self.list.is_value()
    }

    /// Whether the last list names this process.
    pub(super) fn lists(&self, pid: u32) -> bool {
        self.listed.binary_search_by_key(&pid, |listed| listed.pid).is_ok()
    }

    /// Whether its memory was asked for in vain.
    pub(super) const fn is_unreadable(&self) -> bool {
        matches!(self.memory, Reading::Absent(Absence::Failed(_)))
    }

    pub(super) fn range(&self, pid: u32) -> Option<(Bytes, Bytes)> {
        self.ranges.get(&pid).copied()
    }

    pub(super) fn sm_percent(&self, pid: u32) -> Reading<UtilizationPercent> {
        // An answer without this process means that it ran nothing since the question before.
        self.sm_asked.clone().and_then(|()| self.sm.get(&pid).copied().or(UtilizationPercent::new(0)).map_or(Reading::NOT_YET, Reading::Value))
    }

    /// What a listed process holds. A figure that was read before this step, which began at `began_ms`, is none of it.
    pub(super) fn memory_of(&self, listed: &Listed, began_ms: u64) -> Reading<Bytes> {
        match (&listed.memory, self.is_older(began_ms)) {
            (Reading::Absent(Absence::StaleSince(_)), _) | (_, false) => listed.memory.clone(),
            (_, true) => Reading::Absent(Absence::StaleSince(self.list_at_ms)),
        }
    }

    /// Whether its lists were asked for last before the step that began at `began_ms`.
    const fn is_older(&self, began_ms: u64) -> bool {
        self.list_at_ms < began_ms
    }

    /// How much of the lists was read in the step that began at `began_ms`.
    fn list_of_step(&self, began_ms: u64) -> Reading<ListState> {
        match &self.list {
            Reading::Value(ListState::Fresh) if self.is_older(began_ms) => Reading::Absent(Absence::StaleSince(self.list_at_ms)),
            Reading::Value(ListState::Partial(why)) if self.is_older(began_ms) => Reading::Absent(why.clone()),
            list => list.clone(),
        }
    }

    /// Ends the step. `began_ms` is when it began: an older list is marked, and no figure of it is one of this step.
    pub(super) fn finish(&mut self, began_ms: u64, mut untracked: Untracked, faults: &mut Vec<Fault>) -> GpuSample {
        self.device.take_faults(faults);
        self.ranges.clear();
        let next = self.lane.next_step();
        let processes = self.list_of_step(began_ms);
        if untracked.count > 0 && self.is_older(began_ms) {
            untracked.memory = None;
        }
        // The sample's memory is what was read with its list; what the memory lane read since stands in the lane.
        let memory = if processes.is_value() && self.memory.is_value() { &self.paired } else { &self.memory };
        GpuSample {
            id: self.device.facts().id.clone(),
            state: self.state.clone(),
            memory: memory.clone(),
            lane: std::mem::replace(&mut self.lane, next),
            processes,
            untracked,
            telemetry: self.telemetry.clone(),
        }
    }
}
