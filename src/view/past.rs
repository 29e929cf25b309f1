//! How far back the pictures reach, and on which scale: one for the whole screen, so that they can be compared.

use super::graph::Scale;
use crate::app::App;
use crate::history::{Column, GpuHistory, MemorySlot, ProcessHistory, RangeSlot, Slot, Tier};
use crate::model::Bytes;
use crate::monitor::GpuRow;

/// The time that all histories of one frame cover, and the scale of each device.
#[derive(Clone, Debug)]
pub(super) struct Past {
    /// The last moment of the last step, on the sample's own clock.
    pub(super) now_ms: u64,
    /// Length in minutes.
    pub(super) minutes: u64,
    /// Whether no base is moved up.
    pub(super) from_zero: bool,
    /// Marked moments, on the same clock.
    pub(super) marks: Vec<u64>,
    /// The moment that is looked back at.
    pub(super) cursor: Option<u64>,
    scales: Vec<Scale>,
}

impl Past {
    /// What is covered, as it was chosen.
    pub(super) fn of(app: &App) -> Self {
        let (monitor, window) = (app.present().monitor(), app.window());
        let now_ms = monitor.last_ms();
        let minutes = window.minutes(monitor);
        let from_ms = (!window.is_from_zero()).then(|| now_ms.saturating_sub(minutes * 60_000));
        Self {
            now_ms,
            minutes,
            from_zero: window.is_from_zero(),
            marks: window.marks().to_vec(),
            cursor: app.then().map(|then| then.at_ms),
            scales: scales(monitor.gpus(), from_ms, minutes),
        }
    }

    /// `15 MIN`, `6 H`
    pub(super) fn span(&self) -> String {
        if self.minutes < 60 { format!("{} MIN", self.minutes) } else { format!("{} H", self.minutes / 60) }
    }

    /// The time of one column where a tier is drawn over so many cells; where it is not drawn, that of a column in sixty.
    pub(super) fn column_ms<S: Slot>(&self, tier: &Tier<S>, cells: u16) -> u64 {
        const UNDRAWN: u16 = 60;
        self.course(tier, if cells == 0 { UNDRAWN } else { cells }).column_ms
    }

    /// The ring of a device that reaches back so far.
    pub(super) fn of_gpu<'a>(&self, history: &'a GpuHistory) -> &'a Tier<MemorySlot> {
        tier(history, self.minutes)
    }

    /// The ring of a process that reaches back so far.
    pub(super) const fn of_process<'a>(&self, history: &'a ProcessHistory) -> &'a Tier<RangeSlot> {
        history.over(self.minutes)
    }

    /// The scale of one device's memory in KiB.
    pub(super) fn scale(&self, gpu: usize) -> Scale {
        self.scales.get(gpu).copied().unwrap_or(Scale::to(1))
    }

    /// What a tier has of this time, over as good as all of so many cells: a picture that ends in the middle looks like an end.
    pub(super) fn course<S: Slot>(&self, tier: &Tier<S>, cells: u16) -> Course {
        let (column_ms, columns) = tier.columns(self.now_ms, self.minutes * 60_000, usize::from(cells));
        let (to_ms, span_ms) = ((self.now_ms / column_ms + 1) * column_ms, column_ms * columns.len() as u64);
        let (count, cells) = (columns.len().max(1), usize::from(cells));
        // Columns of one width do not shimmer as they scroll; a few cells are well lost for that.
        let even = cells / count * count;
        let cells = if even * 20 >= cells * 19 { even } else { cells };
        let drawn = (0..cells).filter_map(|cell| columns.get(cell * count / cells).copied()).collect();
        Course { cells: drawn, widest: cells.div_ceil(count), to_ms, span_ms, column_ms }
    }
}

/// A course of values: columns over cells. Where those are more, a column takes several.
#[derive(Clone, Debug)]
pub(super) struct Course {
    /// From the oldest to the newest.
    pub(super) cells: Vec<Column>,
    /// The most cells that one column takes.
    pub(super) widest: usize,
    /// Where the newest ends, on the sample's own clock.
    pub(super) to_ms: u64,
    /// The time of all of them.
    pub(super) span_ms: u64,
    /// The time of one column, which may be drawn as several cells.
    pub(super) column_ms: u64,
}

impl Course {
    /// The cell of a moment from the left, while it is in sight.
    pub(super) fn cell_of(&self, at_ms: u64) -> Option<u16> {
        let back = self.to_ms.saturating_sub(at_ms.saturating_add(1));
        let cells = self.cells.len() as u64;
        let from_right = back.saturating_mul(cells) / self.span_ms.max(1);
        u16::try_from(cells.checked_sub(from_right + 1)?).ok()
    }

