//! The columns that somebody chose, kept from one time to the next in `$XDG_STATE_HOME/vramtop/columns.toml`.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use crate::app::Columns;

/// More than every column needs; a longer file is none of ours.
const LONGEST: u64 = 4096;

/// What was chosen another time; nothing where there is no such file.
pub(super) fn read() -> Columns {
    let Some(path) = path().filter(|path| fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= LONGEST)) else {
        return Columns::default();
    };
    Columns::from_text(&fs::read_to_string(path).unwrap_or_default())
}

/// Keeps a choice. The file is whole at every moment.
///
/// # Errors
/// The system's, or that there is no folder to keep it in.
pub(super) fn write(text: &str) -> io::Result<()> {
    let path = path().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "neither XDG_STATE_HOME nor HOME is set"))?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let new = folder.join(format!(".columns.{}", std::process::id()));
    fs::write(&new, text)?;
    fs::rename(&new, path)
}

/// By the rules of the XDG base directories: a relative path counts as none.
fn path() -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("vramtop/columns.toml"))
}
