//! The driver's library while it is in use: opened once, shared by the threads that read, closed and opened again after a reload.
//!
//! A library that was loaded stays loaded: a thread may be inside one of its calls whatever the others do. It holds no device.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nvml_wrapper::Nvml;
use nvml_wrapper::error::NvmlError;

use super::call::{Call, Meter};
use super::device::Device;
use super::library::{self, OpenError, Refused};
use super::{raw, words};
use crate::model::{Fault, Reading, SafeText};

/// A loaded library.
#[derive(Debug)]
struct Loaded {
    path: PathBuf,
    nvml: Nvml,
    meter: Meter,
    /// The generation that is in use; 0 while it is closed.
    open: AtomicU64,
}

/// Every library that was loaded. One that is closed is used again, so that opening a thousand times does not take a thousand libraries.
static LOADED: Mutex<Vec<&'static Loaded>> = Mutex::new(Vec::new());
static GENERATIONS: AtomicU64 = AtomicU64::new(0);

/// The NVIDIA driver, from [`Driver::open`] to [`Driver::close`]. A copy that outlives the closing answers "Uninitialized", even after
/// the library was opened again.
#[derive(Clone, Copy, Debug)]
pub struct Driver {
    loaded: &'static Loaded,
    generation: u64,
}

/// Versions of what is installed; `None` where the driver does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The driver, `580.159.04`.
    pub driver: Option<SafeText>,
    /// The management library, `13.580.159.04`.
    pub nvml: Option<SafeText>,
    /// The newest CUDA that the driver offers, `13.0`.
    pub cuda: Option<SafeText>,
}

impl Driver {
    /// Loads and starts the management library: the one named, or the first that starts of [`library::candidates`].
    ///
    /// # Errors
    /// [`OpenError`], whose text is the two lines for stderr.
    pub fn open(explicit: Option<&Path>) -> Result<Self, OpenError> {
        // Held while the library starts, so that two threads never start the same one.
        let mut all = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        library::open(explicit, |path| {
            let idle = all.iter().find(|loaded| loaded.path == path && loaded.open.load(Ordering::Acquire) == 0);
            let loaded: &'static Loaded = if let Some(loaded) = idle {
                raw::init(&loaded.nvml).map_err(Refused::from)?;
                loaded
            } else {
                let nvml = Nvml::builder().lib_path(path.as_os_str()).init().map_err(Refused::from)?;
                let loaded = Loaded { path: path.to_owned(), nvml, meter: Meter::new(), open: AtomicU64::new(0) };
                let loaded: &'static Loaded = Box::leak(Box::new(loaded));
                all.push(loaded);
                loaded
            };
            let generation = GENERATIONS.fetch_add(1, Ordering::Relaxed) + 1;
            loaded.open.store(generation, Ordering::Release);
            log::info!("library {} opened", path.display());
            Ok(Self { loaded, generation })
        })
    }

    /// Ends with the driver, so that it may be unloaded or its GPUs may sleep. Every copy of this answers "Uninitialized" from now on.
    pub fn close(self) {
        let ours = self.loaded.open.compare_exchange(self.generation, 0, Ordering::AcqRel, Ordering::Relaxed);
        if ours.is_ok() {
            // A driver that is gone cannot be shut down; there is nothing to be done about it and nothing that depends on it.
            let _ = raw::shutdown(&self.loaded.nvml);
        }
    }

    /// The library in use, as it was searched for: a bare name was found by the system's loader.
    pub fn library(self) -> &'static Path {
        &self.loaded.path
    }

    /// What is installed.
    pub fn versions(self) -> Versions {
        let nvml = self.nvml();
        let cuda = self.call(Call::Versions, true, || nvml.sys_cuda_driver_version()).ok().filter(|version| *version > 0);
        Versions {
            driver: self.call(Call::Versions, true, || raw::driver_version(nvml)).ok(),
            nvml: self.call(Call::Versions, true, || raw::nvml_version(nvml)).ok(),
            // 13020 is 13.2 (`nvmlSystemGetCudaDriverVersion_v2`).
            cuda: cuda.map(|version| SafeText::new(&format!("{}.{}", version / 1000, version % 1000 / 10))),
        }
    }

    /// How many GPUs there are, those that this user may not read among them. MIG instances are not counted.
    pub fn device_count(self) -> Reading<u32> {
        match self.count() {
            Ok(count) => Reading::Value(count),
            Err(error) => Reading::Absent(words::absence(&error, false)),
        }
    }

    /// Every GPU in the driver's order, each followed by its MIG instances. One that cannot be opened is a fault in its place.
    ///
    /// Only cheap calls are made: on an H200 the costliest is the MIG mode with 0.13 ms.
    pub fn devices(self) -> Vec<Result<Device, Fault>> {
        let mut devices = Vec::new();
        match self.count() {
            Ok(count) => (0..count.min(MOST_GPUS)).for_each(|index| devices.append(&mut self.devices_of(index))),
            Err(error) => {
                let reason = SafeText::new(&words::word(&error));
                devices.push(Err(Fault { gpu: None, call: Call::Count.name(), reason }));
            }
        }
        devices
    }

    /// The GPU of that number, followed by its MIG instances.
    pub fn devices_of(self, index: u32) -> Vec<Result<Device, Fault>> {
        let mut devices = Vec::new();
        Device::open(self, index, &mut devices);
        devices
    }

    /// Time spent in driver calls since the library was loaded, in nanoseconds.
    pub fn spent_ns(self) -> u64 {
        self.loaded.meter.spent_ns()
    }

    /// The call that is under way, by its word in faults, and for how long: the one begun last, those of
    /// [`Device::for_slow_lane`] left out. It waits for nothing.
    pub fn in_call(self) -> Option<(&'static str, Duration)> {
        self.loaded.meter.under_way()
    }

    fn count(self) -> Result<u32, NvmlError> {
        self.call(Call::Count, true, || self.nvml().device_count())
    }

    pub(super) fn nvml(self) -> &'static Nvml {
        &self.loaded.nvml
    }

    /// Puts one question, unless the driver was closed, and counts its time.
    pub(super) fn call<T>(self, call: Call, watched: bool, question: impl FnOnce() -> Result<T, NvmlError>) -> Result<T, NvmlError> {
        if self.loaded.open.load(Ordering::Acquire) != self.generation {
            return Err(NvmlError::Uninitialized);
        }
        self.loaded.meter.time(call, watched, question)
    }
}

/// No machine has more GPUs, whatever a driver says (the kernel module's limit is 64 today).
const MOST_GPUS: u32 = 256;
