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
