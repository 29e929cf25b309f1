//! What to change for an allocator's own account of itself, from its verdict and the few facts that decide between remedies.

use super::card::live_load;
use super::choose::{Advice, said};
use super::table::Remedy;
use crate::inside::Verdict;
use crate::inside::oom::Producer;
use crate::model::Bytes;

/// What an allocator's account says that decides between remedies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// What is the matter.
    pub verdict: Verdict,
    /// Whether segments grow page by page already.
    pub expandable: bool,
    /// What emptying the cache would give back, where that is known.
    pub cached: Option<Bytes>,
    /// Whether the cache had to be emptied to serve a request.
    pub retried: bool,
}

/// The advice for an account; nothing where nothing is the matter.
pub fn advise_account(account: &Account) -> Advice {
    let mut advice = Advice::default();
    let cached = account.cached.map_or_else(|| "little".to_owned(), |bytes| with_unit(bytes.0));
    match account.verdict {
        Verdict::Fragmented => {
            if !account.expandable {
                advice.say(Remedy::Expandable, format!("{}, set before the process starts", Remedy::Expandable.facts().how));
            }
            advice.take(Remedy::BigFirst);
            advice.take(Remedy::FewerSizes);
            advice.wont.push(format!("empty_cache(): it gives back {cached} here; split segments can't be given back while anything in them lives."));
            if account.expandable {
                advice.wont.push("expandable_segments: they are on already; what is stuck lies between long-lived blocks.".to_owned());
            }
        }
        Verdict::GraphPool => {
            advice.take(Remedy::FewerGraphs);
            advice.say(Remedy::DelCollect, "delete graphs that are done: their pool can be given back only then".to_owned());
            advice
                .wont
                .push("empty_cache() and expandable_segments: what a graph that still exists has stays where it is. It is no leak.".to_owned());
        }
        Verdict::FullSelf => {
            live_load(&mut advice, Producer::Torch, "");
            advice.wont.push(
                "empty_cache() and expandable_segments: what is live stays where it is, and torch gave back the rest before it failed.".to_owned(),
            );
        }
        Verdict::ProcessCap => {
            advice.say(
                Remedy::MemoryFraction,
                format!("{}, or per_process_memory_fraction in the allocator's settings", Remedy::MemoryFraction.facts().how),
            );
            advice.take(Remedy::SmallerBatch);
            advice.wont.push("Closing other programs, empty_cache(): the card had room, and neither changes the limit.".to_owned());
        }
        Verdict::Cached if account.retried => {
            advice.say(
                Remedy::SmallerBatch,
                "a slightly smaller batch: room is short, and each time that the cache had to be emptied was a stall".to_owned(),
            );
        }
        Verdict::Cached => {
            advice.say(Remedy::DelCollect, format!("nothing, unless another process needs the memory: then {}", Remedy::DelCollect.facts().how));
        }
        Verdict::Unknown => advice.take(Remedy::Record),
        // Nothing is the matter, or no account tells it: who else is on the card, what the device has, which limit is not torch's.
        _ => {}
    }
    advice
}

/// GiB are said here, since no unit stands before them.
fn with_unit(bytes: u64) -> String {
    let said = said(bytes);
    if said.contains('.') { said + " GiB" } else { said }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_is_of_a_remedy_that_helps_with_its_verdict() {
        for verdict in Verdict::ALL {
            for (expandable, retried) in [(false, false), (true, false), (false, true)] {
                let advice = advise_account(&Account { verdict: *verdict, expandable, cached: Some(Bytes::gib(2)), retried });
                for step in &advice.first {
                    assert!(step.remedy.facts().helps.contains(verdict), "{} for {}", step.remedy.facts().name, verdict.word());
                    assert!(!expandable || step.remedy != Remedy::Expandable, "they are on already");
                }
            }
        }
    }

    #[test]
    fn what_the_cache_would_give_back_is_said_with_its_unit() {
        let advice =
            |bytes| advise_account(&Account { verdict: Verdict::Fragmented, expandable: false, cached: bytes, retried: false }).wont.join(" ");
        assert!(advice(Some(Bytes::gib(2))).starts_with("empty_cache(): it gives back 2.0 GiB here"));
        assert!(advice(Some(Bytes::mib(1))).starts_with("empty_cache(): it gives back 1 MiB here"));
        assert!(advice(Some(Bytes::ZERO)).starts_with("empty_cache(): it gives back 0 here"));
    }
}
