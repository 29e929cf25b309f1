//! One GPU or MIG instance: what never changes about it, and what one step read of it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Absence, Bytes, Reading, SafeText, Share, UtilizationPercent};

/// The UUID of a GPU (`GPU-…`) or MIG instance (`MIG-…`): the only identity that survives a reboot or a change of order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GpuId(Arc<str>);

impl GpuId {
    /// Takes a UUID as the driver spells it.
    pub fn new(uuid: &str) -> Self {
        Self(Arc::from(SafeText::new(uuid).as_str()))
    }

    /// The UUID.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What is fixed about a device until the driver is loaded anew.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuFacts {
    /// Its UUID.
    pub id: GpuId,
    /// The driver's index; `None` for a MIG instance.
    pub index: Option<u32>,
    /// The instance's place under its parent; `None` for a whole GPU.
    pub instance: Option<u32>,
    /// The GPU that a MIG instance is a part of.
    pub parent: Option<GpuId>,
    /// PCI bus id as nvidia-smi prints it, `00000000:00:06.0`.
    pub pci: Option<SafeText>,
    /// Product name.
    pub name: SafeText,
    /// All of its memory, where it could be read when the device was opened.
    pub total: Reading<Bytes>,
    /// Whether its memory is the host's (no frame buffer of its own).
    pub shared_with_host: bool,
    /// Enforced power limit in milliwatts.
    pub power_limit_mw: Reading<u32>,
    /// Highest SM clock in MHz.
    pub max_sm_mhz: Reading<u32>,
    /// Highest memory clock in MHz.
    pub max_memory_mhz: Reading<u32>,
    /// Size of the BAR1 aperture. It is an address window and never capacity.
    pub bar1_total: Reading<Bytes>,
    /// Whether MIG mode is on.
    pub mig: Reading<bool>,
}

impl GpuFacts {
    /// How people name it: `0`, or `0.2` for the third instance on GPU 0 (then `parent_index` is the parent's index).
    pub fn label(&self, parent_index: Option<u32>) -> String {
        match (self.index, self.instance) {
            (Some(index), _) => index.to_string(),
            (None, Some(instance)) => match parent_index {
                Some(parent) => format!("{parent}.{instance}"),
                None => format!("?.{instance}"),
            },
            (None, None) => "?".to_owned(),
        }
    }
}

/// Whether a device answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GpuState {
    /// It answers.
    Present,
    /// The driver has lost it; since which time of the sample's own clock in ms.
    Lost {
        /// Milliseconds of the sample's own clock.
        since_ms: u64,
    },
    /// Its runtime power management has put it to sleep and it is left alone.
    Asleep {
        /// Milliseconds of the sample's own clock.
        since_ms: u64,
    },
}

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

/// One reading of the memory lane: at `at_ms` of the sample's own clock this much was used; `None` starts a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LanePoint {
    /// Milliseconds of the sample's own clock.
    pub at_ms: u64,
    /// Bytes used, or `None` where the lane missed its deadline or the call failed.
    pub used: Option<Bytes>,
}

/// The memory lane of one step: its change points and extremes.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    points: Vec<LanePoint>,
    last: Option<LanePoint>,
    min: Option<Bytes>,
    max: Option<Bytes>,
}

impl PartialEq for Lane {
    /// `last` is the cursor of whoever fills the lane and no part of what was read.
    fn eq(&self, other: &Self) -> bool {
        (&self.points, self.min, self.max) == (&other.points, other.min, other.max)
    }
}

impl Eq for Lane {}

impl Lane {
    /// The most change points of one step; beyond, only the extremes and the last are kept.
    pub const LIMIT: usize = 64;

    /// Adds one reading. Only a change is kept as a point.
    pub fn push(&mut self, point: LanePoint) {
        if let Some(used) = point.used {
            self.min = Some(self.min.map_or(used, |min| min.min(used)));
            self.max = Some(self.max.map_or(used, |max| max.max(used)));
        }
        let changed = self.last.is_none_or(|last| last.used != point.used);
        self.last = Some(point);
        if !changed {
            return;
        }
        self.points.push(point);
        if self.points.len() > Self::LIMIT {
            self.keep_extremes();
        }
    }

