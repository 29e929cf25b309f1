//! One row a device and one row a process: the last reading, the past, and what follows from them.

use std::sync::Arc;

use super::account::Account;
use crate::history::{GpuHistory, ProcessHistory, Slot, Tier};
use crate::insight::{Named, Rate, Warning, rate_of, slot_for};
use crate::model::{
    Absence, Bytes, DeviceMemory, EventKind, GpuFacts, GpuSample, GpuState, HostReading, Kind, Ledger, ListState, Moment, Percent, ProcessFacts,
    ProcessSample, Reading, Sample, Telemetry, Untracked, UtilizationPercent,
};

/// The highest value that was sampled, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// The value.
    pub bytes: Bytes,
    /// The end of the step in which it was seen.
    pub at: Moment,
}

impl Peak {
    fn raise(peak: &mut Option<Self>, bytes: Bytes, at: Moment) {
        if peak.is_none_or(|peak| bytes > peak.bytes) {
            *peak = Some(Self { bytes, at });
        }
    }
}

/// What became of a device's process lists in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lists {
    /// They were read, all or some.
    Read,
    /// They are read more seldom than the steps are long.
    NotDue,
    /// None could be read.
    Unreadable,
}

/// One device.
#[derive(Clone, Debug)]
pub struct GpuRow {
    /// What is fixed about it.
    pub facts: Arc<GpuFacts>,
    /// How people name it: `0`, or `0.2` for an instance.
    pub label: String,
    /// Whether it answers.
    pub state: GpuState,
    /// The last memory reading.
    pub memory: Reading<DeviceMemory>,
    /// Where every byte of it is, from the last list and the memory that was read with it. A list that is older than the step makes
    /// no pair with the step's memory: until the next list the account stands as it was.
    pub ledger: Reading<Ledger>,
    /// When that list was read, on the sample's own clock, where that was before the last step.
    pub older_since_ms: Option<u64>,
    /// How much of the last process lists could be read.
    pub list: Reading<ListState>,
    /// The last telemetry.
    pub telemetry: Telemetry,
    /// Lowest and highest value of used in the last step.
    pub range: Option<(Bytes, Bytes)>,
    /// The highest value of used.
    pub peak: Option<Peak>,
    /// How fast its floor moves.
    pub(super) rate: Rate,
    pub(super) rate_until_ms: u64,
    /// Processes that are counted but not listed.
    pub untracked: Untracked,
    /// When there were such processes last, on the sample's own clock.
    pub(super) untracked_ms: u64,
    /// Its past.
    pub history: GpuHistory,
}

impl GpuRow {
    pub(super) fn new(facts: Arc<GpuFacts>) -> Self {
        Self {
            facts,
            label: String::new(),
            state: GpuState::Present,
            memory: Reading::NOT_YET,
            ledger: Reading::NOT_YET,
            older_since_ms: None,
            list: Reading::NOT_YET,
            telemetry: Telemetry::absent(&Absence::NotYet),
            range: None,
            peak: None,
            rate: Reading::NOT_YET,
            rate_until_ms: 0,
            untracked: Untracked::default(),
            untracked_ms: 0,
            history: GpuHistory::new(),
        }
    }

    pub(super) fn apply(&mut self, gpu: &GpuSample, account: Account, sample: &Sample) {
        self.state = gpu.state.clone();
        self.memory = gpu.memory.clone();
        self.older_since_ms = None;
        match account {
            Account::Older { since_ms } if self.ledger.is_value() && gpu.memory.is_value() => self.older_since_ms = Some(since_ms),
            Account::Older { .. } => self.ledger = gpu.memory.as_ref().map(Ledger::unexplained),
            Account::Now(ledger) => self.ledger = ledger,
        }
        if self.older_since_ms.is_none() {
            self.untracked = gpu.untracked;
        }
        self.list = gpu.processes.clone();
        self.telemetry = gpu.telemetry.clone();
        if gpu.untracked.count > 0 {
            self.untracked_ms = sample.elapsed_ms;
        }
        self.range = gpu.lane.min().zip(gpu.lane.max());
        if let Some(max) = gpu.lane.max() {
            Peak::raise(&mut self.peak, max, sample.time);
        }
        self.history.push_lane(&gpu.lane, sample.elapsed_ms);
        let from = sample.elapsed_ms.saturating_sub(1);
        if let Some(percent) = gpu.telemetry.gpu.get() {
            self.history.utilization.add(from, sample.elapsed_ms, percent.value().into());
        }
        if let Some(percent) = gpu.telemetry.bus.get() {
            self.history.bus.add(from, sample.elapsed_ms, percent.value().into());
        }
        if let Some(milliwatts) = gpu.telemetry.power_mw.get() {
            self.history.power.add(from, sample.elapsed_ms, milliwatts / 1000);
        }
    }

    /// The account of the last step itself: none where its lists are older than that.
    pub fn ledger_of_step(&self) -> Option<Ledger> {
        self.ledger.get().filter(|_| self.older_since_ms.is_none())
    }

