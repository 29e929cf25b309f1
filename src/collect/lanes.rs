//! When each lane is due. Pure arithmetic on milliseconds: it reads no clock and makes no call.
//!
//! Deadlines are `start + n x period`. A lane that overruns its deadline skips it: it never drifts and never bursts.

/// One lane's place in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LaneClock {
    start_ms: u64,
    period_ms: u64,
    next_ms: u64,
}

impl LaneClock {
    /// First due at `start_ms`.
    pub(super) const fn new(start_ms: u64, period_ms: u64) -> Self {
        Self { start_ms, period_ms, next_ms: start_ms }
    }

    pub(super) const fn next_ms(&self) -> u64 {
        self.next_ms
    }

    pub(super) const fn is_due(&self, now_ms: u64) -> bool {
        now_ms >= self.next_ms
    }

    /// Notes that the lane ran now. Returns for how long it was late beyond one whole period, which is a gap.
    pub(super) const fn ran(&mut self, now_ms: u64) -> Option<u64> {
        let late = now_ms.saturating_sub(self.next_ms);
        let skipped = late / self.period_ms;
        self.next_ms += (skipped + 1) * self.period_ms;
        if skipped > 0 { Some(late) } else { None }
    }

    /// Changes the period to the next whole number of `grid_ms`; the next deadline is one new period after `now_ms`, on the grid
    /// `start + n x grid_ms`. Lanes of one start share their grids.
    pub(super) const fn slow_to(&mut self, period_ms: u64, now_ms: u64, grid_ms: u64) {
        let period_ms = period_ms.div_ceil(grid_ms) * grid_ms;
        if period_ms == self.period_ms {
            return;
        }
        self.period_ms = period_ms;
        self.next_ms = self.start_ms + now_ms.saturating_sub(self.start_ms) / grid_ms * grid_ms + period_ms;
    }
}

/// The period at which something that costs `cost_us` takes no more than 0.5 % of the time: a whole multiple of `least_ms`,
/// at most ten seconds, so that a slow driver is still asked.
pub(super) fn affordable_period_ms(least_ms: u64, cost_us: u64) -> u64 {
    const SHARE: u64 = 200;
    const MOST_MS: u64 = 10_000;
    let wanted = (cost_us * SHARE).div_ceil(1000);
    let period = wanted.max(1).div_ceil(least_ms) * least_ms;
    period.min(MOST_MS.max(least_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_stay_on_the_grid() {
        let mut lane = LaneClock::new(0, 50);
        assert_eq!(lane.ran(0), None);
        assert_eq!(lane.next_ms(), 50);
        assert_eq!(lane.ran(63), None);
        assert_eq!(lane.next_ms(), 100);
    }

    #[test]
    fn an_overrun_skips_and_is_told() {
        let mut lane = LaneClock::new(100, 50);
        // Due at 100, ran at 270: the deadlines 150, 200 and 250 are lost.
        assert_eq!(lane.ran(270), Some(170));
        assert_eq!(lane.next_ms(), 300);
    }

    #[test]
    fn a_slowed_lane_stays_on_the_grid_of_its_start() {
        let mut lane = LaneClock::new(137, 250);
        assert_eq!(lane.ran(137), None);
        // Slower than a step of one second: each deadline is the end of a step, 137 + n x 1000.
        lane.slow_to(1_750, 140, 1_000);
        assert_eq!(lane.next_ms(), 2_137);
        assert_eq!(lane.ran(2_137), None);
        assert_eq!(lane.next_ms(), 4_137);
    }

    #[test]
    fn lists_slow_down_by_their_cost() {
        // 0.1 ms a round is 0.04 % of 250 ms.
        assert_eq!(affordable_period_ms(250, 100), 250);
        // 8 ms a round is 0.5 % of 1.6 s: the next multiple of 250 ms is 1.75 s.
        assert_eq!(affordable_period_ms(250, 8_000), 1_750);
        assert_eq!(affordable_period_ms(250, 5_000_000), 10_000);
    }
}
