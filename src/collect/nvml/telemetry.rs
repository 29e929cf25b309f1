//! What people miss when it is not there: utilization, temperature, power, clocks, errors, and the costly calls of the slow lane.
//!
//! It refuses figures that no GPU can have; it knows nothing of memory.

use nvml_wrapper::enum_wrappers::device::{Clock, EccCounter, MemoryError, PcieUtilCounter, PerformanceState, TemperatureSensor};
use nvml_wrapper::error::{Bits, NvmlError};

use super::call::Call;
use super::device::Device;
use super::line::Line;
use super::raw::{self, Handle};
use super::words::OUT_OF_RANGE;
use crate::model::{Absence, PcieRate, Reading, Telemetry, Throttle, UtilizationPercent};

/// 10 kW: no GPU draws more.
pub(super) const MOST_MILLIWATTS: u32 = 10_000_000;
/// 20 GHz.
pub(super) const MOST_MHZ: u32 = 20_000;
/// Degrees Celsius.
pub(super) const MOST_DEGREES: u32 = 200;
/// Percent: a fan may pass its highest speed, but not twice.
pub(super) const MOST_FAN: u32 = 200;
/// Bits of `nvmlClocksEventReasons` that exist or may be given out some day.
const MOST_REASONS: u64 = 0xffff;
/// KiB per second: 1 TiB/s, eight times what a slot of the sixth generation carries.
const MOST_PCIE: u32 = 1 << 30;
/// More errors, or rows replaced, than a card lives to see; also shuts out the driver's marks for "not available".
pub(super) const MOST_ERRORS: u64 = 1 << 48;
pub(super) const MOST_ROWS: u32 = 1 << 20;
/// Millijoules: a megawatt for a year.
const MOST_ENERGY: u64 = 32_000_000_000_000_000;

impl Device {
    /// Each step's telemetry. Bus traffic and energy stay [`Reading::NOT_ASKED`]; a MIG instance has none.
    pub fn telemetry(&mut self) -> Telemetry {
        if self.is_instance() {
            return Telemetry::absent(&Absence::NotSupported);
        }
        let line = &mut self.line;
        let rates = line.ask(Call::Utilization, Handle::utilization_rates);
        let encoder = line.ask(Call::Encoder, |gpu| gpu.encoder_utilization().map(|rate| rate.utilization));
        let decoder = line.ask(Call::Decoder, |gpu| gpu.decoder_utilization().map(|rate| rate.utilization));
        let temperature = line.ask(Call::Temperature, |gpu| gpu.temperature(TemperatureSensor::Gpu));
        let fan = line.ask(Call::Fan, fan_percent);
        let power = line.ask(Call::Power, Handle::power_usage);
        let sm = line.ask(Call::SmClock, |gpu| gpu.clock_info(Clock::SM));
        let memory = line.ask(Call::MemoryClock, |gpu| gpu.clock_info(Clock::Memory));
        let throttle = line.ask(Call::Throttle, throttle_bits);
        let ecc = line.ask(Call::Ecc, |gpu| gpu.total_ecc_errors(MemoryError::Uncorrected, EccCounter::Volatile));
        let rows = line.ask(Call::RemappedRows, raw::remapped_rows).map(|rows| rows.correctable.saturating_add(rows.uncorrectable));
        Telemetry {
            gpu: percent(line, Call::Utilization, rates.as_ref().map(|rates| rates.gpu)),
            bus: percent(line, Call::Utilization, rates.map(|rates| rates.memory)),
            encoder: percent(line, Call::Encoder, encoder),
            decoder: percent(line, Call::Decoder, decoder),
            temperature_c: line.within(Call::Temperature, temperature, MOST_DEGREES),
            fan_percent: line.within(Call::Fan, fan, MOST_FAN),
            power_mw: line.within(Call::Power, power, MOST_MILLIWATTS),
            sm_mhz: line.within(Call::SmClock, sm, MOST_MHZ),
            memory_mhz: line.within(Call::MemoryClock, memory, MOST_MHZ),
            pstate: pstate(line),
            throttle: line.within(Call::Throttle, throttle, MOST_REASONS).map(Throttle),
            ecc_errors: line.within(Call::Ecc, ecc, MOST_ERRORS),
            remapped_rows: line.within(Call::RemappedRows, rows, MOST_ROWS),
            pcie: Reading::NOT_ASKED,
            energy_mj: Reading::NOT_ASKED,
            asked: Vec::new(),
        }
    }

