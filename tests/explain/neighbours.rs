//! Lines that stand beside a text and are not of it: what they say never changes its answer. The right answers are worked out by hand.

use vramtop::inside::oom::{self, Report, Verdict};

/// 77.80 + 1.96 = 79.76 of 79.15, and 1.33 free + 0.06 cached are less than 1.96: its own live tensors.
const FULL: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.33 GiB is free. \
    Including non-PyTorch memory, this process has 77.80 GiB memory in use. Of the allocated memory 75.91 GiB is allocated by PyTorch, and 61.00 MiB is \
    reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid \
    fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)";
/// Before 1.10 nothing follows the figures: 10.76 GiB of 11.17, 66.35 MiB of cache.
const OLD: &str = "RuntimeError: CUDA out of memory. Tried to allocate 256.00 MiB (GPU 0; 11.17 GiB total capacity; 10.62 GiB already allocated; 20.69 MiB free; \
    66.35 MiB cached)";

fn read(log: &str) -> Vec<Report> {
    oom::read(log.as_bytes()).expect("readable").reports
}

fn verdicts(log: &str) -> Vec<&'static str> {
    read(log).iter().map(|report| report.verdict.word()).collect()
}

#[test]
fn no_later_line_overrules_figures() {
    let alone = read(&format!("{FULL}\n")).remove(0);
    assert_eq!(alone.verdict, Verdict::FullSelf);
    for (after, then) in [
        ("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", None),
        ("If you see CUBLAS_STATUS_ALLOC_FAILED, restart.", None),
        ("RuntimeError: CUDA error: out of memory", None),
        (
            "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Bus error. It is possible that workers are out of shared memory.",
            Some("host-memory"),
        ),
        ("RuntimeError: CUDA out of memory. Tried to allocate more than 1EB memory.", Some("bogus-size")),
        ("GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-x)\n  MIG 1g.10gb     Device  0: (UUID: MIG-00000000-1111-2222-3333-444444444444)", None),
        ("Memory usage: 3.00 GiB is free. Process 77 has 12.00 GiB memory in use.", None),
    ] {
        for between in ["", "\nDuring handling of the above exception, another exception occurred:\n", "\na\nb\nc\nd\ne\nf\ng\nh\n"] {
            let reports = read(&format!("{FULL}\n{between}{after}\n"));
            let first = reports.first().expect("one");
            assert_eq!((first.verdict, &first.figures, &first.hints), (alone.verdict, &alone.figures, &alone.hints), "{after}");
            let second: Vec<&str> = reports[1..].iter().map(|report| report.verdict.word()).collect();
            assert_eq!(second, Vec::from_iter(then), "{after}");
        }
    }
}

#[test]
fn a_status_code_before_the_figures_gives_way_to_them() {
    let log = format!("RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`\n\n{FULL}\n");
    assert_eq!(verdicts(&log), ["full-self"]);
    assert_eq!(verdicts(&format!("{FULL} If you see CUBLAS_STATUS_ALLOC_FAILED, restart.\n")), ["full-self"]);
}

#[test]
fn a_text_does_not_vanish_in_the_next_line() {
    let without_advice = FULL.split_once(" If reserved").expect("an advice").0;
    for text in [OLD, without_advice] {
        for (next, verdict) in [
            ("slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0. Some of the step tasks have been OOM Killed.", "host-memory"),
            ("[ 1234.567890] NVRM: Xid (PCI:0000:c1:00): 79, pid=4711, GPU has fallen off the bus.", "not-vram"),
            ("NVRM: Xid (PCI:0000:c1:00): 79, pid=4711, GPU has fallen off the bus.", "not-vram"),
            ("node1:77:99 [0] include/alloc.h:178 NCCL WARN Cuda failure 2 'out of memory'", "outside-framework"),
            ("triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 131072, Hardware limit: 101376.", "not-vram"),
        ] {
            assert_eq!(verdicts(&format!("{text}\n{next}\n")), ["full-self", verdict], "{text}\n{next}");
        }
    }
}

/// One text in a line of its own, in any wrapping of bytes: its verdict, and the number of its line.
#[track_caller]
fn is_found(log: &[u8], line: u64) {
    let log = oom::read(log).expect("readable");
    let found: Vec<_> = log.reports.iter().map(|report| (report.verdict, report.count, report.line)).collect();
    assert_eq!(found, [(Verdict::FullSelf, 1, line)]);
}

