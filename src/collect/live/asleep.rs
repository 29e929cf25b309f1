//! GPUs that sleep: the driver is closed and sysfs alone is watched, until one of them wakes.

use std::sync::Arc;

use super::{FIRST_PAUSE_MS, LiveSource, Open, Session, facts_of};
use crate::collect::Clock;
use crate::collect::power::{SleepWatch, bound};
use crate::collect::step::GpuStep;
use crate::model::{Absence, GpuFacts, GpuId, GpuSample, GpuState, Lane, Reading, Record, SafeText, Sample, SelectionError, Telemetry, Untracked};

/// What a sleeping GPU is called that may or may not be meant.
const UNTOLD_NAME: &str = "NVIDIA GPU (which are chosen is not known while they sleep)";

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

    /// Whether the GPUs that are meant all slept before anybody looked: then even opening the driver would wake them, and they are known
    /// from sysfs alone. Where their places do not tell which are meant, all of them are shown, and their names say so.
    ///
    /// The kernel module's `information` files have UUIDs, but it wakes the GPU of which one is read.
    pub(super) fn find_asleep(&mut self) -> Result<Option<Session>, SelectionError> {
        let bound = bound(&self.options.proc_root);
        let all: Vec<GpuFacts> = bound.iter().enumerate().map(|(at, pci)| sleeping_facts(at, pci)).collect();
        let sleeps = |facts: &GpuFacts| self.power_files(facts).is_suspended();
        let chosen = self.options.selection.positions_by_place(&all.iter().collect::<Vec<_>>());
        let gpus: Vec<GpuFacts> = match chosen {
            Ok(Some(chosen)) => chosen.into_iter().filter_map(|at| all.get(at).cloned()).collect(),
            Ok(None) => all.into_iter().map(|facts| GpuFacts { name: SafeText::new(UNTOLD_NAME), ..facts }).collect(),
            // A driver that may be opened tells better what there is.
            Err(error) => return if !all.is_empty() && all.iter().all(sleeps) { Err(error) } else { Ok(None) },
        };
        if gpus.is_empty() || !gpus.iter().all(sleeps) {
            return Ok(None);
        }
        let watches = gpus.iter().map(|facts| SleepWatch::new(self.power_files(facts))).collect();
        let gpus: Vec<Arc<GpuFacts>> = gpus.into_iter().map(Arc::new).collect();
        let now = self.clock.now_ms();
        self.send_header(None, gpus.clone());
        Ok(Some(Session::Asleep(Box::new(Asleep { gpus, watches, bound, since_ms: now, next_ms: now }))))
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
