//! Frames of the table as somebody wants it: filtered, grouped, as a tree, in another order, of one GPU, with chosen columns.

use vramtop::view::{Colors, Theme};

use crate::screens::keys;
use crate::stage::{after, draw, stories};

const MONO: Theme = Theme::new(Colors::Never, false);

macro_rules! assert_frames {
    ($name:literal, $keys:literal) => {
        let mut app = after(&stories::two_h200());
        keys(&mut app, $keys);
        insta::assert_snapshot!(concat!($name, "_120x36"), draw(&mut app, &MONO, 120, 36).backend());
        insta::assert_snapshot!(concat!($name, "_80x24"), draw(&mut app, &MONO, 80, 24).backend());
    };
}

#[test]
fn a_filter_that_is_kept() {
    assert_frames!("filter_kept", "/cle⏎");
    assert_frames!("filter_without_a_row", "/nobody⏎");
}

#[test]
fn another_order() {
    assert_frames!("sorted_by_peak", "sS");
}

#[test]
fn the_chooser_of_columns() {
    assert_frames!("columns_chooser", "▼jj  j ");
    assert_frames!("columns_chosen", "▼jj j  ⎋");
}

#[test]
fn the_past_is_longer_from_zero_and_marked() {
    assert_frames!("an_hour_from_zero", "[zm");
}
