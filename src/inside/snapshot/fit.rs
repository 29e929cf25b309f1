//! Would one more request of so many bytes fit: by the rules of torch's native allocator, from what the snapshot shows.
//!
//! Sizes and rules are those of `CUDACachingAllocator` (2.0 to 2.11): 512 B granules; up to 1 MiB out of 2 MiB segments,
//! below 10 MiB out of 20 MiB segments, else a segment of its own rounded up to 2 MiB.

use super::facts::{Segment, Settings, Snapshot, State};
use super::tally::{Tally, segment_layers};
use crate::model::Bytes;

const GRANULE: u64 = 512;
const SMALL: u64 = 1 << 20;
const SMALL_SEGMENT: u64 = 2 << 20;
const LARGE_SEGMENT: u64 = 20 << 20;
const OWN_SEGMENT: u64 = 10 << 20;
const SEGMENT_GRANULE: u64 = 2 << 20;

/// What would become of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fit {
    /// What is asked for.
    pub asked: Bytes,
    /// What torch would look for, after rounding.
    pub rounded: Bytes,
    /// Whether the pool for small requests would serve it.
    pub small: bool,
    /// The largest free block that it could get.
    pub largest_hole: Bytes,
    /// Free blocks that are large enough but that others alone may use.
    pub elsewhere: Elsewhere,
    /// What would happen.
    pub outcome: Outcome,
}

/// The largest free blocks that the request can not get, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// Of a private pool.
    pub private: Bytes,
    /// Of another stream.
    pub stream: Bytes,
    /// At or above `max_split_size`, and kept for requests of that size.
    pub oversize: Bytes,
}

/// What would happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A free block serves it; the driver is not asked.
    Reuses {
        /// The smallest that is large enough: torch takes that one.
        block: Bytes,
    },
    /// The driver has to give memory.
    Asks {
        /// How much: a new segment, or the pages that an expandable one lacks.
        segment: Bytes,
        /// What torch can give back first.
        releasable: Bytes,
        /// What has to be free on the device at least; 0 where giving back is enough.
        at_least: Bytes,
        /// What was free on the device when a request failed, where the snapshot tells.
        device_free: Option<Bytes>,
    },
}

impl Fit {
    /// Whether it fits; `None` where that depends on what is free on the device, which no snapshot tells.
    pub fn fits(&self) -> Option<bool> {
        match self.outcome {
            Outcome::Reuses { .. } => Some(true),
            Outcome::Asks { device_free: Some(free), at_least, .. } => Some(free >= at_least),
            Outcome::Asks { .. } => None,
        }
    }
}

/// What would become of a request of `asked` on the default stream of one device.
pub(super) fn fit(snapshot: &Snapshot, device: u32, tally: &Tally, device_free: Option<Bytes>, asked: Bytes) -> Fit {
    let settings = snapshot.settings.as_ref();
    let rounded = rounded(asked.0, settings);
    let small = rounded <= SMALL;
    let limit = settings.and_then(|settings| settings.max_split_size).map_or(u64::MAX, |max| max.0);
    let (mut best, mut largest, mut elsewhere) = (None::<u64>, 0, Elsewhere::default());
    // What an expandable segment lacks when it grows at its free end.
    let mut grows = None::<u64>;
    for segment in snapshot.segments_of(device).iter().filter(|segment| segment.small == small) {
        let blocks = snapshot.blocks_of(segment);
        for block in blocks.iter().filter(|block| block.state == State::Free) {
            let size = block.size.0;
            if segment.is_private() {
                elsewhere.private = elsewhere.private.max(block.size);
            } else if segment.stream != 0 {
                elsewhere.stream = elsewhere.stream.max(block.size);
            } else if (rounded < limit && size >= limit) || (rounded >= limit && size >= rounded.saturating_add(LARGE_SEGMENT)) {
                elsewhere.oversize = elsewhere.oversize.max(block.size);
            } else {
                largest = largest.max(size);
                if size >= rounded {
                    best = Some(best.map_or(size, |best| best.min(size)));
                }
            }
        }
        if serves(segment) && segment.expandable {
            let tail = blocks.last().filter(|block| block.state == State::Free).map_or(0, |block| block.size.0);
            let lacks = rounded.saturating_sub(tail);
            grows = Some(grows.map_or(lacks, |least| least.min(lacks)));
        }
    }
    let outcome = if let Some(block) = best {
        Outcome::Reuses { block: Bytes(block) }
    } else {
        let page = if small { SMALL_SEGMENT } else { LARGE_SEGMENT };
        let segment = grows.map_or_else(|| segment_for(rounded), |lacks| lacks.checked_next_multiple_of(page).unwrap_or(u64::MAX));
        let releasable = tally.layers.cached.saturating_sub(kept(snapshot, device));
        let at_least = Bytes(segment).saturating_sub(releasable);
        Outcome::Asks { segment: Bytes(segment), releasable, at_least, device_free }
    };
    Fit { asked, rounded: Bytes(rounded), small, largest_hole: Bytes(largest), elsewhere, outcome }
}

