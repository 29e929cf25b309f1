//! The one place that reads a clock or sleeps. Everything else is given times.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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

/// The machine's clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// A clock that starts now.
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
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
