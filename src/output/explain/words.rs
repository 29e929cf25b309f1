//! What happened, in one sentence or two, in the words of somebody who knows; and what to do next time where a text has too little.

use crate::inside::advice::{are_siblings, holds, neighbour, said};
use crate::inside::oom::{Amount, Producer, Report, Sign, Sums, Verdict};

/// What happened: the first figure of each sentence has its unit, those after it are alike.
pub(super) fn happened(report: &Report) -> String {
    let sentences: Vec<String> = story(report).split(". ").map(with_unit).collect();
    sentences.join(". ")
}

/// Says GiB after the first figure of a sentence, where that has no unit.
fn with_unit(sentence: &str) -> String {
    let mut words: Vec<String> = sentence.split(' ').map(str::to_owned).collect();
    let figure = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_ascii_digit());
        bare.contains('.').then(|| bare.parse::<f64>().ok()).flatten().map(|_| bare.to_owned())
    };
    let Some((at, bare)) = words.iter().enumerate().find_map(|(at, word)| Some((at, figure(word)?))) else { return sentence.to_owned() };
    let has_unit = words[..at].iter().any(|word| word.contains("iB")) || words.get(at + 1).is_some_and(|next| next.contains("iB"));
    if !has_unit {
        words[at] = words[at].replacen(&bare, &format!("{bare} GiB"), 1);
    }
    words.join(" ")
}

fn story(report: &Report) -> String {
    let sums = Sums::of(report);
    let bytes = |amount: Option<Amount>| amount.and_then(Amount::bytes);
    let say = |bytes: Option<u64>| bytes.map_or_else(|| "an unknown amount".to_owned(), said);
    let tried = sums.tried.map(said);
    let asked = tried.as_ref().map_or_else(|| "It asked for memory".to_owned(), |tried| format!("It asked for {tried}"));
    match report.verdict {
        Verdict::FullSelf => full(report, &sums),
        Verdict::TooBig if report.producer == Producer::LlamaCpp => format!("{asked} in one buffer, and {} were free before it.", say(sums.free)),
        Verdict::TooBig => format!("{asked} at once, and the whole card has {}. No allocator setting changes that.", say(sums.capacity)),
        Verdict::Fragmented => fragmented(report, &sums),
        Verdict::GraphPool => {
            let private = say(bytes(report.figures.private_pools));
            if sums.cached.zip(sums.tried).is_some_and(|(cached, tried)| cached >= tried) {
                format!("{asked}. Captured graphs hold {private}, and what is unused inside their pools ({}) serves nothing else.", say(sums.cached))
            } else {
                format!("{asked}. Captured graphs hold {private} of the {} that are live.", say(sums.allocated))
            }
        }
        Verdict::OtherProcess => other(report, &sums),
        Verdict::ProcessCap => {
            let room = sums.free.map_or_else(String::new, |free| format!(" with {} free on the card", said(free)));
            format!("{asked}{room}. What stopped it is this process's own limit of {}.", say(bytes(report.figures.allowed)))
        }
        Verdict::PoolCap => pool(report, &sums),
        Verdict::SliceCap if report.hints.sign == Some(Sign::SoftSlice) => {
            format!("The software slice's limit of {} was hit; the card itself may be mostly free.", say(bytes(report.figures.allowed)))
        }
        Verdict::SliceCap => {
            let slice = report.hints.slice.clone().unwrap_or_else(|| "a slice".to_owned());
            format!("{asked}. Its device is {slice} with {}, and that is full; the rest of the board is out of reach.", say(sums.capacity))
        }
        Verdict::OutsideFramework if report.producer == Producer::Nccl => {
            format!("A buffer of the communication library{} found no room: the framework's pool left none on the card.", sized(report))
        }
        Verdict::OutsideFramework => {
            let framework = sums.allocated.unwrap_or(0) + sums.cached.unwrap_or(0);
            format!("{asked}. Of the {} of this process only {} are the framework's.", say(sums.own), said(framework))
        }
        Verdict::HostSpill => format!(
            "It has {} live on a card of {}: the driver already keeps part of it in host memory, which is slow, and then there was no more.",
            say(sums.allocated),
            say(sums.capacity)
        ),
        Verdict::HostMemory => host(report, &sums),
        Verdict::Masked => {
            "A library could not be set up. Usually the card was full at that moment; an earlier error of a kernel gives the same code.".to_owned()
        }
        Verdict::BogusSize => {
            let size = sums.tried.filter(|tried| *tried < 1 << 60).map_or_else(|| "That size".to_owned(), |tried| format!("{} GiB", tried >> 30));
            format!("{size} is no amount that a program means: a bug in a shape, an overflow, or a peer that died first.")
        }
        Verdict::UnevenSplit => {
            let device = report.figures.device.map_or_else(|| "one device".to_owned(), |device| format!("device {device}"));
            format!("{asked} on {device}, which has less. All devices together have enough.")
        }
        Verdict::WarningOnly => warning(report),
        Verdict::NotVram => not_vram(report),
        Verdict::Unknown | Verdict::Cached | Verdict::Sound => unknown(report, &sums),
    }
}

