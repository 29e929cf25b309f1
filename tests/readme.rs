//! What README.md says is so: its commands print what it shows, its keys are the table's, its options and exit codes exist.
#![expect(clippy::expect_used, clippy::panic, reason = "a test may fail")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use clap::CommandFactory;
use vramtop::app::Mode;
use vramtop::app::keys::BINDINGS;
use vramtop::cli::Cli;
use vramtop::exit::Exit;

const README: &str = include_str!("../README.md");

/// The machine of the examples: two jobs that can be seen, one that cannot.
const SCENARIO: &str = r#"
[driver]
version = "580.159.04"

[[gpu]]
unattributed = "40MiB"
utilization = 97
power_w = 612
temperature = 61
process = [{ pid = "env:TRAIN", memory = "96.4GiB" }, { pid = "env:EVAL", memory = "27.9GiB" }]

[[gpu]]
unattributed = "6.1GiB"
utilization = 31
power_w = 238
temperature = 47
process = [{ pid = 5000001, memory = "125.8GiB" }]
"#;

/// The bodies of the blocks of that kind.
fn blocks(kind: &str) -> Vec<&'static str> {
    let opening = format!("```{kind}\n");
    README.split(opening.as_str()).skip(1).map(|rest| rest.split("```").next().expect("a split has a first part")).collect()
}

/// The lines between a heading and the next.
fn section(heading: &str) -> &'static str {
    let from = README.split(&format!("\n## {heading}\n")).nth(1).unwrap_or_else(|| panic!("README has no section {heading}"));
    from.split("\n## ").next().expect("a split has a first part")
}

/// The cells of the table rows of a text, without head and rule.
fn table(text: &str) -> Vec<Vec<String>> {
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let cells = |row: &str| row.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect::<Vec<_>>();
    rows.map(cells).skip(2).collect()
}

/// A process that looks like a job and does nothing until its stdin is closed.
fn job(folder: &Path, script: &str) -> Child {
    fs::write(folder.join(script), "read -r line\n").expect("script");
    let mut command = Command::new("sh");
    command.arg0("python3").arg(script).current_dir(folder).stdin(Stdio::piped());
    command.spawn().expect("sh")
}

#[test]
fn its_commands_print_what_it_shows() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let at = |name: &str| folder.path().join(name);
    symlink(fake_nvml::library_path(), at("libnvidia-ml.so.1")).expect("link");
    fs::write(at("scenario.toml"), SCENARIO).expect("scenario");
    fs::write(at("time"), "0").expect("time");
    let mut jobs = [job(folder.path(), "train.py"), job(folder.path(), "eval.py")];
    let user = Command::new("id").arg("-un").output().expect("id").stdout;
    let user = String::from_utf8(user).expect("UTF-8");

    let run = |line: &str| {
        let (line, tells_code) = line.strip_suffix("; echo $?").map_or((line, false), |line| (line, true));
        let mut words = line.split_whitespace();
        assert_eq!(words.next(), Some("vramtop"), "{line}: only vramtop is run here");
        let mut command = Command::new(env!("CARGO_BIN_EXE_vramtop"));
        for name in ["LC_ALL", "LC_CTYPE", "NO_COLOR", "COLUMNS", "CUDA_VISIBLE_DEVICES"] {
            command.env_remove(name);
        }
        command.env("LANG", "C.UTF-8").env("LD_LIBRARY_PATH", folder.path());
        command.env("FAKE_NVML_SCENARIO", at("scenario.toml")).env("FAKE_NVML_TIME", at("time"));
        command.env("TRAIN", jobs[0].id().to_string()).env("EVAL", jobs[1].id().to_string());
        let output = command.args(words).stdin(Stdio::null()).output().expect("the program starts");
        let mut text = String::from_utf8(output.stdout).expect("UTF-8") + &String::from_utf8(output.stderr).expect("UTF-8");
        // Who runs this, and which PIDs the jobs have, differs from the example; in a container they are not seen.
        for (job, script, pid) in [(&jobs[0], "train.py", 41877), (&jobs[1], "eval.py", 40112)] {
            let shown = format!("ann:{script}({pid})");
            text = text.replace(&format!("{}:{script}({})", user.trim(), job.id()), &shown).replace(&format!("?({})", job.id()), &shown);
        }
        if tells_code {
            text.push_str(&output.status.code().expect("it ended by itself").to_string());
            text.push('\n');
        }
        text
    };
    let mut commands = 0;
    for block in blocks("console") {
        for example in block.split("$ vramtop").skip(1) {
            let (line, expected) = example.split_once('\n').expect("a command ends with its line");
            assert_eq!(run(&format!("vramtop{line}")), expected, "$ vramtop{line}");
            commands += 1;
        }
    }
    assert!(commands >= 3, "README shows only {commands} commands that are run");
    for job in &mut jobs {
        drop(job.stdin.take());
        job.wait().expect("own child");
    }
}

/// One sentence says what this is, in the help, the package and here, and it promises what is there.
#[test]
fn what_it_is_for_is_the_same_everywhere() {
    let about = Cli::command().get_about().expect("an about").to_string();
    assert_eq!(about, "How much VRAM is free, who holds the rest, and how fast it changes");
    assert!(README.contains(&format!("**h{}**", &about[1..])));
    assert!(env!("CARGO_PKG_DESCRIPTION").starts_with(&format!("{about}: ")));
    // What the key table offers is no limit.
    let limits = section("Limits of today");
    assert!(BINDINGS.iter().any(|binding| binding.help.contains("tag the row")) && !limits.contains("tagged"), "{limits}");
    assert!(BINDINGS.iter().any(|binding| binding.help.starts_with("through time")) && !limits.contains("no going back"), "{limits}");
}

