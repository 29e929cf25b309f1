//! What stands on the screen: at every size, after keys, without colours, without anything but ASCII.

use portable_pty::CommandBuilder;

use crate::common::scenario;
use crate::session::{Session, count, vramtop};
use crate::{over, over_toml};

const HELP: &str = "READING THE SCREEN";

/// The line under the cursor.
fn selected(contents: &str) -> &str {
    contents.lines().find(|line| line.contains('▸')).unwrap_or_default()
}

#[test]
fn draws_again_at_every_size() {
    let mut session = over("two-h200-jobs");
    session.see("2 × NVIDIA H200");
    session.see("5000020");
    for ((cols, rows), texts) in [
        ((80, 24), ["GPU 1", "5000010", "q quit"].as_slice()),
        ((40, 10), &["free", "WHAT", "K kill ? q"]),
        ((1, 1), &[]),
        ((120, 36), &["GPU 1", "LAST 2 MIN", "5000010", "q quit"]),
        ((300, 80), &["GPU 1", "5000010", "q quit"]),
    ] {
        let before = session.bytes().len();
        session.resize(cols, rows);
        session.see_output_after(before);
        for text in texts {
            session.see(text);
        }
    }
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn a_terminal_without_a_size_is_drawn_on_as_80_by_24() {
    let mut command = vramtop(&scenario("two-h200-jobs"), &[]);
    let mut session = Session::start_without_size(command.clone());
    session.wait("the key line is the last of 24", |screen| screen.rows(0, 80).nth(23).is_some_and(|line| line.contains("q quit")));
    // As soon as it says a size, that counts.
    session.resize(120, 36);
    session.wait("the key line is the last of 36", |screen| screen.rows(0, 120).nth(35).is_some_and(|line| line.contains("q quit")));
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));

    command.env("COLUMNS", "60");
    command.env("LINES", "16");
    let mut session = Session::start_without_size(command);
    session.wait("the key line is the last of 16", |screen| screen.rows(0, 60).nth(15).is_some_and(|line| line.contains("q quit")));
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn keys_open_the_help_and_move_the_cursor() {
    let mut session = over("two-h200-jobs");
    session.wait("the largest holder is selected", |screen| selected(&screen.contents()).contains("5000010"));
    session.keys("?");
    session.see(HELP);
    session.keys("\x1b");
    session.see_no(HELP);
    for (key, pid) in [("j", "5000020"), ("k", "5000010"), ("\x1b[B", "5000020"), ("\x1b[A", "5000010")] {
        session.keys(key);
        session.wait(key, |screen| selected(&screen.contents()).contains(pid));
    }
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn a_key_pressed_while_the_size_changes_is_answered() {
    let mut session = over("two-h200-jobs");
    session.see("5000020");
    for (cols, rows) in [(80, 24), (120, 36)].into_iter().cycle().take(60) {
        session.resize(cols, rows);
        session.keys("?");
        session.see(HELP);
        session.keys("\x1b");
        session.see_no(HELP);
        session.see("5000010");
    }
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn an_unknown_key_does_nothing() {
    let mut session = over("two-h200-jobs");
    session.see("5000020");
    session.keys("\x1b[200~x\x1b[201~\x1b[<0;10;10M\u{e9}\x1b[99;99~");
    session.keys("?");
    session.see(HELP);
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));
}

/// Between samples only what changed is written: a screen that is cleared each time flickers.
#[test]
fn nothing_is_cleared_between_frames() {
    let mut session = over("two-h200-jobs");
    session.see("5000020");
    session.see("● live");
    for _ in 0..2 {
        let (shown, from) = (session.screen(), session.bytes().len());
        session.wait("the next sample", |screen| screen.contents() != shown);
        let written = session.bytes().split_off(from);
        assert_eq!(count(&written, b"\x1b[2J"), 0, "cleared");
        assert!(written.len() < 8000, "{} bytes for one step", written.len());
    }
    session.keys("q");
    let ended = session.end();
    assert_eq!(count(&ended.bytes, b"\x1b[?2026h"), count(&ended.bytes, b"\x1b[?2026l"), "synchronized updates begin and end");
}

