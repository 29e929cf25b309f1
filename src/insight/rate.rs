//! How fast the floor of a series moves. A verdict on it (growing, sawtooth, …) is not drawn here.

use crate::history::{Slot, Tier};
use crate::model::Reading;

/// A shorter stretch says nothing about a minute.
const LEAST_MS: u64 = 60_000;

/// Change of the floor, in the unit of the series per minute.
pub type Rate = Reading<f64>;

/// The slope of the slots' lowest values over the last `window_ms`, by least squares.
///
/// Not yet known before a minute is covered. The newest slot is still being filled and is left out.
/// The floor is taken so that a spike, or the working memory of one training step, is no growth.
pub fn rate_of<S: Slot>(tier: &Tier<S>, now_ms: u64, window_ms: u64) -> Rate {
    let newest = now_ms / tier.slot_ms() * tier.slot_ms();
    let from = now_ms.saturating_sub(window_ms);
    let mut oldest = newest;
    let (mut n, mut sx, mut sy, mut sxx, mut sxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (begin, slot) in tier.slots().rev() {
        if begin >= newest {
            continue;
        }
        if begin < from {
            break;
        }
        let Some((min, _)) = slot.range() else { continue };
        oldest = begin;
        // Minutes before now keep the figures small.
        let x = (begin as f64 - now_ms as f64) / 60_000.0;
        let y = f64::from(min);
        n += 1.0;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    let spread = n * sxx - sx * sx;
    if newest - oldest < LEAST_MS || spread <= 0.0 {
        return Reading::NOT_YET;
    }
    Reading::Value((n * sxy - sx * sy) / spread)
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
    fn it_is_not_yet_known_within_the_first_minute() {
        assert_eq!(mib_per_minute(&history(59, Bytes::mib), 59), None);
    }
}