#[test]
fn a_text_is_found_however_far_into_a_line() {
    let bar = |count: usize| "\r 12%|##        | 120/1000 [00:12<01:40, 9.10it/s]".repeat(count);
    is_found(format!("start\n{}\rEpoch 1: {FULL}\n", bar(1200)).as_bytes(), 2);
    // Beyond what is read at once, and with the text across its end: 1 MiB is 1 048 576 bytes.
    is_found(format!("start\n{}\r{FULL}\r{}", bar(40_000), bar(40_000)).as_bytes(), 2);
    for before in [70_000, 1_047_900, 1_048_300, 1_048_576, 1_048_700, 3_000_000] {
        is_found(format!("start\n{} {FULL} {}\nend\n", "x".repeat(before), "y".repeat(before)).as_bytes(), 2);
    }
    let frames = "  File \"model.py\", line 1, in forward\n    return self.layer(x)\n".repeat(1500);
    is_found(format!("{}\n", serde_json::json!({"level": "error", "stack": frames, "message": FULL})).as_bytes(), 1);
    is_found(format!("{}\n", serde_json::json!({"level": "error", "message": format!("{frames}{FULL}")})).as_bytes(), 1);
    let output = serde_json::json!({"output_type": "error", "evalue": "x", "traceback": [frames, FULL]});
    let notebook = serde_json::json!({"cells": [{"cell_type": "code", "source": ["z".repeat(70_000)], "outputs": [output]}], "metadata": {}});
    is_found(format!("{notebook}\n").as_bytes(), 1);
    let lines = oom::read(format!("a\r\nb\rc\n{FULL}").as_bytes()).expect("readable");
    assert_eq!((lines.lines, lines.reports[0].line), (3, 3));
}

#[test]
fn a_log_in_two_bytes_a_character_is_read() {
    let text = format!("start \u{1f600}\r\n{}{FULL}\r\nend\r\n", "step 1 \u{1f600}\r\n".repeat(9_000));
    for mark in ["\u{feff}", ""] {
        let units: Vec<u16> = format!("{mark}{text}").encode_utf16().collect();
        is_found(&units.iter().flat_map(|unit| unit.to_le_bytes()).collect::<Vec<u8>>(), 9_002);
        is_found(&units.iter().flat_map(|unit| unit.to_be_bytes()).collect::<Vec<u8>>(), 9_002);
    }
}

#[test]
fn a_field_that_is_false_and_a_word_in_prose_are_no_failure() {
    for log in [
        "            \"OOMKilled\": false,\n            \"Dead\": false,",
        "State: exited OOMKilled=false ExitCode=1",
        "  OOMKilled: false",
        "* fix OOMKilled pods not being restarted (#123)",
        "PHP Fatal error:  Allowed memory size of 134217728 bytes exhausted (tried to allocate 20480 bytes) in /srv/www/index.php on line 12",
    ] {
        assert_eq!(verdicts(&format!("{log}\n")), [] as [&str; 0], "{log}");
    }
    for log in [
        "            \"OOMKilled\": true,",
        "OOMKilled=true",
        "      reason: OOMKilled",
        "                        \"reason\": \"OOMKilled\",",
        "trainer-0   0/1   OOMKilled   3 (42s ago)   5m",
        "Container trainer was OOMKilled",
        "fatal: Out of memory, malloc failed (tried to allocate 524288000 bytes)",
    ] {
        assert_eq!(verdicts(&format!("{log}\n")), ["host-memory"], "{log}");
    }
}

/// A text that was broken into lines before a launcher or a logger stamped each of them.
#[test]
fn a_text_in_stamped_lines_is_one_text() {
    let alone = read(&format!("{FULL}\n")).remove(0);
    let chars: Vec<char> = FULL.chars().collect();
    let broken = |width: usize| chars.chunks(width).map(|part| part.iter().collect()).collect::<Vec<String>>();
    for (head, tail) in [
        ("Mar 04 11:22:01 gpu07 python3[4121]: ", ""),
        ("2025-03-04 11:22:01,123 - trainer - ERROR - ", ""),
        ("2025-03-04T11:22:01.123Z INFO ", ""),
        ("2025-03-04T11:22:01.123456789Z stderr F ", ""),
        ("node3: [default3]:[rank3]: ", ""),
        ("node3: [rank6]: ", ""),
        ("node3: ", ""),
        ("│ ", " │"),
    ] {
        for width in (60..=120).step_by(5) {
            let lines: Vec<String> = broken(width).into_iter().map(|line| format!("{head}{line:<width$}{tail}\n")).collect();
            let reports = read(&(lines.concat() + &format!("{head}saving a checkpoint: 3.00 GiB is free{tail}\n")));
            assert_eq!(reports.len(), 1, "{head} {width}: {reports:#?}");
            assert_eq!((reports[0].verdict, &reports[0].figures), (alone.verdict, &alone.figures), "{head} {width}");
        }
    }
}

