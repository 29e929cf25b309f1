//! What follows from the facts: how it stands, and what could be done about it. Pure functions.

use serde::Serialize;

use super::driver::State;
use super::{Answer, Call, Facts, Gpu};
use crate::collect::SourceError;
use crate::model::Absence;

/// How it stands, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// All GPUs can be read.
    Works,
    /// Some can.
    SomeUnreadable,
    /// There is no library, no driver, or no GPU that can be read.
    NoDriver,
    /// The system does not permit it.
    NotPermitted,
    /// The driver leaves questions unanswered.
    Silent,
    /// All GPUs could be read, but the settings are wrong.
    WrongSettings,
}

/// How it stands, in a word and in a sentence.
pub(super) fn verdict(facts: &Facts) -> (Outcome, String) {
    let driver = &facts.driver;
    let what_happened = driver.problem.as_deref().and_then(|text| text.lines().next()).unwrap_or("the driver does not start");
    match driver.state {
        State::Missing => (Outcome::NoDriver, "does not work here: no usable NVIDIA driver library".to_owned()),
        State::Refused => (Outcome::NoDriver, format!("does not work here: {what_happened}")),
        State::NotPermitted => (Outcome::NotPermitted, format!("does not work here: {what_happened}")),
        State::Silent => (Outcome::Silent, "does not work here: the NVIDIA driver does not answer".to_owned()),
        State::Asleep => {
            settings(facts, "was not tried: every GPU sleeps, and a question would wake it (vramtop doctor --wake asks all the same)".to_owned())
        }
        State::Open if facts.gpus.is_empty() => (Outcome::NoDriver, "does not work here: the NVIDIA driver answers, but it has no GPU".to_owned()),
        State::Open => of_gpus(facts),
    }
}

fn of_gpus(facts: &Facts) -> (Outcome, String) {
    let (bad, good): (Vec<&Gpu>, Vec<&Gpu>) = facts.gpus.iter().partition(|gpu| trouble(gpu).is_some());
    let troubles: Vec<_> = bad.iter().filter_map(|gpu| trouble(gpu).map(|why| format!("GPU {}: {why}", gpu.label))).collect();
    if good.is_empty() {
        let silent = bad.iter().any(|gpu| gpu.calls.iter().any(is_silent) || gpu.error.as_deref().is_some_and(|why| why.starts_with("no answer")));
        let outcome = if silent { Outcome::Silent } else { Outcome::NoDriver };
        return (outcome, format!("does not work here: {}", troubles.join("; ")));
    }
    let mut parts = vec![format!("{} {} answer{}", good.len(), if good.len() == 1 { "GPU" } else { "GPUs" }, if good.len() == 1 { "s" } else { "" })];
    let denied = calls_that(&good, |answer| matches!(answer, Answer::Absent(Absence::NotPermitted)));
    let failed = calls_that(&good, |answer| matches!(answer, Answer::Absent(Absence::Failed(_))));
    parts.extend(Some(denied).filter(|calls| !calls.is_empty()).map(|calls| format!("not permitted: {}", calls.join(", "))));
    parts.extend(Some(failed).filter(|calls| !calls.is_empty()).map(|calls| format!("failed: {}", calls.join(", "))));
    if bad.is_empty() {
        return settings(facts, format!("works here: {}", parts.join("; ")));
    }
    (Outcome::SomeUnreadable, format!("works here in part: {}; {}", troubles.join("; "), parts.join("; ")))
}

/// The sentence and what the settings add to it.
fn settings(facts: &Facts, sentence: String) -> (Outcome, String) {
    match facts.settings.error {
        None => (Outcome::Works, sentence),
        Some(_) => (Outcome::WrongSettings, format!("{sentence}; but its settings are wrong")),
    }
}

/// Why a GPU cannot be read; `None` where it can.
fn trouble(gpu: &Gpu) -> Option<String> {
    if let Some(error) = &gpu.error {
        return Some(format!("cannot be opened: {error}"));
    }
    let of = |call: &Call| format!("{}: {}", call.call, call.answer);
    // Without its memory there is nothing to be shown; "not supported" is a GPU that shares the host's.
    let memory = |call: &&Call| call.call == "memory" && matches!(call.answer, Answer::Absent(Absence::Failed(_) | Absence::NotPermitted));
    gpu.calls.iter().find(|call| is_silent(call)).or_else(|| gpu.calls.iter().find(memory)).map(of)
}

const fn is_silent(call: &Call) -> bool {
    matches!(call.answer, Answer::Silent(_))
}

/// The questions with such an answer on any of these GPUs, each once.
fn calls_that(gpus: &[&Gpu], is: impl Fn(&Answer) -> bool) -> Vec<&'static str> {
    let mut names = Vec::new();
    for call in gpus.iter().flat_map(|gpu| &gpu.calls).filter(|call| is(&call.answer)) {
        if !names.contains(&call.call) {
            names.push(call.call);
        }
    }
    names
}

