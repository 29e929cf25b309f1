//! Frames of machines made by hand: what the screens of the design look like with the figures that there are.
//!
//! Every screen is a snapshot at every size in every look (`frames/screens.rs`); here is what happens between the sizes, and what holds in
//! all of them. `INSTA_UPDATE=always` writes the snapshots; compare the figures with `frames/stories.rs` before accepting.

#[path = "frames/family.rs"]
mod family;
#[path = "frames/looks.rs"]
mod looks;
#[path = "frames/scenes.rs"]
mod scenes;
#[path = "frames/screens.rs"]
mod screens;
#[path = "frames/mod.rs"]
mod stage;
#[path = "frames/tagging.rs"]
mod tagging;
#[path = "frames/words.rs"]
mod words;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use proptest::prelude::*;
use ratatui::style::{Color, Modifier};
use stage::machine::{Card, END, Holder, Machine, SECONDS};
use stage::{after, cells, dashboard, draw, stories};
use vramtop::app::{Mode, Msg, Waiting, update};
use vramtop::model::{Absence, Bytes, DeviceMemory, Moment, Reading, Record};
use vramtop::view::{Colors, Theme};

const MONO: Theme = Theme::new(Colors::Never, false);
const ASCII: Theme = Theme::new(Colors::Never, true);

fn press(app: &mut vramtop::app::App, code: KeyCode) {
    update(app, Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)));
}

macro_rules! assert_frame {
    ($name:literal, $app:expr, $theme:expr, $width:literal x $height:literal) => {
        insta::assert_snapshot!($name, draw(&mut $app, &$theme, $width, $height).backend())
    };
}

#[test]
fn room_is_used_and_given_up_in_order() {
    let mut app = after(&stories::two_h200());
    assert_frame!("two_h200_120x60_grown", app, MONO, 120 x 60);
    assert_frame!("two_h200_120x30_shrunk", app, MONO, 120 x 30);
    assert_frame!("desktop_80x16_shrunk", after(&stories::desktop()), MONO, 80 x 16);
    let mut app = after(&stories::eight_h100());
    assert_frame!("eight_h100_120x36", app, MONO, 120 x 36);
    assert_frame!("eight_h100_80x14_scrolled", app, MONO, 80 x 14);
    press(&mut app, KeyCode::End);
    assert_frame!("eight_h100_80x14_at_the_end", app, MONO, 80 x 14);
}

#[test]
fn ascii_has_nothing_else() {
    let mut app = after(&stories::two_h200());
    for (width, height) in [(120, 36), (80, 24), (40, 10), (200, 50)] {
        assert!(cells(&mut app, &ASCII, width, height).content.iter().all(|cell| cell.symbol().is_ascii()));
    }
}

#[test]
fn the_help_names_every_key() {
    let mut app = after(&stories::two_h200());
    press(&mut app, KeyCode::Char('?'));
    assert_frame!("help_80x36", app, MONO, 80 x 36);
    assert_frame!("help_200x24", app, MONO, 200 x 24);
}

#[test]
fn the_help_is_scrolled_to_its_end_and_no_further() {
    for (width, height) in [(40, 10), (80, 24), (40, 5)] {
        let mut app = after(&stories::two_h200());
        press(&mut app, KeyCode::Char('?'));
        let frame = |app: &mut vramtop::app::App| draw(app, &MONO, width, height).backend().to_string();
        let first = frame(&mut app);
        (0..9).for_each(|_| press(&mut app, KeyCode::PageDown));
        let last = frame(&mut app);
        assert!(last.contains("stop as a job"), "{last}");
        // The next press is about what is seen, however often it was pressed before.
        press(&mut app, KeyCode::Up);
        assert_ne!(frame(&mut app), last);
        press(&mut app, KeyCode::Down);
        assert_eq!(frame(&mut app), last);
        (0..9).for_each(|_| press(&mut app, KeyCode::PageUp));
        assert_eq!(frame(&mut app), first);
    }
}

