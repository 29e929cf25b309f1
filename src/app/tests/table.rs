//! What the keys do to the table: which rows, in what order, and which of them in one.

use proptest::prelude::*;

use super::mouse::click;
use super::*;

/// GPU, PID, user (`None`: not visible here), name, GiB (`None`: not told), parent.
pub(super) type Row = (usize, u32, Option<&'static str>, &'static str, Option<u64>, Option<u32>);

pub(super) const ROWS: &[Row] = &[
    (0, 11, Some("ann"), "train.py", Some(40), None),
    (1, 11, Some("ann"), "train.py", Some(30), None),
    (0, 12, Some("bob"), "eval.py", Some(20), Some(11)),
    (1, 13, Some("ann"), "worker.py", Some(10), Some(11)),
    (1, 14, None, "", None, None),
    (0, 15, Some("bob"), "serve.py", Some(0), None),
];

fn facts(row: &Row) -> ProcessFacts {
    let (_, pid, user, what, _, parent) = *row;
    let key = crate::model::ProcessKey { pid, start_ticks: user.map(|_| 7) };
    ProcessFacts {
        key,
        user: user.map(SafeText::new),
        mine: user == Some("ann"),
        what: what.into(),
        what_full: what.into(),
        job: (user == Some("ann")).then(|| "slurm 7".into()),
        parent,
        ..ProcessFacts::unseen(pid)
    }
}

/// A step of two cards.
pub(super) fn two_cards(second: u64, rows: &[Row]) -> Record {
    let Record::Sample(mut sample) = sample(second, &[]) else { unreachable!("it makes samples") };
    let first = sample.gpus[0].clone();
    sample.gpus.push(GpuSample { id: GpuId::new("GPU-1"), ..first });
    for (at, gpu) in sample.gpus.iter_mut().enumerate() {
        let held: u64 = rows.iter().filter(|row| row.0 == at).filter_map(|row| row.4).sum::<u64>() * Bytes::GIB;
        gpu.memory = DeviceMemory::new(CARD, held, CARD - held, Some(0));
    }
    sample.processes = rows
        .iter()
        .map(|row| ProcessSample {
            gpu: row.0,
            facts: Arc::new(facts(row)),
            kind: Kind::default(),
            memory: row.4.map_or(Reading::NOT_SUPPORTED, |gib| Reading::Value(Bytes::gib(gib))),
            range: None,
            sm_percent: Reading::NOT_ASKED,
            host: Reading::NOT_ASKED,
        })
        .collect();
    Record::Sample(sample)
}

pub(super) fn machine(rows: &[Row]) -> App {
    let mut app = app(Mode::Live);
    let Record::Header(header) = header() else { unreachable!("it makes a header") };
    let first = Arc::clone(&header.gpus[0]);
    let second = Arc::new(GpuFacts { id: GpuId::new("GPU-1"), index: Some(1), ..(*first).clone() });
    take(&mut app, Record::Header(Arc::new(Header { gpus: vec![first, second], ..(*header).clone() })));
    take(&mut app, two_cards(1, rows));
    app
}

pub(super) fn keys(app: &mut App, keys: &str) -> Effect {
    let code = |key| match key {
        '\n' => KeyCode::Enter,
        '\t' => KeyCode::Tab,
        '\u{8}' => KeyCode::Backspace,
        '\u{1b}' => KeyCode::Esc,
        letter => KeyCode::Char(letter),
    };
    keys.chars().fold(Effect::None, |_, key| press(app, code(key)))
}

/// The rows as `gpu:pid`, groups as their name, with a `>` for each step of depth.
fn shown(app: &App) -> String {
    let picture = app.picture();
    let row = |row: &TableRow| {
        let name = match (row.pid(), picture.group(row)) {
            (Some(pid), _) => format!("{}:{pid}", row.gpu),
            (None, Some(group)) => group.id.name().map_or("-".to_owned(), ToString::to_string),
            (None, None) => "?".to_owned(),
        };
        format!("{}{name}", ">".repeat(row.depth.into()))
    };
    picture.rows().iter().map(row).collect::<Vec<_>>().join(" ")
}

const ALL: &str = "0:11 1:11 0:12 1:13 0:15 1:14";

