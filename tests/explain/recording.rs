//! A text beside a recording of the same minute: the peak before torch gave its cache back, neighbours, growth, and which card is meant.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use vramtop::model::{
    Bytes, DeviceMemory, GpuFacts, GpuId, GpuSample, GpuState, Header, HostReading, Kind, Lane, LanePoint, ListState, Moment, OwnCost, ProcessFacts,
    ProcessKey, ProcessSample, Reading, Record, RunState, SafeText, Sample, Telemetry, Untracked, Visibility,
};
use vramtop::monitor::Monitor;
use vramtop::record::Writer;

use crate::common::alone;

const GIB: u64 = 1 << 30;
const TOTAL: u64 = 150_754_820_096;
const RESERVED: u64 = 644_939_776;
/// 2026-11-30T12:08:18.123Z.
const FAILED: i64 = 1_796_040_498_123;
const UUIDS: [&str; 2] = ["GPU-aaaaaaaa-1111-2222-3333-444444444444", "GPU-bbbbbbbb-1111-2222-3333-444444444444"];

fn tenths(of_a_gib: u64) -> u64 {
    of_a_gib * GIB / 10
}

/// One card in one step: what is used at its end, a higher value a fifth of a second before, and who holds what.
struct Card {
    used: u64,
    peak: u64,
    holders: Vec<Holder>,
}

/// Whose, what, PID, bytes.
type Holder = (&'static str, &'static str, u32, u64);

fn process((user, what, pid, _): &Holder) -> Arc<ProcessFacts> {
    Arc::new(ProcessFacts {
        key: ProcessKey { pid: *pid, start_ticks: Some(u64::from(*pid)) },
        visibility: Visibility::Here,
        user: Some(SafeText::new(user)),
        mine: false,
        what: SafeText::new(what),
        what_full: SafeText::new(what),
        cmdline: Vec::new(),
        container: None,
        job: None,
        rank: None,
        started: None,
        parent: None,
        ancestors: Vec::new(),
    })
}

fn facts(index: usize) -> Arc<GpuFacts> {
    Arc::new(GpuFacts {
        id: GpuId::new(UUIDS[index]),
        index: u32::try_from(index).ok(),
        instance: None,
        parent: None,
        pci: None,
        name: SafeText::new("NVIDIA H200"),
        total: Reading::Value(Bytes(TOTAL)),
        shared_with_host: false,
        power_limit_mw: Reading::NOT_ASKED,
        max_sm_mhz: Reading::NOT_ASKED,
        max_memory_mhz: Reading::NOT_ASKED,
        bar1_total: Reading::NOT_ASKED,
        mig: Reading::Value(false),
    })
}

fn telemetry() -> Telemetry {
    Telemetry {
        gpu: Reading::NOT_ASKED,
        bus: Reading::NOT_ASKED,
        encoder: Reading::NOT_ASKED,
        decoder: Reading::NOT_ASKED,
        temperature_c: Reading::NOT_ASKED,
        fan_percent: Reading::NOT_ASKED,
        power_mw: Reading::NOT_ASKED,
        sm_mhz: Reading::NOT_ASKED,
        memory_mhz: Reading::NOT_ASKED,
        pstate: Reading::NOT_ASKED,
        throttle: Reading::NOT_ASKED,
        ecc_errors: Reading::NOT_ASKED,
        remapped_rows: Reading::NOT_ASKED,
        pcie: Reading::NOT_ASKED,
        energy_mj: Reading::NOT_ASKED,
        asked: Vec::new(),
    }
}