#[test]
fn the_key_line_offers_what_is_of_use() {
    let line = |app: &mut vramtop::app::App, width, height| {
        let frame = draw(app, &MONO, width, height).backend().to_string();
        frame.lines().last().map(|line| line.trim_matches(['"', ' ']).to_owned())
    };
    // As on the design's screens, as far as there are more keys than are drawn there.
    let mut app = after(&stories::two_h200());
    assert_eq!(line(&mut app, 40, 10).as_deref(), Some("↵ detail / filter u mine K kill ? q"));
    let wide = line(&mut app, 120, 36).expect("a line");
    for item in ["↑↓ select  ↵ detail  / filter  s sort  u mine  o group  t tree", "␣ pause  ←→ time", "K kill  ? help  q quit"] {
        assert!(wide.contains(item), "{wide}");
    }
    let narrow = line(&mut after(&stories::desktop()), 80, 24);
    assert_eq!(narrow.as_deref(), Some("↵ detail  / filter  s sort  u mine  ␣ pause  ←→ time  K kill  ? help  q quit"));
    // Nobody holds anything: there is nothing to choose and nothing to look at from close by.
    let mut idle = stories::desktop();
    idle.holders.clear();
    let idle = line(&mut after(&idle), 120, 36).expect("a line");
    assert!(["select", "detail", "filter", "sort", "kill"].iter().all(|word| !idle.contains(word)) && idle.contains("time"), "{idle}");
    // Before the first sample there is nothing to hold.
    assert_eq!(line(&mut dashboard(Mode::Live), 80, 24).as_deref(), Some("? help  q quit"));
}

#[test]
fn the_memory_of_a_split_card_is_counted_once() {
    let mut app = after(&stories::mig());
    // 9 and 2 on the first instance, 30 on the second with 0.5 of nobody, 1.5 of nobody on the card itself.
    let rows: Vec<String> = app.picture().all().iter().map(|row| row.bytes.expect("told").to_string()).collect();
    assert_eq!(rows, ["30.0", "9.0", "2.0", "1.5", "0.5"]);
    let frame = draw(&mut app, &MONO, 120, 36).backend().to_string();
    let held = "bob 32.0 · ann 9.0 · unattributed 2.0 · driver 0.6 · free 96.8";
    for words in ["▓ 0.1 30.5 ?", "0.0 1g.18gb 11.0 · ? no owner 1.5", "43.0   31", held] {
        assert!(frame.contains(words), "{words} in {frame}");
    }
}

#[test]
fn an_instance_whose_list_cannot_be_read_is_nobody_s_on_its_card() {
    let machine = stories::mig();
    let mut app = after(&machine);
    // The second of the card's slices is that of the second instance, of which bob's server 5102 holds the most.
    let on_the_card = |app: &mut vramtop::app::App| {
        press(app, KeyCode::End);
        let frame = draw(app, &MONO, 120, 36).backend().to_string();
        let click = MouseEvent { kind: MouseEventKind::Down(MouseButton::Left), column: 20, row: 4, modifiers: KeyModifiers::NONE };
        update(app, Msg::Mouse(click));
        let selected = app.selected().and_then(|at| app.picture().rows()[at].pid());
        (frame.lines().nth(4).map(|line| line.chars().skip(14).take(16).collect::<String>()), selected)
    };
    assert_eq!(on_the_card(&mut app), (Some("█ a ▓ 0.1 30.5 ?".to_owned()), Some(5102)));
    let Record::Sample(mut sample) = machine.sample(SECONDS + 1) else { panic!("a sample") };
    sample.gpus[2].processes = Reading::failed("Unknown");
    for process in sample.processes.iter_mut().filter(|process| process.gpu == 2) {
        (process.memory, process.range) = (Reading::Absent(Absence::StaleSince(SECONDS * 1000)), None);
    }
    update(&mut app, Msg::Record(Box::new(Record::Sample(sample))));
    // As in its own bar; and a click leads to nobody: the last row stays selected.
    assert_eq!(on_the_card(&mut app), (Some("█ a ╱ 0.1 30.5 ?".to_owned()), Some(5101)));
}

#[test]
fn a_filter_counts_the_ended_on_both_sides() {
    let mut app = after(&stories::with_a_death());
    // train.py and the dead sweep.py are ann's; six processes, one dead, and memory without an owner are all there is.
    for (way, counted) in [("/ann", "2 of 8 rows"), ("⏎o", "/ann · 2 of 8 rows")] {
        screens::keys(&mut app, way);
        let frame = draw(&mut app, &MONO, 120, 36).backend().to_string();
        assert!(frame.lines().last().is_some_and(|line| line.contains(counted)), "{frame}");
    }
}

#[test]
fn a_replay_says_where_it_is() {
    let mut app = dashboard(Mode::Replay { length_ms: Some(899_000) });
    for record in stories::desktop().records().take(200) {
        update(&mut app, Msg::Record(Box::new(record)));
    }
    press(&mut app, KeyCode::Char('+'));
    press(&mut app, KeyCode::Char(' '));
    assert_frame!("replay_120x24", app, MONO, 120 x 24);
    update(&mut app, Msg::Ended { reason: "end of the recording".to_owned(), failed: false });
    let header = draw(&mut app, &MONO, 120, 24).backend().to_string();
    assert!(header.lines().next().is_some_and(|line| line.contains("● ended 11:56:37")), "{header}");
}

