//! The program itself: streams, forms, exit codes, and how the answers read.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::answers::cases;
use crate::common::alone;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/explain/oom-texts");

fn explain(args: &[&str]) -> Command {
    let mut command = alone(&["explain", "--no-device"]);
    command.args(args);
    command
}

pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What it prints over an input on stdin.
pub(crate) fn piped(args: &[&str], input: &[u8]) -> Output {
    let mut child = explain(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(input).expect("it reads to the end");
    child.wait_with_output().expect("own child")
}

/// Whole answers, read by eye against the mock-ups: one of each kind that people meet most.
#[test]
fn answers_read_as_they_should() {
    for name in [
        "04-torch110-split-fragmented",
        "10-torch22-other-process",
        "11-torch22-container-own-pid",
        "12-torch25-fragmented-expandable",
        "13-torch25-rank-full-self",
        "14-torch25-too-big",
        "15-torch25-private-pools",
        "16-torch27-allowed-with-other",
        "22-torch-cuda-error-oom",
        "25-torch-dataloader-shm",
        "49-vllm-free-below-target",
    ] {
        let output = explain(&[&format!("{name}.txt")]).current_dir(FOLDER).output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{name}");
        insta::assert_snapshot!(name, text(&output));
    }
}

/// Those that a reader could take for something else: another's PID that is one's own, graphs, what others hide, a host's shortage.
#[test]
fn answers_say_who_has_the_rest() {
    for (folder, name) in [
        ("eras", "06-comfyui-allocation"),
        ("eras", "27-exit-137"),
        ("eras", "29-ollama-too-large-for-system"),
        ("eras", "34-torch-host-pid-outside"),
        ("eras", "35-torch-hidden-others"),
        ("h200", "01-graph"),
        ("h200", "03-fraction"),
    ] {
        let folder = format!("{}/tests/explain/{folder}", env!("CARGO_MANIFEST_DIR"));
        let output = explain(&[&format!("{name}.txt")]).current_dir(folder).output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{name}");
        insta::assert_snapshot!(name, text(&output));
    }
}

#[test]
fn one_failure_of_many_ranks_is_one_answer_and_an_object_each() {
    let of = |rank: u32, device: u32| {
        format!(
            "[rank{rank}]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.46 GiB. GPU {device} has a total capacity of 79.10 GiB of which \
             121.56 MiB is free. Including non-PyTorch memory, this process has 78.97 GiB memory in use. Of the allocated memory 76.88 GiB is allocated by \
             PyTorch, and 402.31 MiB is reserved by PyTorch but unallocated.\n"
        )
    };
    let two = of(1, 1) + &of(0, 0);
    let answer = text(&piped(&[], two.as_bytes()));
    assert!(answer.starts_with("stdin:1  GPU 1 · rank 1, and GPU 0 · rank 0: torch · 2 times"), "{answer}");
    assert_eq!(answer.matches("Change first").count(), 1);
    assert!(!answer.contains("Then"), "{answer}");
    let eight: String = (0..8).map(|rank| of(rank, rank)).collect();
    let answer = text(&piped(&[], eight.as_bytes()));
    assert!(answer.contains("GPU 3 · rank 3, and 4 more: torch · 8 times"), "{answer}");
    assert_eq!(text(&piped(&["--format", "json"], eight.as_bytes())).lines().count(), 8);
}

#[test]
fn json_has_one_object_a_text_with_the_columns_of_the_answers() {
    let wanted = cases("oom-texts");
    let files: Vec<String> = wanted.iter().map(|case| format!("{FOLDER}/{}", case.file)).collect();
    let mut args = vec!["--format", "json"];
    args.extend(files.iter().map(String::as_str));
    let output = explain(&args).output().expect("it starts");
    let objects: Vec<Value> = text(&output).lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(objects.len(), wanted.len());
    let mut columns: Vec<&str> = wanted[0].row.iter().map(|(name, _)| name.as_str()).chain(["line", "count"]).collect();
    columns.sort_unstable();
    for (object, case) in objects.iter().zip(&wanted) {
        let mut keys: Vec<&str> = object.as_object().expect("an object").keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, columns);
        assert_eq!((&object["file"], &object["verdict"]), (&Value::from(case.file.as_str()), &Value::from(case.verdict.as_str())));
        assert_eq!(object["capacity"].is_null(), case.wanted("capacity").is_empty(), "{}", case.file);
    }
    // The two sentinels are words, not figures.
    let of = |name: &str| objects.iter().find(|object| object["file"] == name).expect("there");
    assert_eq!(of("18-torch-wsl-sentinel.txt")["this_process"], "NA");
    assert_eq!(of("20-torch-malloc-async-block.txt")["allowed"], "unlimited");
}

#[test]
fn stdin_and_packed_files_are_read_too() {
    let log = fs::read(format!("{FOLDER}/14-torch25-too-big.txt")).expect("there");
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&log).expect("memory takes everything");
    for input in [log.clone(), packed.finish().expect("memory")] {
        for args in [&[][..], &["-"]] {
            let output = piped(args, &input);
            assert_eq!(output.status.code(), Some(0));
            assert!(text(&output).starts_with("stdin:1  GPU 0, torch"), "{}", text(&output));
        }
    }
}

#[test]
fn nothing_found_is_a_no_and_says_what_was_looked_for() {
    let output = piped(&[], b"epoch 1 loss 2.3\n");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), text(&output).as_str()), (Some(1), ""));
    assert!(said.contains("no out-of-memory text") && said.contains("torch") && said.contains("tee job.log"), "{said}");
    let missing = explain(&["/nonexistent/job.log"]).output().expect("it starts");
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot read /nonexistent/job.log"));
}