    /// How many cells a span of time takes.
    pub(super) fn cells_of(&self, ms: u64) -> u16 {
        u16::try_from(ms.saturating_mul(self.cells.len() as u64) / self.span_ms.max(1)).unwrap_or(u16::MAX)
    }
}

/// Cards of like size share their scale, so that a row of a graph is as many GiB on one as on the other and their bases move together.
/// On one scale with a card of 140 GiB nothing of one of 16 could be read: a card or an instance of another size has its own.
fn scales(gpus: &[GpuRow], from_ms: Option<u64>, minutes: u64) -> Vec<Scale> {
    let unit = u32::try_from(Bytes::GIB / Bytes::KIB).unwrap_or(u32::MAX);
    let cards: Vec<(u32, Option<u32>)> =
        gpus.iter().map(|row| (kib_of(row), from_ms.map_or(Some(0), |from_ms| lowest(row, from_ms, minutes)))).collect();
    let scale = |(total, _): &(u32, Option<u32>)| {
        let top = like(*total, cards.iter().map(|(peer, _)| *peer));
        let peers = cards.iter().filter(|(peer, _)| like(*peer, cards.iter().map(|(peer, _)| *peer)) == top);
        let lowest = peers.filter_map(|(_, lowest)| *lowest).min();
        Scale { base: base(lowest.unwrap_or(0), top, unit), top }
    };
    cards.iter().map(scale).collect()
}

/// The largest of those that are no more than a twentieth larger: cards of 80 GB tell 79.6 or 80.0 GiB.
fn like(total: u32, all: impl Iterator<Item = u32>) -> u32 {
    all.filter(|other| *other >= total && *other - total <= total / 20).max().unwrap_or(total)
}

/// All of a device's memory: as it is now, or as it was when the device was opened; zero where it is not known.
pub(super) fn total_of(row: &GpuRow) -> Bytes {
    let now = row.memory.value().map(crate::model::DeviceMemory::total);
    now.or_else(|| row.facts.total.get()).unwrap_or(Bytes::ZERO)
}

fn kib_of(row: &GpuRow) -> u32 {
    u32::try_from(total_of(row).0 / Bytes::KIB).unwrap_or(u32::MAX)
}

fn tier(history: &GpuHistory, minutes: u64) -> &Tier<MemorySlot> {
    if minutes <= 15 { &history.seconds } else { &history.day }
}

fn lowest(row: &GpuRow, from_ms: u64, minutes: u64) -> Option<u32> {
    let shown = tier(&row.history, minutes).slots().rev().take_while(|(at, _)| *at >= from_ms);
    shown.filter_map(|(_, slot)| slot.range()).map(|(min, _)| min).min()
}

/// A round figure below the lowest value, once that is above half of the whole; else zero.
pub(super) fn base(lowest: u32, whole: u32, unit: u32) -> u32 {
    if lowest <= whole / 2 {
        return 0;
    }
    let wanted = (whole / unit.max(1)).div_ceil(8).max(1);
    let power = 10_u32.pow(wanted.ilog10());
    let step = [1, 2, 4, 5, 10].into_iter().map(|n| n * power).find(|step| *step >= wanted).unwrap_or(wanted);
    lowest / unit / step * step * unit
}

/// KiB as whole GiB, for the ends of an axis.
pub(super) fn axis_label(kib: u32) -> String {
    format!("{:.0}", GpuHistory::bytes(kib).as_gib())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_stands_in_its_cell() {
        // A minute in 6 columns of 10 s, drawn over 9 cells.
        let course = Course { cells: vec![None; 9], widest: 2, to_ms: 60_000, span_ms: 60_000, column_ms: 10_000 };
        assert_eq!([0, 6_665, 6_667, 59_999, 70_000].map(|at| course.cell_of(at)), [0, 0, 1, 8, 8].map(Some));
        let late = Course { to_ms: 90_000, ..course };
        assert_eq!([29_999, 30_000].map(|at| late.cell_of(at)), [None, Some(0)]);
        assert_eq!(late.cells_of(20_000), 3);
    }

    #[test]
    fn cards_of_like_size_share_their_top() {
        let cards = [8_144, 8_192, 2_456, 14_377];
        assert_eq!(cards.map(|total| like(total, cards.into_iter())), [8_192, 8_192, 2_456, 14_377]);
    }

    #[test]
    fn the_base_moves_to_a_round_figure() {
        // The screens of the design: 111 of 140, 65.9 of 79.6, 17 of 24; and an idle card.
        assert_eq!(base(111, 140, 1), 100);
        assert_eq!(base(65, 79, 1), 60);
        assert_eq!(base(17, 24, 1), 16);
        assert_eq!(base(60, 140, 1), 0);
        assert_eq!(base(7 << 20, 8 << 20, 1 << 20), 7 << 20);
    }
}
