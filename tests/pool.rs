//! Devices whose memory is the host's: what of the pool is the GPU's rests on its processes, and is unknown without them.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod common;

use std::fs;
use std::sync::Arc;

use common::{apply, samples, until_samples, with_named, with_scenario, written};
use vramtop::collect::{Exchange, LiveSource};
use vramtop::history::Slot;
use vramtop::model::{Bytes, Record};
use vramtop::monitor::Monitor;
use vramtop::output::{LineOptions, log_lines};
use vramtop::record::{Reader, Writer};

#[test]
fn memory_of_the_host_is_shown_as_one_pool() {
    with_named("memory_of_the_host_is_shown_as_one_pool", "shared-memory", |machine| {
        let records = until_samples(&mut machine.source(), 2);
        let memory = samples(&records)[1].gpus[0].memory.get().expect("the pool");
        // 11 GiB and 300 MiB, or all that is in use here where that is less.
        let in_use = memory.total().saturating_sub(memory.free());
        assert_eq!(memory.used(), Some(Bytes::mib(11 * 1024 + 300).min(in_use)));
        assert_eq!(memory.used().zip(memory.host()).map(|(used, host)| used + host + memory.free()), Some(memory.total()));
        let total_kib: u64 = fs::read_to_string("/proc/meminfo")
            .expect("meminfo")
            .lines()
            .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok())
            .expect("MemTotal");
        assert_eq!(memory.total(), Bytes(total_kib * 1024));
        let header = records.iter().rev().find_map(|r| if let Record::Header(h) = r { Some(h) } else { None }).expect("header");
        assert!(header.gpus[0].shared_with_host);
    });
}

#[test]
fn a_pool_whose_processes_are_unknown_is_not_parted() {
    let pool = "[[gpu]]\nshared_memory = true\nmig = { supported = false }\n";
    let listed = format!("{pool}process = [{{ pid = 5000200, memory = '16MiB' }}]\n");
    // From 2.5 s to 4.5 s no list can be read.
    let failing = format!("{listed}[[fault]]\ncall = 'processes'\nfrom_s = 2.5\nto_s = 4.5\nerror = 'Unknown'\n");
    with_scenario("a_pool_whose_processes_are_unknown_is_not_parted", &failing, |machine| {
        let mut monitor = Monitor::new();
        let mut seen = Vec::new();
        let mut writer = Writer::new(Vec::new());
        for record in until_samples(&mut machine.source(), 7) {
            monitor.apply(&record);
            writer.record(&record, &monitor).expect("written to memory");
            let Record::Sample(sample) = &record else { continue };
            let memory = sample.gpus[0].memory.get().expect("the pool itself is read all along");
            assert!(memory.total() > Bytes::ZERO && memory.taken() + memory.free() == memory.total());
            let (line, ledger) = (written(&record, &monitor), monitor.gpus()[0].ledger.get().expect("an account"));
            let mut text = String::new();
            log_lines(&monitor, &LineOptions::default(), &jiff::tz::TimeZone::UTC, &mut text);
            if memory.used().is_none() {
                assert_eq!((memory.host(), ledger.host, ledger.unattributed, ledger.sum()), (None, None, None, None));
                assert!(line.contains("\"used\":null,") && line.contains("\"host\":null,"), "{line}");
                assert!(line.contains("\"memory.used\":\"failed: ") && line.contains("\"memory.host\":\"failed: "), "{line}");
                assert!(text.contains(" —/") && text.contains("holders: ") && text.contains(&format!("free {}", memory.free())), "{text}");
            } else {
                assert_eq!(ledger.sum(), Some(ledger.total));
            }
            seen.push(memory.used());
        }
        let held = Some(Bytes::mib(16));
        assert_eq!(seen, [held, held, held, None, None, held, held]);
        let replayed: Vec<Record> = Reader::new(writer.into_inner().as_slice()).map(|record| record.expect("readable")).collect();
        let again: Vec<_> = samples(&replayed).iter().map(|sample| sample.gpus[0].memory.get().expect("the pool").used()).collect();
        assert_eq!(again, seen);
        // A gap in the rings, and nowhere a zero.
        let ranges: Vec<_> = monitor.gpus()[0].history.seconds.slots().map(|(_, slot)| slot.range()).collect();
        let kib = Some((16 * 1024, 16 * 1024));
        assert_eq!(ranges, [kib, kib, kib, None, kib, kib]);
    });
}

#[test]
fn a_process_without_a_figure_leaves_a_pool_unparted() {
    let scenario = "[[gpu]]\nshared_memory = true\nmig = { supported = false }\n\
        process = [{ pid = 5000200, memory = '16MiB' }, { pid = 5000201, memory = 'unavailable' }]\n";
    with_scenario("a_process_without_a_figure_leaves_a_pool_unparted", scenario, |machine| {
        let records = until_samples(&mut machine.source(), 1);
        let monitor = apply(&records);
        let memory = monitor.gpus()[0].memory.get().expect("the pool");
        assert_eq!((memory.used(), memory.host()), (None, None));
        let line = written(records.last().expect("a sample"), &monitor);
        assert!(line.contains("\"memory.used\":\"not supported\""), "{line}");
    });
}

#[test]
fn the_hosts_part_of_a_pool_is_told_with_a_list_alone() {
    with_named("the_hosts_part_of_a_pool_is_told_with_a_list_alone", "shared-memory", |machine| {
        let clock = machine.clock();
        // A list of 6 ms is 0.5 % of 1.2 s, longer than the step.
        clock.set_list_us(6_000);
        let mut source = LiveSource::new(machine.options(), clock, Arc::new(Exchange::default()));
        let (mut monitor, mut older) = (Monitor::new(), 0);
        for record in until_samples(&mut source, 12) {
            monitor.apply(&record);
            let Record::Sample(sample) = &record else { continue };
            let line = written(&record, &monitor);
            let told = sample.gpus[0].processes.is_value();
            assert_eq!(line.contains("\"host\":null"), !told, "{line}");
            assert_eq!(line.contains("\"memory.host\":\"stale since "), !told, "{line}");
            older += usize::from(!told);
        }
        assert!(older > 3, "{older}");
    });
}
