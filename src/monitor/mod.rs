//! The one owner of state: what is now, what was, and what follows from it.
//!
//! [`Monitor::apply`] is the only writer. Pictures read it through the getters and change nothing.

mod account;
mod ended;
mod past;
mod rows;

pub use ended::Ended;
pub use past::Then;
pub use rows::{GpuRow, Peak, ProcessRow};

use std::collections::HashMap;
use std::sync::Arc;

use account::Account;
use ended::Graveyard;

use crate::insight::Warning;
use crate::model::{Bytes, Event, EventKind, GpuFacts, GpuId, Header, Ledger, Moment, OwnCost, ProcessFacts, ProcessKey, Record, SafeText, Sample};

/// Everything that the records so far amount to.
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    header: Option<Arc<Header>>,
    gpus: Vec<GpuRow>,
    processes: Vec<ProcessRow>,
    ended: Graveyard,
    /// Row of a process by GPU position and PID.
    places: HashMap<(usize, u32), usize>,
    /// Processes that were only counted and are tracked again from the next sample on, by GPU position.
    back: Vec<(usize, ProcessKey)>,
    /// Processes whose device is no longer there: they are gone with the next sample.
    left: Vec<(GpuId, EventKind)>,
    warnings: Vec<Warning>,
    events: Vec<Event>,
    driver_gone: Option<SafeText>,
    /// Devices that could not be opened, with the driver's word for why.
    unopened: Vec<SafeText>,
    now: Option<(Moment, u64)>,
    first_sample_ms: Option<u64>,
    /// Since when it is read on the sample's own clock; `None` where nothing was read since the readings broke off.
    read_since_ms: Option<u64>,
    /// What was read since the last sample, from when to when, up to where it broke off.
    read: Vec<(u64, u64)>,
    is_past: bool,
    own: OwnCost,
    samples: u64,
}

impl Monitor {
    /// Knows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in one record. What it led to (processes that came or went) stands in [`Monitor::events`] until the next.
    pub fn apply(&mut self, record: &Record) {
        self.events.clear();
        match record {
            Record::Header(header) => self.apply_header(header),
            Record::Process { facts, .. } => self.apply_facts(facts),
            Record::Sample(sample) => self.apply_sample(sample),
            Record::Event(event) => self.apply_event(event),
        }
    }

    fn apply_header(&mut self, header: &Arc<Header>) {
        let mut known: Vec<GpuRow> = std::mem::take(&mut self.gpus);
        let before: Vec<GpuId> = known.iter().map(|row| row.facts.id.clone()).collect();
        self.gpus = header
            .gpus
            .iter()
            .map(|facts| match known.iter().position(|row| row.facts.id == facts.id) {
                // The past of a device outlives a reload of the driver.
                Some(at) => GpuRow { facts: Arc::clone(facts), ..known.swap_remove(at) },
                None => GpuRow::new(Arc::clone(facts)),
            })
            .collect();
        for at in 0..self.gpus.len() {
            self.gpus[at].label = self.label_of(at);
        }
        self.renumber(&before);
        self.driver_gone = None;
        self.header = Some(Arc::clone(header));
        self.conclude();
    }

    /// Process rows follow their GPU to its new position; those of a device that is gone go with it.
    fn renumber(&mut self, before: &[GpuId]) {
        let moved: Vec<Option<usize>> = before.iter().map(|id| self.gpus.iter().position(|row| row.facts.id == *id)).collect();
        let place = |row: &ProcessRow| moved.get(row.gpu).copied().flatten();
        let left = self.processes.extract_if(.., |row| place(row).is_none());
        self.left.extend(left.filter_map(|row| Some((before.get(row.gpu)?.clone(), row.gone()))));
        for row in &mut self.processes {
            row.gpu = place(row).unwrap_or(row.gpu);
        }
        self.ended.renumber(&moved);
        self.index();
    }

    fn label_of(&self, at: usize) -> String {
        let facts = &self.gpus[at].facts;
        let parent = facts.parent.as_ref().and_then(|id| self.gpus.iter().find(|row| row.facts.id == *id));
        facts.label(parent.and_then(|row| row.facts.index))
    }

    fn apply_facts(&mut self, facts: &Arc<ProcessFacts>) {
        for row in &mut self.processes {
            if row.facts.key == facts.key {
                row.facts = Arc::clone(facts);
            }
        }
    }

