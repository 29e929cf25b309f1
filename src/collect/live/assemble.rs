//! How a finished step becomes a sample: which processes are tracked, who they are, and what the step cost.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::{FixedFacts, HostScope, LiveSource, Open};
use crate::collect::Clock;
use crate::collect::host::Host;
use crate::collect::step::GpuStep;
use crate::model::{Absence, Bytes, OwnCost, ProcessFacts, ProcessSample, Reading, Record, Sample, Untracked};

/// The most processes that are tracked; the smaller ones beyond are counted and summed.
const MOST_TRACKED: usize = 2048;
/// A shorter span says little: the first step has none, and steps of 50 ms share one measurement.
const LEAST_SPAN_MS: u64 = 200;

/// CPU time and driver time between two samples.
#[derive(Default)]
pub(super) struct OwnMeter {
    before: Option<Meter>,
    last: OwnCost,
}

#[derive(Clone, Copy)]
struct Meter {
    cpu_us: u64,
    driver_ns: u64,
    at_ms: u64,
}

impl<C: Clock> LiveSource<C> {
    pub(super) fn finish_sample(&mut self, open: &mut Open, now: u64) -> Sample {
        let (tracked, untracked) = choose_tracked(&open.gpus);
        self.meet(&tracked, &open.gpus);
        // Devices that could not be opened stay a fault for as long as the driver is open.
        let mut faults = open.unopened.clone();
        let began = std::mem::replace(&mut open.began_ms, now + 1);
        let processes = tracked.iter().map(|place| self.process_sample(open, *place, began)).collect();
        let gpus = open.gpus.iter_mut().zip(untracked).map(|(gpu, rest)| gpu.finish(began, rest, &mut faults)).collect();
        let own = self.own.measure(&mut self.host, open.driver.spent_ns(), now);
        Sample { time: self.clock.wall(), elapsed_ms: now, gpus, processes, faults, own }
    }

    /// Meets the processes that are new and asks the host for those that are looked at.
    fn meet(&mut self, tracked: &[Place], gpus: &[GpuStep]) {
        let pid_of = |place: &Place| gpus[place.gpu].listed()[place.at].pid;
        let mut listed: Vec<u32> = tracked.iter().map(pid_of).collect();
        listed.sort_unstable();
        listed.dedup();
        let mut changed: Vec<Arc<ProcessFacts>> = Vec::new();
        self.host.retain(&|pid| listed.binary_search(&pid).is_ok());
        let now = self.clock.now_ms();
        match self.options.host {
            HostScope::All => {
                self.host.meet(&listed, &mut changed);
                self.host.refresh(&listed, now);
            }
            HostScope::Interest => {
                self.host.meet(&listed, &mut changed);
                let mut seen = self.interest.pids();
                seen.retain(|pid| listed.binary_search(pid).is_ok());
                self.host.refresh(&seen, now);
            }
            HostScope::Named(None) => self.host.meet(&listed, &mut changed),
            HostScope::Named(Some(most)) => self.host.meet(&largest(tracked, gpus, most), &mut changed),
        }
        if self.options.fixed == FixedFacts::Never {
            self.host.wait_for_users(Duration::from_millis(20), &mut changed);
        }
        let first_gpu: HashMap<u32, usize> = tracked.iter().rev().map(|place| (pid_of(place), place.gpu)).collect();
        for facts in changed {
            if let Some(gpu) = first_gpu.get(&facts.key.pid) {
                self.queue.push_back(Record::Process { gpu: gpus[*gpu].device.facts().id.clone(), facts });
            }
        }
    }

    fn process_sample(&self, open: &Open, place: Place, began_ms: u64) -> ProcessSample {
        let step = &open.gpus[place.gpu];
        let listed = &step.listed()[place.at];
        let facts = self.host.facts(listed.pid).map_or_else(|| Arc::new(ProcessFacts::unseen(listed.pid)), Arc::clone);
        ProcessSample {
            gpu: place.gpu,
            facts,
            kind: listed.kind,
            // The figure of an older list is none of this step.
            memory: step.stale_since(began_ms).map_or_else(|| listed.memory.clone(), |since| Reading::Absent(Absence::StaleSince(since))),
            range: step.range(listed.pid),
            sm_percent: step.sm_percent(listed.pid),
            host: self.host.reading(listed.pid),
        }
    }
}

impl OwnMeter {
    pub(super) fn measure(&mut self, host: &mut Host, driver_ns: u64, now_ms: u64) -> OwnCost {
        let (cpu_us, rss) = host.own();
        let Some(before) = self.before.filter(|before| now_ms.saturating_sub(before.at_ms) >= LEAST_SPAN_MS) else {
            self.before.get_or_insert(Meter { cpu_us, driver_ns, at_ms: now_ms });
            return OwnCost { rss, ..self.last };
        };
        let span_ms = now_ms - before.at_ms;
        // Driver time starts anew after the driver was closed.
        let in_driver = driver_ns.checked_sub(before.driver_ns).unwrap_or(driver_ns) / 1000;
        let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let cpu_permille = Some(small(cpu_us.saturating_sub(before.cpu_us) / span_ms));
        self.last = OwnCost { cpu_permille, driver_us_per_s: Some(small(in_driver * 1000 / span_ms)), rss };
        self.before = Some(Meter { cpu_us, driver_ns, at_ms: now_ms });
        self.last
    }
}

/// One listed process: its device, and its place in that device's list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    gpu: usize,
    at: usize,
}

impl Place {
    fn bytes(self, gpus: &[GpuStep]) -> Option<Bytes> {
        gpus[self.gpu].listed()[self.at].memory.get()
    }
}

/// Which listed processes are tracked, and for each device those that are only counted.
fn choose_tracked(gpus: &[GpuStep]) -> (Vec<Place>, Vec<Untracked>) {
    let places = |(gpu, step): (usize, &GpuStep)| (0..step.listed().len()).map(move |at| Place { gpu, at });
    let mut all: Vec<Place> = gpus.iter().enumerate().flat_map(places).collect();
    let mut untracked = vec![Untracked::default(); gpus.len()];
    if all.len() > MOST_TRACKED {
        all.sort_by_key(|place| Reverse(place.bytes(gpus)));
        for place in all.drain(MOST_TRACKED..) {
            untracked[place.gpu].add(place.bytes(gpus));
        }
        all.sort_unstable();
    }
    (all, untracked)
}

/// The PIDs of the `most` largest processes of each device: no more than that can be printed.
fn largest(tracked: &[Place], gpus: &[GpuStep], most: usize) -> Vec<u32> {
    let mut pids = Vec::new();
    for gpu in 0..gpus.len() {
        let mut here: Vec<Place> = tracked.iter().copied().filter(|place| place.gpu == gpu).collect();
        here.sort_by_key(|place| Reverse(place.bytes(gpus)));
        pids.extend(here.iter().take(most).map(|place| gpus[gpu].listed()[place.at].pid));
    }
    pids
}
