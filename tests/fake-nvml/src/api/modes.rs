//! Modes that an administrator sets, and accounting.

use std::ffi::c_uint;

use nvml_wrapper_sys::bindings::{nvmlAccountingStats_t, nvmlComputeMode_t, nvmlEnableState_t, nvmlGpuVirtualizationMode_t};

use crate::codes::{NOT_FOUND, NOT_SUPPORTED};

device_calls! {
    /// Who may compute.
    fn nvmlDeviceGetComputeMode(; out: nvmlComputeMode_t) |device| {
        out.put(device.whole()?.spec.compute_mode.whole(device.now)? as nvmlComputeMode_t)
    }

    /// Whether the driver stays loaded without a client.
    fn nvmlDeviceGetPersistenceMode(; out: nvmlEnableState_t) |device| {
        out.put(device.whole()?.spec.persistence.whole(device.now)? as nvmlEnableState_t)
    }

    /// Whether a display is connected.
    fn nvmlDeviceGetDisplayMode(; out: nvmlEnableState_t) |device| {
        out.put(device.whole()?.spec.display_mode.whole(device.now)? as nvmlEnableState_t)
    }

    /// Whether a display is in use.
    fn nvmlDeviceGetDisplayActive(; out: nvmlEnableState_t) |device| {
        out.put(device.whole()?.spec.display_active.whole(device.now)? as nvmlEnableState_t)
    }

    /// Whether the use of each process is recorded.
    fn nvmlDeviceGetAccountingMode(; out: nvmlEnableState_t) |device| {
        out.put(device.whole()?.spec.accounting.whole(device.now)? as nvmlEnableState_t)
    }

    /// How many processes the record has room for.
    fn nvmlDeviceGetAccountingBufferSize(; out: c_uint) |device| {
        out.put(device.whole()?.spec.accounting_buffer.whole(device.now)? as c_uint)
    }

    /// What was recorded of a process.
    fn nvmlDeviceGetAccountingStats(pid: c_uint; out: nvmlAccountingStats_t) |device| {
        let gpu = device.whole()?;
        if gpu.spec.accounting.whole(device.now)? == 0 {
            return Err(NOT_SUPPORTED);
        }
        let process = gpu.processes.iter().find(|process| process.pid == pid);
        let process = process.ok_or(NOT_FOUND)?;
        out.put(nvmlAccountingStats_t {
            gpuUtilization: process.sm.as_ref().map_or(0, |sm| sm.whole(device.now)) as c_uint,
            memoryUtilization: 0,
            maxMemoryUsage: process.adds(device.now),
            time: 0,
            startTime: 0,
            isRunning: c_uint::from(process.runs(device.now)),
            reserved: [0; 5],
        })
    }

    /// Whether the device is passed through or shared out.
    fn nvmlDeviceGetVirtualizationMode(; out: nvmlGpuVirtualizationMode_t) |device| {
        let mode = device.whole()?.spec.virtualization.whole(device.now)?;
        out.put(mode as nvmlGpuVirtualizationMode_t)
    }
}
