//! The lanes over the fake driver: what is asked how often, what becomes of it, and what happens when a device or the driver goes.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod common;

use std::fs;
use std::sync::Arc;

use common::{apply, samples, until_samples, with_named, with_scenario, written};
use vramtop::collect::{Clock, Exchange, FixedFacts, HostScope, LiveOptions, LiveSource, Only, Source, SourceEnd, SourceError, Wanted};
use vramtop::insight::Warning;
use vramtop::model::{Absence, Bytes, EventKind, GpuState, Reading, Record, Sample, Selection, Untracked, UtilizationPercent};
use vramtop::monitor::Monitor;
use vramtop::output::{LineOptions, log_lines};
use vramtop::record::Reader;

fn used(sample: &Sample, gpu: usize) -> Bytes {
    sample.gpus[gpu].memory.get().and_then(|memory| memory.used()).expect("memory")
}

#[test]
fn every_ledger_adds_up_to_the_byte() {
    with_named("every_ledger_adds_up_to_the_byte", "two-h200-jobs", |machine| {
        let mut source = machine.source();
        let mut monitor = Monitor::new();
        let mut seen = 0;
        for record in until_samples(&mut source, 30) {
            monitor.apply(&record);
            for row in monitor.gpus().iter().filter(|_| matches!(record, Record::Sample(_))) {
                let ledger = row.ledger.get().expect("a ledger");
                assert_eq!(ledger.sum(), Some(ledger.total));
                // The scenario leaves 540 MiB to nobody on each card.
                assert_eq!(ledger.unattributed, Some(Bytes::mib(540)));
                seen += 1;
            }
        }
        assert_eq!(seen, 60);
    });
}

#[test]
fn a_slow_list_is_paired_with_its_own_memory() {
    // A list of 6 ms is 0.5 % of 1.2 s, longer than the step; the process grows all the while.
    let scenario = "[[gpu]]\nunattributed = '540MiB'\n\
        process = [{ pid = 5000001, memory = { ramp = { from = '40GiB', to = '100GiB', end_s = 60 } } }]\n";
    with_scenario("a_slow_list_is_paired_with_its_own_memory", scenario, |machine| {
        let clock = machine.clock();
        // Opening took its time: no step ends at a whole second.
        clock.set(137);
        clock.set_list_us(6_000);
        let mut source = LiveSource::new(machine.options(), clock, Arc::new(Exchange::default()));
        let mut monitor = Monitor::new();
        let mut fresh = 0;
        for record in until_samples(&mut source, 20) {
            monitor.apply(&record);
            let Record::Sample(sample) = &record else { continue };
            let ledger = monitor.gpus()[0].ledger.get().expect("a ledger");
            if sample.gpus[0].processes.is_value() {
                assert_eq!((ledger.unattributed, ledger.sum()), (Some(Bytes::mib(540)), Some(ledger.total)));
                // Once its period is found every list ends a step, and the lane's last point is the list's.
                assert!(fresh < 2 || sample.gpus[0].lane.points().last().and_then(|point| point.used) == Some(used(sample, 0)));
                fresh += 1;
            } else {
                // This step has no account of its own: the list's own stands, with its age. The new memory is no part of it.
                assert_eq!((ledger.unattributed, ledger.sum()), (Some(Bytes::mib(540)), Some(ledger.total)));
                assert!(used(sample, 0) > ledger.in_use());
                let row = &monitor.gpus()[0];
                assert_eq!((row.ledger_of_step(), row.names_holders()), (None, true));
                assert_eq!(row.account_age_ms(sample.elapsed_ms), Some(1000));
                // The row stays, with its last figure; the sample says that it is none of this step.
                assert!(matches!(sample.processes[0].memory, Reading::Absent(Absence::StaleSince(_))));
                assert_eq!(monitor.processes()[0].memory.get(), ledger.processes);
                let lines = written(&record, &monitor);
                assert!(lines.contains("\"processes\":null,\"unattributed\":null,\"overlap\":null"), "{lines}");
                assert!(lines.contains(&format!("\"memory.unattributed\":\"stale since {}\"", sample.elapsed_ms - 1000)), "{lines}");
                let mut lines = String::new();
                log_lines(&monitor, &LineOptions::default(), &jiff::tz::TimeZone::UTC, &mut lines);
                assert!(lines.contains("holders: of 1 s ago") && lines.contains("(5000001)"), "{lines}");
            }
        }
        assert!((7..20).contains(&fresh), "{fresh} of 20 steps had a list of their own");
    });
}