fn sized(report: &Report) -> String {
    report.figures.tried.and_then(Amount::bytes).map_or_else(String::new, |bytes| format!(" of {}", said(bytes)))
}

fn full(report: &Report, sums: &Sums) -> String {
    if report.hints.sign == Some(Sign::Plan) {
        let planned = report.figures.planned.and_then(Amount::bytes).map_or_else(|| "more than there is".to_owned(), said);
        return match sums.capacity {
            Some(capacity) => format!("The compiled program plans {planned} in all, and the device has {}.", said(capacity)),
            None => format!("The compiled program plans {planned} in all; the request that failed is only a part of it."),
        };
    }
    let tried = sums.tried.unwrap_or(0);
    if report.producer == Producer::LlamaCpp {
        return format!(
            "Its own buffers fill the device: {} were loaded before it asked for {}.",
            said(report.hints.loaded.unwrap_or(0)),
            said(tried)
        );
    }
    let capacity = sums.capacity.unwrap_or(0);
    let fills = |own: &u64| tried > capacity / 10 && own + tried > capacity.saturating_sub(sums.others);
    let beside = sums.neighbours(report).map(|foreign| format!("{} of {}", said(foreign), neighbour(report, sums)));
    if let Some(own) = sums.held().filter(fills) {
        let beside = beside.map_or_else(String::new, |beside| format!(", beside {beside}"));
        let short =
            sums.short().map_or_else(String::new, |(short, least)| format!(" {}{} short.", if least { "At least " } else { "" }, said(short)));
        return format!("It asked for {} at once with {} of its own already on the card{beside}.{short}", said(tried), said(own));
    }
    let live = sums.allocated.unwrap_or(0);
    let room = sums.free.map_or_else(String::new, |free| format!(", and {} was free", said(free)));
    let cache = match sums.cached {
        Some(cached) => format!(" Not the cache ({}).", said(cached)),
        None => String::new(),
    };
    let fill = match beside {
        Some(beside) => format!("The card of {} is full: {} of its own beside {beside}.", said(capacity), said(live)),
        None => format!("Its own live tensors fill the card: {} of {}.", said(live), said(capacity)),
    };
    format!("{fill} It asked for {}{room}.{cache}", said(tried))
}

fn fragmented(report: &Report, sums: &Sums) -> String {
    let (tried, cached, free) = (sums.tried.unwrap_or(0), sums.cached.unwrap_or(0), sums.free.unwrap_or(0));
    let whose = match report.producer {
        Producer::Torch | Producer::ComfyUi => "torch's half-used blocks",
        _ => "the pool's half-used blocks",
    };
    if let (None, Some(allowed), Some(live)) = (sums.cached, report.figures.allowed.and_then(Amount::bytes), sums.allocated) {
        return format!(
            "It asked for {}. The pool has {} left of its {}, but in no single piece that is large enough.",
            said(tried),
            said(allowed.saturating_sub(live)),
            said(allowed)
        );
    }
    let more = match report.also.first() {
        Some(Verdict::FullSelf) => " Live tensors take most of the card, too.".to_owned(),
        Some(Verdict::OtherProcess) => {
            let hold = holds(&neighbour(report, sums));
            format!(" But {hold} {} of the card's {}.", said(sums.foreign(report)), said(sums.capacity.unwrap_or(0)))
        }
        _ => String::new(),
    };
    if cached < tried {
        return format!(
            "It asked for {}. {} were unused, but in two parts that can't be joined: {} on the card and {} inside {whose}.{more}",
            said(tried),
            said(free + cached),
            said(free),
            said(cached)
        );
    }
    format!("It asked for {}. {} were unused inside {whose}, but in no single piece that is large enough.{more}", said(tried), said(cached))
}

