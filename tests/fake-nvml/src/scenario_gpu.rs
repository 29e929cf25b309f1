//! The scenario file as written: one GPU and its processes.

use serde::Deserialize;

use crate::amount::Amount;
use crate::codes::NOT_SUPPORTED;
use crate::curve::{Curve, Reading};
use crate::scenario::{LatencySpec, MigModeSpec, MigSpec, OneOrMany};

/// `[[gpu]]`. What is left out is as on an idle H200.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct GpuSpec {
    /// How many such GPUs there are.
    pub(crate) repeat: usize,
    pub(crate) name: String,
    pub(crate) uuid: Option<String>,
    pub(crate) pci: Option<String>,
    pub(crate) minor: Option<u32>,
    pub(crate) serial: Option<String>,
    pub(crate) vbios: String,
    pub(crate) pci_subsystem: u32,
    pub(crate) total: Amount,
    pub(crate) reserved: Amount,
    pub(crate) used: Option<Curve>,
    pub(crate) unattributed: Option<Curve>,
    pub(crate) memory_v1_includes_reserved: bool,
    pub(crate) shared_memory: bool,
    pub(crate) bar1_total: Reading,
    pub(crate) bar1_used: Reading,

    pub(crate) power_w: Reading,
    pub(crate) power_limit_w: Reading,
    pub(crate) power_default_limit_w: Reading,
    pub(crate) power_min_limit_w: Reading,
    pub(crate) power_max_limit_w: Reading,
    pub(crate) power_average_w: Reading,
    pub(crate) power_instant_w: Reading,
    pub(crate) energy: Option<Reading>,
    pub(crate) temperature: Reading,
    pub(crate) memory_temperature: Reading,
    pub(crate) fan: Reading,
    pub(crate) fans: u32,
    pub(crate) utilization: Option<Reading>,
    pub(crate) bus_utilization: Reading,
    pub(crate) encoder: Option<Reading>,
    pub(crate) decoder: Option<Reading>,
    pub(crate) sm_clock: Reading,
    pub(crate) mem_clock: Reading,
    pub(crate) video_clock: Option<Reading>,
    pub(crate) max_sm_clock: Reading,
    pub(crate) max_mem_clock: Reading,
    pub(crate) pstate: Reading,
    pub(crate) throttle: Reading,
    pub(crate) throttle_supported: Reading,

    pub(crate) ecc: Reading,
    pub(crate) ecc_total: Reading,
    pub(crate) ecc_corrected: Reading,
    pub(crate) remapped: Remapped,

    pub(crate) pcie_gen: Reading,
    pub(crate) pcie_width: Reading,
    pub(crate) pcie_max_gen: Reading,
    pub(crate) pcie_max_width: Reading,
    pub(crate) pcie_tx_kb: Reading,
    pub(crate) pcie_rx_kb: Reading,
    pub(crate) pcie_replay: Reading,

    pub(crate) compute_mode: Reading,
    pub(crate) persistence: Reading,
    pub(crate) display_mode: Reading,
    pub(crate) display_active: Reading,
    pub(crate) accounting: Reading,
    pub(crate) accounting_buffer: Reading,
    pub(crate) virtualization: Reading,
    pub(crate) brand: Reading,
    pub(crate) architecture: Reading,
    pub(crate) compute_capability: [i32; 2],

    pub(crate) mig: Option<MigModeSpec>,
    pub(crate) mig_device: Vec<MigSpec>,
    pub(crate) process: Vec<ProcessSpec>,
    pub(crate) process_many: Vec<ManySpec>,
    pub(crate) latency: LatencySpec,
    pub(crate) garbage: Garbage,
}

