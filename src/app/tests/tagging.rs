//! Tags: which rows have one, what takes it away, and what a signal and a copy are then about.

use super::*;

fn tagged(app: &App) -> Vec<u32> {
    let picture = app.picture();
    picture.rows().iter().filter(|row| app.tagged().has(picture, row)).filter_map(TableRow::pid).collect()
}

/// What becomes of an answer about a process: its stage in the dialog.
fn stage(app: &App, pid: u32) -> Option<Stage> {
    app.dialog()?.subjects.iter().find(|subject| subject.key == key_of(pid)).map(|subject| subject.stage.clone())
}

#[test]
fn a_tag_goes_on_to_the_next_row_and_stays_with_its_process() {
    let mut app = here(&[(1, 30), (2, 20), (3, 10)]);
    press(&mut app, KeyCode::Char('x'));
    press(&mut app, KeyCode::Insert);
    assert_eq!((tagged(&app), selected(&app)), (vec![1, 2], Some(3)));
    take(&mut app, sample_here(2, &[(1, 5), (2, 20), (3, 10)]));
    assert_eq!(tagged(&app), [2, 1]);
    // The second press takes it away; the last row has no next.
    press(&mut app, KeyCode::Home);
    press(&mut app, KeyCode::Char('x'));
    assert_eq!(tagged(&app), [1]);
    assert_eq!((press(&mut app, KeyCode::Char('U')), tagged(&app).len()), (Effect::Redraw, 0));
    assert_eq!(press(&mut app, KeyCode::Char('U')), Effect::None);
}

#[test]
fn a_tag_is_lost_with_its_process_and_a_reused_number_has_none() {
    let mut app = here(&[(1, 30), (2, 20)]);
    press(&mut app, KeyCode::Char('x'));
    take(&mut app, sample_here(2, &[(2, 20)]));
    take(&mut app, sample_here(3, &[(1, 30), (2, 20)]));
    assert!(tagged(&app).is_empty());
    press(&mut app, KeyCode::Home);
    press(&mut app, KeyCode::Char('x'));
    let Record::Sample(mut sample) = sample_here(4, &[(1, 30), (2, 20)]) else { panic!("a sample") };
    let key = ProcessKey { pid: 1, start_ticks: Some(9999) };
    sample.processes[0].facts = Arc::new(ProcessFacts { key, visibility: Visibility::Here, ..ProcessFacts::unseen(1) });
    take(&mut app, Record::Sample(sample));
    assert!(tagged(&app).is_empty());
}

#[test]
fn each_tagged_process_is_held_and_signalled_and_says_what_came_of_it() {
    let mut app = here(&[(1, 30), (2, 20), (3, 10), (4, 5)]);
    for _ in 0..3 {
        press(&mut app, KeyCode::Char('x'));
    }
    // The cursor is on the fourth, which is not tagged.
    assert_eq!(selected(&app), Some(4));
    assert_eq!(press(&mut app, KeyCode::Char('K')), Effect::OpenTargets(vec![key_of(1), key_of(2), key_of(3)]));
    assert_eq!(app.dialog().and_then(Dialog::frees), Some(Bytes::gib(60)));
    update(&mut app, opened(1, 'S'));
    update(&mut app, opened(2, 'D'));
    update(&mut app, Msg::Answer { key: key_of(3), answer: Answer::Opened(Err(Refusal::NotPermitted)) });
    // Only those that are held are sent anything.
    assert_eq!(press(&mut app, KeyCode::Enter), Effect::Signal { keys: vec![key_of(1), key_of(2)], signal: Signal::Term });
    let sent = |pid, answer| Msg::Answer { key: key_of(pid), answer: Answer::Signalled(Signal::Term, answer) };
    update(&mut app, sent(1, Ok(RunState('S'))));
    update(&mut app, sent(2, Err(Refusal::Replaced)));
    assert_eq!(stage(&app, 1), Some(Stage::Sent(Signal::Term)));
    assert_eq!(stage(&app, 2), Some(Stage::Refused(Refusal::Replaced)));
    assert_eq!(stage(&app, 3), Some(Stage::Refused(Refusal::NotPermitted)));
    // Once more: the one that is gone is not sent anything again.
    assert_eq!(press(&mut app, KeyCode::Enter), Effect::Signal { keys: vec![key_of(1)], signal: Signal::Term });
}

