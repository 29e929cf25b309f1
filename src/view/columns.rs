//! Which columns the table has in so many cells: what is given up first is written here and nowhere else.

use crate::app::{Column, Columns, Wish};

/// What the rows have: widths come from the data and not from a constant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Needs {
    pub(super) gpus: usize,
    pub(super) gpu: u16,
    pub(super) pid: u16,
    pub(super) user: u16,
    pub(super) has_jobs: bool,
}

/// A column and its place from the left edge of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) column: Column,
    pub(super) x: u16,
    pub(super) width: u16,
}

/// Cells of the cursor, the letter and a gap before the first column.
pub(super) const fn mark_width(width: u16) -> u16 {
    if width < 60 { 3 } else { 4 }
}

/// In the order in which they are given up. Free, VRAM, user and trend never are, nor is what is always wanted.
const GIVEN_UP: [Column; 9] =
    [Column::Job, Column::Kind, Column::Rss, Column::Cpu, Column::Time, Column::Sm, Column::Peak, Column::History, Column::Pid];

/// The columns for a table of that width, from left to right.
pub(super) fn columns(width: u16, needs: &Needs, wished: &Columns) -> Vec<Placed> {
    use Column::{Gpu, History, Job, Kind, What};
    let roomy = width >= 150;
    let by_itself = |column: Column| match column {
        Gpu => needs.gpus > 1,
        Kind => roomy,
        Job => roomy && needs.has_jobs,
        History => width >= 60,
        _ => true,
    };
    let mut chosen: Vec<Column> = Column::ALL
        .into_iter()
        .filter(|column| match wished.wish(*column) {
            Wish::Room => by_itself(*column),
            Wish::Always => true,
            Wish::Never => false,
        })
        .collect();
    let gap = if width < 60 { 1 } else { 2 };
    let what = if width < 60 { 12 } else { 18 };
    let taken =
        |columns: &[Column]| mark_width(width) + columns.iter().filter(|c| **c != What).map(|c| width_of(*c, width, needs) + gap).sum::<u16>();
    for column in GIVEN_UP {
        if taken(&chosen) + what <= width {
            break;
        }
        chosen.retain(|kept| *kept != column || wished.wish(*kept) == Wish::Always);
    }
    let mut x = mark_width(width);
    let mut placed = Vec::with_capacity(chosen.len());
    for column in chosen {
        let cells = if column == What { width.saturating_sub(x) } else { width_of(column, width, needs) };
        placed.push(Placed { column, x, width: cells });
        x = x.saturating_add(cells + gap);
    }
    placed.retain(|column| column.x.saturating_add(column.width) <= width && column.width > 0);
    placed
}

fn width_of(column: Column, width: u16, needs: &Needs) -> u16 {
    let (narrow, wide, roomy) = (width < 60, width >= 100, width >= 150);
    match column {
        Column::Gpu => needs.gpu.max(if narrow { 1 } else { 3 }),
        Column::Pid => needs.pid.max(5),
        Column::User => needs.user.clamp(4, if roomy { 16 } else { 10 }),
        Column::Kind | Column::Sm => 3,
        Column::Vram => {
            if narrow {
                5
            } else {
                6
            }
        }
        Column::Peak | Column::Rss => 6,
        Column::Trend => {
            if narrow {
                7
            } else if wide {
                15
            } else {
                11
            }
        }
        Column::History => {
            if roomy {
                20
            } else if wide {
                15
            } else {
                8
            }
        }
        Column::Cpu => 4,
        Column::Time => 5,
        Column::Job => 18,
        Column::What => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NEEDS: Needs = Needs { gpus: 2, gpu: 1, pid: 6, user: 5, has_jobs: true };

    fn shown(width: u16, needs: &Needs) -> Vec<Column> {
        columns(width, needs, &Columns::default()).into_iter().map(|placed| placed.column).collect()
    }

    #[test]
    fn columns_go_in_their_order() {
        let mut gone: Vec<Column> = Vec::new();
        for width in (20..=200).rev() {
            for column in GIVEN_UP {
                if !shown(width, &NEEDS).contains(&column) && !gone.contains(&column) {
                    gone.push(column);
                }
            }
        }
        assert_eq!(gone, GIVEN_UP);
    }

    #[test]
    fn eighty_columns_have_what_the_design_shows() {
        use Column::{History, Peak, Pid, Sm, Trend, User, Vram, What};
        let needs = Needs { gpus: 1, user: 4, pid: 5, ..NEEDS };
        assert_eq!(shown(80, &needs), [Pid, User, Vram, Peak, Trend, History, Sm, What]);
    }

    #[test]
    fn wishes_are_granted() {
        let wished = Columns::from_text("type = \"always\"\nrss = \"always\"\nuser = \"never\"\n");
        let at = |width| columns(width, &NEEDS, &wished).into_iter().map(|placed| placed.column).collect::<Vec<_>>();
        for width in [80, 120, 200] {
            assert!(at(width).contains(&Column::Kind) && at(width).contains(&Column::Rss) && !at(width).contains(&Column::User), "{width}");
        }
        // All of them at once are more than 40 cells have: what does not fit is left out, whole.
        let all: Vec<String> = Column::ALL.iter().map(|column| format!("{} = \"always\"\n", column.name())).collect();
        let placed = columns(40, &NEEDS, &Columns::from_text(&all.concat()));
        assert!(placed.iter().all(|placed| placed.x + placed.width <= 40));
    }

    proptest! {
        #[test]
        fn they_never_overlap_and_the_main_ones_stay(width in 28..300_u16, gpus in 1..17_usize, gpu in 1..5_u16, pid in 1..8_u16, user in 0..33_u16) {
            let needs = Needs { gpus, gpu, pid, user, has_jobs: true };
            let placed = columns(width, &needs, &Columns::default());
            for pair in placed.windows(2) {
                prop_assert!(pair[0].x + pair[0].width < pair[1].x);
            }
            for column in [Column::User, Column::Vram] {
                prop_assert!(placed.iter().any(|placed| placed.column == column));
            }
        }
    }
}
