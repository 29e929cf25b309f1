//! Latencies measured on real cards, in microseconds (medians).

use crate::scenario::CostTable;

const fn flat(us: f64) -> CostTable {
    idle_busy(us, us)
}

const fn idle_busy(idle: f64, busy: f64) -> CostTable {
    CostTable { idle, busy, per_process: 0.0, knee: None, beyond: 0.0 }
}

/// An H200: the cost of each pattern of calls.
pub(crate) const H200: &[(&str, CostTable)] = &[
    ("init", flat(13_400.0)),
    ("memory", idle_busy(9.4, 25.5)),
    ("name", flat(3.7)),
    ("uuid", flat(3.7)),
    ("pci", flat(3.0)),
    ("utilization", flat(2.7)),
    ("temperature", flat(2.6)),
    ("power", flat(2.3)),
    ("power_limit", flat(2.2)),
    ("clocks", flat(2.5)),
    ("max_clock", flat(1216.0)),
    ("pstate", flat(2.1)),
    ("throttle", flat(2.3)),
    ("ecc_total", flat(2.9)),
    ("remapped", flat(3.0)),
    ("fan", flat(80.0)),
    ("bar1", flat(217.0)),
    ("ecc_mode", flat(130.0)),
    ("mig_mode", flat(133.0)),
    ("display", flat(135.0)),
    ("compute_mode", flat(5.0)),
    ("persistence", flat(6.0)),
    ("accounting", flat(8.0)),
    ("compute", CostTable { idle: 9.3, busy: 53.0, per_process: 8.0, knee: Some(80.0), beyond: 0.3 }),
    ("graphics", idle_busy(9.3, 23.0)),
    ("mps", idle_busy(9.3, 23.0)),
    ("energy", flat(3086.0)),
    ("process_utilization", flat(2297.0)),
    ("pcie_throughput", flat(20_897.0)),
    ("pcie_link", flat(31.0)),
    ("pcie_replay", flat(146.0)),
];
