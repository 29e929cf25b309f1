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
pub(super) fn cpu_us() -> u64 {
    // The clock is there on every Linux; without it the cost reads as nothing, and only the header shows it.
    ClockId::CLOCK_PROCESS_CPUTIME_ID.now().map_or(0, |time| {
        let (seconds, nanos) = (u64::try_from(time.tv_sec()), u64::try_from(time.tv_nsec()));
        seconds.unwrap_or(0) * 1_000_000 + nanos.unwrap_or(0) / 1_000
    })
}

/// Resident set size.
pub(super) fn rss(root: &Path, clock: Clock) -> Bytes {
    let stat = fs::read(root.join("self/stat")).ok().and_then(|line| Stat::parse(&line));
    Bytes(stat.map_or(0, |stat| stat.rss_pages.saturating_mul(clock.page_bytes)))
}
