//! What nobody read stays empty: in the rings of devices and in those of processes, live and replayed.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod common;

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use common::{TestClock, samples, until_samples, with_scenario};
use vramtop::collect::{Clock, Exchange, LiveSource};
use vramtop::history::{Slot, Tier};
use vramtop::model::{EventKind, Moment, Record};
use vramtop::monitor::Monitor;
use vramtop::record::{Reader, Writer};

/// The whole seconds of which a ring has a figure.
fn seconds<S: Slot>(tier: &Tier<S>) -> Vec<u64> {
    tier.slots().filter(|(_, slot)| slot.range().is_some()).map(|(at_ms, _)| at_ms / 1000).collect()
}

/// The state after these records, and after the recording of them.
fn live_and_replayed(records: &[Record]) -> [Monitor; 2] {
    let (mut live, mut replayed) = (Monitor::new(), Monitor::new());
    let mut writer = Writer::new(Vec::new());
    for record in records {
        live.apply(record);
        writer.record(record, &live).expect("written to memory");
    }
    for record in Reader::new(writer.into_inner().as_slice()) {
        replayed.apply(&record.expect("readable"));
    }
    [live, replayed]
}

const ONE_PROCESS: &str = "process = [{ pid = 5000001, memory = '1GiB' }]\n";

#[test]
fn a_stall_is_a_gap_of_devices_and_of_processes() {
    with_scenario("a_stall_is_a_gap_of_devices_and_of_processes", &format!("[[gpu]]\n{ONE_PROCESS}"), |machine| {
        let clock = machine.clock();
        let mut source = LiveSource::new(machine.options(), clock.clone(), Arc::new(Exchange::default()));
        // Samples at 0, 1, 2 and 3 s, then nothing for 20.4 s, as in a process that was stopped.
        let mut records = until_samples(&mut source, 4);
        clock.set(clock.now_ms() + 20_400);
        records.extend(until_samples(&mut source, 3));
        assert_eq!(samples(&records).last().expect("samples").elapsed_ms, 25_000);
        for monitor in live_and_replayed(&records) {
            let process = monitor.processes().first().expect("a process");
            // The reading of 3 s holds until the next was due, 50 ms later.
            assert_eq!(seconds(&process.history.seconds), [0, 1, 2, 3, 23, 24]);
            assert_eq!(seconds(&monitor.gpus()[0].history.seconds), [0, 1, 2, 3, 23, 24]);
        }
    });
}

#[test]
fn a_change_does_not_outlive_its_readings() {
    let scenario = "[[gpu]]\nprocess = [{ pid = 5000001, memory = { ramp = { from = '10GiB', to = '70GiB', end_s = 600 } } }]\n\
                    [[fault]]\ncall = ['memory', 'processes']\nerror = 'Unknown'\nfrom_s = 63\n";
    with_scenario("a_change_does_not_outlive_its_readings", scenario, |machine| {
        let mut source = machine.source();
        let mut records = until_samples(&mut source, 63);
        let known = |records: &[Record]| {
            live_and_replayed(records).map(|monitor| {
                let process = monitor.processes().first().expect("a process");
                (monitor.gpus()[0].bytes_per_minute().is_value(), process.bytes_per_minute().is_value(), process.rate_over_ms().is_some())
            })
        };
        assert_eq!(known(&records), [(true, true, true); 2]);
        records.extend(until_samples(&mut source, 2));
        assert!(samples(&records).last().expect("samples").gpus[0].memory.get().is_none());
        assert_eq!(known(&records), [(false, false, false); 2]);
    });
}

/// A machine that stops in the middle of a step: who waits for 3.4 s wakes up at 23.4 s.
struct Stall(TestClock);

impl Clock for Stall {
    fn now_ms(&self) -> u64 {
        self.0.now_ms()
    }
    fn now_us(&self) -> u64 {
        self.0.now_us()
    }
    fn wall(&self) -> Moment {
        self.0.wall()
    }
    fn sleep_until_ms(&mut self, at_ms: u64) {
        let stalls = self.now_ms() < 3_400 && at_ms >= 3_400;
        self.0.sleep_until_ms(if stalls { 23_400 } else { at_ms });
    }
}

/// What the rings of the only device and of the only process have of a second, in MiB.
fn ranges_at(monitor: &Monitor, second: u64) -> [Option<(u64, u64)>; 2] {
    let gpu = monitor.gpus()[0].history.seconds.at(second * 1000).and_then(Slot::range);
    let process = monitor.processes()[0].history.seconds.at(second * 1000).and_then(Slot::range);
    let mib = |unit: u64| move |(low, high): (u32, u32)| (u64::from(low) * unit / 1024, u64::from(high) * unit / 1024);
    [gpu.map(mib(1)), process.map(mib(64))]
}

#[test]
fn what_was_read_before_a_stall_stays() {
    // It grows to 3 GiB at 3.1 s and is back at 1 GiB when the machine goes on.
    let scenario = "[[gpu]]\nprocess = [{ pid = 5000001, memory = { steps = [[0, '1GiB'], [3.1, '3GiB'], [10, '1GiB']] } }]\n";
    with_scenario("what_was_read_before_a_stall_stays", scenario, |machine| {
        let records = until_samples(&mut LiveSource::new(machine.options(), Stall(machine.clock()), Arc::default()), 6);
        assert_eq!(samples(&records)[3..].iter().map(|sample| sample.elapsed_ms).collect::<Vec<_>>(), [3_000, 23_400, 24_000]);
        for monitor in live_and_replayed(&records) {
            assert_eq!(ranges_at(&monitor, 2), [Some((1024, 1024)); 2]);
            assert_eq!(ranges_at(&monitor, 3), [Some((1024, 3072)); 2]);
            assert!((4..23).all(|second| ranges_at(&monitor, second) == [None; 2]));
            assert_eq!(ranges_at(&monitor, 23)[0], Some((1024, 1024)));
        }
    });
}

