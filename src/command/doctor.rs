//! `doctor`: gathers the facts, has them judged, and prints the report; the exit code is what any other command would end with.

use std::env;
use std::io::{self, IsTerminal as _};
use std::path::Path;

use super::{settings, stdout_is_terminal};
use crate::cli::{Cli, Doctor, ReportForm};
use crate::collect::all_asleep;
use crate::collect::host::Host;
use crate::config::{Config, ConfigError, Key, Origin, Style};
use crate::doctor::driver::{DriverFacts, Patience, Processes, State, examine};
use crate::doctor::machine::Machine;
use crate::doctor::{Facts, Outcome, Private, Report, Settings, Terminal, Value, text};
use crate::exit::Exit;
use crate::model::SafeText;
use crate::view::Colors;

/// Prints the report.
///
/// # Errors
/// When stdout fails, or a thread cannot be made.
pub(super) fn run(wanted: &Doctor, cli: &Cli) -> anyhow::Result<Exit> {
    let (config, error) = match settings::resolve(cli) {
        Ok(config) => (config, None),
        Err(error) => (Config::of_flags(settings::flags(cli)), Some(error)),
    };
    let asleep = !wanted.wake && config.nvml_library.value.is_none() && all_asleep(Path::new("/proc"), Path::new("/sys")).is_some();
    let (driver, gpus, processes) = if asleep {
        (DriverFacts::new(State::Asleep), Vec::new(), Processes::default())
    } else {
        examine(config.nvml_library.value.clone(), Patience::default())?
    };
    let style = config.style();
    let private = Private::new(&|name| env::var_os(name), Host::hostname().as_str());
    let report = Report::of(Facts {
        driver,
        gpus,
        processes,
        machine: Machine::read(Path::new("/"), &|name| env::var_os(name)),
        terminal: terminal(style),
        settings: in_force(&config, error.as_ref(), &private),
    });
    let shown = match wanted.format {
        ReportForm::Text => text::report(&report, style.is_ascii()),
        ReportForm::Json => serde_json::to_string(&report)? + "\n",
    };
    super::print(&private.hide(&shown))?;
    Ok(match report.outcome {
        Outcome::Works => Exit::Fine,
        Outcome::SomeUnreadable => Exit::SomeUnreadable,
        Outcome::NoDriver => Exit::NoDriver,
        Outcome::NotPermitted => Exit::NotPermitted,
        Outcome::Silent => Exit::Failed,
        Outcome::WrongSettings => Exit::Usage,
    })
}

fn terminal(style: Style) -> Terminal {
    let word = |name| env::var_os(name).filter(|value| !value.is_empty()).map(|value| SafeText::new(&value.to_string_lossy()).to_string());
    Terminal {
        term: word("TERM"),
        colorterm: word("COLORTERM"),
        no_color: word("NO_COLOR").is_some(),
        locale: ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(word),
        inside: match (word("TMUX"), word("STY")) {
            (Some(_), _) => Some("tmux"),
            (None, Some(_)) => Some("screen"),
            (None, None) => None,
        },
        colors: match style.colors() {
            Colors::Never => "no colours",
            Colors::Sixteen => "16 colours",
            Colors::Many => "256 colours",
            Colors::True => "24-bit colours",
        },
        glyphs: if style.is_ascii() { "ASCII" } else { "Unicode" },
        size: crossterm::terminal::size().ok().filter(|_| stdout_is_terminal()),
        stdin: io::stdin().is_terminal(),
        stdout: stdout_is_terminal(),
    }
}

/// Values are hidden here and not in the whole alone: their column is as wide as what is told of them.
fn in_force(config: &Config, error: Option<&ConfigError>, private: &Private) -> Settings {
    let value = |(key, value, origin): (Key, String, Origin)| Value { key: key.name(), value: private.hide(&value), origin: origin.name() };
    let values = config.rows().into_iter().map(value);
    Settings {
        file: config.file.as_ref().map(|path| SafeText::new(&path.to_string_lossy()).to_string()),
        unread: config.unread.as_ref().map(ToString::to_string),
        error: error.map(ToString::to_string),
        values: values.collect(),
    }
}
