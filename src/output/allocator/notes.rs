//! One sentence for what a tool's lines say.

use super::figures::{count, signed};
use crate::inside::loglines::{Note, Quantity, Tool};
use crate::model::SafeText;
use crate::output::explain::{ExplainLook, Page};

/// What one tool said, in one sentence.
pub fn note(name: &SafeText, note: &Note, look: ExplainLook) -> String {
    let mut page = Page::new(look);
    let stage = note.stage.as_ref().map_or(String::new(), |stage| format!(", {stage}"));
    page.paragraph(0, 2, &format!("{name}:{}  {}{stage}: {}", note.line, note.tool.word(), sentence(note)));
    page.finish()
}

fn sentence(note: &Note) -> String {
    let last = |quantity| note.last.get(quantity).map(signed);
    let most = |quantity| note.most.get(quantity).map(signed);
    let mut parts: Vec<String> = Vec::new();
    match note.tool {
        Tool::DeepSpeed | Tool::Megatron | Tool::Lightning => {
            parts.extend(last(Quantity::Allocated).map(|bytes| format!("{bytes} live")));
            parts.extend(last(Quantity::Reserved).map(|bytes| format!("of {bytes} held")));
            parts.extend(most(Quantity::MaxAllocated).map(|bytes| format!("peak {bytes} live")));
            parts.extend(most(Quantity::MaxReserved).map(|bytes| format!("{bytes} held at most")));
            parts.extend(last(Quantity::Used).map(|bytes| format!("{bytes} used on the card, anybody's")));
            parts.extend(note.last.get(Quantity::Retries).filter(|n| *n > 0).map(|n| format!("the cache was emptied {n} times to go on")));
            parts.extend(note.last.get(Quantity::Ooms).filter(|n| *n > 0).map(|n| count(n.unsigned_abs(), "request") + " failed"));
        }
        Tool::HfTrainer => {
            parts.extend(last(Quantity::Before).map(|bytes| format!("{bytes} live before it")));
            parts.extend(last(Quantity::Delta).map(|bytes| format!("tensors grew by {bytes}")));
            parts.extend(last(Quantity::PeakedDelta).map(|bytes| format!("and peaked {bytes} above that")));
        }
        Tool::Vllm => {
            let budget = last(Quantity::Budget);
            parts
                .extend(budget.map(|bytes| format!("budget {bytes}") + &last(Quantity::Total).map_or(String::new(), |total| format!(" of {total}"))));
            parts.extend(last(Quantity::Free).zip(last(Quantity::Total)).map(|(free, total)| format!("{free} of {total} free at its start")));
            for (quantity, word) in [
                (Quantity::Weights, "weights"),
                (Quantity::Activations, "activations"),
                (Quantity::Outside, "outside torch"),
                (Quantity::Graphs, "graphs"),
            ] {
                parts.extend(last(quantity).map(|bytes| format!("{word} {bytes}")));
            }
            if let Some(cache) = note.last.get(Quantity::KvCache) {
                parts.push(if cache > 0 {
                    format!("{} left for the KV cache", signed(cache))
                } else {
                    format!(
                        "{} left for the KV cache: the rest does not fit into the budget, raise gpu_memory_utilization or lower max_model_len",
                        signed(cache)
                    )
                });
            }
            parts.extend(note.last.get(Quantity::Tokens).map(|tokens| count(tokens.unsigned_abs(), "token")));
        }
    }
    let seen = if note.count > 1 { format!(" ({} lines)", note.count) } else { String::new() };
    format!("{}{seen}.", parts.join(", "))
}
