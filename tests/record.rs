//! Recordings: the exact bytes that are written, that reading gives back what was sent, and that no bytes can do harm.

#![expect(clippy::expect_used, reason = "a test may fail")]

#[path = "record/arbitrary.rs"]
mod arbitrary;

use std::io::Cursor;
use std::sync::Arc;

use arbitrary::any_recording;
use proptest::prelude::*;
use vramtop::model::{
    Absence, Ancestor, Bytes, DeviceMemory, Event, EventKind, Fault, GpuFacts, GpuId, GpuSample, GpuState, Header, HostReading, Kind, Lane,
    LanePoint, ListState, Moment, OwnCost, ProcessFacts, ProcessKey, ProcessSample, Rank, Reading, Record, RunState, SafeText, Sample, Telemetry,
    Throttle, Untracked, UtilizationPercent, Visibility,
};
use vramtop::monitor::Monitor;
use vramtop::record::{ReadError, Reader, Writer};

// The figures of a real H200 (driver 580.159.04); its process list was read at a busier moment than its memory, so the two overlap.
const TOTAL: u64 = 150_754_820_096;
const RESERVED: u64 = 644_939_776;
const USED: u64 = 873_267_200;
const FREE: u64 = 149_236_613_120;
const NOON: Moment = Moment { unix_ms: 1_796_040_498_123 };

fn text(text: &str) -> SafeText {
    SafeText::new(text)
}

fn percent(n: u32) -> Reading<UtilizationPercent> {
    Reading::Value(UtilizationPercent::new(n).expect("at most 100"))
}

fn header() -> Header {
    let gpu = GpuFacts {
        id: GpuId::new("GPU-11111111-2222-3333-4444-555555555555"),
        index: Some(0),
        instance: None,
        parent: None,
        pci: Some(text("00000000:00:06.0")),
        name: text("NVIDIA H200"),
        total: Reading::Value(Bytes(TOTAL)),
        shared_with_host: false,
        power_limit_mw: Reading::Value(700_000),
        max_sm_mhz: Reading::Value(1980),
        max_memory_mhz: Reading::Value(3201),
        bar1_total: Reading::Value(Bytes(274_877_906_944)),
        mig: Reading::Value(false),
    };
    Header {
        time: NOON,
        version: text("0.1.0"),
        host: text("node7"),
        driver: Some(text("580.159.04")),
        cuda: Some(text("13.0")),
        interval_ms: 1000,
        memory_hz: 20,
        gpus: vec![Arc::new(gpu)],
    }
}

fn ancestor(pid: u32, ticks: u64, name: &str) -> Ancestor {
    Ancestor { key: ProcessKey { pid, start_ticks: Some(ticks) }, name: text(name) }
}

fn facts() -> ProcessFacts {
    ProcessFacts {
        key: ProcessKey { pid: 419, start_ticks: Some(8_812_345) },
        visibility: Visibility::Here,
        user: Some(text("ann")),
        mine: true,
        what: text("train.py"),
        what_full: text("train.py --lr 3e-4"),
        cmdline: ["python3", "train.py", "--lr", "3e-4"].map(SafeText::new).to_vec(),
        container: None,
        job: Some(text("slurm 48211.0")),
        rank: Some(Rank { rank: 3, world: Some(8), local: None }),
        started: Some(Moment { unix_ms: 1_796_000_000_000 }),
        parent: Some(41_801),
        ancestors: vec![ancestor(41_801, 8_812_001, "torchrun train.py"), ancestor(2044, 7_000_000, "bash")],
    }
}

