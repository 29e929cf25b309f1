//! `-L`: the GPUs and their MIG instances, a line each.

use std::fmt::Write as _;

use crate::monitor::{GpuRow, Monitor};

/// Appends `GPU 0: NVIDIA H200 (UUID: GPU-…)` for each GPU, and for each instance below it a line as nvidia-smi has it.
pub fn gpu_list(monitor: &Monitor, out: &mut String) {
    for row in monitor.gpus() {
        // Writing to a String cannot fail.
        let _ = match (row.facts.index, row.facts.instance) {
            (Some(index), _) => writeln!(out, "GPU {index}: {} (UUID: {})", row.facts.name, row.facts.id),
            (None, place) => writeln!(out, "  MIG {:<11} Device {:>2}: (UUID: {})", profile(row), place.unwrap_or_default(), row.facts.id),
        };
    }
}

/// `1g.18gb` of `NVIDIA H200 MIG 1g.18gb`.
fn profile(row: &GpuRow) -> &str {
    let name = row.facts.name.as_str();
    name.rsplit_once("MIG ").map_or(name, |(_, profile)| profile)
}
