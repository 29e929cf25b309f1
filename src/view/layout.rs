//! Where everything stands: pure arithmetic from a size and a shape, so that any size can be tested without drawing.
//!
//! What gets how many rows is decided in [`super::plan`]; here they are given their places.

use ratatui::layout::Rect;

use super::plan::{Plan, Shape, Telemetry, WIDE, Way, block_height};

/// A few devices, each with its bar and history.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    /// All of them.
    pub(super) area: Rect,
    /// Rows of each history, without the time axis.
    pub(super) history: u16,
    /// Where the telemetry stands.
    pub(super) telemetry: Telemetry,
}

/// The parts of one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// The line of figures.
    pub(super) line: Rect,
    /// The bar.
    pub(super) bar: Rect,
    /// The history with its time axis; without height where it is given up.
    pub(super) history: Rect,
    /// The telemetry; without height where it is given up.
    pub(super) telemetry: Rect,
}

impl Blocks {
    /// Cells of the telemetry column, and of the gap before it.
    const BESIDE: (u16, u16) = (31, 4);

    /// The parts of the block of that device.
    pub(super) fn block(&self, gpu: usize) -> Block {
        let height = block_height(self.history, self.telemetry);
        let offset = u16::try_from(gpu).unwrap_or(u16::MAX).saturating_mul(height + 1);
        let mut stack = Stack::new(Rect { y: self.area.y.saturating_add(offset), height, ..self.area }.intersection(self.area));
        let (line, bar) = (stack.take(1), stack.take(1));
        let mut history = stack.take(if self.history > 0 { self.history + 1 } else { 0 });
        let telemetry = match self.telemetry {
            Telemetry::Beside => {
                let (width, gap) = Self::BESIDE;
                history.width = history.width.saturating_sub(width + gap);
                Rect { x: history.right() + gap, width, ..history }.intersection(self.area)
            }
            Telemetry::Below => stack.take(1),
            Telemetry::Nowhere => Rect::ZERO,
        };
        Block { line, bar, history, telemetry }
    }
}

/// Many devices, one below the other in columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    /// The names of the columns, where there is room for them.
    pub(super) head: Option<Rect>,
    /// The rows.
    pub(super) area: Rect,
    /// Lines of one row: the second has what there is to say, and the lower half of the history.
    pub(super) lines: u16,
    /// The first device that is shown.
    pub(super) first: usize,
    /// How many are shown.
    pub(super) count: usize,
    /// Where the rest is counted.
    pub(super) more: Option<Rect>,
}

impl List {
    /// The row of the n-th shown device.
    pub(super) fn row(&self, n: usize) -> Rect {
        let offset = u16::try_from(n).unwrap_or(u16::MAX).saturating_mul(self.lines);
        Rect { y: self.area.y.saturating_add(offset), height: self.lines, ..self.area }.intersection(self.area)
    }
}

/// How the devices are shown.
#[derive(Clone, Copy, Debug)]
pub(super) enum Gpus {
    /// Each with its history.
    Blocks(Blocks),
    /// One row each.
    List(List),
}

/// All regions of the dashboard. Those that are given up are `None`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Regions {
    /// Line 1.
    pub(super) header: Rect,
    /// Line 2; on a small screen the sentence stands in line 1.
    pub(super) notice: Option<Rect>,
    /// The devices.
    pub(super) gpus: Gpus,
    /// Who holds how much, over all devices.
    pub(super) held: Option<Rect>,
    /// The ranks of a job beside each other.
    pub(super) ranks: Option<Rect>,
    /// The table with its head; its first columns are the cursor's, so it begins at the screen's edge.
    pub(super) table: Rect,
    /// The selected row in full, and its history where there is room.
    pub(super) selected: Option<Rect>,
    /// The keys.
    pub(super) keys: Option<Rect>,
}

/// Below this size there is no room for blank lines and captions.
const SMALL: (u16, u16) = (60, 14);
/// Divides `area`.
pub(super) fn regions(area: Rect, shape: &Shape) -> Regions {
    if area.width < SMALL.0 || area.height < SMALL.1 {
        return small(area, shape);
    }
    let gpus = u16::try_from(shape.gpus).unwrap_or(u16::MAX);
    match Plan::of(area.width, area.height, shape) {
        Some(plan) => divide(area, shape, &plan, gpus),
        None => capped(area, shape),
    }
}

