//! CPU time, RSS and state of a process, from its line in `/proc/PID/stat`, and this program's own CPU time to the microsecond.
//!
//! A file that is kept open costs one read a look instead of four calls, and can only tell of the process for which it was opened: once
//! that is gone the kernel answers "no such process", whoever has its PID by then. It refuses to know what a process is called.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use nix::time::ClockId;

use super::process::KernelUnits;
use super::stat::Stat;
use crate::model::{Bytes, RunState};

/// Longer than the kernel's longest line: 52 numbers and a name of 64 bytes.
const LINE: usize = 2048;

/// What one process uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    /// CPU time since it began, in milliseconds.
    pub(super) cpu_ms: u64,
    /// Resident set size.
    pub(super) rss: Bytes,
    /// Scheduler state.
    pub(super) state: RunState,
    /// When it started, in clock ticks since boot.
    pub(super) start_ticks: u64,
}

/// An open `stat` file.
#[derive(Debug)]
pub(super) struct StatFile(File);

impl StatFile {
    /// Opens that of a process (`self`, or a PID); `None` where there is none, or no file can be opened.
    pub(super) fn open(root: &Path, process: &str) -> Option<Self> {
        File::open(root.join(process).join("stat")).ok().map(Self)
    }

    /// Reads it; `None` where the process is gone.
    pub(super) fn usage(&self, units: KernelUnits) -> Option<Usage> {
        let mut line = [0; LINE];
        let length = self.0.read_at(&mut line, 0).ok()?;
        let stat = Stat::parse(line.get(..length)?)?;
        Some(Usage {
            cpu_ms: stat.cpu_ticks.saturating_mul(1_000) / units.ticks_per_s,
            rss: Bytes(stat.rss_pages.saturating_mul(units.page_bytes)),
            state: RunState(stat.state),
            start_ticks: stat.start_ticks,
        })
    }
}

/// CPU time of all threads of this program so far, the ended ones among them, in microseconds.
pub(super) fn own_cpu_us() -> Option<u64> {
    let time = ClockId::CLOCK_PROCESS_CPUTIME_ID.now().ok()?;
    Some(u64::try_from(time.tv_sec()).ok()? * 1_000_000 + u64::try_from(time.tv_nsec()).ok()? / 1_000)
}
