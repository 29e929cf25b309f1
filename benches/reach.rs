//! What the built binary costs over the fake driver with a real card's latencies: CPU, memory, first frame, `--once`, key to frame.
//!
//! `cargo bench --bench reach` prints one table; beside each figure stands its floor, what the fake itself took (its calls sleep or
//! spin as long as an H200's do, which costs CPU, too). `-- --seconds 5` measures shorter, `-- --keys` the keys alone. Nothing
//! here passes or fails.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "a harness for people, not a part of the product")]

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use nvml_wrapper::enum_wrappers::device::TemperatureSensor;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

const BINARY: &str = env!("CARGO_BIN_EXE_vramtop");
const COLUMNS: u16 = 200;
const ROWS: u16 = 50;

/// Scenario file, and what it holds.
const MACHINES: [(&str, &str); 4] =
    [("h200-one", "1 GPU, 3"), ("8gpu-64", "8 GPUs, 64"), ("8gpu-512", "8 GPUs, 512"), ("16gpu-1000", "16 GPUs, 1000")];

fn main() {
    let args: Vec<String> = env::args().collect();
    if args.get(1).is_some_and(|a| a == "--floor") {
        floor(Path::new(&args[2]));
        return;
    }
    let seconds = args.iter().position(|a| a == "--seconds").and_then(|at| args.get(at + 1)?.parse().ok()).unwrap_or(20);
    let library = fake_nvml::library_path();
    let folder = tempfile::tempdir().expect("temporary folder");
    keys(&library, folder.path());
    if args.iter().any(|arg| arg == "--keys") {
        return;
    }
    println!("{COLUMNS}x{ROWS}, step 1 s, memory at 20 Hz, {seconds} s measured; the fake: CPU that its calls used, time that they took");
    println!(
        "{:<15} {:>28} {:>9} {:>14} {:>26}",
        "machine", "CPU % of a core (+ the fake)", "RSS MiB", "first frame ms", "--once ms (1.3 floor + 6)"
    );
    for (scenario, label) in MACHINES {
        let scenario = scenario_path(scenario);
        let live = live(&library, &scenario, folder.path(), seconds);
        let once = median(15, || wall(Command::new(BINARY).args(["--once", "--nvml-library"]).arg(&library), &scenario));
        let bare = median(15, || wall(Command::new(env::current_exe().expect("own path")).arg("--floor").arg(&library), &scenario));
        println!(
            "{label:<15} {:>28} {:>9.1} {:>14.1} {:>26}",
            format!("{:.2} (+ {:.2} in {:.2})", live.cpu_percent - live.fake.cpu, live.fake.cpu, live.fake.wall),
            live.rss_mib,
            live.first_frame_ms,
            format!("{:.1} ({:.1}; {:.1})", once, bare, 1.3 * bare + 6.0),
        );
    }
}

/// How soon keys are answered whatever the driver does.
fn keys(library: &Path, folder: &Path) {
    let (median, longest) = key_to_frame(library, &scenario_path("slow-900ms"), &[], 20);
    println!("key to frame with every call taking 900 ms: median {median:.1} ms, longest {longest:.1} ms");
    let (median, longest) = keys_in_a_burst(library, folder);
    println!("the same while {BURST} processes come at once: median {median:.1} ms, longest {longest:.1} ms");
    let quit = quit_ms(library, &scenario_path("hang"));
    println!("q to exit with a call that never returns: {quit:.1} ms");
}

/// So many real processes are listed all at once.
const BURST: usize = 500;

fn keys_in_a_burst(library: &Path, folder: &Path) -> (f64, f64) {
    let scenario = folder.join("burst.toml");
    let many = format!("[{{ count = {BURST}, first_pid = 5000000, pids_env = 'PIDS', memory = '100MiB', start_s = 15 }}]");
    fs::write(&scenario, format!("[latency]\ndefault_us = 900_000\ninit_us = 0\n[[gpu]]\nprocess_many = {many}\n")).expect("scenario");
    let mut sleepers: Vec<_> = (0..BURST).map(|_| Command::new("sleep").arg("600").spawn().expect("sleep starts")).collect();
    let pids: Vec<String> = sleepers.iter().map(|sleeper| sleeper.id().to_string()).collect();
    let times = key_to_frame(library, &scenario, &[("PIDS", pids.join(","))], 250);
    for sleeper in &mut sleepers {
        let _ = sleeper.kill();
        let _ = sleeper.wait();
    }
    times
}

