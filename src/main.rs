//! Entry: parse, run, and turn the outcome into an exit code.

use std::io::Write;
use std::process::ExitCode;

use vramtop::cli::Cli;
use vramtop::command;
use vramtop::exit::Exit;

fn main() -> ExitCode {
    let cli = Cli::understand(std::env::args_os()).unwrap_or_else(|error| error.exit());
    match command::run(&cli) {
        Ok(exit) => exit.into(),
        Err(error) => match Exit::of(&error) {
            // The reader of the pipe has gone: it has what it wanted.
            None => Exit::Fine.into(),
            Some(exit) => {
                log::error!("{error:#}");
                let _ = writeln!(std::io::stderr(), "vramtop: {error:#}");
                exit.into()
            }
        },
    }
}
