//! The scenario in use: loaded at each init, shared by all calls.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use nvml_wrapper_sys::bindings::nvmlDevice_t;

use crate::calllog::CallLog;
use crate::calls::CallSet;
use crate::clock::Clock;
use crate::codes::{Code, INVALID_ARGUMENT};
use crate::fault::Fault;
use crate::gpu::Gpu;
use crate::latency::Latency;
use crate::lock::Locks;
use crate::old_drivers;
use crate::scenario::{DriverSpec, LatencySpec, Scenario};
use crate::scenario_gpu::GpuSpec;

/// A scenario, ready to answer.
#[derive(Debug)]
pub(crate) struct State {
    source: (Option<PathBuf>, String),
    pub(crate) driver: DriverSpec,
    pub(crate) missing: CallSet,
    pub(crate) clock: Clock,
    pub(crate) gpus: Vec<Gpu>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) latency: Latency,
    pub(crate) locks: Option<Locks>,
    pub(crate) log: Option<CallLog>,
}

static CURRENT: AtomicPtr<State> = AtomicPtr::new(std::ptr::null_mut());
static USERS: AtomicUsize = AtomicUsize::new(0);
static LOADING: Mutex<()> = Mutex::new(());

/// The scenario, if an init was not yet followed by its shutdown.
pub(crate) fn current() -> Option<&'static State> {
    if USERS.load(Ordering::Acquire) == 0 {
        return None;
    }
    loaded()
}

fn loaded() -> Option<&'static State> {
    // SAFETY: the pointer is null or came from `Box::leak` in `load`, which gives
    // a state that is never freed or changed through another path.
    unsafe { CURRENT.load(Ordering::Acquire).as_ref() }
}

/// Counts one more user of the library.
pub(crate) fn enter() {
    USERS.fetch_add(1, Ordering::AcqRel);
}

/// Counts one user less; `false` if there was none, `true` for each other.
pub(crate) fn leave() -> bool {
    let less = |users: usize| users.checked_sub(1);
    USERS.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).is_ok()
}

/// Reads the scenario again. One that has not changed stays in use, with what its
/// faults have counted and the time its calls have made.
pub(crate) fn load() -> Result<&'static State, String> {
    let _guard = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    let path = std::env::var_os("FAKE_NVML_SCENARIO").map(PathBuf::from);
    let text = match &path {
        Some(path) => std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?,
        None => "[[gpu]]".to_owned(),
    };
    let source = (path, text);
    if let Some(state) = loaded()
        && state.source == source
    {
        return Ok(state);
    }
    // Calls may still be using the state before this one, so none is ever freed.
    let state = Box::leak(Box::new(State::new(source)?));
    CURRENT.store(state, Ordering::Release);
    Ok(state)
}

impl State {
    fn new(source: (Option<PathBuf>, String)) -> Result<Self, String> {
        let path = source.0.clone().unwrap_or_default();
        let named = |e: String| format!("{}: {e}", path.display());
        let scenario: Scenario = toml::from_str(&source.1).map_err(|e| named(e.to_string()))?;
        Self::build(scenario, source, &path).map_err(named)
    }

    fn build(scenario: Scenario, source: (Option<PathBuf>, String), path: &Path) -> Result<Self, String> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let log = scenario.log.as_ref().map(|log| CallLog::new(log, folder));
        Ok(Self {
            missing: old_drivers::missing_calls(&scenario.driver)?,
            clock: Clock::new(&scenario.time, folder)?,
            gpus: gpus(&scenario.gpu, &scenario.latency)?,
            faults: scenario.fault.iter().map(Fault::new).collect::<Result<_, _>>()?,
            latency: Latency::new(&[&scenario.latency])?,
            locks: Locks::new(&scenario.lock, path)?,
            log: log.transpose()?,
            driver: scenario.driver,
            source,
        })
    }

    /// How many GPUs are there at `t` seconds.
    pub(crate) fn count(&self, t: f64) -> usize {
        let all = self.gpus.len();
        let Some(steps) = &self.driver.count_steps else {
            return all;
        };
        let passed = steps.iter().take_while(|(start, _)| *start <= t).last();
        passed.map_or(all, |(_, count)| (*count).min(all))
    }

    /// The GPU and, for an instance, its place, that a handle stands for.
    pub(crate) fn resolve(&self, handle: nvmlDevice_t) -> Result<(usize, Option<usize>), Code> {
        let number = handle.addr().wrapping_sub(HANDLES);
        let (gpu, instance) = (number >> 8, number & 0xff);
        let found = self.gpus.get(gpu).ok_or(INVALID_ARGUMENT)?;
        match instance.checked_sub(1) {
            Some(place) if place >= found.spec.mig_device.len() => Err(INVALID_ARGUMENT),
            mig => Ok((gpu, mig)),
        }
    }

    /// The version of the driver at `t` seconds.
    pub(crate) fn version(&self, t: f64) -> &str {
        let steps = self.driver.version_steps.iter();
        let passed = steps.take_while(|(start, _)| *start <= t).last();
        passed.map_or(&self.driver.version, |(_, version)| version)
    }
}

/// Handles are numbers from here on, never addresses of anything.
const HANDLES: usize = 0x00fa_4e00_0000;

/// The handle of a GPU, or of the instance of it with this place.
pub(crate) fn handle(gpu: usize, instance: Option<usize>) -> nvmlDevice_t {
    let low = instance.map_or(0, |place| place + 1);
    std::ptr::without_provenance_mut(HANDLES + (gpu << 8) + low)
}

fn gpus(specs: &[GpuSpec], latency: &LatencySpec) -> Result<Vec<Gpu>, String> {
    let mut gpus = Vec::new();
    for spec in specs {
        for nth in 0..spec.repeat {
            let index = gpus.len();
            let gpu = Gpu::new(spec, index, nth, latency).map_err(|e| format!("gpu {index}: {e}"))?;
            gpus.push(gpu);
        }
    }
    if gpus.len() > 64 {
        return Err(format!("{} GPUs are more than 64", gpus.len()));
    }
    Ok(gpus)
}
