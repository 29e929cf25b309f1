//! The calls this library knows, and the patterns by which scenarios name them.

macro_rules! calls {
    ($($name:ident,)*) => {
        /// One function of the library.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(non_camel_case_types)]
        pub(crate) enum Call { $($name,)* }

        /// The names of all calls, in the order of `Call`.
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name),)*];
        /// How many calls there are.
        pub(crate) const COUNT: usize = NAMES.len();
    };
}

calls! {
    nvmlInit,
    nvmlInit_v2,
    nvmlInitWithFlags,
    nvmlShutdown,
    nvmlErrorString,
    nvmlSystemGetDriverVersion,
    nvmlSystemGetNVMLVersion,
    nvmlSystemGetCudaDriverVersion,
    nvmlSystemGetCudaDriverVersion_v2,
    nvmlDeviceGetCount,
    nvmlDeviceGetCount_v2,
    nvmlDeviceGetHandleByIndex,
    nvmlDeviceGetHandleByIndex_v2,
    nvmlDeviceGetHandleByUUID,
    nvmlDeviceGetHandleByPciBusId,
    nvmlDeviceGetHandleByPciBusId_v2,
    nvmlDeviceGetName,
    nvmlDeviceGetUUID,
    nvmlDeviceGetPciInfo,
    nvmlDeviceGetPciInfo_v2,
    nvmlDeviceGetPciInfo_v3,
    nvmlDeviceGetIndex,
    nvmlDeviceGetMinorNumber,
    nvmlDeviceGetMemoryInfo,
    nvmlDeviceGetMemoryInfo_v2,
    nvmlDeviceGetBAR1MemoryInfo,
    nvmlDeviceGetUtilizationRates,
    nvmlDeviceGetTemperature,
    nvmlDeviceGetTemperatureV,
    nvmlDeviceGetPowerUsage,
    nvmlDeviceGetEnforcedPowerLimit,
    nvmlDeviceGetPowerManagementLimit,
    nvmlDeviceGetPowerManagementDefaultLimit,
    nvmlDeviceGetPowerManagementLimitConstraints,
    nvmlDeviceGetTotalEnergyConsumption,
    nvmlDeviceGetClockInfo,
    nvmlDeviceGetMaxClockInfo,
    nvmlDeviceGetClock,
    nvmlDeviceGetApplicationsClock,
    nvmlDeviceGetDefaultApplicationsClock,
    nvmlDeviceGetPerformanceState,
    nvmlDeviceGetCurrentClocksThrottleReasons,
    nvmlDeviceGetSupportedClocksThrottleReasons,
    nvmlDeviceGetCurrentClocksEventReasons,
    nvmlDeviceGetFanSpeed,
    nvmlDeviceGetFanSpeed_v2,
    nvmlDeviceGetNumFans,
    nvmlDeviceGetEncoderUtilization,
    nvmlDeviceGetDecoderUtilization,
    nvmlDeviceGetTotalEccErrors,
    nvmlDeviceGetEccMode,
    nvmlDeviceGetRemappedRows,
    nvmlDeviceGetPcieThroughput,
    nvmlDeviceGetCurrPcieLinkGeneration,
    nvmlDeviceGetCurrPcieLinkWidth,
    nvmlDeviceGetMaxPcieLinkGeneration,
    nvmlDeviceGetMaxPcieLinkWidth,
    nvmlDeviceGetPcieReplayCounter,
    nvmlDeviceGetComputeMode,
    nvmlDeviceGetPersistenceMode,
    nvmlDeviceGetDisplayMode,
    nvmlDeviceGetDisplayActive,
    nvmlDeviceGetAccountingMode,
    nvmlDeviceGetAccountingBufferSize,
    nvmlDeviceGetAccountingStats,
    nvmlDeviceGetComputeRunningProcesses,
    nvmlDeviceGetComputeRunningProcesses_v2,
    nvmlDeviceGetComputeRunningProcesses_v3,
    nvmlDeviceGetGraphicsRunningProcesses,
    nvmlDeviceGetGraphicsRunningProcesses_v2,
    nvmlDeviceGetGraphicsRunningProcesses_v3,
    nvmlDeviceGetMPSComputeRunningProcesses,
    nvmlDeviceGetMPSComputeRunningProcesses_v2,
    nvmlDeviceGetMPSComputeRunningProcesses_v3,
    nvmlDeviceGetProcessUtilization,
    nvmlDeviceGetCudaComputeCapability,
    nvmlDeviceGetBrand,
    nvmlDeviceGetArchitecture,
    nvmlDeviceGetSerial,
    nvmlDeviceGetVbiosVersion,
    nvmlDeviceGetVirtualizationMode,
    nvmlDeviceGetMigMode,
    nvmlDeviceGetMaxMigDeviceCount,
    nvmlDeviceGetMigDeviceHandleByIndex,
    nvmlDeviceIsMigDeviceHandle,
    nvmlDeviceGetGpuInstanceId,
    nvmlDeviceGetComputeInstanceId,
    nvmlDeviceGetDeviceHandleFromMigDeviceHandle,
    nvmlDeviceGetSupportedEventTypes,
    nvmlDeviceGetFieldValues,
    nvmlDeviceGetAttributes_v2,
}

