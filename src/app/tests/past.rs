//! A moment of the past: what the rings hold of it is shown, and nothing of today's in its place.

use super::*;

/// A dashboard after these seconds, whose histories have columns of so many.
fn after(seconds: std::ops::RangeInclusive<u64>, column: u64, held: impl Fn(u64) -> Vec<(u32, u64)>) -> App {
    let mut app = app(Mode::Live);
    take(&mut app, header());
    for second in seconds {
        take(&mut app, sample_here(second, &held(second)));
    }
    let rows = 0..app.picture().rows().len();
    update(&mut app, Msg::Drawn(Shown { rows, column_ms: column * 1000, ..Shown::default() }));
    app
}

/// PID and GiB of each row that holds something, and the PIDs that had ended.
fn rows(app: &App) -> (Vec<(u32, String)>, Vec<u32>) {
    let picture = app.picture();
    let (ended, living): (Vec<&TableRow>, Vec<&TableRow>) = picture.rows().iter().filter(|row| row.pid().is_some()).partition(|row| row.is_ended());
    let figures = living.into_iter().filter_map(|row| Some((row.pid()?, picture.figure(row)))).collect();
    (figures, ended.into_iter().filter_map(TableRow::pid).collect())
}

fn used(app: &App) -> Option<Bytes> {
    app.picture().monitor().gpus()[0].memory.get().and_then(|memory| memory.used())
}

#[test]
fn a_step_back_shows_what_was_held_then() {
    // 1 grows by a GiB a second from 11 on; 2 ends after second 50; 3 comes at 55.
    let mut app = after(1..=60, 10, |second| {
        let mut held = vec![(1, 10 + second)];
        held.extend((second <= 50).then_some((2, 5)));
        held.extend((second >= 55).then_some((3, 2)));
        held
    });
    assert_eq!(rows(&app), (vec![(1, "70.0".to_owned()), (3, "2.0".to_owned())], vec![2]));
    // The newest column is that of 50 to 59.999 s. One before it ends with second 50: 60 + 5 GiB.
    press(&mut app, KeyCode::Left);
    assert_eq!((app.freshness(), app.ago_ms()), (Freshness::Held, Some(10_000)));
    assert_eq!(rows(&app), (vec![(1, "60.0".to_owned()), (2, "5.0".to_owned())], vec![]));
    assert_eq!(app.picture().monitor().now(), Some((Moment { unix_ms: 50_000 }, 50_000)));
    // What is copied says that it is of then.
    let Effect::Copy(line) = press(&mut app, KeyCode::Char('y')) else { panic!("a copy") };
    assert!(line.contains("  60.0 GiB (10 s ago)"), "{line}");
    press(&mut app, KeyCode::Left);
    assert_eq!(rows(&app).0[0], (1, "50.0".to_owned()));
    // Samples go on; the moment stays what it was.
    take(&mut app, sample_here(61, &[(9, 90)]));
    assert_eq!(rows(&app).0[0], (1, "50.0".to_owned()));
    press(&mut app, KeyCode::Right);
    press(&mut app, KeyCode::Right);
    assert_eq!((app.then(), rows(&app).0, app.freshness()), (None, vec![(9, "90.0".to_owned())], Freshness::Live));
}

#[test]
fn where_there_is_nothing_older_nothing_is_held() {
    // All of three seconds is in the newest column.
    let mut app = after(1..=3, 8, |second| vec![(1, second)]);
    for is_held in [false, true] {
        assert_eq!(press(&mut app, KeyCode::Left), Effect::Redraw);
        assert_eq!((app.then(), app.note()), (None, Some("there is nothing older")));
        assert_eq!(app.freshness() == Freshness::Held, is_held);
        // Held by its own key it goes on by that.
        press(&mut app, KeyCode::Char(' '));
    }
    assert_eq!((app.freshness(), app.note()), (Freshness::Live, None));
    // Nor is a look at the oldest any older for another step.
    take(&mut app, sample_here(9, &[(1, 9)]));
    press(&mut app, KeyCode::Left);
    let oldest = app.then();
    assert_eq!((oldest.map(|then| then.at_ms), app.note()), (Some(7_999), None));
    press(&mut app, KeyCode::Left);
    assert_eq!((app.then(), app.note()), (oldest, None));
    press(&mut app, KeyCode::Esc);
    assert_eq!((app.then(), app.freshness()), (None, Freshness::Live));
}

