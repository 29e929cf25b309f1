//! The monitor with what a frame needs of it in order: all holders by size, the rows of the table, letters, owners.
//!
//! It is put in order once a record, so that a frame only looks up what it shows.

use super::groups::{Group, Grouping, fold};
use super::letters::{Candidate, Letters};
use super::listing::Listing;
use super::owners::{Hue, Owner, Owners};
use super::row::{Holder, RowId, TableRow};
use super::sort::Table;
use super::tree::grow;
use super::window::Covered;
use crate::model::{Bytes, GpuId, Ledger, Record};
use crate::monitor::{Ended, GpuRow, Monitor, ProcessRow, Then};

/// How many rows there are, as single ones: a group counts as its members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Those that hold something.
    pub holding: usize,
    /// Those that ended.
    pub ended: usize,
}

impl Count {
    /// Both kinds.
    pub const fn all(self) -> usize {
        self.holding + self.ended
    }
}

/// What is drawn.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    monitor: Monitor,
    /// Every holder: largest first, unknown last.
    all: Vec<TableRow>,
    /// Those that ended a while ago, the last one first.
    gone: Vec<TableRow>,
    /// Positions in `all` of each GPU's own, in the same order.
    by_gpu: Vec<Vec<usize>>,
    /// The rows of the table, as they were asked for.
    rows: Vec<TableRow>,
    groups: Vec<Group>,
    /// Positions of the GPUs that are looked at.
    seen: Vec<usize>,
    /// How many rows were kept, and how many there are.
    kept: Count,
    unfiltered: Count,
    owners: Owners,
    letters: Letters,
    by_process: bool,
}

impl Picture {
    pub(super) fn apply(&mut self, record: &Record) {
        self.monitor.apply(record);
        // Facts about processes and events change no row before the next sample, and a hundred may come at once.
        if matches!(record, Record::Header(_) | Record::Sample(_)) {
            self.arrange();
        }
    }

    /// The same machine at a moment that its rings still hold.
    pub(super) fn at(&self, then: Then) -> Option<Self> {
        let monitor = self.monitor.past(then)?;
        let mut past = Self { monitor, owners: self.owners.clone(), letters: self.letters.clone(), ..Self::default() };
        past.arrange();
        Some(past)
    }

    /// The rows that a row stands for: those of its group, or itself alone.
    pub(super) fn members<'a>(&'a self, row: &'a TableRow) -> &'a [TableRow] {
        self.group(row).map_or(std::slice::from_ref(row), |group| &group.members)
    }

    /// What a row holds as it is written: of a moment that is looked back at it may be the least that it was.
    pub fn figure(&self, row: &TableRow) -> String {
        let at_least = self.is_past() && self.members(row).iter().any(|row| self.process(row).is_some_and(ProcessRow::is_at_least));
        let bytes = row.bytes.map_or_else(|| "—".to_owned(), |bytes| bytes.to_string());
        if at_least { format!("≥{bytes}") } else { bytes }
    }

    /// Whether what a row holds, or a part of it, is the last that was known, because a list cannot be read now.
    pub fn is_kept(&self, row: &TableRow) -> bool {
        self.kept_age_ms(row).is_some()
    }

    /// How old that is, in milliseconds; of several processes the oldest.
    pub fn kept_age_ms(&self, row: &TableRow) -> Option<u64> {
        self.members(row).iter().filter_map(|row| self.monitor.kept_age_ms(self.process(row)?)).max()
    }

    /// Whether it is of a moment that is looked back at.
    pub const fn is_past(&self) -> bool {
        self.monitor.is_past()
    }

    /// Everything that the records amount to.
    pub const fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// Every holder on every GPU, largest first, unknown last.
    pub fn all(&self) -> &[TableRow] {
        &self.all
    }

    /// The rows of the table, as they were asked for.
    pub fn rows(&self) -> &[TableRow] {
        &self.rows
    }

    /// How many rows are shown, or stand behind the groups that are.
    pub const fn kept(&self) -> Count {
        self.kept
    }

    /// How many that would be if none were left out.
    pub const fn unfiltered(&self) -> Count {
        self.unfiltered
    }

    /// The groups that the table has rows for.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The group behind a row.
    pub fn group(&self, row: &TableRow) -> Option<&Group> {
        match row.holder {
            Holder::Group { at } => self.groups.get(at),
            Holder::Process { .. } | Holder::Nobody | Holder::Untracked { .. } | Holder::Ended { .. } => None,
        }
    }

