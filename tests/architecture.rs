//! Holds the table of ARCHITECTURE.md: which layer may use which. Read from the imports, so that it cannot drift.

#![allow(clippy::expect_used, reason = "a test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Layer, and the layers that it may use beside itself.
const MAY_USE: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("history", &["model"]),
    ("insight", &["model", "history"]),
    ("monitor", &["model", "history", "insight"]),
    ("record", &["model", "monitor"]),
    ("config", &["model"]),
    ("inside", &["model"]),
    ("collect", &["model", "record", "config"]),
    ("act", &["model"]),
    ("doctor", &["model", "collect", "config"]),
    ("output", &["model", "history", "insight", "monitor", "record", "inside"]),
    ("app", &["model", "history", "insight", "monitor", "config"]),
    ("view", &["model", "history", "insight", "monitor", "app"]),
    (
        "command",
        &["model", "history", "insight", "monitor", "record", "inside", "collect", "config", "act", "doctor", "output", "app", "view", "cli", "exit"],
    ),
    ("cli", &["config"]),
    ("exit", &["model", "collect", "config"]),
];

/// Files of 100 to 400 lines have one reason to exist; beyond this one is sure to have two.
const MOST_LINES: usize = 500;

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("source folder") {
        let path = entry.expect("entry").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

/// The names that follow `crate::` in a source text.
fn uses(text: &str) -> BTreeSet<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    code.split("crate::")
        .skip(1)
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>())
        .filter(|name| !name.is_empty())
        .collect()
}

fn layer_of(root: &Path, path: &Path) -> String {
    let first = path.strip_prefix(root).expect("below src").components().next().expect("a name");
    first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned()
}

#[test]
fn layers_use_only_what_lies_below() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut wrong = Vec::new();
    for path in &files {
        let layer = layer_of(&root, path);
        if layer == "lib" || layer == "main" {
            continue;
        }
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == layer) else {
            wrong.push(format!("{layer} is a layer without a row in the table"));
            continue;
        };
        for used in uses(&fs::read_to_string(path).expect("readable")) {
            if used != layer && !allowed.contains(&used.as_str()) {
                wrong.push(format!("{} uses {used}", path.strip_prefix(&root).expect("below src").display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_says_what_it_is_for_and_stays_readable() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    for path in files {
        let text = fs::read_to_string(&path).expect("readable");
        assert!(text.starts_with("//!"), "{} does not open with what it is for", path.display());
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "{} has {lines} lines", path.display());
    }
}

#[test]
fn unsafe_code_stands_in_one_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let with: Vec<_> = files.iter().filter(|path| fs::read_to_string(path).expect("readable").contains("unsafe {")).collect();
    let named: Vec<_> = with.iter().map(|path| path.strip_prefix(&root).expect("below src").to_string_lossy().into_owned()).collect();
    assert_eq!(named, ["collect/nvml/raw.rs"]);
}
