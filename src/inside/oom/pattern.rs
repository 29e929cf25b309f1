//! Patterns of these texts: with the classes of ASCII, compiled when they are first used, and the words that a match cannot lack.

use regex_lite::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind};
use regex_syntax::parse;

/// A pattern that is compiled when it is first used.
macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: std::sync::LazyLock<Option<regex_lite::Regex>> = std::sync::LazyLock::new(|| $crate::inside::oom::pattern::compile($pattern));
    };
}
pub(super) use pattern;

/// A word that is shorter stands in every other line.
const SHORTEST: usize = 3;

/// Compiles a pattern. Its classes are those of ASCII, and blanks that do not break are blanks. There are two hundred of them and a text has a
/// few lines: what counts is how fast they are built.
pub(super) fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(&spaced(pattern)).build().ok()
}

/// The same for any case of its letters.
pub(super) fn compile_any_case(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(&spaced(pattern)).case_insensitive(true).build().ok()
}

fn spaced(pattern: &str) -> String {
    pattern.replace(r"\s", r"[\t\n\r \u{a0}\u{202f}]")
}

/// Words in lower case of which one stands in every match of a pattern, whatever its case; `None` where there are none that tell anything.
pub(super) fn words(pattern: &str) -> Option<Vec<String>> {
    required(&parse(pattern).ok()?)
}

fn required(hir: &Hir) -> Option<Vec<String>> {
    match hir.kind() {
        HirKind::Literal(literal) => {
            let word = String::from_utf8_lossy(&literal.0).to_ascii_lowercase();
            (word.len() >= SHORTEST).then(|| vec![word])
        }
        HirKind::Capture(capture) => required(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub),
        // The part whose shortest word is the longest tells the most.
        HirKind::Concat(parts) => parts.iter().filter_map(required).max_by_key(|words| words.iter().map(String::len).min()),
        HirKind::Alternation(parts) => parts.iter().map(required).collect::<Option<Vec<_>>>().map(|words| words.concat()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_match_has_one_of_the_words() {
        let of = |pattern: &str| words(pattern).map(|words| words.join("|"));
        assert_eq!(of(r"Tried to alloc\w*:?\s+(?P<tried>[0-9]+)").as_deref(), Some("tried to alloc"));
        assert_eq!(of(r"(?:CUDA|HIP) out of memory").as_deref(), Some(" out of memory"));
        assert_eq!(of(r"oom_reaper|killed(?: process)?").as_deref(), Some("oom_reaper|killed"));
        assert_eq!(of(r"\d+(?:bytes)? of \w+"), Some(" of ".to_owned()));
        assert_eq!(of(r"\d+|bytes"), None);
    }
}