#[test]
fn the_account_of_then_adds_up_or_is_unknown() {
    let with_rest = |second: u64| {
        let Record::Sample(mut sample) = sample_here(second, &[(1, 10)]) else { panic!("a sample") };
        // 15 GiB are used, and 10 of them have an owner.
        sample.gpus[0].memory = DeviceMemory::new(CARD, Bytes::gib(15).0, CARD - Bytes::gib(15).0, Some(0));
        sample.gpus[0].lane.push(crate::model::LanePoint { at_ms: second * 1000 - 999, used: Some(Bytes::gib(15)) });
        Record::Sample(sample)
    };
    let mut app = app(Mode::Live);
    take(&mut app, header());
    for second in 1..=60 {
        take(&mut app, with_rest(second));
    }
    update(&mut app, Msg::Drawn(Shown { column_ms: 10_000, ..Shown::default() }));
    press(&mut app, KeyCode::Left);
    let ledger = app.picture().monitor().gpus()[0].ledger.get().expect("known");
    assert_eq!((used(&app), ledger.processes, ledger.unattributed), (Some(Bytes::gib(15)), Some(Bytes::gib(10)), Some(Bytes::gib(5))));
    assert_eq!(ledger.sum(), Some(Bytes(CARD)));
}

#[test]
fn what_no_ring_keeps_is_absent() {
    let mut app = after(1..=60, 10, |_| vec![(1, 30)]);
    press(&mut app, KeyCode::Left);
    let monitor = app.picture().monitor();
    let (gpu, process) = (&monitor.gpus()[0], &monitor.processes()[0]);
    assert!(!gpu.telemetry.temperature_c.is_value() && !gpu.telemetry.gpu.is_value() && !process.host.is_value() && !process.sm_percent.is_value());
    assert_eq!((monitor.own().cpu_permille, monitor.warnings().len()), (None, 0));
    // No lane was read, so that what was used then is not known either.
    assert_eq!(used(&app), None);
}

#[test]
fn a_moment_at_which_nothing_was_read_stays_empty_while_the_failure_lasts() {
    // The list and the card are read until second 35 and not since; the moment is 5 s into that, and its 15 s began while they were.
    let mut app = after(1..=35, 1, |_| vec![(1, 30)]);
    for second in 36..=42 {
        let Record::Sample(mut sample) = sample_here(second, &[(1, 30)]) else { panic!("a sample") };
        let gpu = &mut sample.gpus[0];
        (gpu.memory, gpu.processes) = (Reading::failed("Unknown"), Reading::failed("Unknown"));
        (sample.processes[0].memory, sample.processes[0].range) = (Reading::Absent(Absence::StaleSince(35_000)), None);
        take(&mut app, Record::Sample(sample));
    }
    press(&mut app, KeyCode::Left);
    press(&mut app, KeyCode::Left);
    assert_eq!(app.then().map(|then| then.at_ms), Some(39_999));
    assert_eq!(rows(&app).0, [(1, "—".to_owned())]);
    let process = &app.picture().monitor().processes()[0];
    assert_eq!((process.range, process.peak, process.bytes_per_minute().get()), (None, None, None));
    assert_eq!(app.picture().owners().iter().map(Owner::figure).collect::<Vec<_>>(), ["—"]);
}

#[test]
fn several_figures_of_a_coarse_slot_are_at_least_the_lowest() {
    // A saw of 10 and 30 GiB, three minutes ago: the second ring of a process reaches back two.
    let mut app = after(1..=300, 10, |second| vec![(1, if second % 2 == 0 { 30 } else { 10 })]);
    for _ in 0..18 {
        press(&mut app, KeyCode::Left);
    }
    assert_eq!(rows(&app).0, [(1, "≥10.0".to_owned())]);
    let process = &app.picture().monitor().processes()[0];
    assert_eq!(process.range, Some((Bytes::gib(10), Bytes::gib(30))));
    assert!(app.picture().owners()[0].is_partial);
}

#[test]
fn it_stops_at_the_first_sample_and_says_what_happened_then() {
    let mut app = after(1..=60, 10, |second| if second <= 25 { vec![(1, 30), (2, 20)] } else { vec![(1, 30)] });
    assert_eq!(press(&mut app, KeyCode::Right), Effect::None);
    for _ in 0..3 {
        press(&mut app, KeyCode::Left);
    }
    // 20 to 29.999 s: the first step without 2 ended at 26.
    assert_eq!(app.notice().map(|notice| notice.text), Some("then: not visible here (2) ended".to_owned()));
    press(&mut app, KeyCode::Char('m'));
    assert_eq!(app.window().marks(), [29_999]);
    for _ in 0..30 {
        press(&mut app, KeyCode::Left);
    }
    assert_eq!((app.ago_ms(), app.notice()), (Some(50_000), None));
    press(&mut app, KeyCode::Esc);
    assert_eq!((app.freshness(), app.then()), (Freshness::Live, None));
}

