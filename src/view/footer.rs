//! The key line, from the one table of keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::pen::{Pen, width_of};
use super::theme::{Role, Theme};
use crate::app::App;
use crate::app::keys::{Action, BINDINGS, Place};

/// Draws the keys that work here, as many as fit; the last two, help and quit, always do.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let (mode, screen) = (app.setup().mode, app.screen());
    let notices = app.notice().is_some_and(|notice| notice.of > 1);
    let shown = BINDINGS.iter().filter(|binding| binding.works_on(screen, mode) && binding.is_offered(app.setup()));
    // There is nothing to walk through with one notice or none.
    let shown = shown.filter(|binding| binding.action != Action::NextNotice || notices);
    let refused = app.dialog().is_some_and(|dialog| !dialog.is_open());
    let shown = shown.filter(|binding| binding.place != Place::Dialog || !refused);
    let mut items: Vec<(&str, &str)> = shown.filter_map(|binding| binding.line).collect();
    let width = |items: &[(&str, &str)]| items.iter().map(|(keys, word)| width_of(keys) + width_of(word) + 3).sum::<u16>().saturating_sub(2);
    while width(&items) > area.width && items.len() > 2 {
        items.remove(items.len() - 3);
    }
    let mut pen = Pen::new(buffer, area);
    for (keys, word) in items {
        pen.put(keys, theme.style(Role::Text)).put(" ", theme.style(Role::Label)).put(word, theme.style(Role::Label)).skip(2);
    }
}
