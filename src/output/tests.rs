//! The lines of `screens.md`, at several widths.

use std::sync::Arc;

use jiff::tz::{TimeZone, offset};

use super::{LineOptions, log_lines, status_lines};
use crate::model::{
    Absence, Bytes, DeviceMemory, GpuFacts, GpuId, GpuSample, GpuState, Header, Kind, Lane, LanePoint, ListState, Moment, OwnCost, ProcessFacts,
    ProcessKey, ProcessSample, Reading, Record, SafeText, Sample, Telemetry, Untracked, UtilizationPercent, Visibility,
};
use crate::monitor::Monitor;

const TOTAL: u64 = 150_754_820_096;
const RESERVED: u64 = 644_939_776;

/// Tenths of a GiB.
fn gib(tenths: u64) -> Bytes {
    Bytes(tenths * Bytes::GIB / 10)
}

fn facts(name: &str, index: u32, instance: Option<u32>) -> GpuFacts {
    let parent = instance.map(|_| GpuId::new(&format!("GPU-{index}")));
    let id = instance.map_or(format!("GPU-{index}"), |instance| format!("MIG-{index}-{instance}"));
    GpuFacts {
        id: GpuId::new(&id),
        index: instance.is_none().then_some(index),
        instance,
        parent,
        pci: None,
        name: SafeText::new(name),
        total: Reading::Value(Bytes(TOTAL)),
        shared_with_host: false,
        power_limit_mw: Reading::Value(700_000),
        max_sm_mhz: Reading::NOT_ASKED,
        max_memory_mhz: Reading::NOT_ASKED,
        bar1_total: Reading::NOT_ASKED,
        mig: Reading::NOT_ASKED,
    }
}

fn gpu(facts: &GpuFacts, used: Bytes, at_ms: u64, util: u32, degrees: u32, milliwatts: u32) -> GpuSample {
    let mut lane = Lane::default();
    lane.push(LanePoint { at_ms, used: Some(used) });
    GpuSample {
        id: facts.id.clone(),
        state: GpuState::Present,
        memory: DeviceMemory::new(TOTAL, used.0, 0, Some(RESERVED)),
        lane,
        processes: Reading::Value(ListState::Fresh),
        untracked: Untracked::default(),
        telemetry: Telemetry {
            gpu: UtilizationPercent::new(util).into(),
            temperature_c: Reading::Value(degrees),
            power_mw: Reading::Value(milliwatts),
            ..Telemetry::absent(&Absence::NotSupported)
        },
    }
}

fn process(gpu: usize, pid: u32, user: Option<&str>, what: &str, memory: Bytes) -> ProcessSample {
    let seen = ProcessFacts {
        key: ProcessKey { pid, start_ticks: Some(1) },
        visibility: Visibility::Here,
        user: user.map(SafeText::new),
        what: SafeText::new(what),
        ..ProcessFacts::unseen(pid)
    };
    let facts = Arc::new(if user.is_some() { seen } else { ProcessFacts::unseen(pid) });
    ProcessSample {
        gpu,
        facts,
        kind: Kind::from_letters("C"),
        memory: Reading::Value(memory),
        range: None,
        sm_percent: Reading::NOT_ASKED,
        host: Reading::NOT_ASKED,
    }
}

fn holders() -> Vec<ProcessSample> {
    vec![
        process(0, 39007, Some("cleo"), "eval.py", gib(97)),
        process(0, 41877, Some("ann"), "train.py", gib(964)),
        process(0, 40112, Some("bob"), "probe.ipynb", gib(182)),
        process(1, 7745, None, "", gib(12)),
        process(1, 38120, Some("cleo"), "vllm", gib(1258)),
        process(1, 40990, Some("bob"), "embed.py", gib(31)),
    ]
}

fn start(gpus: &[GpuFacts]) -> Monitor {
    let mut monitor = Monitor::new();
    monitor.apply(&Record::Header(Arc::new(Header {
        time: Moment::default(),
        version: SafeText::new("0.1.0"),
        host: SafeText::new("node7"),
        driver: None,
        cuda: None,
        interval_ms: 1000,
        memory_hz: 20,
        gpus: gpus.iter().cloned().map(Arc::new).collect(),
    })));
    monitor
}

fn apply(monitor: &mut Monitor, elapsed_ms: u64, gpus: Vec<GpuSample>, processes: Vec<ProcessSample>) {
    // 12:08:18.123 on 30 November 2026, less than a minute after the first sample.
    let time = Moment { unix_ms: 1_796_040_498_123 };
    monitor.apply(&Record::Sample(Box::new(Sample { time, elapsed_ms, gpus, processes, faults: Vec::new(), own: OwnCost::default() })));
}

