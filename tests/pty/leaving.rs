//! Every way out: keys, signals, errors, a terminal that is closed or takes nothing.

use std::time::Duration;

use nix::sys::signal::Signal;

use crate::common::scenario;
use crate::session::{Session, count, vramtop};
use crate::{over, over_toml};

#[test]
fn every_key_that_quits_leaves_with_0() {
    for (name, key) in [("q", "q"), ("Ctrl-C", "\x03"), ("F10", "\x1b[21~")] {
        let mut session = over("two-h200-jobs");
        session.see("5000020");
        session.keys(key);
        assert_eq!(session.end().code(), Some(0), "{name}");
    }
}

#[test]
fn a_signal_is_died_of_with_the_terminal_restored() {
    for (signal, name) in [
        (Signal::SIGTERM, "Terminated"),
        (Signal::SIGHUP, "Hangup"),
        (Signal::SIGINT, "Interrupt"),
        (Signal::SIGQUIT, "Quit"),
        (Signal::SIGUSR1, "User defined signal 1"),
        (Signal::SIGALRM, "Alarm clock"),
    ] {
        let session = over("two-h200-jobs");
        session.see("5000020");
        session.signal(signal);
        assert_eq!(session.end().status.signal(), Some(name));
    }
}

#[test]
fn a_signal_ends_it_even_before_the_driver_has_answered() {
    let session = over("slow-init");
    session.see("connecting");
    session.signal(Signal::SIGTERM);
    assert_eq!(session.end().status.signal(), Some("Terminated"));
}

/// The two lines of an error, as they stand after the terminal was given back.
fn two_lines(session: Session) -> [String; 2] {
    let ended = session.end();
    assert_eq!(ended.code(), Some(3));
    // The driver's settings are back: a line end is a carriage return and a line feed again.
    let after = ended.after_leaving();
    let lines: Vec<&str> = after.split_terminator("\r\n").collect();
    let [first, second] = lines.as_slice() else { panic!("two lines, not {after:?}") };
    let first = first.trim_start_matches(|c: char| c != 'v');
    assert_eq!(count(&ended.bytes, first.as_bytes()), 1, "said once");
    assert!(second.ends_with("vramtop demo"), "{second}");
    [first.to_owned(), (*second).to_owned()]
}

#[test]
fn without_a_driver_two_lines_stand_on_the_normal_screen() {
    let mut command = vramtop(&scenario("h200-one"), &[]);
    command.args(["--nvml-library", "/nonexistent/libnvidia-ml.so.1"]);
    // The last of two libraries counts nowhere: it is given once.
    let argv = command.get_argv_mut();
    argv.drain(1..3);
    let [first, second] = two_lines(Session::start(command));
    assert!(first.starts_with("vramtop: no usable NVIDIA library: /nonexistent/libnvidia-ml.so.1: "), "{first}");
    assert!(second.contains("--nvml-library"), "{second}");
}

#[test]
fn a_driver_that_fails_late_is_left_after_the_first_frame() {
    let (session, _folder) = over_toml("[[fault]]\ncall = \"init\"\ndelay_ms = 1500\nerror = \"DriverNotLoaded\"\n");
    session.see("waiting for");
    let [first, second] = two_lines(session);
    assert!(first.starts_with("vramtop: the NVIDIA kernel driver is not loaded"), "{first}");
    assert!(second.contains("modprobe nvidia"), "{second}");
}

#[test]
fn without_a_gpu_two_lines_say_so() {
    let [first, second] = two_lines(over("no-gpus"));
    assert_eq!(first, "vramtop: the NVIDIA driver answers, but it has no GPU.");
    assert!(second.contains("--gpus all"), "{second}");
}

#[test]
fn what_is_not_permitted_is_4() {
    let (session, _folder) = over_toml("[[fault]]\ncall = \"init\"\nerror = \"NoPermission\"\n");
    assert_eq!(session.end().code(), Some(4));
}

#[test]
fn an_unknown_gpu_is_wrong_usage_and_says_which_there_are() {
    let session = Session::start(vramtop(&scenario("two-h200-jobs"), &["-i", "7"]));
    let ended = session.end();
    assert_eq!(ended.code(), Some(2));
    assert!(ended.after_leaving().contains("there are 0, 1"), "{}", ended.after_leaving());
}

#[test]
fn a_closed_terminal_ends_it() {
    let session = over("two-h200-jobs");
    session.see("5000020");
    // By the signal, or by what reading from such a terminal says: whichever comes first.
    let status = session.hang_up().expect("it ends");
    assert!(!status.success(), "{status}");
}

/// A terminal that takes nothing (a stopped emulator, a dead connection) must not keep the process from ending.
#[test]
fn a_terminal_that_takes_nothing_does_not_outlive_a_signal() {
    let mut session = Session::start_unread(vramtop(&scenario("two-h200-jobs"), &[]));
    session.wait_until_stuck();
    session.signal(Signal::SIGTERM);
    let (ended, _) = session.try_end(Duration::from_secs(10)).expect("it ends");
    assert_eq!(ended.status.signal(), Some("Terminated"));
}

/// The harness itself: a text that never comes is an error, and so is a program that stays.
#[test]
fn the_harness_can_fail() {
    let mut session = over("two-h200-jobs");
    session.see("5000020");
    let error = session.try_wait(Duration::from_millis(200), |screen| screen.contents().contains("no such text")).expect_err("it never comes");
    assert!(error.contains("2 × NVIDIA H200"), "the error shows the screen: {error}");
    assert!(!session.is_set_as_before(), "a running dashboard has its own settings");
    session.keys("x");
    let error = session.try_end(Duration::from_millis(200)).map(drop).expect_err("it runs on");
    assert!(error.contains("still running"), "{error}");
}
