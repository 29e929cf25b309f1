//! Frames of the tree over a launch: torchrun with four ranks on two cards, beside others.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use vramtop::app::{App, Msg, update};
use vramtop::model::Rank;
use vramtop::view::{Colors, Theme};

use crate::screens::keys;
use crate::stage::machine::{Holder, Machine};
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
fn tree() -> App {
    let mut app = after(&launch());
    keys(&mut app, "t");
    update(&mut app, Msg::Key(KeyEvent::new(KeyCode::Home, KeyModifiers::NONE)));
    app
}

#[test]
fn a_launch_stands_above_its_ranks() {
    for (name, width, height) in [("120x36", 120, 36), ("80x24", 80, 24), ("40x10", 40, 10), ("200x50", 200, 50)] {
        insta::assert_snapshot!(format!("tree_of_a_launch_{name}"), draw(&mut tree(), &MONO, width, height).backend());
    }
}

#[test]
fn a_launch_that_is_folded_and_selected() {
    let mut app = tree();
    update(&mut app, Msg::Key(KeyEvent::new(KeyCode::Down, KeyModifiers::NONE)));
    update(&mut app, Msg::Key(KeyEvent::new(KeyCode::Tab, KeyModifiers::NONE)));
    insta::assert_snapshot!("tree_folded_120x36", draw(&mut app, &MONO, 120, 36).backend());
}

#[test]
fn what_is_above_the_screen_is_counted_once() {
    let mut app = tree();
    update(&mut app, Msg::Key(KeyEvent::new(KeyCode::End, KeyModifiers::NONE)));
    // Out of sight at 80 x 24: tmux and torchrun, whose 95 and 92 are those of the rows in sight.
    let frame = draw(&mut app, &MONO, 80, 24).backend().to_string();
    assert!(frame.lines().any(|line| line.trim_matches(['"', ' ']) == "+2 above"), "{frame}");
}
