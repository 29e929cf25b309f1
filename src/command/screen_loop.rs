//! The one loop that owns the screen and the state of what is shown. Nothing in it waits for a driver.
//!
//! Effects that `update` returns as values are carried out here and nowhere else.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crossterm::event;

use super::acting::Acting;
use super::columns_file;
use super::signals::{self, Signal};
use super::terminal::{self, Screen};
use crate::app::{self, App, Effect, Msg, Waiting, update};
use crate::collect::host::look;
use crate::collect::{Clock, Exchange, Feed, Playback, SourceEnd, SystemClock};
use crate::config::Style;
use crate::exit::Exit;
use crate::model::{Details, ProcessKey, Record};
use crate::view::{Theme, view};

/// What reaches the loop.
pub(super) enum Input {
    /// The source.
    Feed(Feed),
    /// The keyboard, and the size of the terminal.
    Terminal(event::Event),
    /// A signal.
    Signal(Signal),
    /// What was found out about a process on demand.
    Details(Box<Details>),
    /// The keyboard is gone.
    NoKeyboard(io::Error),
}

/// The channel into the loop, bounded: a source that is faster than the screen waits.
pub(super) fn channel() -> (SyncSender<Input>, Receiver<Input>) {
    sync_channel(256)
}

/// No news for this long is news: the picture then says how old it is.
const SILENCE_MS: u64 = 1000;

/// The screen and what it shows.
pub(super) struct ScreenLoop {
    app: App,
    theme: Theme,
    screen: Screen,
    exchange: Arc<Exchange>,
    playback: Option<mpsc::Sender<Playback>>,
    acting: Acting,
    to_loop: SyncSender<Input>,
}

/// Whether the loop goes on.
enum Next {
    Go { draw: bool },
    Leave(Exit),
}

impl ScreenLoop {
    /// Takes the terminal over and draws the first frame, before any source has said anything.
    ///
    /// # Errors
    /// The terminal's.
    pub(super) fn start(
        app: App,
        style: Style,
        exchange: Arc<Exchange>,
        playback: Option<mpsc::Sender<Playback>>,
        to_loop: SyncSender<Input>,
    ) -> anyhow::Result<Self> {
        let theme = style.theme();
        let screen = Screen::enter(style.mouse)?;
        let app = app.with_columns(columns_file::read());
        let mut this = Self { app, theme, screen, exchange, playback, acting: Acting::default(), to_loop };
        this.draw()?;
        Ok(this)
    }

    /// Runs until somebody leaves.
    ///
    /// # Errors
    /// The terminal's, or the source's when it cannot begin.
    pub(super) fn run(mut self, inputs: &Receiver<Input>) -> anyhow::Result<Exit> {
        let clock = SystemClock::new();
        let mut tick_at = SILENCE_MS;
        loop {
            let patience = Duration::from_millis(tick_at.saturating_sub(clock.now_ms()));
            let first = match inputs.recv_timeout(patience) {
                Ok(input) => Some(input),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Ok(Exit::Fine),
            };
            let mut draw = false;
            if clock.now_ms() >= tick_at {
                draw |= self.tick()?;
                tick_at = clock.now_ms() + SILENCE_MS;
            }
            // All that has come by now is taken in before one frame is drawn.
            for input in first.into_iter().chain(std::iter::from_fn(|| inputs.try_recv().ok())) {
                if let Input::Feed(Feed::Record(Record::Sample(_))) = input {
                    tick_at = clock.now_ms() + SILENCE_MS;
                }
                match self.take(input)? {
                    Next::Go { draw: wanted } => draw |= wanted,
                    Next::Leave(exit) => return Ok(exit),
                }
            }
            if draw {
                self.draw()?;
            }
        }
    }

    /// Nothing has come for a while: how long ago the last sample was, and what the driver is busy with.
    fn tick(&mut self) -> anyhow::Result<bool> {
        let mut draw = matches!(self.update(Msg::Tick(SystemClock::wall_now()))?, Next::Go { draw: true });
        if let Some((call, since)) = self.exchange.driver_call() {
            let for_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
            draw |= matches!(self.update(Msg::Waiting(Waiting { call, for_ms }))?, Next::Go { draw: true });
        }
        Ok(draw)
    }

