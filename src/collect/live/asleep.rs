//! GPUs that sleep: the driver is closed and sysfs alone is watched, until one of them wakes.

use std::sync::Arc;

use super::{FIRST_PAUSE_MS, LiveSource, Open, Session, facts_of};
use crate::collect::Clock;
use crate::collect::power::{SleepWatch, bound};
use crate::collect::step::GpuStep;
use crate::model::{Absence, GpuFacts, GpuId, GpuSample, GpuState, Lane, Reading, Record, SafeText, Sample, Telemetry, Untracked};

pub(super) struct Asleep {
    gpus: Vec<Arc<GpuFacts>>,
    watches: Vec<SleepWatch>,
    /// Bus ids of the GPUs that the kernel module has.
    bound: Vec<String>,
    since_ms: u64,
    next_ms: u64,
}

impl<C: Clock> LiveSource<C> {
    pub(super) fn let_idle_sleep(&mut self, mut open: Box<Open>, now: u64) -> Session {
        for (gpu, watch) in open.gpus.iter_mut().zip(&mut open.watches) {
            if gpu.is_asleep() {
                if watch.should_wake(now) {
                    gpu.wake();
                }
            } else if watch.should_sleep(gpu.is_idle(), now) {
                gpu.let_sleep(now);
            }
        }
        if open.gpus.is_empty() || !open.gpus.iter().all(GpuStep::is_asleep) {
            return Session::Open(open);
        }
        open.driver.close();
        let gpus = facts_of(&open);
        let next_ms = now + self.options.interval_ms;
        let bound = bound(&self.options.proc_root);
        Session::Asleep(Box::new(Asleep { gpus, watches: open.watches, bound, since_ms: now, next_ms }))
    }

    /// GPUs that slept before anybody looked: known from sysfs alone.
    pub(super) fn found_asleep(&mut self, bus_ids: Vec<String>) -> Session {
        let gpus: Vec<Arc<GpuFacts>> = bus_ids.iter().enumerate().map(|(at, pci)| Arc::new(sleeping_facts(at, pci))).collect();
        let watches = gpus.iter().map(|facts| SleepWatch::new(self.power_files(facts))).collect();
        let now = self.clock.now_ms();
        self.send_header(None, gpus.clone());
        Session::Asleep(Box::new(Asleep { gpus, watches, bound: bus_ids, since_ms: now, next_ms: now }))
    }

    pub(super) fn watch_sleep(&mut self, mut asleep: Box<Asleep>) -> Session {
        self.clock.sleep_until_ms(asleep.next_ms);
        let now = self.clock.now_ms();
        asleep.next_ms = now + self.options.interval_ms;
        let woken = asleep.watches.iter_mut().any(|watch| watch.should_wake(now));
        if woken || bound(&self.options.proc_root) != asleep.bound {
            return match self.open() {
                Ok(open) => Session::Open(open),
                Err(_) => Session::Gone { retry_ms: now + FIRST_PAUSE_MS, pause_ms: FIRST_PAUSE_MS },
            };
        }
        let since_ms = asleep.since_ms;
        let gpus = asleep.gpus.iter().map(|facts| sleeping_sample(facts.id.clone(), since_ms)).collect();
        // Nobody asks the driver anything.
        let own = self.own.measure(&self.host, 0, now);
        let sample = Sample { time: self.clock.wall(), elapsed_ms: now, gpus, processes: Vec::new(), faults: Vec::new(), own };
        self.queue.push_back(Record::Sample(Box::new(sample)));
        Session::Asleep(asleep)
    }
}

fn sleeping_facts(at: usize, pci: &str) -> GpuFacts {
    GpuFacts {
        id: GpuId::new(&format!("PCI-{pci}")),
        index: u32::try_from(at).ok(),
        instance: None,
        parent: None,
        pci: Some(SafeText::new(pci)),
        name: SafeText::new("NVIDIA GPU"),
        total: Reading::NOT_ASKED,
        shared_with_host: false,
        power_limit_mw: Reading::NOT_ASKED,
        max_sm_mhz: Reading::NOT_ASKED,
        max_memory_mhz: Reading::NOT_ASKED,
        bar1_total: Reading::NOT_ASKED,
        mig: Reading::NOT_ASKED,
    }
}

fn sleeping_sample(id: GpuId, since_ms: u64) -> GpuSample {
    let why = Absence::StaleSince(since_ms);
    GpuSample {
        id,
        state: GpuState::Asleep { since_ms },
        memory: Reading::Absent(why.clone()),
        lane: Lane::default(),
        processes: Reading::Absent(why.clone()),
        untracked: Untracked::default(),
        telemetry: Telemetry::absent(&why),
    }
}
