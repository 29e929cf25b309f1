//! The command line as types. No I/O, no meaning: what was typed is understood in `command`.

mod subcommands;
mod values;

pub use subcommands::{Completions, Doctor, Explain, Replay, ReportForm, Shell};
pub use values::Form;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::config::{Color, Theme};
use values::{form, seconds};

/// How much VRAM is free, who holds the rest, and how fast it changes.
///
/// Without options: the dashboard. Sizes are in GiB with one decimal; percentages are of what CUDA can hand out
/// (the total less the driver's reserve), so 100 % means full. Style and settings stand before a command or after it; the last word
/// counts.
#[derive(Debug, Parser)]
#[command(name = "vramtop", version, max_term_width = 98, after_help = EXAMPLES, subcommand_negates_reqs = true)]
pub struct Cli {
    /// What to do instead of showing this machine.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// How to look at this machine.
    #[command(flatten)]
    pub look: Look,

    /// As nvidia-smi does.
    #[command(flatten)]
    pub smi: Smi,

    /// How it looks.
    #[command(flatten)]
    pub style: StyleFlags,

    /// Where the rest is settled.
    #[command(flatten)]
    pub settings: Settings,
}

const EXAMPLES: &str = "\
Examples:
  vramtop                               the dashboard (q leaves, ? helps)
  vramtop --once                        one line a GPU
  vramtop -l 1                          a line a GPU every second until stopped
  vramtop --query-gpu=index,memory.used --format=csv,noheader   as nvidia-smi prints it
  vramtop -l 1 --format json -o run.jsonl   a recording
  vramtop replay run.jsonl              the dashboard over that recording
  vramtop demo                          the dashboard without a GPU
  vramtop explain job.log               why a job ran out of memory

Exit codes:
  0  fine, also when the reader of a pipe went away
  1  failed, or the answer is no
  2  wrong usage, or a GPU or setting that cannot be
  3  no NVIDIA driver, library or GPU
  4  not permitted
  5  some GPUs could not be read; the others were";

/// Subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The dashboard over a recording.
    Replay(Replay),
    /// The dashboard over the recording that is built in: no GPU needed.
    Demo,
    /// Why it ran out of memory: what an out-of-memory text in a log means, what to change first, and what won't help.
    ///
    /// Reads logs of any size, within gzip, zip or plain, of torch, TensorFlow, JAX, llama.cpp, vLLM and others, torch memory snapshots and
    /// memory summaries, and recordings. Needs no GPU.
    /// Ends with 1 where it finds nothing or a FILE cannot be read; the others are answered all the same.
    Explain(Explain),
    /// What works here and what doesn't, and why: a report without anything private in it.
    ///
    /// Puts every question that vramtop has to every GPU, twice, and says what came of it and in how many microseconds. A question
    /// that is not answered in 5 s ends the questions to that GPU.
    Doctor(Doctor),
    /// Completions for a shell, on stdout.
    ///
    /// bash: source <(vramtop completions bash), or into ~/.local/share/bash-completion/completions/vramtop;
    /// zsh: into _vramtop in a folder of $fpath; fish: into ~/.config/fish/completions/vramtop.fish.
    Completions(Completions),
    /// The man page, on stdout: vramtop man | man -l -
    Man,
}

/// Which GPUs and processes, how often, and in what form.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Looking")]
pub struct Look {
    /// One status line a GPU, then exit.
    #[arg(long, conflicts_with = "period")]
    pub once: bool,

    /// Log mode: a record every SECONDS on stdout until stopped (0.05 and up, decimals).
    #[arg(short = 'l', long = "loop", value_name = "SECONDS", value_parser = seconds, group = "period")]
    pub loop_seconds: Option<u64>,

    /// The same in milliseconds; -lms N is understood, too.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(50..=86_400_000), group = "period")]
    pub loop_ms: Option<u64>,

    /// Stop after N records.
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), requires = "period")]
    pub count: Option<u64>,

    /// Only these GPUs: index, UUID or PCI id, separated by commas.
    #[arg(short = 'i', long, value_name = "ID,..", conflicts_with = "visible")]
    pub id: Vec<String>,

    /// Whether only CUDA's own devices are meant. The help is given apart, since backticks would stand in it.
    #[arg(
        long,
        help = "Only the GPUs of CUDA_VISIBLE_DEVICES",
        long_help = "Only the GPUs of CUDA_VISIBLE_DEVICES.\n\nRefused with indices on mixed cards unless CUDA_DEVICE_ORDER=PCI_BUS_ID is set, since CUDA counts the fastest first."
    )]
    pub visible: bool,

    /// Only processes of these users, separated by commas.
    #[arg(short = 'u', long, value_name = "USER,..", value_delimiter = ',')]
    pub user: Vec<String>,

    /// Only these processes, separated by commas.
    #[arg(short = 'p', long, value_name = "PID,..", value_delimiter = ',')]
    pub pid: Vec<u32>,

    /// Form of --once and of the log: text, json, or csv[,noheader][,nounits].
    ///
    /// text is one line a GPU, for people (the default); json is one object a line, for programs, and a json log is a recording; csv
    /// is nvidia-smi's dialect: the fields of --query-gpu or --query-compute-apps, or a usual list.
    #[arg(long, value_name = "FORM", value_parser = form)]
    pub format: Option<Form>,

    /// Write to FILE instead of stdout.
    #[arg(short = 'o', long, visible_short_alias = 'f', value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Scripts that were written for nvidia-smi.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "As nvidia-smi does")]
