//! What is settled before anything runs: flags > environment > file > default, resolved once, each value with its origin.
//!
//! It refuses to know what a setting is used for, and to print anything.

mod error;
mod file;
mod keys;

pub use error::ConfigError;
pub use file::default_file;
pub use keys::{Key, Layer};

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::model::SafeText;

/// The commented sample: every key with its default.
pub const SAMPLE: &str = include_str!("../../assets/config.sample.toml");

/// Names the file, as `--config` does.
pub const FILE_VARIABLE: &str = "VRAMTOP_CONFIG";

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// Where the terminal has them and NO_COLOR is not set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never: bold, dim and reverse alone.
    Never,
}

/// Which colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
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

impl Theme {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Light => "light",
            Self::ColourBlind => "colour-blind",
            Self::Mono => "mono",
        }
    }
}

/// Where a value comes from, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Flag,
    /// A `VRAMTOP_…` variable.
    Environment,
    /// The file.
    File,
    /// Nobody said anything.
    Default,
}

impl Origin {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Environment => "environment",
            Self::File => "file",
            Self::Default => "default",
        }
    }
}

/// One value, and who said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub origin: Origin,
}

/// How the dashboard and the lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// When to use colours.
    pub color: Color,
    /// Draw with ASCII characters alone.
    pub ascii: bool,
    /// Let the dashboard have the mouse.
    pub mouse: bool,
    /// Which colours.
    pub theme: Theme,
}

/// Everything that can be settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// When to use colours.
    pub color: Setting<Color>,
    /// Draw with ASCII characters alone.
    pub ascii: Setting<bool>,
    /// The library to load instead of the one that is found.
    pub nvml_library: Setting<Option<PathBuf>>,
    /// Length of the dashboard's step in milliseconds.
    pub interval_ms: Setting<u64>,
    /// Readings of the memory per second.
    pub memory_hz: Setting<u32>,
    /// Asks the costly questions, too.
    pub slow: Setting<bool>,
    /// Offer nothing that changes the world, such as signals.
    pub read_only: Setting<bool>,
    /// Let the dashboard have the mouse.
    pub mouse: Setting<bool>,
    /// Which colours.
    pub theme: Setting<Theme>,
    /// Where what happens inside is written.
    pub log_file: Setting<Option<PathBuf>>,
    /// The file that was read, if there is one.
    pub file: Option<PathBuf>,
    /// Why the file at the default place was not read although there may be one: nobody named it, so it keeps nothing from starting.
    pub unread: Option<ConfigError>,
}

