//! An allocator's own accounts in a log: tables of `memory_summary()` and lines of other tools, found in one pass beside another reader.
//!
//! Takes bytes as they come. A piece without a word of theirs is passed over at the speed of the search; memory is one line.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::{memchr, memchr_iter, memrchr};

use super::loglines::{self, Note};
use super::summary::{self, Summary};

/// Bytes that are kept of one line.
const LONGEST: usize = 1 << 16;

static SEARCH: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    // Leftmost matches are found by vector instructions.
    AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(loglines::ANCHORS.iter().chain([&summary::HEAD])).ok()
});

/// What a log holds of them.
#[derive(Debug, Default)]
pub struct Found {
    /// Tables, in the log's order.
    pub tables: Vec<Summary>,
    /// How many tables there were; more than are kept where there were very many.
    pub table_count: u64,
    /// What other tools said.
    pub notes: Vec<Note>,
}

/// Looks for them.
#[derive(Debug, Default)]
pub struct Accounts {
    tables: summary::Reader,
    lines: loglines::Reader,
    /// The beginning of a line whose end has not come yet.
    rest: Vec<u8>,
}

impl Accounts {
    /// At the beginning of a log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes.
    pub fn take(&mut self, mut bytes: &[u8]) {
        if !self.rest.is_empty() {
            let end = memchr(b'\n', bytes);
            self.keep(&bytes[..end.unwrap_or(bytes.len())]);
            let Some(end) = end else { return };
            let line = std::mem::take(&mut self.rest);
            self.line(&line);
            bytes = &bytes[end + 1..];
        }
        let whole = memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        let (lines, tail) = bytes.split_at(whole);
        if let Some(lines) = lines.strip_suffix(b"\n") {
            let matters = self.tables.is_open() || self.lines.has_columns() || SEARCH.as_ref().is_some_and(|search| search.is_match(lines));
            if matters {
                lines.split(|byte| *byte == b'\n').for_each(|line| self.line(line));
            } else {
                let count = memchr_iter(b'\n', lines).count() as u64 + 1;
                self.tables.skip(count);
                self.lines.skip(count);
            }
        }
        self.keep(tail);
    }

    fn keep(&mut self, tail: &[u8]) {
        let room = LONGEST.saturating_sub(self.rest.len());
        self.rest.extend_from_slice(&tail[..tail.len().min(room)]);
    }

    fn line(&mut self, line: &[u8]) {
        self.tables.line(line);
        self.lines.line(line);
    }

    /// What was found.
    pub fn finish(mut self) -> Found {
        let line = std::mem::take(&mut self.rest);
        if !line.is_empty() {
            self.line(&line);
        }
        let (tables, table_count) = self.tables.finish();
        Found { tables, table_count, notes: self.lines.finish() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TABLE: &str = include_str!("../../tests/explain/torch-memory-summary-2020.txt");

    proptest! {
        /// However a log comes in pieces, the same is found on the same lines.
        #[test]
        fn pieces_do_not_matter(size in 1_usize..3000, before in 0_usize..200) {
            let log = format!("{}{TABLE}x\nAvailable KV cache memory: 0.50 GiB\n\nMA 1 GB Max_MA 2 GB CA 3 GB Max_CA 4 GB", "step\n".repeat(before));
            let mut accounts = Accounts::new();
            log.as_bytes().chunks(size).for_each(|piece| accounts.take(piece));
            let found = accounts.finish();
            let first = before as u64;
            let rows = TABLE.lines().count() as u64;
            prop_assert_eq!(found.tables.iter().map(|table| table.line).collect::<Vec<_>>(), [first + 2]);
            prop_assert_eq!(found.notes.iter().map(|note| note.line).collect::<Vec<_>>(), [first + rows + 2, first + rows + 4]);
        }
    }
}
