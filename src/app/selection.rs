//! The row under the cursor. It follows (GPU, process) and never moves by itself.
//!
//! Whoever is selected stays so while a filter, a focus, a group or a moment of the past hides them: the cursor then stands on the
//! group that holds them, or nowhere. Keys are about what the cursor shows. A row that nobody chose gives its place to the next.

use super::picture::Picture;
use super::row::RowId;

/// Who is selected, and where the cursor stands now.
#[derive(Debug, Default)]
pub(super) struct Selection {
    wanted: Option<Wanted>,
    /// Whether somebody has chosen it.
    chosen: bool,
    cursor: Option<usize>,
    /// Where the cursor stood last: the row that takes this place is selected once nobody knows the wanted one any more.
    place: usize,
}

/// A row that somebody selected.
#[derive(Debug)]
struct Wanted {
    id: RowId,
    /// The process that stands for it where rows are grouped another way: itself, or the largest of a group.
    process: RowId,
}

impl Selection {
    /// Where the cursor stands, if it stands on a row.
    pub(super) const fn cursor(&self) -> Option<usize> {
        self.cursor
    }

    /// After the rows have changed: the same row, the group that holds it, or nowhere while it is hidden. One of which `newest`
    /// knows nothing any more gives its place to the next.
    pub(super) fn follow(&mut self, picture: &Picture, newest: &Picture) {
        let rows = picture.rows();
        let Some(Wanted { id, process }) = &self.wanted else { return self.settle(picture, self.place) };
        if let Some(at) = rows.iter().position(|row| row.id.is_same(id)) {
            return self.settle(picture, at);
        }
        let is_it = |row: &super::TableRow| row.id.is_same(process);
        let holds_it = |row: &super::TableRow| picture.group(row).is_some_and(|group| group.members.iter().any(is_it));
        // The last: in a tree the nearest above it.
        let stand_in = rows.iter().position(is_it).or_else(|| rows.iter().rposition(holds_it));
        if stand_in.is_none() && !(self.chosen && newest.find(process).is_some()) {
            self.chosen = false;
            return self.settle(picture, self.place);
        }
        self.place = stand_in.unwrap_or(self.place);
        self.cursor = stand_in;
    }

    /// The row of that process on that GPU, if it is here.
    pub(super) fn find(&mut self, picture: &Picture, id: &RowId) {
        if let Some(at) = picture.rows().iter().position(|row| row.id.is_same(id)) {
            self.select(picture, at);
        }
    }

    /// So many rows down, or up where it is negative; it stops at the ends. From nowhere the way begins above the first row.
    pub(super) fn step(&mut self, picture: &Picture, by: isize) {
        let to = match self.cursor {
            Some(at) => at.saturating_add_signed(by),
            None => usize::try_from(by).unwrap_or(0).saturating_sub(1),
        };
        if self.cursor != Some(to.min(picture.rows().len().saturating_sub(1))) {
            self.select(picture, to);
        }
    }

    /// Where nobody has chosen a row, the first one is it: what is new at the top is in sight.
    pub(super) fn begin(&mut self) {
        if !self.chosen {
            (self.wanted, self.place) = (None, 0);
        }
    }

    /// The row at that place.
    pub(super) fn select(&mut self, picture: &Picture, at: usize) {
        self.chosen = true;
        self.settle(picture, at);
    }

    fn settle(&mut self, picture: &Picture, at: usize) {
        let rows = picture.rows();
        self.place = at.min(rows.len().saturating_sub(1));
        let row = rows.get(self.place);
        self.cursor = row.map(|_| self.place);
        if let Some(row) = row {
            let largest = picture.group(row).and_then(|group| group.members.first()).unwrap_or(row);
            self.wanted = Some(Wanted { id: row.id.clone(), process: largest.id.clone() });
        }
    }
}
