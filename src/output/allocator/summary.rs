//! A `memory_summary()` in words: what it comes to, the arithmetic, the bar, and what else its table tells.

use super::figures::{amount, count};
use super::layer::{Layer, bar};
use crate::inside::Verdict;
use crate::inside::advice::{Account, advise_account};
use crate::inside::summary::{Metric, Summary};
use crate::model::{Bytes, SafeText};
use crate::output::explain::{ExplainLook, Page};

/// What one table says.
pub fn summary(name: &SafeText, summary: &Summary, look: ExplainLook) -> String {
    let mut page = Page::new(look);
    let device = summary.device.map_or(String::new(), |device| format!("GPU {device}, "));
    page.title(&format!("{name}:{}  {device}torch memory summary", summary.line), summary.verdict().word());
    page.paragraph(0, 0, &happened(summary));
    let layers = summary.layers();
    if let (Some(tensors), Some(reserved)) = (layers.tensors, layers.reserved) {
        // Where the table does not tell stuck from cached, free is both.
        let free = layers.free.filter(|_| layers.stuck.is_none());
        let parts = [
            (Layer::Live, Some(tensors), "live"),
            (Layer::Pending, layers.pending, "pending"),
            (Layer::Stuck, layers.stuck, "stuck"),
            (Layer::Cached, layers.cached, "cached"),
            (Layer::Stuck, free, "free inside torch"),
        ];
        let parts: Vec<_> = parts.into_iter().filter_map(|(layer, bytes, name)| Some((layer, bytes?, name))).collect();
        page.blank();
        page.bar(&bar(reserved, &parts));
    }
    page.paragraph(0, 2, &arithmetic(summary));
    page.paragraph(0, 2, &rest(summary));
    let retried = summary.retries.is_some_and(|retries| retries > 0);
    page.advice(&advise_account(&Account { verdict: summary.verdict(), expandable: false, cached: layers.cached, retried }));
    page.finish()
}

/// That there are more tables in the log than were answered.
pub fn more_tables(count_of: u64) -> String {
    format!("and {} before: --format json has them all\n", count(count_of, "earlier table"))
}

fn happened(summary: &Summary) -> String {
    let layers = summary.layers();
    let known = |bytes: Option<Bytes>| bytes.map_or("an unknown amount".to_owned(), amount);
    let failed = match (summary.ooms, summary.retries) {
        (Some(0), Some(retries)) if retries > 0 => {
            format!("No request failed, but {} torch had to empty its cache and ask again: it is at the edge.", times(retries))
        }
        (Some(ooms), _) if ooms > 0 => format!("{} failed.", count(ooms, "request")),
        _ => String::new(),
    };
    let state = match summary.verdict() {
        Verdict::Fragmented => format!(
            "{} of the {} that torch holds are stuck in half-used segments, beside {} live: only smaller requests can have them.",
            known(layers.stuck),
            known(layers.reserved),
            known(layers.tensors)
        ),
        Verdict::FullSelf => format!(
            "At the peak {} of the {} that torch held were live: its own tensors filled what it could get. {} live now.",
            known(summary.peak(Metric::Allocated)),
            known(summary.peak(Metric::Reserved)),
            known(layers.tensors)
        ),
        Verdict::Cached => format!(
            "{} of the {} that torch holds are free inside it{}.",
            known(layers.free),
            known(layers.reserved),
            if layers.stuck.is_some() {
                ", most of it whole segments that can be given back"
            } else {
                "; how much of it can be given back the table does not tell"
            }
        ),
        Verdict::Sound => format!("{} live of the {} that torch holds.", known(layers.tensors), known(layers.reserved)),
        _ => format!("{} live of the {} that torch holds: the table has too little to say why.", known(layers.tensors), known(layers.reserved)),
    };
    format!("{failed} {state}").trim().to_owned()
}

fn arithmetic(summary: &Summary) -> String {
    let layers = summary.layers();
    let part = |word: &str, bytes: Option<Bytes>| bytes.map(|bytes| format!("{} {word}", amount(bytes)));
    let parts = [part("live", layers.tensors), layers.pending.filter(|pending| pending.0 > 0).and_then(|pending| part("pending", Some(pending)))];
    let mut sum: Vec<String> = parts.into_iter().flatten().collect();
    match layers.stuck {
        Some(_) => sum.extend([part("stuck", layers.stuck), part("cached", layers.cached)].into_iter().flatten()),
        None => sum.extend(part("free inside torch (cached or stuck: not told)", layers.free)),
    }
    match layers.reserved {
        Some(reserved) => format!("{} = {} reserved; each figure is cut to whole units.", sum.join(" + "), amount(reserved)),
        None => format!("{}; what torch holds is not in the text.", sum.join(" + ")),
    }
}

fn rest(summary: &Summary) -> String {
    let mut parts = Vec::new();
    if let Some((live, held)) = summary.peak(Metric::Allocated).zip(summary.peak(Metric::Reserved)) {
        parts.push(format!("peak {} live, {} held", amount(live), amount(held)));
    }
    if let Some(segments) = summary.row(Metric::Segments).all.current {
        parts.push(count(segments.value, "segment"));
    }
    let reserved = summary.row(Metric::Reserved);
    if let (Some(large), Some(small)) = (reserved.large.current, reserved.small.current) {
        parts.push(format!("{} for large requests, {} for small ones", amount(Bytes(large.value)), amount(Bytes(small.value))));
    }
    parts.extend(summary.retries.map(|retries| format!("cudaMalloc retries {retries}")));
    parts.extend(summary.ooms.map(|ooms| format!("OOMs {ooms}")));
    parts.join(" · ")
}

fn times(n: u64) -> String {
    if n == 1 { "once".to_owned() } else { format!("{n} times") }
}
