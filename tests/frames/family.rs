//! The tree over a launch: torchrun with four ranks on two cards, beside others. Its frames are in `screens.rs`.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use vramtop::app::{App, Msg, update};
use vramtop::model::{Absence, Rank, Reading, Record};
use vramtop::view::{Colors, Theme};

use crate::screens::keys;
use crate::stage::machine::{Holder, Machine, SECONDS};
use crate::stage::{after, draw, stories};

const MONO: Theme = Theme::new(Colors::Never, false);

/// Four ranks of ann, two on each card, of 20, 22, 24 and 26 GiB; a notebook of hers in the same tmux; and a server in a container.
fn launch() -> Machine {
    let mut machine = stories::two_h200();
    let held: [crate::stage::machine::Amount; 4] = [|_| 20.0, |_| 22.0, |_| 24.0, |_| 26.0];
    machine.holders = (0..4_u32)
        .zip(held)
        .map(|(rank, held)| {
            let mut train = Holder::new(rank as usize / 2, 5201 + rank, "ann", "train.py", held);
            train.rank = Some(Rank { rank, world: Some(4), local: Some(rank) });
            train.ancestors = vec![(5200, "torchrun train.py"), (5100, "bash"), (4000, "tmux: server")];
            (train.mine, train.sm, train.cpu) = (true, Some(98), 101);
            train
        })
        .collect();
    let mut probe = Holder::new(0, 5301, "ann", "probe.ipynb", |_| 3.0);
    (probe.mine, probe.ancestors) = (true, vec![(5290, "jupyter-lab"), (5101, "bash"), (4000, "tmux: server")]);
    let mut serve = Holder::new(1, 7301, "bob", "vllm Qwen3-8B", |_| 60.0);
    serve.ancestors = vec![(7200, "containerd-shim")];
    machine.holders.extend([probe, serve]);
    machine
}

/// The tree, with the cursor on its first row.
pub(crate) fn tree() -> App {
    let mut app = after(&launch());
    keys(&mut app, "t");
    update(&mut app, Msg::Key(KeyEvent::new(KeyCode::Home, KeyModifiers::NONE)));
    app
}

#[test]
fn what_is_above_the_screen_is_counted_once() {
    let mut app = tree();
    update(&mut app, Msg::Key(KeyEvent::new(KeyCode::End, KeyModifiers::NONE)));
    // Out of sight at 80 x 24: tmux and torchrun, whose 95 and 92 are those of the rows in sight.
    let frame = draw(&mut app, &MONO, 80, 24).backend().to_string();
    assert!(frame.lines().any(|line| line.trim_matches(['"', ' ']) == "+2 above"), "{frame}");
}

#[test]
fn a_sum_of_old_figures_says_how_old_they_are() {
    let mut machine = launch();
    // A rank that grows by 0.6 GiB a minute, and then 13 s in which no list can be read.
    machine.holders[0].held = Some(|second| 10.0 + second as f64 / 100.0);
    let mut app = after(&machine);
    keys(&mut app, "t");
    let family = |app: &mut App, of: &str| {
        let frame = draw(app, &MONO, 120, 36).backend().to_string();
        frame.lines().find(|line| line.contains(of)).map(ToOwned::to_owned).unwrap_or(frame)
    };
    assert!(family(&mut app, "› torchrun").contains("↑ +0.60/min"));
    for second in SECONDS + 1..=SECONDS + 13 {
        let Record::Sample(mut sample) = machine.sample(second) else { panic!("a sample") };
        sample.gpus.iter_mut().for_each(|gpu| gpu.processes = Reading::failed("Unknown"));
        for process in &mut sample.processes {
            (process.memory, process.range) = (Reading::Absent(Absence::StaleSince(SECONDS * 1000)), None);
        }
        update(&mut app, Msg::Record(Box::new(Record::Sample(sample))));
    }
    let is_old = |line: &str| line.contains("13s ago") && !line.contains("/min");
    let torchrun = family(&mut app, "› torchrun");
    assert!(is_old(&torchrun), "{torchrun}");
    keys(&mut app, "to");
    update(&mut app, Msg::Key(KeyEvent::new(KeyCode::Home, KeyModifiers::NONE)));
    for of in ["train.py, probe.ipynb", "5 processes on GPUs 0, 1"] {
        let line = family(&mut app, of);
        assert!(is_old(&line), "{line}");
    }
    // What the column orders by is as unknown.
    let picture = app.picture();
    assert!(picture.groups().iter().all(|group| group.bytes_per_minute.is_none()));
    assert!(picture.monitor().processes().iter().all(|process| !process.bytes_per_minute().is_value()));
    keys(&mut app, "ooo");
    update(&mut app, Msg::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE)));
    assert!(!family(&mut app, "its change is not known while its list cannot be read").contains("/min"));
}
