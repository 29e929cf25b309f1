//! Ancestors that hold no GPU memory, above the rows of those that they started.

use proptest::prelude::*;

use super::*;
use crate::model::{Ancestor, ProcessKey};

/// GPU, PID, GiB (`None`: not told), and PIDs with names of its ancestors, the nearest first.
type Row = (usize, u32, Option<u64>, &'static [(u32, &'static str)]);

const SSHD: (u32, &str) = (20, "sshd");
const BASH: (u32, &str) = (21, "bash");
const TORCHRUN: (u32, &str) = (30, "torchrun train.py");

/// Two ranks of one launch, the second on both cards, a launch of a single rank, a shell's only child, and somebody else.
const ROWS: &[Row] = &[
    (0, 41, Some(10), &[TORCHRUN, BASH, SSHD]),
    (1, 42, Some(20), &[TORCHRUN, BASH, SSHD]),
    (0, 42, Some(1), &[TORCHRUN, BASH, SSHD]),
    (1, 50, Some(5), &[(49, "torchrun eval.py"), (48, "bash"), SSHD]),
    (0, 60, Some(25), &[(59, "bash"), (58, "tmux: server")]),
    (0, 70, Some(12), &[]),
];

const fn key(pid: u32) -> ProcessKey {
    ProcessKey { pid, start_ticks: Some(7) }
}

fn facts(row: &Row) -> ProcessFacts {
    let ancestors = row.3.iter().map(|(pid, name)| Ancestor { key: key(*pid), name: (*name).into() }).collect();
    let parent = row.3.first().map(|(pid, _)| *pid);
    ProcessFacts { key: key(row.1), visibility: Visibility::Here, user: Some("ann".into()), parent, ancestors, ..ProcessFacts::unseen(row.1) }
}

fn machine(rows: &[Row]) -> App {
    let rows: Vec<(Row, ProcessFacts)> = rows.iter().map(|row| (*row, facts(row))).collect();
    machine_of(&rows)
}

fn machine_of(rows: &[(Row, ProcessFacts)]) -> App {
    let mut app = app(Mode::Live);
    let Record::Header(header) = header() else { unreachable!("it makes a header") };
    let first = Arc::clone(&header.gpus[0]);
    let second = Arc::new(GpuFacts { id: GpuId::new("GPU-1"), index: Some(1), ..(*first).clone() });
    take(&mut app, Record::Header(Arc::new(Header { gpus: vec![first, second], ..(*header).clone() })));
    let Record::Sample(mut step) = sample(1, &[]) else { unreachable!("it makes samples") };
    let gpu = step.gpus[0].clone();
    step.gpus.push(GpuSample { id: GpuId::new("GPU-1"), ..gpu });
    step.processes = rows
        .iter()
        .map(|(row, facts)| ProcessSample {
            gpu: row.0,
            facts: Arc::new(facts.clone()),
            kind: Kind::default(),
            memory: row.2.map_or(Reading::NOT_SUPPORTED, |gib| Reading::Value(Bytes::gib(gib))),
            range: None,
            sm_percent: Reading::NOT_ASKED,
            host: Reading::NOT_ASKED,
        })
        .collect();
    take(&mut app, Record::Sample(step));
    app
}

fn keys(app: &mut App, keys: &str) -> Effect {
    let code = |key| match key {
        '\n' => KeyCode::Enter,
        '\t' => KeyCode::Tab,
        letter => KeyCode::Char(letter),
    };
    keys.chars().fold(Effect::None, |_, key| press(app, code(key)))
}

