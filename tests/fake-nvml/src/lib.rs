//! A `libnvidia-ml.so` with the real C ABI whose answers come from a scenario file.
//!
//! Built as a `cdylib` it is what a program under test loads in place of the
//! driver's library. Built as an `rlib` it gives tests the ways to find that
//! library and to make copies of it that lack the symbols an old driver lacks.
//! README.md documents the scenario format.

mod amount;
mod api;
mod calllog;
mod calls;
mod clock;
mod codes;
mod curve;
mod fault;
mod gate;
mod gpu;
mod latency;
mod locate;
mod lock;
mod old_drivers;
mod out;
mod patch;
mod process;
mod profile;
mod scenario;
mod scenario_gpu;
mod state;
mod stats;

pub use locate::{library_for, library_path};
pub use old_drivers::{OLD_418, OLD_470};
pub use patch::library_without;
