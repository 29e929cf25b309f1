//! Log mode: records whole and in order, to readers that are slow or gone, and the fate of a signal.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::{Machine, objects, printed, read, samples};

fn two() -> Machine {
    Machine::named("two-h200-jobs")
}

/// Starts a log, and hands its stdout over.
fn start(machine: &Machine, args: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let mut child = machine.running(args).stdout(Stdio::piped()).spawn().expect("it starts");
    let out = BufReader::new(child.stdout.take().expect("a pipe"));
    (child, out)
}

fn line(from: &mut impl BufRead) -> String {
    let mut line = String::new();
    from.read_line(&mut line).expect("UTF-8");
    line
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).expect("it runs");
}

/// The signal that a process dies of, which has to be soon.
#[track_caller]
fn died_of(child: &mut Child) -> Option<i32> {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(status) = child.try_wait().expect("own child") {
            return status.signal();
        }
        if Instant::now() > end {
            let _ = child.kill();
            panic!("still running");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_log_ends_after_the_count() {
    let machine = two();
    for (args, steps) in [(["-l", "0.05", "-n", "3"], 3), (["-lms", "50", "-n", "2"], 2), (["--loop-ms", "60", "--count", "1"], 1)] {
        let text = printed(&mut machine.vramtop(&args));
        assert_eq!(text.lines().count(), 2 * steps, "one line a GPU and step: {text}");
        let json = printed(machine.vramtop(&args).args(["--format", "json"]));
        assert_eq!(samples(&json).len(), steps, "{args:?}");
    }
}

#[test]
fn a_text_line_has_a_time_and_the_figures_of_the_scenario() {
    let text = printed(&mut two().vramtop(&["-l", "0.05", "-n", "1", "-i", "1"]));
    let (time, rest) = text.split_at(29);
    let shape: String = time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000-00-00T00:00:00.000+00:00");
    assert_eq!(rest, "  1 NVIDIA H200  24.5/140.4 GiB   18%  free 115.3  util 35%  30°C 310/700W  max 24.5  ?(5000020) 24.0G  unattributed 0.5G\n");
}

#[test]
fn a_json_log_begins_with_a_header_and_introduces_processes_before_samples() {
    let text = printed(&mut two().vramtop(&["-l", "0.05", "-n", "2", "--format", "json"]));
    let types: Vec<_> = objects(&text).into_iter().map(|object| object["type"].as_str().expect("a type").to_owned()).collect();
    assert_eq!(types[0], "header");
    let first_sample = types.iter().position(|kind| kind == "sample").expect("a sample");
    assert_eq!(types[1..first_sample].iter().filter(|kind| *kind == "process").count(), 2, "5000010 and 5000020: {types:?}");
    let header = &objects(&text)[0];
    assert_eq!((&header["schema"], &header["interval_ms"]), (&1.into(), &50.into()));
    assert_eq!(header["gpus"][1]["max_clocks"]["sm_mhz"], 1980);
}

#[test]
fn a_log_goes_to_the_file() {
    let machine = two();
    let file = machine.path("run.jsonl");
    assert_eq!(printed(machine.vramtop(&["-l", "0.05", "-n", "3", "--format", "json", "-o"]).arg(&file)), "");
    assert_eq!(samples(&read(&file)).len(), 3);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let machine = two();
    for form in ["text", "json"] {
        let (child, mut out) = start(&machine, &["-l", "0.05", "--format", form]);
        assert!(line(&mut out).ends_with('\n'));
        drop(out);
        let output = child.wait_with_output().expect("own child");
        assert_eq!(output.status.code(), Some(0), "{form}");
    }
}

#[test]
fn records_are_not_held_back() {
    let machine = two();
    let (mut child, mut out) = start(&machine, &["-l", "1", "-i", "0"]);
    // A block of a buffered stdout would take seconds to fill.
    for _ in 0..2 {
        assert!(line(&mut out).ends_with("unattributed 0.5G\n"));
    }
    child.kill().expect("it runs");
    child.wait().expect("own child");
}

#[test]
fn a_signal_is_died_of_after_a_whole_record() {
    let machine = two();
    for of in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT, Signal::SIGUSR1] {
        let (mut child, mut out) = start(&machine, &["-l", "0.05", "--format", "json"]);
        line(&mut out);
        signal(&child, of);
        let mut rest = String::new();
        out.read_to_string(&mut rest).expect("UTF-8");
        assert_eq!(died_of(&mut child), Some(of as i32));
        assert!(rest.is_empty() || rest.ends_with('\n'));
        objects(&rest);
    }
}

/// `nohup` has the signal ignored and starts the program: it stays ignored.
#[test]
fn a_signal_that_was_ignored_before_stays_so() {
    let machine = two();
    let log = machine.running(&["-l", "0.05"]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(log.get_program()).args(log.get_args());
    for (name, value) in log.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let mut child = shell.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    line(&mut out);
    signal(&child, Signal::SIGHUP);
    // Two seconds of lines: it goes on.
    for _ in 0..80 {
        assert!(line(&mut out).ends_with('\n'));
    }
    signal(&child, Signal::SIGTERM);
    assert_eq!(died_of(&mut child), Some(Signal::SIGTERM as i32));
}

/// A pipe that is full keeps no signal from ending the program.
#[test]
fn a_signal_ends_it_although_nobody_reads() {
    let machine = Machine::named("thousands");
    let (mut child, out) = start(&machine, &["-l", "0.05", "--format", "json"]);
    let file = format!("/proc/{}/syscall", child.id());
    let write = if cfg!(target_arch = "x86_64") { "1 " } else { "64 " };
    let end = Instant::now() + Duration::from_secs(20);
    while !std::fs::read_to_string(&file).is_ok_and(|call| call.starts_with(write)) {
        assert!(Instant::now() < end, "it never waits for its reader");
        std::thread::sleep(Duration::from_millis(5));
    }
    signal(&child, Signal::SIGTERM);
    assert_eq!(died_of(&mut child), Some(Signal::SIGTERM as i32));
    drop(out);
}

#[test]
fn a_slow_reader_loses_nothing() {
    const STEPS: usize = 40;
    let machine = Machine::named("8gpu-64");
    let (mut child, mut out) = start(&machine, &["-l", "0.05", "-n", "40", "--format", "json"]);
    let mut text = String::new();
    loop {
        let line = line(&mut out);
        if line.is_empty() {
            break;
        }
        if line.starts_with("{\"type\":\"sample\"") {
            // Slower than the log: this is what is tested, not waited for.
            std::thread::sleep(Duration::from_millis(70));
        }
        text.push_str(&line);
    }
    assert!(child.wait().expect("own child").success());
    let samples = samples(&text);
    assert_eq!(samples.len(), STEPS);
    let times: Vec<_> = samples.iter().map(|sample| sample["elapsed_ms"].as_u64().expect("a number")).collect();
    assert!(times.is_sorted_by(|one, next| one < next), "{times:?}");
}
