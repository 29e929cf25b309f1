//! The built library, loaded as the monitor loads it: through nvml-wrapper.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fake_nvml::{OLD_418, OLD_470, library_for, library_path, library_without};
use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::TemperatureSensor;
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper_sys::bindings as sys;

/// The variables of the environment belong to one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// A copy of the library of its own for each test, so that none sees another's state.
struct Fake {
    nvml: Option<Nvml>,
    library: PathBuf,
    folder: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Fake {
    fn prepare(scenario: &str, without: &[&str]) -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libnvidia-ml.so");
        library_without(&library_path(), &library, without).unwrap();
        let path = folder.path().join("scenario.toml");
        std::fs::write(&path, scenario).unwrap();
        // SAFETY: the tests that touch the environment run one at a time.
        unsafe { std::env::set_var("FAKE_NVML_SCENARIO", path) };
        Self { nvml: None, library, folder, _alone: alone }
    }

    fn init(&self) -> Result<Nvml, NvmlError> {
        Nvml::builder().lib_path(self.library.as_os_str()).init()
    }

    fn new(scenario: &str) -> Self {
        Self::lacking(scenario, &[])
    }

    fn lacking(scenario: &str, without: &[&str]) -> Self {
        let mut fake = Self::prepare(scenario, without);
        fake.nvml = Some(fake.init().unwrap());
        fake
    }

    fn nvml(&self) -> &Nvml {
        self.nvml.as_ref().unwrap()
    }

    fn symbol<T: Copy>(&self, name: &str) -> T {
        // SAFETY: opening the library again only counts a user more.
        let library = unsafe { libloading::Library::new(&self.library) }.unwrap();
        // SAFETY: the callers name the type that the symbol has.
        let symbol = *unsafe { library.get::<T>(name.as_bytes()) }.unwrap();
        std::mem::forget(library);
        symbol
    }
}

const GIB: u64 = 1 << 30;

#[test]
fn sizes_of_the_structs() {
    assert_eq!(size_of::<sys::nvmlProcessInfo_v1_t>(), 16);
    assert_eq!(size_of::<sys::nvmlProcessInfo_v2_t>(), 24);
    assert_eq!(size_of::<sys::nvmlProcessInfo_t>(), 24);
    assert_eq!(size_of::<sys::nvmlMemory_t>(), 24);
    assert_eq!(size_of::<sys::nvmlMemory_v2_t>(), 40);
    assert_eq!(size_of::<sys::nvmlPciInfo_t>(), 68);
    assert_eq!(size_of::<sys::nvmlProcessUtilizationSample_t>(), 32);
    assert_eq!(size_of::<sys::nvmlTemperature_t>(), 12);
}

#[test]
fn every_symbol_of_the_bindings_that_is_here_loads() {
    let fake = Fake::new("[[gpu]]");
    let lib = fake.nvml().lib();
    assert!(lib.nvmlInit.is_ok() && lib.nvmlDeviceGetComputeRunningProcesses.is_ok());
    assert!(lib.nvmlDeviceGetFieldValues.is_ok() && lib.nvmlDeviceGetSerial.is_ok());
}

#[test]
fn identity_and_telemetry_of_a_plain_h200() {
    let fake = Fake::new("[[gpu]]\nrepeat = 2\npower_w = 123.4");
    let nvml = fake.nvml();
    assert_eq!(nvml.device_count().unwrap(), 2);
    assert_eq!(nvml.sys_cuda_driver_version().unwrap(), 13000);
    let device = nvml.device_by_index(1).unwrap();
    assert_eq!(device.name().unwrap(), "NVIDIA H200");
    let uuid = device.uuid().unwrap();
    assert_eq!(uuid, "GPU-00000000-0000-0000-0000-000000000002");
    assert_eq!(nvml.device_by_uuid(uuid).unwrap().index().unwrap(), 1);
    let pci = device.pci_info().unwrap();
    assert_eq!(pci.bus_id, "00000000:01:06.0");
    assert_eq!(nvml.device_by_pci_bus_id(pci.bus_id).unwrap().index().unwrap(), 1);
    assert_eq!(device.power_usage().unwrap(), 123_400);
    assert_eq!(device.temperature(TemperatureSensor::Gpu).unwrap(), 30);
    assert!(matches!(device.fan_speed(0), Err(NvmlError::NotSupported)));
    assert!(matches!(nvml.device_by_index(2), Err(NvmlError::InvalidArg)));
}

