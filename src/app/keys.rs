//! The one table of keys: input, the key line and the help are made from it.
//!
//! A key whose feature is not built is not listed.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

pub use super::bindings::BINDINGS;
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
    /// Tag the selected row, or take its tag away.
    Tag,
    /// Nobody is tagged.
    Untag,
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
    /// So many columns of the histories towards the newest, or back into the past.
    Past(i64),
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
    /// Wherever there are rows to walk through.
    Rows,
    /// On the dashboard over a machine.
    Live,
    /// On the dashboard over a recording.
    Replay,
    /// While a filter is typed.
    Filter,
    /// In the chooser of columns.
    Columns,
    /// Where a process is chosen: on the dashboard and in its detail.
    Process,
    /// There, and in the dialog that sends a signal.
    Signal,
    /// In the detail of a process.
    Detail,
    /// Where there may be more lines than fit.
    Reading,
    /// In the dialog that sends a signal.
    Dialog,
    /// On every screen above the dashboard.
    Above,
}

/// One key with its modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Press {
    pub(super) code: KeyCode,
    pub(super) control: bool,
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

impl Binding {
    /// Whether the keys work on that screen.
    pub fn works_on(&self, screen: Screen, mode: Mode) -> bool {
        let dashboard = screen == Screen::Dashboard;
        match self.place {
            Place::Everywhere => true,
            Place::Dashboard => dashboard,
            Place::Rows => matches!(screen, Screen::Dashboard | Screen::Filter | Screen::Columns),
            Place::Live => dashboard && mode == Mode::Live,
            Place::Process => dashboard || screen == Screen::Detail,
            Place::Signal => matches!(screen, Screen::Dashboard | Screen::Detail | Screen::Signal),
            Place::Detail => screen == Screen::Detail,
            Place::Reading => matches!(screen, Screen::Detail | Screen::Help),
            Place::Dialog => screen == Screen::Signal,
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

    /// Whether they work in a session that was set up so.
    pub fn is_offered(&self, setup: &Setup) -> bool {
        match self.action {
            action if action.changes_the_world() => setup.may_act(),
            Action::Environment => setup.mode == Mode::Live,
            _ => true,
        }
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
        let screens = [Screen::Dashboard, Screen::Help, Screen::Filter, Screen::Columns, Screen::Detail, Screen::Signal];
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
        for screen in [Screen::Dashboard, Screen::Help, Screen::Detail, Screen::Signal] {
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
