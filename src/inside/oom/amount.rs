//! Figures as programs print them: a number of any locale with a unit, in bytes. Knows nothing of what a figure is for.

use super::pattern::pattern;

/// A figure with a unit, as a piece of a pattern. The unit must be whole: a text that is cut within one has no figure there.
pub(super) const FIGURE: &str = r"\d[\d.,'_\u{a0}\u{202f}\u{2009}]*\s*(?:bytes?|[KMGTPE]i?B|B)\b";
/// The same where the family prints single letters, too (`21.42G`).
pub(super) const LOOSE: &str = r"\d[\d.,'_\u{a0}\u{202f}\u{2009}]*\s*(?:bytes?|[KMGTPE](?:i?B)?|B)\b";
/// A number without a unit.
pub(super) const NUMBER: &str = r"\d[\d.,'_\u{a0}\u{202f}\u{2009}]*";

/// Whether `MB` and `GB` are powers of two or of ten in a family's texts. `MiB` and `GiB` are always of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Base {
    /// 1 MB = 2^20 bytes, as torch, paddle and TensorFlow mean it.
    #[default]
    Two,
    /// 1 MB = 10^6 bytes.
    Ten,
}

/// A printed amount of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Amount {
    /// A figure, rounded to bytes, and half a unit of its last printed digit.
    Known {
        /// The printed value times its unit.
        bytes: u64,
        /// How far the true value may be from it.
        half: u64,
    },
    /// The driver's mark for a missing value (2^64 - 1 bytes, printed as `17179869184.00 GiB`): missing, or "no limit" in a limit.
    Sentinel,
}

impl Amount {
    /// No machine has as much (256 PiB): a damaged figure, or a negative one that was printed as if it were none. It is missing, and
    /// sums of some figures stay far from the end of 64 bits.
    const NONSENSE: u64 = 1 << 58;

    /// A figure that is exact to the byte.
    pub const fn exact(bytes: u64) -> Self {
        if bytes < Self::NONSENSE { Self::Known { bytes, half: 0 } } else { Self::Sentinel }
    }

    /// The bytes; `None` for the sentinel.
    pub const fn bytes(self) -> Option<u64> {
        match self {
            Self::Known { bytes, .. } => Some(bytes),
            Self::Sentinel => None,
        }
    }

    /// Whether both can be the same amount, printed with different precision.
    pub(super) const fn agrees(self, other: Self) -> bool {
        match (self, other) {
            (Self::Known { bytes: a, half: x }, Self::Known { bytes: b, half: y }) if x == y => a == b,
            (Self::Known { bytes: a, half: x }, Self::Known { bytes: b, half: y }) => a.abs_diff(b) <= x.saturating_add(y),
            (Self::Sentinel, Self::Sentinel) => true,
            _ => false,
        }
    }

    /// The one that was printed with more digits.
    pub(super) const fn sharper(self, other: Self) -> Self {
        match (self, other) {
            (Self::Known { half: x, .. }, Self::Known { half: y, .. }) if y < x => other,
            _ => self,
        }
    }

    /// Reads a figure; a bare number has the unit `default` (such as `GiB`), or bytes.
    pub(super) fn parse(text: &str, default: Option<&str>, base: Base) -> Option<Self> {
        let (number, unit) = split(text)?;
        let unit = if unit.is_empty() { default.unwrap_or("B") } else { unit };
        let scale = scale(unit, base)?;
        let (digits, decimals) = plain(number, scale)?;
        let value: u128 = digits.parse().ok()?;
        let divisor = 10_u128.checked_pow(u32::try_from(decimals).ok()?)?;
        let scaled = value.checked_mul(scale)?;
        let bytes = (scaled + divisor / 2) / divisor;
        let half = if scale == 1 { 0 } else { (scale / divisor / 2).max(1) };
        // The sentinel in any unit, rounded to its digits.
        if bytes + half >= u128::from(u64::MAX) && bytes <= (1 << 64) + half {
            return Some(Self::Sentinel);
        }
        Some(match u64::try_from(bytes) {
            Ok(bytes) if bytes < Self::NONSENSE => Self::Known { bytes, half: u64::try_from(half).unwrap_or(Self::NONSENSE) },
            _ => Self::Sentinel,
        })
    }
}

/// The unit that a figure is printed with.
pub(super) fn unit_of(text: &str) -> Option<&str> {
    split(text).map(|(_, unit)| unit).filter(|unit| !unit.is_empty())
}

fn split(text: &str) -> Option<(&str, &str)> {
    pattern!(PARTS, r"^\s*(\d(?:[\d.,'_\u{a0}\u{202f}\u{2009}]*\d)?)[.,']?\s*([A-Za-z]*)\s*$");
    let parts = PARTS.as_ref()?.captures(text)?;
    Some((parts.get(1)?.as_str(), parts.get(2)?.as_str()))
}

