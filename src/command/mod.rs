//! One file a subcommand: the only place that wires the layers together.

mod acting;
mod clipboard;
mod columns_file;
mod completions;
mod dashboard;
mod doctor;
mod explain;
mod gzip;
mod log;
mod log_file;
mod look;
mod man;
mod once;
mod query;
mod replay;
mod screen_loop;
mod settings;
mod signals;
mod size;
mod terminal;
mod unread;

use std::env;
use std::io::{self, Write as _};

use crate::cli::{Cli, Command};
use crate::config;
use crate::exit::Exit;
use crate::output::smi;

/// Does what the command line asks for.
///
/// # Errors
/// Anything that [`Exit::of`] has a code for; the text says what happened and what to do next.
pub fn run(cli: &Cli) -> anyhow::Result<Exit> {
    signals::outlive_file_limit()?;
    // These need no settings, and are what helps when those are wrong.
    match &cli.command {
        Some(Command::Completions(wanted)) => return completions::run(wanted),
        Some(Command::Man) => return man::run(),
        Some(Command::Doctor(wanted)) => return doctor::run(wanted, cli),
        _ if cli.settings.print_config => return print(config::SAMPLE),
        _ if cli.smi.help_query_gpu => return print(&smi::gpu_help()),
        _ if cli.smi.help_query_compute_apps => return print(&smi::process_help()),
        _ => {}
    }
    let config = settings::resolve(cli)?;
    if let Some(error) = &config.unread {
        say(&format!("{error}; going on without it"))?;
    }
    if let Some(path) = &config.log_file.value {
        log_file::begin(path)?;
    }
    match &cli.command {
        Some(Command::Replay(replay)) => replay::file(replay, config.style()),
        Some(Command::Explain(wanted)) => explain::run(wanted, &config),
        Some(Command::Demo) => replay::demo(config.style()),
        _ if cli.smi.list_gpus => query::list(&cli.look, &config),
        _ if query::is_meant(&cli.look, &cli.smi) => query::run(&cli.look, &cli.smi, &config),
        _ if cli.look.once => once::run(&cli.look, &config),
        _ if cli.look.period_ms().is_some() => log::run(&cli.look, &config),
        _ => dashboard::run(&cli.look, &config),
    }
}

/// Prints a text that is ready, on stdout.
fn print(text: &str) -> anyhow::Result<Exit> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(Exit::Fine)
}

/// Whether stdout is a terminal.
fn stdout_is_terminal() -> bool {
    io::IsTerminal::is_terminal(&io::stdout())
}

/// Why no screen can be drawn; `None` where one can.
fn no_screen() -> Option<&'static str> {
    if !stdout_is_terminal() {
        return Some("stdout is no terminal");
    }
    match env::var_os("TERM").filter(|term| !term.is_empty()) {
        None => Some("TERM is not set"),
        Some(term) if term == "dumb" => Some("TERM is dumb"),
        Some(_) => None,
    }
}

/// Says something to the person, on stderr.
fn say(text: &str) -> io::Result<()> {
    writeln!(io::stderr(), "vramtop: {text}")
}
