//! The help: every key from the one table, and how to read the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::pen::Pen;
use super::theme::{Role, Theme};
use crate::app::App;
use crate::app::keys::BINDINGS;

/// How the screen is read: the mark, and what it stands for.
const MARKS: &[(&str, &str)] = &[
    ("GiB", "every amount of memory, without the unit; 1 GiB is 1024 MiB"),
    ("—", "not known, never zero"),
    ("%", "of what CUDA can hand out: 100 is full"),
    ("a b c", "a letter ties a slice of the bar to its row; small ones share one"),
    ("╱", "in use, and no listed process owns it"),
    ("▒", "the driver's reserve: it was never yours"),
    ("█ ░", "history: lowest and highest of a column's time; a spike is a tower"),
    ("≈", "the graph does not begin at zero"),
    ("TREND", "change of the lowest value, per minute, over the last 5 minutes"),
    ("bus", "share of time in which memory was read or written"),
    ("own", "what vramtop itself takes of one CPU core"),
];

/// Draws the help into all of `area`: two columns where there is room, else one below the other.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let mode = app.setup().mode;
    let keys: Vec<(&str, &str)> = BINDINGS
        .iter()
        .filter(|binding| binding.is_listed(mode) && binding.is_offered(app.setup()))
        .map(|binding| (binding.shown, binding.help))
        .collect();
    let two = area.width >= 130;
    let width = if two { area.width / 2 - 2 } else { area.width };
    let left = Rect { width, ..area };
    let used = draw_list(buffer, left, "KEYS", &keys, 14, theme);
    let right = if two {
        Rect { x: area.x + width + 4, width, ..area }
    } else {
        let down = (used + 1).min(area.height);
        Rect { y: area.y + down, height: area.height - down, ..area }
    };
    draw_list(buffer, right, "READING THE SCREEN", MARKS, if two { 8 } else { 14 }, theme);
}

fn draw_list(buffer: &mut Buffer, area: Rect, title: &str, items: &[(&str, &str)], first: u16, theme: &Theme) -> u16 {
    let lines = std::iter::once(None).chain(items.iter().map(Some));
    let mut used = 0;
    for (item, y) in lines.zip(area.top()..area.bottom()) {
        let mut pen = Pen::new(buffer, Rect { y, height: 1, ..area });
        match item {
            None => pen.put(title, theme.style(Role::Figure)),
            Some((mark, meaning)) => pen.left(mark, first, theme.style(Role::Text)).put(meaning, theme.style(Role::Label)),
        };
        used += 1;
    }
    used
}
