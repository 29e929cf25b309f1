//! What the mouse does: on the screen that is up, and on no other.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

use super::table::{ROWS, keys, machine};
use super::*;

fn mouse(app: &mut App, kind: MouseEventKind, column: u16, row: u16) -> Effect {
    update(app, Msg::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }))
}

pub(super) fn click(app: &mut App, x: u16, y: u16) -> Effect {
    mouse(app, MouseEventKind::Down(MouseButton::Left), x, y)
}

#[test]
fn a_click_selects_what_was_drawn_there() {
    let mut app = machine(ROWS);
    let slice = app.picture().rows()[3].id.clone();
    let spot = |y: u16, target| Spot { x: 0..10, y: y..y + 1, target };
    let spots = vec![spot(2, Target::Slice(slice)), spot(3, Target::Gpu(1)), spot(10, Target::Row(2)), spot(11, Target::Row(99))];
    update(&mut app, Msg::Drawn(Shown { rows: 0..3, spots, ..Shown::default() }));
    for (x, y, effect, selected) in
        [(5, 2, Effect::Redraw, 3), (5, 3, Effect::Redraw, 1), (9, 10, Effect::Redraw, 2), (10, 2, Effect::None, 2), (5, 11, Effect::None, 2)]
    {
        assert_eq!((click(&mut app, x, y), app.selected()), (effect, Some(selected)), "{x} {y}");
    }
    assert_eq!((mouse(&mut app, MouseEventKind::ScrollDown, 0, 0), app.selected()), (Effect::Redraw, Some(5)));
    assert_eq!((mouse(&mut app, MouseEventKind::ScrollDown, 0, 0), app.selected()), (Effect::None, Some(5)));
    assert_eq!((mouse(&mut app, MouseEventKind::ScrollUp, 0, 0), app.selected()), (Effect::Redraw, Some(2)));
    assert_eq!((mouse(&mut app, MouseEventKind::Moved, 5, 2), app.selected()), (Effect::None, Some(2)));
}

#[test]
fn a_dialog_covers_the_table_for_the_mouse_too() {
    let mut app = machine(ROWS);
    keys(&mut app, "jK");
    update(&mut app, Msg::Drawn(Shown { rows: 0..3, spots: vec![Spot { x: 0..10, y: 0..1, target: Target::Row(2) }], ..Shown::default() }));
    assert_eq!((app.screen(), click(&mut app, 1, 0), app.selected()), (Screen::Signal, Effect::None, Some(1)));
    mouse(&mut app, MouseEventKind::ScrollDown, 1, 0);
    assert_eq!(app.selected(), Some(1));
}

#[test]
fn the_wheel_turns_what_is_up() {
    let mut app = machine(ROWS);
    keys(&mut app, "?");
    update(&mut app, Msg::Drawn(Shown { scroll_end: 4, ..Shown::default() }));
    mouse(&mut app, MouseEventKind::ScrollDown, 0, 0);
    assert_eq!((app.help_top(), app.selected()), (3, Some(0)));
    mouse(&mut app, MouseEventKind::ScrollUp, 0, 0);
    assert_eq!(app.help_top(), 0);
    keys(&mut app, "?");
    press(&mut app, KeyCode::F(2));
    mouse(&mut app, MouseEventKind::ScrollDown, 0, 0);
    assert_eq!((app.chooser(), app.selected()), (1, Some(0)));
}
