//! Finding the built library from a test.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::old_drivers;
use crate::patch::library_without;
use crate::scenario::Scenario;

const NAME: &str = "libfake_nvml.so";

/// The path of the built `libfake_nvml.so`: beside the running executable or its
/// folder's `deps`, or what FAKE_NVML_LIBRARY names, or what Cargo builds now.
///
/// # Panics
///
/// If the library is not there and Cargo cannot build it.
#[must_use]
pub fn library_path() -> PathBuf {
    beside_executable()
        .or_else(|| std::env::var_os("FAKE_NVML_LIBRARY").map(PathBuf::from))
        .or_else(built_by_cargo)
        .expect("libfake_nvml.so is not built, and `cargo build -p fake-nvml` did not give it")
}

/// The library that suits a scenario: the built one, or a copy of it in `folder`
/// without the symbols that `[driver] symbols` and `missing` take away.
///
/// # Errors
///
/// If the scenario cannot be read or the copy cannot be written.
pub fn library_for(scenario: &Path, folder: &Path) -> io::Result<PathBuf> {
    let text = std::fs::read_to_string(scenario)?;
    let read: Scenario = toml::from_str(&text).map_err(io::Error::other)?;
    let missing = old_drivers::missing(&read.driver);
    let library = library_path();
    if missing.is_empty() {
        return Ok(library);
    }
    let stem = scenario.file_stem().unwrap_or_default().to_string_lossy();
    let copy = folder.join(format!("libfake_nvml_{stem}.so"));
    library_without(&library, &copy, &missing)?;
    Ok(copy)
}

fn beside_executable() -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?;
    let folder = executable.parent()?;
    let mut places = vec![folder.join(NAME), folder.join("deps").join(NAME)];
    if let Some(above) = folder.parent() {
        places.push(above.join(NAME));
        places.push(above.join("deps").join(NAME));
    }
    places.into_iter().find(|path| path.is_file())
}

fn built_by_cargo() -> Option<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(["build", "-p", "fake-nvml", "--message-format=json"]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    // The messages are JSON whose strings hold the paths of what was built.
    text.split('"').find(|part| part.ends_with(NAME)).map(PathBuf::from)
}
