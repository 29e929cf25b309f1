//! Reads a log of any size in bounded memory: finds the lines that matter by a search over whole blocks, and hands on these and the
//! lines around them. It understands nothing of what it finds.

use std::collections::VecDeque;
use std::io::{self, Read};

use memchr::{memchr_iter, memchr2, memrchr, memrchr2};

use super::anchors::Search;
use super::clean::{Line, clean};
use super::encoding::Utf8;
use super::gather::Gather;
use super::join::join;
use super::times;
use super::{LogTime, Report};

/// Bytes that are searched at once; a line that is longer is taken in pieces.
const BLOCK: usize = 1 << 20;
/// A longer line is handed on in the stretches around its words, unless it is one JSON value.
const LONGEST: usize = 64 << 10;
/// No text is longer, from one of its words to the next; and what stands before the first.
const TEXT: usize = 8 << 10;
const LEAD: usize = 512;
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
pub fn read(input: impl Read) -> io::Result<Log> {
    let mut input = Utf8::new(input);
    let mut scan = Scan::default();
    let mut block = Vec::with_capacity(BLOCK);
    loop {
        let had = block.len();
        let got = input.by_ref().take((BLOCK - had) as u64).read_to_end(&mut block)?;
        scan.log.bytes += got as u64;
        let ended = block.len() < BLOCK;
        if ended {
            scan.block(&block);
            return Ok(scan.finish());
        }
        // A return at the end can have its line feed in the next block.
        let whole = memrchr2(b'\n', b'\r', &block[..block.len() - 1]).map_or_else(|| between_texts(&block, &scan.search.hits(&block)), |at| at + 1);
        scan.block(&block[..whole]);
        block.drain(..whole);
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
    /// Whether what was read so far has no line feed at its end.
    ends_within: bool,
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
            let end = end_of_line(block, at);
            let mut inside = Vec::new();
            while let Some(hit) = hits.next_if(|hit| *hit < end) {
                inside.push(hit - at);
            }
            self.take(&block[at..end], &inside);
            self.log.lines += count_lines(&block[at..end]);
            at = end;
        }
        self.log.lines += count_lines(&block[at..]);
        self.ends_within = block.last().map_or(self.ends_within, |last| *last != b'\n');
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
        let mut number = self.log.lines.saturating_sub(before.iter().map(|line| count_lines(line)).sum()) + 1;
        self.stretch.left = 1;
        for line in &before {
            self.keep(&line[..line.len().min(LONGEST)], number);
            number += count_lines(line);
        }
    }

    /// Takes a line, with the places in it of words that matter.
    fn take(&mut self, line: &[u8], hits: &[usize]) {
        let number = self.log.lines + 1;
        if line.len() <= LONGEST || line.starts_with(b"{") && line.trim_ascii_end().ends_with(b"}") {
            self.keep(line, number);
        } else {
            for (from, to) in around(hits, line.len()) {
                self.keep(&line[from..to], number);
            }
        }
        self.stretch.left = if hits.is_empty() { self.stretch.left.saturating_sub(1) } else { AFTER };
        if self.stretch.left == 0 || self.stretch.lines.len() >= MOST_LINES || self.stretch.bytes >= MOST_BYTES {
            self.flush();
        }
    }

    fn keep(&mut self, line: &[u8], number: u64) {
        self.stretch.bytes += line.len();
        clean(number, &decode(line), &mut self.stretch.lines);
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
            let start = start_of_last(skipped, end);
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
        self.log.lines += u64::from(self.ends_within);
        self.log.reports = self.gather.finish();
        self.log
    }
}

/// The time of the last line that has one: a traceback has none, and the line before it does. Nor has a progress bar.
fn last_time(skipped: &[u8]) -> Option<LogTime> {
    let mut end = skipped.len();
    for _ in 0..TIME_LINES {
        if end == 0 {
            break;
        }
        let start = memrchr(b'\n', &skipped[..end - 1]).map_or(0, |newline| newline + 1);
        let head = &skipped[start..end.min(start + TIME_BYTES)];
        if let Some(time) = times::of_text(&String::from_utf8_lossy(head)) {
            return Some(time);
        }
        end = start;
    }
    None
}

/// Where a line that goes on can be cut: not within a text, nor within a word.
fn between_texts(block: &[u8], hits: &[usize]) -> usize {
    let mut cut = block.len() - LEAD;
    for hit in hits.iter().rev() {
        if hit + TEXT <= cut {
            break;
        }
        cut = cut.min(hit.saturating_sub(LEAD));
    }
    // Words without a gap are no text.
    if cut < block.len() / 2 { block.len() - LEAD } else { cut }
}

/// The stretches of a long line in which its words stand.
fn around(hits: &[usize], length: usize) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = Vec::new();
    for hit in hits {
        let (from, to) = (hit.saturating_sub(LEAD), (hit + TEXT).min(length));
        match all.last_mut().filter(|(_, end)| *end >= from) {
            Some((_, end)) => *end = to,
            None => all.push((from, to)),
        }
    }
    all
}

/// A carriage return ends a line, too: that of a progress bar, or of an old system.
fn start_of_line(block: &[u8], at: usize) -> usize {
    memrchr2(b'\n', b'\r', &block[..at]).map_or(0, |end| end + 1)
}

/// Where the line begins that ends at `end`.
fn start_of_last(block: &[u8], end: usize) -> usize {
    start_of_line(block, end - if block[..end].ends_with(b"\r\n") { 2 } else { 1 })
}

fn end_of_line(block: &[u8], at: usize) -> usize {
    memchr2(b'\n', b'\r', &block[at..]).map_or(block.len(), |length| {
        let end = at + length + 1;
        if block[..end].ends_with(b"\r") && block.get(end) == Some(&b'\n') { end + 1 } else { end }
    })
}

fn count_lines(block: &[u8]) -> u64 {
    memchr_iter(b'\n', block).count() as u64
}

fn decode(line: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(line).into_owned();
    if !text.ends_with(['\n', '\r']) && text.ends_with(|c: char| c.is_ascii_digit()) {
        // The log ends within a line, and perhaps within this number: it is not one of those that stand alone.
        text.push('…');
    }
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    text
}
