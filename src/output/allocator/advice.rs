//! What to change first and what is of no use, for how an allocator is doing.

use super::figures::amount;
use crate::inside::condition::Condition;
use crate::inside::snapshot::{Report, Snapshot};
use crate::inside::summary::Summary;
use crate::model::Bytes;

/// In order of use; `useless` are sentences of their own.
#[derive(Debug, Default)]
pub(super) struct Remedies {
    pub(super) first: Vec<String>,
    pub(super) useless: Vec<String>,
}

/// What is known that decides between remedies.
struct Facts {
    condition: Condition,
    expandable: bool,
    cached: Bytes,
    retries: bool,
}

pub(super) fn of_snapshot(snapshot: &Snapshot, report: &Report) -> Remedies {
    let expandable = snapshot.settings.as_ref().and_then(|settings| settings.expandable) == Some(true)
        || snapshot.segments.iter().any(|segment| segment.expandable);
    remedies(&Facts { condition: report.condition, expandable, cached: report.tally.layers.cached, retries: false })
}

pub(super) fn of_summary(summary: &Summary) -> Remedies {
    let retries = summary.retries.is_some_and(|retries| retries > 0);
    remedies(&Facts { condition: summary.condition(), expandable: false, cached: summary.layers().cached.unwrap_or_default(), retries })
}

fn remedies(facts: &Facts) -> Remedies {
    let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    match facts.condition {
        Condition::Fragmented if facts.expandable => Remedies {
            first: own(&[
                "Allocate the big buffers first, once, and reuse them: the segments already grow by pages, so what is stuck lies between long-lived blocks.",
                "Fewer different sizes: pad sequences to a few lengths, or set roundup_power2_divisions.",
            ]),
            useless: vec![format!("empty_cache(): it gives back {} here, and nothing of what is stuck.", amount(facts.cached))],
        },
        Condition::Fragmented => Remedies {
            first: own(&[
                "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (PYTORCH_ALLOC_CONF in newer releases), set before the process starts.",
                "Allocate the big buffers first, once, and reuse them: what lives long should not lie between what lives briefly.",
                "Fewer different sizes: pad sequences to a few lengths, or set roundup_power2_divisions.",
            ]),
            useless: vec![format!(
                "empty_cache(): it gives back {} here; split segments can't be given back while anything in them lives.",
                amount(facts.cached)
            )],
        },
        Condition::GraphPool => Remedies {
            first: own(&[
                "Capture fewer graphs, or let them share a pool: torch.cuda.graph(g, pool=other.pool()); in vLLM fewer capture sizes, or enforce_eager.",
                "Delete graphs that are done: their pool can be given back only then.",
            ]),
            useless: own(&[
                "empty_cache(): it does not touch the pools of graphs that still exist. expandable_segments: the memory is not in pieces, it is spoken for.",
            ]),
        },
        Condition::FullSelf => Remedies {
            first: own(&[
                "Make the largest request smaller: half the batch with gradient accumulation, or a shorter sequence.",
                "Let less live before it: del what is done, torch.no_grad() for evaluation, bf16, activation checkpointing.",
                "Keep less a GPU: FSDP or ZeRO, an 8-bit optimizer, LoRA.",
            ]),
            useless: own(&["empty_cache() and expandable_segments: what is live stays where it is, and torch gave back the rest before it failed."]),
        },
        Condition::ProcessCap => Remedies {
            first: own(&[
                "Raise torch.cuda.set_per_process_memory_fraction, or per_process_memory_fraction in the allocator's settings: the card had room.",
            ]),
            useless: own(&["Closing other programs, empty_cache(): neither changes the limit."]),
        },
        Condition::Unknown => Remedies {
            first: own(&[
                "Next time: torch.cuda.memory._record_memory_history() before the model is built, a snapshot in the handler of the error, and vramtop --once for the neighbours.",
            ]),
            useless: Vec::new(),
        },
        Condition::Cached if facts.retries => Remedies {
            first: own(&["Room is short: torch had to empty its cache and ask again. A slightly smaller batch makes that, and its stalls, go away."]),
            useless: Vec::new(),
        },
        Condition::Cached => Remedies {
            first: own(&["Nothing, unless another process needs the memory: then torch.cuda.empty_cache() after del and gc.collect()."]),
            useless: Vec::new(),
        },
        Condition::Sound => Remedies::default(),
    }
}