fn scenario_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake-nvml/scenarios").join(format!("{name}.toml"))
}

/// The fewest calls that one picture needs: seven a GPU.
fn floor(library: &Path) {
    let nvml = nvml_wrapper::Nvml::builder().lib_path(library.as_os_str()).init().expect("fake");
    for index in 0..nvml.device_count().expect("count") {
        let device = nvml.device_by_index(index).expect("device");
        // Some answers are errors on some machines; only the time counts.
        drop((device.name(), device.memory_info(), device.utilization_rates(), device.power_usage()));
        drop((device.temperature(TemperatureSensor::Gpu), device.running_compute_processes()));
    }
}

fn wall(command: &mut Command, scenario: &Path) -> f64 {
    let began = Instant::now();
    let status = command.env("FAKE_NVML_SCENARIO", scenario).stdout(Stdio::null()).stderr(Stdio::inherit()).status().expect("started");
    assert!(status.success(), "{command:?}: {status}");
    began.elapsed().as_secs_f64() * 1000.0
}

fn median(times: usize, mut measure: impl FnMut() -> f64) -> f64 {
    let mut all: Vec<f64> = (0..times).map(|_| measure()).collect();
    all.sort_by(f64::total_cmp);
    all[times / 2]
}

/// What the fake's calls took so far, in seconds, or of a span in percent.
struct Fake {
    cpu: f64,
    wall: f64,
}

struct Live {
    /// The whole process, the fake inside it.
    cpu_percent: f64,
    fake: Fake,
    rss_mib: f64,
    first_frame_ms: f64,
}

/// The program in a terminal, and what it has written.
struct Screen {
    child: Box<dyn Child + Send + Sync>,
    writer: Box<dyn Write + Send>,
    output: Receiver<(Instant, Vec<u8>)>,
    parser: vt100::Parser,
    began: Instant,
    _master: Box<dyn MasterPty + Send>,
}

impl Screen {
    fn open(library: &Path, scenario: &Path, variables: &[(&str, String)]) -> Self {
        let size = PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("pty");
        let mut command = CommandBuilder::new(BINARY);
        command.args(["--nvml-library", &library.to_string_lossy()]);
        command.env("FAKE_NVML_SCENARIO", scenario);
        command.env("LANG", "C.UTF-8");
        command.env("TERM", "xterm-256color");
        for (name, value) in variables {
            command.env(name, value);
        }
        let mut reader = pair.master.try_clone_reader().expect("reader");
        let writer = pair.master.take_writer().expect("writer");
        let (send, output) = channel();
        thread::spawn(move || {
            let mut buffer = vec![0; 65536];
            while let Ok(n @ 1..) = reader.read(&mut buffer) {
                if send.send((Instant::now(), buffer[..n].to_vec())).is_err() {
                    return;
                }
            }
        });
        let began = Instant::now();
        let child = pair.slave.spawn_command(command).expect("started");
        let parser = vt100::Parser::new(ROWS.try_into().expect("rows"), COLUMNS.try_into().expect("columns"), 0);
        Self { child, writer, output, parser, began, _master: pair.master }
    }

    /// When the screen first holds `text`.
    fn wait_for(&mut self, text: &str, patience: Duration) -> Option<Instant> {
        let until = Instant::now() + patience;
        loop {
            let (at, bytes) = self.output.recv_timeout(until.checked_duration_since(Instant::now())?).ok()?;
            self.parser.process(&bytes);
            if self.parser.screen().contents().contains(text) {
                return Some(at);
            }
        }
    }

