//! The driver's side of the collection over the fake library, through the C ABI: every expectation follows from the scenario by hand.
//!
//! The fake reads its scenario from the environment when it starts, so every case runs in a process of its own: the test starts its own
//! binary anew for that one test.
#![expect(clippy::unwrap_used, reason = "what cannot go on here is a failed test")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use vramtop::collect::nvml::{Condition, Device, Driver, Listed, OpenError};
use vramtop::model::{Absence, Bytes, Fault, ListState, MemorySource, Reading};

/// The memory of the fake's GPU where a scenario does not say: 143 771 MiB, of which the driver keeps 644 939 776 B.
const TOTAL: u64 = 143_771 << 20;
const RESERVED: u64 = 644_939_776;
const CASE: &str = "VRAMTOP_TEST_CASE";
const LIBRARY: &str = "VRAMTOP_TEST_LIBRARY";
const LOG: &str = "calls.log";

/// Runs `body` in a process of its own over a scenario: its text, or the name of one of the fake's files.
fn over(test: &str, scenario: &str, body: fn()) {
    if std::env::var(CASE).is_ok_and(|case| case == test) {
        return body();
    }
    let folder = tempfile::tempdir().unwrap();
    let is_file = Path::new(scenario).extension().is_some_and(|extension| extension == "toml");
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake-nvml/scenarios");
    let content = if is_file { std::fs::read_to_string(scenarios.join(scenario)).unwrap() } else { scenario.to_owned() };
    let path = folder.path().join("scenario.toml");
    std::fs::write(&path, format!("{content}\n[log]\npath = '{}'\n", folder.path().join(LOG).display())).unwrap();
    let library = fake_nvml::library_for(&path, folder.path()).unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(CASE, test)
        .env(LIBRARY, library)
        .env("FAKE_NVML_SCENARIO", &path)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(child.status.success(), "{}{}", said(&child.stdout), said(&child.stderr));
    assert!(said(&child.stdout).contains("1 passed"), "no test is named {test}");
}

fn library() -> PathBuf {
    std::env::var_os(LIBRARY).unwrap().into()
}

fn driver() -> Driver {
    Driver::open(Some(&library())).unwrap()
}

fn devices(driver: Driver) -> Vec<Device> {
    driver.devices().into_iter().map(Result::unwrap).collect()
}

fn one() -> Device {
    devices(driver()).remove(0)
}

/// PID, letters and figure of each row.
fn rows(device: &mut Device) -> Vec<(u32, &'static str, Reading<Bytes>)> {
    let mut rows = Vec::new();
    assert_eq!(device.processes(0, &mut rows), Reading::Value(ListState::Fresh));
    rows.into_iter().map(|Listed { pid, kind, memory }| (pid, kind.letters(), memory)).collect()
}

fn faults(device: &mut Device) -> Vec<(&'static str, String)> {
    let mut faults = Vec::new();
    device.take_faults(&mut faults);
    faults.into_iter().map(|Fault { call, reason, .. }| (call, reason.to_string())).collect()
}

/// How often each call was made so far, by the fake's own log.
fn calls() -> HashMap<String, usize> {
    let mut calls = HashMap::new();
    for line in std::fs::read_to_string(LOG).unwrap().lines() {
        *calls.entry(line.split(' ').nth(2).unwrap().to_owned()).or_default() += 1;
    }
    calls
}

fn gib(n: u64) -> Reading<Bytes> {
    Reading::Value(Bytes::gib(n))
}

const ONE_PROCESS: &str = "[[gpu]]\nprocess = [{ pid = 41, memory = '9GiB' }]\n";

#[test]
fn memory_v2_keeps_the_reserve_apart() {
    over("memory_v2_keeps_the_reserve_apart", ONE_PROCESS, || {
        let mut gpu = one();
        let memory = gpu.memory().get().unwrap();
        assert_eq!((memory.source(), memory.total()), (MemorySource::V2, Bytes(TOTAL)));
        assert_eq!((memory.used(), memory.driver()), (Some(Bytes::gib(9)), Some(Bytes(RESERVED))));
        assert_eq!(memory.free(), Bytes(TOTAL - RESERVED - 9 * Bytes::GIB));
        assert_eq!(rows(&mut gpu), [(41, "C", gib(9))]);
        assert_eq!((gpu.condition(), faults(&mut gpu)), (Condition::Fine, vec![]));
    });
}

