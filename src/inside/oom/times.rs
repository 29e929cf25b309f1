//! Times as logs print them. It does not decide on a year or a zone that a log leaves out.

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use regex_lite::Captures;
use serde_json::Value;

use super::LogTime;
use super::pattern::pattern;
use crate::model::Moment;

pattern!(FULL, r"(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?\s?(Z|[+-]\d\d:?\d\d)?");
pattern!(SHORT, r"(?:(\d\d)-(\d\d)|([A-Z][a-z]{2})\s+(\d{1,2})) (\d\d):(\d\d):(\d\d)(?:[.,](\d+))?");
pattern!(SECONDS, r"^\D?(\d{10})(?:\.(\d+))?");

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The time at the beginning of a line.
pub(super) fn of_text(text: &str) -> Option<LogTime> {
    if let Some(found) = FULL.as_ref()?.captures(text) {
        return full(&found);
    }
    if let Some(found) = SHORT.as_ref()?.captures(text) {
        let month = match found.get(3) {
            Some(name) => i8::try_from(MONTHS.iter().position(|month| *month == name.as_str())?).ok()? + 1,
            None => number(&found, 1)?,
        };
        let day = number(&found, 2).or_else(|| number(&found, 4))?;
        let time = time(&found, 5)?;
        let ms = u32::try_from(time.duration_since(Time::midnight()).as_millis()).ok()?;
        return Some(LogTime::NoYear { month, day, ms });
    }
    let found = SECONDS.as_ref()?.captures(text)?;
    let seconds: i64 = number(&found, 1)?;
    Some(LogTime::At(Moment { unix_ms: seconds.checked_mul(1000)? + millis(found.get(2).map_or("", |part| part.as_str())) }))
}

/// The time in a field of a JSON line: a text, or seconds or milliseconds since 1970.
pub(super) fn of_json(value: &Value) -> Option<LogTime> {
    match value {
        Value::String(text) => of_text(text),
        Value::Number(number) => {
            let seconds = number.as_f64().filter(|n| (1e9..1e13).contains(n))?;
            let ms = if seconds >= 1e11 { seconds } else { seconds * 1000.0 };
            #[expect(clippy::cast_possible_truncation, reason = "below 1e14")]
            let unix_ms = ms.round() as i64;
            Some(LogTime::At(Moment { unix_ms }))
        }
        _ => None,
    }
}

/// Whether two lines were stamped in one go: within a second, or both without a time.
pub(super) fn together(a: Option<LogTime>, b: Option<LogTime>) -> bool {
    match (a, b) {
        (Some(LogTime::At(a)), Some(LogTime::At(b))) | (Some(LogTime::Local(a)), Some(LogTime::Local(b))) => a.unix_ms.abs_diff(b.unix_ms) <= 1000,
        (Some(LogTime::NoYear { day: x, ms: a, .. }), Some(LogTime::NoYear { day: y, ms: b, .. })) => x == y && a.abs_diff(b) <= 1000,
        (a, b) => a == b,
    }
}

fn full(found: &Captures<'_>) -> Option<LogTime> {
    let date = Date::new(number(found, 1)?, number(found, 2)?, number(found, 3)?).ok()?;
    let local = TimeZone::UTC.to_timestamp(date.to_datetime(time(found, 4)?)).ok()?;
    Some(match found.get(8).map(|offset| offset.as_str()) {
        None => LogTime::Local(moment(local)),
        Some("Z") => LogTime::At(moment(local)),
        Some(offset) => {
            let digits: i64 = offset[1..].replace(':', "").parse().ok()?;
            let ms = (digits / 100 * 60 + digits % 100) * 60_000;
            let sign = if offset.starts_with('-') { 1 } else { -1 };
            LogTime::At(Moment { unix_ms: moment(local).unix_ms + sign * ms })
        }
    })
}

fn moment(at: Timestamp) -> Moment {
    Moment { unix_ms: at.as_millisecond() }
}

fn time(found: &Captures<'_>, first: usize) -> Option<Time> {
    let part = found.get(first + 3).map_or("", |part| part.as_str());
    let nanos = i32::try_from(millis(part)).ok()? * 1_000_000;
    Time::new(number(found, first)?, number(found, first + 1)?, number(found, first + 2)?, nanos).ok()
}

fn number<T: std::str::FromStr>(found: &Captures<'_>, group: usize) -> Option<T> {
    found.get(group)?.as_str().parse().ok()
}

/// Digits behind a decimal sign, as milliseconds.
fn millis(digits: &str) -> i64 {
    let three: String = digits.chars().chain("000".chars()).take(3).collect();
    three.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    // 2026-11-30T12:08:18.123Z by `date -u -d @1796040498`.
    const AT: Moment = Moment { unix_ms: 1_796_040_498_123 };

    #[test]
    fn times_of_usual_logs_are_read() {
        assert_eq!(of_text("2026-11-30T12:08:18.123456Z "), Some(LogTime::At(AT)));
        assert_eq!(of_text("[2026-11-30 13:08:18,123+01:00]"), Some(LogTime::At(AT)));
        assert_eq!(of_text("2026/11/30 12:08:18.123"), Some(LogTime::Local(AT)));
        assert_eq!(of_text("1796040498.123 "), Some(LogTime::At(AT)));
        // 12 h 8 min 18.5 s.
        let short = LogTime::NoYear { month: 11, day: 30, ms: 43_698_500 };
        assert_eq!(of_text("11-30 12:08:18.5"), Some(short));
        assert_eq!(of_text("Nov 30 12:08:18.500 "), Some(short));
        assert_eq!(of_json(&Value::from(1_796_040_498_123_u64)), Some(LogTime::At(AT)));
        assert_eq!(of_text("2026-13-30 12:08:18"), None);
    }
}
