//! Bytes, percentages and moments, as types that cannot be mixed up. Nothing here knows where a figure came from.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// An amount of memory in bytes. Displayed in GiB with one decimal and without the unit, which is said once in the help.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// No memory at all: a measured zero, never a stand-in for "unknown".
    pub const ZERO: Self = Self(0);
    /// One KiB.
    pub const KIB: u64 = 1 << 10;
    /// One MiB.
    pub const MIB: u64 = 1 << 20;
    /// One GiB.
    pub const GIB: u64 = 1 << 30;

    /// `n` MiB.
    pub const fn mib(n: u64) -> Self {
        Self(n * Self::MIB)
    }

    /// `n` GiB.
    pub const fn gib(n: u64) -> Self {
        Self(n * Self::GIB)
    }

    /// The amount in GiB, for drawing only.
    pub fn as_gib(self) -> f64 {
        self.0 as f64 / Self::GIB as f64
    }

    /// The difference, or `None` where it would be negative.
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(n) => Some(Self(n)),
            None => None,
        }
    }

    /// The difference, or zero where it would be negative.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// This amount as a share of `whole`; `None` where `whole` is zero or smaller than this.
    pub fn percent_of(self, whole: Self) -> Option<Percent> {
        (whole.0 > 0 && self <= whole).then(|| Percent(self.0 as f64 / whole.0 as f64 * 100.0))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let precision = f.precision().unwrap_or(1);
        match f.width() {
            Some(width) => write!(f, "{:>width$.precision$}", self.as_gib()),
            None => write!(f, "{:.precision$}", self.as_gib()),
        }
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

/// A share of a whole, 0 to 100. It can only be made from two amounts ([`Bytes::percent_of`]), so it is never NaN.
///
/// Displayed as a whole number that reads 100 only when the share really is the whole.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Percent(f64);

impl Percent {
    /// The share as 0.0 to 1.0.
    pub fn ratio(self) -> f64 {
        self.0 / 100.0
    }

    /// The share as 0.0 to 100.0.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounded = self.0.round();
        let shown = if rounded >= 100.0 && self.0 < 100.0 { 99.0 } else { rounded };
        match f.width() {
            Some(width) => write!(f, "{shown:>width$.0}"),
            None => write!(f, "{shown:.0}"),
        }
    }
}

/// A utilization as the driver gives it: whole percent of time, 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UtilizationPercent(u8);

impl UtilizationPercent {
    /// Takes a driver's figure; one above 100 is no utilization.
    pub fn new(percent: u32) -> Option<Self> {
        u8::try_from(percent).ok().filter(|p| *p <= 100).map(Self)
    }

    /// The figure, 0 to 100.
    pub const fn value(self) -> u8 {
        self.0
    }
}

impl fmt::Display for UtilizationPercent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A wall-clock time in whole milliseconds since 1970 (UTC).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub unix_ms: i64,
}

impl Moment {
    /// Milliseconds from `earlier` to this moment; zero where the clock was set back.
    pub fn since(self, earlier: Self) -> u64 {
        u64::try_from(self.unix_ms - earlier.unix_ms).unwrap_or(0)
    }

    /// This moment, `ms` milliseconds earlier.
    #[must_use]
    pub fn minus_ms(self, ms: u64) -> Self {
        Self { unix_ms: self.unix_ms.saturating_sub_unsigned(ms) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_as_gib_with_one_decimal() {
        // 150 754 820 096 B is what an H200 reports as its total.
        assert_eq!(Bytes(150_754_820_096).to_string(), "140.4");
        assert_eq!(format!("{:>7}", Bytes::mib(512)), "    0.5");
    }

    #[test]
    fn a_percentage_needs_a_whole_that_holds_it() {
        assert_eq!(Bytes(1).percent_of(Bytes::ZERO), None);
        assert_eq!(Bytes(2).percent_of(Bytes(1)), None);
        assert_eq!(Bytes(1).percent_of(Bytes(4)).map(|p| p.to_string()).as_deref(), Some("25"));
    }

    #[test]
    fn one_hundred_percent_means_full() {
        let almost = Bytes(9_999).percent_of(Bytes(10_000)).map(|p| p.to_string());
        assert_eq!(almost.as_deref(), Some("99"));
        assert_eq!(Bytes(7).percent_of(Bytes(7)).map(|p| p.to_string()).as_deref(), Some("100"));
    }

    #[test]
    fn a_utilization_above_one_hundred_is_refused() {
        assert_eq!(UtilizationPercent::new(100).map(UtilizationPercent::value), Some(100));
        assert_eq!(UtilizationPercent::new(250), None);
    }
}
