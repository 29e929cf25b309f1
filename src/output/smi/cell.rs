//! One cell: a value as nvidia-smi spells it, or the bracketed word for why there is none.

use std::fmt::Display;

use jiff::tz::TimeZone;
use jiff::{Timestamp, fmt::strtime};

use crate::model::{Absence, Answer, Bytes, Moment, Reading};

/// What the figures of a field are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    None,
    Mib,
    Percent,
    Watt,
    Mhz,
}

impl Unit {
    const fn word(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Mib => "MiB",
            Self::Percent => "%",
            Self::Watt => "W",
            Self::Mhz => "MHz",
        }
    }

    /// What follows the name of a field.
    pub(super) fn in_header(self) -> String {
        if self == Self::None { String::new() } else { format!(" [{}]", self.word()) }
    }
}

/// A value without its unit, or why there is none.
pub(super) struct Cell(Result<String, Absence>);

impl Cell {
    pub(super) fn text(text: impl Display) -> Self {
        Self(Ok(text.to_string()))
    }

    pub(super) fn known(text: Option<impl Display>) -> Self {
        Self(text.map(|text| text.to_string()).ok_or(Absence::NotSupported))
    }

    /// Whole MiB, rounded up: 644 939 776 bytes are 616 MiB, 150 109 880 320 are 143156 (an H200, driver 580).
    pub(super) fn mib(bytes: Reading<Bytes>) -> Self {
        Self::of(bytes.map(|bytes| bytes.0.div_ceil(Bytes::MIB).to_string()))
    }

    pub(super) fn of(reading: Reading<String>) -> Self {
        match reading {
            Reading::Value(text) => Self(Ok(text)),
            Reading::Absent(why) => Self(Err(why)),
        }
    }

    pub(super) fn print(self, unit: Unit, with_unit: bool) -> String {
        match self.0 {
            Ok(text) if with_unit && unit != Unit::None => format!("{text} {}", unit.word()),
            Ok(text) => text,
            Err(Absence::NotPermitted) => "[Insufficient Permissions]".to_owned(),
            Err(Absence::Failed(word)) if word == "Unknown" => "[Unknown Error]".to_owned(),
            Err(Absence::Failed(word)) => format!("[{word}]"),
            Err(Absence::NotSupported | Absence::NotAsked | Absence::NotYet | Absence::StaleSince(_)) => "[N/A]".to_owned(),
        }
    }
}

/// `2026/11/30 14:52:46.481`, in local time and without a zone.
pub(super) fn moment(moment: Moment, zone: &TimeZone) -> String {
    let at = zone.to_datetime(Timestamp::from_millisecond(moment.unix_ms).unwrap_or_default());
    strtime::format("%Y/%m/%d %H:%M:%S.%3f", at).unwrap_or_default()
}

/// How an answer is spelled.
pub(super) fn plain(answer: &Answer) -> String {
    match answer {
        Answer::Number(number) => number.to_string(),
        Answer::Flag(flag) => if *flag { "Enabled" } else { "Disabled" }.to_owned(),
        Answer::Text(text) => text.to_string(),
    }
}

pub(super) fn yes_no(answer: &Answer) -> String {
    if *answer == Answer::Flag(true) { "Yes" } else { "No" }.to_owned()
}

/// Watts with two decimals, from milliwatts.
pub(super) fn watts(milliwatts: u64) -> String {
    let hundredths = (milliwatts + 5) / 10;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mib_are_rounded_up_as_nvidia_smi_rounds_them() {
        // Bytes by NVML and MiB by nvidia-smi of the same H200 in the same second.
        for (bytes, mib) in [(150_754_820_096, "143771"), (644_939_776, "616"), (150_109_880_320, "143156"), (0, "0"), (5_209_325_568, "4968")] {
            assert_eq!(Cell::mib(Reading::Value(Bytes(bytes))).print(Unit::Mib, false), mib);
        }
    }

    #[test]
    fn why_there_is_nothing_stands_in_brackets_and_without_a_unit() {
        let print = |why| Cell(Err(why)).print(Unit::Percent, true);
        assert_eq!(print(Absence::NotSupported), "[N/A]");
        assert_eq!(print(Absence::NotPermitted), "[Insufficient Permissions]");
        assert_eq!(print(Absence::Failed("GPU is lost".into())), "[GPU is lost]");
        assert_eq!(print(Absence::Failed("Unknown".into())), "[Unknown Error]");
    }

    #[test]
    fn a_time_is_local_and_has_milliseconds() {
        // 2026-11-30T12:08:18.007Z by `date -u -d @1796040498`.
        let at = Moment { unix_ms: 1_796_040_498_007 };
        assert_eq!(moment(at, &TimeZone::fixed(jiff::tz::offset(1))), "2026/11/30 13:08:18.007");
    }

    #[test]
    fn watts_have_two_decimals() {
        for (milliwatts, text) in [(81_190, "81.19"), (700_000, "700.00"), (78_595, "78.60"), (5, "0.01"), (999_999, "1000.00")] {
            assert_eq!(watts(milliwatts), text);
        }
    }
}
