//! Lines whose columns line up and that are cut at whole parts. It knows widths and glyphs, and nothing of GPUs.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

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
    widths: Vec<usize>,
    glyphs: Glyphs,
}

impl<'a> Layout<'a> {
    /// So many columns are never left out: which GPU, and its memory.
    const KEPT: usize = 3;

    pub(super) fn new(columns: &'a [Column], glyphs: Glyphs, lines: &[Line]) -> Self {
        let width_of = |at: usize| lines.iter().filter_map(|line| line.cells.get(at)).map(|cell| cell.width()).max();
        let widths = columns.iter().enumerate().map(|(at, column)| width_of(at).filter(|w| *w > 0).map_or(0, |w| w.max(column.least))).collect();
        Self { columns, widths, glyphs }
    }

    /// Appends one line and its end. With a width it is cut at the last whole part that fits.
    pub(super) fn write(&self, line: &Line, width: Option<usize>, out: &mut String) {
        let mut parts = self.parts(line);
        let Some(width) = width else {
            let items = line.items.iter().map(|item| format!("  {}", item.text));
            parts.extend(items);
            return finish(&parts, out);
        };
        let mut used: usize = parts.iter().map(|part| part.width()).sum();
        while used > width && parts.len() > Self::KEPT {
            used -= parts.pop().map_or(0, |part| part.width());
        }
        parts.push(self.fitting(&line.items, width.saturating_sub(used)));
        finish(&parts, out);
    }

    /// Columns and notes with the blanks before them.
    fn parts(&self, line: &Line) -> Vec<String> {
        let mut parts = Vec::with_capacity(self.columns.len() + line.items.len());
        for ((cell, column), width) in line.cells.iter().zip(self.columns).zip(&self.widths) {
            if *width == 0 {
                continue;
            }
            let blanks = width - cell.width();
            let (before, after) = if column.left { (0, blanks) } else { (blanks, 0) };
            let prefix = if cell.is_empty() { " ".repeat(column.prefix.width()) } else { column.prefix.to_owned() };
            parts.push(format!("{}{prefix}{}{cell}{}", " ".repeat(column.gap), " ".repeat(before), " ".repeat(after)));
        }
        parts.extend(line.notes.iter().map(|note| format!("  {note}")));
        parts
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
        String::new()
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

fn finish(parts: &[String], out: &mut String) {
    for part in parts {
        out.push_str(part);
    }
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
}
