//! The system around this program: container, WSL, NixOS, the kernel module, and who may open the device files.
//!
//! It reads files below a root, which is `/` but in tests, and opens one device file: `/dev/nvidiactl`, which wakes no GPU.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};
use serde::Serialize;

use crate::collect::nvml::module_version;
use crate::model::SafeText;

/// What is around this program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// Name and version of the distribution.
    pub system: Option<String>,
    /// Version of the kernel.
    pub kernel: Option<String>,
    /// The processor's architecture.
    pub arch: &'static str,
    /// Whether it is Windows' Linux.
    pub wsl: bool,
    /// Whether it is NixOS.
    pub nixos: bool,
    /// Which kind of container this is, if it is one.
    pub container: Option<String>,
    /// `NVIDIA_DRIVER_CAPABILITIES`: what NVIDIA's container runtime puts into the container.
    pub capabilities: Option<String>,
    /// Whether `/proc` hides other users' processes.
    pub hidden_processes: bool,
    /// Version of the kernel module.
    pub module: Option<String>,
    /// The driver's device files.
    pub device_files: Vec<DeviceFile>,
}

/// One device file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceFile {
    /// Where.
    pub path: String,
    /// Its mode as `ls` prints it, `crw-rw-rw-`.
    pub mode: String,
    /// Whether this user may read and write it, as far as its mode goes.
    pub permitted: bool,
    /// Why it could not be opened all the same; only `/dev/nvidiactl` is tried.
    pub refused: Option<String>,
}

impl Machine {
    /// Looks around.
    pub fn read(root: &Path, env: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let text = |path: &str| fs::read_to_string(root.join(path)).ok();
        let word = |name: &str| env(name).map(|value| SafeText::new(&value.to_string_lossy()).to_string());
        let kernel = text("proc/sys/kernel/osrelease").map(|text| SafeText::new(text.trim()).to_string());
        let release = text("etc/os-release");
        Self {
            system: release.as_deref().and_then(|release| value_of(release, "PRETTY_NAME")).map(|name| SafeText::new(name).to_string()),
            wsl: kernel.as_deref().is_some_and(|kernel| kernel.to_ascii_lowercase().contains("microsoft")) || root.join("dev/dxg").exists(),
            kernel,
            arch: std::env::consts::ARCH,
            nixos: root.join("etc/NIXOS").exists() || release.as_deref().and_then(|release| value_of(release, "ID")) == Some("nixos"),
            container: container(root, env),
            capabilities: word("NVIDIA_DRIVER_CAPABILITIES"),
            hidden_processes: text("proc/self/mounts").is_some_and(|mounts| hides_processes(&mounts)),
            module: text("proc/driver/nvidia/version").as_deref().and_then(module_version).map(str::to_owned),
            device_files: device_files(&root.join("dev")),
        }
    }
}

/// A value of `os-release`.
fn value_of<'t>(release: &'t str, name: &str) -> Option<&'t str> {
    let line = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
    Some(line.trim_matches('"'))
}

/// The kind of container, by the marks that each leaves; the orchestrator before the engine, since it is whom to tell.
fn container(root: &Path, env: &dyn Fn(&str) -> Option<OsString>) -> Option<String> {
    let text = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let cgroups = text("proc/1/cgroup") + &text("proc/self/cgroup");
    let has = |mark: &str| cgroups.contains(mark);
    let kind = if env("KUBERNETES_SERVICE_HOST").is_some() || has("kubepods") {
        "kubernetes"
    } else if env("APPTAINER_CONTAINER").is_some() || env("SINGULARITY_CONTAINER").is_some() || root.join(".singularity.d").exists() {
        "apptainer"
    } else if root.join(".dockerenv").exists() || has("/docker") {
        "docker"
    } else if root.join("run/.containerenv").exists() || has("libpod") {
        "podman"
    } else if has("/lxc") {
        "lxc"
    } else if has("containerd") {
        "containerd"
    } else {
        let told = env("container").map(|kind| kind.to_string_lossy().into_owned());
        let told = told.unwrap_or_else(|| text("run/systemd/container"));
        return Some(SafeText::new(told.trim()).to_string()).filter(|kind| !kind.is_empty());
    };
    Some(kind.to_owned())
}

/// Whether `/proc` is mounted so that other users' processes cannot be seen.
fn hides_processes(mounts: &str) -> bool {
    let options = mounts.lines().rfind(|line| line.split(' ').nth(1) == Some("/proc")).and_then(|line| line.split(' ').nth(3));
    let hidden = options.unwrap_or("").split(',').find_map(|option| option.strip_prefix("hidepid="));
    hidden.is_some_and(|how| !matches!(how, "0" | "off"))
}

