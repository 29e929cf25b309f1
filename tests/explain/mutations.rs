//! The same texts as others print, copy and cut them: never a panic, figures right where their text is whole, and never a confident
//! wrong verdict.

use proptest::prelude::*;
use vramtop::inside::oom::{self, Confidence, Report};

use crate::answers::{Case, agrees, all, figures};

fn read(text: &str) -> Vec<Report> {
    oom::read(text.as_bytes()).expect("memory can be read").reports
}

/// Texts that no tool has put anything around yet.
fn plain() -> Vec<Case> {
    let dressed = |case: &Case| case.text.starts_with(['[', '{', '(', '\u{1b}']) || case.text.contains("\n[") || case.file.starts_with("42");
    all().into_iter().filter(|case| !dressed(case)).collect()
}

fn torch() -> Vec<Case> {
    all()
        .into_iter()
        .filter(|case| case.text.contains("total capac") && case.text.trim().lines().count() == 1 && !case.text.contains('\u{1b}'))
        .collect()
}

#[track_caller]
fn same(case: &Case, mutated: &str) {
    let reports = read(mutated);
    assert_eq!(reports.len(), 1, "{}: {reports:#?}\n{mutated}", case.file);
    let wrong = case.differences(&reports[0]);
    assert!(wrong.is_empty(), "{}\n{mutated}", wrong.join("\n"));
}

fn each_line(text: &str, with: impl Fn(&str) -> String) -> String {
    text.lines().map(|line| with(line) + "\n").collect()
}

#[test]
fn what_a_launcher_or_a_logger_puts_before_each_line_changes_nothing() {
    let prefixes = [
        "[rank3]: ",
        "[default0]:",
        "12: ",
        "[1,4]<stderr>:",
        "(RayWorkerWrapper pid=99, ip=10.0.0.1) ",
        "2026-11-30T12:08:18.123456789Z stderr F ",
        "trainer-1  | ",
        "Mar 04 11:22:01 gpu07 python3[4121]: ",
        "2025-03-04 11:22:01,123 - trainer - ERROR - ",
        "node3: [default3]:[rank3]: ",
        "│ ",
    ];
    for case in plain() {
        for prefix in prefixes {
            same(&case, &each_line(&case.text, |line| format!("{prefix}{line}")));
        }
        same(&case, &each_line(&case.text, |line| format!("{line}\r")));
        same(&case, &each_line(&case.text, |line| format!("\u{1b}[31m{line}\u{1b}[0m")));
        same(&case, &each_line(&case.text, |line| format!("E       {line}")));
        same(&case, &each_line(&case.text, |line| serde_json::json!({"log": format!("{line}\n"), "stream": "stderr"}).to_string()));
        same(&case, &format!("{}{}", "INFO step 1 loss 2.0\n".repeat(40), case.text));
    }
}

#[test]
fn a_text_in_a_json_string_is_the_same_text() {
    for case in plain().into_iter().filter(|case| case.file != "48-ollama-runner-json.txt") {
        same(&case, &format!("{}\n", serde_json::json!({"level": "error", "message": case.text})));
    }
}

#[test]
fn a_text_that_was_wrapped_at_any_width_is_the_same_text() {
    for case in torch() {
        let chars: Vec<char> = case.text.trim().chars().collect();
        for width in (40..140).step_by(3) {
            let lines: Vec<String> = chars.chunks(width).map(|part| part.iter().collect()).collect();
            same(&case, &(lines.join("\n") + "\n"));
        }
    }
}

#[test]
fn another_locale_and_other_units_say_the_same() {
    let figure = regex::Regex::new(r"(\d+)\.(\d\d) (GiB|MiB)").expect("a pattern");
    for case in torch() {
        same(&case, &figure.replace_all(&case.text, "$1,$2 $3"));
        same(&case, &figure.replace_all(&case.text, "$1.$2$3"));
        let smaller = figure.replace_all(&case.text, |found: &regex::Captures<'_>| {
            let value: f64 = format!("{}.{}", &found[1], &found[2]).parse().expect("a figure");
            let unit = if &found[3] == "GiB" { "MiB" } else { "KiB" };
            // The sentinel stays as the driver's value prints.
            if value > 1e9 { found[0].to_owned() } else { format!("{:.2} {unit}", value * 1024.0) }
        });
        same(&case, &smaller);
    }
}

