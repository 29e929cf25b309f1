//! How long calls take, and how that time is passed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::calls::{self, Call, CallSet};
use crate::profile;
use crate::scenario::{CostSpec, CostTable, LatencyMode, LatencySpec, Profile};

/// The cost of each call, in the order of `Call`.
pub(crate) type Costs = [Cost; calls::COUNT];

/// What one call costs, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    idle: f32,
    busy: f32,
    per_process: f32,
    knee: f32,
    beyond: f32,
}

impl Cost {
    fn new(spec: CostSpec) -> Self {
        let table = match spec {
            CostSpec::Fixed(us) => CostTable { idle: us, busy: us, ..CostTable::default() },
            CostSpec::Table(table) => table,
        };
        let ns = |us: f64| (us * 1e3) as f32;
        Self {
            idle: ns(table.idle),
            busy: ns(table.busy),
            per_process: ns(table.per_process),
            knee: table.knee.map_or(f32::INFINITY, ns),
            beyond: ns(table.beyond),
        }
    }

    /// Whether the call costs nothing whatever runs.
    pub(crate) fn is_free(&self) -> bool {
        self.idle == 0.0 && self.busy == 0.0 && self.per_process == 0.0
    }

    /// The cost with `running` processes on the GPU, `listed` of them in the list
    /// that is asked for.
    pub(crate) fn with(&self, running: usize, listed: usize) -> Duration {
        if running == 0 {
            return Duration::from_nanos(self.idle as u64);
        }
        let further = listed.saturating_sub(1) as f32;
        let steep = if self.per_process > 0.0 && self.knee.is_finite() {
            further.min(((self.knee - self.busy) / self.per_process).max(0.0).ceil())
        } else {
            further
        };
        let climb = (self.busy + steep * self.per_process).min(self.knee.max(self.busy));
        Duration::from_nanos((climb + (further - steep) * self.beyond) as u64)
    }
}

/// The costs of all calls and the way to pass them.
#[derive(Debug)]
pub(crate) struct Latency {
    pub(crate) mode: LatencyMode,
    pub(crate) costs: Box<Costs>,
}

impl Latency {
    /// Joins tables; the first that names a call decides.
    pub(crate) fn new(specs: &[&LatencySpec]) -> Result<Self, String> {
        let mut costs = Box::new([Cost::default(); calls::COUNT]);
        for spec in specs.iter().rev() {
            if let Some(all) = spec.default_us {
                let every = CallSet::matching("*")?.and(CallSet::matching("init")?);
                set(&mut costs, every.and(CallSet::matching("shutdown")?), all);
            }
            if spec.profile == Some(Profile::H200) {
                for (pattern, table) in profile::H200 {
                    set(&mut costs, CallSet::matching(pattern)?, CostSpec::Table(*table));
                }
            }
            if let Some(init) = spec.init_us {
                set(&mut costs, CallSet::matching("init")?, init);
            }
            for (pattern, cost) in in_order(spec) {
                let set_of = CallSet::matching(pattern).map_err(|e| format!("latency: {e}"))?;
                set(&mut costs, set_of, *cost);
            }
        }
        let mode = specs.iter().find_map(|spec| spec.mode);
        Ok(Self { mode: mode.unwrap_or(LatencyMode::Sleep), costs })
    }

    /// The cost of a call.
    pub(crate) fn of(&self, call: Call) -> &Cost {
        &self.costs[call as usize]
    }
}

/// The patterns from the widest to the narrowest, so that the narrower decides.
fn in_order(spec: &LatencySpec) -> Vec<(&String, &CostSpec)> {
    let width = |pattern: &str| {
        let set = CallSet::matching(pattern).unwrap_or_default();
        (0..calls::COUNT).filter(|i| set.has_index(*i)).count()
    };
    let mut patterns: Vec<_> = spec.calls.iter().collect();
    patterns.sort_by_key(|(pattern, _)| std::cmp::Reverse(width(pattern)));
    patterns
}

