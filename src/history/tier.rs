//! A ring of equal time slots, each with the lowest, highest, mean and last value of its span.

use std::collections::VecDeque;

/// The unit-less values of one slot. The unit is the owner's (KiB for GPUs, 64 KiB for processes).
pub trait Slot: Copy {
    /// Bit pattern of a slot without readings.
    const EMPTY: Self;
    /// Takes in a span in which the value went from `min` to `max` and ended at `last`.
    fn take(&mut self, min: u32, max: u32, last: u32);
    /// The lowest and highest value; `None` where nothing was read.
    fn range(&self) -> Option<(u32, u32)>;
    /// Stores the mean, where the slot keeps one.
    fn set_mean(&mut self, mean: u32);
}

/// The lowest and highest value in one column of a picture; `None` is a gap.
pub type Column = Option<(u32, u32)>;

/// A ring of at most `capacity` slots of `slot_ms` each. It takes memory as it fills: most processes do not live for a day, and a
/// status line over a thousand of them needs one slot of each.
#[derive(Clone, Debug)]
pub struct Tier<S> {
    slot_ms: u64,
    capacity: usize,
    /// Number (time / `slot_ms`) of the slot at the front.
    front: u64,
    slots: VecDeque<S>,
    /// Value x milliseconds and milliseconds of the newest slot, for its mean.
    weighted: (u128, u64),
}

impl<S: Slot> Tier<S> {
    /// A ring that covers `capacity` slots of `slot_ms` milliseconds.
    pub fn new(slot_ms: u64, capacity: usize) -> Self {
        Self { slot_ms, capacity, front: 0, slots: VecDeque::new(), weighted: (0, 0) }
    }

    /// Takes in a span of time (`from_ms` up to, not including, `to_ms`) with one value.
    pub fn add(&mut self, from_ms: u64, to_ms: u64, value: u32) {
        self.add_range(from_ms, to_ms, value, value, value);
    }

    /// Takes in a span in which the value moved between `min` and `max` and ended at `last`.
    pub fn add_range(&mut self, from_ms: u64, to_ms: u64, min: u32, max: u32, last: u32) {
        let end = to_ms.max(from_ms + 1);
        let first = from_ms / self.slot_ms;
        let newest = (end - 1) / self.slot_ms;
        // What would fall out of the ring at once is not walked through.
        let start = first.max((newest + 1).saturating_sub(self.capacity as u64));
        for number in start..=newest {
            let Some(slot) = self.slot_at(number) else { continue };
            slot.take(min, max, last);
            let span = end.min((number + 1) * self.slot_ms) - from_ms.max(number * self.slot_ms);
            self.weigh(span, last);
        }
    }

    /// The slot of that number, made if it is newer than all; `None` if it has left the ring.
    fn slot_at(&mut self, number: u64) -> Option<&mut S> {
        if self.slots.is_empty() {
            self.front = number;
        }
        let offset = number.checked_sub(self.front)?;
        let mut index = usize::try_from(offset).ok()?;
        if index >= self.slots.len() {
            self.weighted = (0, 0);
            if index >= self.slots.len() + self.capacity {
                self.slots.clear();
                self.front = number;
                index = 0;
            }
            while self.slots.len() <= index {
                if self.slots.len() == self.capacity {
                    self.slots.pop_front();
                    self.front += 1;
                    index -= 1;
                }
                if self.slots.len() == self.slots.capacity() {
                    // Twice as much each time, but never more than the ring can hold.
                    let grown = (self.slots.len() * 2).clamp(4, self.capacity.max(4));
                    self.slots.reserve_exact(grown - self.slots.len());
                }
                self.slots.push_back(S::EMPTY);
            }
        }
        self.slots.get_mut(index)
    }

    fn weigh(&mut self, span_ms: u64, value: u32) {
        self.weighted.0 += u128::from(value) * u128::from(span_ms);
        self.weighted.1 += span_ms;
        let mean = u32::try_from(self.weighted.0 / u128::from(self.weighted.1.max(1))).unwrap_or(u32::MAX);
        if let Some(slot) = self.slots.back_mut() {
            slot.set_mean(mean);
        }
    }

    /// The slots, oldest first, with the time at which each begins. Slots without readings are among them.
    pub fn slots(&self) -> impl DoubleEndedIterator<Item = (u64, &S)> {
        let (front, slot_ms) = (self.front, self.slot_ms);
        self.slots.iter().enumerate().map(move |(i, slot)| ((front + i as u64) * slot_ms, slot))
    }

    /// Whether a moment is not older than what the ring holds: where it then has no slot nothing was read, and no coarser ring knows more.
    pub fn reaches_back_to(&self, at_ms: u64) -> bool {
        at_ms / self.slot_ms + self.capacity as u64 >= self.front + self.slots.len() as u64
    }

    /// The slot of a moment; `None` where the ring does not reach. A slot in which nothing was read is there, and empty.
    pub fn at(&self, at_ms: u64) -> Option<&S> {
        let place = (at_ms / self.slot_ms).checked_sub(self.front)?;
        self.slots.get(usize::try_from(place).ok()?)
    }