/// A device whose memory comes from v1: the reserve is inside used, and nothing is a fault.
fn expect_v1(gpu: &mut Device) {
    let memory = gpu.memory().get().unwrap();
    assert_eq!((memory.source(), memory.driver()), (MemorySource::V1, None));
    assert_eq!(memory.used(), Some(Bytes(9 * Bytes::GIB + RESERVED)));
    assert_eq!(rows(gpu), [(41, "C", gib(9))]);
    assert_eq!(faults(gpu), []);
}

#[test]
fn a_driver_of_the_470_series_is_read_by_memory_v1_and_lists_v2() {
    let scenario = "[driver]\nversion = '470.256.02'\nsymbols = 'old470'\n".to_owned() + ONE_PROCESS;
    over("a_driver_of_the_470_series_is_read_by_memory_v1_and_lists_v2", &scenario, || {
        expect_v1(&mut one());
        let calls = calls();
        assert!(calls.contains_key("nvmlDeviceGetComputeRunningProcesses_v2"));
        assert!(!calls.contains_key("nvmlDeviceGetComputeRunningProcesses"));
    });
}

#[test]
fn a_driver_of_the_418_series_is_read_by_lists_v1() {
    over("a_driver_of_the_418_series_is_read_by_lists_v1", "old-418.toml", || {
        let mut gpu = one();
        assert_eq!(gpu.memory().get().unwrap().total(), Bytes::mib(32_480));
        assert_eq!(rows(&mut gpu), [(5_001_300, "C", gib(9))]);
        assert!(calls().contains_key("nvmlDeviceGetComputeRunningProcesses"));
        assert_eq!(faults(&mut gpu), []);
    });
}

#[test]
fn memory_v2_that_is_not_supported_gives_way_to_v1() {
    let scenario = ONE_PROCESS.to_owned() + "[[fault]]\ncall = 'nvmlDeviceGetMemoryInfo_v2'\nerror = 'NotSupported'\n";
    over("memory_v2_that_is_not_supported_gives_way_to_v1", &scenario, || {
        let mut gpu = one();
        expect_v1(&mut gpu);
        expect_v1(&mut gpu);
        assert_eq!(calls()["nvmlDeviceGetMemoryInfo_v2"], 1);
    });
}

#[test]
fn memory_v2_that_answers_unknown_gives_way_to_v1() {
    let scenario = ONE_PROCESS.to_owned() + "[[fault]]\ncall = 'nvmlDeviceGetMemoryInfo_v2'\nerror = 'Unknown'\n";
    over("memory_v2_that_answers_unknown_gives_way_to_v1", &scenario, || expect_v1(&mut one()));
}

#[test]
fn once_v2_has_answered_v1_is_not_mixed_in() {
    let scenario = "[time]\nmode = 'calls'\n".to_owned()
        + ONE_PROCESS
        + "[[fault]]\ncall = 'nvmlDeviceGetMemoryInfo_v2'\nfrom_s = 1\nto_s = 2\nerror = 'Unknown'\n";
    over("once_v2_has_answered_v1_is_not_mixed_in", &scenario, || {
        let mut gpu = one();
        assert_eq!(gpu.memory(), Reading::failed("Unknown"));
        assert_eq!(faults(&mut gpu), [("memory", "Unknown".to_owned())]);
        assert_eq!(gpu.memory().get().unwrap().source(), MemorySource::V2);
    });
}

