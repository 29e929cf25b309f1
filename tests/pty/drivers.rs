//! Drivers that are slow, hang, lie or lose devices: the screen says so, and keys are answered whatever the driver does.

use std::time::Duration;

use crate::common::scenario;
use crate::session::{Session, vramtop};
use crate::{over, over_toml};

const HELP: &str = "READING THE SCREEN";

/// A key is answered within this time; the machine that runs this may be slow, the driver's calls are slower.
const SOON: Duration = Duration::from_millis(800);

#[track_caller]
fn answered_soon(session: &mut Session, key: &str, is: bool) {
    session.keys(key);
    session.try_wait(SOON, |screen| screen.contents().contains(HELP) == is).unwrap_or_else(|error| panic!("{key:?}: {error}"));
}

#[track_caller]
fn left_soon(mut session: Session) {
    session.keys("q");
    let (ended, restored) = session.try_end(Duration::from_secs(1)).unwrap_or_else(|error| panic!("q: {error}"));
    assert_eq!((ended.code(), restored), (Some(0), true));
}

#[test]
fn with_calls_of_900_ms_the_first_frame_and_the_keys_do_not_wait() {
    let mut session = over("slow-900ms");
    session.see("waiting for");
    answered_soon(&mut session, "?", true);
    answered_soon(&mut session, "\x1b", false);
    // The driver has answered some questions by now, and the others are under way.
    session.see("CUDA 13.0");
    answered_soon(&mut session, "?", true);
    answered_soon(&mut session, "\x1b", false);
    left_soon(session);
}

#[test]
fn an_init_that_takes_seconds_can_be_left() {
    let session = over("slow-init");
    session.see("waiting for");
    left_soon(session);
}

#[test]
fn a_call_that_never_returns_is_named() {
    let (mut session, _folder) = over_toml(
        "[[gpu]]\nrepeat = 2\nprocess_many = [{ count = 1, first_pid = 5000600, memory = \"3GiB\" }]\n\
         [[fault]]\ncall = \"temperature\"\ngpu = 0\nfrom_s = 1\nhang = true\n",
    );
    session.see("● live");
    session.see("5000601");
    session.see("● stale");
    session.see("the driver is busy with temperature");
    // What was known last stays.
    session.see("5000601");
    answered_soon(&mut session, "?", true);
    answered_soon(&mut session, "\x1b", false);
    left_soon(session);
}

#[test]
fn an_init_that_never_returns_can_be_left() {
    let (mut session, _folder) = over_toml("[[fault]]\ncall = \"init\"\nhang = true\n");
    session.see("waiting for");
    answered_soon(&mut session, "?", true);
    answered_soon(&mut session, "\x1b", false);
    // Which call, and for how long.
    session.see("▲ the driver has not answered `start` for ");
    left_soon(session);
}

#[test]
fn odd_drivers_are_drawn_and_keys_answered() {
    for (name, texts) in [
        ("garbage", ["8 × NVIDIA H200", "5000310"].as_slice()),
        ("thousands", &["2 × NVIDIA H200", "more"]),
        ("size-loop", &["NVIDIA H200", "GPU 0"]),
        ("no-permission", &["2 × NVIDIA H200", "5000700"]),
        ("lost", &["3 × NVIDIA H200", "GPU 1 is lost"]),
        ("mig", &["2 × NVIDIA H200", "5000102", "5000110"]),
        ("shared-memory", &["NVIDIA GB10", "5000200"]),
        ("16gpu-1000", &["16 × NVIDIA H200", "more"]),
    ] {
        let mut session = over(name);
        for text in texts {
            session.wait(&format!("{name}: {text}"), |screen| screen.contents().contains(text));
        }
        session.keys("?");
        session.see(HELP);
        session.keys("\x1b");
        session.see_no(HELP);
        session.keys("jjk");
        for (cols, rows) in [(40, 10), (1, 1), (80, 24)] {
            session.resize(cols, rows);
        }
        session.see("q quit");
        session.keys("q");
        assert_eq!(session.end().code(), Some(0), "{name}");
    }
}

#[test]
fn a_lost_gpu_that_comes_back_is_live_again() {
    let (mut session, _folder) = over_toml("[[gpu]]\nrepeat = 2\n[[fault]]\ncall = \"*\"\ngpu = 1\nfrom_s = 1\nto_s = 3\nerror = \"GpuLost\"\n");
    session.see("GPU 1 is lost");
    session.see_no("GPU 1 is lost");
    session.see("● live");
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn only_the_gpus_that_were_asked_for_are_drawn() {
    let mut session = Session::start(vramtop(&scenario("two-h200-jobs"), &["-i", "1"]));
    session.see("5000020");
    session.see_no("5000010");
    assert!(!session.screen().contains("GPU 0"), "{}", session.screen());
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));
}
