//! The processes that somebody tagged: a signal or a copy is then about all of them, and not about the row under the cursor.
//!
//! Kept by GPU, PID and start, so that a number that passes to another process takes no tag along; lost when the process ends.

use super::held::shown;
use super::picture::Picture;
use super::row::{RowId, TableRow};
use super::{App, Effect};

/// Who is tagged.
#[derive(Clone, Debug, Default)]
pub struct Tagged(Vec<RowId>);

impl Tagged {
    /// Whether a row is tagged; one that stands for a group, whether all of its members are.
    pub fn has(&self, picture: &Picture, row: &TableRow) -> bool {
        let mut of_row = processes(picture, row).peekable();
        of_row.peek().is_some() && of_row.all(|row| self.place(&row.id).is_some())
    }

    /// How many rows are tagged.
    pub const fn count(&self) -> usize {
        self.0.len()
    }

    /// Those of the rows that are tagged.
    pub(super) fn of<'a>(&self, rows: &'a [TableRow]) -> Vec<&'a TableRow> {
        rows.iter().filter(|row| self.place(&row.id).is_some()).collect()
    }

    fn place(&self, id: &RowId) -> Option<usize> {
        self.0.iter().position(|tagged| tagged.is_same(id))
    }

    /// Tags a row, or takes its tag away. A group is tagged whole.
    fn turn(&mut self, picture: &Picture, row: &TableRow) {
        let tagged = self.has(picture, row);
        for row in processes(picture, row) {
            match self.place(&row.id) {
                Some(at) if tagged => drop(self.0.swap_remove(at)),
                None if !tagged => self.0.push(row.id.clone()),
                Some(_) | None => {}
            }
        }
    }

    /// What has ended is tagged no longer.
    pub(super) fn keep(&mut self, listed: &[TableRow]) {
        self.0.retain(|tagged| listed.iter().any(|row| row.id.is_same(tagged)));
    }
}

/// The processes that a row stands for.
fn processes<'a>(picture: &'a Picture, row: &'a TableRow) -> impl Iterator<Item = &'a TableRow> {
    picture.members(row).iter().filter(|row| row.holder.process().is_some())
}

impl App {
    /// Who is tagged.
    pub const fn tagged(&self) -> &Tagged {
        &self.tagged
    }

    /// Turns the tag of the selected row and goes on to the next, so that several are tagged by one key.
    pub(super) fn tag(&mut self) {
        let picture = shown(self.held.as_deref(), &self.live);
        let Some(row) = self.selection.cursor().and_then(|at| picture.rows().get(at)) else { return };
        self.tagged.turn(picture, row);
        self.step(1);
    }

    /// Nobody is tagged.
    pub(super) fn untag(&mut self) -> Effect {
        if self.tagged.count() == 0 {
            return Effect::None;
        }
        self.tagged = Tagged::default();
        Effect::Redraw
    }
}