#[test]
fn lists_fall_back_from_version_to_version() {
    let scenario = ONE_PROCESS.to_owned()
        + "[[fault]]\ncall = '*RunningProcesses_v3'\nerror = 'Unknown'\n\
           [[fault]]\ncall = 'nvmlDeviceGetComputeRunningProcesses_v2'\nerror = 'NotSupported'\n";
    let scenario = scenario.replace(
        "'*RunningProcesses_v3'",
        "['nvmlDeviceGetComputeRunningProcesses_v3', 'nvmlDeviceGetGraphicsRunningProcesses_v3', 'nvmlDeviceGetMPSComputeRunningProcesses_v3']",
    );
    over("lists_fall_back_from_version_to_version", &scenario, || {
        let mut gpu = one();
        for _ in 0..3 {
            assert_eq!(rows(&mut gpu), [(41, "C", gib(9))]);
        }
        let calls = calls();
        assert_eq!(calls["nvmlDeviceGetComputeRunningProcesses_v3"], 1);
        assert_eq!(calls["nvmlDeviceGetComputeRunningProcesses_v2"], 1);
        assert_eq!(calls["nvmlDeviceGetComputeRunningProcesses"], 3);
        assert_eq!(calls["nvmlDeviceGetGraphicsRunningProcesses_v2"], 3);
    });
}

#[test]
fn a_process_in_several_lists_is_one_row() {
    let scenario = "[[gpu]]\nprocess = [\
        { pid = 7, memory = '2GiB', memory_graphics = '3GiB', kind = ['compute', 'graphics'] },\
        { pid = 5, memory = '1GiB', kind = ['mps', 'compute'] },\
        { pid = 6, memory = '4GiB', kind = 'graphics' },\
        { pid = 8, memory = 'unavailable' } ]\n";
    over("a_process_in_several_lists_is_one_row", scenario, || {
        let expected = [(5, "M+C", gib(1)), (6, "G", gib(4)), (7, "C+G", gib(3)), (8, "C", Reading::NOT_SUPPORTED)];
        assert_eq!(rows(&mut one()), expected);
    });
}

#[test]
fn a_list_is_one_driver_call_and_grows_its_buffer_once() {
    let scenario = "[[gpu]]\nprocess_many = [{ count = 500, first_pid = 1000, memory = '1MiB' }]\n";
    over("a_list_is_one_driver_call_and_grows_its_buffer_once", scenario, || {
        let mut gpu = one();
        for _ in 0..4 {
            assert_eq!(rows(&mut gpu).len(), 500);
        }
        // 32 rows are too few for 500: one call more, the first time.
        assert_eq!(calls()["nvmlDeviceGetComputeRunningProcesses_v3"], 5);
        assert_eq!(calls()["nvmlDeviceGetGraphicsRunningProcesses_v3"], 4);
    });
}

#[test]
fn a_list_that_never_fits_fails_after_three_tries() {
    over("a_list_that_never_fits_fails_after_three_tries", "size-loop.toml", || {
        let mut gpu = one();
        let mut rows = Vec::new();
        // The other two lists are empty, but that is not to say that there are no processes.
        assert_eq!(gpu.processes(0, &mut rows), Reading::failed("the list kept growing"));
        assert_eq!(calls()["nvmlDeviceGetComputeRunningProcesses_v3"], 3);
        assert_eq!(faults(&mut gpu), [("processes", "the list kept growing".to_owned())]);
    });
}

#[test]
fn a_list_that_stops_fitting_is_kept_and_marked() {
    let scenario = "[time]\nmode = 'calls'\n".to_owned() + ONE_PROCESS + "[[fault]]\ncall = 'compute'\nfrom_s = 1\nerror = 'InsufficientSize'\n";
    over("a_list_that_stops_fitting_is_kept_and_marked", &scenario, || {
        let mut gpu = one();
        assert_eq!(rows(&mut gpu), [(41, "C", gib(9))]);
        gpu.memory();
        let mut kept = Vec::new();
        assert_eq!(gpu.processes(7, &mut kept), Reading::failed("the list kept growing"));
        assert_eq!(kept.iter().map(|row| (row.pid, row.memory.clone())).collect::<Vec<_>>(), [(41, Reading::Absent(Absence::StaleSince(0)))]);
        assert_eq!(calls()["nvmlDeviceGetComputeRunningProcesses_v3"], 1 + 3);
    });
}

