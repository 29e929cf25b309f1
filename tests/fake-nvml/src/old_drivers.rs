//! The symbols that the libraries of old drivers lack.

use crate::calls::CallSet;
use crate::scenario::{DriverSpec, Symbols};

/// What the 470 series lacks.
pub const OLD_470: &[&str] = &[
    "nvmlDeviceGetMemoryInfo_v2",
    "nvmlDeviceGetComputeRunningProcesses_v3",
    "nvmlDeviceGetGraphicsRunningProcesses_v3",
    "nvmlDeviceGetMPSComputeRunningProcesses_v3",
    "nvmlDeviceGetCurrentClocksEventReasons",
    "nvmlDeviceGetTemperatureV",
    "nvmlDeviceGetNumFans",
];

/// What the 418 series lacks.
pub const OLD_418: &[&str] = &[
    "nvmlDeviceGetMemoryInfo_v2",
    "nvmlDeviceGetComputeRunningProcesses_v3",
    "nvmlDeviceGetGraphicsRunningProcesses_v3",
    "nvmlDeviceGetMPSComputeRunningProcesses_v3",
    "nvmlDeviceGetCurrentClocksEventReasons",
    "nvmlDeviceGetTemperatureV",
    "nvmlDeviceGetNumFans",
    "nvmlDeviceGetComputeRunningProcesses_v2",
    "nvmlDeviceGetGraphicsRunningProcesses_v2",
    "nvmlDeviceGetMPSComputeRunningProcesses",
    "nvmlDeviceGetMPSComputeRunningProcesses_v2",
    "nvmlDeviceGetFanSpeed_v2",
    "nvmlDeviceGetRemappedRows",
    "nvmlDeviceGetArchitecture",
    "nvmlDeviceGetMigMode",
    "nvmlDeviceGetMaxMigDeviceCount",
    "nvmlDeviceGetMigDeviceHandleByIndex",
    "nvmlDeviceIsMigDeviceHandle",
    "nvmlDeviceGetGpuInstanceId",
    "nvmlDeviceGetComputeInstanceId",
    "nvmlDeviceGetDeviceHandleFromMigDeviceHandle",
    "nvmlDeviceGetAttributes_v2",
];

/// The names of the symbols that a scenario's driver lacks.
pub(crate) fn missing(driver: &DriverSpec) -> Vec<&str> {
    let old: &[&str] = match driver.symbols {
        Symbols::All => &[],
        Symbols::Old470 => OLD_470,
        Symbols::Old418 => OLD_418,
    };
    let more = driver.missing.iter().map(String::as_str);
    old.iter().copied().chain(more).collect()
}

/// The calls that a scenario's driver lacks.
pub(crate) fn missing_calls(driver: &DriverSpec) -> Result<CallSet, String> {
    let mut calls = CallSet::default();
    for name in missing(driver) {
        let more = CallSet::matching(name).map_err(|e| format!("driver: missing: {e}"))?;
        calls = calls.and(more);
    }
    Ok(calls)
}

#[cfg(test)]
mod tests {
    use super::{OLD_418, OLD_470};
    use crate::calls;

    #[test]
    fn they_are_symbols_of_this_library() {
        for name in OLD_470.iter().chain(OLD_418) {
            assert!(calls::by_name(name).is_some(), "{name}");
        }
        assert!(OLD_470.iter().all(|name| OLD_418.contains(name)));
    }
}
