//! A snapshot in words and pictures: what happened, the arithmetic, the bar; then pools, holes, map, places and the way there.

use super::figures::{Sum, amount, count, span};
use super::layer::{HEIGHTS, Layer, bar};
use super::{map, places};
use crate::inside::Verdict;
use crate::inside::advice::{Account, advise_account};
use crate::inside::snapshot::{Fit, Oom, Outcome, Report, Snapshot, Timeline};
use crate::model::{Bytes, SafeText};
use crate::output::explain::{Bar, ExplainLook, Page};

/// Columns of the line of live memory at most.
const WIDEST_LINE: usize = 60;
/// Failed requests that are printed.
const OOMS: usize = 3;

/// What one snapshot says, device by device.
pub fn snapshot(name: &SafeText, snapshot: &Snapshot, reports: &[Report], look: ExplainLook) -> String {
    let mut page = Page::new(look);
    if reports.is_empty() {
        page.title(&format!("{name}  torch snapshot"), Verdict::Unknown.word());
        page.paragraph(0, 0, "It has no segments and no events: nothing was allocated on a GPU yet, or it was taken in another process.");
    }
    for (at, report) in reports.iter().enumerate() {
        if at > 0 {
            page.blank();
        }
        device(&mut page, name, snapshot, report);
    }
    page.finish()
}

fn device(page: &mut Page, name: &SafeText, snapshot: &Snapshot, report: &Report) {
    let tally = &report.tally;
    page.title(&format!("{name}  GPU {}, torch snapshot", report.device), report.verdict.word());
    page.paragraph(0, 0, &happened(report));
    if let Some(oom) = report.oom() {
        page.blank();
        then(page, oom);
    }
    page.blank();
    page.bar(&now(report));
    page.paragraph(0, 2, &arithmetic(report));
    if let Some(settings) = snapshot.settings.as_ref().and_then(|settings| settings.conf.as_ref()) {
        page.line(&format!("PYTORCH_CUDA_ALLOC_CONF={settings}"));
    }
    if let Some(fit) = &report.fit {
        page.blank();
        fits(page, fit);
    }
    if tally.segments > 0 {
        page.blank();
        pools(page, report);
        page.blank();
        holes(page, report);
        page.blank();
        legend(page);
        map::map(page, snapshot, report.device, tally);
    }
    places::live(page, snapshot, report);
    if let Some(line) = &report.timeline {
        page.blank();
        timeline(page, snapshot, line);
    }
    page.advice(&advise_account(&account(snapshot, report)));
}

/// One sentence that says what happened, or how it stands.
fn happened(report: &Report) -> String {
    let tally = &report.tally;
    let layers = tally.layers;
    let hole = amount(tally.largest_hole);
    if let Some(oom) = report.oom() {
        return failed(report, oom);
    }
    match report.verdict {
        Verdict::Fragmented => format!(
            "{} are free inside torch, but in {} between live blocks, the largest {hole}: a larger request needs new memory from the driver.",
            amount(layers.free()),
            count(tally.free_blocks, "hole"),
        ),
        Verdict::GraphPool => format!(
            "{} of the {} that torch holds belong to private pools (captured graphs, MemPool); what is free in them, {}, serves nobody else.",
            amount(tally.private().reserved()),
            amount(layers.reserved()),
            amount(tally.private().free()),
        ),
        Verdict::Cached => format!(
            "{} of the {} that torch holds are free and whole: they can be given back, and torch does so by itself before a request fails.",
            amount(layers.cached),
            amount(layers.reserved()),
        ),
        _ => {
            format!("{} live of the {} that torch holds; no request failed in what was recorded.", amount(layers.tensors), amount(layers.reserved()))
        }
    }
}

fn failed(report: &Report, oom: &Oom) -> String {
    let unused = oom.reserved.saturating_sub(oom.live);
    let (asked, free) = (amount(oom.asked), amount(oom.device_free));
    match report.verdict {
        Verdict::Fragmented => format!(
            "It asked for {asked}. {} were unused, but in two parts that can't be joined: {free} on the card and {} inside torch's half-used blocks.",
            amount(unused + oom.device_free),
            amount(unused),
        ),
        Verdict::GraphPool => format!(
            "It asked for {asked}. Private pools (captured graphs, MemPool) hold {} of what torch has, and what is free in them serves nobody else: {free} were free on the card.",
            amount(report.tally.private().reserved()),
        ),
        Verdict::ProcessCap => {
            format!(
                "It asked for {asked}, and {free} were free on the card: a limit of this process refused it, not the card. {} were live.",
                amount(oom.live)
            )
        }
        Verdict::FullSelf => {
            let short = oom.asked.saturating_sub(oom.device_free);
            format!("It asked for {asked} at once with {} of its own live; {free} were free on the card: {} short.", amount(oom.live), amount(short))
        }
        _ => format!(
            "It asked for {asked} with {} live and {free} free on the card. Who held the rest of the card is not in a snapshot: look with vramtop --once next time.",
            amount(oom.live),
        ),
    }
}

