//! How fast a log is searched for out-of-memory texts: `cargo bench --bench explain`. One with nothing in it, and one with a text in every
//! thousand lines.

use std::fmt::Write as _;

use divan::counter::BytesCount;
use vramtop::inside::oom;

const LINE: &str = "2026-11-30 12:00:00,123 INFO trainer.py:214 step 12345 loss 2.3456 lr 1.0e-4 grad 0.51 tokens/s 123456 mem 61.2G\n";
const TEXT: &str = "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.46 GiB. GPU 5 has a total capacity of 79.10 GiB of which 121.56 MiB is free. \
    Including non-PyTorch memory, this process has 78.97 GiB memory in use. Of the allocated memory 76.88 GiB is allocated by PyTorch, and 402.31 MiB is reserved \
    by PyTorch but unallocated.\n";

fn main() {
    divan::main();
}

fn log(bytes: usize, every: usize) -> String {
    let mut log = String::with_capacity(bytes + 1024);
    let mut at = 0;
    while log.len() < bytes {
        at += 1;
        let line = if at % every == 0 { TEXT } else { LINE };
        // Writing to a String cannot fail.
        let _ = log.write_str(line);
    }
    log
}

#[divan::bench(args = [usize::MAX, 1_000], sample_count = 5)]
fn large_log(bencher: divan::Bencher<'_, '_>, every: usize) {
    let log = log(256 << 20, every);
    bencher.counter(BytesCount::of_str(&log)).bench(|| oom::read(log.as_bytes()).map(|log| log.reports.len()).unwrap_or_default());
}
