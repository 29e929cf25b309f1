//! What outlives the driver's being opened anew: which GPUs are meant, what was told of them, and who is gone with a device. And which
//! are meant of those for which it is not opened at all.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod common;

use std::fs;

use common::{Machine, apply, samples, scenario, until_samples, with_scenario};
use vramtop::collect::{LiveOptions, Source, SourceEnd, SourceError};
use vramtop::model::{Bytes, EventKind, GpuFacts, GpuState, Record, Selection};
use vramtop::monitor::Monitor;

/// Index and UUID of the devices of each header.
fn headers(records: &[Record]) -> Vec<Vec<(Option<u32>, &str)>> {
    let headers = records.iter().filter_map(|record| if let Record::Header(header) = record { Some(header) } else { None });
    headers.map(|header| header.gpus.iter().map(|facts| (facts.index, facts.id.as_str())).collect()).collect()
}

/// Which devices were told to be lost (`false`) or found (`true`), in order.
fn lost_and_found(records: &[Record]) -> Vec<(&str, bool)> {
    let events = records.iter().filter_map(|record| if let Record::Event(event) = record { Some(event) } else { None });
    let told = events.filter_map(|event| match event.kind {
        EventKind::Lost(_) => Some((event.gpu.as_ref()?.as_str(), false)),
        EventKind::Found => Some((event.gpu.as_ref()?.as_str(), true)),
        _ => None,
    });
    told.collect()
}

fn stays_chosen(test: &str, selection: &Selection) {
    let before = "[driver]\ncount_steps = [[0, 2], [5, 3]]\n[[gpu]]\nuuid = 'GPU-a'\n[[gpu]]\nuuid = 'GPU-b'\n[[gpu]]\nuuid = 'GPU-c'\n";
    // At the next start of the library the new one stands first.
    let after = "[[gpu]]\nuuid = 'GPU-c'\n[[gpu]]\nuuid = 'GPU-a'\n[[gpu]]\nuuid = 'GPU-b'\n";
    with_scenario(test, before, |machine| {
        let mut source = machine.source_with(LiveOptions { selection: selection.clone(), ..machine.options() });
        let mut records = until_samples(&mut source, 3);
        fs::write(machine.folder.join("scenario.toml"), after).expect("scenario");
        records.extend(until_samples(&mut source, 12));
        assert_eq!(headers(&records), [[(Some(1), "GPU-b")], [(Some(2), "GPU-b")]]);
    });
}

#[test]
fn the_gpu_of_a_number_stays_that_gpu() {
    stays_chosen("the_gpu_of_a_number_stays_that_gpu", &Selection::ids("1"));
}

#[test]
fn the_visible_gpu_stays_that_gpu() {
    stays_chosen("the_visible_gpu_stays_that_gpu", &Selection::Visible { value: Some("1".to_owned()), pci_order: false });
}

#[test]
fn a_gpu_that_could_not_be_opened_is_tried_again() {
    let scenario = "[log]\npath = 'calls'\n[[gpu]]\nuuid = 'GPU-a'\n[[gpu]]\nuuid = 'GPU-b'\n\
        [[fault]]\ncall = 'handle'\ngpu = 0\nto_s = 15\nerror = 'GpuLost'\n";
    with_scenario("a_gpu_that_could_not_be_opened_is_tried_again", scenario, |machine| {
        let mut source = machine.source();
        let records = until_samples(&mut source, 25);
        assert_eq!(headers(&records), [vec![(Some(1), "GPU-b")], vec![(Some(0), "GPU-a"), (Some(1), "GPU-b")]]);
        let faults: Vec<usize> = samples(&records).iter().map(|sample| sample.faults.len()).collect();
        assert_eq!((&faults[..20], &faults[21..]), (&[1; 20][..], &[0; 4][..]));
        // It was found at the look of 20 s; all are open now, and none is tried any more.
        let calls = machine.calls().len();
        until_samples(&mut source, 30);
        let tried = machine.calls()[calls..]
            .iter()
            .filter(|(call, _)| call.starts_with("nvmlDeviceGetHandleByIndex") || call.starts_with("nvmlInit"))
            .count();
        assert_eq!(tried, 0);
    });
}

