//! How many calls there were and how long they spent in here.
//!
//! Counted without locks and without allocating, since benchmarks run on this.
//! With FAKE_NVML_STATS set the numbers also go to that file: about once a second,
//! at the last shutdown and when the process ends.

use std::ffi::{CStr, c_char};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::calls::{self, COUNT, Call, NAMES};
use crate::codes::Answer;

static CALLS: [AtomicU64; COUNT] = [const { AtomicU64::new(0) }; COUNT];
static NANOS: [AtomicU64; COUNT] = [const { AtomicU64::new(0) }; COUNT];
static CPU_NANOS: AtomicU64 = AtomicU64::new(0);
/// What writing the file took.
static WRITE_NANOS: AtomicU64 = AtomicU64::new(0);
/// When the file is due again, in milliseconds after `Report::start`.
static DUE_MS: AtomicU64 = AtomicU64::new(1000);

struct Report {
    path: PathBuf,
    start: Instant,
}

static REPORT: OnceLock<Option<Report>> = OnceLock::new();

fn report() -> Option<&'static Report> {
    let start = || {
        let path = std::env::var_os("FAKE_NVML_STATS")?.into();
        // SAFETY: `at_exit` is a function without arguments that lives as long as
        // this library, and the C library forgets it when the library is unloaded.
        unsafe { libc::atexit(at_exit) };
        Some(Report { path, start: Instant::now() })
    };
    REPORT.get_or_init(start).as_ref()
}

extern "C" fn at_exit() {
    write_report();
}

/// Runs the body of a call and counts it. A call that never returns counts too.
pub(crate) fn counted(call: Call, body: impl FnOnce() -> Answer) -> Answer {
    let report = report();
    let cpu = report.map(|_| thread_cpu());
    let start = Instant::now();
    CALLS[call as usize].fetch_add(1, Ordering::Relaxed);
    let answer = body();
    let nanos = start.elapsed().as_nanos() as u64;
    NANOS[call as usize].fetch_add(nanos, Ordering::Relaxed);
    if let (Some(report), Some(before)) = (report, cpu) {
        write_if_due(report);
        let used = thread_cpu().saturating_sub(before);
        CPU_NANOS.fetch_add(used.as_nanos() as u64, Ordering::Relaxed);
    }
    answer
}

fn write_if_due(report: &Report) {
    let now = report.start.elapsed().as_millis() as u64;
    let due = DUE_MS.load(Ordering::Relaxed);
    let next = (due, now + 1000);
    if now >= due && DUE_MS.compare_exchange(next.0, next.1, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
        write_report();
    }
}

fn thread_cpu() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one `timespec`, which `time` is.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Writes the file of FAKE_NVML_STATS, where that is set.
pub(crate) fn write_report() {
    let Some(Some(report)) = REPORT.get() else {
        return;
    };
    let start = Instant::now();
    // Put in place whole, so that a reader never sees half of it.
    let mut part = report.path.clone().into_os_string();
    part.push(".part");
    if std::fs::write(&part, json()).is_ok() {
        let _ = std::fs::rename(&part, &report.path);
    }
    WRITE_NANOS.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
}

fn json() -> String {
    let (calls, nanos) = totals();
    let mut text = format!("{{\"calls\":{calls},\"ns_in_fake\":{nanos},\"cpu_ns_in_fake\":{},\"by_name\":{{", CPU_NANOS.load(Ordering::Relaxed));
    let mut comma = "";
    for (index, name) in NAMES.iter().enumerate() {
        let calls = CALLS[index].load(Ordering::Relaxed);
        if calls > 0 {
            let nanos = NANOS[index].load(Ordering::Relaxed);
            // Writing to a string cannot fail.
            let _ = write!(text, "{comma}\"{name}\":[{calls},{nanos}]");
            comma = ",";
        }
    }
    text.push_str("}}\n");
    text
}

fn totals() -> (u64, u64) {
    let sum = |all: &[AtomicU64]| all.iter().map(|n| n.load(Ordering::Relaxed)).sum::<u64>();
    (sum(&CALLS), sum(&NANOS) + WRITE_NANOS.load(Ordering::Relaxed))
}

/// How often the function of this name was called; 0 for a name that is not known.
///
/// # Safety
///
/// `name` is null or a string that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fakeNvmlCallCount(name: *const c_char) -> u64 {
    if name.is_null() {
        return 0;
    }
    // SAFETY: the caller passes a string that ends with a zero byte.
    let name = unsafe { CStr::from_ptr(name) };
    let index = name.to_str().ok().and_then(calls::by_name);
    index.map_or(0, |index| CALLS[index].load(Ordering::Relaxed))
}

/// The nanoseconds that all calls so far spent in here.
#[unsafe(no_mangle)]
pub extern "C" fn fakeNvmlTotalCallNs() -> u64 {
    totals().1
}
