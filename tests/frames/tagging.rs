//! The dialog about several processes, where there is little room for them.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use vramtop::app::{Answer, App, Msg, update};
use vramtop::model::{ProcessKey, Refusal, RunState};
use vramtop::view::{Colors, Theme};

use crate::stage::{after, draw, stories};

const MONO: Theme = Theme::new(Colors::Never, false);

fn press(app: &mut App, code: KeyCode) {
    update(app, Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)));
}

/// The first rows are tagged: so many.
fn tagged(rows: usize) -> App {
    let mut app = after(&stories::two_h200());
    for _ in 0..rows {
        press(&mut app, KeyCode::Char('x'));
    }
    app
}

/// Whom the dialog is about.
fn keys(app: &App) -> Vec<ProcessKey> {
    app.dialog().into_iter().flat_map(|dialog| &dialog.subjects).map(|subject| subject.key).collect()
}

/// What came of taking hold of each, in the order of the dialog; what is refused from the start stays so.
fn open(app: &mut App, answers: &[Result<RunState, Refusal>]) {
    for (key, answer) in keys(app).into_iter().zip(answers) {
        update(app, Msg::Answer { key, answer: Answer::Opened(answer.clone()) });
    }
}

#[test]
fn every_process_of_the_dialog_can_be_scrolled_to() {
    for (width, height) in [(40, 10), (80, 13), (40, 6)] {
        let mut app = tagged(4);
        press(&mut app, KeyCode::Char('K'));
        open(&mut app, &[const { Ok(RunState('S')) }; 4]);
        let frame = |app: &mut App| draw(app, &MONO, width, height).backend().to_string();
        let pids: Vec<String> = keys(&app).iter().map(|key| key.pid.to_string()).collect();
        let first = frame(&mut app);
        assert!(first.contains(&pids[0]) && !first.contains(&pids[3]), "{first}");
        (0..5).for_each(|_| press(&mut app, KeyCode::PageDown));
        let last = frame(&mut app);
        assert!(last.contains(&pids[3]) && !last.contains(&pids[0]), "{last}");
        // What was pressed beyond the end is not to be taken back.
        (0..2).for_each(|_| press(&mut app, KeyCode::PageUp));
        assert_eq!(frame(&mut app), first);
    }
}
