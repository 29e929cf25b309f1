//! The settings: the sample, the order of the voices, and what is refused. The program says itself what is in force.
#![expect(clippy::expect_used, reason = "a test may fail")]

mod common;

use std::fs;
use std::process::Command;

use common::alone;
use serde_json::Value;
use vramtop::config::{Config, Key, Layer, Origin, SAMPLE};

/// A folder with a configuration at the default place.
fn home(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("temporary folder");
    fs::create_dir(folder.path().join("vramtop")).expect("folder");
    fs::write(folder.path().join("vramtop/config.toml"), text).expect("file");
    folder
}

/// What `doctor` says is in force: the value and the origin of a key.
fn in_force(command: &mut Command, key: &str) -> (String, String) {
    let output = command.output().expect("it starts");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let values = report["settings"]["values"].as_array().expect("values").clone();
    let value = values.into_iter().find(|value| value["key"] == key).expect("the key");
    let word = |name: &str| value[name].as_str().expect("text").to_owned();
    (word("value"), word("origin"))
}

fn doctor(args: &[&str]) -> Command {
    let mut command = alone(&["doctor", "--format", "json", "--nvml-library", "/nonexistent"]);
    command.args(args);
    command
}

fn refused(command: &mut Command, says: &str) {
    let output = command.output().expect("it starts");
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), [].as_slice()), "{text}");
    assert_eq!(text, format!("vramtop: {says}\n"));
}

#[test]
fn the_sample_has_every_key_with_its_default() {
    let printed = alone(&["--print-config"]).output().expect("it starts");
    assert_eq!(String::from_utf8(printed.stdout).expect("UTF-8"), SAMPLE);
    // A comment begins with "# ", a key that is commented out with "#".
    let keys = |line: &&str| !line.starts_with("# ") && !line.is_empty();
    let uncommented: Vec<_> = SAMPLE.lines().filter(keys).map(|line| line.strip_prefix('#').expect("commented out")).collect();
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("sample.toml");
    fs::write(&file, uncommented.join("\n")).expect("file");

    let said = Config::resolve(Layer::default(), Some(&file), &|_| None).expect("the sample is right");
    let defaults = Config::of_flags(Layer::default());
    let names: Vec<_> = uncommented.iter().map(|line| line.split(" = ").next().expect("a key")).collect();
    assert_eq!(names, Key::ALL.map(Key::name));
    for ((key, said, origin), (_, default, _)) in said.rows().into_iter().zip(defaults.rows()) {
        assert_eq!((&said, origin), (&default, Origin::File), "{}", key.name());
        assert!(SAMPLE.contains(key.variable()), "{}", key.variable());
    }
}

#[test]
fn a_flag_goes_before_a_variable_before_the_file_before_the_default() {
    let home = home("color = \"never\"\nmemory_hz = 40\n");
    let with_file = |args: &[&str]| {
        let mut command = doctor(args);
        command.env("XDG_CONFIG_HOME", home.path());
        command
    };
    let pair = |value: &str, origin: &str| (value.to_owned(), origin.to_owned());
    assert_eq!(in_force(&mut doctor(&[]), "color"), pair("auto", "default"));
    assert_eq!(in_force(&mut with_file(&[]), "color"), pair("never", "file"));
    assert_eq!(in_force(with_file(&[]).env("VRAMTOP_COLOR", "always"), "color"), pair("always", "environment"));
    assert_eq!(in_force(with_file(&["--color", "auto"]).env("VRAMTOP_COLOR", "always"), "color"), pair("auto", "flag"));
    assert_eq!(in_force(with_file(&[]).env("VRAMTOP_COLOR", ""), "color"), pair("never", "file"));
    assert_eq!(in_force(&mut with_file(&[]), "memory_hz"), pair("40", "file"));
    assert_eq!(in_force(with_file(&["--config", "/dev/null"]).env("VRAMTOP_CONFIG", "/nonexistent"), "memory_hz"), pair("20", "default"));
    assert_eq!(in_force(&mut with_file(&["--ascii"]), "ascii"), pair("true", "flag"));
}