/// Each with its verdict, what it asked for, its device, and whether it is the only one.
#[test]
fn what_other_programs_print_is_read() {
    let told = |log: &str| {
        let of = |report: &Report| (report.verdict.word(), report.figures.tried.and_then(oom::Amount::bytes), report.figures.device);
        read(log).iter().map(of).collect::<Vec<_>>()
    };
    // 48 * 2^30; 2.5 * 2^30 as bytes.
    assert_eq!(told("RuntimeError: Invalid buffer size: 48.00 GB\n"), [("unknown", Some(51_539_607_552), None)]);
    let xgboost = "XGBoostError: Memory allocation error on worker 0: std::bad_alloc: cudaErrorMemoryAllocation: out of memory\n\
                   - Free memory: 1288490188\n- Requested memory: 2684354560\n\nStack trace:\n";
    assert_eq!(told(xgboost), [("unknown", Some(2_684_354_560), None)]);
    assert_eq!(told("RuntimeError: [enforce fail] Tried to allocate -1073741824 bytes\n"), [("bogus-size", None, None)]);
    assert_eq!(told("Native API failed. Native API returns: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)\n"), [("unknown", None, None)]);
    let ggml =
        "CUDA error: out of memory\n  current device: 1, in function alloc at ggml-cuda.cu:480\n  cuMemCreate(&handle, reserve_size, &prop, 0)\n";
    assert_eq!(told(ggml), [("unknown", None, Some(1))]);
    for warning in [
        "WARNING 03-04 11:22:01 scheduler.py:1057] Sequence group 0 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space.",
        "[2025-03-04 11:22:01] KV cache pool is full. Retract requests. #retracted_reqs: 1, #new_token_ratio: 0.6",
    ] {
        assert_eq!(told(&format!("{warning}\n")), [("warning-only", None, None)]);
    }
}

/// SGLang compares its ranks, in units of 2^30: 23.12 is 24 824 910 971 bytes, 78.93 is 84 750 442 168.
#[test]
fn ranks_that_are_unbalanced_are_told_with_both_figures() {
    let report = read(
        "ValueError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes. min_per_gpu_memory=23.12, \
        local_gpu_memory=78.93, local_gpu_memory * 0.9=71.037\n",
    )
    .remove(0);
    assert_eq!((report.verdict, report.hints.free_here), (Verdict::OtherProcess, Some(84_750_442_168)));
    assert_eq!(report.figures.free.and_then(oom::Amount::bytes), Some(24_824_910_971));
}

#[test]
fn marks_of_a_web_page_or_a_chat_are_not_part_of_a_figure() {
    let alone = read(&format!("{FULL}\n")).remove(0);
    for space in ["&nbsp;", "&#160;"] {
        assert_eq!(read(&format!("{}\n", FULL.replace(" GiB", &format!("{space}GiB")))).remove(0).figures, alone.figures);
    }
    assert_eq!(read(&format!("{}\n", FULL.replace("1.96 GiB", "**1.96 GiB**"))).remove(0).figures, alone.figures);
}

#[test]
fn as_many_texts_are_counted_as_there_are() {
    // Four in a row, two of which are the same to the last digit.
    let texts: String = ["1.96", "1.97", "1.98", "1.97"].map(|tried| format!("{}\n", FULL.replace("1.96", tried))).concat();
    let counts: Vec<u64> = read(&texts).iter().map(|report| report.count).collect();
    assert_eq!(counts, [1, 2, 1]);
    let ranks = [0, 1, 2, 3, 4, 5, 6, 7].map(|rank| format!("[rank{rank}]: {FULL}\n")).concat();
    let all = read(&ranks);
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].count, all[0].ranks.clone()), (8, vec![0, 1, 2, 3, 4, 5, 6, 7]));
}

#[test]
fn what_is_not_a_failure_is_told_after_the_one_that_is() {
    let log = "W bfc_allocator.cc:246] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.27GiB with freed_by_count=0. The caller indicates that \
               this is not a failure, but this may mean that there could be performance gains if more memory were available.\n\
               W bfc_allocator.cc:456] Allocator (GPU_0_bfc) ran out of memory trying to allocate 512.00MiB (rounded to 536870912) requested by op Conv2D\n";
    let told: Vec<_> = read(log).iter().map(|report| (report.verdict == Verdict::WarningOnly, report.line)).collect();
    assert_eq!(told, [(false, 2), (true, 1)]);
}
