//! The name that a slip of the pen was meant to be. What is too far from every name is no slip, and nothing is guessed.

/// The nearest of the names, whatever the case; `None` where more than one letter, and a quarter of the name, would have to change.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = wanted.trim().to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &wanted);
    let (distance, name) = names.into_iter().map(|name| (distance(name), name)).min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + name.len() / 4).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_told_from_what_nobody_can_guess() {
        let names = ["count", "index", "memory.used", "pid", "name"];
        for (wanted, right) in [
            ("INDEX", Some("index")),
            (" memory.used", Some("memory.used")),
            ("mem.used", Some("memory.used")),
            ("pdi", Some("pid")),
            ("foo", None),
            ("vram", None),
        ] {
            assert_eq!(nearest(wanted, names), right, "{wanted}");
        }
        assert_eq!(nearest("index", []), None);
    }
}
