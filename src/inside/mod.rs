//! What programs leave behind about their memory, read back: out-of-memory texts in logs, and what to change about each kind.
//!
//! Readers only: nothing here opens a file, asks a driver or prints. What is read is foreign, so every reader is bounded.

pub mod advice;
pub mod moment;
pub mod oom;
