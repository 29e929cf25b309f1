//! The fields of `--query-gpu` that are offered, in nvidia-smi's order, each with what it is read from and how it is spelled.

use super::cell::{Cell, Unit, moment, plain, watts, yes_no};
use super::{Field, Row};
use crate::model::{Answer, Ask, Bytes, ClockDomain, ClockFigure, DeviceMemory, GpuState, MemorySource, Reading};

use ClockDomain::{Graphics, Memory, Sm, Video};
use ClockFigure::{Application, Current, Default, Max};
use Unit::{Mhz, Mib, None as No, Percent, Watt};

type Make = fn(&Field, &Row<'_>) -> Cell;

/// A field that every step has.
const fn read(names: &'static [&'static str], unit: Unit, cell: Make) -> Field {
    Field { names, unit, ask: None, cell }
}

/// A field that has to be asked for.
const fn ask(names: &'static [&'static str], unit: Unit, ask: Ask, cell: Make) -> Field {
    Field { names, unit, ask: Some(ask), cell }
}

const fn errors(names: &'static [&'static str], corrected: bool, aggregate: bool) -> Field {
    ask(names, No, Ask::EccErrors { corrected, aggregate }, as_it_is)
}

const fn clock(names: &'static [&'static str], domain: ClockDomain, figure: ClockFigure) -> Field {
    ask(names, Mhz, Ask::Clock(domain, figure), as_it_is)
}

const fn reason(names: &'static [&'static str], cell: Make) -> Field {
    ask(names, No, Ask::Reasons, cell)
}

pub(super) const TIMESTAMP: Field = read(&["timestamp"], No, |_, row| Cell::text(moment(row.time, row.zone)));
pub(super) const NAME: Make = |_, row| Cell::text(&row.gpu.facts.name);
pub(super) const UUID: Make = |_, row| Cell::text(&row.gpu.facts.id);
pub(super) const BUS_ID: Make = |_, row| Cell::known(row.gpu.facts.pci.as_ref());

