//! The same frame in ASCII: every glyph has one stand-in of the same width, so nothing else has to know.

use ratatui::buffer::Buffer;

/// What stands for a glyph; foreign letters become `?`.
const fn stand_in(glyph: char) -> char {
    match glyph {
        ' '..='~' => glyph,
        '▕' => '[',
        '▏' => ']',
        '▁' | '▂' => '.',
        '▃' | '▄' => ':',
        '▅' | '▆' | '─' | '−' | '–' | '—' | '·' => '-',
        '▇' | '■' => '=',
        '█' | '▓' | '▒' => '#',
        '░' | '│' => '|',
        '╱' => '/',
        '┬' | '┴' => '+',
        '≈' | '…' => '~',
        '↑' | '▲' | '▴' => '^',
        '↓' | '▾' => 'v',
        '▸' | '›' | '≥' => '>',
        '←' | '↵' => '<',
        '●' => '*',
        '×' => 'x',
        '␣' => '_',
        '°' => ' ',
        _ => '?',
    }
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
