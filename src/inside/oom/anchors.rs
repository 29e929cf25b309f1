//! Which lines of a log can matter: a search for words over whole blocks. What the words mean is not known here.

use std::sync::LazyLock;

use aho_corasick::packed::Searcher;
use aho_corasick::{AhoCorasick, Span};
use memchr::{memchr2, memrchr2};

/// Words of which at least one stands in every line that can matter. Any case.
const ANCHORS: &[&str] = &[
    "out of mem",
    "outofmem",
    "out_of_mem",
    "out_of_device_mem",
    "pool is full",
    "ut of memory",
    "ried to alloc",
    "to allocate",
    "1eb memory",
    "failed to alloc",
    "could not be allocated",
    "alloc_failed",
    "alloc failed",
    "allocation_failed",
    "status_not_init",
    "status_internal_error",
    "cufft_internal",
    "allocation on device",
    "exceed allowed memory",
    "already alloc",
    "total cap",
    "reserved in total",
    "by pytorch",
    "memory in use",
    "private pools",
    "unallocated",
    "currently alloc",
    "device limit",
    "according to cuda",
    "memory fraction)",
    "pin memory thread",
    "pin_memory",
    "alloc_cpu.cpp",
    "defaultcpuallocator",
    "shared memory",
    "dataloader worker",
    "resource_exhausted",
    "resourceexhausted",
    "exhausted",
    "oom when",
    "total allocation:",
    "inuse:",
    "limit:",
    "allocating ",
    "buffer of size",
    "of pinned memory",
    "pipeline parallelism",
    "allocate compute",
    "buffer for kv",
    "mib free",
    "buffer size",
    "more system memory",
    "runner process",
    "memory on device",
    "memory profiling",
    "for the cache blocks",
    "kv cache",
    "mem-fraction-static",
    "mem_fraction_static",
    "warming up sampler",
    "is unbalanced",
    "not enough memory",
    "could not create cu",
    "get convolution algorithm",
    "valid cudnn",
    "find an engine",
    "nvmap",
    "tactic device",
    "requested size was",
    "requested buffer",
    "available memory of",
    "failed to initialize nvml",
    "device id",
    "allocated memory |",
    "allocated memory  ",
    "| allocated memory",
    "nccl warn",
    "failed to cuda",
    "memorygpu",
    "gpu memory",
    "pool usage",
    "allocator usage",
    "pool size exceeded",
    "arena size exceeded",
    "memory limit",
    "available memory is only",
    "out of resource",
    "outofresources",
    "out_of_resource",
    "nccl error",
    "ncclunhandled",
    "distbackenderror",
    "too many resources",
    "too much shared",
    "oom ",
    "mig-",
    "mig 1",
    "mig 2",
    "mig 3",
    "mig 4",
    "mig 7",
    "xid (",
    "oom-kill",
    "oom_kill",
    "oomkilled",
    "oom_reaper",
    "systemd-oomd",
    "earlyoom",
    "cannot allocate",
    "no space left",
    "running low on memory",
    "memory pressure",
    "java heap",
    "system memory",
    "peculiar gpu",
    "a100",
    "a30-",
    "a30 ",
    "h100",
    "h200",
    "gh200",
    "b200",
    "v100",
    "no_memory",
    "memoryallocation",
    "memory allocation",
    "error 2 ",
    "unable to alloc",
    "not a failure",
    "got an oom",
    "exception during processing",
    "hard limit",
    "that was not possible",
    "current device:",
    "errno 12",
    "failed: out",
    "too large for system",
    "recover within timeout",
    "insufficient vram",
    "enough gpu ram",
    "memory space",
    "alloc fail type",
    "allocation_failure",
    "code 137",
    "code: 137",
    "status 137",
    "code = -9",
    "exitcode",
    "sigkill: 9",
    "(sigkill)",
];

/// Pieces of these words, in lower case and few enough to be looked for all at once by vector instructions, which is several times as fast as
/// looking for the words. Each word has one.
const STEMS: &[&str] = &[
    "memor", "alloc", "resou", "stat", "size", "kill", "devic", "fail", "code", "mig ", "error", "buffe", "total", "limit", "proce", "pool", "sted",
    "nccl", "h200", " not", " cud", "datal", "oom ", " gpu", " an ", "outof", "out_o", "_inte", "pytor", "share", "inuse", "pipel", "syste", "cache",
    "warmi", "unbal", "convo", "nvmap", "oom_r", "early", "space", "errno", "insuf", "free", "recov", "mig-", "java", "a100", "a30-", "h100", "b200",
    "v100", "out o", "xid (", "a30 ",
];

static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(ANCHORS).ok());

/// `None` where the processor has no such instructions.
static FAST: LazyLock<Option<Searcher>> = LazyLock::new(|| Searcher::new(STEMS));

/// Searches blocks.
#[derive(Default)]
pub(super) struct Search {
    /// A block in lower case.
    lower: Vec<u8>,
}

impl Search {
    /// Where in a block the words stand.
    pub(super) fn hits(&mut self, block: &[u8]) -> Vec<usize> {
        let Some(words) = WORDS.as_ref() else { return Vec::new() };
        let Some(stems) = FAST.as_ref() else { return words.find_iter(block).map(|hit| hit.start()).collect() };
        self.lower.clear();
        self.lower.extend_from_slice(block);
        self.lower.make_ascii_lowercase();
        let mut hits = Vec::new();
        let mut at = 0;
        while let Some(hit) = stems.find_in(&self.lower, Span::from(at..block.len())) {
            let start = memrchr2(b'\n', b'\r', &block[..hit.start()]).map_or(0, |newline| newline + 1);
            let end = memchr2(b'\n', b'\r', &block[hit.end()..]).map_or(block.len(), |length| hit.end() + length + 1);
            hits.extend(words.find_iter(&block[start..end]).map(|word| start + word.start()));
            at = end;
        }
        hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_a_stem() {
        for anchor in ANCHORS {
            assert!(STEMS.iter().any(|stem| anchor.contains(stem)), "{anchor}");
            assert_eq!(anchor.to_ascii_lowercase(), *anchor);
        }
    }

    #[test]
    fn lines_with_a_word_are_found_in_any_case_and_no_others() {
        // Lines of 7, 33, 16 and 14 bytes, and one without an end.
        let block = b"step 1\nRuntimeError: CUDA OUT OF MEMORY\nno memory of it\nxid (PCI): 79\nlast line, Tried To Alloc";
        let line_of = |hit: usize| block[..hit].split(|byte| *byte == b'\n').count() - 1;
        let mut lines: Vec<usize> = Search::default().hits(block).into_iter().map(line_of).collect();
        lines.dedup();
        assert_eq!(lines, [1, 3, 4]);
    }
}
