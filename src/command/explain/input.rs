//! What an input is, told from its first bytes. Nothing is read further than that here.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use flate2::bufread::MultiGzDecoder;

use crate::inside::snapshot;
use crate::model::SafeText;

/// How gzip's files begin.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Bytes in which an input has to say what it is.
const LOOK: usize = 1 << 16;
/// A log that was written so lately is of what happens on this machine now.
const RECENT: Duration = Duration::from_secs(600);

/// One input, by what it is.
pub(super) enum Input {
    /// Text of any kind, searched for failures.
    Log {
        /// Its bytes.
        reader: Box<dyn BufRead + Send>,
        /// Whether it was written on this machine in the last minutes.
        recent: bool,
    },
    /// A torch memory snapshot, or another pickle, which its reader refuses.
    Snapshot(Box<dyn BufRead + Send>),
    /// A recording of vramtop.
    Recording(Box<dyn BufRead + Send>),
}

/// An input and its name.
pub(super) struct Opened {
    pub(super) name: String,
    pub(super) input: Input,
}

impl Opened {
    /// Opens a file, or stdin for `-`, and looks at its beginning.
    ///
    /// # Errors
    /// When it cannot be read, or is nothing that can be explained.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let name = path.to_string_lossy().into_owned();
        if name == "-" {
            let input = of(Box::new(BufReader::with_capacity(LOOK, io::stdin())), false).context("cannot read standard input")?;
            return Ok(Self { name: "stdin".to_owned(), input });
        }
        let shown = SafeText::new(&name);
        let file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
        let written = file.metadata().ok().filter(std::fs::Metadata::is_file).and_then(|facts| facts.modified().ok());
        let recent = written.is_some_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age < RECENT));
        let input = of(Box::new(BufReader::with_capacity(LOOK, file)), recent).with_context(|| format!("cannot explain {shown}"))?;
        Ok(Self { name, input })
    }
}

fn of(mut reader: Box<dyn BufRead + Send>, recent: bool) -> anyhow::Result<Input> {
    if reader.fill_buf()?.starts_with(&GZIP) {
        reader = Box::new(BufReader::with_capacity(LOOK, MultiGzDecoder::new(reader)));
    }
    let beginning = reader.fill_buf()?;
    if snapshot::looks_like(beginning) {
        return Ok(Input::Snapshot(reader));
    }
    Ok(if is_recording(beginning) { Input::Recording(reader) } else { Input::Log { reader, recent } })
}

/// A recording begins with its header.
fn is_recording(beginning: &[u8]) -> bool {
    let first = beginning.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let head = &first[..first.len().min(200)];
    let holds = |word: &[u8]| head.windows(word.len()).any(|part| part == word);
    head.starts_with(b"{") && holds(b"\"type\":\"header\"") && holds(b"\"schema\":")
}