    fn take(&mut self, input: Input) -> anyhow::Result<Next> {
        match input {
            Input::Feed(Feed::Record(record)) => self.update(Msg::Record(Box::new(record))),
            Input::Feed(Feed::Ended(SourceEnd::Finished)) => self.update(Msg::Ended { reason: "it was played to its end".to_owned(), failed: false }),
            Input::Feed(Feed::Ended(SourceEnd::Failed(error))) => {
                // Before the first sample there is nothing to show: leave and say why.
                if self.app.picture().monitor().samples() == 0 {
                    return Err(error.into());
                }
                log::error!("reading ended: {error}");
                self.update(Msg::Ended { reason: error.to_string(), failed: true })
            }
            Input::Terminal(event::Event::Key(key)) => self.update(Msg::Key(key)),
            Input::Terminal(event::Event::Mouse(mouse)) => self.update(Msg::Mouse(mouse)),
            Input::Terminal(event::Event::Resize(..)) => self.update(Msg::Resized),
            Input::Terminal(_) => Ok(Next::Go { draw: false }),
            Input::Signal(Signal::End(number)) => {
                terminal::restore();
                signals::die_of(number)
            }
            Input::Signal(Signal::Stop) => self.carry_out(Effect::Suspend),
            Input::Signal(Signal::Continue) => self.carry_out(Effect::RedrawAll),
            Input::Details(details) => self.update(Msg::Details(details)),
            Input::NoKeyboard(error) => Err(anyhow::Error::new(error).context("the terminal is gone")),
        }
    }

    fn update(&mut self, msg: Msg) -> anyhow::Result<Next> {
        let effect = update(&mut self.app, msg);
        self.carry_out(effect)
    }

    fn carry_out(&mut self, effect: Effect) -> anyhow::Result<Next> {
        let draw = match effect {
            Effect::None => false,
            Effect::Redraw => true,
            Effect::RedrawAll => {
                self.screen.forget()?;
                true
            }
            Effect::Quit => return Ok(Next::Leave(Exit::Fine)),
            Effect::Suspend => {
                self.screen.suspend()?;
                true
            }
            Effect::Playback(playback) => {
                if let Some(player) = &self.playback {
                    // A player that has finished listens no more.
                    let _ = player.send(command(playback));
                }
                true
            }
            Effect::Look(key) => {
                self.look(key)?;
                true
            }
            Effect::OpenTargets(keys) => {
                let answers = self.acting.open(&keys);
                self.answer(answers)?
            }
            Effect::Signal { keys, signal } => {
                let answers = self.acting.signal(&keys, signal);
                self.answer(answers)?
            }
            Effect::Interest(seen) => {
                self.exchange.set(&seen.pids, seen.sm_percent);
                false
            }
            Effect::Copy(text) => {
                self.screen.copy(&text)?;
                true
            }
            Effect::SaveColumns(text) => {
                if let Err(error) = columns_file::write(&text) {
                    return self.update(Msg::Note(format!("the columns are chosen for this time only: {error}")));
                }
                true
            }
        };
        Ok(Next::Go { draw })
    }

    /// Takes in what came of an effect, and says whether that is to be drawn.
    fn answer(&mut self, answers: Vec<Msg>) -> anyhow::Result<bool> {
        let mut draw = false;
        for answer in answers {
            draw |= matches!(self.update(answer)?, Next::Go { draw: true });
        }
        Ok(draw)
    }

    /// Finds out about a process on a thread of its own: reading an environment can wait for a process that is stuck.
    fn look(&self, key: ProcessKey) -> io::Result<()> {
        let to_loop = self.to_loop.clone();
        let run = move || {
            // A loop that is left needs no answer.
            let _ = to_loop.send(Input::Details(Box::new(look(Path::new("/proc"), key))));
        };
        thread::Builder::new().name("look".into()).stack_size(256 * 1024).spawn(run).map(drop)
    }

    fn draw(&mut self) -> anyhow::Result<()> {
        let mut shown = app::Shown::default();
        self.screen.draw(|frame| shown = view(&self.app, &self.theme, frame))?;
        self.update(Msg::Drawn(shown)).map(drop)
    }
}

const fn command(playback: app::Playback) -> Playback {
    match playback {
        app::Playback::Pause => Playback::Pause,
        app::Playback::Resume => Playback::Resume,
        app::Playback::Speed(factor) => Playback::Speed(factor),
    }
}
