//! What gets how many rows: what is given up first when height is short, and what grows first when there is more.
//!
//! That order is written here and nowhere else. Places on the screen are no matter of it.

/// What there is to show.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    /// Devices.
    pub(super) gpus: usize,
    /// The device of the selected row, which is kept in sight.
    pub(super) focus: usize,
    /// Rows of the table.
    pub(super) rows: usize,
    /// Whether several ranks of one job are here.
    pub(super) ranks: bool,
}

/// Where the telemetry of a block stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telemetry {
    /// In a column beside the history.
    Beside,
    /// In a line below the history.
    Below,
    /// It is given up.
    Nowhere,
}

/// From this width on there is a margin, and a column for telemetry.
pub(super) const WIDE: u16 = 100;

/// One way to divide the height.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// How the devices are shown.
    pub(super) gpus: Way,
    /// Whether there is the ledger in one line.
    pub(super) held: bool,
    /// Whether there are the ranks of a job.
    pub(super) ranks: bool,
    /// Rows of the selected row in full; 0 where it is given up.
    pub(super) selected: u16,
    /// Rows of the table that must be seen.
    rows: u16,
}

/// How the devices are shown.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// Each with its bar, and a history of so many rows.
    Blocks {
        /// Rows of a history, without its time axis; 0 where it is given up.
        history: u16,
        /// Where the telemetry stands.
        telemetry: Telemetry,
    },
    /// A row each.
    List {
        /// Lines of a row.
        lines: u16,
    },
}

/// Rows of one device's block, without the blank one below it.
pub(super) fn block_height(history: u16, telemetry: Telemetry) -> u16 {
    2 + if history > 0 { history + 1 } else { 0 } + u16::from(telemetry == Telemetry::Below)
}

impl Plan {
    /// Header, notice and a blank line; a blank line and the keys.
    const FRAME: u16 = 5;
    const HISTORY_MOST: u16 = 12;
    /// Head lines of the selected row, and what its history takes at least and at most.
    const SELECTED: u16 = 2;
    const GRAPH: (u16, u16) = (5, 13);

    /// The best way for a screen of that size; `None` where the devices alone are more than it holds.
    pub(super) fn of(width: u16, height: u16, shape: &Shape) -> Option<Self> {
        let (gpus, rows) = (u16::try_from(shape.gpus).unwrap_or(u16::MAX), u16::try_from(shape.rows).unwrap_or(u16::MAX));
        let mut plan = plans(width, shape.gpus, rows).find(|plan| plan.height(gpus) <= height)?;
        let spare = height - plan.height(gpus);
        plan.grow(gpus, rows, shape.ranks, spare);
        Some(plan)
    }

    /// Rows of all devices, with the blank ones below them.
    pub(super) fn gpus_height(&self, gpus: u16) -> u16 {
        match self.gpus {
            Way::Blocks { history, telemetry } => gpus.saturating_mul(block_height(history, telemetry) + 1),
            Way::List { lines } => gpus.saturating_mul(lines).saturating_add(2),
        }
    }

    fn height(&self, gpus: u16) -> u16 {
        let selected = if self.selected > 0 { self.selected + 1 } else { 0 };
        let rest = Self::FRAME + u16::from(self.held) + u16::from(self.ranks) + 1 + self.rows + selected;
        self.gpus_height(gpus).saturating_add(rest)
    }

    /// What is over goes to the table, then to the ranks, then to the histories, then to the history of the selected row.
    fn grow(&mut self, gpus: u16, rows: u16, ranks: bool, mut spare: u16) {
        let more = spare.min(rows.saturating_sub(self.rows));
        self.rows += more;
        spare -= more;
        self.ranks = ranks && spare > 0;
        spare -= u16::from(self.ranks);
        if let Way::Blocks { history: history @ 1.., .. } = &mut self.gpus {
            let taller = (spare / gpus.max(1)).min(Self::HISTORY_MOST.saturating_sub(*history));
            *history += taller;
            spare -= taller * gpus;
        }
        if self.selected > 0 && spare >= Self::GRAPH.0 {
            self.selected += spare.min(Self::GRAPH.1);
        }
    }
}

/// All ways to divide the height, the costliest first: telemetry goes, then the history, then the selected row.
fn plans(width: u16, gpus: usize, rows: u16) -> impl Iterator<Item = Plan> {
    let wide = width >= WIDE;
    let few = rows.clamp(1, 5);
    let held = gpus > 1;
    let below = if wide { Telemetry::Beside } else { Telemetry::Below };
    let beside = if wide { Telemetry::Beside } else { Telemetry::Nowhere };
    let blocks = move |history, telemetry, selected| Plan { gpus: Way::Blocks { history, telemetry }, held, ranks: false, selected, rows: few };
    let list = move |lines, selected, rows| Plan { gpus: Way::List { lines }, held, ranks: false, selected, rows };
    // A history in a list's column says more than a block without one.
    let bare = gpus <= 1 || !wide;
    let one = gpus > 1;
    [
        Some(blocks(5, below, Plan::SELECTED)),
        Some(blocks(5, beside, Plan::SELECTED)),
        Some(blocks(3, beside, Plan::SELECTED)),
        bare.then(|| blocks(0, Telemetry::Nowhere, Plan::SELECTED)),
        bare.then(|| blocks(0, Telemetry::Nowhere, 0)),
        (one && wide).then(|| list(2, Plan::SELECTED, rows.clamp(1, 8))),
        one.then(|| list(1, Plan::SELECTED, few)),
        one.then(|| list(1, 0, few)),
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What there is, the most precious first: blocks or a list, rows of a history, telemetry, the selected row.
    fn wealth(width: u16, height: u16, shape: &Shape) -> [u16; 4] {
        let Some(plan) = Plan::of(width, height, shape) else { return [0; 4] };
        let selected = u16::from(plan.selected > 0);
        match plan.gpus {
            Way::Blocks { history, telemetry } => [1, history, u16::from(telemetry != Telemetry::Nowhere), selected],
            Way::List { lines } => [0, lines, 0, selected],
        }
    }

    #[test]
    fn a_lower_screen_is_never_richer() {
        let shapes = (0..=16).flat_map(|gpus| [0, 5, 40].map(|rows| Shape { gpus, focus: 0, rows, ranks: false }));
        for (shape, width) in shapes.flat_map(|shape| [60, 99, 100, 300].map(|width| (shape, width))) {
            for height in 14..100 {
                let (low, high) = (wealth(width, height, &shape), wealth(width, height + 1, &shape));
                assert!(low <= high, "{low:?} then {high:?} for {shape:?} on {width}x{height}");
            }
        }
    }
}
