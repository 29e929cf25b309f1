//! What messages do to the dashboard: selection, pausing, notices, freshness.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::tz::TimeZone;

use super::*;
use crate::model::{
    Absence, Bytes, DeviceMemory, GpuFacts, GpuId, GpuSample, GpuState, Header, Kind, Lane, ListState, OwnCost, ProcessFacts, ProcessSample, Reading,
    Sample, Telemetry, Untracked,
};

const CARD: u64 = 100 * Bytes::GIB;

fn app(mode: Mode) -> App {
    App::new(Setup { zone: TimeZone::UTC, mode, source: "test".into() })
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
fn what_takes_the_place_of_a_row_that_is_gone_is_selected() {
    let mut app = with(&[(1, 30), (2, 20), (3, 10)]);
    press(&mut app, KeyCode::Down);
    take(&mut app, sample(2, &[(1, 30), (3, 10)]));
    assert_eq!(selected(&app), Some(3));
    take(&mut app, sample(3, &[(1, 30)]));
    assert_eq!(selected(&app), Some(1));
    take(&mut app, sample(4, &[]));
    assert_eq!(app.selected(), None);
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
    update(&mut app, Msg::Ended("the end".to_owned()));
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
    update(&mut app, Msg::Ended("the driver was unloaded".to_owned()));
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

mod table;
