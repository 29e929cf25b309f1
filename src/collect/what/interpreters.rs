//! What program a command line runs, behind wrappers and interpreters.
//!
//! It holds the table of interpreters and how each takes its script. It refuses to name anything:
//! that is for the rules.

use std::collections::VecDeque;

use super::argv::Argv;
use super::program::{Kind, Program};
use super::wrappers;

/// How many layers of wrappers are peeled.
const MAX_LAYERS: usize = 8;

/// How an interpreter takes what it runs.
struct Interpreter {
    runner: &'static str,
    names: &'static [&'static str],
    /// What its first operand is.
    operand: Kind,
    code: &'static [&'static str],
    module: &'static [&'static str],
    script: &'static [&'static str],
    /// Flags whose value is the next word.
    valued: &'static [&'static str],
    /// Whether `-um` means `-u -m`.
    clustered: bool,
}

/// An interpreter that takes a script and nothing else; the table's entries say what they add.
const PLAIN: Interpreter =
    Interpreter { runner: "", names: &[], operand: Kind::Script, code: &[], module: &[], script: &[], valued: &[], clustered: false };

const INTERPRETERS: &[Interpreter] = &[
    // https://docs.python.org/3/using/cmdline.html
    Interpreter {
        runner: "python",
        names: &["python", "pypy"],
        code: &["-c"],
        module: &["-m"],
        valued: &["-W", "-X", "--check-hash-based-pycs"],
        clustered: true,
        ..PLAIN
    },
    Interpreter {
        runner: "sh",
        names: &["sh", "bash", "dash", "zsh", "ash", "ksh", "fish"],
        code: &["-c"],
        valued: &["-o", "-O", "--rcfile", "--init-file"],
        clustered: true,
        ..PLAIN
    },
    Interpreter {
        runner: "java",
        names: &["java"],
        operand: Kind::Module,
        module: &["-m", "--module"],
        script: &["-jar"],
        valued: &["-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules", "--add-opens", "--add-exports"],
        ..PLAIN
    },
    Interpreter {
        runner: "node",
        names: &["node", "nodejs", "bun"],
        code: &["-e", "--eval", "-p", "--print"],
        valued: &["-r", "--require", "--import", "--loader"],
        ..PLAIN
    },
    Interpreter {
        runner: "julia",
        names: &["julia"],
        code: &["-e", "-E", "--eval"],
        valued: &["-t", "--threads", "-p", "--procs", "-J", "--sysimage", "-L", "--load", "-C", "-H"],
        ..PLAIN
    },
    Interpreter { runner: "R", names: &["Rscript", "R"], code: &["-e"], script: &["-f", "--file"], ..PLAIN },
    Interpreter { runner: "matlab", names: &["matlab", "MATLAB"], code: &["-batch", "-r"], valued: &["-sd", "-logfile"], ..PLAIN },
    Interpreter { runner: "perl", names: &["perl"], code: &["-e", "-E"], ..PLAIN },
    Interpreter { runner: "ruby", names: &["ruby"], code: &["-e"], ..PLAIN },
    Interpreter { runner: "lua", names: &["lua", "luajit"], code: &["-e"], ..PLAIN },
];

/// The program that a command line runs.
pub(super) fn program(argv: Argv) -> Program {
    let Argv { mut words, title } = argv;
    for _ in 0..MAX_LAYERS {
        match wrappers::inside(&read(&words)) {
            Some(inner) => words = inner,
            None => break,
        }
    }
    let mut program = read(&words);
    if title && program.kind == Kind::Binary && !program.path.starts_with(['/', '.']) {
        program.kind = Kind::Title;
    }
    program
}

/// The program that these words run, wrappers included.
pub(super) fn read(words: &[String]) -> Program {
    let Some((path, args)) = words.split_first() else {
        return Program { kind: Kind::Nothing, runner: "", path: String::new(), args: Vec::new() };
    };
    let program = Program { kind: Kind::Binary, runner: "", path: path.clone(), args: args.to_vec() };
    match interpreter(program.name()).map(|interpreter| interpret(interpreter, args)) {
        // A shell with nothing to run is a program of its own: `bash`.
        Some(run) if run.runner != "sh" || !matches!(run.kind, Kind::Interactive | Kind::Stdin) => run,
        _ => program,
    }
}

/// The interpreter of this name, versions allowed: `python3.12`, `R`, `lua5.4`.
fn interpreter(name: &str) -> Option<&'static Interpreter> {
    // Free-threaded Python is `python3.13t`.
    let name = name.strip_suffix('t').filter(|rest| rest.starts_with("python3")).unwrap_or(name);
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    INTERPRETERS.iter().find(|interpreter| interpreter.names.contains(&plain))
}

/// What an interpreter with these arguments runs.
fn interpret(lang: &Interpreter, args: &[String]) -> Program {
    let has = |flags: &[&str], flag: &str| flags.contains(&flag);
    let takes_value = |flag: &str| [lang.code, lang.module, lang.script, lang.valued].iter().any(|flags| has(flags, flag));
    let mut rest: VecDeque<String> = args.iter().cloned().collect();
    let mut found = None;
    while let Some(mut word) = rest.pop_front() {
        if let Some((flag, tail)) = cluster(&word).filter(|(flag, _)| lang.clustered && (word.len() <= 16 || takes_value(flag))) {
            rest.push_front(if takes_value(flag) { tail.to_owned() } else { format!("-{tail}") });
            word = flag.to_owned();
        }
        let kind = match word.as_str() {
            "-" => Kind::Stdin,
            flag if has(lang.code, flag) => Kind::Code,
            flag if has(lang.module, flag) => Kind::Module,
            flag if has(lang.script, flag) => Kind::Script,
            flag if has(lang.valued, flag) => {
                rest.pop_front();
                continue;
            }
            "--" => continue,
            flag if flag.starts_with('-') => match flag.split_once('=') {
                Some((name, value)) if has(lang.script, name) => {
                    found = Some((Kind::Script, value.to_owned()));
                    break;
                }
                _ => continue,
            },
            operand => {
                found = Some((lang.operand, operand.to_owned()));
                break;
            }
        };
        found = if kind == Kind::Stdin { Some((kind, String::new())) } else { rest.pop_front().map(|path| (kind, path)) };
        break;
    }
    let (kind, path) = found.unwrap_or((Kind::Interactive, String::new()));
    Program { kind, runner: lang.runner, path, args: rest.into() }
}

/// The first flag of a cluster and what follows it: `-um` is `-u` and `m`.
fn cluster(word: &str) -> Option<(&str, &str)> {
    let short = word.starts_with('-') && !word.starts_with("--") && word.len() > 2;
    if short { word.split_at_checked(2) } else { None }
}