fn sample() -> Sample {
    let mut lane = Lane::default();
    lane.push(LanePoint { at_ms: 0, used: Some(Bytes(0)) });
    lane.push(LanePoint { at_ms: 50, used: Some(Bytes(USED)) });
    let gpu = GpuSample {
        id: GpuId::new("GPU-11111111-2222-3333-4444-555555555555"),
        state: GpuState::Present,
        memory: DeviceMemory::new(TOTAL, USED, FREE, Some(RESERVED)),
        lane,
        processes: Reading::Value(ListState::Fresh),
        untracked: Untracked::default(),
        telemetry: Telemetry {
            gpu: percent(97),
            bus: percent(44),
            encoder: percent(0),
            decoder: percent(0),
            temperature_c: Reading::Value(41),
            fan_percent: Reading::NOT_SUPPORTED,
            power_mw: Reading::Value(128_557),
            sm_mhz: Reading::Value(1980),
            memory_mhz: Reading::Value(3201),
            pstate: Reading::Value(0),
            throttle: Reading::Value(Throttle(0x5)),
            ecc_errors: Reading::Value(0),
            remapped_rows: Reading::Value(0),
            pcie: Reading::NOT_ASKED,
            energy_mj: Reading::NOT_ASKED,
            asked: Vec::new(),
        },
    };
    let process = ProcessSample {
        gpu: 0,
        facts: Arc::new(facts()),
        kind: Kind::from_letters("C"),
        memory: Reading::Value(Bytes(5_209_325_568)),
        range: Some((Bytes(5_209_325_568), Bytes(5_209_325_568))),
        sm_percent: Reading::NOT_ASKED,
        host: Reading::Value(HostReading { cpu_permille: Some(1004), rss: Bytes(3_221_225_472), state: RunState('R') }),
    };
    Sample {
        time: NOON,
        elapsed_ms: 100,
        gpus: vec![gpu],
        processes: vec![process],
        faults: vec![Fault { gpu: None, call: "processes", reason: text("Unknown Error") }],
        own: OwnCost { cpu_permille: Some(3), driver_us_per_s: Some(1200), rss: Some(Bytes(9_437_184)) },
    }
}

fn first_records() -> Vec<Record> {
    let gpu = header().gpus[0].id.clone();
    vec![Record::Header(Arc::new(header())), Record::Process { gpu, facts: Arc::new(facts()) }, Record::Sample(Box::new(sample()))]
}

fn written(records: &[Record]) -> Vec<u8> {
    let (mut monitor, mut writer) = (Monitor::new(), Writer::new(Vec::new()));
    for record in records {
        monitor.apply(record);
        writer.record(record, &monitor).expect("memory takes everything");
    }
    writer.into_inner()
}

fn read(bytes: &[u8]) -> Result<Vec<Record>, ReadError> {
    Reader::new(Cursor::new(bytes)).collect()
}

fn error_of(bytes: &[u8]) -> String {
    read(bytes).expect_err("refused").to_string()
}

/// The line of a golden text that is broken over several for the eye.
fn joined(golden: &str) -> String {
    golden.lines().map(str::trim_start).collect::<String>() + "\n"
}

