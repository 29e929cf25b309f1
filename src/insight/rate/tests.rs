//! The figure over series whose change is known: by hand, minute by minute, and over many that are made by chance.
#![expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds and sizes of a card are small and positive")]

use proptest::prelude::*;

use super::*;
use crate::history::{GpuHistory, ProcessHistory};
use crate::model::{Bytes, Lane, LanePoint};

const UNIT: Bytes = Bytes(64 * Bytes::KIB);

/// The figures of a process in GiB per minute, as a dashboard would say them after each step of `step` seconds.
fn said(seconds: u64, step: u64, gib: impl Fn(f64) -> Option<f64>) -> Vec<(u64, Option<f64>)> {
    let mut history = ProcessHistory::new();
    let (mut rate, mut until_ms) = (None, 0);
    let mut all = Vec::new();
    for end in (step..=seconds).step_by(usize::try_from(step).expect("small")) {
        // Four readings a second; without one in the whole step there is a gap.
        let read: Vec<f64> = ((end - step) * 4..end * 4).filter_map(|quarter| gib(quarter as f64 / 4.0)).collect();
        let bytes = |gib: f64| Bytes((gib * Bytes::GIB as f64) as u64);
        if !read.is_empty() {
            let low = read.iter().copied().fold(f64::INFINITY, f64::min);
            let high = read.iter().copied().fold(0.0, f64::max);
            history.push((end - step) * 1000, end * 1000, bytes(low), bytes(high));
        }
        if end * 1000 > until_ms {
            rate = rate_of(&history.hour, UNIT, end * 1000, step * 1000).get();
            until_ms = (end * 1000).next_multiple_of(slot_for(&history.hour, step * 1000));
        }
        all.push((end, rate.map(|change: FloorChange| change.per_minute / Bytes::GIB as f64)));
    }
    all
}

/// What was said, as runs: from which second on, and the figure to one decimal.
fn runs(said: &[(u64, Option<f64>)]) -> Vec<(u64, String)> {
    let word = |rate: Option<f64>| rate.map_or_else(|| "—".to_owned(), |rate| format!("{:.2}", rate + 0.0));
    let mut runs: Vec<(u64, String)> = Vec::new();
    for (at, rate) in said {
        if runs.last().is_none_or(|(_, last)| *last != word(*rate)) {
            runs.push((*at, word(*rate)));
        }
    }
    runs
}

fn ramp(from: f64, to: f64, start: f64, end: f64) -> impl Fn(f64) -> Option<f64> {
    move |s| Some(from + (to - from) * ((s - start) / (end - start)).clamp(0.0, 1.0))
}

fn check(said: &[(u64, Option<f64>)], wanted: &[(u64, &str)]) {
    let runs = runs(said);
    let runs: Vec<(u64, &str)> = runs.iter().map(|(at, figure)| (*at, figure.as_str())).collect();
    assert_eq!(runs, wanted);
}

/// From `from` to `to` the figure is known, and no more than a tenth off.
fn is_said(said: &[(u64, Option<f64>)], from: u64, to: u64, wanted: f64) -> Result<(), String> {
    let wrong =
        said.iter().filter(|(at, _)| (from..=to).contains(at)).find(|(_, rate)| rate.is_none_or(|rate| (rate - wanted).abs() > wanted.abs() / 10.0));
    wrong.map_or(Ok(()), |wrong| Err(format!("{wanted} is wanted, {wrong:?} was said: {:?}", runs(said))))
}

/// Slots are of 15 s, three make a line, and a figure is made with the first step of the next slot.
#[test]
fn a_load_is_a_rise_while_it_lasts_and_nothing_after() {
    // 80 GiB a minute for 45 s: over before there are three slots within it. The first flat ones are those from 60 on.
    check(&said(600, 1, ramp(1.0, 61.0, 5.0, 50.0)), &[(1, "—"), (106, "0.00")]);
    // 45 GiB a minute for 80 s: the slots from 60 on are its first three, those from 150 on the first that are flat.
    let known = [(1, "—"), (46, "0.00"), (91, "—"), (106, "45.00"), (151, "—"), (196, "0.00")];
    check(&said(600, 1, ramp(1.0, 61.0, 60.0, 140.0)), &known);
    let each_5_s = [(5, "—"), (50, "0.00"), (95, "—"), (110, "45.00"), (155, "—"), (200, "0.00")];
    check(&said(600, 5, ramp(1.0, 61.0, 60.0, 140.0)), &each_5_s);
    // A warm-up in steps of 5 GiB, a minute long.
    check(&said(600, 1, |s| Some((s / 10.0).floor().min(6.0) * 5.0)), &[(1, "—"), (106, "0.00")]);
    // Read at the end of each slot, a fall is a quarter of a second short of its slots.
    let fall = said(600, 1, ramp(61.0, 1.0, 60.0, 140.0));
    assert_eq!(is_said(&fall, 106, 165, -45.0), Ok(()));
    assert_eq!(is_said(&fall, 181, 600, 0.0), Ok(()));
}

