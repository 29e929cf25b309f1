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
//! **Stairs.** At least three steps, none of them more than half of all, with flat slots between, are a stair while it goes on: its
//! last step is no longer ago than the mean distance between them, or than twice that and a slot if it is longer than two minutes.
//! Its figure is what its steps rose after the first, by the time from the first to the last. After a fall it begins anew, above
//! the highest floor that was there.
//!
//! **Back and forth.** The teeth of a saw can be longer than a slot. What a series has given back before a stretch (its swing) it
//! may give back again: a rise that is no higher than that, or within two minutes not twice as high, is not believed. The stretches
//! are then measured with play for the swing, and what grows below the teeth has fallen at least twice.
//!
//! **Noise.** Floors that are scattered around a slope lead nowhere unless it goes several times as far as that.
//!
//! **What it cannot tell.** A stair is flat between its first steps, and one of more than two minutes goes on for some slots after
//! its last. The first tooth of a saw is a rise until it falls, as is the end of one that takes three minutes. Noise may lie on a
//! line by chance for a slot or two.

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
/// Floors that are scattered on a line of less than two minutes: how many times as far as that it must lead, as three or four
/// of them lie on a line by chance.
const CLEAR: f64 = 8.0;
/// The same for longer ones: what leads less far stands still.
const CLEAR_LONG: f64 = 3.0;
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
    /// Of those that are full, the newest first.
    full: [Option<f64>; MOST],
    /// How many of them there are up to the first gap.
    count: usize,
}

/// A point of the floor: how many slots ago, and the value.
type Point = (f64, f64);

impl Floors {
    fn of<S: Slot>(tier: &Tier<S>, unit: Bytes, now_ms: u64, width_ms: u64) -> Self {
        let mut floors = Self { open: None, full: [None; MOST], count: 0 };
        let most = usize::try_from(WINDOW_MS / width_ms).unwrap_or(MOST).min(MOST);
        let open = now_ms.saturating_sub(1) / width_ms;
        for (begin, slot) in tier.slots().rev() {
            let Some(age) = open.checked_sub(begin / width_ms).and_then(|age| usize::try_from(age).ok()) else { continue };
            if age > most {
                break;
            }
            let Some(floor) = slot.range().map(|(low, _)| f64::from(low) * unit.0 as f64) else { continue };
            let place = if age == 0 { &mut floors.open } else { &mut floors.full[age - 1] };
            *place = Some(place.map_or(floor, |low: f64| low.min(floor)));
        }
        floors.count = floors.full.iter().take_while(|floor| floor.is_some()).count();
        floors
    }

    /// Slope per slot of the longest steady stretch, and how many slots it has.
    fn steady(&self) -> Option<(f64, usize)> {
        let line = self.line();
        // A flat part of a stair is level, and so are three slots on its flank a line.
        let stair = self.stair().filter(|(_, slots)| line.is_none_or(|(slope, on_line)| slope == 0.0 || on_line < *slots));
        stair.or(line).or_else(|| self.below_teeth())
    }

    /// The longest stretch on one line, or level.
    fn line(&self) -> Option<(f64, usize)> {
        (LEAST..=self.count).rev().find_map(|slots| {
            let line = Line::through(self, slots)?;
            if !(line.is_straight(0.0) && self.goes_on(&line, 0.0, 0.0)) {
                return None;
            }
            if line.is_level(0.0) {
                return Some((0.0, slots));
            }
            let tooth = self.swing(slots - 1, self.count);
            let believed = self.swing(0, slots) <= line.way() / 4.0 && tooth <= line.way() / (if slots >= LONG { 1.0 } else { 2.0 });
            if !(believed && self.lies_on(&line, slots) && (tooth <= STILL || self.is_beyond(&line, slots)) && !self.comes_back(&line, slots)) {
                return None;
            }
            let slope = self.median_slope(slots, 1);
            let times = slope.abs() * slots as f64 / self.scatter(slope, slots);
            match slots {
                ..LONG => (times > CLEAR).then_some((slope, slots)),
                _ => Some((if times > CLEAR_LONG { slope } else { 0.0 }, slots)),
            }
        })
    }

    /// Whether the newest floor is higher, or lower, than all before a stretch can have been: at most a slot's way was not seen.
    fn is_beyond(&self, line: &Line, slots: usize) -> bool {
        let (low, high) = range(self.full[slots..self.count].iter().flatten().copied());
        let unseen = STILL + 2.0 * line.slope().abs();
        self.full[0].is_some_and(|newest| newest > high + unseen || newest < low - unseen)
    }