/// The rows as `gpu:pid`, ancestors as `pid=GiB`, with a `>` for each step of depth.
fn shown(app: &App) -> String {
    let picture = app.picture();
    let row = |row: &TableRow| {
        let ancestor = picture.group(row).and_then(|group| group.id.ancestor());
        let name = match (row.pid(), ancestor) {
            (Some(pid), _) => format!("{}:{pid}", row.gpu),
            (None, Some(ancestor)) => format!("{}={}", ancestor.key.pid, picture.figure(row)),
            (None, None) => "?".to_owned(),
        };
        format!("{}{name}", ">".repeat(row.depth.into()))
    };
    picture.rows().iter().map(row).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_launch_is_one_branch_with_its_sum() {
    // 10 + 20 + 1 of the launch and 5 of the other meet in sshd; bash and tmux above one process each tell nothing.
    for (typed, rows) in [
        ("", "20=36.0 >30=31.0 >>1:42 >>0:41 >>0:42 >49=5.0 >>1:50 0:60 0:70"),
        // By VRAM from the least: so are brothers and sisters.
        ("S", "0:70 0:60 20=36.0 >49=5.0 >>1:50 >30=31.0 >>0:42 >>0:41 >>1:42"),
        // On one card: what is not in sight is in no sum.
        ("0", "0:60 0:70 30=11.0 >0:41 >0:42"),
        ("/pid:4\n", "30=31.0 >1:42 >0:41 >0:42"),
        ("/pid:41\n", "30=10.0 >0:41"),
        ("/pid:60\n", "0:60"),
        // Folded it stands for those below.
        ("j\t", "20=36.0 >30=31.0 >49=5.0 >>1:50 0:60 0:70"),
        ("j\t\t", "20=36.0 >30=31.0 >>1:42 >>0:41 >>0:42 >49=5.0 >>1:50 0:60 0:70"),
        ("jj\t", "20=36.0 >30=31.0 >49=5.0 >>1:50 0:60 0:70"),
        ("t", "0:60 1:42 0:70 0:41 1:50 0:42"),
    ] {
        let mut app = machine(ROWS);
        keys(&mut app, "t");
        press(&mut app, KeyCode::Home);
        keys(&mut app, typed);
        assert_eq!(shown(&app), rows, "{typed:?}");
    }
}

#[test]
fn the_cursor_begins_at_the_top_unless_somebody_has_chosen_a_row() {
    let mut app = machine(ROWS);
    keys(&mut app, "t");
    assert_eq!((app.selected(), shown(&app).split(' ').next()), (Some(0), Some("20=36.0")));
    let mut app = machine(ROWS);
    keys(&mut app, "jjt");
    assert_eq!(app.selected().and_then(|at| app.picture().rows()[at].pid()), Some(70));
}

#[test]
fn a_sum_of_which_a_part_is_not_told_is_unknown_and_last() {
    let mut app = machine(&[(0, 41, None, &[TORCHRUN]), (0, 42, Some(3), &[TORCHRUN]), (0, 43, Some(1), &[])]);
    keys(&mut app, "t");
    assert_eq!(shown(&app), "0:43 30=— >0:42 >0:41");
}

#[test]
fn a_listed_process_stands_above_those_that_others_started_for_it() {
    // python 41 holds memory itself; its worker was started by a shell of its own.
    let rows: &[Row] = &[(0, 42, Some(2), &[(40, "sh"), (41, "python"), TORCHRUN]), (0, 41, Some(1), &[TORCHRUN])];
    let mut app = machine(rows);
    keys(&mut app, "t");
    assert_eq!(shown(&app), "30=3.0 >0:41 >>0:42");
}

#[test]
fn a_number_that_has_passed_on_is_no_parent() {
    // 41 of ticks 7 started it and is gone; the 41 that is listed is another.
    let started = |ticks| ProcessKey { pid: 41, start_ticks: Some(ticks) };
    let rows: [Row; 2] = [(0, 41, Some(2), &[]), (0, 50, Some(1), &[(41, "bash")])];
    let mut app = machine_of(&rows.map(|row| {
        let facts = facts(&row);
        (row, if row.1 == 41 { ProcessFacts { key: started(8), ..facts } } else { facts })
    }));
    keys(&mut app, "t");
    assert_eq!(shown(&app), "0:41 0:50");
}

#[test]
fn an_ancestor_is_tagged_as_those_below_it_and_gets_no_signal_itself() {
    let mut app = machine(ROWS);
    keys(&mut app, "t");
    press(&mut app, KeyCode::Home);
    for key in ["K", "\n"] {
        keys(&mut app, key);
        assert_eq!(app.note(), Some("it holds no GPU memory itself: x tags all below it, and K is about those then"));
        assert_eq!(app.screen(), Screen::Dashboard);
    }
    keys(&mut app, "jx");
    // 41 on one card, 42 on two.
    assert_eq!(app.tagged().count(), 3);
    let Effect::OpenTargets(mut named) = keys(&mut app, "K") else { panic!("it asks about all of them") };
    named.sort_unstable();
    assert_eq!(named, [key(41), key(42)]);
}

#[test]
fn whoever_is_folded_away_is_selected_again() {
    let mut app = machine(ROWS);
    keys(&mut app, "t");
    press(&mut app, KeyCode::Home);
    keys(&mut app, "jjj\t");
    let at = |app: &App| app.selected().map(|at| app.picture().rows()[at].clone());
    assert_eq!(at(&app).and_then(|row| app.picture().group(&row).and_then(|group| group.id.ancestor()).map(|a| a.key.pid)), Some(30));
    keys(&mut app, "t");
    assert_eq!(at(&app).and_then(|row| row.pid()), Some(41));
}

proptest! {
    /// No row is lost or doubled, and each sum is that of the rows below, whatever a recording says of families.
    #[test]
    fn every_row_is_there_once(families in proptest::collection::vec((0..2_usize, proptest::collection::vec(98..112_u32, 0..5)), 0..9)) {
        let rows: Vec<(Row, ProcessFacts)> = (100..)
            .zip(&families)
            .map(|(pid, (gpu, family))| {
                let row: Row = (*gpu, pid, Some(1), &[]);
                let ancestors = family.iter().map(|pid| Ancestor { key: key(*pid), name: "torchrun".into() }).collect();
                (row, ProcessFacts { ancestors, ..facts(&row) })
            })
            .collect();
        let mut app = machine_of(&rows);
        keys(&mut app, "t");
        let picture = app.picture();
        let mut pids: Vec<u32> = picture.rows().iter().filter_map(TableRow::pid).collect();
        pids.sort_unstable();
        prop_assert_eq!(pids, rows.iter().map(|(row, _)| row.1).collect::<Vec<_>>());
        for (at, row) in picture.rows().iter().enumerate() {
            if let Some(group) = picture.group(row) {
                let below = picture.rows()[at + 1..].iter().take_while(|below| below.depth > row.depth).filter(|below| below.pid().is_some());
                prop_assert!(group.members.len() >= below.count());
                prop_assert_eq!(row.bytes, Some(Bytes::gib(group.members.len() as u64)));
            }
        }
    }
}
