//! Counting devices and looking them up.

use std::ffi::{CStr, c_char, c_uint};

use nvml_wrapper_sys::bindings::{nvmlDevice_t, nvmlReturn_t};

use crate::calls::Call;
use crate::codes::{Code, INVALID_ARGUMENT, NOT_FOUND};
use crate::gate::on_system;
use crate::gpu::{Gpu, Pci};
use crate::out::Out;
use crate::state::{self, State};

system_calls! {
    /// How many devices there are.
    fn nvmlDeviceGetCount(; count: c_uint) |state, now| {
        count.put(state.count(now) as c_uint)
    }

    /// How many devices there are.
    fn nvmlDeviceGetCount_v2(; count: c_uint) |state, now| {
        count.put(state.count(now) as c_uint)
    }

    /// The device or instance with a UUID.
    fn nvmlDeviceGetHandleByUUID(uuid: *const c_char; device: nvmlDevice_t) |state, now| {
        // SAFETY: the caller passes null or a string.
        let wanted = unsafe { string(uuid) }?;
        for (index, gpu) in present(state, now).enumerate() {
            if gpu.uuid == wanted {
                return device.put(state::handle(index, None));
            }
            let instances = &gpu.spec.mig_device;
            if let Some(place) = instances.iter().position(|mig| mig.uuid == wanted) {
                return device.put(state::handle(index, Some(place)));
            }
        }
        Err(NOT_FOUND)
    }

    /// The device with a PCI address.
    fn nvmlDeviceGetHandleByPciBusId(address: *const c_char; device: nvmlDevice_t) |state, now| {
        // SAFETY: the caller passes null or a string.
        device.put(by_address(state, now, unsafe { string(address) }?)?)
    }

    /// The device with a PCI address.
    fn nvmlDeviceGetHandleByPciBusId_v2(address: *const c_char; device: nvmlDevice_t) |state, now| {
        // SAFETY: the caller passes null or a string.
        device.put(by_address(state, now, unsafe { string(address) }?)?)
    }
}

fn present(state: &State, now: f64) -> impl Iterator<Item = &Gpu> {
    state.gpus.iter().take(state.count(now))
}

fn by_address(state: &State, now: f64, text: &str) -> Result<nvmlDevice_t, Code> {
    let wanted = Pci::parse(text).ok_or(INVALID_ARGUMENT)?;
    let index = present(state, now).position(|gpu| gpu.pci == wanted);
    Ok(state::handle(index.ok_or(NOT_FOUND)?, None))
}

/// # Safety
///
/// `text` is null or a string that ends with a zero byte and outlives `'a`.
unsafe fn string<'a>(text: *const c_char) -> Result<&'a str, Code> {
    if text.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    // SAFETY: not null, so by the contract above a string.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| INVALID_ARGUMENT)
}

/// The device with an index.
///
/// # Safety
///
/// `device` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByIndex(index: c_uint, device: *mut nvmlDevice_t) -> nvmlReturn_t {
    // SAFETY: the caller passes null or a place for a handle.
    by_index(Call::nvmlDeviceGetHandleByIndex, index, &unsafe { Out::new(device) })
}

/// The device with an index.
///
/// # Safety
///
/// `device` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvmlDeviceGetHandleByIndex_v2(index: c_uint, device: *mut nvmlDevice_t) -> nvmlReturn_t {
    // SAFETY: the caller passes null or a place for a handle.
    by_index(Call::nvmlDeviceGetHandleByIndex_v2, index, &unsafe { Out::new(device) })
}

fn by_index(call: Call, index: c_uint, device: &Out<nvmlDevice_t>) -> nvmlReturn_t {
    let index = index as usize;
    on_system(call, Some(index), |state, now| {
        if index >= state.count(now) {
            return Err(INVALID_ARGUMENT);
        }
        device.put(state::handle(index, None))
    })
}
