//! Every look that a terminal may be given, and a screen pinned in all of them at once.
//!
//! The text stands once, in the first look, with a letter below each cell. A letter is what the cell's style is in *all* looks, so that no
//! cell can change in one of them unseen; what the letters stand for is a snapshot of its own. Lines that have other glyphs in another
//! look follow; those of ASCII, whose words may have other places, with letters of their own where these differ.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may fail")]

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthStr as _;
use vramtop::app::{App, Hue};
use vramtop::insight::Severity;
use vramtop::view::{Colors, Role, Theme, ThemeName};

use crate::stage::cells;

/// The sizes of the design.
const SIZES: [(u16, u16); 4] = [(40, 10), (80, 24), (120, 36), (200, 50)];
const NAMES: [(&str, ThemeName); 3] = [("default", ThemeName::Default), ("light", ThemeName::Light), ("colour-blind", ThemeName::ColourBlind)];
const DEPTHS: [(&str, Colors); 3] = [("24 bits", Colors::True), ("256", Colors::Many), ("16", Colors::Sixteen)];

/// Themes that are told apart by their colours alone; a line of the table of styles.
struct Row {
    name: &'static str,
    themes: Vec<Theme>,
}

/// All there are: each theme in each number of colours, and mono.
fn rows(ascii: bool) -> Vec<Row> {
    let coloured = DEPTHS.map(|(name, colors)| Row { name, themes: NAMES.map(|(_, theme)| Theme::named(theme, colors, ascii)).to_vec() });
    let mono = Row { name: "mono", themes: vec![Theme::named(ThemeName::Mono, Colors::True, ascii)] };
    coloured.into_iter().chain([mono]).collect()
}

/// The style of one cell in each look, in their order.
type Styles = Vec<Style>;

const PLAIN: Style = Style { fg: Some(Color::Reset), bg: Some(Color::Reset), ..Style::new() };

/// What a cell of that style has, where nothing was there before.
fn in_cell(style: Style) -> Style {
    let mut cell = Cell::default();
    cell.set_style(style);
    style_of(&cell)
}

fn style_of(cell: &Cell) -> Style {
    Style { fg: Some(cell.fg), bg: Some(cell.bg), add_modifier: cell.modifier, ..Style::new() }
}

fn is_blank(cell: &Cell) -> bool {
    cell.symbol() == " " && cell.bg == Color::Reset && !cell.modifier.intersects(Modifier::REVERSED | Modifier::UNDERLINED)
}

/// A letter, what it stands for, and how that looks.
type Letter = (char, String, Styles);

/// The letter of each role, and of each part of a bar.
fn letters(ascii: bool) -> Vec<Letter> {
    let themes: Vec<Theme> = rows(ascii).into_iter().flat_map(|row| row.themes).collect();
    let styles = |style: &dyn Fn(&Theme) -> Style| themes.iter().map(|theme| in_cell(style(theme))).collect::<Styles>();
    let roles = [
        ('f', "figure", Role::Figure),
        ('l', "label", Role::Label),
        ('d', "driver", Role::Driver),
        ('h', "history", Role::History),
        ('e', "edge of a history", Role::Edge),
        ('s', "small history", Role::Small),
        ('A', "alarm", Role::Notice(Severity::Alarm)),
        ('w', "warning, held", Role::Notice(Severity::Warn)),
        ('v', "live", Role::Live),
    ];
    let mut letters: Vec<_> = roles.map(|(letter, name, role)| (letter, name.to_owned(), styles(&|theme| theme.style(role)))).to_vec();
    letters.push(('r', "selected".to_owned(), styles(&|_| Theme::selected())));
    letters.push(('R', "selected, bold".to_owned(), styles(&|_| Theme::selected().add_modifier(Modifier::BOLD))));
    let hues = [
        (Hue::Mine, "mine", ['m', 'n', 'M', 'N']),
        (Hue::Other(0), "other1", ['1', '5', 'B', 'F']),
        (Hue::Other(1), "other2", ['2', '6', 'C', 'G']),
        (Hue::Other(2), "other3", ['3', '7', 'D', 'H']),
        (Hue::Other(3), "other4", ['4', '8', 'E', 'I']),
        (Hue::Unseen, "unseen", ['u', 'y', 'U', 'Y']),
    ];
    for (hue, name, [word, other, label, other_label]) in hues {
        letters.push((word, name.to_owned(), styles(&|theme| theme.style(Role::Hue(hue)))));
        letters.push((other, format!("{name}, every second slice"), styles(&|theme| theme.slice(hue, true, 'a').fill)));
        letters.push((label, format!("written on {name}"), styles(&|theme| theme.slice(hue, false, 'a').label)));
        letters.push((other_label, format!("written on every second slice of {name}"), styles(&|theme| theme.slice(hue, true, 'a').label)));
    }
    letters.push(('z', "slice of unseen".to_owned(), styles(&|theme| theme.slice(Hue::Unseen, false, 'a').fill)));
    letters
}

fn words(style: Style) -> String {
    let mut words = Vec::new();
    words.extend(style.fg.filter(|fg| *fg != Color::Reset).map(|fg| fg.to_string()));
    words.extend(style.bg.filter(|bg| *bg != Color::Reset).map(|bg| format!("on {bg}")));
    words.extend(style.add_modifier.iter_names().map(|(name, _)| name.to_lowercase()));
    if words.is_empty() { "plain".to_owned() } else { words.join(" ") }
}

