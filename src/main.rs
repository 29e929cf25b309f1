//! Entry: parse, run, and turn the outcome into an exit code.

use std::io::Write;
use std::process::ExitCode;

use vramtop::cli::Cli;
use vramtop::command;
use vramtop::exit::Exit;

fn main() -> ExitCode {
    match Cli::understand(std::env::args_os()) {
        Ok(cli) => command::run(&cli).unwrap_or_else(|error| failed(&error)).into(),
        Err(answer) => said(&answer),
    }
}

fn failed(error: &anyhow::Error) -> Exit {
    // Without a code, the reader of the pipe has gone: it has what it wanted.
    let Some(exit) = Exit::of(error) else { return Exit::Fine };
    log::error!("{error:#}");
    let _ = writeln!(std::io::stderr(), "vramtop: {error:#}");
    exit
}

/// Prints the help that was asked for, or what is wrong with the command line.
fn said(answer: &clap::Error) -> ExitCode {
    let code = ExitCode::from(u8::try_from(answer.exit_code()).unwrap_or(Exit::Usage as u8));
    match answer.print().and_then(|()| std::io::stdout().flush()) {
        Err(error) if !answer.use_stderr() => failed(&anyhow::Error::new(error).context("stdout")).into(),
        _ => code,
    }
}