#[test]
fn the_lanes_keep_their_rates() {
    let scenario = "[log]\npath = 'calls'\n[[gpu]]\nprocess = [{ pid = 5000001, memory = '1GiB' }]\n";
    with_scenario("the_lanes_keep_their_rates", scenario, |machine| {
        until_samples(&mut machine.source(), 1);
        let before = machine.calls();
        let mut source = machine.source();
        until_samples(&mut source, 11);
        let calls = &machine.calls()[before.len()..];
        let count = |name: &str| calls.iter().filter(|(call, _)| call.starts_with(name)).count();
        // Ten seconds: memory at 20 Hz (200 and the first, one more where the device is opened), lists at 4 Hz
        // (40 and the first), telemetry once a step.
        let memory = count("nvmlDeviceGetMemoryInfo");
        assert!((201..=203).contains(&memory), "{memory} memory reads");
        assert_eq!(count("nvmlDeviceGetComputeRunningProcesses"), 41);
        assert_eq!(count("nvmlDeviceGetUtilizationRates"), 11);
        // The costly ones are never asked unasked.
        for costly in ["nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetProcessUtilization", "nvmlDeviceGetPcieThroughput"] {
            assert_eq!(count(costly), 0, "{costly}");
        }
    });
}

#[test]
fn what_is_not_supported_is_asked_once() {
    let scenario = "[log]\npath = 'calls'\n[[gpu]]\nfan = 'NotSupported'\nencoder = 'NotSupported'\n";
    with_scenario("what_is_not_supported_is_asked_once", scenario, |machine| {
        let records = until_samples(&mut machine.source(), 5);
        let calls = machine.calls();
        let count = |name: &str| calls.iter().filter(|(call, _)| call.starts_with(name)).count();
        assert_eq!(count("nvmlDeviceGetEncoderUtilization"), 1);
        assert!(count("nvmlDeviceGetFanSpeed") <= 1);
        let last = samples(&records)[4];
        assert_eq!(last.gpus[0].telemetry.encoder, Reading::NOT_SUPPORTED);
        assert_eq!(last.gpus[0].telemetry.fan_percent, Reading::NOT_SUPPORTED);
    });
}

#[test]
fn a_spike_between_two_samples_is_seen() {
    // 60 GiB above the ground for 60 ms at 2.3 s: one sample a second knows nothing of it.
    let scenario = "[[gpu]]\nprocess = [{ pid = 5000001, memory = { base = '10GiB', spikes = [[2.3, 60, '70GiB']] } }]\n";
    with_scenario("a_spike_between_two_samples_is_seen", scenario, |machine| {
        let records = until_samples(&mut machine.source(), 5);
        let all = samples(&records);
        assert!(all.iter().all(|s| used(s, 0) == Bytes::gib(10)));
        let maxima: Vec<_> = all.iter().map(|s| s.gpus[0].lane.max().expect("read")).collect();
        assert_eq!(maxima, [10, 10, 10, 70, 10].map(Bytes::gib));
        let monitor = apply(&records);
        assert_eq!(monitor.gpus()[0].peak.map(|peak| peak.bytes), Some(Bytes::gib(70)));
    });
}

#[test]
fn a_gpu_that_cannot_be_opened_is_a_warning() {
    let scenario = "[[gpu]]\nrepeat = 2\n[[fault]]\ncall = \"handle\"\ngpu = 1\nerror = \"GpuLost\"\n";
    with_scenario("a_gpu_that_cannot_be_opened_is_a_warning", scenario, |machine| {
        let monitor = apply(&until_samples(&mut machine.source(), 2));
        assert_eq!(monitor.gpus().len(), 1);
        let [warning] = monitor.warnings() else { panic!("{:?}", monitor.warnings()) };
        assert_eq!(warning.to_string(), "GPU 1: GPU is lost: it could not be opened and is left out");
    });
}

