//! The letter that ties a slice of a bar to a row of the table.
//!
//! It sticks to a process while it lives and follows from the records alone, so a live run and its replay agree.
//! Small processes of one card share a letter; one that grows out of that gets its own.

use std::collections::{BTreeSet, HashMap};

use super::owners::Hue;
use crate::model::{Bytes, GpuId, ProcessKey};

/// How a process is marked on one card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Letter {
    /// The letter.
    pub letter: char,
    /// Its place among the card's processes, in the order of their coming.
    place: u8,
    /// Whether the letter is the one that the small ones share.
    pub shared: bool,
}

impl Letter {
    /// The hue of the process where hues tell processes apart.
    pub(super) const fn hue(self) -> Hue {
        if self.shared { Hue::Other(Hue::OTHERS - 1) } else { Hue::of_place(self.place) }
    }
}

/// One process that needs a letter.
pub(super) struct Candidate<'a> {
    pub(super) gpu: &'a GpuId,
    pub(super) key: ProcessKey,
    pub(super) bytes: Option<Bytes>,
    /// What its card can hand out.
    pub(super) room: Option<Bytes>,
}

impl Candidate<'_> {
    /// Below this share of a card (1 in 50) a slice is too thin for a letter of its own.
    const SMALL: u64 = 50;

    fn is_small(&self) -> bool {
        let room = self.room.unwrap_or(Bytes::ZERO);
        self.bytes.is_none_or(|bytes| bytes.0 < room.0 / Self::SMALL)
    }
}

/// The letters that are given out.
#[derive(Clone, Debug, Default)]
pub(super) struct Letters {
    given: HashMap<(GpuId, u32), (ProcessKey, Letter)>,
}

impl Letters {
    /// When all letters are in use on the card itself.
    const NO_LETTER: char = '*';

    /// Letters for all of these, in their order. Those that are not among them have ended, and their letters are free.
    ///
    /// The candidates come GPU by GPU, the largest first: that is the order in which letters are given.
    pub(super) fn update(&mut self, candidates: &[Candidate<'_>]) -> Vec<Letter> {
        let mut old = std::mem::take(&mut self.given);
        let kept: Vec<Option<Letter>> = candidates
            .iter()
            .map(|c| {
                let (key, letter) = old.remove(&(c.gpu.clone(), c.key.pid))?;
                key.is_same(c.key).then_some(letter)
            })
            .collect();
        let mut taken: BTreeSet<char> = kept.iter().flatten().map(|letter| letter.letter).collect();
        let mut cards: HashMap<&GpuId, Card> = HashMap::new();
        for (candidate, letter) in candidates.iter().zip(&kept) {
            if let Some(letter) = letter {
                cards.entry(candidate.gpu).or_default().add(*letter);
            }
        }
        let mut letters = Vec::with_capacity(candidates.len());
        for (candidate, kept) in candidates.iter().zip(kept) {
            let card = cards.entry(candidate.gpu).or_default();
            let letter = match kept {
                Some(letter) if letter.shared && !candidate.is_small() => card.promote(letter, &mut taken),
                Some(letter) => letter,
                None => card.admit(candidate.is_small(), &mut taken),
            };
            self.given.insert((candidate.gpu.clone(), candidate.key.pid), (candidate.key, letter));
            letters.push(letter);
        }
        letters
    }
}

/// What is given out on one card.
#[derive(Default)]
struct Card {
    letters: BTreeSet<char>,
    places: BTreeSet<u8>,
    /// The letter of the small ones, and how many have it.
    shared: Option<(char, usize)>,
}

impl Card {
    fn add(&mut self, letter: Letter) {
        self.letters.insert(letter.letter);
        if letter.shared {
            let sharers = self.shared.map_or(0, |(_, n)| n);
            self.shared = Some((letter.letter, sharers + 1));
        } else {
            self.places.insert(letter.place);
        }
    }

    fn admit(&mut self, small: bool, letters: &mut BTreeSet<char>) -> Letter {
        let letter = match self.shared {
            Some((letter, _)) if small => letter,
            _ => self.free_letter(letters),
        };
        let place = if small { u8::MAX } else { self.free_place() };
        let letter = Letter { letter, place, shared: small };
        self.add(letter);
        letter
    }

    /// A small one has grown. Where nobody shares its letter, it takes the letter along.
    fn promote(&mut self, letter: Letter, letters: &mut BTreeSet<char>) -> Letter {
        let sharers = self.shared.map_or(0, |(_, n)| n);
        let own = if sharers > 1 { self.free_letter(letters) } else { letter.letter };
        self.shared = (sharers > 1).then_some((letter.letter, sharers - 1));
        let letter = Letter { letter: own, place: self.free_place(), shared: false };
        self.add(letter);
        letter
    }

