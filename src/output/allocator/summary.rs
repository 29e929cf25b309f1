//! A `memory_summary()` in words: what it comes to, the arithmetic, the bar, and what else its table tells.

use super::advice;
use super::figures::{Sum, amount, count};
use super::ink::Layer;
use super::{Options, Page};
use crate::inside::condition::Condition;
use crate::inside::summary::{Metric, Summary};
use crate::model::{Bytes, SafeText};

/// Appends what one table says.
pub fn summary(name: &SafeText, summary: &Summary, options: &Options, out: &mut String) {
    let mut page = Page::new(options, out);
    let device = summary.device.map_or(String::new(), |device| format!("GPU {device}, "));
    page.head(&format!("{name}:{}  {device}torch memory summary", summary.line), summary.condition().word());
    page.sentence(&happened(summary), 0);
    let layers = summary.layers();
    if let (Some(tensors), Some(reserved)) = (layers.tensors, layers.reserved) {
        page.gap();
        let sum = Sum::of(reserved);
        let mut slices = vec![(Layer::Live, tensors.0, format!("live {}", sum.short(tensors)))];
        let rest = [(Layer::Pending, layers.pending, "pending"), (Layer::Stuck, layers.stuck, "stuck"), (Layer::Cached, layers.cached, "cached")];
        slices.extend(rest.iter().filter_map(|(layer, bytes, word)| bytes.map(|bytes| (*layer, bytes.0, format!("{word} {}", sum.short(bytes))))));
        if layers.stuck.is_none() {
            // Free, and which of the two the table does not tell.
            slices.extend(layers.free.map(|free| (Layer::Stuck, free.0, format!("free inside torch {}", sum.short(free)))));
        }
        let end = format!(" {} {}", sum.short(reserved), sum.unit());
        let bar = page.ink.bar(&slices, reserved.0, page.width.min(100).saturating_sub(end.len()));
        page.raw(&format!("{bar}{end}"));
    }
    page.sentence(&arithmetic(summary), 2);
    page.sentence(&rest(summary), 2);
    page.remedies(&advice::of_summary(summary));
}

/// Appends that there are more tables in the log than were answered.
pub fn more_tables(count_of: u64, options: &Options, out: &mut String) {
    let mut page = Page::new(options, out);
    page.gap();
    page.line(&format!("and {} before: --format json has them all", count(count_of, "earlier table")));
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
    let state = match summary.condition() {
        Condition::Fragmented => format!(
            "{} of the {} that torch holds are stuck in half-used segments, beside {} live: only smaller requests can have them.",
            known(layers.stuck),
            known(layers.reserved),
            known(layers.tensors)
        ),
        Condition::FullSelf => format!(
            "At the peak {} of the {} that torch held were live: its own tensors filled what it could get. {} live now.",
            known(summary.peak(Metric::Allocated)),
            known(summary.peak(Metric::Reserved)),
            known(layers.tensors)
        ),
        Condition::Cached => format!(
            "{} of the {} that torch holds are free inside it{}.",
            known(layers.free),
            known(layers.reserved),
            if layers.stuck.is_some() {
                ", most of it whole segments that can be given back"
            } else {
                "; how much of it can be given back the table does not tell"
            }
        ),
        Condition::Sound => format!("{} live of the {} that torch holds.", known(layers.tensors), known(layers.reserved)),
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
