//! What somebody wants to see of the rows: which, in what order, and which of them as one.

use std::collections::BTreeSet;

use super::filter::{Filter, Subject};
use super::groups::{GroupId, Grouping};
use super::row::{Holder, TableRow};
use super::sort::Sort;
use crate::model::GpuId;
use crate::monitor::Monitor;

/// The choices that the table is made by.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// What was typed as a filter.
    pub(super) typed: String,
    pub(super) filter: Filter,
    pub(super) sort: Sort,
    pub(super) mine: bool,
    pub(super) grouping: Grouping,
    pub(super) tree: bool,
    pub(super) focus: Option<GpuId>,
    /// Groups that somebody has opened, and ancestors that somebody has folded.
    pub(super) turned: BTreeSet<GroupId>,
}

impl Listing {
    /// What was typed as a filter.
    pub fn typed(&self) -> &str {
        &self.typed
    }

    /// The order.
    pub const fn sort(&self) -> Sort {
        self.sort
    }

    /// What makes one row of many.
    pub const fn grouping(&self) -> Grouping {
        self.grouping
    }

    /// Whether only the processes of the user who runs vramtop are shown.
    pub const fn is_mine(&self) -> bool {
        self.mine
    }

    /// The one GPU that is looked at.
    pub const fn focus(&self) -> Option<&GpuId> {
        self.focus.as_ref()
    }

    /// Whether rows are left out by what was typed, or because they are not mine.
    pub fn leaves_out(&self) -> bool {
        self.mine || !self.filter.is_empty()
    }

    pub(super) fn set_filter(&mut self, typed: String) {
        self.filter = Filter::parse(&typed);
        self.typed = typed;
    }

    /// Positions of the GPUs that are looked at: all, or the one in focus with its instances. One that is gone is not waited for.
    pub(super) fn gpus(&self, monitor: &Monitor) -> Vec<usize> {
        let all = || (0..monitor.gpus().len()).collect();
        let Some(focus) = &self.focus else { return all() };
        let of_focus = |(at, row): (usize, &crate::monitor::GpuRow)| {
            let facts = &row.facts;
            (facts.id == *focus || facts.parent.as_ref() == Some(focus)).then_some(at)
        };
        let seen: Vec<usize> = monitor.gpus().iter().enumerate().filter_map(of_focus).collect();
        if seen.is_empty() { all() } else { seen }
    }

    /// Whether a row is neither filtered out nor somebody else's.
    pub(super) fn keeps(&self, row: &TableRow, monitor: &Monitor) -> bool {
        let process = match row.holder {
            Holder::Ended { at } => monitor.ended().get(at).map(|ended| &*ended.row.facts),
            holder => holder.process().and_then(|at| monitor.processes().get(at)).map(|row| &*row.facts),
        };
        if self.mine && !process.is_some_and(|facts| facts.mine) {
            return false;
        }
        let name = match row.holder {
            Holder::Nobody => "no owner",
            Holder::Untracked { .. } => "others",
            Holder::Ended { .. } => "ended",
            Holder::Process { .. } | Holder::Group { .. } => "",
        };
        let gpu = monitor.gpus().get(row.gpu).map_or("", |gpu| &gpu.label);
        self.filter.is_empty() || self.filter.matches(&Subject { gpu, process, name })
    }
}
