//! The clauses of each family's texts: a figure and the words around it, or words that settle the case. One table a file.
//!
//! A clause is found wherever it stands, so order, line breaks and what else is said do not matter. Which figure it gives is the name of its group.

mod driver;
mod engines;
mod host;
mod pools;
mod programs;
mod torch;

use std::collections::BTreeSet;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex_lite::{Captures, Regex};

use super::amount::{Base, FIGURE, LOOSE, NUMBER, unit_of};
use super::pattern::{compile_any_case, words};
use super::{Amount, Figures, Hints, Producer};

/// What a text is a sign of, beside its figures. In the order in which one goes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sign {
    /// The device is gone: NVML fails and the program holds nothing.
    LostDevice,
    /// The driver reports a fault of the hardware, the bus or a program.
    Xid,
    /// A kernel needs more on-chip memory, threads or registers than there are.
    KernelResources,
    /// The kernel of the operating system, or a supervisor, killed a process for host memory.
    Killed,
    /// Host RAM could not be had.
    HostRam,
    /// Page-locked host memory could not be had.
    Pinned,
    /// `/dev/shm` is full.
    SharedMemory,
    /// The memory that an integrated GPU shares with the CPU.
    IntegratedPool,
    /// The program says that it went on with page-able memory.
    PinnedFallback,
    /// The program retried with less and went on.
    Retried,
    /// A start-up probe for a large pool that goes on with less.
    Probe,
    /// A faster way was left out for want of memory.
    Optional,
    /// Memory of a program that ended was not seen to come back in time.
    LateRelease,
    /// The size is beyond any memory.
    Absurd,
    /// A slicer's limit.
    SoftSlice,
    /// The free memory is below the engine's target at its start.
    FreeBelowTarget,
    /// Of the GPUs of one engine some have much less free than this one.
    Unbalanced,
    /// Another process changed what it holds while the engine measured.
    NeighbourChanged,
    /// One request's cache is more than the engine has for it.
    CacheBelowRequest,
    /// Nothing is left of the engine's budget for its cache.
    NoCache,
    /// A batch that was allowed does not fit into what the engine left for it.
    Batch,
    /// A pool's own maximum.
    PoolLimit,
    /// The buffer is of a communication library.
    Communication,
    /// A compiled program as a whole.
    Plan,
    /// A library's status code.
    Status,
    /// An allocation that failed: figures decide.
    Shortage,
    /// A driver's code without anything else.
    Bare,
    /// A process was killed from outside, and nothing says by whom.
    KilledBySignal,
}

/// What a clause does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It says that something failed: a text begins, or goes on.
    Opens(Sign),
    /// It adds to a text that has begun.
    Adds,
    /// It settles what the text is a sign of, without beginning one.
    Settles(Sign),
    /// It tells about the machine, before or after.
    Tells,
}

/// One clause.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clause {
    pub(super) producer: Producer,
    pub(super) role: Role,
    pattern: &'static str,
    base: Base,
    /// The unit of figures that are printed without one.
    unit: Option<&'static str>,
}

const fn opens(producer: Producer, sign: Sign, pattern: &'static str) -> Clause {
    Clause { producer, role: Role::Opens(sign), pattern, base: Base::Two, unit: None }
}

const fn adds(producer: Producer, pattern: &'static str) -> Clause {
    Clause { producer, role: Role::Adds, pattern, base: Base::Two, unit: None }
}

const fn settles(producer: Producer, sign: Sign, pattern: &'static str) -> Clause {
    Clause { producer, role: Role::Settles(sign), pattern, base: Base::Two, unit: None }
}

const fn tells(producer: Producer, pattern: &'static str) -> Clause {
    Clause { producer, role: Role::Tells, pattern, base: Base::Two, unit: None }
}

impl Clause {
    const fn gib(mut self) -> Self {
        self.unit = Some("GiB");
        self
    }

    const fn decimal(mut self) -> Self {
        self.base = Base::Ten;
        self
    }
}

