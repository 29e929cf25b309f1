//! The bytes of a pickle, with the place that was reached. Reads ahead in one bounded buffer and never allocates what a length claims.

use std::io::{ErrorKind, Read};

use super::refusal::{Refusal, Why};

/// Bytes that are read ahead.
const AHEAD: usize = 1 << 16;

/// A stream of bytes that knows how far it got.
pub(super) struct Source<R> {
    inner: R,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    /// Bytes of the stream before the buffer.
    before: u64,
}

impl<R: Read> Source<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, buffer: vec![0; AHEAD], at: 0, filled: 0, before: 0 }
    }

    /// The place of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.before + self.at as u64
    }

    pub(super) fn refuse(&self, why: Why) -> Refusal {
        Refusal { why, offset: self.offset() }
    }

    fn fill(&mut self) -> Result<(), Refusal> {
        self.before += self.filled as u64;
        (self.at, self.filled) = (0, 0);
        loop {
            match self.inner.read(&mut self.buffer) {
                Ok(0) => return Err(self.refuse(Why::Cut)),
                Ok(n) => {
                    self.filled = n.min(self.buffer.len());
                    return Ok(());
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(self.refuse(Why::Unreadable(e.to_string()))),
            }
        }
    }

    pub(super) fn byte(&mut self) -> Result<u8, Refusal> {
        if self.at == self.filled {
            self.fill()?;
        }
        let byte = self.buffer[self.at];
        self.at += 1;
        Ok(byte)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        let mut bytes = [0; N];
        if let Some(ahead) = self.buffer[self.at..self.filled].first_chunk::<N>() {
            self.at += N;
            return Ok(*ahead);
        }
        for byte in &mut bytes {
            *byte = self.byte()?;
        }
        Ok(bytes)
    }

    /// Appends `n` bytes. What is allocated grows with what is there, not with what was claimed.
    pub(super) fn append(&mut self, mut n: usize, into: &mut Vec<u8>) -> Result<(), Refusal> {
        while n > 0 {
            if self.at == self.filled {
                self.fill()?;
            }
            let now = n.min(self.filled - self.at);
            into.extend_from_slice(&self.buffer[self.at..self.at + now]);
            self.at += now;
            n -= now;
        }
        Ok(())
    }

    /// Appends what stands before the end of the line, which is passed over.
    pub(super) fn line(&mut self, most: usize, into: &mut Vec<u8>) -> Result<(), Refusal> {
        loop {
            match self.byte()? {
                b'\n' => return Ok(()),
                byte if into.len() < most => into.push(byte),
                _ => return Err(self.refuse(Why::TooMuch { what: "bytes in one line", most: most as u64 })),
            }
        }
    }
}
