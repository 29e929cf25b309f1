//! Calls that fail, come late or never return.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::calls::{Call, CallSet};
use crate::codes::{self, Code};
use crate::scenario::FaultSpec;

/// A fault, ready to strike.
#[derive(Debug)]
pub(crate) struct Fault {
    calls: CallSet,
    gpus: Option<Vec<usize>>,
    from_s: f64,
    to_s: f64,
    every: u64,
    times: u64,
    seen: AtomicU64,
    struck: AtomicU64,
    effect: Effect,
}

/// What a fault does to a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effect {
    delay: Duration,
    hang: bool,
    error: Option<Code>,
}

impl Fault {
    /// A fault of a scenario.
    pub(crate) fn new(spec: &FaultSpec) -> Result<Self, String> {
        let mut calls = CallSet::default();
        for pattern in spec.call.as_slice() {
            calls = calls.and(CallSet::matching(pattern).map_err(|e| format!("fault: {e}"))?);
        }
        let error = match &spec.error {
            Some(name) => Some(codes::by_name(name).ok_or_else(|| format!("fault: `{name}` is not the name of an NVML error"))?),
            None => None,
        };
        if error.is_none() && !spec.hang && spec.delay_ms.is_none() {
            return Err("a fault needs `error`, `hang` or `delay_ms`".to_owned());
        }
        Ok(Self {
            calls,
            gpus: spec.gpu.as_ref().map(|gpus| gpus.as_slice().to_vec()),
            from_s: spec.from_s,
            to_s: spec.to_s.unwrap_or(f64::INFINITY),
            every: spec.every.unwrap_or(1).max(1),
            times: spec.times.unwrap_or(u64::MAX),
            seen: AtomicU64::new(0),
            struck: AtomicU64::new(0),
            effect: Effect { delay: Duration::from_secs_f64(spec.delay_ms.unwrap_or(0.0).max(0.0) / 1e3), hang: spec.hang, error },
        })
    }

    /// What the fault does to this call, if anything.
    pub(crate) fn strike(&self, call: Call, gpu: Option<usize>, t: f64) -> Option<Effect> {
        let here = match (&self.gpus, gpu) {
            (None, _) => true,
            (Some(gpus), Some(gpu)) => gpus.contains(&gpu),
            (Some(_), None) => false,
        };
        if !here || !self.calls.has(call) || t < self.from_s || t >= self.to_s {
            return None;
        }
        let seen = self.seen.fetch_add(1, Ordering::Relaxed) + 1;
        if !seen.is_multiple_of(self.every) {
            return None;
        }
        let struck = self.struck.fetch_add(1, Ordering::Relaxed);
        (struck < self.times).then_some(self.effect)
    }
}

impl Effect {
    /// Lets the fault happen; an error takes the place of the call's answer.
    pub(crate) fn suffer(self) -> Result<(), Code> {
        if !self.delay.is_zero() {
            std::thread::sleep(self.delay);
        }
        if self.hang {
            loop {
                std::thread::sleep(Duration::from_secs(3600));
            }
        }
        self.error.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::Fault;
    use crate::calls::Call;
    use crate::scenario::FaultSpec;

    fn fault(text: &str) -> Result<Fault, String> {
        Fault::new(&toml::from_str::<FaultSpec>(text).unwrap())
    }

    fn strikes(fault: &Fault, calls: usize) -> Vec<bool> {
        let mut struck = Vec::new();
        for _ in 0..calls {
            let effect = fault.strike(Call::nvmlDeviceGetName, Some(1), 2.0);
            struck.push(effect.is_some());
        }
        struck
    }

    #[test]
    fn every_nth_and_the_first_n() {
        let f = fault("call = \"*\"\nevery = 2\ntimes = 1\nerror = \"Timeout\"").unwrap();
        assert_eq!(strikes(&f, 4), [false, true, false, false]);
    }

    #[test]
    fn only_there_and_then() {
        let f = fault("call = \"name\"\ngpu = 0\nerror = \"GpuLost\"").unwrap();
        assert_eq!(strikes(&f, 1), [false]);
        let f = fault("call = \"name\"\ngpu = [0, 1]\nto_s = 2\nerror = \"GpuLost\"").unwrap();
        assert_eq!(strikes(&f, 1), [false]);
    }

    #[test]
    fn mistakes_are_named() {
        assert!(fault("call = \"name\"").unwrap_err().contains("needs"));
        let wrong = fault("call = \"name\"\nerror = \"Tired\"").unwrap_err();
        assert!(wrong.contains("Tired"));
    }
}