    /// Utilization, temperature and power alone: what a status line shows. The first question of each kind is costly (on an H200
    /// the power limit or power 3.4 ms, utilization 2.1 ms, ECC errors 1.9 ms, temperature 0.5 ms, fan 0.4 ms), and a status
    /// line asks each but once.
    pub fn glance(&mut self) -> Telemetry {
        if self.is_instance() {
            return Telemetry::absent(&Absence::NotSupported);
        }
        let line = &mut self.line;
        let rates = line.ask(Call::Utilization, Handle::utilization_rates);
        let temperature = line.ask(Call::Temperature, |gpu| gpu.temperature(TemperatureSensor::Gpu));
        let power = line.ask(Call::Power, Handle::power_usage);
        Telemetry {
            gpu: percent(line, Call::Utilization, rates.as_ref().map(|rates| rates.gpu)),
            bus: percent(line, Call::Utilization, rates.map(|rates| rates.memory)),
            temperature_c: line.within(Call::Temperature, temperature, MOST_DEGREES),
            power_mw: line.within(Call::Power, power, MOST_MILLIWATTS),
            ..Telemetry::absent(&Absence::NotAsked)
        }
    }

    /// Energy since the driver was loaded in millijoules. Dear: 3 to 17 ms on an H200, in which every other driver call waits.
    pub fn energy(&mut self) -> Reading<u64> {
        if self.is_instance() {
            return Reading::NOT_SUPPORTED;
        }
        let energy = self.line.ask(Call::Energy, Handle::total_energy_consumption);
        self.line.within(Call::Energy, energy, MOST_ENERGY)
    }

    /// Traffic on the PCI bus in bytes per second. Dear: the driver measures for 21 ms each way and sleeps meanwhile.
    pub fn pcie(&mut self) -> Reading<PcieRate> {
        if self.is_instance() {
            return Reading::NOT_SUPPORTED;
        }
        let mut rate = |counter| {
            let kib = self.line.ask(Call::Pcie, |gpu| gpu.pcie_throughput(counter));
            self.line.within(Call::Pcie, kib, MOST_PCIE).map(|kib| u64::from(kib) * 1024)
        };
        rate(PcieUtilCounter::Send).and_then(|sent| rate(PcieUtilCounter::Receive).map(|received| PcieRate { sent, received }))
    }

    /// How much each process used the SMs since `since_us`, in microseconds of the driver's clock: PID, share and time of the reading.
    /// `into` is cleared first. Dear: 2.4 ms on an H200, in which every other driver call waits.
    ///
    /// The driver says "not found" where nothing was measured since then; that is an empty answer.
    pub fn process_utilization(&mut self, since_us: u64, into: &mut Vec<(u32, UtilizationPercent, u64)>) -> Reading<()> {
        into.clear();
        if self.is_instance() {
            return Reading::NOT_SUPPORTED;
        }
        let (line, uses) = (&mut self.line, &mut self.uses);
        let mut odd = false;
        let answer = line.ask(Call::ProcessUtilization, |gpu| {
            let take = |row: raw::ProcessUse| match UtilizationPercent::new(row.sm_percent) {
                Some(share) if row.pid != 0 => into.push((row.pid, share, row.at_us)),
                Some(_) => {}
                None => odd = true,
            };
            match raw::process_utilization(gpu, since_us, uses, take) {
                Err(NvmlError::NotFound) => Ok(()),
                answer => answer,
            }
        });
        if odd {
            line.note(Call::ProcessUtilization, OUT_OF_RANGE);
        }
        answer
    }
}

fn percent(line: &mut Line, call: Call, reading: Reading<u32>) -> Reading<UtilizationPercent> {
    line.within(call, reading, 100).and_then(|percent| UtilizationPercent::new(percent).map_or(Reading::failed(OUT_OF_RANGE), Reading::Value))
}

/// The mask as it is: the wrapper refuses bits that it does not know, and newer drivers have more of them.
pub(super) fn throttle_bits(gpu: &Handle) -> Result<u64, NvmlError> {
    match gpu.current_throttle_reasons_strict() {
        Err(NvmlError::IncorrectBits(Bits::U64(bits))) => Ok(bits),
        reasons => reasons.map(|reasons| reasons.bits()),
    }
}

fn pstate(line: &mut Line) -> Reading<u8> {
    let state = line.ask(Call::Pstate, |gpu| match gpu.performance_state() {
        // The wrapper says this of a state beyond 15, not of a refusal.
        Err(NvmlError::UnexpectedVariant(_)) => Ok(u8::MAX),
        Ok(PerformanceState::Unknown) => Err(NvmlError::NotSupported),
        state => state.map(|state| u8::try_from(state.as_c()).unwrap_or(u8::MAX)),
    });
    line.within(Call::Pstate, state, 15)
}

/// Speed of the first fan. A card without fans has no first one, and says so by refusing the number (seen on an H200).
pub(super) fn fan_percent(gpu: &Handle) -> Result<u32, NvmlError> {
    gpu.fan_speed(0).map_err(|error| match error {
        NvmlError::InvalidArg => NvmlError::NotSupported,
        other => other,
    })
}
