//! `doctor`.
use crate::cli::{Cli, Doctor};
use crate::exit::Exit;
pub(super) fn run(_wanted: &Doctor, _cli: &Cli) -> anyhow::Result<Exit> { Ok(Exit::Fine) }
