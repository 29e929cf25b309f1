//! One GPU or MIG instance as the driver shows it: its facts, its memory and who holds it.
//!
//! It keeps what was learned about the device (the versions of calls that work) and the buffers of its lists, and no history.

use nvml_wrapper::enum_wrappers::device::Clock;
use nvml_wrapper::error::NvmlError;

use super::call::Call;
use super::driver::Driver;
use super::line::{Condition, Line};
use super::lists::{Listed, Lists};
use super::raw::{self, Figures, Handle, UseBuffer};
use super::telemetry::{MOST_MHZ, MOST_MILLIWATTS};
use super::words;
use crate::model::{Absence, Bytes, DeviceMemory, Fault, GpuFacts, GpuId, ListState, Reading, SafeText};

/// A process figure is not believed above this where the device's total is unknown.
const MOST_BYTES: u64 = 1 << 50;
/// No GPU has more MIG instances, whatever the driver says (7 on all that exist).
const MOST_INSTANCES: u32 = 32;

/// Which memory call answers on a device. Figures of the two are never mixed: once one has given figures it stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemoryVersion {
    V2,
    V1,
}

/// A GPU or a MIG instance.
#[derive(Debug)]
pub struct Device {
    facts: GpuFacts,
    pub(super) line: Line,
    memory_version: Option<MemoryVersion>,
    /// What [`Device::has_own_memory`] found out.
    own_memory: Option<bool>,
    /// The last total that made sense.
    total: Option<u64>,
    /// The most that a process can have, where it is not the total.
    process_limit: Option<u64>,
    lists: Lists,
    pub(super) uses: UseBuffer,
    /// Whether MIG instances of this GPU are devices of their own, so that their processes are left out here.
    has_instances: bool,
}

impl Device {
    /// Opens the GPU with that number, and after it its MIG instances. A GPU or instance that cannot be opened is a fault.
    pub(super) fn open(driver: Driver, index: u32, into: &mut Vec<Result<Self, Fault>>) {
        let opened = driver.call(Call::Device, true, || driver.nvml().device_by_index(index)).and_then(|handle| {
            let line = Line::new(driver, handle, false);
            let pci = line.put(Call::Pci, Handle::pci_info).ok().map(|pci| SafeText::new(&pci.bus_id));
            let id = identify(&line, pci.as_ref())?;
            Ok(Self::new(line, id, pci))
        });
        let mut device = match opened {
            Ok(device) => device,
            Err(error) => {
                // Without a UUID it has no name but its number.
                let reason = SafeText::new(&format!("GPU {index}: {}", words::word(&error)));
                into.push(Err(Fault { gpu: None, call: Call::Device.name(), reason }));
                return;
            }
        };
        device.facts.index = Some(index);
        device.facts.mig = device.line.ask(Call::Mig, |device| device.mig_mode().map(|mode| mode.current == 1));
        let mut instances = Vec::new();
        if device.facts.mig == Reading::Value(true) {
            device.open_instances(&mut instances);
        }
        device.has_instances = instances.iter().any(Result::is_ok);
        into.push(Ok(device));
        into.append(&mut instances);
    }

    /// The UUIDs of its MIG instances as they are now; `None` where the driver does not say. Where MIG is off, one cheap call.
    pub fn instances(&mut self) -> Option<Vec<GpuId>> {
        if self.is_instance() || self.line.lacks(Call::Mig) {
            return Some(Vec::new());
        }
        if self.line.put(Call::Mig, Handle::mig_mode).ok()?.current != 1 {
            return Some(Vec::new());
        }
        let places = self.line.put(Call::Mig, Handle::mig_device_count).ok()?.min(MOST_INSTANCES);
        let mut ids = Vec::new();
        for place in 0..places {
            match self.line.put(Call::Mig, |gpu| gpu.mig_device_by_index(place)) {
                Ok(handle) => ids.push(identify(&Line::new(self.line.driver(), handle, true), None).ok()?),
                Err(NvmlError::NotFound | NvmlError::InvalidArg) => {}
                Err(_) => return None,
            }
        }
        Some(ids)
    }

    fn open_instances(&mut self, into: &mut Vec<Result<Self, Fault>>) {
        let places = self.line.ask(Call::Mig, Handle::mig_device_count).get().unwrap_or(0).min(MOST_INSTANCES);
        for place in 0..places {
            let opened = self.line.put(Call::Mig, |gpu| gpu.mig_device_by_index(place)).and_then(|handle| {
                let line = Line::new(self.line.driver(), handle, true);
                let id = identify(&line, None)?;
                Ok(Self::new(line, id, self.facts.pci.clone()))
            });
            match opened {
                Ok(mut instance) => {
                    instance.facts.instance = Some(place);
                    instance.facts.parent = Some(self.facts.id.clone());
                    into.push(Ok(instance));
                }
                // An empty place.
                Err(NvmlError::NotFound | NvmlError::InvalidArg) => {}
                Err(error) => {
                    into.push(Err(Fault { gpu: Some(self.facts.id.clone()), call: Call::Mig.name(), reason: SafeText::new(&words::word(&error)) }));
                }
            }
        }
    }

