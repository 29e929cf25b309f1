//! Colours by role. No picture needs them: without colours weight and texture remain.

use ratatui::style::{Color, Modifier, Style};

use crate::app::Hue;
use crate::insight::Severity;

/// How many colours the terminal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colors {
    /// None are set at all: under `NO_COLOR` an empty colour sequence would undo the reversal of the selected row.
    Never,
    /// The terminal's own sixteen.
    Sixteen,
    /// The 256 of xterm.
    Many,
    /// 24 bits.
    True,
}

impl Colors {
    /// What a terminal says of itself: `NO_COLOR`, `COLORTERM` and `TERM`, as they stand in the environment.
    pub fn of_terminal(no_color: Option<&str>, colorterm: Option<&str>, term: Option<&str>) -> Self {
        let term = term.unwrap_or("");
        if no_color.is_some_and(|value| !value.is_empty()) || term == "dumb" {
            return Self::Never;
        }
        match colorterm {
            Some("truecolor" | "24bit") => Self::True,
            _ if term.contains("direct") => Self::True,
            _ if term.contains("256") => Self::Many,
            _ => Self::Sixteen,
        }
    }
}

/// What something is, as far as its look is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Plain text.
    Text,
    /// What the eye is to find: free, VRAM, a change.
    Figure,
    /// Captions, units, keys, everything that is silent.
    Label,
    /// An owner, or a process.
    Hue(Hue),
    /// The driver's reserve.
    Driver,
    /// Area of a history.
    History,
    /// Upper edge of a history.
    Edge,
    /// A history of one or two rows.
    Small,
    /// A sentence that is worth reading.
    Notice(Severity),
    /// The mark of a fresh picture.
    Live,
    /// The mark of a picture that is held, or of a replay.
    Held,
}

/// How a slice of a bar is filled.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// The glyph of its cells.
    pub glyph: char,
    /// Their style.
    pub fill: Style,
    /// The style of the text inside.
    pub label: Style,
}

/// A role's colour in 24 bits, of 256, and of 16 (`None` is the terminal's own foreground).
type Shade = ((u8, u8, u8), u8, Option<Color>);

/// What a theme fills in: a colour for each role that has one.
#[derive(Debug)]
struct Palette {
    mine: Shade,
    others: [Shade; Hue::OTHERS as usize],
    unseen: Shade,
    driver: Shade,
    label: Shade,
    history: Shade,
    edge: Shade,
    small: Shade,
    warn: Shade,
    alarm: Shade,
    live: Shade,
    /// Text on a filled slice.
    ink: Shade,
}

/// One strong hue, four quiet ones of one lightness, and greys.
const DEFAULT: Palette = Palette {
    mine: ((0x3a, 0xb8, 0xcc), 38, Some(Color::Cyan)),
    others: [
        ((0x6d, 0x8f, 0xc4), 67, Some(Color::LightBlue)),
        ((0x9a, 0x84, 0xc0), 97, Some(Color::Magenta)),
        ((0x66, 0x9f, 0x8c), 66, Some(Color::Green)),
        ((0xae, 0x99, 0x73), 137, Some(Color::Gray)),
    ],
    unseen: ((0x7c, 0x80, 0x86), 244, None),
    driver: ((0x4c, 0x50, 0x58), 239, Some(Color::DarkGray)),
    label: ((0x84, 0x89, 0x92), 245, None),
    history: ((0x40, 0x46, 0x51), 238, Some(Color::DarkGray)),
    edge: ((0x74, 0x7e, 0x8c), 244, None),
    small: ((0x5e, 0x67, 0x75), 241, Some(Color::DarkGray)),
    warn: ((0xe0, 0xb8, 0x4a), 179, Some(Color::Yellow)),
    alarm: ((0xf0, 0x62, 0x5d), 203, Some(Color::Red)),
    live: ((0x6f, 0xb9, 0x7a), 71, Some(Color::Green)),
    ink: ((0x0e, 0x14, 0x18), 233, Some(Color::Black)),
};

/// The look of everything.
#[derive(Clone, Copy, Debug)]
pub struct Theme {
    colors: Colors,
    ascii: bool,
    palette: &'static Palette,
}

impl Theme {
    /// The default theme in so many colours, in ASCII where the terminal or the locale has no more.
    pub const fn new(colors: Colors, ascii: bool) -> Self {
        Self { colors, ascii, palette: &DEFAULT }
    }

