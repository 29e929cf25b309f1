//! How figures are written: times of day, spans, rates, and amounts that may be unknown.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::model::{Bytes, Moment, Reading};

/// What is written where nothing is known.
pub(super) const UNKNOWN: &str = "—";

fn civil(moment: Moment, zone: &TimeZone) -> Option<DateTime> {
    Timestamp::from_millisecond(moment.unix_ms).ok().map(|at| zone.to_datetime(at))
}

/// `12:08:18`
pub(super) fn time_of_day(moment: Moment, zone: &TimeZone) -> String {
    civil(moment, zone).map_or_else(|| UNKNOWN.to_owned(), |t| format!("{:02}:{:02}:{:02}", t.hour(), t.minute(), t.second()))
}

/// `12:08`
pub(super) fn hour_and_minute(moment: Moment, zone: &TimeZone) -> String {
    civil(moment, zone).map_or_else(|| UNKNOWN.to_owned(), |t| format!("{:02}:{:02}", t.hour(), t.minute()))
}

/// `2h41`, `48m`, `1m52`, `14s`, `3d04`: two units at most.
pub(super) fn span(ms: u64) -> String {
    let s = ms / 1000;
    match s {
        0..60 => format!("{s}s"),
        60..600 => format!("{}m{:02}", s / 60, s % 60),
        600..3600 => format!("{}m", s / 60),
        3600..86_400 => format!("{}h{:02}", s / 3600, s / 60 % 60),
        _ => format!("{}d{:02}", s / 86_400, s / 3600 % 24),
    }
}

/// `3:12`, `1:04:09`: a position in a recording.
pub(super) fn position(ms: u64) -> String {
    let s = ms / 1000;
    if s < 3600 { format!("{}:{:02}", s / 60, s % 60) } else { format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60) }
}

/// An amount in GiB.
pub(super) fn gib(bytes: Option<Bytes>) -> String {
    bytes.map_or_else(|| UNKNOWN.to_owned(), |bytes| bytes.to_string())
}

/// A change per minute as it is drawn: its arrow, its figure, and whether it is one.
#[derive(Debug, PartialEq)]
pub(super) struct Change {
    /// `↑`, `↓` or `─`.
    pub(super) arrow: char,
    /// `+0.31`; without a unit. A word where it is not known.
    pub(super) figure: String,
    /// Whether the figure is known.
    pub(super) known: bool,
    /// Whether it is one: neither zero, to two decimals, nor too slow to matter on its card.
    pub(super) moves: bool,
}

impl Change {
    /// A card that would take longer than this to fill, in minutes, is as good as still.
    const STILL: f64 = 2000.0;

    /// The change of something on a card of that size.
    pub(super) fn new(bytes_per_minute: &Reading<f64>, card: Bytes) -> Self {
        let Some(rate) = bytes_per_minute.get() else {
            let figure = bytes_per_minute.absence().map_or_else(String::new, ToString::to_string);
            return Self { arrow: ' ', figure, known: false, moves: false };
        };
        let gib = rate / Bytes::GIB as f64;
        let sign = if gib.abs() < 0.005 {
            ""
        } else if gib > 0.0 {
            "+"
        } else {
            "−"
        };
        let digits = if gib.abs() >= 99.95 {
            0
        } else if gib.abs() >= 9.995 {
            1
        } else {
            2
        };
        let figure = format!("{sign}{:.digits$}", gib.abs());
        let moves = gib.abs() >= 0.005 && rate.abs() * Self::STILL >= card.0 as f64;
        let arrow = if !moves {
            '─'
        } else if gib > 0.0 {
            '↑'
        } else {
            '↓'
        };
        Self { arrow, figure, known: true, moves }
    }

    /// `↑ +0.31/min`, `not yet`
    pub(super) fn long(&self) -> String {
        if self.known { format!("{} {}/min", self.arrow, self.figure) } else { self.figure.clone() }
    }

    /// `↑ +0.31`
    pub(super) fn short(&self) -> String {
        if self.known { format!("{} {}", self.arrow, self.figure) } else { self.figure.clone() }
    }
}

/// `part` of `whole`, as so many of `cells`, rounded.
pub(super) fn share(part: u64, whole: u64, cells: u16) -> u16 {
    if whole == 0 {
        return 0;
    }
    let (part, whole) = (u128::from(part.min(whole)), u128::from(whole));
    u16::try_from((part * u128::from(cells) * 2 + whole) / (whole * 2)).unwrap_or(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_two_units_at_most() {
        let spans = [0, 14_000, 112_000, 2_880_000, 10_560_000, 273_600_000].map(span);
        assert_eq!(spans, ["0s", "14s", "1m52", "48m", "2h56", "3d04"]);
    }

    #[test]
    fn a_change_has_its_sign_twice() {
        let change = |gib: f64| Change::new(&Reading::Value(gib * Bytes::GIB as f64), Bytes::gib(80)).long();
        assert_eq!([0.314, -1.2, 0.001, 12.34, 230.4].map(change), ["↑ +0.31/min", "↓ −1.20/min", "─ 0.00/min", "↑ +12.3/min", "↑ +230/min"]);
        assert_eq!(change(-0.03), "─ −0.03/min");
        assert_eq!(Change::new(&Reading::NOT_YET, Bytes::ZERO).long(), "not yet");
    }

    #[test]
    fn shares_are_rounded_and_stay_inside() {
        assert_eq!(share(1, 3, 10), 3);
        assert_eq!(share(2, 3, 10), 7);
        assert_eq!(share(9, 3, 10), 10);
        assert_eq!(share(1, 0, 10), 0);
        assert_eq!(share(u64::MAX, u64::MAX, u16::MAX), u16::MAX);
    }
}