#[test]
fn a_process_on_two_gpus_is_signalled_once_and_frees_both() {
    let mut app = app(Mode::Live);
    let Record::Header(header) = header() else { panic!("a header") };
    let mut two = (*header).clone();
    two.gpus.push(Arc::new(GpuFacts { id: GpuId::new("GPU-1"), index: Some(1), ..(*two.gpus[0]).clone() }));
    take(&mut app, Record::Header(Arc::new(two)));
    let Record::Sample(mut sample) = sample_here(1, &[(1, 30)]) else { panic!("a sample") };
    sample.gpus.push(GpuSample { id: GpuId::new("GPU-1"), ..sample.gpus[0].clone() });
    sample.processes.push(ProcessSample { gpu: 1, ..sample.processes[0].clone() });
    take(&mut app, Record::Sample(sample));
    press(&mut app, KeyCode::Char('x'));
    press(&mut app, KeyCode::Char('x'));
    assert_eq!(app.tagged().count(), 2);
    assert_eq!(press(&mut app, KeyCode::Char('K')), Effect::OpenTargets(vec![key_of(1)]));
    let dialog = app.dialog().expect("open");
    assert_eq!((dialog.subjects.len(), dialog.frees()), (1, Some(Bytes::gib(60))));
}

#[test]
fn what_is_not_visible_here_is_named_and_refused() {
    let mut app = with(&[(1, 30), (2, 20)]);
    press(&mut app, KeyCode::Char('x'));
    press(&mut app, KeyCode::Char('x'));
    assert_eq!((press(&mut app, KeyCode::Char('K')), press(&mut app, KeyCode::Enter)), (Effect::Redraw, Effect::None));
    assert!(app.dialog().expect("open").subjects.iter().all(|subject| subject.stage == Stage::Refused(Refusal::NotHere)));
}

#[test]
fn a_copy_has_a_line_for_each_tagged_row() {
    let mut app = here(&[(1, 30), (2, 20), (3, 10)]);
    press(&mut app, KeyCode::Char('x'));
    press(&mut app, KeyCode::Char('x'));
    let Effect::Copy(text) = press(&mut app, KeyCode::Char('y')) else { panic!("a copy") };
    let pids: Vec<bool> = text.lines().zip(["pid 1 ", "pid 2 "]).map(|(line, pid)| line.contains(pid)).collect();
    assert_eq!((pids, text.lines().count()), (vec![true, true], 2));
}

#[test]
fn a_group_is_tagged_whole_and_a_filter_takes_no_tag_away() {
    let mut app = here(&[(1, 30), (2, 20)]);
    press(&mut app, KeyCode::Char('o'));
    press(&mut app, KeyCode::Char('x'));
    assert_eq!(app.tagged().count(), 2);
    for key in ['o', 'o', 'o', '/', 'z', 'z'] {
        press(&mut app, KeyCode::Char(key));
    }
    press(&mut app, KeyCode::Enter);
    assert!(app.picture().rows().is_empty());
    assert_eq!(press(&mut app, KeyCode::Char('K')), Effect::OpenTargets(vec![key_of(1), key_of(2)]));
}

#[test]
fn where_nothing_may_be_changed_tags_are_for_copies_alone() {
    let mut app = App::new(Setup { read_only: true, ..here(&[]).setup().clone() });
    take(&mut app, header());
    take(&mut app, sample_here(1, &[(1, 30), (2, 20)]));
    press(&mut app, KeyCode::Char('x'));
    assert_eq!((app.tagged().count(), press(&mut app, KeyCode::Char('K')), app.dialog().is_none()), (1, Effect::Redraw, true));
}

#[test]
fn the_sum_is_of_those_that_a_signal_can_reach() {
    // One that is tagged on a single row, one of somebody else, and one that is not visible here.
    let mut app = here(&[(1, 30), (2, 20)]);
    let Record::Sample(mut second) = sample_here(2, &[(1, 30), (2, 20), (3, 2)]) else { unreachable!("it makes samples") };
    second.processes[2].facts = Arc::new(ProcessFacts::unseen(3));
    take(&mut app, Record::Sample(second));
    (0..3).for_each(|_| drop(press(&mut app, KeyCode::Char('x'))));
    press(&mut app, KeyCode::Char('K'));
    let reached = |app: &App| app.dialog().map(|dialog| (dialog.reach(), dialog.subjects.len(), dialog.frees()));
    assert_eq!(reached(&app), Some((2, 3, Some(Bytes::gib(50)))));
    update(&mut app, opened(1, 'S'));
    update(&mut app, Msg::Answer { key: key_of(2), answer: Answer::Opened(Err(Refusal::NotPermitted)) });
    assert_eq!(reached(&app), Some((1, 3, Some(Bytes::gib(30)))));
}

#[test]
fn one_that_was_seen_and_is_gone_has_ended() {
    let mut app = here(&[(1, 30)]);
    let Record::Sample(mut second) = sample_here(2, &[(1, 30)]) else { unreachable!("it makes samples") };
    second.processes[0].facts = Arc::new(ProcessFacts { key: key_of(1), ..ProcessFacts::unseen(1) });
    take(&mut app, Record::Sample(second));
    press(&mut app, KeyCode::Char('K'));
    let dialog = app.dialog().expect("it says why");
    assert_eq!(dialog.subjects[0].stage, Stage::Refused(Refusal::StillListed));
}
