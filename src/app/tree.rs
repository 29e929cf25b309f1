//! Rows below the row of the process that started them. Ancestors that hold no GPU memory stand above theirs where that tells something:
//! where branches of a family meet, and a launcher above what it launched. A shell above one process is left out.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::groups::{Group, GroupId, add_up};
use super::row::{Holder, TableRow};
use super::sort::{Sort, Table};
use crate::model::{Ancestor, ProcessFacts, ProcessKey};
use crate::monitor::Monitor;

/// Programs that are there to start others: one stands above a single process, too.
const LAUNCHERS: &[&str] =
    &["torchrun", "accelerate", "deepspeed", "horovodrun", "mpirun", "mpiexec", "orterun", "prterun", "orted", "prted", "hydra_pmi_proxy", "srun"];

/// Puts rows in the order of a tree; brothers and sisters keep that of the table, `rows` being in it. Ancestors in `folded` hide what is
/// below them. Their rows are groups, in the order of the answer.
pub(super) fn grow(rows: Vec<TableRow>, table: Table<'_>, sort: Sort, folded: &BTreeSet<GroupId>) -> (Vec<TableRow>, Vec<Group>) {
    let monitor = table.monitor;
    let family = Family::of(&rows, monitor);
    let groups = family.groups(&rows, monitor, folded);
    let mut rows = rows;
    if !groups.is_empty() {
        rows.extend(groups.iter().enumerate().filter_map(|(at, group)| group.row(at)));
        Table { groups: &groups, ..table }.sort(&mut rows, sort);
    }
    let children = family.children(&rows, &groups, monitor);
    (flatten(rows, &children, &groups), groups)
}

fn facts_of<'a>(row: &TableRow, monitor: &'a Monitor) -> Option<&'a ProcessFacts> {
    row.holder.process().and_then(|at| monitor.processes().get(at)).map(|row| &*row.facts)
}

/// Who started whom, among the processes of the rows and those above them.
struct Family<'a> {
    listed: HashMap<u32, ProcessKey>,
    above: HashMap<ProcessKey, ProcessKey>,
    /// Those that hold nothing and have a row.
    shown: HashMap<ProcessKey, &'a Ancestor>,
}

impl<'a> Family<'a> {
    fn of(rows: &[TableRow], monitor: &'a Monitor) -> Self {
        let all: Vec<&ProcessFacts> = rows.iter().filter_map(|row| facts_of(row, monitor)).collect();
        let listed: HashMap<u32, ProcessKey> = all.iter().map(|facts| (facts.key.pid, facts.key)).collect();
        let mut above: HashMap<ProcessKey, ProcessKey> = HashMap::new();
        let mut unlisted: HashMap<ProcessKey, &Ancestor> = HashMap::new();
        let mut below: HashMap<ProcessKey, HashSet<ProcessKey>> = HashMap::new();
        for facts in all {
            let mut child = facts.key;
            // A recording of an older version has the parent alone.
            let parent = facts.parent.filter(|_| facts.ancestors.is_empty()).map(|pid| (ProcessKey { pid, start_ticks: None }, None));
            for (key, ancestor) in facts.ancestors.iter().map(|ancestor| (ancestor.key, Some(ancestor))).chain(parent) {
                let known = listed.get(&key.pid).filter(|known| known.is_same(key));
                let Some(parent) = known.copied().or(ancestor.map(|ancestor| ancestor.key)) else { break };
                // Whoever has been told of before is above the same ones, and who is listed tells their own.
                if above.contains_key(&child) {
                    break;
                }
                above.insert(child, parent);
                below.entry(parent).or_default().insert(child);
                let Some(ancestor) = ancestor.filter(|_| known.is_none()) else { break };
                unlisted.insert(parent, ancestor);
                child = parent;
            }
        }
        let is_listed = |key: &ProcessKey| listed.get(&key.pid) == Some(key);
        let tells = |key: &ProcessKey, ancestor: &Ancestor| {
            let Some(children) = below.get(key) else { return false };
            children.len() > 1 || (is_launcher(ancestor) && children.iter().any(is_listed))
        };
        let shown = unlisted.into_iter().filter(|(key, ancestor)| tells(key, ancestor)).collect();
        Self { listed, above, shown }
    }

