//! What an allocator says of itself, found in an input: a torch snapshot, or tables and lines within a log.

use std::io::{self, Read};

use anyhow::Context as _;

use crate::cli::{Explain, ReportForm};
use crate::inside::accounts::{Accounts, Found};
use crate::inside::snapshot;
use crate::model::{Bytes, SafeText};
use crate::output::allocator;
use crate::output::explain::ExplainLook;

/// Tables of one log that are answered in full: the last ones.
const TABLES: usize = 2;

/// A reader that looks at what goes through it.
pub(super) struct Beheld<R> {
    inner: R,
    accounts: Accounts,
}

impl<R: Read> Beheld<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, accounts: Accounts::new() }
    }

    /// What went through.
    pub(super) fn finish(self) -> Found {
        self.accounts.finish()
    }
}

impl<R: Read> Read for Beheld<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let got = self.inner.read(into)?;
        self.accounts.take(&into[..got]);
        Ok(got)
    }
}

/// The answer to a snapshot.
///
/// # Errors
/// When it is none, is cut, or wants to run code.
pub(super) fn of_snapshot(name: &str, reader: impl Read, wanted: &Explain, look: ExplainLook) -> anyhow::Result<String> {
    let name = SafeText::new(name);
    let read = snapshot::read(reader).with_context(|| format!("cannot explain {name}"))?;
    let reports = snapshot::examine(&read, wanted.fit.map(Bytes));
    if wanted.format == ReportForm::Json {
        return Ok(format!("{}\n", allocator::snapshot_json(&name, &read, &reports)));
    }
    Ok(allocator::snapshot(&name, &read, &reports, look))
}

/// The answer to the tables and lines of a log; `None` where there are none.
pub(super) fn of_log(name: &str, found: &Found, format: ReportForm, look: ExplainLook) -> Option<String> {
    if found.tables.is_empty() && found.notes.is_empty() {
        return None;
    }
    let name = SafeText::new(name);
    let mut out = String::new();
    if format == ReportForm::Json {
        let tables = found.tables.iter().map(|table| allocator::summary_json(&name, table));
        for value in tables.chain(found.notes.iter().map(|note| allocator::notes_json(&name, note))) {
            out.push_str(&value.to_string());
            out.push('\n');
        }
        return Some(out);
    }
    let shown = found.tables.len().min(TABLES);
    for (at, table) in found.tables[found.tables.len() - shown..].iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        out.push_str(&allocator::summary(&name, table, look));
    }
    if found.table_count > shown as u64 {
        out.push('\n');
        out.push_str(&allocator::more_tables(found.table_count - shown as u64));
    }
    if !found.tables.is_empty() && !found.notes.is_empty() {
        out.push('\n');
    }
    for note in &found.notes {
        out.push_str(&allocator::note(&name, note, look));
    }
    Some(out)
}

/// Failures, and then the accounts.
pub(super) fn joined(failures: Option<String>, accounts: Option<String>) -> Option<String> {
    match (failures, accounts) {
        (Some(failures), Some(accounts)) => Some(format!("{failures}\n{accounts}")),
        (failures, accounts) => failures.or(accounts),
    }
}