pub struct Smi {
    /// Print these fields of each GPU as nvidia-smi does, once or with -l every SECONDS.
    ///
    /// Names, units and cells are nvidia-smi's (vramtop --help-query-gpu lists them). A field that is not offered is refused by name.
    #[arg(long, value_name = "FIELD,..")]
    pub query_gpu: Option<String>,

    /// The same for each process that computes on a GPU.
    #[arg(long, value_name = "FIELD,..", conflicts_with = "query_gpu")]
    pub query_compute_apps: Option<String>,

    /// List the GPUs and their MIG instances as nvidia-smi does, then exit.
    #[arg(short = 'L', long, conflicts_with_all = ["once", "period", "format", "query_gpu", "query_compute_apps"])]
    pub list_gpus: bool,

    /// List the fields of --query-gpu with their units and what each says.
    #[arg(long, conflicts_with_all = ["Look", "query_gpu", "query_compute_apps", "list_gpus"])]
    pub help_query_gpu: bool,

    /// List the fields of --query-compute-apps.
    #[arg(long, conflicts_with_all = ["Look", "query_gpu", "query_compute_apps", "list_gpus", "help_query_gpu"])]
    pub help_query_compute_apps: bool,
}

/// Colours and characters.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Style")]
pub struct StyleFlags {
    /// When to use colours; by default where the terminal has them and NO_COLOR is not set.
    #[arg(long, value_name = "WHEN", value_enum, global = true, overrides_with = "color")]
    pub color: Option<Color>,

    /// Which colours: for a dark or a light background, for any kind of colour vision, or none.
    #[arg(long, value_name = "NAME", value_enum, global = true, overrides_with = "theme")]
    pub theme: Option<Theme>,

    /// Draw with ASCII characters alone.
    #[arg(long, global = true, overrides_with = "ascii")]
    pub ascii: bool,

    /// Leave the mouse to the terminal, for its own selection. (With the mouse, hold Shift for that.)
    #[arg(long, global = true, overrides_with = "no_mouse")]
    pub no_mouse: bool,
}

/// The file of settings, and what it can say beside the style.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Settings")]
pub struct Settings {
    /// Read settings from FILE instead of ~/.config/vramtop/config.toml.
    ///
    /// A flag goes before a VRAMTOP_… variable, a variable before the file: vramtop doctor shows what is in force.
    #[arg(long, value_name = "FILE", global = true, overrides_with = "config")]
    pub config: Option<PathBuf>,

    /// Print a commented sample of that file, with every key and its default.
    #[arg(long, conflicts_with_all = ["Look", "Smi"])]
    pub print_config: bool,

    /// Load this library instead of the libnvidia-ml.so.1 that is found.
    #[arg(long, value_name = "PATH", global = true, overrides_with = "nvml_library")]
    pub nvml_library: Option<PathBuf>,

    /// Ask the costly questions too: process utilization, PCIe traffic, energy.
    ///
    /// They hold the driver's lock for milliseconds and stall every program that asks it something meanwhile.
    #[arg(long, global = true, overrides_with = "slow")]
    pub slow: bool,

    /// Change nothing: no signal can be sent from the dashboard.
    #[arg(long, global = true, overrides_with = "read_only")]
    pub read_only: bool,

    /// Append what happens inside to FILE: the driver found and lost, calls that fail or are slow, gaps, panics.
    ///
    /// It is for reports of faults. A recording of what is seen is -l 1 --format json -o FILE.
    #[arg(long, value_name = "FILE", global = true, overrides_with = "log_file")]
    pub log_file: Option<PathBuf>,
}

