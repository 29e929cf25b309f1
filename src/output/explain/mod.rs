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
use crate::inside::oom::{Log, Producer, Report, Verdict};
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

/// The answers for a log. `also` gives what was seen beside a text.
pub fn answers(name: &str, log: &Log, look: ExplainLook, also: &mut dyn FnMut(&Report) -> Vec<AlsoSeen>) -> String {
    let name = SafeText::new(name);
    let (full, brief) = sorted(&log.reports);
    let mut page = Page::new(look);
    for (at, report) in full.iter().enumerate() {
        if at > 0 {
            page.blank();
        }
        answer(&mut page, name.as_str(), report, &also(report));
    }
    if !brief.is_empty() {
        page.blank();
        page.heading("Then");
        for report in brief.iter().take(IN_BRIEF) {
            page.paragraph(2, 4, &format!("{}:{}  {}: {}", name, report.line, source(report), words::happened(report)));
        }
        if brief.len() > IN_BRIEF {
            page.paragraph(2, 4, &format!("and {} more: --format json has them all", brief.len() - IN_BRIEF));
        }
    }
    page.finish()
}

/// One answer in full for each kind of failure, the first to happen first. What follows from another failure, or is the same on
/// another rank, is told in brief.
fn sorted(reports: &[Report]) -> (Vec<&Report>, Vec<&Report>) {
    let (mut full, mut brief): (Vec<&Report>, Vec<&Report>) = (Vec::new(), Vec::new());
    for report in reports {
        let follows = matches!(report.verdict, Verdict::Unknown | Verdict::Masked) && !full.is_empty();
        let alike = full.iter().any(|before| before.verdict == report.verdict && before.producer == report.producer);
        if follows || alike || full.len() >= IN_FULL { brief.push(report) } else { full.push(report) }
    }
    (full, brief)
}

fn answer(page: &mut Page, name: &str, report: &Report, also: &[AlsoSeen]) {
    let title = format!("{}:{}  {}", name, report.line, source(report));
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

/// Which device, whose text, how often and on which ranks.
fn source(report: &Report) -> String {
    let producer = match report.producer {
        Producer::Torch => "torch",
        Producer::ComfyUi => "torch, ComfyUI",
        other => other.word(),
    };
    let device = report.figures.device.map_or_else(String::new, |device| format!("GPU {device}, "));
    let times = if report.count > 1 { format!(" · {} times", report.count) } else { String::new() };
    let shown: Vec<String> = report.ranks.iter().take(8).map(u32::to_string).collect();
    let ranks = match report.ranks.len() {
        0 => String::new(),
        1 => format!(" · rank {}", shown.join("")),
        2..=8 => format!(" · ranks {}", shown.join(", ")),
        _ => format!(" · ranks {}, …", shown.join(", ")),
    };
    format!("{device}{producer}{times}{ranks}")
}
