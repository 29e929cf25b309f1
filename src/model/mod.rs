//! What was read, as plain data: units, readings, GPUs, processes, samples and the ledger of one card.
//!
//! This layer refuses I/O, clocks and history: a value here is true of one moment and knows nothing of the next.
//! Text that came from another process can enter only as [`SafeText`].

mod gpu;
mod ledger;
mod process;
mod reading;
mod sample;
mod text;
mod units;

pub use gpu::{
    DeviceMemory, GpuFacts, GpuId, GpuSample, GpuState, Lane, LanePoint, ListState, MemorySource, PcieRate, Telemetry, Throttle, Untracked,
};
pub use ledger::{Ledger, Share};
pub use process::{HostReading, Kind, ProcessFacts, ProcessKey, ProcessSample, Rank, RunState, Visibility};
pub use reading::{Absence, ParseAbsenceError, Reading};
pub use sample::{Event, EventKind, Fault, Header, OwnCost, Record, Sample};
pub use text::SafeText;
pub use units::{Bytes, Moment, Percent, UtilizationPercent};
