//! What was read, as plain data: units, readings, GPUs, processes, samples and the ledger of one card.
//!
//! This layer refuses I/O, clocks and history: a value here is true of one moment and knows nothing of the next.
//! Text that came from another process can enter only as [`SafeText`].

mod asked;
mod details;
mod gpu;
mod lane;
mod ledger;
mod memory;
mod nearest;
mod process;
mod reading;
mod sample;
mod selection;
mod signal;
mod telemetry;
mod text;
mod units;

pub use asked::{Answer, Ask, ClockDomain, ClockFigure};
pub use details::Details;
pub use gpu::{GpuFacts, GpuId, GpuSample, GpuState, ListState, Untracked};
pub use lane::{Lane, LanePoint};
pub use ledger::{Ledger, Share};
pub use memory::{DeviceMemory, MemorySource};
pub use nearest::nearest;
pub use process::{Ancestor, HostReading, Kind, ProcessFacts, ProcessKey, ProcessSample, Rank, RunState, Visibility};
pub use reading::{Absence, ParseAbsenceError, Reading};
pub use sample::{Event, EventKind, Fault, Header, OwnCost, Record, Sample};
pub use selection::{Selection, SelectionError, cuda_order, known_gpus};
pub use signal::{Refusal, Signal};
pub use telemetry::{PcieRate, Telemetry, Throttle};
pub use text::SafeText;
pub use units::{Bytes, Moment, Percent, UtilizationPercent};