#[test]
fn a_lost_gpu_keeps_its_row_and_the_others_go_on() {
    with_named("a_lost_gpu_keeps_its_row_and_the_others_go_on", "lost", |machine| {
        let mut source = machine.source();
        let records = until_samples(&mut source, 6);
        let last = samples(&records)[5];
        assert_eq!(last.gpus.len(), 3);
        assert!(matches!(last.gpus[1].state, GpuState::Lost { since_ms: 3000..=3050 }), "{:?}", last.gpus[1].state);
        assert!(matches!(&last.gpus[1].memory, Reading::Absent(Absence::Failed(name)) if name == "GPU is lost"));
        assert_eq!((used(last, 0), used(last, 2)), (Bytes::gib(20), Bytes::gib(20)));
        let monitor = apply(&records);
        assert!(matches!(monitor.warnings(), [Warning::Lost { gpu }] if gpu == "1"));
        let told = records.iter().filter(|r| matches!(r, Record::Event(e) if matches!(e.kind, EventKind::Lost(_)))).count();
        assert_eq!(told, 1);
        // Back at 8 s.
        let records = until_samples(&mut source, 4);
        assert_eq!(used(samples(&records)[3], 1), Bytes::gib(20));
        assert!(records.iter().any(|r| matches!(r, Record::Event(e) if e.kind == EventKind::Found)));
    });
}

#[test]
fn a_reloaded_driver_is_picked_up_again() {
    with_named("a_reloaded_driver_is_picked_up_again", "reload", |machine| {
        let records = until_samples(&mut machine.source(), 6);
        let versions: Vec<_> =
            records.iter().filter_map(|r| if let Record::Header(h) = r { h.driver.as_ref().map(|v| v.as_str().to_owned()) } else { None }).collect();
        assert_eq!(versions, ["570.86.15", "580.82.07"]);
        assert!(records.iter().any(|r| matches!(r, Record::Event(e) if e.gpu.is_none() && matches!(e.kind, EventKind::Lost(_)))));
        let monitor = apply(&records);
        assert!(!monitor.is_driver_gone());
        // The past of the device outlives the reload: its first seconds are still there.
        assert_eq!(monitor.gpus()[0].history.seconds.slots().next().map(|(at, _)| at), Some(0));
    });
}

#[test]
fn instances_are_rows_and_counted_once() {
    with_named("instances_are_rows_and_counted_once", "mig", |machine| {
        let monitor = apply(&until_samples(&mut machine.source(), 2));
        let labels: Vec<_> = monitor.gpus().iter().map(|row| row.label.as_str()).collect();
        assert_eq!(labels, ["0", "0.0", "0.1", "0.2", "1"]);
        // 9 + 2 GiB on the first instance, 30 on the second, 5 on the whole card beside them.
        assert_eq!(monitor.held(), Bytes::gib(46));
        assert_eq!(monitor.processes_of(1).count(), 2);
        let total = monitor.total().expect("a ledger");
        assert_eq!(total.total.0, 2 * 150_754_820_096);
    });
}

#[test]
fn siblings_of_a_chosen_instance_are_counted_on_the_parent() {
    with_named("siblings_of_a_chosen_instance_are_counted_on_the_parent", "mig", |machine| {
        let account = |selection: Selection| {
            let monitor = apply(&until_samples(&mut machine.source_with(LiveOptions { selection, ..machine.options() }), 2));
            let labels: Vec<_> = monitor.gpus().iter().map(|row| row.label.clone()).collect();
            (labels, monitor.gpus()[0].untracked, monitor.gpus()[0].ledger.get().expect("a ledger"))
        };
        let (labels, untracked, ledger) = account(Selection::ids("0.1"));
        assert_eq!(labels, ["0", "0.1"]);
        // 9 + 2 GiB on the first instance, which has no row.
        assert_eq!(untracked, Untracked { count: 2, memory: Some(Bytes::gib(11)) });
        assert_eq!(ledger.processes, Some(Bytes::gib(41)));
        // The parent's account is the same as with all of them.
        let all = account(Selection::All).2;
        assert_eq!((all.processes, all.unattributed, all.overlap), (ledger.processes, ledger.unattributed, ledger.overlap));
    });
}

