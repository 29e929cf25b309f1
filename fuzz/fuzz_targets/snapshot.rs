//! Any bytes as a torch snapshot: read, judged and drawn. Begin with `tests/explain/story-*.pickle`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use vramtop::inside::snapshot;
use vramtop::model::{Bytes, SafeText};
use vramtop::output::allocator::{self, Options};

fuzz_target!(|bytes: &[u8]| {
    let _ = snapshot::looks_like(bytes);
    if let Ok(read) = snapshot::read(bytes) {
        let reports = snapshot::examine(&read, Some(Bytes::gib(2)));
        let name = SafeText::new("fuzz");
        let mut out = String::new();
        allocator::snapshot(&name, &read, &reports, &Options::default(), &mut out);
        let _ = allocator::snapshot_json(&name, &read, &reports).to_string();
    }
});
