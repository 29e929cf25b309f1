//! `vramtop doctor` over the fake driver: what it finds, how it ends, and that it tells nobody's name.
#![expect(clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod common;

use std::fs;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use common::alone;
use serde_json::Value;
use tempfile::TempDir;

/// The user, the home and the UUID that must not be told.
const HOME: &str = "/home/ada-lovelace";

struct Machine(TempDir);

impl Machine {
    fn named(name: &str) -> Self {
        Self::of(&fs::read_to_string(common::scenario(name)).expect("scenario"))
    }

    fn of(toml: &str) -> Self {
        let folder = tempfile::tempdir().expect("temporary folder");
        fs::write(folder.path().join("scenario.toml"), toml).expect("scenario");
        fs::write(folder.path().join("time"), "3").expect("time");
        Self(folder)
    }

    fn doctor(&self, args: &[&str]) -> Command {
        let scenario = self.0.path().join("scenario.toml");
        let library = fake_nvml::library_for(&scenario, self.0.path()).expect("the fake library");
        let mut command = doctor(args);
        command.arg("--nvml-library").arg(library);
        command.env("FAKE_NVML_SCENARIO", scenario).env("FAKE_NVML_TIME", self.0.path().join("time"));
        command
    }

    /// The report as JSON and as text, and the exit code, which is the same.
    fn report(&self, code: i32) -> (Value, String) {
        let json = said(&mut self.doctor(&["--format", "json"]), code);
        let text = said(&mut self.doctor(&[]), code);
        (parsed(&json), text)
    }
}

fn doctor(args: &[&str]) -> Command {
    let mut command = alone(&["doctor"]);
    command.args(args).env("HOME", HOME).env("USER", "ada-lovelace").env("TERM", "xterm-256color").env_remove("COLORTERM");
    command
}

/// What it prints. Nothing goes to stderr, and nothing that it prints is private.
#[track_caller]
fn said(command: &mut Command, code: i32) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    let (out, err) = (String::from_utf8(stdout).expect("UTF-8"), String::from_utf8(stderr).expect("UTF-8"));
    assert_eq!((status.code(), err.as_str()), (Some(code), ""), "{out}");
    let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("hostname");
    for private in ["ada-lovelace", "GPU-00000000-", "GPU-1234567", host.trim()] {
        assert!(private.len() < 4 || !out.contains(private), "{private} is told: {out}");
    }
    out
}

fn parsed(text: &str) -> Value {
    assert_eq!(text.lines().count(), 1);
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// One call of one GPU.
fn call<'v>(report: &'v Value, gpu: usize, name: &str) -> &'v Value {
    let calls = report["gpus"][gpu]["calls"].as_array().expect("calls");
    calls.iter().find(|call| call["call"] == name).unwrap_or_else(|| panic!("no call {name}: {report}"))
}

#[test]
fn a_healthy_card() {
    let toml = fs::read_to_string(common::scenario("h200-one")).expect("scenario");
    let uuid = "uuid = \"GPU-12345678-1234-1234-1234-123456789abc\"\n";
    let (report, text) = Machine::of(&toml.replace("[[gpu]]\n", &format!("[[gpu]]\n{uuid}"))).report(0);
    assert_eq!((report["type"].as_str(), report["schema"].as_u64(), report["outcome"].as_str()), (Some("doctor"), Some(1), Some("works")));
    assert_eq!(report["verdict"], "works here: 1 GPU answers");
    assert!(text.starts_with("vramtop 0.1.0 works here: 1 GPU answers.\n"), "{text}");
    let gpu = &report["gpus"][0];
    assert_eq!((gpu["label"].as_str(), gpu["name"].as_str(), gpu["uuid"].as_str()), (Some("0"), Some("NVIDIA H200"), Some("GPU-1234…")));
    // Measured on the card: a memory query takes 7 µs idle and 25 µs busy, PCIe traffic sleeps for 21 ms.
    let memory = call(&report, 0, "memory");
    assert_eq!((memory["version"].as_str(), memory["answer"].as_str()), (Some("v2"), Some("answers")));
    assert!(memory["second_us"].as_u64().expect("time") >= 7);
    assert!(call(&report, 0, "PCIe traffic")["first_us"].as_u64().expect("time") >= 20_000);
    assert_eq!(call(&report, 0, "compute list")["version"], "v3");
    assert_eq!(call(&report, 0, "fan")["answer"], "not supported");
    assert_eq!(report["processes"]["listed"], 3);
    // One screen, and no wider than can be pasted.
    assert!(text.lines().count() <= 40, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("TERM xterm-256color · locale C.UTF-8 · 256 colours, Unicode"), "{text}");
}

#[test]
fn an_old_driver_answers_by_older_calls() {
    let (report, _) = Machine::named("old-418").report(0);
    assert_eq!(report["driver"]["driver"], "418.226.00");
    assert_eq!(call(&report, 0, "memory")["version"], "v1");
    assert_eq!(call(&report, 0, "compute list")["version"], "v1");
    let (report, _) = Machine::of("[driver]\nversion = \"470.256.02\"\nsymbols = \"old470\"\n[[gpu]]\n").report(0);
    assert_eq!(call(&report, 0, "memory")["version"], "v1");
    assert_eq!(call(&report, 0, "compute list")["version"], "v2");
}

