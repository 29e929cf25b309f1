//! nvidia-smi's dialect: its fields, its spelling, its units, so that what reads nvidia-smi's CSV reads this.
//!
//! Cells are not quoted, as nvidia-smi's are not. A field that nvidia-smi has and this has not is refused by name, never left empty.

mod apps;
mod cell;
mod fields;
mod help;
mod list;
mod names;

pub use list::gpu_list;

use std::fmt::Write as _;

use jiff::tz::TimeZone;

use self::cell::{Cell, Unit};
use crate::model::{Ask, Moment};
use crate::monitor::{GpuRow, Monitor, ProcessRow};

/// What is printed where nothing is asked for by name.
pub const USUAL_FIELDS: &str = "timestamp,index,name,uuid,pci.bus_id,memory.total,memory.used,memory.free,memory.reserved,\
utilization.gpu,utilization.memory,temperature.gpu,power.draw,power.limit,clocks.current.sm,clocks.current.memory,pstate";

const QUERY_GPU: &str = "query-gpu";
const QUERY_COMPUTE_APPS: &str = "query-compute-apps";

/// The text of `--help-query-gpu`.
pub fn gpu_help() -> String {
    help::of(QUERY_GPU, fields::GPU)
}

/// The text of `--help-query-compute-apps`.
pub fn process_help() -> String {
    help::of(QUERY_COMPUTE_APPS, apps::PROCESS)
}

/// `--format=csv[,noheader][,nounits]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Names of the fields first.
    pub header: bool,
    /// Units in the cells. The header names them all the same.
    pub units: bool,
}

/// What a cell is made from.
struct Row<'a> {
    monitor: &'a Monitor,
    gpu: &'a GpuRow,
    process: Option<&'a ProcessRow>,
    time: Moment,
    zone: &'a TimeZone,
}

/// One field that is offered.
#[derive(Clone, Copy)]
struct Field {
    /// Its name, and the others that it is known by.
    names: &'static [&'static str],
    unit: Unit,
    /// What has to be asked for it; nothing where every step reads it.
    ask: Option<Ask>,
    cell: fn(&Field, &Row<'_>) -> Cell,
}

/// Which lines a query has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Gpus,
    Processes,
}

/// A query that is understood: what to ask, and how to print it.
pub struct Query {
    subject: Subject,
    fields: Vec<Field>,
    dialect: Dialect,
}

/// A field that is not printed, and what to write instead.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// Nothing stands before or after a comma, or at all.
    #[error("a field is missing in --{option}={list}: vramtop --help-{option} lists them")]
    Missing {
        /// The whole list.
        list: String,
        /// The option that it was written for.
        option: &'static str,
    },
    /// nvidia-smi does not know it either, but one that is like it.
    #[error("unknown field {wanted:?}: did you mean {nearest}?")]
    Misspelt {
        /// As it was written.
        wanted: String,
        /// The known name that is nearest.
        nearest: &'static str,
    },
    /// Nobody knows what it may be.
    #[error("unknown field {wanted:?}: vramtop --help-{option} lists the fields")]
    Unknown {
        /// As it was written.
        wanted: String,
        /// The option that it was written for.
        option: &'static str,
    },
    /// nvidia-smi knows it.
    #[error("the field {wanted:?} is nvidia-smi's, but vramtop does not offer it. See nvidia-smi --{option}={wanted}")]
    NotOffered {
        /// As it was written.
        wanted: String,
        /// The option that it was written for.
        option: &'static str,
    },
}

impl Query {
    /// `--query-gpu`: a line a GPU.
    ///
    /// # Errors
    /// Where a field of the list is not offered.
    pub fn gpus(list: &str, dialect: Dialect) -> Result<Self, FieldError> {
        let fields = names::find_all(fields::GPU, list, names::known_gpu, QUERY_GPU)?;
        Ok(Self { subject: Subject::Gpus, fields, dialect })
    }

    /// `--query-compute-apps`: a line a process on a GPU.
    ///
    /// # Errors
    /// Where a field of the list is not offered.
    pub fn processes(list: &str, dialect: Dialect) -> Result<Self, FieldError> {
        let fields = names::find_all(apps::PROCESS, list, || [].into_iter(), QUERY_COMPUTE_APPS)?;
        Ok(Self { subject: Subject::Processes, fields, dialect })
    }

    /// What the source has to ask for it, each once.
    pub fn asks(&self) -> Vec<Ask> {
        let mut asks = Vec::new();
        for ask in self.fields.iter().filter_map(|field| field.ask) {
            if !asks.contains(&ask) {
                asks.push(ask);
            }
        }
        asks
    }

    /// Whether it prints a line a process.
    pub fn is_of_processes(&self) -> bool {
        self.subject == Subject::Processes
    }

    /// Whether the host has to be asked for the processes' names.
    pub fn names_processes(&self) -> bool {
        self.fields.iter().any(|field| field.names.contains(&apps::PROCESS_NAME))
    }

    /// Appends the line of names, unless it is not wanted.
    pub fn header(&self, out: &mut String) {
        if self.dialect.header {
            let names = self.fields.iter().map(|field| format!("{}{}", field.names[0], field.unit.in_header()));
            line(names, out);
        }
    }

    /// Appends the lines of the last sample; nothing before the first. Times are `zone`'s.
    pub fn rows(&self, monitor: &Monitor, zone: &TimeZone, out: &mut String) {
        let Some((time, _)) = monitor.now() else { return };
        for (at, gpu) in monitor.gpus().iter().enumerate() {
            let row = |process| Row { monitor, gpu: home(monitor, gpu), process, time, zone };
            match self.subject {
                // nvidia-smi prints no line for an instance; alone it stands for itself.
                Subject::Gpus if std::ptr::eq(home(monitor, gpu), gpu) => self.row(&row(None), out),
                Subject::Gpus => {}
                Subject::Processes => {
                    let computing = monitor.processes_of(at).filter(|process| process.kind.compute || process.kind.mps);
                    computing.for_each(|process| self.row(&row(Some(process)), out));
                }
            }
        }
    }

    fn row(&self, row: &Row<'_>, out: &mut String) {
        line(self.fields.iter().map(|field| (field.cell)(field, row).print(field.unit, self.dialect.units)), out);
    }
}

/// The GPU that an instance is a part of, where it is looked at, too.
fn home<'a>(monitor: &'a Monitor, gpu: &'a GpuRow) -> &'a GpuRow {
    let parent = gpu.facts.parent.as_ref().and_then(|parent| monitor.gpus().iter().find(|row| row.facts.id == *parent));
    parent.unwrap_or(gpu)
}

fn line(cells: impl Iterator<Item = String>, out: &mut String) {
    for (at, cell) in cells.enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(out, "{}{cell}", if at == 0 { "" } else { ", " });
    }
    out.push('\n');
}
