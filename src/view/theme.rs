//! Colours by role. No picture needs them: without colours weight and texture remain.

use ratatui::style::{Color, Modifier, Style};

use super::palette::{Name, Palette, Shade, dimmed};
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
        Self::named(Name::Default, colors, ascii)
    }

    /// The theme of that name. Mono has no colours, whatever the terminal has.
    pub const fn named(name: Name, colors: Colors, ascii: bool) -> Self {
        let colors = if matches!(name, Name::Mono) { Colors::Never } else { colors };
        Self { colors, ascii, palette: Palette::of(name) }
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
                Slice { glyph: if alternate { '▓' } else { '█' }, fill: plain.fg(color), label: plain.fg(ink_on(color)).bg(color) }
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

/// What can be read on one of the sixteen colours, which differ from terminal to terminal: white on those that are dark in most.
const fn ink_on(color: Color) -> Color {
    match color {
        Color::Blue | Color::Magenta | Color::DarkGray => Color::White,
        _ => Color::Black,
    }
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

    const EVERY: [Colors; 4] = [Colors::Never, Colors::Sixteen, Colors::Many, Colors::True];

    fn themes() -> impl Iterator<Item = Theme> {
        Name::ALL.into_iter().flat_map(|name| EVERY.map(|colors| Theme::named(name, colors, false)))
    }

    const HUES: [Hue; 6] = [Hue::Mine, Hue::Other(0), Hue::Other(1), Hue::Other(2), Hue::Other(3), Hue::Unseen];

    #[test]
    fn neighbours_of_one_hue_differ_everywhere() {
        for theme in themes() {
            for hue in HUES {
                let (a, b) = (theme.slice(hue, false, 'a'), theme.slice(hue, true, 'b'));
                assert!((a.glyph, a.fill) != (b.glyph, b.fill), "{theme:?} {hue:?}");
            }
        }
    }

    #[test]
    fn every_role_has_a_look_in_every_theme() {
        let quiet = [Role::Label, Role::Driver, Role::History, Role::Small];
        for theme in themes() {
            // What recedes has a colour of its own, or is dim.
            for role in quiet {
                let style = theme.style(role);
                assert!(style.fg.is_some() || style.add_modifier.contains(Modifier::DIM), "{role:?} in {theme:?}");
            }
            let loud = [Role::Figure, Role::Notice(Severity::Alarm)];
            assert!(loud.iter().all(|role| theme.style(*role).add_modifier.contains(Modifier::BOLD)), "{theme:?}");
            if theme.colors != Colors::Never {
                for role in [Role::Notice(Severity::Warn), Role::Notice(Severity::Alarm), Role::Live, Role::Hue(Hue::Mine)] {
                    assert!(theme.style(role).fg.is_some(), "{role:?} in {theme:?}");
                }
            }
        }
    }

    #[test]
    fn mono_is_without_colours() {
        for colors in EVERY {
            let theme = Theme::named(Name::Mono, colors, false);
            assert!(HUES.iter().all(|hue| theme.style(Role::Hue(*hue)).fg.is_none() && theme.slice(*hue, false, 'a').label.bg.is_none()));
        }
    }

    /// What a colour is in 24 bits; of the named ones nobody knows.
    fn rgb(color: Option<Color>) -> Option<[u8; 3]> {
        const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
        match color? {
            Color::Rgb(r, g, b) => Some([r, g, b]),
            Color::Indexed(n @ 16..=231) => Some([(n - 16) / 36, (n - 16) / 6 % 6, (n - 16) % 6].map(|level| LEVELS[usize::from(level)])),
            Color::Indexed(n @ 232..) => Some([8 + (n - 232) * 10; 3]),
            _ => None,
        }
    }

    /// Relative luminance, <https://www.w3.org/TR/WCAG21/#dfn-relative-luminance>.
    fn luminance(color: [u8; 3]) -> f64 {
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        let [r, g, b] = color.map(linear);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        if a > b { a / b } else { b / a }
    }

    #[test]
    fn contrast_is_what_the_standard_says() {
        assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-9);
        // The lightest grey that passes AA on white.
        assert!((contrast([0x76; 3], [255; 3]) - 4.54).abs() < 0.01);
    }

    /// The sixteen as xterm has them, and as the console of Linux does (those of the VGA).
    const SIXTEEN: [(Color, [u32; 2]); 16] = [
        (Color::Black, [0, 0]),
        (Color::Red, [0xcd_0000, 0xaa_0000]),
        (Color::Green, [0x00_cd00, 0x00_aa00]),
        (Color::Yellow, [0xcd_cd00, 0xaa_5500]),
        (Color::Blue, [0x00_00ee, 0x00_00aa]),
        (Color::Magenta, [0xcd_00cd, 0xaa_00aa]),
        (Color::Cyan, [0x00_cdcd, 0x00_aaaa]),
        (Color::Gray, [0xe5_e5e5, 0xaa_aaaa]),
        (Color::DarkGray, [0x7f_7f7f, 0x55_5555]),
        (Color::LightRed, [0xff_0000, 0xff_5555]),
        (Color::LightGreen, [0x00_ff00, 0x55_ff55]),
        (Color::LightYellow, [0xff_ff00, 0xff_ff55]),
        (Color::LightBlue, [0x5c_5cff, 0x55_55ff]),
        (Color::LightMagenta, [0xff_00ff, 0xff_55ff]),
        (Color::LightCyan, [0x00_ffff, 0x55_ffff]),
        (Color::White, [0xff_ffff, 0xff_ffff]),
    ];

    #[test]
    fn the_name_in_a_slice_of_sixteen_colours_can_be_read() {
        let rgb = |color: Option<Color>, terminal: usize| {
            let (_, known) = SIXTEEN.iter().find(|(name, _)| Some(*name) == color).expect("one of the sixteen");
            let [_, r, g, b] = known[terminal].to_be_bytes();
            [r, g, b]
        };
        for name in [Name::Default, Name::Light, Name::ColourBlind] {
            let theme = Theme::named(name, Colors::Sixteen, false);
            for (hue, terminal) in HUES.into_iter().flat_map(|hue| [(hue, 0), (hue, 1)]) {
                let label = theme.slice(hue, false, 'a').label;
                let contrast = contrast(rgb(label.fg, terminal), rgb(label.bg, terminal));
                assert!(contrast >= 3.0, "ink on {hue:?} in {name:?}, terminal {terminal}: {contrast:.2}");
            }
        }
    }

    /// A sixth of a channel's range apart at least, as a distance in RGB; how the named ones look nobody knows, but they are others.
    #[test]
    fn what_is_wrong_has_a_colour_that_no_owner_has() {
        let colored = themes().filter(|theme| theme.colors != Colors::Never);
        let notices = [Severity::Warn, Severity::Alarm].map(Role::Notice);
        for (theme, notice, hue) in colored.flat_map(|theme| notices.into_iter().flat_map(move |notice| HUES.map(|hue| (theme, notice, hue)))) {
            let (notice, owner) = (theme.style(notice).fg, theme.style(Role::Hue(hue)).fg);
            assert_ne!(notice, owner, "{hue:?} in {theme:?}");
            if let Some((a, b)) = rgb(notice).zip(rgb(owner)) {
                let distance: u32 = a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum();
                assert!(distance >= 42 * 42, "{notice:?} and {owner:?} of {hue:?} in {theme:?}");
            }
        }
    }

    /// WCAG 2.1 AA asks 4.5 of text.
    #[test]
    fn text_can_be_read_on_the_background_that_a_theme_is_for() {
        const WHITE: [u8; 3] = [255; 3];
        const DARK: [u8; 3] = [0x14, 0x17, 0x1c];
        for (name, background) in [(Name::Default, DARK), (Name::Light, WHITE), (Name::ColourBlind, DARK)] {
            for colors in [Colors::Many, Colors::True] {
                let theme = Theme::named(name, colors, false);
                let roles = [Role::Label, Role::Live, Role::Held, Role::Notice(Severity::Warn), Role::Notice(Severity::Alarm)];
                for role in roles.into_iter().chain(HUES.map(Role::Hue)) {
                    let color = rgb(theme.style(role).fg).expect("a colour");
                    let contrast = contrast(color, background);
                    assert!(contrast >= 4.5, "{role:?} in {name:?}, {colors:?}: {contrast:.2}");
                }
                for (hue, alternate) in HUES.into_iter().flat_map(|hue| [(hue, false), (hue, true)]) {
                    let label = theme.slice(hue, alternate, 'a').label;
                    let contrast = contrast(rgb(label.fg).expect("ink"), rgb(label.bg).expect("a slice"));
                    assert!(contrast >= 3.0, "ink on {hue:?} {alternate} in {name:?}, {colors:?}: {contrast:.2}");
                }
            }
        }
    }
}
