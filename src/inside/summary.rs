//! `torch.cuda.memory_summary()`, read back from a log: both eras of it, several in one log, with whatever stands before its lines.
//!
//! Takes a line at a time and keeps the tables alone. What is not in a table is absent, never 0.

use super::verdict::{Verdict, is_much};
use crate::model::Bytes;

/// Tables that are kept of one log: the first ones, and the last.
const MOST: usize = 256;
/// Lines of one table, with others' lines between them; by itself it has some fifty.
const TALLEST: u64 = 400;
/// Bytes of a line that are looked at; a table is 79 columns wide.
const LONGEST: usize = 4096;

/// What a table has a row of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Blocks that tensors have.
    Allocated,
    /// These, and those that were freed and that a stream may still be using.
    Active,
    /// What was asked for.
    Requested,
    /// What was taken from the driver.
    Reserved,
    /// Free parts of segments in use.
    NonReleasable,
    /// How many blocks tensors have.
    Allocations,
    /// How many blocks are in use.
    ActiveAllocs,
    /// How many segments there are.
    Segments,
    /// How many free parts of segments in use there are.
    NonReleasableAllocs,
    /// How many blocks of `max_split_size` and more.
    OversizeAllocations,
    /// How many segments of that size.
    OversizeSegments,
}

/// Each metric, its name in a table, and its key in JSON.
pub const METRICS: [(Metric, &str, &str); 11] = [
    (Metric::Allocated, "Allocated memory", "allocated_bytes"),
    (Metric::Active, "Active memory", "active_bytes"),
    (Metric::Requested, "Requested memory", "requested_bytes"),
    (Metric::Reserved, "GPU reserved memory", "reserved_bytes"),
    (Metric::NonReleasable, "Non-releasable memory", "inactive_split_bytes"),
    (Metric::Allocations, "Allocations", "allocation"),
    (Metric::ActiveAllocs, "Active allocs", "active"),
    (Metric::Segments, "GPU reserved segments", "segment"),
    (Metric::NonReleasableAllocs, "Non-releasable allocs", "inactive_split"),
    (Metric::OversizeAllocations, "Oversize allocations", "oversize_allocations"),
    (Metric::OversizeSegments, "Oversize GPU segments", "oversize_segments"),
];

/// A printed figure: whole units, cut and not rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The printed number times its unit: bytes, or a count.
    pub value: u64,
    /// The unit: what the last digit is worth.
    pub unit: u64,
}

/// Now, at most since the peak was reset, and over the life of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cells {
    /// Now.
    pub current: Option<Figure>,
    /// At most.
    pub peak: Option<Figure>,
    /// All that was ever added.
    pub allocated: Option<Figure>,
    /// All that was ever taken away.
    pub freed: Option<Figure>,
}

/// One metric, and its two pools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Both pools.
    pub all: Cells,
    /// Requests of more than 1 MiB.
    pub large: Cells,
    /// Requests of up to 1 MiB.
    pub small: Cells,
}

/// One table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The line of the log with its headline, counted from 1.
    pub line: u64,
    /// The device, as torch numbers it.
    pub device: Option<u32>,
    /// Requests that failed.
    pub ooms: Option<u64>,
    /// Times that torch emptied its cache and asked again.
    pub retries: Option<u64>,
    rows: [Row; METRICS.len()],
}

/// What a table says of the layers; absent where it lacks a row that is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SummaryLayers {
    /// Blocks that tensors live in.
    pub tensors: Option<Bytes>,
    /// Freed, and a stream may still be using it.
    pub pending: Option<Bytes>,
    /// Free, and can be given back.
    pub cached: Option<Bytes>,
    /// Free, and can not.
    pub stuck: Option<Bytes>,
    /// Cached and stuck together.
    pub free: Option<Bytes>,
    /// All of it.
    pub reserved: Option<Bytes>,
}

impl Summary {
    /// The row of a metric; all absent where the table has none.
    pub fn row(&self, metric: Metric) -> &Row {
        &self.rows[metric as usize]
    }

    /// What a metric is now.
    pub fn now(&self, metric: Metric) -> Option<Bytes> {
        self.row(metric).all.current.map(|figure| Bytes(figure.value))
    }

    /// The most that a metric was.
    pub fn peak(&self, metric: Metric) -> Option<Bytes> {
        self.row(metric).all.peak.map(|figure| Bytes(figure.value))
    }

    /// The layers now. Tables that print no active memory have none pending as far as they tell.
    pub fn layers(&self) -> SummaryLayers {
        let (tensors, reserved, stuck) = (self.now(Metric::Allocated), self.now(Metric::Reserved), self.now(Metric::NonReleasable));
        let active = self.now(Metric::Active);
        let in_use = active.or(tensors);
        let less = |a: Option<Bytes>, b: Option<Bytes>| a.zip(b).map(|(a, b)| a.saturating_sub(b));
        let free = less(reserved, in_use);
        SummaryLayers { tensors, pending: less(active, tensors), cached: less(free, stuck), stuck, free, reserved }
    }