#[test]
fn a_signal_is_about_today_s_process_and_its_figures() {
    let mut app = after(1..=60, 10, |second| if second <= 45 { vec![(1, second), (2, 50)] } else { vec![(1, second)] });
    press(&mut app, KeyCode::Left);
    press(&mut app, KeyCode::Left);
    assert_eq!(rows(&app).0, [(2, "50.0".to_owned()), (1, "40.0".to_owned())]);
    // 1 holds 60 now, and 2 has ended since.
    press(&mut app, KeyCode::Down);
    press(&mut app, KeyCode::Char('K'));
    assert_eq!(app.dialog().and_then(Dialog::frees), Some(Bytes::gib(60)));
    press(&mut app, KeyCode::Esc);
    press(&mut app, KeyCode::Up);
    assert_eq!(press(&mut app, KeyCode::Char('K')), Effect::Redraw);
    let subject = &app.dialog().expect("open").subjects[0];
    assert_eq!((subject.key, subject.holds.len(), subject.stage.clone()), (key_of(2), 0, Stage::Refused(Refusal::Ended)));
}

#[test]
fn a_replay_stands_still_while_somebody_looks_back() {
    let mut app = App::new(Setup { mode: Mode::Replay { length_ms: None }, ..after(1..=1, 1, |_| Vec::new()).setup().clone() });
    take(&mut app, header());
    for second in 1..=60 {
        take(&mut app, sample_here(second, &[(1, second)]));
    }
    update(&mut app, Msg::Drawn(Shown { column_ms: 10_000, ..Shown::default() }));
    assert_eq!(press(&mut app, KeyCode::Left), Effect::Playback(Playback::Pause));
    assert_eq!(press(&mut app, KeyCode::Left), Effect::Redraw);
    assert_eq!(rows(&app).0, [(1, "40.0".to_owned())]);
    assert_eq!(press(&mut app, KeyCode::Char(' ')), Effect::Playback(Playback::Resume));
    assert_eq!(rows(&app).0, [(1, "60.0".to_owned())]);
}

/// The close look at the first row, whose history has columns of so many seconds.
fn look_at_first(app: &mut App, column: u64) {
    press(app, KeyCode::Home);
    press(app, KeyCode::Enter);
    update(app, Msg::Drawn(Shown { column_ms: column * 1000, ..Shown::default() }));
}

/// What the process that is looked at holds, as it is written; `None` where it is not there.
fn looked_at(app: &App) -> Option<String> {
    let picture = app.picture();
    app.detail().and_then(|detail| detail.row(picture)).map(|row| picture.figure(row))
}

#[test]
fn the_close_look_goes_back_through_time_and_each_way_leads_to_now() {
    let mut app = after(1..=60, 10, |second| vec![(1, 10 + second)]);
    for (way, is_still_close) in [(KeyCode::Esc, true), (KeyCode::Char(' '), true), (KeyCode::Right, true)] {
        look_at_first(&mut app, 10);
        press(&mut app, KeyCode::Left);
        // The column before the newest ends with second 50.
        assert_eq!((app.screen(), app.ago_ms(), looked_at(&app).as_deref()), (Screen::Detail, Some(10_000), Some("60.0")));
        press(&mut app, way);
        assert_eq!((app.then(), looked_at(&app).as_deref(), app.detail().is_some()), (None, Some("70.0"), is_still_close));
        update(&mut app, Msg::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE)));
        assert_eq!((app.screen(), app.freshness()), (Screen::Dashboard, Freshness::Live));
    }
}

#[test]
fn the_environment_is_left_before_the_past() {
    let mut app = after(1..=60, 10, |second| vec![(1, 10 + second)]);
    look_at_first(&mut app, 10);
    press(&mut app, KeyCode::Left);
    press(&mut app, KeyCode::Char('e'));
    assert!(app.detail().is_some_and(|detail| detail.environment.is_some()));
    press(&mut app, KeyCode::Esc);
    assert_eq!((app.ago_ms(), app.screen()), (Some(10_000), Screen::Detail));
    press(&mut app, KeyCode::Esc);
    assert_eq!((app.then(), app.screen()), (None, Screen::Detail));
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.screen(), Screen::Dashboard);
}

#[test]
fn the_close_look_is_at_one_that_came_later_and_at_one_that_has_ended_since() {
    let mut app = after(1..=60, 10, |second| if second <= 25 { vec![(1, 30), (2, 20)] } else { vec![(1, 30), (3, 40)] });
    look_at_first(&mut app, 10);
    assert_eq!(looked_at(&app).as_deref(), Some("40.0"));
    for _ in 0..4 {
        press(&mut app, KeyCode::Left);
    }
    // 10 to 19.999 s: 3 has not come yet.
    assert_eq!((app.ago_ms(), looked_at(&app)), (Some(40_000), None));
    press(&mut app, KeyCode::Esc);
    press(&mut app, KeyCode::Esc);
    // The last row is 2, which has ended.
    press(&mut app, KeyCode::End);
    press(&mut app, KeyCode::Enter);
    update(&mut app, Msg::Drawn(Shown { column_ms: 10_000, ..Shown::default() }));
    for _ in 0..4 {
        press(&mut app, KeyCode::Left);
    }
    assert_eq!(looked_at(&app).as_deref(), Some("20.0"));
}