fn other(report: &Report, sums: &Sums) -> String {
    match report.hints.sign {
        Some(Sign::FreeBelowTarget) => match (sums.capacity, sums.free, sums.tried) {
            (Some(capacity), Some(free), Some(target)) => format!(
                "The engine wanted {} of the card at its start, and {} were free: {} were taken by somebody else.",
                said(target),
                said(free),
                said(capacity.saturating_sub(free))
            ),
            _ => "The engine wanted more of the card at its start than was free.".to_owned(),
        },
        Some(Sign::Unbalanced) => match (sums.free, report.hints.free_here) {
            (Some(least), Some(here)) => {
                format!("One GPU of the engine has {} free where this rank's has {}: somebody holds memory there.", said(least), said(here))
            }
            _ => "One GPU of the engine has much less free than the others: somebody holds memory there.".to_owned(),
        },
        Some(Sign::NeighbourChanged) => "Another process changed what it holds while the engine measured, so its sums came out wrong.".to_owned(),
        _ => {
            let asked = sums.tried.map_or_else(String::new, |tried| format!(" and asked for {}", said(tried)));
            let capacity = sums.capacity.map_or_else(String::new, |capacity| format!(" of {}", said(capacity)));
            let own = said(sums.own.or(sums.allocated).unwrap_or(0));
            if sums.others == 0 {
                let unnamed = sums.unnamed().unwrap_or(0);
                return format!("Others hold {}{capacity}. This process has {own}{asked}.", said(unnamed));
            }
            let count = report.figures.others.len() - usize::from(sums.self_pid.is_some());
            let who = if count == 1 { "Another process holds".to_owned() } else { format!("{count} other processes hold") };
            let siblings = if are_siblings(report) { " They are alike: workers of one job that all took this GPU." } else { "" };
            format!("{who} {}{capacity}. This one has {own}{asked}.{siblings}", said(sums.others))
        }
    }
}

fn pool(report: &Report, sums: &Sums) -> String {
    let tried = sums.tried.map_or_else(|| "more".to_owned(), said);
    match (report.producer, report.hints.sign) {
        (_, Some(Sign::CacheBelowRequest)) => match (sums.free, report.hints.tokens) {
            (Some(free), Some(tokens)) => format!(
                "The model fits, one request of full length does not: its cache needs {tried}, {} are there, enough for {tokens} tokens.",
                said(free)
            ),
            (Some(free), None) => format!("The model fits, one request of full length does not: its cache needs {tried}, {} are there.", said(free)),
            (None, Some(tokens)) => format!("The model fits, one request of full length does not: the cache holds {tokens} tokens."),
            (None, None) => "The model fits, one request of full length does not.".to_owned(),
        },
        (_, Some(Sign::NoCache)) => {
            let share = sums.free.map_or_else(String::new, |free| format!(" ({})", said(free)));
            let short = report.hints.short_mib.map_or(share, |mib| format!(" ({} short)", said(mib << 20)));
            format!("Weights and activations alone use up the engine's share of the card{short}: nothing is left for the cache.")
        }
        (_, Some(Sign::Batch)) => match report.hints.tokens {
            Some(tokens) => format!("What the engine left free is too little for {tokens} of what it was told to take at once."),
            None => "What the engine left free is too little for the requests that it took at once.".to_owned(),
        },
        (Producer::Jax | Producer::Xla, _) if sums.allocated.is_none() => {
            format!("{tried} cannot fail for its size: the pool is used up, or could not be had because somebody else was on the card.")
        }
        _ => match report.figures.allowed.and_then(Amount::bytes) {
            Some(allowed) => format!("It asked for {tried}. The pool's own limit of {} was hit; the card may have more.", said(allowed)),
            None if sums.tried.is_none() => "The pool's own maximum was hit; the card may have more.".to_owned(),
            None => format!("It asked for {tried}. The pool's own maximum was hit; the card may have more."),
        },
    }
}

fn host(report: &Report, sums: &Sums) -> String {
    let size = sums.tried.map_or_else(String::new, |tried| format!(" ({})", said(tried)));
    match report.hints.sign {
        Some(Sign::SharedMemory) => "Shared memory of the host (/dev/shm) is full; it is no matter of the card.".to_owned(),
        Some(Sign::Pinned) => "Page-locked memory of the host could not be had; the card may be nearly empty.".to_owned(),
        Some(Sign::Killed) => "A process was killed for host memory: RAM was used up, or a limit of its container or job was hit.".to_owned(),
        Some(Sign::IntegratedPool) => format!("The memory that CPU and GPU of this board share is short{size}."),
        _ if report.producer == Producer::Ollama => {
            let free = sums.free.map_or_else(|| "less".to_owned(), said);
            format!(
                "The model needs {} of the host's RAM, and {free} are available. The GPU was not asked yet.",
                sums.tried.map_or_else(|| "more".to_owned(), said)
            )
        }
        _ => format!("The host's RAM could not be had{size}; it is no matter of the card."),
    }
}