/// What the file says reaches the driver, and the recording that is made.
#[test]
fn settings_take_effect() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("mine.toml");
    fs::write(&file, format!("nvml_library = {:?}\nmemory_hz = 50\n", fake_nvml::library_path())).expect("file");
    let mut command = alone(&["-l", "0.1", "-n", "1", "--format", "json", "--config"]);
    let output = command.arg(&file).env("FAKE_NVML_SCENARIO", common::scenario("two-h200-jobs")).output().expect("it starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let header: Value = serde_json::from_str(text.lines().next().expect("a header")).expect("JSON");
    assert_eq!(header["memory_hz"], 50);
    assert_eq!(header["gpus"].as_array().map(Vec::len), Some(2));
}

#[test]
fn what_cannot_be_is_2_and_names_the_line() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("config.toml");
    fs::write(&file, "# mine\n\n\n\n\n\ncolour = \"never\"\n").expect("file");
    let path = file.to_str().expect("UTF-8");
    let unknown = format!("{path}:7: unknown key \"colour\": did you mean \"color\"?");
    refused(&mut alone(&["--once", "--config", path]), &unknown);
    refused(alone(&["--once"]).env("VRAMTOP_CONFIG", path), &unknown);
    refused(&mut alone(&["demo", "--config", path]), &unknown);
    let home = home("memory_hz = 1000\n");
    let at = home.path().join("vramtop/config.toml");
    let range = format!("{}:1: memory_hz: give a whole number, 1 to 200, not 1000", at.display());
    refused(alone(&["-l", "1"]).env("XDG_CONFIG_HOME", home.path()), &range);
    let gone = "cannot read the configuration /nonexistent/x.toml: No such file or directory (os error 2)";
    refused(&mut alone(&["--once", "--config", "/nonexistent/x.toml"]), gone);
    refused(alone(&["--once"]).env("VRAMTOP_SLOW", "perhaps"), "VRAMTOP_SLOW: give true or false, not \"perhaps\" (in the environment)");
}

/// As with `sudo -u` and somebody else's HOME. A folder in the file's place, since root may read everything.
#[test]
fn a_file_that_nobody_named_and_nobody_can_read_is_told_and_keeps_nothing_from_starting() {
    let home = tempfile::tempdir().expect("temporary folder");
    let at = home.path().join("vramtop/config.toml");
    fs::create_dir_all(&at).expect("folder");
    let reason = format!("cannot read the configuration {}: Is a directory (os error 21)", at.display());
    let mut command = alone(&["--once", "--nvml-library"]);
    command.arg(fake_nvml::library_path()).env("FAKE_NVML_SCENARIO", common::scenario("two-h200-jobs"));
    let output = command.env("XDG_CONFIG_HOME", home.path()).output().expect("it starts");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), format!("vramtop: {reason}; going on without it\n"));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 2);

    let report = doctor(&[]).env("XDG_CONFIG_HOME", home.path()).output().expect("it starts");
    let report: Value = serde_json::from_slice(&report.stdout).expect("JSON");
    assert_eq!(report["settings"]["error"], Value::Null);
    assert!(report["settings"]["unread"].as_str().is_some_and(|text| text.contains("Is a directory")), "{report}");
    // Whoever names it means it.
    refused(alone(&["--once"]).env("VRAMTOP_CONFIG", &at), &reason);
}

#[test]
fn a_file_in_another_encoding_is_refused_with_its_line() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("config.toml");
    fs::write(&file, b"ascii = true\n# gr\xfcn\n").expect("file");
    refused(
        &mut alone(&["--once", "--config", file.to_str().expect("UTF-8")]),
        &format!("{}:2: this is not UTF-8: save the file as UTF-8", file.display()),
    );
}

/// What helps when the settings are wrong works all the same.
#[test]
fn wrong_settings_keep_nobody_from_help() {
    for args in [["--print-config"].as_slice(), &["completions", "bash"], &["man"]] {
        let output = alone(args).env("VRAMTOP_SLOW", "perhaps").output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(!output.stdout.is_empty());
    }
}
