//! The frames of a live run over the fake driver are those of the replay of its recording, cell for cell: colours and all,
//! apart from the first line (it says "live" or "replay") and the key line.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod common;

use std::io::Cursor;
use std::sync::mpsc;

use common::{Machine, TestClock, until_samples, with_named, with_scenario};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use vramtop::app::{App, Mode, Msg, Setup, update};
use vramtop::collect::{ReplayOptions, ReplaySource, Source, SourceEnd};
use vramtop::model::{Record, SafeText};
use vramtop::monitor::Monitor;
use vramtop::record::{Reader, Writer};
use vramtop::view::{Colors, Theme, view};

const SIZES: [(u16, u16); 4] = [(120, 36), (80, 24), (40, 10), (200, 50)];

/// The frame after each sample, in turn at each of the sizes.
fn frames(mode: Mode, records: impl Iterator<Item = Record>) -> Vec<Buffer> {
    let mut app = App::new(Setup { zone: jiff::tz::TimeZone::UTC, mode, source: SafeText::new("test"), read_only: true });
    let theme = Theme::new(Colors::True, false);
    let mut terminals: Vec<_> = SIZES.iter().map(|(w, h)| Terminal::new(TestBackend::new(*w, *h)).expect("a test terminal")).collect();
    let mut frames = Vec::new();
    for record in records {
        let is_sample = matches!(record, Record::Sample(_));
        update(&mut app, Msg::Record(Box::new(record)));
        if is_sample {
            let at = frames.len() % terminals.len();
            let terminal = &mut terminals[at];
            terminal
                .draw(|frame| {
                    view(&app, &theme, frame);
                })
                .expect("drawn");
            frames.push(terminal.backend().buffer().clone());
        }
    }
    frames
}

/// What the log writes, and nothing else.
fn recording(records: &[Record]) -> Vec<u8> {
    let mut monitor = Monitor::new();
    let mut writer = Writer::new(Vec::new());
    for record in records {
        monitor.apply(record);
        writer.record(record, &monitor).expect("written to memory");
    }
    writer.into_inner()
}

fn replay(machine: &Machine, recording: Vec<u8>) -> impl Iterator<Item = Record> {
    let (sender, control) = mpsc::channel();
    let options = ReplayOptions { start_at_ms: Some(u64::MAX), ..ReplayOptions::default() };
    let clock = TestClock::new(&machine.folder.join("unused"));
    let mut source = ReplaySource::new(Reader::new(Cursor::new(recording)), control, clock, options);
    std::iter::from_fn(move || {
        // The sender lives as long as somebody watches.
        let _ = &sender;
        match source.next() {
            Ok(record) => Some(record),
            Err(SourceEnd::Finished) => None,
            Err(SourceEnd::Failed(error)) => panic!("{error}"),
        }
    })
}

fn check(machine: &Machine, samples: usize) {
    let records = until_samples(&mut machine.source(), samples);
    let live = frames(Mode::Live, records.clone().into_iter());
    let replayed = frames(Mode::Replay { length_ms: None }, replay(machine, recording(&records)));
    assert_eq!(live.len(), samples);
    assert_eq!(replayed.len(), samples);
    for (number, (mut live, mut replayed)) in live.into_iter().zip(replayed).enumerate() {
        for frame in [&mut live, &mut replayed] {
            let area = frame.area;
            for y in [area.top(), area.bottom() - 1] {
                for x in area.left()..area.right() {
                    frame[(x, y)].reset();
                }
            }
        }
        assert_eq!(live, replayed, "frame {number}");
    }
}

#[test]
fn two_cards_with_jobs_that_come_and_go() {
    with_named("two_cards_with_jobs_that_come_and_go", "two-h200-jobs", |machine| check(machine, 80));
}

#[test]
fn a_lost_gpu() {
    with_named("a_lost_gpu", "lost", |machine| check(machine, 12));
}

#[test]
fn a_reloaded_driver() {
    with_named("a_reloaded_driver", "reload", |machine| check(machine, 8));
}

#[test]
fn spikes_instances_garbage_and_a_shared_pool() {
    for name in ["spikes", "mig", "garbage", "no-permission"] {
        with_named("spikes_instances_garbage_and_a_shared_pool", name, |machine| check(machine, 8));
    }
}

#[test]
fn lists_that_cannot_be_read_for_a_while() {
    let processes =
        "{ pid = 5000002, memory = { ramp = { from = '4GiB', to = '64GiB', end_s = 12 } } }, { pid = 5000003, memory = '2GiB', kind = 'graphics' }";
    for (call, error) in [("processes", "InsufficientSize"), ("processes", "Unknown"), ("graphics", "Unknown"), ("compute", "NoPermission")] {
        let scenario = format!("[[gpu]]\nprocess = [{processes}]\n[[fault]]\ncall = '{call}'\nfrom_s = 2\nto_s = 7\nerror = '{error}'\n");
        with_scenario("lists_that_cannot_be_read_for_a_while", &scenario, |machine| check(machine, 12));
    }
}
