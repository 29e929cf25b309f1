//! A row of the table: whose it is, so that it can be found again, and what it stands for. It refuses to hold how rows are chosen and
//! ordered: see [`super::Picture`].

use super::groups::GroupId;
use super::letters::Letter;
use super::owners::Hue;
use crate::model::{Bytes, GpuId, ProcessKey};

/// Who a row of the table is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowId {
    gpu: GpuId,
    key: Option<ProcessKey>,
    untracked: bool,
    group: Option<GroupId>,
}

impl RowId {
    /// A process on a GPU.
    pub(super) const fn of_process(gpu: GpuId, key: ProcessKey) -> Self {
        Self { gpu, key: Some(key), untracked: false, group: None }
    }

    /// What is left of a GPU beside its processes: those that are only counted, or nobody's.
    pub(super) const fn of_rest(gpu: GpuId, untracked: bool) -> Self {
        Self { gpu, key: None, untracked, group: None }
    }

    /// The process, where it is one.
    pub(super) const fn key(&self) -> Option<ProcessKey> {
        self.key
    }

    /// The same row.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        if self.group.is_some() || other.group.is_some() {
            return self.group == other.group;
        }
        let same_process = match (self.key, other.key) {
            (Some(a), Some(b)) => a.is_same(b),
            (a, b) => a == b,
        };
        same_process && self.gpu == other.gpu && self.untracked == other.untracked
    }

    /// The row of a group that this is the largest member of.
    pub(super) fn of_group(&self, group: GroupId) -> Self {
        Self { gpu: self.gpu.clone(), key: None, untracked: false, group: Some(group) }
    }
}

/// What a row of the table stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A process.
    Process {
        /// Position in [`crate::monitor::Monitor::processes`].
        at: usize,
        /// Its letter.
        letter: Letter,
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
        /// Position in [`crate::monitor::Monitor::ended`].
        at: usize,
    },
    /// Several processes in one row.
    Group {
        /// Position in [`super::Picture::groups`].
        at: usize,
    },
}

impl Holder {
    /// Position in [`crate::monitor::Monitor::processes`], where it is a process.
    pub(super) const fn process(self) -> Option<usize> {
        match self {
            Self::Process { at, .. } => Some(at),
            Self::Nobody | Self::Untracked { .. } | Self::Ended { .. } | Self::Group { .. } => None,
        }
    }

    /// The letter that ties it to its slice, where it is a process.
    pub fn letter(self) -> Option<char> {
        match self {
            Self::Process { letter, .. } => Some(letter.letter),
            Self::Nobody | Self::Untracked { .. } | Self::Ended { .. } | Self::Group { .. } => None,
        }
    }

    /// The colour of who it is; that of nobody where it is no single process.
    pub const fn hue(self) -> Hue {
        match self {
            Self::Process { hue, .. } => hue,
            Self::Nobody | Self::Untracked { .. } | Self::Ended { .. } | Self::Group { .. } => Hue::Unseen,
        }
    }
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// Who it is.
    pub id: RowId,
    /// Position of its GPU in [`crate::monitor::Monitor::gpus`].
    pub gpu: usize,
    /// What it holds; `None` where the driver does not say.
    pub bytes: Option<Bytes>,
    /// What it stands for.
    pub holder: Holder,
    /// How many rows it hangs below: those of an open group, or of the processes that started it.
    pub depth: u16,
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