    fn new(mut line: Line, id: GpuId, pci: Option<SafeText>) -> Self {
        let name = line.ask(Call::Name, raw::name);
        let name = name.value().filter(|name| !name.as_str().is_empty()).cloned();
        let facts = GpuFacts {
            id,
            index: None,
            instance: None,
            parent: None,
            pci,
            name: name.unwrap_or_else(|| SafeText::new("NVIDIA GPU")),
            total: Reading::NOT_YET,
            shared_with_host: false,
            power_limit_mw: Reading::NOT_ASKED,
            max_sm_mhz: Reading::NOT_ASKED,
            max_memory_mhz: Reading::NOT_ASKED,
            bar1_total: Reading::NOT_ASKED,
            mig: Reading::NOT_SUPPORTED,
        };
        let mut device = Self {
            facts,
            line,
            memory_version: None,
            own_memory: None,
            total: None,
            process_limit: None,
            lists: Lists::new(),
            uses: UseBuffer::default(),
            has_instances: false,
        };
        let limit = device.line.ask(Call::PowerLimit, Handle::enforced_power_limit);
        device.facts.power_limit_mw = device.line.within(Call::PowerLimit, limit, MOST_MILLIWATTS);
        let memory = device.memory();
        // GPUs without memory of their own (GB10, Thor, Jetson) answer so by both memory calls; their names are no help.
        device.facts.shared_with_host = memory.absence() == Some(&Absence::NotSupported) && !device.has_own_memory();
        device.facts.total = memory.map(|memory| memory.total());
        device
    }

    /// The same device for the slow thread: it shares nothing that changes, knows what was learned so far, and its calls do not show
    /// in [`Driver::in_call`].
    #[must_use]
    pub fn for_slow_lane(&self) -> Self {
        Self {
            facts: self.facts.clone(),
            line: self.line.unwatched(),
            memory_version: self.memory_version,
            own_memory: self.own_memory,
            total: self.total,
            process_limit: self.process_limit,
            lists: Lists::new(),
            uses: UseBuffer::default(),
            has_instances: self.has_instances,
        }
    }

    /// What does not change. What is costly to ask is [`Reading::NOT_ASKED`] until [`Device::read_fixed`].
    pub const fn facts(&self) -> &GpuFacts {
        &self.facts
    }

    /// Whether it is a MIG instance, of which the driver tells memory and processes alone.
    pub(super) const fn is_instance(&self) -> bool {
        self.facts.parent.is_some()
    }

    /// Asks the facts that are costly: highest clocks (1.2 ms each on an H200) and BAR1 (0.2 ms).
    pub fn read_fixed(&mut self) {
        if self.is_instance() {
            self.facts.max_sm_mhz = Reading::NOT_SUPPORTED;
            self.facts.max_memory_mhz = Reading::NOT_SUPPORTED;
            self.facts.bar1_total = Reading::NOT_SUPPORTED;
            return;
        }
        let line = &mut self.line;
        let sm = line.ask(Call::MaxSmClock, |gpu| gpu.max_clock_info(Clock::SM));
        self.facts.max_sm_mhz = line.within(Call::MaxSmClock, sm, MOST_MHZ);
        let memory = line.ask(Call::MaxMemoryClock, |gpu| gpu.max_clock_info(Clock::Memory));
        self.facts.max_memory_mhz = line.within(Call::MaxMemoryClock, memory, MOST_MHZ);
        let bar1 = line.ask(Call::Bar1, |gpu| gpu.bar1_memory_info().map(|bar1| Bytes(bar1.total)));
        self.facts.bar1_total = line.within(Call::Bar1, bar1, Bytes(MOST_BYTES));
    }

    /// Whether it answers, from what its last calls came to. Trouble ends when the memory query, or the call that told of the trouble,
    /// succeeds: other answers may come from the library's own memory.
    pub fn condition(&self) -> Condition {
        self.line.condition()
    }

    /// Whether it is sure to have memory of its own, for where the memory calls tell nothing: BAR1 is the window to it. A GPU that
    /// shares the host's has none (nvidia-smi shows N/A for it on a GB10), while one with memory may lack it, too (GH200).
    pub fn has_own_memory(&mut self) -> bool {
        *self.own_memory.get_or_insert_with(|| self.line.ask(Call::Bar1, Handle::bar1_memory_info).value().is_some_and(|bar1| bar1.total > 0))
    }

