//! What to change first where it is not the card that has no room: a pool's limit, the host's memory, a warning, a fault.

use super::Remedy;
use super::choose::{Advice, said};
use crate::inside::oom::{Amount, Producer, Report, Sign, Sums};

pub(super) fn pool(report: &Report, sums: &Sums, advice: &mut Advice) {
    match (report.producer, report.hints.sign) {
        (Producer::Vllm, Some(Sign::CacheBelowRequest)) => {
            match report.hints.tokens {
                Some(tokens) => advice.say(Remedy::KvCache, format!("--max-model-len {tokens}: that much fits, as the text says")),
                None => advice.take(Remedy::KvCache),
            }
            advice.say(Remedy::VllmPool, "a higher --gpu-memory-utilization, if nobody else needs the card".to_owned());
            advice.say(Remedy::KvCache, "an 8-bit cache (--kv-cache-dtype fp8) holds twice the tokens".to_owned());
        }
        (Producer::Vllm, Some(Sign::Batch)) => {
            advice.say(
                Remedy::VllmPool,
                "a lower --max-num-seqs, or a lower --gpu-memory-utilization: the cache left no room for the sampler".to_owned(),
            );
        }
        (Producer::Mlc, _) => {
            advice.say(Remedy::VllmPool, "a higher gpu_memory_utilization: the engine counts with that share of the card alone".to_owned());
            advice.take(Remedy::QuantWeights);
            advice.take(Remedy::Shard);
        }
        (Producer::Vllm, _) => {
            let by = report.hints.short_mib.map_or_else(String::new, |mib| format!(" (it is {} short)", said(mib << 20)));
            advice.say(Remedy::VllmPool, format!("a higher --gpu-memory-utilization{by}"));
            advice.say(Remedy::KvCache, "a smaller --max-model-len or --max-num-batched-tokens: the start measures activations with them".to_owned());
            advice.take(Remedy::QuantWeights);
        }
        (Producer::Sglang, Some(Sign::Batch)) => {
            advice.say(Remedy::SglangPool, "fewer requests at once (--max-running-requests), or a shorter context".to_owned());
        }
        (Producer::Sglang, _) => {
            let now = report.hints.fraction.as_ref().map_or_else(String::new, |fraction| format!(" than {fraction}"));
            advice.say(Remedy::SglangPool, format!("a higher --mem-fraction-static{now}: the cache has no room"));
            advice.take(Remedy::QuantWeights);
        }
        (Producer::Tgi, _) => {
            let now = report.hints.tokens.map_or_else(String::new, |tokens| format!(" than {tokens}"));
            advice.say(Remedy::KvCache, format!("a smaller --max-batch-prefill-tokens (and --max-input-tokens){now}"));
            advice.take(Remedy::QuantWeights);
        }
        (Producer::Jax, _) => {
            advice.say(
                Remedy::LeaveOthers,
                "look who else is on the card (vramtop --once): JAX takes 75 % of it at its start, and fails later when that was not there"
                    .to_owned(),
            );
            advice.take(Remedy::JaxPool);
        }
        (Producer::Xla | Producer::TensorFlow, _) => {
            advice.take(Remedy::TfPool);
            advice.take(Remedy::SmallerBatch);
        }
        _ => {
            let limit = report.figures.allowed.and_then(Amount::bytes).map_or_else(String::new, |allowed| format!(" of {}", said(allowed)));
            let needs =
                sums.allocated.zip(sums.tried).map_or_else(String::new, |(live, tried)| format!(": at least {} are needed", said(live + tried)));
            advice.say(Remedy::RaisePool, format!("raise the pool's limit{limit}, or drop it{needs}"));
            advice.say(Remedy::SplitBatch, "work in smaller pieces, and free what is done before the next".to_owned());
        }
    }
}

pub(super) fn host(report: &Report, advice: &mut Advice) {
    match report.hints.sign {
        Some(Sign::SharedMemory) => {
            advice.take(Remedy::MoreShm);
            advice.say(Remedy::FewerWorkers, "or fewer workers in the loader (num_workers)".to_owned());
        }
        Some(Sign::Pinned) => {
            advice.take(Remedy::PinnedLess);
            advice.say(Remedy::MoreRam, "look at free -g and ulimit -l while it runs: locked pages cannot be swapped".to_owned());
        }
        Some(Sign::IntegratedPool) => {
            advice.say(Remedy::MoreRam, "free RAM: CPU and GPU share it on this board (free -m, and CmaFree in /proc/meminfo)".to_owned());
            advice.take(Remedy::QuantWeights);
        }
        _ if report.producer == Producer::Ollama => {
            advice.say(Remedy::QuantWeights, "a smaller model or quantisation, or a shorter context (num_ctx): it has to fit into RAM".to_owned());
            advice.say(Remedy::MoreRam, "or free RAM first; in a container, raise its memory limit".to_owned());
        }
        _ => {
            advice.say(Remedy::FewerWorkers, "fewer loader workers, less prefetching, and data that is read in pieces".to_owned());
            advice.take(Remedy::MoreRam);
        }
    }
}

pub(super) fn warning(report: &Report, advice: &mut Advice) {
    match report.hints.sign {
        Some(Sign::Probe) => {
            advice.take(Remedy::TfPool);
            advice.say(Remedy::LeaveOthers, "only if it fails later: look who else is on the card (vramtop --once)".to_owned());
        }
        Some(Sign::Retried) => advice.say(
            Remedy::Balance,
            "nothing has to change. To get the faster way back, leave more room on that device (--tensor-split, a shorter context)".to_owned(),
        ),
        Some(Sign::LateRelease) => {
            let text =
                "nothing has to change. If the next load fails, look who still holds the card (vramtop --once), and end that runner".to_owned();
            advice.say(Remedy::LeaveOthers, text);
        }
        Some(Sign::PinnedFallback) => {
            advice.say(Remedy::MoreRam, "nothing has to change; loading is slower. More locked memory: ulimit -l unlimited".to_owned());
        }
        _ if report.producer == Producer::Vllm => advice.say(
            Remedy::VllmPool,
            "nothing has to change: requests wait or are computed again. Fewer at once (--max-num-seqs), or more for the cache (--gpu-memory-utilization)".to_owned(),
        ),
        _ if report.producer == Producer::Sglang => advice.say(
            Remedy::SglangPool,
            "nothing has to change: requests wait or are computed again. Fewer at once (--max-running-requests), or more for the cache (--mem-fraction-static)".to_owned(),
        ),
        _ => advice.say(Remedy::SmallerBatch, "nothing has to change; more free memory would allow a faster way".to_owned()),
    }
}

pub(super) fn not_vram(report: &Report, advice: &mut Advice) {
    match report.hints.sign {
        Some(Sign::Xid) => {
            advice.say(Remedy::LookAgain, "look at dmesg for the first NVRM line: it names the fault".to_owned());
            let fallen = report.hints.code == Some(79);
            let how = if fallen {
                "a card that fell off the bus needs a cold restart; then check power, seating and temperature"
            } else {
                Remedy::ServiceCard.facts().how
            };
            advice.say(Remedy::ServiceCard, how.to_owned());
        }
        Some(Sign::LostDevice) => {
            advice.say(Remedy::ServiceCard, "restart the container: its device rule was dropped (a systemctl daemon-reload does that)".to_owned());
        }
        _ => advice.say(Remedy::LookAgain, "smaller blocks or fewer stages in that kernel (BLOCK sizes, num_stages, num_warps)".to_owned()),
    }
}