#[test]
fn the_two_memories_differ_by_what_is_reserved() {
    let fake = Fake::new(
        "[[gpu]]\ntotal = \"10GiB\"\nreserved = \"1GiB\"\nunattributed = \"2GiB\"\n\
         process = [{ pid = 7, memory = \"3GiB\" }]",
    );
    let device = fake.nvml().device_by_index(0).unwrap();
    let memory = device.memory_info().unwrap();
    assert_eq!([memory.total, memory.used, memory.free], [10 * GIB, 5 * GIB, 4 * GIB]);
    let mut old = sys::nvmlMemory_t { total: 0, free: 0, used: 0 };
    // SAFETY: a device of this library and a place for the answer.
    let code = unsafe { fake.nvml().lib().nvmlDeviceGetMemoryInfo(device.handle(), &mut old) };
    assert_eq!((code, old.used), (0, 6 * GIB));
    let mut wrong = sys::nvmlMemory_v2_t { version: 1, total: 0, reserved: 0, free: 0, used: 0 };
    // SAFETY: as above.
    let code = unsafe { fake.nvml().lib().nvmlDeviceGetMemoryInfo_v2(device.handle(), &mut wrong) };
    assert_eq!(code, sys::nvmlReturn_enum_NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
}

#[test]
fn lists_tell_the_room_they_need() {
    let fake = Fake::new(
        "[[gpu]]\nprocess = [{ pid = \"self\", memory = \"unavailable\", kind = [\"compute\", \"graphics\"] }]\n\
         process_many = [{ count = 3000, first_pid = 5000000, memory = \"1MiB\" }]",
    );
    let device = fake.nvml().device_by_index(0).unwrap();
    let lib = fake.nvml().lib();
    let mut count = 4;
    let mut infos = vec![sys::nvmlProcessInfo_t { pid: 9, usedGpuMemory: 0, gpuInstanceId: 0, computeInstanceId: 0 }; 4];
    // SAFETY: a device of this library, and room for `count` records.
    let code = unsafe { lib.nvmlDeviceGetComputeRunningProcesses_v3(device.handle(), &mut count, infos.as_mut_ptr()) };
    assert_eq!((code, count, infos[0].pid), (7, 3001, 9));
    let list = device.running_compute_processes().unwrap();
    assert_eq!(list.len(), 3001);
    assert_eq!(list[0].pid, std::process::id());
    assert!(matches!(list[0].used_gpu_memory, UsedGpuMemory::Unavailable));
    assert_eq!((list[3000].pid, list[3000].gpu_instance_id), (5_002_999, None));
    assert_eq!(device.running_graphics_processes().unwrap().len(), 1);
    assert_eq!(device.running_compute_processes_v2().unwrap().len(), 3001);
    let mut old = vec![sys::nvmlProcessInfo_v1_t { pid: 0, usedGpuMemory: 0 }; 3001];
    count = 3001;
    // SAFETY: as above, in the first version's shape.
    let code = unsafe { lib.nvmlDeviceGetComputeRunningProcesses(device.handle(), &mut count, old.as_mut_ptr()) };
    assert_eq!((code, old[3000].usedGpuMemory), (0, 1 << 20));
}

#[test]
fn calls_make_time_pass_for_ramps_and_faults() {
    let fake = Fake::new(
        "time = { mode = \"calls\" }\n\
         [[gpu]]\nused = { ramp = { from = 0, to = 400, end_s = 4 } }\n\
         [[fault]]\ncall = \"temperature\"\nfrom_s = 2\nto_s = 3\nerror = \"GpuLost\"",
    );
    let device = fake.nvml().device_by_index(0).unwrap();
    let mut seen = Vec::new();
    for _ in 0..5 {
        let used = device.memory_info().unwrap().used;
        seen.push((used, device.temperature(TemperatureSensor::Gpu).is_ok()));
    }
    let wanted = [(0, true), (100, true), (200, false), (300, true), (400, true)];
    assert_eq!(seen, wanted);
    let count: unsafe extern "C" fn(*const std::ffi::c_char) -> u64 = fake.symbol("fakeNvmlCallCount");
    // SAFETY: the symbol has this type, and the name ends with a zero byte.
    assert_eq!(unsafe { count(c"nvmlDeviceGetMemoryInfo_v2".as_ptr()) }, 5);
    let total: unsafe extern "C" fn() -> u64 = fake.symbol("fakeNvmlTotalCallNs");
    // SAFETY: the symbol has this type.
    assert!(unsafe { total() } > 0);
}

#[test]
fn time_from_a_file_and_from_the_test() {
    let fake = Fake::new(
        "time = { mode = \"file\", path = \"now\" }\n[driver]\ncount_steps = [[3, 0], [4, 1]]\n\
         [[gpu]]\nused = { steps = [[0, 1], [1.5, 2]] }",
    );
    let device = fake.nvml().device_by_index(0).unwrap();
    let used = || device.memory_info().unwrap().used;
    assert_eq!(used(), 1);
    std::fs::write(fake.folder.path().join("now"), "1.5\n").unwrap();
    assert_eq!(used(), 2);
    let set: unsafe extern "C" fn(u64) = fake.symbol("fakeNvmlSetTimeMs");
    // SAFETY: the symbol has this type.
    unsafe { set(3000) };
    assert_eq!(fake.nvml().device_count().unwrap(), 0);
    assert!(matches!(device.memory_info(), Err(NvmlError::GpuLost)));
    // SAFETY: as above.
    unsafe { set(4000) };
    assert_eq!(fake.nvml().device_count().unwrap(), 1);
}

#[test]
fn instances_have_their_own_memory_and_processes() {
    let fake = Fake::new(
        "[[gpu]]\n\
         process = [{ pid = 11, memory = \"1GiB\", gpu_instance = 1, compute_instance = 0 },\n\
                    { pid = 12, memory = \"2GiB\", gpu_instance = 2, compute_instance = 0 }]\n\
         mig_device = [{ uuid = \"MIG-a\", gi = 1, total = \"16GiB\" }, { uuid = \"MIG-b\", gi = 2, total = \"32GiB\" }]",
    );
    let device = fake.nvml().device_by_index(0).unwrap();
    assert_eq!(device.mig_mode().unwrap().current, 1);
    assert_eq!(device.mig_device_count().unwrap(), 7);
    assert_eq!(device.running_compute_processes().unwrap().len(), 2);
    assert!(matches!(device.utilization_rates(), Err(NvmlError::NotSupported)));
    let second = device.mig_device_by_index(1).unwrap();
    assert_eq!(second.uuid().unwrap(), "MIG-b");
    assert!(second.mig_is_mig_device_handle().unwrap());
    let memory = second.memory_info().unwrap();
    assert_eq!([memory.total, memory.used], [32 * GIB, 2 * GIB]);
    let list = second.running_compute_processes().unwrap();
    assert_eq!((list.len(), list[0].pid, list[0].gpu_instance_id), (1, 12, Some(2)));
    assert!(matches!(device.mig_device_by_index(2), Err(NvmlError::NotFound)));
    let found = fake.nvml().device_by_uuid("MIG-a").unwrap();
    assert_eq!(found.memory_info().unwrap().used, GIB);
}

#[test]
fn old_drivers_lack_symbols() {
    let fake = Fake::lacking("[[gpu]]\nprocess = [{ pid = 1, memory = 5 }]", OLD_470);
    let device = fake.nvml().device_by_index(0).unwrap();
    let missing = device.running_compute_processes();
    assert!(matches!(missing, Err(NvmlError::FailedToLoadSymbol(_))), "{missing:?}");
    assert_eq!(device.running_compute_processes_v2().unwrap().len(), 1);
    drop(fake);
    let fake = Fake::lacking("[[gpu]]", OLD_418);
    let device = fake.nvml().device_by_index(0).unwrap();
    let missing = device.running_compute_processes_v2();
    assert!(matches!(missing, Err(NvmlError::FailedToLoadSymbol(_))));
    assert!(fake.nvml().lib().nvmlDeviceGetMigMode.is_err());
    assert!(fake.nvml().lib().nvmlDeviceGetComputeRunningProcesses.is_ok());
}

#[test]
fn a_patched_library_suits_its_scenario() {
    let fake = Fake::prepare("[driver]\nsymbols = \"old418\"\nmissing = [\"nvmlDeviceGetBrand\"]", &[]);
    let folder = fake.folder.path();
    let copy = library_for(&folder.join("scenario.toml"), folder).unwrap();
    let nvml = Nvml::builder().lib_path(copy.as_os_str()).init().unwrap();
    assert_eq!(nvml.device_count().unwrap(), 0);
    assert!(nvml.lib().nvmlDeviceGetBrand.is_err());
    assert!(nvml.lib().nvmlDeviceGetMemoryInfo_v2.is_err());
    let wrong = library_without(&library_path(), &folder.join("x"), &["nvmlNothing"]);
    assert!(wrong.unwrap_err().to_string().contains("nvmlNothing"));
}

#[test]
fn mistakes_in_the_scenario_fail_the_init() {
    for text in ["[[gpu]]\npwr = 1", "[latency]\nmemmory = 1", "[[fault]]\ncall = \"memory\""] {
        let fake = Fake::prepare(text, &[]);
        assert!(matches!(fake.init(), Err(NvmlError::Unknown)), "{text}");
    }
}

#[test]
fn inits_are_counted_and_read_the_scenario_again() {
    let fake = Fake::new("[[gpu]]");
    let again = fake.init().unwrap();
    assert_eq!(again.device_count().unwrap(), 1);
    again.shutdown().unwrap();
    std::fs::write(fake.folder.path().join("scenario.toml"), "[[gpu]]\nrepeat = 3").unwrap();
    assert_eq!(fake.nvml().device_count().unwrap(), 1);
    let third = fake.init().unwrap();
    assert_eq!(third.device_count().unwrap(), 3);
    third.shutdown().unwrap();
    // SAFETY: takes nothing.
    assert_eq!(unsafe { fake.nvml().lib().nvmlShutdown() }, 0);
    assert!(matches!(fake.nvml().device_count(), Err(NvmlError::Uninitialized)));
    // SAFETY: as above.
    assert_eq!(unsafe { fake.nvml().lib().nvmlShutdown() }, 1);
}

#[test]
fn faults_of_init_strike_the_first_time_only() {
    let fake = Fake::prepare("[[fault]]\ncall = \"init\"\ntimes = 1\nerror = \"LibRmVersionMismatch\"", &[]);
    assert!(matches!(fake.init(), Err(NvmlError::LibRmVersionMismatch)));
    assert!(fake.init().is_ok());
}

#[test]
fn a_list_that_always_wants_more_room() {
    let fake = Fake::new("[[gpu]]\n[[fault]]\ncall = \"compute\"\nerror = \"InsufficientSize\"");
    let device = fake.nvml().device_by_index(0).unwrap();
    assert_eq!(device.running_compute_processes_count().unwrap(), 8);
    assert!(matches!(device.running_compute_processes(), Err(NvmlError::InsufficientSize(_))));
}

#[test]
fn process_utilization_gives_newer_samples() {
    let fake = Fake::new("[[gpu]]\nprocess = [{ pid = 4, memory = 1, sm = 55 }, { pid = 5, memory = 1 }]\n[[gpu]]");
    let device = fake.nvml().device_by_index(0).unwrap();
    let samples = device.process_utilization_stats(None).unwrap();
    assert_eq!((samples.len(), samples[0].pid, samples[0].sm_util), (1, 4, 55));
    let later = device.process_utilization_stats(u64::MAX);
    assert!(matches!(later, Err(NvmlError::NotFound)));
    let idle = fake.nvml().device_by_index(1).unwrap();
    assert!(matches!(idle.process_utilization_stats(None), Err(NvmlError::NotFound)));
}

#[test]
fn the_log_has_a_line_for_each_call() {
    let fake = Fake::new("log = { path = \"calls.log\" }\n[[gpu]]");
    fake.nvml().device_by_index(0).unwrap().name().unwrap();
    let log = std::fs::read_to_string(fake.folder.path().join("calls.log")).unwrap();
    let names: Vec<_> = log.lines().map(|line| line.split(' ').skip(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(names.first().unwrap(), "nvmlInit_v2 -");
    assert_eq!(names.last().unwrap(), "nvmlDeviceGetName 0");
}

#[test]
fn all_calls_of_a_gpu_wait_for_its_lock() {
    let fake = Fake::new("log = { path = \"calls.log\" }\n[lock]\nenabled = true\n[latency]\nenergy = 2000000\n[[gpu]]\nrepeat = 2");
    let nvml = fake.nvml();
    let devices = [0, 1].map(|index| nvml.device_by_index(index).unwrap());
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            devices[0].total_energy_consumption().unwrap();
            over.store(true, std::sync::atomic::Ordering::SeqCst);
        });
        // Each call is in the log before it waits.
        let calls = fake.folder.path().join("calls.log");
        while !std::fs::read_to_string(&calls).unwrap().contains("nvmlDeviceGetTotalEnergyConsumption") {
            std::thread::yield_now();
        }
        devices[1].name().unwrap();
        assert!(!over.load(std::sync::atomic::Ordering::SeqCst), "the other GPU is free");
        let waited = loop {
            let start = std::time::Instant::now();
            devices[0].name().unwrap();
            let waited = start.elapsed().as_secs();
            if waited > 0 || over.load(std::sync::atomic::Ordering::SeqCst) {
                break waited;
            }
        };
        assert!(waited > 0, "this one is held");
    });
}

