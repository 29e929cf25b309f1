//! The questions that can be put to a driver, by the product's words, and how long they take.
//!
//! It measures and says which call is under way; it puts no question itself.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Defines the calls once, with their names, so that number and name cannot drift apart.
macro_rules! calls {
    ($($call:ident => $name:literal),+ $(,)?) => {
        /// One question to the driver.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Call {
            $($call),+
        }

        impl Call {
            const ALL: &'static [Self] = &[$(Self::$call),+];

            /// The product's word for it, as it stands in faults.
            pub(super) const fn name(self) -> &'static str {
                match self {
                    $(Self::$call => $name),+
                }
            }
        }
    };
}

calls! {
    Versions => "versions",
    Count => "device count",
    Device => "device",
    Uuid => "uuid",
    Name => "name",
    Pci => "pci",
    Mig => "mig",
    Memory => "memory",
    ComputeList => "processes",
    GraphicsList => "processes",
    MpsList => "processes",
    Utilization => "utilization",
    Encoder => "encoder",
    Decoder => "decoder",
    Temperature => "temperature",
    Fan => "fan",
    Power => "power",
    SmClock => "sm clock",
    MemoryClock => "memory clock",
    Pstate => "pstate",
    Throttle => "throttle",
    Ecc => "ecc errors",
    RemappedRows => "remapped rows",
    Pcie => "pcie",
    Energy => "energy",
    ProcessUtilization => "process utilization",
    PowerLimit => "power limit",
    MaxSmClock => "max sm clock",
    MaxMemoryClock => "max memory clock",
    Bar1 => "bar1",
    Query => "query",
}

impl Call {
    /// Its place in a set of 64.
    pub(super) const fn bit(self) -> u64 {
        1 << self as u64
    }

    fn numbered(number: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

/// A call that takes longer is worth a line in the log file: the costliest that are usual take 25 ms.
const SLOW: Duration = Duration::from_millis(100);

/// Time spent in driver calls, and the call that is under way. All of it is lock-free: the reader may not wait for the driver.
#[derive(Debug)]
pub(super) struct Meter {
    origin: Instant,
    spent_ns: AtomicU64,
    /// The watched call under way: its number + 1 in the low byte, above it microseconds since the origin; 0 for none.
    under_way: AtomicU64,
}

impl Meter {
    pub(super) fn new() -> Self {
        Self { origin: Instant::now(), spent_ns: AtomicU64::new(0), under_way: AtomicU64::new(0) }
    }

    /// Puts one question and counts its time. Only a watched one can be seen by [`Meter::under_way`].
    pub(super) fn time<T>(&self, call: Call, watched: bool, question: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let mark = micros(started.duration_since(self.origin)) << 8 | (call as u64 + 1);
        if watched {
            self.under_way.store(mark, Ordering::Relaxed);
        }
        let answer = question();
        if watched {
            // Another thread's call that began later keeps its mark.
            let _ = self.under_way.compare_exchange(mark, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
        let took = started.elapsed();
        if took >= SLOW {
            log::debug!("the driver's answer to `{}` took {} ms", call.name(), took.as_millis());
        }
        self.spent_ns.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        answer
    }

    /// Nanoseconds spent in calls that have ended.
    pub(super) fn spent_ns(&self) -> u64 {
        self.spent_ns.load(Ordering::Relaxed)
    }

    /// The watched call under way, and for how long.
    pub(super) fn under_way(&self) -> Option<(&'static str, Duration)> {
        let mark = self.under_way.load(Ordering::Relaxed);
        let call = Call::numbered((mark & 0xff).checked_sub(1)?)?;
        Some((call.name(), self.origin.elapsed().saturating_sub(Duration::from_micros(mark >> 8))))
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_seen_while_it_is_under_way() {
        let meter = Meter::new();
        assert_eq!(meter.under_way(), None);
        meter.time(Call::Bar1, true, || assert_eq!(meter.under_way().map(|(name, _)| name), Some("bar1")));
        meter.time(Call::Energy, false, || assert_eq!(meter.under_way(), None));
        assert_eq!(meter.under_way(), None);
    }

    #[test]
    fn a_set_of_64_holds_every_call() {
        assert!(Call::ALL.len() <= 64);
        for (number, call) in Call::ALL.iter().enumerate() {
            assert_eq!(Call::numbered(number as u64), Some(*call));
            assert_eq!(call.bit(), 1 << number);
        }
    }
}
