//! The driver, asked with patience: what it leaves unanswered for too long is given up on, and said.
//!
//! Every question is put on a thread that nobody waits for longer than that.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::{Answer, Call, Gpu};
use crate::collect::host::Host;
use crate::collect::nvml::{Check, Device, Driver, OpenError};
use crate::model::{Absence, SafeText, Visibility};

/// How long an answer is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// To load and start the library: a machine of eight GPUs without persistence takes that many seconds and more.
    pub start: Duration,
    /// To one question.
    pub call: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { start: Duration::from_secs(30), call: Duration::from_secs(5) }
    }
}

/// How far the driver came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It is open.
    Open,
    /// There is no library.
    Missing,
    /// There is one, and it does not start.
    Refused,
    /// This user may not use it.
    NotPermitted,
    /// It does not answer.
    Silent,
    /// Every GPU sleeps, and it was not asked.
    Asleep,
}

/// The driver and its library.
#[derive(Clone, Debug, Serialize)]
pub struct DriverFacts {
    /// How far it came.
    pub state: State,
    /// The library in use: the file that the loader found.
    pub library: Option<String>,
    /// The name that it was found by.
    pub found_as: Option<String>,
    /// What was tried in vain.
    pub tried: Vec<Tried>,
    /// Version of the driver.
    pub driver: Option<String>,
    /// Version of the library.
    pub nvml: Option<String>,
    /// The newest CUDA that it offers.
    pub cuda: Option<String>,
    /// How long it took to load and start, in microseconds.
    pub start_us: Option<u64>,
    /// How many GPUs it knows.
    pub count: Option<u32>,
    /// What is wrong, and what to do: two lines.
    pub problem: Option<String>,
}

/// A library that was no use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tried {
    /// Its name or path.
    pub place: String,
    /// Why.
    pub reason: String,
}

/// The processes that the driver lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Processes {
    /// How many.
    pub listed: usize,
    /// How many of them can be named here.
    pub visible: usize,
    /// Whether this program's namespace of PIDs is the host's.
    pub host_namespace: bool,
}

impl DriverFacts {
    /// A driver of which no more is known than its state.
    pub const fn new(state: State) -> Self {
        Self {
            state,
            library: None,
            found_as: None,
            tried: Vec::new(),
            driver: None,
            nvml: None,
            cuda: None,
            start_us: None,
            count: None,
            problem: None,
        }
    }

    fn refused(error: &OpenError) -> Self {
        let (state, tried) = match error {
            OpenError::NoLibrary { tried } => (State::Missing, tried.as_slice()),
            OpenError::Init { .. } => (State::Refused, [].as_slice()),
            OpenError::NoPermission { .. } => (State::NotPermitted, [].as_slice()),
        };
        let tried = tried.iter().map(|(place, reason)| Tried { place: safe(place), reason: SafeText::new(reason).to_string() }).collect();
        Self { tried, problem: Some(error.to_string()), ..Self::new(state) }
    }
}

/// Opens the driver and puts every question to every GPU.
///
/// # Errors
/// The system's, when a thread cannot be made.
pub fn examine(library: Option<PathBuf>, patience: Patience) -> io::Result<(DriverFacts, Vec<Gpu>, Processes)> {
    let began = Instant::now();
    let host = Host::new(Path::new("/proc"));
    let nobody = Processes { host_namespace: host.sees_host_pids(), ..Processes::default() };
    let opened = within(patience.start, move || Driver::open(library.as_deref()))?;
    let start_us = Some(micros(began.elapsed()));
    let driver = match opened {
        None => return Ok((DriverFacts { start_us, ..DriverFacts::new(State::Silent) }, Vec::new(), nobody)),
        Some(Err(error)) => return Ok((DriverFacts { start_us, ..DriverFacts::refused(&error) }, Vec::new(), nobody)),
        Some(Ok(driver)) => driver,
    };
    let found_as = Some(safe(driver.library()));
    let library = fs::read_to_string("/proc/self/maps").ok().and_then(|maps| mapped(&maps, driver.library()));
    let open = DriverFacts { library: library.or_else(|| found_as.clone()), found_as, start_us, ..DriverFacts::new(State::Open) };
    let Some((versions, count)) = within(patience.call, move || (driver.versions(), driver.device_count()))? else {
        return Ok((DriverFacts { state: State::Silent, ..open }, Vec::new(), nobody));
    };
    let text = |version: Option<SafeText>| version.map(|version| version.to_string());
    let facts = DriverFacts { driver: text(versions.driver), nvml: text(versions.nvml), cuda: text(versions.cuda), count: count.get(), ..open };
    let (mut gpus, mut pids) = (Vec::new(), Vec::new());
    for index in 0..facts.count.unwrap_or(0) {
        examine_gpu(driver, index, patience.call, &mut gpus, &mut pids)?;
    }
    Ok((facts, gpus, look_for(host, pids, nobody)))
}

/// Which of the processes can be named here.
fn look_for(mut host: Host, mut pids: Vec<u32>, nobody: Processes) -> Processes {
    pids.sort_unstable();
    pids.dedup();
    host.meet(&pids, &mut Vec::new());
    let here = |pid: &&u32| host.facts(**pid).is_some_and(|facts| facts.visibility == Visibility::Here);
    Processes { listed: pids.len(), visible: pids.iter().filter(here).count(), ..nobody }
}

