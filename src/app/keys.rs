//! The one table of keys: input, the key line and the help are made from it.
//!
//! A key whose feature is not built is not listed.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::{Mode, Screen};

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The row above.
    Up,
    /// The row below.
    Down,
    /// The first row.
    First,
    /// The last row.
    Last,
    /// As many rows up as are shown.
    PageUp,
    /// As many rows down as are shown.
    PageDown,
    /// Type a filter.
    Filter,
    /// The filter as it is typed.
    KeepFilter,
    /// No filter.
    ClearFilter,
    /// One letter less of the filter.
    EraseLetter,
    /// Neither a filter nor a focus.
    ShowAll,
    /// By the next column.
    NextSort,
    /// The other way round.
    ReverseSort,
    /// By VRAM.
    SortByVram,
    /// Only what belongs to the user who runs vramtop, or all.
    OnlyMine,
    /// Other rows as one.
    NextGrouping,
    /// The rows of a group, or the group alone.
    Unfold,
    /// Rows below those that started them, or not.
    Tree,
    /// Look at the GPU of that number alone, or at all.
    Focus(u32),
    /// More of the past.
    Longer,
    /// Less of the past.
    Shorter,
    /// Histories from zero, or not.
    ZeroBase,
    /// Mark the moment.
    Mark,
    /// Copy the selected line.
    Copy,
    /// The chooser of columns, and out of it.
    Columns,
    /// Wish something else of a column.
    TurnColumn,
    /// The next sentence in line 2.
    NextNotice,
    /// Hold the picture, or the replay.
    Pause,
    /// Twice the speed of a replay.
    Faster,
    /// Half the speed of a replay.
    Slower,
    /// The help, and out of it.
    Help,
    /// Back to the dashboard.
    Back,
    /// Leave.
    Quit,
    /// Draw every cell anew.
    Redraw,
    /// Stop as a job, as Ctrl-Z does elsewhere.
    Suspend,
}

/// Where a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On every screen.
    Everywhere,
    /// On the dashboard.
    Dashboard,
    /// Wherever there are lines to walk through.
    Rows,
    /// On the dashboard over a machine.
    Live,
    /// On the dashboard over a recording.
    Replay,
    /// While a filter is typed.
    Filter,
    /// In the chooser of columns.
    Columns,
    /// On every screen above the dashboard.
    Above,
}

/// One key with its modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Press {
    code: KeyCode,
    control: bool,
}

const fn key(code: KeyCode) -> Press {
    Press { code, control: false }
}

const fn char(c: char) -> Press {
    key(KeyCode::Char(c))
}

const fn control(c: char) -> Press {
    Press { code: KeyCode::Char(c), control: true }
}

/// One line of the table.
#[derive(Debug)]
pub struct Binding {
    /// The keys.
    pub keys: &'static [Press],
    /// The keys as they are written.
    pub shown: &'static str,
    /// What they ask for.
    pub action: Action,
    /// Where they work.
    pub place: Place,
    /// What they do; nothing where the line of a neighbour says it.
    pub help: &'static str,
    /// Keys and word in the key line, where they stand there. A neighbour's key may be written with it.
    pub line: Option<(&'static str, &'static str)>,
}

