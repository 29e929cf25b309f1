//! Instances of split devices.

use std::ffi::c_uint;

use nvml_wrapper_sys::bindings::{nvmlDevice_t, nvmlDeviceAttributes_t};

use crate::codes::{INVALID_ARGUMENT, NOT_FOUND, NOT_SUPPORTED};
use crate::state;

device_calls! {
    /// Whether the device is split, now and after the next reset.
    fn nvmlDeviceGetMigMode(; current: c_uint, pending: c_uint) |device| {
        let mode = device.whole()?.mig_mode().ok_or(NOT_SUPPORTED)?;
        current.put(c_uint::from(mode.enabled))?;
        pending.put(c_uint::from(mode.pending.unwrap_or(mode.enabled)))
    }

    /// How many instances there can be.
    fn nvmlDeviceGetMaxMigDeviceCount(; count: c_uint) |device| {
        let mode = device.whole()?.mig_mode();
        count.put(mode.map_or(0, |mode| mode.max_devices))
    }

    /// The instance with an index.
    fn nvmlDeviceGetMigDeviceHandleByIndex(index: c_uint; out: nvmlDevice_t) |device| {
        let gpu = device.whole()?;
        let mode = gpu.mig_mode().ok_or(NOT_SUPPORTED)?;
        if !mode.enabled {
            return Err(NOT_SUPPORTED);
        }
        if index >= mode.max_devices {
            return Err(INVALID_ARGUMENT);
        }
        if index as usize >= gpu.spec.mig_device.len() {
            return Err(NOT_FOUND);
        }
        out.put(state::handle(device.index, Some(index as usize)))
    }

    /// Whether a handle is one of an instance.
    fn nvmlDeviceIsMigDeviceHandle(; is: c_uint) |device| {
        is.put(c_uint::from(device.mig.is_some()))
    }

    /// The GPU instance of an instance.
    fn nvmlDeviceGetGpuInstanceId(; id: c_uint) |device| {
        id.put(device.mig.ok_or(NOT_SUPPORTED)?.1.gi)
    }

    /// The compute instance of an instance.
    fn nvmlDeviceGetComputeInstanceId(; id: c_uint) |device| {
        id.put(device.mig.ok_or(NOT_SUPPORTED)?.1.ci)
    }

    /// The device that an instance is part of.
    fn nvmlDeviceGetDeviceHandleFromMigDeviceHandle(; out: nvmlDevice_t) |device| {
        device.mig.ok_or(INVALID_ARGUMENT)?;
        out.put(state::handle(device.index, None))
    }

    /// What an instance has of its device: here only the memory is told.
    fn nvmlDeviceGetAttributes_v2(; out: nvmlDeviceAttributes_t) |device| {
        let (_, mig) = device.mig.ok_or(NOT_SUPPORTED)?;
        out.put(nvmlDeviceAttributes_t {
            multiprocessorCount: 0,
            sharedCopyEngineCount: 0,
            sharedDecoderCount: 0,
            sharedEncoderCount: 0,
            sharedJpegCount: 0,
            sharedOfaCount: 0,
            gpuInstanceSliceCount: 1,
            computeInstanceSliceCount: 1,
            memorySizeMB: mig.total.bytes() >> 20,
        })
    }
}
