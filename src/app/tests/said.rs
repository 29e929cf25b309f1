//! What is said of rows elsewhere: the line that is copied, and the notices of line 2.

use super::table::{ROWS, Row, keys, machine, two_cards};
use super::*;

#[test]
fn the_line_alone_is_copied() {
    let mut app = machine(ROWS);
    assert_eq!(keys(&mut app, "jjy"), Effect::Copy("GPU 0  pid 12  bob  20.0 GiB  eval.py".to_owned()));
    assert!(app.note().is_some());
    keys(&mut app, "k");
    assert_eq!(app.note(), None);
    assert_eq!(keys(&mut app, "og\t"), Effect::Redraw);
    assert_eq!(keys(&mut app, "ky"), Effect::Copy("GPU 0,1  2 processes  ann  80.0 GiB".to_owned()));
    assert_eq!(keys(&mut machine(&[]), "y"), Effect::None);
}

#[test]
fn the_fullest_card_comes_first_and_the_notice_that_is_read_stays() {
    let full = |percents: [u8; 2]| -> Vec<Row> {
        ROWS[..2].iter().zip(percents).map(|(row, percent)| (row.0, row.1, row.2, row.3, Some(percent.into()), row.5)).collect()
    };
    let mut app = machine(&full([99, 98]));
    let read = |app: &App| app.notice().map(|notice| (notice.number, notice.text));
    let said = |app: &App| read(app).map(|(number, text)| (number, text.chars().take(5).collect::<String>()));
    let first = said(&app).map(|(_, text)| text);
    keys(&mut app, "n");
    let second = said(&app).map(|(_, text)| text);
    assert!(first != second && said(&app).is_some_and(|(number, _)| number == 2));
    // They change places; the one that is read is the worst now.
    take(&mut app, two_cards(2, &full([98, 99])));
    assert_eq!(said(&app), second.map(|text| (1, text)));
}

#[test]
fn what_is_worse_is_shown_although_there_are_as_many_as_before() {
    let full: Vec<Row> = ROWS[..2].iter().map(|row| (row.0, row.1, row.2, row.3, Some(99), row.5)).collect();
    let mut app = machine(&full);
    let number = |app: &App| app.notice().map(|notice| (notice.number, notice.of));
    keys(&mut app, "n");
    assert_eq!(number(&app), Some((2, 2)));
    // As long as they stay what they are, so does the one that is read.
    take(&mut app, two_cards(2, &full));
    assert_eq!(number(&app), Some((2, 2)));
    let Record::Sample(mut sample) = two_cards(3, &full) else { panic!("a sample") };
    sample.gpus[0].state = GpuState::Lost { since_ms: 3000 };
    take(&mut app, Record::Sample(sample));
    assert_eq!((number(&app), app.notice().is_some_and(|notice| notice.text.contains("lost"))), (Some((1, 2)), true));
}

#[test]
fn one_that_has_ended_is_copied_with_its_name() {
    let mut app = machine(ROWS);
    take(&mut app, two_cards(2, &ROWS[..2]));
    // Those that ended in one step stand in the order of GPU and PID, the last one first.
    let lines: Vec<Effect> = [KeyCode::End, KeyCode::Up].map(|key| (press(&mut app, key), keys(&mut app, "y")).1).into();
    assert!(lines.contains(&Effect::Copy("GPU 0  pid 12  bob  ended, peak 20.0 GiB  eval.py".to_owned())), "{lines:?}");
}

#[test]
fn the_close_look_copies_its_own_line() {
    let mut app = machine(ROWS);
    keys(&mut app, "xj\n");
    assert_eq!((app.screen(), app.has_use_for(keys::Action::Copy)), (Screen::Detail, true));
    assert_eq!(keys(&mut app, "y"), Effect::Copy("GPU 0  pid 12  bob  20.0 GiB  eval.py".to_owned()));
}
