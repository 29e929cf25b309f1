//! The reasons of absent readings on the wire: an object of dotted paths, `{"fan_percent":"not supported"}`.
//!
//! A path stands for everything below it as well: `memory` is the reason for `memory.used` unless that has its own.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use crate::model::{Absence, Reading, SafeText};

/// The reason of a field that nobody fills yet.
pub(super) static NOT_ASKED: Absence = Absence::NotAsked;
/// The reason of a conclusion that needs more of the past.
pub(super) static NOT_YET: Absence = Absence::NotYet;
/// The reason of a term that memory v1 does not tell.
pub(super) static NOT_SUPPORTED: Absence = Absence::NotSupported;

/// The reason of a sum of which a part is unknown, where no process says why.
pub(super) static UNTOLD: Absence = Absence::Failed(Cow::Borrowed("a share is not told"));

/// Paths with the reason of each that is absent, to be written.
pub(super) struct Absences<'a, const N: usize>(pub(super) [(&'static str, Option<&'a Absence>); N]);

impl<const N: usize> Serialize for Absences<'_, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (path, why) in &self.0 {
            if let Some(why) = why {
                map.serialize_entry(path, &Displayed(why))?;
            }
        }
        map.end()
    }
}

/// A value as its text.
struct Displayed<T>(T);

impl<T: fmt::Display> Serialize for Displayed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// The reasons that a line gives.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Reasons(HashMap<String, String>);

impl Reasons {
    /// The reading at `path`: its value, or the reason that the line gives for the path or for one above it.
    pub(super) fn reading<T>(&self, path: &str, value: Option<T>) -> Reading<T> {
        value.map_or_else(|| Reading::Absent(self.of(path)), Reading::Value)
    }

    /// Whoever recorded gave no reason: then it is a field that did not exist yet, so it was not asked for.
    pub(super) fn of(&self, path: &str) -> Absence {
        let mut path = path;
        loop {
            if let Some(text) = self.0.get(path) {
                return parse(text);
            }
            match path.rsplit_once('.') {
                Some((above, _)) => path = above,
                None => return Absence::NotAsked,
            }
        }
    }
}

/// A reason that this version has no word for is kept as it is written.
fn parse(text: &str) -> Absence {
    match text.parse() {
        Ok(Absence::Failed(name)) => failed(&name),
        Ok(why) => why,
        Err(_) => failed(text),
    }
}

fn failed(name: &str) -> Absence {
    Absence::Failed(SafeText::new(name).as_str().to_owned().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_absent_are_written() {
        let reasons = Absences([("a", None), ("b.c", Some(&NOT_YET)), ("d", Some(&NOT_SUPPORTED))]);
        assert_eq!(serde_json::to_string(&reasons).expect("valid"), r#"{"b.c":"not yet","d":"not supported"}"#);
    }

    #[test]
    fn a_reason_holds_for_what_is_below_it() {
        let reasons: Reasons =
            serde_json::from_str(r#"{"memory":"failed: GPU is lost","memory.driver":"too new","fan":"not supported"}"#).expect("valid");
        assert_eq!(reasons.of("memory.used"), Absence::Failed("GPU is lost".into()));
        assert_eq!(reasons.of("memory.driver"), Absence::Failed("too new".into()));
        assert_eq!(reasons.of("power_w"), Absence::NotAsked);
        assert_eq!(reasons.reading("fan", Some(3)), Reading::Value(3));
    }
}
