//! Carries out what changes the world, and answers with what came of it.

use std::path::Path;

use crate::act::Target;
use crate::app::Msg;
use crate::model::{ProcessKey, Refusal, Signal};

/// The process that the dialog has taken hold of.
#[derive(Default)]
pub(super) struct Acting {
    target: Option<Target>,
}

impl Acting {
    /// Takes hold of a process, and lets go of the one before.
    pub(super) fn open(&mut self, key: ProcessKey) -> Msg {
        self.target = None;
        let answer = Target::open(Path::new("/proc"), key).map(|(target, state)| {
            self.target = Some(target);
            state
        });
        Msg::Opened { key, answer }
    }

    /// Sends a signal to the process that is held, if it is the one that is meant.
    pub(super) fn signal(&self, key: ProcessKey, signal: Signal) -> Msg {
        let target = self.target.as_ref().filter(|target| target.key() == key);
        let answer = target.map_or(Err(Refusal::Replaced), |target| target.send(signal));
        Msg::Signalled { key, signal, answer }
    }
}
