//! The bar of an answer: the whole device, and who has which part of it. One cell is the same number of bytes along the whole bar.

use unicode_width::UnicodeWidthStr as _;

use super::Tone;
use crate::inside::advice::said;
use crate::inside::oom::{Amount, Report, Sums, Verdict};

/// A bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    parts: Vec<Part>,
    total: u64,
    /// How that is written.
    whole: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    label: String,
    bytes: u64,
    glyph: char,
    tone: Tone,
}

impl Bar {
    /// An empty one over `total` bytes, which are written as `whole`.
    pub(in crate::output) fn new(total: u64, whole: String) -> Self {
        Self { parts: Vec::new(), total, whole }
    }

    /// The next part; nothing beyond the whole.
    pub(in crate::output) fn add(&mut self, label: String, bytes: u64, glyph: char, tone: Tone) {
        let taken: u64 = self.parts.iter().map(|part| part.bytes).sum();
        let bytes = bytes.min(self.total.saturating_sub(taken));
        if bytes > 0 {
            self.parts.push(Part { label, bytes, glyph, tone });
        }
    }

    /// What the bar stands for.
    pub(super) fn whole(&self) -> &str {
        &self.whole
    }

    /// The pieces of a bar of so many cells; what nobody has is blank.
    pub(super) fn pieces(&self, cells: usize) -> Vec<(Tone, String)> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a few cells")]
        let until = |bytes: u64| ((bytes as f64 / self.total as f64 * cells as f64).round() as usize).min(cells);
        let mut bytes = 0;
        let mut sizes: Vec<usize> = Vec::new();
        for part in &self.parts {
            sizes.push(until(bytes + part.bytes) - until(bytes));
            bytes += part.bytes;
        }
        // What would vanish gets one cell, of the longest part.
        while let (Some(none), Some(longest)) = (sizes.iter().position(|size| *size == 0), (0..sizes.len()).max_by_key(|at| sizes[*at]))
            && sizes[longest] > 1
        {
            (sizes[none], sizes[longest]) = (1, sizes[longest] - 1);
        }
        let blank = cells - sizes.iter().sum::<usize>();
        let mut pieces: Vec<_> = self.parts.iter().zip(sizes).map(|(part, size)| (part.tone, part.filled(size))).collect();
        pieces.push((Tone::Plain, " ".repeat(blank)));
        pieces
    }
}

impl Part {
    /// The name stands inside; where it does not fit its figure alone does.
    fn filled(&self, cells: usize) -> String {
        let figure = self.label.rsplit(' ').next().unwrap_or("");
        let label = [self.label.as_str(), figure].into_iter().find(|label| label.width() + 3 <= cells);
        let fill = |n: usize| std::iter::repeat_n(self.glyph, n).collect::<String>();
        match label {
            Some(label) => format!("{} {label} {}", self.glyph, fill(cells - label.width() - 3)),
            None => fill(cells),
        }
    }
}

/// The bar of a text, where its figures allow one.
pub(super) fn of(report: &Report) -> Option<Bar> {
    let sums = Sums::of(report);
    let bytes = |amount: Option<Amount>| amount.and_then(Amount::bytes);
    let capacity = sums.capacity.filter(|capacity| *capacity > 0)?;
    let mut bar = Bar::new(capacity, said(capacity));
    let named = |name: &str, bytes: u64| format!("{name} {}", said(bytes));
    let (live, cached) = (sums.allocated.unwrap_or(0), sums.cached.unwrap_or(0));
    let own = sums.own.unwrap_or(live + cached);
    match report.verdict {
        Verdict::FullSelf | Verdict::SliceCap => {
            others(&mut bar, report, &sums);
            let tried = sums.tried.unwrap_or(0);
            match sums.free {
                Some(free) if free >= bar.total / 20 => {
                    bar.add(named("this process", own), own, '█', Tone::Own);
                    bar.add(format!("asked {}, room for {}", said(tried), said(free)), free, '▓', Tone::Other);
                }
                free => {
                    bar.add(named("live", live), live, '█', Tone::Own);
                    bar.add(named("cached", cached), cached, '▒', Tone::Own);
                    bar.add(named("context", own.saturating_sub(live + cached)), own.saturating_sub(live + cached), '░', Tone::Own);
                    bar.add(named(" free", free.unwrap_or(0)), free.unwrap_or(0), ' ', Tone::Dim);
                }
            }
        }
        Verdict::Fragmented => {
            others(&mut bar, report, &sums);
            bar.add(named("live", live), live, '█', Tone::Own);
            bar.add(named("stuck", cached), cached, '▒', Tone::Own);
            let free = sums.free.unwrap_or(0);
            bar.add(named(" free", free), free, ' ', Tone::Dim);
        }
        Verdict::GraphPool => {
            let private = bytes(report.figures.private_pools).unwrap_or(0).min(live);
            bar.add(named("live", live - private), live - private, '█', Tone::Own);
            bar.add(named("graphs", private), private, '▓', Tone::Own);
            bar.add(named("cached", cached), cached, '▒', Tone::Own);
        }
        Verdict::OtherProcess => {
            others(&mut bar, report, &sums);
            if sums.others == 0 {
                let unnamed = sums.unnamed(report).or_else(|| Some(bar.total.checked_sub(sums.free?)?.saturating_sub(own)))?;
                bar.add(named("others", unnamed), unnamed, '░', Tone::Other);
            }
            bar.add(named("this process", own), own, '█', Tone::Own);
            let free = sums.free.unwrap_or(0);
            bar.add(named(" free", free), free, ' ', Tone::Dim);
        }
        Verdict::ProcessCap => {
            let allowed = bytes(report.figures.allowed)?;
            others(&mut bar, report, &sums);
            bar.add(named("live", live), live, '█', Tone::Own);
            bar.add(named("left of the limit", allowed.saturating_sub(live)), allowed.saturating_sub(live), '▒', Tone::Own);
            let free = sums.free.unwrap_or(0);
            bar.add(named(" free", free), free, ' ', Tone::Dim);
        }
        Verdict::OutsideFramework => {
            sums.own?;
            bar.add(named("live", live), live, '█', Tone::Own);
            bar.add(named("cached", cached), cached, '▒', Tone::Own);
            bar.add(named("not the framework's", own.saturating_sub(live + cached)), own.saturating_sub(live + cached), '░', Tone::Other);
        }
        _ => return None,
    }
    Some(bar)
}

fn others(bar: &mut Bar, report: &Report, sums: &Sums) {
    let named = report.figures.others.iter().filter(|(pid, _)| Some(*pid) != sums.self_pid);
    for (pid, amount) in named {
        let bytes = amount.bytes().unwrap_or(0);
        bar.add(format!("process {pid} {}", said(bytes)), bytes, '░', Tone::Other);
    }
}
