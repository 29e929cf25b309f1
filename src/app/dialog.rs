//! The dialog that sends a signal: bound to one process when it opens, whatever row is selected afterwards.

use super::picture::{Holder, Picture, TableRow};
use super::{App, Effect};
use crate::model::{Bytes, ProcessFacts, ProcessKey, Refusal, RunState, SafeText, Signal, Visibility};

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

/// Which process the dialog is about, and what it knows of it.
#[derive(Clone, Debug)]
pub struct Dialog {
    /// Who it is.
    pub key: ProcessKey,
    /// Its owner.
    pub user: Option<SafeText>,
    /// The name of its work.
    pub what: SafeText,
    /// What it holds: the label of each GPU with the bytes, where the driver says.
    pub holds: Vec<(String, Option<Bytes>)>,
    /// The scheduler's word for it when it was taken hold of.
    pub state: Option<RunState>,
    /// The signal under the cursor.
    pub signal: Signal,
    /// How far it has come.
    pub stage: Stage,
}

impl Dialog {
    /// About the process of a row; `None` where it is none.
    pub(super) fn about(picture: &Picture, row: &TableRow, signal: Signal) -> Option<Self> {
        let (facts, stage) = match row.holder {
            Holder::Process { .. } => {
                let facts = &picture.process(row)?.facts;
                let here = facts.visibility == Visibility::Here;
                (facts, if here { Stage::Opening } else { Stage::Refused(Refusal::NotHere) })
            }
            Holder::Ended { .. } => (&picture.ended(row)?.row.facts, Stage::Refused(Refusal::Ended)),
            Holder::Nobody | Holder::Untracked { .. } | Holder::Group { .. } => return None,
        };
        let ProcessFacts { key, user, what_full, .. } = &**facts;
        let monitor = picture.monitor();
        let held = monitor.processes().iter().filter(|process| process.facts.key == *key);
        let holds = held.filter_map(|process| Some((monitor.gpus().get(process.gpu)?.label.clone(), process.bytes()))).collect();
        Some(Self { key: *key, user: user.clone(), what: what_full.clone(), holds, state: None, signal, stage })
    }

    /// What its end would free over all GPUs; `None` where the driver does not say.
    pub fn frees(&self) -> Option<Bytes> {
        self.holds.iter().map(|(_, bytes)| *bytes).sum()
    }

    /// Whether a signal can be chosen and sent.
    pub const fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Ready | Stage::Sent(_) | Stage::Failed(..))
    }

    /// So many signals down, or up; it stops at the ends.
    pub(super) fn step(&mut self, by: isize) {
        let at = Signal::ALL.iter().position(|signal| *signal == self.signal).unwrap_or(0);
        let to = at.saturating_add_signed(by).min(Signal::ALL.len() - 1);
        self.signal = Signal::ALL[to];
    }

    /// The process was taken hold of, or was not.
    pub(super) fn opened(&mut self, answer: Result<RunState, Refusal>) {
        match answer {
            Ok(state) => (self.state, self.stage) = (Some(state), Stage::Ready),
            Err(refusal) => self.stage = Stage::Refused(refusal),
        }
    }

    /// A signal was sent, or was not.
    pub(super) fn answered(&mut self, signal: Signal, answer: Result<(), Refusal>) {
        self.stage = match answer {
            Ok(()) => Stage::Sent(signal),
            Err(refusal @ (Refusal::Ended | Refusal::Replaced)) => Stage::Refused(refusal),
            Err(refusal) => Stage::Failed(signal, refusal),
        };
    }
}

impl App {
    /// The dialog that sends a signal, where it is open.
    pub const fn dialog(&self) -> Option<&Dialog> {
        self.dialog.as_ref()
    }

    /// Opens the dialog about the selected process; in the dialog, chooses that signal.
    pub(super) fn ask(&mut self, signal: Signal) -> Effect {
        if let Some(dialog) = &mut self.dialog {
            dialog.signal = signal;
            return Effect::Redraw;
        }
        let picture = self.picture();
        let Some(dialog) = self.meant().and_then(|row| Dialog::about(picture, row, signal)) else { return Effect::None };
        let effect = if dialog.stage == Stage::Opening { Effect::OpenTarget(dialog.key) } else { Effect::Redraw };
        self.dialog = Some(dialog);
        effect
    }

    /// The dialog, if it is still about that process.
    pub(super) fn dialog_of(&mut self, key: ProcessKey) -> Option<&mut Dialog> {
        self.dialog.as_mut().filter(|dialog| dialog.key == key)
    }

    pub(super) fn choose_signal(&mut self, by: isize) {
        if let Some(dialog) = &mut self.dialog {
            dialog.step(by);
        }
    }

    /// The signal under the cursor, once the process is held.
    pub(super) fn send(&self) -> Effect {
        let open = self.dialog.as_ref().filter(|dialog| dialog.is_open());
        open.map_or(Effect::None, |dialog| Effect::Signal { key: dialog.key, signal: dialog.signal })
    }
}