    /// The lowest and highest value of the slots from that of one moment to that of another.
    pub fn range(&self, from_ms: u64, to_ms: u64) -> Column {
        let first = from_ms / self.slot_ms * self.slot_ms;
        let slots = self.slots().skip_while(|(begin, _)| *begin < first).take_while(|(begin, _)| *begin <= to_ms);
        slots.filter_map(|(_, slot)| slot.range()).reduce(|(low, high), (min, max)| (low.min(min), high.max(max)))
    }

    /// Length of a slot in milliseconds.
    pub const fn slot_ms(&self) -> u64 {
        self.slot_ms
    }

    /// How far back the ring can reach, in milliseconds.
    pub const fn reach_ms(&self) -> u64 {
        self.slot_ms * self.capacity as u64
    }

    /// The last `span_ms` before `now_ms` as at most `columns` columns, newest last, and the span of one column.
    ///
    /// A column is a whole number of slots and stands at a fixed place in time, so that a picture scrolls and does not shimmer.
    pub fn columns(&self, now_ms: u64, span_ms: u64, columns: usize) -> (u64, Vec<Column>) {
        let wanted = span_ms.div_ceil(columns.max(1) as u64);
        let column_ms = wanted.div_ceil(self.slot_ms).max(1) * self.slot_ms;
        let shown = columns.min(usize::try_from(span_ms.div_ceil(column_ms)).unwrap_or(columns));
        let newest = now_ms / column_ms;
        let mut picture: Vec<Column> = vec![None; shown];
        for (begin, slot) in self.slots().rev() {
            let Some(age) = newest.checked_sub(begin / column_ms) else { continue };
            let Some(index) = usize::try_from(age).ok().and_then(|age| shown.checked_sub(age + 1)) else { break };
            if let Some((min, max)) = slot.range() {
                let column = &mut picture[index];
                *column = Some(column.map_or((min, max), |(low, high)| (low.min(min), high.max(max))));
            }
        }
        (column_ms, picture)
    }
}

#[cfg(test)]
mod tests {
    use super::super::gpu::MemorySlot;
    use super::*;
    use proptest::prelude::*;

    fn ranges(tier: &Tier<MemorySlot>) -> Vec<(u64, Option<(u32, u32)>)> {
        tier.slots().map(|(at, slot)| (at, slot.range())).collect()
    }

    #[test]
    fn a_span_is_spread_over_the_slots_it_touches() {
        let mut tier = Tier::new(1000, 10);
        tier.add(500, 2500, 7);
        assert_eq!(ranges(&tier), [(0, Some((7, 7))), (1000, Some((7, 7))), (2000, Some((7, 7)))]);
    }

    #[test]
    fn a_spike_without_length_is_still_seen() {
        let mut tier = Tier::new(1000, 10);
        tier.add(0, 400, 5);
        tier.add(400, 400, 90);
        tier.add(400, 1000, 5);
        assert_eq!(ranges(&tier), [(0, Some((5, 90)))]);
    }

    #[test]
    fn a_pause_is_a_gap() {
        let mut tier = Tier::new(1000, 10);
        tier.add(0, 1000, 1);
        tier.add(3000, 4000, 2);
        assert_eq!(ranges(&tier).iter().map(|(_, r)| r.is_some()).collect::<Vec<_>>(), [true, false, false, true]);
    }

    #[test]
    fn the_mean_is_weighted_by_time() {
        let mut tier: Tier<MemorySlot> = Tier::new(1000, 4);
        tier.add(0, 900, 100);
        tier.add(900, 1000, 1100);
        // 0.9 s at 100 and 0.1 s at 1100 is 200 on average.
        assert_eq!(tier.slots().next().map(|(_, s)| s.mean), Some(200));
    }

    #[test]
    fn columns_stand_still_and_end_now() {
        let mut tier: Tier<MemorySlot> = Tier::new(1000, 900);
        for second in 0..60 {
            tier.add(second * 1000, (second + 1) * 1000, u32::try_from(second).expect("small"));
        }
        // 60 s in 6 columns of 10 s each.
        let (column_ms, columns) = tier.columns(59_999, 60_000, 6);
        assert_eq!(column_ms, 10_000);
        assert_eq!(columns[5], Some((50, 59)));
        assert_eq!(columns[0], Some((0, 9)));
    }

    proptest! {
        #[test]
        fn it_never_holds_more_than_its_capacity(spans in proptest::collection::vec((0..200_000_u64, 0..5_000_u64, any::<u32>()), 0..200)) {
            let mut tier: Tier<MemorySlot> = Tier::new(1000, 20);
            let mut spans = spans;
            spans.sort_unstable();
            for (from, length, value) in spans {
                tier.add(from, from + length, value);
                prop_assert!(tier.slots().count() <= 20);
                let newest = tier.slots().last().map(|(at, _)| at);
                prop_assert!(newest >= Some((from / 1000).saturating_sub(20) * 1000));
            }
            let (_, columns) = tier.columns(205_000, 100_000, 7);
            prop_assert!(columns.len() <= 7);
        }
    }
}