    /// Starts the next step: the last value goes on until it changes.
    #[must_use]
    pub fn next_step(&self) -> Self {
        Self { last: self.last, ..Self::default() }
    }

    fn keep_extremes(&mut self) {
        let (min, max) = (self.min, self.max);
        let last = self.points.len() - 1;
        let first_of = |wanted: Option<Bytes>| self.points.iter().position(|p| p.used == wanted);
        let mut keep = [first_of(min).unwrap_or(0), first_of(max).unwrap_or(0), last];
        keep.sort_unstable();
        let mut kept: Vec<LanePoint> = Vec::with_capacity(Self::LIMIT + 1);
        for index in keep {
            let point = self.points[index];
            if kept.last() != Some(&point) {
                kept.push(point);
            }
        }
        self.points = kept;
    }

    /// Where the value changed, oldest first.
    pub fn points(&self) -> &[LanePoint] {
        &self.points
    }

    /// The lowest value of the step.
    pub const fn min(&self) -> Option<Bytes> {
        self.min
    }

    /// The highest value of the step: a spike of a few milliseconds shows here.
    pub const fn max(&self) -> Option<Bytes> {
        self.max
    }

    /// A lane read back from a recording.
    pub fn from_parts(points: Vec<LanePoint>, min: Option<Bytes>, max: Option<Bytes>) -> Self {
        Self { last: points.last().copied(), points, min, max }
    }
}

/// The reasons that hold a GPU's clocks down, as the driver's bit mask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttle(pub u64);

impl Throttle {
    /// Bit and name of each reason (`nvml.h`, `nvmlClocksThrottleReason*`); idle is no hindrance and is left out of [`Throttle::names`].
    const NAMES: [(u64, &'static str); 8] = [
        (0x002, "application clocks"),
        (0x004, "power cap"),
        (0x008, "hardware slowdown"),
        (0x010, "sync boost"),
        (0x020, "thermal"),
        (0x040, "hardware thermal"),
        (0x080, "power brake"),
        (0x100, "display clocks"),
    ];

    /// The reasons by name.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().filter(move |(bit, _)| self.0 & bit != 0).map(|(_, name)| *name)
    }

    /// The mask that has exactly these names; unknown names are passed over.
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let bits = names.into_iter().filter_map(|n| Self::NAMES.iter().find(|(_, name)| *name == n)).fold(0, |all, (bit, _)| all | bit);
        Self(bits)
    }
}

/// `PCIe` traffic in bytes per second, from the GPU's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PcieRate {
    /// Sent by the GPU.
    pub sent: u64,
    /// Received by the GPU.
    pub received: u64,
}

/// What people miss when it is not there, read once a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Telemetry {
    /// Share of time in which a kernel ran.
    pub gpu: Reading<UtilizationPercent>,
    /// Share of time in which memory was read or written: bus activity, not how full the memory is.
    pub bus: Reading<UtilizationPercent>,
    /// Encoder.
    pub encoder: Reading<UtilizationPercent>,
    /// Decoder.
    pub decoder: Reading<UtilizationPercent>,
    /// Degrees Celsius of the GPU.
    pub temperature_c: Reading<u32>,
    /// Fan speed in percent of its highest, which can be passed.
    pub fan_percent: Reading<u32>,
    /// Power draw in milliwatts.
    pub power_mw: Reading<u32>,
    /// SM clock in MHz.
    pub sm_mhz: Reading<u32>,
    /// Memory clock in MHz.
    pub memory_mhz: Reading<u32>,
    /// Performance state, 0 (highest) to 15.
    pub pstate: Reading<u8>,
    /// What holds the clocks down.
    pub throttle: Reading<Throttle>,
    /// Uncorrected ECC errors since the driver was loaded.
    pub ecc_errors: Reading<u64>,
    /// Memory rows replaced after errors.
    pub remapped_rows: Reading<u32>,
    /// `PCIe` traffic; asked only on request.
    pub pcie: Reading<PcieRate>,
    /// Energy since the driver was loaded in millijoules; asked only on request.
    pub energy_mj: Reading<u64>,
}

