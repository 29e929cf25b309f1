//! Errors of the memory and the rows taken out of use.

use std::ffi::{c_uint, c_ulonglong};

use nvml_wrapper_sys::bindings::{
    nvmlEccCounterType_t, nvmlEnableState_t, nvmlMemoryErrorType_enum_NVML_MEMORY_ERROR_TYPE_CORRECTED, nvmlMemoryErrorType_t,
};

device_calls! {
    /// How many errors there were; both counters give the same.
    fn nvmlDeviceGetTotalEccErrors(
        kind: nvmlMemoryErrorType_t, _counter: nvmlEccCounterType_t; out: c_ulonglong
    ) |device| {
        let spec = &device.whole()?.spec;
        let corrected = kind == nvmlMemoryErrorType_enum_NVML_MEMORY_ERROR_TYPE_CORRECTED;
        let reading = if corrected { &spec.ecc_corrected } else { &spec.ecc_total };
        out.put(reading.whole(device.now)?)
    }

    /// Whether errors are corrected, now and after the next start.
    fn nvmlDeviceGetEccMode(; current: nvmlEnableState_t, pending: nvmlEnableState_t) |device| {
        let on = device.whole()?.spec.ecc.whole(device.now)? as nvmlEnableState_t;
        current.put(on)?;
        pending.put(on)
    }

    /// The rows of memory taken out of use.
    fn nvmlDeviceGetRemappedRows(
        ; correctable: c_uint, uncorrectable: c_uint, pending: c_uint, failed: c_uint
    ) |device| {
        let rows = &device.whole()?.spec.remapped;
        correctable.put(rows.correctable.whole(device.now)? as c_uint)?;
        uncorrectable.put(rows.uncorrectable.whole(device.now)? as c_uint)?;
        pending.put(rows.pending.whole(device.now)? as c_uint)?;
        failed.put(rows.failed.whole(device.now)? as c_uint)
    }
}
