//! The lists of processes, and how busy each kept its device.
//!
//! All three versions of the three lists share one protocol: `count` comes in as
//! the room in `infos` and goes out as the number of processes; where the room is
//! too small the answer is INSUFFICIENT_SIZE and nothing is written to `infos`.

use std::ffi::{c_uint, c_ulonglong};
use std::time::{SystemTime, UNIX_EPOCH};

use nvml_wrapper_sys::bindings::{
    nvmlDevice_t, nvmlProcessInfo_t, nvmlProcessInfo_v1_t, nvmlProcessInfo_v2_t, nvmlProcessUtilizationSample_t, nvmlReturn_t,
};

use crate::calls::Call;
use crate::codes::{Answer, INSUFFICIENT_SIZE, INVALID_ARGUMENT, NOT_FOUND, NOT_SUPPORTED};
use crate::gate::{self, Device};
use crate::process::{NO_INSTANCE, UNAVAILABLE};
use crate::scenario_gpu::Kind;

/// One entry of a list before it takes the shape of a version.
#[derive(Clone, Copy)]
struct Entry {
    pid: u32,
    bytes: u64,
    gpu_instance: u32,
    compute_instance: u32,
}

impl Entry {
    fn stray(pid: u32) -> Self {
        Self { pid, bytes: UNAVAILABLE, gpu_instance: NO_INSTANCE, compute_instance: NO_INSTANCE }
    }
}

/// The shape of an entry in a version of the lists.
trait Record: From<Entry> {
    /// Whether it tells the instances.
    const WIDE: bool;
}

impl From<Entry> for nvmlProcessInfo_v1_t {
    fn from(entry: Entry) -> Self {
        Self { pid: entry.pid, usedGpuMemory: entry.bytes }
    }
}

impl Record for nvmlProcessInfo_v1_t {
    const WIDE: bool = false;
}

impl From<Entry> for nvmlProcessInfo_v2_t {
    fn from(entry: Entry) -> Self {
        Self { pid: entry.pid, usedGpuMemory: entry.bytes, gpuInstanceId: entry.gpu_instance, computeInstanceId: entry.compute_instance }
    }
}

impl Record for nvmlProcessInfo_v2_t {
    const WIDE: bool = true;
}

macro_rules! lists {
    ($($name:ident, $record:ty, $kind:ident;)*) => { $(
        /// A list of processes.
        ///
        /// # Safety
        ///
        /// `count` is null or holds the room in `infos`; `infos` is null or has it.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            device: nvmlDevice_t,
            count: *mut c_uint,
            infos: *mut $record,
        ) -> nvmlReturn_t {
            // SAFETY: the caller keeps the protocol of the lists.
            unsafe { list(Call::$name, device, Kind::$kind, count, infos) }
        }
    )* };
}

lists! {
    nvmlDeviceGetComputeRunningProcesses, nvmlProcessInfo_v1_t, Compute;
    nvmlDeviceGetComputeRunningProcesses_v2, nvmlProcessInfo_v2_t, Compute;
    nvmlDeviceGetComputeRunningProcesses_v3, nvmlProcessInfo_t, Compute;
    nvmlDeviceGetGraphicsRunningProcesses, nvmlProcessInfo_v1_t, Graphics;
    nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlProcessInfo_v2_t, Graphics;
    nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t, Graphics;
    nvmlDeviceGetMPSComputeRunningProcesses, nvmlProcessInfo_v1_t, Mps;
    nvmlDeviceGetMPSComputeRunningProcesses_v2, nvmlProcessInfo_v2_t, Mps;
    nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlProcessInfo_t, Mps;
}