    /// The nearest one above that has a row.
    fn parent(&self, child: ProcessKey) -> Option<ProcessKey> {
        let has_row = |key: &ProcessKey| *key != child && (self.listed.get(&key.pid) == Some(key) || self.shown.contains_key(key));
        let next = |key: &ProcessKey| self.above.get(key).copied();
        // A damaged recording may have a ring of parents.
        std::iter::successors(next(&child), next).take(self.above.len()).find(has_row)
    }

    /// The totals of what is below each ancestor.
    fn groups(&self, rows: &[TableRow], monitor: &Monitor, folded: &BTreeSet<GroupId>) -> Vec<Group> {
        let mut members: BTreeMap<ProcessKey, Vec<TableRow>> = BTreeMap::new();
        for row in rows {
            let mut seen = HashSet::new();
            let mut next = facts_of(row, monitor).and_then(|facts| self.parent(facts.key));
            while let Some(key) = next.filter(|key| seen.insert(*key)) {
                if self.shown.contains_key(&key) {
                    members.entry(key).or_default().push(row.clone());
                }
                next = self.parent(key);
            }
        }
        let group = |(key, members): (ProcessKey, Vec<TableRow>)| {
            let id = GroupId::Ancestor((*self.shown.get(&key)?).clone());
            let is_open = !folded.contains(&id);
            Some(add_up(id, members, monitor, is_open))
        };
        members.into_iter().filter_map(group).collect()
    }

    /// For each row the places of those right below it.
    fn children(&self, rows: &[TableRow], groups: &[Group], monitor: &Monitor) -> Vec<Vec<usize>> {
        let keys: Vec<Option<ProcessKey>> = rows.iter().map(|row| key_of(row, groups, monitor)).collect();
        let mut places: HashMap<(usize, ProcessKey), usize> = HashMap::new();
        let mut first: HashMap<ProcessKey, usize> = HashMap::new();
        for (at, (row, key)) in rows.iter().zip(&keys).enumerate() {
            if let Some(key) = *key {
                places.insert((row.gpu, key), at);
                first.entry(key).or_insert(at);
            }
        }
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
        for (at, (row, key)) in rows.iter().zip(&keys).enumerate() {
            // On the same GPU, where the one above is there.
            let parent = key.and_then(|key| self.parent(key));
            let above = parent.and_then(|key| places.get(&(row.gpu, key)).or_else(|| first.get(&key)));
            if let Some(above) = above.filter(|above| **above != at) {
                children[*above].push(at);
            }
        }
        children
    }
}

/// By the first word of its name.
fn is_launcher(ancestor: &Ancestor) -> bool {
    ancestor.name.as_str().split([' ', ':']).next().is_some_and(|word| LAUNCHERS.contains(&word))
}

fn key_of(row: &TableRow, groups: &[Group], monitor: &Monitor) -> Option<ProcessKey> {
    match row.holder {
        Holder::Group { at } => groups.get(at)?.id.ancestor().map(|ancestor| ancestor.key),
        _ => facts_of(row, monitor).map(|facts| facts.key),
    }
}

/// Each row, then those below it.
fn flatten(rows: Vec<TableRow>, children: &[Vec<usize>], groups: &[Group]) -> Vec<TableRow> {
    let is_below: HashSet<usize> = children.iter().flatten().copied().collect();
    let mut rows: Vec<Option<TableRow>> = rows.into_iter().map(Some).collect();
    let mut grown = Vec::with_capacity(rows.len());
    // A ring of parents hangs below no root: each of its rows is then tried as one.
    let starts = (0..rows.len()).filter(|at| !is_below.contains(at)).chain(0..rows.len()).collect::<Vec<_>>();
    for start in starts {
        let mut open = vec![(start, 0_u16, false)];
        while let Some((at, depth, is_hidden)) = open.pop() {
            let Some(row) = rows[at].take() else { continue };
            let is_folded = matches!(row.holder, Holder::Group { at } if groups.get(at).is_some_and(|group| !group.is_open));
            open.extend(children[at].iter().rev().map(|child| (*child, depth.saturating_add(1), is_hidden || is_folded)));
            if !is_hidden {
                grown.push(TableRow { depth, ..row });
            }
        }
    }
    grown
}
