//! What the command line says of the settings, and all of them resolved.

use std::env;

use crate::cli::Cli;
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
    Layer {
        color: cli.style.color,
        ascii: cli.style.ascii.then_some(true),
        nvml_library: cli.settings.nvml_library.clone(),
        slow: cli.settings.slow.then_some(true),
        theme: cli.style.theme,
        read_only: cli.settings.read_only.then_some(true),
        log_file: cli.settings.log_file.clone(),
        mouse: cli.style.no_mouse.then_some(false),
        ..Layer::default()
    }
}