    /// Whether a short stretch begins with a fall, or a rise, of which it only goes part of the way back.
    fn comes_back(&self, line: &Line, slots: usize) -> bool {
        let before = self.full[slots..self.count].first().copied().flatten();
        let back = |before: f64| (before - line.first.1) * line.slope().signum();
        slots < LONG && before.is_some_and(|before| back(before) > STILL.max(line.way() / 2.0))
    }

    /// How far apart the floors are around a slope.
    fn scatter(&self, slope: f64, slots: usize) -> f64 {
        let (low, high) = range(self.full[..slots].iter().enumerate().filter_map(|(age, floor)| Some((*floor)? + slope * age as f64)));
        high - low
    }

    /// The longest stretch that is level, or on one line, with play for what goes back and forth.
    fn below_teeth(&self) -> Option<(f64, usize)> {
        (2 * LEAST..=self.count).rev().take_while(|slots| *slots >= self.count * 2 / 3).find_map(|slots| {
            let line = Line::through(self, slots)?;
            let swing = self.swing(0, slots);
            let teeth = self.teeth(slots, swing / 2.0);
            let (low, _) = range(self.full[..slots].iter().flatten().copied());
            let stays = || {
                let newest = self.open.map(|open| (open, self.full[0].map_or(open, |full| full.min(open))));
                newest.is_some_and(|(open, lower)| open >= low - swing / 4.0 && lower <= low + swing * 1.25 + STILL)
            };
            let slope = self.median_slope(slots, slots / 2);
            if swing <= STILL {
                None
            } else if line.is_level(swing / 3.0) && stays() {
                Some((0.0, slots))
            } else if line.way() > swing / 2.0 && line.is_straight(swing / 8.0) && teeth.count > 1 && slope.abs() * slots as f64 > swing {
                self.goes_on(&line, swing, swing / 4.0).then_some((slope, slots))
            } else {
                let is_level = teeth.count > 1 && (teeth.spread <= swing / 5.0 || slope.abs() * slots as f64 <= swing / 2.0);
                (is_level && stays()).then_some((0.0, slots))
            }
        })
    }

    /// How often the floor fell by so much, and how far apart the lows after that are.
    fn teeth(&self, slots: usize, by: f64) -> Teeth {
        let mut lows = [f64::INFINITY; MOST];
        let (mut high, mut count) = (f64::NEG_INFINITY, 0);
        for floor in self.full[..slots].iter().rev().flatten() {
            if high - floor >= by {
                (high, count) = (*floor, count + 1);
            }
            high = high.max(*floor);
            if count > 0 {
                lows[count - 1] = lows[count - 1].min(*floor);
            }
        }
        let (low, high) = range(lows[..count].iter().copied());
        Teeth { count, spread: high - low }
    }

    /// The slope of a stair that is still being climbed, from its first step to its last, and how many slots it has.
    fn stair(&self) -> Option<(f64, usize)> {
        let (mut steps, mut count) = ([(0, 0.0, 0.0); MOST], 0);
        let mut top = self.full[self.count.checked_sub(1)?]?;
        for (age, floor) in self.full[..self.count].iter().enumerate().rev().filter_map(|(age, floor)| Some((age, (*floor)?))) {
            if floor > top + STILL {
                steps[count] = (age, floor - top, floor);
                count += 1;
            } else if floor < top - STILL {
                // What was given back may be taken again.
                count = 0;
            }
            top = top.max(floor);
        }
        let open = self.open?;
        let steps = &steps[..count];
        (0..count).find_map(|from| {
            let largest = steps[from..].iter().map(|(_, rise, _)| *rise).fold(0.0, f64::max);
            let mut steps = steps[from..].iter().filter(|(_, rise, _)| *rise >= largest / 4.0);
            let sum: f64 = steps.clone().map(|(_, rise, _)| rise).sum();
            let count = steps.clone().count();
            let (first, _, bottom) = *steps.next()?;
            let (last, _, top) = *steps.next_back()?;
            if count < 3 || largest > sum / 2.0 || open < top - STILL {
                return None;
            }
            let span = first - last;
            let between = span as f64 / (count - 1) as f64;
            // The next step may be in the open slot, if that is higher yet.
            let waited = last + if open > top + largest / 8.0 { 1 } else { 2 };
            let patience = if span > LONG { (2.0 * between).floor() + 1.0 } else { between.ceil() };
            (span >= count && waited as f64 <= patience).then(|| ((top - bottom) / span as f64, first + 1))
        })
    }