pub(super) const GPU: &[Field] = &[
    TIMESTAMP,
    read(&["driver_version"], No, |_, row| Cell::known(row.monitor.header().and_then(|header| header.driver.as_ref()))),
    ask(&["count"], No, Ask::Count, as_it_is),
    read(&["name", "gpu_name"], No, NAME),
    ask(&["serial", "gpu_serial"], No, Ask::Serial, as_it_is),
    read(&["uuid", "gpu_uuid"], No, UUID),
    read(&["pci.bus_id", "gpu_bus_id"], No, BUS_ID),
    read(&["pci.domain"], No, |_, row| place(row, |[domain, _, _]| format!("0x{domain:04X}"))),
    read(&["pci.bus"], No, |_, row| place(row, |[_, bus, _]| format!("0x{bus:02X}"))),
    read(&["pci.device"], No, |_, row| place(row, |[_, _, device]| format!("0x{device:02X}"))),
    ask(&["pci.device_id"], No, Ask::PciDevice, |field, row| number(field, row, |id| format!("0x{id:08X}"))),
    ask(&["pci.sub_device_id"], No, Ask::PciSubsystem, |field, row| number(field, row, |id| format!("0x{id:08X}"))),
    ask(&["pcie.link.gen.current"], No, Ask::PcieGeneration, as_it_is),
    ask(&["pcie.link.gen.gpucurrent"], No, Ask::PcieGeneration, as_it_is),
    ask(&["pcie.link.gen.max"], No, Ask::PcieGenerationMax, as_it_is),
    ask(&["pcie.link.width.current"], No, Ask::PcieWidth, as_it_is),
    ask(&["pcie.link.width.max"], No, Ask::PcieWidthMax, as_it_is),
    read(&["index"], No, |_, row| Cell::known(row.gpu.facts.index)),
    ask(&["display_active"], No, Ask::DisplayActive, as_it_is),
    ask(&["persistence_mode"], No, Ask::Persistence, as_it_is),
    ask(&["accounting.mode"], No, Ask::Accounting, as_it_is),
    ask(&["accounting.buffer_size"], No, Ask::AccountingBuffer, as_it_is),
    ask(&["vbios_version"], No, Ask::Vbios, as_it_is),
    ask(&["fan.speed"], Percent, Ask::Fan, as_it_is),
    ask(&["pstate"], No, Ask::Pstate, |field, row| number(field, row, |state| format!("P{state}"))),
    ask(&["clocks_event_reasons.supported", "clocks_throttle_reasons.supported"], No, Ask::ReasonsSupported, mask),
    reason(&["clocks_event_reasons.active", "clocks_throttle_reasons.active"], mask),
    reason(&["clocks_event_reasons.gpu_idle", "clocks_throttle_reasons.gpu_idle"], active::<0x001>),
    reason(&["clocks_event_reasons.applications_clocks_setting", "clocks_throttle_reasons.applications_clocks_setting"], active::<0x002>),
    reason(&["clocks_event_reasons.sw_power_cap", "clocks_throttle_reasons.sw_power_cap"], active::<0x004>),
    reason(&["clocks_event_reasons.hw_slowdown", "clocks_throttle_reasons.hw_slowdown"], active::<0x008>),
    reason(&["clocks_event_reasons.hw_thermal_slowdown", "clocks_throttle_reasons.hw_thermal_slowdown"], active::<0x040>),
    reason(&["clocks_event_reasons.hw_power_brake_slowdown", "clocks_throttle_reasons.hw_power_brake_slowdown"], active::<0x080>),
    reason(&["clocks_event_reasons.sw_thermal_slowdown", "clocks_throttle_reasons.sw_thermal_slowdown"], active::<0x020>),
    reason(&["clocks_event_reasons.sync_boost", "clocks_throttle_reasons.sync_boost"], active::<0x010>),
    read(&["memory.total"], Mib, |_, row| memory(row, |memory| Some(memory.total()))),
    read(&["memory.reserved"], Mib, |_, row| memory(row, |memory| memory.driver())),
    read(&["memory.used"], Mib, |_, row| memory(row, |memory| memory.used())),
    read(&["memory.free"], Mib, |_, row| memory(row, |memory| Some(memory.free()))),
    ask(&["compute_mode"], No, Ask::ComputeMode, |field, row| number(field, row, compute_mode)),
    ask(&["compute_cap"], No, Ask::ComputeCapability, as_it_is),
    ask(&["utilization.gpu"], Percent, Ask::Utilization, as_it_is),
    ask(&["utilization.memory"], Percent, Ask::Bus, as_it_is),
    ask(&["utilization.encoder"], Percent, Ask::Encoder, as_it_is),
    ask(&["utilization.decoder"], Percent, Ask::Decoder, as_it_is),
    ask(&["ecc.mode.current"], No, Ask::Ecc, as_it_is),
    ask(&["ecc.mode.pending"], No, Ask::EccPending, as_it_is),
    errors(&["ecc.errors.corrected.volatile.total"], true, false),
    errors(&["ecc.errors.corrected.aggregate.total"], true, true),
    errors(&["ecc.errors.uncorrected.volatile.total"], false, false),
    errors(&["ecc.errors.uncorrected.aggregate.total"], false, true),
    ask(&["remapped_rows.correctable", "remapped_rows.sbe"], No, Ask::RemappedCorrectable, as_it_is),
    ask(&["remapped_rows.uncorrectable", "remapped_rows.dbe"], No, Ask::RemappedUncorrectable, as_it_is),
    ask(&["remapped_rows.pending"], No, Ask::RemappedPending, |field, row| answer(field, row, yes_no)),
    ask(&["remapped_rows.failure"], No, Ask::RemappedFailed, |field, row| answer(field, row, yes_no)),
    ask(&["temperature.gpu"], No, Ask::Temperature, as_it_is),
    ask(&["temperature.memory"], No, Ask::MemoryTemperature, as_it_is),
    ask(&["power.draw"], Watt, Ask::Power, power),
    ask(&["power.draw.average", "gpu.power.draw.average"], Watt, Ask::PowerAverage, power),
    ask(&["power.draw.instant", "gpu.power.draw.instant"], Watt, Ask::PowerInstant, power),
    ask(&["power.limit", "gpu.power.requested_limit"], Watt, Ask::PowerLimit, power),
    read(&["enforced.power.limit", "gpu.power.current_limit"], Watt, |_, row| {
        Cell::of(row.gpu.facts.power_limit_mw.clone().map(|milliwatts| watts(milliwatts.into())))
    }),
    ask(&["power.default_limit", "gpu.power.default_limit"], Watt, Ask::PowerLimitDefault, power),
    ask(&["power.min_limit", "gpu.power.min_limit"], Watt, Ask::PowerLimitMin, power),
    ask(&["power.max_limit", "gpu.power.max_limit"], Watt, Ask::PowerLimitMax, power),
    clock(&["clocks.current.graphics", "clocks.gr"], Graphics, Current),
    clock(&["clocks.current.sm", "clocks.sm"], Sm, Current),
    clock(&["clocks.current.memory", "clocks.mem"], Memory, Current),
    clock(&["clocks.current.video", "clocks.video"], Video, Current),
    clock(&["clocks.applications.graphics", "clocks.applications.gr"], Graphics, Application),
    clock(&["clocks.applications.memory", "clocks.applications.mem"], Memory, Application),
    clock(&["clocks.default_applications.graphics", "clocks.default_applications.gr"], Graphics, Default),
    clock(&["clocks.default_applications.memory", "clocks.default_applications.mem"], Memory, Default),
    clock(&["clocks.max.graphics", "clocks.max.gr"], Graphics, Max),
    clock(&["clocks.max.sm"], Sm, Max),
    clock(&["clocks.max.memory", "clocks.max.mem"], Memory, Max),
    ask(&["mig.mode.current"], No, Ask::Mig, as_it_is),
    ask(&["mig.mode.pending"], No, Ask::MigPending, as_it_is),
];

