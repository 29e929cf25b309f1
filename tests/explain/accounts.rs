//! The program over what an allocator says of itself: snapshots, tables and lines of tools. What they come to is tested beside the readers.

use std::process::Output;

use serde_json::Value;

use crate::common::alone;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/explain");

fn explain(args: &[&str]) -> Output {
    alone(&["explain", "--no-device"]).args(args).current_dir(FOLDER).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_snapshot_is_recognised_packed_or_not() {
    let packed = explain(&["snapshot.pickle.gz"]);
    assert_eq!(packed.status.code(), Some(0));
    let page = text(&packed.stdout);
    assert!(page.lines().next().is_some_and(|line| line.starts_with("snapshot.pickle.gz  GPU 0") && line.ends_with("fragmented")), "{page}");
    assert!(page.contains("668 segments"), "{page}");
    let old = explain(&["--format", "json", "story-0.pickle", "story-list.pickle"]);
    let objects: Vec<Value> = text(&old.stdout).lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(objects.iter().map(|object| &object["type"]).collect::<Vec<_>>(), ["snapshot", "snapshot"]);
    assert_eq!(objects[0]["devices"][0]["layers"], objects[1]["devices"][0]["layers"]);
}

#[test]
fn a_pickle_that_wants_to_run_code_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().expect("a folder");
    for (bytes, says) in [
        (b"\x80\x04cposix\nsystem\n\x94.".as_slice(), "wants to run code"),
        (b"\x80\x04]\x94(".as_slice(), "byte 5 in the middle"),
        (b"\x80\x04K\x05.".as_slice(), "is no torch memory snapshot"),
    ] {
        let path = folder.path().join("file.pickle");
        std::fs::write(&path, bytes).expect("written");
        let output = explain(&[path.to_str().expect("a path")]);
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.is_empty() && text(&output.stderr).contains(says), "{}", text(&output.stderr));
    }
}

#[test]
fn tables_and_lines_of_tools_are_found_in_a_log() {
    let tables = text(&explain(&["torch-memory-summary-2020.txt"]).stdout);
    assert!(tables.starts_with("torch-memory-summary-2020.txt:2  GPU 0, torch memory summary"), "{tables}");
    let json: Value = serde_json::from_str(&text(&explain(&["--format", "json", "summary-h200.txt"]).stdout)).expect("one object");
    assert_eq!(json["layers"]["stuck"], 7324_u64 << 20);
}

#[test]
fn an_amount_that_is_none_is_wrong_usage() {
    for amount in ["2 apples", "-1", "", "0", "GiB", "1e400"] {
        assert_eq!(explain(&["--fit", amount, "story-4.pickle"]).status.code(), Some(2), "{amount}");
    }
}
