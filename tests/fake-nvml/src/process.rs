//! The processes of a GPU, ready to be asked about.

use crate::curve::{Curve, Reading};
use crate::scenario_gpu::{GpuSpec, Kind, ManySpec, PidSpec, ProcessSpec};

/// What NVML writes for a memory use or an instance that it does not know.
pub(crate) const UNAVAILABLE: u64 = u64::MAX;
/// The instance of a process on a GPU that is not split.
pub(crate) const NO_INSTANCE: u32 = u32::MAX;

/// One process.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    lists: u8,
    memory: Reading,
    memory_graphics: Option<Reading>,
    /// What `memory` always gives, where it never changes.
    fixed: Option<u64>,
    start_s: f64,
    end_s: f64,
    pub(crate) sm: Option<Curve>,
    pub(crate) gpu_instance: u32,
    pub(crate) compute_instance: u32,
}

fn bit(kind: Kind) -> u8 {
    1 << kind as u8
}

impl Process {
    /// Whether it runs at `t` seconds.
    pub(crate) fn runs(&self, t: f64) -> bool {
        t >= self.start_s && t < self.end_s
    }

    /// Whether it is in this list at `t` seconds.
    pub(crate) fn is_in(&self, list: Kind, t: f64) -> bool {
        self.lists & bit(list) != 0 && self.runs(t)
    }

    /// Whether it belongs to this instance.
    pub(crate) fn belongs(&self, instance: Option<(u32, u32)>) -> bool {
        instance.is_none_or(|pair| pair == (self.gpu_instance, self.compute_instance))
    }

    /// The bytes that this list says it uses, or `UNAVAILABLE`.
    pub(crate) fn bytes(&self, list: Kind, t: f64) -> u64 {
        match (&self.memory_graphics, list, self.fixed) {
            (Some(own), Kind::Graphics, _) => own.whole(t).unwrap_or(UNAVAILABLE),
            (_, _, Some(fixed)) => fixed,
            _ => self.memory.whole(t).unwrap_or(UNAVAILABLE),
        }
    }

    /// The bytes it adds to those used on the GPU.
    pub(crate) fn adds(&self, t: f64) -> u64 {
        self.memory.whole(t).unwrap_or(0)
    }

    /// Whether it runs all the time with the same bytes.
    pub(crate) fn is_constant(&self) -> bool {
        self.start_s <= 0.0 && self.end_s == f64::INFINITY && self.memory.is_constant()
    }
}

/// The processes of the `nth` GPU made from `spec`.
pub(crate) fn all_of(spec: &GpuSpec, nth: usize) -> Result<Vec<Process>, String> {
    let mut processes = Vec::new();
    for one in &spec.process {
        processes.push(single(one)?);
    }
    for many in &spec.process_many {
        row(many, nth, &mut processes)?;
    }
    Ok(processes)
}

fn single(spec: &ProcessSpec) -> Result<Process, String> {
    Ok(Process {
        pid: pid(&spec.pid)?,
        lists: spec.kind.as_slice().iter().fold(0, |set, k| set | bit(*k)),
        memory: spec.memory.clone(),
        memory_graphics: spec.memory_graphics.clone(),
        fixed: spec.memory.is_constant().then(|| spec.memory.whole(0.0).unwrap_or(UNAVAILABLE)),
        start_s: spec.start_s,
        end_s: spec.end_s.unwrap_or(f64::INFINITY),
        sm: spec.sm.clone(),
        gpu_instance: spec.gpu_instance.unwrap_or(NO_INSTANCE),
        compute_instance: spec.compute_instance.unwrap_or(NO_INSTANCE),
    })
}

fn row(spec: &ManySpec, nth: usize, into: &mut Vec<Process>) -> Result<(), String> {
    let given = match spec.pids_env.as_deref().and_then(std::env::var_os) {
        Some(list) => numbers(&list.to_string_lossy())?,
        None => Vec::new(),
    };
    let before = nth * spec.count;
    let mut process = single(&ProcessSpec {
        pid: PidSpec::Number(0),
        memory: spec.memory.clone(),
        memory_graphics: None,
        kind: spec.kind.clone(),
        start_s: spec.start_s,
        end_s: spec.end_s,
        sm: spec.sm.clone(),
        gpu_instance: spec.gpu_instance,
        compute_instance: spec.compute_instance,
    })?;
    for place in before..before + spec.count {
        let in_row = spec.first_pid.wrapping_add(place as u32);
        process.pid = given.get(place).copied().unwrap_or(in_row);
        into.push(process.clone());
    }
    Ok(())
}

fn numbers(list: &str) -> Result<Vec<u32>, String> {
    list.split(',').filter(|text| !text.trim().is_empty()).map(|text| text.trim().parse().map_err(|_| format!("`{text}` is not a pid"))).collect()
}

fn pid(spec: &PidSpec) -> Result<u32, String> {
    let word = match spec {
        PidSpec::Number(pid) => return Ok(*pid),
        PidSpec::Word(word) => word,
    };
    if word == "self" {
        return Ok(std::process::id());
    }
    let Some(name) = word.strip_prefix("env:") else {
        return Err(format!("pid `{word}` is neither a number nor \"self\" nor \"env:NAME\""));
    };
    std::env::var(name).ok().and_then(|text| text.trim().parse().ok()).ok_or_else(|| format!("the variable `{name}` holds no pid"))
}
