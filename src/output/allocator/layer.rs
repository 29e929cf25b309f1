//! The layers of what an allocator holds: how each is drawn in bars and maps. Texture alone tells them apart.

use super::figures::Sum;
use crate::model::Bytes;
use crate::output::explain::{Bar, Tone};

/// Heights from nothing to all.
pub(super) const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

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

impl Layer {
    pub(super) const fn glyph(self) -> char {
        match self {
            Self::Live => '█',
            Self::Pending => '▓',
            Self::Stuck => '▒',
            Self::Cached => '░',
        }
    }
}

/// A bar over `whole`, each part with its name and figure.
pub(super) fn bar(whole: Bytes, parts: &[(Layer, Bytes, &str)]) -> Bar {
    let sum = Sum::of(whole);
    let mut bar = Bar::new(whole.0, format!("{} {}", sum.short(whole), sum.unit()));
    for (layer, bytes, name) in parts {
        bar.add(format!("{name} {}", sum.short(*bytes)), bytes.0, layer.glyph(), Tone::Own);
    }
    bar
}
