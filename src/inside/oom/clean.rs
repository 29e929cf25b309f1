//! One raw line as its program wrote it: without ANSI codes, JSON around it, rank tags, levels and times. Knows no memory text.

use std::borrow::Cow;

use serde_json::Value;

use super::LogTime;
use super::pattern::pattern;
use super::times;

/// A line without what others put around it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Line {
    /// Its number in the log, counted from 1.
    pub(super) number: u64,
    /// Whose it is: the tag that a launcher put before it. Lines of one tag are one stream.
    pub(super) tag: String,
    /// The rank in that tag.
    pub(super) rank: Option<u32>,
    /// The time in it.
    pub(super) time: Option<LogTime>,
    /// Whether a logger put its stamp here: such a line continues only what was stamped at the same time.
    pub(super) begins: bool,
    /// Width on the screen, for telling that it was wrapped there.
    pub(super) width: usize,
    /// The text.
    pub(super) text: String,
}

pattern!(ANSI, "\u{1b}(?:\\[[0-?]*[ -/]*[@-~]|\\][^\u{7}\u{1b}]*(?:\u{7}|\u{1b}\\\\)|[@-Z\\\\-_])");
// Codes whose escape character was lost on the way through a web page, or is written out.
pattern!(ANSI_SPELLED, r"(?:\^\[|\\x1b|\\u001b|\\033|\\e)\[[0-9;]*m");
pattern!(
    TAG,
    r"^(?:\[(?P<rank>(?i:rank|default|worker_?tp|tp|dp|local_rank)[ _:=]?\d+)\]:?|\[(?P<mpi>\d+(?:,\d+)?)\](?:<std(?:err|out)>)?:|\[[\d,]+\]<std(?:err|out)>:|(?P<slurm>\d{1,5}): |(?P<actor>\((?:[A-Za-z_][\w.]*\s+)?(?:pid|ip)=[^)]*\))|\((?P<worker>Worker(?:_\w+)?|EngineCore(?:_\w+)?|APIServer)\)|(?i:rank)[ =](?P<plain>\d+):|(?P<host>[a-z][a-z0-9]*(?:-[a-z0-9]+)*\d(?:\.[a-z][\w.-]*)?): )\s?"
);
pattern!(
    TIME,
    r#"^(?:\[|\(|time="?)?(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?\s?(?:Z|[+-]\d\d:?\d\d)?|[A-Z][a-z]{2}\s+\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)?|\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?|1[5-9]\d{8}(?:\.\d{1,9})?\b|\d\d:\d\d:\d\d(?:[.,]\d+)?)(?:\]|\)|")?[:,]?\s*(?:[-|]\s+)?"#
);
pattern!(
    LEVEL,
    r"^(?:\[(?i:trace|debug|info|notice|warn|warning|error|err|critical|fatal|e|w|i)\]|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\b:?|[EWIF] (?:\S+\]\s)?)\s?(?:[-|]\s+)?"
);
pattern!(
    NOISE,
    r"^(?:[│┃║]\s+|[\w.-]+ [\w./@-]+\[\d+\]: |[\w.:-]+ - (?:TRACE|DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL) - |stderr [FP] |stdout [FP] |[\w.-]+\s+\| |\[[\w./-]+\.(?:py|cc|cpp|rs|go)(?::\d+)?\]\s?|\[[\w.-]+\]\[[A-Z]+\]\s?|[\w.-]+ kernel: |kernel: |\[\s*\d+\.\d{6}\] |> )"
);
pattern!(RANK, r"(\d+)(?:,\d+)?\]?$");
pattern!(ACTOR_RANK, r"(?i)(?:rank[ _=]?|TP|DP)(\d+)");

/// What a web page or a chat puts into a text.
const MARKUP: [(&str, &str); 4] = [("&nbsp;", " "), ("&#160;", " "), ("&#xa0;", " "), ("**", "")];

/// Characters that a tag, a time or a level has at most.
const LONGEST_PREFIX: usize = 160;

/// The fields of a JSON line that hold the message, in the order in which they are tried.
const MESSAGES: [&str; 15] = [
    "log",
    "message",
    "msg",
    "MESSAGE",
    "text",
    "textPayload",
    "event",
    "body",
    "line",
    "error",
    "exception",
    "exc_info",
    "stack",
    "stacktrace",
    "detail",
];
const TIMES: [&str; 6] = ["time", "timestamp", "@timestamp", "ts", "asctime", "t"];

