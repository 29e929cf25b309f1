//! What programs leave behind about their memory, read back: out-of-memory texts in logs, an allocator's own accounts of itself
//! (snapshots, summaries, lines of tools), and what to change about each kind.
//!
//! Readers only: nothing here opens a file, asks a driver, prints, or runs anything that a file says. What is read is foreign, so
//! every reader is bounded.

pub mod accounts;
pub mod advice;
pub mod loglines;
pub mod moment;
pub mod oom;
pub mod snapshot;
pub mod summary;
mod verdict;
pub mod which;

pub use verdict::Verdict;
