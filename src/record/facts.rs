//! What is known about the processes of a recording, by identity; bounded, whatever the recording says.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{ProcessFacts, ProcessKey, SafeText};

/// Facts by identity. Those of processes that are gone leave when it grows large.
#[derive(Debug, Default)]
pub(super) struct FactsTable {
    known: HashMap<ProcessKey, Known>,
    /// Some of the memory that all of them take, in bytes.
    weight: usize,
    /// How many samples have ended.
    turn: u64,
}

#[derive(Debug)]
struct Known {
    facts: Arc<ProcessFacts>,
    /// The turn in which it was last told or asked for.
    seen: u64,
}

impl FactsTable {
    /// Four times the processes that a source tracks.
    const MOST: usize = 8192;
    /// The most bytes: 2 048 processes with the longest command lines that a source reads.
    const HEAVIEST: usize = 128 << 20;

    /// Keeps what a line told.
    pub(super) fn learn(&mut self, facts: Arc<ProcessFacts>) {
        self.weight += weight_of(&facts);
        let key = facts.key;
        if let Some(old) = self.known.insert(key, Known { facts, seen: self.turn }) {
            self.weight -= weight_of(&old.facts);
        }
        self.keep_bounded();
    }

    /// What is known about a process; of one that no line told of, its number.
    pub(super) fn of(&mut self, key: ProcessKey) -> Arc<ProcessFacts> {
        if let Some(known) = self.known.get_mut(&key) {
            known.seen = self.turn;
            return Arc::clone(&known.facts);
        }
        let facts = Arc::new(ProcessFacts { key, ..ProcessFacts::unseen(key.pid) });
        self.learn(Arc::clone(&facts));
        facts
    }

    /// A sample has asked for all that it names.
    pub(super) fn end_sample(&mut self) {
        self.turn += 1;
    }

    fn keep_bounded(&mut self) {
        if !self.is_large() {
            return;
        }
        let since = self.turn.saturating_sub(1);
        self.known.retain(|_, known| known.seen >= since);
        if self.is_large() {
            // No source tracks so many at once: whoever wrote this did not mean it to be read.
            self.known.clear();
        }
        self.weight = self.known.values().map(|known| weight_of(&known.facts)).sum();
    }

    fn is_large(&self) -> bool {
        self.known.len() > Self::MOST || self.weight > Self::HEAVIEST
    }
}

/// The texts and what it takes to hold them.
fn weight_of(facts: &ProcessFacts) -> usize {
    let text = |text: &SafeText| text.as_str().len() + 48;
    let optional = [&facts.user, &facts.container, &facts.job];
    let family = facts.ancestors.iter().map(|ancestor| &ancestor.name);
    let texts = [&facts.what, &facts.what_full].into_iter().chain(&facts.cmdline).chain(family).chain(optional.into_iter().flatten());
    256 + 32 * facts.ancestors.len() + texts.map(text).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(pid: u32) -> Arc<ProcessFacts> {
        Arc::new(ProcessFacts { mine: true, ..ProcessFacts::unseen(pid) })
    }

    const fn key(pid: u32) -> ProcessKey {
        ProcessKey { pid, start_ticks: None }
    }

    #[test]
    fn the_gone_leave_and_the_living_stay() {
        let mut table = FactsTable::default();
        table.learn(facts(1));
        table.learn(facts(2));
        for pid in 3..20_000 {
            table.learn(facts(pid));
            table.of(key(1));
            table.end_sample();
        }
        assert!(table.known.len() <= FactsTable::MOST);
        assert!(table.of(key(1)).mine);
        assert!(!table.of(key(2)).mine);
    }

    #[test]
    fn a_flood_does_not_fill_the_memory() {
        let mut table = FactsTable::default();
        for pid in 0..20_000 {
            table.learn(facts(pid));
        }
        assert!(table.known.len() <= FactsTable::MOST && table.weight <= FactsTable::HEAVIEST);
    }
}
