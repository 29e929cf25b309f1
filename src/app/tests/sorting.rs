//! The order of the history column: who moved most of what it draws.

use super::*;

/// What each holds in GiB by the second, for five minutes: 1 never moves; 2 grows by 1 every 50 s; 3 falls by 20 in the first minute;
/// 4 comes ten seconds before the end and grows by 4 then.
fn held(second: u64) -> Vec<(u32, u64)> {
    let mut held = vec![(1, 50), (2, 10 + second / 50), (3, if second < 30 { 40 } else { 20 })];
    held.extend((second >= 290).then_some((4, if second < 295 { 5 } else { 9 })));
    held
}

/// The table in the order of the history column; of 9 the driver does not say what it holds.
fn machine() -> App {
    let mut app = app(Mode::Live);
    take(&mut app, header());
    for second in 1..=300 {
        let Record::Sample(mut step) = sample(second, &held(second)) else { unreachable!("it makes samples") };
        let unknown = ProcessSample { facts: Arc::new(ProcessFacts::unseen(9)), memory: Reading::NOT_SUPPORTED, ..step.processes[0].clone() };
        step.processes.push(unknown);
        take(&mut app, Record::Sample(step));
    }
    update(&mut app, Msg::Drawn(Shown { columns: vec![Column::Vram, Column::History], column_ms: 1000, ..Shown::default() }));
    press(&mut app, KeyCode::Char('s'));
    // Five minutes instead of two: no lane of the card was read that would ask for as many.
    press(&mut app, KeyCode::Char('['));
    app
}

/// The PIDs in the order of the table.
fn pids(app: &App) -> Vec<u32> {
    app.picture().rows().iter().filter_map(TableRow::pid).collect()
}

#[test]
fn who_moved_most_comes_first_and_unknown_last_both_ways() {
    let mut app = machine();
    // Over 5 minutes 3 moved by 20, 2 by 6 (10 to 16), 4 by 4, and 1 by nothing.
    assert_eq!(pids(&app), [3, 2, 4, 1, 9]);
    press(&mut app, KeyCode::Char('S'));
    assert_eq!(pids(&app), [1, 4, 2, 3, 9]);
    press(&mut app, KeyCode::Char('S'));
    // Over the last 2 minutes 4 moved by 4, 2 by 3 (13 to 16), and the others by nothing: they go by PID.
    press(&mut app, KeyCode::Char(']'));
    assert_eq!(pids(&app), [4, 2, 1, 3, 9]);
    press(&mut app, KeyCode::Char('['));
    assert_eq!(pids(&app), [3, 2, 4, 1, 9]);
}

#[test]
fn a_look_back_has_the_order_of_what_is_still_drawn() {
    let mut app = machine();
    for _ in 0..60 {
        press(&mut app, KeyCode::Left);
    }
    // 4 had not come a minute ago; the histories end now, however far somebody looks back.
    assert_eq!(pids(&app), [3, 2, 1, 9]);
}
