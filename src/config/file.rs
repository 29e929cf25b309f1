//! The file: where it lies, and its text as a [`Layer`]. A key that is not known is refused, with its line and the nearest name.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use toml::Spanned;

use super::ConfigError;
use super::keys::{Given, Key, Layer};
use crate::model::SafeText;

/// Where the file lies when nobody names one: `$XDG_CONFIG_HOME/vramtop/config.toml`, by default below `~/.config`.
pub fn default_file() -> Option<PathBuf> {
    // Without a home there is no such place.
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.config_dir().join("vramtop/config.toml"))
}

/// Reads a file that must be there.
pub(super) fn read(path: &Path) -> Result<Layer, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    parse(path, &text)
}

/// Reads the file at the default place, where there may be none.
pub(super) fn read_default(path: Option<PathBuf>) -> Result<(Option<PathBuf>, Layer), ConfigError> {
    let Some(path) = path else { return Ok((None, Layer::default())) };
    match std::fs::read_to_string(&path) {
        Ok(text) => parse(&path, &text).map(|layer| (Some(path), layer)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok((None, Layer::default())),
        Err(error) => Err(unreadable(&path, &error)),
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> ConfigError {
    ConfigError::Unreadable { file: safe(path), reason: error.to_string() }
}

fn safe(path: &Path) -> SafeText {
    SafeText::new(&path.to_string_lossy())
}

fn parse(path: &Path, text: &str) -> Result<Layer, ConfigError> {
    let wrong = |at: usize, what: String| ConfigError::Line { file: safe(path), line: line_of(text, at), what };
    let table: BTreeMap<Spanned<String>, Spanned<toml::Value>> =
        toml::from_str(text).map_err(|error| wrong(error.span().map_or(0, |span| span.start), SafeText::new(error.message()).to_string()))?;
    // In the order of the file, so that the first mistake is the one that is named.
    let mut pairs: Vec<_> = table.into_iter().collect();
    pairs.sort_by_key(|(key, _)| key.span().start);
    let mut layer = Layer::default();
    for (name, value) in pairs {
        let at = name.span().start;
        let key = Key::ALL.into_iter().find(|key| key.name() == name.get_ref()).ok_or_else(|| wrong(at, unknown(name.get_ref())))?;
        layer.set(key, &Given::Toml(value.into_inner())).map_err(|what| wrong(at, format!("{}: {what}", key.name())))?;
    }
    Ok(layer)
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

fn unknown(name: &str) -> String {
    let nearest = Key::ALL.into_iter().map(|key| (strsim::damerau_levenshtein(name, key.name()), key.name())).min();
    let shown = SafeText::new(name);
    match nearest {
        Some((distance, key)) if distance <= 1 + key.len() / 4 => format!("unknown key \"{shown}\": did you mean \"{key}\"?"),
        _ => format!("unknown key \"{shown}\": the keys are {}", Key::ALL.map(Key::name).join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        parse(Path::new("config.toml"), text).unwrap_err().to_string()
    }

    #[test]
    fn a_key_that_is_not_known_is_named_with_its_line_and_the_nearest() {
        assert_eq!(said("# mine\nascii = true\n\ncolour = \"never\"\n"), "config.toml:4: unknown key \"colour\": did you mean \"color\"?");
        assert_eq!(said("nvml-library = \"/x\""), "config.toml:1: unknown key \"nvml-library\": did you mean \"nvml_library\"?");
        assert_eq!(
            said("[gpu]\nx = 1"),
            "config.toml:1: unknown key \"gpu\": the keys are color, ascii, nvml_library, interval, memory_hz, slow, read_only, mouse, theme"
        );
        assert_eq!(
            said("\"\\u001B[31m\" = 1"),
            "config.toml:1: unknown key \"\\u{1b}[31m\": the keys are color, ascii, nvml_library, interval, memory_hz, slow, read_only, mouse, theme"
        );
    }

    #[test]
    fn a_value_that_cannot_be_is_named_with_its_line() {
        assert_eq!(said("slow = false\ncolor = \"blue\""), "config.toml:2: color: give auto, always or never, not \"blue\"");
        assert_eq!(said("memory_hz = 0"), "config.toml:1: memory_hz: give a whole number, 1 to 200, not 0");
        assert_eq!(said("interval = \"1\""), "config.toml:1: interval: give 0.1 to 60 seconds, not \"1\"");
        assert_eq!(said("ascii = []"), "config.toml:1: ascii: give true or false, not an array");
        assert!(said("ascii = true\nascii = true").starts_with("config.toml:2: duplicate key"));
        assert!(said("ascii true").starts_with("config.toml:1: "));
    }

    #[test]
    fn what_is_right_is_taken() {
        let layer = parse(Path::new("x"), "interval = 2\nmemory_hz = 200\nascii = true\nnvml_library = \"/opt/x.so\"").unwrap();
        let right =
            Layer { interval_ms: Some(2000), memory_hz: Some(200), ascii: Some(true), nvml_library: Some("/opt/x.so".into()), ..Layer::default() };
        assert_eq!(layer, right);
        assert_eq!(parse(Path::new("x"), "").unwrap(), Layer::default());
    }
}