/// The node of `screens.md`.
fn node7() -> Monitor {
    let gpus = [facts("NVIDIA H200", 0, None), facts("NVIDIA H200", 1, None)];
    let mut monitor = start(&gpus);
    let samples = vec![gpu(&gpus[0], gib(1243), 0, 97, 61, 612_000), gpu(&gpus[1], gib(1362), 0, 31, 47, 238_400)];
    apply(&mut monitor, 100, samples, holders());
    monitor
}

fn lines(monitor: &Monitor, options: &LineOptions) -> String {
    let mut text = String::new();
    status_lines(monitor, options, &mut text);
    text
}

fn at_width(width: usize) -> LineOptions {
    LineOptions { width: Some(width), ..LineOptions::default() }
}

#[test]
fn the_status_lines_are_those_of_the_screens() {
    let expected = "\
0 NVIDIA H200  124.3/140.4 GiB   89%  free 15.5  util 97%  61°C 612/700W  ann:train.py(41877) 96.4G  bob:probe.ipynb(40112) 18.2G  cleo:eval.py(39007) 9.7G
1 NVIDIA H200  136.2/140.4 GiB   97%  free  3.6  util 31%  47°C 238/700W  cleo:vllm(38120) 125.8G  bob:embed.py(40990) 3.1G  ?(7745) 1.2G  unattributed 6.1G
";
    assert_eq!(lines(&node7(), &LineOptions::default()), expected);
    assert_eq!(lines(&node7(), &at_width(200)), expected);
}

#[test]
fn a_narrow_line_ends_after_a_whole_holder() {
    let monitor = node7();
    let expected = "\
0 NVIDIA H200  124.3/140.4 GiB   89%  free 15.5  util 97%  61°C 612/700W  ann:train.py(41877) 96.4G  … +2 27.9G
1 NVIDIA H200  136.2/140.4 GiB   97%  free  3.6  util 31%  47°C 238/700W  cleo:vllm(38120) 125.8G  … +3 10.4G
";
    assert_eq!(lines(&monitor, &at_width(120)), expected);
    // Power makes way for how many there are; for that they all do, but which GPU and its memory.
    let expected = "\
0 NVIDIA H200  124.3/140.4 GiB   89%  free 15.5  util 97%  61°C  … +3 124.3G
1 NVIDIA H200  136.2/140.4 GiB   97%  free  3.6  util 31%  47°C  … +4 136.2G
";
    assert_eq!(lines(&monitor, &at_width(80)), expected);
    assert_eq!(lines(&monitor, &at_width(50)), "0  124.3/140.4 GiB  free 15.5  … +3 124.3G\n1  136.2/140.4 GiB  free  3.6  … +4 136.2G\n");
    assert_eq!(lines(&monitor, &at_width(40)), "0  124.3/140.4 GiB  free 15.5  …\n1  136.2/140.4 GiB  free  3.6  …\n");
    assert_eq!(lines(&monitor, &at_width(20)), "0  124.3/140.4 GiB …\n1  136.2/140.4 GiB …\n");
    for width in 1..170 {
        assert!(lines(&monitor, &at_width(width)).lines().all(|line| line.chars().count() <= width), "{width}");
    }
}

#[test]
fn a_log_line_has_time_highest_value_and_trend() {
    let gpus = [facts("NVIDIA H200", 0, None), facts("NVIDIA H200", 1, None)];
    let mut monitor = start(&gpus);
    for second in 0..=90_u64 {
        // 0.31 GiB a minute.
        let used = Bytes(gib(1243).0 - (90 - second) * 31 * Bytes::GIB / 6000);
        let mut first = gpu(&gpus[0], used, second * 1000, 97, 61, 612_000);
        first.lane.push(LanePoint { at_ms: second * 1000 + 950, used: Some(gib(1245)) });
        let second_gpu = gpu(&gpus[1], gib(1362), second * 1000, 31, 47, 238_000);
        let processes = if second < 90 { Vec::new() } else { holders() };
        apply(&mut monitor, (second + 1) * 1000, vec![first, second_gpu], processes);
    }
    let mut text = String::new();
    let zone = TimeZone::fixed(offset(1));
    log_lines(&monitor, &at_width(142), &zone, &mut text);
    let expected = "\
2026-11-30T13:08:18.123+01:00  0 NVIDIA H200  124.3/140.4 GiB   89%  free 15.5  util 97%  61°C 612/700W  max 124.5  ↑0.31/min  … +3 124.3G
2026-11-30T13:08:18.123+01:00  1 NVIDIA H200  136.2/140.4 GiB   97%  free  3.6  util 31%  47°C 238/700W  max 136.2             … +4 136.2G
";
    assert_eq!(text, expected);
    text.clear();
    log_lines(&node7(), &LineOptions::default(), &zone, &mut text);
    assert!(text.contains("612/700W  max 124.3  ann:train.py(41877) 96.4G"), "{text}");
    text.clear();
    log_lines(&Monitor::new(), &LineOptions::default(), &zone, &mut text);
    assert_eq!(text, "");
}

