//! Job control: Ctrl-Z, `fg`, and stops that the program did not choose. A shell runs it as a job, since a process group
//! without a parent in its session cannot be stopped as a job.

use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::scenario;
use crate::over;
use crate::session::{DEADLINE, Session, program, vramtop};

/// Runs a command as a foreground job; when it stops says so, and brings it back after a line of input.
const SHELL: &str = r#"set -m; "$@"; echo "job stopped"; read -r go; fg >/dev/null; echo "job left with $?""#;

fn as_job(before: &[&str]) -> Session {
    let scenario = scenario("two-h200-jobs");
    let mut command = program("sh", &scenario);
    command.args(["-c", SHELL, "sh"]);
    command.args(before);
    command.args(vramtop(&scenario, &[]).get_argv());
    Session::start(command)
}

/// The only child of a process.
fn child_of(pid: Pid) -> Pid {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("it runs");
    Pid::from_raw(children.trim().parse().expect("one child"))
}

/// Waits until a process is in that state.
fn wait_for_state(pid: Pid, state: char) {
    let end = std::time::Instant::now() + DEADLINE;
    let is =
        || fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(state)));
    while !is() {
        assert!(std::time::Instant::now() < end, "process {pid} is never in state {state}");
        std::thread::yield_now();
    }
}

/// The stopped job: the terminal is the shell's again. Then `fg`, everything is drawn again, and q leaves.
fn check_stop_and_return(mut session: Session, vramtop: Pid) {
    session.see("job stopped");
    wait_for_state(vramtop, 'T');
    assert!(session.is_set_as_before(), "settings while stopped");
    session.wait("the normal screen with its cursor", |screen| !screen.alternate_screen() && !screen.hide_cursor());
    session.keys("go\n");
    session.wait("all is drawn again", |screen| {
        let contents = screen.contents();
        screen.alternate_screen() && screen.hide_cursor() && ["2 × NVIDIA H200", "5000010", "q quit"].iter().all(|text| contents.contains(text))
    });
    session.keys("j");
    session.wait("the keyboard is back", |screen| screen.contents().lines().any(|line| line.contains("▸ b")));
    session.keys("q");
    let ended = session.end_after_visits(2);
    assert!(ended.screen.contains("job left with 0"), "{}", ended.screen);
}

#[test]
fn ctrl_z_stops_the_job_and_fg_brings_it_back() {
    let mut session = as_job(&[]);
    session.see("5000020");
    let vramtop = child_of(session.pid());
    session.keys("\x1a");
    check_stop_and_return(session, vramtop);
}

#[test]
fn sigtstp_stops_it_as_ctrl_z_does() {
    let session = as_job(&[]);
    session.see("5000020");
    let vramtop = child_of(session.pid());
    kill(vramtop, Signal::SIGTSTP).expect("it runs");
    check_stop_and_return(session, vramtop);
}

/// Started by a script (or by sudo), it shares its job with that: the shell waits until all of the job is stopped.
#[test]
fn ctrl_z_stops_the_script_around_it_too() {
    let mut session = as_job(&["sh", "-c", r#""$@"; exit $?"#, "sh"]);
    session.see("5000020");
    let vramtop = child_of(child_of(session.pid()));
    session.keys("\x1a");
    check_stop_and_return(session, vramtop);
}

/// As the only program of a terminal (`xterm -e vramtop`, `ssh -t host vramtop`) nobody could bring it back.
#[test]
fn ctrl_z_without_a_shell_does_not_strand_it() {
    let mut session = over("two-h200-jobs");
    session.see("5000020");
    session.keys("\x1a?");
    session.see("READING THE SCREEN");
    session.keys("q");
    assert_eq!(session.try_end(DEADLINE).map(|(ended, restored)| (ended.code(), restored)), Ok((Some(0), true)));
}

#[test]
fn after_a_stop_that_it_did_not_choose_all_is_drawn_again() {
    let mut session = over("two-h200-jobs");
    session.see("5000020");
    session.signal(Signal::SIGSTOP);
    wait_for_state(session.pid(), 'T');
    session.spoil();
    session.signal(Signal::SIGCONT);
    session.see("2 × NVIDIA H200");
    session.see("5000020");
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn ctrl_l_draws_all_again() {
    let mut session = over("two-h200-jobs");
    session.see("5000020");
    session.spoil();
    session.keys("\x0c");
    session.see("GPU 1");
    session.see_no("spoilt");
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));
}
