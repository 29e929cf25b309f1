//! The answers of `vramtop explain`, for people and for programs. It judges nothing and reads nothing: a report in, text out.

mod bar;
mod json;
mod page;
mod seen;
mod sums;
mod words;

pub use bar::Bar;
pub use json::json_line;
pub use page::{Page, Tone};
pub use seen::{also_seen, clock, seen_line, sentences};

use crate::inside::advice::advise;
use crate::inside::oom::{Figures, Log, Producer, Report, Verdict};
use crate::model::SafeText;

/// How the answers are drawn.
#[derive(Clone, Copy, Debug)]
pub struct ExplainLook {
    /// Columns.
    pub width: usize,
    /// ASCII alone.
    pub ascii: bool,
    /// With colours and weight.
    pub colors: bool,
}

/// What was seen beside the text, and where: a recording, or the device now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlsoSeen {
    /// Such as `recording of 12:08:18`.
    pub source: String,
    /// Sentences.
    pub lines: Vec<String>,
}

/// The most texts of one log that are answered in full; the others have a line each.
const IN_FULL: usize = 4;
/// And of those lines so many.
const IN_BRIEF: usize = 12;
/// The GPUs that are named where one failure is that of many.
const PLACES: usize = 4;

/// The answers for a log. `also` gives what was seen beside a text.
pub fn answers(name: &str, log: &Log, look: ExplainLook, also: &mut dyn FnMut(&Report) -> Vec<AlsoSeen>) -> String {
    let name = SafeText::new(name);
    let (full, brief) = sorted(alike(&log.reports));
    let mut page = Page::new(look);
    for (at, told) in full.iter().enumerate() {
        if at > 0 {
            page.blank();
        }
        answer(&mut page, name.as_str(), told, &also(told.report));
    }
    if !brief.is_empty() {
        page.blank();
        page.heading("Then");
        for told in brief.iter().take(IN_BRIEF) {
            page.paragraph(2, 4, &format!("{}:{}  {}: {}", name, told.report.line, told.source(), words::happened(told.report)));
        }
        if brief.len() > IN_BRIEF {
            page.paragraph(2, 4, &format!("and {} more: --format json has them all", brief.len() - IN_BRIEF));
        }
    }
    page.finish()
}

/// One answer in full for each kind of failure, the first to happen first. What follows from another failure, or is the same on
/// another rank, is told in brief.
fn sorted(all: Vec<Told<'_>>) -> (Vec<Told<'_>>, Vec<Told<'_>>) {
    let (mut full, mut brief): (Vec<Told<'_>>, Vec<Told<'_>>) = (Vec::new(), Vec::new());
    for told in all {
        let report = told.report;
        let follows = matches!(report.verdict, Verdict::Unknown | Verdict::Masked) && !full.is_empty();
        let alike = full.iter().any(|before| before.report.verdict == report.verdict && before.report.producer == report.producer);
        if follows || alike || full.len() >= IN_FULL { brief.push(told) } else { full.push(told) }
    }
    (full, brief)
}

/// A text, and those of other ranks that say the same of their own GPUs.
struct Told<'a> {
    report: &'a Report,
    others: Vec<&'a Report>,
}

/// Texts that differ in nothing but whose they are, as one.
fn alike(reports: &[Report]) -> Vec<Told<'_>> {
    let mut all: Vec<Told<'_>> = Vec::new();
    for report in reports {
        let figures = |of: &Report| Figures { device: None, ..of.figures.clone() };
        let same = |told: &&mut Told<'_>| {
            let first = told.report;
            report.figures.device.is_some()
                && (first.verdict, first.producer) == (report.verdict, report.producer)
                && first.hints == report.hints
                && figures(first) == figures(report)
        };
        match all.iter_mut().find(same) {
            Some(told) => told.others.push(report),
            None => all.push(Told { report, others: Vec::new() }),
        }
    }
    all
}

fn answer(page: &mut Page, name: &str, told: &Told<'_>, also: &[AlsoSeen]) {
    let report = told.report;
    let title = format!("{}:{}  {}", name, report.line, told.source());
    page.title(&title, report.verdict.word());
    page.paragraph(0, 0, &words::happened(report));
    let bar = bar::of(report);
    let sum = sums::line(report);
    if let Some(bar) = bar {
        page.blank();
        page.bar(&bar);
    }
    if let Some(sum) = sum {
        page.paragraph(0, 0, &sum);
    }
    if let Some(itself) = sums::itself(report) {
        page.paragraph(0, 0, &itself);
    }
    if report.verdict == Verdict::Unknown {
        page.blank();
        page.heading("Next time");
        for line in words::next_time(report) {
            page.paragraph(2, 4, &line);
        }
    } else {
        page.advice(&advise(report));
    }
    if !report.also.is_empty() {
        let others: Vec<&str> = report.also.iter().map(|verdict| verdict.word()).collect();
        page.heading(if report.verdict == Verdict::Unknown { "It could be" } else { "Or else" });
        page.paragraph(2, 2, &format!("{}{}", others.join(", "), words::doubt(report)));
    }
    for seen in also {
        page.heading_with("Also seen", &seen.source);
        seen.lines.iter().for_each(|line| page.paragraph(2, 2, line));
    }
}

impl Told<'_> {
    /// Which device, whose text, how often and on which ranks.
    fn source(&self) -> String {
        let report = self.report;
        let producer = match report.producer {
            Producer::Torch => "torch",
            Producer::ComfyUi => "torch, ComfyUI",
            other => other.word(),
        };
        let count = report.count + self.others.iter().map(|other| other.count).sum::<u64>();
        let times = if count > 1 { format!(" · {count} times") } else { String::new() };
        if self.others.is_empty() {
            let device = report.figures.device.map_or_else(String::new, |device| format!("GPU {device}, "));
            return format!("{device}{producer}{times}{}", ranks(report));
        }
        let place = |report: &Report| format!("GPU {}{}", report.figures.device.unwrap_or(0), ranks(report));
        let mut places: Vec<String> = std::iter::once(report).chain(self.others.iter().copied()).map(place).collect();
        let more = places.len().saturating_sub(PLACES);
        places.truncate(PLACES);
        let last = if more > 0 { format!("{more} more") } else { places.pop().unwrap_or_default() };
        format!("{}, and {last}: {producer}{times}", places.join(", "))
    }
}

/// The ranks that print a text.
fn ranks(report: &Report) -> String {
    let shown: Vec<String> = report.ranks.iter().take(8).map(u32::to_string).collect();
    match report.ranks.len() {
        0 => String::new(),
        1 => format!(" · rank {}", shown.join("")),
        2..=8 => format!(" · ranks {}", shown.join(", ")),
        _ => format!(" · ranks {}, …", shown.join(", ")),
    }
}