/// A line of the log, as one line or more: JSON strings and carriage returns hold several.
pub(super) fn clean(number: u64, raw: &str, into: &mut Vec<Line>) {
    let text = without_codes(raw);
    let trimmed = text.trim();
    let mut time = None;
    let unpacked: Cow<'_, str> = match trimmed.starts_with('{').then(|| serde_json::from_str::<Value>(trimmed)) {
        Some(Ok(value)) => {
            time = TIMES.iter().find_map(|key| times::of_json(value.get(key)?));
            let mut strings = String::new();
            messages(&value, 0, &mut strings);
            strings.into()
        }
        _ if text.contains("\\n") || text.contains("\\\"") || text.contains("\\t") => unescaped(&text).into(),
        _ => text,
    };
    let one = unpacked.trim_end_matches(['\n', '\r']);
    if one.is_empty() {
        into.push(Line { number, time, ..Line::default() });
        return;
    }
    for part in one.split(['\n', '\r']) {
        if part.is_empty() && one.contains('\r') {
            continue;
        }
        let mut line = stripped(number, part);
        line.time = line.time.or(time);
        into.push(line);
    }
}

fn without_codes(raw: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(raw.trim_start_matches('\u{feff}'));
    for (mark, plain) in MARKUP {
        if text.contains(mark) {
            text = text.replace(mark, plain).into();
        }
    }
    for (pattern, sign) in [(&ANSI, "\u{1b}"), (&ANSI_SPELLED, "[")] {
        if let Some(pattern) = pattern.as_ref().filter(|_| text.contains(sign)) {
            text = pattern.replace_all(&text, "").into_owned().into();
        }
    }
    text
}

/// The strings of a JSON value that can hold a message, line after line.
fn messages(value: &Value, depth: usize, into: &mut String) {
    if depth > 6 || into.len() > 1 << 20 {
        return;
    }
    match value {
        Value::String(text) => {
            into.push_str(text.trim_end_matches('\n'));
            into.push('\n');
        }
        Value::Array(values) => values.iter().for_each(|value| messages(value, depth + 1, into)),
        Value::Object(fields) => {
            let named = MESSAGES.iter().filter_map(|key| fields.get(*key));
            let others = fields.iter().filter(|(key, value)| !MESSAGES.contains(&key.as_str()) && (value.is_object() || value.is_array()));
            let before = into.len();
            named.chain(others.map(|(_, value)| value)).for_each(|value| messages(value, depth + 1, into));
            if into.len() == before {
                fields.values().filter(|value| value.is_string()).for_each(|value| messages(value, depth + 1, into));
            }
        }
        _ => {}
    }
}

/// A text in which line breaks and quotes are written out, as in the representation of a list of errors.
fn unescaped(text: &str) -> String {
    text.replace("\\r\\n", "\n").replace("\\n", "\n").replace("\\t", " ").replace("\\\"", "\"").replace("\\u0060", "`").replace("\\u001b", "\u{1b}")
}

fn stripped(number: u64, text: &str) -> Line {
    let mut line = Line { number, width: text.trim_end().chars().count(), ..Line::default() };
    let mut rest = text.trim_end().trim_end_matches(['│', '┃', '║']).trim_end();
    // Each kind may come in any order and more than once: a launcher's tag before a logger's time.
    for _ in 0..8 {
        let before = rest.len();
        let unindented = rest.trim_start();
        let head = beginning(unindented);
        if let Some(found) = TAG.as_ref().and_then(|tag| tag.captures(head)).filter(|found| !is_device(found)) {
            let tag = found.get(0).map_or("", |whole| whole.as_str());
            line.tag.push_str(tag.trim());
            line.rank = rank(&found).or(line.rank);
            rest = &unindented[tag.len()..];
            continue;
        }
        if let Some(time) = TIME.as_ref().and_then(|time| time.find(head)) {
            line.time = times::of_text(time.as_str()).or(line.time);
            line.begins = true;
            rest = &unindented[time.end()..];
            continue;
        }
        // pytest's mark of a line of an error; a single letter before one blank is a level.
        if let Some(after) = unindented.strip_prefix("E   ") {
            rest = after;
            continue;
        }
        if let Some(level) = LEVEL.as_ref().and_then(|level| level.find(head)).filter(|level| level.end() < unindented.len()) {
            line.begins = true;
            rest = &unindented[level.end()..];
            continue;
        }
        if let Some(noise) = NOISE.as_ref().and_then(|noise| noise.find(head)) {
            // A container's runtime stamps each line of a record.
            line.begins &= !noise.as_str().starts_with("std");
            rest = &unindented[noise.end()..];
        }
        if rest.len() == before {
            break;
        }
    }
    rest.trim().clone_into(&mut line.text);
    line
}