#[test]
fn a_sample_that_stands_alone_is_written_to_the_byte() {
    let golden = joined(
        r#"{"type":"sample","schema":1,"time":"2026-11-30T12:08:18.123Z","elapsed_ms":100,"host":"node7","driver":"580.159.04","cuda":"13.0",
        "gpus":[{"index":0,"uuid":"GPU-11111111-2222-3333-4444-555555555555","pci":"00000000:00:06.0","name":"NVIDIA H200","parent":null,
        "memory":{"total":150754820096,"used":873267200,"free":149236613120,"driver":644939776,"host":0,"processes":5209325568,
        "unattributed":0,"overlap":4336058368,"used_min":0,"used_max":873267200,"lane":[[0,0],[50,873267200]],"shared_with_host":false,
        "peak":873267200,"peak_time":"2026-11-30T12:08:18.123Z","peak_accounting":null,"source":"v2"},
        "utilization":{"gpu":97,"bus":44,"encoder":0,"decoder":0},"temperature_c":41,"fan_percent":null,"power_w":128.557,"power_limit_w":700.0,
        "max_clocks":{"sm_mhz":1980,"memory_mhz":3201},"bar1_total":274877906944,"mig":false,"instance":null,
        "clocks":{"sm_mhz":1980,"memory_mhz":3201},"pstate":0,"throttle":["power cap"],"throttle_bits":5,"ecc_errors":0,"remapped_rows":0,
        "pcie":null,"energy_mj":null,"state":"present","state_since_ms":null,"process_list":"fresh","untracked":{"count":0,"memory":0},
        "trend":{"state":null,"bytes_per_s":null,"full_in_s":null},
        "absent":{"memory.peak_accounting":"not asked","fan_percent":"not supported","pcie":"not asked","energy_mj":"not asked","trend":"not yet"}}],
        "processes":[{"gpu":0,"uuid":"GPU-11111111-2222-3333-4444-555555555555","pid":419,"start_ticks":8812345,"type":"C",
        "memory":5209325568,"memory_min":5209325568,"memory_max":5209325568,"peak":5209325568,"sm_percent":null,"cpu_percent":100.4,
        "rss":3221225472,"state":"R","user":"ann","what":"train.py","command":"train.py --lr 3e-4","cmdline":["python3","train.py","--lr","3e-4"],
        "container":null,"job":"slurm 48211.0","rank":3,"world_size":8,"local_rank":null,"visible":true,"mine":true,
        "started":"2026-11-30T00:53:20.000Z","parent":41801,"ancestors":[{"pid":41801,"start_ticks":8812001,"name":"torchrun train.py"},{"pid":2044,"start_ticks":7000000,"name":"bash"}],
        "layers":null,"trend":{"state":null,"bytes_per_s":null,"full_in_s":null},
        "absent":{"sm_percent":"not asked","layers":"not asked","trend":"not yet"}}],
        "faults":[{"gpu":null,"uuid":null,"call":"processes","reason":"Unknown Error"}],
        "own":{"cpu_percent":0.3,"driver_ms_per_s":1.2,"rss":9437184}}"#,
    );
    let mut monitor = Monitor::new();
    for record in first_records() {
        monitor.apply(&record);
    }
    let mut writer = Writer::new(Vec::new());
    writer.once(&sample(), &monitor).expect("memory takes everything");
    assert_eq!(String::from_utf8(writer.into_inner()).expect("UTF-8"), golden);
}

#[test]
fn a_recording_is_written_to_the_byte() {
    let bytes = written(&first_records());
    let lines: Vec<&str> = std::str::from_utf8(&bytes).expect("UTF-8").split_inclusive('\n').collect();
    assert_eq!(lines.len(), 4);
    let header = r#"{"type":"header","schema":1,"time":"2026-11-30T12:08:18.123Z","version":"0.1.0","host":"node7","driver":"580.159.04","cuda":"13.0",
        "interval_ms":1000,"memory_hz":20,"gpus":[{"index":0,"uuid":"GPU-11111111-2222-3333-4444-555555555555","pci":"00000000:00:06.0",
        "name":"NVIDIA H200","parent":null,"instance":null,"memory_total":150754820096,"shared_with_host":false,"power_limit_w":700.0,
        "max_clocks":{"sm_mhz":1980,"memory_mhz":3201},"bar1_total":274877906944,"mig":false,"absent":{}}]}"#;
    let process = r#"{"type":"process","uuid":"GPU-11111111-2222-3333-4444-555555555555","pid":419,"start_ticks":8812345,"user":"ann",
        "what":"train.py","command":"train.py --lr 3e-4","cmdline":["python3","train.py","--lr","3e-4"],"container":null,"job":"slurm 48211.0",
        "rank":3,"world_size":8,"local_rank":null,"visible":true,"mine":true,"started":"2026-11-30T00:53:20.000Z","parent":41801
        ,"ancestors":[{"pid":41801,"start_ticks":8812001,"name":"torchrun train.py"},{"pid":2044,"start_ticks":7000000,"name":"bash"}]}"#;
    let came = r#"{"type":"event","time":"2026-11-30T12:08:18.123Z","elapsed_ms":100,"gpu":0,"uuid":"GPU-11111111-2222-3333-4444-555555555555",
        "event":"came","pid":419,"start_ticks":8812345}"#;
    assert_eq!([lines[0], lines[1], lines[3]], [joined(header), joined(process), joined(came)]);
    // In a recording the static facts stand in the lines before.
    assert!(!lines[2].contains("train.py") && !lines[2].contains("power_limit_w") && lines[2].contains("NVIDIA H200"));
}

