//! The fields that are offered, for people: each with its other names, its unit, and what it says.

use std::fmt::Write as _;

use super::Field;

/// What each field says, one a line, under the first of its names.
const MEANINGS: &str = include_str!("meanings.txt");

/// The text of `--help-OPTION`.
pub(super) fn of(option: &str, fields: &[Field]) -> String {
    let mut out = format!("Fields of --{option}, in any order, separated by commas without a space:\n\n");
    for field in fields {
        let (names, unit) = (field.names.join(" or "), field.unit.in_header());
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{names}{unit}\n    {}", meaning(field.names[0]).unwrap_or_default());
    }
    out
}

fn meaning(name: &str) -> Option<&'static str> {
    MEANINGS.lines().find_map(|line| line.split_once(": ").filter(|(of, _)| *of == name)).map(|(_, meaning)| meaning)
}

#[cfg(test)]
mod tests {
    use super::super::{apps, fields};
    use super::*;

    #[test]
    fn every_field_has_a_meaning_and_every_meaning_a_field() {
        let mut names: Vec<_> = fields::GPU.iter().chain(apps::PROCESS).map(|field| field.names[0]).collect();
        let mut meant: Vec<_> = MEANINGS.lines().filter_map(|line| line.split_once(": ")).map(|(name, _)| name).collect();
        // Both lists have the time.
        names.sort_unstable();
        names.dedup();
        meant.sort_unstable();
        assert_eq!(meant, names);
    }

    #[test]
    fn a_field_has_its_names_its_unit_and_its_line() {
        let text = of("query-gpu", fields::GPU);
        assert!(text.starts_with("Fields of --query-gpu, "), "{text}");
        assert!(text.contains("\nclocks.current.sm or clocks.sm [MHz]\n    "), "{text}");
        assert_eq!(text.lines().count(), 2 + 2 * fields::GPU.len());
        // A meaning is a line also in a terminal of usual width.
        assert!(text.lines().filter(|line| line.starts_with(' ')).all(|line| line.len() <= 98), "{text}");
    }
}
