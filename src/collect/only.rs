//! A source that names only some processes. The others stay counted and summed, so every figure of a card stays true.

use super::{Source, SourceEnd};
use crate::model::{ProcessFacts, Record, Sample};

/// Whose processes, and which; an empty list means all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Of these users, by name or number.
    pub users: Vec<String>,
    /// These PIDs.
    pub pids: Vec<u32>,
}

impl Wanted {
    fn has(&self, facts: &ProcessFacts) -> bool {
        let user = || facts.user.as_ref().is_some_and(|user| self.users.iter().any(|wanted| wanted == user.as_str()));
        (self.users.is_empty() || user()) && (self.pids.is_empty() || self.pids.contains(&facts.key.pid))
    }

    fn is_all(&self) -> bool {
        self.users.is_empty() && self.pids.is_empty()
    }

    fn leave_out(&self, sample: &mut Sample) {
        let gpus = &mut sample.gpus;
        sample.processes.retain(|process| {
            let stays = self.has(&process.facts);
            if let Some(gpu) = gpus.get_mut(process.gpu).filter(|_| !stays) {
                gpu.untracked.add(process.memory.get());
            }
            stays
        });
    }
}

/// A source behind which the unwanted processes are only counted.
pub struct Only<S> {
    source: S,
    wanted: Wanted,
}

impl<S: Source> Only<S> {
    /// Lets through the wanted processes of `source`.
    pub const fn new(source: S, wanted: Wanted) -> Self {
        Self { source, wanted }
    }
}

impl<S: Source> Source for Only<S> {
    fn next(&mut self) -> Result<Record, SourceEnd> {
        loop {
            let mut record = self.source.next()?;
            if self.wanted.is_all() {
                return Ok(record);
            }
            match &mut record {
                Record::Process { facts, .. } if !self.wanted.has(facts) => continue,
                Record::Sample(sample) => self.wanted.leave_out(sample),
                _ => {}
            }
            return Ok(record);
        }
    }
}
