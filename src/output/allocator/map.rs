//! The fragmentation map: segments as rows of cells, largest first, pool by pool.

use std::fmt::Write as _;

use super::figures::{amount, count};
use super::layer::Layer;
use crate::inside::snapshot::{PoolId, Segment, Snapshot, State, Tally, returnable};
use crate::model::Bytes;
use crate::output::explain::{Page, Tone};

/// Rows of the whole map.
const ROWS: usize = 12;
/// Rows that one pool has at least.
const LEAST: usize = 2;
/// Columns for the size at the left, and for the number of equal ones at the right.
const LABEL: usize = 10;
const TIMES: usize = 8;
/// Segments that are looked at, the largest first.
const LOOKED_AT: usize = 4096;
/// Cells for a segment of ordinary size: 16, so that a 20 MiB segment has cells of 1 MiB.
const CELLS: u64 = 16;
/// The smallest cell.
const SMALLEST: u64 = 16 << 10;

/// Appends the map of one device.
pub(super) fn map(page: &mut Page, snapshot: &Snapshot, device: u32, tally: &Tally) {
    let mut pools: Vec<PoolId> = tally.pools.keys().copied().collect();
    pools.sort_by_key(|id| std::cmp::Reverse(tally.pools.get(id).map(|pool| pool.layers.reserved())));
    let mut rows = ROWS;
    let mut left = pools.len();
    for id in pools {
        if rows < LEAST {
            page.line(&format!("  {} not drawn", count(left as u64, "more pool")));
            return;
        }
        left -= 1;
        let own = rows.saturating_sub(left * LEAST).max(LEAST);
        rows = rows.saturating_sub(pool(page, snapshot, device, id, own));
    }
}

/// Appends the map of one pool, and says how many rows it took. Segments that look the same are drawn once, with their number.
fn pool(page: &mut Page, snapshot: &Snapshot, device: u32, id: PoolId, most: usize) -> usize {
    let of_pool = |segment: &&Segment| PoolId::of(segment) == id;
    let mut segments: Vec<&Segment> = snapshot.segments_of(device).iter().filter(of_pool).collect();
    segments.sort_by_key(|segment| (std::cmp::Reverse(segment.size), segment.address));
    let room = page.width().saturating_sub(LABEL + TIMES).max(8);
    let cell = cell_size(&segments, room);
    page.line(&format!("  {}, {}, one cell is {}", name(id), count(segments.len() as u64, "segment"), amount(Bytes(cell))));
    let mut looks: Vec<Look> = Vec::new();
    for segment in segments.iter().take(LOOKED_AT) {
        let cells = draw(snapshot, segment, cell);
        let alike = looks.iter_mut().rev().take_while(|look| look.size == segment.size).find(|look| look.cells == cells);
        match alike {
            Some(look) => look.count += 1,
            None => looks.push(Look { size: segment.size, cells, count: 1 }),
        }
    }
    looks.sort_by_key(|look| std::cmp::Reverse((look.size, look.count)));
    let (mut rows, mut drawn, mut shown) = (0, 0, Bytes::ZERO);
    for look in &looks {
        let parts: Vec<&[Layer]> = look.cells.chunks(room).collect();
        if rows > 0 && rows + parts.len() > most {
            break;
        }
        for (at, part) in parts.iter().enumerate() {
            let size = if at == 0 { amount(look.size) } else { String::new() };
            let times = if at + 1 == parts.len() && look.count > 1 { format!(" × {}", look.count) } else { String::new() };
            let cells: String = part.iter().map(|layer| layer.glyph()).collect();
            page.pieces(&[(Tone::Plain, format!("{size:>width$} ", width = LABEL - 1)), (Tone::Own, cells), (Tone::Plain, times)]);
        }
        rows += parts.len();
        drawn += look.count;
        shown += Bytes(look.size.0.saturating_mul(look.count as u64));
    }
    let all: Bytes = segments.iter().map(|segment| segment.size).sum();
    if drawn < segments.len() {
        let rest = count((segments.len() - drawn) as u64, "segment");
        page.line(&format!("{:>width$} {rest} not drawn: {}", "+", amount(all.saturating_sub(shown)), width = LABEL - 1));
    }
    rows
}

