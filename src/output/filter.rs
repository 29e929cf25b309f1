//! What was asked to be shown. It only leaves out lines and holders; no figure of a card ever depends on it.

use crate::model::GpuId;
use crate::monitor::{GpuRow, ProcessRow};

/// Which GPUs and processes are shown; `None` is all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// These devices. A GPU stands for its MIG instances as well.
    pub gpus: Option<Vec<GpuId>>,
    /// Processes of these users.
    pub users: Option<Vec<String>>,
    /// These processes.
    pub pids: Option<Vec<u32>>,
}

impl Filter {
    /// Whether a device has a line.
    pub fn shows_gpu(&self, row: &GpuRow) -> bool {
        let asked = |id: &GpuId| self.gpus.as_ref().is_none_or(|gpus| gpus.contains(id));
        asked(&row.facts.id) || row.facts.parent.as_ref().is_some_and(asked)
    }

    /// Whether a process is named.
    pub fn shows_process(&self, row: &ProcessRow) -> bool {
        let user = |users: &Vec<String>| row.facts.user.as_ref().is_some_and(|user| users.iter().any(|asked| asked == user.as_str()));
        self.users.as_ref().is_none_or(user) && self.pids.as_ref().is_none_or(|pids| pids.contains(&row.facts.key.pid))
    }

    /// Whether every process is named.
    pub const fn shows_all_processes(&self) -> bool {
        self.users.is_none() && self.pids.is_none()
    }
}