#[test]
fn a_jump_is_no_growth() {
    check(&said(900, 1, |s| Some(if s < 400.0 { 5.0 } else { 25.0 })), &[(1, "—"), (46, "0.00"), (421, "—"), (451, "0.00")]);
    // A job that ends at once, and the next that loads from 330 to 410 s.
    let restart = said(900, 1, |s| Some(if s < 300.0 { 61.0 } else { 1.0 + (s - 330.0).clamp(0.0, 80.0) * 0.75 }));
    check(&restart, &[(1, "—"), (46, "0.00"), (301, "—"), (346, "0.00"), (361, "—"), (376, "45.00"), (421, "—"), (466, "0.00")]);
    // 60 GiB in a minute, 5 of which were only needed for that.
    let loaded = said(600, 1, |s| {
        Some(if s < 60.0 {
            s
        } else if s < 70.0 {
            60.0
        } else {
            55.0
        })
    });
    check(&loaded, &[(1, "—"), (46, "60.00"), (76, "—"), (106, "0.00")]);
}

#[test]
fn a_slow_leak_is_seen_below_the_teeth_of_a_saw() {
    // 10 GiB up and down each 4 s, and 0.05 GiB a minute.
    check(&said(900, 1, |s| Some(30.0 + s % 4.0 * 2.5 + 0.05 * s / 60.0)), &[(1, "—"), (46, "0.05")]);
    // 0.1 GiB a minute in PyTorch's segments of 20 MiB: the first two minutes have too few of them for a second digit.
    let by_segments = said(900, 1, |s| Some((10_240.0 + (s / 600.0 * 1024.0 / 20.0).floor() * 20.0) / 1024.0));
    assert_eq!(is_said(&by_segments, 136, 900, 0.1), Ok(()));
}

#[test]
fn long_teeth_are_no_growth_once_they_have_fallen() {
    // 97 s from one fall to the next. The first tooth is a rise of 6 GiB a minute like any other.
    check(&said(900, 1, |s| Some(30.0 + s % 97.0 * 0.1)), &[(1, "—"), (46, "6.00"), (106, "—"), (211, "0.00")]);
    // On a floor that rises by 3 GiB a minute; where it is met within its slots is left to chance.
    let growing = said(900, 1, |s| Some(30.0 + s % 97.0 * 0.1 + s * 0.05));
    assert!(growing.iter().skip(210).all(|(_, rate)| rate.is_some_and(|rate| (2.3..=3.5).contains(&rate))), "{:?}", runs(&growing));
}

/// A step a minute: the second tread ends at 180 s, and the slot after it is full at 195.
#[test]
fn stairs_are_growth_once_two_of_their_treads_are_known() {
    check(&said(900, 1, |s| Some(5.0 + (s / 60.0).floor() * 0.5)), &[(1, "—"), (46, "0.00"), (76, "—"), (106, "0.00"), (136, "—"), (196, "0.50")]);
    for period in [20.0, 30.0, 40.0, 45.0, 60.0, 75.0] {
        for step in [0.1, 1.0, -1.0] {
            let stairs = said(900, 1, |s| Some(60.0 + step * (s / period).floor()));
            assert_eq!(is_said(&stairs, 256, 900, step * 60.0 / period), Ok(()), "{step} each {period} s");
        }
    }
}