impl Cli {
    /// Understands a command line.
    ///
    /// # Errors
    /// A text for the person, which may also be the help that was asked for.
    pub fn understand(args: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut command = Self::command();
        let matches = command.try_get_matches_from_mut(understand_smi(args))?;
        if let Some(refusal) = before_a_subcommand(&command, &matches) {
            return Err(command.error(ErrorKind::ArgumentConflict, refusal));
        }
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

/// Why an option cannot stand before the subcommand: it is none of those that hold everywhere.
fn before_a_subcommand(command: &clap::Command, matches: &ArgMatches) -> Option<String> {
    let subcommand = command.find_subcommand(matches.subcommand_name()?)?;
    let name = subcommand.get_name();
    let given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let wrong = command.get_arguments().find(|arg| !arg.is_global_set() && given(arg.get_id().as_str()))?;
    let long = wrong.get_long();
    let has_its_own = subcommand.get_arguments().any(|arg| arg.get_long() == long);
    Some(match long {
        Some(long) if has_its_own => format!("'--{long}' of '{name}' goes after it: vramtop {name} --{long}"),
        _ => format!("'{name}' takes no '{wrong}'"),
    })
}

/// nvidia-smi's `-lms N`, which clap would read as `-l ms`, in the spelling that the parser knows.
fn understand_smi(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    args.into_iter()
        .flat_map(|arg| match arg.to_str() {
            Some("-lms") => vec!["--loop-ms".into()],
            Some(text) if text.starts_with("-lms=") => vec!["--loop-ms".into(), text["-lms=".len()..].into()],
            _ => vec![arg],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::understand(line.split(' ').map(OsString::from))
    }

    #[test]
    fn the_parser_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn intervals_are_understood_in_every_spelling() {
        for (line, ms) in [("vramtop -l 1", 1000), ("vramtop -l 0.05", 50), ("vramtop --loop=2.5", 2500)] {
            assert_eq!(parse(line).expect("valid").look.loop_seconds, Some(ms), "{line}");
        }
        for line in ["vramtop -lms 200", "vramtop -lms=200", "vramtop --loop-ms 200"] {
            assert_eq!(parse(line).expect("valid").look.loop_ms, Some(200), "{line}");
        }
    }

    /// As an alias with settings in it makes of it.
    #[test]
    fn what_holds_everywhere_stands_before_a_subcommand_and_after_it() {
        let globals =
            ["--color never", "--theme light", "--ascii", "--no-mouse", "--config x", "--nvml-library x", "--slow", "--read-only", "--log-file x"];
        for subcommand in ["replay x", "demo", "doctor", "completions bash", "man"] {
            for flag in globals {
                let understood = |line: String| {
                    let Cli { command, style, settings, .. } = parse(&line).expect(&line);
                    format!("{command:?} {style:?} {settings:?}")
                };
                let before = understood(format!("vramtop {flag} {subcommand}"));
                assert_eq!(before, understood(format!("vramtop {subcommand} {flag}")));
                assert_eq!(before, understood(format!("vramtop {flag} {subcommand} {flag}")));
                assert_ne!(before, understood(format!("vramtop {subcommand}")), "{flag}");
            }
        }
    }

    #[test]
    fn the_last_word_counts() {
        for line in ["vramtop --theme light --theme mono", "vramtop --theme light demo --theme mono", "vramtop demo --theme light --theme mono"] {
            assert_eq!(parse(line).expect(line).style.theme, Some(Theme::Mono), "{line}");
        }
        assert!(parse("vramtop --ascii --ascii").expect("valid").style.ascii);
    }

    #[test]
    fn an_option_for_looking_before_a_subcommand_is_refused_with_both_names() {
        for (line, right) in [
            ("vramtop -l 1 demo", "'demo' takes no '--loop <SECONDS>'"),
            ("vramtop -n 3 demo", "'demo' takes no '--count <N>'"),
            ("vramtop --once replay x", "'replay' takes no '--once'"),
            ("vramtop -i 0 man", "'man' takes no '--id <ID,..>'"),
            ("vramtop -L doctor", "'doctor' takes no '--list-gpus'"),
            ("vramtop --query-gpu=index doctor", "'doctor' takes no '--query-gpu <FIELD,..>'"),
            ("vramtop --print-config demo", "'demo' takes no '--print-config'"),
            ("vramtop --ascii --format json doctor", "'--format' of 'doctor' goes after it: vramtop doctor --format"),
        ] {
            let said = parse(line).expect_err("refused").to_string();
            assert_eq!(said.lines().next(), Some(format!("error: {right}").as_str()), "{line}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for line in [
            "vramtop -l 0",
            "vramtop -l nan",
            "vramtop -l",
            "vramtop --once -l 1",
            "vramtop -n 3",
            "vramtop -i 0 --visible",
            "vramtop -p x",
            "vramtop --format xml",
            "vramtop --format json,noheader",
            "vramtop --format csv,nothing",
            "vramtop -L --once",
            "vramtop --query-gpu=index --query-compute-apps=pid",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
