//! Amounts as people write them: `7.2 GiB`, `11.0 MiB`, `512 B`.

use crate::model::Bytes;

/// An amount with the unit that suits it, one decimal from MiB on.
pub(super) fn amount(bytes: Bytes) -> String {
    const UNITS: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let n = bytes.0;
    // What would be written as 1024.0 of a unit is one of the next.
    let found = UNITS.iter().find(|(unit, _)| n.saturating_add(*unit / 20 / 1024) >= *unit);
    match found {
        Some((unit, name)) if *unit == 1 << 10 => format!("{} {name}", n.div_ceil(*unit)),
        Some((unit, name)) => format!("{:.1} {name}", n as f64 / *unit as f64),
        None => format!("{n} B"),
    }
}

/// An amount that may be below 0, as tools print differences.
pub(super) fn signed(bytes: i64) -> String {
    let text = amount(Bytes(bytes.unsigned_abs()));
    if bytes < 0 { format!("-{text}") } else { text }
}

/// Amounts of one sum, all in the unit that suits the whole, so that they can be added up by eye.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sum {
    in_gib: bool,
}

impl Sum {
    pub(super) fn of(whole: Bytes) -> Self {
        Self { in_gib: whole.0 >= Bytes::GIB }
    }

    pub(super) const fn unit(self) -> &'static str {
        if self.in_gib { "GiB" } else { "MiB" }
    }

    /// With one decimal, for a picture.
    pub(super) fn short(self, bytes: Bytes) -> String {
        if self.in_gib { bytes.to_string() } else { format!("{:.1}", bytes.0 as f64 / Bytes::MIB as f64) }
    }

    /// With the decimals that a sum needs to be right.
    pub(super) fn exact(self, bytes: Bytes) -> String {
        if self.in_gib { format!("{bytes:.2}") } else { self.short(bytes) }
    }
}

/// `1 segment`, `668 segments`.
pub(super) fn count(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// A span of microseconds.
pub(super) fn span(us: i64) -> String {
    let us = us.max(0);
    match us {
        0..1_000 => format!("{us} us"),
        1_000..1_000_000 => format!("{:.1} ms", us as f64 / 1e3),
        1_000_000..120_000_000 => format!("{:.1} s", us as f64 / 1e6),
        _ => format!("{} min", us / 60_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_unit_that_suits_them() {
        let of = |n| amount(Bytes(n));
        assert_eq!(of(0), "0 B");
        assert_eq!(of(512), "512 B");
        assert_eq!(of(1536), "2 KiB");
        assert_eq!(of(11 << 20), "11.0 MiB");
        assert_eq!(of((1 << 30) - 1), "1.0 GiB", "not 1024.0 MiB");
        assert_eq!(of(7_680_546_816), "7.2 GiB");
        assert_eq!(signed(-(1 << 29)), "-512.0 MiB");
    }
}