/// 0.6 GiB a minute by steps of 0.3, and more than three steps at once beside them.
#[test]
fn a_jump_among_stairs_is_no_growth() {
    for jump in [1.0, 2.0, 3.0, 10.0] {
        let series = said(900, 1, |s| Some(20.0 + 0.3 * (s / 30.0).floor() + if s < 410.0 { 0.0 } else { jump }));
        assert_eq!(is_said(&series, 256, 400, 0.6), Ok(()), "before {jump}");
        let wrong = series.iter().find(|(at, rate)| *at > 425 && rate.is_some_and(|rate| !(0.5..0.75).contains(&rate)));
        assert!(wrong.is_none(), "{jump}: {wrong:?} {:?}", runs(&series));
    }
}

/// A tread of a minute is no end of its stairs; two slots more are one.
#[test]
fn stairs_end_with_the_first_longer_tread() {
    let ended = said(900, 1, |s| Some(5.0 + (s.min(540.0) / 60.0).floor() * 0.5));
    assert_eq!(is_said(&ended, 196, 600, 0.5), Ok(()));
    assert_eq!(is_said(&ended, 646, 900, 0.0), Ok(()));
}

#[test]
fn no_stretch_reaches_across_a_gap() {
    // Nothing from 200 to 320 s: the first slot without readings is that from 210 on, and 315 is the begin of the first three after it,
    // which are on no line, as it is read for 10 s only.
    let gap = said(900, 1, |s| (!(200.0..320.0).contains(&s)).then_some(5.0 + s / 60.0));
    check(&gap, &[(1, "—"), (46, "1.00"), (211, "—"), (376, "1.00")]);
    let flat = said(300, 1, |s| (!(60.0..105.0).contains(&s)).then_some(10.0));
    check(&flat, &[(1, "—"), (46, "0.00"), (61, "—"), (151, "0.00")]);
}

#[test]
fn a_process_that_came_just_now_has_no_change() {
    let came = said(400, 1, |s| (s >= 300.0).then_some(20.0));
    assert!(came.iter().all(|(at, rate)| *at >= 346 || rate.is_none()));
    assert_eq!(is_said(&came, 346, 400, 0.0), Ok(()));
}

#[test]
fn steps_longer_than_a_slot_are_no_stairs() {
    for (step, known) in [(10, 80), (20, 160), (30, 120), (60, 240)] {
        assert_eq!(is_said(&said(900, step, ramp(1.0, 31.0, 0.0, 900.0)), known, 900, 2.0), Ok(()), "every {step} s");
    }
    assert!(said(3000, 120, ramp(1.0, 31.0, 0.0, 900.0)).iter().all(|(_, rate)| rate.is_none()));
}

