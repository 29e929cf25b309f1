//! What a frame says must be true of what it shows: the keys that are offered, reasons, axes, and what is left out.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Modifier;
use vramtop::app::{Answer, App, Mode, Msg, update};
use vramtop::model::{Refusal, Signal};
use vramtop::view::{Colors, Theme};

use crate::screens::keys;
use crate::stage::{after, cells, dashboard, draw, stories};

const MONO: Theme = Theme::new(Colors::Never, false);
const ASCII: Theme = Theme::new(Colors::Never, true);

fn frame(app: &mut App, width: u16, height: u16) -> String {
    draw(app, &MONO, width, height).backend().to_string()
}

fn key_line(app: &mut App, theme: &Theme, width: u16, height: u16) -> String {
    draw(app, theme, width, height).backend().to_string().lines().last().unwrap_or_default().to_owned()
}

#[test]
fn detail_and_kill_are_offered_at_every_width() {
    for width in 40..=200 {
        let line = key_line(&mut after(&stories::two_h200()), &MONO, width, 24);
        assert!(line.contains("↵ detail") && line.contains("K kill"), "{width}: {line}");
    }
}

#[test]
fn keys_without_a_picture_have_their_names() {
    let line = key_line(&mut after(&stories::two_h200()), &ASCII, 200, 50);
    for key in ["^v select", "Enter detail", "Space pause", "<> time"] {
        assert!(line.contains(key), "{line}");
    }
    let mut app = after(&stories::two_h200());
    keys(&mut app, "?");
    let help = draw(&mut app, &ASCII, 200, 60).backend().to_string();
    assert!(help.contains("Space or Esc is now again") && help.contains("Enter   "), "{help}");
    // Unknown and unmoved are not one.
    let mut app = after(&stories::two_h200());
    let table = draw(&mut app, &ASCII, 120, 36).backend().to_string();
    assert!(table.contains("_ 0.00/min") && table.contains("  -  "), "{table}");
}

#[test]
fn the_cursor_of_the_past_leaves_the_axis_readable() {
    for columns in 1..6 {
        let mut app = after(&stories::two_h200());
        for _ in 0..columns {
            frame(&mut app, 120, 36);
            update(&mut app, Msg::Key(KeyEvent::new(KeyCode::Left, KeyModifiers::NONE)));
        }
        let frame = frame(&mut app, 120, 36);
        for line in frame.lines().filter(|line| line.contains("−15 min")) {
            assert!(line.contains('▴') && !["▴ow", "n▴w", "no▴"].iter().any(|torn| line.contains(torn)), "{line}");
        }
    }
}

#[test]
fn small_histories_end_where_the_past_is_looked_at() {
    let mut app = after(&stories::two_h200());
    let util = |app: &mut App| frame(app, 120, 36).lines().find(|line| line.contains(" util ")).map(ToOwned::to_owned).unwrap_or_default();
    let cells = |line: &str| line.rsplit('%').next().unwrap_or_default().chars().filter(|c| ('▁'..='█').contains(c)).count();
    assert_eq!(cells(&util(&mut app)), 14);
    // Half of the 15 minutes back, half of the 14 cells are left, give or take the one that the moment is in.
    for _ in 0..40 {
        frame(&mut app, 120, 36);
        update(&mut app, Msg::Key(KeyEvent::new(KeyCode::Left, KeyModifiers::NONE)));
    }
    let left = cells(&util(&mut app));
    assert!((6..=8).contains(&left), "{left}");
}

#[test]
fn a_reason_is_written_to_its_end() {
    let reasons = [
        Refusal::NotHere,
        Refusal::Ended,
        Refusal::StillListed,
        Refusal::Zombie,
        Refusal::Replaced,
        Refusal::NotPermitted,
        Refusal::OldKernel,
        Refusal::Failed("Input/output error (os error 5)".into()),
    ];
    for reason in reasons {
        let mut app = after(&stories::two_h200());
        update(&mut app, Msg::Key(KeyEvent::new(KeyCode::Char('K'), KeyModifiers::NONE)));
        let key = app.dialog().expect("it is open").subjects[0].key;
        update(&mut app, Msg::Answer { key, answer: Answer::Opened(Err(reason.clone())) });
        for (width, height) in [(40, 10), (80, 24)] {
            let text = frame(&mut app, width, height);
            let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "\"").collect();
            let words = words.join(" ").replace("\" \"", " ");
            assert!(words.replace('"', "").contains(&format!("no signal can be sent: {reason}")), "{width}: {text}");
        }
    }
}