#[test]
fn each_key_makes_its_table() {
    for (typed, rows) in [
        ("", ALL),
        ("/bob", "0:12 0:15"),
        ("/gpu:1 py", "1:11 1:13"),
        ("/bob\n", "0:12 0:15"),
        ("/bob\n\u{1b}", ALL),
        ("/bob\u{1b}", ALL),
        ("/bobq\u{8}", "0:12 0:15"),
        ("/q", ""),
        ("/\u{8}u", "0:11 1:11 1:13"),
        ("u", "0:11 1:11 1:13"),
        ("uu", ALL),
        ("u\u{1b}", ALL),
        ("0", "0:11 0:12 0:15"),
        ("1", "1:11 1:13 1:14"),
        ("11", ALL),
        ("1\u{1b}", ALL),
        ("7", ALL),
        ("1u", "1:11 1:13"),
        ("S", "0:15 1:13 0:12 1:11 0:11 1:14"),
        ("SM", ALL),
        ("o", "ann bob -"),
        ("o\t", "ann >0:11 >1:11 >1:13 bob -"),
        ("o\t\t", "ann bob -"),
        ("o\tj\t", "ann bob -"),
        ("oj\tS", "bob >0:15 >0:12 ann -"),
        ("oo", "-"),
        ("ooo", "slurm 7 -"),
        ("oooo", ALL),
        ("o/ann", "ann"),
        ("t", "0:11 >0:12 1:11 >1:13 0:15 1:14"),
        ("tt", ALL),
    ] {
        let mut app = machine(ROWS);
        keys(&mut app, typed);
        assert_eq!(shown(&app), rows, "{typed:?}");
    }
}

#[test]
fn unknown_is_last_both_ways_and_equals_go_by_gpu_and_pid() {
    // I099: unknown, 0, 1, 10, 9 GiB; and two that are equal.
    let row = |gpu, pid, gib| (gpu, pid, Some("ann"), "a", gib, None);
    let rows =
        [row(0, 9, None), row(0, 8, Some(0)), row(1, 2, Some(9)), row(0, 7, Some(10)), row(0, 6, Some(1)), row(0, 5, Some(9)), row(0, 4, Some(9))];
    let mut app = machine(&rows);
    assert_eq!(shown(&app), "0:7 0:4 0:5 1:2 0:6 0:8 0:9");
    keys(&mut app, "S");
    assert_eq!(shown(&app), "0:8 0:6 0:4 0:5 1:2 0:7 0:9");
}

#[test]
fn every_column_has_its_order() {
    let mut app = machine(ROWS);
    let head = |app: &mut App, column| {
        let spots = vec![Spot { x: 3..9, y: 5..6, target: Target::Head(column) }];
        update(app, Msg::Drawn(Shown { spots, ..Shown::default() }));
        click(app, 4, 5)
    };
    for (column, rows, reversed) in [
        (Column::Gpu, "0:11 0:12 0:15 1:11 1:13 1:14", "1:11 1:13 1:14 0:11 0:12 0:15"),
        (Column::Pid, "0:11 1:11 0:12 1:13 1:14 0:15", "0:15 1:14 1:13 0:12 0:11 1:11"),
        (Column::User, "0:11 1:11 1:13 0:12 0:15 1:14", "0:12 0:15 0:11 1:11 1:13 1:14"),
        (Column::What, "1:14 0:12 0:15 0:11 1:11 1:13", "1:13 0:11 1:11 0:15 0:12 1:14"),
        (Column::Peak, "0:11 1:11 0:12 1:13 0:15 1:14", "0:15 1:13 0:12 1:11 0:11 1:14"),
    ] {
        assert_eq!((head(&mut app, column), shown(&app)), (Effect::Redraw, rows.to_owned()), "{column:?}");
        head(&mut app, column);
        assert_eq!(shown(&app), reversed, "{column:?} the other way round");
    }
}

#[test]
fn ranks_have_their_order_with_a_job_and_without() {
    let mut app = machine(ROWS);
    let Record::Sample(mut sample) = two_cards(2, ROWS) else { unreachable!("it makes samples") };
    for (process, rank) in sample.processes.iter_mut().zip([10, 9, 0]) {
        let rank = crate::model::Rank { rank, world: None, local: None };
        process.facts = Arc::new(ProcessFacts { job: None, rank: Some(rank), ..(*process.facts).clone() });
    }
    take(&mut app, Record::Sample(sample));
    let spots = vec![Spot { x: 3..9, y: 5..6, target: Target::Head(Column::Job) }];
    update(&mut app, Msg::Drawn(Shown { spots, ..Shown::default() }));
    click(&mut app, 4, 5);
    assert_eq!(shown(&app), "0:12 1:11 0:11 1:13 0:15 1:14");
}

