//! What is said where there is nothing to draw: before the first answer, without devices, without processes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::pen::Pen;
use super::theme::{Role, Theme};
use crate::app::App;

/// Draws a sentence, and a dimmer one below it.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let (first, second) = words(app);
    let indent = u16::from(area.width >= super::plan::WIDE);
    let area = Rect { x: area.x + indent, width: area.width - indent.min(area.width), ..area };
    for (text, role, y) in [(first, Role::Text, area.y), (second, Role::Label, area.y.saturating_add(1))] {
        if y < area.bottom() {
            Pen::new(buffer, Rect { y, height: 1, ..area }).sentence(&text, theme.style(role));
        }
    }
}

/// Whether there are rows, all of them left out.
fn picture_is_filtered(app: &App) -> bool {
    app.listing().leaves_out() && app.picture().unfiltered().all() > 0
}

fn words(app: &App) -> (String, String) {
    let monitor = app.picture().monitor();
    let source = &app.setup().source;
    if let Some(reason) = app.ended().filter(|_| monitor.gpus().is_empty()) {
        return (format!("{source}: nothing more will come"), reason.to_owned());
    }
    let busy =
        || app.waiting().map_or_else(String::new, |waiting| format!("the driver is asked for {}, for {} s now", waiting.call, waiting.for_ms / 1000));
    if monitor.header().is_none() {
        return (format!("waiting for {source}"), busy());
    }
    if monitor.gpus().is_empty() {
        return ("the driver answers and names no GPU".to_owned(), "vramtop shows one as soon as the driver does".to_owned());
    }
    if monitor.now().is_none() {
        return ("the first figures are on their way".to_owned(), busy());
    }
    if monitor.gpus().iter().all(|row| !row.list.is_value()) {
        return ("nobody can be named: the process lists cannot be read".to_owned(), String::new());
    }
    if picture_is_filtered(app) {
        return ("no row has what is asked for".to_owned(), "Esc shows all again".to_owned());
    }
    ("no process holds GPU memory".to_owned(), String::new())
}
