//! The driver calls that nvml-wrapper does not offer in the form we need: the only file with `unsafe` in the program.
//!
//! They are the calls of old drivers (memory v1, process lists v2 and v1), texts that need not be UTF-8, remapped rows, lists that are read
//! with one call into a kept buffer, and the pair of init and shutdown that lets a loaded library be used again. It judges nothing.
#![expect(unsafe_code, reason = "NVML is a C library; nvml-wrapper has no call for these, so they go through nvml-wrapper-sys")]

use std::ffi::{c_char, c_uint};

use nvml_wrapper::Nvml;
use nvml_wrapper::error::{NvmlError, nvml_sym, nvml_try};
use nvml_wrapper_sys::bindings::{
    nvmlDevice_t, nvmlMemory_t, nvmlProcessInfo_v1_t, nvmlProcessInfo_v2_t, nvmlProcessUtilizationSample_t,
    nvmlReturn_enum_NVML_ERROR_INSUFFICIENT_SIZE as INSUFFICIENT_SIZE, nvmlReturn_t,
};

use crate::model::SafeText;

/// A device of a library that stays loaded as long as the program.
pub(super) type Handle = nvml_wrapper::Device<'static>;

/// How often a list is asked that does not fit, each time with a larger buffer.
const TRIES: usize = 3;
/// Rows of a new buffer.
const FIRST_ROWS: usize = 128;
/// Rows beyond what the driver asked for, since more processes may come meanwhile.
const SPARE_ROWS: usize = 8;
/// No list is believed to be longer, whatever the driver asks for.
const MOST_ROWS: usize = 1 << 16;
/// Bytes for any of the driver's texts: `NVML_DEVICE_NAME_V2_BUFFER_SIZE`, the largest of them.
const TEXT_BYTES: u32 = 96;
/// `gpuInstanceId` of a process on no MIG instance.
pub(super) const NO_INSTANCE: u32 = u32::MAX;

/// Figures of one memory call. `reserved` is `None` where the call does not tell it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figures {
    pub(super) total: u64,
    pub(super) used: u64,
    pub(super) free: u64,
    pub(super) reserved: Option<u64>,
}

/// Which of the driver's process lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Compute,
    Graphics,
    Mps,
}

/// Which version of the list calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListVersion {
    V3,
    V2,
    V1,
}

/// One row of a process list as the driver gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) pid: u32,
    pub(super) bytes: u64,
    /// The MIG instance, or [`NO_INSTANCE`].
    pub(super) instance: u32,
}

/// Room for one process list, kept between readings. v3 and v2 share one layout, v1 has shorter rows.
#[derive(Debug, Default)]
pub(super) struct ListBuffer {
    wide: Vec<nvmlProcessInfo_v2_t>,
    narrow: Vec<nvmlProcessInfo_v1_t>,
}

const BLANK_WIDE: nvmlProcessInfo_v2_t =
    nvmlProcessInfo_v2_t { pid: 0, usedGpuMemory: 0, gpuInstanceId: NO_INSTANCE, computeInstanceId: NO_INSTANCE };
const BLANK_NARROW: nvmlProcessInfo_v1_t = nvmlProcessInfo_v1_t { pid: 0, usedGpuMemory: 0 };
const BLANK_USE: nvmlProcessUtilizationSample_t =
    nvmlProcessUtilizationSample_t { pid: 0, timeStamp: 0, smUtil: 0, memUtil: 0, encUtil: 0, decUtil: 0 };

/// Begins with a library that is loaded already (`nvmlInit_v2`).
pub(super) fn init(nvml: &Nvml) -> Result<(), NvmlError> {
    let call = nvml_sym(nvml.lib().nvmlInit_v2.as_ref())?;
    // SAFETY: the symbol belongs to the library that `nvml` holds, and takes nothing.
    nvml_try(unsafe { call() })
}

