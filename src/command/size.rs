//! How large the terminal is, also where it does not say: over a serial line, in `script` or a container it may have no columns at all.

use std::env;

/// Where nothing tells a size: what every terminal has been able to show.
const USUAL: (u16, u16) = (80, 24);

/// Columns and rows of the terminal.
pub(super) fn size() -> (u16, u16) {
    told(crossterm::terminal::size().ok(), |name| env::var(name).ok())
}

/// As the terminal has it; where it has none, as `COLUMNS` and `LINES` say.
fn told(by_terminal: Option<(u16, u16)>, variable: impl Fn(&str) -> Option<String>) -> (u16, u16) {
    let (columns, rows) = by_terminal.unwrap_or_default();
    let or = |own: u16, name: &str, usual| {
        let said = || variable(name).and_then(|text| text.parse().ok()).filter(|n| *n > 0).unwrap_or(usual);
        if own > 0 { own } else { said() }
    };
    (or(columns, "COLUMNS", USUAL.0), or(rows, "LINES", USUAL.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_without_a_size_has_the_usual_one() {
        let none = |_: &str| None;
        assert_eq!(told(Some((132, 43)), |_| Some("7".to_owned())), (132, 43));
        assert_eq!((told(Some((0, 0)), none), told(None, none)), ((80, 24), (80, 24)));
        let said = |name: &str| Some(if name == "COLUMNS" { "100" } else { "none" }.to_owned());
        assert_eq!(told(Some((0, 0)), said), (100, 24));
        assert_eq!(told(Some((0, 50)), |_| Some("0".to_owned())), (80, 50));
    }
}