fn device_files(folder: &Path) -> Vec<DeviceFile> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_drivers(path)).collect();
    paths.sort();
    paths.iter().filter_map(|path| device_file(path)).collect()
}

fn is_drivers(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("nvidia") || name == "dxg")
}

fn device_file(path: &Path) -> Option<DeviceFile> {
    let metadata = fs::metadata(path).ok().filter(|metadata| !metadata.is_dir())?;
    let kind = if metadata.file_type().is_char_device() { 'c' } else { '-' };
    let control = path.ends_with("nvidiactl");
    Some(DeviceFile {
        path: SafeText::new(&path.to_string_lossy()).to_string(),
        mode: mode(kind, metadata.permissions().mode()),
        permitted: access(path, AccessFlags::R_OK | AccessFlags::W_OK).is_ok(),
        refused: control.then(|| OpenOptions::new().read(true).write(true).open(path).err()).flatten().map(|error| match error.kind() {
            ErrorKind::PermissionDenied => "not permitted".to_owned(),
            _ => error.to_string(),
        }),
    })
}

fn mode(kind: char, bits: u32) -> String {
    let letters = ['r', 'w', 'x'].into_iter().cycle().zip((0..9).rev()).map(|(letter, bit)| if bits >> bit & 1 == 1 { letter } else { '-' });
    std::iter::once(kind).chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)], env: &'static [(&str, &str)]) -> Machine {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Machine::read(root.path(), &|name| env.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn each_kind_of_container_leaves_its_mark() {
        let kind = |files: &[(&str, &str)], env| machine(files, env).container;
        assert_eq!(kind(&[("proc/1/cgroup", "0::/init.scope\n")], &[]), None);
        assert_eq!(kind(&[(".dockerenv", "")], &[]).as_deref(), Some("docker"));
        assert_eq!(kind(&[("proc/1/cgroup", "12:devices:/docker/0123abc\n")], &[]).as_deref(), Some("docker"));
        assert_eq!(kind(&[("run/.containerenv", "engine=\"podman-5.2\"\n")], &[]).as_deref(), Some("podman"));
        assert_eq!(kind(&[(".dockerenv", "")], &[("KUBERNETES_SERVICE_HOST", "10.0.0.1")]).as_deref(), Some("kubernetes"));
        assert_eq!(kind(&[("proc/self/cgroup", "0::/kubepods.slice/kubepods-pod1.slice\n")], &[]).as_deref(), Some("kubernetes"));
        assert_eq!(kind(&[], &[("APPTAINER_CONTAINER", "/x.sif")]).as_deref(), Some("apptainer"));
        assert_eq!(kind(&[("run/systemd/container", "systemd-nspawn\n")], &[]).as_deref(), Some("systemd-nspawn"));
    }

    #[test]
    fn systems_are_recognized() {
        let ubuntu = machine(
            &[
                ("etc/os-release", "NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\nID=ubuntu\n"),
                ("proc/sys/kernel/osrelease", "6.8.0-45-generic\n"),
                ("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.256.02  Thu May  2 14:37:44 UTC 2024\n"),
            ],
            &[],
        );
        assert_eq!((ubuntu.system.as_deref(), ubuntu.module.as_deref()), (Some("Ubuntu 24.04.1 LTS"), Some("470.256.02")));
        assert!(!ubuntu.wsl && !ubuntu.nixos);
        assert!(machine(&[("proc/sys/kernel/osrelease", "5.15.167.4-microsoft-standard-WSL2\n")], &[]).wsl);
        assert!(machine(&[("etc/os-release", "ID=nixos\n")], &[]).nixos);
    }

    #[test]
    fn hidden_processes_are_noticed() {
        assert!(hides_processes("proc /proc proc rw,nosuid,hidepid=invisible 0 0\n"));
        assert!(hides_processes("proc /proc proc rw 0 0\nproc /proc proc rw,hidepid=2 0 0\n"));
        assert!(!hides_processes("proc /proc proc rw,hidepid=0 0 0\ntmpfs /tmp tmpfs rw 0 0\n"));
    }

    #[test]
    fn device_files_are_shown_as_ls_shows_them() {
        let machine = machine(&[("dev/nvidiactl", ""), ("dev/nvidia-caps/nvidia-cap1", ""), ("dev/null", "")], &[]);
        let [control] = machine.device_files.as_slice() else { panic!("{machine:?}") };
        assert!(control.path.ends_with("/dev/nvidiactl") && control.permitted && control.refused.is_none(), "{control:?}");
        assert_eq!(mode('c', 0o20_660), "crw-rw----");
        assert_eq!(mode('-', 0o100_755), "-rwxr-xr-x");
    }
}