impl Config {
    /// Settles everything. `named` is the file of `--config`; `env` looks a variable up.
    ///
    /// # Errors
    /// When the file that was named cannot be read, or a file or a variable says what cannot be.
    pub fn resolve(flags: Layer, named: Option<&Path>, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError> {
        let environment = Layer::of_environment(env)?;
        let variable = env(FILE_VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
        let (file, layer, unread) = match named.map(Path::to_owned).or(variable) {
            Some(path) => (Some(path.clone()), file::read(&path)?, None),
            None => match file::read_default(default_file()) {
                Ok((file, layer)) => (file, layer, None),
                Err(error @ ConfigError::Unreadable { .. }) => (None, Layer::default(), Some(error)),
                Err(error) => return Err(error),
            },
        };
        Ok(Self { file, unread, ..Self::of(flags, environment, layer) })
    }

    /// What the flags alone say; for whoever goes on after [`Config::resolve`] has failed.
    pub fn of_flags(flags: Layer) -> Self {
        Self::of(flags, Layer::default(), Layer::default())
    }

    fn of(flags: Layer, environment: Layer, file: Layer) -> Self {
        Self {
            color: pick(flags.color, environment.color, file.color, Color::Auto),
            ascii: pick(flags.ascii, environment.ascii, file.ascii, false),
            nvml_library: pick_path(flags.nvml_library, environment.nvml_library, file.nvml_library),
            interval_ms: pick(flags.interval_ms, environment.interval_ms, file.interval_ms, 1000),
            memory_hz: pick(flags.memory_hz, environment.memory_hz, file.memory_hz, 20),
            slow: pick(flags.slow, environment.slow, file.slow, false),
            read_only: pick(flags.read_only, environment.read_only, file.read_only, false),
            mouse: pick(flags.mouse, environment.mouse, file.mouse, true),
            theme: pick(flags.theme, environment.theme, file.theme, Theme::Default),
            log_file: pick_path(flags.log_file, environment.log_file, file.log_file),
            file: None,
            unread: None,
        }
    }

    /// How things look.
    pub const fn style(&self) -> Style {
        Style { color: self.color.value, ascii: self.ascii.value, mouse: self.mouse.value, theme: self.theme.value }
    }

    /// Every value as the file spells it, with its origin, in the file's order.
    pub fn rows(&self) -> Vec<(Key, String, Origin)> {
        let color = match self.color.value {
            Color::Auto => "auto",
            Color::Always => "always",
            Color::Never => "never",
        };
        let path = |path: &Option<PathBuf>| path.as_deref().map_or(String::new(), |path| SafeText::new(&path.to_string_lossy()).to_string());
        Key::ALL
            .into_iter()
            .map(|key| match key {
                Key::Color => (key, color.to_owned(), self.color.origin),
                Key::Ascii => (key, self.ascii.value.to_string(), self.ascii.origin),
                Key::NvmlLibrary => (key, path(&self.nvml_library.value), self.nvml_library.origin),
                Key::Interval => (key, seconds(self.interval_ms.value), self.interval_ms.origin),
                Key::MemoryHz => (key, self.memory_hz.value.to_string(), self.memory_hz.origin),
                Key::Slow => (key, self.slow.value.to_string(), self.slow.origin),
                Key::ReadOnly => (key, self.read_only.value.to_string(), self.read_only.origin),
                Key::Mouse => (key, self.mouse.value.to_string(), self.mouse.origin),
                Key::Theme => (key, self.theme.value.name().to_owned(), self.theme.origin),
                Key::LogFile => (key, path(&self.log_file.value), self.log_file.origin),
            })
            .collect()
    }
}

fn pick<T>(flag: Option<T>, environment: Option<T>, file: Option<T>, default: T) -> Setting<T> {
    let said = [(flag, Origin::Flag), (environment, Origin::Environment), (file, Origin::File)];
    let first = said.into_iter().find_map(|(value, origin)| value.map(|value| Setting { value, origin }));
    first.unwrap_or(Setting { value: default, origin: Origin::Default })
}

/// In the file an empty name is the default's: none.
fn pick_path(flag: Option<PathBuf>, environment: Option<PathBuf>, file: Option<PathBuf>) -> Setting<Option<PathBuf>> {
    let file = file.map(|path| Some(path).filter(|path| !path.as_os_str().is_empty()));
    pick(flag.map(Some), environment.map(Some), file, None)
}

/// Milliseconds as seconds, without zeros at the end.
fn seconds(ms: u64) -> String {
    let text = format!("{}.{:03}", ms / 1000, ms % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_voice_wins_and_is_named() {
        let says = |hz| Layer { memory_hz: Some(hz), ..Layer::default() };
        let silent = Layer::default;
        for (layers, value, origin) in [
            ([says(1), says(2), says(3)], 1, Origin::Flag),
            ([silent(), says(2), says(3)], 2, Origin::Environment),
            ([silent(), silent(), says(3)], 3, Origin::File),
            ([silent(), silent(), silent()], 20, Origin::Default),
        ] {
            let [flags, environment, file] = layers;
            assert_eq!(Config::of(flags, environment, file).memory_hz, Setting { value, origin });
        }
    }

    #[test]
    fn seconds_are_short() {
        assert_eq!([1000, 500, 60_000, 1_250].map(seconds), ["1", "0.5", "60", "1.25"]);
    }
}
