//! The same frame in ASCII: every glyph has one stand-in of the same width, so nothing else has to know.

use std::borrow::Cow;

use ratatui::buffer::Buffer;

use super::theme::Theme;

/// What stands for a glyph; foreign letters become `?`.
const fn stand_in(glyph: char) -> char {
    match glyph {
        ' '..='~' => glyph,
        '▕' => '[',
        '▏' => ']',
        '▁' | '▂' => '.',
        '▃' | '▄' => ':',
        '▅' | '▆' | '−' | '–' | '—' | '·' => '-',
        '─' => '_',
        '▇' | '■' => '=',
        '█' | '▓' | '▒' => '#',
        '░' | '│' => '|',
        '╱' => '/',
        '┬' | '┴' => '+',
        '≈' | '…' => '~',
        '↑' | '▲' | '▴' => '^',
        '↓' | '▾' => 'v',
        '▸' | '›' | '≥' | '→' => '>',
        '←' => '<',
        '●' => '*',
        '×' => 'x',
        '°' => ' ',
        _ => '?',
    }
}

/// Keys as they are written: those that are pictures by their names, where there are no pictures.
pub(super) fn keys<'a>(written: &'a str, theme: &Theme) -> Cow<'a, str> {
    if theme.is_ascii() && written.contains(['↵', '␣']) {
        return Cow::Owned(written.replace('↵', "Enter").replace('␣', "Space"));
    }
    Cow::Borrowed(written)
}

/// Puts ASCII in the place of everything else.
pub(super) fn translate(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        let symbol = cell.symbol();
        if !symbol.is_ascii() {
            let glyph = symbol.chars().next().unwrap_or(' ');
            cell.set_char(stand_in(glyph));
        }
    }
}
