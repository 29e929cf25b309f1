//! Text from elsewhere (command lines, device names, user names) made harmless before anything can print it.
//!
//! Other users choose their own command lines; an escape sequence in one must never reach a terminal or a log.

use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;

/// Text without control, bidirectional or zero-width characters: those are written as `\u{…}`. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SafeText(Arc<str>);

impl SafeText {
    /// Escapes what a terminal would act on. The result is at most `LIMIT` bytes long.
    pub fn new(foreign: &str) -> Self {
        let cut = cut_at(foreign, Self::LIMIT);
        if !cut.chars().any(is_dangerous) {
            return Self(Arc::from(cut));
        }
        let mut safe = String::with_capacity(cut.len() + 16);
        for c in cut.chars() {
            let before = safe.len();
            if is_dangerous(c) {
                // Writing to a String cannot fail.
                let _ = write!(safe, "\\u{{{:x}}}", u32::from(c));
            } else {
                safe.push(c);
            }
            if safe.len() > Self::LIMIT {
                safe.truncate(before);
                break;
            }
        }
        Self(Arc::from(safe))
    }

    /// The longest text that is kept, in bytes after escaping, so that safe text stays what it is when it is read back:
    /// a command line can have megabytes.
    pub const LIMIT: usize = 4096;

    /// As [`SafeText::new`], from bytes that may not be UTF-8.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self::new(&String::from_utf8_lossy(bytes))
    }

    /// The harmless text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for SafeText {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Display for SafeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Control characters, line separators, and the invisible ones that reorder or hide text.
fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The longest prefix of at most `limit` bytes that ends between characters.
fn cut_at(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escape_codes_become_visible() {
        assert_eq!(SafeText::new("a\u{1b}[31mb").as_str(), "a\\u{1b}[31mb");
        assert_eq!(SafeText::new("x\u{202e}y\n").as_str(), "x\\u{202e}y\\u{a}");
        assert_eq!(SafeText::from_bytes(b"H200\xff").as_str(), "H200\u{fffd}");
        assert_eq!(SafeText::new("Größe 模型").as_str(), "Größe 模型");
    }

    proptest! {
        #[test]
        fn nothing_dangerous_is_left(bytes in proptest::collection::vec(any::<u8>(), 0..6000)) {
            let safe = SafeText::from_bytes(&bytes);
            prop_assert!(!safe.as_str().chars().any(is_dangerous));
            prop_assert!(safe.as_str().len() <= SafeText::LIMIT);
            prop_assert_eq!(SafeText::new(safe.as_str()), safe);
        }
    }
}
