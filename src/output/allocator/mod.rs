//! What an allocator's own account says, for people and as JSON: snapshots, summaries, lines of other tools.
//!
//! Pure functions from what was read to text. Every line is cut to the width; without colours texture tells the layers apart.

mod advice;
mod figures;
mod ink;
mod json;
mod map;
mod notes;
mod places;
mod snapshot;
mod summary;
#[cfg(test)]
mod tests;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use ink::Ink;

pub use json::{notes_json, snapshot_json, summary_json};
pub use notes::note;
pub use snapshot::snapshot;
pub use summary::{more_tables, summary};

/// How it is printed.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Columns of the screen; what is longer is wrapped or cut.
    pub width: usize,
    /// Nothing but ASCII.
    pub ascii: bool,
    /// Colours, beside texture.
    pub colour: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { width: 100, ascii: false, colour: false }
    }
}

/// Narrower than this nothing is laid out.
const NARROWEST: usize = 40;

/// A page that is written line by line.
struct Page<'a> {
    out: &'a mut String,
    ink: Ink,
    width: usize,
}

impl<'a> Page<'a> {
    fn new(options: &Options, out: &'a mut String) -> Self {
        Self { out, ink: Ink::new(options), width: options.width.max(NARROWEST) }
    }

    /// One line, cut where it is too long.
    fn line(&mut self, text: &str) {
        let text = self.ink.plain(text);
        let mut used = 0;
        let end = text.char_indices().find(|(_, c)| {
            used += c.width().unwrap_or(0);
            used > self.width
        });
        let kept = &text[..end.map_or(text.len(), |(at, _)| at)];
        self.out.push_str(kept.trim_end());
        self.out.push('\n');
    }

    /// A line that is known to fit, with colours in it.
    fn raw(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn gap(&mut self) {
        self.out.push('\n');
    }

    /// A sentence, broken between words; its later lines stand `indent` to the right.
    fn sentence(&mut self, text: &str, indent: usize) {
        let text = self.ink.plain(text).into_owned();
        let body = text.trim_start();
        // A setting that is longer than the line is left whole, so that it can be copied.
        let put = |page: &mut Self, line: &str| {
            if line.trim_start().contains(' ') { page.line(line) } else { page.raw(line.trim_end()) }
        };
        let mut line = text[..text.len() - body.len()].to_owned();
        let mut begun = false;
        for word in body.split(' ') {
            if begun && line.width() + 1 + word.width() > self.width {
                put(self, &line);
                line = " ".repeat(indent);
            } else if begun {
                line.push(' ');
            }
            line.push_str(word);
            begun = true;
        }
        put(self, &line);
    }

    /// Where it stands at the left, and the word for it at the right end, for `grep`.
    fn head(&mut self, left: &str, word: &str) {
        let left = self.ink.plain(left).into_owned();
        let room = self.width.saturating_sub(word.width() + 2);
        let mut text = String::new();
        for c in left.chars() {
            if text.width() + c.width().unwrap_or(0) > room {
                break;
            }
            text.push(c);
        }
        let blanks = " ".repeat(self.width.saturating_sub(text.width() + word.width()));
        let (bold, plain) = self.ink.bold();
        self.raw(&format!("{text}{blanks}{bold}{word}{plain}"));
    }

    /// What to change and what is of no use, numbered.
    fn remedies(&mut self, remedies: &advice::Remedies) {
        if !remedies.first.is_empty() {
            self.gap();
            self.line("Change first");
            for (n, text) in remedies.first.iter().enumerate() {
                self.sentence(&format!("  {}  {text}", n + 1), 5);
            }
        }
        if !remedies.useless.is_empty() {
            self.line("Won't help");
            for text in &remedies.useless {
                self.sentence(&format!("  {text}"), 2);
            }
        }
    }
}
