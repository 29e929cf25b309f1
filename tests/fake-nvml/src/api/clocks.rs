//! Clocks, performance states and what holds them down.

use std::ffi::{c_uint, c_ulonglong};

use nvml_wrapper_sys::bindings::{
    nvmlClockId_t, nvmlClockType_enum_NVML_CLOCK_COUNT, nvmlClockType_enum_NVML_CLOCK_MEM, nvmlClockType_enum_NVML_CLOCK_VIDEO, nvmlClockType_t,
    nvmlPstates_t,
};

use crate::codes::{Code, INVALID_ARGUMENT, NOT_SUPPORTED};
use crate::curve::Reading;
use crate::gate::Device;

device_calls! {
    /// A clock in MHz.
    fn nvmlDeviceGetClockInfo(kind: nvmlClockType_t; out: c_uint) |device| {
        let spec = &device.whole()?.spec;
        let video = spec.video_clock.as_ref().filter(|_| kind == nvmlClockType_enum_NVML_CLOCK_VIDEO);
        out.put(clock(device, kind, video.unwrap_or(&spec.sm_clock), &spec.mem_clock)?)
    }

    /// The highest that a clock goes, in MHz.
    fn nvmlDeviceGetMaxClockInfo(kind: nvmlClockType_t; out: c_uint) |device| {
        let spec = &device.whole()?.spec;
        out.put(clock(device, kind, &spec.max_sm_clock, &spec.max_mem_clock)?)
    }

    /// The clock that applications run at, in MHz: the highest.
    fn nvmlDeviceGetApplicationsClock(kind: nvmlClockType_t; out: c_uint) |device| {
        let spec = &device.whole()?.spec;
        out.put(clock(device, kind, &spec.max_sm_clock, &spec.max_mem_clock)?)
    }

    /// The clock that applications run at where nobody set another, in MHz: the highest.
    fn nvmlDeviceGetDefaultApplicationsClock(kind: nvmlClockType_t; out: c_uint) |device| {
        let spec = &device.whole()?.spec;
        out.put(clock(device, kind, &spec.max_sm_clock, &spec.max_mem_clock)?)
    }

    /// A clock in MHz; only the current one is there.
    fn nvmlDeviceGetClock(kind: nvmlClockType_t, which: nvmlClockId_t; out: c_uint) |device| {
        if which != 0 {
            return Err(NOT_SUPPORTED);
        }
        let spec = &device.whole()?.spec;
        out.put(clock(device, kind, &spec.sm_clock, &spec.mem_clock)?)
    }

    /// The performance state, 0 the highest.
    fn nvmlDeviceGetPerformanceState(; out: nvmlPstates_t) |device| {
        out.put(device.whole()?.spec.pstate.whole(device.now)? as nvmlPstates_t)
    }

    /// The bits of what holds the clocks down.
    fn nvmlDeviceGetCurrentClocksThrottleReasons(; out: c_ulonglong) |device| {
        out.put(device.whole()?.spec.throttle.whole(device.now)?)
    }

    /// The bits that can be told.
    fn nvmlDeviceGetSupportedClocksThrottleReasons(; out: c_ulonglong) |device| {
        out.put(device.whole()?.spec.throttle_supported.whole(device.now)?)
    }

    /// The bits of what holds the clocks down.
    fn nvmlDeviceGetCurrentClocksEventReasons(; out: c_ulonglong) |device| {
        out.put(device.whole()?.spec.throttle.whole(device.now)?)
    }
}

fn clock(device: &Device, kind: nvmlClockType_t, sm: &Reading, memory: &Reading) -> Result<c_uint, Code> {
    if kind >= nvmlClockType_enum_NVML_CLOCK_COUNT {
        return Err(INVALID_ARGUMENT);
    }
    let reading = if kind == nvmlClockType_enum_NVML_CLOCK_MEM { memory } else { sm };
    Ok(reading.whole(device.now)? as c_uint)
}
