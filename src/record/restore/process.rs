//! A process read back: its facts, and one step's readings.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::super::absent::Reasons;
use super::super::facts::FactsTable;
use super::super::time::Time;
use super::values::{Text, count};
use crate::model::{
    Ancestor, Bytes, HostReading, Kind, ProcessFacts, ProcessKey, ProcessSample, Rank, Reading, RunState, SafeText, UtilizationPercent, Visibility,
};

#[derive(Deserialize)]
pub(super) struct FactsLine {
    pid: u32,
    start_ticks: Option<u64>,
    user: Option<Text>,
    #[serde(default)]
    what: Text,
    #[serde(default)]
    command: Text,
    #[serde(default)]
    cmdline: Bounded<Text, MOST_ARGUMENTS>,
    container: Option<Text>,
    job: Option<Text>,
    rank: Option<u32>,
    world_size: Option<u32>,
    local_rank: Option<u32>,
    #[serde(default)]
    visible: bool,
    #[serde(default)]
    mine: bool,
    started: Option<Time>,
    parent: Option<u32>,
    #[serde(default)]
    ancestors: Bounded<AncestorLine, 64>,
}

#[derive(Deserialize)]
struct AncestorLine {
    pid: u32,
    start_ticks: Option<u64>,
    #[serde(default)]
    name: Text,
}

impl AncestorLine {
    fn restore(self) -> Ancestor {
        Ancestor { key: ProcessKey { pid: self.pid, start_ticks: self.start_ticks }, name: self.name.safe() }
    }
}

impl FactsLine {
    pub(super) fn restore(self) -> ProcessFacts {
        ProcessFacts {
            key: ProcessKey { pid: self.pid, start_ticks: self.start_ticks },
            visibility: if self.visible { Visibility::Here } else { Visibility::NotHere },
            user: self.user.map(Text::safe),
            mine: self.mine,
            what: self.what.safe(),
            what_full: self.command.safe(),
            cmdline: self.cmdline.0.into_iter().map(Text::safe).collect(),
            container: self.container.map(Text::safe),
            job: self.job.map(Text::safe),
            rank: self.rank.map(|rank| Rank { rank, world: self.world_size, local: self.local_rank }),
            started: self.started.map(|time| time.0),
            parent: self.parent,
            ancestors: self.ancestors.0.into_iter().map(AncestorLine::restore).collect(),
        }
    }
}

/// More than fit into what is read of a command line (16 KiB): a bound on memory, not on honest recordings.
const MOST_ARGUMENTS: usize = 16 << 10;

/// A list of at most so many; the rest is passed over.
struct Bounded<T, const MOST: usize>(Vec<T>);

impl<T, const MOST: usize> Default for Bounded<T, MOST> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for Bounded<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AtMost<T, const MOST: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for AtMost<T, MOST> {
            type Value = Bounded<T, MOST>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut kept = Vec::new();
                while kept.len() < MOST {
                    match list.next_element()? {
                        Some(item) => kept.push(item),
                        None => return Ok(Bounded(kept)),
                    }
                }
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Bounded(kept))
            }
        }
        deserializer.deserialize_seq(AtMost(PhantomData))
    }
}

#[derive(Deserialize)]
pub(super) struct SampleLine {
    uuid: Option<Text>,
    pid: u32,
    start_ticks: Option<u64>,
    #[serde(default)]
    r#type: Text,
    memory: Option<Bytes>,
    memory_min: Option<Bytes>,
    memory_max: Option<Bytes>,
    sm_percent: Option<u32>,
    cpu_percent: Option<f64>,
    rss: Option<Bytes>,
    state: Option<char>,
    #[serde(default)]
    absent: Reasons,
}

impl SampleLine {
    pub(super) fn uuid(&self) -> Option<&SafeText> {
        self.uuid.as_ref().map(|uuid| &uuid.0)
    }

    pub(super) fn restore(&self, gpu: usize, known: &mut FactsTable) -> ProcessSample {
        let reasons = &self.absent;
        let sm = reasons.reading("sm_percent", self.sm_percent);
        ProcessSample {
            gpu,
            facts: known.of(ProcessKey { pid: self.pid, start_ticks: self.start_ticks }),
            kind: Kind::from_letters(self.r#type.0.as_str()),
            memory: reasons.reading("memory", self.memory),
            range: self.memory_min.zip(self.memory_max),
            sm_percent: sm.and_then(|sm| UtilizationPercent::new(sm).map_or(Reading::failed("more than 100 %"), Reading::Value)),
            host: reasons.reading("rss", self.rss).map(|rss| HostReading {
                cpu_permille: self.cpu_percent.and_then(|percent| count(percent, 10.0)),
                rss,
                state: RunState(self.state.filter(char::is_ascii_graphic).unwrap_or('?')),
            }),
        }
    }
}
