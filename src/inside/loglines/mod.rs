//! Lines of other tools that hold an allocator's figures: `DeepSpeed`, Megatron, vLLM, the Hugging Face trainer, Lightning.
//!
//! Takes a line at a time; of each tool and stage the last figures and the highest are kept. Formats that change from
//! release to release are not read.

mod number;
mod tools;

use crate::model::SafeText;
use number::Found;
pub(super) use tools::ANCHORS;

/// Tools and stages that are kept apart in one log.
const MOST: usize = 128;
/// Bytes of a line that are looked at; a CSV header of Lightning's has some 10 000.
const LONGEST: usize = 1 << 16;

/// Who wrote a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// `DeepSpeed`'s `see_memory_usage`.
    DeepSpeed,
    /// Megatron's report after some iterations.
    Megatron,
    /// vLLM's account at its start.
    Vllm,
    /// The trainer of Hugging Face transformers, with `skip_memory_metrics=False`.
    HfTrainer,
    /// Lightning's `DeviceStatsMonitor`, or `GPUStatsMonitor` of older releases, in a CSV file.
    Lightning,
}

impl Tool {
    /// Its name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::DeepSpeed => "DeepSpeed",
            Self::Megatron => "Megatron",
            Self::Vllm => "vLLM",
            Self::HfTrainer => "HF Trainer",
            Self::Lightning => "Lightning",
        }
    }
}

macro_rules! quantities {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// What a figure is of.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Quantity { $($(#[$doc])* $name),* }

        impl Quantity {
            /// All of them.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$name),*];

            /// Its key in JSON.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word),* }
            }
        }
    };
}

quantities! {
    /// What tensors have.
    Allocated = "allocated",
    /// The most that they had.
    MaxAllocated = "max_allocated",
    /// What torch took from the driver.
    Reserved = "reserved",
    /// The most that it took.
    MaxReserved = "max_reserved",
    /// By how much tensors grew in a stage.
    Delta = "alloc_delta",
    /// By how much more they grew for a while.
    PeakedDelta = "peaked_delta",
    /// What tensors had before the stage.
    Before = "before",
    /// What the device has.
    Total = "total",
    /// What is free on the device.
    Free = "free",
    /// What the engine may use.
    Budget = "budget",
    /// The model's weights.
    Weights = "weights",
    /// The most that one forward pass needs besides.
    Activations = "activations",
    /// The context, libraries, NCCL.
    Outside = "non_torch",
    /// Captured graphs.
    Graphs = "graphs",
    /// What is left for the KV cache; below 0 where nothing is.
    KvCache = "kv_cache",
    /// How many tokens that is; not bytes.
    Tokens = "kv_tokens",
    /// Times that torch emptied its cache; not bytes.
    Retries = "retries",
    /// Requests that failed; not bytes.
    Ooms = "ooms",
    /// What the device shows as used.
    Used = "used",
}

/// Figures by quantity; bytes may be below 0 where a tool prints a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures([Option<i64>; Quantity::ALL.len()]);

impl Figures {
    /// The figure of a quantity; `None` where the tool printed none.
    pub fn get(&self, quantity: Quantity) -> Option<i64> {
        self.0[quantity as usize]
    }

    fn set(&mut self, quantity: Quantity, found: Option<Found>) {
        if let Some(found) = found {
            self.0[quantity as usize] = Some(found.value);
        }
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

/// What one tool said, in one of its stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Who.
    pub tool: Tool,
    /// The stage or rank, where the tool names it.
    pub stage: Option<SafeText>,
    /// The first line that holds it, counted from 1.
    pub line: u64,
    /// How many lines hold it.
    pub count: u64,
    /// What was said last.
    pub last: Figures,
    /// The highest of each.
    pub most: Figures,
}

/// Finds such lines in a log.
#[derive(Debug, Default)]
pub struct Reader {
    notes: Vec<Note>,
    lines: u64,
    /// The columns of a table of Lightning's.
    columns: tools::Columns,
}

impl Reader {
    /// A reader at the beginning of a log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Passes over lines that somebody else found to have nothing of these tools.
    pub(super) fn skip(&mut self, lines: u64) {
        self.lines += lines;
    }

    /// Whether a table has begun whose rows have no words.
    pub(super) fn has_columns(&self) -> bool {
        self.columns.is_there()
    }

    /// Takes the next line.
    pub fn line(&mut self, line: &[u8]) {
        self.lines += 1;
        let line = &line[..line.len().min(LONGEST)];
        if !tools::may_matter(line) && !self.columns.may_have(line) {
            return;
        }
        let text = String::from_utf8_lossy(line);
        for (tool, stage, figures) in tools::read(&text, &mut self.columns) {
            self.note(tool, stage.as_deref(), &figures);
        }
    }

    fn note(&mut self, tool: Tool, stage: Option<&str>, figures: &Figures) {
        if figures.is_empty() {
            return;
        }
        let stage = stage.map(SafeText::new);
        let found = self.notes.iter_mut().position(|note| note.tool == tool && note.stage == stage);
        let at = match found {
            Some(at) => at,
            None if self.notes.len() < MOST => {
                let (last, most) = (Figures::default(), Figures::default());
                self.notes.push(Note { tool, stage, line: self.lines, count: 0, last, most });
                self.notes.len() - 1
            }
            None => return,
        };
        let note = &mut self.notes[at];
        note.count += 1;
        for quantity in Quantity::ALL {
            let at = quantity as usize;
            if let Some(value) = figures.0[at] {
                note.last.0[at] = Some(value);
                note.most.0[at] = Some(note.most.0[at].map_or(value, |most| most.max(value)));
            }
        }
    }

    /// What was found, by the first line of each.
    pub fn finish(self) -> Vec<Note> {
        self.notes
    }
}

#[cfg(test)]
mod tests;
