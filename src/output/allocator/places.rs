//! What is live by the line of the program that asked for it.

use super::figures::{amount, count};
use crate::inside::snapshot::{Holding, Place, Report, Snapshot};
use crate::model::Bytes;
use crate::output::explain::Page;

/// Places that are printed.
const MOST: usize = 8;

/// Appends the places that hold the most, now and at the peak; nothing where none were recorded.
pub(super) fn live(page: &mut Page, snapshot: &Snapshot, report: &Report) {
    if report.live.is_empty() && report.at_peak.is_empty() {
        if report.tally.live_blocks > 0 {
            page.blank();
            page.paragraph(
                0,
                2,
                "Live by place  not recorded: torch.cuda.memory._record_memory_history() before the model is built tells who asked for what.",
            );
        }
        return;
    }
    table(page, "Live by place, now", snapshot, &report.live);
    if let Some(line) = report.timeline.as_ref().filter(|_| !report.at_peak.is_empty()) {
        table(page, &format!("Live by place, at the peak of {}", amount(line.peak)), snapshot, &report.at_peak);
    }
}

fn table(page: &mut Page, title: &str, snapshot: &Snapshot, holdings: &[Holding]) {
    if holdings.is_empty() {
        return;
    }
    page.blank();
    page.line(title);
    for held in holdings.iter().take(MOST) {
        let place = snapshot.place(held.site).map_or("not recorded".to_owned(), |place| words(&place));
        page.line(&format!("  {:>10}  {:>9}  {place}", amount(held.bytes), count(held.count, "block")));
    }
    let rest = holdings.get(MOST..).unwrap_or_default();
    if !rest.is_empty() {
        let bytes: Bytes = rest.iter().map(|held| held.bytes).sum();
        page.line(&format!("  {:>10}  in {}", amount(bytes), count(rest.len() as u64, "more place")));
    }
}

/// `function  file:line`, and the library's line where one was called there.
pub(super) fn words(place: &Place) -> String {
    let line = if place.line > 0 { format!(":{}", place.line) } else { String::new() };
    let through =
        place.through.as_ref().map_or(String::new(), |(function, file, line)| format!("  through {function}  {}:{line}", tail(file.as_str())));
    format!("{}  {}{line}{through}", place.function, tail(place.file.as_str()))
}

/// The last three parts of a path tell which file it is.
fn tail(path: &str) -> &str {
    path.rmatch_indices('/').nth(2).filter(|(at, _)| *at > 0).map_or(path, |(at, _)| &path[at + 1..])
}
