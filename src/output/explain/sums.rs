//! The arithmetic of an answer in one line, in the figures of the text.

use crate::inside::oom::{Amount, Producer, Report, Sign, Sums, Verdict};

/// GiB with two decimals, as torch prints them; less than a tenth in MiB.
pub(super) fn fine(bytes: u64) -> String {
    let gib = bytes as f64 / (1_u64 << 30) as f64;
    if bytes == 0 || gib >= 0.1 { format!("{gib:.2}") } else { format!("{:.2} MiB", bytes as f64 / (1_u64 << 20) as f64) }
}

/// Two roundings and the driver's own few MiB.
const ROUNDED: u64 = 100 << 20;

/// Why a process that the text names is the one that failed.
pub(super) fn itself(report: &Report) -> Option<String> {
    let sums = Sums::of(report);
    let (pid, own, live, cached) = (sums.self_pid?, sums.own?, sums.allocated?, sums.cached?);
    let outside = own.saturating_sub(live + cached);
    Some(format!(
        "{} live + {} cached + {} outside = {}: process {pid} is this one, by its PID on the host.",
        fine(live),
        fine(cached),
        fine(outside),
        fine(own)
    ))
}

/// The line, where the figures make one.
pub(super) fn line(report: &Report) -> Option<String> {
    let sums = Sums::of(report);
    let bytes = |amount: Option<Amount>| amount.and_then(Amount::bytes);
    let allowed = bytes(report.figures.allowed);
    let (tried, capacity) = (sums.tried, sums.capacity);
    match report.verdict {
        Verdict::TooBig => match capacity {
            Some(capacity) => Some(format!("{} asked > {}, all that the card has for CUDA.", fine(tried?), fine(capacity))),
            None => Some(format!("{} asked > {} free before it.", fine(tried?), fine(sums.free?))),
        },
        Verdict::FullSelf | Verdict::SliceCap => full(report, &sums),
        Verdict::Fragmented => {
            let (tried, cached) = (tried?, sums.cached?);
            let free = sums.free.unwrap_or(0);
            let whose = hidden(report, &sums).map_or_else(String::new, |line| format!("  {line}"));
            let line = match report.figures.reserved_total.and_then(Amount::bytes).zip(sums.allocated) {
                _ if cached < tried => {
                    format!("{} free + {} stuck = {} ≥ {}, and neither alone is.", fine(free), fine(cached), fine(free + cached), fine(tried))
                }
                Some((reserved, live)) => {
                    format!("{} reserved − {} live = {} unused inside ≥ {} asked.", fine(reserved), fine(live), fine(cached), fine(tried))
                }
                None => {
                    let room = sums.free.map_or_else(String::new, |free| format!("; {} free on the card", fine(free)));
                    format!("{} reserved and not live ≥ {} asked{room}.", fine(cached), fine(tried))
                }
            };
            Some(line + &whose)
        }
        Verdict::GraphPool => {
            let (private, live, cached, tried) = (bytes(report.figures.private_pools)?, sums.allocated?, sums.cached?, tried?);
            let room = match sums.free {
                Some(free) if cached < tried => format!("{} free + {} cached < {} asked", fine(free), fine(cached), fine(tried)),
                _ => format!("{} cached ≥ {} asked", fine(cached), fine(tried)),
            };
            Some(format!("{} of {} live are held for captured graphs; {room}.", fine(private), fine(live)))
        }
        Verdict::OtherProcess => other(report, &sums),
        Verdict::ProcessCap => {
            let (live, tried, allowed) = (sums.allocated?, tried?, allowed?);
            let told = |bytes: Option<u64>, what: &str| bytes.map_or_else(String::new, |bytes| format!(" + {} {what}", fine(bytes)));
            let (cached, foreign) = (sums.cached, report.hints.foreign);
            let free = sums.free.map_or_else(String::new, |free| format!("  {} free on the card.", fine(free)));
            Some(format!(
                "{} live{}{} + {} asked = {} > {} allowed.{free}",
                fine(live),
                told(cached, "cached"),
                told(foreign, "other allocations"),
                fine(tried),
                fine(live + cached.unwrap_or(0) + foreign.unwrap_or(0) + tried),
                fine(allowed)
            ))
        }
        Verdict::PoolCap if report.hints.sign == Some(Sign::CacheBelowRequest) => {
            Some(format!("{} needed > {} available for the cache.", fine(tried?), fine(sums.free?)))
        }
        Verdict::PoolCap => {
            let (live, tried, allowed) = (sums.allocated?, tried?, allowed?);
            Some(format!("{} in use + {} asked = {} > {}, the pool's limit.", fine(live), fine(tried), fine(live + tried), fine(allowed)))
        }
        Verdict::OutsideFramework => {
            let (own, live) = (sums.own?, sums.allocated?);
            let cached = sums.cached.map_or_else(String::new, |cached| format!(" − {} cached", fine(cached)));
            let outside = own.saturating_sub(live + sums.cached.unwrap_or(0));
            Some(format!("{} of this process − {} live{cached} = {} not the framework's.", fine(own), fine(live), fine(outside)))
        }
        Verdict::HostSpill => {
            let (live, capacity) = (sums.allocated?, capacity?);
            Some(format!("{} live > {} on the card: {} must be in host memory.", fine(live), fine(capacity), fine(live.saturating_sub(capacity))))
        }
        Verdict::UnevenSplit => {
            let (tried, everywhere) = (tried?, report.hints.free_everywhere?);
            Some(format!(
                "{} asked > {} on this device; {} on all of them.",
                fine(tried),
                fine(sums.free?.saturating_sub(report.hints.loaded.unwrap_or(0))),
                fine(everywhere)
            ))
        }
        Verdict::HostMemory if report.producer == Producer::Ollama => {
            Some(format!("{} needed > {} of RAM available.", fine(tried?), fine(sums.free?)))
        }
        _ => None,
    }
}

