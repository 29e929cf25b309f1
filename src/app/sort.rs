//! The order of the table: by any column, unknown last both ways, and equals by GPU and PID.

use std::cmp::{Ordering, Reverse};

use super::columns::Column;
use super::groups::Group;
use super::row::{Holder, TableRow};
use super::window::Covered;
use crate::model::Bytes;
use crate::monitor::{Monitor, ProcessRow};

/// By which column, and whether the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// The column.
    pub column: Column,
    /// Whether the least comes first where the most does by itself, and the other way round.
    pub reversed: bool,
}

impl Default for Sort {
    fn default() -> Self {
        Self { column: Column::Vram, reversed: false }
    }
}

impl Sort {
    /// Whether the first row has the largest figure, or the last text.
    pub const fn is_descending(self) -> bool {
        let by_itself = !matches!(self.column, Column::Gpu | Column::Pid | Column::User | Column::Kind | Column::Job | Column::What);
        by_itself != self.reversed
    }

    /// By that column; by the one in force, the other way round.
    pub(super) fn choose(&mut self, column: Column) {
        *self = Self { column, reversed: self.column == column && !self.reversed };
    }
}

/// What a row is put in order by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key<'a> {
    Figure(i64),
    Text(&'a str),
    /// A job and the rank in it, as far as there are these.
    Job(Option<&'a str>, Option<u32>),
}

/// What the rows speak of.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    pub(super) monitor: &'a Monitor,
    pub(super) groups: &'a [Group],
    pub(super) covered: Covered,
}

impl Table<'_> {
    /// Puts rows in order. Rows that are equal, or of which nothing is known, go by GPU and PID.
    pub(super) fn sort(self, rows: &mut Vec<TableRow>, sort: Sort) {
        let mut order: Vec<(Option<Key<'_>>, usize)> = rows.iter().enumerate().map(|(at, row)| (self.key(row, sort.column), at)).collect();
        let place = |at: usize| (rows[at].gpu, rows[at].pid(), at);
        order.sort_by(|(a, at_a), (b, at_b)| {
            let by_key = match (a, b) {
                (Some(a), Some(b)) if sort.is_descending() => b.cmp(a),
                (Some(a), Some(b)) => a.cmp(b),
                (a, b) => Reverse(a.is_some()).cmp(&Reverse(b.is_some())),
            };
            by_key.then_with(|| place(*at_a).cmp(&place(*at_b)))
        });
        if order.is_sorted_by(|(_, a), (_, b)| a.cmp(b) != Ordering::Greater) {
            return;
        }
        let order: Vec<usize> = order.into_iter().map(|(_, at)| at).collect();
        *rows = order.into_iter().map(|at| rows[at].clone()).collect();
    }

    fn key<'a>(&'a self, row: &'a TableRow, column: Column) -> Option<Key<'a>> {
        match column {
            Column::Gpu => return Some(Key::Figure(i64::try_from(row.gpu).unwrap_or(i64::MAX))),
            Column::Vram => return row.bytes.map(figure),
            _ => {}
        }
        match row.holder {
            Holder::Process { at, .. } => key_of(self.monitor.processes().get(at)?, column, self.covered),
            Holder::Group { at } => {
                let group = self.groups.get(at)?;
                // Of an ancestor little is known: where that is not it, it goes where the first of those below it goes.
                let first = || group.members.first().filter(|_| group.id.ancestor().is_some()).and_then(|row| self.key(row, column));
                key_of_group(group, column).or_else(first)
            }
            Holder::Nobody | Holder::Untracked { .. } | Holder::Ended { .. } => None,
        }
    }
}

fn figure(bytes: Bytes) -> Key<'static> {
    Key::Figure(i64::try_from(bytes.0).unwrap_or(i64::MAX))
}

#[expect(clippy::cast_possible_truncation, reason = "the cast saturates, and a byte per minute more or less is no other order")]
fn rate(bytes_per_minute: f64) -> Key<'static> {
    Key::Figure(bytes_per_minute as i64)
}

fn key_of(row: &ProcessRow, column: Column, covered: Covered) -> Option<Key<'_>> {
    let facts = &row.facts;
    match column {
        Column::Pid => Some(Key::Figure(facts.key.pid.into())),
        Column::User => facts.user.as_ref().map(|user| Key::Text(user.as_str())),
        Column::Kind => Some(Key::Text(row.kind.letters())),
        Column::Peak => row.peak.map(|peak| figure(peak.bytes)),
        Column::Trend => row.bytes_per_minute().get().map(rate),
        Column::Sm => row.sm_percent.get().map(|percent| Key::Figure(percent.value().into())),
        Column::Cpu => row.host.get().and_then(|host| host.cpu_permille).map(|permille| Key::Figure(permille.into())),
        Column::Rss => row.host.get().map(|host| figure(host.rss)),
        // The longest first: the earliest start has the highest key.
        Column::Time => facts.started.map(|started| Key::Figure(-started.unix_ms)),
        Column::Job => {
            let (job, rank) = (facts.job.as_ref().map(crate::model::SafeText::as_str), facts.rank.map(|rank| rank.rank));
            (job.is_some() || rank.is_some()).then_some(Key::Job(job, rank))
        }
        Column::What => Some(Key::Text(facts.what.as_str())),
        // Who moved most: from the lowest to the highest of what the column draws.
        Column::History => row.history.spread(covered.now_ms, covered.minutes).map(figure),
        Column::Gpu | Column::Vram => None,
    }
}

fn key_of_group(group: &Group, column: Column) -> Option<Key<'_>> {
    match column {
        Column::Pid if group.id.ancestor().is_some() => group.id.ancestor().map(|ancestor| Key::Figure(ancestor.key.pid.into())),
        Column::Job if group.id.ancestor().is_some() => None,
        // There is no PID to go by: how many they are is what stands there.
        Column::Pid => Some(Key::Figure(i64::try_from(group.processes).unwrap_or(i64::MAX))),
        Column::User => group.user.as_ref().map(|user| Key::Text(user.as_str())),
        Column::Job | Column::What => group.id.name().map(|name| Key::Text(name.as_str())),
        Column::Trend => group.bytes_per_minute.map(rate),
        Column::Cpu => group.cpu_permille.map(|permille| Key::Figure(permille.into())),
        Column::Rss => group.rss.map(figure),
        _ => None,
    }
}
