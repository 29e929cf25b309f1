//! What an allocator says of itself, found in an input: a torch snapshot, or tables and lines within a log.

use std::io::{self, ErrorKind, Read};

use anyhow::Context as _;

use super::Answer;
use crate::cli::{Explain, ReportForm};
use crate::exit::Exit;
use crate::inside::accounts::{Accounts, Found};
use crate::inside::snapshot;
use crate::model::{Bytes, SafeText};
use crate::output::allocator;
use crate::output::explain::ExplainLook;

/// Tables of one log that are answered in full: the last ones.
const TABLES: usize = 2;

/// What `torch.save` calls its pickle.
const IN_SAVED: &str = ":data.pkl";

/// A reader that looks at what goes through it. Where the stream fails it ends: what was read until then is worth an answer.
pub(super) struct Beheld<R> {
    inner: R,
    accounts: Accounts,
    /// Why it ended before its end.
    ended: Option<io::Error>,
}

impl<R: Read> Beheld<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, accounts: Accounts::new(), ended: None }
    }

    /// What went through, and why the stream failed where it did.
    pub(super) fn finish(self) -> (Found, Option<io::Error>) {
        (self.accounts.finish(), self.ended)
    }
}

impl<R: Read> Read for Beheld<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let got = match self.inner.read(into) {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                self.ended = Some(error);
                0
            }
            got => got?,
        };
        self.accounts.take(&into[..got]);
        Ok(got)
    }
}

/// The answer to a snapshot. Where a request was asked about, no is any device on which it does not fit for certain.
///
/// # Errors
/// When it is none, is cut, or wants to run code.
pub(super) fn of_snapshot(name: &str, reader: impl Read, wanted: &Explain, look: ExplainLook) -> anyhow::Result<Answer> {
    let name = SafeText::new(name);
    let read = snapshot::read(reader).with_context(|| {
        let saved = if name.as_str().ends_with(IN_SAVED) { " (a plain one: torch.cuda.memory._dump_snapshot(\"snapshot.pickle\"))" } else { "" };
        format!("cannot explain {name}{saved}")
    })?;
    let reports = snapshot::examine(&read, wanted.fit.map(Bytes));
    let fits = !reports.is_empty() && reports.iter().all(|report| report.fit.as_ref().is_some_and(|fit| fit.fits() == Some(true)));
    let exit = if wanted.fit.is_none() || fits { Exit::Fine } else { Exit::Failed };
    let text = match wanted.format {
        ReportForm::Json => format!("{}\n", allocator::snapshot_json(&name, &read, &reports)),
        ReportForm::Text => allocator::snapshot(&name, &read, &reports, look),
    };
    Ok(Answer { text: Some(text), exit, remark: None })
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
