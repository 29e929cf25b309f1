//! Single values of a line: foreign text, counts that the wire writes with a fraction, and the words of a fault.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

use crate::model::{GpuId, SafeText};

/// Foreign text, made harmless as it is read.
#[derive(Clone, Debug)]
pub(super) struct Text(pub(super) SafeText);

impl Text {
    pub(super) fn safe(self) -> SafeText {
        self.0
    }

    pub(super) fn id(&self) -> GpuId {
        GpuId::new(self.0.as_str())
    }
}

impl Default for Text {
    fn default() -> Self {
        Self(SafeText::new(""))
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyText;
        impl Visitor<'_> for AnyText {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text(SafeText::new(text)))
            }
        }
        deserializer.deserialize_str(AnyText)
    }
}

/// The whole number that was written as a `scale`-th of itself: 128.557 W are 128 557 mW. `None` for what cannot be one.
pub(super) fn count(written: f64, scale: f64) -> Option<u32> {
    let whole = (written * scale).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
    (0.0..=f64::from(u32::MAX)).contains(&whole).then_some(whole as u32)
}

/// The questions that a fault can be about: the words of the driver's calls.
const CALLS: [&str; 28] = [
    "bar1",
    "decoder",
    "device",
    "device count",
    "ecc errors",
    "encoder",
    "energy",
    "fan",
    "max memory clock",
    "max sm clock",
    "memory",
    "memory clock",
    "mig",
    "name",
    "pci",
    "pcie",
    "power",
    "power limit",
    "process utilization",
    "processes",
    "pstate",
    "remapped rows",
    "sm clock",
    "temperature",
    "throttle",
    "utilization",
    "uuid",
    "versions",
];

/// The word for a question; one that this version does not ask is `other`.
pub(super) fn call(name: &str) -> &'static str {
    CALLS.into_iter().find(|known| *known == name).unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_cannot_be_a_count_is_none() {
        for (written, scale) in [(-0.1, 10.0), (f64::NAN, 1.0), (f64::INFINITY, 1.0), (1e300, 1e10), (4_294_967.296, 1000.0)] {
            assert_eq!(count(written, scale), None, "{written}");
        }
    }

    proptest! {
        #[test]
        fn a_count_survives_being_written_with_a_fraction(n in any::<u32>()) {
            prop_assert_eq!(count(f64::from(n) / 1000.0, 1000.0), Some(n));
            prop_assert_eq!(count(f64::from(n) / 10.0, 10.0), Some(n));
        }
    }
}
