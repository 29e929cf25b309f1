//! What `/proc` says of one process at first sight, in bounded reads.
//!
//! The folder is opened once and read through that handle: should the PID pass to another process halfway, the reads fail
//! instead of mixing two. It refuses to keep an environment beyond the call that needed it.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::Path;

use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::{Mode, fstat};
use nix::unistd::{SysconfVar, sysconf};

use super::stat::Stat;
use crate::collect::what::{Facts, What, what};
use crate::model::SafeText;

/// Bytes of the command line that are read: some programs put megabytes there.
const CMDLINE: u64 = 16 << 10;
/// Arguments that are kept.
const ARGUMENTS: usize = 64;
/// Bytes of the environment that are searched.
pub(super) const ENVIRON: u64 = 256 << 10;
/// Bytes of the smaller files.
const SMALL: u64 = 8 << 10;

/// The kernel's units.
#[derive(Clone, Copy, Debug)]
pub(super) struct KernelUnits {
    /// Clock ticks a second.
    pub(super) ticks_per_s: u64,
    /// Bytes of a page.
    pub(super) page_bytes: u64,
}

impl KernelUnits {
    /// The units of this kernel; 100 and 4 096 where it does not say.
    pub(super) fn read() -> Self {
        let ask = |what, usual| sysconf(what).ok().flatten().and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0).unwrap_or(usual);
        Self { ticks_per_s: ask(SysconfVar::CLK_TCK, 100), page_bytes: ask(SysconfVar::PAGE_SIZE, 4096) }
    }
}

/// One process at first sight.
#[derive(Debug)]
pub(super) struct Seen {
    /// Its identity and state.
    pub(super) stat: Stat,
    /// The real user; `None` where it is not told.
    pub(super) uid: Option<u32>,
    /// The command line, bounded.
    pub(super) cmdline: Vec<SafeText>,
    /// The name of its work.
    pub(super) what: What,
    /// Whether there is more to read later.
    pub(super) partial: bool,
}

impl Seen {
    /// Reads a process; `None` where it is gone or not ours to see.
    pub(super) fn read(root: &Path, pid: u32) -> Option<Self> {
        let folder = Folder::open(&root.join(pid.to_string()))?;
        let stat = folder.stat()?;
        // The kernel takes the process's memory lock to show its arguments and environment. One that is stuck in the kernel
        // may hold that lock for good, and whoever reads is then stuck as well.
        let partial = stat.state == 'D';
        let read = |name, limit| if partial { Vec::new() } else { folder.read(name, limit).unwrap_or_default() };
        let args = arguments(&read("cmdline", CMDLINE));
        let environ = read("environ", ENVIRON);
        let variables: Vec<&[u8]> = environ.split(|byte| *byte == 0).collect();
        let cgroup = folder.read("cgroup", SMALL).unwrap_or_default();
        let what = what(&Facts { comm: &stat.comm, args: &args, env: &|name| variable(&variables, name), cgroup: &String::from_utf8_lossy(&cgroup) });
        let cmdline = args.iter().map(|arg| SafeText::new(arg)).collect();
        Some(Self { uid: folder.user(), stat, cmdline, what, partial })
    }
}

/// The name of a program that started others: the kernel's, and its work where that is a Python program's. Those may have named
/// themselves: torchrun of torch 2.11 is `pt_elastic` to the kernel.
///
/// What a shell or `sudo` was told to start has a process of its own, so that these keep their names.
pub(super) fn program_of(folder: &Folder, stat: &Stat) -> String {
    // As at first sight: who asks one that is stuck in the kernel for its arguments may be stuck as well.
    let args = if stat.state == 'D' { Vec::new() } else { arguments(&folder.read("cmdline", CMDLINE).unwrap_or_default()) };
    let work = what(&Facts { comm: &stat.comm, args: &args, env: &|_| None, cgroup: "" }).short;
    let interpreter = args.first().map_or("", |program| program.rsplit('/').next().unwrap_or_default());
    let is_python = [stat.comm.as_str(), interpreter].iter().any(|name| name.starts_with("python"));
    let tells_more = !args.is_empty() && (is_python || work.split(' ').next() == Some(stat.comm.as_str()));
    if tells_more { work } else { stat.comm.clone() }
}

/// An open `/proc/PID`.
pub(super) struct Folder(OwnedFd);

impl Folder {
    pub(super) fn open(path: &Path) -> Option<Self> {
        open(path, OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty()).ok().map(Self)
    }

    /// The first `limit` bytes of a file; `None` where it may not be read or is gone.
    pub(super) fn read(&self, name: &str, limit: u64) -> Option<Vec<u8>> {
        let file = openat(&self.0, name, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty()).ok()?;
        let mut bytes = Vec::with_capacity(4096);
        File::from(file).take(limit).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// The line of `stat`.
    pub(super) fn stat(&self) -> Option<Stat> {
        Stat::parse(&self.read("stat", SMALL)?)
    }

    /// The real user.
    ///
    /// The folder belongs to the user, except that the kernel gives root those of privileged programs; only then is the costlier
    /// `status` read.
    fn user(&self) -> Option<u32> {
        match fstat(&self.0).ok()?.st_uid {
            0 => real_user(&self.read("status", SMALL)?),
            uid => Some(uid),
        }
    }
}

/// The first number of the `Uid:` line of a `status` file.
fn real_user(status: &[u8]) -> Option<u32> {
    let line = status.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"Uid:"))?;
    std::str::from_utf8(line).ok()?.split_ascii_whitespace().next()?.parse().ok()
}

/// The arguments of a `cmdline` file. A process that writes its own title leaves a tail of empty ones, which are dropped.
fn arguments(cmdline: &[u8]) -> Vec<String> {
    let end = cmdline.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let whole = &cmdline[..end];
    if whole.is_empty() {
        return Vec::new();
    }
    whole.split(|byte| *byte == 0).take(ARGUMENTS).map(|arg| String::from_utf8_lossy(arg).into_owned()).collect()
}

/// One variable of an environment; the first where there are two, as `getenv` has it.
fn variable(variables: &[&[u8]], name: &str) -> Option<String> {
    let value = variables.iter().find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    Some(String::from_utf8_lossy(value).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_split_and_bounded() {
        let cases: [(&[u8], &[&str]); 5] = [
            (b"", &[]),
            (b"\0\0", &[]),
            (b"python\0train.py\0--bs\x0016\0", &["python", "train.py", "--bs", "16"]),
            (b"a\0\0b\0", &["a", "", "b"]),
            (b"nginx: worker process\0\0\0\0", &["nginx: worker process"]),
        ];
        for (bytes, expected) in cases {
            assert_eq!(arguments(bytes), expected, "{bytes:?}");
        }
        assert_eq!(arguments(&b"x\0".repeat(200)).len(), 64);
    }

    #[test]
    fn a_variable_is_found_by_its_whole_name() {
        let variables: [&[u8]; 5] = [b"RANKED=9", b"MYRANK=8", b"RANK=3", b"EMPTY=", b"RANK=4"];
        assert_eq!(variable(&variables, "RANK").as_deref(), Some("3"));
        assert_eq!(variable(&variables, "EMPTY").as_deref(), Some(""));
        assert_eq!(variable(&variables, "RAN"), None);
        assert_eq!(variable(&[], "RANK"), None);
    }

    #[test]
    fn the_real_user_is_the_first_of_four() {
        assert_eq!(real_user(b"Name:\tsu\nUid:\t1000\t0\t0\t0\nGid:\t1\t1\t1\t1\n"), Some(1000));
        assert_eq!(real_user(b"Name:\tsu\n"), None);
    }
}
