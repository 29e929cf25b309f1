//! Process lists that cannot be read: what was known stays in sight, with its age, and is nowhere shown as a figure of now.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod common;

use common::{until_samples, with_scenario};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::{Value, json};
use vramtop::app::{App, Mode, Msg, Setup, update};
use vramtop::history::Slot;
use vramtop::insight::Warning;
use vramtop::model::{Absence, Bytes, ListState, Reading, Record, SafeText, Sample};
use vramtop::monitor::Monitor;
use vramtop::output::{LineOptions, log_lines, status_lines};
use vramtop::record::{Reader, Writer};
use vramtop::view::{Colors, Theme, view};

const NO_LIST: &str = "[[fault]]\ncall = 'processes'\nfrom_s = 2\nto_s = 8\nerror = ";

/// 5 GiB more a second.
const GROWING: &str = "[[gpu]]\nprocess = [{ pid = 5000002, memory = { ramp = { from = '4GiB', to = '64GiB', end_s = 12 } } }]\n";
/// One that computes and one that draws.
const TWO: &str = "[[gpu]]\nprocess = [{ pid = 5000002, memory = '40GiB' }, { pid = 5000003, memory = '20GiB', kind = 'graphics' }]\n";

/// Everything that is shown of a run.
struct Shown {
    monitor: Monitor,
    sample: Sample,
    json: Value,
    log: String,
    once: String,
    frame: String,
    /// What each user holds, in the line `held by`.
    owners: Vec<String>,
}

/// What is shown when the step that ends at `at_ms` is over.
fn shown(records: &[Record], at_ms: u64) -> Shown {
    let mut app = App::new(Setup { zone: jiff::tz::TimeZone::UTC, mode: Mode::Live, source: SafeText::new("test"), read_only: true });
    let mut monitor = Monitor::new();
    for record in records {
        monitor.apply(record);
        update(&mut app, Msg::Record(Box::new(record.clone())));
        let Record::Sample(sample) = record else { continue };
        if sample.elapsed_ms != at_ms {
            continue;
        }
        let mut writer = Writer::new(Vec::new());
        writer.record(record, &monitor).expect("written to memory");
        let line = String::from_utf8(writer.into_inner()).expect("UTF-8");
        let json = line.lines().last().map(|line| serde_json::from_str(line).expect("JSON")).expect("a line");
        let (mut log, mut once) = (String::new(), String::new());
        log_lines(&monitor, &LineOptions::default(), &jiff::tz::TimeZone::UTC, &mut log);
        status_lines(&monitor, &LineOptions::default(), &mut once);
        let mut terminal = Terminal::new(TestBackend::new(120, 36)).expect("a test terminal");
        let theme = Theme::new(Colors::Never, false);
        terminal
            .draw(|frame| {
                view(&app, &theme, frame);
            })
            .expect("drawn");
        let owners = app.picture().owners().iter().map(vramtop::app::Owner::figure).collect();
        return Shown { monitor, sample: sample.as_ref().clone(), json, log, once, frame: terminal.backend().to_string(), owners };
    }
    panic!("no step ends at {at_ms}")
}

fn line<'a>(frame: &'a str, with: &str) -> &'a str {
    frame.lines().find(|line| line.contains(with)).unwrap_or_else(|| panic!("no {with:?} in\n{frame}"))
}

fn stale(since_ms: u64) -> Reading<Bytes> {
    Reading::Absent(Absence::StaleSince(since_ms))
}