    /// How far the floor went both up and down between two ages: the smaller of the largest rise and the largest fall.
    fn swing(&self, from: usize, to: usize) -> f64 {
        let (mut low, mut high, mut rise, mut fall) = (f64::INFINITY, f64::NEG_INFINITY, 0.0_f64, 0.0_f64);
        for floor in self.full[from..to].iter().rev().flatten() {
            (low, high) = (low.min(*floor), high.max(*floor));
            (rise, fall) = (rise.max(floor - low), fall.max(high - floor));
        }
        rise.min(fall)
    }

    /// Whether three in four of the floors are on the line: three lows of a bend may be.
    fn lies_on(&self, line: &Line, slots: usize) -> bool {
        let floors = || self.full[..slots].iter().enumerate().filter_map(|(age, floor)| Some((age as f64, (*floor)?)));
        let off = floors().filter(|(age, floor)| (floor - line.at(*age)).abs() > line.play(PLAY_BEYOND)).count();
        4 * off <= floors().count()
    }

    /// Whether the newest floors are where the line leads: below it by no more than `play`, above it by no more than `above` beside.
    ///
    /// The open slot can only go lower, so it tells at once that a rise is over; above the line it tells nothing yet.
    fn goes_on(&self, line: &Line, above: f64, play: f64) -> bool {
        let play = play + line.play(PLAY_BEYOND);
        let low_enough = |floor: f64, age: f64| floor <= line.at(age) + above + play;
        let high_enough = |floor: f64, age: f64| floor >= line.at(age) - play;
        match (self.full[0], self.open) {
            (Some(full), Some(open)) => high_enough(open, -1.0) && (low_enough(open, -1.0) || (high_enough(full, 0.0) && low_enough(full, 0.0))),
            // What was read before a gap tells nothing of now.
            (None, _) | (_, None) => false,
        }
    }

    /// The median of the slopes between every two floors (Theil and Sen): up to three in ten of them may lie anywhere.
    ///
    /// `apart` is how far they are from each other at least: two on one tooth tell nothing of the floor.
    fn median_slope(&self, slots: usize, apart: usize) -> f64 {
        let mut slopes = [0.0; MOST * (MOST - 1) / 2];
        let mut count = 0;
        let points = || self.full[..slots].iter().enumerate().filter_map(|(age, floor)| Some((age as f64, (*floor)?)));
        for (age, floor) in points() {
            for (older, before) in points().filter(|(older, _)| *older >= age + apart as f64) {
                slopes[count] = (floor - before) / (older - age);
                count += 1;
            }
        }
        let slopes = &mut slopes[..count];
        let middle = count / 2;
        if count == 0 { 0.0 } else { *slopes.select_nth_unstable_by(middle, f64::total_cmp).1 }
    }
}

/// What is taken and given back, again and again.
struct Teeth {
    count: usize,
    spread: f64,
}

/// The lowest and the highest.
fn range(floors: impl Iterator<Item = f64>) -> (f64, f64) {
    floors.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), floor| (low.min(floor), high.max(floor)))
}

/// The lows of the three parts of a stretch, and the line from the first to the last.
struct Line {
    first: Point,
    middle: Point,
    last: Point,
}

impl Line {
    fn through(floors: &Floors, slots: usize) -> Option<Self> {
        let part = slots / 3;
        let low = |from: usize, to: usize| low_of(from, &floors.full[from..to]);
        Some(Self { first: low(slots - part, slots)?, middle: low(part, slots - part)?, last: low(0, part)? })
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

    /// How far off it a floor may lie: a share of its way, or a block where that is more, but never more than a fifth of it.
    fn play(&self, share: f64) -> f64 {
        STILL / 4.0 + (self.way() * share).max(BLOCK.min(self.way() / 5.0))
    }

    fn is_straight(&self, play: f64) -> bool {
        self.is_level(play) || (self.middle.1 - self.at(self.middle.0)).abs() <= play + self.play(PLAY)
    }

    /// Whether no low is far from another.
    fn is_level(&self, play: f64) -> bool {
        let (low, high) = range([self.first.1, self.middle.1, self.last.1].into_iter());
        high - low <= play + STILL
    }
}

/// The second lowest floor of a part, or the lowest of less than three; the oldest where several are equal.
fn low_of(from: usize, part: &[Option<f64>]) -> Option<Point> {
    let mut points = part.iter().enumerate().rev().filter_map(|(at, floor)| Some(((from + at) as f64, (*floor)?)));
    let mut lowest = points.next()?;
    let mut second: Option<Point> = None;
    let mut count = 1;
    for point in points {
        count += 1;
        if point.1 < lowest.1 {
            second = Some(lowest);
            lowest = point;
        } else if second.is_none_or(|second| point.1 < second.1) {
            second = Some(point);
        }
    }
    if count < 3 { Some(lowest) } else { second }
}

#[cfg(test)]
mod tests;
