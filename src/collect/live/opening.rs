//! Opening the driver: at first, after a reload, after a sleep, and when devices come and go. It refuses to hold what is read once it is open.

use std::sync::Arc;
use std::time::Instant;

use super::inventory::Inventory;
use super::options::DriverLine;
use super::siblings::Sibling;
use super::tracked::Tracked;
use super::{FixedFacts, LiveSource, Open, Session};
use crate::collect::host::Host;
use crate::collect::lanes::LaneClock;
use crate::collect::nvml::{Device, Driver};
use crate::collect::power::SleepWatch;
use crate::collect::step::GpuStep;
use crate::collect::{Clock, SourceError};
use crate::model::{Fault, GpuFacts, Header, Record, SafeText, SelectionError, known_gpus};

impl<C: Clock> LiveSource<C> {
    pub(super) fn open_first(&mut self) -> Result<(), SourceError> {
        self.session = match self.find_asleep()? {
            Some(asleep) => asleep,
            None => Session::Open(self.open()?),
        };
        Ok(())
    }

    /// Opens the driver and sends a header. Also the way back after a reload or a sleep.
    pub(super) fn open(&mut self) -> Result<Box<Open>, SourceError> {
        self.exchange.set_driver(DriverLine::Starting(Instant::now()));
        let driver = Driver::open(self.options.library.as_deref()).inspect_err(|_| self.exchange.set_driver(DriverLine::Closed))?;
        self.exchange.set_driver(DriverLine::Open(driver));
        let mut unopened = Vec::new();
        let mut devices = Vec::new();
        for device in driver.devices() {
            match device {
                Ok(device) => devices.push(device),
                Err(fault) => unopened.push(fault),
            }
        }
        if devices.is_empty() {
            driver.close();
            return Err(none_opened(&unopened));
        }
        let chosen = self.choose(&devices.iter().map(Device::facts).collect::<Vec<_>>()).map_err(|error| {
            driver.close();
            not_among(error, &unopened)
        })?;
        let inventory = Inventory::opened(&devices, &unopened, &self.options.proc_root, self.clock.now_ms());
        let (mut devices, siblings) = Sibling::part(devices, &chosen);
        if self.options.fixed == FixedFacts::First {
            devices.iter_mut().for_each(Device::read_fixed);
        }
        let watches = devices.iter().map(|d| SleepWatch::new(self.power_files(d.facts()))).collect();
        let mut gpus: Vec<GpuStep> = devices.into_iter().map(GpuStep::new).collect();
        for gpu in &mut gpus {
            gpu.go_on(&mut self.cut_off);
        }
        self.cut_off.clear();
        let now = self.clock.now_ms();
        let open = Open {
            driver,
            gpus,
            siblings,
            tracked: Tracked::default(),
            inventory,
            watches,
            memory: LaneClock::new(now, self.memory_period_ms()),
            processes: LaneClock::new(now, self.list_period_ms()),
            list_period_ms: self.list_period_ms(),
            list_costs_us: [0; 3],
            step: LaneClock::new(now, self.options.interval_ms.max(1)),
            began_ms: now,
            slow: None,
            unopened,
            fixed_read: self.options.fixed != FixedFacts::Later,
            sampled: false,
            telemetry_waits: false,
        };
        // After a header every process is introduced anew.
        self.host.retain(&|_| false);
        self.send_header(Some(driver), open.gpus.iter().map(|g| Arc::new(g.facts())).collect());
        Ok(Box::new(open))
    }

    /// Positions of the devices that are meant. What is meant is settled when the driver is opened first.
    pub(super) fn choose(&mut self, gpus: &[&GpuFacts]) -> Result<Vec<usize>, SelectionError> {
        self.options.selection = self.options.selection.settled(gpus)?;
        let chosen = self.options.selection.positions(gpus)?;
        if chosen.is_empty() { Err(SelectionError::Nothing { known: known_gpus(gpus) }) } else { Ok(chosen) }
    }

    pub(super) fn send_header(&mut self, driver: Option<Driver>, gpus: Vec<Arc<GpuFacts>>) {
        let versions = driver.map(Driver::versions);
        let (driver, cuda) = versions.map_or((None, None), |v| (v.driver, v.cuda));
        let text = |version: &Option<SafeText>| version.as_ref().map_or("unknown", SafeText::as_str).to_owned();
        log::info!("driver {}, CUDA {}, devices: {}", text(&driver), text(&cuda), gpus.len());
        self.queue.push_back(Record::Header(Arc::new(Header {
            time: self.clock.wall(),
            version: SafeText::new(env!("CARGO_PKG_VERSION")),
            host: Host::hostname(),
            driver,
            cuda,
            interval_ms: self.options.interval_ms,
            memory_hz: self.options.memory_hz,
            gpus,
        })));
    }

    /// Opens the driver anew for the devices that are there now. The lanes keep their deadlines: where that takes long it is a gap.
    pub(super) fn reopen(&mut self, before: &Open) -> Session {
        before.driver.close();
        let Ok(mut open) = self.open() else { return self.gone("its devices have changed") };
        (open.memory, open.processes, open.step) = (before.memory, before.processes, before.step);
        (open.list_period_ms, open.list_costs_us) = (before.list_period_ms, before.list_costs_us);
        Session::Open(open)
    }
}

/// What was asked for may be one that has no name yet: then it was not the asking that was wrong.
fn not_among(error: SelectionError, unopened: &[Fault]) -> SourceError {
    if unopened.is_empty() {
        return error.into();
    }
    let reasons: Vec<&str> = unopened.iter().map(|fault| fault.reason.as_str()).collect();
    SourceError::SelectionUnopened { error, reasons: reasons.join(", "), not_permitted: unopened.iter().all(Fault::is_of_permission) }
}

fn none_opened(faults: &[Fault]) -> SourceError {
    if faults.is_empty() {
        return SourceError::NoGpu;
    }
    let reasons: Vec<String> = faults.iter().map(|fault| format!("{} ({})", fault.call, fault.reason)).collect();
    SourceError::NoneReadable { reasons: reasons.join(", "), not_permitted: faults.iter().all(Fault::is_of_permission) }
}