/// The last list was read at 1.75 s, the last that ended a step at 1 s: 4 + 1 × 5 = 9 GiB. At 5 s it is 29 GiB, and nobody says whose.
fn a_list_that_fails(records: &[Record], reason: &str) {
    let why = Absence::Failed(reason.to_owned().into());
    let now = shown(records, 5000);
    assert_eq!((&now.sample.gpus[0].processes, &now.sample.processes[0].memory), (&Reading::Absent(why.clone()), &stale(1750)));
    assert_eq!(now.sample.processes[0].range, None);
    let (gpu, row) = (&now.monitor.gpus()[0], &now.monitor.processes()[0]);
    assert_eq!((row.bytes(), row.bytes_now(), now.monitor.kept_age_ms(row)), (Some(Bytes::gib(9)), None, Some(4000)));
    let ledger = gpu.ledger.get().expect("a ledger");
    assert_eq!((ledger.in_use(), ledger.processes, ledger.unattributed), (Bytes::gib(29), None, None));
    assert!(!gpu.names_holders());
    assert_eq!(now.monitor.warnings(), [Warning::HoldersOld { gpu: "0".to_owned(), age_ms: 4000, reason: why.to_string() }]);

    let json = &now.json;
    let reason = json!(why.to_string());
    assert_eq!((&json["gpus"][0]["process_list"], &json["gpus"][0]["absent"]["process_list"]), (&Value::Null, &reason));
    for term in ["processes", "unattributed", "overlap"] {
        let path = format!("memory.{term}");
        assert_eq!((&json["gpus"][0]["memory"][term], &json["gpus"][0]["absent"][path.as_str()]), (&Value::Null, &reason), "{term}");
    }
    assert_eq!(json["gpus"][0]["memory"]["used"], Bytes::gib(29).0);
    for figure in ["memory", "memory_min", "memory_max"] {
        assert_eq!((&json["processes"][0][figure], &json["processes"][0]["absent"][figure]), (&Value::Null, &json!("stale since 1750")), "{figure}");
    }

    for text in [&now.log, &now.once] {
        assert!(text.contains(" 29.0/140.4 GiB ") && text.ends_with(&format!("holders: {why}  ?(5000002) 9.0G 4s ago\n")), "{text}");
    }
    let frame = &now.frame;
    let said = format!("GPU 0: the holders are of 4 s ago: the process lists cannot be read now ({why})");
    assert!(frame.lines().nth(1).is_some_and(|second| second.contains(&said)), "{frame}");
    assert!(line(frame, "▕").contains("╱ ? 29.0 ╱"), "{frame}");
    let row = line(frame, "5000002");
    assert!(row.contains(" 9.0 ") && row.contains(" 4s ago "), "{row}");
    assert_eq!(now.owners, ["—"]);
}

#[test]
fn a_list_that_outgrows_every_buffer_is_kept_and_marked() {
    with_scenario("a_list_that_outgrows_every_buffer_is_kept_and_marked", &format!("{GROWING}{NO_LIST}'InsufficientSize'\n"), |machine| {
        a_list_that_fails(&until_samples(&mut machine.source(), 10), "the list kept growing");
    });
}

#[test]
fn a_list_that_fails_outright_is_kept_and_marked() {
    with_scenario("a_list_that_fails_outright_is_kept_and_marked", &format!("{GROWING}{NO_LIST}'Unknown'\n"), |machine| {
        a_list_that_fails(&until_samples(&mut machine.source(), 10), "Unknown");
    });
}

