//! What the dashboard is looking at: the state behind the picture, and the one function that changes it.
//!
//! Nothing here draws, reads or asks the time: messages come in, an effect comes out as a value, and the main loop carries it out.

mod choose;
mod columns;
mod filter;
mod freshness;
mod groups;
pub mod keys;
mod listing;
mod mouse;
mod owners;
mod picture;
mod selection;
mod sort;
mod tags;
mod tree;
mod window;

pub use columns::{Column, Columns, Wish};
pub use freshness::{Freshness, Mode, Playback, Position, Waiting};
pub use groups::{Group, GroupId, Grouping};
pub use listing::Listing;
pub use mouse::{Spot, Target};
pub use owners::{Hue, Owner};
pub use picture::{Holder, Picture, RowId, TableRow};
pub use sort::Sort;
pub use tags::Tag;
pub use window::Window;

use std::ops::Range;

use crossterm::event::{KeyEvent, MouseEvent};
use jiff::tz::TimeZone;

use crate::insight::Severity;
use crate::model::{Moment, Record, SafeText};
use freshness::Clock;
use keys::Action;
use selection::Selection;

/// What is settled before the first record.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The zone in which times of day are shown.
    pub zone: TimeZone,
    /// Whether the records come from a machine or from a recording.
    pub mode: Mode,
    /// Where they come from, as the screen names it while nothing has come: a library, a file.
    pub source: SafeText,
}

/// Which screen is up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Screen {
    /// The GPUs and who holds them.
    #[default]
    Dashboard,
    /// The keys and the words.
    Help,
    /// The dashboard, with the line that the filter is typed into.
    Filter,
    /// Which columns the table has.
    Columns,
}

/// One thing that reaches the dashboard.
#[derive(Clone, Debug)]
pub enum Msg {
    /// The source sent something.
    Record(Box<Record>),
    /// A key was pressed.
    Key(KeyEvent),
    /// The mouse was used.
    Mouse(MouseEvent),
    /// Something to be said in passing, until the next key.
    Note(String),
    /// The terminal has another size, or was out of our hands (resumed after Ctrl-Z).
    Resize(u16, u16),
    /// The time, once a second. It changes the mark of freshness and nothing else.
    Tick(Moment),
    /// The source is inside a driver call.
    Waiting(Waiting),
    /// The source has ended, and why.
    Ended(String),
    /// A frame was drawn; this is what it showed.
    Drawn(Shown),
}

/// What a frame showed, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The rows, as positions in [`Picture::rows`].
    pub rows: Range<usize>,
    /// Whether the SM % column was among them.
    pub sm_percent: bool,
    /// The columns of the table, from left to right.
    pub columns: Vec<Column>,
    /// What answers to a click; the first that is hit counts.
    pub spots: Vec<Spot>,
}

/// What the source should ask because somebody looks at it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interest {
    /// The processes on screen, ascending.
    pub pids: Vec<u32>,
    /// Whether the SM % column is on screen.
    pub sm_percent: bool,
}

/// What the main loop has to do after a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Nothing.
    None,
    /// Draw a frame.
    Redraw,
    /// Draw every cell anew, whatever the terminal shows now.
    RedrawAll,
    /// Leave.
    Quit,
    /// Give the terminal back and stop, as Ctrl-Z does elsewhere.
    Suspend,
    /// Tell the replay, then draw.
    Playback(Playback),
    /// Tell the source what is looked at. No frame is due.
    Interest(Interest),
    /// Give this text to the clipboard, then draw.
    Copy(String),
    /// Keep the chosen columns for the next time, then draw.
    SaveColumns(String),
}

/// The sentence of line 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// How loud.
    pub severity: Severity,
    /// The sentence.
    pub text: String,
    /// Which of them, from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
}

/// Everything that a frame is drawn from.
#[derive(Debug)]
pub struct App {
    setup: Setup,
    live: Picture,
    /// The picture that was up when Space was pressed; samples go on into `live`.
    frozen: Option<Box<Picture>>,
    selection: Selection,
    screen: Screen,
    clock: Clock,
    notice: usize,
    notices: usize,
    shown: Shown,
    interest: Interest,
    listing: Listing,
    window: Window,
    columns: Columns,
    /// The line of the chooser of columns that is under the cursor; or how far the help is scrolled.
    chooser: usize,
    note: Option<String>,
}

