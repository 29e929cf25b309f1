//! How to look at a machine, and what somebody looks at.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::collect::nvml::Driver;
use crate::model::{Ask, Selection};

/// When the facts that cost milliseconds a device (highest clocks, BAR1) are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixedFacts {
    /// Before the first record: a recording wants them in its first line.
    First,
    /// After the first sample: a dashboard wants its first picture soon.
    Later,
    /// Not at all: one line is all that is wanted.
    Never,
}

/// For which processes the host is asked for CPU, memory and state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostScope {
    /// For all: they are recorded.
    All,
    /// For those that somebody looks at, as [`Exchange::set`] tells.
    LookedAt,
    /// For none: a name is all that is wanted, and only of the largest of each device where a number is given.
    Named(Option<usize>),
}

/// What is read of a GPU beside its memory and processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TelemetryScope {
    /// Each step's telemetry.
    Full,
    /// What a status line shows.
    Glance,
    /// What was asked for by name. Then nothing is read between two steps either: there is nobody to see it.
    Asked(Vec<Ask>),
}

/// How far it has come with the driver.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum DriverLine {
    /// Nothing is asked.
    #[default]
    Closed,
    /// The library is being started, since then.
    Starting(Instant),
    /// Questions are put to it.
    Open(Driver),
}

/// What the picture and the lanes tell each other: what somebody looks at, and what the driver is busy with.
#[derive(Debug, Default)]
pub struct Exchange {
    pids: Mutex<Vec<u32>>,
    sm_column: AtomicBool,
    driver: Mutex<DriverLine>,
}

impl Exchange {
    /// These processes are on the screen, and whether their kernel time is.
    pub fn set(&self, pids: &[u32], sm_column: bool) {
        let mut kept = self.pids.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clear();
        kept.extend_from_slice(pids);
        self.sm_column.store(sm_column, Ordering::Relaxed);
    }

    /// The driver call that is under way and since when; `None` between calls, and while the driver is closed.
    /// It waits for nothing, whatever the driver does.
    pub fn driver_call(&self) -> Option<(&'static str, Duration)> {
        let driver = *self.driver.lock().unwrap_or_else(PoisonError::into_inner);
        match driver {
            DriverLine::Closed => None,
            DriverLine::Starting(since) => Some(("start", since.elapsed())),
            DriverLine::Open(driver) => driver.in_call(),
        }
    }

    pub(super) fn set_driver(&self, driver: DriverLine) {
        *self.driver.lock().unwrap_or_else(PoisonError::into_inner) = driver;
    }

    pub(super) fn wants_sm(&self) -> bool {
        self.sm_column.load(Ordering::Relaxed)
    }

    pub(super) fn pids(&self) -> Vec<u32> {
        self.pids.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// How to look at the machine.
#[derive(Clone, Debug)]
pub struct LiveOptions {
    /// The library to load instead of the one that is found.
    pub library: Option<PathBuf>,
    /// Length of a step in milliseconds, 50 and up.
    pub interval_ms: u64,
    /// Readings of the memory lane per second, 1 to 1000.
    pub memory_hz: u32,
    /// Which devices.
    pub selection: Selection,
    /// Asks the costly questions too.
    pub slow: bool,
    /// When the costly facts are read.
    pub fixed: FixedFacts,
    /// For whom the host is asked.
    pub host: HostScope,
    /// What of the telemetry.
    pub telemetry: TelemetryScope,
    /// `/proc`.
    pub proc_root: PathBuf,
    /// `/sys`.
    pub sys_root: PathBuf,
}

impl Default for LiveOptions {
    fn default() -> Self {
        Self {
            library: None,
            interval_ms: 1000,
            memory_hz: 20,
            selection: Selection::All,
            slow: false,
            fixed: FixedFacts::First,
            host: HostScope::All,
            telemetry: TelemetryScope::Full,
            proc_root: "/proc".into(),
            sys_root: "/sys".into(),
        }
    }
}