    /// How old the account is at `now_ms`, where that is a second or more: then it is worth a word.
    pub fn account_age_ms(&self, now_ms: u64) -> Option<u64> {
        self.older_since_ms.map(|since_ms| now_ms.saturating_sub(since_ms)).filter(|age_ms| *age_ms >= 1000)
    }

    /// Whether its last lists name all its holders: those that are older than the step do, those that could not be read do not.
    pub fn names_holders(&self) -> bool {
        self.list.is_whole() || self.lists() == Lists::NotDue
    }

    pub(super) fn lists(&self) -> Lists {
        match self.list {
            Reading::Value(_) | Reading::Absent(Absence::NotYet | Absence::NotAsked) => Lists::Read,
            Reading::Absent(Absence::StaleSince(_)) if self.state == GpuState::Present => Lists::NotDue,
            Reading::Absent(_) => Lists::Unreadable,
        }
    }

    pub(super) fn update_rate(&mut self, now_ms: u64, step_ms: u64) {
        if self.memory.value().is_none_or(|memory| memory.used().is_none()) {
            return self.break_off_rate();
        }
        let Self { rate, rate_until_ms, history, .. } = self;
        update_rate(rate, rate_until_ms, &history.day, GpuHistory::bytes(1), now_ms, step_ms);
    }

    /// Its readings have broken off: how it moved is not how it moves.
    pub(super) fn break_off_rate(&mut self) {
        (self.rate, self.rate_until_ms) = (Reading::NOT_YET, 0);
    }

    /// Change of the floor in bytes per minute, once it is known.
    pub fn bytes_per_minute(&self) -> Reading<f64> {
        self.rate.as_ref().map(|rate| rate.per_minute)
    }

    /// How full it was at most in the last step, as a share of what can be handed out.
    pub(super) fn highest_fullness(&self) -> Option<Percent> {
        let memory = self.memory.value()?;
        let above_now = self.range.zip(memory.used()).map_or(Bytes::ZERO, |((_, max), used)| max.saturating_sub(used));
        (memory.taken() + above_now).percent_of(memory.room())
    }

    pub(super) fn warn<'a>(&self, holder: impl FnOnce() -> Option<&'a ProcessRow>, oldest_ms: Option<u64>, warnings: &mut Vec<Warning>) {
        let gpu = || self.label.clone();
        if let GpuState::Lost { .. } = self.state {
            warnings.push(Warning::Lost { gpu: gpu() });
            return;
        }
        if self.state != GpuState::Present {
            return;
        }
        match &self.memory {
            Reading::Value(memory) => {
                let free = memory.free();
                if free.percent_of(memory.room()).is_some_and(|p| p.ratio() < Warning::EDGE) {
                    let holder = self.names_holders().then(holder).flatten().and_then(ProcessRow::named);
                    warnings.push(Warning::AtTheEdge { gpu: gpu(), free, holder });
                }
                let unattributed = self.ledger.get().and_then(|ledger| ledger.notable_unattributed());
                if let Some(bytes) = unattributed.filter(|b| b.percent_of(memory.room()).is_some_and(|p| p.ratio() > Warning::UNATTRIBUTED)) {
                    warnings.push(Warning::Unattributed { gpu: gpu(), bytes });
                }
            }
            Reading::Absent(Absence::NotYet | Absence::NotAsked) => {}
            Reading::Absent(why) => warnings.push(Warning::MemoryUnknown { gpu: gpu(), reason: why.to_string() }),
        }
        match (&self.list, oldest_ms) {
            (Reading::Value(ListState::Fresh) | Reading::Absent(Absence::NotYet | Absence::NotAsked | Absence::StaleSince(_)), _) => {}
            (Reading::Value(ListState::Partial(why)), _) => warnings.push(Warning::HoldersMissing { gpu: gpu(), reason: why.to_string() }),
            (Reading::Absent(why), None) => warnings.push(Warning::HoldersUnknown { gpu: gpu(), reason: why.to_string() }),
            (Reading::Absent(why), Some(age_ms)) => warnings.push(Warning::HoldersOld { gpu: gpu(), age_ms, reason: why.to_string() }),
        }
    }
}

/// One process on one GPU.
#[derive(Clone, Debug)]
pub struct ProcessRow {
    /// Position of its GPU in [`super::Monitor::gpus`].
    pub gpu: usize,
    /// Who it is.
    pub facts: Arc<ProcessFacts>,
    /// In which lists it stands.
    pub kind: Kind,
    /// What the driver charges it with; the last figure where there is none of the step.
    pub memory: Reading<Bytes>,
    /// The end of the step that it is of, on the sample's own clock.
    memory_ms: u64,
    /// The same, where the list that it stands in cannot be read now.
    pub kept_since_ms: Option<u64>,
    /// Lowest and highest figure of the last step; of a moment that is looked back at, those of its slot.
    pub range: Option<(Bytes, Bytes)>,
    /// The highest figure of its lists; of a moment that is looked back at, the highest of its slot.
    pub peak: Option<Peak>,
    /// Kernel time from the slow lane.
    pub sm_percent: Reading<UtilizationPercent>,
    /// The host's side.
    pub host: Reading<HostReading>,
    /// How fast its floor moves, and over what stretch.
    pub(super) rate: Rate,
    pub(super) rate_until_ms: u64,
    /// When it was seen first, on the sample's own clock.
    pub first_seen_ms: u64,
    /// Its past.
    pub history: ProcessHistory,
    /// Whether the last sample still had it.
    pub(super) listed: bool,
}

