//! `completions SHELL`: what a shell needs to complete vramtop's command line, made from the command line's own definition.

use std::io::{self, Write as _};

use clap::CommandFactory as _;
use clap_complete::{Shell as Kind, generate};

use crate::cli::{Cli, Completions, Shell};
use crate::exit::Exit;

/// Prints the completions.
///
/// # Errors
/// When stdout fails.
pub(super) fn run(wanted: &Completions) -> anyhow::Result<Exit> {
    let kind = match wanted.shell {
        Shell::Bash => Kind::Bash,
        Shell::Zsh => Kind::Zsh,
        Shell::Fish => Kind::Fish,
    };
    // Into memory first: the generator panics where it cannot write.
    let mut text = Vec::new();
    generate(kind, &mut Cli::command(), "vramtop", &mut text);
    let mut out = io::stdout().lock();
    out.write_all(&text)?;
    out.flush()?;
    Ok(Exit::Fine)
}
