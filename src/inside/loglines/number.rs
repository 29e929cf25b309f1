//! A number beside its name, as tools print them: `max allocated: 123.5`, `weights take 3.26GiB`, `'key': 126487040`, `key = 693MB`.

/// A figure: bytes, or a count where it has no unit of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) value: i64,
}

/// Characters between a name and its number.
const BETWEEN: usize = 24;

/// The number after `name`; `unit` is what it has where it prints none.
pub(super) fn after(text: &str, name: &str, unit: i64) -> Option<Found> {
    let rest = &text[text.find(name)? + name.len()..];
    let gap = rest.find(|c: char| !matches!(c, ' ' | '\'' | '"' | ':' | '=' | '|' | '(' | '\t'))?;
    if gap > BETWEEN { None } else { number(&rest[gap..], unit).map(|(found, _)| found) }
}

/// The number before `name`, with its unit between them.
pub(super) fn before(text: &str, name: &str, unit: i64) -> Option<Found> {
    let rest = text[..text.find(name)?].trim_end();
    // The last word, and the one before it where the last is a unit.
    let last = rest.rfind(' ').map_or(0, |at| at + 1);
    let start = if rest[last..].starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        last
    } else {
        rest[..last]
            .trim_end()
            .rfind(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
            .map_or(0, |at| at + rest[at..].chars().next().map_or(1, char::len_utf8))
    };
    number(&rest[start..], unit).map(|(found, _)| found)
}

/// A number at the beginning of a text, and what follows it and its unit. Units are powers of two: no tool here means others.
pub(super) fn number(text: &str, default: i64) -> Option<(Found, &str)> {
    let body = text.strip_prefix('-').unwrap_or(text);
    let negative = body.len() < text.len();
    let end = body.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(body.len());
    let digits = body[..end].trim_end_matches(['.', ',']);
    let rest = &body[digits.len()..];
    let plain: String = digits.chars().filter(|c| *c != ',').collect();
    let number: f64 = plain.parse().ok()?;
    let word = rest.trim_start_matches(' ');
    let letters = word.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(word.len());
    let (unit, rest) = match &word[..letters] {
        "B" | "bytes" => (1, &word[letters..]),
        "KB" | "KiB" => (1 << 10, &word[letters..]),
        "MB" | "MiB" => (1 << 20, &word[letters..]),
        "GB" | "GiB" => (1 << 30, &word[letters..]),
        "TB" | "TiB" => (1 << 40, &word[letters..]),
        _ => (default, rest),
    };
    let scaled = (number * unit as f64).round();
    // Beyond 2^62 no figure is memory.
    if scaled > 4.6e18 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "checked above")]
    let value = scaled as i64;
    Some((Found { value: if negative { -value } else { value } }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beside_their_names() {
        assert_eq!(after("model weights take 3.26GiB; x", "weights take", 1).map(|f| f.value), Some(3_500_398_346));
        assert_eq!(after("'a_delta': 126487040,", "a_delta", 1).map(|f| f.value), Some(126_487_040));
        assert_eq!(after("  a_delta  =      693MB", "a_delta", 1).map(|f| f.value), Some(693 << 20));
        assert_eq!(after("x takes -0.5GiB;", "takes", 1).map(|f| f.value), Some(-(1 << 29)));
        assert_eq!(before("is 14.99 GiB for weight, 4.5 GiB for peak", "for peak", 1).map(|f| f.value), Some(9 << 29));
        assert_eq!(after("weights take", "weights take", 1), None);
        assert_eq!(after("weights take many", "weights take", 1), None);
    }
}
