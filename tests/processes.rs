//! Frames about single processes: those that ended, the ranks of a job.
//!
//! The text of a frame is a snapshot (`INSTA_UPDATE=always` writes them; compare the figures with the stories before accepting).

#![allow(clippy::expect_used, clippy::panic, reason = "a test may fail")]

#[path = "frames/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]
mod stage;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use stage::stories::with_a_death;
use stage::{after, dashboard, draw, stories};
use vramtop::app::{Answer, App, Mode, Msg, update};
use vramtop::model::{Details, Reading, Refusal, RunState, SafeText, Signal};
use vramtop::view::{Colors, Theme};

const MONO: Theme = Theme::new(Colors::Never, false);

fn press(app: &mut App, code: KeyCode) {
    update(app, Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)));
}

macro_rules! assert_frame {
    ($name:literal, $app:expr, $width:literal x $height:literal) => {
        insta::assert_snapshot!($name, draw(&mut $app, &MONO, $width, $height).backend())
    };
}

#[test]
fn a_process_that_ended_stays_below_the_others() {
    let mut app = after(&with_a_death());
    assert_frame!("ended_120x36", app, 120 x 36);
    assert_frame!("ended_80x24", app, 80 x 24);
    assert_frame!("ended_40x10", app, 40 x 10);
    press(&mut app, KeyCode::End);
    assert_frame!("ended_selected_120x36", app, 120 x 36);
}

#[test]
fn the_same_rows_end_in_a_replay() {
    let (mut live, mut replay) = (after(&with_a_death()), dashboard(Mode::Replay { length_ms: None }));
    for record in with_a_death().records() {
        update(&mut replay, Msg::Record(Box::new(record)));
    }
    let (a, b) = (stage::cells(&mut live, &MONO, 120, 36), stage::cells(&mut replay, &MONO, 120, 36));
    assert!(a.content[120..35 * 120] == b.content[120..35 * 120]);
}

#[test]
fn a_notice_s_process_can_be_selected() {
    let mut app = after(&stories::two_h200());
    press(&mut app, KeyCode::Char('n'));
    press(&mut app, KeyCode::Char('n'));
    let frame = draw(&mut app, &MONO, 120, 36).backend().to_string();
    assert!(frame.lines().nth(1).is_some_and(|line| line.contains("1 of 2  n next  ↵ select it")), "{frame}");
}

fn ready(app: &mut App, state: char) {
    let Some(key) = app.dialog().map(|dialog| dialog.subjects[0].key) else { panic!("a dialog is open") };
    update(app, Msg::Answer { key, answer: Answer::Opened(Ok(RunState(state))) });
}

#[test]
fn the_dialog_names_its_process_and_what_its_end_would_free() {
    let mut app = after(&stories::two_h200());
    press(&mut app, KeyCode::Down);
    press(&mut app, KeyCode::Char('K'));
    ready(&mut app, 'S');
    assert_frame!("dialog_120x36", app, 120 x 36);
    press(&mut app, KeyCode::Down);
    assert_frame!("dialog_80x24", app, 80 x 24);
    press(&mut app, KeyCode::End);
    assert_frame!("dialog_40x10", app, 40 x 10);
    for (width, height) in [(1, 1), (20, 3), (300, 2)] {
        draw(&mut app, &MONO, width, height);
    }
}

/// The lines of the sheet.
fn sheet(app: &mut App) -> Vec<String> {
    let frame = draw(app, &MONO, 120, 36).backend().to_string();
    let lines = frame.lines().map(|line| line.trim_matches(['"', ' ']).to_owned());
    lines.skip_while(|line| !line.starts_with("────")).skip(1).take_while(|line| !line.is_empty()).collect()
}

