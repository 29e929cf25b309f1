//! Lines whose columns line up and that are cut at whole parts. It knows widths and glyphs, and nothing of GPUs.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::model::Bytes;

/// The signs that have an ASCII form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glyphs {
    pub(super) unknown: &'static str,
    pub(super) more: &'static str,
    pub(super) celsius: &'static str,
    pub(super) up: &'static str,
    pub(super) down: &'static str,
    ascii: bool,
}

impl Glyphs {
    pub(super) const fn new(ascii: bool) -> Self {
        if ascii {
            Self { unknown: "-", more: "...", celsius: "C", up: "^", down: "v", ascii }
        } else {
            Self { unknown: "—", more: "…", celsius: "°C", up: "↑", down: "↓", ascii }
        }
    }

    /// Foreign text in the characters that may be printed.
    pub(super) fn foreign<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.ascii && !text.is_ascii() {
            Cow::Owned(text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect())
        } else {
            Cow::Borrowed(text)
        }
    }
}

/// Where a column stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    /// Blanks before it.
    pub(super) gap: usize,
    /// What is printed before each of its cells.
    pub(super) prefix: &'static str,
    /// At least so wide.
    pub(super) least: usize,
    /// Whether its cells begin at its left edge.
    pub(super) left: bool,
    /// When it makes way where the line is too long.
    pub(super) yields: Yields,
}

/// What a column makes way for, the first to go first: who holds the memory says more than how warm the card is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Yields {
    /// The largest holder's name; of several columns the one with the lowest number goes first.
    ToAName(u8),
    /// How many holders there are, or why that is unknown.
    ToTheSum(u8),
    /// Nothing.
    Never,
}

/// Something at the end of a line that is left out whole where it does not fit.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) text: String,
    pub(super) bytes: Option<Bytes>,
}

/// One line before it is laid out.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// The first cells of the columns; there may be fewer than columns.
    pub(super) cells: Vec<String>,
    /// Sentences that explain what is unknown.
    pub(super) notes: Vec<String>,
    /// The holders.
    pub(super) items: Vec<Item>,
}

/// Lays out lines under each other.
pub(super) struct Layout<'a> {
    columns: &'a [Column],
    /// 0 for a column that is left out.
    widths: Vec<usize>,
    /// Where a line is cut.
    cut: Option<usize>,
    glyphs: Glyphs,
}

impl<'a> Layout<'a> {
    /// For these lines. With `cut` no line is longer: columns make way for holders and notes, on all lines alike.
    pub(super) fn new(columns: &'a [Column], glyphs: Glyphs, lines: &[Line], cut: Option<usize>) -> Self {
        let widest = |at: usize| lines.iter().filter_map(|line| line.cells.get(at)).map(|cell| cell.width()).max();
        let widths = columns.iter().enumerate().map(|(at, column)| widest(at).filter(|w| *w > 0).map_or(0, |w| w.max(column.least))).collect();
        let mut layout = Self { columns, widths, cut, glyphs };
        if let Some(cut) = cut {
            layout.make_way(lines, cut);
        }
        layout
    }

    /// Leaves out columns until every line shows its largest holder, or where that cannot be, at least how many it has.
    fn make_way(&mut self, lines: &[Line], cut: usize) {
        let order = self.order();
        let to_a_name = order.iter().filter(|at| matches!(self.columns[**at].yields, Yields::ToAName(_))).count();
        let whole = self.widths.clone();
        for (wanted, most) in [(Self::first_and_more as fn(&Self, &Line) -> usize, to_a_name), (Self::only_more, order.len())] {
            self.widths.clone_from(&whole);
            for gone in 0..=most {
                if let Some(at) = gone.checked_sub(1) {
                    self.widths[order[at]] = 0;
                }
                if lines.iter().all(|line| width_of(&self.cells(line, &self.widths)) + wanted(self, line) <= cut) {
                    return;
                }
            }
        }
    }

