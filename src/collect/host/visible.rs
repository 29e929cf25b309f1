//! Whether a PID that the driver names is the local process of that number.
//!
//! The driver gives PIDs of the host's namespace. Inside a container the same number can belong to an unrelated process, which must
//! be neither named nor offered for a signal. It refuses to guess from names or users: only the kernel's word counts.

use std::fs;
use std::path::Path;

/// The first PID namespace has a fixed inode, `PROC_PID_INIT_INO` in `linux/proc_ns.h`.
const HOST_NAMESPACE: &str = "pid:[4026531836]";

/// How many of a process's open files are looked at. A GPU's device files are opened early and stand among the first.
const MOST_FILES: usize = 4096;

/// From where the processes are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Namespace {
    /// Whether this is the namespace of the driver's PIDs.
    is_host: bool,
    /// The PID of this program in this namespace.
    own: u32,
}

impl Namespace {
    /// The namespace that this program runs in.
    pub(super) fn of(root: &Path) -> Self {
        let is_host = fs::read_link(root.join("self/ns/pid")).is_ok_and(|link| link.as_os_str() == HOST_NAMESPACE);
        Self { is_host, own: std::process::id() }
    }

    /// Whether it is the one of the driver's PIDs.
    pub(super) const fn is_host(self) -> bool {
        self.is_host
    }

    /// Whether the driver means the local process of this PID, which must be known to exist.
    ///
    /// This program opens the device files too but never holds GPU memory: in another namespace the driver cannot mean it.
    pub(super) fn sees(self, root: &Path, pid: u32) -> bool {
        self.is_host || (pid != self.own && holds_gpu(root, pid))
    }
}

/// Whether a process has a GPU's device file open; `false` as well where its open files may not be read.
fn holds_gpu(root: &Path, pid: u32) -> bool {
    let Ok(files) = fs::read_dir(root.join(pid.to_string()).join("fd")) else { return false };
    files.take(MOST_FILES).flatten().any(|file| {
        // A WSL guest has one paravirtual device for all GPUs.
        fs::read_link(file.path()).is_ok_and(|path| path.as_os_str() == "/dev/dxg" || path.to_string_lossy().starts_with("/dev/nvidia"))
    })
}
