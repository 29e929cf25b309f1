//! Recordings on the screen: one that the program itself wrote, and the one that is built in.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::scenario;
use crate::session::{Session, vramtop};

/// Twenty samples of the fake driver, 50 ms apart, written by the program itself.
fn record(into: &Path) {
    let status = Command::new(env!("CARGO_BIN_EXE_vramtop"))
        .args(["-l", "0.05", "-n", "20", "--format", "json", "-o"])
        .arg(into)
        .arg("--nvml-library")
        .arg(fake_nvml::library_path())
        .env("FAKE_NVML_SCENARIO", scenario("two-h200-jobs"))
        .status()
        .expect("the program starts");
    assert!(status.success());
}

/// The same recording at a hundredth of its pace, so that there is time to press keys.
fn slow_down(recording: &Path) {
    let text = fs::read_to_string(recording).expect("recording");
    let slow = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        if let Some(ms) = line.get("elapsed_ms").and_then(Value::as_u64) {
            line["elapsed_ms"] = (ms * 100).into();
        }
        format!("{line}\n")
    });
    fs::write(recording, slow.collect::<String>()).expect("recording");
}

fn replay(recording: &Path) -> Session {
    // Over a driver that is not there: nothing but the recording may be asked.
    Session::start(vramtop_alone(&["replay", recording.to_str().expect("UTF-8")]))
}

fn vramtop_alone(args: &[&str]) -> portable_pty::CommandBuilder {
    let mut command = vramtop(Path::new("/nonexistent"), args);
    command.get_argv_mut().drain(1..3);
    command
}

#[test]
fn a_recording_plays_to_its_end_and_stays_on_the_screen() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let recording = folder.path().join("run.jsonl");
    record(&recording);
    let mut session = replay(&recording);
    session.see("2 × NVIDIA H200");
    session.see("5000020");
    session.see("ended");
    session.see("5000020");
    session.keys("?");
    session.see("READING THE SCREEN");
    session.keys("\x1b");
    session.see_no("READING THE SCREEN");
    session.see("5000020");
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));
}

/// As a shell's `<(zcat run.jsonl.gz)` gives it: a path that can be read once.
#[test]
fn a_pipe_is_replayed_as_a_file_is() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (recording, pipe) = (folder.path().join("run.jsonl"), folder.path().join("pipe"));
    record(&recording);
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let into = pipe.clone();
    // It waits for a reader, and ends with it.
    let writer = std::thread::spawn(move || fs::copy(recording, into));
    let mut session = replay(&pipe);
    session.see("5000020");
    session.see("ended");
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));
    writer.join().expect("no panic").expect("written");
}

#[test]
fn space_pauses_a_replay_and_goes_on() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let recording = folder.path().join("run.jsonl");
    record(&recording);
    slow_down(&recording);
    let mut session = replay(&recording);
    session.see("● replay");
    session.keys(" ");
    session.see("● paused");
    session.keys("+");
    session.see("×2");
    session.keys(" ");
    session.see("● replay");
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn what_is_no_recording_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("notes.txt");
    fs::write(&file, "not a recording\n").expect("file");
    let ended = replay(&file).end();
    assert_eq!(ended.code(), Some(1));
    let said = ended.after_leaving();
    assert!(said.contains("vramtop: not a recording"), "{said}");
}

#[test]
fn the_demo_needs_no_driver() {
    let mut session = Session::start(vramtop_alone(&["demo"]));
    session.see("NVIDIA");
    session.see("● replay");
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));
}