#[test]
fn garbage_is_as_asked_for() {
    let fake = Fake::new(
        "[[gpu]]\ntotal = 100\nprocess = [{ pid = 3, memory = 1 }]\n[gpu.garbage]\nused_over_total = true\n\
         name_bytes = [255, 254]\npid_zero = true\npid_max = true\nabsurd_power = true\nabsurd_utilization = true",
    );
    let device = fake.nvml().device_by_index(0).unwrap();
    assert!(device.memory_info().unwrap().used > 100);
    assert!(matches!(device.name(), Err(NvmlError::Utf8Error(_))));
    let list = device.running_compute_processes().unwrap();
    let pids: Vec<u32> = list.iter().map(|process| process.pid).collect();
    assert_eq!(pids, [3, 0, u32::MAX]);
    assert_eq!(device.power_usage().unwrap(), u32::MAX);
    assert_eq!(device.utilization_rates().unwrap().gpu, 250);
}

#[test]
fn every_example_loads() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut loaded = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        // The slow ones load as well when they are fast.
        let text = text.replace("00_000", "");
        let fake = Fake::prepare(&text, &[]);
        match fake.init() {
            Ok(_) => {}
            Err(NvmlError::DriverNotLoaded | NvmlError::LibRmVersionMismatch) if text.contains("call = \"init\"") => {}
            Err(error) => panic!("{}: {error}", path.display()),
        }
        loaded += 1;
    }
    assert!(loaded >= 12, "only {loaded} examples");
}

