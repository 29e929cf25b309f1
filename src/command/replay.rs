//! `replay FILE` and `demo`: the dashboard over a recording.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, mpsc};

use anyhow::Context;
use flate2::read::{GzDecoder, MultiGzDecoder};
use jiff::tz::TimeZone;

use super::dashboard::{read_keys, watch_signals};
use super::no_screen;
use super::screen_loop::{Input, ScreenLoop, channel};
use super::terminal::READER;
use crate::app::{App, Mode, Setup};
use crate::cli::Replay;
use crate::collect::{Interest, ReplayOptions, ReplaySource, SourceEnd, SourceError, SystemClock, spawn};
use crate::config::Style;
use crate::exit::{Exit, UsageError};
use crate::model::SafeText;
use crate::record::{Extent, Reader};

/// Made by vramtop on a machine with two H200s; identifiers are replaced.
static DEMO: &[u8] = include_bytes!("../../assets/demo.jsonl.gz");

/// How much of the built-in recording is on the screen at once, so that the demo does not begin with an empty history.
const DEMO_HEAD_START_MS: u64 = 200_000;

/// Plays a recording from a file.
///
/// # Errors
/// When it cannot be read, or there is no terminal.
pub(super) fn file(replay: &Replay, style: Style) -> anyhow::Result<Exit> {
    let name = SafeText::new(&replay.file.to_string_lossy());
    let screen = || needs_screen("a replay", "A recording is one JSON object a line: read it with jq");
    if replay.file == Path::new("-") {
        screen()?;
        return play(|| unpacked(BufReader::new(io::stdin())), "standard input", None, ReplayOptions::default(), style);
    }
    let reading = || format!("cannot read the recording {name}");
    let mut file = File::open(&replay.file).with_context(reading)?;
    screen()?;
    if is_packed(&mut file).with_context(reading)? {
        return play(|| Ok(BufReader::new(MultiGzDecoder::new(file))), name.as_str(), None, ReplayOptions::default(), style);
    }
    let extent = Extent::of(&mut file).with_context(reading)?;
    play(|| Ok(BufReader::new(file)), name.as_str(), extent, ReplayOptions::default(), style)
}

/// How gzip's files begin.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Input that cannot be read again, unpacked where it is packed. It waits for the first bytes.
fn unpacked(mut input: impl BufRead + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    let packed = input.fill_buf()?.starts_with(&GZIP);
    Ok(if packed { Box::new(BufReader::new(MultiGzDecoder::new(input))) } else { Box::new(input) })
}

/// Whether a file begins as gzip's do; it is read from the start afterwards.
fn is_packed(file: &mut File) -> io::Result<bool> {
    let mut magic = Vec::with_capacity(2);
    file.by_ref().take(2).read_to_end(&mut magic)?;
    // A pipe cannot be read again, and is not packed.
    if magic.is_empty() {
        return Ok(false);
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(magic == GZIP)
}

/// Plays the recording that is built in.
///
/// # Errors
/// When there is no terminal.
pub(super) fn demo(style: Style) -> anyhow::Result<Exit> {
    needs_screen("the demo", "Without one there are the status lines of this machine: vramtop --once")?;
    let mut text = Vec::new();
    GzDecoder::new(DEMO).read_to_end(&mut text).context("the recording that is built in is damaged")?;
    let mut recording = Cursor::new(text);
    let extent = Extent::of(&mut recording)?;
    let options = ReplayOptions { start_at_ms: Some(DEMO_HEAD_START_MS), ..ReplayOptions::default() };
    play(|| Ok(recording), "the recording that is built in", extent, options, style)
}

/// Refuses where nothing can be drawn, and says what to use `instead`.
fn needs_screen(what: &str, instead: &str) -> Result<(), UsageError> {
    match no_screen() {
        Some(why) => Err(UsageError(format!("{what} needs a terminal to draw on, and {why}. {instead}"))),
        None => Ok(()),
    }
}

/// Plays what `open` opens on the thread that reads.
fn play<R>(
    open: impl FnOnce() -> io::Result<R> + Send + 'static,
    name: &str,
    extent: Option<Extent>,
    options: ReplayOptions,
    style: Style,
) -> anyhow::Result<Exit>
where
    R: BufRead + Send + 'static,
{
    let (sender, inputs) = channel();
    let (player, control) = mpsc::channel();
    let mode = Mode::Replay { length_ms: extent.map(Extent::len_ms) };
    let what = SafeText::new(name);
    let app = App::new(Setup { zone: TimeZone::system(), mode, source: what.clone(), read_only: true });
    watch_signals(&sender)?;
    let screen = ScreenLoop::start(app, style, Arc::new(Interest::default()), Some(player), sender.clone())?;
    read_keys(&sender)?;
    let source = move || {
        let recording = open().map_err(|error| SourceEnd::Failed(SourceError::Recording(format!("cannot read {what}: {error}"))))?;
        Ok(ReplaySource::new(Reader::new(recording), control, SystemClock::new(), options))
    };
    spawn(READER, source, move |feed| sender.send(Input::Feed(feed)).is_ok())?;
    screen.run(&inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_may_be_packed_or_not() {
        let mut plain = String::new();
        unpacked(DEMO).and_then(|mut input| input.read_to_string(&mut plain)).expect("packed");
        assert!(plain.starts_with('{'));
        let (mut again, copy) = (String::new(), plain.clone());
        unpacked(Cursor::new(copy)).and_then(|mut input| input.read_to_string(&mut again)).expect("plain");
        assert!(again == plain);
    }
}
