//! What is printed for the real snapshot and the known tables.

use unicode_width::UnicodeWidthStr;

use super::*;
use crate::inside::{loglines, snapshot as torch, summary as table};
use crate::model::{Bytes, SafeText};
use crate::output::explain::ExplainLook;

const LOOK: ExplainLook = ExplainLook { width: 100, ascii: false, colors: false };

fn h200() -> torch::Snapshot {
    let packed = include_bytes!("../../../tests/explain/snapshot.pickle.gz");
    torch::read(flate2::read::GzDecoder::new(&packed[..])).expect("the real snapshot")
}

fn printed(look: ExplainLook, asked: Option<Bytes>) -> String {
    let read = h200();
    snapshot(&SafeText::new("snapshot.pickle"), &read, &torch::examine(&read, asked), look)
}

#[test]
fn the_h200_as_a_page() {
    insta::assert_snapshot!("h200", printed(LOOK, Some(Bytes::gib(2))));
}

#[test]
fn the_h200_in_ascii_and_80_columns() {
    let page = printed(ExplainLook { width: 80, ascii: true, ..LOOK }, Some(Bytes::mib(11)));
    assert!(page.is_ascii());
    insta::assert_snapshot!("h200-ascii", page);
}

/// The story of `tests/explain/make.py`: pools, streams, a growing segment, places, a request that failed.
#[test]
fn the_story_as_a_page() {
    let read = torch::read(include_bytes!("../../../tests/explain/story-4.pickle").as_slice()).expect("the story");
    insta::assert_snapshot!("story", snapshot(&SafeText::new("story.pickle"), &read, &torch::examine(&read, Some(Bytes::mib(70))), LOOK));
}

#[test]
fn no_line_is_longer_than_the_screen() {
    for width in [20, 40, 63, 80, 120, 200] {
        let page = printed(ExplainLook { width, ..LOOK }, Some(Bytes::gib(2)));
        // A setting that is wider than the screen is left whole, for copying.
        let longest = page.lines().filter(|line| !line.contains("PYTORCH_CUDA_ALLOC_CONF=")).map(UnicodeWidthStr::width).max();
        assert!(longest <= Some(width.max(40)), "{longest:?} of {width}\n{page}");
    }
}

#[test]
fn colours_are_the_only_difference() {
    let coloured = printed(ExplainLook { colors: true, ..LOOK }, None);
    assert!(coloured.contains("\u{1b}[36m"));
    let mut plain = coloured;
    for code in ["\u{1b}[36m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[0m"] {
        plain = plain.replace(code, "");
    }
    assert_eq!(plain, printed(LOOK, None));
}

#[test]
fn the_h200_as_json() {
    let read = h200();
    let json = snapshot_json(&SafeText::new("snapshot.pickle"), &read, &torch::examine(&read, Some(Bytes::gib(2))));
    let device = &json["devices"][0];
    assert_eq!(device["verdict"], "fragmented");
    assert_eq!(device["layers"]["tensors"], 6_341_011_456_u64);
    assert_eq!(device["layers"]["stuck"], 7_680_546_816_u64);
    assert_eq!(device["layers"]["reserved"], 14_021_558_272_u64);
    assert_eq!(device["fit"]["fits"], serde_json::Value::Null);
    assert_eq!(device["fit"]["at_least_free"], 2_u64 << 30);
    assert_eq!(device["timeline"]["peak"], 6_345_010_432_u64);
    assert_eq!(json["settings"]["expandable_segments"], false);
}

#[test]
fn tables_and_notes() {
    let mut reader = table::Reader::new();
    let texts = [
        include_str!("../../../tests/explain/summary-h200.txt"),
        include_str!("../../../tests/explain/torch-memory-summary-2020.txt"),
        include_str!("../../../tests/explain/torch-memory-summary-2024.txt"),
    ];
    texts.iter().flat_map(|text| text.lines()).for_each(|line| reader.line(line.as_bytes()));
    let name = SafeText::new("job.log");
    let mut out = String::new();
    for read in reader.finish().0 {
        out.push_str(&summary(&name, &read, LOOK));
        out.push('\n');
        let json = summary_json(&name, &read);
        assert_eq!(json["type"], "memory_summary");
        assert!(json["reserved_bytes"]["all"]["current"].is_u64());
    }
    let mut lines = loglines::Reader::new();
    for line in [
        "[INFO] [utils.py:786:see_memory_usage] MA 12.5 GB         Max_MA 14.25 GB         CA 15.0 GB         Max_CA 16 GB ",
        "model weights take 5.43GiB; non_torch_memory takes -0.50GiB; PyTorch activation peak memory takes 1.25GiB; the rest of the memory reserved for KV Cache is -0.75GiB.",
        "Available KV cache memory: unknown",
        "{'train_mem_gpu_alloc_delta': 726663168, 'train_mem_gpu_peaked_delta': 7340032}",
    ] {
        lines.line(line.as_bytes());
    }
    for found in lines.finish() {
        out.push_str(&note(&name, &found, LOOK));
        assert_eq!(notes_json(&name, &found)["type"], "tool");
    }
    insta::assert_snapshot!("tables", out);
}