#[test]
fn the_selection_stays_through_every_order() {
    let mut app = machine(ROWS);
    keys(&mut app, "jj");
    for typed in ["S", "M", "t", "t", "0", "\u{1b}"] {
        keys(&mut app, typed);
        assert_eq!(selected(&app), Some(12), "{typed}");
    }
}

#[test]
fn whoever_is_hidden_is_selected_again() {
    // `>` marks the cursor: on the group that holds the one who is selected, or nowhere.
    let cursor = |app: &App| {
        let picture = app.picture();
        app.selected().map_or("-".to_owned(), |at| {
            let row = &picture.rows()[at];
            let group = || picture.group(row).and_then(|group| group.id.name()).map_or("none".to_owned(), ToString::to_string);
            row.pid().map_or_else(group, |pid| pid.to_string())
        })
    };
    for (typed, stations) in [
        ("oooo", vec!["ann", "none", "slurm 7", "13"]),
        ("1011", vec!["13", "-", "13", "13"]),
        ("u/bob\n\u{1b}", vec!["13", "13", "-", "-", "-", "-", "13"]),
        ("/zzz\u{1b}", vec!["13", "-", "-", "-", "13"]),
        ("o\t\to", vec!["ann", "ann", "ann", "none"]),
        // Whoever moves meanwhile selects another.
        ("0kj\u{1b}", vec!["-", "11", "12", "12"]),
        ("/13\u{1b}/bob\u{1b}", vec!["13", "13", "13", "13", "13", "-", "-", "-", "13"]),
        ("ojkooo", vec!["ann", "bob", "ann", "none", "slurm 7", "11"]),
    ] {
        let mut app = machine(ROWS);
        keys(&mut app, "jjj");
        let seen: Vec<String> = typed.chars().map(|key| (keys(&mut app, &key.to_string()), cursor(&app)).1).collect();
        assert_eq!(seen, stations, "{typed:?}");
    }
}

#[test]
fn a_filter_leads_to_its_first_row_where_nobody_has_chosen_another() {
    let mut app = machine(ROWS);
    assert_eq!(keys(&mut app, "/bob\ny"), Effect::Copy("GPU 0  pid 12  bob  20.0 GiB  eval.py".to_owned()));
}

#[test]
fn keys_are_about_what_the_cursor_shows() {
    let mut app = machine(ROWS);
    keys(&mut app, "jjj/bob\n");
    for key in ["y", "x", "K", "\n"] {
        assert_eq!((keys(&mut app, key), app.note()), (Effect::Redraw, Some("no row is selected: ↓ selects one")), "{key:?}");
        assert_eq!((app.screen(), app.tagged().count()), (Screen::Dashboard, 0));
    }
    assert_eq!(keys(&mut app, "jy"), Effect::Copy("GPU 0  pid 12  bob  20.0 GiB  eval.py".to_owned()));
}

#[test]
fn a_moment_before_its_time_hides_whoever_is_selected() {
    let mut app = machine(&ROWS[..2]);
    take(&mut app, two_cards(20, ROWS));
    keys(&mut app, "jjj");
    assert_eq!(selected(&app), Some(13));
    update(&mut app, Msg::Drawn(Shown { column_ms: 1000, ..Shown::default() }));
    (0..19).for_each(|_| drop(press(&mut app, KeyCode::Left)));
    assert_eq!((app.picture().rows().len(), app.selected()), (2, None));
    keys(&mut app, " ");
    assert_eq!(selected(&app), Some(13));
}

#[test]
fn a_held_picture_is_sorted_and_filtered_too() {
    let mut app = machine(ROWS);
    keys(&mut app, " /bob\nS");
    take(&mut app, two_cards(2, &[(0, 12, Some("bob"), "eval.py", Some(1), None)]));
    assert_eq!(shown(&app), "0:15 0:12");
    keys(&mut app, " ");
    // The one that has ended stays for a while, below all that hold something.
    assert_eq!(shown(&app), "0:12 0:15");
}

#[test]
fn letters_are_letters_while_a_filter_is_typed() {
    let mut app = machine(ROWS);
    keys(&mut app, "/qun?");
    assert_eq!((app.screen(), app.listing().typed()), (Screen::Filter, "qun?"));
    let quit = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(update(&mut app, Msg::Key(quit)), Effect::Quit);
    keys(&mut app, "\u{8}\u{8}\u{8}\u{8}\u{8}");
    assert_eq!((app.screen(), app.listing().typed()), (Screen::Dashboard, ""));
}