fn divide(area: Rect, shape: &Shape, plan: &Plan, gpus: u16) -> Regions {
    let inner = with_margin(area);
    let mut stack = Stack::new(inner);
    let header = stack.take(1);
    let notice = Some(stack.take(1));
    stack.take(1);
    let gpus_area = stack.take(plan.gpus_height(gpus));
    let gpus = match plan.gpus {
        Way::Blocks { history, telemetry } => Gpus::Blocks(Blocks { area: gpus_area, history, telemetry }),
        Way::List { lines } => {
            let mut inside = Stack::new(gpus_area);
            let head = Some(inside.take(1));
            Gpus::List(List { head, area: inside.take(gpus * lines), lines, first: 0, count: shape.gpus, more: None })
        }
    };
    let held = plan.held.then(|| stack.take(1));
    let ranks = plan.ranks.then(|| stack.take(1));
    let keys = Some(stack.take_last(1));
    stack.take_last(1);
    let selected = (plan.selected > 0).then(|| {
        let lines = stack.take_last(plan.selected);
        stack.take_last(1);
        lines
    });
    let table = full_width(stack.rest(), area);
    Regions { header, notice, gpus, held, ranks, table, selected, keys }
}

/// More devices than the height has rows: as many as leave some of the table, and a line that counts the others.
fn capped(area: Rect, shape: &Shape) -> Regions {
    let mut stack = Stack::new(with_margin(area));
    let header = stack.take(1);
    let notice = Some(stack.take(1));
    stack.take(1);
    let keys = Some(stack.take_last(1));
    let head = Some(stack.take(1));
    let table_rows = u16::try_from(shape.rows).unwrap_or(u16::MAX).clamp(1, 4) + 1;
    let gpus = list(&mut stack, shape, head, table_rows + 1);
    stack.take(1);
    Regions { header, notice, gpus, held: None, ranks: None, table: full_width(stack.rest(), area), selected: None, keys }
}

/// No blank lines, no captions: one line for what is wrong, then the devices, then the table.
fn small(area: Rect, shape: &Shape) -> Regions {
    let mut stack = Stack::new(area);
    let header = stack.take(1);
    let keys = (area.height >= 6).then(|| stack.take_last(1));
    let table_rows = u16::try_from(shape.rows).unwrap_or(u16::MAX).clamp(1, 3) + 1;
    let gpus = list(&mut stack, shape, None, table_rows);
    // A head without a row below it is no table.
    let rest = stack.rest();
    let table = if rest.height >= 2 { rest } else { Rect { height: 0, ..rest } };
    Regions { header, notice: None, gpus, held: None, ranks: None, table, selected: None, keys }
}

/// A list of one-line rows that leaves `below` lines to others if it can, and shows one device in any case.
fn list(stack: &mut Stack, shape: &Shape, head: Option<Rect>, below: u16) -> Gpus {
    let gpus = u16::try_from(shape.gpus).unwrap_or(u16::MAX);
    let height = stack.rest().height;
    let lines = gpus.min(height.saturating_sub(below).max(1));
    let cut = lines < gpus;
    let count = if cut && lines >= 2 { lines - 1 } else { lines };
    let area = stack.take(count);
    let more = (count < lines).then(|| stack.take(1));
    let count = usize::from(area.height);
    let first = shape.focus.saturating_sub(count / 2).min(shape.gpus.saturating_sub(count));
    Gpus::List(List { head, area, lines: 1, first, count, more })
}

fn with_margin(area: Rect) -> Rect {
    if area.width < WIDE {
        return area;
    }
    Rect { x: area.x + 1, width: area.width - 2, ..area }
}

fn full_width(rows: Rect, area: Rect) -> Rect {
    Rect { x: area.x, width: area.width - u16::from(area.width >= WIDE), ..rows }
}

/// Rows that are taken from the top and from the bottom until none are left.
struct Stack {
    left: Rect,
}

impl Stack {
    const fn new(area: Rect) -> Self {
        Self { left: area }
    }

