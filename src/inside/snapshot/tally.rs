//! What the memory of one device is made of: layers, pools, holes. Sums over segments and blocks, nothing judged.

use std::collections::BTreeMap;
use std::ops::Range;

use super::facts::{Block, Segment, Snapshot, State};
use crate::model::Bytes;

/// The page by which an expandable segment grows and is given back: torch's own sizes for small and for large requests.
const SMALL_PAGE: u64 = 2 << 20;
const LARGE_PAGE: u64 = 20 << 20;

/// tensors + pending + cached + stuck = reserved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layers {
    /// Blocks that tensors live in.
    pub tensors: Bytes,
    /// Blocks that were freed and that a stream may still be using.
    pub pending: Bytes,
    /// Free, and can be given back to the driver whole: free segments, and free pages of expandable ones.
    pub cached: Bytes,
    /// Free, but in a segment that is in use: torch can use it again, nobody else can.
    pub stuck: Bytes,
}

impl Layers {
    /// What torch holds in all.
    pub fn reserved(&self) -> Bytes {
        self.tensors + self.pending + self.cached + self.stuck
    }

    /// What torch holds and nothing uses.
    pub fn free(&self) -> Bytes {
        self.cached + self.stuck
    }

    pub(super) fn add(&mut self, other: Self) {
        self.tensors += other.tensors;
        self.pending += other.pending;
        self.cached += other.cached;
        self.stuck += other.stuck;
    }
}

/// One pool of a device: who may use it, and for what sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PoolId {
    /// `(0, 0)`, or the number of a private pool.
    pub owner: (i64, i64),
    /// For requests of up to 1 MiB.
    pub small: bool,
    /// For requests on this stream.
    pub stream: i64,
}

impl PoolId {
    /// The pool of a segment.
    pub fn of(segment: &Segment) -> Self {
        Self { owner: segment.pool, small: segment.small, stream: segment.stream }
    }
}

/// What a pool holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// Its layers.
    pub layers: Layers,
    /// How many segments it has.
    pub segments: u64,
    /// Its largest free block.
    pub largest_hole: Bytes,
}

/// Free blocks of about one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holes {
    /// They are smaller than this; the last kind has no limit.
    pub below: Option<Bytes>,
    /// How many there are.
    pub count: u64,
    /// What they hold together.
    pub bytes: Bytes,
}

/// What the memory of one device is made of.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The layers of everything.
    pub layers: Layers,
    /// What was asked for by what is live: the rest of `tensors` is rounding.
    pub requested: Bytes,
    /// How many segments there are.
    pub segments: u64,
    /// How many blocks, of which state.
    pub blocks: u64,
    /// Live ones.
    pub live_blocks: u64,
    /// Free ones.
    pub free_blocks: u64,
    /// Each pool.
    pub pools: BTreeMap<PoolId, Pool>,
    /// Free blocks by size.
    pub holes: Vec<Holes>,
    /// The largest free block that ordinary requests can get.
    pub largest_hole: Bytes,
}

impl Tally {
    /// What private pools hold.
    pub fn private(&self) -> Layers {
        let mut layers = Layers::default();
        for (_, pool) in self.pools.iter().filter(|(id, _)| id.owner != (0, 0)) {
            layers.add(pool.layers);
        }
        layers
    }
}

/// Upper ends of the kinds of holes: around torch's own sizes, in MiB.
const KINDS: [u64; 7] = [1, 2, 10, 20, 100, 1024, 10 * 1024];

/// Adds up one device.
pub(super) fn tally(snapshot: &Snapshot, device: u32) -> Tally {
    let holes = KINDS.iter().map(|mib| Some(Bytes::mib(*mib))).chain([None]).map(|below| Holes { below, ..Holes::default() }).collect();
    let mut tally = Tally { holes, ..Tally::default() };
    for segment in snapshot.segments_of(device) {
        let blocks = snapshot.blocks_of(segment);
        let layers = segment_layers(segment, blocks);
        tally.layers.add(layers);
        tally.segments += 1;
        tally.blocks += blocks.len() as u64;
        let pool = tally.pools.entry(PoolId::of(segment)).or_default();
        pool.layers.add(layers);
        pool.segments += 1;
        for block in blocks {
            match block.state {
                State::Live => {
                    tally.live_blocks += 1;
                    tally.requested += block.requested;
                }
                State::Pending => tally.requested += block.requested,
                State::Free => {
                    tally.free_blocks += 1;
                    pool.largest_hole = pool.largest_hole.max(block.size);
                    if let Some(kind) = tally.holes.iter_mut().find(|kind| kind.below.is_none_or(|below| block.size < below)) {
                        kind.count += 1;
                        kind.bytes += block.size;
                    }
                }
            }
        }
        if !segment.is_private() {
            tally.largest_hole = tally.largest_hole.max(pool.largest_hole);
        }
    }
    tally
}

/// The layers of one segment. What its blocks leave out is counted as stuck, so that the sum is what torch holds.
pub(super) fn segment_layers(segment: &Segment, blocks: &[Block]) -> Layers {
    let mut layers = Layers::default();
    let in_use = blocks.iter().any(|block| block.state != State::Free);
    for block in blocks {
        match block.state {
            State::Live => layers.tensors += block.size,
            State::Pending => layers.pending += block.size,
            State::Free => {
                let whole = returnable(segment, block, in_use);
                let whole = Bytes(whole.end - whole.start);
                layers.cached += whole;
                layers.stuck += block.size.saturating_sub(whole);
            }
        }
    }
    let missing = segment.size.saturating_sub(layers.reserved());
    if in_use {
        layers.stuck += missing;
    } else {
        layers.cached += missing;
    }
    layers
}

/// What of a free block can be given back, as offsets into its segment: all of it where nothing of the segment is in use,
/// whole pages of an expandable segment, else nothing.
pub fn returnable(segment: &Segment, block: &Block, in_use: bool) -> Range<u64> {
    let start = block.address.saturating_sub(segment.address);
    let end = start.saturating_add(block.size.0);
    if !in_use {
        return start..end;
    }
    if !segment.expandable {
        return start..start;
    }
    let page = if segment.small { SMALL_PAGE } else { LARGE_PAGE };
    let first = start.checked_next_multiple_of(page).unwrap_or(u64::MAX);
    first..(end / page * page).max(first)
}
