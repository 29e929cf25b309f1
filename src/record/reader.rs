//! Reads a recording line by line, in bounded memory, whatever the bytes are.

use std::io::{self, BufRead, Read};
use std::sync::Arc;

use serde::Deserialize;

use super::facts::FactsTable;
use super::restore::{Envelope, EventLine, HeaderLine, ProcessLine, SampleLine};
use super::schema::{SCHEMA, tag};
use crate::model::{Header, Record, SafeText};

/// Why a recording cannot be read, or not further.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system's error.
    #[error("cannot read the recording: {0}")]
    Io(#[from] io::Error),
    /// It does not begin with a header.
    #[error("not a recording of vramtop: {0}")]
    NotARecording(String),
    /// It was written by a version whose lines mean something else.
    #[error("this recording has schema {found}, and this vramtop reads schema {SCHEMA}: read it with the version that wrote it, or a newer one")]
    Schema {
        /// The schema that it says it has.
        found: u64,
    },
    /// A line is longer than any that vramtop writes.
    #[error("line {line} of the recording is longer than 16 MiB")]
    TooLong {
        /// Counted from 1.
        line: u64,
    },
    /// A line that is not the last cannot be understood.
    #[error("line {line} of the recording is broken: {reason}")]
    Broken {
        /// Counted from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
}

/// The records of a recording, one after another; it ends at the first error.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
    header: Option<Arc<Header>>,
    known: FactsTable,
    torn: bool,
    ended: bool,
}

impl<R: BufRead> Reader<R> {
    /// The longest line, in bytes.
    pub(super) const LINE_LIMIT: usize = 16 << 20;

    /// Reads from `input`.
    pub fn new(input: R) -> Self {
        Self { input, line: Vec::new(), number: 0, header: None, known: FactsTable::default(), torn: false, ended: false }
    }

    /// Whether the recording ended within a line, which was dropped: it was being written, or its writer was killed.
    pub const fn torn(&self) -> bool {
        self.torn
    }

    /// The next record; `None` at the end.
    fn read(&mut self) -> Result<Option<Record>, ReadError> {
        while self.fill()? {
            let whole = self.line.last() == Some(&b'\n');
            if self.line.trim_ascii().is_empty() {
                continue;
            }
            match self.parse() {
                Ok(Some(record)) => return Ok(Some(record)),
                Ok(None) => {}
                Err(ReadError::Broken { .. }) if !whole => {
                    self.torn = true;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        if self.header.is_none() {
            return Err(ReadError::NotARecording("it is empty".to_owned()));
        }
        Ok(None)
    }

    /// Reads the next line; `false` at the end.
    fn fill(&mut self) -> Result<bool, ReadError> {
        self.line.clear();
        self.number += 1;
        let limit = Self::LINE_LIMIT as u64 + 1;
        let length = self.input.by_ref().take(limit).read_until(b'\n', &mut self.line)?;
        if length > Self::LINE_LIMIT {
            return Err(match self.header {
                Some(_) => ReadError::TooLong { line: self.number },
                None => ReadError::NotARecording("its first line is longer than 16 MiB".to_owned()),
            });
        }
        Ok(length > 0)
    }

    /// The record of the current line; `None` for one that is passed over.
    fn parse(&mut self) -> Result<Option<Record>, ReadError> {
        let Some(header) = self.header.clone() else {
            return self.parse_first().map(Some);
        };
        let envelope: Envelope<'_> = self.json()?;
        check_schema(&envelope)?;
        Ok(match envelope.r#type.as_ref() {
            tag::HEADER => Some(self.take_header()?),
            tag::PROCESS => {
                let (gpu, facts) = self.json::<ProcessLine>()?.restore();
                self.known.learn(Arc::clone(&facts));
                Some(Record::Process { gpu, facts })
            }
            tag::SAMPLE => {
                let line: SampleLine = self.json()?;
                let sample = line.restore(&header, &mut self.known).map_err(|error| self.broken(&error))?;
                Some(Record::Sample(Box::new(sample)))
            }
            tag::EVENT => self.json::<EventLine>()?.restore().map_err(|error| self.broken(&error))?,
            _ => None,
        })
    }

    fn parse_first(&mut self) -> Result<Record, ReadError> {
        let not = |reason: &str| ReadError::NotARecording(reason.to_owned());
        let envelope: Envelope<'_> = self.json().map_err(|_| not("its first line is not one of a recording"))?;
        check_schema(&envelope)?;
        match envelope.r#type.as_ref() {
            tag::HEADER if envelope.schema.is_some() => self.take_header(),
            tag::HEADER => Err(not("its header has no schema")),
            _ => Err(not("its first line is not a header (`vramtop -l 1 --format json` writes one)")),
        }
    }

    fn take_header(&mut self) -> Result<Record, ReadError> {
        let header = self.json::<HeaderLine>()?.restore().map_err(|error| self.broken(&error))?;
        self.header = Some(Arc::clone(&header));
        Ok(Record::Header(header))
    }

    fn json<'a, T: Deserialize<'a>>(&'a self) -> Result<T, ReadError> {
        serde_json::from_slice(&self.line).map_err(|error| self.broken(&error))
    }

    /// The message can quote the line, so it is foreign.
    fn broken(&self, error: &dyn std::error::Error) -> ReadError {
        let text: String = error.to_string().chars().take(200).collect();
        ReadError::Broken { line: self.number, reason: SafeText::new(&text).as_str().to_owned() }
    }
}

fn check_schema(envelope: &Envelope<'_>) -> Result<(), ReadError> {
    match envelope.schema {
        Some(found) if found != u64::from(SCHEMA) => Err(ReadError::Schema { found }),
        _ => Ok(()),
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.read().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}
