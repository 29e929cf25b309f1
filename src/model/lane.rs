//! The memory lane of one step: the readings in which used changed, and the extremes between two samples.

use super::Bytes;

/// One reading of the memory lane: at `at_ms` of the sample's own clock this much was used; `None` starts a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LanePoint {
    /// Milliseconds of the sample's own clock.
    pub at_ms: u64,
    /// Bytes used, or `None` where the lane missed its deadline or the call failed.
    pub used: Option<Bytes>,
}

/// The memory lane of one step: its change points and extremes.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    points: Vec<LanePoint>,
    last: Option<LanePoint>,
    min: Option<Bytes>,
    max: Option<Bytes>,
}

impl PartialEq for Lane {
    /// `last` is the cursor of whoever fills the lane and no part of what was read.
    fn eq(&self, other: &Self) -> bool {
        (&self.points, self.min, self.max) == (&other.points, other.min, other.max)
    }
}

impl Eq for Lane {}

impl Lane {
    /// The most change points of one step; beyond, only the extremes and the last are kept.
    pub const LIMIT: usize = 64;

    /// Adds one reading. Only a change is kept as a point.
    pub fn push(&mut self, point: LanePoint) {
        if let Some(used) = point.used {
            self.min = Some(self.min.map_or(used, |min| min.min(used)));
            self.max = Some(self.max.map_or(used, |max| max.max(used)));
        }
        let changed = self.last.is_none_or(|last| last.used != point.used);
        self.last = Some(point);
        if !changed {
            return;
        }
        self.points.push(point);
        if self.points.len() > Self::LIMIT {
            self.keep_extremes();
        }
    }

    /// Starts the next step: the last value goes on until it changes.
    #[must_use]
    pub fn next_step(&self) -> Self {
        Self { last: self.last, ..Self::default() }
    }

    fn keep_extremes(&mut self) {
        let (min, max) = (self.min, self.max);
        let last = self.points.len() - 1;
        let first_of = |wanted: Option<Bytes>| self.points.iter().position(|p| p.used == wanted);
        let mut keep = [first_of(min).unwrap_or(0), first_of(max).unwrap_or(0), last];
        keep.sort_unstable();
        let mut kept: Vec<LanePoint> = Vec::with_capacity(Self::LIMIT + 1);
        for index in keep {
            let point = self.points[index];
            if kept.last() != Some(&point) {
                kept.push(point);
            }
        }
        self.points = kept;
    }

    /// Where the value changed, oldest first.
    pub fn points(&self) -> &[LanePoint] {
        &self.points
    }

    /// The lowest value of the step.
    pub const fn min(&self) -> Option<Bytes> {
        self.min
    }

    /// The highest value of the step: a spike of a few milliseconds shows here.
    pub const fn max(&self) -> Option<Bytes> {
        self.max
    }

    /// A lane read back from a recording.
    pub fn from_parts(points: Vec<LanePoint>, min: Option<Bytes>, max: Option<Bytes>) -> Self {
        Self { last: points.last().copied(), points, min, max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_keeps_changes_and_extremes() {
        let mut lane = Lane::default();
        for (at_ms, used) in [(0, 5), (50, 5), (100, 9), (150, 5)] {
            lane.push(LanePoint { at_ms, used: Some(Bytes(used)) });
        }
        assert_eq!(lane.points().iter().map(|p| p.at_ms).collect::<Vec<_>>(), [0, 100, 150]);
        assert_eq!((lane.min(), lane.max()), (Some(Bytes(5)), Some(Bytes(9))));
        let mut next = lane.next_step();
        next.push(LanePoint { at_ms: 200, used: Some(Bytes(5)) });
        assert!(next.points().is_empty() && next.max() == Some(Bytes(5)));
    }

    #[test]
    fn a_busy_lane_stays_bounded_and_keeps_its_spike() {
        let mut lane = Lane::default();
        for at_ms in 0..1000_u64 {
            let used = if at_ms == 300 { 1_000_000 } else { at_ms };
            lane.push(LanePoint { at_ms, used: Some(Bytes(used)) });
            assert!(lane.points().len() <= Lane::LIMIT);
        }
        assert_eq!(lane.max(), Some(Bytes(1_000_000)));
        assert!(lane.points().iter().any(|p| p.used == Some(Bytes(1_000_000))));
    }
}