/// Whether a sequence sets a colour: 30 to 38, 40 to 48, 58 and the bright ones. 39 and 49 set none.
fn sets_colour(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let is_colour = |code: &str| code.parse().is_ok_and(|code: u16| matches!(code, 30..=38 | 40..=48 | 58 | 90..=97 | 100..=107));
    text.split("\x1b[").skip(1).any(|rest| {
        let parameters = rest.split(|c: char| !c.is_ascii_digit() && c != ';' && c != ':').next().unwrap_or_default();
        rest[parameters.len()..].starts_with('m') && parameters.split([';', ':']).any(is_colour)
    })
}

/// All that is written while both screens are looked at.
fn written(command: CommandBuilder) -> Vec<u8> {
    let mut session = Session::start(command);
    session.see("5000020");
    session.keys("j?");
    session.see(HELP);
    session.keys("q");
    let ended = session.end();
    assert_eq!(ended.code(), Some(0));
    ended.bytes
}

#[test]
fn no_color_means_no_colour_at_all() {
    let two = scenario("two-h200-jobs");
    let with = |name: &str, value: &str, args: &[&str]| {
        let mut command = vramtop(&two, args);
        command.env(name, value);
        command
    };
    for (what, command, coloured) in [
        ("as it is", vramtop(&two, &[]), true),
        ("NO_COLOR=1", with("NO_COLOR", "1", &[]), false),
        ("--color never", vramtop(&two, &["--color", "never"]), false),
    ] {
        assert_eq!(sets_colour(&written(command)), coloured, "{what}");
    }
}

#[test]
fn only_ascii_where_the_locale_has_nothing_else() {
    let two = scenario("two-h200-jobs");
    let mut locale = vramtop(&two, &[]);
    locale.env("LC_ALL", "C");
    for (what, command, ascii) in
        [("as it is", vramtop(&two, &[]), false), ("LC_ALL=C", locale, true), ("--ascii", vramtop(&two, &["--ascii"]), true)]
    {
        assert_eq!(written(command).is_ascii(), ascii, "{what}");
    }
}

#[test]
fn no_terminal_database_is_needed() {
    let mut command = vramtop(&scenario("two-h200-jobs"), &[]);
    command.env("TERM", "of-no-database");
    written(command);
}

/// A terminal that understands no sequence is sent none: a shell inside an editor, a build's log.
#[test]
fn a_terminal_that_cannot_be_drawn_on_gets_the_lines_once() {
    let two = scenario("two-h200-jobs");
    for (term, why) in [(Some("dumb"), "TERM is dumb"), (Some(""), "TERM is not set"), (None, "TERM is not set")] {
        for subcommand in [None, Some("demo")] {
            let mut command = vramtop(&two, subcommand.as_slice());
            match term {
                Some(term) => command.env("TERM", term),
                None => command.env_remove("TERM"),
            }
            let ended = Session::start(command).end_after_visits(0);
            let text = String::from_utf8_lossy(&ended.bytes).replace("\r\n", "\n");
            let right = match subcommand {
                None => format!("vramtop: {why}, so this was printed once. A line every second: vramtop -l 1\n"),
                Some(_) => format!("vramtop: the demo needs a terminal to draw on, and {why}. "),
            };
            assert!(text.contains(&right) && !text.contains('\x1b'), "{text}");
            assert_eq!(
                (text.contains("\n1 NVIDIA H200 "), ended.code()),
                (subcommand.is_none(), Some(if subcommand.is_none() { 0 } else { 2 })),
                "{text}"
            );
        }
    }
}

/// A name from the driver is foreign text: what a terminal would act on is shown and not sent.
#[test]
fn an_escape_sequence_in_a_name_is_shown_as_text() {
    // NVIDIA, then ESC ] 0 ; x BEL: it would set the window's title.
    let (mut session, _folder) = over_toml("[[gpu]]\ngarbage = { name_bytes = [0x4e, 0x56, 0x1b, 0x5d, 0x30, 0x3b, 0x78, 0x07] }\n");
    session.see(r"NV\u{1b}]0;x\u{7}");
    session.keys("q");
    let ended = session.end();
    assert_eq!(count(&ended.bytes, b"\x1b]"), 0);
    assert_eq!(count(&ended.bytes, b"\x07"), 0);
}
