//! Init, shutdown, versions and the texts of errors.

use std::ffi::{c_char, c_int, c_uint};

use nvml_wrapper_sys::bindings::{nvmlReturn_enum_NVML_SUCCESS, nvmlReturn_t};

use crate::calls::Call;
use crate::codes::{self, UNINITIALIZED};
use crate::out::Text;
use crate::{gate, state, stats};

/// Starts using the library; reads the scenario.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlInit() -> nvmlReturn_t {
    gate::on_init(Call::nvmlInit)
}

/// Starts using the library; reads the scenario.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlInit_v2() -> nvmlReturn_t {
    gate::on_init(Call::nvmlInit_v2)
}

/// Starts using the library; reads the scenario. The flags change nothing.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlInitWithFlags(_flags: c_uint) -> nvmlReturn_t {
    gate::on_init(Call::nvmlInitWithFlags)
}

/// Ends what one init started.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlShutdown() -> nvmlReturn_t {
    let code = gate::on_system(Call::nvmlShutdown, None, |_, _| state::leave().then_some(()).ok_or(UNINITIALIZED));
    if code == nvmlReturn_enum_NVML_SUCCESS && state::current().is_none() {
        stats::write_report();
    }
    code
}

/// The text of a return code.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlErrorString(result: nvmlReturn_t) -> *const c_char {
    // No fault or latency touches it, and it is good before init too.
    let mut text = c"";
    let _ = stats::counted(Call::nvmlErrorString, || {
        text = codes::text(result);
        Ok(())
    });
    text.as_ptr()
}

system_calls! {
    /// The driver's version.
    fn nvmlSystemGetDriverVersion(version: *mut c_char, length: c_uint) |state, now| {
        // SAFETY: the caller passes null or a buffer of this length.
        let text = unsafe { Text::new(version, length) };
        text.put(state.version(now).as_bytes())
    }

    /// The library's version.
    fn nvmlSystemGetNVMLVersion(version: *mut c_char, length: c_uint) |state, now| {
        // SAFETY: the caller passes null or a buffer of this length.
        let text = unsafe { Text::new(version, length) };
        match &state.driver.nvml_version {
            Some(own) => text.put(own.as_bytes()),
            None => text.put(format!("13.{}", state.version(now)).as_bytes()),
        }
    }

    /// The newest CUDA version that the driver supports.
    fn nvmlSystemGetCudaDriverVersion(; version: c_int) |state, _now| {
        version.put(state.driver.cuda)
    }

    /// The newest CUDA version that the driver supports.
    fn nvmlSystemGetCudaDriverVersion_v2(; version: c_int) |state, _now| {
        version.put(state.driver.cuda)
    }
}
