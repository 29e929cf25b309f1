//! What works here and what doesn't: facts about the driver, the machine, the terminal and the settings, as plain data.
//!
//! The facts are gathered by [`driver`] and [`machine`], judged by [`judge`], and written by [`text`] or as JSON. Nothing here prints.

pub mod driver;
mod judge;
pub mod machine;
mod private;
pub mod text;

pub use judge::Outcome;
pub use private::Private;

use std::fmt;

use serde::{Serialize, Serializer};

use crate::model::Absence;
use driver::{DriverFacts, Processes};
use machine::Machine;

/// Everything that was found.
#[derive(Debug, Serialize)]
pub struct Facts {
    /// The driver and its library.
    pub driver: DriverFacts,
    /// Each GPU, followed by its MIG instances.
    pub gpus: Vec<Gpu>,
    /// The processes on them.
    pub processes: Processes,
    /// The system around this program.
    pub machine: Machine,
    /// The terminal.
    pub terminal: Terminal,
    /// The settings in force.
    pub settings: Settings,
}

/// The facts, and what follows from them.
#[derive(Debug, Serialize)]
pub struct Report {
    /// `doctor`, as every object of the program says what it is.
    #[serde(rename = "type")]
    kind: &'static str,
    schema: u32,
    version: &'static str,
    /// How it stands, in a word.
    pub outcome: Outcome,
    /// How it stands, in a sentence.
    pub verdict: String,
    /// What could be done about it.
    pub advice: Vec<String>,
    /// What it follows from.
    #[serde(flatten)]
    pub facts: Facts,
}

impl Report {
    /// Judges the facts.
    pub fn of(facts: Facts) -> Self {
        let (outcome, verdict) = judge::verdict(&facts);
        let advice = judge::advice(&facts);
        Self { kind: "doctor", schema: 1, version: env!("CARGO_PKG_VERSION"), outcome, verdict, advice, facts }
    }
}

/// One GPU or MIG instance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gpu {
    /// How people name it: `0`, or `0.2` for an instance.
    pub label: String,
    /// Product name.
    pub name: String,
    /// The beginning of its UUID.
    pub uuid: String,
    /// All of its memory in bytes.
    pub total: Option<u64>,
    /// What came of each question.
    pub calls: Vec<Call>,
    /// Why it could not be opened.
    pub error: Option<String>,
}

/// One question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Call {
    /// In words.
    pub call: &'static str,
    /// Which version of the driver's call answered, where there are several.
    pub version: Option<&'static str>,
    /// What came of it.
    pub answer: Answer,
    /// How long it took in microseconds.
    pub first_us: Option<u64>,
    /// How long it took when it was asked again.
    pub second_us: Option<u64>,
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It is answered.
    Answers,
    /// It is not, and why.
    Absent(Absence),
    /// Nothing came in that many seconds.
    Silent(u64),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answers => f.pad("answers"),
            Self::Absent(absence) => f.pad(&absence.to_string()),
            Self::Silent(seconds) => f.pad(&format!("no answer in {seconds} s")),
        }
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The terminal, and what is made of it.
#[derive(Clone, Debug, Serialize)]
pub struct Terminal {
    /// `TERM`.
    pub term: Option<String>,
    /// `COLORTERM`.
    pub colorterm: Option<String>,
    /// Whether `NO_COLOR` is set.
    pub no_color: bool,
    /// The locale that decides on the characters.
    pub locale: Option<String>,
    /// The terminal in the terminal.
    pub inside: Option<&'static str>,
    /// The colours that are used.
    pub colors: &'static str,
    /// The characters that are used.
    pub glyphs: &'static str,
    /// Columns and rows.
    pub size: Option<(u16, u16)>,
    /// Whether stdin is a terminal.
    pub stdin: bool,
    /// Whether stdout is one.
    pub stdout: bool,
}

/// The settings in force.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// The file that was read.
    pub file: Option<String>,
    /// Why the file at the default place was not read, where it is there.
    pub unread: Option<String>,
    /// Why the settings cannot be used; then the values are those of the flags and the defaults.
    pub error: Option<String>,
    /// Each value and its origin.
    pub values: Vec<Value>,
}

/// One setting.
#[derive(Clone, Debug, Serialize)]
pub struct Value {
    /// Its name in the file.
    pub key: &'static str,
    /// Its value, as the file spells it.
    pub value: String,
    /// Where it comes from.
    pub origin: &'static str,
}
