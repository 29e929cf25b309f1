//! Why a file is not read as a snapshot: what was found, and where. One sentence each, for people.

use super::opcode::Reason;

/// A file that is not read, and how far it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What was found.
    pub why: Why,
    /// The byte after the one that decided it.
    pub offset: u64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The stream ended before the pickle did.
    Cut,
    /// The stream could not be read on.
    Unreadable(String),
    /// An operation beyond those that a snapshot needs.
    Opcode {
        /// The name of the operation, as Python's `pickletools` has it.
        name: &'static str,
        /// What the operation is for.
        reason: Reason,
    },
    /// A byte that is no operation at all.
    NoOpcode(u8),
    /// A protocol that this reader does not know.
    Protocol(u8),
    /// More of something than a snapshot of any sane size has.
    TooMuch {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        most: u64,
    },
    /// Something inside itself, or changed after it was used.
    Recursive,
    /// The operations do not fit together.
    Malformed(&'static str),
    /// A sound pickle of something else.
    NotASnapshot(&'static str),
}

impl std::error::Error for Refusal {}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = self.offset;
        match &self.why {
            Why::Cut => write!(f, "the snapshot ends at byte {at} in the middle: the file is cut, write it again"),
            Why::Unreadable(error) => write!(f, "the snapshot could not be read beyond byte {at}: {error}"),
            Why::Opcode { name, reason: Reason::Runs(what) } => {
                write!(f, "this pickle wants to run code ({name} at byte {at} {what}): refused; a torch memory snapshot never does")
            }
            Why::Opcode { name, reason: Reason::Foreign(what) } => {
                write!(f, "this pickle has {what} ({name} at byte {at}): refused; a torch memory snapshot has none")
            }
            Why::NoOpcode(byte) => write!(f, "byte {at} is no pickle operation (0x{byte:02x}): this is no torch memory snapshot, or it is damaged"),
            Why::Protocol(n) => write!(f, "pickle protocol {n} is not known: 0 to 5 are"),
            Why::TooMuch { what, most } => write!(f, "more than {most} {what} (at byte {at}): refused; record fewer with max_entries"),
            Why::Recursive => write!(f, "something refers to itself at byte {at}: refused; a torch memory snapshot never does"),
            Why::Malformed(what) => write!(f, "{what} at byte {at}: the file is damaged"),
            Why::NotASnapshot(what) => write!(f, "this pickle is no torch memory snapshot: {what}"),
        }
    }
}
