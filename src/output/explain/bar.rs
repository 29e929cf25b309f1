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

    fn say(&mut self, name: &str, bytes: u64, glyph: char, tone: Tone) {
        self.add(format!("{name} {}", said(bytes)), bytes, glyph, tone);
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

/// What of a gap is drawn: less is rounding, and the driver's own few MiB.
const SEEN: u64 = 50;
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
            bar.say("not told", untold, '░', Tone::Dim);
        }
        Verdict::OtherProcess => {
            bar.say("others", hidden, '░', Tone::Other);
            bar.say("this process", own, '█', Tone::Own);
        }
        Verdict::ProcessCap => {
            let left = bytes(report.figures.allowed)?.saturating_sub(live + cached).min(free);
            bar.say("others", hidden, '░', Tone::Other);
            bar.say("this process", own, '█', Tone::Own);
            bar.say("left of the limit", left, '▒', Tone::Own);
            bar.add(format!(" free {}", said(free)), free - left, ' ', Tone::Dim);
            return Some(bar);
        }
        _ => return None,
    }
    if bar.parts.is_empty() {
        return None;
    }
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
        let rest = |own: u64| sums.free.map_or(0, |free| total.saturating_sub(free).saturating_sub(sums.others).saturating_sub(own));
        let visible = |bytes: u64| if bytes >= total / SEEN { bytes } else { 0 };
        match sums.own {
            Some(own) => Self { hidden: visible(rest(own)), outside: own.saturating_sub(framework), untold: 0 },
            None if sums.allocated.is_none() => Self { hidden: rest(0), ..Self::default() },
            None if sums.cached.is_none() => Self { untold: rest(framework), ..Self::default() },
            None if rest(framework) <= CONTEXT => Self { outside: rest(framework), ..Self::default() },
            None => Self { hidden: visible(rest(framework) - CONTEXT_USUAL), outside: CONTEXT_USUAL, untold: 0 },
        }
    }
}

fn others(bar: &mut Bar, report: &Report, sums: &Sums) {
    let named = report.figures.others.iter().filter(|(pid, _)| Some(*pid) != sums.self_pid);
    for (pid, amount) in named {
        bar.say(&format!("process {pid}"), amount.bytes().unwrap_or(0), '░', Tone::Other);
    }
}
