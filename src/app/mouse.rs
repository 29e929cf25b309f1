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
    /// Rows or lines that one turn of the wheel moves by, where there are more than are seen.
    const WHEEL: isize = 3;

    /// On the screen that is up alone: what a dialog covers is out of reach.
    pub(super) fn mouse(&mut self, event: MouseEvent) -> Effect {
        let table = matches!(self.screen(), Screen::Dashboard | Screen::Filter);
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) if table => self.click(event.column, event.row),
            MouseEventKind::ScrollDown => self.wheel(1),
            MouseEventKind::ScrollUp => self.wheel(-1),
            _ => Effect::None,
        }
    }

    fn wheel(&mut self, turn: isize) -> Effect {
        match self.screen() {
            Screen::Dashboard | Screen::Filter => {
                let step = if self.shown.rows.len() < self.picture().rows().len() { Self::WHEEL } else { 1 };
                self.moved(|app| app.step(turn * step))
            }
            Screen::Columns => {
                self.step_chooser(turn);
                Effect::Redraw
            }
            Screen::Help | Screen::Detail | Screen::Signal => {
                self.scroll(turn * Self::WHEEL);
                Effect::Redraw
            }
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
