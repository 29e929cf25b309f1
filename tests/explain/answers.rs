//! The texts and their answers.

use std::fs;
use std::path::Path;

use vramtop::inside::oom::{Amount, Report};

/// A text with its answer.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) file: String,
    pub(crate) text: String,
    pub(crate) producer: String,
    pub(crate) verdict: String,
    pub(crate) also: Vec<String>,
    pub(crate) row: Vec<(String, String)>,
}

/// The texts of a folder.
pub(crate) fn cases(folder: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/explain").join(folder);
    let table = fs::read_to_string(folder.join("answers.tsv")).expect("answers");
    let mut lines = table.lines();
    let columns: Vec<&str> = lines.next().expect("a head").split('\t').collect();
    lines
        .map(|line| {
            let row: Vec<(String, String)> = columns.iter().map(|name| (*name).to_owned()).zip(line.split('\t').map(str::to_owned)).collect();
            let cell = |name: &str| row.iter().find(|(column, _)| column == name).map_or_else(String::new, |(_, cell)| cell.clone());
            let file = cell("file");
            let text = fs::read_to_string(folder.join(&file)).expect("a text");
            let also = cell("also").split(';').filter(|word| !word.is_empty()).map(str::to_owned).collect();
            Case { text, producer: cell("producer"), verdict: cell("verdict"), also, file, row }
        })
        .collect()
}

/// The texts of all folders: those that came with their answers, invented ones, and some of an H200 as torch printed them.
pub(crate) fn all() -> Vec<Case> {
    ["oom-texts", "more", "eras", "h200"].into_iter().flat_map(cases).collect()
}

/// The figures of a report by their columns, each with half a unit of its last digit.
pub(crate) fn figures(report: &Report) -> Vec<(&'static str, String, u64)> {
    let figures = &report.figures;
    let told = |amount: Option<Amount>| match amount {
        None => (String::new(), 0),
        Some(Amount::Sentinel) => ("NA".to_owned(), 0),
        Some(Amount::Known { bytes, half }) => (bytes.to_string(), half),
    };
    let others: Vec<String> = figures.others.iter().map(|(pid, amount)| format!("{pid}={}", told(Some(*amount)).0)).collect();
    let mut all = vec![("device", figures.device.map_or_else(String::new, |device| device.to_string()), 0), ("other_processes", others.join(";"), 0)];
    let amounts = [
        ("tried", figures.tried),
        ("capacity", figures.capacity),
        ("free", figures.free),
        ("this_process", figures.this_process),
        ("allowed", figures.allowed),
        ("allocated", figures.allocated),
        ("private_pools", figures.private_pools),
        ("reserved_unallocated", figures.reserved_unallocated),
        ("reserved_total", figures.reserved_total),
    ];
    all.extend(amounts.map(|(name, amount)| (name, told(amount).0, told(amount).1)));
    all
}

/// Whether a figure is what the answer says, within so many bytes.
pub(crate) fn agrees(wanted: &str, found: &str, half: u64) -> bool {
    let wanted = if wanted == "unlimited" { "NA" } else { wanted };
    let sorted = |list: &str| {
        let mut parts: Vec<&str> = list.split(';').collect();
        parts.sort_unstable();
        parts.join(";")
    };
    sorted(wanted) == sorted(found) || wanted.parse::<u64>().ok().zip(found.parse::<u64>().ok()).is_some_and(|(a, b)| a.abs_diff(b) <= half.max(1))
}

impl Case {
    pub(crate) fn wanted(&self, column: &str) -> &str {
        self.row.iter().find(|(name, _)| name == column).map_or("", |(_, cell)| cell)
    }

    /// What differs from the answer.
    pub(crate) fn differences(&self, report: &Report) -> Vec<String> {
        let mut wrong: Vec<String> = figures(report)
            .into_iter()
            .filter(|(column, found, half)| !agrees(self.wanted(column), found, *half))
            .map(|(column, found, _)| format!("{} {column}: wanted {:?}, found {found:?}", self.file, self.wanted(column)))
            .collect();
        if report.verdict.word() != self.verdict {
            wrong.push(format!("{}: wanted {}, found {}", self.file, self.verdict, report.verdict.word()));
        }
        wrong
    }
}