#[test]
fn what_a_step_read_before_its_list_failed_is_of_that_step() {
    with_scenario("what_a_step_read_before_its_list_failed_is_of_that_step", &format!("{GROWING}{NO_LIST}'Unknown'\n"), |machine| {
        let records = until_samples(&mut machine.source(), 10);
        // Lists at 1.25, 1.5 and 1.75 s, and none at 2 s.
        let now = shown(&records, 2000);
        let (low, high) = (Bytes(10 * Bytes::GIB + 256 * Bytes::MIB), Bytes(12 * Bytes::GIB + 768 * Bytes::MIB));
        assert_eq!((&now.sample.processes[0].memory, now.sample.processes[0].range), (&stale(1750), Some((low, high))));
        let json = &now.json["processes"][0];
        assert_eq!((&json["memory"], &json["memory_min"], &json["memory_max"]), (&Value::Null, &json!(low.0), &json!(high.0)));
        // Nothing was read from then to 8 s, and 4 + 8 × 5 = 44 GiB are.
        let after = shown(&records, 9000);
        let row = &after.monitor.processes()[0];
        let seconds: Vec<u64> = row.history.seconds.slots().filter(|(_, slot)| slot.range().is_some()).map(|(at_ms, _)| at_ms / 1000).collect();
        assert_eq!(seconds, [0, 1, 7, 8]);
        let back = shown(&records, 8000);
        assert_eq!((back.monitor.processes()[0].bytes_now(), back.monitor.warnings()), (Some(Bytes::gib(44)), [].as_slice()));
        assert_eq!(back.monitor.gpus()[0].ledger.get().and_then(|ledger| ledger.unattributed), Some(Bytes::ZERO));
        assert!(line(&back.frame, "5000002").contains(" 44.0 ") && !back.frame.contains("s ago"), "{}", back.frame);
    });
}

#[test]
fn where_one_list_fails_the_others_are_of_now() {
    let scenario = format!("{TWO}[[fault]]\ncall = 'graphics'\nfrom_s = 2\nerror = 'Unknown'\n");
    with_scenario("where_one_list_fails_the_others_are_of_now", &scenario, |machine| {
        let records = until_samples(&mut machine.source(), 6);
        let now = shown(&records, 4000);
        let why = Absence::Failed("Unknown".into());
        assert_eq!(now.sample.gpus[0].processes, Reading::Value(ListState::Partial(why)));
        assert_eq!((&now.sample.processes[0].memory, &now.sample.processes[1].memory), (&Reading::Value(Bytes::gib(40)), &stale(1750)));
        let ledger = now.monitor.gpus()[0].ledger.get().expect("a ledger");
        assert_eq!((ledger.in_use(), ledger.processes, ledger.unattributed), (Bytes::gib(60), None, None));
        assert_eq!(now.monitor.warnings(), [Warning::HoldersMissing { gpu: "0".to_owned(), reason: "failed: Unknown".to_owned() }]);
        let gpu = &now.json["gpus"][0];
        assert_eq!((&gpu["process_list"], &gpu["absent"]["process_list.rest"]), (&json!("partial"), &json!("failed: Unknown")));
        assert_eq!((&gpu["memory"]["unattributed"], &gpu["absent"]["memory.unattributed"]), (&Value::Null, &json!("failed: Unknown")));
        assert!(now.log.ends_with("holders: some unknown, failed: Unknown  ?(5000002) 40.0G  ?(5000003) 20.0G 3s ago\n"), "{}", now.log);
        let second = now.frame.lines().nth(1).unwrap_or_default();
        assert!(second.contains("GPU 0: not all holders are known: a process list cannot be read (failed: Unknown)"), "{second}");
        assert!(line(&now.frame, "▕").contains("╱ ? 20.0 ╱"), "{}", now.frame);
        let (computes, draws) = (line(&now.frame, "5000002"), line(&now.frame, "5000003"));
        assert!(!computes.contains(" ago") && draws.contains(" 3s ago"), "{computes}\n{draws}");
        assert_eq!(now.owners, ["≥40.0"]);
    });
}

#[test]
fn a_list_that_never_was_there_leaves_the_rest_unknown() {
    let scenario = format!("{TWO}[[fault]]\ncall = 'graphics'\nerror = 'Unknown'\n");
    with_scenario("a_list_that_never_was_there_leaves_the_rest_unknown", &scenario, |machine| {
        let now = shown(&until_samples(&mut machine.source(), 1), 0);
        assert_eq!(now.sample.processes.len(), 1);
        assert!(now.once.ends_with("holders: some unknown, failed: Unknown  ?(5000002) 40.0G\n"), "{}", now.once);
        assert_eq!(now.json["gpus"][0]["memory"]["unattributed"], Value::Null);
    });
}

