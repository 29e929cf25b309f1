//! `--once`: one status line a GPU, or one JSON object, and the end.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use anyhow::{anyhow, bail};

use super::terminal::READER;
use super::unread::{News, Payload};
use crate::cli::{Form, Look};
use crate::collect::{Exchange, Feed, FixedFacts, HostScope, LiveOptions, LiveSource, Only, SourceEnd, SystemClock, TelemetryScope, Wanted, spawn};
use crate::config::Config;
use crate::exit::Exit;
use crate::model::{Record, Sample};
use crate::monitor::Monitor;
use crate::output::status_lines;
use crate::record::Writer;

/// A driver that does not answer one question for this long is given up on.
pub(super) const PATIENCE: Duration = Duration::from_secs(15);

/// Prints what is now.
///
/// # Errors
/// When nothing can be read, or not written.
pub(super) fn run(look: &Look, config: &Config) -> anyhow::Result<Exit> {
    let json = look.form() == Form::Json;
    let (host, telemetry) =
        if json { (HostScope::All, TelemetryScope::Full) } else { (HostScope::Named(look.most_holders()), TelemetryScope::Glance) };
    let options = LiveOptions { telemetry, ..look.live(config, 1000, FixedFacts::Never, host) };
    let (monitor, sample) = first_sample(options, look.wanted()?)?;
    let mut out = look.writer()?;
    if json {
        Writer::new(out).once(&sample, &monitor)?;
    } else {
        let mut text = String::new();
        status_lines(&monitor, &look.line_options(config.style()), &mut text);
        out.write_all(text.as_bytes())?;
        out.flush()?;
    }
    ended(sample, &monitor, Payload::Figures)
}

/// Reads until the first sample.
pub(super) fn first_sample(options: LiveOptions, only: Wanted) -> anyhow::Result<(Monitor, Sample)> {
    let (sender, feed) = sync_channel(64);
    let exchange = Arc::new(Exchange::default());
    let shared = Arc::clone(&exchange);
    spawn(READER, move || Ok(Only::new(LiveSource::new(options, SystemClock::new(), shared), only)), move |feed| sender.send(feed).is_ok())?;
    let mut monitor = Monitor::new();
    let mut silent = Duration::ZERO;
    loop {
        match feed.recv_timeout(Duration::from_secs(1)) {
            Ok(Feed::Record(record)) => {
                monitor.apply(&record);
                if let Record::Sample(sample) = record {
                    return Ok((monitor, *sample));
                }
            }
            Ok(Feed::Ended(SourceEnd::Failed(error))) => return Err(error.into()),
            Ok(Feed::Ended(SourceEnd::Finished)) | Err(RecvTimeoutError::Disconnected) => {
                return Err(anyhow!("reading ended before there was a sample"));
            }
            Err(RecvTimeoutError::Timeout) => {
                silent += Duration::from_secs(1);
                let (call, since) = exchange.driver_call().unwrap_or(("start", silent));
                // Calls may each take long and still come back: only one that does not is given up on.
                if since >= PATIENCE {
                    bail!(
                        "the NVIDIA driver has not answered one question ({call}) for {} s.\n\
                         It may be wedged: see dmesg for NVRM and Xid lines, and whether nvidia-smi answers",
                        since.as_secs()
                    );
                }
                if exchange.driver_call().is_some() {
                    silent = Duration::ZERO;
                }
            }
        }
    }
}

/// Says what the look lacks, and how it ends.
pub(super) fn ended(sample: Sample, monitor: &Monitor, payload: Payload) -> anyhow::Result<Exit> {
    let exit = payload.exit(&sample);
    for sentence in News::new(payload).of(&Record::Sample(Box::new(sample)), monitor) {
        super::say(&sentence)?;
    }
    Ok(exit)
}
