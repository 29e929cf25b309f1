//! The one way into every call: counting, time, faults, locks and latency.

use nvml_wrapper_sys::bindings::{nvmlDevice_t, nvmlReturn_enum_NVML_SUCCESS, nvmlReturn_t};

use crate::calls::Call;
use crate::codes::{Answer, Code, FUNCTION_NOT_FOUND, GPU_IS_LOST, NOT_SUPPORTED, UNINITIALIZED, UNKNOWN};
use crate::gpu::Gpu;
use crate::latency;
use crate::lock::Held;
use crate::scenario::MigSpec;
use crate::scenario_gpu::Kind;
use crate::state::{self, State};
use crate::stats;

/// The GPU or instance that a call is about, at the time of the call.
pub(crate) struct Device {
    pub(crate) index: usize,
    pub(crate) gpu: &'static Gpu,
    /// The place and the description of an instance.
    pub(crate) mig: Option<(usize, &'static MigSpec)>,
    /// Seconds of the scenario's time.
    pub(crate) now: f64,
}

impl Device {
    /// The whole GPU, or the error of calls that instances do not answer.
    pub(crate) fn whole(&self) -> Result<&'static Gpu, Code> {
        match self.mig {
            Some(_) => Err(NOT_SUPPORTED),
            None => Ok(self.gpu),
        }
    }

    /// The GPU and compute instance of a handle to one.
    pub(crate) fn instance(&self) -> Option<(u32, u32)> {
        self.mig.map(|(_, mig)| (mig.gi, mig.ci))
    }
}

/// Runs a call about a device.
pub(crate) fn on_device(call: Call, handle: nvmlDevice_t, body: impl FnOnce(&Device) -> Answer) -> nvmlReturn_t {
    on_list(call, handle, None, body)
}

/// Runs a call about a list of a device's processes, whose length it costs.
pub(crate) fn on_list(call: Call, handle: nvmlDevice_t, list: Option<Kind>, body: impl FnOnce(&Device) -> Answer) -> nvmlReturn_t {
    code(stats::counted(call, || {
        let state = state::current().ok_or(UNINITIALIZED)?;
        let (index, mig) = state.resolve(handle)?;
        let gpu = &state.gpus[index];
        let mig = mig.map(|place| (place, &gpu.spec.mig_device[place]));
        let instance = mig.map(|(_, mig)| (mig.gi, mig.ci));
        let listed = |t: f64| list.map_or(0, |list| gpu.listed(list, instance, t));
        let passage = pass(state, call, Some(index), listed)?;
        if index >= state.count(passage.now) {
            return Err(GPU_IS_LOST);
        }
        body(&Device { index, gpu, mig, now: passage.now })
    }))
}

/// Runs a call that is about no device, or that looks for the one with this index.
pub(crate) fn on_system(call: Call, index: Option<usize>, body: impl FnOnce(&'static State, f64) -> Answer) -> nvmlReturn_t {
    code(stats::counted(call, || {
        let state = state::current().ok_or(UNINITIALIZED)?;
        let passage = pass(state, call, index, |_| 0)?;
        body(state, passage.now)
    }))
}

/// Runs one of the inits: the scenario is read before its faults can strike.
pub(crate) fn on_init(call: Call) -> nvmlReturn_t {
    code(stats::counted(call, || {
        let state = state::load().map_err(|message| {
            eprintln!("fake-nvml: {message}");
            UNKNOWN
        })?;
        pass(state, call, None, |_| 0)?;
        state::enter();
        Ok(())
    }))
}

/// What a call that got through holds while it answers.
struct Passage {
    now: f64,
    _held: Option<Held>,
}

fn pass(state: &State, call: Call, gpu: Option<usize>, listed: impl FnOnce(f64) -> usize) -> Result<Passage, Code> {
    state.clock.note(call, gpu);
    let mut now = state.clock.now();
    if let Some(log) = &state.log {
        log.write(call, gpu, now);
    }
    if state.missing.has(call) {
        return Err(FUNCTION_NOT_FOUND);
    }
    for fault in &state.faults {
        if let Some(effect) = fault.strike(call, gpu, now) {
            effect.suffer()?;
            now = state.clock.now();
        }
    }
    let held = match &state.locks {
        Some(locks) => locks.take(call, gpu),
        None => None,
    };
    let found = gpu.and_then(|index| state.gpus.get(index));
    let table = found.map_or(&state.latency, |gpu| &gpu.latency);
    let cost = table.of(call);
    if !cost.is_free() {
        let running = found.map_or(1, |gpu| gpu.running(now));
        latency::pass(table.mode, cost.with(running, listed(now)));
        now = state.clock.now();
    }
    Ok(Passage { now, _held: held })
}

fn code(answer: Answer) -> nvmlReturn_t {
    answer.err().unwrap_or(nvmlReturn_enum_NVML_SUCCESS)
}
