//! The tree over a launch: torchrun with four ranks on two cards, beside others. Its frames are in `screens.rs`.

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
