//! How fast the floor of a series moves, per minute. A verdict on it (growing, sawtooth, …) is not drawn here.
//!
//! **What the figure is.** Time is cut into equal slots; the floor of a slot is its lowest value, so what an allocator takes and
//! gives back within a slot is not seen. The figure is the slope of the *longest stretch of slots ending now, of five minutes at most,
//! over which the floor moves steadily*. That is the whole memory of it: the same slots give the same figure, and a load that is
//! over leaves nothing behind but the flat stretch since. A stretch does not reach across a slot without readings.
//!
//! **What is steady.** A stretch is cut in three; the low of a part is its second lowest floor (its lowest if there are fewer than
//! three), so that one dip is no matter. Steady means that the three lows lie on a line, and that the newest floor still does:
//! a rise that has ended, or one that has just begun, is on no line with what was before. Where no stretch of three slots or
//! more is steady the figure is not yet known; it is never guessed from a jump.
//!
//! **Back and forth.** The teeth of a saw can be longer than a slot. What a series has given back before a stretch (its swing) it
//! may give back again: a rise that is not a quarter higher than that, or within two minutes not twice as high, is not believed; the
//! stretches are then measured with play for the swing, and growth below the teeth takes two of them.
//!
//! **Stairs.** A leak of an epoch or a request moves by steps and stands still between them. Two treads, each between two steps the
//! same way, make stairs: their lows may lie a step off the line (of a quarter of its way at most), and a floor that stands still is
//! not believed before it has stood longer than they did.
//!
//! **What it cannot tell.** The first steps of stairs are jumps, with a floor that stands still between them. Of treads longer than
//! 80 s five minutes hold too few: they are stairs now and not known or flat then. The first tooth of a saw is a rise until it falls,
//! as is the end of one that takes three minutes. Noise of more than a slot may lie on a line for a slot or two. The figure is made
//! once a slot, so that one that is over may stand for 15 s.

use crate::history::{Slot, Tier};
use crate::model::{Bytes, Reading};

/// A steady change of the floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloorChange {
    /// In bytes per minute; exactly 0 where the floor stands still.
    pub per_minute: f64,
    /// How long the stretch is over which it was measured, in milliseconds.
    pub over_ms: u64,
}

/// How fast the floor moves, once it is known.
pub type Rate = Reading<FloorChange>;

/// How far back it looks, in milliseconds.
const WINDOW_MS: u64 = 300_000;
/// The most slots of that; rings of 15 s have as many.
const MOST: usize = 20;
/// Two points are always on a line.
const LEAST: usize = 3;
/// As many slots on one line are more than the flank of a tooth if they only rise higher than the last: two minutes of 15 s.
const LONG: usize = 8;
/// How far off its line a low may lie, as a share of the way that the line goes. With a flat part before a rise, that is a slope
/// that is too low by a tenth.
const PLAY: f64 = 0.055;
/// The same for the newest floor, which lies beyond the line's end.
const PLAY_BEYOND: f64 = 0.1;
/// A floor that has moved less than this stands still: contexts and small pools of a driver come and go by some MiB.
const STILL: f64 = 16.0 * Bytes::MIB as f64;
/// Memory that grows by blocks climbs a stair and no line: PyTorch asks for 20 MiB at a time.
const BLOCK: f64 = 24.0 * Bytes::MIB as f64;

/// The change of what a ring holds, of which one unit is `unit`, up to `now_ms`.
///
/// Where one step of the readings is longer than a slot, several slots are taken as one. Steps of more than 100 s are too long
/// to tell a line within the five minutes.
pub fn rate_of<S: Slot>(tier: &Tier<S>, unit: Bytes, now_ms: u64, step_ms: u64) -> Rate {
    let width_ms = slot_for(tier, step_ms);
    let floors = Floors::of(tier, unit, now_ms, width_ms);
    floors.steady().map_or(Reading::NOT_YET, |(per_slot, slots)| {
        let per_minute = per_slot * 60_000.0 / width_ms as f64;
        Reading::Value(FloorChange { per_minute, over_ms: slots as u64 * width_ms })
    })
}

/// The length of the slots that [`rate_of`] takes, in milliseconds: until the next one begins its answer stays the same.
pub fn slot_for<S: Slot>(tier: &Tier<S>, step_ms: u64) -> u64 {
    step_ms.div_ceil(tier.slot_ms()).max(1) * tier.slot_ms()
}

/// The floors of the last slots in bytes.
struct Floors {
    /// Of the slot that is being filled: an upper bound of what it will be.
    open: Option<f64>,
    /// Of those that are full, the newest first, up to the first gap.
    full: Vec<f64>,
}

/// A point of the floor: how many slots ago, and the value.
type Point = (f64, f64);

