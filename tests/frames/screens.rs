//! Every screen, at every size, in every look: the text and the style of each cell.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use vramtop::app::{Answer, App, Mode, Msg, Waiting, update};
use vramtop::model::{GpuState, Reading, RunState};
use vramtop::view::{Colors, Theme, ThemeName};

use crate::family;
use crate::looks;
use crate::scenes;
use crate::stage::machine::{Card, Machine};
use crate::stage::{after, cells, dashboard, draw, stories};

const MONO: Theme = Theme::new(Colors::Never, false);

/// Presses keys, each on what was drawn before; `⏎`, `⎋`, `↓`, `←`, `▼` (F2), `◀` (End) and `⇥` stand for those without a letter.
pub(crate) fn keys(app: &mut App, keys: &str) {
    for key in keys.chars() {
        draw(app, &MONO, 120, 36);
        let code = match key {
            '⏎' => KeyCode::Enter,
            '⎋' => KeyCode::Esc,
            '↓' => KeyCode::Down,
            '←' => KeyCode::Left,
            '▼' => KeyCode::F(2),
            '◀' => KeyCode::End,
            '⇥' => KeyCode::Tab,
            letter => KeyCode::Char(letter),
        };
        update(app, Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        if let Some(dialog) = app.dialog() {
            let opened = Msg::Answer { key: dialog.subjects[0].key, answer: Answer::Opened(Ok(RunState('S'))) };
            update(app, opened);
        }
    }
}

/// A test for each screen: its name, the state, and the keys that lead to it from there.
macro_rules! screens {
    ($($name:ident: $app:expr, $way:literal;)*) => {$(
        #[test]
        fn $name() {
            let mut app = $app;
            keys(&mut app, $way);
            insta::assert_snapshot!(concat!("screen_", stringify!($name)), looks::pinned(&mut app));
            for (width, height) in [(1, 1), (2, 40), (300, 1)] {
                draw(&mut app, &MONO, width, height);
            }
        }
    )*};
}

screens! {
    two_gpus: after(&stories::two_h200()), "";
    one_gpu: after(&stories::desktop()), "";
    eight_gpus: after(&stories::eight_h100()), "";
    sixteen_gpus: scenes::crowd(), "";
    mig: after(&stories::mig()), "";
    shared_memory: after(&stories::shared_memory()), "";
    ended: after(&stories::with_a_death()), "◀";
    first_minute: scenes::first_minute(), "";
    gap: scenes::gap(), "";
    older_list: scenes::older_list(), "";

    lost_and_refused: scenes::two_h200_with(|machine| {
        machine.cards[0].state = GpuState::Lost { since_ms: 600_000 };
        machine.cards[1].refused = Some("used is more than the total");
    }), "";
    asleep_and_unlisted: scenes::two_h200_with(|machine| {
        machine.cards[0].state = GpuState::Asleep { since_ms: 600_000 };
        machine.cards[1] = Card { unlisted: Some("not permitted"), ownerless: |_| 96.0, ..Card::h200() };
        machine.holders.clear();
    }), "";
    shares_not_told: scenes::desktop_with(|machine| {
        machine.holders.iter_mut().for_each(|holder| holder.held = None);
        machine.cards[0].ownerless = |_| 13.9;
    }), "";
    memory_v1_and_untracked: scenes::desktop_with(|machine| {
        machine.cards[0].reserve = None;
        machine.cards[0].ownerless = |_| 0.4;
        machine.cards[0].untracked = (12, 0.3);
    }), "";
    idle: after(&Machine { cards: vec![Card::h100()], holders: Vec::new(), ..stories::desktop() }), "";
    no_gpu: after(&Machine { cards: Vec::new(), holders: Vec::new(), ..stories::desktop() }), "";
    waiting: dashboard(Mode::Live), "";
    waiting_for_long: scenes::told(dashboard(Mode::Live), Msg::Waiting(Waiting { call: "nvmlInit_v2", for_ms: 4200 })), "";
    never_connected: scenes::told(dashboard(Mode::Live), scenes::gone("no NVIDIA driver is loaded")), "";
    driver_gone: scenes::told(after(&stories::two_h200()), scenes::gone("the NVIDIA driver was unloaded")), "";
    stale: scenes::stale(), "";

    paused: after(&stories::two_h200()), " ";
    past: after(&stories::two_h200()), "←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←";
    past_of_eight: after(&stories::eight_h100()), "←←←←←";
    past_detail: after(&stories::with_a_death()), "↓←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←⏎";
    an_hour_from_zero_marked: after(&stories::two_h200()), "[zm";
    replay: scenes::replay(), "+";
    replay_paused: scenes::replay(), " ";
    replay_ended: scenes::told(scenes::replay(), Msg::Ended { reason: "end of the recording".to_owned(), failed: false }), "";

    notice_walked: after(&stories::two_h200()), "nn";
    note: after(&stories::two_h200()), "9";
    filter: after(&stories::with_a_death()), "/ann";
    filter_kept: after(&stories::two_h200()), "/cle⏎";
    filter_without_a_row: after(&stories::two_h200()), "/nobody⏎";
    only_mine: after(&stories::with_a_death()), "u";
    grouped: after(&stories::two_h200()), "o⇥";
    tree: after(&stories::family()), "t";
    tree_of_a_launch: family::tree(), "";
    tree_folded: family::tree(), "↓⇥";
    focus: after(&stories::two_h200()), "1";
    sorted_by_peak: after(&stories::two_h200()), "sS";
    columns: after(&stories::two_h200()), "▼jj  j ";
    columns_chosen: after(&stories::two_h200()), "▼jj j  ⎋";
    tagged: after(&stories::two_h200()), "xx";

    detail: scenes::detail(), "";
    detail_before_the_answer: after(&stories::two_h200()), "↓⏎";
    detail_of_a_rank: after(&stories::eight_h100()), "⏎";
    detail_of_the_ended: after(&stories::with_a_death()), "◀⏎";
    detail_then: after(&stories::two_h200()), "↓⏎←←←←←←←←←←←←←←←←←←←←";
    detail_of_the_ended_then: after(&stories::with_a_death()), "◀⏎←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←";
    detail_before_it_came: after(&stories::with_a_death()), "◀⏎←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←←";
    detail_not_here: after(&stories::two_h200()), "◀⏎";
    environment: scenes::detail(), "e";
    environment_not_permitted: scenes::detail_with(Reading::NOT_PERMITTED), "e";
    signal: after(&stories::two_h200()), "↓K";
    signal_to_four: scenes::signal_to_four(), "";
    signal_was_sent: scenes::signal_was_sent(), "";
    signal_to_the_ended: after(&stories::with_a_death()), "◀K";
    help: after(&stories::two_h200()), "?";
}

#[test]
fn what_the_letters_below_the_screens_stand_for() {
    insta::assert_snapshot!("styles", looks::legend());
}

#[test]
fn no_color_looks_as_mono() {
    let mut app = after(&stories::two_h200());
    let mono = Theme::named(ThemeName::Mono, Colors::True, false);
    assert!(cells(&mut app, &MONO, 120, 36) == cells(&mut app, &mono, 120, 36));
}
