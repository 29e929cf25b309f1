//! The source over a real machine: opens the driver, runs the lanes, closes each step into a sample.
//!
//! One thread owns all of it. When the driver goes away, or every GPU sleeps, the driver is closed and later opened
//! again by the same path.

mod asleep;
mod assemble;
mod inventory;
mod opening;
mod options;
mod siblings;
mod tracked;

pub use options::{Exchange, FixedFacts, HostScope, LiveOptions, TelemetryScope};

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use asleep::Asleep;
use assemble::OwnMeter;
use inventory::Inventory;
use siblings::Sibling;
use tracked::Tracked;

use super::host::Host;
use super::lanes::{LaneClock, affordable_period_ms};
use super::nvml::{Condition, Driver};
use super::power::{PowerFiles, SleepWatch};
use super::slow::{Answer, Question, SlowLane};
use super::step::{CutOff, GpuStep, Pool};
use super::{Clock, Source, SourceEnd};
use crate::model::{Event, EventKind, Fault, GpuFacts, GpuId, GpuState, Record, SafeText};

/// Fastest period of the process lane.
const LIST_PERIOD_MS: u64 = 250;
/// The memory lane late by this much is a gap.
const GAP_MS: u64 = 250;
/// Pauses between tries to open a driver that is gone.
const FIRST_PAUSE_MS: u64 = 1_000;
const LONGEST_PAUSE_MS: u64 = 10_000;

/// Reads the driver and the host.
pub struct LiveSource<C> {
    options: LiveOptions,
    clock: C,
    host: Host,
    exchange: Arc<Exchange>,
    queue: VecDeque<Record>,
    /// The devices of which it was told last that they are lost.
    lost: Vec<GpuId>,
    /// What was read of the step in which the driver went away.
    cut_off: Vec<CutOff>,
    session: Session,
    own: OwnMeter,
    /// Those of the last sample.
    faults: Vec<Fault>,
}

enum Session {
    /// Not opened before.
    New,
    Open(Box<Open>),
    /// The driver is gone; it is looked for again.
    Gone {
        retry_ms: u64,
        pause_ms: u64,
    },
    /// Every GPU sleeps and the driver is closed.
    Asleep(Box<Asleep>),
}

struct Open {
    driver: Driver,
    gpus: Vec<GpuStep>,
    siblings: Vec<Sibling>,
    tracked: Tracked,
    inventory: Inventory,
    watches: Vec<SleepWatch>,
    memory: LaneClock,
    processes: LaneClock,
    list_period_ms: u64,
    /// What the last rounds of lists took, in microseconds.
    list_costs_us: [u64; 3],
    step: LaneClock,
    began_ms: u64,
    slow: Option<SlowLane>,
    /// Devices that could not be opened.
    unopened: Vec<Fault>,
    fixed_read: bool,
    /// Whether a sample was sent.
    sampled: bool,
    /// Whether the last step had no time for its telemetry.
    telemetry_waits: bool,
}

impl<C: Clock> LiveSource<C> {
    /// A source that opens the driver when it is first asked.
    pub fn new(options: LiveOptions, clock: C, exchange: Arc<Exchange>) -> Self {
        let host = Host::new(&options.proc_root);
        Self {
            options,
            clock,
            host,
            exchange,
            queue: VecDeque::new(),
            lost: Vec::new(),
            cut_off: Vec::new(),
            session: Session::New,
            own: OwnMeter::default(),
            faults: Vec::new(),
        }
    }

    fn turn(&mut self) -> Result<(), SourceEnd> {
        match std::mem::replace(&mut self.session, Session::New) {
            Session::New => self.open_first().map_err(SourceEnd::Failed),
            Session::Open(open) => {
                self.session = self.run_lane(open);
                Ok(())
            }
            Session::Gone { retry_ms, pause_ms } => {
                self.clock.sleep_until_ms(retry_ms);
                self.session = if let Ok(open) = self.open() {
                    Session::Open(open)
                } else {
                    let pause_ms = (pause_ms * 2).min(LONGEST_PAUSE_MS);
                    Session::Gone { retry_ms: self.clock.now_ms() + pause_ms, pause_ms }
                };
                Ok(())
            }
            Session::Asleep(asleep) => {
                self.session = self.watch_sleep(asleep);
                Ok(())
            }
        }
    }

    /// The process lane's fastest period: each step has a list of its own.
    fn list_period_ms(&self) -> u64 {
        let step = self.options.interval_ms.max(1);
        if self.is_queried() { step } else { LIST_PERIOD_MS.min(step) }
    }