/// Ends with the driver and leaves the library loaded (`nvmlShutdown`), so that a call of another thread still finds its code.
pub(super) fn shutdown(nvml: &Nvml) -> Result<(), NvmlError> {
    let call = nvml_sym(nvml.lib().nvmlShutdown.as_ref())?;
    // SAFETY: as for `init`.
    nvml_try(unsafe { call() })
}

/// The same device once more, for another thread: NVML's calls may be made from several at once.
pub(super) fn duplicate(device: &Handle) -> Handle {
    // SAFETY: the handle comes from the same library, which is never unloaded.
    unsafe { Handle::new(device.handle(), device.nvml()) }
}

/// Version of the driver, `580.159.04`.
pub(super) fn driver_version(nvml: &Nvml) -> Result<SafeText, NvmlError> {
    let call = nvml_sym(nvml.lib().nvmlSystemGetDriverVersion.as_ref())?;
    // SAFETY: `text` passes a buffer and its size, as the call wants them.
    text(|buffer, size| unsafe { call(buffer, size) })
}

/// Version of the library, `13.580.159.04`.
pub(super) fn nvml_version(nvml: &Nvml) -> Result<SafeText, NvmlError> {
    let call = nvml_sym(nvml.lib().nvmlSystemGetNVMLVersion.as_ref())?;
    // SAFETY: as for `driver_version`.
    text(|buffer, size| unsafe { call(buffer, size) })
}

/// Product name.
pub(super) fn name(device: &Handle) -> Result<SafeText, NvmlError> {
    let call = nvml_sym(device.nvml().lib().nvmlDeviceGetName.as_ref())?;
    // SAFETY: the handle is of this library; buffer and size as for `driver_version`.
    text(|buffer, size| unsafe { call(device.handle(), buffer, size) })
}

/// UUID of a GPU or of a MIG instance.
pub(super) fn uuid(device: &Handle) -> Result<SafeText, NvmlError> {
    let call = nvml_sym(device.nvml().lib().nvmlDeviceGetUUID.as_ref())?;
    // SAFETY: as for `name`.
    text(|buffer, size| unsafe { call(device.handle(), buffer, size) })
}

/// One text of the driver, which may have no end mark and need not be UTF-8.
fn text(fill: impl FnOnce(*mut c_char, c_uint) -> nvmlReturn_t) -> Result<SafeText, NvmlError> {
    let mut buffer = [0_u8; TEXT_BYTES as usize];
    nvml_try(fill(buffer.as_mut_ptr().cast(), TEXT_BYTES))?;
    let bytes = buffer.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(SafeText::from_bytes(bytes))
}

/// Memory by the call of drivers before R510 (`nvmlDeviceGetMemoryInfo`): the driver's reserve is inside `used`.
pub(super) fn memory_v1(device: &Handle) -> Result<Figures, NvmlError> {
    let call = nvml_sym(device.nvml().lib().nvmlDeviceGetMemoryInfo.as_ref())?;
    let mut memory = nvmlMemory_t { total: 0, free: 0, used: 0 };
    // SAFETY: the handle is of this library and `memory` is the struct that the call fills.
    nvml_try(unsafe { call(device.handle(), &raw mut memory) })?;
    Ok(Figures { total: memory.total, used: memory.used, free: memory.free, reserved: None })
}

/// Rows of memory that were replaced, or are to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct RemappedRows {
    pub(super) correctable: u32,
    pub(super) uncorrectable: u32,
    pub(super) pending: bool,
    pub(super) failed: bool,
}

/// Rows of memory replaced after errors, correctable and not (`nvmlDeviceGetRemappedRows`).
pub(super) fn remapped_rows(device: &Handle) -> Result<RemappedRows, NvmlError> {
    let call = nvml_sym(device.nvml().lib().nvmlDeviceGetRemappedRows.as_ref())?;
    let (mut correctable, mut uncorrectable, mut pending, mut failed) = (0, 0, 0, 0);
    // SAFETY: the handle is of this library; each of the four is one unsigned int that the call fills.
    nvml_try(unsafe { call(device.handle(), &raw mut correctable, &raw mut uncorrectable, &raw mut pending, &raw mut failed) })?;
    Ok(RemappedRows { correctable, uncorrectable, pending: pending != 0, failed: failed != 0 })
}