impl App {
    /// Before the first record.
    pub fn new(setup: Setup) -> Self {
        Self {
            clock: Clock::new(setup.mode),
            setup,
            live: Picture::default(),
            frozen: None,
            selection: Selection::default(),
            screen: Screen::default(),
            notice: 0,
            notices: 0,
            shown: Shown::default(),
            interest: Interest::default(),
            listing: Listing::default(),
            window: Window::default(),
            columns: Columns::default(),
            chooser: 0,
            note: None,
        }
    }

    /// With columns that were chosen another time.
    #[must_use]
    pub fn with_columns(self, columns: Columns) -> Self {
        Self { columns, ..self }
    }

    /// What was settled before the first record.
    pub const fn setup(&self) -> &Setup {
        &self.setup
    }

    /// What is to be drawn: the newest picture, or the one that is held.
    pub fn picture(&self) -> &Picture {
        self.frozen.as_deref().unwrap_or(&self.live)
    }

    /// Which screen is up.
    pub const fn screen(&self) -> Screen {
        self.screen
    }

    /// Position of the row under the cursor in [`Picture::rows`].
    pub fn selected(&self) -> Option<usize> {
        (!self.picture().rows().is_empty()).then(|| self.selection.position())
    }

    /// By what choices the table is made.
    pub const fn listing(&self) -> &Listing {
        &self.listing
    }

    /// What the histories show.
    pub const fn window(&self) -> &Window {
        &self.window
    }

    /// What is wished of the columns.
    pub const fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The line under the cursor in the chooser of columns, or the first that the help shows where it does not fit.
    pub const fn chooser(&self) -> usize {
        self.chooser
    }

    /// The columns that the last frame had.
    pub fn columns_in_sight(&self) -> &[Column] {
        &self.shown.columns
    }

    /// What is said in passing.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// How fresh the picture is.
    pub fn freshness(&self) -> Freshness {
        self.clock.freshness(self.frozen.is_some(), self.live.monitor())
    }

    /// Which driver call the source was in when it last said so, unless a sample has come since.
    pub const fn waiting(&self) -> Option<&Waiting> {
        self.clock.waiting()
    }

    /// Why the source has ended, if it has.
    pub fn ended(&self) -> Option<&str> {
        self.clock.ended()
    }

    /// What line 2 says now; nothing when all is well.
    pub fn notice(&self) -> Option<Notice> {
        let warnings = self.picture().monitor().warnings();
        // A live source that ends is a failure and comes first; the end of a recording is none.
        let ended = self.clock.ended().filter(|_| self.setup.mode == Mode::Live);
        let of = warnings.len() + usize::from(ended.is_some());
        let place = self.notice.min(of.saturating_sub(1));
        let (severity, text) = match ended {
            Some(reason) if place == 0 => (Severity::Alarm, format!("reading has ended: {reason}")),
            _ => {
                let warning = warnings.get(place - usize::from(ended.is_some()))?;
                (warning.severity(), warning.to_string())
            }
        };
        Some(Notice { severity, text, number: place + 1, of })
    }

    /// Of more processes than these the host is asked only while they are on screen: each costs it 30 µs a second.
    const MOST_ASKED: usize = 256;

    fn take(&mut self, record: &Record) -> Effect {
        self.live.apply(record);
        if let Record::Sample(sample) = record {
            self.clock.sampled(sample.elapsed_ms);
        }
        if self.frozen.is_some() {
            return Effect::None;
        }
        self.relist();
        // Other warnings than before: the worst is shown again.
        let count = self.live.monitor().warnings().len();
        if count != self.notices {
            (self.notices, self.notice) = (count, 0);
        }
        Effect::Redraw
    }

    /// Makes the table anew that is on screen. The selected row stays so wherever it stands.
    fn relist(&mut self) {
        let picture = self.frozen.as_deref_mut().unwrap_or(&mut self.live);
        picture.list(&self.listing);
        self.selection.follow(picture.rows());
    }

    fn key(&mut self, key: &KeyEvent) -> Effect {
        let said = self.note.take().is_some();
        let letter = keys::letter(key).filter(|_| self.screen == Screen::Filter);
        let effect = match letter {
            Some(letter) => self.typed(letter),
            None => keys::action(key, self.screen, self.setup.mode).map_or(Effect::None, |action| self.act(action)),
        };
        if said && effect == Effect::None { Effect::Redraw } else { effect }
    }

