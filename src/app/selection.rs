//! The row under the cursor. It follows (GPU, process) and never moves by itself.

use super::picture::{RowId, TableRow};

/// Who is selected, and where that row stands now.
#[derive(Debug, Default)]
pub(super) struct Selection {
    id: Option<RowId>,
    at: usize,
}

impl Selection {
    /// Where the selected row stands.
    pub(super) const fn position(&self) -> usize {
        self.at
    }

    /// After the rows have changed: the same row, or the one that is now in its place.
    pub(super) fn follow(&mut self, rows: &[TableRow]) {
        let found = self.id.as_ref().and_then(|id| rows.iter().position(|row| row.id.is_same(id)));
        self.select(rows, found.unwrap_or(self.at));
    }

    /// The row of that process on that GPU, if it is here.
    pub(super) fn find(&mut self, rows: &[TableRow], id: &RowId) {
        if let Some(at) = rows.iter().position(|row| row.id.is_same(id)) {
            self.select(rows, at);
        }
    }

    /// So many rows down, or up where it is negative; it stops at the ends.
    pub(super) fn step(&mut self, rows: &[TableRow], by: isize) {
        self.select(rows, self.at.saturating_add_signed(by));
    }

    /// The row at that place.
    pub(super) fn select(&mut self, rows: &[TableRow], at: usize) {
        self.at = at.min(rows.len().saturating_sub(1));
        if let Some(row) = rows.get(self.at) {
            self.id = Some(row.id.clone());
        }
    }
}