    /// Positions of the columns that make way, the first to go first.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.columns.len()).filter(|at| self.columns[*at].yields != Yields::Never).collect();
        order.sort_by_key(|at| self.columns[*at].yields);
        order
    }

    fn first_and_more(&self, line: &Line) -> usize {
        line.items.first().map_or(0, |first| first.text.width() + 2 + self.more(&line.items[1..]).width())
    }

    fn only_more(&self, line: &Line) -> usize {
        self.more(&line.items).width()
    }

    /// Appends one line and its end.
    pub(super) fn write(&self, line: &Line, out: &mut String) {
        let notes = || line.notes.iter().map(|note| format!("  {note}"));
        let Some(cut) = self.cut else {
            let mut parts = self.cells(line, &self.widths);
            parts.extend(notes());
            parts.extend(line.items.iter().map(|item| format!("  {}", item.text)));
            return finish(&parts, out);
        };
        let mut parts = self.beside_notes(line, cut);
        parts.extend(notes());
        parts.push(self.fitting(&line.items, cut.saturating_sub(width_of(&parts))));
        // Where not even the figures and the reason fit, what is cut is marked as cut.
        finish(&[ending(&parts.concat(), cut, self.glyphs.more)], out);
    }

    /// The cells that leave room for the notes. A line that has some is an exception, so that the others keep their columns.
    fn beside_notes(&self, line: &Line, cut: usize) -> Vec<String> {
        let mut widths = self.widths.clone();
        let wanted = line.notes.iter().map(|note| note.width() + 2).sum::<usize>() + self.only_more(line);
        let mut order = self.order().into_iter();
        loop {
            let cells = self.cells(line, &widths);
            match order.next() {
                Some(at) if !line.notes.is_empty() && width_of(&cells) + wanted > cut => widths[at] = 0,
                _ => return cells,
            }
        }
    }

    /// The cells of the columns that are not left out, with the blanks before them.
    fn cells(&self, line: &Line, widths: &[usize]) -> Vec<String> {
        let mut cells = Vec::with_capacity(self.columns.len());
        for ((cell, column), width) in line.cells.iter().zip(self.columns).zip(widths) {
            if *width == 0 {
                continue;
            }
            let blanks = width.saturating_sub(cell.width());
            let (before, after) = if column.left { (0, blanks) } else { (blanks, 0) };
            let prefix = if cell.is_empty() { " ".repeat(column.prefix.width()) } else { column.prefix.to_owned() };
            cells.push(format!("{}{prefix}{}{cell}{}", " ".repeat(column.gap), " ".repeat(before), " ".repeat(after)));
        }
        cells
    }

    /// As many items as fit, and how many more there are; nothing where not even that fits.
    fn fitting(&self, items: &[Item], room: usize) -> String {
        let widths: Vec<usize> = items.iter().map(|item| item.text.width() + 2).collect();
        for shown in (0..=items.len()).rev() {
            let more = self.more(&items[shown..]);
            if widths[..shown].iter().sum::<usize>() + more.width() <= room {
                let mut text = String::new();
                for item in &items[..shown] {
                    let _ = write!(text, "  {}", item.text);
                }
                return text + &more;
            }
        }
        // That there are some, at least.
        let mark = format!("  {}", self.glyphs.more);
        if items.is_empty() || mark.width() > room { String::new() } else { mark }
    }

    /// `… +3 11.0G`; the sum is unknown when one of them is.
    fn more(&self, items: &[Item]) -> String {
        if items.is_empty() {
            return String::new();
        }
        let Glyphs { more, unknown, .. } = self.glyphs;
        match items.iter().map(|item| item.bytes).sum::<Option<Bytes>>() {
            Some(bytes) => format!("  {more} +{} {bytes}G", items.len()),
            None => format!("  {more} +{} {unknown}", items.len()),
        }
    }
}

fn width_of(parts: &[String]) -> usize {
    parts.iter().map(|part| part.width()).sum()
}

/// At most `cut` columns of it; the mark stands where something was cut.
fn ending(text: &str, cut: usize, mark: &str) -> String {
    if text.trim_end().width() <= cut {
        return text.to_owned();
    }
    let room = cut.saturating_sub(mark.width());
    let mut kept = String::new();
    let mut used = 0;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > room {
            break;
        }
        kept.push(c);
    }
    kept + mark
}

fn finish(parts: &[String], out: &mut String) {
    for part in parts {
        out.push_str(part);
    }
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
}
