//! The one table of keys: input, the key line and the help are made from it.
//!
//! A key whose feature is not built is not listed.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::{Mode, Screen, Setup};
use crate::model::Signal;

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
    /// The next sentence in line 2.
    NextNotice,
    /// The selected process from close by; or the one that line 2 names is selected, while somebody walks through its sentences.
    Open,
    /// The environment of a process, and out of it.
    Environment,
    /// So many lines down, or up.
    Scroll(isize),
    /// The dialog that sends a signal, with this one under the cursor.
    Signal(Signal),
    /// So many signals down, or up.
    Choose(isize),
    /// The signal under the cursor is sent.
    Send,
    /// Hold the picture, or the replay.
    Pause,
    /// Twice the speed of a replay.
    Faster,
    /// Half the speed of a replay.
    Slower,
    /// The help, and out of it.
    Help,
    /// One step back.
    Back,
    /// Leave.
    Quit,
    /// Draw every cell anew.
    Redraw,
    /// Stop as a job, as Ctrl-Z does elsewhere.
    Suspend,
}

impl Action {
    /// Whether it is offered only where something may be changed.
    pub const fn changes_the_world(self) -> bool {
        matches!(self, Self::Signal(_) | Self::Send)
    }
}

/// Where a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On every screen.
    Everywhere,
    /// On the dashboard.
    Dashboard,
    /// On the dashboard over a recording.
    Replay,
    /// Where a process is chosen: on the dashboard and in its detail.
    Process,
    /// There, and in the dialog that sends a signal.
    Signal,
    /// In the detail of a process.
    Detail,
    /// In the dialog that sends a signal.
    Dialog,
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
    /// What they do.
    pub help: &'static str,
    /// Keys and word in the key line, where they stand there. A neighbour's key may be written with it.
    pub line: Option<(&'static str, &'static str)>,
}

