//! The colours of each theme, by role.

use ratatui::style::Color;

use crate::app::Hue;

/// The themes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Name {
    /// For dark backgrounds.
    #[default]
    Default,
    /// For light backgrounds.
    Light,
    /// For dark backgrounds; hues that are told apart with any kind of colour vision.
    ColourBlind,
    /// Weight and texture alone.
    Mono,
}

impl Name {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Default, Self::Light, Self::ColourBlind, Self::Mono];
}

/// A role's colour in 24 bits, of 256, and of 16 (`None` is the terminal's own foreground).
pub(super) type Shade = ((u8, u8, u8), u8, Option<Color>);

/// What a theme fills in: a colour for each role that has one.
#[derive(Debug)]
pub(super) struct Palette {
    pub(super) mine: Shade,
    pub(super) others: [Shade; Hue::OTHERS as usize],
    pub(super) unseen: Shade,
    pub(super) driver: Shade,
    pub(super) label: Shade,
    pub(super) history: Shade,
    pub(super) edge: Shade,
    pub(super) small: Shade,
    pub(super) warn: Shade,
    pub(super) alarm: Shade,
    pub(super) live: Shade,
    /// Text on a filled slice.
    pub(super) ink: Shade,
}

/// One strong hue, four quiet ones of one lightness, and greys.
const DEFAULT: Palette = Palette {
    mine: ((0x3a, 0xb8, 0xcc), 38, Some(Color::Cyan)),
    others: [
        ((0x6d, 0x8f, 0xc4), 67, Some(Color::LightBlue)),
        ((0x9a, 0x84, 0xc0), 139, Some(Color::Magenta)),
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
    ink: ((0x0e, 0x14, 0x18), 16, Some(Color::Black)),
};

/// The same hues, dark enough to be read on white. Of the sixteen few are: those that stand out least are the last.
const LIGHT: Palette = Palette {
    mine: ((0x00, 0x6f, 0x86), 24, Some(Color::Blue)),
    others: [
        ((0x3b, 0x62, 0xa8), 61, Some(Color::LightBlue)),
        ((0x75, 0x49, 0xab), 91, Some(Color::Cyan)),
        ((0x2b, 0x70, 0x5c), 29, Some(Color::Green)),
        ((0x7a, 0x5a, 0x4c), 95, Some(Color::DarkGray)),
    ],
    unseen: ((0x5f, 0x65, 0x6d), 241, None),
    driver: ((0xae, 0xb4, 0xbd), 249, Some(Color::Gray)),
    label: ((0x5f, 0x66, 0x70), 241, None),
    history: ((0xd0, 0xd5, 0xdc), 252, Some(Color::Gray)),
    edge: ((0x82, 0x8b, 0x97), 245, Some(Color::DarkGray)),
    small: ((0x97, 0x9f, 0xaa), 247, Some(Color::DarkGray)),
    warn: ((0x85, 0x5c, 0x00), 94, Some(Color::Magenta)),
    alarm: ((0xb3, 0x26, 0x1e), 124, Some(Color::Red)),
    live: ((0x24, 0x73, 0x36), 22, Some(Color::Green)),
    ink: ((0xff, 0xff, 0xff), 231, Some(Color::White)),
};

/// After Okabe and Ito (<https://jfly.uni-koeln.de/color/>); their blue is a step lighter, to be read on a dark background.
const COLOUR_BLIND: Palette = Palette {
    mine: ((0x56, 0xb4, 0xe9), 74, Some(Color::Cyan)),
    others: [
        ((0xe6, 0x9f, 0x00), 178, Some(Color::Yellow)),
        ((0x00, 0x9e, 0x73), 36, Some(Color::LightBlue)),
        ((0xcc, 0x79, 0xa7), 175, Some(Color::Magenta)),
        ((0x2f, 0x8f, 0xd0), 32, Some(Color::Gray)),
    ],
    warn: ((0xf0, 0xe4, 0x42), 227, Some(Color::LightYellow)),
    alarm: ((0xe0, 0x66, 0x0a), 208, Some(Color::LightRed)),
    live: ((0x00, 0x9e, 0x73), 36, Some(Color::LightBlue)),
    ..DEFAULT
};

impl Palette {
    pub(super) const fn of(name: Name) -> &'static Self {
        match name {
            Name::Default | Name::Mono => &DEFAULT,
            Name::Light => &LIGHT,
            Name::ColourBlind => &COLOUR_BLIND,
        }
    }

    pub(super) const fn shade(&self, hue: Hue) -> Shade {
        match hue {
            Hue::Mine => self.mine,
            Hue::Other(n) => self.others[if n < Hue::OTHERS { n as usize } else { self.others.len() - 1 }],
            Hue::Unseen => self.unseen,
        }
    }
}

/// The same hue, a step darker: for every second of several neighbours that share it.
pub(super) fn dimmed(((r, g, b), indexed, named): Shade) -> Shade {
    let darker = |c: u8| u8::try_from(u16::from(c) * 4 / 5).unwrap_or(c);
    // One step down the cube of xterm's colours, on each of its three axes; the lowest step is as high as two others.
    let step = if (16..232).contains(&indexed) {
        let n = indexed - 16;
        let down = |level: u8| if level > 1 { level - 1 } else { level };
        16 + down(n / 36) * 36 + down(n / 6 % 6) * 6 + down(n % 6)
    } else {
        indexed - 2
    };
    ((darker(r), darker(g), darker(b)), step, named)
}
