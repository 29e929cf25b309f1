//! From figures to one verdict: the rules in their order. Incomplete figures decide nothing; they only say what else it could be.

use super::family::Sign;
use super::{Amount, Confidence, Producer, Report, Verdict};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// No request of a sane program is as large.
const ABSURD: u64 = 16 << 40;
/// Nor as many times its card.
const ABSURD_TIMES: u64 = 256;
/// Bytes of a process that are not the framework's, beyond context and libraries.
const OUTSIDE: u64 = 2 * GIB;
/// What a CUDA context and its libraries take (measured: 518 MiB to 684 MiB on an H200; 0.3 to 1 GiB elsewhere).
const CONTEXT: u64 = GIB / 2;
const CONTEXT_LEAST: u64 = 3 * GIB / 10;
const CONTEXT_MOST: u64 = GIB + GIB / 20;
/// No sum of processes is believed beyond this, as no single figure is.
const MOST: u64 = 1 << 58;
/// A request that cannot fail for its size.
const TINY: u64 = 64 * MIB;

/// Fills in verdict, second answers and confidence.
pub(super) fn judge(report: &mut Report, sign: Sign) {
    let (verdict, also, confidence) = of_sign(report, sign);
    report.verdict = verdict;
    report.also = also.iter().copied().filter(|other| *other != verdict).collect();
    report.confidence = confidence;
}

type Judgement = (Verdict, &'static [Verdict], Confidence);

fn of_sign(report: &Report, sign: Sign) -> Judgement {
    use Confidence::{High, Low, Medium};
    use Verdict::{
        BogusSize, FullSelf, HostMemory, Masked, NotVram, OtherProcess, OutsideFramework, PoolCap, ProcessCap, SliceCap, TooBig, UnevenSplit,
        WarningOnly,
    };
    match sign {
        Sign::LostDevice => (NotVram, &[], Medium),
        Sign::Xid | Sign::KernelResources => (NotVram, &[], High),
        Sign::Killed | Sign::HostRam | Sign::SharedMemory => (HostMemory, &[], High),
        Sign::Pinned => (HostMemory, &[], Medium),
        Sign::IntegratedPool => (HostMemory, &[TooBig], Medium),
        Sign::PinnedFallback => (WarningOnly, &[HostMemory], High),
        Sign::Retried => (WarningOnly, &[UnevenSplit], High),
        Sign::Probe | Sign::LateRelease => (WarningOnly, &[OtherProcess], High),
        Sign::Optional => (WarningOnly, &[], High),
        Sign::KilledBySignal => (Verdict::Unknown, &[HostMemory], Low),
        Sign::Absurd => (BogusSize, &[], High),
        Sign::SoftSlice => (SliceCap, &[], High),
        Sign::FreeBelowTarget => (OtherProcess, &[ProcessCap], if short_by_much(report) { High } else { Medium }),
        Sign::Unbalanced => (OtherProcess, &[UnevenSplit], Medium),
        Sign::NeighbourChanged => (OtherProcess, &[], Medium),
        Sign::CacheBelowRequest => (PoolCap, &[TooBig], High),
        Sign::NoCache if report.producer == Producer::Sglang => (PoolCap, &[], High),
        Sign::NoCache => (PoolCap, &[FullSelf], High),
        Sign::Batch => (PoolCap, &[FullSelf], Medium),
        Sign::PoolLimit => (PoolCap, &[], High),
        Sign::Communication => (OutsideFramework, &[], Medium),
        Sign::Status => (Masked, &[OtherProcess, FullSelf], Low),
        Sign::Plan if report.figures.capacity.is_some() => (FullSelf, &[], High),
        Sign::Plan => (FullSelf, &[PoolCap], Medium),
        Sign::Shortage | Sign::Bare => of_figures(report, sign),
    }
}

fn bytes_of(amount: Option<Amount>) -> Option<u64> {
    amount.and_then(Amount::bytes)
}

/// Whether the engine's target is missed by more than what a leaving process or a desktop takes.
pub fn short_by_much(report: &Report) -> bool {
    match (bytes_of(report.figures.tried), bytes_of(report.figures.free), bytes_of(report.figures.capacity)) {
        (Some(target), Some(free), Some(capacity)) => target.saturating_sub(free) > capacity / 20,
        _ => false,
    }
}

/// Whether a text is of torch on Metal: its texts alone have a limit and no size of a device, for the memory is the machine's.
pub fn is_metal(report: &Report) -> bool {
    let figures = &report.figures;
    report.producer == Producer::Torch && figures.allowed.is_some() && figures.capacity.is_none() && figures.free.is_none()
}

/// The figures of a text as the rules use them, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sums {
    /// Asked for.
    pub tried: Option<u64>,
    /// Of the device.
    pub capacity: Option<u64>,
    /// On the device.
    pub free: Option<u64>,
    /// Live.
    pub allocated: Option<u64>,
    /// Held and not live.
    pub cached: Option<u64>,
    /// All that this process holds.
    pub own: Option<u64>,
    /// What other processes hold, as the text names them.
    pub others: u64,
    /// The named process that is the failing one, seen by its PID on the host.
    pub self_pid: Option<u32>,
}

