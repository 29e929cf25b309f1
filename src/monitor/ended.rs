//! Processes that are no longer listed: kept for a while, so that who was here and how large can still be read.
//!
//! Bounded in time and in number. They hold nothing any more and count in no sum.

use super::rows::ProcessRow;
use crate::model::{Moment, Percent, ProcessKey};

/// A process that is no longer listed on its GPU.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The row as it was last: who it was, its peak, its past.
    pub row: ProcessRow,
    /// The end of the first step without it.
    pub at: Moment,
    /// The same on the sample's own clock.
    pub at_ms: u64,
    /// How full its card was at most in that step; `None` where that is not known.
    pub fullness: Option<Percent>,
    /// Whether it is still listed on another GPU: then it has only left this one.
    pub lives_on: bool,
}

impl Ended {
    /// A card that was at least this full (95 %) may be why.
    pub const FULL: f64 = 0.95;

    /// How long it ran, where its start is known.
    pub fn ran_ms(&self) -> Option<u64> {
        self.row.facts.started.map(|started| self.at.since(started))
    }

    /// How full the card was, where that was full enough to be worth a word.
    pub fn notable_fullness(&self) -> Option<Percent> {
        self.fullness.filter(|fullness| fullness.ratio() >= Self::FULL)
    }
}

/// The last of them, the oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Graveyard {
    rows: Vec<Ended>,
    /// The latest end of one that is no longer kept, on the sample's own clock.
    forgotten_ms: u64,
}

impl Graveyard {
    /// How long they are kept.
    const KEPT_MS: u64 = 15 * 60_000;
    /// How many at most; the oldest leave first.
    const MOST: usize = 64;

    pub(super) fn rows(&self) -> &[Ended] {
        &self.rows
    }

    /// Whether all that have ended since then are here.
    pub(super) const fn is_whole_since(&self, at_ms: u64) -> bool {
        self.forgotten_ms <= at_ms
    }

    /// Takes out those that are meant.
    pub(super) fn extract(&mut self, meant: impl Fn(&Ended) -> bool) -> Vec<Ended> {
        self.rows.extract_if(.., |ended| meant(ended)).collect()
    }

    pub(super) fn add(&mut self, ended: Ended) {
        if self.rows.len() == Self::MOST {
            let oldest = self.rows.remove(0);
            self.forgotten_ms = self.forgotten_ms.max(oldest.at_ms);
        }
        self.rows.push(ended);
    }

    /// The row of a process that is listed again. Without a start time it may be another of the same number.
    pub(super) fn take_back(&mut self, gpu: usize, key: ProcessKey) -> Option<ProcessRow> {
        key.start_ticks?;
        let at = self.rows.iter().position(|ended| ended.row.gpu == gpu && ended.row.facts.key == key)?;
        Some(self.rows.remove(at).row)
    }

    /// Those that ended too long ago leave.
    pub(super) fn forget_before(&mut self, now_ms: u64) {
        for ended in self.rows.extract_if(.., |ended| now_ms.saturating_sub(ended.at_ms) >= Self::KEPT_MS) {
            self.forgotten_ms = self.forgotten_ms.max(ended.at_ms);
        }
    }

    /// Rows follow their GPU to its new position; those of a device that is gone go with it.
    pub(super) fn renumber(&mut self, moved: &[Option<usize>]) {
        self.rows.retain_mut(|ended| match moved.get(ended.row.gpu).copied().flatten() {
            Some(at) => {
                ended.row.gpu = at;
                true
            }
            None => false,
        });
    }
}
