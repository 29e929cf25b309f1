//! Completions and the man page: each is taken by the program that it is for, and holds every option.
#![expect(clippy::expect_used, clippy::print_stderr, reason = "a test may fail")]

mod common;

use std::io::Write as _;
use std::process::{Command, Stdio};

use clap::CommandFactory as _;
use common::alone;
use vramtop::cli::Cli;
use vramtop::exit::Exit;

fn printed(args: &[&str]) -> String {
    let output = alone(args).output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{args:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Runs a program over a text on its stdin; `None`, with a word about it, where there is no such program.
fn through(program: &str, args: &[&str], text: &str) -> Option<(bool, String)> {
    let child = Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: there is no {program}");
        return None;
    };
    let mut stdin = child.stdin.take().expect("a pipe");
    let text = text.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()).is_ok());
    let output = child.wait_with_output().expect("own child");
    writer.join().expect("the writer ends");
    Some((output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)))
}

/// The long options and the subcommands of the whole command line.
fn words() -> Vec<String> {
    let mut cli = Cli::command();
    cli.build();
    let of = |command: &clap::Command| command.get_arguments().filter_map(|arg| arg.get_long().map(str::to_owned)).collect::<Vec<_>>();
    let subcommands: Vec<_> = cli.get_subcommands().filter(|command| command.get_name() != "help").cloned().collect();
    let names = subcommands.iter().map(|command| command.get_name().to_owned());
    of(&cli).into_iter().chain(subcommands.iter().flat_map(of)).chain(names).collect()
}

#[test]
fn each_shell_takes_its_completions_and_they_are_whole() {
    assert!(words().contains(&"print-config".to_owned()) && words().contains(&"doctor".to_owned()));
    for shell in ["bash", "zsh", "fish"] {
        let text = printed(&["completions", shell]);
        for word in words() {
            assert!(text.contains(&word), "{shell} does not know {word}");
        }
        if let Some((fine, said)) = through(shell, &["-n"], &text) {
            assert!(fine && said.is_empty(), "{shell}: {said}");
        }
    }
}

/// bash asked as the Tab key asks it.
#[test]
fn bash_completes_a_subcommand_and_a_value() {
    let script = printed(&["completions", "bash"]);
    for (line, right) in [("COMP_WORDS=(vramtop doc) COMP_CWORD=1", "doctor"), ("COMP_WORDS=(vramtop completions z) COMP_CWORD=2", "zsh")] {
        let ask = format!(
            "{script}\n{line}\n_vramtop vramtop \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"\necho \"${{COMPREPLY[@]}}\"\n"
        );
        if let Some((_, said)) = through("bash", &["--norc"], &ask) {
            assert_eq!(said.trim(), right);
        }
    }
}

#[test]
fn another_shell_is_refused() {
    assert_eq!(alone(&["completions", "tcsh"]).output().expect("it starts").status.code(), Some(2));
}

#[test]
fn the_man_page_holds_everything() {
    let source = printed(&["man"]);
    let plain = source.replace("\\-", "-");
    for word in words() {
        assert!(plain.contains(&word), "the page does not know {word}");
    }
    for section in ["NAME", "SYNOPSIS", "OPTIONS", "COMMANDS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"] {
        assert!(source.lines().any(|line| line.trim_start_matches(".SH ").trim_matches('"') == section), "no {section}");
    }
    for key in vramtop::config::Key::ALL {
        assert!(plain.contains(key.variable()), "{}", key.variable());
    }
    for (exit, meaning) in Exit::ALL {
        assert!(plain.contains(&format!("\\fB{}\\fR\n{meaning}", exit as u8)), "{meaning}");
    }
}

#[test]
fn the_man_page_renders() {
    let source = printed(&["man"]);
    if let Some((fine, page)) = through("man", &["--warnings", "-l", "-"], &source) {
        assert!(fine && page.contains("EXIT STATUS") && page.contains("vramtop doctor"), "{page}");
        assert!(!page.contains("warning:"), "{page}");
    }
    if let Some((fine, said)) = through("mandoc", &["-Tlint", "-Wwarning"], &source) {
        assert!(fine, "{said}");
    }
}
