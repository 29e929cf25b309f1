//! The line to one device: puts questions and remembers what came of them, so that nothing is asked in vain.
//!
//! It knows which calls the device does not have, which failed since somebody last looked, and whether the device answers at all.
//! It holds no figures.

use std::borrow::Cow;

use nvml_wrapper::error::NvmlError;

use super::call::Call;
use super::driver::Driver;
use super::raw::{self, Handle};
use super::words;
use crate::model::{Absence, Fault, GpuId, Reading, SafeText};

/// Whether a device answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It answers.
    Fine,
    /// The driver has lost it: it fell off the bus or was pulled out.
    Lost,
    /// The driver itself is gone or was replaced: close, and open again.
    DriverGone,
}

/// One device, the calls that it does not have, and its failures since the last look.
#[derive(Debug)]
pub(super) struct Line {
    driver: Driver,
    handle: Handle,
    /// Whether it is a MIG instance.
    instance: bool,
    /// Whether its calls are shown by [`Driver::in_call`].
    watched: bool,
    /// The calls that it does not have, by [`Call::bit`].
    unsupported: u64,
    faults: Vec<(Call, Cow<'static, str>)>,
    /// The call that told of it, and what is wrong with the device as a whole.
    trouble: Option<(Call, Condition)>,
}

impl Line {
    pub(super) fn new(driver: Driver, handle: Handle, instance: bool) -> Self {
        Self { driver, handle, instance, watched: true, unsupported: 0, faults: Vec::new(), trouble: None }
    }

    /// A second line to the same device with what was learned, for a thread whose calls are not watched.
    pub(super) fn unwatched(&self) -> Self {
        Self {
            driver: self.driver,
            handle: raw::duplicate(&self.handle),
            instance: self.instance,
            watched: false,
            unsupported: self.unsupported,
            faults: Vec::new(),
            trouble: self.trouble,
        }
    }

    pub(super) const fn driver(&self) -> Driver {
        self.driver
    }

    /// Whether the device is known not to have the call.
    pub(super) const fn lacks(&self, call: Call) -> bool {
        self.unsupported & call.bit() != 0
    }

    /// Puts one question, unless the device is known not to have it, and learns from the answer.
    pub(super) fn ask<T>(&mut self, call: Call, question: impl FnOnce(&Handle) -> Result<T, NvmlError>) -> Reading<T> {
        if self.lacks(call) {
            return Reading::NOT_SUPPORTED;
        }
        let answer = self.put(call, question);
        self.learn(call, answer)
    }

    /// Puts one question and learns nothing: for a call of which an older version may be tried next.
    pub(super) fn put<T>(&self, call: Call, question: impl FnOnce(&Handle) -> Result<T, NvmlError>) -> Result<T, NvmlError> {
        self.driver.call(call, self.watched, || question(&self.handle))
    }

    /// Takes an answer as the device's last word on a call.
    pub(super) fn learn<T>(&mut self, call: Call, answer: Result<T, NvmlError>) -> Reading<T> {
        match answer {
            Ok(value) => {
                // Some calls are answered from the library's own memory when the GPU is long gone, so only the call that told of the
                // trouble, or the memory query, ends it.
                if self.trouble.is_some_and(|(by, _)| by == call || call == Call::Memory) {
                    self.trouble = None;
                }
                Reading::Value(value)
            }
            Err(error) => {
                if let Some(condition) = words::condition(&error)
                    && self.trouble.is_none_or(|(_, known)| known != condition)
                {
                    self.trouble = Some((call, condition));
                }
                let why = words::absence(&error, self.instance);
                match &why {
                    Absence::NotSupported => self.unsupported |= call.bit(),
                    Absence::Failed(reason) => self.note(call, reason.clone()),
                    _ => {}
                }
                Reading::Absent(why)
            }
        }
    }

    /// Notes a failure, unless one of that name is noted already.
    pub(super) fn note(&mut self, call: Call, reason: impl Into<Cow<'static, str>>) {
        if !self.faults.iter().any(|(noted, _)| noted.name() == call.name()) {
            self.faults.push((call, reason.into()));
        }
    }

    /// The reading where its figure can be true; else a failure, which is noted.
    pub(super) fn within<T: PartialOrd + Copy>(&mut self, call: Call, reading: Reading<T>, most: T) -> Reading<T> {
        match reading {
            Reading::Value(value) if value > most => {
                self.note(call, words::OUT_OF_RANGE);
                Reading::failed(words::OUT_OF_RANGE)
            }
            reading => reading,
        }
    }

    pub(super) fn condition(&self) -> Condition {
        self.trouble.map_or(Condition::Fine, |(_, condition)| condition)
    }

    /// Moves the failures since the last time to `into`.
    pub(super) fn take_faults(&mut self, gpu: &GpuId, into: &mut Vec<Fault>) {
        into.extend(self.faults.drain(..).map(|(call, reason)| Fault { gpu: Some(gpu.clone()), call: call.name(), reason: SafeText::new(&reason) }));
    }
}
