//! What was, in rings that are bounded by construction: fine for the last minutes, coarse for the last day.
//!
//! A ring is indexed by the sample's own clock, so a time without readings is a gap and never a line drawn through it.
//! Nothing here draws conclusions.

mod gpu;
mod process;
mod tier;

pub use gpu::{GpuHistory, MemorySlot, TelemetrySlot};
pub use process::{ProcessHistory, RangeSlot};
pub use tier::{Column, Slot, Tier};
