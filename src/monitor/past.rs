//! The state as it was at a moment that the rings still hold. What they do not keep is absent: today's figure is never shown as then's.
//!
//! A ring of processes keeps the lowest and highest figure of a slot, so a figure of then is the lowest, with the range beside it.

use super::ended::Ended;
use super::rows::{GpuRow, Peak, ProcessRow};
use super::{Monitor, Warning};
use crate::history::{GpuHistory, ProcessHistory, Slot};
use crate::insight::rate_of;
use crate::model::{
    Absence, Bytes, DeviceMemory, GpuState, Ledger, ListState, MemorySource, Moment, OwnCost, Reading, Telemetry, UtilizationPercent,
};

/// Why a figure of then is not there.
const NOT_KEPT: Absence = Absence::Failed(std::borrow::Cow::Borrowed("not kept"));
/// Below this (half of the last digit that is written) a range is one figure.
const ONE_FIGURE: Bytes = Bytes(Bytes::GIB / 20);

/// A moment that is looked back at: the last millisecond of a column of the histories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Then {
    /// The moment, on the samples' own clock.
    pub at_ms: u64,
    /// The length of the column that ends there.
    pub span_ms: u64,
}

impl Then {
    const fn begin_ms(self) -> u64 {
        (self.at_ms + 1).saturating_sub(self.span_ms)
    }
}

impl Monitor {
    /// The first moment that can be looked back at, on the samples' own clock; `None` before the first sample.
    pub fn first_ms(&self) -> Option<u64> {
        let ((_, now_ms), first_ms) = self.now.zip(self.first_sample_ms)?;
        let reach_ms = self.gpus.iter().map(|row| row.history.day.reach_ms()).max().unwrap_or(0);
        Some(first_ms.saturating_sub(1).max(now_ms.saturating_sub(reach_ms)))
    }

    /// Whether this is the state at a moment that is looked back at.
    pub const fn is_past(&self) -> bool {
        self.is_past
    }

    /// The state at a moment, from the rings alone. `None` before the first sample.
    pub fn past(&self, then: Then) -> Option<Self> {
        let (time, now_ms) = self.now?;
        let time = time.minus_ms(now_ms.saturating_sub(then.at_ms + 1));
        let mut past = self.clone();
        past.is_past = true;
        past.events.clear();
        past.warnings = Vec::<Warning>::new();
        past.driver_gone = None;
        past.own = OwnCost::default();
        past.now = Some((time, then.at_ms + 1));
        past.return_living(then);
        let step_ms = past.step_ms();
        for row in &mut past.processes {
            row.look_back(then, time, step_ms);
        }
        for row in &mut past.gpus {
            row.look_back(then, time, step_ms);
        }
        let ledgers: Vec<Reading<Ledger>> = (0..past.gpus.len()).map(|at| past.ledger_of(at, then)).collect();
        for (row, ledger) in past.gpus.iter_mut().zip(ledgers) {
            row.ledger = ledger;
        }
        past.index();
        Some(past)
    }

    /// Those that came later leave, and those that have ended since live again.
    fn return_living(&mut self, then: Then) {
        self.processes.retain(|row| row.first_seen_ms <= then.at_ms + 1);
        let living = self.ended.extract(|ended| ended.at_ms > then.at_ms + 1);
        self.processes.extend(living.into_iter().map(|ended| ended.row).filter(|row| row.first_seen_ms <= then.at_ms + 1));
    }

    /// The account of a card then: known only where nothing that counts in it has left the rings, and nothing moved meanwhile.
    fn ledger_of(&self, at: usize, then: Then) -> Reading<Ledger> {
        let Some(row) = self.gpus.get(at) else { return Reading::NOT_YET };
        let counts = |place: usize| place == at || self.gpus.get(place).is_some_and(|gpu| gpu.facts.parent.as_ref() == Some(&row.facts.id));
        let holders: Vec<&ProcessRow> = self.processes.iter().filter(|process| counts(process.gpu)).collect();
        let slot_ms = holders.iter().filter_map(|process| process.history.at(then.at_ms)).map(|(.., slot_ms)| slot_ms).max().unwrap_or(1000);
        let begin = then.at_ms / slot_ms * slot_ms;
        let moved = |range: Option<(Bytes, Bytes)>| range.map(|(low, high)| high.saturating_sub(low));
        let spread: Option<Bytes> =
            holders.iter().map(|process| moved(process.range)).chain([moved(row.history.range(begin, begin + slot_ms - 1))]).sum();
        let all_known = self.ended.is_whole_since(then.at_ms + 1)
            && self.gpus.iter().enumerate().all(|(place, gpu)| !counts(place) || (gpu.untracked_ms < then.at_ms && gpu.list.is_whole()));
        if all_known && spread.is_some_and(|spread| spread < ONE_FIGURE) {
            return Ledger::of(&row.memory, holders.into_iter().map(ProcessRow::bytes));
        }
        row.memory.as_ref().map(Ledger::unexplained)
    }

