//! Frames of one process from close by at a moment of the past.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use vramtop::app::{App, Msg, update};
use vramtop::view::{Colors, Theme};

use crate::stage::stories::with_a_death;
use crate::stage::{after, draw, stories};

const MONO: Theme = Theme::new(Colors::Never, false);

fn press(app: &mut App, code: KeyCode) {
    update(app, Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)));
}

/// So many columns back, on a screen of that size.
fn back(app: &mut App, columns: usize, width: u16, height: u16) -> String {
    for _ in 0..columns {
        draw(app, &MONO, width, height);
        press(app, KeyCode::Left);
    }
    draw(app, &MONO, width, height).backend().to_string()
}

#[test]
fn train_py_of_ann_some_minutes_ago() {
    for (name, columns, width, height) in [("120x36", 20, 120, 36), ("80x24", 30, 80, 24), ("40x10", 10, 40, 10), ("200x50", 15, 200, 50)] {
        let mut app = after(&stories::two_h200());
        press(&mut app, KeyCode::Down);
        press(&mut app, KeyCode::Enter);
        insta::assert_snapshot!(format!("detail_then_{name}"), back(&mut app, columns, width, height));
    }
}

#[test]
fn one_that_has_ended_since_and_before_it_came() {
    let mut app = after(&with_a_death());
    press(&mut app, KeyCode::End);
    press(&mut app, KeyCode::Enter);
    // 11:57:18, when it held 3 + 71 × 0.14 = 12.9, and 11:54:33, when it had not come.
    insta::assert_snapshot!("detail_then_it_lived_120x36", back(&mut app, 44, 120, 36));
    insta::assert_snapshot!("detail_then_it_had_not_come_80x24", back(&mut app, 11, 80, 24));
}
