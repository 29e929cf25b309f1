//! The scenario's time: a clock, a file, or the number of calls so far.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::calls::{Call, CallSet};
use crate::scenario::{TimeMode, TimeSpec};

static FIRST: OnceLock<Instant> = OnceLock::new();

const NOT_SET: u64 = u64::MAX;
static SET_MS: AtomicU64 = AtomicU64::new(NOT_SET);

/// What tells the time.
#[derive(Debug)]
pub(crate) enum Clock {
    Monotonic,
    File {
        path: PathBuf,
        /// The bits of the last number that could be read.
        last: AtomicU64,
    },
    Calls {
        on: CallSet,
        gpu: usize,
        step_s: f64,
        seen: AtomicU64,
    },
}

impl Clock {
    /// The clock of a scenario whose relative paths start at `folder`.
    pub(crate) fn new(spec: &TimeSpec, folder: &Path) -> Result<Self, String> {
        FIRST.get_or_init(Instant::now);
        let file = |path: PathBuf| Self::File { path, last: AtomicU64::new(0) };
        if let Some(path) = std::env::var_os("FAKE_NVML_TIME") {
            return Ok(file(path.into()));
        }
        match spec.mode {
            TimeMode::Clock => Ok(Self::Monotonic),
            TimeMode::File => match &spec.path {
                Some(path) => Ok(file(folder.join(path))),
                None => Err("time: mode \"file\" needs a `path` or FAKE_NVML_TIME".to_owned()),
            },
            TimeMode::Calls => Ok(Self::Calls {
                on: CallSet::matching_versions(&spec.advance_on).map_err(|e| format!("time: advance_on: {e}"))?,
                gpu: spec.advance_gpu,
                step_s: spec.step_ms / 1e3,
                seen: AtomicU64::new(0),
            }),
        }
    }

    /// Notes a call, which may be one that makes time pass. The first of them does
    /// not, so that the first round of calls sees the time 0.
    pub(crate) fn note(&self, call: Call, gpu: Option<usize>) {
        if let Self::Calls { on, gpu: wanted, seen, .. } = self
            && on.has(call)
            && gpu.is_none_or(|index| index == *wanted)
        {
            seen.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The time in seconds.
    pub(crate) fn now(&self) -> f64 {
        let set = SET_MS.load(Ordering::Relaxed);
        if set != NOT_SET {
            return set as f64 / 1e3;
        }
        match self {
            Self::Monotonic => FIRST.get_or_init(Instant::now).elapsed().as_secs_f64(),
            Self::File { path, last } => read(path, last),
            Self::Calls { step_s, seen, .. } => seen.load(Ordering::Relaxed).saturating_sub(1) as f64 * step_s,
        }
    }
}

/// The number in the file, or the last one while the file is being rewritten.
fn read(path: &Path, last: &AtomicU64) -> f64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    match text.trim().parse::<f64>() {
        Ok(seconds) => {
            last.store(seconds.to_bits(), Ordering::Relaxed);
            seconds
        }
        Err(_) => f64::from_bits(last.load(Ordering::Relaxed)),
    }
}

/// Sets the time of this process, whatever the scenario says.
#[unsafe(no_mangle)]
pub extern "C" fn fakeNvmlSetTimeMs(ms: u64) {
    SET_MS.store(ms, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::Clock;
    use crate::calls::Call;
    use crate::scenario::TimeSpec;

    #[test]
    fn calls_advance_after_the_first() {
        let spec: TimeSpec = toml::from_str("mode = \"calls\"\nstep_ms = 500").unwrap();
        let clock = Clock::new(&spec, "".as_ref()).unwrap();
        let mut seen = Vec::new();
        for _ in 0..3 {
            clock.note(Call::nvmlDeviceGetMemoryInfo_v2, Some(0));
            clock.note(Call::nvmlDeviceGetMemoryInfo_v2, Some(1));
            clock.note(Call::nvmlDeviceGetName, Some(0));
            seen.push(clock.now());
        }
        assert_eq!(seen, [0.0, 0.5, 1.0]);
    }
}