fn sample(time: i64, elapsed_ms: u64, cards: &[Card]) -> Sample {
    let gpu = |(index, card): (usize, &Card)| {
        let mut lane = Lane::default();
        lane.push(LanePoint { at_ms: elapsed_ms.saturating_sub(200), used: Some(Bytes(card.peak)) });
        lane.push(LanePoint { at_ms: elapsed_ms, used: Some(Bytes(card.used)) });
        GpuSample {
            id: GpuId::new(UUIDS[index]),
            state: GpuState::Present,
            memory: DeviceMemory::new(TOTAL, card.used, TOTAL - RESERVED - card.used, Some(RESERVED)),
            lane,
            processes: Reading::Value(ListState::Fresh),
            untracked: Untracked::default(),
            telemetry: telemetry(),
        }
    };
    let running = |gpu: usize, holder: &Holder| ProcessSample {
        gpu,
        facts: process(holder),
        kind: Kind::from_letters("C"),
        memory: Reading::Value(Bytes(holder.3)),
        range: Some((Bytes(holder.3), Bytes(holder.3))),
        sm_percent: Reading::NOT_ASKED,
        host: Reading::Value(HostReading { cpu_permille: None, rss: Bytes(GIB), state: RunState('R') }),
    };
    Sample {
        time: Moment { unix_ms: time },
        elapsed_ms,
        gpus: cards.iter().enumerate().map(gpu).collect(),
        processes: cards.iter().enumerate().flat_map(|(gpu, card)| card.holders.iter().map(move |holder| running(gpu, holder))).collect(),
        faults: Vec::new(),
        own: OwnCost { cpu_permille: None, driver_us_per_s: None, rss: Some(Bytes(GIB)) },
    }
}

/// A minute before the failure and a second after it, a step a second.
fn recording(folder: &tempfile::TempDir, cards: impl Fn(i64) -> Vec<Card>) -> PathBuf {
    let header = Header {
        time: Moment { unix_ms: FAILED - 60_000 },
        version: SafeText::new("0.1.0"),
        host: SafeText::new("node7"),
        driver: None,
        cuda: None,
        interval_ms: 1000,
        memory_hz: 20,
        gpus: vec![facts(0), facts(1)],
    };
    let steps = (-60..=1).map(|second| {
        let elapsed = u64::try_from(second + 61).expect("positive") * 1000;
        Record::Sample(Box::new(sample(FAILED + second * 1000, elapsed, &cards(second))))
    });
    let (mut monitor, mut writer) = (Monitor::new(), Writer::new(Vec::new()));
    // What does not change about a process stands before the first step that has it.
    let processes = cards(0)
        .into_iter()
        .enumerate()
        .flat_map(|(gpu, card)| card.holders.into_iter().map(move |holder| Record::Process { gpu: GpuId::new(UUIDS[gpu]), facts: process(&holder) }));
    for record in std::iter::once(Record::Header(Arc::new(header))).chain(processes).chain(steps) {
        monitor.apply(&record);
        writer.record(&record, &monitor).expect("memory takes everything");
    }
    let path = folder.path().join("run.jsonl");
    fs::write(&path, writer.into_inner()).expect("written");
    path
}

/// The answer to a text of that minute, with the recording beside it.
fn beside(text: &str, cards: impl Fn(i64) -> Vec<Card>) -> String {
    beside_in("UTC", "12:08:18,400", text, cards)
}

/// The same on a machine of that zone, where the log says that time.
fn beside_in(zone: &str, time: &str, text: &str, cards: impl Fn(i64) -> Vec<Card>) -> String {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = recording(&folder, cards);
    let log = folder.path().join("job.log");
    fs::write(&log, format!("2026-11-30 {time} ERROR trainer.py:88 step failed\n{text}\n")).expect("written");
    let output = alone(&["explain", "--no-device"]).env("TZ", zone).arg(&log).arg("--recording").arg(&path).output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let answer = String::from_utf8_lossy(&output.stdout).into_owned();
    let also = answer.split_once("Also seen").map_or_else(String::new, |(_, also)| also.to_owned());
    also.split_whitespace().collect::<Vec<_>>().join(" ")
}

const FULL: &str = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 90.00 GiB. GPU 0 has a total capacity of 139.80 GiB of which 78.49 GiB is free. \
    Including non-PyTorch memory, this process has 60.80 GiB memory in use. Of the allocated memory 60.06 GiB is allocated by PyTorch, and 1024.00 KiB is \
    reserved by PyTorch but unallocated.";