#[test]
fn what_was_read_before_the_driver_went_stays() {
    // It grows to 3 GiB at 3.1 s; the driver cannot be read, nor opened, from 3.6 s to 30 s.
    let scenario = "[[gpu]]\nprocess = [{ pid = 5000001, memory = { steps = [[0, '1GiB'], [3.1, '3GiB'], [10, '1GiB']] } }]\n\
        [[fault]]\ncall = ['memory', 'processes', 'init']\nfrom_s = 3.59\nto_s = 30\nerror = 'DriverNotLoaded'\n";
    with_scenario("what_was_read_before_the_driver_went_stays", scenario, |machine| {
        let records = until_samples(&mut machine.source(), 7);
        assert!(samples(&records)[4].elapsed_ms >= 30_000);
        for monitor in live_and_replayed(&records) {
            assert_eq!(ranges_at(&monitor, 3), [Some((1024, 3072)); 2]);
            assert!((4..29).all(|second| ranges_at(&monitor, second) == [None; 2]));
        }
    });
}

#[test]
fn a_driver_that_was_away_is_a_gap() {
    // The driver cannot be read, nor opened, from 3 s to 30 s.
    let scenario = format!(
        "[[gpu]]\n{ONE_PROCESS}[[fault]]\ncall = ['memory', 'processes']\nfrom_s = 3.01\nto_s = 30\nerror = 'DriverNotLoaded'\n\
         [[fault]]\ncall = 'init'\nfrom_s = 3.01\nto_s = 30\nerror = 'DriverNotLoaded'\n"
    );
    with_scenario("a_driver_that_was_away_is_a_gap", &scenario, |machine| {
        let records = until_samples(&mut machine.source(), 7);
        let back_ms = samples(&records)[4].elapsed_ms;
        assert!(back_ms >= 30_000, "{back_ms}");
        for monitor in live_and_replayed(&records) {
            let process = monitor.processes().first().expect("a process");
            for seconds in [seconds(&process.history.seconds), seconds(&monitor.gpus()[0].history.seconds)] {
                assert_eq!(seconds[..3], [0, 1, 2]);
                assert!(!seconds.iter().any(|at| (4..29).contains(at)), "{seconds:?}");
                assert!(seconds.len() >= 5, "{seconds:?}");
            }
        }
    });
}

#[test]
fn a_gpu_that_sleeps_has_no_past() {
    with_scenario("a_gpu_that_sleeps_has_no_past", "[[gpu]]\npci = '00000000:06:00.0'\nused = '1GiB'\n", |machine| {
        machine.laptop("active");
        let mut source = machine.source();
        let mut records = until_samples(&mut source, 33);
        machine.laptop("suspended");
        records.extend(until_samples(&mut source, 60));
        for monitor in live_and_replayed(&records) {
            let seconds = seconds(&monitor.gpus()[0].history.seconds);
            assert!((29..=33).contains(&seconds.len()), "{seconds:?}");
        }
    });
}

/// A machine on which every start of the driver's library but the first takes four seconds.
struct SlowStart {
    clock: TestClock,
    calls: PathBuf,
    starts: Cell<usize>,
}

impl Clock for SlowStart {
    fn now_ms(&self) -> u64 {
        let starts = fs::read_to_string(&self.calls).unwrap_or_default().matches("nvmlInit").count();
        if self.starts.replace(starts) < starts && starts > 1 {
            self.clock.set(self.clock.now_ms() + 4_000);
        }
        self.clock.now_ms()
    }
    fn now_us(&self) -> u64 {
        self.clock.now_us()
    }
    fn wall(&self) -> Moment {
        self.clock.wall()
    }
    fn sleep_until_ms(&mut self, at_ms: u64) {
        self.clock.sleep_until_ms(at_ms);
    }
}

#[test]
fn a_slow_reopening_is_a_gap() {
    // A second GPU appears at 5 s; the look at 10 s opens the driver anew.
    let scenario = format!("[log]\npath = 'calls'\n[driver]\ncount_steps = [[0, 1], [5, 2]]\n[[gpu]]\n{ONE_PROCESS}[[gpu]]\n");
    with_scenario("a_slow_reopening_is_a_gap", &scenario, |machine| {
        let clock = SlowStart { clock: machine.clock(), calls: machine.folder.join("calls"), starts: Cell::default() };
        let records = until_samples(&mut LiveSource::new(machine.options(), clock, Arc::new(Exchange::default())), 14);
        // Its last sample was at 10 s, and the next reading was due 50 ms later.
        let gaps: Vec<&EventKind> = records.iter().filter_map(|r| if let Record::Event(event) = r { Some(&event.kind) } else { None }).collect();
        assert_eq!(gaps, [&EventKind::Gap { ms: 3_950 }]);
        assert_eq!(samples(&records)[10..].iter().map(|sample| sample.elapsed_ms).collect::<Vec<_>>(), [10_000, 14_000, 15_000, 16_000]);
        for monitor in live_and_replayed(&records) {
            assert_eq!(seconds(&monitor.gpus()[0].history.seconds)[9..], [9, 10, 14, 15]);
            assert_eq!(seconds(&monitor.processes()[0].history.seconds)[9..], [9, 10, 13, 14, 15]);
        }
    });
}
