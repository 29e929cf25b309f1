//! The program without a terminal: figures, exit codes, streams and signals, over the fake driver.
//!
//! Every figure here is computed by hand from the scenario.
#![expect(clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod common;

#[path = "cli/log_file.rs"]
mod log_file;
#[path = "cli/logs.rs"]
mod logs;
#[path = "cli/once.rs"]
mod once;
#[path = "cli/refusals.rs"]
mod refusals;
#[path = "cli/smi.rs"]
mod smi;
#[path = "cli/unread.rs"]
mod unread;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use common::alone;

/// A scenario, with the time held at its first second, so that no figure moves.
struct Machine {
    folder: TempDir,
    scenario: PathBuf,
}

impl Machine {
    /// One of the fake's own scenarios.
    fn named(name: &str) -> Self {
        Self::of(&fs::read_to_string(common::scenario(name)).expect("scenario"))
    }

    fn of(toml: &str) -> Self {
        let folder = tempfile::tempdir().expect("temporary folder");
        let scenario = folder.path().join("scenario.toml");
        fs::write(&scenario, toml).expect("scenario");
        fs::write(folder.path().join("time"), "0").expect("time");
        Self { folder, scenario }
    }

    /// vramtop over this machine with nothing of this environment that could change what it prints.
    fn vramtop(&self, args: &[&str]) -> Command {
        let mut command = alone(&["--nvml-library"]);
        command.arg(fake_nvml::library_path()).args(args);
        command.env("FAKE_NVML_SCENARIO", &self.scenario).env("FAKE_NVML_TIME", self.folder.path().join("time"));
        command
    }

    /// As it is with the time running.
    fn running(&self, args: &[&str]) -> Command {
        let mut command = self.vramtop(args);
        command.env_remove("FAKE_NVML_TIME");
        command
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// What a command said and how it ended.
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

fn said(command: &mut Command) -> Said {
    command.output().expect("the program starts").into()
}

/// What a command that succeeds prints; it has nothing to say on stderr.
#[track_caller]
fn printed(command: &mut Command) -> String {
    let said = said(command);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{}", said.out);
    said.out
}

/// The objects of a log.
#[track_caller]
fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// The samples of a log.
#[track_caller]
fn samples(text: &str) -> Vec<Value> {
    objects(text).into_iter().filter(|object| object["type"] == "sample").collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("it was written")
}

#[test]
fn help_version_and_wrong_usage_are_as_documented() {
    trycmd::TestCases::new().env("COLUMNS", "98").case("tests/cmd/*.trycmd");
}
