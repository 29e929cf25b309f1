//! How fast the floor of a series moves. A verdict on it (growing, sawtooth, …) is not drawn here.

use crate::history::{Slot, Tier};
use crate::model::Reading;

/// A shorter stretch says nothing about a minute.
const LEAST_MS: u64 = 60_000;

/// Change of the floor, in the unit of the series per minute.
pub type Rate = Reading<f64>;

/// How fast the floor moved over the last `window_ms`, said only as far as two stretches of it agree.
///
/// The window is cut in three; the change from the lowest value of one part to that of the next is one stretch. Where the two
/// stretches have one sign the smaller counts, else there is no change: one jump (a start, a release), a spike, or the teeth
/// of a saw that are shorter than a part are no growth. Not yet known before a minute is covered; the newest slot is still
/// being filled and is left out.
pub fn rate_of<S: Slot>(tier: &Tier<S>, now_ms: u64, window_ms: u64) -> Rate {
    let newest = now_ms / tier.slot_ms() * tier.slot_ms();
    let from = now_ms.saturating_sub(window_ms);
    let closed = tier.slots().rev().skip_while(|(begin, _)| *begin >= newest).take_while(|(begin, _)| *begin >= from);
    let floor: Vec<(u64, u32)> = closed.filter_map(|(begin, slot)| Some((begin, slot.range()?.0))).collect();
    if floor.last().is_none_or(|(oldest, _)| newest - oldest < LEAST_MS) {
        return Reading::NOT_YET;
    }
    let mut parts = floor.chunks_exact((floor.len() / 3).max(1)).filter_map(lowest);
    let (Some(last), Some(middle), Some(first)) = (parts.next(), parts.next(), parts.next()) else {
        return Reading::NOT_YET;
    };
    let (before, after) = (slope(first, middle), slope(middle, last));
    Reading::Value(if before * after <= 0.0 {
        0.0
    } else if before.abs() < after.abs() {
        before
    } else {
        after
    })
}

/// When a part (newest slot first) begins, and its lowest value.
fn lowest(part: &[(u64, u32)]) -> Option<(u64, u32)> {
    let (begin, _) = *part.last()?;
    Some((begin, part.iter().map(|(_, low)| *low).min()?))
}

/// Change per minute from one part to the next.
fn slope((early, low): (u64, u32), (late, high): (u64, u32)) -> f64 {
    (f64::from(high) - f64::from(low)) * 60_000.0 / late.saturating_sub(early).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::ProcessHistory;
    use crate::model::Bytes;

    fn history(seconds: u64, value: impl Fn(u64) -> Bytes) -> ProcessHistory {
        let mut history = ProcessHistory::new();
        for s in 0..seconds {
            history.push(s * 1000, (s + 1) * 1000, value(s), value(s));
        }
        history
    }

    fn mib_per_minute(history: &ProcessHistory, seconds: u64) -> Option<f64> {
        rate_of(&history.hour, seconds * 1000, 300_000).get().map(|units| units / 16.0)
    }

    #[test]
    fn a_ramp_has_its_slope() {
        // 6 MiB a second is 360 MiB a minute.
        let rate = mib_per_minute(&history(300, |s| Bytes::mib(1000 + 6 * s)), 300).expect("known");
        assert!((rate - 360.0).abs() < 1.0, "{rate}");
    }

    #[test]
    fn a_spike_is_no_growth() {
        let spiky = history(300, |s| if s % 20 == 7 { Bytes::gib(9) } else { Bytes::gib(2) });
        assert_eq!(mib_per_minute(&spiky, 300), Some(0.0));
    }

    #[test]
    fn a_start_is_no_growth() {
        // Loaded within 20 s, then flat.
        let started = history(300, |s| if s < 20 { Bytes::mib(s * 1000) } else { Bytes::gib(60) });
        assert_eq!(mib_per_minute(&started, 300), Some(0.0));
    }

    #[test]
    fn the_teeth_of_a_saw_are_no_growth() {
        // 97 s from one fall to the next, 10 GiB deep; the floor is met in slots of 15 s, so it is not met exactly.
        let saw = history(300, |s| Bytes::mib(50_000 + s % 97 * 100));
        let rate = mib_per_minute(&saw, 300).expect("known");
        assert!(rate.abs() < 500.0, "{rate}");
        let growing = history(300, |s| Bytes::mib(50_000 + s % 97 * 100 + 50 * s));
        let rate = mib_per_minute(&growing, 300).expect("known");
        assert!((2500.0..=3500.0).contains(&rate), "{rate}");
    }

    #[test]
    fn it_is_not_yet_known_within_the_first_minute() {
        assert_eq!(mib_per_minute(&history(59, Bytes::mib), 59), None);
    }
}
