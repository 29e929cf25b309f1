//! Questions that only a query asks, one at a time and never in a lane.
//!
//! Nothing is learned from the answers: a query is asked once a record, so a call that is not there may be tried again.

use nvml_wrapper::enum_wrappers::device::{Clock, EccCounter, MemoryError, PerformanceState, TemperatureSensor};
use nvml_wrapper::enums::device::SampleValue;
use nvml_wrapper::error::{Bits, NvmlError};
use nvml_wrapper::structs::device::FieldId;
use nvml_wrapper::sys_exports::field_id::{NVML_FI_DEV_MEMORY_TEMP, NVML_FI_DEV_POWER_AVERAGE, NVML_FI_DEV_POWER_INSTANT};

use super::call::Call;
use super::device::Device;
use super::raw::{self, Handle};
use super::telemetry::{MOST_DEGREES, MOST_ERRORS, MOST_FAN, MOST_MHZ, MOST_MILLIWATTS, MOST_ROWS, fan_percent, throttle_bits};
use super::words::{self, OUT_OF_RANGE};
use crate::model::{Answer, Ask, ClockDomain, ClockFigure, Reading};

type Asked = Result<Answer, NvmlError>;

impl Device {
    /// The answer to one question of a query. A figure that no GPU can have is none.
    pub fn answer(&self, ask: Ask) -> Reading<Answer> {
        if ask == Ask::Count {
            return self.line.driver().device_count().map(Answer::from);
        }
        match self.line.put(Call::Query, |gpu| put(gpu, ask)) {
            Ok(Answer::Number(number)) if number > most(ask) => Reading::failed(OUT_OF_RANGE),
            Ok(answer) => Reading::Value(answer),
            Err(error) => Reading::Absent(words::absence(&error, self.is_instance())),
        }
    }
}

/// The highest figure that is believed.
fn most(ask: Ask) -> u64 {
    let most = match ask {
        Ask::Utilization | Ask::Bus | Ask::Encoder | Ask::Decoder => 100,
        Ask::Fan => MOST_FAN,
        Ask::Pstate => 15,
        Ask::Temperature | Ask::MemoryTemperature => MOST_DEGREES,
        Ask::Power | Ask::PowerAverage | Ask::PowerInstant | Ask::PowerLimit | Ask::PowerLimitDefault | Ask::PowerLimitMin | Ask::PowerLimitMax => {
            MOST_MILLIWATTS
        }
        Ask::Clock(..) => MOST_MHZ,
        Ask::RemappedCorrectable | Ask::RemappedUncorrectable => MOST_ROWS,
        Ask::EccErrors { .. } => return MOST_ERRORS,
        _ => return u64::MAX,
    };
    most.into()
}

