//! The judgement, over facts that are made here.

use super::super::driver::{DriverFacts, Processes};
use super::super::machine::{DeviceFile, Machine};
use super::super::{Call, Settings, Terminal};
use super::*;

fn call(name: &'static str, answer: Answer) -> Call {
    Call { call: name, version: None, answer, first_us: Some(30), second_us: Some(7) }
}

fn gpu(label: &str, calls: Vec<Call>) -> Gpu {
    Gpu { label: label.to_owned(), name: "NVIDIA H200".to_owned(), uuid: "GPU-1234…".to_owned(), total: None, calls, error: None }
}

/// A machine where all is well.
fn well() -> Facts {
    Facts {
        driver: DriverFacts { driver: Some("580.1".to_owned()), ..DriverFacts::new(State::Open) },
        gpus: vec![gpu("0", vec![call("memory", Answer::Answers), call("fan", Answer::Absent(Absence::NotSupported))])],
        processes: Processes { listed: 2, visible: 2, host_namespace: true },
        machine: Machine { module: Some("580.1".to_owned()), ..Machine::default() },
        terminal: Terminal {
            term: None,
            colorterm: None,
            no_color: false,
            locale: None,
            inside: None,
            colors: "16 colours",
            glyphs: "Unicode",
            size: None,
            stdin: false,
            stdout: false,
        },
        settings: Settings { file: None, unread: None, error: None, values: Vec::new() },
    }
}

#[test]
fn where_all_is_well_there_is_nothing_to_do() {
    let facts = well();
    assert_eq!(verdict(&facts), (Outcome::Works, "works here: 1 GPU answers".to_owned()));
    assert_eq!(advice(&facts), Vec::<String>::new());
}

#[test]
fn what_is_not_permitted_or_fails_is_named() {
    let mut facts = well();
    facts.gpus[0].calls.push(call("power", Answer::Absent(Absence::NotPermitted)));
    facts.gpus[0].calls.push(call("BAR1", Answer::Absent(Absence::Failed("Timeout".into()))));
    assert_eq!(verdict(&facts).1, "works here: 1 GPU answers; not permitted: power; failed: BAR1");
    assert!(advice(&facts)[0].starts_with("not permitted to this user: power"));
}

#[test]
fn a_gpu_that_does_not_answer_is_some_of_two_and_all_of_one() {
    let mut facts = well();
    facts.gpus.push(gpu("1", vec![call("memory", Answer::Answers), call("power", Answer::Silent(5))]));
    assert_eq!(verdict(&facts), (Outcome::SomeUnreadable, "works here in part: GPU 1: power: no answer in 5 s; 1 GPU answers".to_owned()));
    facts.gpus.remove(0);
    assert_eq!(verdict(&facts), (Outcome::Silent, "does not work here: GPU 1: power: no answer in 5 s".to_owned()));
    facts.gpus = vec![gpu("0", vec![call("memory", Answer::Absent(Absence::Failed("GPU is lost".into())))])];
    assert_eq!(verdict(&facts), (Outcome::NoDriver, "does not work here: GPU 0: memory: failed: GPU is lost".to_owned()));
}

#[test]
fn wrong_settings_are_told_beside_a_driver_that_works() {
    let mut facts = well();
    facts.settings.error = Some("config.toml:7: unknown key".to_owned());
    assert_eq!(verdict(&facts).0, Outcome::WrongSettings);
    assert!(advice(&facts)[0].contains("config.toml:7"));
}

/// Each fact, and the words that its advice has to hold.
#[test]
fn each_trouble_has_its_advice() {
    let of = |change: fn(&mut Facts)| {
        let mut facts = well();
        change(&mut facts);
        advice(&facts).join("\n")
    };
    for (said, words) in [
        (of(|facts| facts.processes = Processes { listed: 3, visible: 1, host_namespace: false }), "2 of 3 processes cannot be named here"),
        (
            of(|facts| {
                facts.processes = Processes { listed: 1, visible: 0, host_namespace: false };
                facts.machine.container = Some("docker".to_owned());
            }),
            "--pid=host",
        ),
        (
            of(|facts| {
                facts.processes = Processes { listed: 1, visible: 0, host_namespace: false };
                facts.machine.container = Some("kubernetes".to_owned());
            }),
            "hostPID: true",
        ),
        (
            of(|facts| {
                facts.processes.visible = 0;
                facts.machine.hidden_processes = true;
            }),
            "hidepid",
        ),
        (of(|facts| facts.machine.module = Some("570.1".to_owned())), "the kernel module is version 570.1 and its library 580.1"),
        (
            of(|facts| {
                facts.driver = DriverFacts::new(State::Missing);
                facts.machine.capabilities = Some("compute".to_owned());
            }),
            "lacks utility",
        ),
        (
            of(|facts| {
                facts.driver = DriverFacts::new(State::Missing);
                facts.machine.nixos = true;
            }),
            "/run/opengl-driver/lib",
        ),
        (of(|facts| facts.machine.wsl = true), "WSL"),
        (
            of(|facts| {
                facts.machine.device_files =
                    vec![DeviceFile { path: "/dev/nvidia0".to_owned(), mode: "crw-rw----".to_owned(), permitted: false, refused: None }];
            }),
            "may not read and write /dev/nvidia0",
        ),
        (
            of(|facts| {
                facts.machine.device_files = vec![DeviceFile {
                    path: "/dev/nvidiactl".to_owned(),
                    mode: "crw-rw-rw-".to_owned(),
                    permitted: true,
                    refused: Some("not permitted".to_owned()),
                }];
            }),
            "Start the container anew",
        ),
        (of(|facts| facts.gpus[0].calls[0].second_us = Some(9_000)), "memory_hz"),
        (of(|facts| facts.gpus.clear()), "--gpus all"),
    ] {
        assert!(said.contains(words), "{words:?} is not in {said:?}");
    }
}
