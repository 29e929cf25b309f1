//! The machines of the design's screens.

use vramtop::model::{Kind, Rank};

use super::machine::{Card, Holder, Machine, SECONDS, gib};

const GRAPHICS: Kind = Kind { compute: false, graphics: true, mps: false };

/// Saw teeth of `height` GiB, one in so many seconds.
fn saw(second: u64, period: u64, height: f64) -> f64 {
    (second % period) as f64 / period as f64 * height
}

/// A figure that jumps about, the same in every run.
fn jitter(second: u64, low: u32, high: u32) -> u32 {
    let noise = (second / 7).wrapping_mul(2_654_435_761) >> 7;
    low + u32::try_from(noise % u64::from(high - low + 1)).unwrap_or(0)
}

/// Two H200s with six processes of three users, one of them not visible, and 6.1 GiB without an owner.
pub(crate) fn two_h200() -> Machine {
    let mut first = Card { util: |s| jitter(s, 94, 98), bus: |s| jitter(s, 38, 47), watts: |s| jitter(s, 560, 640), celsius: 61, ..Card::h200() };
    first.spike = Some((282, 138.9));
    let second = Card {
        ownerless: |_| 6.1,
        util: |s| jitter(s, 10, 52),
        bus: |s| jitter(s, 4, 22),
        watts: |s| jitter(s, 190, 270),
        celsius: 47,
        mhz: 1755,
        ..Card::h200()
    };
    let mut train = Holder::new(0, 41877, "ann", "train.py", |s| 96.4 - 0.31 * (SECONDS - s) as f64 / 60.0);
    train.mine = true;
    (train.full, train.command) = ("train.py 7b.yaml", "python -u train.py --config configs/7b.yaml --bs 16");
    (train.sm, train.cpu, train.rss, train.age, train.job) = (Some(97), 104, 21.3, 161, Some("slurm 48211.0"));
    let mut probe = Holder::new(0, 40112, "bob", "probe.ipynb", |_| 18.2);
    (probe.full, probe.rss, probe.age) = ("notebook probe.ipynb", 4.1, 363);
    let mut eval = Holder::new(0, 39007, "cleo", "eval.py", |s| 8.1 + saw(s + 41, 68, 1.9));
    (eval.sm, eval.cpu, eval.rss, eval.age) = (Some(12), 98, 6.0, 48);
    let mut vllm = Holder::new(1, 38120, "cleo", "vllm Qwen3-32B", |_| 125.8);
    (vllm.sm, vllm.cpu, vllm.rss, vllm.age) = (Some(31), 112, 9.8, 176);
    let mut embed = Holder::new(1, 40990, "bob", "embed.py", |_| 3.1);
    (embed.sm, embed.cpu, embed.rss, embed.age) = (Some(4), 61, 2.2, 72);
    let mut unseen = Holder::new(1, 7745, "", "", |_| 1.2);
    (unseen.user, unseen.sm) = (None, None);
    Machine { host: "node7", hz: 20, own: 3, cards: vec![first, second], holders: vec![train, probe, eval, vllm, embed, unseen] }
}

/// The same two on which a sweep died when the first was full, at 11:58.
pub(crate) fn with_a_death() -> Machine {
    let mut machine = two_h200();
    let mut sweep = Holder::new(0, 41502, "ann", "sweep.py", |s| 3.0 + (s as f64 - 169.0) * 0.14);
    (sweep.life, sweep.full, sweep.command, sweep.mine) = ((169, 281), "sweep.py --lr 1e-4", "python sweep.py --lr 1e-4", true);
    // It had started 1 min 42 s before its end: its age is in whole minutes.
    sweep.age = (SECONDS - 282 + 112) / 60;
    machine.holders.push(sweep);
    machine
}

/// The same two, where embed.py of bob was started from his notebook, and eval.py by the server of cleo.
pub(crate) fn family() -> Machine {
    let mut machine = two_h200();
    (machine.holders[4].parent, machine.holders[2].parent) = (Some(40112), Some(38120));
    machine
}

/// An H200 in three instances: two processes of 9 and 2 GiB on the first, one of 30 on the second, which has 0.5 without an owner; nobody
/// on the third. The GPU's own memory has 1.5 more, which is no instance's.
pub(crate) fn mig() -> Machine {
    let instance = |name, total: f64, number| Card { instance: Some((0, number)), ..Card::new(name, gib(total).0, gib(0.1).0) };
    let mut cards = vec![
        Card { ownerless: |_| 1.5, ..Card::h200() },
        instance("NVIDIA H200 MIG 1g.18gb", 16.0, 0),
        instance("NVIDIA H200 MIG 3g.71gb", 69.5, 1),
        instance("NVIDIA H200 MIG 2g.35gb", 32.5, 2),
    ];
    cards[2].ownerless = |_| 0.5;
    let mut holders = vec![
        Holder::new(1, 5100, "ann", "train.py", |_| 9.0),
        Holder::new(1, 5101, "bob", "probe.ipynb", |_| 2.0),
        Holder::new(2, 5102, "bob", "serve.py", |_| 30.0),
    ];
    holders[0].mine = true;
    Machine { host: "node8", hz: 20, own: 2, cards, holders }
}

