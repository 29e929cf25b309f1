//! Where the driver's library may lie, and what to tell people when none of them works.
//!
//! It searches and explains. It loads nothing itself: that is handed to it, so that the search can be tested without a driver.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use nvml_wrapper::error::NvmlError;

use super::words;
use crate::model::SafeText;

/// Folders that the system's loader may not know: WSL, NixOS, NVIDIA's container folders, distributions, the GPU operator's driver
/// container, and GKE.
const FOLDERS: [&str; 13] = [
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",
    "/run/nvidia/driver/usr/lib/x86_64-linux-gnu",
    "/run/nvidia/driver/usr/lib/aarch64-linux-gnu",
    "/run/nvidia/driver/usr/lib64",
    "/home/kubernetes/bin/nvidia/lib64",
];

/// The name that every driver installs.
const NAME: &str = "libnvidia-ml.so.1";
/// Tells the version of the kernel module that is loaded.
const MODULE_VERSION: &str = "/proc/driver/nvidia/version";
const DEMO: &str = "or look around without a GPU: vramtop demo";

/// Why no driver could be opened. Its text is two lines: what happened, and what to do.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// No library could be loaded.
    #[error("{}", no_library(tried))]
    NoLibrary {
        /// Each place that was tried and why it was no use, without the place.
        tried: Vec<(PathBuf, String)>,
    },
    /// A library was loaded and did not start.
    #[error("{reason} ({})\n{hint}, {DEMO}", safe(library))]
    Init {
        /// Which library.
        library: PathBuf,
        /// What the driver said, as a sentence.
        reason: String,
        /// What to do about it.
        hint: String,
    },
    /// The driver refuses this user or container.
    #[error("this user may not use the NVIDIA driver ({})\nask for access to /dev/nvidiactl and /dev/nvidia*, {DEMO}", safe(library))]
    NoPermission {
        /// Which library.
        library: PathBuf,
    },
}

/// Every place that is searched, in that order.
pub fn candidates() -> Vec<PathBuf> {
    let names = [NAME, "libnvidia-ml.so"].into_iter().map(PathBuf::from);
    names.chain(FOLDERS.iter().map(|folder| Path::new(folder).join(NAME))).collect()
}

/// Why one library was no use.
#[derive(Debug)]
pub(super) enum Refused {
    /// It could not be loaded, or is no such library.
    Load(String),
    /// It did not start.
    Start(NvmlError),
}

impl From<NvmlError> for Refused {
    fn from(error: NvmlError) -> Self {
        match error {
            NvmlError::LibloadingError(error) => Self::Load(error.to_string()),
            NvmlError::FailedToLoadSymbol(reason) => Self::Load(format!("not a management library: {reason}")),
            error => Self::Start(error),
        }
    }
}

/// Opens the library that was named, or searches one.
pub(super) fn open<T>(explicit: Option<&Path>, mut load: impl FnMut(&Path) -> Result<T, Refused>) -> Result<T, OpenError> {
    if let Some(path) = explicit {
        return search(&[path.to_owned()], &mut load).map_err(|failure| failure.explain(None));
    }
    let failure = match search(&candidates(), &mut load) {
        Ok(driver) => return Ok(driver),
        Err(failure) => failure,
    };
    if !matches!(failure.start, Some((_, NvmlError::LibRmVersionMismatch))) {
        return Err(failure.explain(None));
    }
    // The library that is found first is another driver's: one that was copied into a container's image, or the old one that is still
    // mapped after an update. The one that belongs to the module may lie beside it under its full name.
    let module = std::fs::read_to_string(MODULE_VERSION).ok().and_then(|text| module_version(&text).map(str::to_owned));
    let versioned = module.iter().flat_map(|version| FOLDERS.iter().map(move |folder| Path::new(folder).join(format!("libnvidia-ml.so.{version}"))));
    search(&versioned.collect::<Vec<_>>(), &mut load).map_err(|_| failure.explain(module.as_deref()))
}

/// What a search in vain came to.
#[derive(Debug)]
struct Failure {
    tried: Vec<(PathBuf, String)>,
    /// The first library that was loaded and did not start.
    start: Option<(PathBuf, NvmlError)>,
}

/// Takes the first library that starts. One that loads and does not start ends nothing: a stray one may stand before the right one.
fn search<T>(places: &[PathBuf], load: &mut impl FnMut(&Path) -> Result<T, Refused>) -> Result<T, Failure> {
    let mut failure = Failure { tried: Vec::new(), start: None };
    for place in places {
        match load(place) {
            Ok(driver) => return Ok(driver),
            Err(Refused::Load(reason)) => failure.tried.push((place.clone(), bare(place, &reason).to_owned())),
            Err(Refused::Start(error)) => {
                failure.tried.push((place.clone(), words::word(&error).into_owned()));
                failure.start.get_or_insert((place.clone(), error));
            }
        }
    }
    Err(failure)
}