/// A clause that was found, with what it gives.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) producer: Producer,
    pub(super) role: Role,
    pub(super) figures: Figures,
    pub(super) hints: Hints,
    /// Facts about one device that stand apart from a failure: its index, free memory, or a buffer loaded there.
    pub(super) device_free: Option<(u32, u64)>,
    pub(super) device_loaded: Option<(u32, u64)>,
    /// Whether the program says that it holds nothing at all.
    pub(super) holds_nothing: bool,
    /// Gibibytes that the name of a board tells.
    pub(super) board_gib: Option<u32>,
}

/// The clauses of all families, and the words by which those that can be in a text are found: a short text has a handful of them.
struct Grammar {
    clauses: Vec<(Clause, OnceLock<Option<Regex>>)>,
    words: Option<AhoCorasick>,
    /// Whose each word is.
    of_word: Vec<usize>,
    /// Clauses without a word of their own.
    always: Vec<usize>,
}

static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
    let (mut all, mut of_word, mut always) = (Vec::new(), Vec::new(), Vec::new());
    let clauses: Vec<_> = TABLES.into_iter().flatten().map(|clause| (*clause, OnceLock::new())).collect();
    for (at, (clause, _)) in clauses.iter().enumerate() {
        match words(&["{F}", "{L}", "{N}"].iter().fold(clause.pattern.to_owned(), |pattern, figure| pattern.replace(figure, "[0-9]"))) {
            Some(words) => {
                of_word.extend(words.iter().map(|_| at));
                all.extend(words);
            }
            None => always.push(at),
        }
    }
    Grammar { clauses, words: AhoCorasick::builder().ascii_case_insensitive(true).build(all).ok(), of_word, always }
});

const TABLES: [&[Clause]; 6] = [torch::CLAUSES, engines::CLAUSES, pools::CLAUSES, programs::CLAUSES, driver::CLAUSES, host::CLAUSES];

impl Grammar {
    /// The clauses that can be in a text, in the order of the tables.
    fn candidates(&self, text: &str) -> BTreeSet<usize> {
        let Some(words) = &self.words else { return (0..self.clauses.len()).collect() };
        let found = words.find_overlapping_iter(text).filter_map(|found| self.of_word.get(found.pattern().as_usize()));
        self.always.iter().chain(found).copied().collect()
    }
}

/// `{F}` is a figure with its unit, `{L}` one whose unit may be a letter, `{N}` a bare number.
fn compile(pattern: &str) -> Option<Regex> {
    compile_any_case(&pattern.replace("{F}", FIGURE).replace("{L}", LOOSE).replace("{N}", NUMBER))
}

/// The clauses in a text.
pub(super) fn clauses(text: &str) -> Vec<Found> {
    let grammar = &*GRAMMAR;
    let mut all = Vec::new();
    for (clause, regex) in grammar.candidates(text).into_iter().filter_map(|at| grammar.clauses.get(at)) {
        if let Some(regex) = regex.get_or_init(|| compile(clause.pattern)) {
            all.extend(regex.captures_iter(text).map(|captures| found(clause, regex, &captures)));
        }
    }
    all
}

