//! The past of one GPU: memory in three ranges of time, telemetry by the second.

use std::collections::VecDeque;

use super::tier::{Slot, Tier};
use crate::model::{Bytes, Lane, LanePoint};

/// Memory of one slot in KiB.
#[derive(Clone, Copy, Debug)]
pub struct MemorySlot {
    min: u32,
    max: u32,
    /// Mean over the slot, weighted by time, in KiB.
    pub mean: u32,
    /// The value at the slot's end, in KiB.
    pub last: u32,
}

impl Slot for MemorySlot {
    const EMPTY: Self = Self { min: u32::MAX, max: 0, mean: 0, last: 0 };

    fn take(&mut self, min: u32, max: u32, last: u32) {
        self.min = self.min.min(min);
        self.max = self.max.max(max);
        self.last = last;
    }

    fn range(&self) -> Option<(u32, u32)> {
        (self.min <= self.max).then_some((self.min, self.max))
    }

    fn set_mean(&mut self, mean: u32) {
        self.mean = mean;
    }
}

/// One figure of the telemetry in one slot: its highest.
#[derive(Clone, Copy, Debug)]
pub struct TelemetrySlot(u32);

impl Slot for TelemetrySlot {
    const EMPTY: Self = Self(u32::MAX);

    fn take(&mut self, _min: u32, max: u32, _last: u32) {
        self.0 = if self.0 == u32::MAX { max } else { self.0.max(max) };
    }

    fn range(&self) -> Option<(u32, u32)> {
        (self.0 != u32::MAX).then_some((self.0, self.0))
    }

    fn set_mean(&mut self, _mean: u32) {}
}

/// The rings of one GPU.
#[derive(Clone, Debug)]
pub struct GpuHistory {
    /// The memory lane as it was read, for 2 minutes at 20 Hz.
    fine: VecDeque<LanePoint>,
    /// By the second, for 15 minutes.
    pub seconds: Tier<MemorySlot>,
    /// By 15 seconds, for 24 hours.
    pub day: Tier<MemorySlot>,
    /// Kernel utilization in percent, by the second for 15 minutes.
    pub utilization: Tier<TelemetrySlot>,
    /// Bus activity in percent.
    pub bus: Tier<TelemetrySlot>,
    /// Power in watts.
    pub power: Tier<TelemetrySlot>,
    /// Value and time at which the lane stands.
    open: Option<(u64, Option<Bytes>)>,
    /// When the readings broke off: what stood then is not carried on beyond.
    broken_ms: Option<u64>,
}

impl GpuHistory {
    /// The most readings that `fine` holds: 2 minutes at 20 Hz.
    const FINE: usize = 2400;
    const SECONDS: usize = 900;
    const DAY_SLOTS: usize = 5760;

    /// Empty rings.
    pub fn new() -> Self {
        Self {
            fine: VecDeque::new(),
            seconds: Tier::new(1000, Self::SECONDS),
            day: Tier::new(15_000, Self::DAY_SLOTS),
            utilization: Tier::new(1000, Self::SECONDS),
            bus: Tier::new(1000, Self::SECONDS),
            power: Tier::new(1000, Self::SECONDS),
            open: None,
            broken_ms: None,
        }
    }

    /// Takes in the memory lane of a step that ended at `end_ms`. A step in which nothing was read carries nothing on.
    pub fn push_lane(&mut self, lane: &Lane, end_ms: u64) {
        if lane.points().is_empty() && lane.max().is_none() {
            if let Some(broken_ms) = self.broken_ms {
                self.hold_until(broken_ms);
            }
            self.open = None;
        }
        for point in lane.points() {
            self.hold_until(point.at_ms);
            self.open = Some((point.at_ms, point.used));
            if self.fine.len() == Self::FINE {
                self.fine.pop_front();
            }
            self.fine.push_back(*point);
        }
        self.hold_until(end_ms);
        self.broken_ms = None;
    }

    /// The value of the last change point goes on up to `until_ms`, or to where the readings broke off.
    fn hold_until(&mut self, until_ms: u64) {
        let Some((since, used)) = self.open.filter(|(since, _)| *since <= until_ms) else { return };
        let broken_ms = self.broken_ms.filter(|broken_ms| (since..until_ms).contains(broken_ms));
        let until_ms = broken_ms.unwrap_or(until_ms);
        if let Some(used) = used.filter(|_| until_ms > since || broken_ms.is_none()) {
            let kib = to_kib(used);
            self.seconds.add(since, until_ms, kib);
            self.day.add(since, until_ms, kib);
        }
        self.open = Some((until_ms, used.filter(|_| broken_ms.is_none())));
    }

    /// Starts a gap at `at_ms`: the last value is not carried on beyond. What was read before, the next lane still tells.
    pub fn break_off(&mut self, at_ms: u64) {
        self.broken_ms = Some(self.broken_ms.map_or(at_ms, |broken_ms| broken_ms.min(at_ms)));
    }

    /// What was used at the end of a moment's slot, in the finest ring that reaches back so far.
    pub fn used_at(&self, at_ms: u64) -> Option<Bytes> {
        let slot = self.reaching_back_to(at_ms).at(at_ms)?;
        slot.range().map(|_| Self::bytes(slot.last))
    }

