//! The status line of each GPU, and the same line with a time, the window's highest value and the trend for a log.

use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr;

use super::holders::holders;
use super::line::{Column, Glyphs, Layout, Line, Yields};
use crate::model::{Bytes, DeviceMemory, GpuState, ListState, Reading};
use crate::monitor::{GpuRow, Monitor};
use crate::record::local;

/// How lines are printed.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineOptions {
    /// Cut to this many columns; `None` where nobody looks at it on a screen.
    pub width: Option<usize>,
    /// Print nothing but ASCII.
    pub ascii: bool,
}

/// Gap, prefix, least width and side of each column; the last two are a log's.
const COLUMNS: [Column; 10] = [
    Column { gap: 0, prefix: "", least: 0, left: true, yields: Yields::Never }, // label
    Column { gap: 1, prefix: "", least: 0, left: true, yields: Yields::ToTheSum(3) }, // name
    Column { gap: 2, prefix: "", least: 0, left: false, yields: Yields::Never }, // used of total
    Column { gap: 2, prefix: "", least: 4, left: false, yields: Yields::ToTheSum(2) }, // percent of the room
    Column { gap: 2, prefix: "free ", least: 0, left: false, yields: Yields::Never },
    Column { gap: 2, prefix: "util ", least: 0, left: false, yields: Yields::ToTheSum(0) },
    Column { gap: 2, prefix: "", least: 0, left: false, yields: Yields::ToAName(1) }, // temperature
    Column { gap: 1, prefix: "", least: 0, left: false, yields: Yields::ToAName(0) }, // power of its limit
    Column { gap: 2, prefix: "max ", least: 0, left: false, yields: Yields::ToTheSum(4) },
    Column { gap: 2, prefix: "", least: 0, left: true, yields: Yields::ToTheSum(1) }, // trend
];

/// How many of the columns a snapshot has: it has no past.
const SNAPSHOT: usize = 8;

/// Appends the status line of each GPU.
pub fn status_lines(monitor: &Monitor, options: &LineOptions, out: &mut String) {
    let lines = lines(monitor, options, SNAPSHOT);
    let layout = Layout::new(&COLUMNS[..SNAPSHOT], Glyphs::new(options.ascii), &lines, options.width);
    for line in &lines {
        layout.write(line, out);
    }
}

/// Appends the log line of each GPU, with the time of the last sample as `zone` tells it; nothing before the first.
pub fn log_lines(monitor: &Monitor, options: &LineOptions, zone: &TimeZone, out: &mut String) {
    let Some((time, _)) = monitor.now() else { return };
    let time = format!("{}  ", local(time, zone));
    let width = options.width.map(|width| width.saturating_sub(time.width()));
    let lines = lines(monitor, options, COLUMNS.len());
    let layout = Layout::new(&COLUMNS, Glyphs::new(options.ascii), &lines, width);
    for line in &lines {
        out.push_str(&time);
        layout.write(line, out);
    }
}

fn lines(monitor: &Monitor, options: &LineOptions, columns: usize) -> Vec<Line> {
    let glyphs = Glyphs::new(options.ascii);
    let rows = monitor.gpus().iter().enumerate();
    rows.map(|(at, row)| {
        let mut line = line(row, monitor.now().map(|(_, now_ms)| now_ms), columns, glyphs);
        if row.state == GpuState::Present {
            line.items = holders(monitor, at, row, glyphs);
        }
        line
    })
    .collect()
}

fn line(row: &GpuRow, now_ms: Option<u64>, columns: usize, glyphs: Glyphs) -> Line {
    let mut line = Line { cells: vec![row.label.clone(), glyphs.foreign(row.facts.name.as_str()).into_owned()], ..Line::default() };
    match row.state {
        GpuState::Lost { .. } => line.notes.push("lost: the driver no longer answers for it".to_owned()),
        GpuState::Asleep { .. } => line.notes.push("asleep: left alone, so that it stays asleep".to_owned()),
        GpuState::Present => {
            line.cells.extend(figures(row, glyphs));
            line.cells.truncate(columns);
            let mut note = |what: &str, why: String| line.notes.push(format!("{what}: {}", glyphs.foreign(&why)));
            if let Some(why) = row.memory.absence() {
                note("memory", why.to_string());
            }
            // A list of an earlier step still names the holders.
            match (now_ms.and_then(|now_ms| row.account_age_ms(now_ms)), &row.list) {
                (Some(age_ms), _) => note("holders", format!("of {} s ago", age_ms / 1000)),
                (None, Reading::Value(ListState::Partial(why))) => note("holders", format!("some unknown, {why}")),
                (None, Reading::Absent(why)) if !row.names_holders() => note("holders", why.to_string()),
                (None, Reading::Value(ListState::Fresh) | Reading::Absent(_)) => {}
            }
        }
    }
    line
}

/// The cells after the name.
fn figures(row: &GpuRow, glyphs: Glyphs) -> [String; 8] {
    let unknown = || glyphs.unknown.to_owned();
    let or_unknown = |text: Option<String>| text.unwrap_or_else(unknown);
    let memory = row.memory.value();
    let bytes = |bytes: Option<Bytes>| or_unknown(bytes.map(|bytes| bytes.to_string()));
    let total = memory.map(DeviceMemory::total).or(row.facts.total.get());
    let percent = memory.and_then(DeviceMemory::used_share);
    let telemetry = &row.telemetry;
    [
        format!("{}/{} GiB", bytes(memory.and_then(DeviceMemory::used)), bytes(total)),
        or_unknown(percent.map(|percent| format!("{percent}%"))),
        bytes(memory.map(DeviceMemory::free)),
        or_unknown(telemetry.gpu.get().map(|percent| format!("{percent}%"))),
        or_unknown(telemetry.temperature_c.get().map(|degrees| format!("{degrees}{}", glyphs.celsius))),
        power(row, glyphs),
        bytes(row.range.map(|(_, max)| max)),
        trend(row, glyphs),
    ]
}

/// `612/700W`, without the limit where there is none.
fn power(row: &GpuRow, glyphs: Glyphs) -> String {
    let watts = |milliwatts: &Reading<u32>| milliwatts.get().map(|milliwatts| (u64::from(milliwatts) + 500) / 1000);
    match (watts(&row.telemetry.power_mw), watts(&row.facts.power_limit_mw)) {
        (Some(draw), Some(limit)) => format!("{draw}/{limit}W"),
        (Some(draw), None) => format!("{draw}W"),
        (None, _) => glyphs.unknown.to_owned(),
    }
}

/// `↑0.31/min`; empty while it is not known, or too slow for two decimals.
fn trend(row: &GpuRow, glyphs: Glyphs) -> String {
    let rate = row.bytes_per_minute().get().map_or(0.0, |rate| rate / Bytes::GIB as f64);
    if rate.abs() < 0.005 {
        return String::new();
    }
    let arrow = if rate > 0.0 { glyphs.up } else { glyphs.down };
    format!("{arrow}{:.2}/min", rate.abs())
}
