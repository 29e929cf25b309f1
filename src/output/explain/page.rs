//! A page of text that grows line by line: wrapped, with weight and colour where they are wanted, in ASCII where that is.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::ExplainLook;
use super::bar::Bar;
use crate::inside::advice::Advice;

/// What a piece of text is, as far as its look is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As it is.
    Plain,
    /// What the eye is to find.
    Bold,
    /// Captions.
    Dim,
    /// This process.
    Own,
    /// Somebody else, or a request.
    Other,
}

impl Tone {
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "\u{1b}[1m",
            Self::Dim => "\u{1b}[2m",
            Self::Own => "\u{1b}[36m",
            Self::Other => "\u{1b}[34m",
        }
    }
}

/// Narrower than this nothing is laid out.
const NARROWEST: usize = 40;

/// The page.
#[derive(Debug)]
pub struct Page {
    look: ExplainLook,
    text: String,
}

impl Page {
    /// An empty one.
    pub fn new(look: ExplainLook) -> Self {
        Self { look: ExplainLook { width: look.width.max(NARROWEST), ..look }, text: String::new() }
    }

    /// Columns.
    pub fn width(&self) -> usize {
        self.look.width
    }

    /// A blank line.
    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    /// The first line: where, and at the right end the verdict.
    pub fn title(&mut self, left: &str, verdict: &str) {
        let room = self.look.width.saturating_sub(verdict.width() + 2);
        let left = if left.width() > room { cut(left, room) } else { left.to_owned() };
        let gap = (self.look.width.saturating_sub(left.width() + verdict.width())).max(2);
        self.toned(Tone::Dim, &left);
        self.text.push_str(&" ".repeat(gap));
        self.toned(Tone::Bold, verdict);
        self.blank();
    }

    /// A heading.
    pub fn heading(&mut self, heading: &str) {
        self.toned(Tone::Bold, heading);
        self.blank();
    }

    /// A heading and where it comes from.
    pub fn heading_with(&mut self, heading: &str, source: &str) {
        self.toned(Tone::Bold, heading);
        self.toned(Tone::Dim, &format!("  ({source})"));
        self.blank();
    }

    /// What to change first, numbered, and what won't help; nothing where there is neither.
    pub fn advice(&mut self, advice: &Advice) {
        if advice.first.is_empty() && advice.wont.is_empty() {
            return;
        }
        self.blank();
        if !advice.first.is_empty() {
            self.heading("Change first");
        }
        for (at, step) in advice.first.iter().enumerate() {
            self.paragraph_after(&format!("  {}  ", at + 1), 5, &step.text);
        }
        if !advice.wont.is_empty() {
            self.heading("Won't help");
            self.paragraph(2, 2, &advice.wont.join(" "));
        }
    }

    /// A row of a table or a picture: cut where it is too long, never broken.
    pub fn line(&mut self, text: &str) {
        let mut used = 0;
        let end = text.char_indices().find(|(_, c)| {
            used += c.width().unwrap_or(0);
            used > self.look.width
        });
        self.text.push_str(text[..end.map_or(text.len(), |(at, _)| at)].trim_end());
        self.blank();
    }

    /// A row of pieces that are known to fit.
    pub fn pieces(&mut self, pieces: &[(Tone, String)]) {
        for (tone, text) in pieces {
            self.toned(*tone, text);
        }
        self.blank();
    }

    /// Text that is broken between words, with its first line and the others indented.
    pub fn paragraph(&mut self, first: usize, others: usize, text: &str) {
        self.paragraph_after(&" ".repeat(first), others, text);
    }

    fn paragraph_after(&mut self, lead: &str, hang: usize, text: &str) {
        self.text.push_str(lead);
        let mut column = lead.width();
        // Two blanks between sentences stay together, and go where a line ends.
        let mut blanks = 0;
        for (at, word) in text.split(' ').enumerate() {
            let width = word.width();
            blanks += usize::from(at > 0);
            if word.is_empty() {
                continue;
            }
            if at > 0 && column + blanks + width > self.look.width {
                // Writing to a String cannot fail.
                let _ = write!(self.text, "\n{:hang$}", "");
                column = hang;
            } else if at > 0 {
                self.text.push_str(&" ".repeat(blanks));
                column += blanks;
            }
            blanks = 0;
            self.text.push_str(word);
            column += width;
        }
        self.blank();
    }

    /// A bar over the whole of the device.
    pub fn bar(&mut self, bar: &Bar) {
        let cells = self.look.width.saturating_sub(12).clamp(16, 58);
        self.text.push('▕');
        bar.pieces(cells).iter().for_each(|(tone, piece)| self.toned(*tone, piece));
        let _ = writeln!(self.text, "▏ {}", bar.whole());
    }

    fn toned(&mut self, tone: Tone, text: &str) {
        if self.look.colors && tone != Tone::Plain {
            let _ = write!(self.text, "{}{text}\u{1b}[0m", tone.code());
        } else {
            self.text.push_str(text);
        }
    }

    /// The text.
    pub fn finish(self) -> String {
        if !self.look.ascii {
            return self.text;
        }
        let mut text = String::with_capacity(self.text.len());
        for c in self.text.chars() {
            match c {
                '▕' => text.push('['),
                '▏' => text.push(']'),
                '▁' | '▂' => text.push('.'),
                '▃' | '▄' => text.push(':'),
                '▇' | '█' => text.push('#'),
                '▅' | '▆' | '▓' => text.push('='),
                '▒' => text.push('%'),
                '░' | '−' | '–' | '—' | '·' => text.push('-'),
                '≥' => text.push_str(">="),
                '…' => text.push_str("..."),
                '×' => text.push('x'),
                c if c.is_ascii() => text.push(c),
                _ => text.push('?'),
            }
        }
        text
    }
}

/// The end of a text that is too long for its place: a path's end tells more than its beginning.
fn cut(text: &str, room: usize) -> String {
    let mut kept: Vec<char> = Vec::new();
    let mut width = 1;
    for c in text.chars().rev() {
        width += c.width().unwrap_or(0);
        if width > room {
            break;
        }
        kept.push(c);
    }
    std::iter::once('…').chain(kept.into_iter().rev()).collect()
}