impl Failure {
    /// `module` is the version of the kernel module, where it is known.
    fn explain(self, module: Option<&str>) -> OpenError {
        match self.start {
            None => OpenError::NoLibrary { tried: self.tried },
            Some((library, NvmlError::NoPermission)) => OpenError::NoPermission { library },
            Some((library, error)) => {
                let (reason, hint) = why_not(&error, module, version_of(&library).as_deref());
                OpenError::Init { library, reason, hint }
            }
        }
    }
}

/// One sentence for what `nvmlInit` said, and what to do about it.
fn why_not(error: &NvmlError, module: Option<&str>, library: Option<&str>) -> (String, String) {
    const CONTAINER: &str = "in a container, check that it may use /dev/nvidia* and start it anew; see dmesg for NVRM and Xid";
    let (reason, hint) = match error {
        NvmlError::LibRmVersionMismatch => {
            let reason = match (module, library) {
                (Some(module), Some(library)) => format!("the NVIDIA kernel module is version {module}, its library is {library}"),
                (Some(module), None) => format!("the NVIDIA kernel module is version {module}, its library is another"),
                _ => "the NVIDIA kernel module and its library are of different versions".to_owned(),
            };
            return (reason, "reload the nvidia modules or reboot; in a container, remove the library that was copied into the image".to_owned());
        }
        NvmlError::DriverNotLoaded => (
            "the NVIDIA kernel driver is not loaded",
            "load it (sudo modprobe nvidia; nvidia-smi shows whether it works), in a container start it with --gpus all",
        ),
        NvmlError::GpuLost => ("the driver has lost its GPU: it fell off the bus", "see dmesg for Xid 79; power off and on"),
        NvmlError::ResetRequired => ("a GPU must be reset before it can be used", "stop what uses it, then sudo nvidia-smi --gpu-reset"),
        NvmlError::IrqIssue => ("the kernel has an interrupt problem with a GPU", "see dmesg for NVRM"),
        NvmlError::InsufficientPower => ("a GPU's power cables are not attached properly", "attach them and start anew"),
        NvmlError::CorruptedInfoROM => ("a GPU's infoROM is corrupted", "see nvidia-smi -q"),
        NvmlError::LibraryNotFound => ("the driver misses a library of its own", "install the NVIDIA driver anew"),
        NvmlError::OperatingSystem => ("the operating system has blocked the NVIDIA driver", CONTAINER),
        NvmlError::Timeout => ("the NVIDIA driver did not answer in time", "try again; see dmesg for NVRM"),
        NvmlError::InsufficientMemory => ("the NVIDIA driver ran out of the host's memory", "free some of it"),
        NvmlError::Unknown => ("the NVIDIA driver failed to start without giving a reason", CONTAINER),
        other => return (format!("the NVIDIA driver failed to start: {}", words::word(other)), CONTAINER.to_owned()),
    };
    (reason.to_owned(), hint.to_owned())
}

fn no_library(tried: &[(PathBuf, String)]) -> String {
    if let [(path, reason)] = tried {
        return format!(
            "no usable NVIDIA library: {}: {}\nname the driver's libnvidia-ml.so.1 with --nvml-library, {DEMO}",
            safe(path),
            SafeText::new(reason)
        );
    }
    let mut text = String::from("no NVIDIA driver library found; tried ");
    for (at, (path, reason)) in tried.iter().enumerate() {
        // All of them have the same name, so a folder says enough.
        let place = path.parent().filter(|_| path.ends_with(NAME) && path.is_absolute()).unwrap_or(path);
        let comma = if at == 0 { "" } else { ", " };
        // Writing to a String cannot fail.
        let _ = write!(text, "{comma}{}", safe(place));
        if !reason.contains("No such file") {
            let _ = write!(text, " ({})", SafeText::new(reason));
        }
    }
    text.push_str("\ninstall the NVIDIA driver, in a container start it with --gpus all, name the library with --nvml-library PATH, ");
    text + DEMO
}

/// The loader's reason without the path that it begins with.
fn bare<'a>(path: &Path, reason: &'a str) -> &'a str {
    let rest = path.to_str().and_then(|path| reason.strip_prefix(path));
    rest.and_then(|rest| rest.strip_prefix(": ")).unwrap_or(reason)
}

fn safe(path: &Path) -> SafeText {
    SafeText::new(&path.to_string_lossy())
}

/// The version in the text of `/proc/driver/nvidia/version`: the first word of digits and dots of its first line.
pub fn module_version(text: &str) -> Option<&str> {
    text.lines().next()?.split_whitespace().find(|word| is_version(word))
}

