//! What the options for looking mean, resolved once.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};

use anyhow::Context;
use nix::unistd::{Uid, User};

use crate::cli::{Form, Look};
use crate::collect::{FixedFacts, HostScope, LiveOptions, Wanted};
use crate::config::{self, Color, Config, Style};
use crate::exit::UsageError;
use crate::model::{SafeText, Selection};
use crate::output::{LineOptions, MOST_NAMED};
use crate::view::{Colors, Theme, ThemeName};

impl Look {
    /// Length of a step in log mode; `None` where it is not log mode.
    pub(super) fn period_ms(&self) -> Option<u64> {
        self.loop_seconds.or(self.loop_ms)
    }

    /// Form of a record.
    pub(super) fn form(&self) -> Form {
        self.format.unwrap_or(Form::Text)
    }

    /// The source's options.
    pub(super) fn live(&self, config: &Config, interval_ms: u64, fixed: FixedFacts, host: HostScope) -> LiveOptions {
        LiveOptions {
            library: config.nvml_library.value.clone(),
            interval_ms,
            memory_hz: config.memory_hz.value,
            selection: self.selection(),
            slow: config.slow.value,
            fixed,
            host,
            ..LiveOptions::default()
        }
    }

    fn selection(&self) -> Selection {
        if self.visible {
            return Selection::Visible {
                value: env::var("CUDA_VISIBLE_DEVICES").ok(),
                pci_order: env::var("CUDA_DEVICE_ORDER").is_ok_and(|order| order == "PCI_BUS_ID"),
            };
        }
        if self.id.is_empty() { Selection::All } else { Selection::ids(&self.id.join(",")) }
    }

    /// The processes that are named.
    ///
    /// # Errors
    /// When there is no such user.
    pub(super) fn wanted(&self) -> anyhow::Result<Wanted> {
        let mut users = Vec::new();
        for user in &self.user {
            users.extend(names_of(user)?);
        }
        Ok(Wanted { users, pids: self.pid.clone() })
    }

    /// How lines are printed.
    pub(super) fn line_options(&self, style: Style) -> LineOptions {
        LineOptions { width: self.width(), ascii: style.is_ascii() }
    }

    /// Where records go. A file keeps what it has until there is something to be written.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub(super) fn writer(&self) -> anyhow::Result<Box<dyn Write>> {
        match &self.output {
            None => Ok(Box::new(BufWriter::with_capacity(1 << 16, io::stdout()))),
            Some(path) => {
                let failed = format!("cannot write {} (--output)", SafeText::new(&path.to_string_lossy()));
                let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).with_context(|| failed.clone())?;
                Ok(Box::new(BufWriter::with_capacity(1 << 16, OutputFile { file, failed, begun: false })))
            }
        }
    }

    /// Width of a status line: `COLUMNS`, or the terminal's; none where the line goes to a file or a pipe.
    pub(super) fn width(&self) -> Option<usize> {
        let columns = env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|n| *n > 0);
        if self.output.is_some() {
            return columns;
        }
        columns.or_else(|| super::stdout_is_terminal().then(|| usize::from(super::size::size().0)))
    }

    /// The most holders that one line of that width names: each takes ten columns and more. No limit where only some are wanted.
    pub(super) fn most_holders(&self) -> Option<usize> {
        let filtered = !self.user.is_empty() || !self.pid.is_empty();
        (!filtered).then(|| self.width().map_or(MOST_NAMED, |width| MOST_NAMED.min(width / 10 + 1)))
    }
}

/// A user as processes have it: by name, and by number for as long as the name is not known.
fn names_of(user: &str) -> anyhow::Result<Vec<String>> {
    let found = match user.parse() {
        Ok(uid) => User::from_uid(Uid::from_raw(uid)),
        Err(_) => User::from_name(user),
    };
    match found {
        Ok(Some(found)) => Ok(vec![found.name, found.uid.to_string()]),
        Ok(None) if user.parse::<u32>().is_err() => {
            let user = SafeText::new(user);
            Err(UsageError(format!("no user {user} on this system (--user): give a name or a number, as id -u prints it")).into())
        }
        // A number without a name, or a directory that does not answer.
        Ok(None) | Err(_) => Ok(vec![user.to_owned()]),
    }
}

/// The file of `--output`: emptied when the first record comes, and named in every error.
struct OutputFile {
    file: File,
    failed: String,
    begun: bool,
}

impl OutputFile {
    fn begin(&mut self) -> io::Result<()> {
        // A pipe or a device has nothing to be emptied.
        if !std::mem::replace(&mut self.begun, true) && self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        Ok(())
    }

    fn named<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.failed)))
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.begin().and_then(|()| self.file.write(bytes));
        self.named(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.begin().and_then(|()| self.file.flush());
        self.named(flushed)
    }
}

impl Style {
    /// Whether to draw with ASCII alone: asked for, or the locale is not UTF-8.
    pub(super) fn is_ascii(self) -> bool {
        self.ascii || !locale_draws(|name| env::var(name).ok())
    }
}

impl Style {
    /// The look of the dashboard in this terminal.
    pub(super) fn theme(self) -> Theme {
        let name = match self.theme {
            config::Theme::Default => ThemeName::Default,
            config::Theme::Light => ThemeName::Light,
            config::Theme::ColourBlind => ThemeName::ColourBlind,
            config::Theme::Mono => ThemeName::Mono,
        };
        Theme::named(name, self.colors(), self.is_ascii())
    }

    /// How many colours are used.
    pub(super) fn colors(self) -> Colors {
        let get = |name| env::var(name).ok();
        let (no_color, colorterm, term) = (get("NO_COLOR"), get("COLORTERM"), get("TERM"));
        match self.color {
            Color::Never => Colors::Never,
            Color::Auto => Colors::of_terminal(no_color.as_deref(), colorterm.as_deref(), term.as_deref()),
            Color::Always => Colors::of_terminal(None, colorterm.as_deref(), term.as_deref().filter(|term| *term != "dumb")),
        }
    }
}

/// Whether the glyphs can be drawn: the locale says UTF-8, and is not one in which terminals may draw ambiguous characters
/// (`│`, `█`, `·`) two cells wide. The first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set decides.
fn locale_draws(get: impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| get(name).filter(|value| !value.is_empty()));
    locale.is_some_and(|locale| {
        let lower = locale.to_ascii_lowercase();
        let east_asian =
            ["ja", "ko", "zh"].iter().any(|language| lower.starts_with(&format!("{language}_")) || lower.starts_with(&format!("{language}.")));
        (lower.contains("utf-8") || lower.contains("utf8")) && !east_asian
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_known_by_name_and_number() {
        for root in ["0", "root"] {
            assert_eq!(names_of(root).ok(), Some(vec!["root".to_owned(), "0".to_owned()]));
        }
        // Processes of a user without a name have the number.
        assert_eq!(names_of("4000000001").ok(), Some(vec!["4000000001".to_owned()]));
        assert!(names_of("no such user").is_err_and(|error| error.is::<UsageError>()));
    }

    #[test]
    fn the_locale_decides_on_ascii() {
        let with = |pairs: &'static [(&str, &str)]| locale_draws(|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()));
        assert!(with(&[("LANG", "de_DE.UTF-8")]));
        assert!(with(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8"), ("LANG", "C")]));
        assert!(!with(&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")]));
        assert!(!with(&[]));
        assert!(!with(&[("LANG", "ja_JP.UTF-8")]) && !with(&[("LC_ALL", "zh_CN.utf8")]));
    }
}
