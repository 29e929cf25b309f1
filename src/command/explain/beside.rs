//! What can be seen beside a text: a recording at that time, and the device now. The device is asked for a moment only; where there
//! is none, or it is slow, nothing is said.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::cli::Explain;
use crate::collect::{Exchange, Feed, FixedFacts, HostScope, LiveOptions, LiveSource, SystemClock, TelemetryScope, spawn};
use crate::command::gzip;
use crate::command::terminal::READER;
use crate::config::Config;
use crate::inside::moment::{Fullest, Seen};
use crate::inside::oom::{Amount, LogTime, Report, Verdict};
use crate::inside::which::{When, meant};
use crate::model::{Moment, Record, SafeText};
use crate::output::explain::{AlsoSeen, also_seen};
use crate::record::{Reader, local};

/// A driver that takes longer is left alone: the answer does not wait for it.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// What there is beside a log.
pub(super) struct Beside {
    recording: Option<PathBuf>,
    device: bool,
    library: Option<PathBuf>,
    zone: TimeZone,
    /// Asked once.
    now: Option<Vec<Seen>>,
    /// Whether the log is of this machine's last minutes.
    pub(super) recent: bool,
}

impl Beside {
    pub(super) fn new(wanted: &Explain, config: &Config) -> Self {
        Self {
            recording: wanted.recording.clone(),
            device: !wanted.no_device,
            library: config.nvml_library.value.clone(),
            zone: TimeZone::system(),
            now: None,
            recent: false,
        }
    }

    /// What was seen for one text.
    ///
    /// # Errors
    /// When the recording cannot be read.
    pub(super) fn seen(&mut self, report: &Report) -> anyhow::Result<Vec<AlsoSeen>> {
        let mut all = Vec::new();
        if let Some(path) = &self.recording {
            all.extend(self.recorded(path, report)?);
        }
        let no_matter = matches!(report.verdict, Verdict::HostMemory | Verdict::BogusSize | Verdict::WarningOnly);
        if self.device && !no_matter {
            all.extend(self.on_the_device(report));
        }
        Ok(all)
    }

    fn recorded(&self, path: &PathBuf, report: &Report) -> anyhow::Result<Option<AlsoSeen>> {
        let name = SafeText::new(&path.to_string_lossy());
        let open = || -> anyhow::Result<Box<dyn BufRead + Send>> {
            let file = File::open(path).and_then(|file| gzip::unpacked(BufReader::new(file)));
            file.with_context(|| format!("cannot read the recording {name}"))
        };
        let around = match report.time {
            Some(time) => self.moment(time, || Ok(fullest(open()?, None)?.begins()))?,
            None => None,
        };
        let all = fullest(open()?, around)?.finish();
        let none_alike = (!all.is_empty()).then(|| "No GPU of the recording has the size that the text says.".to_owned());
        let (seen, which) = meant(report, all, When::Then);
        let date = |at: Moment| local(at, &self.zone).to_string().chars().take(19).collect::<String>().replace('T', " ");
        let source = match (around, seen.first()) {
            (around, None) if around.is_some() || none_alike.is_some() => {
                let nothing =
                    || around.map_or_else(String::new, |around| format!("The recording has nothing around {}, the log's own time.", date(around)));
                return Ok(Some(AlsoSeen { source: format!("recording {name}"), lines: vec![none_alike.unwrap_or_else(nothing)] }));
            }
            (_, None) => return Ok(None),
            (Some(around), Some(_)) => format!("recording {name} around {}, the log's own time", date(around)),
            (None, Some(first)) => format!("recording {name}, its fullest moment, {}: the log has no time", date(first.time)),
        };
        Ok(Some(also_seen(source, &seen, which, &self.zone)))
    }

    /// A log's time on the clock of a recording that begins then.
    fn moment(&self, time: LogTime, begins: impl Fn() -> anyhow::Result<Option<Moment>>) -> anyhow::Result<Option<Moment>> {
        let in_zone = |ms: i64| {
            let civil = Timestamp::from_millisecond(ms).ok().map(|at| TimeZone::UTC.to_datetime(at))?;
            self.zone.to_timestamp(civil).ok().map(|at| Moment { unix_ms: at.as_millisecond() })
        };
        Ok(match time {
            LogTime::At(moment) => Some(moment),
            LogTime::Local(moment) => in_zone(moment.unix_ms),
            LogTime::NoYear { month, day, ms } => begins()?.and_then(|begins| {
                let year = self.zone.to_datetime(Timestamp::from_millisecond(begins.unix_ms).ok()?).year();
                let midnight = jiff::civil::Date::new(year, month, day).ok()?.to_datetime(jiff::civil::Time::midnight());
                in_zone(TimeZone::UTC.to_timestamp(midnight).ok()?.as_millisecond() + i64::from(ms))
            }),
        })
    }

    /// The device now, where the log is of this machine's last minutes, or names a card as large as one here.
    fn on_the_device(&mut self, report: &Report) -> Option<AlsoSeen> {
        let library = self.library.clone();
        let now = self.now.get_or_insert_with(|| look(library));
        let capacity = report.figures.capacity.and_then(Amount::bytes);
        let alike = |seen: &&Seen| capacity.is_some_and(|capacity| capacity.abs_diff(seen.room.0) <= seen.room.0 / 200);
        let here: Vec<Seen> = now.iter().filter(|seen| self.recent || alike(seen)).cloned().collect();
        let (seen, which) = meant(report, here, When::After);
        let first = seen.first()?;
        let source = format!("this machine at {}, after the fact", crate::output::explain::clock(first.time, &self.zone));
        Some(also_seen(source, &seen, which, &self.zone))
    }
}

/// The fullest moments of a recording.
///
/// # Errors
/// When it cannot be read.
pub(super) fn fullest(reader: Box<dyn BufRead + Send>, around: Option<Moment>) -> anyhow::Result<Fullest> {
    let mut fullest = Fullest::new(around);
    for record in Reader::new(reader) {
        fullest.take(&record?);
    }
    Ok(fullest)
}

/// One sample of every device; nothing where there is no driver or it takes its time.
fn look(library: Option<PathBuf>) -> Vec<Seen> {
    let options = LiveOptions {
        library,
        interval_ms: 1000,
        telemetry: TelemetryScope::Glance,
        fixed: FixedFacts::Never,
        host: HostScope::Named(Some(16)),
        ..LiveOptions::default()
    };
    let (sender, feed) = sync_channel(64);
    let source = move || Ok(LiveSource::new(options, SystemClock::new(), Arc::new(Exchange::default())));
    if spawn(READER, source, move |feed| sender.send(feed).is_ok()).is_err() {
        return Vec::new();
    }
    let mut fullest = Fullest::new(None);
    let until = Instant::now() + PATIENCE;
    while let Ok(Feed::Record(record)) = feed.recv_timeout(until.saturating_duration_since(Instant::now())) {
        fullest.take(&record);
        if matches!(record, Record::Sample(_)) {
            return fullest.finish();
        }
    }
    Vec::new()
}
