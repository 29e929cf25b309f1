//! The help: every key from the one table, and how to read the screen.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::ascii;
use super::pen::{Pen, width_of};
use super::theme::{Role, Theme};
use crate::app::App;
use crate::app::keys::BINDINGS;

/// How the screen is read: the mark, and what it stands for.
const MARKS: &[(&str, &str)] = &[
    ("GiB", "the unit where none is written; 1024 MiB"),
    ("—", "not known, never zero"),
    ("%", "of what CUDA can hand out: 100 is full"),
    ("a b c", "slice and row of one; small ones share it"),
    ("╱ ?", "in use: nobody's, or whose is not known"),
    ("▒", "the driver's reserve: it was never yours"),
    ("█ ░", "lowest to highest; a spike is a tower"),
    ("a●", "a tagged row"),
    ("– +", "in sum those below; Tab folds and opens"),
    ("≥", "of a moment before: at least; MOST at most"),
    ("≈", "the graph does not begin at zero"),
    ("TREND", "change a minute of the lowest, up to 5 min"),
    ("bus", "time in which memory was read or written"),
    ("own", "what vramtop itself takes of one CPU core"),
];

/// One line of the help.
enum Line<'a> {
    Title(&'a str),
    Item(Cow<'a, str>, Cow<'a, str>),
    Blank,
}

/// Cells of a mark or key.
const MARK: u16 = 14;

/// Draws the help into all of `area`, in as many columns as there is room for; what does not fit is scrolled to.
/// Says how many lines can be above.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) -> usize {
    let mode = app.setup().mode;
    let keys = BINDINGS.iter().filter(|binding| binding.is_listed(mode) && binding.is_offered(app.setup()));
    let mut lines = vec![Line::Title("READING THE SCREEN")];
    lines.extend(MARKS.iter().map(|(mark, meaning)| Line::Item((*mark).into(), (*meaning).into())));
    lines.extend([Line::Blank, Line::Title("KEYS")]);
    lines.extend(keys.map(|binding| Line::Item(ascii::keys(binding.shown, theme), ascii::keys(binding.help, theme))));
    let longest = lines.iter().map(|line| if let Line::Item(_, meaning) = line { width_of(meaning) } else { 0 }).max().unwrap_or(0);
    let most = (area.width / (MARK + longest + 2)).max(1);
    let is_cut = lines.len() > usize::from(area.height) * usize::from(most);
    let height = usize::from(area.height.saturating_sub(u16::from(is_cut))).max(1);
    let columns = most.min(u16::try_from(lines.len().div_ceil(height)).unwrap_or(most)).max(1);
    let room = height * usize::from(columns);
    let end = lines.len().saturating_sub(room);
    let top = app.help_top().min(end);
    let width = area.width / columns;
    for (at, line) in lines.iter().skip(top).take(room).enumerate() {
        let (column, row) = (at / height, at % height);
        let x = area.x + width * u16::try_from(column).unwrap_or(0);
        let y = area.y + u16::try_from(row).unwrap_or(0);
        let mut pen = Pen::new(buffer, Rect { x, y, width: width.saturating_sub(2), height: 1 });
        match line {
            Line::Title(title) => drop(pen.put(title, theme.style(Role::Figure))),
            Line::Item(mark, meaning) => drop(pen.left(mark, MARK, theme.style(Role::Text)).sentence(meaning, theme.style(Role::Label))),
            Line::Blank => {}
        }
    }
    let below = lines.len().saturating_sub(top + room);
    if is_cut && area.height > 1 {
        let words = if below > 0 { format!("↓ {below} more below") } else { format!("↑ {top} more above") };
        Pen::new(buffer, Rect { y: area.bottom() - 1, height: 1, ..area }).put(&words, theme.style(Role::Label));
    }
    end
}