#[test]
fn its_keys_are_those_of_the_table() {
    let told: Vec<Vec<String>> = table(section("Reading the screen"));
    let replay = Mode::Replay { length_ms: None };
    let listed = BINDINGS.iter().filter(|binding| binding.is_listed(Mode::Live) || binding.is_listed(replay));
    let bound: Vec<Vec<String>> = listed.map(|binding| vec![binding.shown.to_owned(), binding.help.to_owned()]).collect();
    assert_eq!(told, bound);
}

#[test]
fn the_options_and_commands_that_it_names_exist() {
    let mut cli = Cli::command();
    cli.build();
    let mut known: BTreeSet<String> = ["-h", "--help", "-V", "--version"].map(str::to_owned).into();
    let mut commands = BTreeSet::new();
    for command in std::iter::once(&cli).chain(cli.get_subcommands()) {
        commands.insert(command.get_name().to_owned());
        for arg in command.get_arguments() {
            known.extend(arg.get_long().map(|long| format!("--{long}")));
            known.extend(arg.get_short_and_visible_aliases().unwrap_or_default().iter().map(|short| format!("-{short}")));
        }
    }
    // What stands in backticks or after a prompt, and is vramtop's.
    let code = README.split('`').skip(1).step_by(2).filter(|code| !code.contains("```") && !code.contains("cargo"));
    let shown = README.lines().filter_map(|line| line.strip_prefix("$ ")).flat_map(|line| line.split('|')).chain(code);
    let mut named = BTreeSet::new();
    for text in shown.map(str::trim).filter(|text| text.starts_with("vramtop ") || text.starts_with('-')) {
        let text = text.trim_end_matches("; echo $?");
        let words: Vec<&str> = text.split_whitespace().collect();
        named
            .extend(words.iter().filter(|word| word.len() > 1 && word.starts_with('-')).filter_map(|word| word.split('=').next()).map(str::to_owned));
        if let Some(command) = words.get(1).filter(|word| words[0] == "vramtop" && !word.starts_with('-')) {
            assert!(commands.contains(*command), "README names the subcommand {command}");
        }
    }
    assert!(named.len() >= 10, "README names only {named:?}");
    let unknown: Vec<_> = named.difference(&known).collect();
    assert!(unknown.is_empty(), "README names options that there are not: {unknown:?}");
}

#[test]
fn its_exit_codes_are_those_of_the_help() {
    let help = Cli::command().render_long_help().to_string();
    let codes = help.split("Exit codes:").nth(1).expect("the help names exit codes");
    let in_help: Vec<String> = codes.trim().lines().map(|line| line.trim().to_owned()).collect();
    assert_eq!(in_help, Exit::ALL.map(|(exit, meaning)| format!("{}  {meaning}", exit as u8)));
    // Here it says more, behind the same words.
    let told = table(section("Exit codes"));
    assert_eq!(told.len(), Exit::ALL.len());
    for (row, (exit, meaning)) in told.iter().zip(Exit::ALL) {
        assert!(row[0] == (exit as u8).to_string() && row[1].starts_with(meaning), "{row:?} is not {meaning}");
    }
}

#[test]
fn what_it_points_to_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for link in README.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(root.join(link).is_file(), "README links to {link}");
    }
}

/// The source files below a folder, as ARCHITECTURE.md writes them. Tests and `mod.rs` stand for their folder.
fn files(folder: &Path, root: &Path, into: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("source folder") {
        let path = entry.expect("entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            files(&path, root, into);
        } else if path.extension().is_some_and(|e| e == "rs") && name != "mod.rs" && name != "tests.rs" {
            into.push(format!("- `{}`: ", path.strip_prefix(root).expect("below src").display()));
        }
    }
}

#[test]
fn the_map_names_every_file_and_the_layers_as_they_are_held() {
    let map = include_str!("../ARCHITECTURE.md");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut lines = Vec::new();
    files(&root, &root, &mut lines);
    let missing: Vec<_> = lines.iter().filter(|line| !map.contains(line.as_str())).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md does not name {missing:?}");
    for (file, _) in map.lines().filter_map(|line| line.strip_prefix("- `")?.split_once("`: ")) {
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        assert!(root.join(file).exists() || beside.exists(), "ARCHITECTURE.md names {file}");
    }
    let layers = map.split("\n## Layers\n").nth(1).expect("layers").split("\n## ").next().expect("a split has a first part");
    let held =
        include_str!("architecture.rs").split("MAY_USE: &[(&str, &[&str])] = &[").nth(1).expect("the table").split("\n];").next().expect("its end");
    let told: Vec<Vec<String>> =
        table(layers).into_iter().map(|row| row.join(", ").split(", ").filter(|name| *name != "–").map(str::to_owned).collect()).collect();
    // A row that is too long for one line ends on lines of its own.
    let held = held.split_whitespace().collect::<String>().replace("],)", "])");
    let held: Vec<Vec<String>> = held
        .split("])")
        .map(|row| row.split('"').skip(1).step_by(2).map(str::to_owned).collect())
        .filter(|row: &Vec<String>| !row.is_empty())
        .collect();
    assert_eq!(told, held);
}