fn serves(segment: &Segment) -> bool {
    !segment.is_private() && segment.stream == 0
}

/// What counts as cached but is not given back when a request fails: free segments of private pools that are still in use.
fn kept(snapshot: &Snapshot, device: u32) -> Bytes {
    let private = snapshot.segments_of(device).iter().filter(|segment| segment.is_private());
    private.map(|segment| segment_layers(segment, snapshot.blocks_of(segment)).cached).sum()
}

/// The size that torch looks for.
fn rounded(asked: u64, settings: Option<&Settings>) -> u64 {
    if asked < GRANULE {
        return GRANULE;
    }
    let parts = settings.map_or(0, |settings| parts(asked, &settings.roundup));
    if parts > 1 && asked > GRANULE * parts {
        return power_of_two_part(asked, parts);
    }
    asked.checked_next_multiple_of(GRANULE).unwrap_or(u64::MAX)
}

/// Into how many parts of a power of two sizes of this kind are rounded: the rule of the size's own power of two, in MiB.
fn parts(asked: u64, rules: &[(u64, u64)]) -> u64 {
    let mib = (asked >> 20).max(1);
    let own = 1_u64 << mib.ilog2();
    rules.iter().rev().find(|(from, _)| *from <= own).or(rules.first()).map_or(0, |(_, parts)| *parts)
}

/// Rounds up to the next of `parts` equal steps between two powers of two.
fn power_of_two_part(asked: u64, parts: u64) -> u64 {
    if asked.is_power_of_two() {
        return asked;
    }
    let floor = 1_u64 << asked.ilog2();
    let step = (floor / parts).max(1);
    floor + (asked - floor).div_ceil(step).saturating_mul(step)
}

/// The segment that torch would ask the driver for.
fn segment_for(rounded: u64) -> u64 {
    match rounded {
        0..=SMALL => SMALL_SEGMENT,
        size if size < OWN_SEGMENT => LARGE_SEGMENT,
        size => size.checked_next_multiple_of(SEGMENT_GRANULE).unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_as_torch_rounds_them() {
        assert_eq!(rounded(1, None), 512);
        assert_eq!(rounded(4_000_000, None), 4_000_256, "7813 granules");
        assert_eq!(rounded(u64::MAX, None), u64::MAX);
        // The documentation's example: 1200 with 4 divisions is 1280, between 1024 and 2048.
        assert_eq!(power_of_two_part(1200, 4), 1280);
        let settings = Settings { roundup: vec![(1, 0), (256, 4), (512, 2)], ..Settings::default() };
        assert_eq!(rounded(300 << 20, Some(&settings)), 320 << 20);
        assert_eq!(rounded(600 << 20, Some(&settings)), 768 << 20);
        assert_eq!(rounded(100 << 20, Some(&settings)), 100 << 20);
    }

    #[test]
    fn segments_are_as_large_as_torch_makes_them() {
        assert_eq!(segment_for(512), 2 << 20);
        assert_eq!(segment_for(1 << 20), 2 << 20);
        assert_eq!(segment_for((1 << 20) + 512), 20 << 20);
        assert_eq!(segment_for(10 << 20), 10 << 20);
        assert_eq!(segment_for((11 << 20) + 512), 12 << 20);
    }
}