#[test]
fn fields_in_another_order_say_the_same() {
    for case in torch() {
        let text = case.text.trim();
        if let Some((head, rest)) = text.split_once('(').filter(|(_, rest)| rest.contains("total capacity;")) {
            let (fields, tail) = rest.split_once(')').expect("closed");
            let mut fields: Vec<&str> = fields.split("; ").collect();
            for _ in 0..fields.len() {
                fields.rotate_left(1);
                same(&case, &format!("{head}({}){tail}\n", fields.join("; ")));
            }
        } else if let Some((head, rest)) = text.split_once("Of the allocated memory").filter(|(head, _)| head.contains(". ")) {
            let mut sentences: Vec<&str> = head.split(". ").filter(|sentence| !sentence.trim().is_empty()).collect();
            for _ in 0..sentences.len() {
                sentences.rotate_left(1);
                same(&case, &format!("{}. Of the allocated memory{rest}\n", sentences.join(". ")));
            }
        }
    }
}

#[test]
fn ranks_whose_lines_alternate_are_kept_apart() {
    let cases = torch();
    for pair in cases.windows(2) {
        let wrap = |case: &Case, rank: u32| {
            let chars: Vec<char> = case.text.trim().chars().collect();
            chars.chunks(90).map(|part| format!("[rank{rank}]: {}\n", part.iter().collect::<String>())).collect::<Vec<_>>()
        };
        let (a, b) = (wrap(&pair[0], 0), wrap(&pair[1], 1));
        let mut text = String::new();
        for at in 0..a.len().max(b.len()) {
            text.extend(a.get(at).into_iter().chain(b.get(at)).map(String::as_str));
        }
        let reports = read(&text);
        assert_eq!(reports.len(), 2, "{text}\n{reports:#?}");
        for (case, report) in pair.iter().zip(&reports) {
            let wrong = case.differences(report);
            assert!(wrong.is_empty(), "{}\n{text}", wrong.join("\n"));
        }
    }
}

/// A verdict that is neither the answer nor one that the text allows, and is said without doubt.
fn is_confidently_wrong(case: &Case, report: &Report) -> bool {
    let word = report.verdict.word();
    word != case.verdict && word != "unknown" && !case.also.iter().any(|also| also == word) && report.confidence != Confidence::Low
}

#[test]
fn a_text_that_is_cut_anywhere_is_never_judged_wrong() {
    let mut wrong = Vec::new();
    for case in all() {
        for end in (0..case.text.len()).filter(|end| case.text.is_char_boundary(*end)) {
            let cut = &case.text[..end];
            // A number without a unit that is cut is a smaller number: nobody could tell.
            let in_number = cut.ends_with(|c: char| c.is_ascii_digit()) && case.text[end..].starts_with(|c: char| c.is_ascii_digit());
            for report in read(cut) {
                if is_confidently_wrong(&case, &report) {
                    wrong.push(format!(
                        "{} at {end}: {} for {}: …{}",
                        case.file,
                        report.verdict.word(),
                        case.verdict,
                        &cut[cut.len().saturating_sub(50)..]
                    ));
                }
                let misread = figures(&report).into_iter().filter(|(column, found, half)| {
                    // A cut list of processes is a beginning of the whole one; one figure can be printed twice, first with fewer digits.
                    let list = *column == "other_processes" && case.wanted(column).starts_with(found.as_str());
                    !in_number && !found.is_empty() && !list && !agrees(case.wanted(column), found, *half)
                });
                wrong.extend(misread.map(|(column, found, _)| format!("{} at {end}: {column} {found} for {}", case.file, case.wanted(column))));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.iter().take(30).cloned().collect::<Vec<_>>().join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bytes_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let _ = oom::read(bytes.as_slice());
    }

    #[test]
    fn damaged_texts_do_no_harm(at in 0..133_usize, damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<char>()), 0..12)) {
        let case = &all()[at];
        let mut chars: Vec<char> = case.text.chars().collect();
        for (place, with) in damage {
            let place = place.index(chars.len());
            chars[place] = with;
        }
        let _ = read(&chars.into_iter().collect::<String>());
    }
}
