//! Conclusions from what was read: pure functions over model and history, with the figures that they rest on.

mod rate;
mod warnings;

pub use rate::{FloorChange, Rate, rate_of, slot_for};
pub use warnings::{Named, Severity, Warning};