#[test]
fn a_graphics_list_that_fails_leaves_the_others_marked_as_not_whole() {
    let scenario = ONE_PROCESS.to_owned() + "[[fault]]\ncall = 'graphics'\nerror = 'Unknown'\n";
    over("a_graphics_list_that_fails_leaves_the_others_marked_as_not_whole", &scenario, || {
        let mut gpu = one();
        let mut rows = Vec::new();
        assert_eq!(gpu.processes(0, &mut rows), Reading::Value(ListState::Partial(Absence::Failed("Unknown".into()))));
        assert_eq!((rows.len(), rows[0].pid), (1, 41));
        assert_eq!(faults(&mut gpu), [("processes", "Unknown".to_owned())]);
    });
}

#[test]
fn a_total_that_is_too_small_can_be_told_from_a_wrong_process() {
    // An integrated GPU that shares the host's 122 GiB and tells 8 128 MiB.
    let scenario = "[[gpu]]\ntotal = '8128MiB'\nreserved = 0\nused = '4GiB'\nprocess = [{ pid = 41, memory = '61GiB' }]\n";
    over("a_total_that_is_too_small_can_be_told_from_a_wrong_process", scenario, || {
        let mut gpu = one();
        assert_eq!(rows(&mut gpu), [(41, "C", Reading::failed("implausible"))]);
        assert_eq!(gpu.beyond_limit(), Some(Bytes::gib(61)));
        gpu.set_process_limit(Bytes::gib(122));
        assert_eq!(rows(&mut gpu), [(41, "C", gib(61))]);
        assert_eq!(gpu.beyond_limit(), None);
    });
}

#[test]
fn nonsense_is_never_a_figure() {
    over("nonsense_is_never_a_figure", "garbage.toml", || {
        let mut gpus = devices(driver());
        assert_eq!(gpus.len(), 9);

        assert_eq!(gpus[0].memory(), Reading::failed("used is more than the total"));
        let telemetry = gpus[0].telemetry();
        assert_eq!(telemetry.power_mw, Reading::failed("out of range"));
        assert_eq!(telemetry.gpu, Reading::failed("out of range"));
        assert!(telemetry.temperature_c.is_value());

        assert_eq!(gpus[1].memory(), Reading::failed("total is zero"));
        assert!(!gpus[1].facts().shared_with_host);
        assert_eq!(gpus[2].facts().name.as_str(), "N\u{fffd}\u{fffd}\\u{1b}[31m");

        faults(&mut gpus[3]);
        assert_eq!(rows(&mut gpus[3]), [(5_000_303, "C", gib(1))]);
        assert_eq!(faults(&mut gpus[3])[0].0, "processes");

        // The fields of v2 are mixed up: v1 says used with the reserve inside.
        let memory = gpus[4].memory().get().unwrap();
        assert_eq!((memory.source(), memory.used()), (MemorySource::V1, Some(Bytes(Bytes::GIB + RESERVED))));

        // Rows of v1 in an array of v3: v1 is asked, and stays.
        for _ in 0..2 {
            assert_eq!(rows(&mut gpus[5]), [(5_000_305, "C", gib(1)), (5_000_306, "C", gib(2))]);
        }
        // More rows are counted than were written.
        assert_eq!(rows(&mut gpus[6]), [(5_000_307, "C", gib(1))]);
        assert_eq!(rows(&mut gpus[7]), [(5_000_308, "C", Reading::failed("implausible")), (5_000_309, "C", gib(1))]);
        faults(&mut gpus[8]);
        assert_eq!(rows(&mut gpus[8]), [(5_000_310, "C", gib(4))]);
        assert_eq!(faults(&mut gpus[8]), []);
    });
}

