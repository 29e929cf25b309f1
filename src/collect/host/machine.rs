//! What sysinfo is asked: CPU time, RSS and state of a few processes, the memory of the machine, its name and boot.
//!
//! It refuses to let sysinfo read more than that, or its table of processes grow.

use sysinfo::{MemoryRefreshKind, Pid, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System};

use crate::model::{Bytes, Reading, RunState, SafeText};

/// How many processes sysinfo may remember beyond twice those that it is asked for: it forgets only dead ones by itself.
const SPARE: usize = 64;

/// The memory that CPU and GPU share on machines without a frame buffer of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// `MemTotal`.
    pub total: Bytes,
    /// `MemAvailable`: what can be had without swapping, page cache included. Never more than `total`.
    pub available: Bytes,
}

/// What one process used, as sysinfo saw it last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    /// CPU time since it began, in milliseconds.
    pub(super) cpu_ms: u64,
    /// Resident set size.
    pub(super) rss: Bytes,
    /// Scheduler state.
    pub(super) state: RunState,
    /// Start in whole seconds since boot: enough to tell one process from the next of the same PID.
    pub(super) start_s: u64,
}

/// The machine, as sysinfo shows it.
#[derive(Debug, Default)]
pub(super) struct Machine {
    system: Option<System>,
    /// sysinfo adds the boot time to every start; this is what it added, in seconds since 1970.
    boot_s: u64,
}

impl Machine {
    /// Asks for CPU, RSS and state of these processes.
    pub(super) fn refresh(&mut self, pids: &[Pid]) {
        if self.system.as_ref().is_some_and(|system| system.processes().len() > 2 * pids.len() + SPARE) {
            self.system = None;
        }
        if let Some(system) = self.system() {
            // `nothing()` alone walks every thread.
            let kind = ProcessRefreshKind::nothing().without_tasks().with_cpu().with_memory();
            system.refresh_processes_specifics(ProcessesToUpdate::Some(pids), true, kind);
        }
    }

    /// What the last refresh found; `None` where the process is gone.
    ///
    /// sysinfo's own percentage is passed over: it stands still between refreshes that are less than 200 ms apart.
    pub(super) fn usage(&self, pid: Pid) -> Option<Usage> {
        let process = self.system.as_ref()?.process(pid)?;
        Some(Usage {
            cpu_ms: process.accumulated_cpu_time(),
            rss: Bytes(process.memory()),
            state: RunState(letter(process.status())),
            start_s: process.start_time().saturating_sub(self.boot_s),
        })
    }

    /// `MemTotal` and `MemAvailable`.
    pub(super) fn pool(&mut self) -> Reading<Pool> {
        let Some(system) = self.system() else { return Reading::NOT_SUPPORTED };
        system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
        let (total, available) = (system.total_memory(), system.available_memory());
        if total == 0 {
            return Reading::failed("total is zero");
        }
        Reading::Value(Pool { total: Bytes(total), available: Bytes(available.min(total)) })
    }

    fn system(&mut self) -> Option<&mut System> {
        if self.system.is_none() {
            self.system = System::new().ok();
            self.boot_s = boot_s().unwrap_or(0);
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

/// The letter that `ps` prints.
fn letter(status: ProcessStatus) -> char {
    match status {
        ProcessStatus::Run => 'R',
        ProcessStatus::Sleep => 'S',
        ProcessStatus::UninterruptibleDiskSleep => 'D',
        ProcessStatus::Zombie => 'Z',
        ProcessStatus::Stop => 'T',
        ProcessStatus::Tracing => 't',
        ProcessStatus::Idle => 'I',
        ProcessStatus::Dead => 'X',
        ProcessStatus::Wakekill => 'K',
        ProcessStatus::Waking => 'W',
        ProcessStatus::Parked => 'P',
        _ => '?',
    }
}
