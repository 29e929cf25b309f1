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
        let bytes = bytes.min(self.left());
        if bytes > 0 {
            self.parts.push(Part { label, bytes, glyph, tone });
        }
    }

    /// The same under a name and its own figure.
    fn say(&mut self, name: &str, bytes: u64, glyph: char, tone: Tone) {
        let bytes = bytes.min(self.left());
        self.add(format!("{name} {}", said(bytes)), bytes, glyph, tone);
    }

    fn left(&self) -> u64 {
        self.total.saturating_sub(self.parts.iter().map(|part| part.bytes).sum())
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

/// A gap of less than a fiftieth of the card is nobody's for certain; a quarter of a GiB is rounding, and the driver's own few MiB.
const SEEN: u64 = 50;
const ROUNDED: u64 = 1 << 28;
/// A context with its libraries, at the most; where others have part of the rest half of that is taken for it.
const CONTEXT: u64 = (1 << 30) + (1 << 30) / 20;
const CONTEXT_USUAL: u64 = 1 << 29;

/// The bar of a text, where its figures allow one: others, this process, what is free. What the text names nobody for is drawn, too.
pub(super) fn of(report: &Report) -> Option<Bar> {
    let sums = Sums::of(report);
    let bytes = |amount: Option<Amount>| amount.and_then(Amount::bytes);
    let capacity = sums.capacity.filter(|capacity| *capacity > 0)?;
    let mut bar = Bar::new(capacity, said(capacity));
    let (live, cached) = (sums.allocated.unwrap_or(0), sums.cached.unwrap_or(0));
    let free = sums.free.unwrap_or(0);
    let Rest { hidden, untold, outside } = Rest::of(&sums, bar.total);
    let own = live + cached + outside;
    others(&mut bar, report, &sums);
    match report.verdict {
        Verdict::FullSelf | Verdict::SliceCap if free >= bar.total / 20 => {
            bar.say("others", hidden, '░', Tone::Other);
            bar.say("this process", own, '█', Tone::Own);
            bar.say("not told", untold, '░', Tone::Dim);
            bar.add(format!("asked {}, room for {}", said(sums.tried.unwrap_or(0)), said(free)), free, '▓', Tone::Other);
            return Some(bar);
        }
        Verdict::FullSelf | Verdict::SliceCap | Verdict::Fragmented | Verdict::GraphPool | Verdict::OutsideFramework => {
            let private = if report.verdict == Verdict::GraphPool { bytes(report.figures.private_pools).unwrap_or(0).min(live) } else { 0 };
            bar.say("others", hidden, '░', Tone::Other);
            bar.say("live", live - private, '█', Tone::Own);
            bar.say("graphs", private, '▓', Tone::Own);
            bar.say(if report.verdict == Verdict::Fragmented { "stuck" } else { "cached" }, cached, '▒', Tone::Own);
            let name = match report.verdict {
                Verdict::OutsideFramework => "not the framework's",
                _ if outside > CONTEXT => "outside",
                _ => "context",
            };
            bar.say(name, outside, '░', Tone::Own);
        }
        Verdict::OtherProcess => {
            bar.say("others", hidden, '░', Tone::Other);
            bar.say("this process", own, '█', Tone::Own);
        }
        Verdict::ProcessCap => {
            let left = bytes(report.figures.allowed)?.saturating_sub(live + cached).min(free);
            bar.say("others", hidden, '░', Tone::Other);
            bar.say("this process", own, '█', Tone::Own);
            bar.say("not told", untold, '░', Tone::Dim);
            bar.say("left of the limit", left, '▒', Tone::Own);
            // What is free and not to be had; the parts of a bar add up to the card.
            bar.say(if left > 0 { " barred" } else { " free" }, free - left, ' ', Tone::Dim);
            return Some(bar);
        }
        _ => return None,
    }
    if bar.parts.is_empty() {
        return None;
    }
    bar.say("not told", untold, '░', Tone::Dim);
    bar.say(" free", free, ' ', Tone::Dim);
    Some(bar)
}

/// What is neither live, cached, free nor named.
#[derive(Default)]
struct Rest {
    /// Of others.
    hidden: u64,
    /// Cached, of others, or context: the text does not tell.
    untold: u64,
    /// Of this process: its context, and what is not the framework's.
    outside: u64,
}

impl Rest {
    fn of(sums: &Sums, total: u64) -> Self {
        let framework = sums.allocated.unwrap_or(0) + sums.cached.unwrap_or(0);
        let rest = |own: u64| total.saturating_sub(sums.free.unwrap_or(0)).saturating_sub(sums.others).saturating_sub(own);
        // Blank is free: what is neither has to be drawn.
        let gap = |bytes: u64, outside: u64| match bytes {
            _ if sums.free.is_none() => Self { hidden: 0, untold: bytes, outside },
            _ if bytes >= total / SEEN => Self { hidden: bytes, untold: 0, outside },
            _ => Self { hidden: 0, untold: if bytes >= ROUNDED { bytes } else { 0 }, outside },
        };
        match sums.own {
            Some(own) => gap(rest(own), own.saturating_sub(framework)),
            None if sums.allocated.is_none() => Self { hidden: if sums.free.is_some() { rest(0) } else { 0 }, ..Self::default() },
            None if sums.cached.is_none() || sums.free.is_none() => Self { untold: rest(framework), ..Self::default() },
            None if rest(framework) <= CONTEXT => Self { outside: rest(framework), ..Self::default() },
            None => gap(rest(framework) - CONTEXT_USUAL, CONTEXT_USUAL),
        }
    }
}

fn others(bar: &mut Bar, report: &Report, sums: &Sums) {
    let named = report.figures.others.iter().filter(|(pid, _)| Some(*pid) != sums.self_pid);
    for (pid, amount) in named {
        bar.say(&format!("process {pid}"), amount.bytes().unwrap_or(0), '░', Tone::Other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inside::oom;

    fn labels(text: &str) -> Vec<String> {
        let report = oom::read(text.as_bytes()).ok().and_then(|log| log.reports.into_iter().next());
        let bar = report.as_ref().and_then(of).unwrap_or_else(|| Bar::new(0, String::new()));
        bar.parts.into_iter().map(|part| part.label.trim_start().to_owned()).collect()
    }

    /// 20.00 + 28.80 + (39.60 − 28.30) + the other 19.10 of 30.40 free = 79.20.
    #[test]
    fn the_parts_add_up_to_the_card() {
        let text = "CUDA out of memory. Tried to allocate 12.00 GiB. GPU 0 has a total capacity of 79.20 GiB of which 30.40 GiB is free. Process 55 has 20.00 \
                    GiB memory in use. Including non-PyTorch memory, this process has 28.80 GiB memory in use. 39.60 GiB allowed; Of the allocated memory \
                    28.00 GiB is allocated by PyTorch, and 307.20 MiB is reserved by PyTorch but unallocated.";
        assert_eq!(labels(text), ["process 55 20.0", "this process 28.8", "left of the limit 11.3", "barred 19.1"]);
    }

    /// 79.15 − 75.00 − 3.28 = 0.87 of nobody that the text names, and nothing is free.
    #[test]
    fn what_is_not_free_is_not_blank() {
        let text = "CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 0 bytes is free. Process 55 has 75.00 GiB \
                    memory in use. Including non-PyTorch memory, this process has 3.28 GiB memory in use. Of the allocated memory 2.90 GiB is allocated by \
                    PyTorch, and 61.00 MiB is reserved by PyTorch but unallocated.";
        assert_eq!(labels(text), ["process 55 75.0", "this process 3.3", "not told 0.9"]);
    }
}
