//! Values over time: constants, ramps, steps, saws, waves, spikes and pulses.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use crate::amount::Amount;
use crate::codes::{self, Code};

/// A value that depends on the scenario's time.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    shape: Shape,
    spikes: Vec<(f64, f64, Amount)>,
    pulse: Option<Pulse>,
}

#[derive(Clone, Debug)]
enum Shape {
    Constant(f64),
    Ramp(Ramp),
    Steps(f64, Vec<(f64, Amount)>),
    Saw(Swing),
    Wave(Swing),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ramp {
    from: Amount,
    to: Amount,
    #[serde(default)]
    start_s: f64,
    end_s: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Swing {
    low: Amount,
    high: Amount,
    period_s: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pulse {
    value: Amount,
    period_s: f64,
    length_ms: f64,
    #[serde(default)]
    start_s: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    base: Option<Amount>,
    ramp: Option<Ramp>,
    steps: Option<Vec<(f64, Amount)>>,
    saw: Option<Swing>,
    wave: Option<Swing>,
    #[serde(default)]
    spikes: Vec<(f64, f64, Amount)>,
    pulse: Option<Pulse>,
}

impl Curve {
    /// A curve that never changes.
    pub(crate) fn constant(value: f64) -> Self {
        Self { shape: Shape::Constant(value), spikes: Vec::new(), pulse: None }
    }

    /// Whether the curve never changes.
    pub(crate) fn is_constant(&self) -> bool {
        matches!(self.shape, Shape::Constant(_)) && self.spikes.is_empty() && self.pulse.is_none()
    }

    /// The value at `t` seconds.
    pub(crate) fn at(&self, t: f64) -> f64 {
        for (start, length_ms, value) in &self.spikes {
            if t >= *start && t < start + length_ms / 1e3 {
                return value.0;
            }
        }
        if let Some(pulse) = &self.pulse
            && t >= pulse.start_s
            && (t - pulse.start_s) % pulse.period_s < pulse.length_ms / 1e3
        {
            return pulse.value.0;
        }
        self.shape.at(t)
    }

    /// The value at `t` seconds as a whole number, at least 0.
    pub(crate) fn whole(&self, t: f64) -> u64 {
        self.at(t).round() as u64
    }
}

impl Shape {
    fn at(&self, t: f64) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Ramp(ramp) => {
                let part = ((t - ramp.start_s) / (ramp.end_s - ramp.start_s)).clamp(0.0, 1.0);
                ramp.from.0 + (ramp.to.0 - ramp.from.0) * part
            }
            Self::Steps(before, steps) => steps.iter().take_while(|(start, _)| *start <= t).last().map_or(*before, |(_, value)| value.0),
            Self::Saw(s) => s.low.0 + (s.high.0 - s.low.0) * ((t / s.period_s).fract()),
            Self::Wave(s) => {
                let part = 0.5 - 0.5 * (t / s.period_s * std::f64::consts::TAU).cos();
                s.low.0 + (s.high.0 - s.low.0) * part
            }
        }
    }
}

impl Table {
    fn into_curve(self) -> Result<Curve, String> {
        let named = [self.ramp.is_some(), self.steps.is_some(), self.saw.is_some(), self.wave.is_some()];
        if named.iter().filter(|given| **given).count() > 1 {
            return Err("a curve has one of `ramp`, `steps`, `saw` and `wave`".to_owned());
        }
        let steps_only_base = self.base.is_some() && self.steps.is_none();
        if steps_only_base && named.contains(&true) {
            return Err("`base` goes with `steps`, `spikes` or `pulse` only".to_owned());
        }
        let shape = if let Some(ramp) = self.ramp {
            if ramp.end_s <= ramp.start_s {
                return Err("a ramp's `end_s` comes after its `start_s`".to_owned());
            }
            Shape::Ramp(ramp)
        } else if let Some(steps) = self.steps {
            if !steps.is_sorted_by(|a, b| a.0 <= b.0) {
                return Err("`steps` are in order of time".to_owned());
            }
            Shape::Steps(self.base.map_or(0.0, |base| base.0), steps)
        } else if let Some(saw) = self.saw {
            Shape::Saw(saw)
        } else if let Some(wave) = self.wave {
            Shape::Wave(wave)
        } else if let Some(base) = self.base {
            Shape::Constant(base.0)
        } else {
            return Err("a curve needs `base`, `ramp`, `steps`, `saw` or `wave`".to_owned());
        };
        let periods = match (&shape, &self.pulse) {
            (Shape::Saw(s) | Shape::Wave(s), _) if s.period_s <= 0.0 => false,
            (_, Some(pulse)) => pulse.period_s > 0.0,
            _ => true,
        };
        if !periods {
            return Err("`period_s` is more than 0".to_owned());
        }
        Ok(Curve { shape, spikes: self.spikes, pulse: self.pulse })
    }
}

/// A value over time, or the error that asking for it gives.
#[derive(Clone, Debug)]
pub(crate) enum Reading {
    Value(Curve),
    Error(Code),
}

impl Reading {
    /// A reading that never changes.
    pub(crate) fn constant(value: f64) -> Self {
        Self::Value(Curve::constant(value))
    }

