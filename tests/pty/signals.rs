//! Signals from the dashboard to real processes: the one that is named gets it, and no other.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::session::{DEADLINE, Session, vramtop};

/// A child that is ended with the test.
struct Sleeper(Child);

impl Sleeper {
    fn start() -> Self {
        Self(Command::new("sleep").arg("600").spawn().expect("sleep starts"))
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().expect("own child")
    }

    fn wait(&mut self) -> ExitStatus {
        let end = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.ended() {
                return status;
            }
            assert!(Instant::now() < end, "it never ends");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A dashboard over two processes that are really there: the first holds more.
fn over_two(large: &Sleeper, small: &Sleeper, args: &[&str]) -> (Session, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let scenario = folder.path().join("scenario.toml");
    let toml = "[[gpu]]\nprocess = [{ pid = 'env:LARGE', memory = '40GiB' }, { pid = 'env:SMALL', memory = '10GiB' }]\n";
    std::fs::write(&scenario, toml).expect("scenario");
    let mut command = vramtop(&scenario, args);
    command.env("LARGE", large.pid());
    command.env("SMALL", small.pid());
    (Session::start(command), folder)
}

/// Whether the driver's PIDs are those of this machine: in a container no process without a GPU's files may be signalled.
fn is_host() -> bool {
    std::fs::read_link("/proc/self/ns/pid").is_ok_and(|link| link.as_os_str() == "pid:[4026531836]")
}

#[test]
fn the_process_that_is_named_gets_the_signal_and_no_other() {
    if !is_host() {
        return;
    }
    let (mut large, mut small) = (Sleeper::start(), Sleeper::start());
    let (mut session, _folder) = over_two(&large, &small, &[]);
    session.see(&large.pid());
    session.keys("jK");
    session.see(&format!("signal to {}", small.pid()));
    session.see("its end would free 10.0 on GPU 0");
    session.keys("\r");
    session.see("TERM was sent");
    assert_eq!(small.wait().signal(), Some(15));
    assert_eq!(large.ended(), None);
    // It is gone now: one more is refused, and nobody else gets it.
    session.keys("\r");
    session.see("no signal can be sent: it has ended");
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));
    assert_eq!(large.ended(), None);
}

#[test]
fn read_only_offers_no_signal() {
    let (large, small) = (Sleeper::start(), Sleeper::start());
    let (mut session, _folder) = over_two(&large, &small, &["--read-only"]);
    session.see(&large.pid());
    session.keys("K");
    session.see("read-only: no signal is sent");
    session.keys("?");
    session.see("READING THE SCREEN");
    assert!(!session.screen().contains("send a signal"), "{}", session.screen());
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn two_that_are_tagged_end_and_the_third_lives() {
    if !is_host() {
        return;
    }
    let mut sleepers = [Sleeper::start(), Sleeper::start(), Sleeper::start()];
    let folder = tempfile::tempdir().expect("temporary folder");
    let scenario = folder.path().join("scenario.toml");
    // The first is on both cards.
    let toml = "[[gpu]]\nprocess = [{ pid = 'env:A', memory = '40GiB' }, { pid = 'env:B', memory = '20GiB' }, { pid = 'env:C', memory = '10GiB' }]\n\
        [[gpu]]\nprocess = [{ pid = 'env:A', memory = '30GiB' }]\n";
    std::fs::write(&scenario, toml).expect("scenario");
    let mut command = vramtop(&scenario, &[]);
    for (name, sleeper) in ["A", "B", "C"].into_iter().zip(&sleepers) {
        command.env(name, sleeper.pid());
    }
    let mut session = Session::start(command);
    session.see(&sleepers[2].pid());
    // 40 and 30 GiB of the first, then the 20 of the second.
    session.keys("xxx");
    session.see("3 tagged");
    session.keys("K");
    session.see("signal to 2 processes");
    session.see("together their end would free 90.0");
    session.keys("\r");
    session.see("TERM sent");
    let [a, b, c] = &mut sleepers;
    assert_eq!((a.wait().signal(), b.wait().signal(), c.ended()), (Some(15), Some(15), None));
    // Asked once more, both are gone by now, and nobody else is sent anything.
    session.keys("\r");
    session.see("has ended");
    assert_eq!(c.ended(), None);
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));
}
