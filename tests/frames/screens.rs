//! Every screen at every size as text, and four of them in every theme with the style of each cell.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier, Style};
use vramtop::app::{Answer, App, Mode, Msg, update};
use vramtop::model::RunState;
use vramtop::view::{Colors, Theme, ThemeName};

use crate::stage::machine::Machine;
use crate::stage::{after, cells, dashboard, draw, stories};

const MONO: Theme = Theme::new(Colors::Never, false);
const SIZES: [(u16, u16); 4] = [(40, 10), (80, 24), (120, 36), (200, 50)];

/// Presses keys, each on what was drawn before; `⏎`, `⎋`, `↓`, `▼` (F2), `◀` (End) and `⇥` stand for those without a letter.
pub(crate) fn keys(app: &mut App, keys: &str) {
    for key in keys.chars() {
        draw(app, &MONO, 120, 36);
        let code = match key {
            '⏎' => KeyCode::Enter,
            '⎋' => KeyCode::Esc,
            '↓' => KeyCode::Down,
            '▼' => KeyCode::F(2),
            '◀' => KeyCode::End,
            '⇥' => KeyCode::Tab,
            letter => KeyCode::Char(letter),
        };
        update(app, Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        if let Some(dialog) = app.dialog() {
            let opened = Msg::Answer { key: dialog.subjects[0].key, answer: Answer::Opened(Ok(RunState('S'))) };
            update(app, opened);
        }
    }
}

/// A screen: its name, the machine, and the keys that lead to it.
struct Screen(&'static str, fn() -> App, &'static str);

const SCREENS: &[Screen] = &[
    Screen("dashboard", || after(&stories::two_h200()), ""),
    Screen("eight_gpus", || after(&stories::eight_h100()), ""),
    Screen("mig", || after(&stories::mig()), ""),
    Screen("ended", || after(&stories::with_a_death()), "◀"),
    Screen("detail", || after(&stories::two_h200()), "↓⏎"),
    Screen("help", || after(&stories::two_h200()), "?"),
    Screen("columns", || after(&stories::two_h200()), "▼"),
    Screen("signal", || after(&stories::two_h200()), "↓K"),
    Screen("filter", || after(&stories::with_a_death()), "/ann"),
    Screen("grouped", || after(&stories::two_h200()), "o⇥"),
    Screen("tree", || after(&stories::family()), "t"),
    Screen("focus", || after(&stories::two_h200()), "1"),
    Screen("waiting", || dashboard(Mode::Live), ""),
    Screen("no_gpu", || after(&Machine { cards: Vec::new(), holders: Vec::new(), ..stories::desktop() }), ""),
];

#[test]
fn every_screen_at_every_size() {
    for Screen(name, app, way) in SCREENS {
        let mut app = app();
        keys(&mut app, way);
        let mut frames = Vec::new();
        for (width, height) in SIZES {
            let frame = cells(&mut app, &MONO, width, height);
            frames.push(format!("{width}x{height}"));
            for line in frame.content.chunks(usize::from(width)) {
                frames.push(format!("|{}|", line.iter().map(Cell::symbol).collect::<String>()));
            }
        }
        insta::assert_snapshot!(format!("screen_{name}"), frames.join("\n"));
        for (width, height) in [(1, 1), (2, 40), (300, 1)] {
            draw(&mut app, &MONO, width, height);
        }
    }
}

/// What a terminal may be given, by name.
const LOOKS: [(&str, Theme); 6] = [
    ("default", Theme::named(ThemeName::Default, Colors::True, false)),
    ("default_16", Theme::named(ThemeName::Default, Colors::Sixteen, false)),
    ("light", Theme::named(ThemeName::Light, Colors::True, false)),
    ("colour_blind", Theme::named(ThemeName::ColourBlind, Colors::True, false)),
    ("mono", Theme::named(ThemeName::Mono, Colors::True, false)),
    ("ascii", Theme::named(ThemeName::Default, Colors::Never, true)),
];

#[test]
fn the_style_of_every_cell_in_every_theme() {
    for (name, theme) in LOOKS {
        let mut styled = Styled::default();
        for (screen, way, (width, height)) in
            [("dashboard", "n", (120, 36)), ("detail", "↓⏎", (80, 24)), ("signal", "↓K", (80, 24)), ("help", "?", (80, 24))]
        {
            let mut app = after(&stories::with_a_death());
            keys(&mut app, way);
            styled.add(screen, &cells(&mut app, &theme, width, height));
        }
        insta::assert_snapshot!(format!("style_{name}"), styled.finish());
    }
}

#[test]
fn no_color_looks_as_mono() {
    let mut app = after(&stories::two_h200());
    let mono = Theme::named(ThemeName::Mono, Colors::True, false);
    assert!(cells(&mut app, &MONO, 120, 36) == cells(&mut app, &mono, 120, 36));
}

/// Lines of text, below each a letter for the style of each cell, and at the end what the letters stand for.
#[derive(Default)]
struct Styled {
    lines: Vec<String>,
    legend: Vec<Style>,
}

impl Styled {
    fn add(&mut self, name: &str, frame: &Buffer) {
        self.lines.push(format!("== {name}"));
        for line in frame.content.chunks(usize::from(frame.area.width)) {
            let letters: String = line.iter().map(|cell| self.letter(cell)).collect();
            let text: String = line.iter().map(Cell::symbol).collect();
            self.lines.extend([format!("|{}", text.trim_end()), format!(" {}", letters.trim_end())]);
        }
    }

    /// Blanks are alike, unless there is something behind them.
    fn letter(&mut self, cell: &Cell) -> char {
        let blank = cell.symbol() == " ";
        let fg = if blank { Color::Reset } else { cell.fg };
        let modifier = if blank { cell.modifier & Modifier::REVERSED } else { cell.modifier };
        let style = Style { fg: Some(fg), bg: Some(cell.bg), add_modifier: modifier, ..Style::new() };
        if style == (Style { fg: Some(Color::Reset), bg: Some(Color::Reset), ..Style::new() }) {
            return if blank { ' ' } else { '.' };
        }
        let at = self.legend.iter().position(|known| *known == style).unwrap_or_else(|| {
            self.legend.push(style);
            self.legend.len() - 1
        });
        ('a'..='z').chain('A'..='Z').nth(at).unwrap_or('*')
    }

    fn finish(mut self) -> String {
        self.lines.push("== styles".to_owned());
        for (letter, style) in ('a'..='z').chain('A'..='Z').zip(&self.legend) {
            let mut words = Vec::new();
            words.extend(style.fg.filter(|fg| *fg != Color::Reset).map(|fg| fg.to_string()));
            words.extend(style.bg.filter(|bg| *bg != Color::Reset).map(|bg| format!("on {bg}")));
            words.extend(style.add_modifier.iter_names().map(|(name, _)| name.to_lowercase()));
            self.lines.push(format!("{letter} {}", words.join(" ")));
        }
        self.lines.join("\n")
    }
}