/// GPU b is lost from 3 s to 13 s, as far as these calls go; meanwhile, at 10 s, the driver is opened anew for GPU c.
fn is_told_to_be_back(test: &str, calls: &str) {
    let scenario = format!(
        "[driver]\ncount_steps = [[0, 2], [5, 3]]\n[[gpu]]\nuuid = 'GPU-a'\n[[gpu]]\nuuid = 'GPU-b'\n[[gpu]]\nuuid = 'GPU-c'\n\
         [[fault]]\ncall = '{calls}'\ngpu = 1\nfrom_s = 3\nto_s = 13\nerror = 'GpuLost'\n"
    );
    with_scenario(test, &scenario, |machine| {
        let records = until_samples(&mut machine.source(), 25);
        assert_eq!(lost_and_found(&records), [("GPU-b", false), ("GPU-b", true)]);
        assert_eq!(headers(&records).last().map(Vec::len), Some(3));
    });
}

#[test]
fn a_lost_gpu_that_answers_after_a_reopening_is_told() {
    is_told_to_be_back("a_lost_gpu_that_answers_after_a_reopening_is_told", "memory");
}

#[test]
fn a_lost_gpu_that_could_not_be_opened_meanwhile_is_told() {
    is_told_to_be_back("a_lost_gpu_that_could_not_be_opened_meanwhile_is_told", "*");
}

#[test]
fn processes_of_an_instance_that_is_removed_are_gone() {
    let mig = fs::read_to_string(scenario("mig")).expect("scenario");
    let scenario = mig + "[[fault]]\ncall = 'nvmlDeviceGetMigDeviceHandleByIndex'\nfrom_s = 5\nerror = 'NotFound'\n";
    with_scenario("processes_of_an_instance_that_is_removed_are_gone", &scenario, |machine| {
        let records = until_samples(&mut machine.source(), 14);
        assert_eq!(headers(&records).iter().map(Vec::len).collect::<Vec<_>>(), [5, 2]);
        let mut monitor = Monitor::new();
        let mut gone = Vec::new();
        for record in &records {
            monitor.apply(record);
            for event in monitor.events() {
                if let EventKind::Gone { key, peak } = &event.kind {
                    let instance = event.gpu.as_ref().map(|id| id.as_str()[34..].to_owned()).unwrap_or_default();
                    gone.push((event.elapsed_ms, instance, key.pid, peak.map(|bytes| bytes.0 >> 30)));
                }
            }
        }
        let told = |pid, instance: &str, gib| (11_000, instance.to_owned(), pid, Some(gib));
        assert_eq!(gone, [told(5_000_100, "000011", 9), told(5_000_101, "000011", 2), told(5_000_102, "000012", 30)]);
    });
}

/// The GPUs that are shown of two at `01:00.0` and `02:00.0`, which sleep or not, and whether the driver was opened.
fn shown_of_two(machine: &Machine, statuses: [&str; 2], selection: Selection) -> Result<(Vec<GpuFacts>, bool), SourceError> {
    for (pci, status) in ["0000:01:00.0", "0000:02:00.0"].into_iter().zip(statuses) {
        fs::create_dir_all(machine.folder.join("proc/driver/nvidia/gpus").join(pci)).expect("folder");
        machine.power(pci, status);
    }
    let options = LiveOptions { selection, proc_root: machine.folder.join("proc"), ..machine.options() };
    let before = machine.calls().len();
    loop {
        match machine.source_with(options.clone()).next() {
            Ok(Record::Header(header)) => {
                return Ok((header.gpus.iter().map(|gpu| GpuFacts::clone(gpu)).collect(), machine.calls().len() > before));
            }
            Ok(_) => {}
            Err(SourceEnd::Failed(error)) => return Err(error),
            Err(SourceEnd::Finished) => panic!("it ended"),
        }
    }
}

