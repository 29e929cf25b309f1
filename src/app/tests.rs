//! What messages do to the dashboard: selection, pausing, notices, freshness.

use std::ops::Range;
use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::tz::TimeZone;

use super::*;
use crate::model::{
    Absence, Bytes, Details, DeviceMemory, GpuFacts, GpuId, GpuSample, GpuState, Header, Kind, Lane, ListState, Moment, OwnCost, ProcessFacts,
    ProcessKey, ProcessSample, Reading, Refusal, RunState, SafeText, Sample, Signal, Telemetry, Untracked, Visibility,
};

const CARD: u64 = 100 * Bytes::GIB;

fn app(mode: Mode) -> App {
    App::new(Setup { zone: TimeZone::UTC, mode, source: "test".into(), read_only: false })
}

fn header() -> Record {
    let facts = GpuFacts {
        id: GpuId::new("GPU-0"),
        index: Some(0),
        instance: None,
        parent: None,
        pci: None,
        name: "card".into(),
        total: Reading::Value(Bytes(CARD)),
        shared_with_host: false,
        power_limit_mw: Reading::NOT_SUPPORTED,
        max_sm_mhz: Reading::NOT_SUPPORTED,
        max_memory_mhz: Reading::NOT_SUPPORTED,
        bar1_total: Reading::NOT_SUPPORTED,
        mig: Reading::NOT_SUPPORTED,
    };
    Record::Header(Arc::new(Header {
        time: Moment::default(),
        version: "0".into(),
        host: "host".into(),
        driver: None,
        cuda: None,
        interval_ms: 1000,
        memory_hz: 20,
        gpus: vec![Arc::new(facts)],
    }))
}

/// A step in which these PIDs hold so many GiB.
fn sample(second: u64, held: &[(u32, u64)]) -> Record {
    let used: u64 = held.iter().map(|(_, gib)| gib * Bytes::GIB).sum();
    let processes = held.iter().map(|(pid, gib)| ProcessSample {
        gpu: 0,
        facts: Arc::new(ProcessFacts::unseen(*pid)),
        kind: Kind::default(),
        memory: Reading::Value(Bytes::gib(*gib)),
        range: None,
        sm_percent: Reading::NOT_ASKED,
        host: Reading::NOT_ASKED,
    });
    Record::Sample(Box::new(Sample {
        time: Moment { unix_ms: i64::try_from(second * 1000).expect("small") },
        elapsed_ms: second * 1000,
        gpus: vec![GpuSample {
            id: GpuId::new("GPU-0"),
            state: GpuState::Present,
            memory: DeviceMemory::new(CARD, used, CARD - used, Some(0)),
            lane: Lane::default(),
            processes: Reading::Value(ListState::Fresh),
            untracked: Untracked::default(),
            telemetry: Telemetry::absent(&Absence::NotSupported),
        }],
        processes: processes.collect(),
        faults: Vec::new(),
        own: OwnCost::default(),
    }))
}

fn take(app: &mut App, record: Record) -> Effect {
    update(app, Msg::Record(Box::new(record)))
}