    fn act(&mut self, action: Action) -> Effect {
        let page = isize::try_from(self.shown.rows.len().max(1)).unwrap_or(1);
        match action {
            Action::Up => self.step(-1),
            Action::Down => self.step(1),
            Action::PageUp => self.step(-page),
            Action::PageDown => self.step(page),
            Action::First => self.step(isize::MIN),
            Action::Last => self.step(isize::MAX),
            Action::NextNotice => {
                let of = self.notice().map_or(1, |notice| notice.of);
                self.notice = (self.notice + 1) % of.max(1);
            }
            Action::Pause => return self.pause(),
            Action::Faster => return self.clock.speed(2.0).map_or(Effect::None, Effect::Playback),
            Action::Slower => return self.clock.speed(0.5).map_or(Effect::None, Effect::Playback),
            Action::Help => {
                self.chooser = 0;
                self.screen = if self.screen == Screen::Help { Screen::Dashboard } else { Screen::Help };
            }
            Action::Back if self.screen == Screen::Columns => return self.leave_columns(),
            Action::Back => self.screen = Screen::Dashboard,
            Action::Quit => return Effect::Quit,
            Action::Redraw => return Effect::RedrawAll,
            Action::Suspend => return Effect::Suspend,
            chosen => return self.choose(chosen),
        }
        Effect::Redraw
    }

    fn step(&mut self, by: isize) {
        if matches!(self.screen, Screen::Columns | Screen::Help) {
            return self.step_chooser(by);
        }
        let rows = self.frozen.as_deref().unwrap_or(&self.live).rows();
        self.selection.step(rows, by);
    }

    /// Selects the row that is found, if one is.
    fn select(&mut self, find: impl FnOnce(&[TableRow]) -> Option<usize>) {
        let rows = self.frozen.as_deref().unwrap_or(&self.live).rows();
        if let Some(at) = find(rows) {
            self.selection.select(rows, at);
        }
    }

    /// A replay stands still; a live picture is held while samples go on being taken in.
    fn pause(&mut self) -> Effect {
        if let Mode::Replay { .. } = self.setup.mode {
            return self.clock.toggle_pause().map_or(Effect::None, Effect::Playback);
        }
        if self.frozen.take().is_some() {
            self.relist();
        } else if self.live.monitor().now().is_some() {
            self.frozen = Some(Box::new(self.live.clone()));
        }
        Effect::Redraw
    }

    fn drawn(&mut self, shown: Shown) -> Effect {
        let rows = self.picture().rows();
        let visible = rows.get(shown.rows.clone()).unwrap_or(&[]).iter();
        let selected = self.selected().and_then(|at| rows.get(at));
        let seen: Vec<&TableRow> = visible.chain(selected).collect();
        let mut pids: Vec<u32> = seen.iter().filter_map(|row| row.pid()).collect();
        pids.extend(seen.iter().filter_map(|row| self.picture().group(row)).flat_map(Group::pids).take(Self::MOST_ASKED));
        // What the table is in order of is asked of all rows, since it decides which of them are seen.
        if matches!(self.listing.sort.column, Column::Cpu | Column::Rss) {
            pids.extend(rows.iter().filter_map(TableRow::pid).take(Self::MOST_ASKED));
        }
        pids.sort_unstable();
        pids.dedup();
        let interest = Interest { pids, sm_percent: shown.sm_percent };
        self.shown = shown;
        if interest == self.interest {
            return Effect::None;
        }
        self.interest = interest.clone();
        Effect::Interest(interest)
    }
}

/// Takes in one message and says what has to be done about it.
pub fn update(app: &mut App, msg: Msg) -> Effect {
    let before = app.freshness();
    let redraw_if = |changed: bool| if changed { Effect::Redraw } else { Effect::None };
    match msg {
        Msg::Record(record) => app.take(&record),
        Msg::Key(key) => app.key(&key),
        Msg::Mouse(event) => app.mouse(event),
        Msg::Note(text) => {
            app.note = Some(text);
            Effect::Redraw
        }
        Msg::Resize(..) => Effect::RedrawAll,
        Msg::Tick(now) => {
            app.clock.tick(now);
            redraw_if(app.freshness() != before)
        }
        Msg::Waiting(waiting) => {
            let new = app.clock.waiting() != Some(&waiting);
            app.clock.wait(waiting);
            // During a picture that is fresh a call in progress is nothing to be shown.
            redraw_if(new && !matches!(before, Freshness::Live))
        }
        Msg::Ended(reason) => {
            app.clock.end(reason);
            Effect::Redraw
        }
        Msg::Drawn(shown) => app.drawn(shown),
    }
}

#[cfg(test)]
mod tests;
