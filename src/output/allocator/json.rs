//! The same as JSON: one object a snapshot, a table or a note. Bytes are whole numbers, absent is null, later versions only add keys.

use serde::Serialize;
use serde_json::{Map, Value, to_value};

use crate::inside::loglines::{Note, Quantity};
use crate::inside::snapshot::{Fit, Holding, Layers, Oom, Outcome, PoolId, Report, Snapshot, Timeline};
use crate::inside::summary::{Cells, METRICS, Summary};
use crate::model::{Bytes, SafeText};

/// Places of each list.
const PLACES: usize = 100;

#[derive(Serialize)]
struct WholeWire {
    r#type: &'static str,
    file: String,
    settings: Option<SettingsWire>,
    devices: Vec<DeviceWire>,
}

#[derive(Serialize)]
struct SettingsWire {
    alloc_conf: Option<String>,
    expandable_segments: Option<bool>,
    max_split_size: Option<Bytes>,
}

#[derive(Serialize)]
struct DeviceWire {
    device: u32,
    verdict: &'static str,
    layers: LayersWire,
    requested: Bytes,
    segments: u64,
    blocks: u64,
    live_blocks: u64,
    free_blocks: u64,
    largest_hole: Bytes,
    pools: Vec<PoolWire>,
    holes: Vec<HolesWire>,
    live: Vec<PlaceWire>,
    live_at_peak: Vec<PlaceWire>,
    timeline: Option<TimelineWire>,
    ooms: Vec<OomWire>,
    fit: Option<FitWire>,
}

#[derive(Serialize)]
struct LayersWire {
    tensors: Bytes,
    pending: Bytes,
    cached: Bytes,
    stuck: Bytes,
    reserved: Bytes,
}

#[derive(Serialize)]
struct PoolWire {
    owner: (i64, i64),
    private: bool,
    small: bool,
    stream: i64,
    segments: u64,
    largest_hole: Bytes,
    layers: LayersWire,
}

#[derive(Serialize)]
struct HolesWire {
    below: Option<Bytes>,
    count: u64,
    bytes: Bytes,
}

#[derive(Serialize)]
struct PlaceWire {
    bytes: Bytes,
    count: u64,
    function: Option<String>,
    file: Option<String>,
    line: Option<u32>,
}

#[derive(Serialize)]
struct TimelineWire {
    events: usize,
    start: Bytes,
    end: Bytes,
    peak: Bytes,
    /// Counted from 0.
    peak_event: Option<usize>,
    peak_time_us: Option<i64>,
    span_us: i64,
    contradicts: bool,
    columns: Vec<Bytes>,
}

#[derive(Serialize)]
struct OomWire {
    event: usize,
    time_us: Option<i64>,
    asked: Bytes,
    device_free: Bytes,
    live: Bytes,
    reserved: Bytes,
}

#[derive(Serialize)]
struct FitWire {
    asked: Bytes,
    rounded: Bytes,
    small: bool,
    fits: Option<bool>,
    largest_hole: Bytes,
    reuses: Option<Bytes>,
    segment: Option<Bytes>,
    releasable: Option<Bytes>,
    at_least_free: Option<Bytes>,
    device_free: Option<Bytes>,
    private_hole: Bytes,
    stream_hole: Bytes,
    oversize_hole: Bytes,
}