impl Sums {
    /// Takes them from a report.
    pub fn of(report: &Report) -> Self {
        let figures = &report.figures;
        let bytes = bytes_of;
        let (allocated, total) = (bytes(figures.allocated), bytes(figures.reserved_total));
        let cached = bytes(figures.reserved_unallocated).or_else(|| Some(total?.saturating_sub(allocated?)));
        let named: Vec<(u32, u64)> = figures.others.iter().filter_map(|(pid, amount)| Some((*pid, amount.bytes()?))).collect();
        let framework = allocated.zip(cached).map(|(live, cached)| live + cached);
        // Inside a PID namespace the driver gives the host's PID, so torch takes itself for a stranger.
        let itself = framework.filter(|_| figures.this_process.is_none()).and_then(|framework| {
            let fits = |bytes: u64| (framework + CONTEXT_LEAST..=framework + CONTEXT_MOST).contains(&bytes);
            // Nor can it be another one when both together are more than the device.
            let must = |bytes: u64| bytes >= framework && bytes_of(figures.capacity).is_some_and(|capacity| framework + bytes > capacity);
            let found = named.iter().find(|(_, bytes)| fits(*bytes)).or_else(|| named.iter().find(|(_, bytes)| must(*bytes)));
            found.copied()
        });
        let own = bytes(figures.this_process).or(itself.map(|(_, bytes)| bytes));
        let self_pid = itself.map(|(pid, _)| pid);
        let others = named
            .iter()
            .filter(|(pid, _)| Some(*pid) != self_pid)
            .map(|(_, bytes)| bytes)
            .fold(0, |sum: u64, bytes| sum.saturating_add(*bytes).min(MOST));
        let capacity = bytes(figures.capacity);
        // Some print what is used instead.
        let free = bytes(figures.free).or_else(|| capacity?.checked_sub(report.hints.used?));
        Self { tried: bytes(figures.tried), capacity, free, allocated, cached, own, others, self_pid }
    }

    /// What this process holds as far as the text tells: all of it, or else what the framework has.
    pub fn held(&self) -> Option<u64> {
        self.own.or_else(|| Some(self.allocated? + self.cached.unwrap_or(0)))
    }

    /// What others hold as far as the text tells: those that it names, or else what its old form leaves for them.
    pub fn foreign(&self, report: &Report) -> u64 {
        let figures = &report.figures;
        let tells_processes = self.own.is_some() || figures.this_process.is_some() || !figures.others.is_empty();
        if tells_processes { self.others } else { self.unnamed().unwrap_or(0) }
    }

    /// What others hold, where that is much and the request would have fitted without it.
    pub fn neighbours(&self, report: &Report) -> Option<u64> {
        let (tried, capacity, foreign) = (self.tried?, self.capacity?, self.foreign(report));
        let free = self.free.or_else(|| capacity.checked_sub(self.held()? + foreign)).unwrap_or(0);
        (foreign >= capacity / 8 && tried <= free + foreign).then_some(foreign)
    }

    /// How much the card was too full by, and whether that is the least of it: without what was free nobody knows what else is on the card.
    pub fn short(&self) -> Option<(u64, bool)> {
        let tried = self.tried?;
        match self.free {
            Some(free) => Some((tried.saturating_sub(free), false)),
            None => Some(((self.held()? + self.others + tried).saturating_sub(self.capacity?), true)),
        }
    }