    fn memory_period_ms(&self) -> u64 {
        if self.is_queried() { self.options.interval_ms.max(1) } else { (1000 / u64::from(self.options.memory_hz.clamp(1, 1000))).max(1) }
    }

    /// Whether only the end of each step is looked at.
    const fn is_queried(&self) -> bool {
        matches!(self.options.telemetry, TelemetryScope::Asked(_))
    }

    fn power_files(&self, facts: &GpuFacts) -> PowerFiles {
        PowerFiles::of(&self.options.sys_root, facts.pci.as_ref().map_or("", SafeText::as_str))
    }

    fn event(&mut self, gpu: Option<GpuId>, kind: EventKind) {
        let event = Event { time: self.clock.wall(), elapsed_ms: self.clock.now_ms(), gpu, kind };
        log_event(&event);
        self.queue.push_back(Record::Event(event));
    }

    /// Waits for the lane that is due next and runs it.
    fn run_lane(&mut self, mut open: Box<Open>) -> Session {
        if !open.fixed_read && open.sampled && !open.telemetry_waits {
            self.read_fixed(&mut open);
        }
        let due = open.memory.next_ms().min(open.step.next_ms()).min(open.processes.next_ms());
        self.clock.sleep_until_ms(due);
        let now = self.clock.now_ms();
        let closes = open.step.is_due(now);
        self.note_gap(&mut open, now);
        if open.processes.is_due(now) || (closes && open.list_period_ms <= self.options.interval_ms) {
            self.read_lists(&mut open, now);
        } else if open.memory.is_due(now) || closes {
            for gpu in &mut open.gpus {
                gpu.read_memory(now, || pool(&mut self.host));
            }
        }
        if open.memory.is_due(now) {
            open.memory.ran(now);
        }
        if is_gone(&open) {
            open.driver.close();
            self.cut_off = open.gpus.drain(..).map(GpuStep::cut_off).collect();
            return self.gone("the driver stopped answering");
        }
        if closes {
            open.step.ran(now);
            return self.close_step(open, now);
        }
        Session::Open(open)
    }

    /// The costly facts, once the first sample is out.
    fn read_fixed(&mut self, open: &mut Open) {
        open.fixed_read = true;
        open.gpus.iter_mut().for_each(|g| g.device.read_fixed());
        self.send_header(Some(open.driver), facts_of(open));
        // They took their time; that is no gap of the lanes.
        let ready = self.clock.now_ms();
        while open.memory.is_due(ready) {
            open.memory.ran(ready);
        }
    }

    fn note_gap(&mut self, open: &mut Open, now: u64) {
        let late = now.saturating_sub(open.memory.next_ms());
        if late < GAP_MS {
            return;
        }
        let missed_from = open.memory.next_ms();
        for gpu in &mut open.gpus {
            gpu.break_off(missed_from);
        }
        self.event(None, EventKind::Gap { ms: late });
    }

    fn read_lists(&mut self, open: &mut Open, now: u64) {
        let clock = &self.clock;
        let of_siblings = open.siblings.iter_mut().filter_map(|sibling| sibling.read(now, clock));
        let of_gpus = open.gpus.iter_mut().filter_map(|gpu| gpu.read_processes(now, clock, || pool(&mut self.host)));
        // A list that failed says nothing of what lists cost.
        let spent_us = of_siblings.chain(of_gpus).reduce(|all, one| all + one);
        if open.processes.is_due(now) {
            open.processes.ran(now);
        }
        let Some(spent_us) = spent_us else { return };
        open.list_costs_us.rotate_right(1);
        open.list_costs_us[0] = spent_us;
        // The cheapest of the last three: a round or two that stalled are no costly driver.
        let cost_us = open.list_costs_us.into_iter().min().unwrap_or_default();
        let least = self.list_period_ms();
        let period = affordable_period_ms(least, cost_us);
        // Slower than the step: on the step's own grid, so that each list still ends a step.
        let grid = if period >= self.options.interval_ms { self.options.interval_ms.max(1) } else { least };
        if period != open.list_period_ms {
            log::info!("the process lists take {cost_us} us, so they are read every {period} ms");
        }
        open.list_period_ms = period;
        open.processes.slow_to(period, now, grid);
    }

    /// The driver was closed and cannot be opened now.
    fn gone(&mut self, why: &str) -> Session {
        self.event(None, EventKind::Lost(SafeText::new(why)));
        Session::Gone { retry_ms: self.clock.now_ms() + FIRST_PAUSE_MS, pause_ms: FIRST_PAUSE_MS }
    }

