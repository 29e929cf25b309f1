//! How a finished step becomes a sample: who the tracked processes are, and what the step cost.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::tracked::Place;
use super::{FixedFacts, HostScope, LiveSource, Open};
use crate::collect::Clock;
use crate::collect::host::Host;
use crate::collect::step::GpuStep;
use crate::model::{Fault, OwnCost, ProcessFacts, ProcessSample, Record, Sample};

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
    cpu_us: Option<u64>,
    driver_ns: u64,
    at_ms: u64,
}

impl<C: Clock> LiveSource<C> {
    pub(super) fn finish_sample(&mut self, open: &mut Open, now: u64) -> Sample {
        let (tracked, mut untracked) = open.tracked.choose(&open.gpus);
        open.siblings.iter().for_each(|sibling| sibling.count_in(&open.gpus, &mut untracked));
        self.meet(&tracked, &open.gpus);
        for (gpu, kind) in open.tracked.settle(&tracked, &open.gpus, |pid| self.facts(pid).key) {
            self.event(Some(open.gpus[gpu].device.facts().id.clone()), kind);
        }
        // Devices that could not be opened stay a fault for as long as the driver is open.
        let mut faults = open.unopened.clone();
        let began = std::mem::replace(&mut open.began_ms, now + 1);
        let processes = tracked.iter().map(|place| self.process_sample(open, *place, began)).collect();
        let gpus = open.gpus.iter_mut().zip(untracked).map(|(gpu, rest)| gpu.finish(began, rest, &mut faults)).collect();
        self.log_faults(&faults);
        let own = self.own.measure(&self.host, open.driver.spent_ns(), now);
        Sample { time: self.clock.wall(), elapsed_ms: now, gpus, processes, faults, own }
    }

    /// Each fault once, when it begins and when it is over.
    fn log_faults(&mut self, faults: &[Fault]) {
        let whose = |fault: &Fault| fault.gpu.as_ref().map_or_else(String::new, |id| format!(" of device {id}"));
        for fault in faults.iter().filter(|fault| !self.faults.contains(fault)) {
            log::warn!("`{}`{} fails: {}", fault.call, whose(fault), fault.reason);
        }
        for fault in self.faults.iter().filter(|fault| !faults.contains(fault)) {
            log::info!("`{}`{} no longer fails: {}", fault.call, whose(fault), fault.reason);
        }
        if self.faults != faults {
            self.faults = faults.to_vec();
        }
    }

    /// Meets the processes that are new and asks the host for those that are looked at.
    fn meet(&mut self, tracked: &[Place], gpus: &[GpuStep]) {
        let pid_of = |place: &Place| place.pid(gpus);
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
            HostScope::LookedAt => {
                self.host.meet(&listed, &mut changed);
                let mut seen = self.exchange.pids();
                seen.retain(|pid| listed.binary_search(pid).is_ok());
                self.host.refresh(&seen, now);
            }
            HostScope::Named(None) => self.host.meet(&listed, &mut changed),
            HostScope::Named(Some(most)) => self.host.meet(&largest(tracked, gpus, most), &mut changed),
        }
        if self.options.fixed == FixedFacts::Never {
            self.host.wait_for_users(Duration::from_millis(20), &mut changed);
        }
        if changed.is_empty() {
            return;
        }
        let first_gpu: HashMap<u32, usize> = tracked.iter().rev().map(|place| (pid_of(place), place.gpu)).collect();
        for facts in changed {
            if let Some(gpu) = first_gpu.get(&facts.key.pid) {
                self.queue.push_back(Record::Process { gpu: gpus[*gpu].device.facts().id.clone(), facts });
            }
        }
    }

    fn facts(&self, pid: u32) -> Arc<ProcessFacts> {
        self.host.facts(pid).map_or_else(|| Arc::new(ProcessFacts::unseen(pid)), Arc::clone)
    }

    fn process_sample(&self, open: &Open, place: Place, began_ms: u64) -> ProcessSample {
        let step = &open.gpus[place.gpu];
        let listed = &step.listed()[place.at];
        ProcessSample {
            gpu: place.gpu,
            facts: self.facts(listed.pid),
            kind: listed.kind,
            memory: step.memory_of(listed, began_ms),
            range: step.range(listed.pid),
            sm_percent: step.sm_percent(listed.pid),
            host: self.host.reading(listed.pid),
        }
    }
}

impl OwnMeter {
    pub(super) fn measure(&mut self, host: &Host, driver_ns: u64, now_ms: u64) -> OwnCost {
        let (cpu_us, rss) = host.own();
        let Some(before) = self.before.filter(|before| now_ms.saturating_sub(before.at_ms) >= LEAST_SPAN_MS) else {
            self.before.get_or_insert(Meter { cpu_us, driver_ns, at_ms: now_ms });
            return OwnCost { rss, ..self.last };
        };
        let span_ms = now_ms - before.at_ms;
        // Driver time starts anew after the driver was closed.
        let in_driver = driver_ns.checked_sub(before.driver_ns).unwrap_or(driver_ns) / 1000;
        let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let cpu_permille = cpu_us.zip(before.cpu_us).map(|(now, before)| small(now.saturating_sub(before) / span_ms));
        self.last = OwnCost { cpu_permille, driver_us_per_s: Some(small(in_driver * 1000 / span_ms)), rss };
        self.before = Some(Meter { cpu_us, driver_ns, at_ms: now_ms });
        self.last
    }
}

/// The PIDs of the `most` largest processes of each device: no more than that can be printed.
fn largest(tracked: &[Place], gpus: &[GpuStep], most: usize) -> Vec<u32> {
    let mut pids = Vec::new();
    for gpu in 0..gpus.len() {
        let mut here: Vec<Place> = tracked.iter().copied().filter(|place| place.gpu == gpu).collect();
        here.sort_by_key(|place| Reverse(place.bytes(gpus)));
        pids.extend(here.iter().take(most).map(|place| place.pid(gpus)));
    }
    pids
}