    /// Positions in [`Monitor::gpus`] of the GPUs that are looked at.
    pub fn gpus_in_sight(&self) -> &[usize] {
        &self.seen
    }

    /// The rows of one GPU, largest first.
    pub fn rows_of(&self, gpu: usize) -> impl Iterator<Item = &TableRow> {
        self.by_gpu.get(gpu).into_iter().flatten().filter_map(|at| self.all.get(*at))
    }

    /// The row of whoever holds memory under that name, or has ended a while ago, be it in the table or left out.
    pub(super) fn find(&self, id: &RowId) -> Option<&TableRow> {
        self.all.iter().chain(&self.gone).find(|row| row.id.is_same(id))
    }

    /// The process behind a row.
    pub fn process(&self, row: &TableRow) -> Option<&ProcessRow> {
        row.holder.process().and_then(|at| self.monitor.processes().get(at))
    }

    /// The process behind a row, where it is no longer listed.
    pub fn ended(&self, row: &TableRow) -> Option<&Ended> {
        match row.holder {
            Holder::Ended { at } => self.monitor.ended().get(at),
            _ => None,
        }
    }

    /// Whether hues tell processes apart and not users, because all that is large belongs to one user.
    pub const fn is_by_process(&self) -> bool {
        self.by_process
    }

    /// Users by what they hold, the largest first.
    pub fn owners(&self) -> &[Owner] {
        self.owners.list()
    }

    /// Makes the table anew, after the holders or the choices have changed.
    pub(super) fn list(&mut self, listing: &Listing, covered: Covered) {
        let monitor = &self.monitor;
        self.seen = listing.gpus(monitor);
        let in_sight: Vec<&TableRow> = self.all.iter().filter(|row| self.seen.contains(&row.gpu)).collect();
        self.unfiltered = Count { holding: in_sight.len(), ended: 0 };
        let mut rows: Vec<TableRow> = in_sight.into_iter().filter(|row| listing.keeps(row, monitor)).cloned().collect();
        self.kept = Count { holding: rows.len(), ended: 0 };
        self.groups.clear();
        self.gone = self.ended_rows();
        if listing.grouping == Grouping::Process {
            Table { monitor, groups: &[], covered }.sort(&mut rows, listing.sort);
            if listing.tree {
                (rows, self.groups) = grow(rows, Table { monitor, groups: &[], covered }, listing.sort, &listing.turned);
            }
            self.rows = rows;
            self.append_ended(listing);
            return;
        }
        let (groups, mut rows) = fold(rows, listing.grouping, monitor, &listing.turned);
        rows.extend(groups.iter().enumerate().filter_map(|(at, group)| group.row(at)));
        Table { monitor, groups: &groups, covered }.sort(&mut rows, listing.sort);
        let table = Table { monitor, groups: &[], covered };
        self.rows.clear();
        for row in rows {
            let opened = match row.holder {
                Holder::Group { at } => groups.get(at).filter(|group| group.is_open),
                Holder::Process { .. } | Holder::Nobody | Holder::Untracked { .. } | Holder::Ended { .. } => None,
            };
            let mut members = opened.map_or_else(Vec::new, |group| group.members.clone());
            table.sort(&mut members, listing.sort);
            self.rows.push(row);
            self.rows.extend(members.into_iter().map(|member| TableRow { depth: 1, ..member }));
        }
        self.groups = groups;
        self.append_ended(listing);
    }