    fn apply_event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Gap { ms } => self.break_off(event.elapsed_ms.saturating_sub(*ms), Some(event.elapsed_ms)),
            EventKind::Lost(reason) if event.gpu.is_none() => {
                self.driver_gone = Some(reason.clone());
                self.break_off(event.elapsed_ms, None);
                self.conclude();
            }
            EventKind::Untracked(key) => self.set_aside(event.gpu.as_ref(), *key),
            EventKind::Tracked(key) => self.back.extend(self.place_of(event.gpu.as_ref()).map(|gpu| (gpu, *key))),
            EventKind::Lost(_) | EventKind::Found | EventKind::Came(_) | EventKind::Gone { .. } => {}
        }
    }

    /// A gap in everything that is read: what was last known is not carried on beyond `from_ms`. It ends at `until_ms`, or with the
    /// next sample.
    fn break_off(&mut self, from_ms: u64, until_ms: Option<u64>) {
        let before = std::mem::replace(&mut self.read_since_ms, until_ms);
        self.read.extend(before.filter(|since_ms| *since_ms < from_ms).map(|since_ms| (since_ms, from_ms)));
        for gpu in &mut self.gpus {
            gpu.history.break_off(from_ms);
        }
    }

    fn place_of(&self, gpu: Option<&GpuId>) -> Option<usize> {
        self.gpus.iter().position(|row| Some(&row.facts.id) == gpu)
    }

    /// It has not ended: from the next sample on it is among those that are only counted.
    fn set_aside(&mut self, gpu: Option<&GpuId>, key: ProcessKey) {
        let Some(gpu) = self.place_of(gpu) else { return };
        self.processes.retain(|row| (row.gpu, row.facts.key) != (gpu, key));
        self.index();
    }

    fn apply_sample(&mut self, sample: &Sample) {
        let last_ms = sample.elapsed_ms.saturating_sub(1);
        let since_ms = self.read_since_ms.replace(sample.elapsed_ms).map_or(last_ms, |since_ms| since_ms.min(last_ms));
        self.read.push((since_ms, sample.elapsed_ms));
        self.now = Some((sample.time, sample.elapsed_ms));
        self.first_sample_ms.get_or_insert(sample.elapsed_ms);
        self.own = sample.own;
        self.unopened.clear();
        self.unopened.extend(sample.faults.iter().filter(|fault| fault.gpu.is_none()).map(|fault| fault.reason.clone()));
        self.samples += 1;
        let facts: Vec<Arc<GpuFacts>> = self.gpus.iter().map(|row| Arc::clone(&row.facts)).collect();
        for (at, (row, gpu)) in self.gpus.iter_mut().zip(&sample.gpus).enumerate() {
            row.apply(gpu, Account::of(at, sample, &facts), sample);
        }
        self.apply_processes(sample);
        // Who is left although the sample does not speak of them stands in a list that could not be read.
        self.processes.iter_mut().filter(|row| !row.listed).for_each(ProcessRow::keep);
        self.read.clear();
        self.conclude();
    }

    fn apply_processes(&mut self, sample: &Sample) {
        self.events.extend(self.left.drain(..).map(|(gpu, kind)| Event { gpu: Some(gpu), ..happened(sample, kind) }));
        for row in &mut self.processes {
            row.listed = false;
        }
        for process in &sample.processes {
            let Some(lists) = self.gpus.get(process.gpu).map(GpuRow::lists) else { continue };
            let key = process.facts.key;
            let place = self.places.get(&(process.gpu, key.pid)).copied();
            let row = place.and_then(|at| self.processes.get_mut(at)).filter(|row| row.facts.key.is_same(key));
            if let Some(row) = row {
                row.apply(process, lists, sample, &self.read);
            } else {
                if !self.back.contains(&(process.gpu, key)) {
                    self.came(process.gpu, key, sample);
                }
                let mut row = self.ended.take_back(process.gpu, key).unwrap_or_else(|| ProcessRow::new(process, sample));
                row.apply(process, lists, sample, &[(sample.elapsed_ms.saturating_sub(1), sample.elapsed_ms)]);
                self.places.insert((process.gpu, key.pid), self.processes.len());
                self.processes.push(row);
            }
        }
        self.back.clear();
        self.remove_unlisted(sample);
    }

    fn came(&mut self, gpu: usize, key: ProcessKey, sample: &Sample) {
        let gpu = self.gpus.get(gpu).map(|row| row.facts.id.clone());
        self.events.push(Event { gpu, ..happened(sample, EventKind::Came(key)) });
    }

    /// Rows that are no longer listed leave, unless their device's list could not be read this time.
    fn remove_unlisted(&mut self, sample: &Sample) {
        let readable = |gpu: usize| sample.gpus.get(gpu).is_some_and(|gpu| gpu.processes.is_value());
        let gone: Vec<ProcessRow> = self.processes.extract_if(.., |row| !row.listed && readable(row.gpu)).collect();
        self.ended.forget_before(sample.elapsed_ms);
        if gone.is_empty() {
            return;
        }
        for row in gone {
            let gpu = self.gpus.get(row.gpu);
            self.events.push(Event { gpu: gpu.map(|gpu| gpu.facts.id.clone()), ..happened(sample, row.gone()) });
            let fullness = gpu.and_then(GpuRow::highest_fullness);
            let lives_on = self.processes.iter().any(|other| other.facts.key == row.facts.key);
            self.ended.add(Ended { row, at: sample.time, at_ms: sample.elapsed_ms, fullness, lives_on });
        }
        self.index();
    }

    fn index(&mut self) {
        self.places.clear();
        self.places.extend(self.processes.iter().enumerate().map(|(at, row)| ((row.gpu, row.facts.key.pid), at)));
    }

    /// Trends and warnings, from the rows as they now are.
    fn conclude(&mut self) {
        if self.is_driver_gone() {
            self.gpus.iter_mut().for_each(GpuRow::break_off_rate);
            self.processes.iter_mut().for_each(ProcessRow::break_off_rate);
        } else if let Some((_, now_ms)) = self.now {
            let step_ms = self.step_ms();
            for row in &mut self.gpus {
                row.update_rate(now_ms, step_ms);
            }
            for row in &mut self.processes {
                row.update_rate(now_ms, step_ms);
            }
        }
        self.warnings = self.warn();
    }

    /// How long a step is.
    fn step_ms(&self) -> u64 {
        self.header.as_ref().map_or(0, |header| header.interval_ms)
    }

    fn warn(&self) -> Vec<Warning> {
        let mut warnings: Vec<Warning> = Vec::new();
        warnings.extend(self.driver_gone.clone().map(|reason| Warning::DriverGone { reason }));
        warnings.extend(self.unopened.iter().cloned().map(|reason| Warning::Unopened { reason }));
        for (at, row) in self.gpus.iter().enumerate() {
            let oldest_ms = self.processes_of(at).filter_map(|process| self.kept_age_ms(process)).max();
            row.warn(|| self.largest_holder(at), oldest_ms, &mut warnings);
        }
        warnings.sort_by_key(Warning::order);
        warnings
    }

    /// How old the figure of a process is, where the list that it stands in could not be read since.
    pub fn kept_age_ms(&self, process: &ProcessRow) -> Option<u64> {
        process.kept_since_ms.zip(self.now).map(|(since_ms, (_, now_ms))| now_ms.saturating_sub(since_ms))
    }

    fn largest_holder(&self, gpu: usize) -> Option<&ProcessRow> {
        self.processes_of(gpu).max_by_key(|row| row.bytes())
    }

    /// The header in force; `None` before the first answer of the driver.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_deref()
    }

    /// Every device, in the driver's order; MIG instances after their parent.
    pub fn gpus(&self) -> &[GpuRow] {
        &self.gpus
    }

    /// Every process on every GPU, in the order of their coming.
    pub fn processes(&self) -> &[ProcessRow] {
        &self.processes
    }

    /// The processes that are no longer listed, for 15 minutes; the oldest first.
    pub fn ended(&self) -> &[Ended] {
        self.ended.rows()
    }

    /// The processes on one GPU.
    pub fn processes_of(&self, gpu: usize) -> impl Iterator<Item = &ProcessRow> {
        self.processes.iter().filter(move |row| row.gpu == gpu)
    }

    /// The row of the process that has this PID on one GPU.
    pub fn process(&self, gpu: usize, pid: u32) -> Option<&ProcessRow> {
        self.places.get(&(gpu, pid)).and_then(|at| self.processes.get(*at))
    }

    /// What line 2 has to say, worst first.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// What the last record led to.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The time of the last sample: wall clock, and the sample's own clock in milliseconds.
    pub const fn now(&self) -> Option<(Moment, u64)> {
        self.now
    }

    /// What looking cost in the last step.
    pub const fn own(&self) -> OwnCost {
        self.own
    }

    /// How many samples were applied.
    pub const fn samples(&self) -> u64 {
        self.samples
    }

    /// Whether the driver itself is gone.
    pub const fn is_driver_gone(&self) -> bool {
        self.driver_gone.is_some()
    }

    /// The ledger over all cards: each term summed, an unknown term making the sum unknown. A MIG parent stands for its instances.
    pub fn total(&self) -> Option<Ledger> {
        let both = |a: Option<Bytes>, b: Option<Bytes>| a.zip(b).map(|(a, b)| a + b);
        let mut ledgers = self.gpus.iter().filter(|row| row.facts.parent.is_none()).filter_map(|row| row.ledger.get());
        let mut sum = ledgers.next()?;
        for one in ledgers {
            sum.total += one.total;
            sum.free += one.free;
            sum.driver = both(sum.driver, one.driver);
            sum.host = both(sum.host, one.host);
            sum.processes = both(sum.processes, one.processes);
            sum.unattributed = both(sum.unattributed, one.unattributed);
            sum.overlap = both(sum.overlap, one.overlap);
            sum.unknown_processes += one.unknown_processes;
            sum.holders += one.holders;
        }
        Some(sum)
    }

    /// The last millisecond of what was read, on the samples' clock; 0 before the first.
    pub fn last_ms(&self) -> u64 {
        self.now.map_or(0, |(_, now_ms)| now_ms.saturating_sub(1))
    }

    /// How old the oldest account is that [`Monitor::total`] sums, where that is worth a word.
    pub fn account_age_ms(&self) -> Option<u64> {
        let (_, now_ms) = self.now?;
        self.gpus.iter().filter_map(|row| row.account_age_ms(now_ms)).max()
    }

    /// Bytes held by processes of which the driver tells them.
    pub fn held(&self) -> Bytes {
        self.processes.iter().filter_map(ProcessRow::bytes_now).sum()
    }
}

/// What a sample led to, without a device.
const fn happened(sample: &Sample, kind: EventKind) -> Event {
    Event { time: sample.time, elapsed_ms: sample.elapsed_ms, gpu: None, kind }
}
