//! That an answer's figures agree with each other and with the text: whose memory it is, how much was short, what the text does not tell.

use vramtop::inside::advice::{Remedy, advise};
use vramtop::inside::oom::{self, Report, Verdict};

use crate::command::{piped, text};

/// The answer without line breaks.
fn answer(log: &str) -> String {
    text(&piped(&[], log.as_bytes())).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn report(log: &str) -> Report {
    oom::read(log.as_bytes()).expect("readable").reports.remove(0)
}

#[track_caller]
fn has(answer: &str, all: &[&str]) {
    let missing: Vec<&&str> = all.iter().filter(|part| !answer.contains(**part)).collect();
    assert!(missing.is_empty(), "{missing:#?} not in\n{answer}");
}

/// In GiB; the last two in MiB.
fn torch(tried: &str, capacity: &str, free: &str, processes: &str, live: &str, cached: &str) -> String {
    format!(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {tried}. GPU 0 has a total capacity of {capacity} GiB of which {free} is free. \
         {processes} Of the allocated memory {live} GiB is allocated by PyTorch, and {cached} is reserved by PyTorch but unallocated.\n"
    )
}

fn own(gib: &str) -> String {
    format!("Including non-PyTorch memory, this process has {gib} GiB memory in use.")
}

/// 38.60 + 38.50 + 4.00 = 81.10 > 79.15; the neighbour's 38.50 and the free 2.00 have room for 4.00.
#[test]
fn a_card_that_is_full_with_two_is_not_filled_by_one() {
    let log = torch("4.00 GiB", "79.15", "2.00 GiB", &format!("Process 55 has 38.50 GiB memory in use. {}", own("38.60")), "37.40", "61.00 MiB");
    let report = report(&log);
    assert_eq!((report.verdict, report.also.as_slice()), (Verdict::FullSelf, [Verdict::OtherProcess].as_slice()));
    has(
        &answer(&log),
        &[
            "The card of 79.2 GiB is full: 37.4 of its own beside 38.5 of process 55. It asked for 4.0 GiB, and 2.0 was free.",
            "38.60 its own + 38.50 others' + 4.00 asked = 81.10 > 79.15.",
            "(2.0 short at this step). 2 Or an emptier GPU: process 55 holds 38.5 of this one. vramtop shows who holds it (vramtop -p 55).",
            "Or else other-process: with that memory back it would have fitted.",
        ],
    );
    // A large request: 12.00 − 2.00 = 10.00 short.
    let large = answer(&log.replace("4.00 GiB", "12.00 GiB"));
    has(&large, &["12.0 GiB at once with 38.6 of its own already on the card, beside 38.5 of process 55. 10.0 GiB short."]);
    // Three of them, 30.00 in all.
    let three = "Process 55 has 10.00 GiB memory in use. Process 56 has 12.00 GiB memory in use. Process 88 has 8.00 GiB memory in use.";
    let three = torch("4.00 GiB", "79.15", "2.00 GiB", &format!("{three} {}", own("47.10")), "46.00", "61.00 MiB");
    has(&answer(&three), &["46.0 of its own beside 30.0 of 3 other processes.", "Or an emptier GPU: 3 other processes hold 30.0 of this one."]);
    // A desktop's 0.60 is no matter, nor is anybody where nobody is.
    for small in ["Process 55 has 0.60 GiB memory in use. ", ""] {
        let log = torch("4.00 GiB", "79.15", "2.00 GiB", &format!("{small}{}", own("76.50")), "75.40", "61.00 MiB");
        assert_eq!(self::report(&log).also, [], "{small}");
        has(&answer(&log), &["Its own live tensors fill the card: 75.4 GiB of 79.2."]);
    }
}

/// 14 + 75.00 + 4.10 of 79.15: 61 MiB are unused inside, and 75.00 are a neighbour's.
#[test]
fn little_that_is_in_pieces_beside_a_large_neighbour_is_the_neighbours_matter_too() {
    let log = torch("20.00 MiB", "79.15", "14.00 MiB", &format!("Process 55 has 75.00 GiB memory in use. {}", own("4.10")), "3.40", "61.00 MiB");
    let report = report(&log);
    assert_eq!((report.verdict, report.also.as_slice()), (Verdict::Fragmented, [Verdict::OtherProcess].as_slice()));
    assert_eq!(advise(&report).first[0].remedy, Remedy::LeaveOthers);
    has(
        &answer(&log),
        &[
            "But process 55 holds 75.0 GiB of the card's 79.2.",
            "process 55 75.0",
            "1 An emptier GPU: process 55 holds 75.0 of this one. vramtop shows",
        ],
    );
    // 70.44 of 79.15 are 89 % of the card.
    let most = torch("20.00 MiB", "79.15", "14.00 MiB", &format!("Process 55 has 7.90 GiB memory in use. {}", own("71.20")), "70.44", "61.00 MiB");
    assert_eq!((self::report(&most).verdict, self::report(&most).also), (Verdict::Fragmented, vec![Verdict::FullSelf]));
    // 17.06 stuck are more than a neighbour's 12.00: the allocator comes first, the neighbour then.
    let stuck =
        torch("14.20 GiB", "79.15", "9.00 GiB", &format!("Process 55 has 12.00 GiB memory in use. {}", own("58.10")), "40.44", "17469.44 MiB");
    let first: Vec<Remedy> = advise(&self::report(&stuck)).first.iter().map(|step| step.remedy).collect();
    assert_eq!(first[..2], [Remedy::Expandable, Remedy::LeaveOthers]);
}

/// 13.60 + 0.0625 of 15.91 leave 2.25 at the most, so 6.00 were 3.75 short at the least.
#[test]
fn what_a_text_does_not_tell_is_not_said_to_be_nothing() {
    let xpu = |tried: &str, live: &str| {
        format!(
            "torch.OutOfMemoryError: XPU out of memory. Tried to allocate {tried} GiB. GPU 0 has a total capacity of 15.91 GiB. Of the allocated memory {live} \
             GiB is allocated by PyTorch, and 64.00 MiB is reserved by PyTorch but unallocated. Please use `empty_cache` to release all unoccupied cached \
             memory.\n"
        )
    };
    let large = answer(&xpu("6.00", "13.60"));
    has(
        &large,
        &["6.0 GiB at once with 13.7 of its own already on the card. At least 3.8 GiB short.", "(at least 3.8 short at this step)", "▒░ 2.2 "],
    );
    let small = answer(&xpu("0.50", "15.60"));
    has(&small, &["Its own live tensors fill the card: 15.6 GiB of 15.9. It asked for 0.5 GiB. Not the cache (64 MiB).", "(at least 0.3 short"]);
    for answer in [large, small] {
        assert!(!answer.contains("free"), "{answer}");
    }
    // 17.90 + 1.00 + 0.25 = 19.15. What Metal has in all, or free, is not in the text.
    let mps = answer(include_str!("more/02-mps.txt"));
    has(
        &mps,
        &[
            "17.90 live + 1.00 other allocations + 0.25 asked = 19.15 > 18.13 allowed.",
            "1 PYTORCH_MPS_HIGH_WATERMARK_RATIO, or torch.mps.set_per_process_memory_fraction, higher: it stops this process at 18.1.",
        ],
    );
    assert!(!mps.contains("0.00") && !mps.contains("has room"), "{mps}");
}

/// 1.96 − 1.90 is 61 MiB, though what the process had a moment before makes another sum.
#[test]
fn what_is_short_is_one_figure_in_the_whole_answer() {
    let log = torch("1.96 GiB", "79.10", "1.90 GiB", &own("77.76"), "76.90", "61.00 MiB");
    let answer = answer(&log);
    has(&answer, &["77.76 its own of 79.10; 1.96 asked − 1.90 free = 61.44 MiB short.", "(61 MiB short at this step)"]);
    assert!(!answer.contains("79.72"), "{answer}");
}

/// 20.10 of 79.15 free and 71.23 wanted: a quarter of the card is no engine. 43.11 of 47.40 and 43.61 wanted: a hundredth lower is enough.
#[test]
fn an_engine_that_is_far_short_needs_the_card_and_one_just_short_a_lower_share() {
    let of = |free: &str, fraction: &str| {
        format!(
            "ValueError: Free memory on device ({free} GiB) on startup is less than desired GPU memory utilization ({fraction} GiB). Decrease GPU memory \
             utilization or reduce GPU memory used by other processes.\n"
        )
    };
    let far = answer(&of("20.10/79.15", "0.9, 71.23"));
    has(&far, &["Change first 1 Free the card first: an engine that is still exiting", "2 Or --gpu-memory-utilization 0.24 fits what is free now"]);
    let near = answer(&of("43.11/47.40", "0.92, 43.61"));
    has(&near, &["Change first 1 --gpu-memory-utilization 0.89 fits what is free now", "2 Or free the card first"]);
}
