//! The state as text for other programs and for logs. Pure functions over the monitor: nothing here writes to a stream.

pub mod allocator;
pub mod explain;
mod holders;
mod line;
pub mod smi;
#[cfg(test)]
mod tests;
mod text;

pub use holders::MOST_NAMED;
pub use text::{LineOptions, log_lines, status_lines};