    /// Its memory: by v2, where the driver's reserve stands apart, else by v1. Which one is settled by the first figures that make
    /// sense, for as long as the device is open.
    pub fn memory(&mut self) -> Reading<DeviceMemory> {
        if self.line.lacks(Call::Memory) {
            return Reading::NOT_SUPPORTED;
        }
        let reading = match self.memory_version {
            Some(version) => {
                let answer = self.line.put(Call::Memory, |device| figures(device, version));
                self.line.learn(Call::Memory, answer).and_then(checked)
            }
            None => self.first_memory(),
        };
        match &reading {
            Reading::Value(memory) => self.total = Some(memory.total().0),
            Reading::Absent(Absence::Failed(reason)) => self.line.note(Call::Memory, reason.clone()),
            Reading::Absent(_) => {}
        }
        reading
    }

    fn first_memory(&mut self) -> Reading<DeviceMemory> {
        let by = |line: &Line, version| line.put(Call::Memory, |device| figures(device, version));
        let answer = words::newest(&[MemoryVersion::V2, MemoryVersion::V1], |version| by(&self.line, version));
        let (version, reading) = match self.line.learn(Call::Memory, answer) {
            Reading::Value((version, figures)) => (version, checked(figures)),
            Reading::Absent(why) => return Reading::Absent(why),
        };
        if reading.is_value() {
            self.memory_version = Some(version);
        } else if version == MemoryVersion::V2 {
            // Parts that do not add up may be another version's struct: see whether v1 makes sense.
            let older = by(&self.line, MemoryVersion::V1).map(checked);
            if let Ok(older @ Reading::Value(_)) = older {
                self.line.note(Call::Memory, "v2 made no sense, v1 is used");
                self.memory_version = Some(MemoryVersion::V1);
                return older;
            }
        }
        reading
    }

    /// Who holds its memory: the compute, graphics and MPS lists, one row a PID in the order of PIDs. `into` is cleared first.
    ///
    /// Where a list outgrew its buffer at every try, or failed in another way, those that stood in its last answer stay; their figure is
    /// stale since then, by `now_ms` of that call. The driver lists the processes of MIG instances with their parent, too; where the
    /// instances are devices of their own, a parent leaves those out, so that nothing is counted twice. A figure above
    /// [`Device::set_process_limit`] is absent.
    pub fn processes(&mut self, now_ms: u64, into: &mut Vec<Listed>) -> Reading<ListState> {
        let limit = self.process_limit();
        self.lists.read(&mut self.line, limit, self.has_instances, now_ms, into)
    }

    /// The largest figure of the last process lists that is above the limit, and therefore absent from its row. Above the device's
    /// total and within the host's memory it is the mark of a GPU that shares the host's and tells too small a total.
    pub fn beyond_limit(&self) -> Option<Bytes> {
        self.lists.beyond_limit(self.process_limit()).map(Bytes)
    }

    /// Believes figures of processes up to `most`; without this, up to the device's total.
    pub const fn set_process_limit(&mut self, most: Bytes) {
        self.process_limit = Some(most.0);
    }

    fn process_limit(&self) -> u64 {
        self.process_limit.or(self.total).unwrap_or(MOST_BYTES)
    }

    /// Moves the failures since the last time to `into`: at most one a call name. What is not supported or not permitted is none.
    pub fn take_faults(&mut self, into: &mut Vec<Fault>) {
        self.line.take_faults(&self.facts.id, into);
    }
}

fn figures(device: &Handle, version: MemoryVersion) -> Result<Figures, NvmlError> {
    match version {
        MemoryVersion::V2 => {
            device.memory_info().map(|memory| Figures { total: memory.total, used: memory.used, free: memory.free, reserved: Some(memory.reserved) })
        }
        MemoryVersion::V1 => raw::memory_v1(device),
    }
}

fn checked(figures: Figures) -> Reading<DeviceMemory> {
    DeviceMemory::new(figures.total, figures.used, figures.free, figures.reserved)
}

/// The device's UUID; where the driver has none, its place on the bus.
fn identify(line: &Line, pci: Option<&SafeText>) -> Result<GpuId, NvmlError> {
    match (line.put(Call::Uuid, raw::uuid), pci) {
        (Ok(uuid), _) if !uuid.as_str().is_empty() => Ok(GpuId::new(uuid.as_str())),
        (Ok(_) | Err(NvmlError::NotSupported), Some(pci)) => Ok(GpuId::new(&format!("PCI-{pci}"))),
        (Ok(_), None) => Err(NvmlError::NoData),
        (Err(error), _) => Err(error),
    }
}