    /// What the old form leaves for other processes: capacity - free - reserved - context.
    pub fn unnamed(&self) -> Option<u64> {
        let reserved = self.allocated? + self.cached?;
        Some(self.capacity?.checked_sub(self.free?)?.saturating_sub(reserved + CONTEXT))
    }
}

fn of_figures(report: &Report, sign: Sign) -> Judgement {
    use Confidence::{High, Medium};
    let sums = Sums::of(report);
    if let Some(certain) = whatever_follows(report, &sums) {
        return certain;
    }
    // A text that is cut lacks what the following rules need: it could be any of them.
    let whole = sums.allocated.is_some() && sums.cached.is_some();
    match by_rules(report, &sums) {
        Some(judgement) if whole || sums.allocated.is_some() && !is_cut(report) => judgement,
        Some((Verdict::FullSelf, ..)) => (Verdict::Unknown, &[Verdict::FullSelf], Medium),
        Some((Verdict::OtherProcess, ..)) => (Verdict::Unknown, &[Verdict::OtherProcess], Medium),
        Some((Verdict::SliceCap, ..)) => (Verdict::SliceCap, &[Verdict::FullSelf], Medium),
        _ => by_producer(report, &sums, sign).unwrap_or((Verdict::Unknown, &[], High)),
    }
}

/// Whether a text of a form that tells what torch holds and caches ends before it does.
fn is_cut(report: &Report) -> bool {
    let figures = &report.figures;
    let no_cache = figures.reserved_total.is_none() && figures.reserved_unallocated.is_none();
    match report.producer {
        // Its other allocator and other backends have a limit and no cache in their texts.
        Producer::Torch | Producer::ComfyUi => {
            no_cache && !(figures.this_process.is_none() && figures.others.is_empty() && figures.allowed.is_some())
        }
        Producer::CudaJl => no_cache,
        _ => false,
    }
}

/// Rules that no further clause could change.
fn whatever_follows(report: &Report, sums: &Sums) -> Option<Judgement> {
    use Confidence::High;
    let figures = &report.figures;
    if figures.tried == Some(Amount::Sentinel) {
        return Some((Verdict::BogusSize, &[], High));
    }
    let tried = sums.tried?;
    if tried >= ABSURD || sums.capacity.is_some_and(|capacity| capacity >= GIB && tried / ABSURD_TIMES > capacity) {
        return Some((Verdict::BogusSize, &[], High));
    }
    if sums.capacity.is_some_and(|capacity| tried > capacity) {
        return Some((Verdict::TooBig, &[], High));
    }
    let is_pool = !matches!(report.producer, Producer::Torch | Producer::ComfyUi | Producer::Hami | Producer::Cuda);
    if let (Some(allowed), Some(live)) = (figures.allowed.and_then(Amount::bytes), sums.allocated) {
        if live + sums.cached.unwrap_or(0) + report.hints.foreign.unwrap_or(0) + tried > allowed {
            return Some(match report.producer {
                Producer::Xla => (Verdict::PoolCap, &[Verdict::FullSelf], High),
                _ if is_pool => (Verdict::PoolCap, &[], High),
                _ => (Verdict::ProcessCap, &[], High),
            });
        }
        if is_pool {
            return Some((Verdict::Fragmented, &[Verdict::PoolCap], Confidence::Medium));
        }
    }
    None
}