fn set(costs: &mut Costs, calls: CallSet, spec: CostSpec) {
    for (index, cost) in costs.iter_mut().enumerate() {
        if calls.has_index(index) {
            *cost = Cost::new(spec);
        }
    }
}

/// Below this a sleep would come out far too long, so the time is spun away.
const SLEEPABLE: Duration = Duration::from_micros(20);
/// In the mode `real` calls up to this long keep a CPU busy, as the driver does.
const REAL_SPIN: Duration = Duration::from_micros(60);

/// Lets `time` pass.
pub(crate) fn pass(mode: LatencyMode, time: Duration) {
    if time.is_zero() {
        return;
    }
    let spin = match mode {
        LatencyMode::Sleep => time < SLEEPABLE,
        LatencyMode::Burn => true,
        LatencyMode::Real => time <= REAL_SPIN,
    };
    let start = Instant::now();
    if !spin {
        sleep_almost(time);
    }
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// How much longer than asked for the last sleeps took, in nanoseconds.
static LATE_NS: AtomicU64 = AtomicU64::new(0);
/// More than this is not the timer's doing, so it is not learnt from.
const LATE_AT_MOST: Duration = Duration::from_micros(50);

/// Sleeps until a little before `time` is over or just then, with a timer slack of
/// 1 µs, and leaves the thread's slack as it was.
fn sleep_almost(time: Duration) {
    let late = Duration::from_nanos(LATE_NS.load(Ordering::Relaxed));
    let asked = time.saturating_sub(late);
    // SAFETY: PR_GET_TIMERSLACK takes no pointer; it answers with the thread's slack.
    let before = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK, 0, 0, 0, 0) };
    // SAFETY: PR_SET_TIMERSLACK takes a number of nanoseconds.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1000, 0, 0, 0) };
    let start = Instant::now();
    std::thread::sleep(asked);
    let over = start.elapsed().saturating_sub(asked).min(LATE_AT_MOST);
    LATE_NS.store(((late * 7 + over) / 8).as_nanos() as u64, Ordering::Relaxed);
    if before > 0 {
        // SAFETY: as above; the number is the one the kernel gave.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, before, 0, 0, 0) };
    }
}

#[cfg(test)]
mod tests {
    use super::{Call, Latency};
    use crate::scenario::LatencySpec;

    fn latency(text: &str) -> Latency {
        let spec: LatencySpec = toml::from_str(text).unwrap();
        Latency::new(&[&spec]).unwrap()
    }

    #[test]
    fn the_narrower_pattern_decides() {
        let l = latency("default_us = 900\ninit_us = 0\nmemory = 5\nnvmlDeviceGetMemoryInfo_v2 = 7");
        let us = |call| l.of(call).with(1, 0).as_micros();
        assert_eq!(us(Call::nvmlDeviceGetMemoryInfo), 5);
        assert_eq!(us(Call::nvmlDeviceGetMemoryInfo_v2), 7);
        assert_eq!(us(Call::nvmlDeviceGetName), 900);
        assert_eq!(us(Call::nvmlInit_v2), 0);
        assert_eq!(us(Call::nvmlErrorString), 0);
    }

    #[test]
    fn lists_of_an_h200() {
        let l = latency("profile = \"h200\"");
        let list = l.of(Call::nvmlDeviceGetComputeRunningProcesses_v3);
        let us = |n: usize| list.with(n, n).as_nanos() as f64 / 1e3;
        assert_eq!([us(0), us(1), us(2)], [9.3, 53.0, 61.0]);
        assert!((us(1000) - (80.0 + 0.3 * 995.0)).abs() < 0.1);
    }

    #[test]
    fn an_unknown_call_is_named() {
        let spec: LatencySpec = toml::from_str("memmory = 5").unwrap();
        assert!(Latency::new(&[&spec]).unwrap_err().contains("memmory"));
    }
}