fn full(report: &Report, sums: &Sums) -> Option<String> {
    if let (Some(planned), Sign::Plan) = (report.figures.planned.and_then(Amount::bytes), report.hints.sign?) {
        return Some(match sums.capacity {
            Some(capacity) => format!("{} planned by the compiled program in all > {}, all that the device has.", fine(planned), fine(capacity)),
            None => format!("{} planned by the compiled program in all; {} of it is this request.", fine(planned), fine(sums.tried?)),
        });
    }
    if report.producer == Producer::LlamaCpp {
        let (loaded, tried, free) = (report.hints.loaded?, sums.tried?, sums.free?);
        return Some(format!("{} loaded + {} asked = {} > {} free before it.", fine(loaded), fine(tried), fine(loaded + tried), fine(free)));
    }
    let (tried, capacity) = (sums.tried?, sums.capacity?);
    let live = sums.allocated.unwrap_or(0);
    let rest = || {
        let (own, free) = sums.own.zip(sums.free)?;
        let rest = capacity.saturating_sub(own).saturating_sub(free).saturating_sub(sums.others);
        let nobody = sums.others == 0 && rest < ROUNDED;
        let gib = |bytes: u64| format!("{:.2}", bytes as f64 / (1_u64 << 30) as f64);
        nobody.then(|| format!("  {} − {} − {} = {}: nobody else is on the card.", gib(capacity), gib(own), gib(free), gib(rest)))
    };
    let excess = sums.held().and_then(|own| (own + sums.others + tried).checked_sub(capacity)).filter(|excess| *excess > 0);
    // What is free decides; a text whose figures are of two moments has a sum that says something else.
    let agrees = |excess: u64| sums.free.is_none_or(|free| excess.abs_diff(tried.saturating_sub(free)) < ROUNDED);
    match sums.held() {
        Some(own) if excess.is_some_and(|excess| !agrees(excess)) => {
            let free = sums.free?;
            Some(format!(
                "{} its own of {}; {} asked − {} free = {} short.",
                fine(own),
                fine(capacity),
                fine(tried),
                fine(free),
                fine(tried.saturating_sub(free))
            ))
        }
        Some(own) if own + tried > capacity.saturating_sub(sums.others) => {
            let others = if sums.others > 0 { format!(" + {} others'", fine(sums.others)) } else { String::new() };
            Some(format!(
                "{} its own{others} + {} asked = {} > {}.{}",
                fine(own),
                fine(tried),
                fine(own + sums.others + tried),
                fine(capacity),
                rest().unwrap_or_default()
            ))
        }
        _ => {
            let cached = sums.cached.map_or_else(String::new, |cached| format!(" + {} cached", fine(cached)));
            let free = sums.free.map_or_else(String::new, |free| format!("; {} free < {} asked", fine(free), fine(tried)));
            Some(format!("{} live{cached} of {}{free}.", fine(live), fine(capacity)))
        }
    }
}

fn other(report: &Report, sums: &Sums) -> Option<String> {
    let capacity = sums.capacity?;
    if report.hints.sign == Some(Sign::FreeBelowTarget) {
        let (target, free) = (sums.tried?, sums.free?);
        let product = report.hints.fraction.as_ref().map_or_else(String::new, |fraction| format!("{fraction} × {} = ", fine(capacity)));
        return Some(format!(
            "{product}{} wanted > {} free: {} short. {} were in use before.",
            fine(target),
            fine(free),
            fine(target.saturating_sub(free)),
            fine(capacity.saturating_sub(free))
        ));
    }
    if sums.others > 0 {
        let share = sums.others as f64 / capacity as f64 * 100.0;
        let own = sums.own.map_or_else(String::new, |own| format!("; {} this process's", fine(own)));
        return Some(format!("{} others' of {} = {share:.0} %{own}.", fine(sums.others), fine(capacity)));
    }
    hidden(report, sums)
}

/// What others hold where the text does not name them and they have most of the card.
fn hidden(report: &Report, sums: &Sums) -> Option<String> {
    let (live, cached, free) = (sums.allocated?, sums.cached?, sums.free?);
    let capacity = sums.capacity.filter(|capacity| sums.others == 0 && sums.foreign(report) > capacity / 2)?;
    Some(format!(
        "{} − {} free − {} its own − 0.50 context = {} held by others.",
        fine(capacity),
        fine(free),
        fine(live + cached),
        fine(sums.unnamed()?)
    ))
}