/// Every key.
pub const BINDINGS: &[Binding] = &[
    Binding {
        keys: &[key(KeyCode::Up), char('k')],
        shown: "↑↓ k j",
        action: Action::Up,
        place: Place::Rows,
        help: "select a row; it stays selected",
        line: Some(("↑↓", "select")),
    },
    Binding { keys: &[key(KeyCode::Down), char('j')], shown: "↓ j", action: Action::Down, place: Place::Rows, help: "", line: None },
    Binding { keys: &[key(KeyCode::PageUp)], shown: "PgUp PgDn", action: Action::PageUp, place: Place::Rows, help: "a page up or down", line: None },
    Binding { keys: &[key(KeyCode::PageDown)], shown: "PgDn", action: Action::PageDown, place: Place::Rows, help: "", line: None },
    Binding {
        keys: &[key(KeyCode::Home)],
        shown: "Home End",
        action: Action::First,
        place: Place::Rows,
        help: "the first row, the last",
        line: None,
    },
    Binding { keys: &[key(KeyCode::End)], shown: "End", action: Action::Last, place: Place::Rows, help: "", line: None },
    Binding {
        keys: &[char('/')],
        shown: "/",
        action: Action::Filter,
        place: Place::Dashboard,
        help: "filter: words, gpu:0,2, user:ann …",
        line: Some(("/", "filter")),
    },
    Binding {
        keys: &[key(KeyCode::Enter)],
        shown: "↵",
        action: Action::KeepFilter,
        place: Place::Filter,
        help: "keep the filter",
        line: Some(("↵", "keep")),
    },
    Binding {
        keys: &[key(KeyCode::Esc)],
        shown: "Esc",
        action: Action::ClearFilter,
        place: Place::Filter,
        help: "take the filter away",
        line: Some(("Esc", "clear")),
    },
    Binding {
        keys: &[key(KeyCode::Backspace)],
        shown: "Bksp",
        action: Action::EraseLetter,
        place: Place::Filter,
        help: "take the last letter away",
        line: None,
    },
    Binding {
        keys: &[char('s'), key(KeyCode::F(6))],
        shown: "s F6",
        action: Action::NextSort,
        place: Place::Dashboard,
        help: "sort by the next column",
        line: Some(("s", "sort")),
    },
    Binding {
        keys: &[char('S')],
        shown: "S",
        action: Action::ReverseSort,
        place: Place::Dashboard,
        help: "the other way round; unknown stays last",
        line: None,
    },
    Binding { keys: &[char('M')], shown: "M", action: Action::SortByVram, place: Place::Dashboard, help: "sort by VRAM again", line: None },
    Binding {
        keys: &[char('u')],
        shown: "u",
        action: Action::OnlyMine,
        place: Place::Dashboard,
        help: "only my processes, and all again",
        line: Some(("u", "mine")),
    },
    Binding {
        keys: &[char('o')],
        shown: "o",
        action: Action::NextGrouping,
        place: Place::Dashboard,
        help: "a row a user, container, job, process",
        line: Some(("o", "group")),
    },
    Binding {
        keys: &[key(KeyCode::Tab)],
        shown: "Tab",
        action: Action::Unfold,
        place: Place::Dashboard,
        help: "open the selected group, and fold it",
        line: None,
    },
    Binding {
        keys: &[char('t')],
        shown: "t",
        action: Action::Tree,
        place: Place::Dashboard,
        help: "processes below those that started them",
        line: Some(("t", "tree")),
    },
    Binding {
        keys: &[char('0'), char('1'), char('2'), char('3'), char('4'), char('5'), char('6'), char('7'), char('8'), char('9')],
        shown: "0-9",
        action: Action::Focus(0),
        place: Place::Dashboard,
        help: "that GPU alone, and all again",
        line: Some(("0-9", "GPU")),
    },
    Binding {
        keys: &[key(KeyCode::Esc)],
        shown: "Esc",
        action: Action::ShowAll,
        place: Place::Dashboard,
        help: "all GPUs and rows again: no filter",
        line: None,
    },
    Binding {
        keys: &[char('n')],
        shown: "n",
        action: Action::NextNotice,
        place: Place::Dashboard,
        help: "the next notice in line 2",
        line: Some(("n", "next notice")),
    },
    Binding {
        keys: &[char(' ')],
        shown: "␣",
        action: Action::Pause,
        place: Place::Dashboard,
        help: "hold the picture or replay, and go on",
        line: Some(("␣", "pause")),
    },
    Binding {
        keys: &[char('+')],
        shown: "+ -",
        action: Action::Faster,
        place: Place::Replay,
        help: "replay twice as fast, or half",
        line: Some(("+-", "speed")),
    },
    Binding { keys: &[char('-')], shown: "-", action: Action::Slower, place: Place::Replay, help: "", line: None },
    Binding {
        keys: &[char('[')],
        shown: "[ ]",
        action: Action::Longer,
        place: Place::Dashboard,
        help: "a longer or shorter past, 2 min to 24 h",
        line: None,
    },
    Binding { keys: &[char(']')], shown: "]", action: Action::Shorter, place: Place::Dashboard, help: "", line: None },
    Binding {
        keys: &[char('-')],
        shown: "+ -",
        action: Action::Longer,
        place: Place::Live,
        help: "a shorter or longer past, too",
        line: Some(("+-", "zoom")),
    },
    Binding { keys: &[char('+')], shown: "+", action: Action::Shorter, place: Place::Live, help: "", line: None },
    Binding { keys: &[char('z')], shown: "z", action: Action::ZeroBase, place: Place::Dashboard, help: "histories from zero, or not", line: None },
    Binding {
        keys: &[char('m')],
        shown: "m",
        action: Action::Mark,
        place: Place::Dashboard,
        help: "mark this moment in the histories",
        line: Some(("m", "mark")),
    },
    Binding {
        keys: &[char('y')],
        shown: "y",
        action: Action::Copy,
        place: Place::Dashboard,
        help: "copy the selected line (OSC 52)",
        line: Some(("y", "copy line")),
    },
    Binding {
        keys: &[key(KeyCode::F(2))],
        shown: "F2",
        action: Action::Columns,
        place: Place::Dashboard,
        help: "choose the columns; they are kept",
        line: Some(("F2", "columns")),
    },
    Binding {
        keys: &[char(' ')],
        shown: "␣",
        action: Action::TurnColumn,
        place: Place::Columns,
        help: "show a column where there is room, never, always",
        line: Some(("␣", "change")),
    },
    Binding {
        keys: &[key(KeyCode::F(2)), key(KeyCode::Enter)],
        shown: "F2 ↵",
        action: Action::Columns,
        place: Place::Columns,
        help: "back to the dashboard, and keep the choice",
        line: None,
    },
    Binding {
        keys: &[char('?'), key(KeyCode::F(1))],
        shown: "? F1",
        action: Action::Help,
        place: Place::Everywhere,
        help: "this help, and back",
        line: Some(("?", "help")),
    },
    Binding {
        keys: &[key(KeyCode::Esc)],
        shown: "Esc",
        action: Action::Back,
        place: Place::Above,
        help: "back to the dashboard",
        line: Some(("Esc", "back")),
    },
    Binding {
        keys: &[char('q'), key(KeyCode::F(10)), control('c')],
        shown: "q F10 Ctrl-C",
        action: Action::Quit,
        place: Place::Everywhere,
        help: "quit",
        line: Some(("q", "quit")),
    },
    Binding { keys: &[control('l')], shown: "Ctrl-L", action: Action::Redraw, place: Place::Everywhere, help: "draw the screen anew", line: None },
    Binding {
        keys: &[control('z')],
        shown: "Ctrl-Z",
        action: Action::Suspend,
        place: Place::Everywhere,
        help: "stop as a job; fg comes back",
        line: None,
    },
];

