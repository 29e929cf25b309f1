//! The report for people: how it stands on the first line, then aligned facts, then what could be done.

use std::fmt::Write as _;

use super::driver::{State, Tried};
use super::machine::DeviceFile;
use super::{Answer, Call, Facts, Gpu, Report};
use crate::model::Bytes;

/// Nothing is wider, so that it can be pasted.
const WIDTH: usize = 100;
/// Width of the captions on the left.
const CAPTION: usize = 12;

/// The report. With `ascii` it has no other characters.
pub fn report(report: &Report, ascii: bool) -> String {
    let mut page = Page::default();
    page.paragraph("", &format!("vramtop {} {}.", report.version, report.verdict));
    page.blank();
    driver(&report.facts, &mut page);
    around(&report.facts, &mut page);
    gpus(&report.facts.gpus, &mut page);
    settings(&report.facts, &mut page);
    if !report.advice.is_empty() {
        page.blank();
        for (at, advice) in report.advice.iter().enumerate() {
            page.paragraph(if at == 0 { "to do" } else { "" }, &format!("- {advice}"));
        }
    }
    if ascii { page.0.replace('µ', "u").replace('…', "...").replace('·', "|").replace('×', "x") } else { page.0 }
}

/// Text that grows line by line.
#[derive(Debug, Default)]
struct Page(String);

impl Page {
    fn blank(&mut self) {
        self.0.push('\n');
    }

    /// A caption and a text that is broken between words.
    fn paragraph(&mut self, caption: &str, text: &str) {
        let indent = if caption.is_empty() && !text.starts_with("- ") { 0 } else { CAPTION };
        // Writing to a String cannot fail.
        let _ = write!(self.0, "{caption:indent$}");
        let mut column = indent;
        for (at, word) in text.split(' ').enumerate() {
            let width = word.chars().count();
            if at > 0 && column + 1 + width > WIDTH {
                let hang = indent + if text.starts_with("- ") { 2 } else { 0 };
                let _ = write!(self.0, "\n{:hang$}", "");
                column = hang;
            } else if at > 0 {
                self.0.push(' ');
                column += 1;
            }
            self.0.push_str(word);
            column += width;
        }
        self.0.push('\n');
    }
}

fn driver(facts: &Facts, page: &mut Page) {
    let driver = &facts.driver;
    let versions = [("", &driver.driver), ("NVML ", &driver.nvml), ("CUDA ", &driver.cuda), ("kernel module ", &facts.machine.module)];
    let versions: Vec<_> = versions.into_iter().filter_map(|(what, version)| version.as_ref().map(|version| format!("{what}{version}"))).collect();
    page.paragraph("driver", &if versions.is_empty() { "unknown: no kernel module is loaded".to_owned() } else { versions.join(" · ") });
    let library = match (&driver.library, &driver.found_as) {
        (Some(library), Some(name)) if library != name => format!("{library} (as {name})"),
        (Some(library), _) => library.clone(),
        (None, _) if driver.state == State::Missing => {
            // Where there is nothing, the name alone says it.
            let why = |tried: &Tried| if tried.reason.contains("No such file") { String::new() } else { format!(" ({})", tried.reason) };
            let tried: Vec<_> = driver.tried.iter().map(|tried| format!("{}{}", tried.place, why(tried))).collect();
            format!("none; tried {}", tried.join(", "))
        }
        (None, _) => "not told".to_owned(),
    };
    let started = driver.start_us.filter(|_| driver.state == State::Open).map_or(String::new(), |us| format!(" · started in {}", time(us)));
    page.paragraph("library", &(library + &started));
    let files: Vec<_> = facts.machine.device_files.iter().map(device_file).collect();
    page.paragraph("devices", &if files.is_empty() { "none: no /dev/nvidia*".to_owned() } else { files.join(" · ") });
}

fn device_file(file: &DeviceFile) -> String {
    let ours = match (&file.refused, file.permitted) {
        (Some(why), _) => format!(" ({why})"),
        (None, false) => " (not permitted)".to_owned(),
        (None, true) => String::new(),
    };
    format!("{} {}{ours}", file.path, file.mode)
}

fn around(facts: &Facts, page: &mut Page) {
    let machine = &facts.machine;
    let kernel = machine.kernel.as_ref().map(|kernel| format!("Linux {kernel}"));
    let mut system: Vec<String> = machine.system.iter().cloned().chain(kernel).collect();
    system.push(machine.arch.to_owned());
    system.extend(machine.wsl.then(|| "WSL".to_owned()));
    system.extend(machine.nixos.then(|| "NixOS".to_owned()));
    page.paragraph("system", &system.join(" · "));
    let namespace = if facts.processes.host_namespace { "the host's PID namespace" } else { "a PID namespace of its own" };
    let mut container = vec![machine.container.clone().unwrap_or_else(|| "none known".to_owned()), namespace.to_owned()];
    container.extend(machine.capabilities.as_ref().map(|list| format!("driver capabilities {list}")));
    page.paragraph("container", &container.join(" · "));
    if facts.driver.state == State::Open {
        page.paragraph("processes", &format!("{} listed · {} of them visible here", facts.processes.listed, facts.processes.visible));
    }
    let terminal = &facts.terminal;
    let stream = |name, is| format!("{name} is {} terminal", if is { "a" } else { "no" });
    let mut parts = vec![terminal.term.as_ref().map_or("TERM not set".to_owned(), |term| format!("TERM {term}"))];
    parts.extend(terminal.colorterm.as_ref().map(|value| format!("COLORTERM {value}")));
    parts.extend(terminal.no_color.then(|| "NO_COLOR".to_owned()));
    parts.extend(terminal.inside.map(|inside| format!("inside {inside}")));
    parts.push(terminal.locale.as_ref().map_or("no locale".to_owned(), |locale| format!("locale {locale}")));
    parts.push(format!("{}, {}", terminal.colors, terminal.glyphs));
    parts.extend(terminal.size.map(|(width, height)| format!("{width}×{height}")));
    parts.extend([stream("stdin", terminal.stdin), stream("stdout", terminal.stdout)]);
    page.paragraph("terminal", &parts.join(" · "));
}

