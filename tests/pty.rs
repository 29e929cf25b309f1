//! The real program in a real terminal, over the fake driver: what it shows, which keys it answers, and that every way out
//! gives the terminal back as it was, exactly once.
#![expect(clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod common;

#[path = "pty/drivers.rs"]
mod drivers;
#[path = "pty/jobs.rs"]
mod jobs;
#[path = "pty/leaving.rs"]
mod leaving;
#[path = "pty/looks.rs"]
mod looks;
#[path = "pty/mouse.rs"]
mod mouse;
#[path = "pty/replaying.rs"]
mod replaying;
#[path = "pty/session.rs"]
mod session;
#[path = "pty/signals.rs"]
mod signals;

use std::fs;

use common::scenario;
use session::{Session, vramtop};
use tempfile::TempDir;

/// vramtop over one of the fake's own scenarios.
fn over(name: &str) -> Session {
    Session::start(vramtop(&scenario(name), &[]))
}

/// vramtop over a scenario made here. The folder holds it as long as it runs.
fn over_toml(toml: &str) -> (Session, TempDir) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let scenario = folder.path().join("scenario.toml");
    fs::write(&scenario, toml).expect("scenario");
    (Session::start(vramtop(&scenario, &[])), folder)
}
