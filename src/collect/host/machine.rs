//! What sysinfo is asked: the memory of the machine, its name and boot.
//!
//! It refuses to let sysinfo read more than that: of processes it reads four files each, for what stands in one.

use sysinfo::{MemoryRefreshKind, System};

use crate::model::{Bytes, DeviceMemory, Reading, SafeText};

/// The memory that CPU and GPU share on machines without a frame buffer of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// `MemTotal`.
    pub total: Bytes,
    /// `MemAvailable`: what can be had without swapping, page cache included. Never more than `total`.
    pub available: Bytes,
}

/// The machine, as sysinfo shows it.
#[derive(Debug, Default)]
pub(super) struct Machine {
    system: Option<System>,
}

impl Machine {
    /// `MemTotal` and `MemAvailable`.
    pub(super) fn pool(&mut self) -> Reading<Pool> {
        let Some(system) = self.system() else { return Reading::NOT_SUPPORTED };
        system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
        let (total, available) = (system.total_memory(), system.available_memory());
        if total == 0 {
            return Reading::failed(DeviceMemory::NO_TOTAL);
        }
        Reading::Value(Pool { total: Bytes(total), available: Bytes(available.min(total)) })
    }

    fn system(&mut self) -> Option<&mut System> {
        if self.system.is_none() {
            self.system = System::new().ok();
        }
        self.system.as_mut()
    }
}

/// When the machine was started, in seconds since 1970; `None` where the kernel does not say.
pub(super) fn boot_s() -> Option<u64> {
    System::boot_time().ok().filter(|seconds| *seconds > 0)
}

/// The machine's name; `?` where it has none.
pub(super) fn hostname() -> SafeText {
    SafeText::new(System::host_name().ok().filter(|name| !name.is_empty()).as_deref().unwrap_or("?"))
}
