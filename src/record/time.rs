//! Moments as text: RFC 3339 with milliseconds, in UTC on the wire and with the local offset for people.

use std::fmt;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::Moment;

/// `2026-11-30T12:08:18.123Z`.
pub fn utc(moment: Moment) -> impl fmt::Display {
    Utc(timestamp(moment))
}

/// `2026-11-30T13:08:18.123+01:00`, with the offset that `zone` has at that moment.
pub fn local(moment: Moment, zone: &TimeZone) -> impl fmt::Display {
    let at = timestamp(moment);
    Local(at, zone.to_offset(at))
}

/// A moment beyond the calendar (year 9999) is its last.
fn timestamp(moment: Moment) -> Timestamp {
    Timestamp::from_millisecond(moment.unix_ms).unwrap_or(if moment.unix_ms < 0 { Timestamp::MIN } else { Timestamp::MAX })
}

struct Utc(Timestamp);

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0)
    }
}

struct Local(Timestamp, jiff::tz::Offset);

impl fmt::Display for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0.display_with_offset(self.1))
    }
}

/// A moment as it stands on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time(pub(super) Moment);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&utc(self.0))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Rfc3339;
        impl Visitor<'_> for Rfc3339 {
            type Value = Time;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time such as 2026-11-30T12:08:18.123Z")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Time, E> {
                let at: Timestamp = text.parse().map_err(E::custom)?;
                Ok(Time(Moment { unix_ms: at.as_millisecond() }))
            }
        }
        deserializer.deserialize_str(Rfc3339)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // 2026-11-30T12:08:18.123Z by `date -u -d @1796040498`.
    const MOMENT: Moment = Moment { unix_ms: 1_796_040_498_123 };

    #[test]
    fn a_time_has_milliseconds_and_an_offset() {
        assert_eq!(utc(MOMENT).to_string(), "2026-11-30T12:08:18.123Z");
        assert_eq!(utc(Moment { unix_ms: 0 }).to_string(), "1970-01-01T00:00:00.000Z");
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        assert_eq!(local(MOMENT, &zone).to_string(), "2026-11-30T13:08:18.123+01:00");
        assert_eq!(local(MOMENT, &TimeZone::UTC).to_string(), "2026-11-30T12:08:18.123+00:00");
    }

    #[test]
    fn a_time_beyond_the_calendar_is_its_last() {
        assert!(utc(Moment { unix_ms: i64::MAX }).to_string().starts_with("9999-"));
    }
}
