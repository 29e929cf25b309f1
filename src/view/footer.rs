//! The last line: what is asked of the table and what is said in passing, then the keys, from the one table of them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::pen::{Pen, width_of};
use super::theme::{Role, Theme};
use crate::app::keys::{Action, BINDINGS, Place};
use crate::app::{App, Picture, Screen};

/// Draws the keys that work here, as many as fit; the last two, help and quit, always do.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let (mode, screen) = (app.setup().mode, app.screen());
    let mut pen = Pen::new(buffer, area);
    if screen == Screen::Filter {
        pen.put("/", theme.style(Role::Figure)).put(app.listing().typed(), theme.style(Role::Text)).glyph('█', theme.style(Role::Label)).skip(2);
        pen.put(&kept(app.picture()), theme.style(Role::Label)).skip(3);
    } else if let Some(note) = app.note() {
        pen.put(note, theme.style(Role::Held)).skip(3);
    } else if screen == Screen::Dashboard {
        if app.tagged().count() > 0 {
            pen.put(&format!("{} tagged", app.tagged().count()), theme.style(Role::Held)).put("  U", theme.style(Role::Text));
            pen.put(" none", theme.style(Role::Label)).skip(3);
        }
        let asked = asked(app);
        if app.then().is_some() {
            pen.put("Esc", theme.style(Role::Text)).put(" now", theme.style(Role::Label)).skip(3);
        } else if !asked.is_empty() {
            pen.put(&asked.join(" · "), theme.style(Role::Held)).put("  Esc", theme.style(Role::Text)).put(" all", theme.style(Role::Label)).skip(3);
        }
    }
    let room = pen.room();
    let notices = app.notice().is_some_and(|notice| notice.of > 1);
    let shown = BINDINGS.iter().filter(|binding| binding.works_on(screen, mode) && binding.is_offered(app.setup()));
    // There is nothing to walk through with one notice or none.
    let shown = shown.filter(|binding| binding.action != Action::NextNotice || notices);
    // Nor is there a GPU to choose where there is one.
    let many = app.picture().monitor().gpus().len() > 1;
    let shown = shown.filter(|binding| many || !matches!(binding.action, Action::Focus(_)));
    // While a text is typed, letters are letters.
    let shown = shown.filter(|binding| screen != Screen::Filter || binding.place == Place::Filter);
    let refused = app.dialog().is_some_and(|dialog| !dialog.is_open());
    let shown = shown.filter(|binding| binding.place != Place::Dialog || !refused);
    let mut items: Vec<(&str, &str)> = shown.filter_map(|binding| binding.line).collect();
    let width = |items: &[(&str, &str)]| items.iter().map(|(keys, word)| width_of(keys) + width_of(word) + 3).sum::<u16>().saturating_sub(2);
    while width(&items) > room && items.len() > 2 {
        items.remove(items.len() - 3);
    }
    for (keys, word) in items {
        pen.put(keys, theme.style(Role::Text)).put(" ", theme.style(Role::Label)).put(word, theme.style(Role::Label)).skip(2);
    }
}

/// What is asked of the table, where it is not all there is, largest first.
fn asked(app: &App) -> Vec<String> {
    let (picture, listing) = (app.picture(), app.listing());
    let mut asked = Vec::new();
    if let Some(gpu) = listing.focus().and_then(|id| picture.monitor().gpus().iter().find(|row| row.facts.id == *id)) {
        asked.push(format!("GPU {} alone", gpu.label));
    }
    if !listing.typed().trim().is_empty() {
        asked.push(format!("/{}", listing.typed().trim()));
    }
    if listing.is_mine() {
        asked.push("only mine".to_owned());
    }
    if listing.leaves_out() {
        asked.push(kept(picture));
    }
    asked
}

/// `2 of 7 rows`, those that ended among both.
fn kept(picture: &Picture) -> String {
    format!("{} of {} rows", picture.kept().all(), picture.unfiltered().all())
}
