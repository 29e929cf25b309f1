//! Machines made by hand: what each holds is a function of the second, and the records follow from that.

use std::sync::Arc;

use vramtop::model::{
    Ancestor, Bytes, DeviceMemory, GpuFacts, GpuId, GpuSample, GpuState, Header, HostReading, Kind, Lane, LanePoint, ListState, Moment, OwnCost,
    ProcessFacts, ProcessKey, ProcessSample, Rank, Reading, Record, RunState, SafeText, Sample, Telemetry, Untracked, UtilizationPercent, Visibility,
};

/// 12:08:18 in a zone an hour ahead of UTC, on 30 November 2026: the end of every story told here.
pub(crate) const END: Moment = Moment { unix_ms: 1_796_036_898_000 };
/// How long the stories are.
pub(crate) const SECONDS: u64 = 900;

/// GiB by the second.
pub(crate) type Amount = fn(u64) -> f64;

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "amounts of a story are small and positive")]
pub(crate) fn gib(amount: f64) -> Bytes {
    Bytes((amount * Bytes::GIB as f64) as u64)
}

/// A card and what its telemetry says.
pub(crate) struct Card {
    pub(crate) name: &'static str,
    pub(crate) total: u64,
    /// `None`: the driver does not tell its reserve apart (memory v1).
    pub(crate) reserve: Option<u64>,
    /// What the host uses of it, where it has no memory of its own.
    pub(crate) shared: Option<f64>,
    /// Memory without an owner.
    pub(crate) ownerless: Amount,
    /// A short spike: its second, and the whole of used.
    pub(crate) spike: Option<(u64, f64)>,
    pub(crate) util: fn(u64) -> u32,
    pub(crate) bus: fn(u64) -> u32,
    pub(crate) watts: fn(u64) -> u32,
    pub(crate) limit: u32,
    pub(crate) celsius: u32,
    pub(crate) mhz: u32,
    pub(crate) fan: Option<u32>,
    pub(crate) state: GpuState,
    /// Why its memory cannot be read, if so.
    pub(crate) refused: Option<&'static str>,
    /// Why its process list cannot be read, if so.
    pub(crate) unlisted: Option<&'static str>,
    pub(crate) untracked: (u32, f64),
    /// The card that it is an instance of, and its number there. The card holds what its instances hold.
    pub(crate) instance: Option<(usize, u32)>,
}

impl Card {
    pub(crate) fn new(name: &'static str, total: u64, reserve: u64) -> Self {
        Self {
            name,
            total,
            reserve: Some(reserve),
            shared: None,
            ownerless: |_| 0.02,
            spike: None,
            util: |_| 0,
            bus: |_| 0,
            watts: |_| 80,
            limit: 700,
            celsius: 40,
            mhz: 1980,
            fan: None,
            state: GpuState::Present,
            refused: None,
            unlisted: None,
            untracked: (0, 0.0),
            instance: None,
        }
    }

    pub(crate) fn h200() -> Self {
        Self::new("NVIDIA H200", 150_754_820_096, 644_939_776)
    }

    pub(crate) fn h100() -> Self {
        Self::new("NVIDIA H100 80GB HBM3", 85_520_809_984, 585_105_408)
    }
}

