//! The log of calls: a line for each, written at once and whole.

use std::fs::File;
use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::calls::{Call, NAMES};
use crate::scenario::LogSpec;

/// The file of `[log]`.
#[derive(Debug)]
pub(crate) struct CallLog {
    file: File,
    lines: AtomicU64,
}

impl CallLog {
    /// Opens the log; relative paths start at `folder`.
    pub(crate) fn new(spec: &LogSpec, folder: &Path) -> Result<Self, String> {
        let path = folder.join(&spec.path);
        let file = File::options().create(true).append(true).open(&path);
        Ok(Self { file: file.map_err(|e| format!("log: {}: {e}", path.display()))?, lines: AtomicU64::new(0) })
    }

    /// Writes `seq time_ms name gpu`, with `-` for a call without a GPU.
    pub(crate) fn write(&self, call: Call, gpu: Option<usize>, t: f64) {
        let seq = self.lines.fetch_add(1, Ordering::Relaxed) + 1;
        let name = NAMES[call as usize];
        let mut line = Cursor::new([0; 160]);
        let ms = t * 1e3;
        let written = match gpu {
            Some(gpu) => writeln!(line, "{seq} {ms:.3} {name} {gpu}"),
            None => writeln!(line, "{seq} {ms:.3} {name} -"),
        };
        // A log that cannot be written must not change what the call answers.
        let length = line.position() as usize;
        let _ = written.and_then(|()| (&self.file).write_all(&line.get_ref()[..length]));
    }
}