#[test]
fn gpus_that_slept_before_can_be_chosen_without_waking_any() {
    let scenario = "[log]\npath = 'calls'\n[[gpu]]\npci = '00000000:01:00.0'\nuuid = 'GPU-a'\n[[gpu]]\npci = '00000000:02:00.0'\nuuid = 'GPU-b'\n";
    with_scenario("gpus_that_slept_before_can_be_chosen_without_waking_any", scenario, |machine| {
        let both_asleep = ["suspended", "suspended"];
        let seen = |statuses, selection| {
            let (gpus, opened) = shown_of_two(machine, statuses, selection).expect("they are there");
            (gpus.iter().filter_map(|gpu| gpu.index).collect::<Vec<_>>(), opened)
        };
        assert_eq!(seen(both_asleep, Selection::All), (vec![0, 1], false));
        for name in ["1", "02:00.0", "00000000:02:00.0"] {
            assert_eq!(seen(both_asleep, Selection::ids(name)), (vec![1], false), "{name}");
            // One that nobody asked for may be awake.
            assert_eq!(seen(["active", "suspended"], Selection::ids(name)), (vec![1], false), "{name}");
            assert_eq!(seen(["suspended", "active"], Selection::ids(name)), (vec![1], true), "{name}");
        }
        let visible = |pci_order| Selection::Visible { value: Some("1".to_owned()), pci_order };
        assert_eq!(seen(both_asleep, visible(true)), (vec![1], false));
        // Only the driver knows which GPU that is: rather one too many.
        for selection in [Selection::ids("GPU-b"), visible(false)] {
            let (gpus, opened) = shown_of_two(machine, both_asleep, selection).expect("they are there");
            assert_eq!((gpus.len(), opened), (2, false));
            assert!(gpus.iter().all(|gpu| gpu.name.as_str().contains("not known while they sleep")), "{gpus:?}");
        }
        assert_eq!(seen(["suspended", "active"], Selection::ids("GPU-b")), (vec![1], true));
        let error = shown_of_two(machine, both_asleep, Selection::ids("7")).expect_err("there is no GPU 7");
        assert!(error.to_string().contains("there are 0, 1"), "{error}");
    });
}

#[test]
fn a_driver_that_goes_away_while_a_gpu_sleeps_is_picked_up_again() {
    // The first is idle and let sleep after 30 s; the second is at work. The driver is away from 40 to 45 s.
    let scenario = "[[gpu]]\npci = '00000000:06:00.0'\n[[gpu]]\nprocess = [{ pid = 5000001, memory = '3GiB' }]\n\
        [[fault]]\ncall = '*'\nfrom_s = 40\nto_s = 45\nerror = 'Uninitialized'\n\
        [[fault]]\ncall = 'init'\nfrom_s = 40\nto_s = 45\nerror = 'DriverNotLoaded'\n";
    with_scenario("a_driver_that_goes_away_while_a_gpu_sleeps_is_picked_up_again", scenario, |machine| {
        machine.laptop("active");
        let records = until_samples(&mut machine.source(), 45);
        let asleep = |record: &Record| matches!(record, Record::Sample(s) if matches!(s.gpus[0].state, GpuState::Asleep { .. }));
        assert!(records.iter().any(asleep));
        assert!(records.iter().any(|r| matches!(r, Record::Event(e) if e.gpu.is_none() && matches!(e.kind, EventKind::Lost(_)))));
        let monitor = apply(&records);
        assert!(!monitor.is_driver_gone());
        assert_eq!(monitor.gpus()[1].memory.get().and_then(|memory| memory.used()), Some(Bytes::gib(3)));
    });
}