/// Without a compute list nobody knows who computes: 40 of 60 GiB have an owner, and it is not told.
#[test]
fn a_device_without_a_compute_list_does_not_say_that_nobody_holds_its_memory() {
    let scenario = format!("{TWO}[[fault]]\ncall = 'compute'\nerror = 'NotSupported'\n");
    with_scenario("a_device_without_a_compute_list_does_not_say_that_nobody_holds_its_memory", &scenario, |machine| {
        let now = shown(&until_samples(&mut machine.source(), 1), 0);
        assert_eq!(now.sample.gpus[0].processes, Reading::Value(ListState::Partial(Absence::NotSupported)));
        assert_eq!(now.monitor.gpus()[0].ledger.get().and_then(|ledger| ledger.unattributed), None);
        assert!(now.once.ends_with("holders: some unknown, not supported  ?(5000003) 20.0G\n"), "{}", now.once);
        assert!(line(&now.frame, "▕").contains("? holders unknown 40.0"), "{}", now.frame);
    });
}

#[test]
fn a_compute_list_that_is_missing_beside_empty_ones_names_nobody() {
    let scenario = "[driver]\nmissing = ['nvmlDeviceGetComputeRunningProcesses', 'nvmlDeviceGetComputeRunningProcesses_v2', \
        'nvmlDeviceGetComputeRunningProcesses_v3']\n[[gpu]]\nprocess = [{ pid = 5000002, memory = '40GiB' }]\n";
    with_scenario("a_compute_list_that_is_missing_beside_empty_ones_names_nobody", scenario, |machine| {
        let now = shown(&until_samples(&mut machine.source(), 1), 0);
        assert_eq!(now.sample.gpus[0].processes, Reading::NOT_SUPPORTED);
        assert!(now.once.ends_with("holders: not supported\n"), "{}", now.once);
        assert_eq!(now.json["gpus"][0]["absent"]["memory.unattributed"], "not supported");
        assert!(line(&now.frame, "▕").contains("? holders unknown 40.0"), "{}", now.frame);
    });
}

#[test]
fn cards_without_lists_of_graphics_and_mps_are_whole() {
    let scenario = "[[gpu]]\nprocess = [{ pid = 5000002, memory = '4GiB' }]\n[[fault]]\ncall = ['graphics', 'mps']\nerror = 'NotSupported'\n";
    with_scenario("cards_without_lists_of_graphics_and_mps_are_whole", scenario, |machine| {
        let now = shown(&until_samples(&mut machine.source(), 1), 0);
        assert_eq!(now.sample.gpus[0].processes, Reading::Value(ListState::Fresh));
        assert_eq!(now.monitor.gpus()[0].ledger.get().and_then(|ledger| ledger.unattributed), Some(Bytes::ZERO));
    });
}

#[test]
fn a_recording_says_the_same() {
    let scenario = format!("{TWO}[[fault]]\ncall = 'graphics'\nfrom_s = 2\nerror = 'Unknown'\n");
    with_scenario("a_recording_says_the_same", &scenario, |machine| {
        let records = until_samples(&mut machine.source(), 4);
        let (mut live, mut writer) = (Monitor::new(), Writer::new(Vec::new()));
        for record in &records {
            live.apply(record);
            writer.record(record, &live).expect("written to memory");
        }
        let mut replayed = Monitor::new();
        for record in Reader::new(writer.into_inner().as_slice()) {
            replayed.apply(&record.expect("readable"));
        }
        assert_eq!(replayed.gpus()[0].list, live.gpus()[0].list);
        let kept = |monitor: &Monitor| monitor.processes().iter().map(|row| (row.bytes(), row.kept_since_ms)).collect::<Vec<_>>();
        assert_eq!(kept(&replayed), kept(&live));
        assert_eq!(replayed.warnings(), live.warnings());
    });
}
