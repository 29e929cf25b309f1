//! The memory of one device at one moment. Figures that do not add up to the total cannot be made.

use super::{Bytes, Reading};

/// Which driver call the memory figures came from. Figures of different sources are never mixed in one history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemorySource {
    /// `nvmlDeviceGetMemoryInfo_v2`: the driver's reserve stands apart, and used is what nvidia-smi shows.
    V2,
    /// `nvmlDeviceGetMemoryInfo`: the driver's reserve is inside used and its size unknown.
    V1,
    /// The host's pool: `MemTotal` and `MemAvailable`, and the processes' own sum.
    Host,
}

/// The memory of one device at one moment. Made only by [`DeviceMemory::new`] and [`DeviceMemory::shared`],
/// so `used + free + driver + host` is the total, to the byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceMemory {
    total: Bytes,
    used: Bytes,
    free: Bytes,
    driver: Option<Bytes>,
    host: Bytes,
    source: MemorySource,
}

impl DeviceMemory {
    /// Figures as a driver gave them. `driver` is `None` where the call does not tell it (v1). Nonsense is refused by name:
    /// a total of zero, more used than there is, or parts that do not add up to the total.
    ///
    /// Source of the identity: on H200s with driver 580 `used + free + reserved == total` holds to the byte under load.
    /// A library that forgets `free` (seen in interposers) is mended, since the other three figures settle it.
    pub fn new(total: u64, used: u64, free: u64, driver: Option<u64>) -> Reading<Self> {
        if total == 0 {
            return Reading::failed("total is zero");
        }
        if used > total || driver.is_some_and(|d| d > total - used) {
            return Reading::failed("used is more than the total");
        }
        let rest = total - used - driver.unwrap_or(0);
        if free != rest && free != 0 {
            return Reading::failed("used, free and reserved do not add up");
        }
        let source = if driver.is_some() { MemorySource::V2 } else { MemorySource::V1 };
        Reading::Value(Self { total: Bytes(total), used: Bytes(used), free: Bytes(rest), driver: driver.map(Bytes), host: Bytes::ZERO, source })
    }

    /// The pool that a GPU shares with the CPU: `used` is the sum of the GPU processes' own figures, `host` the rest in use.
    pub fn shared(pool_total: Bytes, pool_available: Bytes, processes: Bytes) -> Reading<Self> {
        if pool_total == Bytes::ZERO {
            return Reading::failed("total is zero");
        }
        let free = Bytes(pool_available.0.min(pool_total.0));
        let in_use = pool_total.saturating_sub(free);
        let used = Bytes(processes.0.min(in_use.0));
        Reading::Value(Self {
            total: pool_total,
            used,
            free,
            driver: Some(Bytes::ZERO),
            host: in_use.saturating_sub(used),
            source: MemorySource::Host,
        })
    }

    /// All of the device's memory.
    pub const fn total(&self) -> Bytes {
        self.total
    }
    /// What nvidia-smi shows as used (with v1 it includes the driver's reserve).
    pub const fn used(&self) -> Bytes {
        self.used
    }
    /// What a new allocation could get.
    pub const fn free(&self) -> Bytes {
        self.free
    }
    /// The driver's reserve, where it is known.
    pub const fn driver(&self) -> Option<Bytes> {
        self.driver
    }
    /// What the host uses of a shared pool; zero on a card with memory of its own.
    pub const fn host(&self) -> Bytes {
        self.host
    }
    /// Where the figures came from.
    pub const fn source(&self) -> MemorySource {
        self.source
    }
    /// What CUDA can hand out: the total less the driver's reserve. Percentages are of this.
    pub fn room(&self) -> Bytes {
        self.total.saturating_sub(self.driver.unwrap_or(Bytes::ZERO))
    }
    /// Everything that is taken from the room: used, and on a shared pool the host's part as well.
    pub fn taken(&self) -> Bytes {
        self.used + self.host
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Two H200s under load: used + free + reserved = total, to the byte.
    const TOTAL: u64 = 150_754_820_096;
    const RESERVED: u64 = 644_939_776;

    #[test]
    fn v2_figures_of_a_real_card_are_taken_as_they_are() {
        let memory = DeviceMemory::new(TOTAL, 19_675_021_312, 130_434_859_008, Some(RESERVED)).get().expect("valid");
        assert_eq!(memory.room(), Bytes(150_109_880_320)); // what CUDA calls the total capacity
        assert_eq!(memory.used() + memory.free() + memory.driver().expect("v2"), memory.total());
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        assert_eq!(DeviceMemory::new(0, 0, 0, None), Reading::failed("total is zero"));
        assert_eq!(DeviceMemory::new(10, 11, 0, None), Reading::failed("used is more than the total"));
        assert_eq!(DeviceMemory::new(10, u64::MAX, 0, Some(0)), Reading::failed("used is more than the total"));
        assert_eq!(DeviceMemory::new(10, 4, 3, Some(1)), Reading::failed("used, free and reserved do not add up"));
    }

    #[test]
    fn a_forgotten_free_is_mended() {
        let memory = DeviceMemory::new(3000, 2716, 0, Some(0)).get().expect("valid");
        assert_eq!(memory.free(), Bytes(284));
    }

    #[test]
    fn a_shared_pool_adds_up() {
        // 121.7 GiB in all, 87 available, the GPU's processes hold 4: the host has the other 30.7.
        let (total, available) = (Bytes(130_673_999_872), Bytes::gib(87));
        let memory = DeviceMemory::shared(total, available, Bytes::gib(4)).get().expect("valid");
        assert_eq!(memory.used(), Bytes::gib(4));
        assert_eq!(memory.free() + memory.used() + memory.host(), total);
    }
}
