//! What one frame and one sample cost in process: `cargo bench --bench frame`.

#![allow(dead_code, clippy::expect_used, reason = "the machines of the frame tests are borrowed, and not all of them")]

#[path = "../tests/frames/machine.rs"]
mod machine;

use machine::{Card, Holder, Machine};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use vramtop::app::{App, Mode, Msg, Setup, update};
use vramtop::model::SafeText;
use vramtop::view::{Colors, Theme, view};

fn main() {
    divan::main();
}

/// GPUs and processes in all.
const MACHINES: [(usize, u32); 3] = [(2, 6), (8, 512), (16, 2_048)];

fn machine_of(gpus: usize, processes: u32) -> Machine {
    let users = ["ann", "bob", "cleo", "dan"];
    let holder = |n: u32| Holder::new(n as usize % gpus, 10_000 + n, users[n as usize % users.len()], "train.py", |_| 0.5);
    Machine { host: "node7", hz: 20, own: 3, cards: (0..gpus).map(|_| Card::h200()).collect(), holders: (0..processes).map(holder).collect() }
}

/// The dashboard after 15 minutes.
fn app_of(machine: &Machine) -> App {
    let mut app = App::new(Setup { zone: jiff::tz::TimeZone::UTC, mode: Mode::Live, source: SafeText::new("bench"), read_only: true });
    update(&mut app, Msg::Record(Box::new(machine.header())));
    for second in (0..machine::SECONDS).step_by(15) {
        update(&mut app, Msg::Record(Box::new(machine.sample(second))));
    }
    app
}

#[divan::bench(args = MACHINES)]
fn frame_200x50(bencher: divan::Bencher<'_, '_>, (gpus, processes): (usize, u32)) {
    let app = app_of(&machine_of(gpus, processes));
    let theme = Theme::new(Colors::True, false);
    let mut terminal = Terminal::new(TestBackend::new(200, 50)).expect("a test terminal");
    bencher.bench_local(|| {
        terminal
            .draw(|frame| {
                view(&app, &theme, frame);
            })
            .map(drop)
    });
}

#[divan::bench(args = MACHINES)]
fn one_sample(bencher: divan::Bencher<'_, '_>, (gpus, processes): (usize, u32)) {
    let machine = machine_of(gpus, processes);
    let mut app = app_of(&machine);
    let mut second = machine::SECONDS;
    bencher
        .with_inputs(|| {
            second += 1;
            Msg::Record(Box::new(machine.sample(second)))
        })
        .bench_local_values(|msg| update(&mut app, msg));
}
