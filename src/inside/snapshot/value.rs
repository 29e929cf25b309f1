//! What lies on the stack of the reader: numbers, texts by number, and records that are finished. Nothing here owns memory.

use super::facts::{Run, Site, SiteId};
use super::refusal::Why;
use super::texts::TextId;

/// Devices that one snapshot may have.
const MOST_DEVICES: usize = 1024;

/// A value. Copied freely: none is larger than two words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    /// A number with a fraction, or one that does not fit: nothing in a snapshot needs either.
    Number,
    Text(TextId),
    /// A list or dictionary that may still grow.
    Open(u32),
    EmptyList,
    Pool(u32),
    Frame(u32),
    Site(SiteId),
    Block(u32),
    Blocks(Run),
    Past(u32),
    Event(u32),
    Events(Run),
    Traces(u32),
    Segment(u32),
    Segments(Run),
    Rules(u32),
    Settings(u32),
    /// A whole snapshot, by its segments.
    Whole(Run),
    /// Something that a snapshot may have and nobody asks for.
    Other,
}

/// What a list holds, as far as it has been filled.
#[derive(Debug)]
pub(super) enum Items {
    Empty,
    Frames(Site),
    Blocks(Run),
    Events(Run),
    Segments(Run),
    /// The newest of a block's earlier lives; torch writes it first.
    Past(u32),
    /// The events of each device.
    Traces(Vec<Run>),
    Other,
}

impl Items {
    /// Takes one more value. Records that do not follow each other are shared with another list: no snapshot does that.
    pub(super) fn push(&mut self, value: Value) -> Result<(), Why> {
        let one = |start| Run { start, len: 1 };
        match (&mut *self, value) {
            (Self::Empty, Value::Block(at)) => *self = Self::Blocks(one(at)),
            (Self::Empty, Value::Event(at)) => *self = Self::Events(one(at)),
            (Self::Empty, Value::Segment(at)) => *self = Self::Segments(one(at)),
            (Self::Empty, Value::Past(at)) => *self = Self::Past(at),
            (Self::Blocks(run), Value::Block(at)) | (Self::Events(run), Value::Event(at)) | (Self::Segments(run), Value::Segment(at)) => {
                if at != run.end() {
                    return Err(Why::Malformed("a record that is in two lists"));
                }
                run.len += 1;
            }
            (Self::Past(_), Value::Past(_)) => {}
            (Self::Empty, Value::Events(run)) => *self = Self::Traces(vec![run]),
            (Self::Empty, Value::EmptyList) => *self = Self::Traces(vec![Run::default()]),
            (Self::Traces(traces), Value::Events(_) | Value::EmptyList) => {
                let run = if let Value::Events(run) = value { run } else { Run::default() };
                if traces.len() >= MOST_DEVICES {
                    return Err(Why::TooMuch { what: "devices", most: MOST_DEVICES as u64 });
                }
                if run.len > 0 && traces.iter().any(|before| before.end() > run.start && before.len > 0) {
                    return Err(Why::Malformed("an event of two devices"));
                }
                traces.push(run);
            }
            _ => *self = Self::Other,
        }
        Ok(())
    }
}