/// A process on a card.
pub(crate) struct Holder {
    pub(crate) gpu: usize,
    pub(crate) pid: u32,
    pub(crate) user: Option<&'static str>,
    pub(crate) mine: bool,
    pub(crate) what: &'static str,
    pub(crate) full: &'static str,
    pub(crate) command: &'static str,
    /// `None`: the driver does not say.
    pub(crate) held: Option<Amount>,
    /// From the first second to the last in which it is listed.
    pub(crate) life: (u64, u64),
    pub(crate) kind: Kind,
    pub(crate) sm: Option<u32>,
    pub(crate) cpu: u32,
    pub(crate) rss: f64,
    /// Age in minutes at the end.
    pub(crate) age: u64,
    pub(crate) rank: Option<Rank>,
    pub(crate) job: Option<&'static str>,
    pub(crate) parent: Option<u32>,
    /// PID and name, the nearest first.
    pub(crate) ancestors: Vec<(u32, &'static str)>,
}

impl Holder {
    pub(crate) fn new(gpu: usize, pid: u32, user: &'static str, what: &'static str, held: Amount) -> Self {
        Self {
            gpu,
            pid,
            user: Some(user),
            mine: false,
            what,
            full: what,
            command: what,
            held: Some(held),
            life: (0, u64::MAX),
            kind: Kind { compute: true, ..Kind::default() },
            sm: Some(0),
            cpu: 0,
            rss: 1.0,
            age: 60,
            rank: None,
            job: None,
            parent: None,
            ancestors: Vec::new(),
        }
    }

    fn facts(&self) -> ProcessFacts {
        if self.user.is_none() {
            return ProcessFacts::unseen(self.pid);
        }
        ProcessFacts {
            key: key(self.pid),
            visibility: Visibility::Here,
            user: self.user.map(SafeText::new),
            mine: self.mine,
            what: self.what.into(),
            what_full: self.full.into(),
            cmdline: self.command.split(' ').map(SafeText::new).collect(),
            container: None,
            job: self.job.map(SafeText::new),
            rank: self.rank,
            started: Some(END.minus_ms(self.age * 60_000)),
            parent: self.parent,
            ancestors: self.ancestors.iter().map(|(pid, name)| Ancestor { key: key(*pid), name: (*name).into() }).collect(),
        }
    }
}

/// A machine and its story.
pub(crate) struct Machine {
    pub(crate) host: &'static str,
    pub(crate) hz: u32,
    pub(crate) own: u32,
    pub(crate) cards: Vec<Card>,
    pub(crate) holders: Vec<Holder>,
}

impl Machine {
    pub(crate) fn header(&self) -> Record {
        let gpus = self.cards.iter().enumerate().map(|(at, card)| {
            Arc::new(GpuFacts {
                id: id(at),
                index: u32::try_from(at).ok().filter(|_| card.instance.is_none()),
                instance: card.instance.map(|(_, number)| number),
                parent: card.instance.map(|(parent, _)| id(parent)),
                pci: None,
                name: card.name.into(),
                total: Reading::Value(Bytes(card.total)),
                shared_with_host: card.shared.is_some(),
                power_limit_mw: Reading::Value(card.limit * 1000),
                max_sm_mhz: Reading::Value(1980),
                max_memory_mhz: Reading::NOT_SUPPORTED,
                bar1_total: Reading::NOT_SUPPORTED,
                mig: Reading::NOT_SUPPORTED,
            })
        });
        Record::Header(Arc::new(Header {
            time: END.minus_ms(SECONDS * 1000),
            version: "0.1.0".into(),
            host: self.host.into(),
            driver: Some("580.159.04".into()),
            cuda: Some("13.0".into()),
            interval_ms: 1000,
            memory_hz: self.hz,
            gpus: gpus.collect(),
        }))
    }

    /// The step that ends at this second.
    pub(crate) fn sample(&self, second: u64) -> Record {
        let processes: Vec<ProcessSample> =
            self.holders.iter().filter(|h| (h.life.0..=h.life.1).contains(&second)).map(|h| process(h, second)).collect();
        let gpus = self.cards.iter().enumerate().map(|(at, card)| self.gpu(at, card, &processes, second));
        Record::Sample(Box::new(Sample {
            time: END.minus_ms(SECONDS.saturating_sub(second) * 1000),
            elapsed_ms: second * 1000,
            gpus: gpus.collect(),
            processes: processes.clone(),
            faults: Vec::new(),
            own: OwnCost { cpu_permille: Some(self.own), ..OwnCost::default() },
        }))
    }