#[test]
fn a_lost_gpu_is_lost_until_its_memory_answers() {
    let scenario = "[time]\nmode = 'calls'\nadvance_gpu = 0\n[[gpu]]\nrepeat = 2\n\
        process_many = [{ count = 1, first_pid = 90, memory = '10GiB' }]\n\
        [[fault]]\ncall = ['memory', 'processes', 'power']\ngpu = 1\nfrom_s = 1\nto_s = 2\nerror = 'GpuLost'\n";
    over("a_lost_gpu_is_lost_until_its_memory_answers", scenario, || {
        let mut gpus = devices(driver());
        let mut list = Vec::new();
        assert_eq!(rows(&mut gpus[1]), [(91, "C", gib(10))]);
        gpus[0].memory();
        assert_eq!(gpus[1].memory(), Reading::failed("GPU is lost"));
        assert_eq!(gpus[1].processes(1000, &mut list), Reading::failed("GPU is lost"));
        assert_eq!((list.len(), &list[0].memory), (1, &Reading::Absent(Absence::StaleSince(0))));
        // What the library still answers from its own memory does not make it well.
        assert!(gpus[1].telemetry().temperature_c.is_value());
        assert_eq!((gpus[0].condition(), gpus[1].condition()), (Condition::Fine, Condition::Lost));
        let word = |call| (call, "GPU is lost".to_owned());
        assert_eq!(faults(&mut gpus[1]), [word("memory"), word("processes"), word("power")]);
        gpus[0].memory();
        assert!(gpus[1].memory().is_value());
        assert_eq!(gpus[1].condition(), Condition::Fine);
        assert_eq!(rows(&mut gpus[1]), [(91, "C", gib(10))]);
    });
}

#[test]
fn a_gpu_that_cannot_be_opened_ends_no_other() {
    let scenario = "[[gpu]]\nrepeat = 3\n[[fault]]\ncall = 'handle'\ngpu = 1\nerror = 'GpuLost'\n";
    over("a_gpu_that_cannot_be_opened_ends_no_other", scenario, || {
        let opened = driver().devices();
        let indices: Vec<_> = opened.iter().map(|gpu| gpu.as_ref().ok().and_then(|gpu| gpu.facts().index)).collect();
        assert_eq!(indices, [Some(0), None, Some(2)]);
        let fault = opened[1].as_ref().unwrap_err();
        assert_eq!((fault.call, fault.reason.as_str()), ("device", "GPU 1: GPU is lost"));
    });
}

#[test]
fn mig_instances_follow_their_parent_and_own_their_processes() {
    over("mig_instances_follow_their_parent_and_own_their_processes", "mig.toml", || {
        let mut gpus = devices(driver());
        let places: Vec<_> = gpus.iter().map(|gpu| (gpu.facts().index, gpu.facts().instance)).collect();
        assert_eq!(places, [(Some(0), None), (None, Some(0)), (None, Some(1)), (None, Some(2)), (Some(1), None)]);
        let parent = gpus[0].facts().id.clone();
        assert!(gpus[1..4].iter().all(|gpu| gpu.facts().parent.as_ref() == Some(&parent)));
        assert_eq!(gpus[1].facts().id.as_str(), "MIG-00000000-0000-0000-0000-000000000011");
        assert_eq!(gpus[1].facts().name.as_str(), "NVIDIA H200 MIG 1g.18gb");
        assert_eq!((gpus[0].facts().mig.clone(), gpus[4].facts().mig.clone()), (Reading::Value(true), Reading::Value(false)));

        assert_eq!(rows(&mut gpus[0]), []);
        assert_eq!(rows(&mut gpus[1]), [(5_000_100, "C", gib(9)), (5_000_101, "C", gib(2))]);
        assert_eq!(rows(&mut gpus[2]), [(5_000_102, "C", gib(30))]);
        assert_eq!(rows(&mut gpus[4]), [(5_000_110, "C", gib(5))]);
        let memory = gpus[1].memory().get().unwrap();
        assert_eq!((memory.total(), memory.used()), (Bytes::gib(16), Some(Bytes::gib(11))));
        assert_eq!(gpus[0].memory().get().unwrap().used(), Some(Bytes::gib(41)));
        gpus[1].read_fixed();
        assert_eq!(gpus[1].telemetry().gpu, Reading::NOT_SUPPORTED);
        assert_eq!(gpus[1].energy(), Reading::NOT_SUPPORTED);
        assert!(gpus.iter_mut().all(|gpu| faults(gpu).is_empty()));
    });
}

