//! Memory of devices and instances.

use nvml_wrapper_sys::bindings::{nvmlBAR1Memory_t, nvmlMemory_t, nvmlMemory_v2_t};

use crate::codes::{Code, INVALID_ARGUMENT, NOT_SUPPORTED, VERSION_MISMATCH};
use crate::gate::Device;
use crate::gpu::Memory;

const VERSION_2: u32 = size_of::<nvmlMemory_v2_t>() as u32 | 2 << 24;

device_calls! {
    /// Total, free and used memory; used counts what the driver reserves.
    fn nvmlDeviceGetMemoryInfo(; out: nvmlMemory_t) |device| {
        let memory = memory(device)?;
        let with = device.gpu.spec.memory_v1_includes_reserved;
        out.put(nvmlMemory_t {
            total: memory.total,
            free: memory.free,
            used: memory.used + if with { memory.reserved } else { 0 },
        })
    }

    /// Total, free, used and reserved memory, each counted by itself.
    fn nvmlDeviceGetMemoryInfo_v2(version_and_out: *mut nvmlMemory_v2_t) |device| {
        if version_and_out.is_null() {
            return Err(INVALID_ARGUMENT);
        }
        // SAFETY: not null; the caller has set the version, the first field.
        let version = unsafe { (&raw const (*version_and_out).version).read() };
        if version != VERSION_2 {
            return Err(VERSION_MISMATCH);
        }
        let memory = memory(device)?;
        let mut info = nvmlMemory_v2_t {
            version,
            total: memory.total,
            reserved: memory.reserved,
            free: memory.free,
            used: memory.used,
        };
        if device.gpu.spec.garbage.swapped_v2 {
            (info.free, info.used, info.reserved) = (memory.used, memory.total, memory.free);
        }
        // SAFETY: not null, and of the size that the version names.
        unsafe { version_and_out.write(info) };
        Ok(())
    }

    /// The window through which the CPU sees the memory.
    fn nvmlDeviceGetBAR1MemoryInfo(; out: nvmlBAR1Memory_t) |device| {
        let spec = &device.gpu.spec;
        if spec.shared_memory {
            return Err(NOT_SUPPORTED);
        }
        let total = spec.bar1_total.whole(device.now)?;
        let used = spec.bar1_used.whole(device.now)?.min(total);
        out.put(nvmlBAR1Memory_t {
            bar1Total: total,
            bar1Free: total - used,
            bar1Used: used,
        })
    }
}

fn memory(device: &Device) -> Result<Memory, Code> {
    match device.mig {
        Some((_, mig)) => Ok(device.gpu.instance_memory(mig, device.now)),
        None => device.gpu.memory(device.now),
    }
}
