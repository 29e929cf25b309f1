//! What people miss beside memory: utilization, power, temperature, clocks.

use super::{Absence, Answer, Ask, Reading, UtilizationPercent};

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
    /// What a query asked for by name, and nothing else does. No part of a recording.
    pub asked: Vec<(Ask, Reading<Answer>)>,
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
            asked: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throttle_reasons_have_names() {
        let names: Vec<_> = Throttle(0x024 | 1).names().collect();
        assert_eq!(names, ["power cap", "thermal"]);
        assert_eq!(Throttle::from_names(names), Throttle(0x024));
    }
}
