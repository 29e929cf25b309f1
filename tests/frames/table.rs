//! Frames of the table as somebody wants it: filtered, grouped, as a tree, in another order, of one GPU, with chosen columns.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use vramtop::app::{App, Msg, update};
use vramtop::view::{Colors, Theme};

use crate::stage::{after, draw, stories};

const MONO: Theme = Theme::new(Colors::Never, false);

fn keys(app: &mut App, keys: &str) {
    // A key is pressed on what was drawn before.
    for key in keys.chars() {
        draw(app, &MONO, 120, 36);
        let code = match key {
            '\n' => KeyCode::Enter,
            '\t' => KeyCode::Tab,
            '\u{1b}' => KeyCode::Esc,
            '\u{2}' => KeyCode::F(2),
            letter => KeyCode::Char(letter),
        };
        update(app, Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }
}

/// The table alone: from its head to the blank line below it.
fn table(app: &mut App, width: u16, height: u16) -> String {
    let frame = draw(app, &MONO, width, height).backend().to_string();
    let lines = frame.lines().map(|line| line.trim_matches('"').trim_end());
    lines.skip_while(|line| !line.contains("VRAM")).take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

macro_rules! assert_frames {
    ($name:literal, $keys:literal) => {
        let mut app = after(&stories::two_h200());
        keys(&mut app, $keys);
        insta::assert_snapshot!(concat!($name, "_120x36"), draw(&mut app, &MONO, 120, 36).backend());
        insta::assert_snapshot!(concat!($name, "_80x24"), draw(&mut app, &MONO, 80, 24).backend());
    };
}

#[test]
fn a_filter_as_it_is_typed_and_as_it_is_kept() {
    assert_frames!("filter_typed", "/cle");
    assert_frames!("filter_kept", "/cle\n");
    assert_frames!("filter_without_a_row", "/nobody\n");
}

#[test]
fn rows_of_one_user_in_one() {
    assert_frames!("grouped_by_user", "o");
    assert_frames!("grouped_and_opened", "o\t");
}

#[test]
fn one_gpu_alone() {
    assert_frames!("focus", "0");
}

#[test]
fn another_order() {
    assert_frames!("sorted_by_peak", "sS");
}

#[test]
fn the_chooser_of_columns() {
    assert_frames!("columns_chooser", "\u{2}jj  j ");
    assert_frames!("columns_chosen", "\u{2}jj j  \u{1b}");
}

#[test]
fn the_past_is_longer_from_zero_and_marked() {
    assert_frames!("an_hour_from_zero", "[zm");
}

#[test]
fn a_tree_of_those_that_hold_memory() {
    let mut machine = stories::two_h200();
    // embed.py of bob was started from his notebook, and eval.py by the server of cleo.
    machine.holders[4].parent = Some(40112);
    machine.holders[2].parent = Some(38120);
    let mut app = after(&machine);
    keys(&mut app, "t");
    insta::assert_snapshot!("tree_120x36", table(&mut app, 120, 36));
    insta::assert_snapshot!("tree_80x24", table(&mut app, 80, 24));
}
