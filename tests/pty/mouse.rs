//! The mouse, the clipboard and the chosen columns: what the terminal is told, and that it is told to stop.

use std::fs;

use crate::common::scenario;
use crate::over;
use crate::session::{Session, count, vramtop};

const ON: &[u8] = b"\x1b[?1000h\x1b[?1006h";
const OFF: &[u8] = b"\x1b[?1006l\x1b[?1000l";

/// Column and row, from 1, of a text on the screen.
fn place(screen: &str, text: &str) -> (usize, usize) {
    let find = |(row, line): (usize, &str)| line.find(text).map(|at| (line[..at].chars().count() + 1, row + 1));
    screen.lines().enumerate().find_map(find).expect("it is on the screen")
}

fn click(session: &mut Session, text: &str) {
    let (x, y) = place(&session.screen(), text);
    session.keys(&format!("\x1b[<0;{x};{y}M\x1b[<0;{x};{y}m"));
}

#[test]
fn a_click_selects_a_row_and_sorts_by_a_column() {
    let mut session = over("two-h200-jobs");
    session.wait("the largest holder is selected", |screen| screen.contents().lines().any(|line| line.contains('▸') && line.contains("5000010")));
    click(&mut session, "5000020");
    session.wait("the clicked row", |screen| screen.contents().lines().any(|line| line.contains('▸') && line.contains("5000020")));
    click(&mut session, "PID");
    session.see("PID▴");
    click(&mut session, "PID");
    session.see("PID▾");
    session.keys("q");
    let ended = session.end();
    assert_eq!((count(&ended.bytes, ON), count(&ended.bytes, OFF)), (1, 1), "the mouse is taken and given back");
}

#[test]
fn the_mouse_is_left_alone_where_that_is_wanted() {
    let mut session = Session::start(vramtop(&scenario("two-h200-jobs"), &["--no-mouse"]));
    session.see("5000020");
    session.keys("q");
    let ended = session.end();
    assert_eq!((count(&ended.bytes, b"\x1b[?1000"), count(&ended.bytes, b"\x1b[?1006")), (0, 0));
}

#[test]
fn a_filter_is_typed_and_a_line_copied() {
    let mut session = over("two-h200-jobs");
    session.see("5000020");
    session.keys("/gpu:1");
    session.see("/gpu:1");
    session.see_no("5000010");
    session.keys("\r");
    session.see("Esc all");
    session.keys("y");
    session.see("copied");
    session.keys("q");
    let ended = session.end();
    // `GPU 1  pid 5000020` begins with these letters in base64, from which three bytes follow.
    assert_eq!(count(&ended.bytes, b"\x1b]52;c;R1BVIDEgIHBpZCA1MDAwMDIw"), 1);
    assert_eq!(count(&ended.bytes, b"\x1b]"), 1, "nothing else is told to the terminal");
}

#[test]
fn columns_are_kept_for_the_next_time() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let command = || {
        let mut command = vramtop(&scenario("two-h200-jobs"), &[]);
        command.env("XDG_STATE_HOME", folder.path());
        command
    };
    let mut session = Session::start(command());
    session.see("USER");
    session.see("5000020");
    session.keys("\x1bOQ");
    session.see("COLUMNS");
    // No way back to the dashboard is needed.
    session.keys("jj q");
    session.end();
    assert_eq!(fs::read_to_string(folder.path().join("vramtop/columns.toml")).expect("it is kept"), "user = \"never\"\n");
    let mut session = Session::start(command());
    session.see("5000020");
    session.see_no("USER");
    session.keys("q");
    session.end();
}

#[test]
fn columns_that_cannot_be_kept_are_a_word_and_nothing_worse() {
    let mut session = over("two-h200-jobs");
    session.see("5000020");
    session.keys("\x1bOQ");
    session.see("COLUMNS");
    session.keys(" ");
    session.see("for this time only");
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));
}