impl Floors {
    fn of<S: Slot>(tier: &Tier<S>, unit: Bytes, now_ms: u64, width_ms: u64) -> Self {
        let most = usize::try_from(WINDOW_MS / width_ms).unwrap_or(MOST).min(MOST);
        let open = now_ms.saturating_sub(1) / width_ms;
        let mut floors: [Option<f64>; MOST + 1] = [None; MOST + 1];
        for (begin, slot) in tier.slots().rev() {
            let Some(age) = open.checked_sub(begin / width_ms).and_then(|age| usize::try_from(age).ok()) else { continue };
            if age > most {
                break;
            }
            let Some(floor) = slot.range().map(|(low, _)| f64::from(low) * unit.0 as f64) else { continue };
            floors[age] = Some(floors[age].map_or(floor, |low| low.min(floor)));
        }
        Self { open: floors[0], full: floors[1..].iter().map_while(|floor| *floor).collect() }
    }

    /// Slope per slot of the longest steady stretch, and how many slots it has.
    fn steady(&self) -> Option<(f64, usize)> {
        let count = self.full.len();
        let lengths = || (LEAST..=count).rev();
        let clean = lengths().find_map(|slots| {
            let line = Line::through(self, slots)?;
            if !(line.is_straight(0.0) && self.goes_on(&line, 0.0, 0.0)) {
                return None;
            }
            if line.is_level(0.0) {
                return (slots > self.treads(slots - 1, count).longest).then_some((0.0, slots));
            }
            let tooth = self.swing(slots - 1, count);
            let believed = self.swing(0, slots) <= line.way() / 4.0 && tooth <= line.way() / (if slots >= LONG { 1.25 } else { 2.0 });
            (believed && self.lies_on(&line, slots)).then(|| (self.median_slope(slots, if line.is_stair { slots / 2 } else { 1 }), slots))
        });
        clean.or_else(|| {
            lengths().take_while(|slots| *slots >= (2 * LEAST).max(count * 2 / 3)).find_map(|slots| {
                let line = Line::through(self, slots)?;
                let swing = self.swing(0, slots);
                let is_level = line.is_level(swing / 3.0);
                let holds = is_level || (line.way() > swing / 2.0 && self.falls(slots, swing / 2.0) > 1 && line.is_straight(swing / 8.0));
                (swing > STILL && holds && self.goes_on(&line, swing, swing / 4.0))
                    .then(|| (if is_level { 0.0 } else { self.median_slope(slots, slots / 2) }, slots))
            })
        })
    }

    /// The newest so many.
    fn points(&self, slots: usize) -> impl Iterator<Item = Point> + '_ {
        self.full[..slots].iter().enumerate().map(|(age, floor)| (age as f64, *floor))
    }

    /// How far the floor went both up and down between two ages: the smaller of the largest rise and the largest fall.
    fn swing(&self, from: usize, to: usize) -> f64 {
        let (mut low, mut high, mut rise, mut fall) = (f64::INFINITY, f64::NEG_INFINITY, 0.0_f64, 0.0_f64);
        for floor in self.full[from..to].iter().rev() {
            (low, high) = (low.min(*floor), high.max(*floor));
            (rise, fall) = (rise.max(floor - low), fall.max(high - floor));
        }
        rise.min(fall)
    }

    /// How often the newest floors fell by that much: one fall does not tell the flank of the next tooth from growth below teeth.
    fn falls(&self, slots: usize, depth: f64) -> usize {
        let (mut high, mut falls) = (f64::NEG_INFINITY, 0);
        for floor in self.full[..slots].iter().rev() {
            if high - floor >= depth {
                (high, falls) = (*floor, falls + 1);
            }
            high = high.max(*floor);
        }
        falls
    }

    /// The treads of the stairs between two ages.
    fn treads(&self, from: usize, to: usize) -> Treads {
        let mut treads = Treads::default();
        let (mut stood, mut way) = (0, 0.0);
        for pair in self.full[from..to].windows(2) {
            stood += 1;
            let step = pair[0] - pair[1];
            if step.abs() <= STILL / 4.0 {
                continue;
            }
            if way == 0.0 {
                treads.newest = stood;
            } else if stood > 1 && step * way > 0.0 {
                (treads.count, treads.longest) = (treads.count + 1, treads.longest.max(stood));
            }
            (stood, way) = (0, step);
            treads.highest = [treads.highest[0].max(step.abs()), treads.highest[1].max(treads.highest[0].min(step.abs()))];
        }
        treads
    }

    /// Whether three in four of the floors are on the line: three lows of a bend may be.
    fn lies_on(&self, line: &Line, slots: usize) -> bool {
        let off = self.points(slots).filter(|(age, floor)| (floor - line.at(*age)).abs() > line.play(PLAY_BEYOND)).count();
        4 * off <= slots
    }

    /// Whether the newest floors are where the line leads: below it by no more than `play`, above it by no more than `above` beside.
    ///
    /// The open slot can only go lower, so that it tells already that a rise is over; above the line it tells nothing yet.
    fn goes_on(&self, line: &Line, above: f64, play: f64) -> bool {
        let play = play + line.play(PLAY_BEYOND);
        let low_enough = |floor: f64, age: f64| floor <= line.at(age) + above + play;
        let high_enough = |floor: f64, age: f64| floor >= line.at(age) - play;
        // What was read before a gap tells nothing of now.
        let (Some(open), Some(full)) = (self.open, self.full.first().copied()) else { return false };
        high_enough(open, -1.0) && (low_enough(open, -1.0) || (high_enough(full, 0.0) && low_enough(full, 0.0)))
    }

    /// The median of the slopes between every two floors (Theil and Sen): up to three in ten of them may lie anywhere.
    ///
    /// `apart` is how far they are from each other at least: two on one tooth tell nothing of the floor.
    fn median_slope(&self, slots: usize, apart: usize) -> f64 {
        let mut slopes = [0.0; MOST * (MOST - 1) / 2];
        let mut count = 0;
        for (age, floor) in self.points(slots) {
            for (older, before) in self.points(slots).filter(|(older, _)| *older >= age + apart as f64) {
                slopes[count] = (floor - before) / (older - age);
                count += 1;
            }
        }
        let slopes = &mut slopes[..count];
        let middle = count / 2;
        if count == 0 { 0.0 } else { *slopes.select_nth_unstable_by(middle, f64::total_cmp).1 }
    }
}

