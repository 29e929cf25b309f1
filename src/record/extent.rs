//! From when to when a recording goes, told from its two ends without reading what is between.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use super::restore::Envelope;

/// The first and last time in a recording, on the clock of its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Of the first sample or event.
    pub first_ms: u64,
    /// Of the last.
    pub last_ms: u64,
}

impl Extent {
    /// How much of each end is looked at.
    const LOOK: u64 = 4 << 20;

    /// Looks at both ends of a recording and goes back to its start. `None` where they tell no time.
    pub fn of(recording: &mut (impl Read + Seek)) -> io::Result<Option<Self>> {
        let length = recording.seek(SeekFrom::End(0))?;
        recording.seek(SeekFrom::Start(0))?;
        let first = times(recording.by_ref())?.next();
        recording.seek(SeekFrom::Start(length.saturating_sub(Self::LOOK)))?;
        let last = times(recording.by_ref())?.last();
        recording.seek(SeekFrom::Start(0))?;
        Ok(first.zip(last).map(|(first_ms, last_ms)| Self { first_ms, last_ms }))
    }

    /// How long it is.
    pub const fn len_ms(self) -> u64 {
        self.last_ms.saturating_sub(self.first_ms)
    }
}

/// The times in the lines of the next stretch. A line that is cut off at either end tells none.
fn times(from: impl Read) -> io::Result<impl Iterator<Item = u64>> {
    let lines: Vec<Vec<u8>> = BufReader::new(from.take(Extent::LOOK)).split(b'\n').collect::<io::Result<_>>()?;
    Ok(lines.into_iter().filter_map(|line| serde_json::from_slice::<Envelope<'_>>(&line).ok()?.elapsed_ms))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn the_ends_tell_the_length() {
        let mut text = String::from("{\"type\":\"header\"}\n");
        for s in 2..80_000 {
            writeln!(text, "{{\"type\":\"sample\",\"elapsed_ms\":{},\"gpus\":[\"{s:0>60}\"]}}", s * 1000).expect("memory takes everything");
        }
        text += "{\"type\":\"sample\",\"elapsed_ms\":99";
        assert!(text.len() as u64 > Extent::LOOK);
        let extent = Extent::of(&mut io::Cursor::new(text)).expect("no I/O").expect("has times");
        assert_eq!(extent, Extent { first_ms: 2000, last_ms: 79_999_000 });
        assert_eq!(extent.len_ms(), 79_997_000);
        assert_eq!(Extent::of(&mut io::Cursor::new("")).expect("no I/O"), None);
    }
}