#[test]
fn ascii_and_no_colours_where_they_are_asked_for() {
    let file = format!("{FOLDER}/12-torch25-fragmented-expandable.txt");
    let plain = text(&explain(&[&file, "--ascii"]).output().expect("it starts"));
    assert!(plain.is_ascii() && plain.contains("[# live 6.0 ") && plain.contains("17.06 >= 14.20"), "{plain}");
    let coloured = text(&explain(&[&file, "--color", "always"]).env("TERM", "xterm-256color").output().expect("it starts"));
    assert!(coloured.contains("\u{1b}[1mfragmented\u{1b}[0m"), "{coloured}");
    let narrow = text(&explain(&[&file]).env("COLUMNS", "60").output().expect("it starts"));
    assert!(narrow.lines().all(|line| line.chars().count() <= 62), "{narrow}");
}

/// What a log says cannot act on the terminal.
#[test]
fn names_from_a_log_are_harmless() {
    let output = piped(&[], b"device: NVIDIA A100 MIG 1g.10gb\x1b]0;x\x07\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 30.00 GiB. GPU 0 has a total capacity of 9.50 GiB of which 1.03 GiB is free.\n");
    assert!(!text(&output).contains('\u{1b}'), "{}", text(&output));
}

/// A recording of two steps: 60.8 GiB, then a moment at 100.8 within the second step.
#[test]
fn a_recording_shows_what_the_text_cannot() {
    const GIB: u64 = 1 << 30;
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("run.jsonl");
    let output = Command::new("sh")
        .args(["-c", "zcat assets/demo.jsonl.gz | head -c 3000000 > \"$0\""])
        .arg(&path)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    assert!(output.expect("sh").success());
    let alone = explain(&[path.to_str().expect("UTF-8")]).output().expect("it starts");
    assert_eq!(alone.status.code(), Some(0), "{}", String::from_utf8_lossy(&alone.stderr));
    assert!(text(&alone).contains("a recording") && text(&alone).contains("GPU 0 (NVIDIA H200)"), "{}", text(&alone));
    let log = format!("{}/tests/explain/h200/05-full.txt", env!("CARGO_MANIFEST_DIR"));
    let beside = text(&explain(&[&log, "--recording", path.to_str().expect("UTF-8")]).output().expect("it starts"));
    assert!(beside.contains("Also seen  (recording ") && beside.contains("the log has no time"), "{beside}");
    let lines = text(&explain(&[path.to_str().expect("UTF-8"), "--format", "json"]).output().expect("it starts"));
    let peak: Value = serde_json::from_str(lines.lines().next().expect("a line")).expect("an object");
    assert!(peak["used"].as_u64().expect("bytes") > GIB && peak["capacity"] == 150_109_880_320_u64, "{peak}");
}

/// Two H200s at their tenth second: 74 GiB of two jobs on the first, 32 GiB on the second. The text is of one of that size, and its number is
/// CUDA's; process 5000010 is on one of them alone.
#[test]
fn what_the_device_shows_now_is_told_of_the_card_that_is_meant() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let scenario = folder.path().join("scenario.toml");
    fs::copy(crate::common::scenario("two-h200-jobs"), &scenario).expect("scenario");
    fs::write(folder.path().join("time"), "10").expect("time");
    let library = fake_nvml::library_for(&scenario, folder.path()).expect("the fake library");
    let said = |text: &str| {
        let log = folder.path().join("job.log");
        fs::write(&log, text).expect("written");
        let mut command = alone(&["explain", "--nvml-library"]);
        command.arg(&library).arg(&log).env("FAKE_NVML_SCENARIO", &scenario).env("FAKE_NVML_TIME", folder.path().join("time"));
        let output = command.output().expect("it starts");
        let answer = text_of_words(&output);
        answer.split_once("Also seen").map_or(String::new(), |(_, also)| also.to_owned())
    };
    let neighbour = fs::read_to_string(format!("{}/tests/explain/h200/02-neighbour.txt", env!("CARGO_MANIFEST_DIR"))).expect("there");
    let named = said(&neighbour.replace("Process 578", "Process 5000010").replace("GPU 0", "GPU 1"));
    assert!(named.contains("after the fact) GPU 0 (GPU-") && named.contains("is meant: process 5000010, which the text names, is on it."), "{named}");
    assert!(named.contains("(5000010) 50.0 ·") && named.contains("(5000020) 24.0"), "{named}");
    let unnamed = said(&neighbour);
    assert!(unnamed.contains("The text says GPU 0, which is CUDA's number and not the driver's: it can be GPU 0 (GPU-"), "{unnamed}");
    // A program that never asked the card has nothing to do with what it shows.
    assert_eq!(said("Error: model requires more system memory (37.4 GiB) than is available (21.9 GiB)\n"), "");
}

/// Without line breaks.
fn text_of_words(output: &Output) -> String {
    text(output).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_verdict_is_explained_in_the_guide() {
    let guide = include_str!("../../assets/guide/explain.md");
    for verdict in vramtop::inside::oom::Verdict::ALL {
        assert!(guide.contains(&format!("\n### {}\n", verdict.word())), "the guide has no heading {}", verdict.word());
    }
    for facts in vramtop::inside::advice::REMEDIES {
        let row =
            format!("| {} | {} | {} | {} | [source]({}) |", facts.name, facts.how.replace('|', "\\|"), facts.not_when, facts.costs, facts.source);
        assert!(guide.contains(&row), "the guide lacks the row\n{row}");
    }
}
