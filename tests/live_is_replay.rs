//! The frames of a live run over the fake driver are those of the replay of its recording, cell for cell: colours and all,
//! apart from the first line (it says "live" or "replay") and the key line.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod common;

use std::io::{BufRead as _, BufReader, Cursor};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use common::{Machine, TestClock, until_samples, with_named, with_scenario};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
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

/// The frame after each sample, in turn at each of the sizes, once that key was pressed.
fn frames(mode: Mode, key: Option<char>, records: impl Iterator<Item = Record>) -> Vec<Buffer> {
    let mut app = App::new(Setup { zone: jiff::tz::TimeZone::UTC, mode, source: SafeText::new("test"), read_only: true });
    let theme = Theme::new(Colors::True, false);
    let mut terminals: Vec<_> = SIZES.iter().map(|(w, h)| Terminal::new(TestBackend::new(*w, *h)).expect("a test terminal")).collect();
    let mut frames = Vec::new();
    if let Some(key) = key {
        update(&mut app, Msg::Key(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE)));
    }
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
    check_after(machine, samples, None);
}

/// The text of the first frame.
fn check_after(machine: &Machine, samples: usize, key: Option<char>) -> String {
    let records = until_samples(&mut machine.source(), samples);
    let live = frames(Mode::Live, key, records.clone().into_iter());
    let replayed = frames(Mode::Replay { length_ms: None }, key, replay(machine, recording(&records)));
    assert_eq!(live.len(), samples);
    assert_eq!(replayed.len(), samples);
    let first = live.first().map_or_else(String::new, text_of);
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
    first
}

fn text_of(frame: &Buffer) -> String {
    let width = usize::from(frame.area.width).max(1);
    frame.content.chunks(width).map(|line| line.iter().map(ratatui::buffer::Cell::symbol).collect::<String>() + "\n").collect()
}

/// A shell with two children, which end with it when its input does.
struct Shell {
    process: Child,
    children: Vec<u32>,
}

impl Shell {
    fn start() -> Self {
        let script = "exec 3<&0; cat <&3 & echo $!; cat <&3 & echo $!; exec 3<&-; wait";
        let shell = Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = shell.expect("a shell");
        let said = BufReader::new(process.stdout.take().expect("piped"));
        let children = said.lines().take(2).map(|line| line.expect("a line").parse().expect("a PID")).collect();
        Self { process, children }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

#[test]
fn a_family_of_real_processes() {
    if !std::fs::read_link("/proc/self/ns/pid").is_ok_and(|link| link.as_os_str() == "pid:[4026531836]") {
        // In a container no process without a GPU's files is named.
        return;
    }
    let shell = Shell::start();
    let row = |gib: u32, pid: u32| format!("[[gpu]]\nprocess = [{{ pid = {pid}, memory = '{gib}GiB' }}]\n");
    let scenario = row(40, shell.children[0]) + &row(10, shell.children[1]);
    with_scenario("a_family_of_real_processes", &scenario, |machine| {
        let frame = check_after(machine, 4, Some('t'));
        // The shell holds nothing itself; the two below it hold 50 on two cards.
        let line = frame.lines().find(|line| line.contains("sh (2)")).unwrap_or_else(|| panic!("no shell:\n{frame}"));
        assert!(line.contains("50.0") && line.contains("2×"), "{frame}");
        assert_eq!(frame.lines().filter(|line| line.contains("› cat")).count(), 2, "{frame}");
    });
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
