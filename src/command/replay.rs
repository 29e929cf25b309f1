//! `replay FILE` and `demo`: the dashboard over a recording.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read as _};
use std::path::Path;
use std::sync::{Arc, mpsc};

use anyhow::Context;
use flate2::read::GzDecoder;
use jiff::tz::TimeZone;

use super::dashboard::{read_keys, watch_signals};
use super::screen_loop::{Input, ScreenLoop, channel};
use super::terminal::READER;
use super::{gzip, no_screen};
use crate::app::{App, Mode, Setup};
use crate::cli::Replay;
use crate::collect::{Exchange, ReplayOptions, ReplaySource, SourceEnd, SourceError, SystemClock, spawn};
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
        return play(|| gzip::unpacked(BufReader::new(io::stdin())), "standard input", None, ReplayOptions::default(), style);
    }
    let reading = || format!("cannot read the recording {name}");
    let mut file = File::open(&replay.file).with_context(reading)?;
    let kind = file.metadata().with_context(reading)?.file_type();
    screen()?;
    // A pipe cannot be read twice; what is packed tells no time.
    let extent = if kind.is_file() || kind.is_dir() { Extent::of(&mut file).with_context(reading)? } else { None };
    play(|| gzip::unpacked(BufReader::new(file)), name.as_str(), extent, ReplayOptions::default(), style)
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
    let screen = ScreenLoop::start(app, style, Arc::new(Exchange::default()), Some(player), sender.clone())?;
    read_keys(&sender)?;
    let source = move || {
        let recording = open().map_err(|error| SourceEnd::Failed(SourceError::Recording(format!("cannot read {what}: {error}"))))?;
        Ok(ReplaySource::new(Reader::new(recording), control, SystemClock::new(), options))
    };
    spawn(READER, source, move |feed| sender.send(Input::Feed(feed)).is_ok())?;
    screen.run(&inputs)
}