impl ProcessRow {
    pub(super) fn new(process: &ProcessSample, sample: &Sample) -> Self {
        Self {
            gpu: process.gpu,
            facts: Arc::clone(&process.facts),
            kind: process.kind,
            memory: process.memory.clone(),
            memory_ms: sample.elapsed_ms,
            kept_since_ms: None,
            range: None,
            peak: None,
            sm_percent: process.sm_percent.clone(),
            host: process.host.clone(),
            rate: Reading::NOT_YET,
            rate_until_ms: 0,
            first_seen_ms: sample.elapsed_ms,
            history: ProcessHistory::new(),
            listed: true,
        }
    }

    /// Takes in a step. `read` is what of it was read, from when to when: between is a gap.
    pub(super) fn apply(&mut self, process: &ProcessSample, lists: Lists, sample: &Sample, read: &[(u64, u64)]) {
        self.listed = true;
        self.facts = Arc::clone(&process.facts);
        self.kind = process.kind;
        self.kept_since_ms = None;
        // Until the next list the last figure stands.
        let is_stale = matches!(process.memory, Reading::Absent(Absence::StaleSince(_)));
        if !is_stale {
            (self.memory, self.memory_ms) = (process.memory.clone(), sample.elapsed_ms);
        }
        match lists {
            Lists::Read if is_stale => self.keep(),
            Lists::Read | Lists::NotDue => {}
            Lists::Unreadable => self.keep(),
        }
        self.sm_percent = process.sm_percent.clone();
        self.host = process.host.clone();
        let range = process.range.or_else(|| self.bytes_now().map(|bytes| (bytes, bytes)));
        self.range = range;
        if let Some((min, max)) = range {
            Peak::raise(&mut self.peak, max, sample.time);
            for (from_ms, to_ms) in read {
                self.history.push(*from_ms, *to_ms, min, max);
            }
        }
    }

    /// Its list cannot be read now: the last figure stands, and is known to be old.
    pub(super) const fn keep(&mut self) {
        self.kept_since_ms = Some(self.memory_ms);
    }

    pub(super) fn update_rate(&mut self, now_ms: u64, step_ms: u64) {
        if self.bytes_now().is_none() {
            return self.break_off_rate();
        }
        let Self { rate, rate_until_ms, history, .. } = self;
        update_rate(rate, rate_until_ms, &history.hour, ProcessHistory::bytes(1), now_ms, step_ms);
    }

    /// Its readings have broken off: how it moved is not how it moves.
    pub(super) fn break_off_rate(&mut self) {
        (self.rate, self.rate_until_ms) = (Reading::NOT_YET, 0);
    }

    /// Change of the floor in bytes per minute, once it is known. While its list cannot be read nobody knows how it changes.
    pub fn bytes_per_minute(&self) -> Reading<f64> {
        let rate = || self.rate.as_ref().map(|rate| rate.per_minute);
        self.kept_since_ms.map_or_else(rate, |since_ms| Reading::Absent(Absence::StaleSince(since_ms)))
    }

    /// Over how long a stretch that was measured, in milliseconds.
    pub fn rate_over_ms(&self) -> Option<u64> {
        self.rate.value().map(|rate| rate.over_ms)
    }

    /// That it is no longer listed.
    pub(super) fn gone(&self) -> EventKind {
        EventKind::Gone { key: self.facts.key, peak: self.peak.map(|peak| peak.bytes) }
    }

    /// As a sentence names it; `None` where there is no figure to name.
    pub(super) fn named(&self) -> Option<Named> {
        Some(Named { key: self.facts.key, what: self.facts.what.clone(), bytes: self.memory.get()? })
    }

    /// The figure where it is known, be it the last one; sorts unknown ones last.
    pub fn bytes(&self) -> Option<Bytes> {
        self.memory.get()
    }

    /// The figure, unless its list could not be read since: then it is not known to be held any more, and enters no sum.
    pub fn bytes_now(&self) -> Option<Bytes> {
        self.memory.get().filter(|_| self.kept_since_ms.is_none())
    }
}

/// It is computed anew once a slot: with the first step that reaches into the next one, whose floor so far counts as well.
fn update_rate<S: Slot>(rate: &mut Rate, until_ms: &mut u64, tier: &Tier<S>, unit: Bytes, now_ms: u64, step_ms: u64) {
    if now_ms > *until_ms {
        *rate = rate_of(tier, unit, now_ms, step_ms);
        *until_ms = now_ms.next_multiple_of(slot_for(tier, step_ms));
    }
}