fn press(app: &mut App, code: KeyCode) -> Effect {
    update(app, Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

fn selected(app: &App) -> Option<u32> {
    app.selected().and_then(|at| app.picture().rows()[at].pid())
}

fn with(held: &[(u32, u64)]) -> App {
    let mut app = app(Mode::Live);
    take(&mut app, header());
    take(&mut app, sample(1, held));
    app
}

#[test]
fn the_selection_follows_its_process_through_every_order() {
    let mut app = with(&[(1, 30), (2, 20), (3, 10)]);
    press(&mut app, KeyCode::Down);
    assert_eq!((app.selected(), selected(&app)), (Some(1), Some(2)));
    take(&mut app, sample(2, &[(1, 5), (2, 6), (3, 10)]));
    assert_eq!((app.selected(), selected(&app)), (Some(1), Some(2)));
    take(&mut app, sample(3, &[(1, 5), (2, 40), (3, 10)]));
    assert_eq!((app.selected(), selected(&app)), (Some(0), Some(2)));
}

#[test]
fn a_process_that_ends_stays_selected_below_the_others() {
    let mut app = with(&[(1, 30), (2, 20), (3, 10)]);
    press(&mut app, KeyCode::Down);
    take(&mut app, sample(2, &[(1, 30), (3, 10)]));
    assert_eq!((app.selected(), selected(&app)), (Some(2), Some(2)));
    assert!(app.picture().rows()[2].is_ended());
    // It comes back: the same process has one row.
    take(&mut app, sample(3, &[(1, 30), (2, 20), (3, 10)]));
    assert_eq!((selected(&app), app.picture().rows().iter().filter(|row| row.pid() == Some(2) && !row.is_ended()).count()), (Some(2), 1));
}

#[test]
fn what_takes_the_place_of_a_row_that_is_gone_is_selected() {
    let mut app = with(&[(1, 30), (2, 20)]);
    press(&mut app, KeyCode::Down);
    take(&mut app, sample(2, &[(1, 30)]));
    assert_eq!(selected(&app), Some(2));
    // 15 minutes later it is forgotten.
    take(&mut app, sample(902, &[(1, 30)]));
    assert_eq!(selected(&app), Some(1));
    take(&mut app, sample(903, &[]));
    take(&mut app, sample(1803, &[]));
    assert_eq!(app.selected(), None);
}

#[test]
fn what_has_ended_is_not_looked_at_and_holds_nothing() {
    let mut app = with(&[(1, 30), (2, 20)]);
    take(&mut app, sample(2, &[(1, 30)]));
    let owners: Bytes = app.picture().owners().iter().map(|owner| owner.bytes).sum();
    assert_eq!(owners, Bytes::gib(30));
    let seen = update(&mut app, Msg::Drawn(Shown { rows: 0..2, ..Shown::default() }));
    assert_eq!(seen, Effect::Interest(Interest { pids: vec![1], sm_percent: false }));
}

#[test]
fn enter_after_n_selects_the_process_that_is_named() {
    let mut app = with(&[(1, 50), (2, 48)]);
    press(&mut app, KeyCode::Down);
    assert_eq!(selected(&app), Some(2));
    // The card is at the edge, and the largest holder is named.
    press(&mut app, KeyCode::Char('n'));
    assert!(app.is_walking());
    press(&mut app, KeyCode::Enter);
    assert_eq!((selected(&app), app.is_walking()), (Some(1), false));
    // Any other key in between, and Enter is about the row again.
    press(&mut app, KeyCode::Char('n'));
    press(&mut app, KeyCode::Down);
    assert!(!app.is_walking());
}

#[test]
fn the_ends_and_pages_of_the_table() {
    let held: Vec<(u32, u64)> = (0..20).map(|pid| (pid, 1)).collect();
    let mut app = with(&held);
    update(&mut app, Msg::Drawn(Shown { rows: 0..7, sm_percent: false, ..Shown::default() }));
    press(&mut app, KeyCode::PageDown);
    assert_eq!(app.selected(), Some(7));
    press(&mut app, KeyCode::End);
    assert_eq!(app.selected(), Some(19));
    press(&mut app, KeyCode::Down);
    assert_eq!(app.selected(), Some(19));
    press(&mut app, KeyCode::Home);
    press(&mut app, KeyCode::Up);
    assert_eq!(app.selected(), Some(0));
}

#[test]
fn a_held_picture_stands_still_while_samples_go_on() {
    let mut app = with(&[(1, 30)]);
    assert_eq!(press(&mut app, KeyCode::Char(' ')), Effect::Redraw);
    assert_eq!(take(&mut app, sample(2, &[(1, 31), (2, 40)])), Effect::None);
    assert_eq!((app.freshness(), app.picture().rows().len()), (Freshness::Held, 1));
    press(&mut app, KeyCode::Char(' '));
    assert_eq!((app.freshness(), app.picture().rows().len()), (Freshness::Live, 2));
    assert_eq!(selected(&app), Some(1));
}

#[test]
fn a_replay_is_paused_and_hurried_by_its_player() {
    let mut app = app(Mode::Replay { length_ms: Some(9000) });
    take(&mut app, header());
    take(&mut app, sample(5, &[(1, 30)]));
    take(&mut app, sample(7, &[(1, 30)]));
    assert_eq!(press(&mut app, KeyCode::Char(' ')), Effect::Playback(Playback::Pause));
    assert_eq!(press(&mut app, KeyCode::Char('+')), Effect::Playback(Playback::Speed(2.0)));
    let position = Position { at_ms: 2000, of_ms: Some(9000), speed: 2.0, paused: true };
    assert_eq!(app.freshness(), Freshness::Replay(position));
    update(&mut app, Msg::Ended { reason: "the end".to_owned(), failed: false });
    assert_eq!((app.freshness(), app.notice()), (Freshness::Ended, None));
    assert_eq!(press(&mut app, KeyCode::Char(' ')), Effect::None);
}

#[test]
fn silence_is_noticed_and_a_sample_ends_it() {
    let mut app = app(Mode::Live);
    assert_eq!(app.freshness(), Freshness::Connecting);
    take(&mut app, header());
    take(&mut app, sample(1, &[]));
    let tick = |app: &mut App, second: i64| update(app, Msg::Tick(Moment { unix_ms: second * 1000 }));
    assert_eq!((tick(&mut app, 100), tick(&mut app, 102)), (Effect::None, Effect::None));
    assert_eq!((tick(&mut app, 104), app.freshness()), (Effect::Redraw, Freshness::Stale { seconds: 4 }));
    take(&mut app, sample(2, &[]));
    assert_eq!(app.freshness(), Freshness::Live);
}

#[test]
fn a_live_source_that_ends_is_an_alarm() {
    let mut app = with(&[(1, 99)]);
    assert_eq!(app.notice().map(|notice| (notice.number, notice.of)), Some((1, 1)));
    update(&mut app, Msg::Ended { reason: "the driver was unloaded".to_owned(), failed: true });
    let notice = app.notice().expect("an alarm");
    assert_eq!((notice.severity, notice.text.as_str(), notice.of), (Severity::Alarm, "reading has ended: the driver was unloaded", 2));
    press(&mut app, KeyCode::Char('n'));
    assert_eq!(app.notice().map(|notice| notice.number), Some(2));
    press(&mut app, KeyCode::Char('n'));
    assert_eq!(app.notice().map(|notice| notice.number), Some(1));
}

#[test]
fn interest_is_told_once_for_each_change() {
    let mut app = with(&[(3, 30), (2, 20), (1, 10)]);
    let drawn = |app: &mut App, rows: Range<usize>| update(app, Msg::Drawn(Shown { rows, sm_percent: true, ..Shown::default() }));
    let told = Effect::Interest(Interest { pids: vec![2, 3], sm_percent: true });
    assert_eq!(drawn(&mut app, 0..2), told);
    assert_eq!(drawn(&mut app, 0..2), Effect::None);
    // The selected row is looked at in any case: its own line stands below the table.
    assert_eq!(drawn(&mut app, 2..3), Effect::Interest(Interest { pids: vec![1, 3], sm_percent: true }));
}

#[test]
fn help_comes_and_goes() {
    let mut app = with(&[(1, 30)]);
    press(&mut app, KeyCode::Char('?'));
    assert_eq!((app.screen(), press(&mut app, KeyCode::Down), app.selected()), (Screen::Help, Effect::Redraw, Some(0)));
    press(&mut app, KeyCode::Esc);
    assert_eq!((app.screen(), press(&mut app, KeyCode::Esc)), (Screen::Dashboard, Effect::None));
    assert_eq!(press(&mut app, KeyCode::Char('q')), Effect::Quit);
}

/// A step in which these PIDs are visible here.
fn sample_here(second: u64, held: &[(u32, u64)]) -> Record {
    let Record::Sample(mut sample) = sample(second, held) else { panic!("a sample") };
    for process in &mut sample.processes {
        let pid = process.facts.key.pid;
        let key = ProcessKey { pid, start_ticks: Some(u64::from(pid) * 7) };
        process.facts = Arc::new(ProcessFacts { key, visibility: Visibility::Here, ..ProcessFacts::unseen(pid) });
    }
    Record::Sample(sample)
}

fn opened(pid: u32, state: char) -> Msg {
    Msg::Answer { key: key_of(pid), answer: Answer::Opened(Ok(RunState(state))) }
}

const fn key_of(pid: u32) -> ProcessKey {
    ProcessKey { pid, start_ticks: Some(pid as u64 * 7) }
}

fn here(held: &[(u32, u64)]) -> App {
    let mut app = app(Mode::Live);
    take(&mut app, header());
    take(&mut app, sample_here(1, held));
    app
}

#[test]
fn the_dialog_stays_with_the_process_that_it_named() {
    let mut app = here(&[(1, 30), (2, 20)]);
    assert_eq!(press(&mut app, KeyCode::Char('K')), Effect::OpenTargets(vec![key_of(1)]));
    // Nothing is sent before the process is held.
    assert_eq!(press(&mut app, KeyCode::Enter), Effect::None);
    update(&mut app, opened(1, 'S'));
    let frees = |app: &App| app.dialog().and_then(Dialog::frees);
    assert_eq!(frees(&app), Some(Bytes::gib(30)));
    // The rows change places, and the first ends: the dialog is about the same one, and says what its end would free now.
    take(&mut app, sample_here(2, &[(1, 35), (2, 40)]));
    assert_eq!(frees(&app), Some(Bytes::gib(35)));
    take(&mut app, sample_here(3, &[(2, 40)]));
    assert!(app.dialog().is_some_and(|dialog| dialog.subjects[0].holds.is_empty()));
    press(&mut app, KeyCode::Down);
    assert_eq!(press(&mut app, KeyCode::Enter), Effect::Signal { keys: vec![key_of(1)], signal: Signal::Int });
    update(&mut app, Msg::Answer { key: key_of(1), answer: Answer::Signalled(Signal::Int, Err(Refusal::Ended)) });
    // What has ended is sent nothing more.
    assert_eq!((app.dialog().map(Dialog::is_open), press(&mut app, KeyCode::Enter)), (Some(false), Effect::None));
}

#[test]
fn an_answer_about_another_process_changes_nothing() {
    let mut app = here(&[(1, 30)]);
    press(&mut app, KeyCode::Char('K'));
    assert_eq!(update(&mut app, opened(2, 'S')), Effect::None);
    assert_eq!(press(&mut app, KeyCode::Enter), Effect::None);
}

#[test]
fn the_keys_choose_the_signal() {
    let mut app = here(&[(1, 30)]);
    let chosen = |app: &App| app.dialog().map(|dialog| dialog.signal.name());
    for (key, name) in [(KeyCode::Char('K'), "TERM"), (KeyCode::F(9), "TERM"), (KeyCode::Char('T'), "TERM"), (KeyCode::Char('I'), "INT")] {
        press(&mut app, key);
        assert_eq!((app.screen(), chosen(&app)), (Screen::Signal, Some(name)));
        press(&mut app, KeyCode::Esc);
        assert_eq!((app.screen(), chosen(&app)), (Screen::Dashboard, None));
    }
    press(&mut app, KeyCode::Char('K'));
    for name in ["INT", "KILL", "HUP", "QUIT", "STOP", "CONT", "USR1", "USR2", "USR2"] {
        press(&mut app, KeyCode::Down);
        assert_eq!(chosen(&app), Some(name));
    }
    press(&mut app, KeyCode::Char('T'));
    assert_eq!(chosen(&app), Some("TERM"));
}

#[test]
fn nothing_is_signalled_where_it_may_not_be() {
    let setup = |mode, read_only| Setup { zone: TimeZone::UTC, mode, source: "test".into(), read_only };
    let recording = "a recording: there is nobody to send a signal to";
    for (setup, why) in [(setup(Mode::Live, true), "read-only: no signal is sent"), (setup(Mode::Replay { length_ms: None }, false), recording)] {
        let mut app = App::new(setup);
        take(&mut app, header());
        take(&mut app, sample_here(1, &[(1, 30)]));
        for key in [KeyCode::Char('K'), KeyCode::Char('T'), KeyCode::Char('I'), KeyCode::F(9)] {
            assert_eq!((press(&mut app, key), app.note(), app.dialog().is_none()), (Effect::Redraw, Some(why), true));
        }
    }
    // A process that is not visible here is never taken hold of.
    let mut app = with(&[(1, 30)]);
    assert_eq!((press(&mut app, KeyCode::Char('K')), press(&mut app, KeyCode::Enter)), (Effect::Redraw, Effect::None));
}

#[test]
fn the_close_look_stays_with_its_process() {
    let mut app = here(&[(1, 30), (2, 20)]);
    assert_eq!((press(&mut app, KeyCode::Enter), app.screen()), (Effect::Look(key_of(1)), Screen::Detail));
    let looked_at = |app: &App| app.detail().and_then(|detail| detail.row(app.picture())).and_then(TableRow::pid);
    take(&mut app, sample_here(2, &[(1, 30), (2, 40)]));
    assert_eq!(looked_at(&app), Some(1));
    take(&mut app, sample_here(3, &[(2, 40)]));
    assert_eq!(looked_at(&app), Some(1));
    // Keys about a process mean this one.
    press(&mut app, KeyCode::Char('K'));
    let about = app.dialog().and_then(|dialog| dialog.subjects.first());
    assert_eq!(about.map(|subject| (subject.key, subject.stage.clone())), Some((key_of(1), Stage::Refused(Refusal::Ended))));
    for screen in [Screen::Detail, Screen::Dashboard] {
        press(&mut app, KeyCode::Esc);
        assert_eq!(app.screen(), screen);
    }
    assert!(app.detail().is_none());
}

#[test]
fn help_and_environment_lead_back_to_the_close_look() {
    let mut app = here(&[(1, 30)]);
    press(&mut app, KeyCode::Enter);
    press(&mut app, KeyCode::Char('e'));
    press(&mut app, KeyCode::Char('?'));
    assert_eq!(app.screen(), Screen::Help);
    press(&mut app, KeyCode::Esc);
    assert!(app.screen() == Screen::Detail && app.detail().is_some_and(|detail| detail.environment.is_some()));
    press(&mut app, KeyCode::Esc);
    assert!(app.screen() == Screen::Detail && app.detail().is_some_and(|detail| detail.environment.is_none()));
}

#[test]
fn an_answer_about_another_process_is_not_shown() {
    let mut app = here(&[(1, 30)]);
    press(&mut app, KeyCode::Enter);
    let of = |pid| Msg::Details(Box::new(Details { key: key_of(pid), environment: Reading::NOT_ASKED }));
    assert_eq!((update(&mut app, of(2)), update(&mut app, of(1))), (Effect::None, Effect::Redraw));
    // A recording is of another machine, perhaps: nobody is asked.
    let mut replay = App::new(Setup { mode: Mode::Replay { length_ms: None }, ..app.setup().clone() });
    take(&mut replay, header());
    take(&mut replay, sample_here(1, &[(1, 30)]));
    assert_eq!(press(&mut replay, KeyCode::Enter), Effect::Redraw);
}

mod mouse;
mod past;
mod said;
mod sorting;
mod table;
mod tagging;
mod tree;
