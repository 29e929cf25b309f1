//! The dialog that sends a signal: bound to its processes when it opens, whatever row is selected or tagged afterwards.

use super::picture::Picture;
use super::row::{Holder, TableRow};
use super::{Answer, App, Effect};
use crate::model::{Bytes, ProcessFacts, ProcessKey, Refusal, RunState, SafeText, Signal, Visibility};
use crate::monitor::Monitor;

/// How far the dialog has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The process is being taken hold of.
    Opening,
    /// A signal can be chosen.
    Ready,
    /// Nothing can be sent, and why.
    Refused(Refusal),
    /// The last one was sent.
    Sent(Signal),
    /// The last one was not sent, and why.
    Failed(Signal, Refusal),
}

/// One process that the dialog is about, and what is known of it.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Who it is.
    pub key: ProcessKey,
    /// Its owner.
    pub user: Option<SafeText>,
    /// The name of its work.
    pub what: SafeText,
    /// What it holds: the label of each GPU with the bytes, where the driver says.
    pub holds: Vec<(String, Option<Bytes>)>,
    /// The scheduler's word for it when it was taken hold of, or sent a signal.
    pub state: Option<RunState>,
    /// How far it has come.
    pub stage: Stage,
}

impl Subject {
    /// The process of a row; `None` where it is none.
    fn of(picture: &Picture, row: &TableRow) -> Option<Self> {
        let (facts, stage) = match row.holder {
            Holder::Process { .. } => {
                let facts = &picture.process(row)?.facts;
                let stage = match facts.visibility {
                    Visibility::Here => Stage::Opening,
                    Visibility::NotHere if facts.is_gone() => Stage::Refused(Refusal::StillListed),
                    Visibility::NotHere => Stage::Refused(Refusal::NotHere),
                };
                (facts, stage)
            }
            Holder::Ended { .. } => (&picture.ended(row)?.row.facts, Stage::Refused(Refusal::Ended)),
            Holder::Nobody | Holder::Untracked { .. } | Holder::Group { .. } => return None,
        };
        let ProcessFacts { key, user, what_full, .. } = &**facts;
        let holds = holdings(picture.monitor(), *key);
        Some(Self { key: *key, user: user.clone(), what: what_full.clone(), holds, state: None, stage })
    }

    /// What its end would free over all GPUs; `None` where the driver does not say.
    pub fn frees(&self) -> Option<Bytes> {
        self.holds.iter().map(|(_, bytes)| *bytes).sum()
    }

    /// Whether a signal can be sent to it.
    pub const fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Ready | Stage::Sent(_) | Stage::Failed(..))
    }

    /// The process was taken hold of, or was not.
    fn opened(&mut self, answer: Result<RunState, Refusal>) {
        match answer {
            Ok(state) => (self.state, self.stage) = (Some(state), Stage::Ready),
            Err(refusal) => self.stage = Stage::Refused(refusal),
        }
    }

    /// A signal was sent, or was not.
    fn answered(&mut self, signal: Signal, answer: Result<RunState, Refusal>) {
        self.stage = match answer {
            Ok(state) => {
                self.state = Some(state);
                Stage::Sent(signal)
            }
            Err(refusal @ (Refusal::Ended | Refusal::Zombie | Refusal::Replaced)) => Stage::Refused(refusal),
            Err(refusal) => Stage::Failed(signal, refusal),
        };
    }
}

/// What a process holds on each GPU that lists it.
fn holdings(monitor: &Monitor, key: ProcessKey) -> Vec<(String, Option<Bytes>)> {
    let held = monitor.processes().iter().filter(|process| process.facts.key == key);
    held.filter_map(|process| Some((monitor.gpus().get(process.gpu)?.label.clone(), process.bytes_now()))).collect()
}

/// Which processes the dialog is about, and the signal that is chosen.
#[derive(Clone, Debug)]
pub struct Dialog {
    /// At least one, the largest first; one on several GPUs stands once.
    pub subjects: Vec<Subject>,
    /// The signal under the cursor.
    pub signal: Signal,
    /// The first of the processes that is listed, where not all have room.
    pub top: usize,
}