    fn gpu(&self, at: usize, card: &Card, processes: &[ProcessSample], second: u64) -> GpuSample {
        let part = |place: usize| place == at || self.cards[place].instance.is_some_and(|(parent, _)| parent == at);
        let held: Bytes = processes.iter().filter(|p| part(p.gpu)).filter_map(|p| p.memory.get()).sum();
        let untracked = gib(card.untracked.1);
        let ownerless: Bytes = (0..self.cards.len()).filter(|place| part(*place)).map(|place| gib((self.cards[place].ownerless)(second))).sum();
        let used = held + ownerless + untracked;
        let free = card.total.saturating_sub(used.0 + card.reserve.unwrap_or(0));
        let present = card.state == GpuState::Present;
        let memory = match (card.refused, card.shared) {
            (Some(reason), _) => Reading::failed(reason),
            (None, Some(host)) => DeviceMemory::shared(Bytes(card.total), Bytes(card.total).saturating_sub(used + gib(host)), Some(used)),
            (None, None) if present => DeviceMemory::new(card.total, used.0, free, card.reserve),
            (None, None) => Reading::failed("GPU is lost"),
        };
        let mut lane = Lane::default();
        if memory.is_value() {
            lane.push(LanePoint { at_ms: second * 1000 - 999, used: Some(used) });
            if let Some((_, height)) = card.spike.filter(|(when, _)| *when == second) {
                lane.push(LanePoint { at_ms: second * 1000 - 500, used: Some(gib(height)) });
                lane.push(LanePoint { at_ms: second * 1000 - 450, used: Some(used) });
            }
        }
        let mut telemetry = Telemetry::absent(&vramtop::model::Absence::NotSupported);
        if present {
            telemetry.gpu = percent((card.util)(second));
            telemetry.bus = percent((card.bus)(second));
            telemetry.power_mw = Reading::Value((card.watts)(second) * 1000);
            telemetry.temperature_c = Reading::Value(card.celsius);
            telemetry.sm_mhz = Reading::Value(card.mhz);
            telemetry.pstate = Reading::Value(0);
            telemetry.fan_percent = card.fan.map_or(Reading::NOT_SUPPORTED, Reading::Value);
        }
        let processes = match card.unlisted {
            Some(reason) => Reading::failed(reason),
            None if present => Reading::Value(ListState::Fresh),
            None => Reading::failed("GPU is lost"),
        };
        GpuSample {
            id: id(at),
            state: card.state.clone(),
            memory,
            lane,
            processes,
            untracked: Untracked { count: card.untracked.0, memory: Some(untracked) },
            telemetry,
        }
    }

    /// The whole story.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        std::iter::once(self.header()).chain((1..=SECONDS).map(|second| self.sample(second)))
    }
}

fn key(pid: u32) -> ProcessKey {
    ProcessKey { pid, start_ticks: Some(u64::from(pid) * 7) }
}

fn id(at: usize) -> GpuId {
    GpuId::new(&format!("GPU-{at:08}"))
}

fn percent(value: u32) -> Reading<UtilizationPercent> {
    UtilizationPercent::new(value).map_or(Reading::NOT_SUPPORTED, Reading::Value)
}

fn process(holder: &Holder, second: u64) -> ProcessSample {
    let here = holder.user.is_some();
    ProcessSample {
        gpu: holder.gpu,
        facts: Arc::new(holder.facts()),
        kind: holder.kind,
        memory: holder.held.map_or(Reading::NOT_SUPPORTED, |held| Reading::Value(gib(held(second)))),
        range: holder.held.map(|held| (gib(held(second)), gib(held(second)))),
        sm_percent: holder.sm.map_or(Reading::NOT_SUPPORTED, percent),
        host: if here {
            Reading::Value(HostReading { cpu_permille: Some(holder.cpu * 10), rss: gib(holder.rss), state: RunState('R') })
        } else {
            Reading::Absent(vramtop::model::Absence::NotPermitted)
        },
    }
}