/// The answer, unless it takes longer than that.
fn within<T: Send + 'static>(patience: Duration, question: impl FnOnce() -> T + Send + 'static) -> io::Result<Option<T>> {
    let (sender, answer) = channel();
    thread::Builder::new().name("question".into()).spawn(move || sender.send(question()).is_ok())?;
    Ok(answer.recv_timeout(patience).ok())
}

/// What the thread that asks one GPU sends.
enum Said {
    Device(Box<Gpu>),
    Check(Check),
    Pids(Vec<u32>),
}

fn examine_gpu(driver: Driver, index: u32, patience: Duration, gpus: &mut Vec<Gpu>, pids: &mut Vec<u32>) -> io::Result<()> {
    let (sender, said) = channel();
    let ask = move || {
        for device in driver.devices_of(index) {
            let gpu = match &device {
                Ok(device) => introduce(device, index),
                Err(fault) => unopened(index, &fault.reason.to_string()),
            };
            let listened = sender.send(Said::Device(Box::new(gpu))).is_ok();
            if let (true, Ok(device)) = (listened, device) {
                let pids = device.check_up(|check| sender.send(Said::Check(check)).is_ok());
                let _ = sender.send(Said::Pids(pids));
            }
        }
    };
    thread::Builder::new().name("questions".into()).spawn(ask)?;
    let before = gpus.len();
    let mut asked = 0;
    loop {
        match said.recv_timeout(patience) {
            Ok(Said::Device(gpu)) => {
                gpus.push(*gpu);
                asked = 0;
            }
            Ok(Said::Check(check)) => {
                if let Some(call) = gpus.last_mut().and_then(|gpu| gpu.calls.get_mut(asked)) {
                    *call = result(check);
                }
                asked += 1;
            }
            Ok(Said::Pids(more)) => pids.extend(more),
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {
                let silent = Answer::Silent(patience.as_secs());
                if let Some(call) = gpus[before..].last_mut().and_then(|gpu| gpu.calls.get_mut(asked)) {
                    call.answer = silent;
                } else {
                    let call = driver.in_call().map_or(String::new(), |(call, _)| format!(" ({call})"));
                    gpus.push(unopened(index, &format!("{silent}{call}")));
                }
                return Ok(());
            }
        }
    }
}

/// A GPU that was opened, with its questions still to be asked.
fn introduce(device: &Device, index: u32) -> Gpu {
    let facts = device.facts();
    let not_asked = |call| Call { call, version: None, answer: Answer::Absent(Absence::NotAsked), first_us: None, second_us: None };
    Gpu {
        label: facts.label(Some(index)),
        name: facts.name.to_string(),
        uuid: beginning(facts.id.as_str()),
        total: facts.total.value().map(|total| total.0),
        calls: device.questions().map(not_asked).collect(),
        error: None,
    }
}

fn unopened(index: u32, reason: &str) -> Gpu {
    Gpu { label: index.to_string(), name: "GPU".to_owned(), uuid: String::new(), total: None, calls: Vec::new(), error: Some(reason.to_owned()) }
}

/// Enough of a UUID to tell two cards apart, and not enough to find one.
fn beginning(uuid: &str) -> String {
    let start: String = uuid.chars().take("GPU-1234".len()).collect();
    if start == uuid { start } else { start + "…" }
}

fn result(check: Check) -> Call {
    Call {
        call: check.question,
        version: check.version,
        answer: check.absence.map_or(Answer::Answers, Answer::Absent),
        first_us: Some(micros(check.first)),
        second_us: check.second.map(micros),
    }
}

/// The file behind a library's name, from the list of what this program has loaded: a name that the loader has searched says little.
fn mapped(maps: &str, library: &Path) -> Option<String> {
    let name = library.file_name()?.to_str()?;
    let stem = name.split(".so").next()?;
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let of_that_name = |path: &&str| path.rsplit('/').next().is_some_and(|file| file == name || file.starts_with(&format!("{stem}.so")));
    paths.into_iter().find(of_that_name).map(|path| SafeText::new(path).to_string())
}

fn safe(path: &Path) -> String {
    SafeText::new(&path.to_string_lossy()).to_string()
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_was_loaded_is_found_by_its_name() {
        let maps = "7f00-7f10 r-xp 00000000 08:01 12 /usr/lib/x86_64-linux-gnu/libc.so.6\n\
                    7f20-7f30 r-xp 00000000 08:01 13                 /usr/lib64/libnvidia-ml.so.580.159.04\n7f40-7f50 rw-p 00000000 00:00 0 [stack]\n";
        assert_eq!(mapped(maps, Path::new("libnvidia-ml.so.1")).as_deref(), Some("/usr/lib64/libnvidia-ml.so.580.159.04"));
        assert_eq!(mapped(maps, Path::new("/opt/other.so")), None);
    }

    #[test]
    fn an_answer_that_takes_too_long_is_none() {
        let slow = || thread::sleep(Duration::from_secs(60));
        assert_eq!(within(Duration::from_millis(1), slow).unwrap(), None);
        assert_eq!(within(Duration::from_secs(60), || 7).unwrap(), Some(7));
    }

    #[test]
    fn a_uuid_is_not_told_whole() {
        assert_eq!(beginning("GPU-12345678-1234-1234-1234-123456789abc"), "GPU-1234…");
    }
}
