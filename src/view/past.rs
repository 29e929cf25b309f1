//! How far back the pictures reach, and on which scale: one for the whole screen, so that they can be compared.

use super::graph::Scale;
use crate::history::{Column, GpuHistory, Slot, Tier};
use crate::model::Bytes;
use crate::monitor::{GpuRow, Monitor};

/// The spans that pictures have: the shortest that holds everything, at most the last one.
const SPANS_MIN: [u64; 3] = [2, 5, 15];

/// The time that all histories of one frame cover, and the scale of each device.
#[derive(Clone, Debug)]
pub(super) struct Past {
    /// The last moment of the last step, on the sample's own clock.
    pub(super) now_ms: u64,
    /// Length in minutes.
    pub(super) minutes: u64,
    scales: Vec<Scale>,
}

impl Past {
    /// What is covered: as long as there is a past, and 15 minutes at most.
    pub(super) fn of(monitor: &Monitor) -> Self {
        let now_ms = monitor.now().map_or(0, |(_, now)| now.saturating_sub(1));
        let firsts = monitor.gpus().iter().filter_map(|row| row.history.seconds.slots().next());
        let age_ms = firsts.map(|(at, _)| now_ms.saturating_sub(at)).max().unwrap_or(0);
        let minutes = SPANS_MIN.into_iter().find(|minutes| age_ms <= minutes * 60_000).unwrap_or(SPANS_MIN[SPANS_MIN.len() - 1]);
        let from_ms = now_ms.saturating_sub(minutes * 60_000);
        Self { now_ms, minutes, scales: scales(monitor.gpus(), from_ms) }
    }

    /// The scale of one device's memory in KiB.
    pub(super) fn scale(&self, gpu: usize) -> Scale {
        self.scales.get(gpu).copied().unwrap_or(Scale::to(1))
    }

    /// The columns of a tier in at most so many cells, and the time of one column. A coarse tier has wide columns.
    pub(super) fn columns<S: Slot>(&self, tier: &Tier<S>, cells: u16) -> (u64, Vec<Column>) {
        let (column_ms, columns) = tier.columns(self.now_ms, self.minutes * 60_000, usize::from(cells));
        let times = usize::from(cells) / columns.len().max(1);
        if times < 2 {
            return (column_ms, columns);
        }
        let wide = columns.into_iter().flat_map(|column| std::iter::repeat_n(column, times)).collect();
        (column_ms / times as u64, wide)
    }
}

/// Devices of one size share their scale, so that their bases move together.
fn scales(gpus: &[GpuRow], from_ms: u64) -> Vec<Scale> {
    let unit = u32::try_from(Bytes::GIB / Bytes::KIB).unwrap_or(u32::MAX);
    let cards: Vec<(u32, Option<u32>)> = gpus.iter().map(|row| (kib_of(row), lowest(row, from_ms))).collect();
    let scale = |(total, _): &(u32, Option<u32>)| {
        let lowest = cards.iter().filter(|(peer, _)| peer == total).filter_map(|(_, lowest)| *lowest).min();
        Scale { base: base(lowest.unwrap_or(0), *total, unit), top: *total }
    };
    cards.iter().map(scale).collect()
}

/// All of a device's memory: as it is now, or as it was when the device was opened; zero where it is not known.
pub(super) fn total_of(row: &GpuRow) -> Bytes {
    let now = row.memory.value().map(crate::model::DeviceMemory::total);
    now.or_else(|| row.facts.total.get()).unwrap_or(Bytes::ZERO)
}

fn kib_of(row: &GpuRow) -> u32 {
    u32::try_from(total_of(row).0 / Bytes::KIB).unwrap_or(u32::MAX)
}

fn lowest(row: &GpuRow, from_ms: u64) -> Option<u32> {
    let shown = row.history.seconds.slots().rev().take_while(|(at, _)| *at >= from_ms);
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
    fn the_base_moves_to_a_round_figure() {
        // The screens of the design: 111 of 140, 65.9 of 79.6, 17 of 24; and an idle card.
        assert_eq!(base(111, 140, 1), 100);
        assert_eq!(base(65, 79, 1), 60);
        assert_eq!(base(17, 24, 1), 16);
        assert_eq!(base(60, 140, 1), 0);
        assert_eq!(base(7 << 20, 8 << 20, 1 << 20), 7 << 20);
    }
}