/// Where a floor stands still between two steps the same way.
#[derive(Default)]
struct Treads {
    count: usize,
    /// In slots.
    longest: usize,
    /// For how many slots the floor has stood still now.
    newest: usize,
    /// The two highest steps, in bytes.
    highest: [f64; 2],
}

impl Treads {
    /// Whether it goes up or down by them, up to now. A step more than twice as high as all others is a jump.
    fn are_stairs(&self) -> bool {
        self.count > 1 && self.newest <= self.longest && self.highest[0] <= 2.0 * self.highest[1]
    }
}

/// The lows of the three parts of a stretch, and the line from the first to the last.
struct Line {
    first: Point,
    middle: Point,
    last: Point,
    /// How far off it what grows by blocks may lie: a step of its stairs and a quarter of its way at most, else a block and a tenth.
    block: f64,
    is_stair: bool,
}

impl Line {
    fn through(floors: &Floors, slots: usize) -> Option<Self> {
        let part = slots / 3;
        let low = |from: usize, to: usize| low_of(from, &floors.full[from..to]);
        let (first, middle, last) = (low(slots - part, slots)?, low(part, slots - part)?, low(0, part)?);
        let way = (last.1 - first.1).abs();
        let stairs = (slots >= LONG).then(|| floors.treads(0, slots)).filter(Treads::are_stairs);
        let block = stairs.as_ref().map_or_else(|| BLOCK.min(way / 10.0), |stairs| stairs.highest[0].min(way / 4.0));
        Some(Self { first, middle, last, block, is_stair: stairs.is_some() })
    }

    /// Change per slot.
    fn slope(&self) -> f64 {
        (self.last.1 - self.first.1) / (self.first.0 - self.last.0)
    }

    /// How far it goes.
    fn way(&self) -> f64 {
        (self.last.1 - self.first.1).abs()
    }

    /// Its value so many slots ago.
    fn at(&self, age: f64) -> f64 {
        self.first.1 + self.slope() * (self.first.0 - age)
    }

    /// How far off it a floor may lie: a share of its way, or a block where that is more; and a little for what contexts take.
    fn play(&self, share: f64) -> f64 {
        (STILL / 4.0).min(self.way() / 20.0) + (self.way() * share).max(self.block)
    }

    fn is_straight(&self, play: f64) -> bool {
        self.is_level(play) || (self.middle.1 - self.at(self.middle.0)).abs() <= play + self.play(PLAY)
    }

    /// Whether no low is far from another.
    fn is_level(&self, play: f64) -> bool {
        let lows = [self.first.1, self.middle.1, self.last.1];
        let (low, high) = lows.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
        high - low <= play + STILL
    }
}

/// The second lowest floor of a part, or the lowest of less than three; the oldest where several are equal.
fn low_of(from: usize, part: &[f64]) -> Option<Point> {
    let mut points = part.iter().enumerate().rev().map(|(at, floor)| ((from + at) as f64, *floor));
    let mut lowest = points.next()?;
    let mut second: Option<Point> = None;
    for point in points {
        if point.1 < lowest.1 {
            second = Some(lowest);
            lowest = point;
        } else if second.is_none_or(|second| point.1 < second.1) {
            second = Some(point);
        }
    }
    if part.len() < 3 { Some(lowest) } else { second }
}

#[cfg(test)]
mod tests;