    /// The whole number at `t` seconds, or the error.
    pub(crate) fn whole(&self, t: f64) -> Result<u64, Code> {
        match self {
            Self::Value(curve) => Ok(curve.whole(t)),
            Self::Error(code) => Err(*code),
        }
    }

    /// The number at `t` seconds, or the error.
    pub(crate) fn at(&self, t: f64) -> Result<f64, Code> {
        match self {
            Self::Value(curve) => Ok(curve.at(t)),
            Self::Error(code) => Err(*code),
        }
    }

    /// Whether the answer never changes.
    pub(crate) fn is_constant(&self) -> bool {
        match self {
            Self::Value(curve) => curve.is_constant(),
            Self::Error(_) => true,
        }
    }
}

struct ReadingVisitor;

impl<'de> Visitor<'de> for ReadingVisitor {
    type Value = Reading;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a string of bytes such as \"1.5GiB\", or a curve such as { ramp = … }")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Reading, E> {
        Ok(Reading::constant(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Reading, E> {
        Ok(Reading::constant(value as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Reading, E> {
        Ok(Reading::constant(value))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Reading, E> {
        Ok(Reading::constant(f64::from(u8::from(value))))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Reading, E> {
        if let Some(amount) = Amount::parse(text) {
            return Ok(Reading::constant(amount.0));
        }
        codes::by_name(text).map(Reading::Error).ok_or_else(|| E::custom(format!("`{text}` is neither an amount nor the name of an NVML error")))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Reading, A::Error> {
        let table = Table::deserialize(MapAccessDeserializer::new(map))?;
        table.into_curve().map(Reading::Value).map_err(A::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Reading {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadingVisitor)
    }
}

impl<'de> Deserialize<'de> for Curve {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Reading::deserialize(deserializer)? {
            Reading::Value(curve) => Ok(curve),
            Reading::Error(_) => Err(D::Error::custom("a value is needed here, not the name of an error")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Curve, Reading};

    #[derive(serde::Deserialize)]
    struct Holder<T> {
        v: T,
    }

    fn curve(text: &str) -> Curve {
        toml::from_str::<Holder<Curve>>(&format!("v = {text}")).unwrap().v
    }

    #[test]
    fn ramp_holds_both_ends() {
        let c = curve("{ ramp = { from = 10, to = 20, start_s = 1, end_s = 3 } }");
        assert_eq!([c.whole(0.0), c.whole(2.0), c.whole(9.0)], [10, 15, 20]);
    }

    #[test]
    fn steps_hold_the_last() {
        let c = curve("{ base = 1, steps = [[1, 5], [2.5, \"1KiB\"]] }");
        assert_eq!([c.whole(0.9), c.whole(1.0), c.whole(9.0)], [1, 5, 1024]);
    }

    #[test]
    fn spikes_and_pulses_last_milliseconds() {
        let c = curve("{ base = 1, spikes = [[2, 5, 9]] }");
        assert_eq!([c.whole(1.999), c.whole(2.004), c.whole(2.006)], [1, 9, 1]);
        let c = curve("{ base = 1, pulse = { value = 7, period_s = 2, length_ms = 10 } }");
        assert_eq!([c.whole(4.005), c.whole(4.5)], [7, 1]);
        assert!(!c.is_constant());
    }

    #[test]
    fn saw_and_wave() {
        let c = curve("{ saw = { low = 0, high = 100, period_s = 4 } }");
        assert_eq!([c.whole(1.0), c.whole(4.0)], [25, 0]);
        let c = curve("{ wave = { low = 0, high = 100, period_s = 4 } }");
        assert_eq!([c.whole(0.0), c.whole(2.0)], [0, 100]);
    }

    #[test]
    fn errors_name_the_mistake() {
        let bad = |text: &str| toml::from_str::<Holder<Reading>>(&format!("v = {text}")).map(|holder| holder.v).unwrap_err().to_string();
        assert!(bad("{ rampp = 1 }").contains("rampp"));
        assert!(bad("{ spikes = [] }").contains("a curve needs"));
        assert!(bad("\"lots\"").contains("`lots`"));
    }
}