#[test]
fn the_dialog_says_why_a_signal_cannot_be_sent() {
    let mut app = after(&with_a_death());
    // The last rows: one that is not visible here, and one that has ended.
    press(&mut app, KeyCode::End);
    press(&mut app, KeyCode::Char('K'));
    assert_eq!(sheet(&mut app), ["signal to 41502  sweep.py --lr 1e-4 of ann", "it holds no GPU memory now", "no signal can be sent: it has ended"]);
    press(&mut app, KeyCode::Esc);
    press(&mut app, KeyCode::Up);
    press(&mut app, KeyCode::Char('K'));
    assert_eq!(
        sheet(&mut app),
        [
            "signal to 7745  not visible here",
            "its end would free 1.2 on GPU 1",
            "no signal can be sent: it is not visible here (another container or PID namespace): run vramtop on the host"
        ]
    );
    press(&mut app, KeyCode::Esc);
    press(&mut app, KeyCode::Home);
    for (answer, sentence) in [
        (Ok(RunState('D')), "it waits in the kernel (state D): a signal is heeded once it comes back; KILL ends it now if that wait can be broken"),
        (Err(Refusal::StillListed), "no signal can be sent: it has ended, and the driver still lists it"),
        (Err(Refusal::Zombie), "no signal can be sent: it has ended and is a zombie: its memory is freed when its parent takes note"),
    ] {
        press(&mut app, KeyCode::Char('K'));
        let key = app.dialog().expect("open").subjects[0].key;
        update(&mut app, Msg::Answer { key, answer: Answer::Opened(answer) });
        assert_eq!(sheet(&mut app).get(2).map(String::as_str), Some(sentence));
        press(&mut app, KeyCode::Esc);
    }
    press(&mut app, KeyCode::Char('I'));
    ready(&mut app, 'S');
    let key = app.dialog().expect("open").subjects[0].key;
    update(&mut app, Msg::Answer { key, answer: Answer::Signalled(Signal::Int, Err(Refusal::NotPermitted)) });
    assert_eq!(sheet(&mut app)[2], "INT was not sent: not permitted: it belongs to another user (sudo vramtop may)");
}

/// What a look at the first process of [`stories::two_h200`] finds out.
fn details(app: &App, environment: Reading<Vec<(SafeText, SafeText)>>) -> Msg {
    let row = app.detail().and_then(|detail| detail.row(app.picture())).expect("it is listed");
    Msg::Details(Box::new(Details { key: row.key().expect("a process"), environment }))
}

