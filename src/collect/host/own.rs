//! What this program itself costs: CPU time to the microsecond and RSS.
//!
//! It refuses to hold anything about other processes.

use std::fs;
use std::path::Path;

use nix::time::ClockId;

use super::process::Clock;
use super::stat::Stat;
use crate::model::Bytes;

/// CPU time of all threads so far, the ended ones among them, in microseconds.
pub(super) fn cpu_us() -> Option<u64> {
    let time = ClockId::CLOCK_PROCESS_CPUTIME_ID.now().ok()?;
    Some(u64::try_from(time.tv_sec()).ok()? * 1_000_000 + u64::try_from(time.tv_nsec()).ok()? / 1_000)
}

/// Resident set size.
pub(super) fn rss(root: &Path, clock: Clock) -> Option<Bytes> {
    let stat = fs::read(root.join("self/stat")).ok().and_then(|line| Stat::parse(&line))?;
    Some(Bytes(stat.rss_pages.saturating_mul(clock.page_bytes)))
}