const _: () = assert!(COUNT <= 128, "a CallSet holds 128 calls");

/// The friendly names, each for one or more patterns.
const ALIASES: &[(&str, &[&str])] = &[
    ("init", &["nvmlInit*"]),
    ("shutdown", &["nvmlShutdown"]),
    ("count", &["nvmlDeviceGetCount*"]),
    ("handle", &["nvmlDeviceGetHandleBy*"]),
    ("version", &["nvmlSystemGet*"]),
    ("name", &["nvmlDeviceGetName"]),
    ("uuid", &["nvmlDeviceGetUUID"]),
    ("pci", &["nvmlDeviceGetPciInfo*"]),
    ("memory", &["nvmlDeviceGetMemoryInfo*"]),
    ("bar1", &["nvmlDeviceGetBAR1MemoryInfo"]),
    ("utilization", &["nvmlDeviceGetUtilizationRates"]),
    ("temperature", &["nvmlDeviceGetTemperature*"]),
    ("power", &["nvmlDeviceGetPowerUsage"]),
    ("power_limit", &["nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagement*"]),
    ("energy", &["nvmlDeviceGetTotalEnergyConsumption"]),
    ("clocks", &["nvmlDeviceGetClockInfo", "nvmlDeviceGetClock", "nvmlDeviceGetApplicationsClock", "nvmlDeviceGetDefaultApplicationsClock"]),
    ("max_clock", &["nvmlDeviceGetMaxClockInfo"]),
    ("pstate", &["nvmlDeviceGetPerformanceState"]),
    ("throttle", &["nvmlDeviceGetCurrentClocksThrottleReasons", "nvmlDeviceGetCurrentClocksEventReasons"]),
    ("fan", &["nvmlDeviceGetFanSpeed*", "nvmlDeviceGetNumFans"]),
    ("encoder", &["nvmlDeviceGetEncoderUtilization"]),
    ("decoder", &["nvmlDeviceGetDecoderUtilization"]),
    ("ecc_total", &["nvmlDeviceGetTotalEccErrors"]),
    ("ecc_mode", &["nvmlDeviceGetEccMode"]),
    ("remapped", &["nvmlDeviceGetRemappedRows"]),
    ("pcie_throughput", &["nvmlDeviceGetPcieThroughput"]),
    ("pcie_link", &["nvmlDeviceGetCurrPcieLink*", "nvmlDeviceGetMaxPcieLink*"]),
    ("pcie_replay", &["nvmlDeviceGetPcieReplayCounter"]),
    ("compute_mode", &["nvmlDeviceGetComputeMode"]),
    ("persistence", &["nvmlDeviceGetPersistenceMode"]),
    ("display", &["nvmlDeviceGetDisplay*"]),
    ("accounting", &["nvmlDeviceGetAccounting*"]),
    ("mig_mode", &["nvmlDeviceGetMigMode"]),
    ("processes", &["nvmlDeviceGetComputeRunningProcesses*", "nvmlDeviceGetGraphicsRunningProcesses*", "nvmlDeviceGetMPSComputeRunningProcesses*"]),
    ("compute", &["nvmlDeviceGetComputeRunningProcesses*"]),
    ("graphics", &["nvmlDeviceGetGraphicsRunningProcesses*"]),
    ("mps", &["nvmlDeviceGetMPSComputeRunningProcesses*"]),
    ("process_utilization", &["nvmlDeviceGetProcessUtilization"]),
];

