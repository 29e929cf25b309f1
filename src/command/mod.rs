//! One file a subcommand: the only place that wires the layers together.

mod acting;
mod dashboard;
mod log;
mod look;
mod once;
mod replay;
mod screen_loop;
mod signals;
mod terminal;

use std::io;

use crate::cli::{Cli, Command};
use crate::exit::Exit;

/// Does what the command line asks for.
///
/// # Errors
/// Anything that [`Exit::of`] has a code for; the text says what happened and what to do next.
pub fn run(cli: Cli) -> anyhow::Result<Exit> {
    match cli.command {
        Some(Command::Replay(replay)) => replay::file(&replay, cli.style),
        Some(Command::Demo) => replay::demo(cli.style),
        None if cli.look.once => once::run(&cli.look, cli.style),
        None if cli.look.period_ms().is_some() => log::run(&cli.look, cli.style),
        None => dashboard::run(&cli.look, cli.style),
    }
}

/// Whether stdout is a terminal.
fn stdout_is_terminal() -> bool {
    io::IsTerminal::is_terminal(&io::stdout())
}

/// Says something to the person, on stderr.
fn say(text: &str) -> io::Result<()> {
    use std::io::Write as _;
    writeln!(io::stderr(), "vramtop: {text}")
}