/// Reads one process list into `buffer` and hands its rows to `take`.
pub(super) fn processes(
    device: &Handle,
    which: Which,
    version: ListVersion,
    buffer: &mut ListBuffer,
    take: impl FnMut(Row),
) -> Result<(), NvmlError> {
    let lib = device.nvml().lib();
    if version == ListVersion::V1 {
        let call = *nvml_sym(match which {
            Which::Compute => lib.nvmlDeviceGetComputeRunningProcesses.as_ref(),
            Which::Graphics => lib.nvmlDeviceGetGraphicsRunningProcesses.as_ref(),
            Which::Mps => lib.nvmlDeviceGetMPSComputeRunningProcesses.as_ref(),
        })?;
        let rows = list(device, call, &mut buffer.narrow, BLANK_NARROW)?;
        rows.iter().map(|row| Row { pid: row.pid, bytes: row.usedGpuMemory, instance: NO_INSTANCE }).for_each(take);
    } else {
        let call = *nvml_sym(match (which, version) {
            (Which::Compute, ListVersion::V3) => lib.nvmlDeviceGetComputeRunningProcesses_v3.as_ref(),
            (Which::Graphics, ListVersion::V3) => lib.nvmlDeviceGetGraphicsRunningProcesses_v3.as_ref(),
            (Which::Mps, ListVersion::V3) => lib.nvmlDeviceGetMPSComputeRunningProcesses_v3.as_ref(),
            (Which::Compute, _) => lib.nvmlDeviceGetComputeRunningProcesses_v2.as_ref(),
            (Which::Graphics, _) => lib.nvmlDeviceGetGraphicsRunningProcesses_v2.as_ref(),
            (Which::Mps, _) => lib.nvmlDeviceGetMPSComputeRunningProcesses_v2.as_ref(),
        })?;
        let rows = list(device, call, &mut buffer.wide, BLANK_WIDE)?;
        rows.iter().map(|row| Row { pid: row.pid, bytes: row.usedGpuMemory, instance: row.gpuInstanceId }).for_each(take);
    }
    Ok(())
}

fn list<'b, T: Copy>(
    device: &Handle,
    call: unsafe extern "C" fn(nvmlDevice_t, *mut c_uint, *mut T) -> nvmlReturn_t,
    buffer: &'b mut Vec<T>,
    blank: T,
) -> Result<&'b [T], NvmlError> {
    let rows = fill(buffer, blank, |rows, count| {
        // SAFETY: the handle is of this library and `count` says how many rows of this call's own struct there is room for.
        unsafe { call(device.handle(), count, rows.as_mut_ptr()) }
    })?;
    Ok(&buffer[..rows])
}

/// One reading of how much each process used the GPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProcessUse {
    pub(super) pid: u32,
    pub(super) sm_percent: u32,
    /// Microseconds since 1970, on the driver's clock.
    pub(super) at_us: u64,
}

/// Room for [`process_utilization`], kept between readings.
#[derive(Debug, Default)]
pub(super) struct UseBuffer(Vec<nvmlProcessUtilizationSample_t>);

/// Each process's utilization since a time in microseconds (`nvmlDeviceGetProcessUtilization`). With a kept buffer it is one call and
/// not two, which matters: each one stalls everybody's driver calls for 2.4 ms on an H200.
pub(super) fn process_utilization(device: &Handle, since_us: u64, buffer: &mut UseBuffer, take: impl FnMut(ProcessUse)) -> Result<(), NvmlError> {
    let call = nvml_sym(device.nvml().lib().nvmlDeviceGetProcessUtilization.as_ref())?;
    let rows = fill(&mut buffer.0, BLANK_USE, |rows, count| {
        // SAFETY: as for `list`.
        unsafe { call(device.handle(), rows.as_mut_ptr(), count, since_us) }
    })?;
    let uses = buffer.0[..rows].iter();
    uses.map(|row| ProcessUse { pid: row.pid, sm_percent: row.smUtil, at_us: row.timeStamp }).for_each(take);
    Ok(())
}

