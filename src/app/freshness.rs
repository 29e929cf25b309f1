//! How fresh the picture is, from the records' own time and from a tick a second; a local clock is never read.

use crate::model::Moment;
use crate::monitor::Monitor;

/// Where the records come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A machine, now.
    Live,
    /// A recording.
    Replay {
        /// Its length, where it is known.
        length_ms: Option<u64>,
    },
}

/// What a replay is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Playback {
    /// Send nothing more.
    Pause,
    /// Go on.
    Resume,
    /// So many times as fast as it was.
    Speed(f64),
}

/// A driver call that has not come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Which call.
    pub call: &'static str,
    /// For how long, in milliseconds.
    pub for_ms: u64,
}

impl Waiting {
    /// A call that takes this long is not merely slow.
    pub(super) const NOTABLE_MS: u64 = 2000;
}

/// Where a replay stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// Milliseconds from the first sample.
    pub at_ms: u64,
    /// The recording's length, where it is known.
    pub of_ms: Option<u64>,
    /// How many times as fast as it was.
    pub speed: f64,
    /// Whether it stands still.
    pub paused: bool,
}

/// How fresh the picture is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Freshness {
    /// Nothing has come yet.
    Connecting,
    /// The last sample is the newest that there can be.
    Live,
    /// No sample for this many seconds.
    Stale {
        /// Whole seconds.
        seconds: u64,
    },
    /// The picture is held.
    Held,
    /// A recording is shown.
    Replay(Position),
    /// Nothing more will come.
    Ended,
}

/// What freshness is judged by.
#[derive(Debug)]
pub(super) struct Clock {
    mode: Mode,
    /// The first tick after the last sample: silence is counted from there, so that no two clocks are compared.
    quiet_since: Option<Moment>,
    now: Option<Moment>,
    first_ms: Option<u64>,
    waiting: Option<Waiting>,
    ended: Option<String>,
    speed: f64,
    paused: bool,
}

impl Clock {
    /// Silence shorter than this is no staleness, however short the step.
    const PATIENCE_MS: u64 = 3000;
    const SPEEDS: (f64, f64) = (0.125, 64.0);

    pub(super) const fn new(mode: Mode) -> Self {
        Self { mode, quiet_since: None, now: None, first_ms: None, waiting: None, ended: None, speed: 1.0, paused: false }
    }

    pub(super) fn sampled(&mut self, elapsed_ms: u64) {
        self.first_ms.get_or_insert(elapsed_ms);
        self.quiet_since = None;
        self.waiting = None;
    }

    pub(super) fn tick(&mut self, now: Moment) {
        self.now = Some(now);
        self.quiet_since.get_or_insert(now);
    }

    pub(super) fn wait(&mut self, waiting: Waiting) {
        self.waiting = Some(waiting);
    }

    pub(super) const fn waiting(&self) -> Option<&Waiting> {
        self.waiting.as_ref()
    }

    pub(super) fn end(&mut self, reason: String) {
        self.ended = Some(reason);
    }

    pub(super) fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    pub(super) fn toggle_pause(&mut self) -> Option<Playback> {
        if self.ended.is_some() {
            return None;
        }
        self.paused = !self.paused;
        Some(if self.paused { Playback::Pause } else { Playback::Resume })
    }

    pub(super) const fn is_paused(&self) -> bool {
        self.paused
    }

    pub(super) fn speed(&mut self, factor: f64) -> Option<Playback> {
        let wanted = (self.speed * factor).clamp(Self::SPEEDS.0, Self::SPEEDS.1);
        let changes = (wanted - self.speed).abs() > f64::EPSILON && self.ended.is_none();
        self.speed = wanted;
        changes.then_some(Playback::Speed(wanted))
    }

    pub(super) fn freshness(&self, held: bool, monitor: &Monitor) -> Freshness {
        let Some((_, elapsed_ms)) = monitor.now() else {
            return if self.ended.is_some() { Freshness::Ended } else { Freshness::Connecting };
        };
        if self.ended.is_some() {
            return Freshness::Ended;
        }
        if let Mode::Replay { length_ms } = self.mode {
            let at_ms = elapsed_ms.saturating_sub(self.first_ms.unwrap_or(elapsed_ms));
            return Freshness::Replay(Position { at_ms, of_ms: length_ms, speed: self.speed, paused: self.paused });
        }
        if held {
            return Freshness::Held;
        }
        let step_ms = monitor.header().map_or(1000, |header| header.interval_ms);
        let silent_ms = self.now.zip(self.quiet_since).map_or(0, |(now, since)| now.since(since));
        if silent_ms < Self::PATIENCE_MS.max(3 * step_ms) {
            return Freshness::Live;
        }
        Freshness::Stale { seconds: silent_ms / 1000 }
    }
}