fn by_rules(report: &Report, sums: &Sums) -> Option<Judgement> {
    use Confidence::{High, Medium};
    let figures = &report.figures;
    let capacity = sums.capacity?;
    if sums.allocated.is_some_and(|live| live > capacity) {
        return Some((Verdict::HostSpill, &[Verdict::FullSelf], High));
    }
    let tried = sums.tried;
    let private = bytes_of(figures.private_pools).unwrap_or(0);
    if let (Some(tried), Some(cached)) = (tried, sums.cached) {
        let joined = sums.free.is_some_and(|free| free < tried && free + cached >= tried);
        if cached >= tried && private > 0 && private >= sums.allocated.unwrap_or(0) / 10 {
            return Some((Verdict::GraphPool, &[Verdict::Fragmented], High));
        }
        if cached >= tried || joined {
            let nearly_full = sums.allocated.is_some_and(|live| live / 5 * 6 > capacity);
            return Some(match report.producer {
                Producer::CudaJl => (Verdict::Fragmented, &[Verdict::PoolCap], Medium),
                _ if nearly_full => (Verdict::Fragmented, &[Verdict::FullSelf], Medium),
                _ if sums.neighbours(report).is_some() => (Verdict::Fragmented, &[Verdict::OtherProcess], Medium),
                _ => (Verdict::Fragmented, &[], High),
            });
        }
    }
    let framework = sums.allocated.unwrap_or(0) + sums.cached.unwrap_or(0);
    if sums.allocated.is_some() && sums.own.is_some_and(|own| own.saturating_sub(framework) >= OUTSIDE) {
        return Some((Verdict::OutsideFramework, &[], High));
    }
    if sums.foreign(report) > capacity / 2 {
        return Some((Verdict::OtherProcess, &[], High));
    }
    // Where graphs hold most of what is live, they are the load.
    if private > 0 && sums.allocated.is_some_and(|live| private >= live / 2) {
        return Some((Verdict::GraphPool, &[Verdict::FullSelf], High));
    }
    if report.hints.slice.is_some() {
        return Some((Verdict::SliceCap, &[Verdict::FullSelf], High));
    }
    let fills = sums.held().zip(tried).is_some_and(|(own, tried)| own + tried > capacity.saturating_sub(sums.others));
    let has_room = sums.free.zip(tried).is_some_and(|(free, tried)| free >= tried);
    let most = sums.allocated.is_some_and(|live| live >= capacity / 3 * 2) && !has_room;
    if fills || most {
        let sure = if sums.cached.is_some() { High } else { Medium };
        let also: &[Verdict] = if sums.neighbours(report).is_some() { &[Verdict::OtherProcess] } else { &[] };
        return Some((Verdict::FullSelf, also, sure));
    }
    (figures.this_process == Some(Amount::Sentinel)).then_some((Verdict::Unknown, &[Verdict::HostMemory], Medium))
}

/// What a family's text allows where its figures do not decide.
fn by_producer(report: &Report, sums: &Sums, sign: Sign) -> Option<Judgement> {
    use Confidence::{High, Medium};
    use Verdict::{FullSelf, HostMemory, OtherProcess, PoolCap, TooBig, UnevenSplit, Unknown};
    let is_tiny = sums.tried.is_some_and(|tried| tried < TINY);
    Some(match report.producer {
        Producer::LlamaCpp => of_buffers(report, sums).unwrap_or((Unknown, &[FullSelf], High)),
        Producer::Jax | Producer::Xla if is_tiny => (PoolCap, &[OtherProcess], Medium),
        Producer::Jax | Producer::Xla | Producer::TensorFlow => (Unknown, &[FullSelf, PoolCap], Medium),
        Producer::Ollama | Producer::Cupy | Producer::Ort | Producer::Rmm | Producer::CudaJl => (Unknown, &[FullSelf], High),
        Producer::Transformers | Producer::Exllama => (Unknown, &[FullSelf, OtherProcess], High),
        Producer::Bitsandbytes => (Unknown, &[FullSelf, HostMemory], High),
        Producer::Paddle => (Unknown, &[OtherProcess, FullSelf], Medium),
        Producer::TensorRt if sign == Sign::Shortage => (Unknown, &[TooBig], High),
        Producer::Torch if sign == Sign::Bare => (Unknown, &[OtherProcess, HostMemory], High),
        Producer::Vllm | Producer::Sglang | Producer::Tgi => (Unknown, &[UnevenSplit, FullSelf], Medium),
        _ => return None,
    })
}

/// Buffers of llama.cpp against what was free before the first of them.
fn of_buffers(report: &Report, sums: &Sums) -> Option<Judgement> {
    let (tried, free) = (sums.tried?, sums.free?);
    let loaded = report.hints.loaded.unwrap_or(0);
    let uneven = report.hints.free_everywhere.is_some_and(|everywhere| everywhere >= tried);
    if loaded + tried <= free {
        return None;
    }
    Some(match (uneven, tried > free) {
        (true, _) => (Verdict::UnevenSplit, &[], Confidence::High),
        (false, true) => (Verdict::TooBig, &[], Confidence::High),
        (false, false) => (Verdict::FullSelf, &[], Confidence::High),
    })
}