/// Segments of one size whose cells are the same.
struct Look {
    size: Bytes,
    cells: Vec<Layer>,
    count: usize,
}

/// What a pool is for.
pub(super) fn name(id: PoolId) -> String {
    let mut name = String::from(if id.small { "small" } else { "large" });
    if id.stream != 0 {
        let _ = write!(name, ", stream {:#x}", id.stream);
    }
    if id.owner != (0, 0) {
        let _ = write!(name, ", private {}:{}", id.owner.0, id.owner.1);
    }
    name
}

/// A power of two, so that a segment of middling size has some twenty cells and the largest at most three rows.
fn cell_size(segments: &[&Segment], room: usize) -> u64 {
    let total: u128 = segments.iter().map(|segment| u128::from(segment.size.0)).sum();
    let mut sum = 0;
    let middle = segments.iter().map(|segment| segment.size.0).find(|size| {
        sum += u128::from(*size);
        sum * 2 >= total
    });
    let largest = segments.first().map_or(0, |segment| segment.size.0);
    let usual = (middle.unwrap_or(0) / CELLS).max(SMALLEST);
    let usual = 1_u64 << usual.ilog2();
    let least = largest.div_ceil(3 * room as u64).max(1).checked_next_power_of_two().unwrap_or(1 << 62);
    usual.max(least)
}

fn cells_of(size: u64, cell: u64) -> usize {
    usize::try_from(size.div_ceil(cell).max(1)).unwrap_or(usize::MAX)
}

/// The cells of a segment, each with what most of it is.
fn draw(snapshot: &Snapshot, segment: &Segment, cell: u64) -> Vec<Layer> {
    let blocks = snapshot.blocks_of(segment);
    let in_use = blocks.iter().any(|block| block.state != State::Free);
    // What no block covers is free as the rest is.
    let rest = if in_use { Layer::Stuck } else { Layer::Cached };
    let mut shares = Shares { of: vec![[0; ORDER.len()]; cells_of(segment.size.0, cell)], cell, size: segment.size.0 };
    for block in blocks {
        let start = block.address.saturating_sub(segment.address);
        let end = start.saturating_add(block.size.0);
        match block.state {
            State::Live => shares.add(Layer::Live, start, end),
            State::Pending => shares.add(Layer::Pending, start, end),
            State::Free => {
                let whole = returnable(segment, block, in_use);
                shares.add(Layer::Stuck, start, whole.start.min(end));
                shares.add(Layer::Cached, whole.start, whole.end);
                shares.add(Layer::Stuck, whole.end.max(start), end);
            }
        }
    }
    let most = |share: &[u64; ORDER.len()]| {
        let largest = share.iter().max().copied().unwrap_or(0);
        ORDER.iter().zip(share).find(|(_, bytes)| largest > 0 && **bytes == largest).map_or(rest, |(layer, _)| *layer)
    };
    shares.of.iter().map(most).collect()
}

/// Of two that share a cell evenly the first is shown.
const ORDER: [Layer; 4] = [Layer::Live, Layer::Pending, Layer::Stuck, Layer::Cached];

/// How much of each cell is what.
struct Shares {
    of: Vec<[u64; ORDER.len()]>,
    cell: u64,
    size: u64,
}

impl Shares {
    fn add(&mut self, layer: Layer, start: u64, end: u64) {
        let kind = ORDER.iter().position(|other| *other == layer).unwrap_or(0);
        let (mut at, end) = (start, end.min(self.size));
        while at < end {
            let index = at / self.cell;
            let next = (index + 1).saturating_mul(self.cell).min(end);
            if let Some(share) = usize::try_from(index).ok().and_then(|index| self.of.get_mut(index)) {
                share[kind] += next - at;
            }
            at = next;
        }
    }
}
