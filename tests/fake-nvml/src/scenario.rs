//! The scenario file as written: everything but the GPUs.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::curve::Curve;
use crate::scenario_gpu::GpuSpec;

/// A whole scenario file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Scenario {
    pub(crate) time: TimeSpec,
    pub(crate) driver: DriverSpec,
    pub(crate) latency: LatencySpec,
    pub(crate) lock: LockSpec,
    pub(crate) log: Option<LogSpec>,
    pub(crate) gpu: Vec<GpuSpec>,
    pub(crate) fault: Vec<FaultSpec>,
}

/// `[time]`: what drives the curves.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TimeSpec {
    pub(crate) mode: TimeMode,
    pub(crate) path: Option<String>,
    pub(crate) advance_on: String,
    pub(crate) advance_gpu: usize,
    pub(crate) step_ms: f64,
}

impl Default for TimeSpec {
    fn default() -> Self {
        Self { mode: TimeMode::Clock, path: None, advance_on: "nvmlDeviceGetMemoryInfo".to_owned(), advance_gpu: 0, step_ms: 1000.0 }
    }
}

/// The three ways in which time passes.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TimeMode {
    Clock,
    File,
    Calls,
}

/// `[driver]`: versions, symbols, and how many devices are there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DriverSpec {
    pub(crate) version: String,
    /// The version from each of these times on.
    pub(crate) version_steps: Vec<(f64, String)>,
    pub(crate) nvml_version: Option<String>,
    pub(crate) cuda: i32,
    pub(crate) symbols: Symbols,
    pub(crate) missing: Vec<String>,
    pub(crate) count_steps: Option<Vec<(f64, usize)>>,
}

impl Default for DriverSpec {
    fn default() -> Self {
        Self {
            version: "580.82.07".to_owned(),
            version_steps: Vec::new(),
            nvml_version: None,
            cuda: 13000,
            symbols: Symbols::All,
            missing: Vec::new(),
            count_steps: None,
        }
    }
}

/// Which driver's symbols the library has.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Symbols {
    All,
    Old470,
    Old418,
}

/// `[latency]` and `[gpu.latency]`: how long calls take.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct LatencySpec {
    pub(crate) profile: Option<Profile>,
    pub(crate) mode: Option<LatencyMode>,
    pub(crate) default_us: Option<CostSpec>,
    pub(crate) init_us: Option<CostSpec>,
    /// The rest of the keys: patterns of calls.
    #[serde(flatten)]
    pub(crate) calls: BTreeMap<String, CostSpec>,
}

/// The named sets of measured latencies.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Profile {
    None,
    H200,
}

/// How a latency is passed.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LatencyMode {
    Sleep,
    Burn,
    Real,
}

/// A latency: microseconds, or a table of them.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged, expecting = "a number of microseconds, or { idle, busy, per_process, knee, beyond }")]
pub(crate) enum CostSpec {
    Fixed(f64),
    Table(CostTable),
}

/// A latency that depends on how many processes the GPU has.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CostTable {
    /// Without a process.
    pub(crate) idle: f64,
    /// With one.
    pub(crate) busy: f64,
    /// For each further one in the list that is asked for.
    #[serde(default)]
    pub(crate) per_process: f64,
    /// The total up to which `per_process` holds.
    pub(crate) knee: Option<f64>,
    /// For each process beyond the knee.
    #[serde(default)]
    pub(crate) beyond: f64,
}

/// `[lock]`: calls that all others wait for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LockSpec {
    pub(crate) enabled: bool,
    pub(crate) path: Option<String>,
    pub(crate) gpu: Vec<String>,
    pub(crate) all: Vec<String>,
}

impl Default for LockSpec {
    fn default() -> Self {
        Self { enabled: false, path: None, gpu: vec!["energy".to_owned()], all: vec!["process_utilization".to_owned()] }
    }
}

/// `[log]`: a file that gets a line for each call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogSpec {
    pub(crate) path: String,
}

/// `[[fault]]`: calls that fail, come late or never return.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FaultSpec {
    pub(crate) call: OneOrMany<String>,
    pub(crate) gpu: Option<OneOrMany<usize>>,
    #[serde(default)]
    pub(crate) from_s: f64,
    pub(crate) to_s: Option<f64>,
    pub(crate) every: Option<u64>,
    pub(crate) times: Option<u64>,
    pub(crate) error: Option<String>,
    #[serde(default)]
    pub(crate) hang: bool,
    pub(crate) delay_ms: Option<f64>,
}

/// A value or a list of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a value or a list of values")]
pub(crate) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// All of the values.
    pub(crate) fn as_slice(&self) -> &[T] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

/// `[gpu.mig]`: the mode of a GPU that can be split.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MigModeSpec {
    pub(crate) supported: bool,
    pub(crate) enabled: bool,
    pub(crate) pending: Option<bool>,
    pub(crate) max_devices: u32,
}

impl Default for MigModeSpec {
    fn default() -> Self {
        Self { supported: true, enabled: true, pending: None, max_devices: 7 }
    }
}

/// `[[gpu.mig_device]]`: one instance of a split GPU.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MigSpec {
    pub(crate) uuid: String,
    pub(crate) name: Option<String>,
    pub(crate) gi: u32,
    #[serde(default)]
    pub(crate) ci: u32,
    pub(crate) total: crate::amount::Amount,
    pub(crate) reserved: Option<crate::amount::Amount>,
    pub(crate) used: Option<Curve>,
}