fn found(clause: &Clause, regex: &Regex, captures: &Captures<'_>) -> Found {
    let mut found = Found {
        producer: clause.producer,
        role: clause.role,
        figures: Figures::default(),
        hints: Hints::default(),
        device_free: None,
        device_loaded: None,
        holds_nothing: captures.name("nothing").is_some(),
        board_gib: None,
    };
    let text = |name: &str| captures.name(name).map(|group| group.as_str());
    // "61.35/79.10 GiB": a bare number has its neighbour's unit.
    let unit = regex.capture_names().flatten().filter_map(|name| captures.name(name)).find_map(|group| unit_of(group.as_str())).or(clause.unit);
    let amount = |name: &str| Amount::parse(text(name)?, unit, clause.base);
    let number = |name: &str| text(name).and_then(|digits| digits.replace([',', '_'], "").parse::<u32>().ok());
    let figures = &mut found.figures;
    figures.device = number("device");
    figures.tried = amount("tried").or_else(|| tensor(text("shape")?, text("type")?));
    figures.capacity = amount("capacity");
    figures.free = amount("free");
    figures.this_process = amount("own");
    figures.allowed = amount("allowed");
    figures.allocated = amount("allocated").or_else(|| less(amount("total")?, figures.tried?));
    figures.private_pools = amount("private");
    figures.reserved_unallocated = amount("cached");
    figures.reserved_total = amount("reserved");
    figures.planned = amount("planned");
    figures.others = number("pid").zip(amount("other")).into_iter().collect();
    let hints = &mut found.hints;
    hints.advises_expandable = text("expandable").is_some();
    hints.advises_split = text("split").is_some();
    hints.slice = text("slice").map(|name| name.chars().take(60).collect());
    hints.fraction = text("fraction").map(|digits| digits.trim_end_matches('.').to_owned());
    hints.tokens = text("tokens").and_then(|digits| digits.replace([',', '_'], "").parse().ok());
    hints.short_mib = amount("short").and_then(Amount::bytes).map(|bytes| bytes >> 20);
    hints.code = number("code");
    let bytes = |name: &str| amount(name).and_then(Amount::bytes);
    hints.used = bytes("used");
    hints.foreign = bytes("foreign");
    hints.free_here = bytes("here");
    found.device_free = number("on").zip(bytes("device_free"));
    found.device_loaded = number("on").zip(bytes("device_loaded"));
    found.board_gib = number("board");
    found
}

fn less(total: Amount, tried: Amount) -> Option<Amount> {
    total.bytes()?.checked_sub(tried.bytes()?).map(Amount::exact)
}

/// The bytes of a tensor, from its shape and the name of its type.
fn tensor(shape: &str, kind: &str) -> Option<Amount> {
    let size: u64 = match kind.to_ascii_lowercase().as_str() {
        "complex128" => 16,
        "double" | "float64" | "int64" | "uint64" | "complex64" => 8,
        "float" | "float32" | "int32" | "uint32" | "qint32" => 4,
        "half" | "float16" | "bfloat16" | "int16" | "uint16" => 2,
        "bool" | "int8" | "uint8" | "qint8" | "quint8" | "float8_e4m3fn" | "float8_e5m2" => 1,
        _ => return None,
    };
    let mut bytes = size;
    for dimension in shape.split(',') {
        bytes = bytes.checked_mul(dimension.trim().parse().ok()?)?;
    }
    Some(Amount::exact(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_one() {
        for clause in TABLES.into_iter().flatten() {
            assert!(compile(clause.pattern).is_some(), "{}", clause.pattern);
        }
        assert!(GRAMMAR.words.is_some() && GRAMMAR.always.len() < 2, "{:?}", GRAMMAR.always);
    }

    /// Over all texts with known answers, line by line and each in one piece.
    #[test]
    fn the_words_of_a_clause_leave_out_no_match() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/explain/");
        let files =
            ["oom-texts", "more", "eras", "h200"].into_iter().flat_map(|name| std::fs::read_dir(format!("{folder}{name}")).expect("a folder"));
        let texts: Vec<String> = files.map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("a text")).collect();
        let regexes: Vec<Regex> = TABLES.into_iter().flatten().map(|clause| compile(clause.pattern).expect("a pattern")).collect();
        let mut found = 0;
        for text in texts.iter().flat_map(|text| text.lines().chain([text.as_str()])) {
            let candidates = GRAMMAR.candidates(text);
            let matching = regexes.iter().enumerate().filter(|(_, regex)| regex.is_match(text));
            for (at, regex) in matching {
                assert!(candidates.contains(&at), "{regex} in {text}");
                found += 1;
            }
        }
        assert!(found > 500, "{found}");
    }

    #[test]
    fn a_tensor_has_the_bytes_of_its_shape() {
        // 64 * 512 * 144 * 144 * 4.
        assert_eq!(tensor("64,512,144,144", "float"), Some(Amount::exact(2_717_908_992)));
        assert_eq!(tensor("64, 512", "half"), Some(Amount::exact(65_536)));
        assert_eq!(tensor("64,-1", "float"), None);
        assert_eq!(tensor("4294967295,4294967295,4294967295", "float"), None);
    }
}
