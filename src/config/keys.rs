//! The keys: their names in the file and in the environment, and what may be said of each.
//!
//! It holds no defaults and no precedence.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueEnum as _;

use super::{Color, ConfigError, Theme};
use crate::model::SafeText;

/// Defines the keys once, with their names and what they are for.
macro_rules! keys {
    ($($key:ident, $name:literal, $variable:literal, $meaning:literal;)+) => {
        /// One thing that can be settled.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Key {
            $(#[doc = $meaning] $key),+
        }

        impl Key {
            /// All of them, in the order of the sample.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$key),+];

            /// Its name in the file.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$key => $name),+ }
            }

            /// Its name in the environment.
            pub const fn variable(self) -> &'static str {
                match self { $(Self::$key => $variable),+ }
            }

            /// What it is for.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$key => $meaning),+ }
            }
        }
    };
}

keys! {
    Color, "color", "VRAMTOP_COLOR", "When to use colours: auto, always or never";
    Ascii, "ascii", "VRAMTOP_ASCII", "Draw with ASCII characters alone: true or false";
    NvmlLibrary, "nvml_library", "VRAMTOP_NVML_LIBRARY", "Path of the driver's library; empty: search it";
    Interval, "interval", "VRAMTOP_INTERVAL", "Length of the dashboard's step in seconds, 0.1 to 60";
    MemoryHz, "memory_hz", "VRAMTOP_MEMORY_HZ", "Readings of the memory per second, 1 to 200";
    Slow, "slow", "VRAMTOP_SLOW", "Ask the costly questions, too: true or false";
    ReadOnly, "read_only", "VRAMTOP_READ_ONLY", "Offer nothing that changes the world, such as signals: true or false";
    Mouse, "mouse", "VRAMTOP_MOUSE", "Let the dashboard have the mouse: true or false";
    Theme, "theme", "VRAMTOP_THEME", "Which colours: default, light, colour-blind or mono";
    LogFile, "log_file", "VRAMTOP_LOG_FILE", "File for what happens inside, such as calls that fail; empty: none";
}

/// What one voice says: nothing where it is silent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// `color`.
    pub color: Option<Color>,
    /// `ascii`.
    pub ascii: Option<bool>,
    /// `nvml_library`.
    pub nvml_library: Option<PathBuf>,
    /// `interval`, in milliseconds.
    pub interval_ms: Option<u64>,
    /// `memory_hz`.
    pub memory_hz: Option<u32>,
    /// `slow`.
    pub slow: Option<bool>,
    /// `read_only`.
    pub read_only: Option<bool>,
    /// `mouse`.
    pub mouse: Option<bool>,
    /// `theme`.
    pub theme: Option<Theme>,
    /// `log_file`.
    pub log_file: Option<PathBuf>,
}

/// A value before anybody knows what it is for.
#[derive(Clone, Debug)]
pub(super) enum Given {
    /// From the environment, where everything is text.
    Word(OsString),
    /// From the file.
    Toml(toml::Value),
}

impl Layer {
    /// What the variables say. One that is empty says nothing.
    pub(super) fn of_environment(env: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError> {
        let mut layer = Self::default();
        for key in Key::ALL {
            if let Some(word) = env(key.variable()).filter(|word| !word.is_empty()) {
                layer.set(key, &Given::Word(word)).map_err(|what| ConfigError::Variable { name: key.variable(), what })?;
            }
        }
        Ok(layer)
    }

    /// Takes a value in, or says what may stand there instead.
    pub(super) fn set(&mut self, key: Key, given: &Given) -> Result<(), String> {
        match key {
            Key::Color => self.color = Some(given.color()?),
            Key::Ascii => self.ascii = Some(given.flag()?),
            Key::NvmlLibrary => self.nvml_library = Some(given.path()?),
            Key::Interval => self.interval_ms = Some(given.interval_ms()?),
            Key::MemoryHz => self.memory_hz = Some(given.memory_hz()?),
            Key::Slow => self.slow = Some(given.flag()?),
            Key::ReadOnly => self.read_only = Some(given.flag()?),
            Key::Mouse => self.mouse = Some(given.flag()?),
            Key::Theme => self.theme = Some(given.theme()?),
            Key::LogFile => self.log_file = Some(given.path()?),
        }
        Ok(())
    }
}

impl Given {
    fn color(&self) -> Result<Color, String> {
        let color = self.text().and_then(|text| Color::from_str(&text, false).ok());
        color.ok_or_else(|| self.wants("auto, always or never"))
    }

