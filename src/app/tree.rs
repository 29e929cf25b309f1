//! Rows below the row of the process that started them, as far as both are listed.

use std::collections::HashMap;

use super::row::TableRow;
use crate::monitor::Monitor;

/// Puts rows in the order of a tree; brothers and sisters keep the order that they come in.
pub(super) fn grow(rows: Vec<TableRow>, monitor: &Monitor) -> Vec<TableRow> {
    let mut places: HashMap<(usize, u32), usize> = HashMap::new();
    let mut first: HashMap<u32, usize> = HashMap::new();
    for (at, row) in rows.iter().enumerate() {
        if let Some(pid) = row.pid() {
            places.insert((row.gpu, pid), at);
            first.entry(pid).or_insert(at);
        }
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
    let mut roots = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let parent = row.holder.process().and_then(|at| monitor.processes().get(at)?.facts.parent);
        let above = parent.and_then(|pid| places.get(&(row.gpu, pid)).or_else(|| first.get(&pid)));
        match above.filter(|above| **above != at) {
            Some(above) => children[*above].push(at),
            None => roots.push(at),
        }
    }
    let mut rows: Vec<Option<TableRow>> = rows.into_iter().map(Some).collect();
    let mut grown = Vec::with_capacity(rows.len());
    // A damaged recording may have a ring of parents, which hangs below no root: each of its rows is then tried as one.
    let starts = roots.into_iter().chain(0..rows.len()).collect::<Vec<_>>();
    for start in starts {
        let mut open = vec![(start, 0)];
        while let Some((at, depth)) = open.pop() {
            if let Some(row) = rows[at].take() {
                grown.push(TableRow { depth, ..row });
                open.extend(children[at].iter().rev().map(|child| (*child, depth.saturating_add(1))));
            }
        }
    }
    grown
}
