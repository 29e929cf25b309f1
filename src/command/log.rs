//! Log mode (`-l`): a record every step until stopped. With `--format json` the log is a recording.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use jiff::tz::TimeZone;

use super::once::PATIENCE;
use super::signals::{self, Signal};
use super::terminal::READER;
use super::unread::{News, Payload};
use crate::cli::{Form, Look};
use crate::collect::{Exchange, Feed, FixedFacts, HostScope, LiveOptions, LiveSource, Only, SourceEnd, SystemClock, Wanted, spawn};
use crate::config::Config;
use crate::exit::Exit;
use crate::model::Record;
use crate::monitor::Monitor;
use crate::output::log_lines;
use crate::record::Writer;

enum Input {
    Feed(Feed),
    Signal(Signal),
}

/// Writes records until the source ends, `--count` is reached, or a signal comes.
///
/// # Errors
/// When nothing can be read, or not written.
pub(super) fn run(look: &Look, config: &Config) -> anyhow::Result<Exit> {
    let interval_ms = look.period_ms().unwrap_or(1000);
    let json = look.form() == Form::Json;
    let host = if json { HostScope::All } else { HostScope::Named(look.most_holders()) };
    let out = look.writer()?;
    let out = if json {
        Out::Json(Writer::new(out))
    } else {
        let (options, zone) = (look.line_options(config.style()), TimeZone::system());
        Out::lines(out, Payload::Figures, Box::new(move |monitor, lines| log_lines(monitor, &options, &zone, lines)))
    };
    follow(look, look.live(config, interval_ms, FixedFacts::First, host), out)
}

/// Writes each record to `out`, until the source ends, `--count` is reached, or a signal comes.
///
/// # Errors
/// When nothing can be read, or not written.
pub(super) fn follow(look: &Look, options: LiveOptions, out: Out) -> anyhow::Result<Exit> {
    let (sender, inputs) = sync_channel(64);
    let exchange = Arc::new(Exchange::default());
    start(&sender, options, look.wanted()?, Arc::clone(&exchange))?;
    let mut log = Log { monitor: Monitor::new(), out, written: 0 };
    let mut stall = Stall { exchange, told: false };
    loop {
        let input = match inputs.recv_timeout(LOOK) {
            Ok(input) => input,
            Err(RecvTimeoutError::Timeout) => {
                stall.look()?;
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(Exit::Fine),
        };
        match input {
            Input::Feed(Feed::Record(record)) => {
                stall.told = false;
                let exit = log.take(&record)?;
                if look.count.is_some_and(|count| log.written >= count) {
                    return Ok(exit);
                }
            }
            Input::Feed(Feed::Ended(SourceEnd::Finished)) => return Ok(Exit::Fine),
            Input::Feed(Feed::Ended(SourceEnd::Failed(error))) => return Err(error.into()),
            // Every record is written whole and flushed, so there is nothing left to save.
            Input::Signal(Signal::End(number)) => signals::die_of(number),
            Input::Signal(Signal::Stop | Signal::Continue) => {}
        }
    }
}

/// How often a silent source is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// A driver that does not answer: a log outlives that, and says so once.
struct Stall {
    exchange: Arc<Exchange>,
    told: bool,
}

impl Stall {
    fn look(&mut self) -> io::Result<()> {
        if let Some((call, since)) = self.exchange.driver_call().filter(|(_, since)| *since >= PATIENCE && !self.told) {
            self.told = true;
            super::say(&format!("the driver has not answered `{call}` for {} s; still waiting", since.as_secs()))?;
        }
        Ok(())
    }
}

fn start(sender: &SyncSender<Input>, options: LiveOptions, wanted: Wanted, exchange: Arc<Exchange>) -> anyhow::Result<()> {
    let to_main = sender.clone();
    signals::watch(false, move |signal| to_main.send(Input::Signal(signal)).is_ok())?;
    let to_main = sender.clone();
    let source = move || Ok(Only::new(LiveSource::new(options, SystemClock::new(), exchange), wanted));
    spawn(READER, source, move |feed| to_main.send(Input::Feed(feed)).is_ok())?;
    Ok(())
}

struct Log {
    monitor: Monitor,
    out: Out,
    written: u64,
}

/// Appends what is printed of the last sample.
type Print = Box<dyn FnMut(&Monitor, &mut String)>;

/// Where records go, and in what form.
pub(super) enum Out {
    /// As a recording.
    Json(Writer<Box<dyn Write>>),
    /// As lines, each sample's at once; what they do not say goes to stderr.
    Lines { out: Box<dyn Write>, lines: String, print: Print, news: News },
}

impl Out {
    /// As lines that `print` appends.
    pub(super) fn lines(out: Box<dyn Write>, payload: Payload, print: Print) -> Self {
        Self::Lines { out, lines: String::new(), print, news: News::new(payload) }
    }

    const fn payload(&self) -> Payload {
        match self {
            Self::Json(_) => Payload::Figures,
            Self::Lines { news, .. } => news.payload(),
        }
    }
}

impl Log {
    /// Writes what the record says, and how the log ends if this is its last.
    fn take(&mut self, record: &Record) -> io::Result<Exit> {
        self.monitor.apply(record);
        match &mut self.out {
            Out::Json(writer) => writer.record(record, &self.monitor)?,
            Out::Lines { out, lines, print, news } => {
                for sentence in news.of(record, &self.monitor) {
                    super::say(&sentence)?;
                }
                if let Record::Sample(_) = record {
                    lines.clear();
                    print(&self.monitor, lines);
                    out.write_all(lines.as_bytes())?;
                    out.flush()?;
                }
            }
        }
        let Record::Sample(sample) = record else { return Ok(Exit::Fine) };
        self.written += 1;
        Ok(self.out.payload().exit(sample))
    }
}
