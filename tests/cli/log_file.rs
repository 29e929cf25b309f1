//! `--log-file`: what happened inside is on paper, and nothing of it on stdout or stderr.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::{Machine, said};

#[test]
fn the_driver_a_fault_and_its_end_are_written_once_each() {
    // From the second second to the third the driver does not give the temperature.
    let machine = Machine::of("[[gpu]]\n[[fault]]\ncall = \"temperature\"\nfrom_s = 1\nto_s = 2\nerror = \"Unknown\"\n");
    let file = machine.path("inside.log");
    let mut child =
        machine.running(&["-l", "0.2"]).arg("--log-file").arg(&file).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let end = Instant::now() + Duration::from_secs(20);
    let read = || fs::read_to_string(&file).unwrap_or_default();
    while !read().contains("no longer fails") && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let _ = child.wait();
    let text = read();
    let words = [
        "begins, process",
        "INFO  library ",
        "INFO  driver 580.82.07, CUDA 13.0, devices: 1",
        "WARN  `temperature` of device GPU-",
        "INFO  `temperature` of device GPU-",
    ];
    let found: Vec<usize> = words.iter().map(|word| text.matches(word).count()).collect();
    assert_eq!(found, [1; 5], "{text}");
    let time = text.split(' ').next().expect("a time");
    assert!(time.len() == "2026-11-30T12:08:18.123Z".len() && time.ends_with('Z'), "{time}");
}

#[test]
fn it_is_appended_to_and_names_the_end() {
    let machine = Machine::of("[[gpu]]\n");
    let file = machine.path("inside.log");
    for args in [&["--once"][..], &["--once", "-i", "7"]] {
        let said = said(machine.vramtop(args).arg("--log-file").arg(&file));
        assert!(!said.out.contains("INFO") && !said.err.contains("INFO"), "{} {}", said.out, said.err);
    }
    let text = fs::read_to_string(&file).expect("written");
    assert_eq!(text.matches("begins, process").count(), 2, "{text}");
    assert_eq!(text.matches("ERROR no GPU \"7\" here").count(), 1, "{text}");
    // Two lines for people are one in the file.
    let said = said(machine.vramtop(&["--once", "--nvml-library", "/nonexistent.so"]).arg("--log-file").arg(&file));
    assert_eq!((said.code, said.err.lines().count()), (Some(3), 2), "{}", said.err);
    assert_eq!(fs::read_to_string(&file).expect("written").lines().count(), text.lines().count() + 2);
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_anything_is_read() {
    let said = said(Machine::of("[[gpu]]\n").vramtop(&["--once"]).args(["--log-file", "/nonexistent/x"]));
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
    assert!(said.err.starts_with("vramtop: cannot write /nonexistent/x (--log-file)"), "{}", said.err);
}
