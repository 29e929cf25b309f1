//! Frames about single processes: those that ended, the ranks of a job.
//!
//! The text of a frame is a snapshot (`INSTA_UPDATE=always` writes them; compare the figures with the stories before accepting).

#[path = "frames/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]
mod stage;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use stage::machine::{Holder, Machine, SECONDS};
use stage::{after, dashboard, draw, stories};
use vramtop::app::{App, Mode, Msg, update};
use vramtop::view::{Colors, Theme};

const MONO: Theme = Theme::new(Colors::Never, false);

fn press(app: &mut App, code: KeyCode) {
    update(app, Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)));
}

macro_rules! assert_frame {
    ($name:literal, $app:expr, $width:literal x $height:literal) => {
        insta::assert_snapshot!($name, draw(&mut $app, &MONO, $width, $height).backend())
    };
}

/// Two H200s on which a sweep died when the first was full, at 11:58.
fn with_a_death() -> Machine {
    let mut machine = stories::two_h200();
    let mut sweep = Holder::new(0, 41502, "ann", "sweep.py", |s| 3.0 + (s as f64 - 169.0) * 0.14);
    (sweep.life, sweep.full, sweep.command) = ((169, 281), "sweep.py --lr 1e-4", "python sweep.py --lr 1e-4");
    // It had started 1 min 52 s before its end.
    sweep.age = (SECONDS - 282 + 112) / 60;
    machine.holders.push(sweep);
    machine
}

#[test]
fn a_process_that_ended_stays_below_the_others() {
    let mut app = after(&with_a_death());
    assert_frame!("ended_120x36", app, 120 x 36);
    assert_frame!("ended_80x24", app, 80 x 24);
    assert_frame!("ended_40x10", app, 40 x 10);
    press(&mut app, KeyCode::End);
    assert_frame!("ended_selected_120x36", app, 120 x 36);
}

#[test]
fn the_same_rows_end_in_a_replay() {
    let (mut live, mut replay) = (after(&with_a_death()), dashboard(Mode::Replay { length_ms: None }));
    for record in with_a_death().records() {
        update(&mut replay, Msg::Record(Box::new(record)));
    }
    let (a, b) = (stage::cells(&mut live, &MONO, 120, 36), stage::cells(&mut replay, &MONO, 120, 36));
    assert!(a.content[120..35 * 120] == b.content[120..35 * 120]);
}

#[test]
fn a_notice_s_process_can_be_selected() {
    let mut app = after(&stories::two_h200());
    press(&mut app, KeyCode::Char('n'));
    press(&mut app, KeyCode::Char('n'));
    let frame = draw(&mut app, &MONO, 120, 36).backend().to_string();
    assert!(frame.lines().nth(1).is_some_and(|line| line.contains("1 of 2  n next  ↵ select it")), "{frame}");
}

#[test]
fn the_ranks_stand_beside_each_other_where_there_is_room() {
    let line = |width, height| {
        let frame = draw(&mut after(&stories::eight_h100()), &MONO, width, height).backend().to_string();
        frame.lines().find(|line| line.contains("ranks  ")).map(|line| line.trim_matches(['"', ' ']).to_owned())
    };
    // What each rank holds on its own card: the contexts of 0.5 on GPU 0 are not the question.
    let all = line(200, 60).expect("room for it");
    assert_eq!(
        all,
        "ranks    slurm 48211.0, 8 ranks, median 66.2:  0 ▃ 68.8   1 ▁ 66.2   2 ▁ 66.3   3 ▇ 75.4   4 ▁ 66.2   5 ▁ 66.4   6 ▁ 66.2   7 ▁ 66.1"
    );
    // Where not all have room the largest have.
    let some = line(120, 60).expect("room for it");
    assert!(some.contains("3 ▇ 75.4") && some.contains("0 ▃ 68.8") && some.contains(" more"), "{some}");
    assert_eq!(line(120, 24), None);
}
