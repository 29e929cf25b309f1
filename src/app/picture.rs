//! The monitor with what a frame needs of it in order: the rows of the table by size, letters, owners.
//!
//! It is put in order once a record, so that a frame only looks up what it shows.

use super::owners::{Hue, Owner, Owners};
use super::tags::{Candidate, Tag, Tags};
use crate::model::{Bytes, GpuId, Ledger, ProcessKey, Record};
use crate::monitor::{Ended, GpuRow, Monitor, ProcessRow};

/// Who a row of the table is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowId {
    gpu: GpuId,
    key: Option<ProcessKey>,
    untracked: bool,
}

impl RowId {
    /// A process on a GPU.
    pub(super) const fn of_process(gpu: GpuId, key: ProcessKey) -> Self {
        Self { gpu, key: Some(key), untracked: false }
    }

    /// The process, where it is one.
    pub(super) const fn key(&self) -> Option<ProcessKey> {
        self.key
    }

    /// The same row; a start time that became known later makes no other process of it.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let same_process = match (self.key, other.key) {
            (Some(a), Some(b)) => a.pid == b.pid && a.start_ticks.zip(b.start_ticks).is_none_or(|(a, b)| a == b),
            (a, b) => a == b,
        };
        same_process && self.gpu == other.gpu && self.untracked == other.untracked
    }
}

/// What a row of the table stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A process.
    Process {
        /// Position in [`Monitor::processes`].
        at: usize,
        /// Its letter.
        tag: Tag,
        /// Its colour.
        hue: Hue,
    },
    /// Memory without an owner; with the driver's reserve inside where the driver does not tell it apart.
    Nobody,
    /// Processes that are only counted.
    Untracked {
        /// How many.
        count: u32,
    },
    /// A process that is no longer listed; it holds nothing.
    Ended {
        /// Position in [`Monitor::ended`].
        at: usize,
    },
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// Who it is.
    pub id: RowId,
    /// Position of its GPU in [`Monitor::gpus`].
    pub gpu: usize,
    /// What it holds; `None` where the driver does not say.
    pub bytes: Option<Bytes>,
    /// What it stands for.
    pub holder: Holder,
}

impl TableRow {
    /// The PID, where it is a process.
    pub fn pid(&self) -> Option<u32> {
        self.id.key.map(|key| key.pid)
    }

    /// Who it is, where it is a process.
    pub const fn key(&self) -> Option<ProcessKey> {
        self.id.key
    }

    /// Whether it stands for a process that is no longer listed.
    pub const fn is_ended(&self) -> bool {
        matches!(self.holder, Holder::Ended { .. })
    }
}

/// What is drawn.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    monitor: Monitor,
    /// Largest first, unknown last.
    rows: Vec<TableRow>,
    /// Positions in `rows` of each GPU's own, in the same order.
    by_gpu: Vec<Vec<usize>>,
    owners: Owners,
    tags: Tags,
    by_process: bool,
}

impl Picture {
    pub(super) fn apply(&mut self, record: &Record) {
        self.monitor.apply(record);
        if !matches!(record, Record::Event(_)) {
            self.arrange();
        }
    }

    /// Everything that the records amount to.
    pub const fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// The rows of the table, largest first, unknown last.
    pub fn rows(&self) -> &[TableRow] {
        &self.rows
    }

    /// The rows of one GPU, largest first.
    pub fn rows_of(&self, gpu: usize) -> impl Iterator<Item = &TableRow> {
        self.by_gpu.get(gpu).into_iter().flatten().filter_map(|at| self.rows.get(*at))
    }

    /// The process behind a row.
    pub fn process(&self, row: &TableRow) -> Option<&ProcessRow> {
        match row.holder {
            Holder::Process { at, .. } => self.monitor.processes().get(at),
            Holder::Nobody | Holder::Untracked { .. } | Holder::Ended { .. } => None,
        }
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

    fn arrange(&mut self) {
        let processes = self.monitor.processes();
        self.owners.update(processes);
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
        let tags = self.tags.update(&candidates);
        self.by_process = has_one_user(known.iter().zip(&tags).filter(|(_, tag)| !tag.shared).map(|((at, _), _)| &processes[*at]));
        self.rows.clear();
        for ((at, gpu), tag) in known.into_iter().zip(tags) {
            let row = &processes[at];
            let hue = match self.owners.hue(row.facts.user.as_ref()) {
                Hue::Unseen => Hue::Unseen,
                _ if self.by_process => tag.hue(),
                hue => hue,
            };
            let id = RowId::of_process(gpu.facts.id.clone(), row.facts.key);
            self.rows.push(TableRow { id, gpu: row.gpu, bytes: row.bytes(), holder: Holder::Process { at, tag, hue } });
        }
        for (at, gpu) in gpus.iter().enumerate() {
            let id = |untracked| RowId { gpu: gpu.facts.id.clone(), key: None, untracked };
            if let Some(bytes) = gpu.ledger.value().and_then(ownerless) {
                self.rows.push(TableRow { id: id(false), gpu: at, bytes: Some(bytes), holder: Holder::Nobody });
            }
            if let Some(bytes) = gpu.untracked.share() {
                let count = gpu.untracked.count;
                self.rows.push(TableRow { id: id(true), gpu: at, bytes, holder: Holder::Untracked { count } });
            }
        }
        self.rows.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| (a.gpu, a.pid()).cmp(&(b.gpu, b.pid()))));
        self.by_gpu = vec![Vec::new(); gpus.len()];
        for (at, row) in self.rows.iter().enumerate() {
            self.by_gpu[row.gpu].push(at);
        }
        self.append_ended();
    }

    /// Those that ended stand below all that hold something, the last one first. They are in no bar.
    fn append_ended(&mut self) {
        for (at, ended) in self.monitor.ended().iter().enumerate().rev() {
            let Some(gpu) = self.monitor.gpus().get(ended.row.gpu) else { continue };
            let id = RowId::of_process(gpu.facts.id.clone(), ended.row.facts.key);
            self.rows.push(TableRow { id, gpu: ended.row.gpu, bytes: None, holder: Holder::Ended { at } });
        }
    }
}

/// Whether these belong to one user; the question is then which of his processes has what.
fn has_one_user<'a>(rows: impl Iterator<Item = &'a ProcessRow>) -> bool {
    let mut users = rows.filter_map(|row| row.facts.user.as_ref());
    let first = users.next();
    users.all(|user| Some(user) == first)
}

/// Memory that no listed process owns, where it is more than a clean card shows.
///
/// With memory v1 the driver's reserve cannot be told from it: then all of the rest is shown, and said to be both.
fn ownerless(ledger: &Ledger) -> Option<Bytes> {
    let rest = if ledger.driver.is_some() { ledger.notable_unattributed() } else { ledger.unattributed };
    // Less would be written as 0.0.
    rest.filter(|bytes| bytes.0 * 20 >= Bytes::GIB)
}
