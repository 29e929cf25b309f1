//! The file: where it lies, and its text as a [`Layer`]. A key that is not known is refused, with its line and the nearest name.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use toml::Spanned;

use super::ConfigError;
use super::keys::{Given, Key, Layer};
use crate::model::{SafeText, nearest};

/// Where the file lies when nobody names one: `$XDG_CONFIG_HOME/vramtop/config.toml`, by default below `~/.config`.
pub fn default_file() -> Option<PathBuf> {
    // Without a home there is no such place.
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.config_dir().join("vramtop/config.toml"))
}

/// Reads a file that must be there.
pub(super) fn read(path: &Path) -> Result<Layer, ConfigError> {
    let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
    parse(path, &bytes)
}

/// Reads the file at the default place, where there may be none.
pub(super) fn read_default(path: Option<PathBuf>) -> Result<(Option<PathBuf>, Layer), ConfigError> {
    let Some(path) = path else { return Ok((None, Layer::default())) };
    match std::fs::read(&path) {
        Ok(bytes) => parse(&path, &bytes).map(|layer| (Some(path), layer)),
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

fn parse(path: &Path, bytes: &[u8]) -> Result<Layer, ConfigError> {
    let wrong = |at: usize, what: String| ConfigError::Line { file: safe(path), line: line_of(bytes, at), what };
    let text = std::str::from_utf8(bytes).map_err(|error| wrong(error.valid_up_to(), "this is not UTF-8: save the file as UTF-8".to_owned()))?;
    let table: BTreeMap<Spanned<String>, Spanned<toml::Value>> = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let line = text.lines().nth(line_of(bytes, at) - 1).unwrap_or_default();
        wrong(at, meant(line).unwrap_or_else(|| SafeText::new(error.message()).to_string()))
    })?;
    // In the order of the file, so that the first mistake is the one that is named.
    let mut pairs: Vec<_> = table.into_iter().collect();
    pairs.sort_by_key(|(key, _)| key.span().start);
    let mut layer = Layer::default();
    for (name, value) in pairs {
        let at = name.span().start;
        let key = named(name.get_ref()).map_err(|what| wrong(at, what))?;
        layer.set(key, &Given::Toml(value.into_inner())).map_err(|what| wrong(at, format!("{}: {what}", key.name())))?;
    }
    Ok(layer)
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    bytes.iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

fn named(name: &str) -> Result<Key, String> {
    if let Some(key) = Key::ALL.into_iter().find(|key| key.name() == name) {
        return Ok(key);
    }
    let shown = SafeText::new(name);
    Err(match nearest(name, Key::ALL.map(Key::name)) {
        Some(key) => format!("unknown key \"{shown}\": did you mean \"{key}\"?"),
        None => format!("unknown key \"{shown}\": the keys are {}", Key::ALL.map(Key::name).join(", ")),
    })
}

/// What to write instead of a line that is no TOML, in the words of its key; `None` where the line has none.
fn meant(line: &str) -> Option<String> {
    let without_comment = line.split('#').next().unwrap_or_default();
    let (name, value) = without_comment.split_once('=').unwrap_or((without_comment, ""));
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() || toml::from_str::<toml::Table>(line).is_ok() {
        return None;
    }
    let key = match named(name) {
        Ok(key) => key,
        Err(what) => return line.contains('=').then_some(what),
    };
    if value.is_empty() {
        return Some(format!("{}: a value is missing (vramtop --print-config prints a sample)", key.name()));
    }
    // Where the text alone is right, only the quotes are missing.
    let set = Layer::default().set(key, &Given::Toml(toml::Value::String(value.to_owned())));
    let what = set.err().unwrap_or_else(|| format!("put it in quotes: \"{}\"", SafeText::new(value)));
    Some(format!("{}: {what}", key.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        parse(Path::new("config.toml"), text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn a_key_that_is_not_known_is_named_with_its_line_and_the_nearest() {
        assert_eq!(said("# mine\nascii = true\n\ncolour = \"never\"\n"), "config.toml:4: unknown key \"colour\": did you mean \"color\"?");
        assert_eq!(said("nvml-library = \"/x\""), "config.toml:1: unknown key \"nvml-library\": did you mean \"nvml_library\"?");
        assert_eq!(
            said("[gpu]\nx = 1"),
            "config.toml:1: unknown key \"gpu\": the keys are color, ascii, nvml_library, interval, memory_hz, slow, read_only, mouse, theme, log_file"
        );
        assert_eq!(
            said("\"\\u001B[31m\" = 1"),
            "config.toml:1: unknown key \"\\u{1b}[31m\": the keys are color, ascii, nvml_library, interval, memory_hz, slow, read_only, mouse, theme, log_file"
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
    fn a_line_that_is_no_toml_is_told_in_the_words_of_its_key() {
        let missing = "a value is missing (vramtop --print-config prints a sample)";
        for (text, right) in [
            ("ascii = ", format!("1: ascii: {missing}")),
            ("# mine\n\nascii =\nslow = true\n", format!("3: ascii: {missing}")),
            ("slow = true\r\ntheme = # light\r\n", format!("2: theme: {missing}")),
            ("slow # mine", format!("1: slow: {missing}")),
            ("color = never", "1: color: put it in quotes: \"never\"".to_owned()),
            ("nvml_library = /opt/x.so # mine", "1: nvml_library: put it in quotes: \"/opt/x.so\"".to_owned()),
            ("ascii = True", "1: ascii: give true or false, not \"True\"".to_owned()),
            ("interval = 1,5", "1: interval: give 0.1 to 60 seconds, not \"1,5\"".to_owned()),
            ("colour = never", "1: unknown key \"colour\": did you mean \"color\"?".to_owned()),
            ("COLOR = \"never\"", "1: unknown key \"COLOR\": did you mean \"color\"?".to_owned()),
        ] {
            assert_eq!(said(text), format!("config.toml:{right}"));
        }
    }

    #[test]
    fn text_in_another_encoding_is_named_with_its_line() {
        // Latin-1, and what an editor of Windows calls Unicode.
        for (bytes, line) in [(b"ascii = true\n# gr\xfcn\n".as_slice(), 2), (b"\xff\xfea\0s\0".as_slice(), 1)] {
            let said = parse(Path::new("config.toml"), bytes).unwrap_err().to_string();
            assert_eq!(said, format!("config.toml:{line}: this is not UTF-8: save the file as UTF-8"));
        }
    }

    #[test]
    fn what_is_right_is_taken() {
        let layer = parse(Path::new("x"), b"interval = 2\nmemory_hz = 200\nascii = true\nnvml_library = \"/opt/x.so\"").unwrap();
        let right =
            Layer { interval_ms: Some(2000), memory_hz: Some(200), ascii: Some(true), nvml_library: Some("/opt/x.so".into()), ..Layer::default() };
        assert_eq!(layer, right);
        assert_eq!(parse(Path::new("x"), b"").unwrap(), Layer::default());
    }
}
