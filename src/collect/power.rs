//! Lets an idle GPU sleep: what sysfs says of runtime power management, and when a device may be left alone.
//!
//! It reads sysfs alone; asking the driver about a sleeping GPU would wake it.

use std::fs;
use std::path::{Path, PathBuf};

/// How long a device must have had no process and no work before it is left alone.
pub(super) const IDLE_MS: u64 = 30_000;
/// A device that does not fall asleep though it is left alone is looked at again after this long: somebody uses it.
pub(super) const RELOOK_MS: u64 = 60_000;

/// The kernel's view of one PCI device.
#[derive(Clone, Debug)]
pub(super) struct PowerFiles {
    folder: PathBuf,
}

impl PowerFiles {
    /// The files of the device with that bus id, as the driver spells it (`00000000:01:00.0`).
    pub(super) fn of(sys_root: &Path, pci: &str) -> Self {
        let short = pci.get(4..).filter(|_| pci.len() == 16).unwrap_or(pci).to_ascii_lowercase();
        Self { folder: sys_root.join("bus/pci/devices").join(short).join("power") }
    }

    /// Whether the kernel may put it to sleep (`power/control` is `auto`).
    pub(super) fn may_sleep(&self) -> bool {
        self.read("control").as_deref() == Some("auto")
    }

    /// Whether it sleeps now.
    pub(super) fn is_suspended(&self) -> bool {
        self.read("runtime_status").as_deref() == Some("suspended")
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(name)).ok().map(|text| text.trim().to_owned())
    }
}

/// Decides for one device when to leave it alone and when to look again.
#[derive(Clone, Debug)]
pub(super) struct SleepWatch {
    files: PowerFiles,
    may_sleep: bool,
    idle_since_ms: Option<u64>,
    left_alone_ms: u64,
    was_suspended: bool,
}

impl SleepWatch {
    pub(super) fn new(files: PowerFiles) -> Self {
        let may_sleep = files.may_sleep();
        Self { files, may_sleep, idle_since_ms: None, left_alone_ms: 0, was_suspended: false }
    }

    /// A step in which the device answered: whether it should now be left alone.
    pub(super) fn should_sleep(&mut self, idle: bool, now_ms: u64) -> bool {
        if !self.may_sleep || !idle {
            self.idle_since_ms = None;
            return false;
        }
        let since = *self.idle_since_ms.get_or_insert(now_ms);
        if now_ms.saturating_sub(since) < IDLE_MS {
            return false;
        }
        self.left_alone_ms = now_ms;
        self.was_suspended = false;
        true
    }

    /// A step in which it was left alone: whether it should be asked again.
    pub(super) fn should_wake(&mut self, now_ms: u64) -> bool {
        let suspended = self.files.is_suspended();
        let woke = self.was_suspended && !suspended;
        self.was_suspended |= suspended;
        let awake_all_along = !self.was_suspended && now_ms.saturating_sub(self.left_alone_ms) >= RELOOK_MS;
        if woke || awake_all_along {
            self.idle_since_ms = None;
            return true;
        }
        false
    }
}

/// Bus ids of the GPUs that the kernel module has bound, in order; none where it does not tell (WSL, some containers).
pub(super) fn bound(proc_root: &Path) -> Vec<String> {
    let entries = fs::read_dir(proc_root.join("driver/nvidia/gpus")).into_iter().flatten();
    let mut bound: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    bound.sort_unstable();
    bound
}

/// Bus ids of the GPUs that the kernel module has bound, if every one of them is asleep: then even opening the driver would wake one.
pub fn all_asleep(proc_root: &Path, sys_root: &Path) -> Option<Vec<String>> {
    let bound = bound(proc_root);
    let asleep = !bound.is_empty() && bound.iter().all(|pci| PowerFiles::of(sys_root, pci).is_suspended());
    asleep.then_some(bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(control: &str, status: &str) -> (tempfile::TempDir, PowerFiles) {
        let root = tempfile::tempdir().expect("temporary folder");
        let folder = root.path().join("bus/pci/devices/0000:01:00.0/power");
        fs::create_dir_all(&folder).expect("folder");
        fs::write(folder.join("control"), format!("{control}\n")).expect("control");
        fs::write(folder.join("runtime_status"), format!("{status}\n")).expect("status");
        let files = PowerFiles::of(root.path(), "00000000:01:00.0");
        (root, files)
    }

    fn set_status(root: &tempfile::TempDir, status: &str) {
        fs::write(root.path().join("bus/pci/devices/0000:01:00.0/power/runtime_status"), status).expect("status");
    }

    #[test]
    fn a_laptop_gpu_is_left_alone_after_thirty_idle_seconds() {
        let (root, files) = machine("auto", "active");
        let mut watch = SleepWatch::new(files);
        assert!(!watch.should_sleep(true, 1_000));
        assert!(!watch.should_sleep(false, 20_000));
        assert!(!watch.should_sleep(true, 25_000));
        assert!(!watch.should_sleep(true, 54_000));
        assert!(watch.should_sleep(true, 55_000));
        // It takes a while to fall asleep; that is no waking.
        assert!(!watch.should_wake(56_000));
        set_status(&root, "suspended");
        assert!(!watch.should_wake(60_000));
        set_status(&root, "active");
        assert!(watch.should_wake(90_000));
    }

    #[test]
    fn a_gpu_that_stays_awake_is_looked_at_again() {
        let (_root, files) = machine("auto", "active");
        let mut watch = SleepWatch::new(files);
        watch.should_sleep(true, 0);
        assert!(watch.should_sleep(true, 30_000));
        assert!(!watch.should_wake(89_000));
        assert!(watch.should_wake(90_000));
    }

    #[test]
    fn a_server_gpu_is_never_left_alone() {
        let (_root, files) = machine("on", "active");
        let mut watch = SleepWatch::new(files);
        watch.should_sleep(true, 0);
        assert!(!watch.should_sleep(true, 1_000_000));
    }
}
