//! What the command line says of the settings, and all of them resolved.

use std::env;

use crate::cli::{Cli, Command};
use crate::config::{Config, ConfigError, Layer};

/// Settles everything.
///
/// # Errors
/// When a file or a variable says what cannot be.
pub(super) fn resolve(cli: &Cli) -> Result<Config, ConfigError> {
    Config::resolve(flags(cli), cli.settings.config.as_deref(), &|name| env::var_os(name))
}

/// What the command line says.
pub(super) fn flags(cli: &Cli) -> Layer {
    let library = match &cli.command {
        Some(Command::Doctor(doctor)) => &doctor.nvml_library,
        Some(Command::Explain(explain)) => &explain.nvml_library,
        _ => &cli.look.nvml_library,
    };
    Layer {
        color: cli.style.color,
        ascii: cli.style.ascii.then_some(true),
        nvml_library: library.clone(),
        slow: cli.look.slow.then_some(true),
        theme: cli.style.theme,
        read_only: cli.look.read_only.then_some(true),
        mouse: cli.style.no_mouse.then_some(false),
        ..Layer::default()
    }
}
