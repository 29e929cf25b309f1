//! What an allocator's own account says, for people and as JSON: snapshots, summaries, lines of other tools.
//!
//! Pure functions from what was read to text, on the page that all answers are written on.

mod figures;
mod json;
mod layer;
mod map;
mod notes;
mod places;
mod snapshot;
mod summary;
#[cfg(test)]
mod tests;

pub use json::{notes_json, snapshot_json, summary_json};
pub use notes::note;
pub use snapshot::snapshot;
pub use summary::{more_tables, summary};
