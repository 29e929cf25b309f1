//! The one place that reads a clock or sleeps. Everything else is given times.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::time::{ClockId, clock_gettime};

use crate::model::Moment;

/// Time as the lanes need it.
pub trait Clock: Send {
    /// Milliseconds since the clock was made; never jumps.
    fn now_ms(&self) -> u64;
    /// The same in microseconds: what something takes.
    fn now_us(&self) -> u64;
    /// The wall clock.
    fn wall(&self) -> Moment;
    /// Returns at `at_ms` or later; at once if that is past.
    fn sleep_until_ms(&mut self, at_ms: u64);
}

/// The machine's clock. It goes on while the machine sleeps: that time is a gap, and no step at all without it.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: Duration,
}

impl SystemClock {
    #[cfg(target_os = "linux")]
    const ID: ClockId = ClockId::CLOCK_BOOTTIME;
    #[cfg(not(target_os = "linux"))]
    const ID: ClockId = ClockId::CLOCK_MONOTONIC;

    /// A clock that starts now.
    pub fn new() -> Self {
        Self { start: Self::since_boot() }
    }

    fn since_boot() -> Duration {
        // It fails only where the kernel has no such clock, which is older than any that this program starts on.
        clock_gettime(Self::ID).map_or(Duration::ZERO, Duration::from)
    }

    fn elapsed(&self) -> Duration {
        Self::since_boot().saturating_sub(self.start)
    }

    /// The wall clock, for who has no clock at hand.
    pub fn wall_now() -> Moment {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment { unix_ms: i64::try_from(since.as_millis()).unwrap_or(i64::MAX) }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn now_us(&self) -> u64 {
        u64::try_from(self.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn wall(&self) -> Moment {
        Self::wall_now()
    }

    fn sleep_until_ms(&mut self, at_ms: u64) {
        if let Some(wait) = Duration::from_millis(at_ms).checked_sub(self.elapsed()) {
            std::thread::sleep(wait);
        }
    }
}
