//! The fields of `--query-compute-apps`: all that nvidia-smi has.

use super::cell::{Cell, Unit};
use super::fields::{BUS_ID, NAME, TIMESTAMP, UUID, as_it_is};
use super::{Field, Row};
use crate::model::{Absence, Ask, Bytes, Reading};
use crate::monitor::ProcessRow;

pub(super) const PROCESS_NAME: &str = "process_name";

const fn read(names: &'static [&'static str], unit: Unit, cell: fn(&Field, &Row<'_>) -> Cell) -> Field {
    Field { names, unit, ask: None, cell }
}

pub(super) const PROCESS: &[Field] = &[
    TIMESTAMP,
    read(&["gpu_name"], Unit::None, NAME),
    read(&["gpu_bus_id"], Unit::None, BUS_ID),
    Field { names: &["gpu_serial"], unit: Unit::None, ask: Some(Ask::Serial), cell: as_it_is },
    read(&["gpu_uuid"], Unit::None, UUID),
    read(&["pid"], Unit::None, |_, row| Cell::known(row.process.map(|process| process.facts.key.pid))),
    read(&[PROCESS_NAME, "name"], Unit::None, name),
    read(&["used_gpu_memory", "used_memory"], Unit::Mib, |_, row| {
        Cell::mib(row.process.map_or(Reading::NOT_SUPPORTED, |process| of_step(row, process)))
    }),
];

/// What it holds. A line is of its time, so a figure of an earlier step is none of it.
fn of_step(row: &Row<'_>, process: &ProcessRow) -> Reading<Bytes> {
    let since_ms = process.kept_since_ms.or(row.monitor.gpus().get(process.gpu).and_then(|gpu| gpu.older_since_ms));
    since_ms.map_or_else(|| process.memory.clone(), |since_ms| Reading::Absent(Absence::StaleSince(since_ms)))
}

/// The first word of the command line, as nvidia-smi has it; it says "Not Found" of a process of another PID namespace.
fn name(_: &Field, row: &Row<'_>) -> Cell {
    let first = row.process.and_then(|process| process.facts.cmdline.first());
    Cell::of(first.map_or(Reading::failed("Not Found"), |word| Reading::Value(word.to_string())))
}
