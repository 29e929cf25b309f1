//! States that no machine's story and no key alone lead to.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may fail")]

use vramtop::app::{Answer, App, Mode, Msg, update};
use vramtop::model::{
    Absence, Bytes, Details, DeviceMemory, Event, EventKind, Moment, ProcessKey, Reading, Record, Refusal, RunState, SafeText, Signal,
};

use crate::screens::keys;
use crate::stage::machine::{Card, END, Holder, Machine, SECONDS};
use crate::stage::{after, dashboard, stories};

/// The state after one more message.
pub(crate) fn told(mut app: App, msg: Msg) -> App {
    update(&mut app, msg);
    app
}

/// The source cannot go on.
pub(crate) fn gone(reason: &str) -> Msg {
    Msg::Ended { reason: reason.to_owned(), failed: true }
}

pub(crate) fn two_h200_with(change: fn(&mut Machine)) -> App {
    let mut machine = stories::two_h200();
    change(&mut machine);
    after(&machine)
}

pub(crate) fn desktop_with(change: fn(&mut Machine)) -> App {
    let mut machine = stories::desktop();
    change(&mut machine);
    after(&machine)
}

fn applied(mode: Mode, records: impl Iterator<Item = Record>) -> App {
    records.fold(dashboard(mode), |app, record| told(app, Msg::Record(Box::new(record))))
}

/// Sixteen cards of two models with sixty processes of users with long and with wide names, the first three seconds.
pub(crate) fn crowd() -> App {
    let mut cards: Vec<Card> = (0..16).map(|at| if at % 3 == 2 { Card::h100() } else { Card::h200() }).collect();
    cards[9].untracked = (300, 2.5);
    let users = ["ann", "bob", "管理者", "a_rather_long_user_name", "eve", "dan", "fay"];
    let holders = (0..60_u32).map(|n| {
        let mut holder = Holder::new(n as usize % 16, 1000 + n, users[n as usize % users.len()], "训练.py", |_| 0.05);
        holder.full = "训练.py --config 一个很长的名字 --and more";
        if n < 16 {
            holder.held = Some(|second| 30.0 + second as f64 / 100.0);
        } else if n % 11 == 10 {
            holder.held = None;
        }
        holder
    });
    let machine = Machine { host: "crowded", hz: 20, own: 4, holders: holders.collect(), cards };
    applied(Mode::Live, std::iter::once(machine.header()).chain((1..4).map(|second| machine.sample(second))))
}

pub(crate) fn first_minute() -> App {
    applied(Mode::Live, stories::two_h200().records().take(41))
}

/// From the fifth minute on nothing was read for 200 s.
pub(crate) fn gap() -> App {
    let machine = stories::two_h200();
    let after = (500..=SECONDS).map(|second| machine.sample(second));
    let time = END.minus_ms((SECONDS - 500) * 1000);
    let gap = Record::Event(Event { time, elapsed_ms: 499_000, gpu: None, kind: EventKind::Gap { ms: 200_000 } });
    let before = (1..300).map(|second| machine.sample(second));
    applied(Mode::Live, std::iter::once(machine.header()).chain(before).chain([gap]).chain(after))
}

/// The last step has no list of processes but that of two seconds before, and 2 GiB more are used on the first card.
pub(crate) fn older_list() -> App {
    let machine = stories::two_h200();
    let Record::Sample(mut last) = machine.sample(SECONDS) else { panic!("a sample") };
    let since = Absence::StaleSince((SECONDS - 2) * 1000);
    for gpu in &mut last.gpus {
        gpu.processes = Reading::Absent(since.clone());
    }
    for process in &mut last.processes {
        process.memory = Reading::Absent(since.clone());
    }
    let before = last.gpus[0].memory.get().expect("figures");
    let more = Bytes::gib(2).0;
    let driver = before.driver().map(|reserve| reserve.0);
    last.gpus[0].memory =
        DeviceMemory::new(before.total().0, before.used().expect("a card with memory of its own").0 + more, before.free().0 - more, driver);
    let header = std::iter::once(machine.header());
    let until_then = (1..=SECONDS - 2).map(|second| machine.sample(second));
    applied(Mode::Live, header.chain(until_then).chain([Record::Sample(last)]))
}

/// Nothing has come for 14 s, because the driver is inside a call.
pub(crate) fn stale() -> App {
    let ticks = (0..15).map(|seconds| Msg::Tick(Moment { unix_ms: END.unix_ms + seconds * 1000 }));
    let app = ticks.fold(after(&stories::two_h200()), told);
    told(app, Msg::Waiting(vramtop::app::Waiting { call: "the process list", for_ms: 13_000 }))
}

/// A recording of 15 min, 3 min 19 s after its begin.
pub(crate) fn replay() -> App {
    applied(Mode::Replay { length_ms: Some((SECONDS - 1) * 1000) }, stories::desktop().records().take(200))
}

/// The close look at train.py of ann, and what was found out about it.
pub(crate) fn detail() -> App {
    let known = [("CONDA_DEFAULT_ENV", "llm"), ("CUDA_VISIBLE_DEVICES", "0"), ("HF_TOKEN", "***"), ("HOME", "/home/ann")];
    detail_with(Reading::Value(known.map(|(name, value)| (name.into(), value.into())).to_vec()))
}

pub(crate) fn detail_with(environment: Reading<Vec<(SafeText, SafeText)>>) -> App {
    let mut app = two_h200_with(|machine| {
        let train = machine.holders.iter_mut().find(|holder| holder.pid == 41877).expect("train.py");
        train.ancestors = vec![(41801, "torchrun"), (41790, "slurmstepd"), (2044, "bash"), (2011, "sshd")];
    });
    keys(&mut app, "↓⏎");
    let row = app.detail().and_then(|detail| detail.row(app.picture())).expect("it is listed");
    let key = row.key().expect("a process");
    told(app, Msg::Details(Box::new(Details { key, environment })))
}

/// Whom the dialog is about.
fn subjects(app: &App) -> Vec<ProcessKey> {
    app.dialog().into_iter().flat_map(|dialog| &dialog.subjects).map(|subject| subject.key).collect()
}

/// The dialog about the first four rows: one waits in the kernel, one belongs to somebody else.
pub(crate) fn signal_to_four() -> App {
    let mut app = after(&stories::two_h200());
    keys(&mut app, "xxxxK");
    let answers = [Ok(RunState('S')), Ok(RunState('D')), Err(Refusal::NotPermitted), Ok(RunState('S'))];
    let answers = subjects(&app).into_iter().zip(answers).map(|(key, answer)| Msg::Answer { key, answer: Answer::Opened(answer) });
    answers.fold(app, told)
}

/// The same after TERM was sent; the last had ended by then.
pub(crate) fn signal_was_sent() -> App {
    let app = signal_to_four();
    let answers = [Ok(RunState('S')), Ok(RunState('D')), Err(Refusal::NotPermitted), Err(Refusal::Ended)];
    let answers = subjects(&app).into_iter().zip(answers);
    answers.map(|(key, answer)| Msg::Answer { key, answer: Answer::Signalled(Signal::Term, answer) }).fold(app, told)
}