#[test]
fn a_replay_s_frame_is_the_live_one_s() {
    let machine = stories::eight_h100();
    let (mut live, mut replay) = (after(&machine), dashboard(Mode::Replay { length_ms: None }));
    for record in machine.records() {
        update(&mut replay, Msg::Record(Box::new(record)));
    }
    let (a, b) = (cells(&mut live, &MONO, 200, 50), cells(&mut replay, &MONO, 200, 50));
    // The first line has the mark of freshness, and the last the keys.
    assert!(a.content[200..49 * 200] == b.content[200..49 * 200]);
}

#[test]
fn silence_is_said_and_its_reason_too() {
    let mut app = after(&stories::two_h200());
    for seconds in 0..15 {
        update(&mut app, Msg::Tick(Moment { unix_ms: END.unix_ms + seconds * 1000 }));
    }
    update(&mut app, Msg::Waiting(Waiting { call: "the process list", for_ms: 13_000 }));
    let frame = draw(&mut app, &MONO, 120, 36).backend().to_string();
    let first = frame.lines().next().unwrap_or_default();
    assert!(first.contains("● stale 14 s · the driver is busy with the process list"), "{first}");
}

#[test]
fn an_older_list_still_names_its_holders() {
    let machine = stories::two_h200();
    let mut app = dashboard(Mode::Live);
    for record in machine.records().filter(|record| !matches!(record, Record::Sample(sample) if sample.elapsed_ms > (SECONDS - 2) * 1000)) {
        update(&mut app, Msg::Record(Box::new(record)));
    }
    // Two steps later no list was read since, and 2 GiB more are used on the first card.
    let Record::Sample(mut sample) = machine.sample(SECONDS) else { panic!("a sample") };
    let since = Absence::StaleSince((SECONDS - 2) * 1000);
    for gpu in &mut sample.gpus {
        gpu.processes = Reading::Absent(since.clone());
    }
    for process in &mut sample.processes {
        process.memory = Reading::Absent(since.clone());
    }
    let before = sample.gpus[0].memory.get().expect("figures");
    let more = Bytes::gib(2).0;
    sample.gpus[0].memory =
        DeviceMemory::new(before.total().0, before.used().expect("used").0 + more, before.free().0 - more, before.driver().map(|reserve| reserve.0));
    let then = draw(&mut app, &MONO, 120, 36).backend().to_string();
    update(&mut app, Msg::Record(Box::new(Record::Sample(sample))));
    let now = draw(&mut app, &MONO, 120, 36).backend().to_string();
    let bars = |frame: &str| frame.lines().filter(|line| line.contains('▕')).map(str::to_owned).collect::<Vec<_>>();
    // All of the bar is of then, and it says so where it names what is free.
    let then_bars: Vec<String> = bars(&then).iter().map(|bar| bar.replace("free 15.6", "   2s ago")).collect();
    assert_eq!(bars(&now), then_bars);
    let held = |frame: &str| frame.lines().find(|line| line.contains("held by")).map(|line| line.split_once("ann").expect("a holder").0.to_owned());
    assert!(held(&then).is_some_and(|line| line.contains("held by  ")), "{then}");
    assert!(held(&now).is_some_and(|line| line.contains("held by, 2s ago  ")), "{now}");
    // The rows keep their figures, and what is free is of now.
    let rows = |frame: &str| frame.lines().filter(|line| line.contains("train.py") && !line.contains('▕')).count();
    assert_eq!(rows(&now), rows(&then));
    let free = |frame: &str| {
        frame.lines().find_map(|line| {
            line.split_once("GPU 0").map(|(_, rest)| rest.split(" GiB").next().unwrap_or_default().trim().parse::<f64>().expect("a figure"))
        })
    };
    assert!(free(&then).zip(free(&now)).is_some_and(|(then, now)| (then - now - 2.0).abs() < 0.11), "{then}\n{now}");
}

#[test]
fn what_would_read_as_nothing_counted_twice_is_not_said() {
    let machine = Machine { cards: vec![Card::h200(), Card::h200()], ..stories::two_h200() };
    // 0.04 and 0.06 GiB less are used than the processes claim.
    for (less, said) in [(41_u64, false), (61, true)] {
        let mut app = dashboard(Mode::Live);
        update(&mut app, Msg::Record(Box::new(machine.header())));
        let Record::Sample(mut sample) = machine.sample(1) else { panic!("a sample") };
        let held: Bytes = sample.processes.iter().filter(|process| process.gpu == 0).filter_map(|process| process.memory.get()).sum();
        let memory = sample.gpus[0].memory.get().expect("figures");
        let reserve = memory.driver().map(|reserve| reserve.0);
        sample.gpus[0].memory = DeviceMemory::new(memory.total().0, held.0 - Bytes::mib(less).0, 0, reserve);
        update(&mut app, Msg::Record(Box::new(Record::Sample(sample))));
        let frame = draw(&mut app, &MONO, 200, 50).backend().to_string();
        assert_eq!(frame.contains("counted twice 0.1"), said, "{frame}");
        assert!(!frame.contains("counted twice 0.0"), "{frame}");
    }
}

