//! The signs and colours of the layers, with their ASCII forms.

use std::borrow::Cow;

use super::Options;

/// What a cell of a map or a bar shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    /// Tensors live in it.
    Live,
    /// Freed, and a stream may still be using it.
    Pending,
    /// Free between what is in use.
    Stuck,
    /// Free, and can be given back.
    Cached,
}

/// How layers are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ink {
    ascii: bool,
    colour: bool,
}

impl Ink {
    pub(super) const fn new(options: &Options) -> Self {
        Self { ascii: options.ascii, colour: options.colour }
    }

    pub(super) const fn sign(self, layer: Layer) -> char {
        match (layer, self.ascii) {
            (Layer::Live, false) => '█',
            (Layer::Pending, false) => '▓',
            (Layer::Stuck, false) => '▒',
            (Layer::Cached, false) => '░',
            (Layer::Live, true) => '#',
            (Layer::Pending, true) => '+',
            (Layer::Stuck, true) => ':',
            (Layer::Cached, true) => '.',
        }
    }

    /// What begins and ends the colour of a layer. Texture alone tells them apart, so there are few.
    pub(super) const fn colour(self, layer: Layer) -> (&'static str, &'static str) {
        match (self.colour, layer) {
            (true, Layer::Stuck) => ("\u{1b}[33m", "\u{1b}[39m"),
            (true, Layer::Cached) => ("\u{1b}[36m", "\u{1b}[39m"),
            (true, Layer::Pending) => ("\u{1b}[35m", "\u{1b}[39m"),
            _ => ("", ""),
        }
    }

    pub(super) const fn bold(self) -> (&'static str, &'static str) {
        if self.colour { ("\u{1b}[1m", "\u{1b}[22m") } else { ("", "") }
    }

    pub(super) const fn edges(self) -> (char, char) {
        if self.ascii { ('[', ']') } else { ('▕', '▏') }
    }

    /// Heights from nothing to all.
    pub(super) const fn heights(self) -> &'static [char] {
        if self.ascii { &['.', ':', '-', '=', '#'] } else { &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] }
    }

    /// Text in the characters that may be printed.
    pub(super) fn plain(self, text: &str) -> Cow<'_, str> {
        if !self.ascii || text.is_ascii() {
            return Cow::Borrowed(text);
        }
        let stand_in = |c: char| match c {
            '—' | '–' | '−' => '-',
            '·' | '×' => '*',
            '≥' => '>',
            '…' => '.',
            c if c.is_ascii() => c,
            _ => '?',
        };
        Cow::Owned(text.chars().map(stand_in).collect())
    }

    /// Cells of layers, with colours where they change.
    pub(super) fn cells(self, cells: impl IntoIterator<Item = Layer>, out: &mut String) {
        let mut before = None;
        for layer in cells {
            if before != Some(layer) {
                out.push_str(before.map_or("", |before| self.colour(before).1));
                out.push_str(self.colour(layer).0);
                before = Some(layer);
            }
            out.push(self.sign(layer));
        }
        out.push_str(before.map_or("", |before| self.colour(before).1));
    }

    /// A bar of `width` cells: each slice by its share of `whole`, its label inside where there is room.
    pub(super) fn bar(self, slices: &[(Layer, u64, String)], whole: u64, width: usize) -> String {
        let (left, right) = self.edges();
        let inner = width.saturating_sub(2);
        let mut out = String::from(left);
        let (mut sum, mut used) = (0_u128, 0);
        for (layer, size, label) in slices {
            sum += u128::from(*size);
            let end = usize::try_from(sum * inner as u128 / u128::from(whole.max(1))).unwrap_or(inner).min(inner);
            let cells = end.saturating_sub(used);
            used = end;
            let (begin, finish) = self.colour(*layer);
            out.push_str(begin);
            let label = self.plain(label);
            let room = cells.saturating_sub(3);
            if !label.is_empty() && label.chars().count() <= room {
                out.push(self.sign(*layer));
                out.push(' ');
                out.push_str(&label);
                out.push(' ');
                (label.chars().count() + 3..cells).for_each(|_| out.push(self.sign(*layer)));
            } else {
                (0..cells).for_each(|_| out.push(self.sign(*layer)));
            }
            out.push_str(finish);
        }
        (used..inner).for_each(|_| out.push(' '));
        out.push(right);
        out
    }
}
