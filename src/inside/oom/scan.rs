//! Reads a log of any size in bounded memory: finds the lines that matter by a search over whole blocks, and hands on these and the
//! lines around them. It understands nothing of what it finds.

use std::collections::VecDeque;
use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memrchr};

use super::anchors::Search;
use super::clean::{Line, clean};
use super::gather::Gather;
use super::join::join;
use super::times;
use super::{LogTime, Report};

/// Bytes that are searched at once; a line that is longer is taken in pieces.
const BLOCK: usize = 1 << 20;
/// Of a line without an end only so much is kept.
const LONGEST: usize = 64 << 10;
/// Lines before and after one that matters.
const BEFORE: usize = 3;
const AFTER: usize = 14;
/// How far back the log's time is looked for, and where in a line.
const TIME_LINES: usize = 150;
const TIME_BYTES: usize = 80;
/// A stretch is handed on at the latest after so many lines or bytes.
const MOST_LINES: usize = 1_024;
const MOST_BYTES: usize = 1 << 20;

/// What a log holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// Its texts, the first to happen first; each once.
    pub reports: Vec<Report>,
    /// How many lines it has.
    pub lines: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// Reads a log to its end.
///
/// # Errors
/// The reader's.
pub fn read(mut input: impl Read) -> io::Result<Log> {
    let mut scan = Scan::default();
    let mut block = Vec::with_capacity(BLOCK);
    loop {
        let had = block.len();
        let got = input.by_ref().take((BLOCK - had) as u64).read_to_end(&mut block)?;
        scan.log.bytes += got as u64;
        let ended = block.len() < BLOCK;
        let whole = match memrchr(b'\n', &block) {
            Some(at) if !ended => at + 1,
            // A line without an end is taken as it is, and so is the last.
            _ => block.len(),
        };
        scan.block(&block[..whole]);
        block.drain(..whole);
        if ended {
            return Ok(scan.finish());
        }
    }
}

/// Lines around one that matters.
#[derive(Default)]
struct Stretch {
    lines: Vec<Line>,
    bytes: usize,
    /// How many more lines it takes; 0 is no stretch.
    left: usize,
}

#[derive(Default)]
struct Scan {
    log: Log,
    gather: Gather,
    stretch: Stretch,
    /// The last lines before this block.
    before: VecDeque<Vec<u8>>,
    search: Search,
}

impl Scan {
    fn block(&mut self, block: &[u8]) {
        let mut hits = self.search.hits(block).into_iter().peekable();
        let mut at = 0;
        while at < block.len() {
            if self.stretch.left == 0 {
                // On to the next line that matters, past those that do not.
                while hits.next_if(|hit| *hit < at).is_some() {}
                let Some(&hit) = hits.peek() else { break };
                let start = start_of_line(block, hit).max(at);
                self.log.lines += count_lines(&block[at..start]);
                self.open(&block[at..start]);
                at = start;
            }
            let end = memchr(b'\n', &block[at..]).map_or(block.len(), |length| at + length + 1);
            let mut matters = false;
            while hits.next_if(|hit| *hit < end).is_some() {
                matters = true;
            }
            self.log.lines += 1;
            self.take(&block[at..end], self.log.lines, matters);
            at = end;
        }
        self.log.lines += count_lines(&block[at..]);
        if self.stretch.left == 0 {
            self.remember(&block[at..]);
        }
    }

    /// Begins a stretch with the lines before it.
    fn open(&mut self, skipped: &[u8]) {
        if let Some(time) = last_time(skipped) {
            self.gather.note_time(time);
        }
        self.remember(skipped);
        let before: Vec<Vec<u8>> = self.before.drain(..).collect();
        let first = self.log.lines.saturating_sub(before.len() as u64);
        self.stretch.left = 1;
        for (number, line) in before.iter().enumerate() {
            self.keep(line, first + number as u64 + 1);
        }
    }

    fn take(&mut self, line: &[u8], number: u64, matters: bool) {
        self.keep(line, number);
        self.stretch.left = if matters { AFTER } else { self.stretch.left.saturating_sub(1) };
        if self.stretch.left == 0 || self.stretch.lines.len() >= MOST_LINES || self.stretch.bytes >= MOST_BYTES {
            self.flush();
        }
    }

    fn keep(&mut self, line: &[u8], number: u64) {
        let kept = &line[..line.len().min(LONGEST)];
        self.stretch.bytes += kept.len();
        clean(number, &decode(kept), &mut self.stretch.lines);
    }

    /// Hands the stretch on, stream by stream.
    fn flush(&mut self) {
        self.stretch.bytes = 0;
        let mut streams: Vec<Vec<Line>> = Vec::new();
        for line in std::mem::take(&mut self.stretch.lines) {
            match streams.iter_mut().find(|stream| stream.first().is_some_and(|first| first.tag == line.tag)) {
                Some(stream) => stream.push(line),
                None => streams.push(vec![line]),
            }
        }
        let mut logical: Vec<Line> = streams.into_iter().flat_map(join).collect();
        logical.sort_by_key(|line| line.number);
        for line in &logical {
            self.gather.take(line);
        }
    }

    fn remember(&mut self, skipped: &[u8]) {
        let mut end = skipped.len();
        let mut lines = Vec::with_capacity(BEFORE);
        while end > 0 && lines.len() < BEFORE {
            let start = start_of_line(skipped, end - 1);
            lines.push(skipped[start..end.min(start + LONGEST)].to_vec());
            end = start;
        }
        self.before.extend(lines.into_iter().rev());
        while self.before.len() > BEFORE {
            self.before.pop_front();
        }
    }

    fn finish(mut self) -> Log {
        self.flush();
        self.log.reports = self.gather.finish();
        self.log
    }
}

/// The time of the last line that has one: a traceback has none, and the line before it does.
fn last_time(skipped: &[u8]) -> Option<LogTime> {
    let mut end = skipped.len();
    for _ in 0..TIME_LINES {
        if end == 0 {
            break;
        }
        let start = start_of_line(skipped, end - 1);
        let head = &skipped[start..end.min(start + TIME_BYTES)];
        if let Some(time) = times::of_text(&String::from_utf8_lossy(head)) {
            return Some(time);
        }
        end = start;
    }
    None
}

fn start_of_line(block: &[u8], at: usize) -> usize {
    memrchr(b'\n', &block[..at]).map_or(0, |newline| newline + 1)
}

fn count_lines(block: &[u8]) -> u64 {
    memchr_iter(b'\n', block).count() as u64
}

/// Text of a line, also of one that a Windows console wrote in two bytes a character.
fn decode(line: &[u8]) -> String {
    let zeros = memchr_iter(0, line).count();
    if zeros * 3 > line.len() {
        let narrow: Vec<u8> = line.iter().copied().filter(|byte| *byte != 0).collect();
        return String::from_utf8_lossy(&narrow).into_owned();
    }
    let mut text = String::from_utf8_lossy(line).into_owned();
    if !text.ends_with('\n') && text.ends_with(|c: char| c.is_ascii_digit()) {
        // The log ends within a line, and perhaps within this number: it is not one of those that stand alone.
        text.push('…');
    }
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    text
}