/// The moment of a failure: what torch held then, and what the card had left.
fn then(page: &mut Page, oom: &Oom) {
    let unused = oom.reserved.saturating_sub(oom.live);
    let whole = oom.reserved + oom.device_free;
    page.bar(&bar(whole, &[(Layer::Live, oom.live, "live"), (Layer::Stuck, unused, "unused")]));
    let sum = Sum::of(whole);
    let text = format!(
        "Then: {} live + {} unused inside torch + {} free on the card = {} {}; {} asked. Below is what the snapshot shows of the time after it.",
        sum.exact(oom.live),
        sum.exact(unused),
        sum.exact(oom.device_free),
        sum.exact(whole),
        sum.unit(),
        sum.exact(oom.asked)
    );
    page.paragraph(0, 2, &text);
}

fn now(report: &Report) -> Bar {
    let layers = report.tally.layers;
    let parts = [
        (Layer::Live, layers.tensors, "live"),
        (Layer::Pending, layers.pending, "pending"),
        (Layer::Stuck, layers.stuck, "stuck"),
        (Layer::Cached, layers.cached, "cached"),
    ];
    bar(layers.reserved(), &parts)
}

/// What decides between remedies.
fn account(snapshot: &Snapshot, report: &Report) -> Account {
    let set = snapshot.settings.as_ref().and_then(|settings| settings.expandable) == Some(true);
    let expandable = set || snapshot.segments.iter().any(|segment| segment.expandable);
    Account { verdict: report.verdict, expandable, cached: Some(report.tally.layers.cached), retried: false }
}

fn arithmetic(report: &Report) -> String {
    let (tally, layers) = (&report.tally, report.tally.layers);
    let sum = Sum::of(layers.reserved());
    let exact = |bytes| sum.exact(bytes);
    let pending = if layers.pending == Bytes::ZERO { String::new() } else { format!(" + {} pending", exact(layers.pending)) };
    format!(
        "{} live{pending} + {} stuck + {} cached = {} {} reserved, in {} of {} ({} live, {} free). Rounding takes {} of the live.",
        exact(layers.tensors),
        exact(layers.stuck),
        exact(layers.cached),
        exact(layers.reserved()),
        sum.unit(),
        count(tally.segments, "segment"),
        count(tally.blocks, "block"),
        tally.live_blocks,
        tally.free_blocks,
        amount((layers.tensors + layers.pending).saturating_sub(tally.requested)),
    )
}

fn pools(page: &mut Page, report: &Report) {
    /// Pools that are printed.
    const MOST: usize = 6;
    let mut pools: Vec<_> = report.tally.pools.iter().map(|(id, pool)| (map::name(*id), pool)).collect();
    pools.sort_by_key(|(_, pool)| std::cmp::Reverse(pool.layers.reserved()));
    let named = pools.iter().take(MOST).map(|(name, _)| name.len()).max().unwrap_or(0);
    page.line(&format!(
        "{:<width$} {:>10} {:>10} {:>10} {:>10} {:>8}  largest hole",
        "Pools",
        "reserved",
        "live",
        "stuck",
        "cached",
        "segments",
        width = named + 2
    ));
    for (name, pool) in pools.iter().take(MOST) {
        let layers = pool.layers;
        let cell = |bytes: Bytes| if bytes == Bytes::ZERO { "0".to_owned() } else { amount(bytes) };
        page.line(&format!(
            "  {name:<named$} {:>10} {:>10} {:>10} {:>10} {:>8} {:>13}",
            cell(layers.reserved()),
            cell(layers.tensors),
            cell(layers.stuck),
            cell(layers.cached),
            pool.segments,
            cell(pool.largest_hole)
        ));
    }
    if pools.len() > MOST {
        page.line(&format!("  {}", count((pools.len() - MOST) as u64, "smaller pool")));
    }
}

fn holes(page: &mut Page, report: &Report) {
    let tally = &report.tally;
    if tally.free_blocks == 0 {
        page.line("Holes  none: every block is in use");
        return;
    }
    page.line(&format!("Holes  {}, the largest {}", count(tally.free_blocks, "free block"), amount(tally.largest_hole)));
    let most = tally.holes.iter().map(|kind| kind.bytes.0).max().unwrap_or(0).max(1);
    let mut from = Bytes::ZERO;
    for kind in &tally.holes {
        let label = match kind.below {
            Some(below) => format!("below {}", short(below)),
            None => format!("{} and more", short(from)),
        };
        if let Some(below) = kind.below {
            from = below;
        }
        if kind.count > 0 {
            let cells = usize::try_from(u128::from(kind.bytes.0) * 24 / u128::from(most)).unwrap_or(0).max(1);
            let bar: String = std::iter::repeat_n(Layer::Live.glyph(), cells).collect();
            page.line(&format!("  {label:<16} {:>9}  {:>10}  {bar}", kind.count, amount(kind.bytes)));
        }
    }
}

