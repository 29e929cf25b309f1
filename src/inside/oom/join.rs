//! Undoes wrapping: which lines are one line that a terminal, a chat or a mail client broke. It does not look at figures.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use regex_lite::Regex;

use super::Producer;
use super::clean::{Line, beginning};
use super::family::{Role, clauses};
use super::kin::{rank_of, related};
use super::pattern::pattern;
use super::times::together;

/// No message is longer, in lines of a narrow terminal.
const MOST_LINES: usize = 48;
/// A terminal that breaks lines is hardly narrower.
const WIDTHS: RangeInclusive<usize> = 30..=400;

// What a sentence that can be broken begins with.
pattern!(
    OPENS,
    r"(?i)tried to|out of mem|outofmem|total cap|gpu \d+ has|free memory on|to serve at|max seq len|oom when|no available mem|not enough mem|while trying to|failed to alloc|could not alloc|cannot alloc|requested (?:amount|size)|exceed|exhausted|available kv|ran out of|requires more|out of resource|reserved by|allocated by|already alloc|call to cu|allocating "
);
// What begins a record of its own.
pattern!(
    STARTS,
    r#"^(?:Traceback|File "|at [\w.]|During handling|The above exception|(?:[\w]+\.)*\w*(?:Error|Exception|Warning)\b(?::|$)|\[|\||\{|ggml_|llama_|alloc_tensor|load_|srv |slot |graph_reserve|current device:|sched_|CUDA kernel errors|For debugging|Compile with|Currently allocated|Requested\s*:|Device limit|Free \(acc|PyTorch limit|: |Stats:|BufferAssignment|Limit:|InUse:|[A-Z]\w+:\s{2,}\d|\w[\w ]+ allocation:|Effective GPU|Memory pool|Got an OOM|NvMap|NVRM|slurmstepd|srun|[\w.-]+:\d+:\d+ \[\d+\] NCCL|Out of memory error|Please check|\d+\. If|\$ )"#
);
// What a sentence of these texts goes on with after a full stop.
pattern!(
    GOES_ON,
    r"^(?:GPU \d+ has|Process \d+ has|Including non|Of the alloc|If reserved|See doc|Tried to|Try |Decrease|Based on|\(https?:|of which|this process has|\d[\d.,]* [KMG]i?B)"
);

static WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    "a according accelerate allocate allocated allocating allocation allowed already amount and application are as at available avoid based be blocks buffer but by \
     bytes cache cached can capacity capacty conf could cuda cudamalloc decrease decreasing desired device documentation engine enough environment error estimated \
     exceeded executing failed for fragmentation free freed from generic gib gpu graphs handle has have if in including increase increasing initializing into is it \
     kib kv large larger least length less limit management max maximum memory mib model model's more needed no node non-pytorch not number occurred of on one op or other out \
     pools prefill private process processes pytorch ran reduce request requested requires reserved running runtime see seq serve setting shape shared size so \
     startup stored such system tensor than that the this to tokens total tried try trying type unallocated usage use used utilization when which while with would"
        .split_whitespace()
        .collect()
});

/// Joins the lines of one stream. The number of each result is that of its first line.
pub(super) fn join(lines: Vec<Line>) -> Vec<Line> {
    let mut joined: Vec<Line> = Vec::with_capacity(lines.len());
    let (mut parts, mut widest, mut last) = (1, 0, 0);
    let mut lines = lines.into_iter().peekable();
    while let Some(line) = lines.next() {
        if let Some(head) = joined.last_mut().filter(|_| parts < MOST_LINES) {
            let full = WIDTHS.contains(&last) && last + 1 >= widest && (last >= line.width || lines.peek().is_none_or(|next| next.width <= last));
            if continues(head, &line, full) {
                glue(&mut head.text, &line.text, full && last == widest);
                parts += 1;
                last = line.width;
                widest = widest.max(last);
                head.time = head.time.or(line.time);
                continue;
            }
        }
        (parts, widest, last) = (1, line.width, line.width);
        joined.push(line);
    }
    joined
}

