//! What one step says of where a device's bytes are. It holds nothing from one step to the next.

use std::sync::Arc;

use crate::model::{Absence, GpuFacts, Ledger, ListState, Reading, Sample};

/// The account of a device in one step.
pub(super) enum Account {
    /// One of its own, or why there is none.
    Now(Reading<Ledger>),
    /// No list was read in it; the last one is of then.
    Older {
        /// When that was, on the sample's own clock.
        since_ms: u64,
    },
}

impl Account {
    /// Where the bytes of the device at `at` are, as far as this step can say.
    pub(super) fn of(at: usize, sample: &Sample, facts: &[Arc<GpuFacts>]) -> Self {
        let gpu = &sample.gpus[at];
        // A MIG parent's memory is held by the processes of its instances, which stand with those.
        let counts = |place: usize| place == at || facts.get(place).is_some_and(|facts| facts.parent.as_ref() == Some(&gpu.id));
        // A list that is not of this moment explains nothing of it.
        let (mut explained, mut older) = (true, None);
        for list in sample.gpus.iter().enumerate().filter(|(place, _)| counts(*place)).map(|(_, gpu)| &gpu.processes) {
            match list {
                Reading::Value(ListState::Fresh) => {}
                Reading::Absent(Absence::StaleSince(since_ms)) => older = Some(older.map_or(*since_ms, |oldest: u64| oldest.min(*since_ms))),
                Reading::Value(ListState::Partial(_)) | Reading::Absent(_) => explained = false,
            }
        }
        let shares = sample.processes.iter().filter(|p| counts(p.gpu)).map(|p| p.memory.get());
        match (explained, older) {
            (true, Some(since_ms)) => Self::Older { since_ms },
            (true, None) => Self::Now(Ledger::of(&gpu.memory, shares.chain(gpu.untracked.share()))),
            (false, _) => Self::Now(gpu.memory.as_ref().map(Ledger::unexplained)),
        }
    }
}
