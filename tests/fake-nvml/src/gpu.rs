//! One GPU, ready to be asked about: identity, memory, processes, latencies.

use crate::codes::{Code, NOT_SUPPORTED};
use crate::latency::Latency;
use crate::process::{self, Process};
use crate::scenario::{LatencySpec, MigModeSpec, MigSpec};
use crate::scenario_gpu::{GpuSpec, Kind};

/// A GPU of the scenario.
#[derive(Debug)]
pub(crate) struct Gpu {
    pub(crate) spec: GpuSpec,
    pub(crate) uuid: String,
    pub(crate) pci: Pci,
    pub(crate) minor: u32,
    pub(crate) processes: Vec<Process>,
    pub(crate) latency: Latency,
    /// How many processes never change, and the bytes they use together.
    constant: (usize, u64),
    /// The places of the others.
    changing: Vec<usize>,
}

/// Where a GPU is on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pci {
    pub(crate) domain: u32,
    pub(crate) bus: u32,
    pub(crate) device: u32,
}

impl Pci {
    /// Reads `00000000:00:06.0`, with a domain of any length or none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (rest, _function) = text.split_once('.').unwrap_or((text, "0"));
        let mut parts = rest.rsplit(':');
        let mut hex = || u32::from_str_radix(parts.next()?, 16).ok();
        let device = hex()?;
        let bus = hex()?;
        let domain = hex().unwrap_or(0);
        Some(Self { domain, bus, device })
    }

    fn of_index(index: usize) -> Self {
        Self { domain: 0, bus: index as u32, device: 6 }
    }
}

/// The memory of a GPU or an instance: NVML's second version of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) total: u64,
    pub(crate) reserved: u64,
    pub(crate) used: u64,
    pub(crate) free: u64,
}

impl Memory {
    fn of(total: u64, reserved: u64, used: u64) -> Self {
        let reserved = reserved.min(total);
        let used = used.min(total - reserved);
        Self { total, reserved, used, free: total - reserved - used }
    }
}

impl Gpu {
    /// The GPU with this index, the `nth` that is made from `spec`.
    pub(crate) fn new(spec: &GpuSpec, index: usize, nth: usize, latency: &LatencySpec) -> Result<Self, String> {
        let processes = process::all_of(spec, nth)?;
        let (constant, changing): (Vec<usize>, Vec<usize>) = (0..processes.len()).partition(|place| processes[*place].is_constant());
        let bytes = constant.iter().map(|place| processes[*place].adds(0.0));
        let pci = match &spec.pci {
            Some(text) => {
                let first = Pci::parse(text).ok_or_else(|| format!("`{text}` is no PCI address"))?;
                Pci { bus: first.bus + nth as u32, ..first }
            }
            None => Pci::of_index(index),
        };
        let uuid = match (&spec.uuid, nth) {
            (Some(uuid), 0) => uuid.clone(),
            (Some(_), _) => return Err("a GPU with a `uuid` cannot repeat".to_owned()),
            (None, _) => format!("GPU-00000000-0000-0000-0000-{:012}", index + 1),
        };
        Ok(Self {
            uuid,
            pci,
            minor: spec.minor.map_or(index, |minor| minor as usize + nth) as u32,
            constant: (constant.len(), bytes.sum()),
            changing,
            latency: Latency::new(&[&spec.latency, latency])?,
            processes,
            spec: spec.clone(),
        })
    }

    /// How many processes run on it at `t` seconds.
    pub(crate) fn running(&self, t: f64) -> usize {
        let now = self.changing.iter().filter(|p| self.processes[**p].runs(t));
        self.constant.0 + now.count()
    }

    /// How many processes a list has at `t` seconds.
    pub(crate) fn listed(&self, list: Kind, instance: Option<(u32, u32)>, t: f64) -> usize {
        let listed = |p: &&Process| p.is_in(list, t) && p.belongs(instance);
        self.processes.iter().filter(listed).count()
    }

