//! How text is cut, cleaned and kept from giving secrets away.
//!
//! It refuses to know about programs: nothing here says what a word means, only whether and how
//! much of it may be shown.

/// What stands in for a secret.
const HIDDEN: &str = "***";

/// Parts of an argument's name that say its value is a secret.
const SECRET_NAMES: &[&str] = &["token", "password", "passwd", "passphrase", "secret", "credentials", "auth", "pwd"];
/// The same, where two parts of a name say it together.
const SECRET_PAIRS: &[&str] = &["api-key", "apikey", "access-key", "private-key", "secret-key", "auth-key"];
/// How well-known secrets begin: Hugging Face, `OpenAI`, GitHub, GitLab, Slack, AWS, NVIDIA, Replicate.
const SECRET_VALUES: &[&str] = &["hf_", "sk-", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA", "nvapi-", "r8_"];
/// A word with a well-known beginning is a secret from this many characters on (`sk-learn` is none).
const SECRET_LENGTH: usize = 12;

/// The text up to `limit` bytes, cut between characters.
pub(super) fn cut(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The text in at most `limit` characters, the last an ellipsis where some were dropped.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    if text.chars().nth(limit).is_none() {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(limit.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// The text with every run of spaces and control characters made one space.
pub(super) fn clean(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The kernel's name of a process that has no command line, as `ps` writes it.
pub(super) fn bracketed(comm: &str) -> String {
    let comm = clean(cut(comm, 64));
    if comm.is_empty() { "[?]".to_owned() } else { format!("[{comm}]") }
}

/// The last part of a path, Windows paths included.
pub(super) fn base(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    let tail = path.rsplit('/').next().unwrap_or(path);
    let windows = path.get(1..3) == Some(":\\") || (tail.contains('\\') && stem(tail) != tail);
    if windows { tail.rsplit('\\').next().unwrap_or(tail) } else { tail }
}

/// A file name without `.exe`.
pub(super) fn stem(name: &str) -> &str {
    name.strip_suffix(".exe").or_else(|| name.strip_suffix(".EXE")).unwrap_or(name)
}

/// Whether a file is of one of these kinds, by its name's end.
pub(super) fn has_kind(file: &str, kinds: &[&str]) -> bool {
    base(file).rsplit_once('.').is_some_and(|(name, kind)| !name.is_empty() && kinds.contains(&kind))
}

/// An argument's name as tables spell it: no dashes in front, lower case, `-` for `_`.
pub(super) fn key(name: &str) -> String {
    name.trim_start_matches(['-', '+']).replace('_', "-").to_ascii_lowercase()
}

/// Whether an argument of this name holds a secret.
fn is_secret_name(name: &str) -> bool {
    let key = key(cut(name, 256));
    key.split(|c: char| !c.is_alphanumeric()).any(|part| SECRET_NAMES.contains(&part)) || SECRET_PAIRS.iter().any(|pair| key.contains(pair))
}

/// Whether a value is a secret by its looks: a known beginning anywhere in it, a web token, or an
/// address with a password or a query.
fn is_secret_value(value: &str) -> bool {
    let pieces = value.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'));
    let known = |piece: &str| SECRET_VALUES.iter().any(|start| piece.starts_with(start)) || piece.starts_with("eyJ");
    pieces.filter(|piece| piece.len() >= SECRET_LENGTH).any(known) || value.split_once("://").is_some_and(|(_, rest)| rest.contains(['@', '?']))
}

/// A value, or `***` where it looks like a secret.
pub(super) fn masked(value: &str) -> &str {
    if is_secret_value(value) { HIDDEN } else { value }
}

/// Words as they may be shown: the values of secrets replaced by `***`, be they given as
/// `--token v`, `token=v` or `{'token': 'v'}`.
pub(super) fn shown<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut hide_next = false;
    let shown = words.into_iter().map(|word| {
        if std::mem::take(&mut hide_next) {
            return HIDDEN.to_owned();
        }
        let (name, value) = word.find(['=', ':']).map_or((word, ""), |at| word.split_at(at + 1));
        if !is_secret_name(name) {
            return masked(word).to_owned();
        }
        if !value.is_empty() {
            return format!("{name}{HIDDEN}");
        }
        hide_next = word.starts_with('-') || word.ends_with(['=', ':']);
        word.to_owned()
    });
    shown.collect::<Vec<_>>().join(" ")
}