impl Default for GpuSpec {
    fn default() -> Self {
        let number = Reading::constant;
        Self {
            repeat: 1,
            name: "NVIDIA H200".to_owned(),
            uuid: None,
            pci: None,
            minor: None,
            serial: None,
            vbios: "96.00.A5.00.1A".to_owned(),
            pci_subsystem: 0x18be_10de,
            total: Amount(143_771.0 * 1_048_576.0),
            reserved: Amount(644_939_776.0),
            used: None,
            unattributed: None,
            memory_v1_includes_reserved: true,
            shared_memory: false,
            bar1_total: number(274_877_906_944.0),
            bar1_used: number(1_048_576.0),
            power_w: number(76.0),
            power_limit_w: number(700.0),
            power_default_limit_w: number(700.0),
            power_min_limit_w: number(200.0),
            power_max_limit_w: number(700.0),
            power_average_w: number(76.0),
            power_instant_w: number(76.0),
            energy: None,
            temperature: number(30.0),
            memory_temperature: number(32.0),
            fan: Reading::Error(NOT_SUPPORTED),
            fans: 0,
            utilization: None,
            bus_utilization: number(0.0),
            encoder: None,
            decoder: None,
            sm_clock: number(345.0),
            mem_clock: number(3201.0),
            video_clock: None,
            max_sm_clock: number(1980.0),
            max_mem_clock: number(3201.0),
            pstate: number(0.0),
            throttle: number(0.0),
            throttle_supported: number(511.0),
            ecc: number(1.0),
            ecc_total: number(0.0),
            ecc_corrected: number(0.0),
            remapped: Remapped::default(),
            pcie_gen: number(5.0),
            pcie_width: number(16.0),
            pcie_max_gen: number(5.0),
            pcie_max_width: number(16.0),
            pcie_tx_kb: number(0.0),
            pcie_rx_kb: number(0.0),
            pcie_replay: number(0.0),
            compute_mode: number(0.0),
            persistence: number(1.0),
            display_mode: number(0.0),
            display_active: number(0.0),
            accounting: number(0.0),
            accounting_buffer: number(4000.0),
            virtualization: number(0.0),
            brand: number(14.0),
            architecture: number(9.0),
            compute_capability: [9, 0],
            mig: None,
            mig_device: Vec::new(),
            process: Vec::new(),
            process_many: Vec::new(),
            latency: LatencySpec::default(),
            garbage: Garbage::default(),
        }
    }
}

/// `[gpu.remapped]`: the rows of memory put out of use.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Remapped {
    pub(crate) correctable: Reading,
    pub(crate) uncorrectable: Reading,
    pub(crate) pending: Reading,
    pub(crate) failed: Reading,
}

impl Default for Remapped {
    fn default() -> Self {
        Self {
            correctable: Reading::constant(0.0),
            uncorrectable: Reading::constant(0.0),
            pending: Reading::constant(0.0),
            failed: Reading::constant(0.0),
        }
    }
}

/// `[gpu.garbage]`: answers that no sound driver gives.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Garbage {
    pub(crate) used_over_total: bool,
    pub(crate) total_zero: bool,
    pub(crate) name_bytes: Option<Vec<u8>>,
    pub(crate) pid_zero: bool,
    pub(crate) pid_max: bool,
    pub(crate) swapped_v2: bool,
    pub(crate) stride_v2_as_v1: bool,
    pub(crate) count_over_capacity: bool,
    pub(crate) absurd_power: bool,
    pub(crate) absurd_utilization: bool,
}

/// `[[gpu.process]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProcessSpec {
    pub(crate) pid: PidSpec,
    pub(crate) memory: Reading,
    pub(crate) memory_graphics: Option<Reading>,
    #[serde(default = "compute")]
    pub(crate) kind: OneOrMany<Kind>,
    #[serde(default)]
    pub(crate) start_s: f64,
    pub(crate) end_s: Option<f64>,
    pub(crate) sm: Option<Curve>,
    pub(crate) gpu_instance: Option<u32>,
    pub(crate) compute_instance: Option<u32>,
}

/// `[[gpu.process_many]]`: alike processes with pids in a row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ManySpec {
    pub(crate) count: usize,
    pub(crate) first_pid: u32,
    /// A variable of the environment with pids to use first, separated by commas.
    pub(crate) pids_env: Option<String>,
    pub(crate) memory: Reading,
    #[serde(default = "compute")]
    pub(crate) kind: OneOrMany<Kind>,
    #[serde(default)]
    pub(crate) start_s: f64,
    pub(crate) end_s: Option<f64>,
    pub(crate) sm: Option<Curve>,
    pub(crate) gpu_instance: Option<u32>,
    pub(crate) compute_instance: Option<u32>,
}

fn compute() -> OneOrMany<Kind> {
    OneOrMany::One(Kind::Compute)
}

/// A pid: a number, `"self"`, or `"env:NAME"`.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a pid, \"self\" or \"env:NAME\"")]
pub(crate) enum PidSpec {
    Number(u32),
    Word(String),
}

/// The three lists of processes.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Compute,
    Graphics,
    Mps,
}