    /// The bytes used at `t` seconds, without those reserved.
    pub(crate) fn used(&self, t: f64) -> u64 {
        if let Some(used) = &self.spec.used {
            return used.whole(t);
        }
        let changing = self.changing.iter().map(|place| &self.processes[*place]);
        let changing: u64 = changing.filter(|p| p.runs(t)).map(|p| p.adds(t)).sum();
        let rest = self.spec.unattributed.as_ref().map_or(0, |c| c.whole(t));
        self.constant.1 + changing + rest
    }

    /// The memory at `t` seconds.
    pub(crate) fn memory(&self, t: f64) -> Result<Memory, Code> {
        if self.spec.shared_memory {
            return Err(NOT_SUPPORTED);
        }
        let total = self.spec.total.bytes();
        let mut memory = Memory::of(total, self.spec.reserved.bytes(), self.used(t));
        if self.spec.garbage.used_over_total {
            memory.used = total + (1 << 30);
        }
        if self.spec.garbage.total_zero {
            memory.total = 0;
        }
        Ok(memory)
    }

    /// The memory of an instance at `t` seconds.
    pub(crate) fn instance_memory(&self, mig: &MigSpec, t: f64) -> Memory {
        let used = mig.used.as_ref().map_or_else(
            || {
                let own = |p: &&Process| p.runs(t) && p.belongs(Some((mig.gi, mig.ci)));
                self.processes.iter().filter(own).map(|p| p.adds(t)).sum()
            },
            |curve| curve.whole(t),
        );
        let reserved = mig.reserved.map_or(0, |amount| amount.bytes());
        Memory::of(mig.total.bytes(), reserved, used)
    }

    /// The mode of splitting, `None` where the GPU cannot be split.
    pub(crate) fn mig_mode(&self) -> Option<MigModeSpec> {
        let mode = self.spec.mig.clone().unwrap_or_else(|| MigModeSpec { enabled: !self.spec.mig_device.is_empty(), ..MigModeSpec::default() });
        mode.supported.then_some(mode)
    }

    /// Whether the GPU is split into instances now.
    pub(crate) fn is_split(&self) -> bool {
        self.mig_mode().is_some_and(|mode| mode.enabled)
    }

    /// The energy used since the driver was loaded, in millijoules.
    pub(crate) fn energy_mj(&self, t: f64) -> Result<u64, Code> {
        match &self.spec.energy {
            Some(reading) => reading.whole(t),
            None => Ok(1_000_000_000 + (self.spec.power_w.at(t)? * t * 1e3) as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Gpu, Pci};
    use crate::scenario::{LatencySpec, Scenario};

    fn gpu(text: &str) -> Gpu {
        let scenario: Scenario = toml::from_str(text).unwrap();
        Gpu::new(&scenario.gpu[0], 0, 0, &LatencySpec::default()).unwrap()
    }

    #[test]
    fn addresses() {
        let full = Pci::parse("00000000:0a:06.0").unwrap();
        assert_eq!((full.domain, full.bus, full.device), (0, 10, 6));
        assert_eq!(Pci::parse("0A:06.0"), Some(full));
        assert_eq!(Pci::parse("somewhere"), None);
    }

    #[test]
    fn memory_is_what_processes_and_the_rest_use() {
        let gpu = gpu(r#"
            [[gpu]]
            total = "10GiB"
            reserved = "1GiB"
            unattributed = "1GiB"
            process = [
                { pid = 1, memory = "2GiB" },
                { pid = 2, memory = "unavailable", kind = ["compute", "graphics"] },
                { pid = 3, memory = "3GiB", start_s = 5, end_s = 6 },
            ]
        "#);
        let gib = |t: f64| {
            let m = gpu.memory(t).unwrap();
            [m.used >> 30, m.free >> 30]
        };
        assert_eq!(gib(0.0), [3, 6]);
        assert_eq!(gib(5.5), [6, 3]);
        assert_eq!(gib(6.0), [3, 6]);
        assert_eq!([gpu.running(0.0), gpu.running(5.0)], [2, 3]);
    }
}