#[test]
fn a_list_may_be_one_record_short_and_then_fit() {
    let fake = Fake::new("[[gpu]]\nprocess_many = [{ count = 2, first_pid = 1, memory = 1 }]");
    let device = fake.nvml().device_by_index(0).unwrap();
    let lib = fake.nvml().lib();
    let none = std::ptr::null_mut();
    let mut count = 0;
    // SAFETY: a device of this library; without room nothing is written.
    let code = unsafe { lib.nvmlDeviceGetComputeRunningProcesses_v3(device.handle(), &mut count, none) };
    assert_eq!((code, count), (7, 2));
    // SAFETY: as above; the null pointer is noticed.
    let code = unsafe { lib.nvmlDeviceGetComputeRunningProcesses_v3(device.handle(), &mut count, none) };
    assert_eq!(code, sys::nvmlReturn_enum_NVML_ERROR_INVALID_ARGUMENT);
    count = 0;
    // SAFETY: as above; the list of graphics is empty, so null is fine.
    let code = unsafe { lib.nvmlDeviceGetGraphicsRunningProcesses_v3(device.handle(), &mut count, none) };
    assert_eq!((code, count), (0, 0));
}

#[test]
fn time_and_faults_outlive_a_closed_library() {
    let fake = Fake::prepare(
        "time = { mode = \"calls\", advance_on = \"init\" }\n[[gpu]]\n\
         [[fault]]\ncall = \"init\"\nto_s = 2\nerror = \"DriverNotLoaded\"",
        &[],
    );
    let tries: Vec<bool> = (0..4).map(|_| fake.init().is_ok()).collect();
    assert_eq!(tries, [false, false, true, true]);
}

#[test]
fn the_numbers_go_to_a_file() {
    let mut fake = Fake::prepare("[[gpu]]", &[]);
    let path = fake.folder.path().join("stats.json");
    // SAFETY: the tests that touch the environment run one at a time.
    unsafe { std::env::set_var("FAKE_NVML_STATS", &path) };
    fake.nvml = Some(fake.init().unwrap());
    // SAFETY: as above.
    unsafe { std::env::remove_var("FAKE_NVML_STATS") };
    fake.nvml().device_by_index(0).unwrap().name().unwrap();
    fake.nvml.take().unwrap().shutdown().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.starts_with("{\"calls\":"), "{text}");
    assert!(text.contains("\"nvmlDeviceGetName\":[1,"), "{text}");
}