    fn type_key(&mut self, key: &str) -> Instant {
        let at = Instant::now();
        self.writer.write_all(key.as_bytes()).expect("typed");
        self.writer.flush().expect("typed");
        at
    }

    fn drain(&mut self, span: Duration) {
        let until = Instant::now() + span;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            if let Ok((_, bytes)) = self.output.recv_timeout(left) {
                self.parser.process(&bytes);
            }
        }
    }

    fn pid(&self) -> u32 {
        self.child.process_id().expect("running")
    }
}

fn live(library: &Path, scenario: &Path, folder: &Path, seconds: u64) -> Live {
    let first_frame_ms = median(5, || {
        let mut screen = Screen::open(library, scenario, &[]);
        let at = screen.wait_for("vramtop", Duration::from_secs(5)).expect("a first frame");
        let took = at.duration_since(screen.began).as_secs_f64() * 1000.0;
        screen.type_key("q");
        let _ = screen.child.wait();
        took
    });
    let stats = folder.join("stats.json");
    let mut screen = Screen::open(library, scenario, &[("FAKE_NVML_STATS", stats.to_string_lossy().into_owned())]);
    screen.drain(Duration::from_secs(4));
    let (before, fake_before, at) = (cpu_seconds(screen.pid()), fake_seconds(&stats), Instant::now());
    screen.drain(Duration::from_secs(seconds));
    let span = at.elapsed().as_secs_f64();
    let (after, fake_after) = (cpu_seconds(screen.pid()), fake_seconds(&stats));
    let rss_mib = rss_mib(screen.pid());
    screen.type_key("q");
    let _ = screen.child.wait();
    let percent = |before: f64, after: f64| (after - before) / span * 100.0;
    let fake = Fake { cpu: percent(fake_before.cpu, fake_after.cpu), wall: percent(fake_before.wall, fake_after.wall) };
    Live { cpu_percent: percent(before, after), fake, rss_mib, first_frame_ms }
}

/// CPU time of all threads, from the scheduler's nanoseconds.
fn cpu_seconds(pid: u32) -> f64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("running");
    let ns = |path: PathBuf| fs::read_to_string(path).ok()?.split_whitespace().next()?.parse::<f64>().ok();
    tasks.filter_map(|task| ns(task.ok()?.path().join("schedstat"))).sum::<f64>() / 1e9
}

fn rss_mib(pid: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("running");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("VmRSS");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).expect("a number") / 1024.0
}

fn fake_seconds(stats: &Path) -> Fake {
    let text = fs::read_to_string(stats).unwrap_or_default();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let seconds = |name: &str| value[name].as_f64().unwrap_or(0.0) / 1e9;
    Fake { cpu: seconds("cpu_ns_in_fake"), wall: seconds("ns_in_fake") }
}

/// Median and longest time from a key to the frame that answers it.
fn key_to_frame(library: &Path, scenario: &Path, variables: &[(&str, String)], rounds: usize) -> (f64, f64) {
    let mut screen = Screen::open(library, scenario, variables);
    screen.wait_for("vramtop", Duration::from_secs(5)).expect("a first frame");
    let mut times = Vec::new();
    for round in 0..rounds {
        screen.drain(Duration::from_millis(137));
        let (key, sign) = if round % 2 == 0 { ("?", "quit") } else { ("\x1b", "vramtop") };
        let typed = screen.type_key(key);
        let at = screen.wait_for(sign, Duration::from_secs(3)).expect("an answer");
        times.push(at.duration_since(typed).as_secs_f64() * 1000.0);
    }
    screen.type_key("q");
    let _ = screen.child.wait();
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[times.len() - 1])
}

fn quit_ms(library: &Path, scenario: &Path) -> f64 {
    let mut screen = Screen::open(library, scenario, &[]);
    screen.wait_for("vramtop", Duration::from_secs(5)).expect("a first frame");
    screen.drain(Duration::from_secs(2));
    let typed = screen.type_key("q");
    let _ = screen.child.wait();
    typed.elapsed().as_secs_f64() * 1000.0
}