/// Lets `call` fill the buffer, and grows it when the driver says that it is too small. Says how many rows were filled.
///
/// The buffer is blanked first, so that a driver that counts more rows than it writes yields no rows of an earlier reading.
fn fill<T: Copy>(buffer: &mut Vec<T>, blank: T, mut call: impl FnMut(&mut [T], &mut c_uint) -> nvmlReturn_t) -> Result<usize, NvmlError> {
    if buffer.is_empty() {
        buffer.resize(FIRST_ROWS, blank);
    }
    for _ in 0..TRIES {
        buffer.fill(blank);
        let mut count = c_uint::try_from(buffer.len()).unwrap_or(c_uint::MAX);
        let code = call(buffer, &mut count);
        let count = count as usize;
        if code != INSUFFICIENT_SIZE {
            return nvml_try(code).map(|()| count.min(buffer.len()));
        }
        let wanted = count.saturating_add(SPARE_ROWS).max(buffer.len() * 2).min(MOST_ROWS);
        buffer.resize(wanted, blank);
    }
    Err(NvmlError::InsufficientSize(None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_that_fits_takes_one_call() {
        let (mut buffer, mut calls) = (Vec::new(), 0);
        for _ in 0..2 {
            let rows = fill(&mut buffer, 0_u32, |rows, count| {
                calls += 1;
                rows[..2].copy_from_slice(&[7, 9]);
                *count = 2;
                0
            });
            assert_eq!(rows.unwrap(), 2);
        }
        assert_eq!((calls, &buffer[..3]), (2, [7, 9, 0].as_slice()));
    }

    #[test]
    fn a_list_that_grows_meanwhile_gets_a_larger_buffer() {
        let (mut buffer, mut rooms) = (Vec::new(), Vec::new());
        let rows = fill(&mut buffer, 0_u32, |rows, count| {
            rooms.push(rows.len());
            *count = 500;
            if rows.len() < 500 { INSUFFICIENT_SIZE } else { 0 }
        });
        assert_eq!(rows.unwrap(), 500);
        assert_eq!(rooms, [128, 508]);
    }

    #[test]
    fn a_list_that_never_fits_is_given_up_after_three_tries() {
        let (mut buffer, mut calls) = (Vec::new(), 0);
        let rows = fill(&mut buffer, 0_u32, |_, count| {
            calls += 1;
            *count = u32::MAX;
            INSUFFICIENT_SIZE
        });
        assert!(matches!(rows, Err(NvmlError::InsufficientSize(_))));
        assert_eq!((calls, buffer.len()), (3, MOST_ROWS));
    }

    #[test]
    fn more_rows_than_there_is_room_for_are_not_believed() {
        let mut buffer = Vec::new();
        let rows = fill(&mut buffer, 0_u32, |_, count| {
            *count = 5_000_000;
            0
        });
        assert_eq!(rows.unwrap(), FIRST_ROWS);
    }

    #[test]
    fn a_text_without_an_end_or_with_foreign_bytes_is_taken_as_far_as_it_goes() {
        let fill = |bytes: &'static [u8]| {
            text(move |buffer, _| {
                for (at, byte) in bytes.iter().enumerate() {
                    // SAFETY: the tests' texts are at most as long as the buffer.
                    unsafe { buffer.add(at).cast::<u8>().write(*byte) }
                }
                0
            })
        };
        assert_eq!(fill(b"H\xff\x1b[2J\0rest").unwrap().as_str(), "H\u{fffd}\\u{1b}[2J");
        assert_eq!(fill(&[b'x'; TEXT_BYTES as usize]).unwrap().as_str().len(), TEXT_BYTES as usize);
    }
}
