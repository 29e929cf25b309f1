//! The memory of one device at one moment. Figures that do not add up to the total cannot be made.

use super::{Bytes, Percent, Reading};

/// Which driver call the memory figures came from. Figures of different sources are never mixed in one history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemorySource {
    /// `nvmlDeviceGetMemoryInfo_v2`: the driver's reserve stands apart, and used is what nvidia-smi shows.
    V2,
    /// `nvmlDeviceGetMemoryInfo`: the driver's reserve is inside used and its size unknown.
    V1,
    /// The host's pool: `MemTotal` and `MemAvailable`, and the processes' own sum where it is known.
    Host,
}

/// The memory of one device at one moment. Made only by [`DeviceMemory::new`] and [`DeviceMemory::shared`],
/// so `used + free + driver + host` is the total, to the byte; of a shared pool whose processes are not known, `taken + free` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceMemory {
    total: Bytes,
    free: Bytes,
    driver: Option<Bytes>,
    parts: Option<Parts>,
    source: MemorySource,
}

/// Whose the memory is that is neither free nor the driver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parts {
    used: Bytes,
    host: Bytes,
}

impl DeviceMemory {
    /// Why a memory of nothing is refused. Drivers of GPUs that share the host's memory tell one.
    pub const NO_TOTAL: &str = "total is zero";

    /// Figures as a driver gave them. `driver` is `None` where the call does not tell it (v1). Nonsense is refused by name:
    /// a total of zero, more used than there is, or parts that do not add up to the total.
    ///
    /// Source of the identity: on H200s with driver 580 `used + free + reserved == total` holds to the byte under load.
    /// A library that forgets `free` (seen in interposers) is mended, since the other three figures settle it.
    pub fn new(total: u64, used: u64, free: u64, driver: Option<u64>) -> Reading<Self> {
        if total == 0 {
            return Reading::failed(Self::NO_TOTAL);
        }
        if used > total || driver.is_some_and(|d| d > total - used) {
            return Reading::failed("used is more than the total");
        }
        let rest = total - used - driver.unwrap_or(0);
        if free != rest && free != 0 {
            return Reading::failed("used, free and reserved do not add up");
        }
        let source = if driver.is_some() { MemorySource::V2 } else { MemorySource::V1 };
        let parts = Some(Parts { used: Bytes(used), host: Bytes::ZERO });
        Reading::Value(Self { total: Bytes(total), free: Bytes(rest), driver: driver.map(Bytes), parts, source })
    }

    /// The pool that a GPU shares with the CPU: `used` is the sum of the GPU processes' own figures, `host` the rest in use. Where that
    /// sum is not known (no list, or a process without a figure), what is in use cannot be parted: `used` and `host` are unknown.
    pub fn shared(pool_total: Bytes, pool_available: Bytes, processes: Option<Bytes>) -> Reading<Self> {
        if pool_total == Bytes::ZERO {
            return Reading::failed(Self::NO_TOTAL);
        }
        let free = Bytes(pool_available.0.min(pool_total.0));
        let in_use = pool_total.saturating_sub(free);
        let parts = processes.map(|processes| {
            let used = processes.min(in_use);
            Parts { used, host: in_use.saturating_sub(used) }
        });
        Reading::Value(Self { total: pool_total, free, driver: Some(Bytes::ZERO), parts, source: MemorySource::Host })
    }

    /// All of the device's memory.
    pub const fn total(&self) -> Bytes {
        self.total
    }
    /// What nvidia-smi shows as used (with v1 it includes the driver's reserve); `None` for a shared pool whose processes are not known.
    pub fn used(&self) -> Option<Bytes> {
        self.parts.map(|parts| parts.used)
    }
    /// What a new allocation could get.
    pub const fn free(&self) -> Bytes {
        self.free
    }
    /// The driver's reserve, where it is known.
    pub const fn driver(&self) -> Option<Bytes> {
        self.driver
    }
    /// What the host uses of a shared pool, where it can be told from the processes; zero on a card with memory of its own.
    pub fn host(&self) -> Option<Bytes> {
        self.parts.map(|parts| parts.host)
    }
    /// Where the figures came from.
    pub const fn source(&self) -> MemorySource {
        self.source
    }
    /// What CUDA can hand out: the total less the driver's reserve. Percentages are of this.
    pub fn room(&self) -> Bytes {
        self.total.saturating_sub(self.driver.unwrap_or(Bytes::ZERO))
    }
    /// Used as a share of the room; unknown where used is.
    pub fn used_share(&self) -> Option<Percent> {
        self.used()?.percent_of(self.room())
    }
    /// Everything that is taken from the room: used, and on a shared pool the host's part as well. It is known without the processes.
    pub fn taken(&self) -> Bytes {
        self.room().saturating_sub(self.free)
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
        assert_eq!(memory.used(), Some(Bytes(19_675_021_312)));
        assert_eq!(memory.taken() + memory.free() + memory.driver().expect("v2"), memory.total());
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
        let memory = DeviceMemory::shared(total, available, Some(Bytes::gib(4))).get().expect("valid");
        assert_eq!(memory.used(), Some(Bytes::gib(4)));
        assert_eq!(memory.host(), Some(Bytes(130_673_999_872 - (91 << 30))));
        assert_eq!((memory.free(), memory.taken()), (available, Bytes(130_673_999_872 - (87 << 30))));
    }

    #[test]
    fn a_shared_pool_of_unknown_processes_is_not_parted() {
        let memory = DeviceMemory::shared(Bytes::gib(120), Bytes::gib(87), None).get().expect("valid");
        assert_eq!((memory.used(), memory.host()), (None, None));
        assert_eq!((memory.total(), memory.free(), memory.taken()), (Bytes::gib(120), Bytes::gib(87), Bytes::gib(33)));
    }
}