/// The version at the end of the file's real name, `libnvidia-ml.so.580.159.04`. A bare name is looked for in the usual folders.
fn version_of(library: &Path) -> Option<String> {
    let named = if library.is_absolute() { Some(library.to_owned()) } else { None };
    let beside = FOLDERS.iter().map(|folder| Path::new(folder).join(library));
    let real = named.into_iter().chain(beside).find_map(|path| path.canonicalize().ok())?;
    version_in_name(real.file_name()?.to_str()?).map(str::to_owned)
}

fn version_in_name(name: &str) -> Option<&str> {
    name.split_once(".so.").map(|(_, version)| version).filter(|version| is_version(version))
}

fn is_version(word: &str) -> bool {
    word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_digit() || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(path: &Path) -> Refused {
        Refused::Load(format!("{}: cannot open shared object file: No such file or directory", path.display()))
    }

    #[test]
    fn the_versioned_name_comes_first_then_the_bare_one_then_the_folders() {
        let places = candidates();
        assert_eq!(places[0], Path::new("libnvidia-ml.so.1"));
        assert_eq!(places[1], Path::new("libnvidia-ml.so"));
        assert_eq!(places[2], Path::new("/usr/lib/wsl/lib/libnvidia-ml.so.1"));
        assert_eq!(places[3], Path::new("/run/opengl-driver/lib/libnvidia-ml.so.1"));
    }

    #[test]
    fn a_library_in_the_wsl_folder_alone_is_found() {
        let mut asked = Vec::new();
        let found = open(None, |path| {
            asked.push(path.to_owned());
            if path.starts_with("/usr/lib/wsl/lib") { Ok(path.to_owned()) } else { Err(missing(path)) }
        });
        assert_eq!(found.unwrap(), Path::new("/usr/lib/wsl/lib/libnvidia-ml.so.1"));
        assert_eq!(asked.len(), 3);
    }

    #[test]
    fn a_named_library_is_the_only_one_that_is_tried() {
        let mut asked = 0;
        let failed = open::<()>(Some(Path::new("/opt/x.so")), |path| {
            asked += 1;
            Err(missing(path))
        });
        assert_eq!(asked, 1);
        assert_eq!(
            failed.unwrap_err().to_string(),
            "no usable NVIDIA library: /opt/x.so: cannot open shared object file: No such file or directory\n\
             name the driver's libnvidia-ml.so.1 with --nvml-library, or look around without a GPU: vramtop demo"
        );
    }

    #[test]
    fn when_none_works_two_lines_say_what_was_tried_and_what_to_do() {
        let failed = open::<()>(None, |path| match path.to_str() {
            Some("/usr/lib64/libnvidia-ml.so.1") => Err(Refused::Load(format!("{}: invalid ELF header", path.display()))),
            _ => Err(missing(path)),
        });
        let text = failed.unwrap_err().to_string();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("no NVIDIA driver library found; tried libnvidia-ml.so.1, libnvidia-ml.so, /usr/lib/wsl/lib, "));
        assert!(lines[0].contains("/usr/lib64 (invalid ELF header), /usr/lib, "), "{}", lines[0]);
        assert!(lines[1].ends_with("vramtop demo"));
    }

    #[test]
    fn a_stray_library_that_does_not_start_hides_no_other() {
        let found = open(None, |path| if path.is_absolute() { Ok(path.to_owned()) } else { Err(Refused::Start(NvmlError::DriverNotLoaded)) });
        assert_eq!(found.unwrap(), Path::new("/usr/lib/wsl/lib/libnvidia-ml.so.1"));
    }

    #[test]
    fn every_code_of_init_gives_two_lines() {
        for code in (1..=30).chain([999]) {
            let failed = open::<()>(Some(Path::new("/x.so")), |_| Err(Refused::Start(NvmlError::from(code)))).unwrap_err();
            let text = failed.to_string();
            assert_eq!(text.lines().count(), 2, "{text}");
            assert!(text.ends_with("vramtop demo"));
            assert_eq!(code == 4, matches!(failed, OpenError::NoPermission { .. }));
        }
    }

    #[test]
    fn a_mismatch_names_both_versions() {
        let (reason, _) = why_not(&NvmlError::LibRmVersionMismatch, Some("580.159.04"), Some("570.133.20"));
        assert_eq!(reason, "the NVIDIA kernel module is version 580.159.04, its library is 570.133.20");
    }

    #[test]
    fn versions_are_found_where_the_driver_writes_them() {
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.256.02  Thu May  2 14:37:44 UTC 2024\nGCC version:  gcc 12.2.0\n";
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (root@h)\n";
        assert_eq!(module_version(closed), Some("470.256.02"));
        assert_eq!(module_version(open), Some("580.65.06"));
        assert_eq!(module_version(""), None);
        assert_eq!(version_in_name("libnvidia-ml.so.580.159.04"), Some("580.159.04"));
        assert_eq!(version_in_name("libnvidia-ml.so.1"), None);
    }
}
