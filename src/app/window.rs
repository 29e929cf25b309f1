//! How much of the past the histories show, from where they count, and the moments that somebody marked.

use crate::monitor::Monitor;

/// What the histories of the screen show.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// Chosen minutes; else as long as there is a past, up to a quarter of an hour.
    chosen: Option<u64>,
    from_zero: bool,
    marks: Vec<u64>,
}

/// What of the past the histories on screen cover.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Covered {
    /// The last moment, on the clock of the samples.
    pub(super) now_ms: u64,
    /// Length in minutes.
    pub(super) minutes: u64,
}

impl Window {
    /// The spans that there are, in minutes.
    const SPANS: [u64; 6] = [2, 5, 15, 60, 360, 1440];
    /// The longest that comes by itself.
    const BY_ITSELF: u64 = 15;
    /// More marks than these are not kept.
    const MARKS: usize = 64;

    /// The span in minutes: the chosen one, or the shortest that holds everything.
    pub fn minutes(&self, monitor: &Monitor) -> u64 {
        if let Some(chosen) = self.chosen {
            return chosen;
        }
        let now_ms = monitor.last_ms();
        let firsts = monitor.gpus().iter().filter_map(|row| row.history.seconds.slots().next());
        let age_ms = firsts.map(|(at, _)| now_ms.saturating_sub(at)).max().unwrap_or(0);
        Self::SPANS.into_iter().find(|minutes| age_ms <= minutes * 60_000).map_or(Self::BY_ITSELF, |minutes| minutes.min(Self::BY_ITSELF))
    }

    /// What is covered, where `newest` is the picture that the histories end with.
    pub(super) fn covered(&self, newest: &Monitor) -> Covered {
        Covered { now_ms: newest.last_ms(), minutes: self.minutes(newest) }
    }

    /// Whether every history begins at zero.
    pub const fn is_from_zero(&self) -> bool {
        self.from_zero
    }

    /// The marked moments, on the clock of the samples.
    pub fn marks(&self) -> &[u64] {
        &self.marks
    }

    pub(super) fn toggle_zero(&mut self) {
        self.from_zero = !self.from_zero;
    }

    /// The next longer span, or the next shorter one. It stops at the ends.
    pub(super) fn zoom(&mut self, longer: bool, monitor: &Monitor) {
        let now = self.minutes(monitor);
        let mut spans = Self::SPANS.into_iter();
        let next = if longer { spans.find(|span| *span > now) } else { spans.rfind(|span| *span < now) };
        self.chosen = Some(next.unwrap_or(now));
    }

    pub(super) fn mark(&mut self, elapsed_ms: u64) {
        if self.marks.len() == Self::MARKS {
            self.marks.remove(0);
        }
        self.marks.push(elapsed_ms);
    }
}
