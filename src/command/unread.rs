//! What a sample lacks: a sentence each, for stderr, and the exit code that it stands for. What is left out is not passed over in silence.
//!
//! It prints nothing and ends nothing.

use crate::exit::Exit;
use crate::model::{Absence, Event, EventKind, Fault, GpuSample, Record, Sample};
use crate::monitor::Monitor;

/// What is printed of each device: that is what must not be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payload {
    /// Its figures. Why its holders are unknown stands beside them.
    Figures,
    /// A line a process, so that a list that cannot be read looks like one that is empty.
    Lists,
    /// Who it is, which takes no reading.
    Names,
}

impl Payload {
    /// Why it is missing on a device, all of it or a part.
    fn missing(self, sample: &Sample) -> impl Iterator<Item = (&GpuSample, &Absence)> {
        sample.gpus.iter().filter_map(move |gpu| {
            let why = match self {
                Self::Figures => gpu.memory.absence(),
                Self::Lists => gpu.processes.lacking(),
                Self::Names => None,
            };
            why.filter(|why| is_unreadable(why)).map(|why| (gpu, why))
        })
    }

    /// Whether something of a device was read.
    fn has_some(self, gpu: &GpuSample) -> bool {
        match self {
            Self::Figures => gpu.memory.is_value(),
            Self::Lists => gpu.processes.is_value(),
            Self::Names => true,
        }
    }

    /// How a look ends: 5 when some device could not be read, or a part of it, while others were, 1 when none could, 4 when all of them
    /// lacked a permission. A device without lists is no failure.
    pub(super) fn exit(self, sample: &Sample) -> Exit {
        let is_failure = |why: &Absence| self == Self::Figures || *why != Absence::NotSupported;
        let unread: Vec<(&GpuSample, &Absence)> = self.missing(sample).filter(|(_, why)| is_failure(why)).collect();
        let unopened = unopened(sample);
        let permission = unread.iter().all(|(_, why)| **why == Absence::NotPermitted) && unopened.clone().all(Fault::is_of_permission);
        match (unread.len(), unopened.count()) {
            (0, 0) => Exit::Fine,
            _ if unread.iter().filter(|(gpu, _)| !self.has_some(gpu)).count() < sample.gpus.len() => Exit::SomeUnreadable,
            _ if permission => Exit::NotPermitted,
            _ => Exit::Failed,
        }
    }

    /// The sentences that no line on stdout says.
    fn sentences(self, sample: &Sample, monitor: &Monitor) -> Vec<String> {
        let mut sentences: Vec<String> = unopened(sample).map(|fault| format!("{}, so it is left out. {SEE}", fault.reason)).collect();
        if self == Self::Lists {
            sentences.extend(self.missing(sample).map(|(gpu, why)| {
                let row = monitor.gpus().iter().find(|row| row.facts.id == gpu.id);
                let label = row.map_or_else(|| gpu.id.to_string(), |row| row.label.clone());
                let what = if self.has_some(gpu) { "not all of its processes can" } else { "its processes cannot" };
                format!("GPU {label}: {what} be listed ({why})")
            }));
        }
        sentences
    }
}

const SEE: &str = "See dmesg for NVRM and Xid lines";

/// Devices that could not be opened.
fn unopened(sample: &Sample) -> impl Iterator<Item = &Fault> + Clone {
    sample.faults.iter().filter(|fault| fault.gpu.is_none())
}

/// What was not asked for is not missing, and a GPU that sleeps is left alone on purpose.
const fn is_unreadable(why: &Absence) -> bool {
    !matches!(why, Absence::NotAsked | Absence::StaleSince(_))
}

/// What was said of a stream of records, so that nothing is said twice in a row.
#[derive(Debug)]
pub(super) struct News {
    payload: Payload,
    told: Vec<String>,
    driver_gone: bool,
}

impl News {
    pub(super) const fn new(payload: Payload) -> Self {
        Self { payload, told: Vec::new(), driver_gone: false }
    }

    pub(super) const fn payload(&self) -> Payload {
        self.payload
    }

    /// The sentences that this record makes due; `monitor` has taken it in.
    pub(super) fn of(&mut self, record: &Record, monitor: &Monitor) -> Vec<String> {
        match record {
            Record::Event(Event { gpu: None, kind: EventKind::Lost(reason), .. }) => {
                self.driver_gone = true;
                vec![format!("the driver is gone ({reason}); waiting until it answers again. {SEE}")]
            }
            Record::Sample(sample) => {
                let mut due = Vec::new();
                if std::mem::take(&mut self.driver_gone) {
                    due.push("the driver answers again".to_owned());
                }
                let sentences = self.payload.sentences(sample, monitor);
                due.extend(sentences.iter().filter(|sentence| !self.told.contains(sentence)).cloned());
                self.told = sentences;
                due
            }
            Record::Header(_) | Record::Process { .. } | Record::Event(_) => Vec::new(),
        }
    }
}
