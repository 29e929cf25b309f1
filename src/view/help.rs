//! The help: every key from the one table, and how to read the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::pen::Pen;
use super::theme::{Role, Theme};
use crate::app::App;
use crate::app::keys::BINDINGS;

/// How the screen is read: the mark, and what it stands for.
const MARKS: &[(&str, &str)] = &[
    ("GiB", "every amount of memory; 1 GiB is 1024 MiB"),
    ("—", "not known, never zero"),
    ("%", "of what CUDA can hand out: 100 is full"),
    ("a b c", "ties a slice to its row; small ones share one"),
    ("╱", "in use, and no listed process owns it"),
    ("▒", "the driver's reserve: it was never yours"),
    ("█ ░", "history: lowest and highest; a spike is a tower"),
    ("≈", "the graph does not begin at zero"),
    ("TREND", "change of the lowest value per minute, over 5 min"),
    ("bus", "share of time in which memory was read or written"),
    ("+ –", "several in one row; 3× is that many"),
    ("│", "a moment that was marked"),
    ("mouse", "rows, slices, heads; with Shift the terminal's own"),
    ("own", "what vramtop itself takes of one CPU core"),
];

/// Draws the help into all of `area`: two columns where there is room, else one below the other, as far down as was scrolled.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let mode = app.setup().mode;
    let keys: Vec<(&str, &str)> = BINDINGS
        .iter()
        .filter(|binding| binding.is_listed(mode) && binding.is_offered(app.setup()))
        .map(|binding| (binding.shown, binding.help))
        .collect();
    let (keys, marks) = (lines("KEYS", &keys), lines("READING THE SCREEN", MARKS));
    if area.width >= 110 {
        let left = Rect { width: (area.width / 2 - 2).min(70), ..area };
        let right = Rect { x: left.right() + 2, width: area.width - left.width - 2, ..area };
        draw_lines(buffer, left, &keys, 14, app.chooser(), theme);
        draw_lines(buffer, right, &marks, 7, app.chooser(), theme);
    } else {
        let all: Vec<Line<'_>> = keys.into_iter().chain([Line::Blank]).chain(marks).collect();
        draw_lines(buffer, area, &all, 14, app.chooser(), theme);
    }
}

/// A line of the help.
enum Line<'a> {
    Title(&'a str),
    Item(&'a str, &'a str),
    Blank,
}

fn lines<'a>(title: &'a str, items: &[(&'a str, &'a str)]) -> Vec<Line<'a>> {
    std::iter::once(Line::Title(title)).chain(items.iter().map(|(mark, meaning)| Line::Item(mark, meaning))).collect()
}

/// The lines from the `scrolled`-th on; where they fit, or at their end, no further. The last line says how many are left.
fn draw_lines(buffer: &mut Buffer, area: Rect, lines: &[Line<'_>], first: u16, scrolled: usize, theme: &Theme) {
    let (mark, word) = (theme.style(Role::Text), theme.style(Role::Label));
    let hidden = lines.len().saturating_sub(usize::from(area.height));
    let below = hidden.saturating_sub(scrolled);
    let more = (below > 0).then(|| format!("{} more lines", below + 1));
    let shown = lines.iter().skip(scrolled.min(hidden)).take(usize::from(area.height).saturating_sub(usize::from(more.is_some())));
    let mut y = area.y;
    for line in shown {
        let mut pen = Pen::new(buffer, Rect { y, height: 1, ..area });
        match line {
            Line::Title(title) => pen.put(title, theme.style(Role::Figure)),
            Line::Item(key, meaning) => pen.left(key, first, mark).put(meaning, word),
            Line::Blank => &mut pen,
        };
        y += 1;
    }
    if let Some(more) = more.filter(|_| y < area.bottom()) {
        Pen::new(buffer, Rect { y, height: 1, ..area }).left("↓", first, mark).put(&more, word);
    }
}