#[test]
fn a_selection_opens_only_what_is_meant() {
    with_named("a_selection_opens_only_what_is_meant", "lost", |machine| {
        let options = LiveOptions { selection: Selection::ids("2"), ..machine.options() };
        let records = until_samples(&mut machine.source_with(options), 1);
        let monitor = apply(&records);
        // The driver's index stays: no renumbering.
        assert_eq!(monitor.gpus().iter().map(|row| row.label.as_str()).collect::<Vec<_>>(), ["2"]);
        let options = LiveOptions { selection: Selection::ids("9"), ..machine.options() };
        let end = machine.source_with(options).next().expect_err("there is no GPU 9");
        assert!(matches!(end, SourceEnd::Failed(SourceError::Selection(_))));
    });
}

#[test]
fn the_slow_lane_answers_only_when_asked() {
    let scenario = "[[gpu]]\nenergy = 5000\npcie_tx_kb = 100\npcie_rx_kb = 50\nprocess = [{ pid = 5000001, memory = '1GiB', sm = 37 }]\n";
    with_scenario("the_slow_lane_answers_only_when_asked", scenario, |machine| {
        let options = LiveOptions { slow: true, fixed: FixedFacts::Never, ..machine.options() };
        let records = until_samples(&mut machine.source_with(options), 1);
        let sample = samples(&records)[0];
        assert_eq!(sample.gpus[0].telemetry.energy_mj, Reading::Value(5000));
        assert_eq!(sample.processes[0].sm_percent.get().map(UtilizationPercent::value), Some(37));
        let records = until_samples(&mut machine.source(), 1);
        assert_eq!(samples(&records)[0].processes[0].sm_percent, Reading::NOT_ASKED);
    });
}

#[test]
fn a_driver_that_stalls_leaves_a_gap_and_no_burst() {
    let scenario = "[log]\npath = 'calls'\n[[gpu]]\nprocess = [{ pid = 5000001, memory = '1GiB' }]\n";
    with_scenario("a_driver_that_stalls_leaves_a_gap_and_no_burst", scenario, |machine| {
        let clock = machine.clock();
        let mut source = LiveSource::new(machine.options(), clock.clone(), Arc::new(Exchange::default()));
        until_samples(&mut source, 3);
        // The clock jumps 4.3 s ahead as if one call had taken that long.
        clock.set(clock.now_ms() + 4300);
        let before = machine.calls().len();
        let records = until_samples(&mut source, 2);
        let gaps: Vec<_> = records
            .iter()
            .filter_map(|r| if let Record::Event(e) = r { Some(&e.kind) } else { None })
            .filter_map(|kind| if let EventKind::Gap { ms } = kind { Some(*ms) } else { None })
            .collect();
        assert!(matches!(gaps[..], [4200..=4300]), "{gaps:?}");
        // On the grid again: 6.3 s (late), then 7 s.
        let times: Vec<_> = samples(&records).iter().map(|s| s.elapsed_ms).collect();
        assert_eq!(times, [6300, 7000]);
        let memory = machine.calls()[before..].iter().filter(|(name, _)| name.starts_with("nvmlDeviceGetMemoryInfo")).count();
        assert!(memory <= 16, "{memory} memory reads in 0.7 s");
    });
}

#[test]
fn an_idle_laptop_gpu_is_let_sleep() {
    let scenario = "[log]\npath = 'calls'\n[[gpu]]\npci = '00000000:06:00.0'\n";
    with_scenario("an_idle_laptop_gpu_is_let_sleep", scenario, |machine| {
        machine.laptop("active");
        let options = LiveOptions { host: HostScope::All, ..machine.options() };
        let mut source = machine.source_with(options);
        let records = until_samples(&mut source, 33);
        let last = *samples(&records).last().expect("samples");
        assert!(matches!(last.gpus[0].state, GpuState::Asleep { .. }), "{:?}", last.gpus[0].state);
        assert!(machine.calls().iter().any(|(name, _)| name == "nvmlShutdown"));
        // Asleep for an hour: not one call.
        machine.laptop("suspended");
        let asked = machine.calls().len();
        until_samples(&mut source, 3600);
        assert_eq!(machine.calls().len(), asked);
        // Somebody else woke it.
        machine.laptop("active");
        let records = until_samples(&mut source, 2);
        assert_eq!(samples(&records)[1].gpus[0].state, GpuState::Present);
    });
}

