//! What the integration tests share: the fake driver, a clock that tests set, and sources over both.
#![allow(dead_code, unreachable_pub, clippy::expect_used, clippy::panic, reason = "each test binary uses a part, and a test may fail")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use vramtop::collect::{Clock, Exchange, HostScope, LiveOptions, LiveSource, Source, SourceEnd};
use vramtop::model::{Moment, Record, Sample};
use vramtop::monitor::Monitor;
use vramtop::record::Writer;

/// What records amount to.
pub fn apply(records: &[Record]) -> Monitor {
    let mut monitor = Monitor::new();
    for record in records {
        monitor.apply(record);
    }
    monitor
}

/// The lines of a recording.
pub fn written(record: &Record, monitor: &Monitor) -> String {
    let mut writer = Writer::new(Vec::new());
    writer.record(record, monitor).expect("written to memory");
    String::from_utf8(writer.into_inner()).expect("UTF-8")
}

/// A scenario of the fake driver's own folder.
pub fn scenario(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake-nvml/scenarios").join(format!("{name}.toml"))
}

/// vramtop without a driver, and with nothing of this environment that could change what it prints.
pub fn alone(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vramtop"));
    let settings = vramtop::config::Key::ALL.map(vramtop::config::Key::variable);
    let others = ["LC_ALL", "LC_CTYPE", "NO_COLOR", "COLUMNS", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", vramtop::config::FILE_VARIABLE];
    for name in settings.into_iter().chain(others) {
        command.env_remove(name);
    }
    command.env("XDG_CONFIG_HOME", "/nonexistent").env("LANG", "C.UTF-8").env("TZ", "UTC").args(args).stdin(Stdio::null());
    command
}

/// Set in the child process that runs a case.
const CASE: &str = "VRAMTOP_TEST_CASE_FOLDER";

/// Runs `case` in a process of its own, since the fake reads its scenario from the environment: the test binary starts
/// itself with that one test. `toml` is the scenario.
pub fn with_scenario(test: &str, toml: &str, case: impl FnOnce(&Machine)) {
    if let Some(folder) = std::env::var_os(CASE) {
        case(&Machine { folder: folder.into() });
        return;
    }
    let folder = tempfile::tempdir().expect("temporary folder");
    let scenario = folder.path().join("scenario.toml");
    fs::write(&scenario, toml).expect("scenario");
    fs::write(folder.path().join("time"), "0").expect("time");
    let output = Command::new(std::env::current_exe().expect("own path"))
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CASE, folder.path())
        .env("FAKE_NVML_SCENARIO", &scenario)
        .env("FAKE_NVML_TIME", folder.path().join("time"))
        .output()
        .expect("the test binary starts itself");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "no such test: {test}\n{said}");
}

/// As [`with_scenario`], with one of the fake's own scenarios.
pub fn with_named(test: &str, name: &str, case: impl FnOnce(&Machine)) {
    with_scenario(test, &fs::read_to_string(scenario(name)).expect("scenario"), case);
}

/// The machine of one case: the fake driver, with `/proc` and `/sys` of its own where a test makes them.
pub struct Machine {
    pub folder: PathBuf,
}

impl Machine {
    pub fn library(&self) -> PathBuf {
        fake_nvml::library_for(&self.folder.join("scenario.toml"), &self.folder).expect("the fake library")
    }

    pub fn options(&self) -> LiveOptions {
        LiveOptions { library: Some(self.library()), host: HostScope::All, sys_root: self.folder.join("sys"), ..LiveOptions::default() }
    }

    pub fn clock(&self) -> TestClock {
        TestClock::new(&self.folder.join("time"))
    }

    pub fn source(&self) -> LiveSource<TestClock> {
        self.source_with(self.options())
    }

    pub fn source_with(&self, options: LiveOptions) -> LiveSource<TestClock> {
        LiveSource::new(options, self.clock(), Arc::new(Exchange::default()))
    }

    /// Makes it a laptop: power management on `auto`, in a `/sys` of the test's own.
    pub fn laptop(&self, status: &str) {
        self.power("0000:06:00.0", status);
    }

    /// The power management of the device with that bus id.
    pub fn power(&self, pci: &str, status: &str) {
        let folder = self.folder.join("sys/bus/pci/devices").join(pci).join("power");
        fs::create_dir_all(&folder).expect("folder");
        fs::write(folder.join("control"), "auto").expect("control");
        fs::write(folder.join("runtime_status"), status).expect("status");
    }

    /// Lines of the fake's call log (`[log] path = "calls"`), as (name, gpu).
    pub fn calls(&self) -> Vec<(String, String)> {
        let text = fs::read_to_string(self.folder.join("calls")).unwrap_or_default();
        let word = |line: &str, at| line.split_whitespace().nth(at).unwrap_or_default().to_owned();
        text.lines().map(|line| (word(line, 2), word(line, 3))).collect()
    }
}

/// Time that passes only when somebody sleeps, told to the fake by its file.
#[derive(Clone)]
pub struct TestClock {
    ms: Arc<AtomicU64>,
    /// Microseconds that pass between two looks at [`Clock::now_us`]: what a list takes.
    list_us: Arc<AtomicU64>,
    looks: Arc<AtomicU64>,
    file: PathBuf,
}

impl TestClock {
    pub fn new(file: &Path) -> Self {
        Self { ms: Arc::default(), list_us: Arc::default(), looks: Arc::default(), file: file.to_owned() }
    }

    /// From now on the lists of one device take so long.
    pub fn set_list_us(&self, us: u64) {
        self.list_us.store(us, Ordering::SeqCst);
    }

    pub fn set(&self, ms: u64) {
        self.ms.store(ms, Ordering::SeqCst);
        let seconds = std::time::Duration::from_millis(ms).as_secs_f64();
        fs::write(&self.file, format!("{seconds}")).expect("time file");
    }
}

impl Clock for TestClock {
    fn now_ms(&self) -> u64 {
        self.ms.load(Ordering::SeqCst)
    }

    fn now_us(&self) -> u64 {
        self.looks.fetch_add(1, Ordering::SeqCst) * self.list_us.load(Ordering::SeqCst)
    }

    fn wall(&self) -> Moment {
        // 2026-11-30T12:00:00Z and on.
        Moment { unix_ms: 1_796_040_000_000 + i64::try_from(self.now_ms()).expect("small") }
    }

    fn sleep_until_ms(&mut self, at_ms: u64) {
        if at_ms > self.now_ms() {
            self.set(at_ms);
        }
    }
}

/// The records up to and with the `n`th sample.
pub fn until_samples(source: &mut impl Source, n: usize) -> Vec<Record> {
    let mut records = Vec::new();
    let mut samples = 0;
    while samples < n {
        match source.next() {
            Ok(record) => {
                samples += usize::from(matches!(record, Record::Sample(_)));
                records.push(record);
            }
            Err(SourceEnd::Finished) => break,
            Err(SourceEnd::Failed(error)) => panic!("{error}"),
        }
    }
    records
}

pub fn samples(records: &[Record]) -> Vec<&Sample> {
    records.iter().filter_map(|record| if let Record::Sample(sample) = record { Some(sample.as_ref()) } else { None }).collect()
}