fn warning(report: &Report) -> String {
    let size = sized(report);
    match report.hints.sign {
        Some(Sign::Probe) => format!("A probe for a large pool at the start{size}: it goes on with less each time. Not a failure."),
        Some(Sign::Retried) => format!("A buffer{size} found no room; the program tried again without it and went on."),
        Some(Sign::LateRelease) => {
            "The memory of a model that was unloaded was not seen to come back in time; the program went on with what it saw.".to_owned()
        }
        Some(Sign::PinnedFallback) => format!("Page-locked host memory{size} could not be had; the program goes on without, loading is slower."),
        _ if matches!(report.producer, Producer::Vllm | Producer::Sglang) => {
            "The engine's cache was full: requests were put back, to be computed again when there is room. Nothing failed.".to_owned()
        }
        _ => "A faster way was left out for want of memory; the program went on.".to_owned(),
    }
}

fn not_vram(report: &Report) -> String {
    match report.hints.sign {
        Some(Sign::Xid) => {
            let code = report.hints.code.map_or_else(String::new, |code| format!(" (Xid {code})"));
            format!("The driver reports a fault of hardware, bus or program{code}. Every allocation after it fails, often as \"out of memory\".")
        }
        Some(Sign::LostDevice) => {
            "The program holds nothing and NVML fails: the container has lost its device. It is not short of memory.".to_owned()
        }
        _ => "A kernel needs more on-chip memory, registers or threads than one block can have. It has nothing to do with VRAM.".to_owned(),
    }
}

fn unknown(report: &Report, sums: &Sums) -> String {
    if report.figures.this_process == Some(Amount::Sentinel) {
        let asked = sums.tried.map_or_else(String::new, |tried| format!(" for {} asked", said(tried)));
        let free = sums.free.map_or_else(String::new, |free| format!(", and {} were free{asked}", said(free)));
        return format!(
            "What this process holds is not available to the driver here (WSL2, Windows){free}: the limit is outside of what the text shows."
        );
    }
    if let (Some(free), Some(tried)) = (sums.free, sums.tried) {
        let capacity = sums.capacity.map_or_else(String::new, |capacity| format!(" of {}", said(capacity)));
        return if free >= tried {
            format!(
                "It asked for {} with {}{capacity} free: by these figures it should have fit. The limit is outside of what the text shows.",
                said(tried),
                said(free)
            )
        } else {
            format!("It asked for {} with {}{capacity} free. The text does not say who held the rest, or it is cut.", said(tried), said(free))
        };
    }
    if report.hints.sign == Some(Sign::KilledBySignal) {
        return "A process was killed from outside (signal 9). Most often for want of host RAM, or by a container's limit; the code does not say."
            .to_owned();
    }
    let what = match (sums.tried, report.hints.sign) {
        (Some(tried), _) => format!("Only the request is known ({})", said(tried)),
        (None, Some(Sign::Bare)) => "A bare status code".to_owned(),
        _ => "No figures".to_owned(),
    };
    format!("{what}: the text does not say who held the memory. It has too little for an answer.")
}

/// What to run next time.
pub(super) fn next_time(report: &Report) -> Vec<String> {
    if report.hints.sign == Some(Sign::KilledBySignal) {
        return vec![
            "dmesg -T | grep -i oom   right after it: whom the kernel killed, and why".to_owned(),
            "kubectl describe pod, docker inspect, sacct -j JOB   say OOMKilled or OUT_OF_MEMORY where it was a limit".to_owned(),
        ];
    }
    let mut lines = vec![
        "vramtop -l 1 --format json -o run.jsonl   beside it: who held what, 20 times a second".to_owned(),
        "vramtop explain LOG --recording run.jsonl   once it has failed again".to_owned(),
    ];
    if matches!(report.producer, Producer::Torch | Producer::ComfyUi) {
        lines.push("and print torch.cuda.memory_summary() where the error is caught".to_owned());
    }
    lines
}

/// What would tell the second answers from the first.
pub(super) fn doubt(report: &Report) -> &'static str {
    match report.verdict {
        Verdict::Unknown => ". The text does not decide it.",
        Verdict::Fragmented if report.also.contains(&Verdict::OtherProcess) => ": with that memory back it would not matter how this one's is split.",
        Verdict::Fragmented => ", when what is unused is pinned or the load itself has grown.",
        Verdict::FullSelf if report.also.contains(&Verdict::OtherProcess) => ": with that memory back it would have fitted.",
        Verdict::GraphPool if report.also.contains(&Verdict::FullSelf) => ": what graphs hold is live, too.",
        _ if report.also.contains(&Verdict::HostMemory) => ", if the host was short of RAM at that moment (free -g).",
        _ => ", if the card at that moment says so.",
    }
}
