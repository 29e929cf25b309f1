//! A process read back: its facts, and one step's readings.

use std::fmt;

use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::super::absent::Reasons;
use super::super::facts::FactsTable;
use super::super::time::Time;
use super::values::{Text, count};
use crate::model::{
    Bytes, HostReading, Kind, ProcessFacts, ProcessKey, ProcessSample, Rank, Reading, RunState, SafeText, UtilizationPercent, Visibility,
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
    cmdline: Arguments,
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
            cmdline: self.cmdline.0,
            container: self.container.map(Text::safe),
            job: self.job.map(Text::safe),
            rank: self.rank.map(|rank| Rank { rank, world: self.world_size, local: self.local_rank }),
            started: self.started.map(|time| time.0),
            parent: self.parent,
        }
    }
}

/// A command line of at most [`Arguments::LIMIT`] arguments; the rest is passed over.
#[derive(Default)]
struct Arguments(Vec<SafeText>);

impl Arguments {
    /// More than fit into what is read of a command line (16 KiB): a bound on memory, not on honest recordings.
    const LIMIT: usize = 16 << 10;
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Some16K;
        impl<'de> Visitor<'de> for Some16K {
            type Value = Arguments;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of arguments")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Arguments, A::Error> {
                let mut kept = Vec::new();
                while kept.len() < Arguments::LIMIT {
                    match list.next_element::<Text>()? {
                        Some(text) => kept.push(text.safe()),
                        None => return Ok(Arguments(kept)),
                    }
                }
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Arguments(kept))
            }
        }
        deserializer.deserialize_seq(Some16K)
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