#[test]
fn newcomers_of_the_same_size_push_nobody_out() {
    // As many as are tracked, and ten more with lower PIDs after two seconds.
    let scenario = "[[gpu]]\nprocess_many = [{ count = 2048, first_pid = 3001000, memory = '1MiB' }, \
        { count = 10, first_pid = 3000000, memory = '1MiB', start_s = 2 }]\n";
    with_scenario("newcomers_of_the_same_size_push_nobody_out", scenario, |machine| {
        let mut monitor = Monitor::new();
        let mut news = Vec::new();
        for record in until_samples(&mut machine.source(), 4) {
            monitor.apply(&record);
            news.push(monitor.events().len());
        }
        assert_eq!(news.iter().sum::<usize>(), 2048, "each came once");
        assert_eq!(monitor.gpus()[0].untracked.count, 10);
    });
}

#[test]
fn what_a_filter_leaves_out_stays_counted() {
    let scenario = "[[gpu]]\nunattributed = '1GiB'\nprocess = [{ pid = 5000001, memory = '3GiB' }, { pid = 5000002, memory = '4GiB' }]\n";
    with_scenario("what_a_filter_leaves_out_stays_counted", scenario, |machine| {
        let wanted = Wanted { pids: vec![5_000_002], ..Wanted::default() };
        let records = until_samples(&mut Only::new(machine.source(), wanted), 1);
        let sample = samples(&records)[0];
        assert_eq!(sample.processes.iter().map(|p| p.facts.key.pid).collect::<Vec<_>>(), [5_000_002]);
        assert_eq!(sample.gpus[0].untracked, Untracked { count: 1, memory: Some(Bytes::gib(3)) });
        let ledger = apply(&records).gpus()[0].ledger.get().expect("a ledger");
        assert_eq!((ledger.processes, ledger.unattributed), (Some(Bytes::gib(7)), Some(Bytes::gib(1))));
    });
}

#[test]
fn who_gives_way_to_a_larger_one_has_not_ended() {
    // As many as are tracked; a larger one comes after two seconds and goes after four.
    let scenario = "[[gpu]]\nprocess_many = [{ count = 2048, first_pid = 3000000, memory = '1MiB' }]\n\
        process = [{ pid = 5000001, memory = '10GiB', start_s = 2, end_s = 4 }]\n";
    with_scenario("who_gives_way_to_a_larger_one_has_not_ended", scenario, |machine| {
        let mut monitor = Monitor::new();
        let mut news = Vec::new();
        let mut lines = String::new();
        for record in until_samples(&mut machine.source(), 7) {
            monitor.apply(&record);
            if let Record::Event(event) = &record {
                news.push((event.elapsed_ms, format!("{:?}", event.kind)));
            }
            lines += &written(&record, &monitor);
            let at = monitor.now().map_or(0, |(_, at)| at);
            news.extend(monitor.events().iter().filter(|_| at > 0).map(|event| (event.elapsed_ms, format!("{:?}", event.kind))));
            if at == 2000 && matches!(record, Record::Sample(_)) {
                assert_eq!((monitor.processes().len(), monitor.gpus()[0].untracked), (2048, Untracked { count: 1, memory: Some(Bytes::mib(1)) }));
                // 2 048 of 1 MiB and one of 10 GiB, wherever they are counted.
                assert_eq!(monitor.gpus()[0].ledger.get().and_then(|ledger| ledger.processes), Some(Bytes::gib(12)));
            }
        }
        let words: Vec<(u64, &str)> = news.iter().map(|(at, what)| (*at, what.split(['(', ' ']).next().unwrap_or_default())).collect();
        assert_eq!(words, [(2000, "Untracked"), (2000, "Came"), (4000, "Tracked"), (4000, "Gone")]);
        assert_eq!(monitor.ended().iter().map(|ended| ended.row.facts.key.pid).collect::<Vec<_>>(), [5_000_001]);
        assert_eq!((monitor.processes().len(), monitor.gpus()[0].untracked.count), (2048, 0));
        // Whoever replays it comes to the same conclusions.
        let mut replayed = Monitor::new();
        for record in Reader::new(lines.as_bytes()) {
            replayed.apply(&record.expect("readable"));
        }
        assert_eq!(replayed.ended().len(), 1);
        assert_eq!(replayed.processes().len(), 2048);
    });
}

