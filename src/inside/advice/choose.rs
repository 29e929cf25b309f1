//! What to change first for one text, ranked, with figures computed from it.
//!
//! Which remedy and in which order is decided here, what a remedy is stands in the table. What needs more than a line is in `card`, where
//! the card itself is full, and in `beyond`, where something else is.

use super::Remedy;
use super::beyond::{host, not_vram, pool, warning};
use super::card::{fragmented, full, other, too_big};
use super::wont::wont;
use crate::inside::oom::{Amount, Producer, Report, Sums, Verdict, is_metal};

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which remedy it is.
    pub remedy: Remedy,
    /// The sentence, with figures where there are some.
    pub text: String,
}

/// What to do, best first, and what not to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    /// To change, best first.
    pub first: Vec<Step>,
    /// What won't help, and why, as sentences.
    pub wont: Vec<String>,
}

/// An amount as people say it: GiB with one decimal, or MiB where that would be next to nothing.
pub fn said(bytes: u64) -> String {
    if bytes == 0 {
        return "0".to_owned();
    }
    if bytes < (1 << 30) / 10 {
        let mib = (bytes + (1 << 19)) >> 20;
        return if mib == 0 { format!("{} KiB", bytes.div_ceil(1 << 10)) } else { format!("{mib} MiB") };
    }
    // Half up, as people round: what was printed as 61.35 is binary and a little less.
    let tenths = (bytes as f64 / (1_u64 << 30) as f64 * 10.0 + 0.5 + 1e-6).floor();
    format!("{:.1}", tenths / 10.0)
}

/// The advice for a text.
pub fn advise(report: &Report) -> Advice {
    let mut advice = Advice::default();
    let sums = Sums::of(report);
    first(report, &sums, &mut advice);
    wont(report, &sums, &mut advice);
    advice
}

impl Advice {
    pub(super) fn take(&mut self, remedy: Remedy) {
        self.say(remedy, remedy.facts().how.to_owned());
    }

    pub(super) fn say(&mut self, remedy: Remedy, text: String) {
        self.first.push(Step { remedy, text: sentence(text) });
    }
}

/// What keeps its small letter at the beginning of a sentence: names of variables and functions, and commands.
const NAMES: [&str; 6] = ["pin_memory", "scaled_dot", "torch.", "set_", "del ", "docker"];

pub(super) fn sentence(mut text: String) -> String {
    if let Some(lead) = text.get(..1).filter(|_| !NAMES.iter().any(|name| text.starts_with(name))) {
        text.replace_range(..1, &lead.to_uppercase());
    }
    text.push('.');
    text
}

pub(super) fn percent_less(now: u64, wanted: u64) -> u64 {
    // Rounded up: a percent too little would fail again.
    (wanted.saturating_sub(now) * 100).div_ceil(wanted.max(1))
}

fn first(report: &Report, sums: &Sums, advice: &mut Advice) {
    match report.verdict {
        Verdict::FullSelf => full(report, sums, advice),
        Verdict::TooBig => too_big(report, sums, advice),
        Verdict::Fragmented => fragmented(report, sums, advice),
        Verdict::GraphPool => {
            let private = report.figures.private_pools.and_then(Amount::bytes).unwrap_or(0);
            advice.say(Remedy::FewerGraphs, format!("{}: they pin {}", Remedy::FewerGraphs.facts().how, said(private)));
            advice.say(Remedy::FewerGraphs, "capture smaller sizes, and run the largest ones without a graph".to_owned());
        }
        Verdict::OtherProcess => other(report, sums, advice),
        Verdict::ProcessCap => {
            let at = report
                .figures
                .allowed
                .and_then(Amount::bytes)
                .map_or_else(String::new, |allowed| format!(": it stops this process at {}", said(allowed)));
            let how = if is_metal(report) {
                "PYTORCH_MPS_HIGH_WATERMARK_RATIO, or torch.mps.set_per_process_memory_fraction, higher"
            } else {
                Remedy::MemoryFraction.facts().how
            };
            advice.say(Remedy::MemoryFraction, format!("{how}{at}"));
            advice.take(Remedy::SmallerBatch);
        }
        Verdict::PoolCap => pool(report, sums, advice),
        Verdict::SliceCap => {
            advice.take(Remedy::LargerSlice);
            advice.say(Remedy::SmallerBatch, "make the job fit the slice: a smaller batch, quantised weights, a shorter context".to_owned());
        }
        Verdict::OutsideFramework => {
            advice.take(Remedy::LessOutside);
            if report.producer != Producer::Nccl {
                advice.say(
                    Remedy::LessOutside,
                    "find out what else this process loads on the card: a second framework, an inference runtime, an extension of its own".to_owned(),
                );
            }
        }
        Verdict::HostSpill => {
            advice.take(Remedy::SmallerBatch);
            advice.take(Remedy::NoSpill);
            advice.take(Remedy::Offload);
        }
        Verdict::HostMemory => host(report, advice),
        Verdict::Masked => {
            advice.say(
                Remedy::LeaveOthers,
                "look at the card while it runs (vramtop, or vramtop --once): when it is nearly full, that is the cause".to_owned(),
            );
            advice.say(Remedy::LookAgain, format!("{}: an index out of range before it gives the same code", Remedy::LookAgain.facts().how));
        }
        Verdict::BogusSize => {
            advice
                .say(Remedy::LookAgain, "print the shapes before the failing line: a swapped dimension, a negative or uninitialised size".to_owned());
            advice.say(
                Remedy::LookAgain,
                "in a job of many ranks, look at what the first of them said: a peer that died leaves garbage sizes".to_owned(),
            );
        }
        Verdict::UnevenSplit => {
            advice.take(Remedy::Balance);
            advice.take(Remedy::QuantWeights);
        }
        Verdict::WarningOnly => warning(report, advice),
        Verdict::NotVram => not_vram(report, advice),
        // Too little to go by, or nothing failed.
        Verdict::Unknown | Verdict::Cached | Verdict::Sound => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_said_in_gib_or_else_with_their_unit() {
        assert_eq!(said(60 << 30), "60.0");
        assert_eq!(said(1 << 20), "1 MiB");
        assert_eq!(said(0), "0");
        assert_eq!(said(4_917_821), "5 MiB");
    }

    #[test]
    fn a_percentage_is_rounded_up() {
        // 90.00 wanted, 78.99 there: 12.23 %.
        assert_eq!(percent_less(7899, 9000), 13);
        assert_eq!(percent_less(5, 5), 0);
    }
}