    fn take(&mut self, height: u16) -> Rect {
        let height = height.min(self.left.height);
        let taken = Rect { height, ..self.left };
        self.left.y += height;
        self.left.height -= height;
        taken
    }

    fn take_last(&mut self, height: u16) -> Rect {
        let height = height.min(self.left.height);
        self.left.height -= height;
        Rect { y: self.left.bottom(), height, ..self.left }
    }

    const fn rest(&self) -> Rect {
        self.left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(regions: &Regions, gpus: usize) -> Vec<Rect> {
        let mut all = vec![regions.header, regions.table];
        all.extend([regions.notice, regions.held, regions.ranks, regions.selected, regions.keys].into_iter().flatten());
        match regions.gpus {
            Gpus::Blocks(blocks) => {
                for gpu in 0..gpus {
                    let block = blocks.block(gpu);
                    all.extend([block.line, block.bar, block.history, block.telemetry]);
                }
            }
            Gpus::List(list) => {
                all.extend([list.head, list.more].into_iter().flatten());
                all.extend((0..list.count).map(|n| list.row(n)));
            }
        }
        all.retain(|rect| !rect.is_empty());
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn nothing_overlaps_or_leaves_the_screen(width in 1..=300_u16, height in 1..=100_u16, gpus in 0..=16_usize, rows in 0..=2048_usize, focus in 0..16_usize, ranks in any::<bool>()) {
            let area = Rect::new(0, 0, width, height);
            let all = all(&regions(area, &Shape { gpus, focus: focus.min(gpus.saturating_sub(1)), rows, ranks }), gpus);
            for (at, rect) in all.iter().enumerate() {
                prop_assert_eq!(rect.intersection(area), *rect);
                for other in &all[..at] {
                    prop_assert!(!rect.intersects(*other), "{:?} {:?}", rect, other);
                }
            }
        }

        #[test]
        fn every_device_or_the_focused_one_is_in_sight(width in 1..=300_u16, height in 3..=100_u16, gpus in 1..=16_usize, focus in 0..16_usize) {
            let focus = focus.min(gpus - 1);
            match regions(Rect::new(0, 0, width, height), &Shape { gpus, focus, rows: 40, ranks: true }).gpus {
                Gpus::Blocks(blocks) => prop_assert!((0..gpus).all(|gpu| !blocks.block(gpu).bar.is_empty())),
                Gpus::List(list) => {
                    prop_assert!(list.count > 0 && (list.first..list.first + list.count).contains(&focus));
                    prop_assert!((0..list.count).all(|n| !list.row(n).is_empty()));
                }
            }
        }
    }

    fn shown(width: u16, height: u16, gpus: usize, rows: usize) -> (Option<u16>, Option<Telemetry>, bool, u16) {
        let regions = regions(Rect::new(0, 0, width, height), &Shape { gpus, focus: 0, rows, ranks: false });
        let (history, telemetry) = match regions.gpus {
            Gpus::Blocks(blocks) => (Some(blocks.history), Some(blocks.telemetry)),
            Gpus::List(_) => (None, None),
        };
        (history, telemetry, regions.selected.is_some(), regions.table.height.saturating_sub(1))
    }

    #[test]
    fn things_are_given_up_in_their_order() {
        assert_eq!(shown(80, 24, 1, 5), (Some(5), Some(Telemetry::Below), true, 5));
        assert_eq!(shown(80, 23, 1, 5), (Some(5), Some(Telemetry::Nowhere), true, 5));
        assert_eq!(shown(80, 22, 1, 5), (Some(4), Some(Telemetry::Nowhere), true, 5));
        assert_eq!(shown(80, 21, 1, 5), (Some(3), Some(Telemetry::Nowhere), true, 5));
        assert_eq!(shown(80, 20, 1, 5), (Some(0), Some(Telemetry::Nowhere), true, 8));
        assert_eq!(shown(80, 16, 1, 5), (Some(0), Some(Telemetry::Nowhere), false, 7));
    }

    #[test]
    fn the_screens_that_are_drawn_in_the_design() {
        assert_eq!(shown(120, 36, 2, 8), (Some(5), Some(Telemetry::Beside), true, 8));
        assert_eq!(shown(200, 50, 8, 12).0, None);
        assert_eq!(shown(120, 60, 2, 8).0, Some(12));
    }
}
