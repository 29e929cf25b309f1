//! Which of the listed processes are tracked where there are more than can be: the largest. The others are counted and summed.
//!
//! It remembers who was tracked, so that nobody who only gives way seems to end, and nobody who returns seems to begin.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::collect::step::GpuStep;
use crate::model::{Bytes, EventKind, ProcessKey, Untracked};

/// The most processes that are tracked; the smaller ones beyond are counted and summed.
const MOST: usize = 2048;

/// One listed process: its device, and its place in that device's list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) gpu: usize,
    pub(super) at: usize,
}

impl Place {
    pub(super) fn pid(self, gpus: &[GpuStep]) -> u32 {
        gpus[self.gpu].listed()[self.at].pid
    }

    pub(super) fn bytes(self, gpus: &[GpuStep]) -> Option<Bytes> {
        gpus[self.gpu].listed()[self.at].memory.get()
    }

    fn seat(self, gpus: &[GpuStep]) -> Seat {
        (self.gpu, self.pid(gpus))
    }
}

/// Position of a device, and a PID on it.
type Seat = (usize, u32);

/// Who was tracked in the last sample, and who was tracked before and has given way.
#[derive(Default)]
pub(super) struct Tracked {
    now: HashMap<Seat, ProcessKey>,
    aside: HashMap<Seat, ProcessKey>,
}

impl Tracked {
    /// Which listed processes are tracked from now on, and for each device those that are only counted. Of equal ones those stay
    /// that were tracked before.
    pub(super) fn choose(&self, gpus: &[GpuStep]) -> (Vec<Place>, Vec<Untracked>) {
        let places = |(gpu, step): (usize, &GpuStep)| (0..step.listed().len()).map(move |at| Place { gpu, at });
        let mut all: Vec<Place> = gpus.iter().enumerate().flat_map(places).collect();
        let mut untracked = vec![Untracked::default(); gpus.len()];
        if all.len() > MOST {
            all.sort_by_key(|place| (Reverse(place.bytes(gpus)), !self.now.contains_key(&place.seat(gpus))));
            for place in all.drain(MOST..) {
                untracked[place.gpu].add(place.bytes(gpus));
            }
            all.sort_unstable();
        }
        (all, untracked)
    }

    /// Takes the choice as made. Says of each device who has given way though it is still listed, and who is back.
    pub(super) fn settle(&mut self, chosen: &[Place], gpus: &[GpuStep], key: impl Fn(u32) -> ProcessKey) -> Vec<(usize, EventKind)> {
        // A list that cannot be read says nothing of who ended.
        let stays = |(gpu, pid): Seat| !gpus[gpu].is_listed() || gpus[gpu].lists(pid);
        let before = std::mem::take(&mut self.now);
        self.now.extend(chosen.iter().map(|place| place.seat(gpus)).map(|seat| (seat, key(seat.1))));
        let mut moves = Vec::new();
        for (seat, known) in before {
            if self.now.contains_key(&seat) || !stays(seat) {
                continue;
            }
            if gpus[seat.0].is_listed() {
                moves.push((seat, EventKind::Untracked(known)));
                self.aside.insert(seat, known);
            } else {
                self.now.insert(seat, known);
            }
        }
        self.aside.retain(|seat, known| {
            let back = self.now.get(seat);
            if back == Some(known) {
                moves.push((*seat, EventKind::Tracked(*known)));
            }
            back.is_none() && stays(*seat)
        });
        moves.sort_unstable_by_key(|(seat, _)| *seat);
        moves.into_iter().map(|((gpu, _), kind)| (gpu, kind)).collect()
    }
}