    /// Whether the frame is to be ASCII only.
    pub const fn is_ascii(&self) -> bool {
        self.ascii
    }

    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        let (style, palette) = (Style::new(), self.palette);
        match role {
            Role::Text => style,
            Role::Figure => style.add_modifier(Modifier::BOLD),
            Role::Label => self.quiet(palette.label),
            Role::Hue(hue) => self.fg(palette.shade(hue)),
            Role::Driver => self.quiet(palette.driver),
            Role::History => self.quiet(palette.history),
            Role::Edge => self.fg(palette.edge),
            Role::Small => self.quiet(palette.small),
            Role::Notice(Severity::Alarm) => self.fg(palette.alarm).add_modifier(Modifier::BOLD),
            Role::Notice(Severity::Warn) | Role::Held => self.fg(palette.warn),
            Role::Live => self.fg(palette.live),
        }
    }

    /// The row under the cursor: one look from end to end, so that no colour breaks its reversal.
    pub const fn selected() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// The look of a slice. `alternate` tells it from a neighbour of the same hue; `letter` fills it in ASCII.
    pub fn slice(&self, hue: Hue, alternate: bool, letter: char) -> Slice {
        let textures = match hue {
            Hue::Mine => ['█', '▓'],
            Hue::Other(n) if n % 2 == 0 => ['▓', '█'],
            Hue::Other(_) => ['░', '▓'],
            Hue::Unseen => ['░', '▒'],
        };
        let texture = textures[usize::from(alternate)];
        let (plain, shade) = (Style::new(), self.palette.shade(hue));
        if self.ascii {
            return Slice { glyph: letter, fill: self.fg(shade), label: self.fg(shade).add_modifier(Modifier::BOLD) };
        }
        match self.colors {
            Colors::Never => Slice { glyph: texture, fill: plain, label: plain },
            Colors::Sixteen => {
                let color = shade.2.unwrap_or(Color::Gray);
                Slice { glyph: if alternate { '▓' } else { '█' }, fill: plain.fg(color), label: plain.fg(Color::Black).bg(color) }
            }
            Colors::Many | Colors::True => {
                let color = self.pick(if alternate { dimmed(shade) } else { shade });
                let ink = self.pick(self.palette.ink);
                Slice { glyph: '█', fill: plain.fg(color), label: plain.fg(ink).bg(color) }
            }
        }
    }

    /// A colour that recedes; where there is none, the weight does.
    fn quiet(&self, shade: Shade) -> Style {
        let style = self.fg(shade);
        if style.fg.is_none() { style.add_modifier(Modifier::DIM) } else { style }
    }

    fn fg(&self, shade: Shade) -> Style {
        match self.colors {
            Colors::Never => Style::new(),
            Colors::Sixteen => shade.2.map_or(Style::new(), |color| Style::new().fg(color)),
            Colors::Many | Colors::True => Style::new().fg(self.pick(shade)),
        }
    }

    const fn pick(&self, ((r, g, b), indexed, _): Shade) -> Color {
        match self.colors {
            Colors::True => Color::Rgb(r, g, b),
            _ => Color::Indexed(indexed),
        }
    }
}

impl Palette {
    const fn shade(&self, hue: Hue) -> Shade {
        match hue {
            Hue::Mine => self.mine,
            Hue::Other(n) => self.others[if n < Hue::OTHERS { n as usize } else { self.others.len() - 1 }],
            Hue::Unseen => self.unseen,
        }
    }
}

/// The same hue, a step darker: for every second of several neighbours that share it.
fn dimmed(((r, g, b), indexed, named): Shade) -> Shade {
    let darker = |c: u8| u8::try_from(u16::from(c) * 4 / 5).unwrap_or(c);
    // One step down the cube of xterm's colours, on each of its three axes.
    let step = if (16..232).contains(&indexed) {
        let n = indexed - 16;
        let down = |level: u8| level.saturating_sub(1);
        16 + down(n / 36) * 36 + down(n / 6 % 6) * 6 + down(n % 6)
    } else {
        indexed - 2
    };
    ((darker(r), darker(g), darker(b)), step, named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_has_what_it_says() {
        assert_eq!(Colors::of_terminal(Some("1"), Some("truecolor"), Some("xterm")), Colors::Never);
        assert_eq!(Colors::of_terminal(Some(""), Some("truecolor"), Some("xterm")), Colors::True);
        assert_eq!(Colors::of_terminal(None, None, Some("screen-256color")), Colors::Many);
        assert_eq!(Colors::of_terminal(None, None, Some("linux")), Colors::Sixteen);
        assert_eq!(Colors::of_terminal(None, None, Some("dumb")), Colors::Never);
    }

    #[test]
    fn neighbours_of_one_hue_differ_everywhere() {
        for colors in [Colors::Never, Colors::Sixteen, Colors::Many, Colors::True] {
            let theme = Theme::new(colors, false);
            for hue in [Hue::Mine, Hue::Other(0), Hue::Other(1), Hue::Other(3), Hue::Unseen] {
                let (a, b) = (theme.slice(hue, false, 'a'), theme.slice(hue, true, 'b'));
                assert!((a.glyph, a.fill) != (b.glyph, b.fill), "{colors:?} {hue:?}");
            }
        }
    }
}