/// A style in every look, a line for each number of colours.
fn table(styles: &[Style], prefix: &str) -> Vec<String> {
    let mut rest = styles.iter();
    let line = |Row { name, themes }: Row| {
        let styles: Vec<String> = rest.by_ref().take(themes.len()).map(|style| words(*style)).collect();
        format!("    {:<13} {}", format!("{prefix}{name}"), styles.join(" · "))
    };
    rows(false).into_iter().map(line).collect()
}

/// What the letters below the screens stand for. The lines of ASCII are there where they are others.
pub(crate) fn legend() -> String {
    let names = NAMES.map(|(name, _)| name).join(" · ");
    let mut lines = vec![". plain, everywhere".to_owned(), format!("{:18}{names}", "")];
    for ((letter, name, styles), (.., in_ascii)) in letters(false).into_iter().zip(letters(true)) {
        lines.push(format!("{letter} {name}"));
        lines.extend(table(&styles, ""));
        if styles != in_ascii {
            lines.extend(table(&in_ascii, "ascii "));
        }
    }
    lines.join("\n")
}

/// The lines of a frame as text; the second cell of a wide glyph has none.
fn text_of(frame: &Buffer) -> Vec<String> {
    let line = |cells: &[Cell]| {
        let (mut line, mut hidden) = (String::new(), 0);
        for symbol in cells.iter().map(Cell::symbol) {
            if hidden == 0 {
                line.push_str(symbol);
            }
            hidden = if hidden > 0 { hidden - 1 } else { symbol.width().saturating_sub(1) };
        }
        line.trim_end().to_owned()
    };
    frame.content.chunks(usize::from(frame.area.width)).map(line).collect()
}

fn same_glyphs(a: &Buffer, b: &Buffer) -> bool {
    a.content.iter().map(Cell::symbol).eq(b.content.iter().map(Cell::symbol))
}

/// The letter of the same cell in all looks.
fn letter_of(cells: &[&Cell], letters: &[Letter]) -> char {
    if cells.iter().all(|cell| is_blank(cell)) {
        return ' ';
    }
    let styles: Styles = cells.iter().map(|cell| style_of(cell)).collect();
    if styles.iter().all(|style| *style == PLAIN) {
        return '.';
    }
    let letter = letters.iter().find(|(.., known)| *known == styles).map(|(letter, ..)| *letter);
    letter.unwrap_or_else(|| panic!("the style of {:?} is that of no letter: {styles:?}", cells[0].symbol()))
}

/// A screen at one size: the lines of each row of looks, and the letters that all of them share.
struct Frames {
    texts: Vec<Vec<String>>,
    letters: Vec<String>,
}

impl Frames {
    fn new(app: &mut App, ascii: bool, (width, height): (u16, u16), letters: &[Letter]) -> Self {
        let frames: Vec<Vec<Buffer>> =
            rows(ascii).iter().map(|row| row.themes.iter().map(|theme| cells(app, theme, width, height)).collect()).collect();
        for row in &frames {
            assert!(row.iter().all(|frame| same_glyphs(frame, &row[0])), "a theme has other glyphs than the others of as many colours");
        }
        let all: Vec<&Buffer> = frames.iter().flatten().collect();
        let letter = |at: usize| letter_of(&all.iter().map(|frame| &frame.content[at]).collect::<Vec<_>>(), letters);
        let width = usize::from(width);
        let line = |row: usize| (row * width..(row + 1) * width).map(letter).collect::<String>().trim_end().to_owned();
        Self { texts: frames.iter().map(|row| text_of(&row[0])).collect(), letters: (0..usize::from(height)).map(line).collect() }
    }
}

/// A screen at every size and in every look.
pub(crate) fn pinned(app: &mut App) -> String {
    let (letters, ascii_letters) = (letters(false), letters(true));
    let (mut lines, mut others) = (Vec::new(), Vec::new());
    for size in SIZES {
        let title = format!("{}x{}", size.0, size.1);
        let frames = Frames::new(app, false, size, &letters);
        let ascii = Frames::new(app, true, size, &ascii_letters);
        let first = &frames.texts[0];
        lines.push(format!("== {title}"));
        lines.extend(first.iter().zip(&frames.letters).flat_map(|(text, letters)| [format!("|{text}"), format!(" {letters}")]));
        // Where other looks have other glyphs; as many colours have the same.
        for (row, text) in rows(false).iter().zip(&frames.texts).skip(1) {
            let mut differing = text.iter().zip(first).enumerate().filter(|(_, (line, first))| line != first).peekable();
            others.extend(differing.peek().map(|_| format!("== {title}, {}", row.name)));
            others.extend(differing.map(|(at, (line, _))| format!("{:>3}|{line}", at + 1)));
        }
        assert!(ascii.texts.iter().all(|text| *text == ascii.texts[0]), "ASCII has other glyphs in other colours");
        others.push(format!("== {title}, ascii"));
        for (at, (text, letters)) in ascii.texts[0].iter().zip(&ascii.letters).enumerate() {
            if *text != first[at] || *letters != frames.letters[at] {
                others.push(format!("{:>3}|{text}", at + 1));
            }
            if *letters != frames.letters[at] {
                others.push(format!("    {letters}"));
            }
        }
    }
    lines.into_iter().chain(others).collect::<Vec<_>>().join("\n")
}