impl Telemetry {
    /// Nothing was read, for one reason.
    pub fn absent(why: &Absence) -> Self {
        fn a<T>(why: &Absence) -> Reading<T> {
            Reading::Absent(why.clone())
        }
        Self {
            gpu: a(why),
            bus: a(why),
            encoder: a(why),
            decoder: a(why),
            temperature_c: a(why),
            fan_percent: a(why),
            power_mw: a(why),
            sm_mhz: a(why),
            memory_mhz: a(why),
            pstate: a(why),
            throttle: a(why),
            ecc_errors: a(why),
            remapped_rows: a(why),
            pcie: Reading::NOT_ASKED,
            energy_mj: Reading::NOT_ASKED,
        }
    }
}

/// What one step read of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuSample {
    /// Which device.
    pub id: GpuId,
    /// Whether it answers.
    pub state: GpuState,
    /// The memory, read right after the process list of this step, so that the two agree.
    pub memory: Reading<DeviceMemory>,
    /// The fast readings of used since the step before.
    pub lane: Lane,
    /// Whether the process list could be read; the rows stand in [`super::Sample::processes`].
    pub processes: Reading<ListState>,
    /// Processes that are counted and not listed: those beyond the most that are tracked, and those that a filter leaves out.
    pub untracked: Untracked,
    /// The telemetry lane.
    pub telemetry: Telemetry,
}

/// Processes that are only counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Untracked {
    /// How many.
    pub count: u32,
    /// What they hold together; `None` when one of them is unknown.
    pub memory: Share,
}

impl Untracked {
    /// One more.
    pub fn add(&mut self, share: Share) {
        self.count += 1;
        self.memory = self.memory.zip(share).map(|(sum, bytes)| sum + bytes);
    }

    /// What they add to a ledger: nothing where there are none.
    pub fn share(&self) -> Option<Share> {
        (self.count > 0).then_some(self.memory)
    }
}

impl Default for Untracked {
    fn default() -> Self {
        Self { count: 0, memory: Some(Bytes::ZERO) }
    }
}

/// How good a process list is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListState {
    /// Read in this step.
    Fresh,
    /// The list kept growing while it was read, so this is the last whole one.
    Kept,
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

    #[test]
    fn a_lane_keeps_changes_and_extremes() {
        let mut lane = Lane::default();
        for (at_ms, used) in [(0, 5), (50, 5), (100, 9), (150, 5)] {
            lane.push(LanePoint { at_ms, used: Some(Bytes(used)) });
        }
        assert_eq!(lane.points().iter().map(|p| p.at_ms).collect::<Vec<_>>(), [0, 100, 150]);
        assert_eq!((lane.min(), lane.max()), (Some(Bytes(5)), Some(Bytes(9))));
        let mut next = lane.next_step();
        next.push(LanePoint { at_ms: 200, used: Some(Bytes(5)) });
        assert!(next.points().is_empty() && next.max() == Some(Bytes(5)));
    }

    #[test]
    fn a_busy_lane_stays_bounded_and_keeps_its_spike() {
        let mut lane = Lane::default();
        for at_ms in 0..1000_u64 {
            let used = if at_ms == 300 { 1_000_000 } else { at_ms };
            lane.push(LanePoint { at_ms, used: Some(Bytes(used)) });
            assert!(lane.points().len() <= Lane::LIMIT);
        }
        assert_eq!(lane.max(), Some(Bytes(1_000_000)));
        assert!(lane.points().iter().any(|p| p.used == Some(Bytes(1_000_000))));
    }

    #[test]
    fn throttle_reasons_have_names() {
        let names: Vec<_> = Throttle(0x024 | 1).names().collect();
        assert_eq!(names, ["power cap", "thermal"]);
        assert_eq!(Throttle::from_names(names), Throttle(0x024));
    }
}
