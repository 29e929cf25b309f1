//! The last line: what is asked of the table and what is said in passing, then the keys, from the one table of them.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::ascii;
use super::pen::{Pen, cut, tail, width_of};
use super::theme::{Role, Theme};
use crate::app::keys::{Action, BINDINGS, Binding, Place};
use crate::app::{App, Picture, Screen};

/// Draws the keys that work here, as many as fit; the last two, help and quit, always do.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let (mode, screen) = (app.setup().mode, app.screen());
    let mut pen = Pen::new(buffer, area);
    let small = screen == Screen::Dashboard && area.width < SMALL;
    let (gap, apart) = if small { (1, 1) } else { (2, 3) };
    let shown =
        BINDINGS.iter().filter(|binding| binding.works_on(screen, mode) && binding.is_offered(app.setup()) && app.has_use_for(binding.action));
    // While a text is typed, letters are letters.
    let shown = shown.filter(|binding| screen != Screen::Filter || binding.place == Place::Filter);
    // Esc leads out of the past first.
    let shown = shown.filter(|binding| binding.action != Action::Back || screen != Screen::Detail || app.then().is_none());
    let refused = app.dialog().is_some_and(|dialog| !dialog.is_open());
    let shown = shown.filter(|binding| binding.place != Place::Dialog || !refused);
    let mut items: Vec<Item> = shown.filter_map(|binding| Item::of(binding, theme)).collect();
    if small {
        // Everybody knows the two.
        items.iter_mut().rev().take(2).for_each(|item| item.word = "");
    }
    let width = |items: &[Item]| (items.iter().map(|item| item.width() + gap).sum::<u16>()).saturating_sub(gap);
    if screen == Screen::Filter {
        let kept = if area.width < SMALL { count(app.picture()) } else { kept(app.picture()) };
        // The end is where somebody types. What it leaves, and the keys, stay in sight beside a long one.
        let beside = 4 + width_of(&kept) + apart + width(&items);
        let typed = tail(app.listing().typed(), area.width.saturating_sub(beside).max(area.width / 5));
        pen.put("/", theme.style(Role::Figure)).put(&typed, theme.style(Role::Text)).glyph('█', theme.style(Role::Label)).skip(2);
        pen.put(&kept, theme.style(Role::Label)).skip(apart);
    } else if let Some(note) = app.note() {
        // The last two keys lead out.
        let beside = apart + items.iter().rev().take(2).map(|item| item.width() + gap).sum::<u16>();
        pen.put(&cut(note, area.width.saturating_sub(beside)), theme.style(Role::Held)).skip(apart);
    } else if screen == Screen::Detail && app.then().is_some() {
        pen.put("Esc", theme.style(Role::Text)).put(" now", theme.style(Role::Label)).skip(apart);
    } else if screen == Screen::Dashboard {
        if app.tagged().count() > 0 {
            pen.put(&format!("{} tagged", app.tagged().count()), theme.style(Role::Held)).put("  U", theme.style(Role::Text));
            pen.put(" none", theme.style(Role::Label)).skip(apart);
        }
        let asked = asked(app, area.width / 3);
        if app.then().is_some() {
            pen.put("Esc", theme.style(Role::Text)).put(" now", theme.style(Role::Label)).skip(apart);
        } else if !asked.is_empty() {
            pen.put(&asked.join(" · "), theme.style(Role::Held))
                .put("  Esc", theme.style(Role::Text))
                .put(" all", theme.style(Role::Label))
                .skip(apart);
        }
    }
    let room = pen.room();
    while width(&items) > room && items.len() > 2 {
        let first = GIVEN_UP.iter().find_map(|action| items.iter().position(|item| item.action == *action));
        items.remove(first.unwrap_or(items.len() - 3));
    }
    for item in items {
        pen.put(&item.keys, theme.style(Role::Text));
        if !item.word.is_empty() {
            pen.put(" ", theme.style(Role::Label)).put(item.word, theme.style(Role::Label));
        }
        pen.skip(gap);
    }
}

/// Below so many cells the line is written closer.
const SMALL: u16 = 60;

/// What leaves the line first where it is short; what is not named here leaves after these, from the end.
const GIVEN_UP: &[Action] = &[
    Action::Columns,
    Action::Copy,
    Action::Tag,
    Action::Longer,
    Action::NextNotice,
    Action::Focus(0),
    Action::Mark,
    Action::Tree,
    Action::NextGrouping,
    Action::Up,
    Action::Past(-1),
    Action::Pause,
    Action::NextSort,
    Action::OnlyMine,
    Action::Filter,
];

/// Keys and their word in the line.
struct Item {
    action: Action,
    keys: Cow<'static, str>,
    word: &'static str,
}

impl Item {
    fn of(binding: &Binding, theme: &Theme) -> Option<Self> {
        binding.line.map(|(keys, word)| Self { action: binding.action, keys: ascii::keys(keys, theme), word })
    }

    fn width(&self) -> u16 {
        width_of(&self.keys) + if self.word.is_empty() { 0 } else { 1 + width_of(self.word) }
    }
}

/// What is asked of the table, where it is not all there is, largest first; a filter in so many cells at most.
fn asked(app: &App, most: u16) -> Vec<String> {
    let (picture, listing) = (app.picture(), app.listing());
    let mut asked = Vec::new();
    if let Some(gpu) = listing.focus().and_then(|id| picture.monitor().gpus().iter().find(|row| row.facts.id == *id)) {
        asked.push(format!("GPU {} alone", gpu.label));
    }
    if !listing.typed().trim().is_empty() {
        asked.push(cut(&format!("/{}", listing.typed().trim()), most).into_owned());
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
    format!("{} rows", count(picture))
}

fn count(picture: &Picture) -> String {
    format!("{} of {}", picture.kept().all(), picture.unfiltered().all())
}