#[test]
fn a_reason_covers_what_cannot_be_known() {
    let mut sample = sample();
    sample.gpus[0].processes = Reading::Absent(Absence::NotPermitted);
    sample.gpus[0].memory = DeviceMemory::new(TOTAL, USED, 0, None);
    sample.processes.clear();
    let bytes = written(&[Record::Header(Arc::new(header())), Record::Sample(Box::new(sample))]);
    let lines: Vec<serde_json::Value> = bytes.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let gpu = &lines[1]["gpus"][0];
    for (field, why) in [("driver", "not supported"), ("processes", "not permitted"), ("unattributed", "not permitted"), ("overlap", "not permitted")]
    {
        assert!(gpu["memory"][field].is_null(), "{field}");
        assert_eq!(gpu["absent"][format!("memory.{field}")], why);
    }
}

#[test]
fn a_torn_tail_is_dropped_and_told() {
    let bytes = written(&first_records());
    let whole = read(&bytes).expect("whole");
    assert_eq!(whole, first_records());
    let cut = bytes.len() - 200;
    let mut reader = Reader::new(Cursor::new(&bytes[..cut]));
    assert_eq!(reader.by_ref().flatten().count(), 2);
    assert!(reader.torn());
    // A last line that only lacks its end is whole.
    let mut reader = Reader::new(Cursor::new(&bytes[..bytes.len() - 1]));
    assert_eq!(reader.by_ref().count(), 3);
    assert!(!reader.torn());
}

#[test]
fn what_is_no_recording_is_refused_in_words() {
    assert_eq!(error_of(b""), "not a recording of vramtop: it is empty");
    assert_eq!(error_of(b"timestamp, name, memory.used [MiB]\n"), "not a recording of vramtop: its first line is not one of a recording");
    assert!(error_of(b"{\"type\":\"sample\",\"schema\":1}\n").starts_with("not a recording of vramtop: its first line is not a header"));
    assert_eq!(error_of(b"{\"type\":\"header\"}\n"), "not a recording of vramtop: its header has no schema");
    let newer = b"{\"type\":\"header\",\"schema\":7,\"time\":\"then\"}\n";
    assert!(error_of(newer).starts_with("this recording has schema 7, and this vramtop reads schema 1"));
}

