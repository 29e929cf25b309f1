//! The moment of a failure in a recording: how full each card got, who held it, and what happened right after. It keeps one moment a
//! card, whatever the length of the recording.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::model::{Bytes, GpuFacts, GpuId, Moment, Record, SafeText, Sample};

/// A failure is printed after it happened: it is looked for so long before its time, and a little after.
const BEFORE_MS: i64 = 20_000;
const AFTER_MS: i64 = 2_000;
/// What was held so long before tells whether it grew.
const GROWTH_MS: u64 = 60_000;
/// The most readings of that past: a minute of the shortest steps.
const MOST_PAST: usize = 1_300;
/// The most holders that are named.
const MOST_HOLDERS: usize = 6;

/// Who held memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The short name of its work.
    pub what: SafeText,
    /// Its owner, where known.
    pub user: Option<SafeText>,
    /// On the host.
    pub pid: u32,
    /// What it held.
    pub memory: Bytes,
}

/// One card at its fullest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its UUID.
    pub id: GpuId,
    /// The driver's index; `None` for a MIG instance.
    pub index: Option<u32>,
    /// The product's name.
    pub name: SafeText,
    /// When.
    pub time: Moment,
    /// In use then.
    pub used: Bytes,
    /// What CUDA can hand out of it.
    pub room: Bytes,
    /// In use at the end of that step.
    pub after: Bytes,
    /// In use at the end of the step before it.
    pub before: Option<Bytes>,
    /// In use a minute before, where the recording goes back so far.
    pub minute_before: Option<Bytes>,
    /// Who held it in that step, the largest first.
    pub holders: Vec<Holder>,
}

/// Reads records and keeps the fullest moment of each card.
#[derive(Debug, Default)]
pub struct Fullest {
    around: Option<Moment>,
    facts: Vec<Arc<GpuFacts>>,
    past: BTreeMap<usize, VecDeque<(Moment, Bytes)>>,
    seen: BTreeMap<usize, Seen>,
    first: Option<Moment>,
}

impl Fullest {
    /// Looks at the time around one moment, or at all of it.
    pub fn new(around: Option<Moment>) -> Self {
        Self { around, ..Self::default() }
    }

    /// When the records begin.
    pub fn begins(&self) -> Option<Moment> {
        self.first
    }

    /// Takes the next record.
    pub fn take(&mut self, record: &Record) {
        match record {
            Record::Header(header) => self.facts.clone_from(&header.gpus),
            Record::Sample(sample) => self.sample(sample),
            Record::Process { .. } | Record::Event(_) => {}
        }
    }

    fn sample(&mut self, sample: &Sample) {
        self.first = self.first.or(Some(sample.time));
        let is_near = self.around.is_none_or(|around| {
            let late = sample.time.unix_ms - around.unix_ms;
            (-BEFORE_MS..=AFTER_MS).contains(&late)
        });
        for (at, gpu) in sample.gpus.iter().enumerate() {
            // Of a shared pool whose processes are not known, nobody knows what the GPU has of it.
            let Some((memory, after)) = gpu.memory.get().and_then(|memory| Some((memory, memory.used()?))) else { continue };
            let past = self.past.entry(at).or_default();
            past.push_back((sample.time, after));
            while past.len() > MOST_PAST || past.front().is_some_and(|(time, _)| sample.time.since(*time) > GROWTH_MS) {
                past.pop_front();
            }
            let used = gpu.lane.max().map_or(after, |most| most.max(after));
            // Of equal moments the last one before the failure tells the most.
            let is_later = self.around.is_some_and(|around| sample.time <= around);
            if !is_near || self.seen.get(&at).is_some_and(|seen| seen.used > used || seen.used == used && !is_later) {
                continue;
            }
            let ago =
                gpu.lane.points().iter().find(|point| point.used == Some(used)).map_or(0, |point| sample.elapsed_ms.saturating_sub(point.at_ms));
            let before = past.iter().nth_back(1).map(|(_, used)| *used);
            let minute_before = past.front().filter(|(time, _)| sample.time.since(*time) > GROWTH_MS / 2).map(|(_, used)| *used);
            let Some(facts) = self.facts.get(at) else { continue };
            self.seen.insert(
                at,
                Seen {
                    id: facts.id.clone(),
                    index: facts.index,
                    name: facts.name.clone(),
                    time: sample.time.minus_ms(ago),
                    used,
                    room: memory.room(),
                    after,
                    before,
                    minute_before,
                    holders: holders(sample, at),
                },
            );
        }
    }

    /// The moments, card by card.
    pub fn finish(self) -> Vec<Seen> {
        self.seen.into_values().collect()
    }
}

fn holders(sample: &Sample, gpu: usize) -> Vec<Holder> {
    let of_gpu = sample.processes.iter().filter(|process| process.gpu == gpu);
    let mut holders: Vec<Holder> = of_gpu
        .filter_map(|process| {
            let most = process.range.map(|(_, most)| most);
            let memory = most.or_else(|| process.memory.get())?;
            let facts = &process.facts;
            Some(Holder { what: facts.what.clone(), user: facts.user.clone(), pid: facts.key.pid, memory })
        })
        .collect();
    holders.sort_by_key(|holder| std::cmp::Reverse(holder.memory));
    holders.truncate(MOST_HOLDERS);
    holders
}
