//! Writing into the buffer cell by cell: one row, left to right, never beyond its end.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The place in one row where the next text goes.
pub(super) struct Pen<'b> {
    buffer: &'b mut Buffer,
    x: u16,
    y: u16,
    end: u16,
}

impl<'b> Pen<'b> {
    /// At the left end of the first row of `area`.
    pub(super) fn new(buffer: &'b mut Buffer, area: Rect) -> Self {
        let inside = area.intersection(buffer.area);
        let end = if inside.height == 0 { inside.x } else { inside.right() };
        Self { buffer, x: inside.x, y: inside.y, end }
    }

    /// Cells that are left.
    pub(super) const fn room(&self) -> u16 {
        self.end.saturating_sub(self.x)
    }

    /// Leaves cells as they are.
    pub(super) fn skip(&mut self, cells: u16) -> &mut Self {
        self.x = self.x.saturating_add(cells).min(self.end);
        self
    }

    /// Writes a text, cut where the row ends.
    pub(super) fn put(&mut self, text: &str, style: Style) -> &mut Self {
        let room = self.room();
        if room > 0 {
            let text = cut(text, room);
            (self.x, _) = self.buffer.set_stringn(self.x, self.y, text, usize::from(room), style);
        }
        self
    }

    /// Writes a sentence, cut between words where the row ends.
    pub(super) fn sentence(&mut self, text: &str, style: Style) -> &mut Self {
        let text = cut_sentence(text, self.room());
        self.put(&text, style)
    }

    /// Writes one glyph so many times.
    pub(super) fn fill(&mut self, glyph: char, cells: u16, style: Style) -> &mut Self {
        for _ in 0..cells.min(self.room()) {
            self.glyph(glyph, style);
        }
        self
    }

    /// Writes one glyph of one cell.
    pub(super) fn glyph(&mut self, glyph: char, style: Style) -> &mut Self {
        if self.room() > 0 {
            if let Some(cell) = self.buffer.cell_mut((self.x, self.y)) {
                cell.set_char(glyph).set_style(style);
            }
            self.x += 1;
        }
        self
    }

    /// Writes a text into a field of its own, at its left end.
    pub(super) fn left(&mut self, text: &str, width: u16, style: Style) -> &mut Self {
        let start = self.x;
        self.put(&cut(text, width), style);
        self.x = start.saturating_add(width).min(self.end);
        self
    }

    /// Writes a text into a field of its own, at its right end.
    pub(super) fn right(&mut self, text: &str, width: u16, style: Style) -> &mut Self {
        let text = cut(text, width);
        self.skip(width - width_of(&text).min(width)).put(&text, style)
    }
}

/// Writes a line at the right end of the first row of `area`, if it fits there.
pub(super) fn put_right(buffer: &mut Buffer, area: Rect, line: &Line<'_>) {
    let area = area.intersection(buffer.area);
    let width = u16::try_from(line.width()).unwrap_or(u16::MAX);
    if area.height > 0 && width <= area.width {
        buffer.set_line(area.right() - width, area.y, line, width);
    }
}

/// Cells that a text takes.
pub(super) fn width_of(text: &str) -> u16 {
    u16::try_from(text.width()).unwrap_or(u16::MAX)
}

/// Cells that a row of spans takes.
pub(super) fn width_of_spans(spans: &[Span<'_>]) -> u16 {
    u16::try_from(spans.iter().map(Span::width).sum::<usize>()).unwrap_or(u16::MAX)
}

/// The text, or as much of it as fits with a mark that something is missing.
pub(super) fn cut(text: &str, width: u16) -> Cow<'_, str> {
    if text.len() <= usize::from(width) || width_of(text) <= width {
        return Cow::Borrowed(text);
    }
    let Some(room) = usize::from(width).checked_sub(1) else { return Cow::Borrowed("") };
    let mut used = 0;
    let fits = text.char_indices().take_while(|(_, c)| {
        used += c.width().unwrap_or(0);
        used <= room
    });
    let end = fits.last().map_or(0, |(at, c)| at + c.len_utf8());
    Cow::Owned(format!("{}…", text[..end].trim_end()))
}

/// The text, or its end behind a mark that something is missing: for what is being typed.
pub(super) fn tail(text: &str, width: u16) -> Cow<'_, str> {
    if width_of(text) <= width {
        return Cow::Borrowed(text);
    }
    let Some(room) = usize::from(width).checked_sub(1) else { return Cow::Borrowed("") };
    let mut used = 0;
    let fits = text.char_indices().rev().take_while(|(_, c)| {
        used += c.width().unwrap_or(0);
        used <= room
    });
    let start = fits.last().map_or(text.len(), |(at, _)| at);
    Cow::Owned(format!("…{}", &text[start..]))
}

/// The sentence, or as many of its words as fit with a mark that some are missing.
fn cut_sentence(text: &str, width: u16) -> Cow<'_, str> {
    let cut = cut(text, width);
    let Some(start) = cut.strip_suffix('…').filter(|start| start.len() < text.len()) else { return cut };
    let is_whole = text[start.len()..].starts_with(|next: char| !next.is_alphanumeric());
    match start.rsplit_once(' ').filter(|_| !is_whole) {
        Some((words, _)) => Cow::Owned(format!("{}…", words.trim_end())),
        None => cut,
    }
}

/// A text in lines of that width, broken at blanks where it can be; the last line may be too long, and is cut when it is drawn.
pub(super) fn lines_of(text: &str, width: u16, most: u16) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let is_last = lines.len() >= usize::from(most);
        let Some(line) = lines.last_mut() else { continue };
        if line.is_empty() {
            line.push_str(word);
        } else if is_last || width_of(line) + 1 + width_of(word) <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_broken_at_blanks_into_so_many_lines() {
        assert_eq!(lines_of("one two three four", 9, 3), ["one two", "three", "four"]);
        assert_eq!(lines_of("one two three four", 9, 2), ["one two", "three four"]);
        assert_eq!(lines_of("one", 0, 2), ["one"]);
    }

    #[test]
    fn a_cut_text_fits_and_says_so() {
        assert_eq!(cut("train.py", 8), "train.py");
        assert_eq!(cut("train.py --bs 4", 9), "train.py…");
        assert_eq!(cut("模型训练", 5), "模型…");
        assert_eq!(cut("模型训练", 4), "模…");
        assert_eq!(cut("abc", 1), "…");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn the_tail_is_what_was_typed_last() {
        assert_eq!(tail("gpu:1 train", 11), "gpu:1 train");
        assert_eq!(tail("gpu:1 train", 6), "…train");
        assert_eq!(tail("模型训练", 5), "…训练");
        assert_eq!(tail("模型训练", 4), "…练");
        assert_eq!((tail("abc", 1), tail("abc", 0)), ("…".into(), "".into()));
    }

    #[test]
    fn a_sentence_is_cut_between_words() {
        assert_eq!(cut_sentence("GPU 0 is lost: the driver no longer answers", 28), "GPU 0 is lost: the driver…");
        assert_eq!(cut_sentence("at the edge: 3.6 free. It holds", 22), "at the edge: 3.6 free…");
        assert_eq!(cut_sentence("all of it", 9), "all of it");
        assert_eq!(cut_sentence("unbreakable", 5), "unbr…");
    }

    #[test]
    fn nothing_is_written_beyond_the_row() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
        Pen::new(&mut buffer, Rect::new(2, 0, 9, 1)).put("xyz", Style::new()).put("more", Style::new());
        Pen::new(&mut buffer, Rect::new(0, 3, 9, 1)).put("below", Style::new());
        assert_eq!(buffer, Buffer::with_lines(["  x…"]));
    }
}