fn scale(unit: &str, base: Base) -> Option<u128> {
    let lower = unit.to_ascii_lowercase();
    let power = match lower.as_bytes().first()? {
        b'b' => return Some(1),
        b'k' => 1,
        b'm' => 2,
        b'g' => 3,
        b't' => 4,
        b'p' => 5,
        b'e' => 6,
        _ => return None,
    };
    let of_two = lower.contains('i') || base == Base::Two;
    Some(if of_two { 1_u128 << (10 * power) } else { 1000_u128.pow(power) })
}

/// Digits without separators, and how many of them stand behind the decimal sign.
///
/// A lone separator before exactly three digits is of thousands in bytes, KiB and MiB, where three decimals are not printed, and
/// a decimal sign in larger units, where thousands are absurd; a lone dot is then of thousands in bytes alone.
fn plain(number: &str, scale: u128) -> Option<(String, usize)> {
    let marks: Vec<(usize, char)> = number.char_indices().filter(|(_, c)| !c.is_ascii_digit()).collect();
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    let Some(&(at, last)) = marks.last() else { return Some((digits, 0)) };
    let behind = number[at + last.len_utf8()..].len();
    let alike = marks.iter().filter(|(_, c)| *c == last).count();
    let is_decimal = match last {
        '.' | ',' if alike > 1 => false,
        '.' | ',' if marks.len() > 1 => true,
        '.' => behind != 3 || scale > 1,
        ',' => behind != 3 || scale >= 1 << 30 || number.starts_with('0'),
        _ => false,
    };
    // 30 digits are more than any program prints.
    (digits.len() <= 30).then_some((digits, if is_decimal { behind } else { 0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Option<u64> {
        Amount::parse(text, None, Base::Two).and_then(Amount::bytes)
    }

    #[test]
    fn a_figure_is_its_value_times_its_unit() {
        assert_eq!(bytes("46.00 MiB"), Some(46 << 20));
        assert_eq!(bytes("7.80 GiB"), Some(8_375_186_227)); // 7.8 * 2^30 = 8 375 186 227.2
        assert_eq!(bytes("0 bytes"), Some(0));
        assert_eq!(bytes("22.886719GB"), Some(24_574_427_404)); // 22.886719 * 2^30 = 24 574 427 404.3
        assert_eq!(Amount::parse("9.5 GB", None, Base::Ten).and_then(Amount::bytes), Some(9_500_000_000));
        assert_eq!(Amount::parse("61.35", Some("GiB"), Base::Two).and_then(Amount::bytes), Some(65_874_060_902));
    }

    #[test]
    fn separators_of_every_locale_are_read() {
        assert_eq!(bytes("2304,00 MiB"), Some(2304 << 20));
        assert_eq!(bytes("536,870,912 bytes"), Some(536_870_912));
        assert_eq!(bytes("536.870.912 bytes"), Some(536_870_912));
        assert_eq!(bytes("1.234,50 MiB"), bytes("1,234.50 MiB"));
        assert_eq!(bytes("1,024 MiB"), Some(1 << 30));
        assert_eq!(bytes("1,250 GiB"), Some(1_342_177_280));
        assert_eq!(bytes("1.250 GiB"), Some(1_342_177_280));
        assert_eq!(bytes("536\u{202f}870\u{202f}912 bytes"), Some(536_870_912));
    }

    #[test]
    fn the_sentinel_is_not_a_figure_and_its_digits_in_bytes_are() {
        for text in ["17179869184.00 GiB", "18446744073709551615 bytes", "17592186044416.00 MiB", "17179869184,00 GiB"] {
            assert_eq!(Amount::parse(text, None, Base::Two), Some(Amount::Sentinel), "{text}");
        }
        assert_eq!(bytes("17179869184 bytes"), Some(16 << 30));
    }

    #[test]
    fn what_no_machine_has_is_missing() {
        // A damaged GiB, and 2^58 bytes: 256 PiB.
        assert_eq!(Amount::parse("8.51 EiB", None, Base::Two), Some(Amount::Sentinel));
        assert_eq!(Amount::parse("256 PiB", None, Base::Two), Some(Amount::Sentinel));
        assert_eq!(Amount::parse("255 PiB", None, Base::Two), Some(Amount::Known { bytes: 255 << 50, half: 1 << 49 }));
        assert_eq!(Amount::exact(u64::MAX), Amount::Sentinel);
    }

    #[test]
    fn the_same_amount_in_two_precisions_agrees() {
        // 18244.06 MiB is 19 130 283 459 +- 5243; the buffer has 19 130 286 080.
        let (short, long) = (Amount::parse("18244.06 MiB", None, Base::Two), Amount::parse("19130286080", None, Base::Two));
        let (short, long) = short.zip(long).expect("figures");
        assert!(short.agrees(long));
        assert_eq!(short.sharper(long), Amount::exact(19_130_286_080));
        assert!(!short.agrees(Amount::exact(19_130_200_000)));
    }
}
