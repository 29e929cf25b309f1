//! Out-of-memory texts: found in a log of any size, read by their grammar, judged by their figures.
//!
//! `scan` finds the lines, `clean` strips what others put around them, `join` undoes wrapping, `family` reads clauses, `gather` makes one
//! text of them, `verdict` judges. It refuses to guess: what a text does not print stays absent, and too little is `unknown`.

mod amount;
mod anchors;
mod clean;
mod encoding;
mod family;
mod gather;
mod join;
mod kin;
mod merge;
mod pattern;
mod report;
mod scan;
mod times;
mod verdict;

pub use super::Verdict;
pub use amount::Amount;
pub use family::Sign;
pub use report::{Confidence, Figures, Hints, LogTime, Producer, Report};
pub use scan::{Log, read};
pub use verdict::{Sums, is_metal, short_by_much};
