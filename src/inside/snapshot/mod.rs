//! Torch memory snapshots (`torch.cuda.memory._dump_snapshot`): read without running anything, in bounded memory, whatever the file holds.
//!
//! Layouts: those of torch 1.11 to 2.15, as a dictionary or as a list of segments, in pickle protocols 0 to 5.

mod bytes;
mod facts;
mod fields;
mod fit;
mod judge;
mod machine;
mod opcode;
mod refusal;
mod sites;
mod store;
mod tally;
mod texts;
mod timeline;
mod value;

use std::io::Read;

pub use facts::{Action, Block, Event, Place, Run, Segment, Settings, SiteId, Snapshot, State};
pub use fit::{Elsewhere, Fit, Outcome};
pub use judge::{Report, examine};
pub use opcode::Reason;
pub use refusal::{Refusal, Why};
pub use tally::{Holes, Layers, Pool, PoolId, Tally, returnable};
pub use timeline::{Holding, Oom, Timeline};

/// Whether these first bytes are those of a pickle, of a snapshot or not. A log never begins so.
pub fn looks_like(first: &[u8]) -> bool {
    // The first protocols have no number: a dictionary or a list, and where the memo has it.
    matches!(first, [0x80, 0..=5, ..] | [b'(', b'd' | b'l', b'p', b'0', b'\n', ..] | [b'}' | b']', b'q', 0, ..])
}

/// Reads a snapshot. Takes some hundred bytes of memory for each of its events and blocks, and never more than about 1 GB.
///
/// # Errors
/// A [`Refusal`] that says what was found, and where: the file is cut, wants to run code, or is something else.
pub fn read(input: impl Read) -> Result<Snapshot, Refusal> {
    machine::read(input)
}

#[cfg(test)]
mod tests;