    fn theme(&self) -> Result<Theme, String> {
        let theme = self.text().and_then(|text| Theme::from_str(&text, false).ok());
        theme.ok_or_else(|| self.wants("default, light, colour-blind or mono"))
    }

    fn flag(&self) -> Result<bool, String> {
        let flag = match self {
            Self::Toml(toml::Value::Boolean(flag)) => Some(*flag),
            Self::Toml(_) => None,
            Self::Word(word) => match word.to_str() {
                Some("1" | "true" | "yes" | "on") => Some(true),
                Some("0" | "false" | "no" | "off") => Some(false),
                _ => None,
            },
        };
        flag.ok_or_else(|| self.wants("true or false"))
    }

    fn path(&self) -> Result<PathBuf, String> {
        match self {
            Self::Word(word) => Ok(word.into()),
            Self::Toml(toml::Value::String(path)) => Ok(path.into()),
            Self::Toml(_) => Err(self.wants("a path in quotes")),
        }
    }

    fn interval_ms(&self) -> Result<u64, String> {
        let seconds = self.number().filter(|seconds| (0.1..=60.0).contains(seconds)).ok_or_else(|| self.wants("0.1 to 60 seconds"))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0.1 to 60 seconds are 100 to 60 000 ms")]
        let ms = (seconds * 1000.0).round() as u64;
        Ok(ms)
    }

    fn memory_hz(&self) -> Result<u32, String> {
        let hz = match self {
            Self::Word(word) => word.to_str().and_then(|word| word.parse().ok()),
            Self::Toml(toml::Value::Integer(hz)) => u32::try_from(*hz).ok(),
            Self::Toml(_) => None,
        };
        hz.filter(|hz| (1..=200).contains(hz)).ok_or_else(|| self.wants("a whole number, 1 to 200"))
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Word(word) => word.to_str()?.parse().ok(),
            Self::Toml(toml::Value::Float(number)) => Some(*number),
            Self::Toml(toml::Value::Integer(number)) => Some(*number as f64),
            Self::Toml(_) => None,
        }
    }

    fn text(&self) -> Option<String> {
        match self {
            Self::Word(word) => word.to_str().map(str::to_owned),
            Self::Toml(value) => value.as_str().map(str::to_owned),
        }
    }

    /// What to write, and what stands there.
    fn wants(&self, right: &str) -> String {
        let stands = match self {
            Self::Word(word) => format!("{:?}", SafeText::new(&word.to_string_lossy()).as_str()),
            Self::Toml(toml::Value::String(text)) => format!("{:?}", SafeText::new(text).as_str()),
            Self::Toml(toml::Value::Boolean(flag)) => flag.to_string(),
            Self::Toml(toml::Value::Integer(number)) => number.to_string(),
            Self::Toml(toml::Value::Float(number)) => number.to_string(),
            Self::Toml(other) => format!("{} {}", if other.is_array() { "an" } else { "a" }, other.type_str()),
        };
        format!("give {right}, not {stands}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_the_key_in_capitals() {
        for key in Key::ALL {
            assert_eq!(key.variable(), format!("VRAMTOP_{}", key.name().to_uppercase()));
        }
    }

    #[test]
    fn the_environment_is_understood_or_named() {
        let with = |name: &'static str, value: &'static str| Layer::of_environment(&move |asked| (asked == name).then(|| value.into()));
        assert_eq!(with("VRAMTOP_INTERVAL", "0.5").unwrap().interval_ms, Some(500));
        assert_eq!(with("VRAMTOP_ASCII", "0").unwrap().ascii, Some(false));
        assert_eq!(with("VRAMTOP_SLOW", "").unwrap(), Layer::default());
        for (name, value, says) in [
            ("VRAMTOP_MEMORY_HZ", "201", "VRAMTOP_MEMORY_HZ: give a whole number, 1 to 200, not \"201\" (in the environment)"),
            ("VRAMTOP_COLOR", "blue", "VRAMTOP_COLOR: give auto, always or never, not \"blue\" (in the environment)"),
            ("VRAMTOP_INTERVAL", "nan", "VRAMTOP_INTERVAL: give 0.1 to 60 seconds, not \"nan\" (in the environment)"),
        ] {
            assert_eq!(with(name, value).unwrap_err().to_string(), says);
        }
    }
}
