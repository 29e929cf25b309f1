//! MIG instances beside a chosen one. They have no row; their processes hold memory of the parent's row and are counted there.

use crate::collect::Clock;
use crate::collect::nvml::{Device, Listed};
use crate::collect::step::GpuStep;
use crate::model::{GpuId, Untracked};

/// An instance that was not chosen.
pub(super) struct Sibling {
    parent: GpuId,
    device: Device,
    listed: Vec<Listed>,
    /// Whether its last lists could be read, all of them.
    known: bool,
}

impl Sibling {
    /// Parts the devices at the `chosen` positions from their siblings; all others are let go.
    pub(super) fn part(devices: Vec<Device>, chosen: &[usize]) -> (Vec<Device>, Vec<Self>) {
        let (meant, others): (Vec<_>, Vec<_>) = devices.into_iter().enumerate().partition(|(at, _)| chosen.contains(at));
        let meant: Vec<Device> = meant.into_iter().map(|(_, device)| device).collect();
        let sibling = |device: Device| {
            let parent = device.facts().parent.clone().filter(|parent| meant.iter().any(|device| device.facts().id == *parent))?;
            Some(Self { parent, device, listed: Vec::new(), known: false })
        };
        let siblings = others.into_iter().filter_map(|(_, device)| sibling(device)).collect();
        (meant, siblings)
    }

    /// Reads its list at `now_ms`. Returns what it took by `clock`, in microseconds, where it could be read.
    pub(super) fn read(&mut self, now_ms: u64, clock: &impl Clock) -> Option<u64> {
        let before = clock.now_us();
        let list = self.device.processes(now_ms, &mut self.listed);
        self.known = list.is_whole();
        list.is_value().then(|| clock.now_us().saturating_sub(before))
    }

    /// Adds its processes to those that are only counted on its parent.
    pub(super) fn count_in(&self, gpus: &[GpuStep], untracked: &mut [Untracked]) {
        let parent = gpus.iter().position(|gpu| gpu.device.facts().id == self.parent);
        let Some(counted) = parent.and_then(|at| untracked.get_mut(at)) else { return };
        if self.known {
            self.listed.iter().for_each(|listed| counted.add(listed.memory.get()));
        } else {
            // At least one, or the sum would be known.
            (0..self.listed.len().max(1)).for_each(|_| counted.add(None));
        }
    }
}
