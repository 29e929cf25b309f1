//! Recordings: one JSON object a line, as log mode writes them and a replay reads them.
//!
//! What is written and read back is equal to what was sent, record for record; that is all that makes a replay show what a
//! live run showed. This layer draws no conclusions: derived fields are written from the monitor's and ignored when read.

mod absent;
mod extent;
mod facts;
mod reader;
mod restore;
mod schema;
mod time;
mod writer;

pub use extent::Extent;
pub use reader::{ReadError, Reader};
pub use schema::SCHEMA;
pub use time::{local, utc};
pub use writer::Writer;