/// # Safety
///
/// As for the lists above.
unsafe fn list<R: Record>(call: Call, device: nvmlDevice_t, kind: Kind, count: *mut c_uint, infos: *mut R) -> nvmlReturn_t {
    let room = if count.is_null() {
        0
    } else {
        // SAFETY: not null, so the caller has set it.
        unsafe { count.read() }
    };
    let code = gate::on_list(call, device, Some(kind), |device| {
        if count.is_null() {
            return Err(INVALID_ARGUMENT);
        }
        let needed = entries(device, kind).count() as c_uint;
        let garbage = &device.gpu.spec.garbage;
        let lie = if garbage.count_over_capacity && needed <= room && needed > 0 { room + 1000 } else { needed };
        // SAFETY: not null, so it may be written to.
        unsafe { count.write(lie) };
        if needed > room {
            return Err(INSUFFICIENT_SIZE);
        }
        if infos.is_null() && needed > 0 {
            return Err(INVALID_ARGUMENT);
        }
        // SAFETY: `infos` has room for `room` records, at least as many as there are.
        unsafe { write(device, kind, infos) };
        Ok(())
    });
    // A fault that says the room is too small wants more than there was, always.
    // SAFETY: not null, so it may be read and written.
    if code == INSUFFICIENT_SIZE && !count.is_null() && unsafe { count.read() } <= room {
        // SAFETY: as above.
        unsafe { count.write(room.saturating_add(8)) };
    }
    code
}

/// # Safety
///
/// `infos` has room for all entries, or there are none.
unsafe fn write<R: Record>(device: &Device, kind: Kind, infos: *mut R) {
    let narrow = R::WIDE && device.gpu.spec.garbage.stride_v2_as_v1;
    for (place, entry) in entries(device, kind).enumerate() {
        if narrow {
            // SAFETY: the first version's record is shorter, so it has room too, and
            // it is aligned alike.
            unsafe { infos.cast::<nvmlProcessInfo_v1_t>().add(place).write(entry.into()) };
        } else {
            // SAFETY: by the contract there is room for it.
            unsafe { infos.add(place).write(entry.into()) };
        }
    }
}

fn entries(device: &Device, kind: Kind) -> impl Iterator<Item = Entry> {
    let (gpu, now, instance) = (device.gpu, device.now, device.instance());
    let garbage = &gpu.spec.garbage;
    let real = gpu.processes.iter();
    let real = real.filter(move |p| p.is_in(kind, now) && p.belongs(instance));
    let real = real.map(move |p| Entry { pid: p.pid, bytes: p.bytes(kind, now), gpu_instance: p.gpu_instance, compute_instance: p.compute_instance });
    let compute = kind == Kind::Compute;
    let zero = (compute && garbage.pid_zero).then(|| Entry::stray(0));
    let max = (compute && garbage.pid_max).then(|| Entry::stray(u32::MAX));
    real.chain(zero).chain(max)
}

device_calls! {
    /// How busy each process kept the device, in samples newer than `last_seen`
    /// (microseconds since 1970): one a process, as of now.
    fn nvmlDeviceGetProcessUtilization(
        samples: *mut nvmlProcessUtilizationSample_t,
        count: *mut c_uint,
        last_seen: c_ulonglong
    ) |device| {
        // SAFETY: the caller keeps the same protocol as for the lists.
        unsafe { utilization(device, samples, count, last_seen) }
    }
}

/// # Safety
///
/// `count` is null or holds the room in `samples`; `samples` is null or has it.
unsafe fn utilization(device: &Device, samples: *mut nvmlProcessUtilizationSample_t, count: *mut c_uint, last_seen: u64) -> Answer {
    if count.is_null() {
        return Err(INVALID_ARGUMENT);
    }
    if device.gpu.is_split() {
        return Err(NOT_SUPPORTED);
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let stamp = since.map_or(0, |since| since.as_micros() as u64);
    let now = device.now;
    let found = device.gpu.processes.iter().filter(|p| p.runs(now));
    let found = found.filter_map(|p| p.sm.as_ref().map(|sm| (p.pid, sm.whole(now) as c_uint)));
    // SAFETY: not null, so the caller has set it and it may be written to.
    let room = unsafe { count.replace(found.clone().count() as c_uint) };
    // SAFETY: as above.
    let needed = unsafe { count.read() };
    if needed == 0 || stamp <= last_seen {
        return Err(NOT_FOUND);
    }
    if samples.is_null() || needed > room {
        return Err(INSUFFICIENT_SIZE);
    }
    for (place, (pid, sm)) in found.enumerate() {
        let sample = nvmlProcessUtilizationSample_t { pid, timeStamp: stamp, smUtil: sm, memUtil: 0, encUtil: 0, decUtil: 0 };
        // SAFETY: `samples` has room for `room` samples, at least as many as there are.
        unsafe { samples.add(place).write(sample) };
    }
    Ok(())
}
