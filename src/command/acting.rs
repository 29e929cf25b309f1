//! Carries out what changes the world, and answers with what came of it.

use std::path::Path;

use crate::act::Target;
use crate::app::{Answer, Msg};
use crate::model::{ProcessKey, Refusal, Signal};

/// The processes that the dialog has taken hold of.
#[derive(Default)]
pub(super) struct Acting {
    targets: Vec<Target>,
}

impl Acting {
    /// Takes hold of these processes, and lets go of those before.
    pub(super) fn open(&mut self, keys: &[ProcessKey]) -> Vec<Msg> {
        self.targets.clear();
        let mut open = |key| {
            Target::open(Path::new("/proc"), key).map(|(target, state)| {
                self.targets.push(target);
                state
            })
        };
        keys.iter().map(|key| Msg::Answer { key: *key, answer: Answer::Opened(open(*key)) }).collect()
    }

    /// Sends a signal to each of these that is held.
    pub(super) fn signal(&self, keys: &[ProcessKey], signal: Signal) -> Vec<Msg> {
        let send = |key: &ProcessKey| {
            let target = self.targets.iter().find(|target| target.key() == *key);
            target.map_or(Err(Refusal::Replaced), |target| target.send(signal))
        };
        keys.iter().map(|key| Msg::Answer { key: *key, answer: Answer::Signalled(signal, send(key)) }).collect()
    }
}