fn put(gpu: &Handle, ask: Ask) -> Asked {
    match ask {
        // The driver's, and not one device's.
        Ask::Count => Err(NvmlError::InvalidArg),
        Ask::Serial => gpu.serial().map(text),
        Ask::PciDevice => gpu.pci_info().map(|pci| pci.pci_device_id.into()),
        Ask::PciSubsystem => gpu.pci_info()?.pci_sub_system_id.map(Answer::from).ok_or(NvmlError::NotSupported),
        Ask::PcieGeneration => number(gpu.current_pcie_link_gen()),
        Ask::PcieGenerationMax => number(gpu.max_pcie_link_gen()),
        Ask::PcieWidth => number(gpu.current_pcie_link_width()),
        Ask::PcieWidthMax => number(gpu.max_pcie_link_width()),
        Ask::DisplayActive => gpu.is_display_active().map(Answer::from),
        Ask::Persistence => gpu.is_in_persistent_mode().map(Answer::from),
        Ask::Accounting => gpu.is_accounting_enabled().map(Answer::from),
        Ask::AccountingBuffer => number(gpu.accounting_buffer_size()),
        Ask::Vbios => gpu.vbios_version().map(text),
        Ask::Fan => number(fan_percent(gpu)),
        Ask::Pstate => pstate(gpu),
        Ask::ReasonsSupported => match gpu.supported_throttle_reasons_strict() {
            Err(NvmlError::IncorrectBits(Bits::U64(bits))) => Ok(bits.into()),
            reasons => reasons.map(|reasons| reasons.bits().into()),
        },
        Ask::Reasons => throttle_bits(gpu).map(Answer::from),
        Ask::ComputeMode => gpu.compute_mode().map(|mode| mode.as_c().into()),
        Ask::ComputeCapability => gpu.cuda_compute_capability().map(|has| format!("{}.{}", has.major, has.minor).as_str().into()),
        Ask::Utilization => gpu.utilization_rates().map(|rates| rates.gpu.into()),
        Ask::Bus => gpu.utilization_rates().map(|rates| rates.memory.into()),
        Ask::Encoder => gpu.encoder_utilization().map(|rate| rate.utilization.into()),
        Ask::Decoder => gpu.decoder_utilization().map(|rate| rate.utilization.into()),
        Ask::Ecc => gpu.is_ecc_enabled().map(|ecc| ecc.currently_enabled.into()),
        Ask::EccPending => gpu.is_ecc_enabled().map(|ecc| ecc.pending_enabled.into()),
        Ask::EccErrors { corrected, aggregate } => {
            let kind = if corrected { MemoryError::Corrected } else { MemoryError::Uncorrected };
            let counter = if aggregate { EccCounter::Aggregate } else { EccCounter::Volatile };
            gpu.total_ecc_errors(kind, counter).map(Answer::from)
        }
        Ask::RemappedCorrectable => raw::remapped_rows(gpu).map(|rows| rows.correctable.into()),
        Ask::RemappedUncorrectable => raw::remapped_rows(gpu).map(|rows| rows.uncorrectable.into()),
        Ask::RemappedPending => raw::remapped_rows(gpu).map(|rows| rows.pending.into()),
        Ask::RemappedFailed => raw::remapped_rows(gpu).map(|rows| rows.failed.into()),
        Ask::Temperature => number(gpu.temperature(TemperatureSensor::Gpu)),
        Ask::MemoryTemperature => field(gpu, NVML_FI_DEV_MEMORY_TEMP),
        Ask::Power => number(gpu.power_usage()),
        Ask::PowerAverage => field(gpu, NVML_FI_DEV_POWER_AVERAGE),
        Ask::PowerInstant => field(gpu, NVML_FI_DEV_POWER_INSTANT),
        Ask::PowerLimit => number(gpu.power_management_limit()),
        Ask::PowerLimitDefault => number(gpu.power_management_limit_default()),
        Ask::PowerLimitMin => gpu.power_management_limit_constraints().map(|limits| limits.min_limit.into()),
        Ask::PowerLimitMax => gpu.power_management_limit_constraints().map(|limits| limits.max_limit.into()),
        Ask::Clock(domain, figure) => number(clock(gpu, domain, figure)),
        Ask::Mig => gpu.mig_mode().map(|mode| (mode.current == 1).into()),
        Ask::MigPending => gpu.mig_mode().map(|mode| (mode.pending == 1).into()),
    }
}

fn number(answer: Result<u32, NvmlError>) -> Asked {
    answer.map(Answer::from)
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in `map`")]
fn text(text: String) -> Answer {
    text.as_str().into()
}

fn clock(gpu: &Handle, domain: ClockDomain, figure: ClockFigure) -> Result<u32, NvmlError> {
    let domain = match domain {
        ClockDomain::Graphics => Clock::Graphics,
        ClockDomain::Sm => Clock::SM,
        ClockDomain::Memory => Clock::Memory,
        ClockDomain::Video => Clock::Video,
    };
    match figure {
        ClockFigure::Current => gpu.clock_info(domain),
        ClockFigure::Application => gpu.applications_clock(domain),
        ClockFigure::Default => gpu.default_applications_clock(domain),
        ClockFigure::Max => gpu.max_clock_info(domain),
    }
}

fn pstate(gpu: &Handle) -> Asked {
    match gpu.performance_state()? {
        PerformanceState::Unknown => Err(NvmlError::NotSupported),
        state => Ok(state.as_c().into()),
    }
}

/// One of the driver's values by number.
fn field(gpu: &Handle, id: u32) -> Asked {
    let mut values = gpu.field_values_for(&[FieldId(id)])?;
    match values.pop().ok_or(NvmlError::NoData)??.value? {
        SampleValue::U32(number) => Ok(number.into()),
        SampleValue::U64(number) => Ok(number.into()),
        SampleValue::I64(number) => u64::try_from(number).map(Answer::from).map_err(|_| NvmlError::NoData),
        SampleValue::F64(_) => Err(NvmlError::NoData),
    }
}
