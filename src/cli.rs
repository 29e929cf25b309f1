//! The command line as types. No I/O, no meaning: what was typed is understood in `command`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Who holds the VRAM, what it is made of, and whether it will run out.
///
/// Without options: the dashboard. Sizes are in GiB with one decimal; percentages are of what CUDA can hand out
/// (the total less the driver's reserve), so 100 % means full.
#[derive(Debug, Parser)]
#[command(name = "vramtop", version, max_term_width = 98, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do instead of showing this machine.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// How to look at this machine.
    #[command(flatten)]
    pub look: Look,

    /// How it looks.
    #[command(flatten)]
    pub style: Style,
}

const EXAMPLES: &str = "\
Examples:
  vramtop                               the dashboard (q leaves, ? helps)
  vramtop --once                        one line a GPU
  vramtop -l 1                          a line a GPU every second until stopped
  vramtop -l 1 --format json -o run.jsonl   a recording
  vramtop replay run.jsonl              the dashboard over that recording
  vramtop demo                          the dashboard without a GPU

Exit codes:
  0 fine, also when the reader of a pipe went away    1 failed    2 wrong usage
  3 no NVIDIA driver, library or GPU    4 not permitted    5 some GPUs could not be read";

/// Subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The dashboard over a recording.
    Replay(Replay),
    /// The dashboard over the recording that is built in: no GPU needed.
    Demo,
}

/// Which GPUs and processes, how often, and in what form.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
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
    #[arg(short = 'i', long, value_name = "ID,…", conflicts_with = "visible")]
    pub id: Option<String>,

    /// Only the GPUs of `CUDA_VISIBLE_DEVICES`.
    ///
    /// Refused with indices on mixed cards unless CUDA_DEVICE_ORDER=PCI_BUS_ID is set, since CUDA counts the fastest first.
    #[arg(long)]
    pub visible: bool,

    /// Only processes of these users, separated by commas.
    #[arg(short = 'u', long, value_name = "USER,…", value_delimiter = ',')]
    pub user: Vec<String>,

    /// Only these processes, separated by commas.
    #[arg(short = 'p', long, value_name = "PID,…", value_delimiter = ',')]
    pub pid: Vec<u32>,

    /// Form of --once and of the log. A json log is a recording.
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Form::Text)]
    pub format: Form,

    /// Write to FILE instead of stdout.
    #[arg(short = 'o', long, visible_short_alias = 'f', value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Ask the dear questions too: process utilization, `PCIe`, energy.
    ///
    /// They hold the driver's lock for milliseconds and stall every program that asks it something meanwhile.
    #[arg(long)]
    pub slow: bool,

    /// Change nothing: no signal can be sent from the dashboard.
    #[arg(long)]
    pub read_only: bool,

    /// Load this library instead of the libnvidia-ml.so.1 that is found.
    #[arg(long, value_name = "PATH")]
    pub nvml_library: Option<PathBuf>,
}

/// Colours and characters.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Style")]
pub struct Style {
    /// When to use colours. `NO_COLOR` is obeyed, too.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, global = true)]
    pub color: Color,

    /// Which colours: for a dark or a light background, for any kind of colour vision, or none.
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Theme::Default, global = true)]
    pub theme: Theme,

    /// Draw with ASCII characters alone.
    #[arg(long, global = true)]
    pub ascii: bool,
}

/// Form of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// One line a GPU, for people.
    #[default]
    Text,
    /// One object a line, for programs: a recording.
    Json,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// Where the terminal has them and `NO_COLOR` is not set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never: bold, dim and reverse alone.
    Never,
}

/// Which colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Theme {
    /// For a dark background.
    #[default]
    Default,
    /// For a light background.
    Light,
    /// For a dark background, with hues that everybody can tell apart.
    ColourBlind,
    /// Weight and texture alone.
    Mono,
}

/// `vramtop replay`.
#[derive(Args, Debug)]
pub struct Replay {
    /// The recording (`vramtop -l 1 --format json` writes one); - reads stdin.
    pub file: PathBuf,
}

/// Seconds with decimals, as milliseconds.
fn seconds(text: &str) -> Result<u64, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("{text:?} is no number of seconds"))?;
    if !(0.05..=86_400.0).contains(&seconds) {
        return Err("give 0.05 to 86400 seconds".to_owned());
    }
    // In range, so the rounded figure fits.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0.05 to 86400 seconds are 50 to 86 400 000 ms")]
    let ms = (seconds * 1000.0).round() as u64;
    Ok(ms)
}

/// nvidia-smi's `-lms N`, which clap would read as `-l ms`, in the spelling that the parser knows.
pub fn understand_smi(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
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
    use clap::CommandFactory;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(understand_smi(line.split(' ').map(OsString::from)))
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
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
