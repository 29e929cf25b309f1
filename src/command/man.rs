//! `man`: the man page, made from the command line's own definition; one page for all subcommands.

use std::io::{self, Write as _};

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::cli::Cli;
use crate::config::{FILE_VARIABLE, Key};
use crate::exit::Exit;

/// Prints the page.
///
/// # Errors
/// When stdout fails.
pub(super) fn run() -> anyhow::Result<Exit> {
    let mut page = Vec::new();
    render(&mut page)?;
    let mut out = io::stdout().lock();
    out.write_all(&page)?;
    out.flush()?;
    Ok(Exit::Fine)
}

fn render(page: &mut Vec<u8>) -> io::Result<()> {
    let mut cli = Cli::command().disable_help_subcommand(true);
    cli.build();
    let man = Man::new(cli.clone()).section("1").manual("User Commands");
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    commands(&cli, page)?;
    exit_status(page)?;
    environment(page)?;
    examples(&cli, page)
}

/// Each subcommand with its options; those that are the same everywhere stand in the main part.
fn commands(cli: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    Roff::new().control("SH", ["COMMANDS"]).to_writer(page)?;
    for command in cli.get_subcommands() {
        let about = command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string).unwrap_or_default();
        let mut head = Roff::new();
        head.control("SS", [format!("vramtop {}", command.get_name()).as_str()]);
        about.split("\n\n").for_each(|paragraph| {
            head.text([roman(paragraph)]).control("PP", []);
        });
        head.to_writer(page)?;
        let own = command.clone().mut_args(|arg| if arg.is_global_set() { arg.hide(true) } else { arg });
        let mut options = Vec::new();
        Man::new(own).render_options_section(&mut options)?;
        let options = String::from_utf8_lossy(&options);
        let lines = options.lines().filter(|line| !line.starts_with(".SH"));
        lines.for_each(|line| page.extend_from_slice(format!("{line}\n").as_bytes()));
    }
    Ok(())
}

fn exit_status(page: &mut Vec<u8>) -> io::Result<()> {
    let mut section = Roff::new();
    section.control("SH", ["EXIT STATUS"]);
    for (exit, meaning) in Exit::ALL {
        section.control("TP", []).text([bold((exit as u8).to_string())]).text([roman(meaning)]);
    }
    section.to_writer(page)
}

fn environment(page: &mut Vec<u8>) -> io::Result<()> {
    let mut section = Roff::new();
    section.control("SH", ["ENVIRONMENT"]);
    let settings = Key::ALL.map(|key| (key.variable(), format!("{}. In the file: {}.", key.meaning(), key.name())));
    let others = [
        (FILE_VARIABLE, "The file of settings, as --config names it.".to_owned()),
        ("NO_COLOR", "Set to anything: no colours, unless they are asked for.".to_owned()),
        ("LC_ALL, LC_CTYPE, LANG", "Whether the terminal takes more than ASCII.".to_owned()),
        ("CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER", "The GPUs of --visible.".to_owned()),
        ("COLUMNS", "Width of a status line.".to_owned()),
    ];
    for (name, meaning) in settings.into_iter().chain(others) {
        section.control("TP", []).text([bold(name)]).text([roman(meaning)]);
    }
    section.control("SH", ["FILES"]);
    section.control("TP", []).text([bold("~/.config/vramtop/config.toml")]);
    section.text([roman("Settings, below $XDG_CONFIG_HOME where that is set. vramtop --print-config prints a sample.")]);
    section.to_writer(page)
}

/// The examples of the help, as they stand there.
fn examples(cli: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let help = cli.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut section = Roff::new();
    section.control("SH", ["EXAMPLES"]).control("nf", []);
    for line in help.lines().skip(1).take_while(|line| !line.is_empty()) {
        section.text([roman(line.trim_start())]);
    }
    section.control("fi", []);
    section.to_writer(page)
}