    /// What happened between two moments: who came, and who ended.
    pub fn happenings(&self, then: Then) -> (Vec<&ProcessRow>, Vec<&Ended>) {
        let within = |ms: u64| (then.begin_ms()..=then.at_ms).contains(&ms.saturating_sub(1));
        // What was there at the first sample has come before.
        let came = |row: &&ProcessRow| within(row.first_seen_ms) && self.first_sample_ms.is_some_and(|first| row.first_seen_ms > first);
        let ended = self.ended.rows();
        let all = self.processes.iter().chain(ended.iter().map(|ended| &ended.row));
        (all.filter(came).collect(), ended.iter().filter(|ended| within(ended.at_ms)).collect())
    }
}

impl GpuRow {
    fn look_back(&mut self, then: Then, time: Moment, step_ms: u64) {
        let used = self.history.used_at(then.at_ms);
        // What is fixed about a card's memory is the same then; the host's part of a shared pool is not kept.
        let fixed = self.memory.value().filter(|memory| memory.source() != MemorySource::Host).map(|memory| (memory.total(), memory.driver()));
        self.memory = match (used, fixed) {
            (Some(used), Some((total, driver))) => {
                let free = total.saturating_sub(driver.unwrap_or(Bytes::ZERO)).saturating_sub(used);
                DeviceMemory::new(total.0, used.0, free.0, driver.map(|bytes| bytes.0))
            }
            (None, _) | (_, None) => Reading::Absent(NOT_KEPT),
        };
        self.state = GpuState::Present;
        self.older_since_ms = None;
        self.list = self.list.clone().map(|_| ListState::Fresh);
        self.range = self.history.range(then.begin_ms(), then.at_ms);
        self.peak = self.peak.filter(|peak| peak.at <= time);
        self.telemetry = self.telemetry_at(then.at_ms);
        self.untracked = crate::model::Untracked::default();
        self.rate = match used {
            Some(_) => rate_of(&self.history.day, GpuHistory::bytes(1), then.at_ms + 1, step_ms),
            None => Reading::Absent(NOT_KEPT),
        };
    }

    fn telemetry_at(&self, at_ms: u64) -> Telemetry {
        let mut telemetry = Telemetry::absent(&NOT_KEPT);
        let percent = |value: Option<u32>| value.and_then(UtilizationPercent::new).map_or(Reading::Absent(NOT_KEPT), Reading::Value);
        let at = |tier: &crate::history::Tier<crate::history::TelemetrySlot>| Some(tier.at(at_ms)?.range()?.1);
        telemetry.gpu = percent(at(&self.history.utilization));
        telemetry.bus = percent(at(&self.history.bus));
        telemetry.power_mw = at(&self.history.power).map_or(Reading::Absent(NOT_KEPT), |watts| Reading::Value(watts * 1000));
        telemetry
    }
}

impl ProcessRow {
    fn look_back(&mut self, then: Then, time: Moment, step_ms: u64) {
        let slot = self.history.at(then.at_ms);
        self.range = slot.map(|(low, high, _)| (low, high));
        self.memory = slot.map_or(Reading::Absent(NOT_KEPT), |(low, ..)| Reading::Value(low));
        self.kept_since_ms = None;
        self.sm_percent = Reading::Absent(NOT_KEPT);
        self.host = Reading::Absent(NOT_KEPT);
        self.peak = slot.map(|(_, high, _)| Peak { bytes: high, at: time });
        self.rate = match slot {
            Some(_) => rate_of(&self.history.hour, ProcessHistory::bytes(1), then.at_ms + 1, step_ms),
            None => Reading::Absent(NOT_KEPT),
        };
    }

    /// Whether the figure is the lowest of several that are written differently.
    pub fn is_at_least(&self) -> bool {
        self.range.is_some_and(|(low, high)| high.saturating_sub(low) >= ONE_FIGURE)
    }
}
