//! A log in two bytes a character, as a Windows console redirects it, becomes UTF-8. It leaves every other log as it is.

use std::io::{self, Read};

/// Read at once, in bytes; even.
const PIECE: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Bytes,
    Little,
    Big,
}

/// A reader of UTF-8, or of bytes that nobody knows.
pub(super) struct Utf8<R> {
    input: R,
    encoding: Option<Encoding>,
    /// Read and not yet decoded: an odd byte, or half of a pair.
    raw: Vec<u8>,
    ready: Vec<u8>,
    /// How much of it was handed on.
    given: usize,
}

impl<R: Read> Utf8<R> {
    pub(super) const fn new(input: R) -> Self {
        Self { input, encoding: None, raw: Vec::new(), ready: Vec::new(), given: 0 }
    }

    /// Decodes the next piece.
    fn fill(&mut self) -> io::Result<()> {
        let got = self.input.by_ref().take(PIECE as u64).read_to_end(&mut self.raw)?;
        let encoding = *self.encoding.get_or_insert_with(|| encoding_of(&self.raw));
        self.given = 0;
        if encoding == Encoding::Bytes {
            self.ready = std::mem::take(&mut self.raw);
            return Ok(());
        }
        let mut units: Vec<u16> = self
            .raw
            .chunks_exact(2)
            .filter_map(|pair| <[u8; 2]>::try_from(pair).ok())
            .map(|pair| if encoding == Encoding::Little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) })
            .collect();
        // The second half of a pair comes with the next piece, if one comes.
        if got > 0 && units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            units.pop();
        }
        self.raw.drain(..units.len() * 2);
        if got == 0 {
            self.raw.clear();
        }
        self.ready = String::from_utf16_lossy(&units).into_bytes();
        Ok(())
    }
}

impl<R: Read> Read for Utf8<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.encoding == Some(Encoding::Bytes) && self.given == self.ready.len() {
            return self.input.read(into);
        }
        if self.given == self.ready.len() {
            self.fill()?;
        }
        let count = (&self.ready[self.given..]).read(into)?;
        self.given += count;
        Ok(count)
    }
}

/// By its mark, or else by the zeros of ASCII in two bytes.
fn encoding_of(head: &[u8]) -> Encoding {
    let head = &head[..head.len().min(256)];
    let zeros = |at: usize| head.iter().skip(at).step_by(2).filter(|byte| **byte == 0).count();
    match head {
        [0xff, 0xfe, ..] => Encoding::Little,
        [0xfe, 0xff, ..] => Encoding::Big,
        _ if head.len() < 8 => Encoding::Bytes,
        _ if zeros(0) * 8 < head.len() && zeros(1) * 4 > head.len() => Encoding::Little,
        _ if zeros(1) * 8 < head.len() && zeros(0) * 4 > head.len() => Encoding::Big,
        _ => Encoding::Bytes,
    }
}