/// CUDA's GPU 0 is the driver's GPU 1 here. It grew from 49.3 GiB to 61.1 in the minute before; in the step of the failure it had 101.3 at
/// first, and torch gave 40.0 back before it tried again.
#[test]
fn the_peak_before_the_flush_neighbours_and_growth_are_told_of_the_card_that_was_full() {
    let also = beside(FULL, |second| {
        let grown = if second < 0 { 488 + u64::try_from(second + 60).expect("positive") * 2 } else { 608 };
        let peak = if second == 0 { 1013 } else { grown + 5 };
        let holders = vec![("ann", "train.py", 419, tenths(grown)), ("eve", "probe.py", 77, tenths(5))];
        vec![
            Card { used: tenths(200), peak: tenths(200), holders: vec![("bob", "notebook", 2106, tenths(200))] },
            Card { used: tenths(grown + 5), peak: tenths(peak), holders },
        ]
    });
    assert!(also.contains("around 2026-11-30 12:08:18, the log's own time)"), "{also}");
    assert!(also.contains("GPU 1 (GPU-bbbbbbbb) is meant: no other one of that size was as full as the text says."), "{also}");
    let peak = "GPU 1 (NVIDIA H200): 101.3 of 139.8 GiB were in use at 12:08:17.923, and 40.0 less at the end of that step: a cache given back";
    assert!(also.contains(peak), "{also}");
    assert!(also.contains("Held by ann:train.py(419) 60.8 · eve:probe.py(77) 0.5."), "{also}");
    assert!(also.contains("It had grown by 11.8 to 61.1 in the minute before that."), "{also}");
    assert!(!also.contains("bob"), "{also}");
}

fn both_full(_second: i64) -> Vec<Card> {
    let card = |user, pid| Card { used: tenths(1320), peak: tenths(1320), holders: vec![(user, "serve.py", pid, tenths(1320))] };
    vec![card("ann", 419), card("bob", 578)]
}

#[test]
fn a_process_that_the_text_names_tells_the_card() {
    let text = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 11.78 GiB. GPU 0 has a total capacity of 139.80 GiB of which 7.77 GiB is free. \
        Process 578 has 129.51 GiB memory in use. Including non-PyTorch memory, this process has 2.51 GiB memory in use. Of the allocated memory 2.00 GiB is \
        allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated.";
    let also = beside(text, both_full);
    assert!(also.contains("GPU 1 (GPU-bbbbbbbb) is meant: process 578, which the text names, is on it."), "{also}");
    assert!(also.contains("Held by bob:serve.py(578) 132.0.") && !also.contains("ann"), "{also}");
}

#[test]
fn where_nothing_tells_cards_apart_all_are_shown_and_none_is_picked() {
    let also = beside(FULL, both_full);
    let which = "The text says GPU 0, which is CUDA's number and not the driver's: it can be GPU 0 (GPU-aaaaaaaa) or GPU 1 (GPU-bbbbbbbb).";
    assert!(also.contains(which), "{also}");
    assert!(also.contains("ann:serve.py(419)") && also.contains("bob:serve.py(578)"), "{also}");
}

#[test]
fn a_recording_of_other_cards_says_so() {
    let also = beside(&FULL.replace("139.80", "79.10").replace("78.49", "17.79").replace("90.00", "30.00"), both_full);
    assert!(also.contains("No GPU of the recording has the size that the text says."), "{also}");
    assert!(!also.contains("Held by"), "{also}");
}

/// Whoever has a GPU 4 has five of them, and the recording has two.
#[test]
fn a_number_beyond_the_recording_is_said_to_be() {
    let also = beside(&FULL.replace("GPU 0", "GPU 4"), both_full);
    let which = "The text says GPU 4, and of its size only GPU 0 (GPU-aaaaaaaa) and GPU 1 (GPU-bbbbbbbb) can be seen here: the one that is meant may not be \
                 among them.";
    assert!(also.contains(which), "{also}");
}

/// In winter Berlin is an hour ahead. Nothing to test where the machine has no names of zones.
#[test]
fn times_are_those_of_the_zone_that_is_named() {
    if !std::path::Path::new("/usr/share/zoneinfo/Europe/Berlin").exists() {
        return;
    }
    let also = beside_in("Europe/Berlin", "13:08:18,400", FULL, both_full);
    assert!(also.contains("around 2026-11-30 13:08:18, the log's own time)"), "{also}");
    assert!(also.contains("132.0 of 139.8 GiB were in use at 13:08:1"), "{also}");
}
