//! What devices there are, by calls so cheap that they can be made again and again: whether the driver has to be opened anew.
//!
//! A library that was started keeps its own list of GPUs until it is started again, so the kernel module's list counts as well.
//! What has gone is no reason: a device that is lost keeps its row.

use std::path::Path;

use super::LiveSource;
use super::Open;
use crate::collect::nvml::{Device, Driver};
use crate::collect::step::GpuStep;
use crate::collect::{Clock, power};
use crate::model::{Fault, GpuId};

/// How often it is looked.
const PERIOD_MS: u64 = 10_000;

/// What there was at the last look.
pub(super) struct Inventory {
    /// GPUs that the library counts.
    count: Option<usize>,
    /// Bus ids of the GPUs that the kernel module has.
    bound: Vec<String>,
    /// Numbers of the GPUs that the library counts and that could not be opened.
    unopened: Vec<u32>,
    /// The MIG instances of each GPU that is read.
    instances: Vec<(GpuId, Vec<GpuId>)>,
    next_ms: u64,
    /// How many devices could not be read then: a change is a reason to look at once.
    unreadable: usize,
}

impl Inventory {
    /// What was found when the driver was opened.
    pub(super) fn opened(devices: &[Device], unopened: &[Fault], proc_root: &Path, now_ms: u64) -> Self {
        let whole = || devices.iter().map(Device::facts).filter(|facts| facts.parent.is_none());
        let of =
            |id: &GpuId| devices.iter().map(Device::facts).filter(|facts| facts.parent.as_ref() == Some(id)).map(|facts| facts.id.clone()).collect();
        let count = whole().count() + unopened.iter().filter(|fault| fault.gpu.is_none()).count();
        Self {
            count: Some(count),
            unopened: (0..).take(count).filter(|index| whole().all(|facts| facts.index != Some(*index))).collect(),
            bound: power::bound(proc_root),
            instances: whole().map(|facts| (facts.id.clone(), of(&facts.id))).collect(),
            next_ms: now_ms + PERIOD_MS,
            unreadable: 0,
        }
    }

    /// Looks again. Says whether there is a GPU that was not there or could not be opened, or whether a GPU is parted in another way.
    fn has_changed(&mut self, driver: Driver, gpus: &mut [GpuStep], bound: Vec<String>) -> bool {
        let count = driver.device_count().get().and_then(|count| usize::try_from(count).ok());
        let more = count.zip(self.count).is_some_and(|(now, before)| now > before);
        let new = bound.iter().any(|pci| !self.bound.contains(pci));
        let instances = &self.instances;
        let parted = gpus.iter_mut().filter(|gpu| !gpu.is_asleep()).any(|gpu| {
            let Some((_, before)) = instances.iter().find(|(id, _)| *id == gpu.device.facts().id) else { return false };
            gpu.device.instances().is_some_and(|now| now != *before)
        });
        (self.count, self.bound) = (count.or(self.count), bound);
        let opens = |index: &u32| driver.devices_of(*index).first().is_some_and(Result::is_ok);
        more || new || parted || self.unopened.iter().any(opens)
    }
}

impl<C: Clock> LiveSource<C> {
    /// Whether other devices are there than the driver was opened for. Looks now and then, and when a device begins or ceases to fail.
    pub(super) fn has_other_devices(&self, open: &mut Open, now_ms: u64) -> bool {
        let unreadable = open.gpus.iter().filter(|gpu| gpu.is_unreadable()).count();
        if now_ms < open.inventory.next_ms && unreadable == open.inventory.unreadable {
            return false;
        }
        open.inventory.next_ms = now_ms + PERIOD_MS;
        open.inventory.unreadable = unreadable;
        open.inventory.has_changed(open.driver, &mut open.gpus, power::bound(&self.options.proc_root))
    }
}
