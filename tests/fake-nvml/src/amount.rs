//! Numbers as scenarios write them: `7`, `0.5`, `"140.4GiB"`, `"644939776"`.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A number that may have been written with a unit of bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Amount(pub(crate) f64);

const UNITS: &[(&str, f64)] = &[
    ("", 1.0),
    ("B", 1.0),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
];

impl Amount {
    /// Reads a number followed by nothing or a unit; whole bytes result.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (digits, unit) = text.split_at(end);
        let number: f64 = digits.trim().replace('_', "").parse().ok()?;
        let (_, scale) = UNITS.iter().find(|(name, _)| *name == unit.trim())?;
        let value = number * scale;
        Some(Self(if unit.is_empty() { value } else { value.round() }))
    }

    /// The amount as whole bytes, at least 0.
    pub(crate) fn bytes(self) -> u64 {
        self.0 as u64
    }
}

struct AmountVisitor;

impl Visitor<'_> for AmountVisitor {
    type Value = Amount;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or a string such as \"140.4GiB\"")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Amount, E> {
        Ok(Amount(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Amount, E> {
        Ok(Amount(value as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Amount, E> {
        Ok(Amount(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Amount, E> {
        Amount::parse(text).ok_or_else(|| E::custom(format!("`{text}` is not a number of bytes")))
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AmountVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::Amount;

    #[test]
    fn units_and_plain_digits() {
        assert_eq!(Amount::parse("644939776").unwrap().bytes(), 644_939_776);
        assert_eq!(Amount::parse("1.5 GiB").unwrap().bytes(), 3 * 512 * 1024 * 1024);
        assert_eq!(Amount::parse("80GB").unwrap().bytes(), 80_000_000_000);
        assert_eq!(Amount::parse("1_000").unwrap().bytes(), 1000);
        assert!(Amount::parse("12 parsecs").is_none());
        assert!(Amount::parse("GpuLost").is_none());
    }
}
