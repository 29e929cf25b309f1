//! nvidia-smi's dialect: `--query-gpu`, `--query-compute-apps`, `--format csv` and `-L`. Only what the fields need is read.

use jiff::tz::TimeZone;

use super::unread::Payload;
use super::{log, once};
use crate::cli::{Form, Look, Smi};
use crate::collect::{FixedFacts, HostScope, LiveOptions, TelemetryScope};
use crate::config::Config;
use crate::exit::{Exit, UsageError};
use crate::model::Ask;
use crate::monitor::Monitor;
use crate::output::smi::{Dialect, FieldError, Query, USUAL_FIELDS, gpu_list};

/// Whether that dialect is asked for.
pub(super) fn is_meant(look: &Look, smi: &Smi) -> bool {
    matches!(look.format, Some(Form::Csv { .. })) || smi.query_gpu.is_some() || smi.query_compute_apps.is_some()
}

/// Prints the fields once, or with `-l` every step.
///
/// # Errors
/// When a field is not offered, nothing can be read, or not written.
pub(super) fn run(look: &Look, smi: &Smi, config: &Config) -> anyhow::Result<Exit> {
    let dialect = match look.format {
        None => Dialect { header: true, units: true },
        Some(Form::Csv { header, units }) => Dialect { header, units },
        Some(Form::Text | Form::Json) => {
            return Err(UsageError("a query is printed as csv: leave --format out, or give csv[,noheader][,nounits]".to_owned()).into());
        }
    };
    let query = query(smi, dialect).map_err(|error| UsageError(error.to_string()))?;
    let payload = if query.is_of_processes() { Payload::Lists } else { Payload::Figures };
    let filtered = !look.user.is_empty() || !look.pid.is_empty();
    let named = if query.names_processes() || filtered { None } else { Some(0) };
    let options = options(look, config, named, query.asks());
    let zone = TimeZone::system();
    if look.period_ms().is_some() {
        let mut first = true;
        let print = Box::new(move |monitor: &Monitor, lines: &mut String| {
            if std::mem::take(&mut first) {
                query.header(lines);
            }
            query.rows(monitor, &zone, lines);
        });
        return log::follow(look, options, log::Out::lines(look.writer()?, payload, print));
    }
    print_once(look, options, payload, |monitor, text| {
        query.header(text);
        query.rows(monitor, &zone, text);
    })
}

/// `-L`.
///
/// # Errors
/// When nothing can be read, or not written.
pub(super) fn list(look: &Look, config: &Config) -> anyhow::Result<Exit> {
    print_once(look, options(look, config, Some(0), Vec::new()), Payload::Names, gpu_list)
}

fn query(smi: &Smi, dialect: Dialect) -> Result<Query, FieldError> {
    match (&smi.query_gpu, &smi.query_compute_apps) {
        (Some(fields), _) => Query::gpus(fields, dialect),
        (None, Some(fields)) => Query::processes(fields, dialect),
        (None, None) => Query::gpus(USUAL_FIELDS, dialect),
    }
}

fn options(look: &Look, config: &Config, named: Option<usize>, asks: Vec<Ask>) -> LiveOptions {
    let interval_ms = look.period_ms().unwrap_or(1000);
    let options = look.live(config, interval_ms, FixedFacts::Never, HostScope::Named(named));
    LiveOptions { telemetry: TelemetryScope::Asked(asks), slow: false, ..options }
}

fn print_once(look: &Look, options: LiveOptions, payload: Payload, print: impl FnOnce(&Monitor, &mut String)) -> anyhow::Result<Exit> {
    let (monitor, sample) = once::first_sample(options, look.wanted()?)?;
    let mut text = String::new();
    print(&monitor, &mut text);
    let mut out = look.writer()?;
    out.write_all(text.as_bytes())?;
    out.flush()?;
    once::ended(sample, &monitor, payload)
}