    /// The lowest and highest of what was used from one moment to another.
    pub fn range(&self, from_ms: u64, to_ms: u64) -> Option<(Bytes, Bytes)> {
        let (low, high) = self.reaching_back_to(from_ms).range(from_ms, to_ms)?;
        Some((Self::bytes(low), Self::bytes(high)))
    }

    /// The finest ring that reaches back so far.
    fn reaching_back_to(&self, at_ms: u64) -> &Tier<MemorySlot> {
        if self.seconds.reaches_back_to(at_ms) { &self.seconds } else { &self.day }
    }

    /// The readings of the last 2 minutes where the value changed.
    pub fn fine(&self) -> impl DoubleEndedIterator<Item = &LanePoint> {
        self.fine.iter()
    }

    /// A slot's figure, which is in KiB, in bytes.
    pub fn bytes(kib: u32) -> Bytes {
        Bytes(u64::from(kib) * Bytes::KIB)
    }
}

impl Default for GpuHistory {
    fn default() -> Self {
        Self::new()
    }
}

fn to_kib(bytes: Bytes) -> u32 {
    u32::try_from(bytes.0 / Bytes::KIB).unwrap_or(u32::MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_holds_until_it_changes() {
        let mut history = GpuHistory::new();
        let mut lane = Lane::default();
        lane.push(LanePoint { at_ms: 0, used: Some(Bytes::mib(10)) });
        lane.push(LanePoint { at_ms: 1500, used: Some(Bytes::mib(30)) });
        lane.push(LanePoint { at_ms: 1550, used: Some(Bytes::mib(10)) });
        history.push_lane(&lane, 2000);
        let mut next = lane.next_step();
        next.push(LanePoint { at_ms: 2050, used: Some(Bytes::mib(10)) });
        assert!(next.points().is_empty());
        history.push_lane(&next, 3000);
        let mib = |kib: u32| kib / 1024;
        let seen: Vec<_> = history.seconds.slots().map(|(_, s)| s.range().map(|(a, b)| (mib(a), mib(b)))).collect();
        assert_eq!(seen, [Some((10, 10)), Some((10, 30)), Some((10, 10))]);
    }

    #[test]
    fn a_failed_reading_is_a_gap() {
        let mut history = GpuHistory::new();
        let mut lane = Lane::default();
        lane.push(LanePoint { at_ms: 0, used: Some(Bytes::mib(10)) });
        lane.push(LanePoint { at_ms: 1000, used: None });
        history.push_lane(&lane, 4000);
        // While it lasts, the slot of 15 s has what was read before it.
        assert_eq!((history.used_at(500), history.used_at(3500)), (Some(Bytes::mib(10)), None));
        assert_eq!(history.range(3000, 3999), None);
        let mut lane = lane.next_step();
        lane.push(LanePoint { at_ms: 4000, used: Some(Bytes::mib(10)) });
        history.push_lane(&lane, 5000);
        let seen: Vec<_> = history.seconds.slots().map(|(_, s)| s.range().is_some()).collect();
        assert_eq!(seen, [true, false, false, false, true]);
    }

    #[test]
    fn what_was_read_before_a_gap_stays() {
        // Read until 1.4 s; the next reading is of 4.2 s. A step of 5 s has all of it, and the gap is told before its lane.
        let read = |points: &[(u64, Option<u64>)]| {
            let mut history = GpuHistory::new();
            let mut lane = Lane::default();
            lane.push(LanePoint { at_ms: 0, used: Some(Bytes::mib(10)) });
            history.push_lane(&lane, 1000);
            let mut lane = lane.next_step();
            for (at_ms, mib) in points {
                lane.push(LanePoint { at_ms: *at_ms, used: mib.map(Bytes::mib) });
            }
            history.break_off(1450);
            history.push_lane(&lane, 5000);
            history.seconds.slots().map(|(_, slot)| slot.range().map(|(low, high)| (low / 1024, high / 1024))).collect::<Vec<_>>()
        };
        let gap = [(1450, None), (4200, Some(10))];
        assert_eq!(read(&gap), [Some((10, 10)), Some((10, 10)), None, None, Some((10, 10))]);
        let moved = [(1200, Some(30)), (1450, None), (4200, Some(10))];
        assert_eq!(read(&moved), [Some((10, 10)), Some((10, 30)), None, None, Some((10, 10))]);
        // A recording whose lane does not tell the gap.
        assert_eq!(read(&[(4200, Some(20))]), [Some((10, 10)), Some((10, 10)), None, None, Some((20, 20))]);
    }

    #[test]
    fn a_step_without_readings_is_a_gap() {
        let mut history = GpuHistory::new();
        let mut lane = Lane::default();
        lane.push(LanePoint { at_ms: 0, used: Some(Bytes::mib(10)) });
        history.push_lane(&lane, 1000);
        // Its GPU sleeps.
        history.push_lane(&Lane::default(), 2000);
        history.push_lane(&Lane::default(), 3000);
        let seen: Vec<_> = history.seconds.slots().map(|(_, s)| s.range().is_some()).collect();
        assert_eq!(seen, [true]);
    }
}