    /// One that nobody has; or else, since a row names its card, one that nobody on this card has.
    fn free_letter(&self, taken: &mut BTreeSet<char>) -> char {
        let all = || ('a'..='z').chain('A'..='Z');
        let free = all().find(|letter| !taken.contains(letter)).or_else(|| all().find(|letter| !self.letters.contains(letter)));
        let letter = free.unwrap_or(Letters::NO_LETTER);
        taken.insert(letter);
        letter
    }

    fn free_place(&self) -> u8 {
        (0..u8::MAX).find(|place| !self.places.contains(place)).unwrap_or(u8::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given_to(letters: &mut Letters, processes: &[(u32, u64)]) -> String {
        let gpu = GpuId::new("GPU-0");
        let mut processes = processes.to_vec();
        processes.sort_by_key(|(pid, gib)| (std::cmp::Reverse(*gib), *pid));
        let candidates: Vec<Candidate<'_>> = processes
            .iter()
            .map(|(pid, gib)| Candidate {
                gpu: &gpu,
                key: ProcessKey { pid: *pid, start_ticks: Some(1) },
                bytes: Some(Bytes::gib(*gib)),
                room: Some(Bytes::gib(100)),
            })
            .collect();
        let mut by_pid: Vec<(u32, char)> = candidates.iter().map(|c| c.key.pid).zip(letters.update(&candidates).iter().map(|t| t.letter)).collect();
        by_pid.sort_unstable();
        by_pid.iter().map(|(_, letter)| letter).collect()
    }

    #[test]
    fn letters_go_by_size_and_stick() {
        let mut letters = Letters::default();
        assert_eq!(given_to(&mut letters, &[(1, 10), (2, 40)]), "ba");
        assert_eq!(given_to(&mut letters, &[(1, 50), (2, 40), (3, 60)]), "bac");
        assert_eq!(given_to(&mut letters, &[(1, 50), (3, 60), (4, 9)]), "bca");
    }

    #[test]
    fn small_ones_share_and_a_grown_one_leaves() {
        let mut letters = Letters::default();
        assert_eq!(given_to(&mut letters, &[(1, 40), (2, 1), (3, 1)]), "abb");
        assert_eq!(given_to(&mut letters, &[(1, 40), (2, 30), (3, 1)]), "acb");
        assert_eq!(given_to(&mut letters, &[(1, 40), (2, 1), (3, 1)]), "acb");
        // The last of the small ones takes their letter along.
        assert_eq!(given_to(&mut letters, &[(1, 40), (2, 1), (3, 20)]), "acb");
        assert_eq!(given_to(&mut letters, &[(1, 40), (2, 1), (3, 20), (4, 1)]), "acbd");
    }

    #[test]
    fn a_letter_is_shared_by_two_cards_before_there_is_none() {
        let gpus = [GpuId::new("GPU-0"), GpuId::new("GPU-1")];
        // 40 large ones on each card; the alphabets have 52 letters.
        let candidates: Vec<Candidate<'_>> = (0..80_u32)
            .map(|at| Candidate {
                gpu: &gpus[usize::from(at >= 40)],
                key: ProcessKey { pid: at + 1, start_ticks: Some(1) },
                bytes: Some(Bytes::gib(9)),
                room: Some(Bytes::gib(100)),
            })
            .collect();
        let letters: Vec<char> = Letters::default().update(&candidates).iter().map(|letter| letter.letter).collect();
        for card in letters.chunks(40) {
            assert_eq!(card.iter().collect::<BTreeSet<_>>().len(), 40, "{letters:?}");
            assert!(!card.contains(&Letters::NO_LETTER), "{letters:?}");
        }
    }

    #[test]
    fn a_reused_pid_is_another_process() {
        let gpu = GpuId::new("GPU-0");
        let mut letters = Letters::default();
        let candidate = |pid, ticks| Candidate {
            gpu: &gpu,
            key: ProcessKey { pid, start_ticks: Some(ticks) },
            bytes: Some(Bytes::gib(9)),
            room: Some(Bytes::gib(100)),
        };
        let before = letters.update(&[candidate(7, 1), candidate(8, 1)]);
        let after = letters.update(&[candidate(7, 2), candidate(8, 1)]);
        assert_eq!(before[1], after[1]);
        assert_eq!(after[0].letter, 'a');
    }
}