/// A GPU without memory of its own: of a pool of 119.7 GiB a server holds 62, a notebook 11 and the desktop 0.3; the host's programs use 14.
pub(crate) fn shared_memory() -> Machine {
    let mut card = Card { shared: Some(14.0), ownerless: |_| 0.0, ..Card::new("NVIDIA GB10", gib(119.7).0, 0) };
    (card.reserve, card.limit, card.celsius, card.util) = (None, 140, 55, |s| jitter(s, 60, 80));
    let mut vllm = Holder::new(0, 5200, "sam", "vllm Qwen3-32B", |_| 62.0);
    (vllm.mine, vllm.sm, vllm.cpu, vllm.rss) = (true, Some(71), 108, 8.2);
    let probe = Holder::new(0, 5201, "eve", "probe.ipynb", |_| 11.0);
    let mut xorg = Holder::new(0, 1711, "root", "Xorg", |_| 0.3);
    xorg.kind = GRAPHICS;
    Machine { host: "spark", hz: 20, own: 3, cards: vec![card], holders: vec![vllm, probe, xorg] }
}

/// A desktop: one RTX 4090 with two processes that compute and three that draw.
pub(crate) fn desktop() -> Machine {
    let mut card = Card::new("NVIDIA GeForce RTX 4090", 25_757_220_864, 402_653_184);
    card =
        Card { util: |s| jitter(s, 90, 99), bus: |s| jitter(s, 50, 66), watts: |s| jitter(s, 380, 440), limit: 450, celsius: 74, mhz: 2610, ..card };
    card.fan = Some(58);
    let mut tune = Holder::new(0, 6204, "sam", "finetune.py", |s| 13.7 + saw(s + 170, 180, 3.4).min(3.1));
    (tune.mine, tune.full, tune.command) = (true, "finetune.py --bs 8", "python finetune.py --bs 8");
    (tune.sm, tune.cpu, tune.rss) = (Some(99), 101, 11.0);
    let mut ollama = Holder::new(0, 2210, "sam", "ollama llama3.1:8b", |_| 5.0);
    (ollama.mine, ollama.command) = (true, "ollama runner --model llama3.1:8b");
    let mut xorg = Holder::new(0, 1711, "root", "Xorg", |_| 0.4);
    xorg.kind = GRAPHICS;
    let mut firefox = Holder::new(0, 3377, "sam", "firefox", |_| 0.3);
    (firefox.kind, firefox.mine) = (GRAPHICS, true);
    let mut shell = Holder::new(0, 1893, "sam", "gnome-shell", |_| 0.2);
    (shell.kind, shell.mine) = (GRAPHICS, true);
    Machine { host: "mimas", hz: 20, own: 2, cards: vec![card], holders: vec![tune, ollama, xorg, firefox, shell] }
}

/// Eight H100s: one job over all of them, whose rank 3 grows, and three neighbours.
pub(crate) fn eight_h100() -> Machine {
    let cards = (0..8).map(|at| {
        let mut card = Card { util: |s| jitter(s, 96, 98), bus: |s| jitter(s, 40, 50), watts: |s| jitter(s, 640, 675), ..Card::h100() };
        card.celsius = 59 + at % 5;
        card.spike = (at == 7).then_some((500, 78.8));
        card
    });
    let held: [super::machine::Amount; 8] = [
        |s| 66.4 + saw(s + 69, 97, 2.4),
        |s| 64.0 + saw(s + 69, 97, 2.2),
        |s| 64.1 + saw(s + 69, 97, 2.2),
        |s| 73.2 - 0.42 * (SECONDS - s) as f64 / 60.0 + saw(s + 69, 97, 2.2),
        |s| 64.0 + saw(s + 69, 97, 2.2),
        |s| 64.2 + saw(s + 69, 97, 2.2),
        |s| 64.0 + saw(s + 69, 97, 2.2),
        |s| 63.9 + saw(s + 69, 97, 2.2),
    ];
    let mut holders: Vec<Holder> = (0..8_u32)
        .zip(held)
        .map(|(rank, held)| {
            let mut train = Holder::new(rank as usize, 9101 + rank, "ann", "train.py", held);
            train.rank = Some(Rank { rank, world: Some(8), local: Some(rank) });
            (train.mine, train.job, train.age, train.sm, train.cpu, train.rss) = (true, Some("slurm 48211.0"), 312, Some(98), 101, 38.2);
            (train.full, train.command) = ("train.py --config 70b-fsdp.yaml --bs 4", "python -u train.py --config 70b-fsdp.yaml --bs 4");
            train
        })
        .collect();
    for rank in 1..8 {
        let mut context = Holder::new(0, 9101 + rank, "ann", "train.py", |_| 0.5);
        context.rank = Some(Rank { rank, world: Some(8), local: Some(rank) });
        (context.mine, context.job, context.age, context.full) = (true, Some("slurm 48211.0"), 312, "train.py --config 70b-fsdp.yaml --bs 4");
        holders.push(context);
    }
    let mut notebook = Holder::new(5, 30417, "dan", "eda.ipynb", |_| 4.1);
    (notebook.full, notebook.age, notebook.rss) = ("notebook eda.ipynb", 567, 3.9);
    let mut unseen = Holder::new(6, 2211, "", "", |_| 3.0);
    (unseen.user, unseen.sm) = (None, None);
    holders.extend([notebook, unseen]);
    Machine { host: "gpu-12", hz: 20, own: 9, cards: cards.collect(), holders }
}