/// One object for a snapshot.
pub fn snapshot_json(file: &SafeText, snapshot: &Snapshot, reports: &[Report]) -> Value {
    let settings = snapshot.settings.as_ref().map(|settings| SettingsWire {
        alloc_conf: settings.conf.as_ref().map(ToString::to_string),
        expandable_segments: settings.expandable,
        max_split_size: settings.max_split_size,
    });
    let devices = reports.iter().map(|report| device(snapshot, report)).collect();
    to_value(WholeWire { r#type: "snapshot", file: file.to_string(), settings, devices }).unwrap_or_default()
}

fn device(snapshot: &Snapshot, report: &Report) -> DeviceWire {
    let tally = &report.tally;
    let pool = |(id, pool): (&PoolId, &crate::inside::snapshot::Pool)| PoolWire {
        owner: id.owner,
        private: id.owner != (0, 0),
        small: id.small,
        stream: id.stream,
        segments: pool.segments,
        largest_hole: pool.largest_hole,
        layers: layers(pool.layers),
    };
    DeviceWire {
        device: report.device,
        verdict: report.verdict.word(),
        layers: layers(tally.layers),
        requested: tally.requested,
        segments: tally.segments,
        blocks: tally.blocks,
        live_blocks: tally.live_blocks,
        free_blocks: tally.free_blocks,
        largest_hole: tally.largest_hole,
        pools: tally.pools.iter().map(pool).collect(),
        holes: tally.holes.iter().map(|kind| HolesWire { below: kind.below, count: kind.count, bytes: kind.bytes }).collect(),
        live: places(snapshot, &report.live),
        live_at_peak: places(snapshot, &report.at_peak),
        timeline: report.timeline.as_ref().map(timeline),
        ooms: report.timeline.iter().flat_map(|line| line.ooms.iter().map(oom)).collect(),
        fit: report.fit.as_ref().map(fit),
    }
}

fn layers(layers: Layers) -> LayersWire {
    LayersWire { tensors: layers.tensors, pending: layers.pending, cached: layers.cached, stuck: layers.stuck, reserved: layers.reserved() }
}

fn places(snapshot: &Snapshot, holdings: &[Holding]) -> Vec<PlaceWire> {
    let wire = |held: &Holding| {
        let place = snapshot.place(held.site);
        PlaceWire {
            bytes: held.bytes,
            count: held.count,
            function: place.as_ref().map(|place| place.function.to_string()),
            file: place.as_ref().map(|place| place.file.to_string()),
            line: place.as_ref().map(|place| place.line),
        }
    };
    holdings.iter().take(PLACES).map(wire).collect()
}

fn known(time_us: i64) -> Option<i64> {
    (time_us != 0).then_some(time_us)
}

fn timeline(line: &Timeline) -> TimelineWire {
    TimelineWire {
        events: line.events,
        start: line.start,
        end: line.end,
        peak: line.peak,
        peak_event: line.peak_at,
        peak_time_us: known(line.peak_time_us),
        span_us: line.span_us,
        contradicts: line.contradicts,
        columns: line.columns.clone(),
    }
}

fn oom(oom: &Oom) -> OomWire {
    OomWire { event: oom.at, time_us: known(oom.time_us), asked: oom.asked, device_free: oom.device_free, live: oom.live, reserved: oom.reserved }
}

fn fit(fit: &Fit) -> FitWire {
    let mut wire = FitWire {
        asked: fit.asked,
        rounded: fit.rounded,
        small: fit.small,
        fits: fit.fits(),
        largest_hole: fit.largest_hole,
        reuses: None,
        segment: None,
        releasable: None,
        at_least_free: None,
        device_free: None,
        private_hole: fit.elsewhere.private,
        stream_hole: fit.elsewhere.stream,
        oversize_hole: fit.elsewhere.oversize,
    };
    match fit.outcome {
        Outcome::Reuses { block } => wire.reuses = Some(block),
        Outcome::Asks { segment, releasable, at_least, device_free } => {
            (wire.segment, wire.releasable, wire.at_least_free, wire.device_free) = (Some(segment), Some(releasable), Some(at_least), device_free);
        }
    }
    wire
}

/// One object for a table.
pub fn summary_json(file: &SafeText, summary: &Summary) -> Value {
    let layers = summary.layers();
    let mut out = Map::new();
    out.insert("type".into(), "memory_summary".into());
    out.insert("file".into(), file.as_str().into());
    out.insert("line".into(), summary.line.into());
    out.insert("device".into(), summary.device.into());
    out.insert("verdict".into(), summary.verdict().word().into());
    out.insert("ooms".into(), summary.ooms.into());
    out.insert("retries".into(), summary.retries.into());
    let parts = [
        ("tensors", layers.tensors),
        ("pending", layers.pending),
        ("cached", layers.cached),
        ("stuck", layers.stuck),
        ("free", layers.free),
        ("reserved", layers.reserved),
    ];
    out.insert(
        "layers".into(),
        parts.into_iter().map(|(key, bytes)| (key.to_owned(), bytes.map(|bytes| bytes.0).into())).collect::<Map<_, _>>().into(),
    );
    for (metric, _, key) in METRICS {
        let row = summary.row(metric);
        let pools = [("all", row.all), ("large_pool", row.large), ("small_pool", row.small)];
        let pools: Map<String, Value> = pools.into_iter().map(|(pool, of)| (pool.to_owned(), cells(of))).collect();
        out.insert(key.into(), pools.into());
    }
    out.into()
}

fn cells(cells: Cells) -> Value {
    let all = [("current", cells.current), ("peak", cells.peak), ("allocated", cells.allocated), ("freed", cells.freed)];
    all.into_iter().map(|(key, figure)| (key.to_owned(), figure.map(|figure| figure.value).into())).collect::<Map<_, _>>().into()
}

/// One object for what a tool said: its last figures, and the highest.
pub fn notes_json(file: &SafeText, note: &Note) -> Value {
    let mut out = Map::new();
    out.insert("type".into(), "tool".into());
    out.insert("file".into(), file.as_str().into());
    out.insert("line".into(), note.line.into());
    out.insert("count".into(), note.count.into());
    out.insert("tool".into(), note.tool.word().into());
    out.insert("stage".into(), note.stage.as_ref().map(SafeText::as_str).into());
    for (key, figures) in [("last", &note.last), ("most", &note.most)] {
        let of = Quantity::ALL.into_iter().filter_map(|quantity| figures.get(quantity).map(|value| (quantity.word().to_owned(), value.into())));
        out.insert(key.into(), of.collect::<Map<_, _>>().into());
    }
    out.into()
}