#[test]
fn a_row_that_leaves_the_table_stays_in_the_close_look() {
    let renamed: Vec<Row> = ROWS.iter().map(|row| if row.1 == 12 { (0, 12, Some("rob"), "test.py", Some(20), None) } else { *row }).collect();
    let without: Vec<Row> = ROWS.iter().filter(|row| row.1 != 12).copied().collect();
    for (way, next, shown_of_it) in
        [("/bob\n\n", &renamed, Some(Bytes::gib(20))), ("oj\tj\n", &renamed, Some(Bytes::gib(20))), ("/bob gpu:0\n\n", &without, None)]
    {
        let mut app = machine(ROWS);
        keys(&mut app, way);
        let row = |app: &App| app.detail().and_then(|detail| detail.row(app.picture()).map(|row| (row.pid(), row.bytes)));
        assert_eq!(row(&app), Some((Some(12), Some(Bytes::gib(20)))), "{way}");
        take(&mut app, two_cards(2, next));
        assert_eq!(row(&app), Some((Some(12), shown_of_it)), "{way}");
    }
}

#[test]
fn chosen_columns_are_kept_at_once_and_every_way_leads_out() {
    for out in [KeyCode::Esc, KeyCode::Enter, KeyCode::F(2)] {
        let mut app = machine(ROWS);
        press(&mut app, KeyCode::F(2));
        assert_eq!(keys(&mut app, "jj "), Effect::SaveColumns("user = \"never\"\n".to_owned()));
        assert_eq!((app.screen(), app.chooser()), (Screen::Columns, 2));
        assert_eq!((press(&mut app, out), app.screen()), (Effect::Redraw, Screen::Dashboard));
        assert_eq!(app.columns().wish(Column::User), Wish::Never);
    }
}

#[test]
fn the_past_has_its_spans_and_its_ends() {
    let mut app = machine(ROWS);
    let minutes = |app: &App| app.window().minutes(app.picture().monitor());
    let mut seen = vec![minutes(&app)];
    for _ in 0..6 {
        keys(&mut app, "[");
        seen.push(minutes(&app));
    }
    keys(&mut app, "]+");
    seen.push(minutes(&app));
    assert_eq!(seen, [2, 5, 15, 60, 360, 1440, 1440, 60]);
    keys(&mut app, "mz");
    assert_eq!((app.window().marks(), app.window().is_from_zero()), ([999].as_slice(), true));
}

#[test]
fn what_the_order_depends_on_is_asked_of_all() {
    let mut app = machine(ROWS);
    let columns = vec![Column::Vram, Column::Cpu];
    update(&mut app, Msg::Drawn(Shown { rows: 0..1, columns: columns.clone(), ..Shown::default() }));
    keys(&mut app, "s");
    let told = update(&mut app, Msg::Drawn(Shown { rows: 0..1, columns, ..Shown::default() }));
    assert_eq!(told, Effect::Interest(Interest { pids: vec![11, 12, 13, 14, 15], sm_percent: false }));
}

proptest! {
    /// Whatever rows are one, they hold what they held.
    #[test]
    fn totals_add_up(sizes in proptest::collection::vec((0..2_usize, 0..6_u64, 0..3_usize), 0..12), opened in "\t?j?\t?") {
        let users = [Some("ann"), Some("bob"), None];
        let rows: Vec<Row> = (100..).zip(&sizes).map(|(pid, (gpu, gib, user))| (*gpu, pid, users[*user], "a", Some(*gib), None)).collect();
        let mut app = machine(&rows);
        let sum = |app: &App| app.picture().rows().iter().filter(|row| row.depth == 0).filter_map(|row| row.bytes).sum::<Bytes>();
        let whole = sum(&app);
        for _ in 0..4 {
            keys(&mut app, "o");
            keys(&mut app, &opened);
            prop_assert_eq!(sum(&app), whole);
            let counted: usize = app.picture().groups().iter().map(|group| group.processes).sum();
            prop_assert!(app.picture().groups().is_empty() || counted == rows.len());
        }
    }

    /// No row is lost or doubled in a tree, whoever is whose parent.
    #[test]
    fn a_tree_has_every_row_once(parents in proptest::collection::vec((0..2_usize, 99..108_u32), 0..8)) {
        let rows: Vec<Row> = (100..).zip(&parents).map(|(pid, (gpu, parent))| (*gpu, pid, Some("ann"), "a", Some(1), Some(*parent))).collect();
        let mut app = machine(&rows);
        keys(&mut app, "t");
        let mut pids: Vec<u32> = app.picture().rows().iter().filter_map(TableRow::pid).collect();
        pids.sort_unstable();
        prop_assert_eq!(pids, rows.iter().map(|row| row.1).collect::<Vec<_>>());
    }
}