    fn arrange(&mut self) {
        let processes = self.monitor.processes();
        self.owners.update(processes, self.monitor.gpus(), self.monitor.is_past());
        let mut order: Vec<usize> = (0..processes.len()).collect();
        order.sort_by_key(|at| {
            let row = &processes[*at];
            (row.gpu, std::cmp::Reverse(row.bytes()), row.facts.key.pid)
        });
        let gpus = self.monitor.gpus();
        let known: Vec<(usize, &GpuRow)> = order.iter().filter_map(|at| Some((*at, gpus.get(processes[*at].gpu)?))).collect();
        let candidates: Vec<Candidate<'_>> = known
            .iter()
            .map(|(at, gpu)| Candidate {
                gpu: &gpu.facts.id,
                key: processes[*at].facts.key,
                bytes: processes[*at].bytes(),
                room: gpu.memory.value().map(crate::model::DeviceMemory::room),
            })
            .collect();
        let letters = self.letters.update(&candidates);
        self.by_process = has_one_user(known.iter().zip(&letters).filter(|(_, letter)| !letter.shared).map(|((at, _), _)| &processes[*at]));
        self.all.clear();
        for ((at, gpu), letter) in known.into_iter().zip(letters) {
            let row = &processes[at];
            let hue = match self.owners.hue(row.facts.user.as_ref()) {
                Hue::Unseen => Hue::Unseen,
                _ if self.by_process => letter.hue(),
                hue => hue,
            };
            let id = RowId::of_process(gpu.facts.id.clone(), row.facts.key);
            self.all.push(TableRow { id, gpu: row.gpu, bytes: row.bytes(), holder: Holder::Process { at, letter, hue }, depth: 0 });
        }
        let rests = ownerless(gpus);
        for ((at, gpu), rest) in gpus.iter().enumerate().zip(rests) {
            let id = |untracked| RowId::of_rest(gpu.facts.id.clone(), untracked);
            if let Some(bytes) = rest {
                self.all.push(TableRow { id: id(false), gpu: at, bytes: Some(bytes), holder: Holder::Nobody, depth: 0 });
            }
            if let Some(bytes) = gpu.untracked.share() {
                let count = gpu.untracked.count;
                self.all.push(TableRow { id: id(true), gpu: at, bytes, holder: Holder::Untracked { count }, depth: 0 });
            }
        }
        self.all.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| (a.gpu, a.pid()).cmp(&(b.gpu, b.pid()))));
        self.by_gpu = vec![Vec::new(); gpus.len()];
        for (at, row) in self.all.iter().enumerate() {
            self.by_gpu[row.gpu].push(at);
        }
    }

    /// A row for each that has ended, the last one first.
    fn ended_rows(&self) -> Vec<TableRow> {
        let row = |(at, ended): (usize, &Ended)| {
            let gpu = self.monitor.gpus().get(ended.row.gpu)?;
            let id = RowId::of_process(gpu.facts.id.clone(), ended.row.facts.key);
            Some(TableRow { id, gpu: ended.row.gpu, bytes: None, holder: Holder::Ended { at }, depth: 0 })
        };
        self.monitor.ended().iter().enumerate().rev().filter_map(row).collect()
    }

    /// Those that ended stand below all that hold something. They are in no bar.
    fn append_ended(&mut self, listing: &Listing) {
        for row in self.gone.iter().filter(|row| self.seen.contains(&row.gpu)) {
            self.unfiltered.ended += 1;
            if listing.keeps(row, &self.monitor) {
                self.kept.ended += 1;
                self.rows.push(row.clone());
            }
        }
    }
}

/// Whether these belong to one user; the question is then which of their processes has what.
fn has_one_user<'a>(rows: impl Iterator<Item = &'a ProcessRow>) -> bool {
    let mut users = rows.filter_map(|row| row.facts.user.as_ref());
    let first = users.next();
    users.all(|user| Some(user) == first)
}

/// Memory that no listed process owns, of each device, where it is more than a clean card shows.
///
/// With memory v1 the driver's reserve cannot be told from it: then all of the rest is shown, and said to be both. What stands with
/// an instance does not stand with its GPU once more.
fn ownerless(gpus: &[GpuRow]) -> Vec<Option<Bytes>> {
    // Less would be written as 0.0.
    let worth_a_row = |bytes: &Bytes| bytes.0 * 20 >= Bytes::GIB;
    let of = |ledger: &Ledger| if ledger.driver.is_some() { ledger.notable_unattributed() } else { ledger.unattributed };
    let rests: Vec<Option<Bytes>> = gpus.iter().map(|gpu| gpu.ledger.value().and_then(of).filter(worth_a_row)).collect();
    let of_instances = |parent: &GpuId| -> Bytes {
        gpus.iter().zip(&rests).filter(|(gpu, _)| gpu.facts.parent.as_ref() == Some(parent)).filter_map(|(_, rest)| *rest).sum()
    };
    let less = |(gpu, rest): (&GpuRow, &Option<Bytes>)| rest.map(|rest| rest.saturating_sub(of_instances(&gpu.facts.id))).filter(worth_a_row);
    gpus.iter().zip(&rests).map(less).collect()
}
