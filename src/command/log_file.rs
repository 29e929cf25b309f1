//! `--log-file`: what happens inside, a line each with its time. It holds no figures and decides nothing.

use std::fs::File;
use std::io::Write as _;
use std::panic;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use jiff::Timestamp;
use log::{LevelFilter, Log, Metadata, Record};

use crate::model::SafeText;

/// Whatever is told by the macros of the `log` crate goes to the end of the file from now on.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn begin(path: &Path) -> anyhow::Result<()> {
    let failed = || format!("cannot write {} (--log-file)", SafeText::new(&path.to_string_lossy()));
    let file = File::options().append(true).create(true).open(path).with_context(failed)?;
    let mut lines = Lines(file);
    lines.write(&format!("vramtop {} begins, process {}", env!("CARGO_PKG_VERSION"), std::process::id())).with_context(failed)?;
    // There is one of them in a process.
    if log::set_boxed_logger(Box::new(LogFile(Mutex::new(Some(lines))))).is_ok() {
        log::set_max_level(LevelFilter::Debug);
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            log::error!("{info}");
            before(info);
        }));
    }
    Ok(())
}

struct Lines(File);

impl Lines {
    /// One write a line, so that two programs may share the file.
    fn write(&mut self, text: &str) -> std::io::Result<()> {
        self.0.write_all(format!("{:.3} {text}\n", Timestamp::now()).as_bytes())
    }
}

/// `None` once the file could not be written: nothing depends on it, and there may be no terminal to say it on.
struct LogFile(Mutex<Option<Lines>>);

impl Log for LogFile {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("vramtop")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let told = record.args().to_string().lines().collect::<Vec<_>>().join(" ");
            let text = format!("{:<5} {}", record.level(), SafeText::new(&told));
            let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if lines.as_mut().is_some_and(|lines| lines.write(&text).is_err()) {
                *lines = None;
            }
        }
    }

    fn flush(&self) {}
}