/// The answer to the field's question, spelled by `spell`.
pub(super) fn answer(field: &Field, row: &Row<'_>, spell: impl FnOnce(&Answer) -> String) -> Cell {
    let asked = row.gpu.telemetry.asked.iter().find(|(ask, _)| Some(*ask) == field.ask);
    Cell::of(match (asked, &row.gpu.state) {
        (Some((_, reading)), _) => reading.as_ref().map(spell),
        (None, GpuState::Lost { .. }) => Reading::failed(GpuState::LOST),
        (None, _) => Reading::NOT_YET,
    })
}

/// The answer without further ado.
pub(super) fn as_it_is(field: &Field, row: &Row<'_>) -> Cell {
    answer(field, row, plain)
}

fn number(field: &Field, row: &Row<'_>, spell: impl FnOnce(u64) -> String) -> Cell {
    answer(field, row, |answer| if let Answer::Number(number) = answer { spell(*number) } else { plain(answer) })
}

fn power(field: &Field, row: &Row<'_>) -> Cell {
    number(field, row, watts)
}

fn mask(field: &Field, row: &Row<'_>) -> Cell {
    number(field, row, |bits| format!("0x{bits:016X}"))
}

/// Whether a bit of `nvmlClocksEventReasons` is set.
fn active<const BIT: u64>(field: &Field, row: &Row<'_>) -> Cell {
    number(field, row, |bits| if bits & BIT == 0 { "Not Active" } else { "Active" }.to_owned())
}

/// `nvmlComputeMode_t` in the words of nvidia-smi's help.
fn compute_mode(mode: u64) -> String {
    match mode {
        0 => "Default",
        1 => "Exclusive_Thread",
        2 => "Prohibited",
        3 => "Exclusive_Process",
        _ => "Unknown",
    }
    .to_owned()
}

/// A figure of the GPU's own memory; the host's pool is none.
fn memory(row: &Row<'_>, part: impl FnOnce(DeviceMemory) -> Option<Bytes>) -> Cell {
    let own = row.gpu.memory.clone().and_then(|memory| {
        let part = if memory.source() == MemorySource::Host { None } else { part(memory) };
        part.map_or(Reading::NOT_SUPPORTED, Reading::Value)
    });
    Cell::mib(own)
}

/// Domain, bus and device of `00000000:00:06.0`.
fn place(row: &Row<'_>, spell: impl FnOnce([u32; 3]) -> String) -> Cell {
    let parts = row.gpu.facts.pci.as_ref().and_then(|pci| {
        let (place, _function) = pci.as_str().rsplit_once('.')?;
        let mut parts = place.split(':').map(|part| u32::from_str_radix(part, 16).ok());
        Some([parts.next()??, parts.next()??, parts.next()??])
    });
    Cell::known(parts.map(spell))
}
