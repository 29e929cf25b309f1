//! What reaches the dashboard, and what it asks for: plain values, carried by the main loop.

use std::ops::Range;

use crossterm::event::{KeyEvent, MouseEvent};
use jiff::tz::TimeZone;

use super::{Column, Mode, Playback, RowId, Spot, Waiting};
use crate::insight::Severity;
use crate::model::{Details, Moment, ProcessKey, Record, Refusal, RunState, SafeText, Signal};

/// What is settled before the first record.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The zone in which times of day are shown.
    pub zone: TimeZone,
    /// Whether the records come from a machine or from a recording.
    pub mode: Mode,
    /// Where they come from, as the screen names it while nothing has come: a library, a file.
    pub source: SafeText,
    /// Whether nothing may be changed.
    pub read_only: bool,
}

impl Setup {
    /// Whether signals can be sent: to this machine, and where nobody has forbidden it.
    pub fn may_act(&self) -> bool {
        self.mode == Mode::Live && !self.read_only
    }
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
    /// One process from close by.
    Detail,
    /// The dialog that sends a signal, over another screen.
    Signal,
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
    /// The terminal has another size.
    Resized,
    /// The time, once a second. It changes the mark of freshness and nothing else.
    Tick(Moment),
    /// The source is inside a driver call.
    Waiting(Waiting),
    /// The source has ended, and why.
    Ended {
        /// What happened, in words.
        reason: String,
        /// Whether it could not go on; a recording that was played to its end is none of that.
        failed: bool,
    },
    /// What came of an attempt to act on a process.
    Answer {
        /// Who it is.
        key: ProcessKey,
        /// What came of it.
        answer: Answer,
    },
    /// What was found out about a process on demand.
    Details(Box<Details>),
    /// A frame was drawn; this is what it showed.
    Drawn(Shown),
}

/// What came of an attempt to act on a process: its state at that moment, or why it was left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was taken hold of, or was not.
    Opened(Result<RunState, Refusal>),
    /// It was sent this signal, or was not.
    Signalled(Signal, Result<RunState, Refusal>),
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
    /// The time of one column of the histories of GPUs, in milliseconds.
    pub column_ms: u64,
    /// How much of what is scrolled can be above the screen; 0 where all of it fits.
    pub scroll_end: usize,
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
    /// Find out about a process what is in no record, without waiting for it.
    Look(ProcessKey),
    /// Take hold of these processes, so that a signal can reach them and no other.
    OpenTargets(Vec<ProcessKey>),
    /// Send a signal to processes that are held.
    Signal {
        /// Who is meant.
        keys: Vec<ProcessKey>,
        /// Which.
        signal: Signal,
    },
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
    /// The process that it names.
    pub names: Option<RowId>,
}