#[test]
fn a_broken_line_is_named_by_its_number() {
    let mut bytes = written(&first_records()[..1]);
    bytes.extend_from_slice(b"{\"type\":\"sample\",\"time\":\"\x1b[31m\",\n{\"type\":\"event\"}\n");
    let error = error_of(&bytes);
    assert!(error.starts_with("line 2 of the recording is broken: ") && !error.contains('\x1b'), "{error}");
    let mut bytes = written(&first_records()[..1]);
    bytes.extend_from_slice(br#"{"type":"event","time":"2026-11-30T12:08:18Z","elapsed_ms":18446744073709551615,"event":"found"}"#);
    bytes.extend_from_slice(b"\n");
    assert_eq!(error_of(&bytes), "line 2 of the recording is broken: its time is beyond any clock");
}

#[test]
fn what_no_machine_can_have_written_is_refused() {
    let header = |interval_ms: u64, devices: usize| {
        let gpus: Vec<_> = (0..devices).map(|at| serde_json::json!({ "uuid": format!("GPU-{at}") })).collect();
        let time = "2026-11-30T12:08:18Z";
        serde_json::json!({ "type": "header", "schema": 1, "time": time, "interval_ms": interval_ms, "gpus": gpus }).to_string() + "\n"
    };
    assert_eq!(read(header(86_400_000, 256).as_bytes()).expect("readable").len(), 1);
    assert_eq!(error_of(header(86_400_001, 1).as_bytes()), "line 1 of the recording is broken: its steps are longer than a day");
    assert_eq!(error_of(header(1000, 257).as_bytes()), "line 1 of the recording is broken: it has 257 devices, and at most 256 are read");
}

#[test]
fn an_endless_line_is_cut_off() {
    let mut bytes = written(&first_records()[..1]);
    bytes.resize(bytes.len() + (16 << 20), b' ');
    bytes.push(b'\n');
    assert_eq!(error_of(&bytes), "line 2 of the recording is longer than 16 MiB");
    assert!(error_of(&vec![b'{'; 17 << 20]).starts_with("not a recording of vramtop"));
}

#[test]
fn what_a_later_version_adds_is_passed_over() {
    let mut bytes = written(&first_records()[..1]);
    bytes.extend_from_slice(b"{\"type\":\"weather\",\"rain\":true}\n\n");
    bytes.extend_from_slice(br#"{"type":"event","time":"2026-11-30T12:08:18Z","elapsed_ms":1,"event":"mark","text":"x"}"#);
    bytes.extend_from_slice(b"\n");
    bytes.extend_from_slice(br#"{"type":"event","new":[{}],"time":"2026-11-30T12:08:18Z","elapsed_ms":1,"event":"gap","ms":40}"#);
    bytes.extend_from_slice(b"\n");
    let records = read(&bytes).expect("readable");
    assert_eq!(records.len(), 2);
    assert!(matches!(&records[1], Record::Event(Event { kind: EventKind::Gap { ms: 40 }, .. })));
}

#[test]
fn devices_are_put_in_the_headers_order_and_strangers_are_numbers() {
    let mut bytes = written(&first_records()[..1]);
    let sample = r#"{"type":"sample","schema":1,"time":"2026-11-30T12:08:18Z","elapsed_ms":5,"gpus":[{"uuid":"GPU-9"}],
        "processes":[{"uuid":"GPU-9","pid":1},{"uuid":"GPU-11111111-2222-3333-4444-555555555555","pid":7,"start_ticks":4,"memory":12}]}"#;
    bytes.extend_from_slice(joined(sample).as_bytes());
    let records = read(&bytes).expect("readable");
    let Record::Sample(sample) = &records[1] else { panic!("a sample") };
    assert_eq!((sample.gpus.len(), sample.gpus[0].memory.absence()), (1, Some(&Absence::NotAsked)));
    assert_eq!(sample.processes.len(), 1);
    assert_eq!(sample.processes[0].facts.key, ProcessKey { pid: 7, start_ticks: Some(4) });
    assert_eq!(sample.processes[0].facts.visibility, Visibility::NotHere);
}

#[test]
fn foreign_text_is_made_harmless_again() {
    let mut bytes = written(&first_records()[..1]);
    bytes.extend_from_slice(b"{\"type\":\"process\",\"uuid\":\"GPU-1\",\"pid\":3,\"what\":\"a\\u001b[2Jb\",\"cmdline\":[\"\\u202e\"]}\n");
    let records = read(&bytes).expect("readable");
    let Record::Process { facts, .. } = &records[1] else { panic!("a process") };
    assert_eq!((facts.what.as_str(), facts.cmdline[0].as_str()), ("a\\u{1b}[2Jb", "\\u{202e}"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, max_shrink_iters: 256, ..ProptestConfig::default() })]

    #[test]
    fn what_is_read_is_what_was_sent(records in any_recording()) {
        let bytes = written(&records);
        prop_assert!(bytes.iter().all(|byte| *byte >= b' ' || *byte == b'\n'));
        prop_assert_eq!(read(&bytes).expect("own recording"), records);
    }

    #[test]
    fn no_bytes_do_harm(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let _ = read(&bytes);
        let mut after_header = written(&first_records()[..1]);
        after_header.extend_from_slice(&bytes);
        let _ = read(&after_header);
    }

    #[test]
    fn no_change_of_a_recording_does_harm(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..6)) {
        let mut bytes = written(&first_records());
        for (at, byte, how) in changes {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, b"019-.eE\"{}[],:n"[usize::from(byte) % 15]),
                _ => drop(bytes.remove(at)),
            }
        }
        let mut monitor = Monitor::new();
        Reader::new(Cursor::new(bytes)).map_while(Result::ok).for_each(|record| monitor.apply(&record));
    }
}
