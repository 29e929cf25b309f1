//! Who holds how much over all cards, and which hue is theirs. A hue stays with its owner while they hold anything.

use std::collections::BTreeMap;

use crate::model::{Bytes, GpuState, SafeText};
use crate::monitor::{GpuRow, ProcessRow};

/// Which colour stands for an owner, or for a process where there is only one owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hue {
    /// The user who runs vramtop; or the first process of a card.
    Mine,
    /// Others, 0 to 3; the last is shared by all that come after it.
    Other(u8),
    /// Not visible here.
    Unseen,
}

impl Hue {
    /// How many hues others have.
    pub const OTHERS: u8 = 4;

    /// The hue of a place in an order: the first is the strong one.
    pub(super) const fn of_place(place: u8) -> Self {
        match place {
            0 => Self::Mine,
            n if n < Self::OTHERS => Self::Other(n - 1),
            _ => Self::Other(Self::OTHERS - 1),
        }
    }
}

/// One user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The name; `None` stands for the processes that are not visible here.
    pub user: Option<SafeText>,
    /// What they hold over all cards, as far as the driver says.
    pub bytes: Bytes,
    /// Whether some of their processes are not counted, because nothing is known of them now.
    pub is_partial: bool,
    /// Their hue.
    pub hue: Hue,
}

impl Owner {
    /// What they hold, as it is written: `≥` where a part of it is unknown, `—` where all of it is.
    pub fn figure(&self) -> String {
        sum_figure(self.bytes, self.is_partial)
    }
}

/// A sum as it is written: `≥` where a part of it is unknown, `—` where all of it is.
pub fn sum_figure(bytes: Bytes, is_partial: bool) -> String {
    match (bytes, is_partial) {
        (bytes, false) => bytes.to_string(),
        (Bytes::ZERO, true) => "—".to_owned(),
        (bytes, true) => format!("≥{bytes}"),
    }
}

/// What is added up of one user.
#[derive(Default)]
struct Held {
    bytes: Bytes,
    /// Whether it is the user who runs vramtop.
    is_mine: bool,
    /// Whether a part of it is not known.
    is_partial: bool,
}

/// All users, by what they hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Owners {
    list: Vec<Owner>,
    hues: BTreeMap<SafeText, Hue>,
}

impl Owners {
    pub(super) fn list(&self) -> &[Owner] {
        &self.list
    }

    pub(super) fn hue(&self, user: Option<&SafeText>) -> Hue {
        user.and_then(|user| self.hues.get(user)).copied().unwrap_or(Hue::Unseen)
    }

    /// Adds up anew. Whoever comes gets the first free hue, larger holders first.
    ///
    /// Of a moment that is looked back at a figure may be the least that it was.
    pub(super) fn update(&mut self, processes: &[ProcessRow], gpus: &[GpuRow], is_past: bool) {
        let mut held: BTreeMap<Option<&SafeText>, Held> = BTreeMap::new();
        for row in processes {
            let entry = held.entry(row.facts.user.as_ref()).or_default();
            // What a lost card's processes held is not known to be held.
            let answers = gpus.get(row.gpu).is_some_and(|gpu| gpu.state == GpuState::Present);
            match row.bytes_now().filter(|_| answers) {
                Some(bytes) => entry.bytes += bytes,
                None => entry.is_partial = true,
            }
            entry.is_partial |= is_past && row.is_at_least();
            entry.is_mine |= row.facts.mine;
        }
        let mut order: Vec<_> = held.into_iter().collect();
        order.sort_by(|(a, x), (b, y)| y.bytes.cmp(&x.bytes).then_with(|| a.cmp(b)));
        self.hues.retain(|known, _| order.iter().any(|(user, _)| *user == Some(known)));
        for (user, held) in &order {
            let Some(user) = user else { continue };
            if held.is_mine {
                self.hues.insert((*user).clone(), Hue::Mine);
            } else if !self.hues.contains_key(*user) {
                let free = (0..Hue::OTHERS).map(Hue::Other).find(|hue| !self.hues.values().any(|taken| taken == hue));
                self.hues.insert((*user).clone(), free.unwrap_or(Hue::Other(Hue::OTHERS - 1)));
            }
        }
        let owner = |(user, held): (Option<&SafeText>, Held)| Owner {
            user: user.cloned(),
            bytes: held.bytes,
            is_partial: held.is_partial,
            hue: self.hue(user),
        };
        self.list = order.into_iter().map(owner).collect();
    }
}