/// A set of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallSet(u128);

impl CallSet {
    /// Whether the call is in the set.
    pub(crate) fn has(self, call: Call) -> bool {
        self.has_index(call as usize)
    }

    /// Whether the call with this place in `NAMES` is in the set.
    pub(crate) fn has_index(self, index: usize) -> bool {
        self.0 & (1 << index) != 0
    }

    /// The calls of both sets.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn of(wanted: impl Fn(&str) -> bool) -> Self {
        let bit = |(index, name): (usize, &&str)| u128::from(wanted(name)) << index;
        Self(NAMES.iter().enumerate().map(bit).fold(0, |a, b| a | b))
    }

    /// The calls that a scenario means by `pattern`: a friendly name, a function's
    /// name, a beginning followed by `*`, or `*` for everything but init, shutdown
    /// and the texts of errors.
    pub(crate) fn matching(pattern: &str) -> Result<Self, String> {
        if pattern == "*" {
            return Ok(Self::of(|name| !name.starts_with("nvmlInit") && name != "nvmlShutdown" && name != "nvmlErrorString"));
        }
        if let Some((_, patterns)) = ALIASES.iter().find(|(alias, _)| *alias == pattern) {
            let mut set = Self::default();
            for part in *patterns {
                set = set.and(Self::matching(part)?);
            }
            return Ok(set);
        }
        let set = match pattern.strip_suffix('*') {
            Some(prefix) => Self::of(|name| name.starts_with(prefix)),
            None => Self::of(|name| name == pattern),
        };
        if set == Self::default() {
            let known: Vec<&str> = ALIASES.iter().map(|(alias, _)| *alias).collect();
            return Err(format!("`{pattern}` names no call; besides the functions' names there are {}", known.join(", ")));
        }
        Ok(set)
    }

    /// As `matching`, and a function's name stands for its versions too.
    pub(crate) fn matching_versions(pattern: &str) -> Result<Self, String> {
        let versions = Self::of(|name| name.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with("_v")));
        if versions == Self::default() { Self::matching(pattern) } else { Ok(versions) }
    }
}

/// The call with this name.
pub(crate) fn by_name(name: &str) -> Option<usize> {
    NAMES.iter().position(|known| *known == name)
}

#[cfg(test)]
mod tests {
    use super::{ALIASES, Call, CallSet};

    #[test]
    fn every_alias_names_calls() {
        for (alias, _) in ALIASES {
            assert_ne!(CallSet::matching(alias).unwrap(), CallSet::default(), "{alias}");
        }
    }

    #[test]
    fn patterns() {
        let one = CallSet::matching("nvmlDeviceGetMemoryInfo").unwrap();
        assert!(one.has(Call::nvmlDeviceGetMemoryInfo));
        assert!(!one.has(Call::nvmlDeviceGetMemoryInfo_v2));
        let both = CallSet::matching_versions("nvmlDeviceGetMemoryInfo").unwrap();
        assert_eq!(both, CallSet::matching("memory").unwrap());
        assert!(!CallSet::matching("*").unwrap().has(Call::nvmlInit_v2));
        assert!(CallSet::matching("memmory").unwrap_err().contains("memmory"));
    }
}