/// What could be done, the most useful first.
pub(super) fn advice(facts: &Facts) -> Vec<String> {
    let mut advice = Vec::new();
    advice.extend(facts.settings.error.as_ref().map(|error| format!("correct the settings: {error} (vramtop --print-config prints a sample)")));
    advice.extend(facts.settings.unread.as_ref().map(|error| format!("{error}: the defaults are in force, or name another with --config")));
    opening(facts, &mut advice);
    device_files(facts, &mut advice);
    around(facts, &mut advice);
    processes(facts, &mut advice);
    answers(facts, &mut advice);
    advice
}

fn opening(facts: &Facts, advice: &mut Vec<String>) {
    let second_line = |text: &str| text.lines().nth(1).map(str::to_owned);
    match facts.driver.state {
        State::Open if facts.gpus.is_empty() => advice.extend(second_line(&SourceError::NoGpu.to_string())),
        State::Silent => advice.push("the driver may be wedged: see dmesg for NVRM and Xid lines, and whether nvidia-smi answers".to_owned()),
        _ => advice.extend(facts.driver.problem.as_deref().and_then(second_line)),
    }
    let (module, driver) = (facts.machine.module.as_deref(), facts.driver.driver.as_deref());
    if let (Some(module), Some(driver)) = (module, driver)
        && module != driver
    {
        advice.push(format!("the kernel module is version {module} and its library {driver}: reload the nvidia modules or reboot"));
    }
}

fn device_files(facts: &Facts, advice: &mut Vec<String>) {
    let files = &facts.machine.device_files;
    for file in files.iter().filter(|file| file.refused.is_some() && file.permitted) {
        advice.push(format!(
            "{} has the right mode and still cannot be opened: the container's device rules have lost it (a systemd daemon-reload does that). Start the container anew",
            file.path
        ));
    }
    let denied: Vec<_> = files.iter().filter(|file| !file.permitted && !file.path.contains("nvidia-cap")).map(|file| file.path.as_str()).collect();
    if !denied.is_empty() {
        advice.push(format!("this user may not read and write {}: ask for access, often by a group (video, render)", denied.join(", ")));
    }
}

fn around(facts: &Facts, advice: &mut Vec<String>) {
    let machine = &facts.machine;
    let missing = facts.driver.state == State::Missing;
    if missing && let Some(capabilities) = machine.capabilities.as_deref().filter(|list| !list.split(',').any(|c| matches!(c, "utility" | "all"))) {
        advice.push(format!("NVIDIA_DRIVER_CAPABILITIES is {capabilities:?} and lacks utility, which brings the library into the container"));
    }
    if missing && machine.wsl {
        advice.push(
            "under WSL the library lies in /usr/lib/wsl/lib: install the NVIDIA driver in Windows, none in Linux, then wsl --shutdown".to_owned(),
        );
    }
    if missing && machine.nixos {
        advice.push("on NixOS the library lies in /run/opengl-driver/lib: set hardware.graphics.enable and services.xserver.videoDrivers".to_owned());
    }
    if machine.wsl && facts.driver.state == State::Open {
        advice.push("under WSL the driver does not tell how much memory each process holds".to_owned());
    }
}

fn processes(facts: &Facts, advice: &mut Vec<String>) {
    let hidden = facts.processes.listed - facts.processes.visible;
    if hidden == 0 {
        return;
    }
    let whose = format!("{hidden} of {} processes cannot be named here", facts.processes.listed);
    advice.push(if !facts.processes.host_namespace {
        let how = match facts.machine.container.as_deref() {
            Some("kubernetes") => "hostPID: true in the pod's spec",
            Some("docker" | "podman") => "--pid=host",
            _ => "the host's PID namespace (docker and podman: --pid=host; Kubernetes: hostPID: true)",
        };
        format!("{whose}, since the driver gives the host's PIDs: start the container with {how}")
    } else if facts.machine.hidden_processes {
        format!("{whose}, since /proc is mounted with hidepid: run as root, or in the group that its gid= names")
    } else {
        format!("{whose}: they have ended, or are of another machine or container runtime")
    });
}

fn answers(facts: &Facts, advice: &mut Vec<String>) {
    let gpus: Vec<&Gpu> = facts.gpus.iter().collect();
    if !calls_that(&gpus, |answer| matches!(answer, Answer::Silent(_))).is_empty() || gpus.iter().any(|gpu| gpu.error.is_some()) {
        advice.push(
            "for what a GPU leaves unanswered or cannot be opened: see dmesg for NVRM and Xid lines, and whether nvidia-smi answers".to_owned(),
        );
    }
    let denied = calls_that(&gpus, |answer| matches!(answer, Answer::Absent(Absence::NotPermitted)));
    if !denied.is_empty() {
        advice.push(format!("not permitted to this user: {}. See whether root may: sudo vramtop doctor", denied.join(", ")));
    }
    let slow = facts.gpus.iter().flat_map(|gpu| &gpu.calls).filter(|call| call.call == "memory").filter_map(|call| call.second_us).max();
    if let Some(us) = slow.filter(|us| *us > SLOW_MEMORY_US) {
        advice.push(format!("a reading of the memory takes {us} µs here: a lower memory_hz in the settings disturbs the driver less"));
    }
}

/// At 20 readings a second this is a twentieth of the time.
const SLOW_MEMORY_US: u64 = 2_500;

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