#[test]
fn without_colours_none_is_set() {
    for machine in [stories::two_h200(), stories::desktop(), stories::eight_h100()] {
        let cells = cells(&mut after(&machine), &MONO, 200, 50);
        assert!(cells.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
    }
}

#[test]
fn the_selected_row_is_reversed_from_end_to_end() {
    for colors in [Colors::Never, Colors::Sixteen, Colors::Many, Colors::True] {
        let cells = cells(&mut after(&stories::two_h200()), &Theme::new(colors, false), 120, 36);
        let row = cells.content.chunks(120).find(|row| row[0].symbol() == "▸").expect("a selected row");
        let is_history = |symbol: &str| symbol.chars().any(|glyph| ('▁'..='█').contains(&glyph));
        let bar: Vec<_> = row[..119].iter().filter(|cell| !is_history(cell.symbol())).collect();
        assert!(bar.iter().all(|cell| cell.modifier.contains(Modifier::REVERSED) && cell.fg == Color::Reset && cell.bg == Color::Reset));
        let reversed = cells.content.iter().filter(|cell| cell.modifier.contains(Modifier::REVERSED)).count();
        assert_eq!((reversed, bar.len()), (104, 104), "all but the history, which has 15 cells");
    }
}

#[test]
fn a_slice_and_its_row_have_one_colour() {
    let cells = cells(&mut after(&stories::two_h200()), &Theme::new(Colors::True, false), 120, 36);
    let rows: Vec<_> = cells.content.chunks(120).collect();
    let bar = rows[4];
    let row = rows.iter().find(|row| row[2].symbol() == "a").expect("the row of a");
    assert_eq!((bar[2].symbol(), bar[2].fg), ("█", row[2].fg));
    // The letter in the bar stands on the same colour.
    let letter = bar.iter().find(|cell| cell.symbol() == "a").expect("the letter");
    assert_eq!(letter.bg, row[2].fg);
}

fn crowd(gpus: usize, processes: u32) -> Machine {
    let cards = (0..gpus).map(|at| if at % 3 == 2 { Card::h100() } else { Card::h200() }).collect::<Vec<_>>();
    let users = ["ann", "bob", "管理者", "a_rather_long_user_name", "eve", "dan", "fay"];
    let holders = (0..processes).filter(|_| gpus > 0).map(|n| {
        let mut holder = Holder::new(n as usize % gpus.max(1), 1000 + n, users[n as usize % users.len()], "训练.py", |_| 0.05);
        holder.full = "训练.py --config 一个很长的名字 --and more";
        holder.held = if n % 11 == 10 {
            None
        } else if n < 16 {
            Some(|s| 30.0 + s as f64 / 100.0)
        } else {
            holder.held
        };
        holder
    });
    Machine { host: "crowded", hz: 20, own: 4, holders: holders.collect(), cards }
}

#[test]
fn two_thousand_processes_on_sixteen_devices() {
    let mut machine = crowd(16, 2048);
    machine.cards[9].untracked = (300, 2.5);
    let mut app = dashboard(Mode::Live);
    update(&mut app, Msg::Record(Box::new(machine.header())));
    for second in 1..4 {
        update(&mut app, Msg::Record(Box::new(machine.sample(second))));
    }
    assert_frame!("sixteen_200x50", app, MONO, 200 x 50);
    press(&mut app, KeyCode::End);
    assert_frame!("sixteen_80x24_at_the_end", app, MONO, 80 x 24);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_size_holds_any_machine(
        width in 1..300_u16, height in 1..100_u16, gpus in 0..17_usize, processes in prop_oneof![0..30_u32, Just(2048)], downs in 0..6_usize,
        ascii in any::<bool>(),
    ) {
        let machine = crowd(gpus, processes);
        let mut app = dashboard(Mode::Live);
        let theme = Theme::new(Colors::True, ascii);
        draw(&mut app, &theme, width, height);
        for record in [machine.header(), machine.sample(1), machine.sample(SECONDS)] {
            update(&mut app, Msg::Record(Box::new(record)));
        }
        for _ in 0..downs {
            press(&mut app, KeyCode::PageDown);
            draw(&mut app, &theme, width, height);
        }
        press(&mut app, KeyCode::Char('?'));
        draw(&mut app, &theme, width, height);
        draw(&mut app, &theme, 1, 1);
    }
}