#[test]
fn what_has_ended_is_sent_nothing_and_the_dialog_says_why() {
    let mut app = after(&stories::two_h200());
    keys(&mut app, "K");
    let key = app.dialog().expect("it is open").subjects[0].key;
    update(&mut app, Msg::Answer { key, answer: Answer::Signalled(Signal::Term, Err(Refusal::Zombie)) });
    let text = frame(&mut app, 120, 36);
    assert!(text.contains("no signal can be sent: it has ended and is a zombie") && !text.contains("was sent"), "{text}");
}

#[test]
fn a_long_filter_leaves_what_it_keeps_and_its_keys_in_sight() {
    let typed = format!("/{}gpu:1 z", "a".repeat(180));
    for width in [40, 60, 80, 120, 200] {
        let mut app = after(&stories::two_h200());
        keys(&mut app, &typed);
        let line = key_line(&mut app, &MONO, width, 24);
        // Where somebody types is the end.
        assert!(line.contains("gpu:1 z█  0 of "), "{width}: {line}");
        assert!(line.contains("↵ keep  Esc clear"), "{width}: {line}");
        keys(&mut app, "⏎");
        let line = key_line(&mut app, &MONO, width, 24);
        assert!(line.contains("/aaa") && line.contains(" 0 of ") && (width < 60 || line.contains("Esc all")), "{width}: {line}");
    }
}

#[test]
fn a_long_note_leaves_the_keys_that_lead_out_in_sight() {
    let mut app = after(&stories::two_h200());
    update(&mut app, Msg::Note("the columns are chosen for this time only: No such file or directory (os error 2)".to_owned()));
    for (width, keys) in [(40, "… ? q"), (80, "…   ? help  q quit"), (200, "(os error 2)   ↑↓ select")] {
        let line = key_line(&mut app, &MONO, width, 24);
        assert!(line.contains("the columns are chosen") && line.contains(keys), "{width}: {line}");
    }
}

#[test]
fn the_pid_of_one_that_has_ended_is_whole() {
    let mut machine = stories::with_a_death();
    machine.holders.last_mut().expect("it has holders").pid = 4_194_303;
    let mut app = after(&machine);
    keys(&mut app, "◀");
    let text = frame(&mut app, 120, 36);
    assert!(text.lines().any(|line| line.contains('×') && line.contains(" 4194303  ann ")), "{text}");
}

#[test]
fn an_environment_is_not_offered_where_there_is_none() {
    let mut app = dashboard(Mode::Replay { length_ms: None });
    for record in stories::two_h200().records() {
        update(&mut app, Msg::Record(Box::new(record)));
    }
    keys(&mut app, "⏎");
    assert!(!frame(&mut app, 120, 36).contains("e environment"));
    keys(&mut app, "e");
    assert!(frame(&mut app, 120, 36).contains("its environment is not in a recording"));
}

#[test]
fn one_gpu_alone_has_its_own_ranks_and_a_missing_one_is_said() {
    let mut app = after(&stories::eight_h100());
    assert!(frame(&mut app, 200, 50).contains("ranks    "));
    // One rank on a card is no company.
    keys(&mut app, "2");
    assert!(!frame(&mut app, 200, 50).contains("ranks    "));
    keys(&mut app, "9");
    assert!(frame(&mut app, 200, 50).contains("there is no GPU 9"));
}

#[test]
fn the_history_under_the_cursor_is_not_turned_over() {
    let mut app = after(&stories::two_h200());
    let buffer = cells(&mut app, &MONO, 120, 36);
    let rows: Vec<_> = buffer.content.chunks(120).collect();
    let selected = rows.iter().find(|row| row.iter().any(|cell| cell.symbol() == "▸")).expect("a row is selected");
    let turned = |block: bool| {
        let is_block = |symbol: &str| symbol.chars().any(|c| ('▁'..='█').contains(&c));
        selected.iter().filter(|cell| is_block(cell.symbol()) == block && cell.symbol() != " ").all(|cell| cell.modifier.contains(Modifier::REVERSED))
    };
    assert!(turned(false) && !turned(true));
}
