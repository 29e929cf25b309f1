//! The past of one process on one GPU: the lowest and highest figure, in 64 KiB units, for two minutes, an hour and a day.

use super::tier::{Slot, Tier};
use crate::model::Bytes;

/// Lowest and highest figure of one slot in units of 64 KiB (the driver charges processes by larger pages).
#[derive(Clone, Copy, Debug)]
pub struct RangeSlot {
    min: u32,
    max: u32,
}

impl Slot for RangeSlot {
    const EMPTY: Self = Self { min: u32::MAX, max: 0 };

    fn take(&mut self, min: u32, max: u32, _last: u32) {
        self.min = self.min.min(min);
        self.max = self.max.max(max);
    }

    fn range(&self) -> Option<(u32, u32)> {
        (self.min <= self.max).then_some((self.min, self.max))
    }

    fn set_mean(&mut self, _mean: u32) {}
}

/// The rings of one process: 5 KiB when they are full, after a day, so that two thousand of them stay small.
#[derive(Clone, Debug)]
pub struct ProcessHistory {
    /// By the second, for 2 minutes.
    pub seconds: Tier<RangeSlot>,
    /// By 15 seconds, for 1 hour.
    pub hour: Tier<RangeSlot>,
    /// By 5 minutes, for 24 hours.
    pub day: Tier<RangeSlot>,
}

impl ProcessHistory {
    const UNIT: u64 = 64 * Bytes::KIB;

    /// Empty rings.
    pub fn new() -> Self {
        Self { seconds: Tier::new(1000, 120), hour: Tier::new(15_000, 240), day: Tier::new(300_000, 288) }
    }

    /// Takes in a step in which the figure moved between `min` and `max`.
    pub fn push(&mut self, from_ms: u64, to_ms: u64, min: Bytes, max: Bytes) {
        let (low, high) = (to_units(min), to_units(max));
        for tier in [&mut self.seconds, &mut self.hour, &mut self.day] {
            tier.add_range(from_ms, to_ms, low, high, high);
        }
    }

    /// The ring that a picture of so many minutes is drawn from: two minutes by the second, an hour by 15 seconds, a day by 5 minutes.
    pub const fn over(&self, minutes: u64) -> &Tier<RangeSlot> {
        match minutes {
            0..=2 => &self.seconds,
            3..=60 => &self.hour,
            _ => &self.day,
        }
    }

    /// From the lowest to the highest figure of so many minutes before a moment; `None` where nothing was read.
    pub fn spread(&self, now_ms: u64, minutes: u64) -> Option<Bytes> {
        let from_ms = (now_ms + 1).saturating_sub(minutes * 60_000);
        self.over(minutes).range(from_ms, now_ms).map(|(low, high)| Self::bytes(high - low))
    }

    /// The lowest and highest figure of a moment's slot, in the finest ring that reaches back so far, and the slot's length in milliseconds.
    /// `None` where nothing was read then.
    pub fn at(&self, at_ms: u64) -> Option<(Bytes, Bytes, u64)> {
        let tier = [&self.seconds, &self.hour, &self.day].into_iter().find(|tier| tier.reaches_back_to(at_ms))?;
        let (low, high) = tier.at(at_ms)?.range()?;
        Some((Self::bytes(low), Self::bytes(high), tier.slot_ms()))
    }

    /// Units of a slot in bytes.
    pub fn bytes(units: u32) -> Bytes {
        Bytes(u64::from(units) * Self::UNIT)
    }
}

impl Default for ProcessHistory {
    fn default() -> Self {
        Self::new()
    }
}

fn to_units(bytes: Bytes) -> u32 {
    u32::try_from(bytes.0 / ProcessHistory::UNIT).unwrap_or(u32::MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coarser_ring_answers_only_for_what_a_finer_one_no_longer_holds() {
        let mut history = ProcessHistory::new();
        let (low, high) = (Bytes::gib(10), Bytes::gib(15));
        history.push(0, 35_000, low, high);
        // Not read since: the slot of 30 to 45 s has what was before that.
        assert_eq!(history.at(34_999), Some((low, high, 1000)));
        assert_eq!(history.at(40_000), None);
        // Read again after so long that the ring of seconds begins anew: it still reaches back two minutes.
        history.push(299_000, 300_000, high, high);
        assert_eq!(history.at(290_000), None);
        assert_eq!(history.at(299_000), Some((high, high, 1000)));
        assert_eq!(history.at(34_999), Some((low, high, 15_000)));
    }
}
