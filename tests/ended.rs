//! Processes that are no longer listed: kept for a while, bounded, and part of no sum.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may fail")]

#[path = "frames/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]
mod stage;

use stage::machine::{Card, Holder, Machine};
use vramtop::monitor::Monitor;

fn machine(holders: Vec<Holder>) -> Machine {
    Machine { host: "node7", hz: 20, own: 3, cards: vec![Card::h200(), Card::h200()], holders }
}

/// A process that is listed from one second to another.
fn between(gpu: usize, pid: u32, from: u64, to: u64) -> Holder {
    Holder { life: (from, to), ..Holder::new(gpu, pid, "ann", "sweep.py", |_| 20.0) }
}

/// The monitor after so many seconds.
fn after(machine: &Machine, seconds: u64) -> Monitor {
    let mut monitor = Monitor::new();
    monitor.apply(&machine.header());
    for second in 1..=seconds {
        monitor.apply(&machine.sample(second));
    }
    monitor
}

#[test]
fn one_that_ended_is_kept_for_15_minutes() {
    let machine = machine(vec![between(0, 41502, 1, 10)]);
    let monitor = after(&machine, 11);
    let [ended] = monitor.ended() else { panic!("one has ended") };
    assert_eq!((ended.row.facts.key.pid, ended.at_ms, ended.lives_on), (41502, 11_000, false));
    assert_eq!(ended.row.peak.map(|peak| peak.bytes.to_string()), Some("20.0".to_owned()));
    assert_eq!((after(&machine, 910).ended().len(), after(&machine, 911).ended().len()), (1, 0));
    assert_eq!(monitor.processes().len(), 0);
}

#[test]
fn how_full_the_card_was_is_the_highest_of_that_step() {
    let mut machine = machine(vec![between(0, 41502, 1, 10), between(1, 41503, 1, 10)]);
    // 138.9 of the 139.8 GiB that an H200 can hand out, for 50 ms.
    machine.cards[0].spike = Some((11, 138.9));
    let monitor = after(&machine, 11);
    let of = |pid: u32| monitor.ended().iter().find(|ended| ended.row.facts.key.pid == pid).expect("it has ended");
    assert_eq!(of(41502).notable_fullness().map(|percent| percent.to_string()), Some("99".to_owned()));
    assert_eq!(of(41503).notable_fullness(), None);
}

#[test]
fn one_that_only_left_a_gpu_has_not_ended() {
    let monitor = after(&machine(vec![between(0, 9101, 1, 10), between(1, 9101, 1, 99)]), 20);
    assert_eq!(monitor.ended().iter().map(|ended| (ended.row.gpu, ended.lives_on)).collect::<Vec<_>>(), [(0, true)]);
}

#[test]
fn one_that_is_listed_again_has_its_past_back() {
    let monitor = after(&machine(vec![between(0, 9101, 1, 10), between(0, 9101, 20, 99)]), 30);
    assert!(monitor.ended().is_empty());
    assert_eq!(monitor.processes().iter().map(|row| row.first_seen_ms).collect::<Vec<_>>(), [1000]);
}

#[test]
fn the_last_64_are_kept() {
    let holders = (0..100_u32).map(|n| between(0, 1000 + n, 1, u64::from(n) + 1)).map(|holder| Holder { held: Some(|_| 0.5), ..holder });
    let monitor = after(&machine(holders.collect()), 120);
    let pids: Vec<u32> = monitor.ended().iter().map(|ended| ended.row.facts.key.pid).collect();
    assert_eq!(pids, (1036..1100).collect::<Vec<_>>());
}