/// A round amount without its decimal.
fn short(bytes: Bytes) -> String {
    amount(bytes).replace(".0 ", " ")
}

fn legend(page: &mut Page) {
    page.line(&format!(
        "Map    {} live  {} freed, still used by a stream  {} stuck  {} can be given back",
        Layer::Live.glyph(),
        Layer::Pending.glyph(),
        Layer::Stuck.glyph(),
        Layer::Cached.glyph()
    ));
}

fn fits(page: &mut Page, fit: &Fit) {
    let asked = amount(fit.asked);
    let word = match fit.fits() {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not without the driver",
    };
    page.line(&format!("Would {asked} fit?  {word}"));
    let text = match fit.outcome {
        Outcome::Reuses { block } => format!("A free block of {} takes it; the driver is not asked.", amount(block)),
        Outcome::Asks { segment, releasable, at_least, device_free } => {
            let driver = match (releasable, at_least) {
                (Bytes::ZERO, _) => format!("Torch has to ask the driver for {}, and it has no whole segment to give back first.", amount(segment)),
                (releasable, Bytes::ZERO) => {
                    format!("Torch asks the driver for {}; giving back its {} of cached memory first is enough.", amount(segment), amount(releasable))
                }
                (releasable, at_least) => format!(
                    "Torch asks the driver for {} and gives back {} first if it must: at least {} have to be free on the card.",
                    amount(segment),
                    amount(releasable),
                    amount(at_least)
                ),
            };
            let card = match device_free {
                Some(free) => format!("{} were free there when the request failed.", amount(free)),
                None => "What is free there no snapshot tells; nvidia-smi or vramtop --once does.".to_owned(),
            };
            format!("The largest free block that it can get is {}. {driver} {card}", amount(fit.largest_hole))
        }
    };
    page.paragraph(2, 2, &text);
    let apart = fit.elsewhere;
    for (bytes, why) in [
        (apart.private, "belongs to a private pool: only its graph or MemPool may use it"),
        (apart.stream, "belongs to another stream: requests of the default stream can't have it"),
        (apart.oversize, "is kept by max_split_size for requests of its own size"),
    ] {
        if bytes >= fit.rounded {
            page.paragraph(2, 2, &format!("A free block of {} {why}.", amount(bytes)));
        }
    }
}

fn timeline(page: &mut Page, snapshot: &Snapshot, line: &Timeline) {
    let over = if line.span_us > 0 { format!(" over {}", span(line.span_us)) } else { String::new() };
    page.line(&format!("Live memory as asked for, {}{over}", count(line.events as u64, "event")));
    if line.events > 1 {
        let (low, high) = (line.columns.iter().min().copied().unwrap_or_default(), line.peak);
        let width = WIDEST_LINE.min(page.width().saturating_sub(30)).max(8);
        let columns = line.columns.len();
        let drawn = width.min(columns);
        let mut text = String::new();
        for at in 0..drawn {
            let part = &line.columns[at * columns / drawn..((at + 1) * columns / drawn).max(at * columns / drawn + 1)];
            let value = part.iter().max().copied().unwrap_or_default();
            let range = high.saturating_sub(low).0.max(1);
            let step = usize::try_from(u128::from(value.saturating_sub(low).0) * (HEIGHTS.len() as u128 - 1) / u128::from(range)).unwrap_or(0);
            text.push(HEIGHTS[step.min(HEIGHTS.len() - 1)]);
        }
        page.line(&format!("  {text}  {} and up to {} more", amount(low), amount(high.saturating_sub(low))));
    }
    let peak = match line.peak_at {
        Some(at) => format!("peak {} at event {} of {}", amount(line.peak), at + 1, line.events),
        None => format!("peak {} before the first event", amount(line.peak)),
    };
    page.line(&format!("  start {}   {peak}   now {}", amount(line.start), amount(line.end)));
    if line.contradicts {
        page.paragraph(
            2,
            2,
            "The events free more than there was: they are of another pool or moment than the blocks, and only their shape can be trusted.",
        );
    }
    for oom in line.ooms.iter().rev().take(OOMS) {
        let place = snapshot.place(oom.site).map_or(String::new(), |place| format!(", in {}", places::words(&place)));
        page.paragraph(
            2,
            4,
            &format!(
                "out of memory at event {} of {}{place}: asked {}, free on the card {}, live {}, held by torch {}",
                oom.at + 1,
                line.events,
                amount(oom.asked),
                amount(oom.device_free),
                amount(oom.live),
                amount(oom.reserved)
            ),
        );
    }
    if line.oom_count > OOMS {
        page.line(&format!("  {} failed in all", count(line.oom_count as u64, "request")));
    }
}
