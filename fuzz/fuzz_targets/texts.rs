//! Any bytes as a log: memory summaries and lines of other tools, read and printed. Begin with `tests/explain/*.txt`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use vramtop::inside::{loglines, summary};
use vramtop::model::SafeText;
use vramtop::output::allocator::{self, Options};

fuzz_target!(|bytes: &[u8]| {
    let (mut tables, mut lines) = (summary::Reader::new(), loglines::Reader::new());
    for line in bytes.split(|byte| *byte == b'\n') {
        tables.line(line);
        lines.line(line);
    }
    let name = SafeText::new("fuzz");
    let mut out = String::new();
    for table in tables.finish().0 {
        allocator::summary(&name, &table, &Options::default(), &mut out);
        let _ = allocator::summary_json(&name, &table).to_string();
    }
    for note in lines.finish() {
        allocator::note(&name, &note, &Options::default(), &mut out);
        let _ = allocator::notes_json(&name, &note).to_string();
    }
});
