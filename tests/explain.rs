//! `vramtop explain` over out-of-memory texts with known answers: figures within half a unit of their last printed digit, the verdict
//! equal. The answers stand in `answers.tsv` beside the texts, worked out by hand.
#![expect(clippy::expect_used, reason = "a test may fail")]

mod common;

#[path = "explain/accounts.rs"]
mod accounts;
#[path = "explain/answers.rs"]
mod answers;
#[path = "explain/command.rs"]
mod command;
#[path = "explain/inputs.rs"]
mod inputs;
#[path = "explain/lines_beside.rs"]
mod lines_beside;
#[path = "explain/mutations.rs"]
mod mutations;
#[path = "explain/neighbours.rs"]
mod neighbours;
#[path = "explain/recording.rs"]
mod recording;
#[path = "explain/remedies.rs"]
mod remedies;

use vramtop::inside::oom::{self, Verdict};

use answers::Case;

#[track_caller]
fn only(case: &Case, text: &[u8]) -> oom::Report {
    let log = oom::read(text).expect("memory can be read");
    assert_eq!(log.reports.len(), 1, "{}: {:#?}", case.file, log.reports);
    log.reports.into_iter().next().expect("one")
}

#[test]
fn every_text_has_its_figures_and_its_verdict() {
    let all = answers::all();
    assert_eq!(all.len(), 62 + 30 + 35 + 6);
    let mut wrong = Vec::new();
    for case in &all {
        let report = only(case, case.text.as_bytes());
        wrong.extend(case.differences(&report));
        if report.producer.word() != case.producer {
            wrong.push(format!("{}: wanted {}, found {}", case.file, case.producer, report.producer.word()));
        }
        let also: Vec<&str> = report.also.iter().map(|verdict| verdict.word()).collect();
        if case.also.iter().any(|wanted| !also.contains(&wanted.as_str())) {
            wrong.push(format!("{}: wanted also {:?}, found {also:?}", case.file, case.also));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Texts of torch 2.11 on an H200, as it printed them.
#[test]
fn real_texts_of_an_h200_are_judged_by_their_sum() {
    let text = |tried: &str, allowed: &str| {
        format!(
            "CUDA out of memory. Tried to allocate {tried} GiB. GPU 0 has a total capacity of 139.80 GiB of which 78.99 GiB is free. Including non-PyTorch \
             memory, this process has 60.80 GiB memory in use. {allowed}Of the allocated memory 60.06 GiB is allocated by PyTorch, and 1024.00 KiB is \
             reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True \
             to avoid fragmentation."
        )
    };
    // 60.80 + 90.00 = 150.80 > 139.80; 200.00 > 139.80; 60.06 + 30.00 = 90.06 > 69.90.
    let judged = |text: String| oom::read(text.as_bytes()).expect("readable").reports.first().map(|report| report.verdict);
    assert_eq!(judged(text("90.00", "")), Some(Verdict::FullSelf));
    assert_eq!(judged(text("200.00", "")), Some(Verdict::TooBig));
    assert_eq!(judged(text("30.00", "69.90 GiB allowed; ")), Some(Verdict::ProcessCap));
}

#[test]
fn what_happened_first_comes_first_and_what_is_said_again_is_counted() {
    let text = std::fs::read_to_string("tests/explain/oom-texts/13-torch25-rank-full-self.txt").expect("there");
    let again = text.replace("[rank5]", "[rank6]");
    let cublas = "[rank7]: RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`\n";
    let log = oom::read(format!("{text}{cublas}{again}{}", "step 1 loss 2.0\n".repeat(300)).as_bytes()).expect("readable");
    assert_eq!(log.lines, 4 + 1 + 4 + 300);
    let told: Vec<_> = log.reports.iter().map(|report| (report.verdict, report.line, report.count, report.ranks.clone())).collect();
    assert_eq!(told, [(Verdict::FullSelf, 4, 2, vec![5, 6]), (Verdict::Masked, 5, 1, vec![7])]);
}

#[test]
fn lines_are_counted_across_blocks_of_a_large_log() {
    let filler = "2026-11-30 12:00:00 INFO step 12345 loss 2.345 lr 1e-4 tokens/s 12345\n";
    // Some 3.4 MB before the text, which is longer than what is read at once.
    let text = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 46.57 GiB. GPU 0 has a total capacity of 44.39 GiB of which 43.86 GiB is free.\n";
    let log = oom::read(format!("{}{text}{}", filler.repeat(50_000), filler.repeat(10)).as_bytes()).expect("readable");
    assert_eq!((log.lines, log.reports.len()), (50_011, 1));
    assert_eq!((log.reports[0].line, log.reports[0].verdict), (50_001, Verdict::TooBig));
}

/// A traceback has no times; the record before it does.
#[test]
fn a_text_has_the_time_of_the_record_before_it() {
    let traceback = "  File \"model.py\", line 1, in forward\n    return self.layer(x)\n".repeat(30);
    let text = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 46.57 GiB. GPU 0 has a total capacity of 44.39 GiB of which 43.86 GiB is free.\n";
    let log = format!("2026-11-30T12:08:18.123Z INFO step 1\nTraceback (most recent call last):\n{traceback}{text}");
    let report = oom::read(log.as_bytes()).expect("readable").reports.remove(0);
    assert_eq!(report.time, Some(oom::LogTime::At(vramtop::model::Moment { unix_ms: 1_796_040_498_123 })));
}

#[test]
fn failures_of_different_programs_are_told_apart() {
    let log = "java.lang.OutOfMemoryError: Java heap space\n\ncupy_backends.cuda.api.runtime.CUDARuntimeError: cudaErrorMemoryAllocation: out of memory\n\n\
               torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 46.57 GiB. GPU 0 has a total capacity of 44.39 GiB of which 43.86 GiB is free.\n\
               RuntimeError: CUDA error: out of memory\n";
    let verdicts: Vec<Verdict> = oom::read(log.as_bytes()).expect("readable").reports.iter().map(|report| report.verdict).collect();
    assert_eq!(verdicts, [Verdict::HostMemory, Verdict::Unknown, Verdict::TooBig]);
}

/// A supervisor that ends the other ranks is no failure of its own; alone it is the trace of one.
#[test]
fn a_process_that_was_killed_is_told_where_nothing_else_is() {
    let killed = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n  exitcode   : -9 (pid: 4242)\n";
    let oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 46.57 GiB. GPU 0 has a total capacity of 44.39 GiB of which 43.86 GiB is free.\n";
    let told = |log: &str| {
        let reports = oom::read(log.as_bytes()).expect("readable").reports;
        reports.iter().map(|report| (report.verdict, report.also.clone())).collect::<Vec<_>>()
    };
    assert_eq!(told(&format!("{oom}{killed}")), [(Verdict::TooBig, vec![])]);
    assert_eq!(told(&format!("{killed}{oom}")), [(Verdict::TooBig, vec![])]);
    assert_eq!(told(killed), [(Verdict::Unknown, vec![Verdict::HostMemory])]);
    assert_eq!(told("process exited with exit code 1\nstep 1370 done, 137 samples\n"), []);
}

#[test]
fn an_ordinary_log_has_no_text() {
    let log = "epoch 1/10 loss 2.3\nsaving a checkpoint of the model (memory format channels_last)\nGPU 0: NVIDIA A100-SXM4-80GB, 12345 MiB free\n\
               INFO 08-21 09:14:40 Available KV cache memory: 12.31 GiB\nFailed to initialize NVML: Unknown Error\nAllocated memory | 12 MiB\n";
    assert_eq!(oom::read(log.as_bytes()).expect("readable").reports, []);
}
