//! The dashboard over this machine: takes what the source, the keyboard and the signals send, and draws what came of it.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread;

use crossterm::event;
use jiff::tz::TimeZone;

use super::screen_loop::{Input, ScreenLoop, channel};
use super::signals;
use super::terminal::READER;
use super::{no_screen, once};
use crate::app::{App, Mode, Setup};
use crate::cli::Look;
use crate::collect::{Exchange, FixedFacts, HostScope, LiveSource, Only, SystemClock, spawn};
use crate::config::Config;
use crate::exit::{Exit, UsageError};
use crate::model::SafeText;

/// Shows this machine until somebody leaves.
///
/// # Errors
/// When no driver is found, or the terminal fails.
pub(super) fn run(look: &Look, config: &Config) -> anyhow::Result<Exit> {
    if let Some(why) = no_screen() {
        return without_screen(look, config, why);
    }
    if look.output.is_some() || look.format.is_some() {
        let why = "--output and --format are of --once, -l and queries, not of the dashboard. A recording: vramtop -l 1 --format json -o FILE";
        return Err(UsageError(why.to_owned()).into());
    }
    let wanted = look.wanted()?;
    let (sender, inputs) = channel();
    let exchange = Arc::new(Exchange::default());
    let library = config.nvml_library.value.as_deref().map_or("the NVIDIA driver".into(), |path| path.to_string_lossy());
    let source = SafeText::new(&library);
    let app = App::new(Setup { zone: TimeZone::system(), mode: Mode::Live, source, read_only: config.read_only.value });
    // First of all, so that no signal finds the terminal taken over and nobody to give it back.
    watch_signals(&sender)?;
    let screen = ScreenLoop::start(app, config.style(), Arc::clone(&exchange), None, sender.clone())?;
    read_keys(&sender)?;
    let options = look.live(config, config.interval_ms.value, FixedFacts::Later, HostScope::LookedAt);
    let source = move || Ok(Only::new(LiveSource::new(options, SystemClock::new(), exchange), wanted));
    spawn(READER, source, move |feed| sender.send(Input::Feed(feed)).is_ok())?;
    screen.run(&inputs)
}

/// Without a terminal that can be drawn on, the status lines are printed once.
fn without_screen(look: &Look, config: &Config, why: &str) -> anyhow::Result<Exit> {
    let exit = once::run(look, config)?;
    super::say(&format!("{why}, so this was printed once. A line every second: vramtop -l 1"))?;
    Ok(exit)
}

/// Hands the signals on.
///
/// # Errors
/// The system's, when a thread or a handler cannot be made.
pub(super) fn watch_signals(sender: &SyncSender<Input>) -> io::Result<()> {
    let to_loop = sender.clone();
    signals::watch(true, move |signal| to_loop.send(Input::Signal(signal)).is_ok())
}

/// Hands the keyboard's events on. The terminal has to be taken over by then.
///
/// # Errors
/// The system's, when the thread cannot be made.
pub(super) fn read_keys(sender: &SyncSender<Input>) -> io::Result<()> {
    let to_loop = sender.clone();
    let run = move || {
        loop {
            let input = match event::read() {
                Ok(event) => Input::Terminal(event),
                Err(error) => Input::NoKeyboard(error),
            };
            let over = matches!(input, Input::NoKeyboard(_));
            if to_loop.send(input).is_err() || over {
                return;
            }
        }
    };
    thread::Builder::new().name("keyboard".into()).stack_size(128 * 1024).spawn(run).map(drop)
}
