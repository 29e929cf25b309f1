//! One GPU or MIG instance: what never changes about it, and what one step read of it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Absence, Bytes, DeviceMemory, Lane, Reading, SafeText, Share, Telemetry};

/// The UUID of a GPU (`GPU-…`) or MIG instance (`MIG-…`): the only identity that survives a reboot or a change of order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GpuId(Arc<str>);

impl GpuId {
    /// Takes a UUID as the driver spells it.
    pub fn new(uuid: &str) -> Self {
        Self(Arc::from(SafeText::new(uuid).as_str()))
    }

    /// The UUID.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What is fixed about a device until the driver is loaded anew.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuFacts {
    /// Its UUID.
    pub id: GpuId,
    /// The driver's index; `None` for a MIG instance.
    pub index: Option<u32>,
    /// The instance's place under its parent; `None` for a whole GPU.
    pub instance: Option<u32>,
    /// The GPU that a MIG instance is a part of.
    pub parent: Option<GpuId>,
    /// PCI bus id as nvidia-smi prints it, `00000000:00:06.0`.
    pub pci: Option<SafeText>,
    /// Product name.
    pub name: SafeText,
    /// All of its memory, where it could be read when the device was opened.
    pub total: Reading<Bytes>,
    /// Whether its memory is the host's (no frame buffer of its own).
    pub shared_with_host: bool,
    /// Enforced power limit in milliwatts.
    pub power_limit_mw: Reading<u32>,
    /// Highest SM clock in MHz.
    pub max_sm_mhz: Reading<u32>,
    /// Highest memory clock in MHz.
    pub max_memory_mhz: Reading<u32>,
    /// Size of the BAR1 aperture. It is an address window and never capacity.
    pub bar1_total: Reading<Bytes>,
    /// Whether MIG mode is on.
    pub mig: Reading<bool>,
}

impl GpuFacts {
    /// How people name it: `0`, or `0.2` for the third instance on GPU 0 (then `parent_index` is the parent's index).
    pub fn label(&self, parent_index: Option<u32>) -> String {
        match (self.index, self.instance) {
            (Some(index), _) => index.to_string(),
            (None, Some(instance)) => match parent_index {
                Some(parent) => format!("{parent}.{instance}"),
                None => format!("?.{instance}"),
            },
            (None, None) => "?".to_owned(),
        }
    }
}

/// Whether a device answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GpuState {
    /// It answers.
    Present,
    /// The driver has lost it; since which time of the sample's own clock in ms.
    Lost {
        /// Milliseconds of the sample's own clock.
        since_ms: u64,
    },
    /// Its runtime power management has put it to sleep and it is left alone.
    Asleep {
        /// Milliseconds of the sample's own clock.
        since_ms: u64,
    },
}

impl GpuState {
    /// The driver's word for a lost device.
    pub const LOST: &str = "GPU is lost";
}

/// What one step read of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuSample {
    /// Which device.
    pub id: GpuId,
    /// Whether it answers.
    pub state: GpuState,
    /// The memory, read right after the process list of this step, so that the two agree.
    pub memory: Reading<DeviceMemory>,
    /// The fast readings of used since the step before.
    pub lane: Lane,
    /// Whether the process lists could be read; the rows stand in [`super::Sample::processes`]. Those of a list that could not be read
    /// stay there, with a figure that is stale since it could.
    pub processes: Reading<ListState>,
    /// Processes that are counted and not listed: those beyond the most that are tracked, and those that a filter leaves out.
    pub untracked: Untracked,
    /// The telemetry lane.
    pub telemetry: Telemetry,
}

/// Processes that are only counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Untracked {
    /// How many.
    pub count: u32,
    /// What they hold together; `None` when one of them is unknown.
    pub memory: Share,
}

impl Untracked {
    /// One more.
    pub fn add(&mut self, share: Share) {
        self.count += 1;
        self.memory = self.memory.zip(share).map(|(sum, bytes)| sum + bytes);
    }

    /// What they add to a ledger: nothing where there are none.
    pub fn share(&self) -> Option<Share> {
        (self.count > 0).then_some(self.memory)
    }
}

impl Default for Untracked {
    fn default() -> Self {
        Self { count: 0, memory: Some(Bytes::ZERO) }
    }
}

/// How much of the process lists was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListState {
    /// Every list that the device has, in this step.
    Fresh,
    /// Some of them, in this step; others may hold memory, too. Why the rest could not be read.
    Partial(Absence),
}

impl Reading<ListState> {
    /// Whether it names everybody.
    pub const fn is_whole(&self) -> bool {
        matches!(self, Self::Value(ListState::Fresh))
    }

    /// Why it does not name everybody.
    pub const fn lacking(&self) -> Option<&Absence> {
        match self {
            Self::Value(ListState::Fresh) => None,
            Self::Value(ListState::Partial(why)) | Self::Absent(why) => Some(why),
        }
    }
}
