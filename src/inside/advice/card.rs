//! What to change first where the card itself has no room: by the job's own load, one request, pieces, or a neighbour.

use super::Remedy;
use super::choose::{Advice, Step, percent_less, said, sentence};
use crate::inside::oom::{Amount, Producer, Report, Sign, Sums, Verdict, short_by_much};

/// The neighbour comes right after what makes the job itself smaller.
pub(super) fn full(report: &Report, sums: &Sums, advice: &mut Advice) {
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
                Remedy::JuliaReclaim,
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

pub(super) fn too_big(report: &Report, sums: &Sums, advice: &mut Advice) {
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

pub(super) fn fragmented(report: &Report, sums: &Sums, advice: &mut Advice) {
    let foreign = if report.also.contains(&Verdict::OtherProcess) { sums.foreign(report) } else { 0 };
    let most = foreign > sums.cached.unwrap_or(0);
    let emptier = format!("an emptier GPU: {} {} of this one. {}", holds(&neighbour(report, sums)), said(foreign), watch(report, sums));
    if most {
        advice.say(Remedy::LeaveOthers, emptier.clone());
    }
    if report.producer == Producer::CudaJl {
        advice.say(Remedy::JuliaReclaim, "GC.gc(true); CUDA.reclaim() before the large allocation".to_owned());
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

pub(super) fn other(report: &Report, sums: &Sums, advice: &mut Advice) {
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
        Some(Sign::Unbalanced) => {
            advice.say(Remedy::LeaveOthers, "look who is on the card that has less free than the others (vramtop --once)".to_owned());
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
            advice.take(Remedy::EndOldRun);
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
