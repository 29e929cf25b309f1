//! The lines of text in the close look at a process: what is known of it, and where something is not, why and how to know it.

use super::figures::{UNKNOWN, gib};
use super::selected::{command, context};
use crate::app::{App, Detail, Mode, OwnIndex, Picture, TableRow};
use crate::model::{Absence, Details, Reading, Visibility};
use crate::monitor::ProcessRow;

/// A caption with its text, and when it is given up; the highest number first.
pub(super) struct Fact {
    pub(super) caption: &'static str,
    pub(super) text: String,
    /// Lines that it may take.
    pub(super) most: u16,
    pub(super) given_up: u8,
}

/// All of them, from top to bottom.
pub(super) fn facts(app: &App, detail: &Detail, row: &TableRow, process: &ProcessRow) -> Vec<Fact> {
    let picture = app.picture();
    let is_live = picture.process(row).is_some();
    let fact = |caption, text, most, given_up| Fact { caption, text, most, given_up };
    let mut facts = Vec::with_capacity(6);
    facts.extend(elsewhere(picture, process).map(|text| fact("ALSO ON", text, 1, 3)));
    if process.facts.is_gone() {
        facts.push(fact("COMMAND", command(&process.facts), 3, 0));
        let why = "it has ended, or is no longer visible here, and the driver still lists it: its memory is free once the driver lets go of it";
        facts.push(fact("NOT HERE", why.to_owned(), 2, 1));
        return facts;
    }
    if process.facts.visibility == Visibility::NotHere {
        let why = "the driver names a PID of another namespace, or of a process that is gone: no more than its memory is known";
        facts.push(fact("NOT HERE", why.to_owned(), 2, 1));
        facts.push(fact("", "run vramtop on the host, or start this container with the host's PIDs (docker run --pid=host)".to_owned(), 2, 2));
        return facts;
    }
    facts.push(fact("COMMAND", command(&process.facts), 3, 0));
    if is_live {
        facts.push(fact("FROM", family(process), 2, 5));
    }
    facts.push(fact("CONTEXT", surroundings(app, detail, picture, process), 2, 2));
    if is_live {
        facts.push(fact("HOST", host(process, picture.is_past()), 2, 4));
    }
    facts
}

/// What it holds on other GPUs.
fn elsewhere(picture: &Picture, process: &ProcessRow) -> Option<String> {
    let monitor = picture.monitor();
    let others = monitor.processes().iter().filter(|other| other.facts.key == process.facts.key && other.gpu != process.gpu);
    let parts: Vec<String> =
        others.filter_map(|other| Some(format!("GPU {} {}", monitor.gpus().get(other.gpu)?.label, gib(other.bytes_now())))).collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// Why nothing was found out about it.
pub(super) fn no_details(app: &App, row: &TableRow, process: &ProcessRow) -> &'static str {
    match process.facts.visibility {
        _ if app.setup().mode != Mode::Live => "not in a recording",
        _ if row.is_ended() || process.facts.is_gone() => "it has ended",
        Visibility::NotHere => "it is not visible here",
        Visibility::Here => "asking …",
    }
}

/// A reason in a sentence that says already that there is no answer.
pub(super) fn reason(why: &Absence) -> String {
    if let Absence::Failed(reason) = why { reason.to_string() } else { why.to_string() }
}

/// Who started it, as that was at first sight.
fn family(process: &ProcessRow) -> String {
    let facts = &process.facts;
    // Of the first process of the machine, and in a recording of an older version, the number alone is known.
    let parent = facts.parent.filter(|_| facts.ancestors.is_empty()).map(|pid| format!("process {pid}"));
    let mut family: Vec<String> =
        facts.ancestors.iter().rev().map(|ancestor| format!("{} {}", ancestor.name, ancestor.key.pid)).chain(parent).collect();
    if family.is_empty() {
        return "not known".to_owned();
    }
    family.push(format!("{} {}", facts.what, facts.key.pid));
    family.join(" › ")
}

/// Job, rank, container, its own GPU numbers.
fn surroundings(app: &App, detail: &Detail, picture: &Picture, process: &ProcessRow) -> String {
    let mut parts = vec![context(&process.facts)];
    if process.facts.container.is_none() {
        parts.push("no container".to_owned());
    }
    match &detail.details {
        Some(details) => parts.extend(from_environment(details, detail, picture, process)),
        None if app.setup().mode == Mode::Live => {}
        None => parts.push("its environment is not in a recording".to_owned()),
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

fn from_environment(details: &Details, detail: &Detail, picture: &Picture, process: &ProcessRow) -> Vec<String> {
    if let Reading::Absent(why) = &details.environment {
        return vec![format!("its environment cannot be read ({})", reason(why))];
    }
    let conda = details.variable("CONDA_DEFAULT_ENV").map(|name| format!("conda {name}"));
    let venv = details.variable("VIRTUAL_ENV").and_then(|path| path.rsplit('/').next()).map(|name| format!("venv {name}"));
    let variable = details.variable("CUDA_VISIBLE_DEVICES").map(|value| format!("CUDA_VISIBLE_DEVICES={value}"));
    let label = picture.monitor().gpus().get(process.gpu).map_or(UNKNOWN, |gpu| &gpu.label);
    let index = detail.own_index(picture).map(|index| match index {
        OwnIndex::Known(index) => format!("its cuda:{index} = GPU {label} ({})", variable.as_deref().unwrap_or("CUDA_VISIBLE_DEVICES is not set")),
        OwnIndex::Unknown(why) => format!("its own number of GPU {label} is not known: {why}"),
    });
    [conda, venv, index].into_iter().flatten().collect()
}

fn host(process: &ProcessRow, is_past: bool) -> String {
    let sm = process.sm_percent.get().map(|percent| format!("SM {percent} %"));
    let kind = Some(format!("type {}", process.kind.letters()));
    let host = match &process.host {
        Reading::Value(host) => {
            let cpu = host.cpu_permille.map(|permille| format!("CPU {} % of a core", (permille + 5) / 10));
            [cpu, Some(format!("RSS {} GiB", host.rss)), Some(format!("state {}{}", host.state.0, state_word(host.state.0)))]
        }
        Reading::Absent(_) if is_past => [Some("CPU and RSS are kept of the newest step alone".to_owned()), None, None],
        Reading::Absent(why) => [Some(format!("CPU and RSS {UNKNOWN} ({})", reason(why))), None, None],
    };
    host.into_iter().chain([sm, kind]).flatten().collect::<Vec<_>>().join(" · ")
}

/// What a state means for who wants to end the process.
const fn state_word(state: char) -> &'static str {
    match state {
        'D' => " (waits in the kernel: signals are heeded once it comes back, KILL perhaps now)",
        'Z' => " (a zombie: its memory is freed when its parent takes note)",
        'T' => " (stopped)",
        _ => "",
    }
}