/// Every key.
pub const BINDINGS: &[Binding] = &[
    Binding {
        keys: &[key(KeyCode::Up), char('k')],
        shown: "↑ k",
        action: Action::Up,
        place: Place::Dashboard,
        help: "select the row above; it stays selected wherever it moves",
        line: Some(("↑↓", "select")),
    },
    Binding {
        keys: &[key(KeyCode::Down), char('j')],
        shown: "↓ j",
        action: Action::Down,
        place: Place::Dashboard,
        help: "select the row below",
        line: None,
    },
    Binding { keys: &[key(KeyCode::PageUp)], shown: "PgUp", action: Action::PageUp, place: Place::Dashboard, help: "a page up", line: None },
    Binding { keys: &[key(KeyCode::PageDown)], shown: "PgDn", action: Action::PageDown, place: Place::Dashboard, help: "a page down", line: None },
    Binding { keys: &[key(KeyCode::Home)], shown: "Home", action: Action::First, place: Place::Dashboard, help: "the largest holder", line: None },
    Binding { keys: &[key(KeyCode::End)], shown: "End", action: Action::Last, place: Place::Dashboard, help: "the last row", line: None },
    Binding {
        keys: &[char('n')],
        shown: "n",
        action: Action::NextNotice,
        place: Place::Dashboard,
        help: "the next notice in line 2",
        line: Some(("n", "next notice")),
    },
    Binding {
        keys: &[key(KeyCode::Enter)],
        shown: "↵",
        action: Action::Open,
        place: Place::Dashboard,
        help: "the selected process in detail; after n: select the one that line 2 names",
        line: Some(("↵", "detail")),
    },
    Binding {
        keys: &[char(' ')],
        shown: "␣",
        action: Action::Pause,
        place: Place::Dashboard,
        help: "hold the picture, or the replay, and go on",
        line: Some(("␣", "pause")),
    },
    Binding {
        keys: &[char('+')],
        shown: "+",
        action: Action::Faster,
        place: Place::Replay,
        help: "replay twice as fast",
        line: Some(("+-", "speed")),
    },
    Binding { keys: &[char('-')], shown: "-", action: Action::Slower, place: Place::Replay, help: "replay half as fast", line: None },
    Binding {
        keys: &[char('e')],
        shown: "e",
        action: Action::Environment,
        place: Place::Detail,
        help: "in the detail: the environment of the process, with secrets masked",
        line: Some(("e", "environment")),
    },
    Binding { keys: &[key(KeyCode::Up), char('k')], shown: "↑ k", action: Action::Scroll(-1), place: Place::Detail, help: "", line: None },
    Binding { keys: &[key(KeyCode::Down), char('j')], shown: "↓ j", action: Action::Scroll(1), place: Place::Detail, help: "", line: None },
    Binding { keys: &[key(KeyCode::PageUp)], shown: "PgUp", action: Action::Scroll(-20), place: Place::Detail, help: "", line: None },
    Binding { keys: &[key(KeyCode::PageDown)], shown: "PgDn", action: Action::Scroll(20), place: Place::Detail, help: "", line: None },
    Binding {
        keys: &[char('K'), key(KeyCode::F(9))],
        shown: "K F9 T I",
        action: Action::Signal(Signal::Term),
        place: Place::Process,
        help: "send a signal to the process, after asking; T begins with TERM, I with INT",
        line: Some(("K", "kill")),
    },
    Binding { keys: &[char('T')], shown: "T", action: Action::Signal(Signal::Term), place: Place::Signal, help: "", line: None },
    Binding { keys: &[char('I')], shown: "I", action: Action::Signal(Signal::Int), place: Place::Signal, help: "", line: None },
    Binding {
        keys: &[key(KeyCode::Up), char('k')],
        shown: "↑ k",
        action: Action::Choose(-1),
        place: Place::Dialog,
        help: "",
        line: Some(("↑↓", "signal")),
    },
    Binding { keys: &[key(KeyCode::Down), char('j')], shown: "↓ j", action: Action::Choose(1), place: Place::Dialog, help: "", line: None },
    Binding { keys: &[key(KeyCode::Enter)], shown: "↵", action: Action::Send, place: Place::Dialog, help: "", line: Some(("↵", "send it")) },
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
        help: "one step back",
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
            Place::Everywhere => true,
            Place::Dashboard => dashboard,
            Place::Process => dashboard || screen == Screen::Detail,
            Place::Signal => !matches!(screen, Screen::Help),
            Place::Detail => screen == Screen::Detail,
            Place::Dialog => screen == Screen::Signal,
            Place::Replay => dashboard && matches!(mode, Mode::Replay { .. }),
            Place::Above => !dashboard,
        }
    }

    /// Whether the help lists them: what works nowhere in this mode is left out.
    pub fn is_listed(&self, mode: Mode) -> bool {
        !self.help.is_empty() && (self.place != Place::Replay || matches!(mode, Mode::Replay { .. }))
    }

    /// Whether they work in a session that was set up so.
    pub fn is_offered(&self, setup: &Setup) -> bool {
        !self.action.changes_the_world() || setup.may_act()
    }
}

/// What a key asks for on that screen.
pub fn action(key: &KeyEvent, screen: Screen, mode: Mode) -> Option<Action> {
    if key.kind == KeyEventKind::Release || key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SUPER) {
        return None;
    }
    let press = Press { code: key.code, control: key.modifiers.contains(KeyModifiers::CONTROL) };
    BINDINGS.iter().find(|binding| binding.keys.contains(&press) && binding.works_on(screen, mode)).map(|binding| binding.action)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_bound_twice_on_one_screen() {
        for screen in [Screen::Dashboard, Screen::Help, Screen::Detail, Screen::Signal] {
            let mode = Mode::Replay { length_ms: None };
            let bound: Vec<&Press> = BINDINGS.iter().filter(|b| b.works_on(screen, mode)).flat_map(|b| b.keys).collect();
            for (at, press) in bound.iter().enumerate() {
                assert!(!bound[..at].contains(press), "{press:?} on {screen:?}");
            }
        }
    }

    #[test]
    fn quitting_works_everywhere() {
        let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        for screen in [Screen::Dashboard, Screen::Help, Screen::Detail, Screen::Signal] {
            assert_eq!(action(&control_c, screen, Mode::Live), Some(Action::Quit));
        }
        let c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::NONE);
        assert_eq!(action(&c, Screen::Dashboard, Mode::Live), None);
    }

    #[test]
    fn the_speed_is_a_replay_s_alone() {
        let plus = KeyEvent::new(KeyCode::Char('+'), KeyModifiers::SHIFT);
        assert_eq!(action(&plus, Screen::Dashboard, Mode::Live), None);
        assert_eq!(action(&plus, Screen::Dashboard, Mode::Replay { length_ms: None }), Some(Action::Faster));
    }
}
