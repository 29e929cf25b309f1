//! Who holds the memory of one GPU, largest first, each in one short text.

use super::line::{Glyphs, Item};
use crate::model::{Bytes, DeviceMemory, Visibility};
use crate::monitor::{GpuRow, Monitor, ProcessRow};

/// The most holders that a line names, however long it may be; the others are counted.
pub const MOST_NAMED: usize = 8;

/// The holders of one GPU, then what no listed process owns, and the host's part of a shared pool.
pub(super) fn holders(monitor: &Monitor, at: usize, row: &GpuRow, glyphs: Glyphs) -> Vec<Item> {
    let mut processes: Vec<&ProcessRow> = monitor.processes_of(at).collect();
    processes.sort_by_key(|process| (std::cmp::Reverse(process.bytes()), process.facts.key.pid));
    let more = processes.split_off(MOST_NAMED.min(processes.len()));
    let of_process = |process: &ProcessRow| {
        let Item { text, bytes } = item(&name(process, glyphs), process.bytes(), glyphs);
        match monitor.kept_age_ms(process) {
            // Not known to be held any more, so it is in no sum.
            Some(age_ms) => Item { text: format!("{text} {}s ago", age_ms / 1000), bytes: None },
            None => Item { text, bytes },
        }
    };
    let mut items: Vec<Item> = processes.into_iter().map(of_process).collect();
    let mut others = row.untracked;
    for process in more {
        others.add(process.bytes_now());
    }
    if let Some(share) = others.share() {
        items.push(item(
            &match others.count {
                1 => "1 other".to_owned(),
                count => format!("{count} others"),
            },
            share,
            glyphs,
        ));
    }
    if let Some(bytes) = row.ledger.get().and_then(|ledger| ledger.notable_unattributed()) {
        items.push(item("unattributed", Some(bytes), glyphs));
    }
    if let Some(host) = row.memory.value().and_then(DeviceMemory::host).filter(|host| *host > Bytes::ZERO) {
        items.push(item("host", Some(host), glyphs));
    }
    items
}

fn item(name: &str, bytes: Option<Bytes>, glyphs: Glyphs) -> Item {
    let text = match bytes {
        Some(bytes) => format!("{name} {bytes}G"),
        None => format!("{name} {}", glyphs.unknown),
    };
    Item { text, bytes }
}

/// `ann:train.py(41877)`; `?(7745)` for one that is not visible here.
fn name(process: &ProcessRow, glyphs: Glyphs) -> String {
    let facts = &process.facts;
    let pid = facts.key.pid;
    if facts.visibility == Visibility::NotHere {
        return format!("?({pid})");
    }
    let what = glyphs.foreign(facts.what.as_str());
    match &facts.user {
        Some(user) => format!("{}:{what}({pid})", glyphs.foreign(user.as_str())),
        None => format!("{what}({pid})"),
    }
}
