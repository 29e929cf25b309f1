//! What each tool's lines look like.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::number::{after, before, number};
use super::{Figures, Quantity, Tool};

const MIB: i64 = 1 << 20;
const GIB: i64 = 1 << 30;

/// Pieces of text one of which every line has that is read here.
pub(in crate::inside) const ANCHORS: [&str; 13] = [
    "Max_MA",
    "memory (MB) |",
    "_mem_gpu",
    "can use total_gpu_memory",
    "model weights take",
    "Available KV cache memory",
    "GPU KV cache size",
    "Model loading took",
    "Graph capturing finished",
    "Free memory on device",
    "Actual usage is",
    "DeviceStatsMonitor.",
    "/memory.used (MB)",
];

static SEARCH: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(ANCHORS).ok());

/// Whether a line has something that is read here.
pub(super) fn may_matter(line: &[u8]) -> bool {
    SEARCH.as_ref().is_some_and(|search| search.is_match(line))
}

type Read = (Tool, Option<String>, Figures);

/// The figures of one line.
pub(super) fn read(text: &str, columns: &mut Columns) -> Vec<Read> {
    let one = |tool, stage, figures| vec![(tool, stage, figures)];
    if text.contains("Max_MA") {
        one(Tool::DeepSpeed, None, deepspeed(text))
    } else if text.contains("memory (MB) |") {
        one(Tool::Megatron, rank(text), megatron(text))
    } else if text.contains("_mem_gpu") {
        trainer(text)
    } else if text.contains("DeviceStatsMonitor.") || text.contains("/memory.used (MB)") {
        *columns = Columns::of(text);
        Vec::new()
    } else if columns.may_have(text.as_bytes()) {
        columns.row(text)
    } else {
        one(Tool::Vllm, None, vllm(text))
    }
}

fn figures<const N: usize>(of: [(Quantity, Option<super::Found>); N]) -> Figures {
    let mut figures = Figures::default();
    for (quantity, found) in of {
        figures.set(quantity, found);
    }
    figures
}

/// `MA 14.96 GB   Max_MA 14.96 GB   CA 15.0 GB   Max_CA 15 GB`: allocated and cached, in GiB.
fn deepspeed(text: &str) -> Figures {
    let padded = format!(" {text}");
    figures([
        (Quantity::Allocated, after(&padded, " MA ", GIB)),
        (Quantity::MaxAllocated, after(&padded, "Max_MA ", GIB)),
        (Quantity::Reserved, after(&padded, " CA ", GIB)),
        (Quantity::MaxReserved, after(&padded, "Max_CA ", GIB)),
    ])
}

/// `[Rank 0] (after 10 iterations) memory (MB) | allocated: 1.5 | max allocated: 2.5 | reserved: 4.0 | max reserved: 4.0`.
fn megatron(text: &str) -> Figures {
    figures([
        (Quantity::Allocated, after(text, "| allocated:", MIB)),
        (Quantity::MaxAllocated, after(text, "max allocated:", MIB)),
        (Quantity::Reserved, after(text, "| reserved:", MIB)),
        (Quantity::MaxReserved, after(text, "max reserved:", MIB)),
    ])
}

fn rank(text: &str) -> Option<String> {
    let from = text.find("Rank ").map(|at| at + 5)?;
    let digits: String = text[from..].chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then(|| format!("rank {digits}"))
}

/// `train_mem_gpu_alloc_delta`, `train_mem_gpu_peaked_delta`, `before_init_mem_gpu`: one of a line, or a dictionary of them.
fn trainer(text: &str) -> Vec<Read> {
    let mut stages: Vec<Read> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("_mem_gpu") {
        let word = rest[..at].rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |end| end + 1);
        let stage = rest.get(word..at).unwrap_or("");
        let tail = &rest[at + "_mem_gpu".len()..];
        let (quantity, name) = match (stage.strip_prefix("before_"), tail) {
            (Some(_), _) => (Quantity::Before, ""),
            (None, tail) if tail.starts_with("_alloc_delta") => (Quantity::Delta, "_alloc_delta"),
            (None, tail) if tail.starts_with("_peaked_delta") => (Quantity::PeakedDelta, "_peaked_delta"),
            _ => {
                rest = tail;
                continue;
            }
        };
        let stage = stage.strip_prefix("before_").unwrap_or(stage);
        let found = after(tail, name, 1);
        if found.is_some() {
            let known = stages.iter().position(|(_, known, _)| known.as_deref() == Some(stage));
            let at = known.unwrap_or_else(|| {
                stages.push((Tool::HfTrainer, Some(stage.to_owned()), Figures::default()));
                stages.len() - 1
            });
            stages[at].2.set(quantity, found);
        }
        rest = tail;
    }
    stages
}