    /// How the allocator is doing. What was so when a request failed is told by the peak alone.
    pub fn verdict(&self) -> Verdict {
        let layers = self.layers();
        let Some(reserved) = layers.reserved else { return Verdict::Unknown };
        let stuck = layers.stuck.is_some_and(|stuck| is_much(stuck, reserved));
        if self.ooms.is_some_and(|ooms| ooms > 0) {
            let peaks = self.peak(Metric::Allocated).zip(self.peak(Metric::Reserved));
            // Four fifths of what was held was live at some time: little was left to be in pieces.
            return match peaks {
                Some((live, held)) if live.0.saturating_mul(5) >= held.0.saturating_mul(4) => Verdict::FullSelf,
                _ if stuck => Verdict::Fragmented,
                _ => Verdict::Unknown,
            };
        }
        match (stuck, layers.free) {
            (true, _) => Verdict::Fragmented,
            (false, Some(free)) if is_much(free, reserved) => Verdict::Cached,
            _ => Verdict::Sound,
        }
    }
}

/// Finds the tables of a log.
#[derive(Debug, Default)]
pub struct Reader {
    done: Vec<Summary>,
    /// How many tables there were in all.
    count: u64,
    open: Option<(Summary, Option<Metric>)>,
    lines: u64,
}

impl Reader {
    /// A reader at the beginning of a log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Passes over lines that somebody else found to have no table.
    pub(super) fn skip(&mut self, lines: u64) {
        self.lines += lines;
    }

    /// Whether a table began lately.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Takes the next line, or one that has more of them written as `\n`.
    pub fn line(&mut self, line: &[u8]) {
        self.lines += 1;
        if self.open.as_ref().is_some_and(|(summary, _)| self.lines - summary.line > TALLEST) {
            self.close();
        }
        if !line.contains(&b'|') && !line.windows(HEAD.len()).any(|part| part == HEAD.as_bytes()) {
            return;
        }
        let text = String::from_utf8_lossy(line);
        if text.contains("\\n") {
            text.split("\\n").for_each(|part| self.part(part));
        } else {
            self.part(&text);
        }
    }

    fn part(&mut self, text: &str) {
        let text = if text.len() > LONGEST { text.get(..LONGEST).unwrap_or("") } else { text };
        if let Some(at) = text.find(HEAD) {
            self.close();
            let device = text[at..].find(DEVICE).and_then(|from| first_number(&text[at + from + DEVICE.len()..]));
            let summary = Summary { line: self.lines, device: device.and_then(|n| u32::try_from(n).ok()), ..Summary::default() };
            self.open = Some((summary, None));
            return;
        }
        let Some((summary, metric)) = &mut self.open else { return };
        if text.contains("CUDA OOMs:") {
            summary.ooms = after(text, "CUDA OOMs:");
            summary.retries = after(text, "cudaMalloc retries:");
            return;
        }
        // What stands before the first bar is somebody else's: a rank, a time, blanks.
        let plain = without_colours(text);
        let mut cells = plain.split('|').skip(1).map(str::trim);
        let Some(name) = cells.next() else { return };
        let values = Cells { current: cell(cells.next()), peak: cell(cells.next()), allocated: cell(cells.next()), freed: cell(cells.next()) };
        match name {
            "from large pool" | "from small pool" => {
                if let Some(metric) = *metric {
                    let row = &mut summary.rows[metric as usize];
                    *(if name == "from large pool" { &mut row.large } else { &mut row.small }) = values;
                }
            }
            _ => {
                if let Some((found, ..)) = METRICS.iter().find(|(_, label, _)| *label == name) {
                    summary.rows[*found as usize].all = values;
                    *metric = Some(*found);
                }
            }
        }
    }

    fn close(&mut self) {
        let Some((summary, _)) = self.open.take() else { return };
        if METRICS.iter().all(|(metric, ..)| summary.row(*metric).all == Cells::default()) {
            return;
        }
        self.count += 1;
        if self.done.len() >= MOST {
            self.done.pop();
        }
        self.done.push(summary);
    }

    /// The tables in the log's order, and how many there were: more than are kept where there were very many.
    pub fn finish(mut self) -> (Vec<Summary>, u64) {
        self.close();
        (self.done, self.count)
    }
}

/// What every table begins with.
pub(super) const HEAD: &str = "PyTorch CUDA memory summary";
const DEVICE: &str = "device ID";

fn after(text: &str, label: &str) -> Option<u64> {
    text.find(label).and_then(|at| first_number(&text[at + label.len()..]))
}

fn first_number(text: &str) -> Option<u64> {
    let digits: String = text.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// A cell: a whole number, and its unit. `MB` means MiB there, and a count has `K` or `M` for thousands and millions.
fn cell(text: Option<&str>) -> Option<Figure> {
    let mut words = text?.split_whitespace();
    let number: u64 = words.next()?.parse().ok()?;
    let unit: u64 = match words.next() {
        None | Some("B") => 1,
        Some("K") => 1000,
        Some("M") => 1_000_000,
        Some("KiB" | "KB") => 1 << 10,
        Some("MiB" | "MB") => 1 << 20,
        Some("GiB" | "GB") => 1 << 30,
        Some("TiB" | "TB") => 1 << 40,
        Some("PiB" | "PB") => 1 << 50,
        Some(_) => return None,
    };
    Some(Figure { value: number.checked_mul(unit)?, unit })
}

/// The text without colour codes, in which a bar could hide.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut parts = text.split("\u{1b}[");
    plain.push_str(parts.next().unwrap_or(""));
    for part in parts {
        plain.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').get(1..).unwrap_or(""));
    }
    plain
}

#[cfg(test)]
mod tests;
