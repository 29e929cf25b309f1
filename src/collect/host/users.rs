//! Names of users. A directory (LDAP, SSSD) can take seconds to answer, so it is asked on a thread of its own.
//!
//! It refuses to make anybody wait, and to hold more than one name a user.

use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::unistd::{Uid, User};

use crate::model::SafeText;

/// How many users may wait for the directory; the rest are asked for as these are answered.
const QUEUE: usize = 64;

/// A question's answer: the user, and the name where the directory has one.
type Answer = (u32, Option<SafeText>);

/// The names that are known, and those that were asked for.
#[derive(Debug)]
pub(super) struct Users {
    names: HashMap<u32, SafeText>,
    /// Asked for and not yet answered.
    asked: HashSet<u32>,
    /// To be asked for when the queue has room.
    waiting: Vec<u32>,
    questions: SyncSender<u32>,
    answers: Receiver<Answer>,
}

impl Users {
    /// Asks the system's directory.
    pub(super) fn new() -> Self {
        Self::answered_by(|uid| User::from_uid(Uid::from_raw(uid)).ok().flatten().map(|user| SafeText::new(&user.name)))
    }

    /// The thread ends with its `Users`, or with the process when the directory never answers.
    pub(super) fn answered_by(lookup: impl Fn(u32) -> Option<SafeText> + Send + 'static) -> Self {
        let (questions, asked) = sync_channel::<u32>(QUEUE);
        let (answer, answers) = sync_channel::<Answer>(QUEUE);
        // Without a thread the questions come back unasked and users stay numbers, which is true if not kind.
        let _ = thread::Builder::new().name("users".to_owned()).spawn(move || {
            for uid in asked {
                if answer.send((uid, lookup(uid))).is_err() {
                    return;
                }
            }
        });
        Self { names: HashMap::new(), asked: HashSet::new(), waiting: Vec::new(), questions, answers }
    }

    /// The name, if it is known; else it is asked for. A user without an entry is asked for again at the next process.
    pub(super) fn name(&mut self, uid: u32) -> Option<SafeText> {
        if let Some(name) = self.names.get(&uid) {
            return Some(name.clone());
        }
        if self.asked.insert(uid) {
            self.waiting.push(uid);
            self.ask();
        }
        None
    }

    /// Takes what was answered; whether a name has arrived.
    pub(super) fn take(&mut self) -> bool {
        let before = self.names.len();
        while let Ok(answer) = self.answers.try_recv() {
            self.learn(answer);
        }
        self.ask();
        self.names.len() > before
    }

    /// Waits until nothing is asked any more, at most this long.
    pub(super) fn wait(&mut self, deadline: Duration) {
        let start = Instant::now();
        while !self.asked.is_empty() {
            let left = deadline.saturating_sub(start.elapsed());
            match self.answers.recv_timeout(left) {
                Ok(answer) => self.learn(answer),
                Err(_) => return,
            }
            self.ask();
        }
    }

    /// The name, if it is known.
    pub(super) fn known(&self, uid: u32) -> Option<&SafeText> {
        self.names.get(&uid)
    }

    fn learn(&mut self, (uid, name): Answer) {
        self.asked.remove(&uid);
        if let Some(name) = name {
            self.names.insert(uid, name);
        }
    }

    fn ask(&mut self) {
        while let Some(uid) = self.waiting.last() {
            if self.questions.try_send(*uid).is_err() {
                return;
            }
            self.waiting.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    const LONG: Duration = Duration::from_secs(10);

    #[test]
    fn a_name_comes_later_and_is_kept() {
        let (directory, names) = channel::<Option<&str>>();
        let mut users = Users::answered_by(move |_| names.recv().ok().flatten().map(SafeText::new));
        assert_eq!(users.name(1000), None);
        assert!(!users.take());
        directory.send(Some("alice")).unwrap();
        users.wait(LONG);
        assert_eq!(users.known(1000), Some(&SafeText::new("alice")));
        // The directory is silent from here on: the second answer is the kept one.
        assert_eq!(users.name(1000), Some(SafeText::new("alice")));
    }

    #[test]
    fn a_slow_directory_holds_nobody_up() {
        let (_directory, names) = channel::<()>();
        let mut users = Users::answered_by(move |_| names.recv().ok().map(|()| SafeText::new("never")));
        assert_eq!(users.name(1000), None);
        users.wait(Duration::ZERO);
        assert_eq!(users.known(1000), None);
    }

    #[test]
    fn a_user_without_an_entry_is_asked_for_again() {
        let (directory, names) = channel::<Option<&str>>();
        let mut users = Users::answered_by(move |_| names.recv().ok().flatten().map(SafeText::new));
        for answer in [None, Some("late")] {
            directory.send(answer).unwrap();
            assert_eq!(users.name(7), None);
            users.wait(LONG);
        }
        assert_eq!(users.known(7), Some(&SafeText::new("late")));
    }

    #[test]
    fn more_users_than_the_queue_holds_are_all_named() {
        let mut users = Users::answered_by(|uid| Some(SafeText::new(&format!("u{uid}"))));
        for uid in 0..500 {
            users.name(uid);
        }
        users.wait(LONG);
        assert!((0..500).all(|uid| users.known(uid).is_some_and(|name| name.as_str() == format!("u{uid}"))));
    }
}
