//! What a card showed at a moment, in sentences and as an object.

use jiff::tz::TimeZone;
use serde_json::json;

use super::AlsoSeen;
use crate::inside::advice::said;
use crate::inside::moment::Seen;
use crate::model::{Bytes, Moment};
use crate::record::{local, utc};

/// `12:08:18.123`, in the zone of the reader.
pub fn clock(at: Moment, zone: &TimeZone) -> String {
    local(at, zone).to_string().chars().skip(11).take(12).collect()
}

/// The sentences about one card.
pub fn sentences(seen: &Seen, zone: &TimeZone) -> Vec<String> {
    let index = seen.index.map_or_else(|| "a MIG instance".to_owned(), |index| format!("GPU {index}"));
    let mut lines = vec![format!(
        "{index} ({}): {} of {} GiB were in use at {}{}.",
        seen.name,
        said(seen.used.0),
        said(seen.room.0),
        clock(seen.time, zone),
        given_back(seen)
    )];
    if !seen.holders.is_empty() {
        let named: Vec<String> = seen.holders.iter().map(holder).collect();
        lines.push(format!("Held by {}.", named.join(" · ")));
    }
    let grown = seen.before.zip(seen.minute_before).and_then(|(before, minute)| Some((before, before.checked_sub(minute)?)));
    if let Some((before, grown)) = grown.filter(|(_, grown)| *grown > Bytes::mib(256)) {
        lines.push(format!("It had grown by {} to {} in the minute before that.", said(grown.0), said(before.0)));
    }
    lines
}

fn given_back(seen: &Seen) -> String {
    match seen.used.checked_sub(seen.after) {
        Some(back) if back > Bytes::gib(1) => {
            format!(", and {} less at the end of that step: a cache given back, or a process that ended", said(back.0))
        }
        _ => String::new(),
    }
}

fn holder(holder: &crate::inside::moment::Holder) -> String {
    let user = holder.user.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string);
    format!("{user}:{}({}) {}", holder.what, holder.pid, said(holder.memory.0))
}

/// What cards showed, after the sentence on which of them are meant.
pub fn also_seen(source: String, seen: &[Seen], which: Option<String>, zone: &TimeZone) -> AlsoSeen {
    AlsoSeen { source, lines: which.into_iter().chain(seen.iter().flat_map(|seen| sentences(seen, zone))).collect() }
}

/// The same as one object a card.
///
/// # Errors
/// None in practice: every field is a figure or a text.
pub fn seen_line(file: &str, seen: &Seen) -> serde_json::Result<String> {
    let holders: Vec<_> = seen
        .holders
        .iter()
        .map(|holder| json!({"pid": holder.pid, "user": holder.user.as_ref().map(ToString::to_string), "what": holder.what.as_str(), "memory": holder.memory.0}))
        .collect();
    let object = json!({
        "file": file, "type": "peak", "device": seen.index, "uuid": seen.id.as_str(), "name": seen.name.as_str(), "time": utc(seen.time).to_string(), "used": seen.used.0,
        "capacity": seen.room.0, "after": seen.after.0, "minute_before": seen.minute_before.map(|bytes| bytes.0), "holders": holders,
    });
    Ok(serde_json::to_string(&object)? + "\n")
}