/// `cuda0: ` before a line is the name of a device and not of a host.
fn is_device(tag: &regex_lite::Captures<'_>) -> bool {
    tag.name("host").is_some_and(|host| ["cuda", "gpu", "hip", "rocm", "vulkan", "device", "xpu"].iter().any(|name| host.as_str().starts_with(name)))
}

/// What can be before a text: no prefix is longer.
pub(super) fn beginning(text: &str) -> &str {
    text.char_indices().nth(LONGEST_PREFIX).map_or(text, |(at, _)| &text[..at])
}

fn rank(found: &regex_lite::Captures<'_>) -> Option<u32> {
    if let Some(plain) = found.name("slurm").or_else(|| found.name("plain")) {
        return plain.as_str().parse().ok();
    }
    if let Some(tag) = found.name("rank").or_else(|| found.name("mpi")) {
        let digits = RANK.as_ref()?.captures(tag.as_str().rsplit(',').next()?)?;
        return digits.get(1)?.as_str().parse().ok();
    }
    let actor = found.name("actor").or_else(|| found.name("worker"))?;
    ACTOR_RANK.as_ref()?.captures(actor.as_str())?.get(1)?.as_str().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(raw: &str) -> Vec<Line> {
        let mut lines = Vec::new();
        clean(1, raw, &mut lines);
        lines
    }

    #[test]
    fn what_others_put_around_a_line_is_stripped() {
        for (raw, rank, text) in [
            ("[rank5]: torch.OutOfMemoryError: x", Some(5), "torch.OutOfMemoryError: x"),
            ("[default0]:RuntimeError: x", Some(0), "RuntimeError: x"),
            ("3: RuntimeError: x", Some(3), "RuntimeError: x"),
            ("[1,6]<stderr>:RuntimeError: x", Some(6), "RuntimeError: x"),
            ("(Worker_TP2 pid=123) ERROR 11-30 12:08:18 [core.py:586] ValueError: x", Some(2), "ValueError: x"),
            ("2026-11-30T12:08:18.123Z stderr F RuntimeError: x", None, "RuntimeError: x"),
            ("trainer-1  | 2026-11-30 12:08:18,123 - ERROR - RuntimeError: x", None, "RuntimeError: x"),
            ("\u{1b}[36m(RayWorkerWrapper pid=1234, ip=10.0.0.1)\u{1b}[0m RuntimeError: x", None, "RuntimeError: x"),
            ("E       torch.OutOfMemoryError: x", None, "torch.OutOfMemoryError: x"),
            ("[ERROR] RuntimeError: x\r", None, "RuntimeError: x"),
            ("Nov 30 12:08:18 node7 kernel: NVRM: x", None, "NVRM: x"),
            (r#"{"log":"RuntimeError: x\n","stream":"stderr","time":"2026-11-30T12:08:18.1Z"}"#, None, "RuntimeError: x"),
        ] {
            let all = lines(raw);
            let line = all.last().expect("a line");
            assert_eq!((line.rank, line.text.as_str()), (rank, text), "{raw}");
        }
    }

    #[test]
    fn a_progress_bar_ends_where_the_next_text_begins() {
        let texts: Vec<String> = lines(" 45%|####  | 9/20\r 50%|#####  | 10/20\rRuntimeError: x").into_iter().map(|line| line.text).collect();
        assert_eq!(texts.last().map(String::as_str), Some("RuntimeError: x"));
    }

    #[test]
    fn escaped_line_breaks_are_line_breaks() {
        let texts: Vec<String> = lines(r#"{"error":{"message":"terminated: a\nb","code":null}}"#).into_iter().map(|line| line.text).collect();
        assert_eq!(texts, ["terminated: a", "b"]);
        assert_eq!(lines(r"[RuntimeError('a\nb')]").len(), 2);
    }
}
