//! A source that names only some processes. The others stay counted and summed, so every figure of a card stays true.

use std::collections::HashSet;

use super::{Source, SourceEnd};
use crate::model::{EventKind, ProcessFacts, ProcessKey, Record, Sample};

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
    /// Those that were named since the sample before the last.
    named: HashSet<ProcessKey>,
}

impl<S: Source> Only<S> {
    /// Lets through the wanted processes of `source`.
    pub fn new(source: S, wanted: Wanted) -> Self {
        Self { source, wanted, named: HashSet::new() }
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
                Record::Process { facts, .. } => {
                    self.named.insert(facts.key);
                }
                Record::Sample(sample) => {
                    self.wanted.leave_out(sample);
                    self.named = sample.processes.iter().map(|process| process.facts.key).collect();
                }
                Record::Event(event) => {
                    if let EventKind::Untracked(key) | EventKind::Tracked(key) = &event.kind
                        && !self.named.contains(key)
                    {
                        continue;
                    }
                }
                Record::Header(_) => {}
            }
            return Ok(record);
        }
    }
}
