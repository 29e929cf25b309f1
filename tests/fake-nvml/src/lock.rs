//! Calls that hold a lock which the calls of all processes wait for.
//!
//! The lock is a file beside the scenario, one byte of it for each GPU and one for
//! calls without a GPU. A call of `[lock] gpu` locks its GPU's byte alone, one of
//! `all` locks every byte, any other shares its byte. Open-file-description locks
//! hold between the threads of a process too, and end with their holder.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};

use crate::calls::{Call, CallSet};
use crate::scenario::LockSpec;

/// The place of calls without a GPU; GPUs come before it.
const SYSTEM: usize = 255;

thread_local! {
    static OPEN: RefCell<Option<(PathBuf, File)>> = const { RefCell::new(None) };
}

/// The locks of a scenario.
#[derive(Debug)]
pub(crate) struct Locks {
    path: PathBuf,
    gpu: CallSet,
    all: CallSet,
}

/// Part of the lock file, held until dropped.
#[derive(Debug)]
pub(crate) struct Held {
    file: RawFd,
    start: usize,
    length: usize,
}

impl Locks {
    /// The locks of the scenario at `scenario`, if it has any.
    pub(crate) fn new(spec: &LockSpec, scenario: &Path) -> Result<Option<Self>, String> {
        if !spec.enabled {
            return Ok(None);
        }
        let set = |patterns: &[String]| {
            let mut calls = CallSet::default();
            for pattern in patterns {
                let more = CallSet::matching(pattern).map_err(|e| format!("lock: {e}"))?;
                calls = calls.and(more);
            }
            Ok::<_, String>(calls)
        };
        let path = match &spec.path {
            Some(path) => scenario.with_file_name(path),
            None => {
                let mut name = scenario.as_os_str().to_owned();
                name.push(".lock");
                name.into()
            }
        };
        open(&path).map_err(|e| format!("lock: {}: {e}", path.display()))?;
        Ok(Some(Self { path, gpu: set(&spec.gpu)?, all: set(&spec.all)? }))
    }

    /// Waits for what this call needs.
    pub(crate) fn take(&self, call: Call, gpu: Option<usize>) -> Option<Held> {
        let own = gpu.unwrap_or(SYSTEM).min(SYSTEM);
        let (kind, start, length) = if self.all.has(call) {
            (libc::F_WRLCK, 0, SYSTEM + 1)
        } else if self.gpu.has(call) {
            (libc::F_WRLCK, own, 1)
        } else {
            (libc::F_RDLCK, own, 1)
        };
        let file = self.descriptor().ok()?;
        set_lock(file, kind, start, length).ok()?;
        Some(Held { file, start, length })
    }

    /// This thread's own descriptor of the lock file.
    fn descriptor(&self) -> io::Result<RawFd> {
        OPEN.with_borrow_mut(|slot| {
            if let Some((path, file)) = slot
                && *path == self.path
            {
                return Ok(file.as_raw_fd());
            }
            let file = open(&self.path)?;
            let descriptor = file.as_raw_fd();
            *slot = Some((self.path.clone(), file));
            Ok(descriptor)
        })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // An unlock can fail only if the file was closed, which unlocks it as well.
        let _ = set_lock(self.file, libc::F_UNLCK, self.start, self.length);
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(false).open(path)
}

fn set_lock(file: RawFd, kind: i32, start: usize, length: usize) -> io::Result<()> {
    // SAFETY: `flock` is plain data for which all zeros is valid.
    let mut range: libc::flock = unsafe { std::mem::zeroed() };
    range.l_type = kind as libc::c_short;
    range.l_whence = libc::SEEK_SET as libc::c_short;
    range.l_start = start as libc::off_t;
    range.l_len = length as libc::off_t;
    loop {
        // SAFETY: the command reads `range`, which lives until the call is over.
        if unsafe { libc::fcntl(file, libc::F_OFD_SETLKW, &raw const range) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