/// The lines of vLLM's start, of its first engine and of its second.
fn vllm(text: &str) -> Figures {
    // `Free memory on device (78.57/79.18 GiB) on startup`: the unit stands once.
    let pair = text.find("Free memory on device").and_then(|at| {
        let inside = text[at..].split_once('(')?.1.split_once(')')?.0;
        let (free, total) = inside.split_once('/')?;
        Some((number(free, GIB)?.0, number(total, GIB)?.0))
    });
    let mut figures = figures([
        (Quantity::Total, after(text, "total_gpu_memory", GIB).or(pair.map(|pair| pair.1))),
        (Quantity::Free, pair.map(|pair| pair.0)),
        (Quantity::Weights, after(text, "weights take", GIB).or(before(text, "for weight", GIB)).or(after(text, "Model loading took", GIB))),
        (Quantity::Outside, after(text, "non_torch_memory takes", GIB).or(before(text, "for non-torch", GIB))),
        (Quantity::Activations, after(text, "activation peak memory takes", GIB).or(before(text, "for peak activation", GIB))),
        (Quantity::Graphs, before(text, "for CUDAGraph", GIB)),
        (Quantity::KvCache, after(text, "KV Cache is", GIB).or(after(text, "Available KV cache memory", GIB))),
        (Quantity::Tokens, after(text, "GPU KV cache size", 1)),
    ]);
    if text.contains("can use total_gpu_memory") {
        figures.set(Quantity::Budget, text.rfind("= ").and_then(|at| number(&text[at + 2..], GIB)).map(|(found, _)| found));
    } else if let Some(at) = text.find("memory utilization is (") {
        figures.set(Quantity::Budget, text[at..].find(", ").and_then(|comma| number(&text[at + comma + 2..], GIB)).map(|(found, _)| found));
    }
    if text.contains("Graph capturing finished") {
        figures.set(Quantity::Graphs, after(text, "took", GIB));
    }
    figures
}

/// Where the columns of a CSV file of Lightning's logger are.
#[derive(Debug, Default)]
pub(super) struct Columns {
    of: Vec<(usize, Quantity, i64)>,
    count: usize,
}

impl Columns {
    fn of(header: &str) -> Self {
        const NAMES: [(&str, Quantity, i64); 7] = [
            ("/allocated_bytes.all.current", Quantity::Allocated, 1),
            ("/allocated_bytes.all.peak", Quantity::MaxAllocated, 1),
            ("/reserved_bytes.all.current", Quantity::Reserved, 1),
            ("/reserved_bytes.all.peak", Quantity::MaxReserved, 1),
            ("/num_alloc_retries", Quantity::Retries, 1),
            ("/num_ooms", Quantity::Ooms, 1),
            ("/memory.used (MB)", Quantity::Used, MIB),
        ];
        let cells: Vec<&str> = header.trim_end().split(',').collect();
        let named = |cell: &str| NAMES.iter().find(|(end, ..)| cell.trim_matches('"').ends_with(end));
        let of = cells.iter().enumerate().filter_map(|(at, cell)| named(cell).map(|(_, quantity, unit)| (at, *quantity, *unit))).collect();
        Self { of, count: cells.len() }
    }

    /// Whether there are any.
    pub(super) fn is_there(&self) -> bool {
        !self.of.is_empty()
    }

    /// Whether a line has as many cells.
    pub(super) fn may_have(&self, line: &[u8]) -> bool {
        !self.of.is_empty() && self.count > 1 && line.split(|byte| *byte == b',').count() == self.count
    }

    fn row(&self, text: &str) -> Vec<Read> {
        let cells: Vec<&str> = text.trim_end().split(',').collect();
        let mut figures = Figures::default();
        for (at, quantity, unit) in &self.of {
            figures.set(*quantity, cells.get(*at).and_then(|cell| number(cell.trim(), *unit)).map(|(found, _)| found));
        }
        vec![(Tool::Lightning, None, figures)]
    }
}