#[test]
fn what_is_not_permitted_is_said_so() {
    over("what_is_not_permitted_is_said_so", "no-permission.toml", || {
        let mut gpus = devices(driver());
        assert_eq!(gpus[0].telemetry().power_mw, Reading::Absent(Absence::NotPermitted));
        assert_eq!(rows(&mut gpus[0]), [(5_000_700, "C", Reading::NOT_SUPPORTED)]);
        assert_eq!(gpus[1].processes(0, &mut Vec::new()), Reading::Absent(Absence::NotPermitted));
        assert_eq!(gpus[0].process_utilization(0, &mut Vec::new()), Reading::Absent(Absence::NotPermitted));
        assert_eq!(faults(&mut gpus[0]), []);
    });
}

#[test]
fn a_gpu_without_memory_of_its_own_is_known_by_its_answers() {
    over("a_gpu_without_memory_of_its_own_is_known_by_its_answers", "shared-memory.toml", || {
        let mut gpu = one();
        assert!(gpu.facts().shared_with_host);
        assert_eq!((gpu.memory(), gpu.memory()), (Reading::NOT_SUPPORTED, Reading::NOT_SUPPORTED));
        assert_eq!(rows(&mut gpu), [(5_000_200, "C", gib(11)), (5_000_201, "G", Reading::Value(Bytes::mib(300)))]);
        let calls = calls();
        assert_eq!((calls["nvmlDeviceGetMemoryInfo_v2"], calls["nvmlDeviceGetMemoryInfo"]), (1, 1));
    });
}

#[test]
fn telemetry_asks_nothing_twice_that_is_not_supported() {
    let scenario = "[[gpu]]\npower_w = 410.5\ntemperature = 58\nutilization = 87\nbus_utilization = 41\nsm_clock = 1980\npstate = 2\n\
        throttle = 4\nenergy = 2463250\npcie_tx_kb = 669\npcie_rx_kb = 572\necc_total = 3\nremapped = { correctable = 2, uncorrectable = 1 }\n\
        process = [{ pid = 41, memory = '9GiB', sm = 70 }, { pid = 42, memory = '1GiB' }]\n";
    over("telemetry_asks_nothing_twice_that_is_not_supported", scenario, || {
        let mut gpu = one();
        gpu.telemetry();
        let now = gpu.telemetry();
        assert_eq!((now.gpu.get().unwrap().value(), now.bus.get().unwrap().value()), (87, 41));
        assert_eq!((now.temperature_c, now.power_mw, now.sm_mhz), (Reading::Value(58), Reading::Value(410_500), Reading::Value(1980)));
        assert_eq!(now.memory_mhz, Reading::Value(3201));
        assert_eq!((now.pstate, now.ecc_errors, now.remapped_rows), (Reading::Value(2), Reading::Value(3), Reading::Value(3)));
        assert_eq!(now.throttle.get().unwrap().names().collect::<Vec<_>>(), ["power cap"]);
        assert_eq!((now.fan_percent, now.pcie, now.energy_mj), (Reading::NOT_SUPPORTED, Reading::NOT_ASKED, Reading::NOT_ASKED));
        assert_eq!(calls()["nvmlDeviceGetFanSpeed_v2"], 1);

        let mut slow = gpu.for_slow_lane();
        assert_eq!(slow.telemetry().fan_percent, Reading::NOT_SUPPORTED);
        assert_eq!(calls()["nvmlDeviceGetFanSpeed_v2"], 1);
        assert_eq!(slow.energy(), Reading::Value(2_463_250));
        let rate = slow.pcie().get().unwrap();
        assert_eq!((rate.sent, rate.received), (669 * 1024, 572 * 1024));
        let mut uses = Vec::new();
        assert_eq!(slow.process_utilization(0, &mut uses), Reading::Value(()));
        assert_eq!(uses.iter().map(|(pid, share, _)| (*pid, share.value())).collect::<Vec<_>>(), [(41, 70)]);
        assert_eq!(slow.process_utilization(u64::MAX, &mut uses), Reading::Value(()));
        assert!(uses.is_empty());
        assert_eq!(calls()["nvmlDeviceGetProcessUtilization"], 2);

        assert_eq!(gpu.facts().max_sm_mhz, Reading::NOT_ASKED);
        gpu.read_fixed();
        let facts = gpu.facts();
        assert_eq!((facts.power_limit_mw.clone(), facts.max_sm_mhz.clone()), (Reading::Value(700_000), Reading::Value(1980)));
        assert_eq!(facts.bar1_total, gib(256));
        assert!(faults(&mut gpu).is_empty() && faults(&mut slow).is_empty());
    });
}