fn headers(records: &[Record]) -> Vec<usize> {
    records.iter().filter_map(|record| if let Record::Header(header) = record { Some(header.gpus.len()) } else { None }).collect()
}

#[test]
fn a_gpu_that_appears_is_found() {
    let scenario = "[log]\npath = 'calls'\n[driver]\ncount_steps = [[0, 1], [5, 2]]\n[[gpu]]\nrepeat = 2\n\
        process_many = [{ count = 1, first_pid = 5000001, memory = '1GiB' }]\n";
    with_scenario("a_gpu_that_appears_is_found", scenario, |machine| {
        let records = until_samples(&mut machine.source(), 14);
        assert_eq!(headers(&records), [1, 2]);
        let monitor = apply(&records);
        assert_eq!(monitor.gpus().len(), 2);
        assert!(monitor.warnings().is_empty(), "{:?}", monitor.warnings());
        // What was known stays known: the first seconds of the first card, and its process did not come again.
        assert_eq!(monitor.gpus()[0].history.seconds.slots().next().map(|(at, _)| at), Some(0));
        assert!(!records.iter().any(|record| matches!(record, Record::Event(_))));
        // Two at the openings and one look.
        assert_eq!(machine.calls().iter().filter(|(call, _)| call.starts_with("nvmlDeviceGetCount")).count(), 3);
    });
}

#[test]
fn a_gpu_that_the_kernel_module_names_is_looked_for() {
    let scenario = "[log]\npath = 'calls'\n[[gpu]]\n";
    with_scenario("a_gpu_that_the_kernel_module_names_is_looked_for", scenario, |machine| {
        let bound = |pci: &str| fs::create_dir_all(machine.folder.join("proc/driver/nvidia/gpus").join(pci)).expect("folder");
        bound("0000:06:00.0");
        let mut source = machine.source_with(LiveOptions { proc_root: machine.folder.join("proc"), ..machine.options() });
        assert_eq!(headers(&until_samples(&mut source, 12)), [1]);
        bound("0000:07:00.0");
        assert_eq!(headers(&until_samples(&mut source, 12)), [1]);
        // One that goes is no reason.
        fs::remove_dir(machine.folder.join("proc/driver/nvidia/gpus/0000:07:00.0")).expect("removed");
        assert!(headers(&until_samples(&mut source, 24)).is_empty());
        assert_eq!(machine.calls().iter().filter(|(call, _)| call.starts_with("nvmlInit")).count(), 2);
    });
}

#[test]
fn another_layout_of_instances_is_found() {
    let mig = fs::read_to_string(common::scenario("mig")).expect("scenario");
    let scenario = mig + "[[fault]]\ncall = 'nvmlDeviceGetMigDeviceHandleByIndex'\nto_s = 5\nerror = 'NotFound'\n";
    with_scenario("another_layout_of_instances_is_found", &scenario, |machine| {
        let records = until_samples(&mut machine.source(), 14);
        assert_eq!(headers(&records), [2, 5]);
        let monitor = apply(&records);
        assert_eq!(monitor.gpus().iter().map(|row| row.label.as_str()).collect::<Vec<_>>(), ["0", "0.0", "0.1", "0.2", "1"]);
        assert_eq!(monitor.held(), Bytes::gib(46));
    });
}

#[test]
fn a_card_of_its_own_memory_is_never_the_hosts_pool() {
    // The memory calls tell nothing, and BAR1, the window to a card's own memory, is there.
    let scenario = "[[gpu]]\nprocess = [{ pid = 5000001, memory = '1GiB' }]\n[[fault]]\ncall = 'memory'\nerror = 'NotSupported'\n\
        [[gpu]]\ngarbage = { total_zero = true }\n";
    with_scenario("a_card_of_its_own_memory_is_never_the_hosts_pool", scenario, |machine| {
        let monitor = apply(&until_samples(&mut machine.source(), 2));
        for row in monitor.gpus() {
            assert!(!row.facts.shared_with_host);
            assert!(!row.memory.is_value());
        }
        assert_eq!(monitor.gpus()[0].memory, Reading::NOT_SUPPORTED);
        assert!(
            matches!(monitor.warnings(), [Warning::MemoryUnknown { gpu, .. }, Warning::MemoryUnknown { .. }] if gpu == "0"),
            "{:?}",
            monitor.warnings()
        );
    });
}