#[test]
fn a_card_and_its_only_process_say_the_same() {
    let series = |ms: u64| Bytes::mib(600 + ms.clamp(60_000, 140_000) * 3 / 4);
    let (mut card, mut process) = (GpuHistory::new(), ProcessHistory::new());
    let mut lane = Lane::default();
    for second in 0..400_u64 {
        for at_ms in (second * 1000..(second + 1) * 1000).step_by(50) {
            lane.push(LanePoint { at_ms, used: Some(series(at_ms) + Bytes::mib(700)) });
        }
        card.push_lane(&lane, (second + 1) * 1000);
        lane = lane.next_step();
        process.push(second * 1000, (second + 1) * 1000, series(second * 1000), series(second * 1000 + 750));
        let now_ms = (second + 1) * 1000;
        let of_card = rate_of(&card.day, GpuHistory::bytes(1), now_ms, 1000).get();
        let of_process = rate_of(&process.hour, UNIT, now_ms, 1000).get();
        let (of_card, of_process) = (of_card.map(|rate| rate.per_minute), of_process.map(|rate| rate.per_minute));
        assert_eq!(of_card.is_some(), of_process.is_some(), "{second}: {of_card:?} {of_process:?}");
        // A card is read more often, so the floor of a slot that falls begins a moment later.
        assert!(of_card.zip(of_process).is_none_or(|(a, b)| (a - b).abs() <= 0.01 * b.abs()), "{second}: {of_card:?} {of_process:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn growth_is_known_within_75_s(start in 0.0..200.0_f64, per_minute in 0.1..60.0_f64, up in any::<bool>()) {
        let way = per_minute * 10.0;
        let (from, to) = if up { (5.0, 5.0 + way) } else { (5.0 + way, 5.0) };
        let said = said(700, 1, ramp(from, to, start, start + 600.0));
        let wanted = if up { per_minute } else { -per_minute };
        prop_assert_eq!(is_said(&said, start as u64 + 76, start as u64 + 600, wanted), Ok(()));
    }

    #[test]
    fn a_load_leaves_nothing_behind(start in 0.0..100.0_f64, lasts in 1.0..120.0_f64, gib in 1.0..130.0_f64, steps in 1..40_u32, bend in 0.5..2.0_f64) {
        let steps = f64::from(steps);
        let load = |s: f64| Some(1.0 + gib * ((((s - start) / lasts).clamp(0.0, 1.0).powf(bend) * steps).floor() / steps));
        let said = said(900, 1, load);
        // A load of steps is over once it has stood longer than between them.
        let step = |k: f64| lasts * (k / steps).powf(1.0 / bend);
        let tread = (1..steps as u32).map(|k| step(f64::from(k) + 1.0) - step(f64::from(k))).fold(0.0, f64::max);
        let waits = (tread + 47.0).max(62.0);
        prop_assert_eq!(is_said(&said, (start + lasts + waits) as u64, 900, 0.0), Ok(()));
    }

    #[test]
    fn stairs_by_chance_are_growth(start in 0.0..30.0_f64, treads in prop::collection::vec(25.0..55.0_f64, 60), step in 0.1..2.0_f64) {
        let edges: Vec<f64> = treads.iter().scan(start, |at, tread| { *at += tread; Some(*at) }).collect();
        let at = |s: f64| edges.iter().filter(|edge| **edge <= s).count() as f64 * step + 5.0;
        let said = said(900, 1, |s| Some(at(s))).split_off(300);
        // No further than by half from what five minutes amount to.
        let grown = |now: u64| (at(now as f64) - at(now as f64 - 300.0)) / 5.0;
        let wrong = said.iter().find(|(now, rate)| rate.is_some_and(|rate| rate != 0.0 && (rate - grown(*now)).abs() > grown(*now) / 2.0));
        prop_assert!(wrong.is_none(), "{:?}: {:?}", wrong, runs(&said));
        // A tread that is longer than those before it stands still, and at the step after it nothing is known for a moment.
        let missed = said.iter().filter(|(_, rate)| rate.is_none_or(|rate| rate == 0.0)).count();
        prop_assert!(missed * 4 <= said.len(), "{:?}", runs(&said));
    }

    #[test]
    fn a_spike_is_never_a_change(at in 0.0..600.0_f64, lasts in 0.05..14.0_f64, gib in 0.0..60.0_f64) {
        let said = said(900, 1, |s| Some(if (at..at + lasts).contains(&s) { gib } else { 30.0 }));
        prop_assert!(said.iter().all(|(_, rate)| rate.is_none_or(|rate| rate == 0.0)), "{:?}", runs(&said));
        prop_assert_eq!(is_said(&said, (at + lasts) as u64 + 61, 900, 0.0), Ok(()));
    }

    #[test]
    fn short_teeth_are_no_change(period in 0.85..14.0_f64, gib in 0.5..60.0_f64) {
        // Three tenths of a tooth are its floor: with four readings a second that is met in each tooth from 0.84 s on. Of shorter ones the
        // readings themselves drift, as a wheel in a film does, and nothing that reads them can tell.
        let said = said(600, 1, |s| Some(5.0 + gib * ((s / period).fract() - 0.3).max(0.0)));
        prop_assert_eq!(is_said(&said, 46, 600, 0.0), Ok(()));
    }
}

/// What has been given back once may be given back again. The figure is made once a slot, so that is how long the first tooth's stays.
#[test]
fn no_later_tooth_is_growth() {
    for period in [45.0, 60.0, 75.0, 90.0, 100.0, 130.0] {
        for offset in [0.0, 4.0, 8.0, 12.0] {
            let series = said(900, 1, |s| Some(10.0 + 50.0 * ((s + offset) % period) / period));
            let fallen = (period - offset) as u64 + 16;
            let grows = |rate: Option<f64>| rate.is_some_and(|rate| rate > 0.5);
            assert!(!series.iter().any(|(at, rate)| *at > fallen && grows(*rate)), "{period} from {offset}: {:?}", runs(&series));
        }
    }
}