#[test]
fn opening_makes_cheap_calls_only() {
    over("opening_makes_cheap_calls_only", "[[gpu]]\nrepeat = 2\n", || {
        assert_eq!(devices(driver()).len(), 2);
        // One of each a device, but for what is asked of the driver itself. The power limit is a status line's; memory settles its version.
        let mut made: Vec<(String, usize)> = calls().into_iter().collect();
        made.sort();
        let expected = [
            ("nvmlDeviceGetCount_v2", 1),
            ("nvmlDeviceGetEnforcedPowerLimit", 2),
            ("nvmlDeviceGetHandleByIndex_v2", 2),
            ("nvmlDeviceGetMemoryInfo_v2", 2),
            ("nvmlDeviceGetMigMode", 2),
            ("nvmlDeviceGetName", 2),
            ("nvmlDeviceGetPciInfo_v3", 2),
            ("nvmlDeviceGetUUID", 2),
            ("nvmlInit_v2", 1),
            ("nvmlSystemGetDriverVersion", 1),
        ];
        assert_eq!(made, expected.map(|(call, times)| (call.to_owned(), times)));
    });
}

#[test]
fn a_closed_driver_answers_uninitialized_and_opens_again() {
    over("a_closed_driver_answers_uninitialized_and_opens_again", ONE_PROCESS, || {
        let first = driver();
        assert_eq!(first.versions().cuda.unwrap().as_str(), "13.0");
        assert_eq!((first.device_count(), first.library()), (Reading::Value(1), library().as_path()));
        let mut gpu = devices(first).remove(0);
        first.close();
        first.close();
        assert_eq!(gpu.memory(), Reading::failed("Uninitialized"));
        assert_eq!(gpu.condition(), Condition::DriverGone);
        assert_eq!(first.device_count(), Reading::failed("Uninitialized"));

        let second = driver();
        assert_eq!(second.device_count(), Reading::Value(1));
        assert_eq!(one().memory().get().unwrap().used(), Some(Bytes::gib(9)));
        // Handles of before the closing are not the driver's any more.
        assert_eq!(gpu.memory(), Reading::failed("Uninitialized"));
        assert!(second.spent_ns() > 0);
        assert_eq!(second.in_call(), None);
    });
}

#[test]
fn a_driver_that_does_not_start_gives_two_lines() {
    over("a_driver_that_does_not_start_gives_two_lines", "init-no-driver.toml", || {
        let error = Driver::open(Some(&library())).unwrap_err();
        assert!(matches!(&error, OpenError::Init { library: path, .. } if *path == library()));
        let text = error.to_string();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], format!("the NVIDIA kernel driver is not loaded ({})", library().display()));
        assert!(lines.len() == 2 && lines[1].ends_with("vramtop demo"));
    });
}

#[test]
fn a_library_that_is_none_gives_two_lines() {
    let error = Driver::open(Some(Path::new("/nowhere/libnvidia-ml.so.1"))).unwrap_err();
    assert!(matches!(&error, OpenError::NoLibrary { tried } if tried.len() == 1));
    assert_eq!(error.to_string().lines().count(), 2);
}