fn environment(variables: &[(&str, &str)]) -> Reading<Vec<(SafeText, SafeText)>> {
    Reading::Value(variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
}

/// The close look at train.py of ann.
fn detail() -> App {
    let mut machine = stories::two_h200();
    machine.holders[0].ancestors = vec![(41801, "torchrun"), (41790, "slurmstepd"), (2044, "bash"), (2011, "sshd")];
    let mut app = after(&machine);
    press(&mut app, KeyCode::Down);
    press(&mut app, KeyCode::Enter);
    app
}

#[test]
fn the_detail_of_a_process() {
    let mut app = detail();
    let known = [("CONDA_DEFAULT_ENV", "llm"), ("CUDA_VISIBLE_DEVICES", "0"), ("HF_TOKEN", "***"), ("HOME", "/home/ann")];
    let answer = details(&app, environment(&known));
    update(&mut app, answer);
    assert_frame!("detail_120x36", app, 120 x 36);
    assert_frame!("detail_80x24", app, 80 x 24);
    assert_frame!("detail_200x50", app, 200 x 50);
    assert_frame!("detail_40x10", app, 40 x 10);
    press(&mut app, KeyCode::Char('e'));
    press(&mut app, KeyCode::Down);
    assert_frame!("environment_80x24", app, 80 x 24);
    for (width, height) in [(1, 1), (20, 3), (300, 2), (30, 100)] {
        draw(&mut app, &MONO, width, height);
        press(&mut app, KeyCode::Char('e'));
    }
}

/// The lines of the detail after that caption, joined.
fn fact(app: &mut App, caption: &str) -> Option<String> {
    let frame = draw(app, &MONO, 200, 50).backend().to_string();
    frame.lines().find_map(|line| Some(line.trim_matches(['"', ' ']).strip_prefix(caption)?.trim().to_owned()))
}

#[test]
fn its_own_number_of_a_gpu_is_told_only_where_it_is_known() {
    let known = |variables: &[(&str, &str)]| {
        // vllm on GPU 1.
        let mut app = after(&stories::two_h200());
        press(&mut app, KeyCode::Enter);
        let answer = details(&app, environment(variables));
        update(&mut app, answer);
        fact(&mut app, "CONTEXT").expect("a line")
    };
    assert!(known(&[("CUDA_VISIBLE_DEVICES", "1,0")]).ends_with("its cuda:0 = GPU 1 (CUDA_VISIBLE_DEVICES=1,0)"));
    assert!(known(&[]).ends_with("its cuda:1 = GPU 1 (CUDA_VISIBLE_DEVICES is not set)"));
    assert!(known(&[("CUDA_VISIBLE_DEVICES", "GPU-00000001")]).ends_with("its cuda:0 = GPU 1 (CUDA_VISIBLE_DEVICES=GPU-00000001)"));
    assert!(known(&[("CUDA_VISIBLE_DEVICES", "0")]).ends_with("not known: it has chosen its GPUs after it had started"));
    // Two models: CUDA counts the fastest first, which the driver does not tell.
    let mut machine = stories::two_h200();
    machine.cards[1].name = "NVIDIA A2";
    let mut app = after(&machine);
    press(&mut app, KeyCode::Enter);
    let answer = details(&app, environment(&[("CUDA_VISIBLE_DEVICES", "1")]));
    update(&mut app, answer);
    assert!(fact(&mut app, "CONTEXT").expect("a line").ends_with("not known: CUDA counts the fastest first, and these GPUs differ"));
    let answer = details(&app, environment(&[("CUDA_VISIBLE_DEVICES", "1"), ("CUDA_DEVICE_ORDER", "PCI_BUS_ID")]));
    update(&mut app, answer);
    assert!(fact(&mut app, "CONTEXT").expect("a line").ends_with("its cuda:0 = GPU 1 (CUDA_VISIBLE_DEVICES=1)"));
}

#[test]
fn what_is_not_known_is_said_with_its_reason() {
    let mut app = detail();
    assert_eq!(fact(&mut app, "FROM").as_deref(), Some("sshd 2011 › bash 2044 › slurmstepd 41790 › torchrun 41801 › train.py 41877"));
    let answer = details(&app, Reading::NOT_PERMITTED);
    update(&mut app, answer);
    assert!(fact(&mut app, "CONTEXT").expect("a line").contains("its environment cannot be read (not permitted)"));
    press(&mut app, KeyCode::Char('e'));
    assert_eq!(fact(&mut app, "ENVIRONMENT").as_deref(), Some("not known: not permitted"));
    // One that is not visible here, and one that has ended.
    let mut app = after(&with_a_death());
    press(&mut app, KeyCode::End);
    press(&mut app, KeyCode::Enter);
    assert_frame!("detail_ended_120x36", app, 120 x 36);
    press(&mut app, KeyCode::Esc);
    press(&mut app, KeyCode::Up);
    press(&mut app, KeyCode::Enter);
    assert_frame!("detail_not_here_80x24", app, 80 x 24);
}

#[test]
fn the_ranks_stand_beside_each_other_where_there_is_room() {
    let line = |width, height| {
        let frame = draw(&mut after(&stories::eight_h100()), &MONO, width, height).backend().to_string();
        frame.lines().find(|line| line.contains("ranks  ")).map(|line| line.trim_matches(['"', ' ']).to_owned())
    };
    // What each rank holds on its own card: the contexts of 0.5 on GPU 0 are not the question.
    let all = line(200, 60).expect("room for it");
    assert_eq!(
        all,
        "ranks    slurm 48211.0, 8 ranks, median 66.2:  0 ▃ 68.8   1 ▁ 66.2   2 ▁ 66.3   3 ▇ 75.4   4 ▁ 66.2   5 ▁ 66.4   6 ▁ 66.2   7 ▁ 66.1"
    );
    // Where not all have room the largest have.
    let some = line(120, 60).expect("room for it");
    assert!(some.contains("3 ▇ 75.4") && some.contains("0 ▃ 68.8") && some.contains(" more"), "{some}");
    assert_eq!(line(120, 24), None);
}
