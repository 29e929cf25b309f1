//! What to change first for one text, ranked, with figures computed from it.
//!
//! Which remedy and in which order is decided here, what a remedy is stands in the table.

use super::Remedy;
use super::wont::wont;
use crate::inside::oom::{Amount, Producer, Report, Sign, Sums, Verdict, is_metal, short_by_much};

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

fn sentence(mut text: String) -> String {
    if let Some(lead) = text.get(..1).filter(|_| !NAMES.iter().any(|name| text.starts_with(name))) {
        text.replace_range(..1, &lead.to_uppercase());
    }
    text.push('.');
    text
}

fn percent_less(now: u64, wanted: u64) -> u64 {
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
            advice.say(Remedy::SmallerBatch, "capture smaller sizes, and run the largest ones without a graph".to_owned());
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
                    Remedy::LookAgain,
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

/// The neighbour comes right after what makes the job itself smaller.
fn full(report: &Report, sums: &Sums, advice: &mut Advice) {
    own_load(report, sums, advice);
    if let Some(foreign) = sums.neighbours(report) {
        let or_else = format!("or an emptier GPU: {} {} of this one", holds(&neighbour(report, sums)), said(foreign));
        let step = Step { remedy: Remedy::LeaveOthers, text: sentence(format!("{or_else}. {}", watch(report, sums))) };
        advice.first.insert(advice.first.len().min(1), step);
    }
}

fn own_load(report: &Report, sums: &Sums, advice: &mut Advice) {
    let is_serving = matches!(report.producer, Producer::LlamaCpp | Producer::Ollama | Producer::Vllm);
    if is_serving {
        advice.take(Remedy::KvCache);
        advice.take(Remedy::QuantWeights);
        advice.take(Remedy::Offload);
        return;
    }
    let large = |(tried, free): &(u64, u64)| sums.capacity.is_some_and(|capacity| *tried > capacity / 10) && *free > tried / 4;
    if let Some((tried, free)) = sums.tried.zip(sums.free).filter(large) {
        let less = percent_less(free, tried);
        let fits = format!("make that one request smaller: {} fit now, so {less} % less", said(free));
        advice.say(Remedy::SplitBatch, format!("{fits} of whatever gives it its size (batch, sequence, chunk of the output)"));
        let short = tried.saturating_sub(free);
        if let Some(live) = sums.allocated.filter(|live| *live > short) {
            let free_it = format!("or free {} of the {} that live before it", said(short), said(live));
            let how = if matches!(report.producer, Producer::Torch | Producer::ComfyUi) {
                ": del what is done, torch.no_grad() for evaluation, bf16 instead of fp32"
            } else {
                ""
            };
            advice.say(Remedy::NoGrad, format!("{free_it}{how}"));
        }
        advice.say(Remedy::Shard, "or split it over two GPUs".to_owned());
        return;
    }
    if report.hints.sign == Some(Sign::Plan) {
        advice.take(Remedy::SmallerBatch);
        advice.take(Remedy::Checkpointing);
        advice.take(if sums.capacity.is_some() { Remedy::Shard } else { Remedy::JaxPool });
        return;
    }
    let short = sums
        .short()
        .map_or_else(String::new, |(short, least)| format!(" ({}{} short at this step)", if least { "at least " } else { "" }, said(short)));
    live_load(advice, report.producer, &short);
}

/// What makes live memory less, best first; `short` says by how much it has to be.
pub(super) fn live_load(advice: &mut Advice, producer: Producer, short: &str) {
    advice.say(Remedy::SmallerBatch, format!("{}{short}", Remedy::SmallerBatch.facts().how));
    if !matches!(producer, Producer::Torch | Producer::ComfyUi) {
        if producer == Producer::CudaJl {
            advice.say(
                Remedy::DelCollect,
                "GC.gc(true); CUDA.reclaim() between steps: arrays that nobody uses live until they are collected".to_owned(),
            );
        }
        advice.say(Remedy::SplitBatch, "work in smaller pieces, and free what is done before the next".to_owned());
        return;
    }
    advice.say(Remedy::Checkpointing, "in training, activation checkpointing and bf16; in evaluation, torch.inference_mode()".to_owned());
    advice.say(Remedy::Detach, "if it grew from step to step: losses or outputs kept without .item() or .detach()".to_owned());
    advice.say(Remedy::EightBit, "if weights and optimizer are the load: an 8-bit optimizer, LoRA, or FSDP over more GPUs".to_owned());
}

fn too_big(report: &Report, sums: &Sums, advice: &mut Advice) {
    if report.producer == Producer::LlamaCpp {
        advice.say(Remedy::Offload, "offload fewer layers (-ngl): the rest stays in host memory".to_owned());
        advice.take(Remedy::QuantWeights);
        return;
    }
    if let (Some(tried), Some(capacity)) = (sums.tried, sums.capacity) {
        let less = percent_less(capacity, tried);
        let at_all =
            format!("make that one tensor smaller: at least {less} % less before it could fit this card even when empty (check its shape first)");
        advice.say(Remedy::SplitBatch, at_all);
    }
    advice.say(Remedy::Sdpa, format!("if it is an attention score matrix: {}", Remedy::Sdpa.facts().how));
    advice.take(Remedy::Shard);
}

fn fragmented(report: &Report, sums: &Sums, advice: &mut Advice) {
    let foreign = if report.also.contains(&Verdict::OtherProcess) { sums.foreign(report) } else { 0 };
    let most = foreign > sums.cached.unwrap_or(0);
    let emptier = format!("an emptier GPU: {} {} of this one. {}", holds(&neighbour(report, sums)), said(foreign), watch(report, sums));
    if most {
        advice.say(Remedy::LeaveOthers, emptier.clone());
    }
    if report.producer == Producer::CudaJl {
        advice.say(Remedy::DelCollect, "GC.gc(true); CUDA.reclaim() before the large allocation".to_owned());
        advice.take(Remedy::BigFirst);
        return;
    }
    if matches!(report.producer, Producer::Torch | Producer::ComfyUi) {
        let right = if report.hints.advises_expandable { ". Here the advice in the text is right" } else { "" };
        advice.say(Remedy::Expandable, format!("{}{right}", Remedy::Expandable.facts().how));
        if report.hints.advises_split && !report.hints.advises_expandable {
            advice.take(Remedy::MaxSplit);
        }
    }
    if foreign > 0 && !most {
        advice.say(Remedy::LeaveOthers, format!("or {emptier}"));
    }
    advice.take(Remedy::BigFirst);
    if report.also.contains(&Verdict::FullSelf) {
        advice.say(
            Remedy::SmallerBatch,
            format!("{}: live tensors fill most of the card, so little is won without it", Remedy::SmallerBatch.facts().how),
        );
    }
}

fn other(report: &Report, sums: &Sums, advice: &mut Advice) {
    match report.hints.sign {
        Some(Sign::FreeBelowTarget) => {
            let lower = match (sums.free, sums.capacity) {
                (Some(free), Some(capacity)) => {
                    // What is free, less what a start takes for itself; rounded down to a hundredth.
                    let fits = (free * 100 / capacity.max(1)).saturating_sub(1);
                    format!("--gpu-memory-utilization {:.2} fits what is free now; the fraction is of the whole card", fits as f64 / 100.0)
                }
                _ => Remedy::VllmPool.facts().how.to_owned(),
            };
            let free_it = "free the card first: an engine that is still exiting, a desktop, a notebook. vramtop shows who holds it";
            // With a small part of the card left for it the engine would start and have no room for its cache.
            if short_by_much(report) {
                advice.say(Remedy::LeaveOthers, free_it.to_owned());
                advice.say(Remedy::VllmPool, format!("or {lower}"));
            } else {
                advice.say(Remedy::VllmPool, lower);
                advice.say(Remedy::LeaveOthers, format!("or {free_it}"));
            }
        }
        Some(Sign::NeighbourChanged) => {
            advice.say(Remedy::LeaveOthers, "start it again when nobody else starts or ends on this card; vramtop shows who does".to_owned());
        }
        _ => {
            let siblings = are_siblings(report);
            if siblings {
                let text = "give each worker its own GPU (CUDA_VISIBLE_DEVICES, torch.cuda.set_device(local_rank) before anything else)".to_owned();
                advice.say(Remedy::FewerWorkers, text);
            }
            advice.say(Remedy::LeaveOthers, format!("an emptier GPU, or a word with the owner: {}", watch(report, sums)));
            advice.say(Remedy::FewerWorkers, "if it is an old run of your own: end it, and wait until its memory is free".to_owned());
        }
    }
}

/// Others as a text names them: `process 55`, `3 other processes`, or `others` where it names none.
pub fn neighbour(report: &Report, sums: &Sums) -> String {
    match strangers(report, sums).as_slice() {
        [] => "others".to_owned(),
        [pid] => format!("process {pid}"),
        several => format!("{} other processes", several.len()),
    }
}

/// With the verb: `process 55 holds`, `others hold`.
pub fn holds(who: &str) -> String {
    format!("{who} {}", if who.starts_with("process") { "holds" } else { "hold" })
}

/// The processes that a text names, without the one that failed.
fn strangers(report: &Report, sums: &Sums) -> Vec<u32> {
    report.figures.others.iter().map(|(pid, _)| *pid).filter(|pid| Some(*pid) != sums.self_pid).collect()
}

/// How to look at them.
fn watch(report: &Report, sums: &Sums) -> String {
    let pids: Vec<String> = strangers(report, sums).iter().take(4).map(u32::to_string).collect();
    let who = if pids.is_empty() { String::new() } else { format!(" (vramtop -p {})", pids.join(",")) };
    format!("vramtop shows who holds it{who}")
}

/// Equal neighbours with consecutive PIDs: workers of one job.
pub fn are_siblings(report: &Report) -> bool {
    let others = &report.figures.others;
    let close = |pair: &[(u32, Amount)]| {
        pair[0].0.abs_diff(pair[1].0) <= 8 && pair[0].1.bytes().zip(pair[1].1.bytes()).is_some_and(|(a, b)| a.abs_diff(b) <= a / 20)
    };
    others.len() > 1 && others.windows(2).all(close)
}

fn pool(report: &Report, sums: &Sums, advice: &mut Advice) {
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

fn host(report: &Report, advice: &mut Advice) {
    match report.hints.sign {
        Some(Sign::SharedMemory) => {
            advice.take(Remedy::MoreShm);
            advice.say(Remedy::FewerWorkers, "or fewer workers in the loader (num_workers)".to_owned());
        }
        Some(Sign::Pinned) => {
            advice.take(Remedy::PinnedLess);
            advice.say(Remedy::FewerWorkers, "look at free -g and ulimit -l while it runs: locked pages cannot be swapped".to_owned());
        }
        Some(Sign::IntegratedPool) => {
            advice.say(Remedy::FewerWorkers, "free RAM: CPU and GPU share it on this board (free -m, and CmaFree in /proc/meminfo)".to_owned());
            advice.take(Remedy::QuantWeights);
        }
        _ if report.producer == Producer::Ollama => {
            advice.say(Remedy::QuantWeights, "a smaller model or quantisation, or a shorter context (num_ctx): it has to fit into RAM".to_owned());
            advice.say(Remedy::FewerWorkers, "or free RAM first; in a container, raise its memory limit".to_owned());
        }
        _ => {
            advice.say(Remedy::FewerWorkers, "fewer loader workers, less prefetching, and data that is read in pieces".to_owned());
            advice.say(Remedy::PinnedLess, "more RAM for the job (--mem in Slurm, limits.memory in Kubernetes)".to_owned());
        }
    }
}

fn warning(report: &Report, advice: &mut Advice) {
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
            advice.say(Remedy::PinnedLess, "nothing has to change; loading is slower. More locked memory: ulimit -l unlimited".to_owned());
        }
        _ => advice.say(Remedy::SmallerBatch, "nothing has to change; more free memory would allow a faster way".to_owned()),
    }
}

fn not_vram(report: &Report, advice: &mut Advice) {
    match report.hints.sign {
        Some(Sign::Xid) => {
            advice.say(Remedy::LookAgain, "look at dmesg for the first NVRM line: it names the fault".to_owned());
            let fallen = report.hints.code == Some(79);
            let how = if fallen {
                "a card that fell off the bus needs a cold restart; then check power, seating and temperature"
            } else {
                "restart what used the card; if it comes again, the card or its driver needs a look"
            };
            advice.say(Remedy::RestartKernel, how.to_owned());
        }
        Some(Sign::LostDevice) => {
            advice.say(Remedy::RestartKernel, "restart the container: its device rule was dropped (a systemctl daemon-reload does that)".to_owned());
        }
        _ => advice.say(Remedy::LookAgain, "smaller blocks or fewer stages in that kernel (BLOCK sizes, num_stages, num_warps)".to_owned()),
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