#[test]
fn ascii_is_ascii_whatever_is_foreign() {
    let gpus = [facts("NVIDIA H200 – Größe", 0, None)];
    let mut monitor = start(&gpus);
    let mut sample = gpu(&gpus[0], gib(100), 0, 5, 40, 90_000);
    sample.telemetry.gpu = Reading::NOT_SUPPORTED;
    let processes = vec![process(0, 1, Some("jürgen"), "模型.py", gib(60)), process(0, 2, Some("ann"), "x", gib(40))];
    apply(&mut monitor, 100, vec![sample], processes);
    let options = LineOptions { ascii: true, width: Some(100) };
    assert_eq!(lines(&monitor, &options), "0 NVIDIA H200 ? Gr??e  10.0/140.4 GiB    7%  free 129.8  util -  j?rgen:??.py(1) 6.0G  ann:x(2) 4.0G\n");
    let options = LineOptions { ascii: true, ..LineOptions::default() };
    assert!(lines(&monitor, &options).ends_with("  j?rgen:??.py(1) 6.0G  ann:x(2) 4.0G\n"));
    assert!(lines(&monitor, &options).is_ascii());
}

#[test]
fn what_is_unknown_says_why() {
    let gpus = [facts("NVIDIA H200", 0, None), facts("NVIDIA H200", 1, None), facts("NVIDIA H200", 2, None), facts("NVIDIA A100", 3, None)];
    let mut monitor = start(&gpus);
    let mut samples: Vec<GpuSample> = gpus.iter().map(|facts| gpu(facts, gib(50), 0, 5, 40, 90_000)).collect();
    samples[0].memory = Reading::failed("GPU is lost");
    samples[0].processes = Reading::Absent(Absence::NotPermitted);
    samples[0].telemetry = Telemetry::absent(&Absence::NotSupported);
    samples[1].state = GpuState::Lost { since_ms: 0 };
    samples[2].state = GpuState::Asleep { since_ms: 0 };
    let mut unknown = process(3, 5, Some("ann"), "x.py", Bytes::ZERO);
    unknown.memory = Reading::NOT_SUPPORTED;
    apply(&mut monitor, 100, samples, vec![unknown]);
    let expected = "\
0 NVIDIA H200    —/140.4 GiB     —  free     —  util  —     —       —  memory: failed: GPU is lost  holders: not permitted
1 NVIDIA H200  lost: the driver no longer answers for it
2 NVIDIA H200  asleep: left alone, so that it stays asleep
3 NVIDIA A100  5.0/140.4 GiB    4%  free 134.8  util 5%  40°C 90/700W  ann:x.py(5) —
";
    assert_eq!(lines(&monitor, &LineOptions::default()), expected);
    // What a card that fails needs for its reason is taken from its own figures, not from the others'.
    let expected = "\
0    —/140.4 GiB  free     —  memory: failed: GPU is lost  holders: not …
1 NVIDIA H200  lost: the driver no longer answers for it
2 NVIDIA H200  asleep: left alone, so that it stays asleep
3 NVIDIA A100  5.0/140.4 GiB    4%  free 134.8  util 5%  ann:x.py(5) —
";
    assert_eq!(lines(&monitor, &at_width(73)), expected);
}

#[test]
fn an_instance_stands_under_its_parent() {
    let gpus = [facts("NVIDIA H200", 0, None), facts("MIG 1g.18gb", 0, Some(0)), facts("MIG 2g.35gb", 0, Some(1)), facts("NVIDIA H200", 1, None)];
    let mut monitor = start(&gpus);
    let samples = gpus.iter().map(|facts| gpu(facts, gib(50), 0, 5, 40, 90_000)).collect();
    apply(&mut monitor, 100, samples, Vec::new());
    let text = lines(&monitor, &LineOptions::default());
    let starts: Vec<&str> = text.lines().map(|line| &line[..15]).collect();
    assert_eq!(starts, ["0   NVIDIA H200", "0.0 MIG 1g.18gb", "0.1 MIG 2g.35gb", "1   NVIDIA H200"]);
}
