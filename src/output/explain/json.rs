//! One object a text, for programs: the columns of the answers, with null where the text has nothing.

use serde::Serialize;

use crate::inside::oom::{Amount, Report};

/// An amount: bytes, or the word for the missing-value sentinel.
#[derive(Serialize)]
#[serde(untagged)]
enum Cell {
    Bytes(u64),
    Word(&'static str),
}

impl Cell {
    const fn of(amount: Amount, sentinel: &'static str) -> Self {
        match amount.bytes() {
            Some(bytes) => Self::Bytes(bytes),
            None => Self::Word(sentinel),
        }
    }
}

#[derive(Serialize)]
struct Row<'a> {
    file: &'a str,
    split: Option<()>,
    producer: &'static str,
    device: Option<u32>,
    tried: Option<Cell>,
    capacity: Option<Cell>,
    free: Option<Cell>,
    this_process: Option<Cell>,
    other_processes: Option<String>,
    allowed: Option<Cell>,
    allocated: Option<Cell>,
    private_pools: Option<Cell>,
    reserved_unallocated: Option<Cell>,
    reserved_total: Option<Cell>,
    verdict: &'static str,
    also: Option<String>,
    confidence: &'static str,
    why: String,
    line: u64,
    count: u64,
}

/// The object of a text, and the end of its line. `file` is the name of its log.
///
/// # Errors
/// None in practice: every field is a figure or a text.
pub fn json_line(file: &str, report: &Report) -> serde_json::Result<String> {
    let figures = &report.figures;
    let cell = |amount: Option<Amount>| amount.map(|amount| Cell::of(amount, "NA"));
    let others =
        figures.others.iter().map(|(pid, amount)| format!("{pid}={}", amount.bytes().map_or_else(|| "NA".to_owned(), |bytes| bytes.to_string())));
    let also: Vec<&str> = report.also.iter().map(|verdict| verdict.word()).collect();
    let row = Row {
        file,
        split: None,
        producer: report.producer.word(),
        device: figures.device,
        tried: cell(figures.tried),
        capacity: cell(figures.capacity),
        free: cell(figures.free),
        this_process: cell(figures.this_process),
        other_processes: (!figures.others.is_empty()).then(|| others.collect::<Vec<_>>().join(";")),
        allowed: figures.allowed.map(|amount| Cell::of(amount, "unlimited")),
        allocated: cell(figures.allocated),
        private_pools: cell(figures.private_pools),
        reserved_unallocated: cell(figures.reserved_unallocated),
        reserved_total: cell(figures.reserved_total),
        verdict: report.verdict.word(),
        also: (!also.is_empty()).then(|| also.join(";")),
        confidence: report.confidence.word(),
        why: super::words::happened(report),
        line: report.line,
        count: report.count,
    };
    Ok(serde_json::to_string(&row)? + "\n")
}