impl Binding {
    /// Whether the keys work on that screen.
    pub fn works_on(&self, screen: Screen, mode: Mode) -> bool {
        let dashboard = screen == Screen::Dashboard;
        match self.place {
            Place::Everywhere | Place::Rows => true,
            Place::Dashboard => dashboard,
            Place::Live => dashboard && mode == Mode::Live,
            Place::Replay => dashboard && matches!(mode, Mode::Replay { .. }),
            Place::Filter => screen == Screen::Filter,
            Place::Columns => screen == Screen::Columns,
            Place::Above => !matches!(screen, Screen::Dashboard | Screen::Filter),
        }
    }

    /// Whether the help lists them: what works nowhere in this mode is left out.
    pub fn is_listed(&self, mode: Mode) -> bool {
        let live = mode == Mode::Live;
        // What is typed into a line or a list is said beside it.
        let elsewhere = self.help.is_empty() || matches!(self.place, Place::Filter | Place::Columns);
        !elsewhere && !matches!((self.place, live), (Place::Replay, true) | (Place::Live, false))
    }
}

/// What a key asks for on that screen.
pub fn action(key: &KeyEvent, screen: Screen, mode: Mode) -> Option<Action> {
    if key.kind == KeyEventKind::Release || key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SUPER) {
        return None;
    }
    let press = Press { code: key.code, control: key.modifiers.contains(KeyModifiers::CONTROL) };
    let binding = BINDINGS.iter().find(|binding| binding.keys.contains(&press) && binding.works_on(screen, mode))?;
    Some(match (binding.action, key.code) {
        (Action::Focus(_), KeyCode::Char(digit)) => Action::Focus(digit.to_digit(10)?),
        (action, _) => action,
    })
}

/// The letter that a key types.
pub(super) fn letter(key: &KeyEvent) -> Option<char> {
    let plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SUPER);
    match key.code {
        KeyCode::Char(letter) if plain && key.kind != KeyEventKind::Release => Some(letter),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_bound_twice_on_one_screen() {
        let screens = [Screen::Dashboard, Screen::Help, Screen::Filter, Screen::Columns];
        for (screen, mode) in screens.into_iter().flat_map(|screen| [(screen, Mode::Live), (screen, Mode::Replay { length_ms: None })]) {
            let bound: Vec<&Press> = BINDINGS.iter().filter(|b| b.works_on(screen, mode)).flat_map(|b| b.keys).collect();
            for (at, press) in bound.iter().enumerate() {
                assert!(!bound[..at].contains(press), "{press:?} on {screen:?}");
            }
        }
    }

    #[test]
    fn quitting_works_everywhere() {
        let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        for screen in [Screen::Dashboard, Screen::Help] {
            assert_eq!(action(&control_c, screen, Mode::Live), Some(Action::Quit));
        }
        let c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::NONE);
        assert_eq!(action(&c, Screen::Dashboard, Mode::Live), None);
    }

    #[test]
    fn the_speed_is_a_replay_s_alone() {
        let plus = KeyEvent::new(KeyCode::Char('+'), KeyModifiers::SHIFT);
        assert_eq!(action(&plus, Screen::Dashboard, Mode::Live), Some(Action::Shorter));
        assert_eq!(action(&plus, Screen::Dashboard, Mode::Replay { length_ms: None }), Some(Action::Faster));
    }
}