    fn close_step(&mut self, mut open: Box<Open>, now: u64) -> Session {
        // A step that is already late leaves its telemetry to the next one.
        let late = self.clock.now_ms().saturating_sub(now) >= self.options.interval_ms;
        open.telemetry_waits = late && !open.telemetry_waits && self.options.telemetry == TelemetryScope::Full;
        if !open.telemetry_waits {
            for gpu in &mut open.gpus {
                gpu.read_telemetry(now, &self.options.telemetry);
            }
        }
        self.notice_shared_memory(&mut open, now);
        self.run_slow_lane(&mut open, now);
        let sample = self.finish_sample(&mut open, now);
        self.tell_lost_and_found(&open);
        self.queue.push_back(Record::Sample(Box::new(sample)));
        open.sampled = true;
        if self.has_other_devices(&mut open, now) { self.reopen(&open) } else { self.let_idle_sleep(open, now) }
    }

    /// That a device was lost, or that it answers again, be it after the driver was opened anew: each is told once.
    fn tell_lost_and_found(&mut self, open: &Open) {
        for gpu in &open.gpus {
            let id = &gpu.device.facts().id;
            let told = self.lost.iter().position(|lost| lost == id);
            match (told, matches!(gpu.state, GpuState::Lost { .. })) {
                (None, true) => {
                    self.lost.push(id.clone());
                    self.event(Some(id.clone()), EventKind::Lost(SafeText::new(GpuState::LOST)));
                }
                (Some(at), false) => {
                    self.lost.remove(at);
                    self.event(Some(id.clone()), EventKind::Found);
                }
                (None, false) | (Some(_), true) => {}
            }
        }
    }

    /// A device that turns out to have no memory of its own is read anew as the host's pool.
    fn notice_shared_memory(&mut self, open: &mut Open, now: u64) {
        let mut found = false;
        for gpu in &mut open.gpus {
            if gpu.looks_shared(|| pool(&mut self.host)) {
                gpu.share_host_memory(now, &self.clock, || pool(&mut self.host));
                found = true;
            }
        }
        if found {
            self.send_header(Some(open.driver), facts_of(open));
        }
    }

    fn run_slow_lane(&mut self, open: &mut Open, now: u64) {
        let wanted = self.options.slow || self.exchange.wants_sm();
        if wanted && open.slow.is_none() {
            open.slow = SlowLane::start(now);
        }
        let Some(slow) = &mut open.slow else { return };
        if wanted {
            let all = self.options.slow;
            let gpus = &open.gpus;
            slow.ask(now, || Question {
                devices: gpus.iter().filter(|g| !g.is_asleep()).map(|g| (g.device.facts().id.clone(), g.device.for_slow_lane())).collect(),
                all,
            });
        }
        let one_shot = self.options.fixed == FixedFacts::Never;
        let answers: Vec<Answer> = if one_shot { slow.wait(open.gpus.len(), Duration::from_secs(2)) } else { slow.answers().collect() };
        for answer in answers {
            if let Some(gpu) = open.gpus.iter_mut().find(|g| g.device.facts().id == answer.gpu) {
                gpu.sm = answer.sm.into_iter().collect();
                gpu.sm_asked = answer.asked;
                gpu.set_slow(answer.pcie, answer.energy_mj);
            }
        }
    }
}

impl<C: Clock> Source for LiveSource<C> {
    fn next(&mut self) -> Result<Record, SourceEnd> {
        loop {
            if let Some(record) = self.queue.pop_front() {
                return Ok(record);
            }
            self.turn()?;
        }
    }
}

/// Comings and goings of processes are left to recordings.
fn log_event(event: &Event) {
    let whose = || event.gpu.as_ref().map_or_else(|| "the driver".to_owned(), |id| format!("device {id}"));
    match &event.kind {
        EventKind::Gap { ms } => log::warn!("nothing was read for {ms} ms"),
        EventKind::Lost(why) => log::warn!("{} is gone: {why}", whose()),
        EventKind::Found => log::info!("{} answers again", whose()),
        EventKind::Came(_) | EventKind::Gone { .. } | EventKind::Untracked(_) | EventKind::Tracked(_) => {}
    }
}

/// Whether the driver itself is gone, and not one device alone. One that sleeps is not asked, so it says nothing.
fn is_gone(open: &Open) -> bool {
    let mut asked = open.gpus.iter().filter(|gpu| !gpu.is_asleep()).peekable();
    asked.peek().is_some() && asked.all(|gpu| gpu.device.condition() == Condition::DriverGone)
}

fn pool(host: &mut Host) -> Pool {
    host.pool().map(|pool| (pool.total, pool.available))
}

fn facts_of(open: &Open) -> Vec<Arc<GpuFacts>> {
    open.gpus.iter().map(|g| Arc::new(g.facts())).collect()
}