#[test]
fn what_is_not_permitted_is_named() {
    let (report, text) = Machine::named("no-permission").report(0);
    assert_eq!(call(&report, 0, "power")["answer"], "not permitted");
    assert_eq!(call(&report, 0, "process use")["answer"], "not permitted");
    assert_eq!(call(&report, 1, "compute list")["answer"], "not permitted");
    assert_eq!(call(&report, 0, "power")["second_us"], Value::Null);
    let first = text.lines().next().expect("a line");
    assert!(first.contains("2 GPUs answer; not permitted: ") && first.contains("power"), "{first}");
    assert!(text.contains("sudo vramtop doctor"), "{text}");
}

/// A call that never returns costs five seconds and the rest of its GPU's questions, and no other GPU's.
#[test]
fn a_call_that_hangs_is_given_up_on() {
    let began = Instant::now();
    let report = parsed(&said(&mut Machine::named("hang").doctor(&["--format", "json"]), 5));
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(report["outcome"], "some-unreadable");
    assert_eq!(call(&report, 0, "memory")["answer"], "answers");
    assert_eq!(call(&report, 0, "temperature")["answer"], "no answer in 5 s");
    assert_eq!(call(&report, 0, "power")["answer"], "not asked");
    assert_eq!(call(&report, 1, "temperature")["answer"], "answers");
}

#[test]
fn a_card_that_hangs_while_it_is_opened_is_named() {
    let machine = Machine::of("[[gpu]]\n[[fault]]\ncall = \"uuid\"\nhang = true\n");
    let report = parsed(&said(&mut machine.doctor(&["--format", "json"]), 1));
    assert_eq!((report["outcome"].as_str(), report["gpus"][0]["error"].as_str()), (Some("silent"), Some("no answer in 5 s (uuid)")));
}

#[test]
fn without_a_driver_the_report_is_printed_all_the_same() {
    let text = said(&mut doctor(&["--nvml-library", &format!("{HOME}/lib/libnvidia-ml.so.1")]), 3);
    assert!(text.starts_with("vramtop 0.1.0 does not work here: no usable NVIDIA driver library.\n"), "{text}");
    assert!(text.contains("library     none; tried ~/lib/libnvidia-ml.so.1\n"), "{text}");
    assert!(text.contains("to do ") && text.contains("settings "), "{text}");
    let init = |error: &str| Machine::of(&format!("[[fault]]\ncall = \"init\"\nerror = \"{error}\"\n"));
    let (report, text) = init("DriverNotLoaded").report(3);
    assert_eq!((report["driver"]["state"].as_str(), report["outcome"].as_str()), (Some("refused"), Some("no-driver")));
    assert!(text.contains("modprobe nvidia"), "{text}");
    let (report, _) = init("NoPermission").report(4);
    assert_eq!(report["outcome"], "not-permitted");
    let (report, text) = Machine::named("no-gpus").report(3);
    assert_eq!(report["gpus"], Value::Array(Vec::new()));
    assert!(text.contains("--gpus all"), "{text}");
}

#[test]
fn one_of_two_lost_is_5() {
    let (report, text) = Machine::of("[[gpu]]\nrepeat = 2\n[[fault]]\ncall = \"*\"\ngpu = 1\nerror = \"GpuLost\"\n").report(5);
    assert_eq!(report["outcome"], "some-unreadable");
    assert!(text.contains("GPU 1       cannot be opened: GPU 1: GPU is lost"), "{text}");
}

#[test]
fn instances_are_asked_what_they_can_answer() {
    let (report, _) = Machine::named("mig").report(0);
    let labels: Vec<_> = report["gpus"].as_array().expect("GPUs").iter().map(|gpu| gpu["label"].as_str().expect("text")).collect();
    assert!(labels.contains(&"0") && labels.contains(&"0.0"), "{labels:?}");
    let instance = report["gpus"].as_array().expect("GPUs").iter().find(|gpu| gpu["label"] == "0.0").expect("an instance");
    assert_eq!(instance["calls"].as_array().map(Vec::len), Some(4));
}

/// A path below the home is as short in its column as it is told.
#[test]
fn settings_stand_in_columns() {
    let machine = Machine::named("h200-one");
    let text = said(&mut machine.doctor(&["--log-file", &format!("{HOME}/x.log"), "--theme", "light"]), 0);
    let origin = |setting: &str| text.lines().find(|line| line.contains(setting)).and_then(|line| line.find(" flag"));
    assert!(origin("~/x.log").is_some() && origin("~/x.log") == origin("  theme "), "{text}");
}

/// Wrong settings are part of the report, and its exit code where all else is well.
#[test]
fn wrong_settings_are_reported() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("config.toml");
    fs::write(&file, "interval = 0\n").expect("file");
    let text = said(&mut Machine::named("h200-one").doctor(&["--config", file.to_str().expect("UTF-8")]), 2);
    assert!(text.contains("works here: 1 GPU answers; but its settings are wrong"), "{text}");
    assert!(text.contains("config.toml:1: interval: give 0.1 to"), "{text}");
}

#[test]
fn in_ascii_it_has_nothing_else() {
    let text = said(Machine::named("h200-one").doctor(&[]).env("LANG", "C"), 0);
    assert!(text.is_ascii(), "{text}");
}
