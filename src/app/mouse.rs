//! What stands where on the last frame, and what a click or a turn of the wheel asks for there.

use std::ops::Range;

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

use super::columns::Column;
use super::row::RowId;
use super::{App, Effect, Screen};

/// What a click on a place means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A row of the table, as a position in [`super::Picture::rows`].
    Row(usize),
    /// The name of a column.
    Head(Column),
    /// A slice of a bar, and who holds it.
    Slice(RowId),
    /// A GPU, as a position in [`crate::monitor::Monitor::gpus`].
    Gpu(usize),
}

/// A part of the screen that answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Its columns.
    pub x: Range<u16>,
    /// Its rows.
    pub y: Range<u16>,
    /// What is there.
    pub target: Target,
}

impl App {
    /// Rows that one turn of the wheel moves by, where there are more than are seen.
    const WHEEL: isize = 3;

    pub(super) fn mouse(&mut self, event: MouseEvent) -> Effect {
        if !matches!(self.screen, Screen::Dashboard | Screen::Filter) {
            return Effect::None;
        }
        let step = if self.shown.rows.len() < self.picture().rows().len() { Self::WHEEL } else { 1 };
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) => self.click(event.column, event.row),
            MouseEventKind::ScrollDown => self.moved(|app| app.step(step)),
            MouseEventKind::ScrollUp => self.moved(|app| app.step(-step)),
            _ => Effect::None,
        }
    }

    fn click(&mut self, x: u16, y: u16) -> Effect {
        let hit = self.shown.spots.iter().find(|spot| spot.x.contains(&x) && spot.y.contains(&y));
        match hit.map(|spot| spot.target.clone()) {
            Some(Target::Row(at)) => self.moved(|app| app.select(|rows| (at < rows.len()).then_some(at))),
            Some(Target::Slice(id)) => self.moved(|app| app.select(|rows| rows.iter().position(|row| row.id.is_same(&id)))),
            Some(Target::Gpu(gpu)) => self.moved(|app| app.select(|rows| rows.iter().position(|row| row.gpu == gpu))),
            Some(Target::Head(column)) => {
                self.listing.sort.choose(column);
                self.relist();
                Effect::Redraw
            }
            None => Effect::None,
        }
    }

    /// Draws only where the selection is now another.
    fn moved(&mut self, by: impl FnOnce(&mut Self)) -> Effect {
        let before = self.selected();
        by(self);
        if self.selected() == before { Effect::None } else { Effect::Redraw }
    }
}
