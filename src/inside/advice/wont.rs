//! What would be a wasted evening for one text, and why. It says nothing on what helps: that is chosen in `choose`.

use super::choose::{Advice, said};
use crate::inside::oom::{Producer, Report, Sums, Verdict};

/// What two roundings and the driver's own few MiB leave of a card that nobody else uses.
const OF_NOBODY: u64 = 100 << 20;

/// What won't help, and why.
pub(super) fn wont(report: &Report, sums: &Sums, advice: &mut Advice) {
    let mut say = |text: String| advice.wont.push(text);
    let is_torch = matches!(report.producer, Producer::Torch | Producer::ComfyUi);
    let though = if report.hints.advises_expandable { ", though the text says so" } else { "" };
    let name = if report.hints.advises_split && !report.hints.advises_expandable { "max_split_size_mb" } else { "expandable_segments" };
    let cached = sums.cached.map(said);
    match report.verdict {
        Verdict::FullSelf | Verdict::TooBig | Verdict::HostSpill if is_torch => {
            match (&cached, sums.cached) {
                (_, Some(0)) => say(format!("{name}{though}: nothing is cached.")),
                (Some(cached), _) => say(format!("{name}{though}: only {cached} {} cached.", if cached.ends_with("iB") { "is" } else { "are" })),
                _ => {}
            }
            say("empty_cache(): torch has just done it.".to_owned());
            if report.verdict == Verdict::TooBig {
                say("Closing other programs: the empty card is too small for it.".to_owned());
            }
        }
        Verdict::Fragmented if is_torch => {
            say("empty_cache(): split blocks can't be given back.".to_owned());
            let told = sums.own.zip(sums.free).zip(sums.capacity).map(|((own, free), capacity)| capacity.saturating_sub(own + free));
            if sums.others == 0 && told.is_some_and(|rest| rest < OF_NOBODY) {
                say("Closing other programs: there are none.".to_owned());
            }
        }
        Verdict::GraphPool => say("empty_cache() and expandable_segments: what a captured graph uses stays where it is. It is no leak.".to_owned()),
        Verdict::OtherProcess if is_torch => {
            say(format!(
                "A smaller batch: this process holds {}. {name}: it moves nothing in other processes.",
                said(sums.own.or(sums.allocated).unwrap_or(0))
            ));
        }
        Verdict::OtherProcess => say("A smaller model: the target is a share of the whole card, whatever the model.".to_owned()),
        Verdict::ProcessCap if sums.tried.zip(sums.free).is_some_and(|(tried, free)| free >= tried) => {
            say("Closing other programs: the card has room, the fraction is what stops it.".to_owned());
        }
        Verdict::ProcessCap | Verdict::PoolCap => say("Closing other programs, as long as the limit stays where it is.".to_owned()),
        Verdict::SliceCap => say("Looking at the whole card's free memory: it is out of reach from a slice.".to_owned()),
        Verdict::OutsideFramework => say(format!(
            "{name}, empty_cache(): the framework itself holds {}.",
            sums.allocated.map_or_else(|| "its pool and no more".to_owned(), said)
        )),
        Verdict::HostMemory => say("Anything about VRAM: the card was not asked.".to_owned()),
        Verdict::BogusSize => say("A larger card, a smaller batch: no card has that.".to_owned()),
        Verdict::NotVram => say("Freeing memory on the card: it is not what is short.".to_owned()),
        Verdict::UnevenSplit => say("A larger card: all of them together have room.".to_owned()),
        _ => {}
    }
    if let Some(pid) = sums.self_pid {
        say(format!("Ending process {pid}: it is this one, seen by its PID on the host."));
    }
}
