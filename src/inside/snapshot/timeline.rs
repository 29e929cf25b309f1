//! How the live memory of one device went, replayed from its events, and what was so when a request failed.
//!
//! The present is known from the blocks; the events are counted backwards from it, so that what was live before the
//! recording began is in the figures. Sizes are what was asked for: events have no rounding.

use std::collections::HashMap;

use super::facts::{Action, Event, SiteId, Snapshot, State};
use crate::model::Bytes;

/// Columns that a timeline is kept in.
const COLUMNS: usize = 240;

/// A request that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oom {
    /// What was asked for.
    pub asked: Bytes,
    /// What was free on the device then.
    pub device_free: Bytes,
    /// What was live then.
    pub live: Bytes,
    /// What torch held then.
    pub reserved: Bytes,
    /// When, in microseconds since 1970; 0 where it is not known.
    pub time_us: i64,
    /// Where, where that was recorded.
    pub site: SiteId,
    /// Which event it was.
    pub at: usize,
}

/// How live memory went.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// How many events there are.
    pub events: usize,
    /// Live memory at the first event.
    pub start: Bytes,
    /// Live memory now, as asked for.
    pub end: Bytes,
    /// The most that was live.
    pub peak: Bytes,
    /// Which event made it so; `None` where it was so from the start.
    pub peak_at: Option<usize>,
    /// When, in microseconds since 1970; 0 where it is not known.
    pub peak_time_us: i64,
    /// From the first to the last event, in microseconds.
    pub span_us: i64,
    /// The highest live figure of each of equally many events.
    pub columns: Vec<Bytes>,
    /// Requests that failed, oldest first: the first few, and the last.
    pub ooms: Vec<Oom>,
    /// How many requests failed in all.
    pub oom_count: usize,
    /// Events and blocks contradict each other: more was freed than there was.
    pub contradicts: bool,
}

/// Failed requests that are kept besides the last.
const MOST_OOMS: usize = 8;

/// Replays the events of one device; `None` where there are none.
pub(super) fn timeline(snapshot: &Snapshot, device: u32) -> Option<Timeline> {
    let events = snapshot.trace(device);
    let (first, last) = (events.first()?, events.last()?);
    let (mut end, mut reserved_end) = (Bytes::ZERO, Bytes::ZERO);
    for segment in snapshot.segments_of(device) {
        reserved_end += segment.size;
        end += snapshot.blocks_of(segment).iter().filter(|block| block.state != State::Free).map(|block| block.requested).sum();
    }
    let changes = events.iter().map(change).fold((0_i128, 0_i128), |sum, change| (sum.0 + change.0, sum.1 + change.1));
    let (mut live, mut reserved) = (i128::from(end.0) - changes.0, i128::from(reserved_end.0) - changes.1);
    let lowest = events.iter().scan(live, |live, event| Some(step(live, change(event).0))).min().unwrap_or(0).min(live);
    let contradicts = lowest < 0;
    if contradicts {
        live -= lowest;
    }
    let width = COLUMNS.min(events.len());
    let mut past = Timeline {
        events: events.len(),
        start: bytes(live),
        end,
        peak: bytes(live),
        span_us: last.time_us.saturating_sub(first.time_us),
        columns: vec![Bytes::ZERO; width],
        contradicts,
        ..Timeline::default()
    };
    for (at, event) in events.iter().enumerate() {
        let (a, b) = change(event);
        step(&mut live, a);
        step(&mut reserved, b);
        let now = bytes(live);
        if now > past.peak {
            (past.peak, past.peak_at, past.peak_time_us) = (now, Some(at), event.time_us);
        }
        let column = &mut past.columns[at * width / events.len()];
        *column = now.max(*column);
        if event.action == Action::Oom {
            let oom = Oom {
                asked: event.size,
                device_free: Bytes(event.address),
                live: now,
                reserved: bytes(reserved),
                time_us: event.time_us,
                site: event.site,
                at,
            };
            past.oom_count += 1;
            if past.ooms.len() > MOST_OOMS {
                past.ooms.pop();
            }
            past.ooms.push(oom);
        }
    }
    Some(past)
}

/// Adds a change and says what it comes to.
fn step(sum: &mut i128, change: i128) -> i128 {
    *sum += change;
    *sum
}

fn bytes(n: i128) -> Bytes {
    Bytes(u64::try_from(n.max(0)).unwrap_or(u64::MAX))
}

/// What an event changes in live memory and in what torch holds.
fn change(event: &Event) -> (i128, i128) {
    let size = i128::from(event.size.0);
    match event.action {
        Action::Alloc => (size, 0),
        Action::FreeCompleted => (-size, 0),
        Action::SegmentTaken => (0, size),
        Action::SegmentReturned => (0, -size),
        Action::FreeRequested | Action::Oom | Action::Other => (0, 0),
    }
}

/// What one place holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// The place; [`SiteId::UNKNOWN`] for what was not recorded.
    pub site: SiteId,
    /// What it holds.
    pub bytes: Bytes,
    /// In how many blocks.
    pub count: u64,
}

/// What is live by the place that asked for it: now, or after event `until`. Largest first; the sums are complete.
pub(super) fn holdings(snapshot: &Snapshot, device: u32, until: Option<usize>) -> Vec<Holding> {
    let events = snapshot.trace(device);
    let mut live: HashMap<u64, (Bytes, SiteId)> = HashMap::new();
    for segment in snapshot.segments_of(device) {
        for block in snapshot.blocks_of(segment).iter().filter(|block| block.state != State::Free) {
            live.insert(block.address, (block.requested, block.site));
        }
    }
    // Blocks without a place of their own have the one of the event that made them.
    for event in events.iter().filter(|event| event.action == Action::Alloc) {
        if let Some((size, site)) = live.get_mut(&event.address)
            && *site == SiteId::UNKNOWN
            && *size == event.size
        {
            *site = event.site;
        }
    }
    if let Some(until) = until {
        // Backwards: what was made since is not there yet, what was freed since still is.
        for event in events.iter().skip(until.saturating_add(1)).rev() {
            match event.action {
                Action::Alloc => _ = live.remove(&event.address),
                Action::FreeCompleted => _ = live.insert(event.address, (event.size, SiteId::UNKNOWN)),
                _ => {}
            }
        }
        for event in events.iter().take(until.saturating_add(1)) {
            if let (Action::Alloc, Some((size, site))) = (event.action, live.get_mut(&event.address))
                && *size == event.size
                && *site == SiteId::UNKNOWN
            {
                *site = event.site;
            }
        }
    }
    let mut by_place: HashMap<Option<u32>, Holding> = HashMap::new();
    for (size, site) in live.into_values() {
        let sum = by_place.entry(snapshot.place_key(site)).or_insert(Holding { site, bytes: Bytes::ZERO, count: 0 });
        sum.bytes += size;
        sum.count += 1;
        sum.site = sum.site.min(site);
    }
    let mut holdings: Vec<_> = by_place.into_values().collect();
    holdings.sort_unstable_by_key(|holding| (std::cmp::Reverse(holding.bytes), holding.site));
    holdings
}