impl Dialog {
    /// About the processes of these rows; `None` where there are none.
    fn about<'a>(picture: &Picture, rows: impl IntoIterator<Item = &'a TableRow>, signal: Signal) -> Option<Self> {
        let mut subjects: Vec<Subject> = Vec::new();
        for subject in rows.into_iter().filter_map(|row| Subject::of(picture, row)) {
            if subjects.iter().all(|known| known.key != subject.key) {
                subjects.push(subject);
            }
        }
        (!subjects.is_empty()).then_some(Self { subjects, signal, top: 0 })
    }

    /// What they hold, anew with each step: who they are stays as it was when the dialog opened.
    pub(super) fn follow(&mut self, newest: &Monitor) {
        for subject in &mut self.subjects {
            subject.holds = holdings(newest, subject.key);
        }
    }

    /// Those that a signal can reach, as far as is known.
    fn in_reach(&self) -> impl Iterator<Item = &Subject> {
        self.subjects.iter().filter(|subject| !matches!(subject.stage, Stage::Refused(_)))
    }

    /// How many a signal can reach, as far as is known.
    pub fn reach(&self) -> usize {
        self.in_reach().count()
    }

    /// What the end of those that a signal can reach would free; `None` where one of them is unknown.
    pub fn frees(&self) -> Option<Bytes> {
        self.in_reach().map(Subject::frees).sum()
    }

    /// Whether a signal can be chosen, and sent to at least one of them.
    pub fn is_open(&self) -> bool {
        self.subjects.iter().any(Subject::is_open)
    }

    /// So many signals down, or up; it stops at the ends.
    fn step(&mut self, by: isize) {
        let at = Signal::ALL.iter().position(|signal| *signal == self.signal).unwrap_or(0);
        let to = at.saturating_add_signed(by).min(Signal::ALL.len() - 1);
        self.signal = Signal::ALL[to];
    }

    fn keys(&self, wanted: impl Fn(&Subject) -> bool) -> Vec<ProcessKey> {
        self.subjects.iter().filter(|subject| wanted(subject)).map(|subject| subject.key).collect()
    }
}

impl App {
    /// The dialog that sends a signal, where it is open.
    pub const fn dialog(&self) -> Option<&Dialog> {
        self.dialog.as_ref()
    }

    /// Opens the dialog about the tagged processes, or else the selected one; in the dialog, chooses that signal.
    pub(super) fn ask(&mut self, signal: Signal) -> Effect {
        if let Some(dialog) = &mut self.dialog {
            dialog.signal = signal;
            return Effect::Redraw;
        }
        // All rows and not those in sight: a filter takes no tag away, and the dialog names everybody.
        let tagged = if self.detail.is_none() { self.tagged.of(self.live.all()) } else { Vec::new() };
        let dialog =
            if tagged.is_empty() { self.meant().and_then(|row| self.about_meant(row, signal)) } else { Dialog::about(&self.live, tagged, signal) };
        let Some(dialog) = dialog else { return Effect::None };
        let keys = dialog.keys(|subject| subject.stage == Stage::Opening);
        self.dialog = Some(dialog);
        if keys.is_empty() { Effect::Redraw } else { Effect::OpenTargets(keys) }
    }

    /// A picture that is held says what a process held then, so its figures are the live one's, if it still lives.
    fn about_meant(&self, row: &TableRow, signal: Signal) -> Option<Dialog> {
        if let Some(live) = self.live.all().iter().find(|live| live.id.is_same(&row.id)) {
            return Dialog::about(&self.live, [live], signal);
        }
        let mut dialog = Dialog::about(self.picture(), [row], signal)?;
        for subject in &mut dialog.subjects {
            (subject.holds, subject.stage) = (Vec::new(), Stage::Refused(Refusal::Ended));
        }
        Some(dialog)
    }

    /// Takes in an answer about a process, where the dialog is still about it.
    pub(super) fn answered(&mut self, key: ProcessKey, answer: Answer) -> Effect {
        let Some(subject) = self.dialog.iter_mut().flat_map(|dialog| &mut dialog.subjects).find(|subject| subject.key == key) else {
            return Effect::None;
        };
        match answer {
            Answer::Opened(answer) => subject.opened(answer),
            Answer::Signalled(signal, answer) => subject.answered(signal, answer),
        }
        Effect::Redraw
    }

    pub(super) fn choose_signal(&mut self, by: isize) {
        if let Some(dialog) = &mut self.dialog {
            dialog.step(by);
        }
    }

    /// The signal under the cursor, to all that are held.
    pub(super) fn send(&self) -> Effect {
        let open = self.dialog.as_ref().filter(|dialog| dialog.is_open());
        open.map_or(Effect::None, |dialog| Effect::Signal { keys: dialog.keys(Subject::is_open), signal: dialog.signal })
    }
}
