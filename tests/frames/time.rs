//! Frames of a moment of the past: the machines of the design, some minutes before their end.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use vramtop::app::{App, Msg, update};
use vramtop::view::{Colors, Theme};

use crate::stage::{after, draw, stories};

const MONO: Theme = Theme::new(Colors::Never, false);

/// So many columns back, on a screen of that size.
fn back(app: &mut App, columns: usize, width: u16, height: u16) -> String {
    for _ in 0..columns {
        draw(app, &MONO, width, height);
        update(app, Msg::Key(KeyEvent::new(KeyCode::Left, KeyModifiers::NONE)));
    }
    draw(app, &MONO, width, height).backend().to_string()
}

#[test]
fn a_moment_of_the_past_at_every_size() {
    for (name, columns, width, height) in [("120x36", 51, 120, 36), ("80x24", 30, 80, 24), ("40x10", 20, 40, 10), ("200x50", 10, 200, 50)] {
        let machine = if width == 200 { stories::eight_h100() } else { stories::two_h200() };
        insta::assert_snapshot!(format!("past_{name}"), back(&mut after(&machine), columns, width, height));
    }
}