fn is(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

fn continues(head: &Line, next: &Line, full: bool) -> bool {
    // A service's journal stamps each line of a text.
    let stamped = next.begins;
    if stamped && !(head.begins && together(head.time, next.time))
        || next.text.is_empty()
        || head.text.is_empty()
        || head.tag != next.tag
        || is(&STARTS, beginning(&next.text))
    {
        return false;
    }
    let opens = is(&OPENS, &head.text) || full && is(&OPENS, &format!("{}{}", tail(&head.text, 60), next.text));
    if !opens {
        return false;
    }
    let unfinished = head.text.chars().last().is_some_and(|last| last.is_alphanumeric() || matches!(last, ',' | ';' | '(' | '/' | '-' | '='));
    let cut_in_figure = head.text.ends_with('.') && head.text.trim_end_matches('.').ends_with(|c: char| c.is_ascii_digit());
    let ends = head.text.ends_with(['.', ')', '!', '>', ']', '"']) || head.text.ends_with("_CONF");
    if stamped && (ends && !cut_in_figure && !is(&GOES_ON, beginning(&next.text)) || opener(&next.text).is_some()) {
        return false;
    }
    (full || unfinished || cut_in_figure || is(&GOES_ON, beginning(&next.text))) && !is_of_another(&head.text, &next.text)
}

/// Whether the next line begins a text of its own, of a program that has no part in this one.
fn is_of_another(head: &str, next: &str) -> bool {
    opener(next).is_some_and(|new| opener(head).is_some_and(|old| !related(old, new)))
}

/// The last characters of a text.
fn tail(text: &str, most: usize) -> &str {
    text.char_indices().rev().nth(most).map_or(text, |(at, _)| &text[at..])
}

/// Appends with a blank, or without where a word or a figure was broken.
fn glue(head: &mut String, next: &str, full: bool) {
    let tail: String = head.rsplit(char::is_whitespace).next().unwrap_or("").to_owned();
    let lead = next.split_whitespace().next().unwrap_or("");
    if !is_broken(&tail, lead, full) {
        head.push(' ');
    }
    head.push_str(next);
}

fn is_broken(tail: &str, lead: &str, full: bool) -> bool {
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let digits = |text: &str| text.trim_end_matches(['.', ',']).chars().last();
    // "1." and "26 GiB", "1" and ".26 GiB", "2" and "6 GiB".
    if digit(digits(tail)) && digit(lead.trim_start_matches(['.', ',']).chars().next()) {
        return true;
    }
    let word = |text: &str| text.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
    let (a, b) = (word(tail), word(lead));
    let known = |text: &str| WORDS.contains(text);
    let number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    if known(&format!("{a}{b}")) && !(known(&a) && known(&b)) {
        return true;
    }
    let complete = |text: &str| known(text) || number(text) || text.is_empty();
    full && !complete(&a) && !complete(&b)
}

/// Whose text begins in a line.
fn opener(text: &str) -> Option<Producer> {
    let opens = clauses(text).into_iter().filter(|clause| matches!(clause.role, Role::Opens(_)));
    opens.map(|clause| clause.producer).max_by_key(|producer| rank_of(*producer))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.26 GiB. GPU 0 has a total capacty of 8.00 GiB of which 0 bytes is \
        free. Of the allocated memory 4.35 GiB is allocated by PyTorch, and 2.71 GiB is reserved by PyTorch but unallocated. If reserved but unallocated \
        memory is large try setting max_split_size_mb to avoid fragmentation.";

    fn lines(parts: &[String]) -> Vec<Line> {
        let line = |text: &String| Line { width: text.trim_end().chars().count(), text: text.trim().to_owned(), ..Line::default() };
        parts.iter().map(line).collect()
    }

    /// Figures and the words beside them, which is all that has to come out whole.
    const PIECES: [&str; 5] = ["allocate 1.26 GiB", "of 8.00 GiB", "4.35 GiB is allocated by", "2.71 GiB is reserved", "but unallocated"];

    #[test]
    fn a_text_broken_by_a_terminal_is_one_line_again() {
        for width in 36..160 {
            let chars: Vec<char> = TEXT.chars().collect();
            let parts: Vec<String> = chars.chunks(width).map(|part| part.iter().collect()).collect();
            let joined = join(lines(&parts));
            let text = &joined[0].text;
            let missing: Vec<_> = PIECES.iter().filter(|piece| !text.contains(*piece)).collect();
            assert!(missing.is_empty(), "{width}: {missing:?} in {text}");
        }
    }

    #[test]
    fn a_text_broken_between_words_is_one_line_again() {
        for width in 36..160 {
            let mut parts = vec![String::new()];
            for word in TEXT.split_whitespace() {
                let last = parts.last_mut().expect("one");
                if last.len() + word.len() >= width {
                    parts.push(word.to_owned());
                } else if last.is_empty() {
                    last.push_str(word);
                } else {
                    last.push(' ');
                    last.push_str(word);
                }
            }
            let joined = join(lines(&parts));
            for piece in PIECES {
                assert!(joined[0].text.contains(piece), "{width}: {piece} in {}", joined[0].text);
            }
        }
    }

    #[test]
    fn records_are_not_joined() {
        let parts = ["failed to allocate CUDA0 buffer of size 1", "graph_reserve: failed", "RuntimeError: CUDA out of memory", "Traceback (most"];
        assert_eq!(join(lines(&parts.map(str::to_owned))).len(), 4);
    }
}