/// GPUs of the same answers share a table, whose times are the longest of them: eight equal cards still fit one screen.
fn gpus(gpus: &[Gpu], page: &mut Page) {
    let mut groups: Vec<Vec<&Gpu>> = Vec::new();
    for gpu in gpus {
        match groups.iter_mut().find(|group| group.first().is_some_and(|first| alike(first, gpu))) {
            Some(group) => group.push(gpu),
            None => groups.push(vec![gpu]),
        }
    }
    for group in groups {
        page.blank();
        let Some(first) = group.first() else { continue };
        let uuids = group.iter().map(|gpu| gpu.uuid.as_str()).filter(|uuid| !uuid.is_empty()).collect::<Vec<_>>().join(", ");
        let total = first.total.map_or("total unknown".to_owned(), |total| format!("{:.1} GiB", Bytes(total).as_gib()));
        let caption = format!("GPU {:<8}", labels(&group));
        if let Some(error) = &first.error {
            page.paragraph(&caption, &format!("cannot be opened: {error}"));
            continue;
        }
        let note = if group.len() == 1 { "µs at first, then again" } else { "longest µs at first, then again" };
        page.paragraph(&caption, &format!("{} · {total} · {uuids} · {note}", first.name));
        table(&group, page);
    }
}

/// `0,1` or, for three and more in a row, `0-7`.
fn labels(group: &[&Gpu]) -> String {
    let numbers: Vec<Option<u32>> = group.iter().map(|gpu| gpu.label.parse().ok()).collect();
    let in_a_row = numbers.windows(2).all(|pair| matches!(pair, [Some(a), Some(b)] if a + 1 == *b));
    match (group.first(), group.last()) {
        (Some(first), Some(last)) if in_a_row && group.len() > 2 => format!("{}-{}", first.label, last.label),
        _ => group.iter().map(|gpu| gpu.label.as_str()).collect::<Vec<_>>().join(","),
    }
}

fn alike(a: &Gpu, b: &Gpu) -> bool {
    let answers = |gpu: &Gpu| gpu.calls.iter().map(|call| (call.call, call.version, call.answer.clone())).collect::<Vec<_>>();
    a.name == b.name && a.total == b.total && a.error == b.error && answers(a) == answers(b)
}

/// The questions in two columns.
fn table(group: &[&Gpu], page: &mut Page) {
    let Some(first) = group.first() else { return };
    let longest = |at: usize, of: fn(&Call) -> Option<u64>| group.iter().filter_map(|gpu| of(gpu.calls.get(at)?)).max();
    let cells: Vec<String> =
        (0..first.calls.len()).map(|at| cell(&first.calls[at], longest(at, |call| call.first_us), longest(at, |call| call.second_us))).collect();
    let rows = cells.len().div_ceil(2);
    for (left, at) in cells.iter().take(rows).zip(rows..) {
        let line = format!("  {left:<46}  {}", cells.get(at).map_or("", String::as_str));
        page.0.push_str(line.trim_end());
        page.blank();
    }
}

fn cell(call: &Call, first: Option<u64>, second: Option<u64>) -> String {
    let version = call.version.unwrap_or("");
    match &call.answer {
        Answer::Answers => {
            let us = |time: Option<u64>| time.map_or(String::new(), |us| us.to_string());
            format!("{:<17} {version:<3} {:>9} {:>9}", call.call, us(first), us(second))
        }
        answer => format!("{:<17} {version:<3} {:>19}", call.call, answer.to_string()),
    }
}

fn settings(facts: &Facts, page: &mut Page) {
    let settings = &facts.settings;
    page.blank();
    page.paragraph("settings", settings.file.as_deref().unwrap_or("no file"));
    // A long path stands out of the column and not the column out of the page.
    let width = settings.values.iter().map(|value| value.value.chars().count()).filter(|width| *width <= 40).max().unwrap_or(0).max(12);
    for value in &settings.values {
        let text = if value.value.is_empty() { "\"\"" } else { &value.value };
        let _ = writeln!(page.0, "  {:<17} {text:<width$} {}", value.key, value.origin);
    }
}

/// Microseconds for people.
fn time(us: u64) -> String {
    if us < 10_000 { format!("{us} µs") } else { format!("{} ms", us / 1000) }
}
