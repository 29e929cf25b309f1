//! What an input is, told from its first bytes. Nothing is read further than that here.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;

use super::packed::{Unpacked, unpacked};
use crate::command::gzip::AHEAD;
use crate::inside::snapshot;
use crate::model::SafeText;

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
        /// What its first bytes are.
        look: Look,
    },
    /// A torch memory snapshot, or another pickle, which its reader refuses.
    Snapshot(Box<dyn BufRead + Send>),
    /// A recording of vramtop.
    Recording(Box<dyn BufRead + Send>),
}

impl Input {
    /// What it is, in a word.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Log { look: Look::Nothing, .. } => "empty",
            Self::Log { look: Look::Binary, .. } => "binary data",
            Self::Log { look: Look::Text, .. } => "a log",
            Self::Snapshot(_) => "a snapshot",
            Self::Recording(_) => "a recording",
        }
    }
}

/// What the beginning of something without a form of its own is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// There is none.
    Nothing,
    /// Bytes that no log begins with.
    Binary,
    /// Text.
    Text,
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
            let (input, ..) = of(Box::new(BufReader::with_capacity(AHEAD, io::stdin())), false).context("cannot explain standard input")?;
            return Ok(Self { name: "stdin".to_owned(), input });
        }
        let shown = SafeText::new(&name);
        let file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
        let facts = file.metadata().ok();
        anyhow::ensure!(
            !facts.as_ref().is_some_and(std::fs::Metadata::is_dir),
            "{shown} is a folder: name the files in it (vramtop explain {shown}/*)"
        );
        let written = facts.filter(std::fs::Metadata::is_file).and_then(|facts| facts.modified().ok());
        let recent = written.is_some_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age < RECENT));
        let (input, inner) = of(Box::new(BufReader::with_capacity(AHEAD, file)), recent).with_context(|| format!("cannot explain {shown}"))?;
        let within = |inner: &SafeText| format!("{name}:{}", super::base_name(inner.as_str()));
        Ok(Self { name: inner.as_ref().map_or_else(|| name.clone(), within), input })
    }
}

/// What a stream holds, and its name within a zip.
fn of(reader: Box<dyn BufRead + Send>, recent: bool) -> anyhow::Result<(Input, Option<SafeText>)> {
    let Unpacked { mut reader, inner } = unpacked(reader)?;
    let beginning = reader.fill_buf()?;
    let input = if snapshot::looks_like(beginning) {
        Input::Snapshot(reader)
    } else if is_recording(beginning) {
        Input::Recording(reader)
    } else {
        let look = match beginning {
            [] => Look::Nothing,
            // UTF-16 has a mark before its zeros.
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Look::Text,
            bytes if bytes.contains(&0) => Look::Binary,
            _ => Look::Text,
        };
        Input::Log { reader, recent, look }
    };
    Ok((input, inner))
}

/// A recording begins with its header.
fn is_recording(beginning: &[u8]) -> bool {
    let first = beginning.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let head = &first[..first.len().min(200)];
    let holds = |word: &[u8]| head.windows(word.len()).any(|part| part == word);
    head.starts_with(b"{") && holds(b"\"type\":\"header\"") && holds(b"\"schema\":")
}
