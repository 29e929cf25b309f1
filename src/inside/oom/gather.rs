//! Clauses become texts: which of them belong together, which text is the same again, and who printed it.

use std::collections::{BTreeMap, HashMap};

use super::clean::Line;
use super::family::{Found, Role, Sign, clauses};
use super::kin::{is_echo, rank_of, related};
use super::merge::{amounts, conflicts, merge, merge_hints};
use super::pattern::pattern;
use super::verdict;
use super::{Amount, Figures, Hints, LogTime, Producer, Report};

/// A clause of a text stands at most this many lines behind what it adds to.
const NEAR: u64 = 60;
/// The statistics of a pool come after a dump of its chunks.
const NEAR_DUMP: u64 = 20_000;
/// The same failure, said again by another layer.
const NEAR_ECHO: u64 = 40;
/// A text with so many figures says by itself why it failed.
const TELLING: usize = 3;
/// More different texts than anybody reads, and a bound on what is kept.
const MOST: usize = 10_000;
const MOST_TAGS: usize = 4_096;

pattern!(AGAIN, r"(?i)(?:CUDA|HIP|XPU) out of memory\. tried to alloc");

/// A text in the making.
#[derive(Clone, Debug)]
struct Text {
    producer: Producer,
    sign: Sign,
    figures: Figures,
    hints: Hints,
    line: u64,
    last: u64,
    count: u64,
    ranks: Vec<u32>,
    time: Option<LogTime>,
}

impl Text {
    /// Whether its figures say why it failed: no line without figures overrules them.
    fn tells(&self) -> bool {
        amounts(&self.figures) >= TELLING
    }

    const fn is_warning(&self) -> bool {
        matches!(self.sign, Sign::PinnedFallback | Sign::Retried | Sign::Probe | Sign::Optional | Sign::LateRelease)
    }

    /// Whether it has the figures that are printed last: what follows is not of it.
    fn has_ended(&self) -> bool {
        let figures = &self.figures;
        let cache = figures.reserved_unallocated.is_some() || figures.reserved_total.is_some();
        matches!(self.producer, Producer::Torch | Producer::ComfyUi) && cache && figures.allocated.is_some() && figures.capacity.is_some()
    }
}

/// What two texts agree in that are the same.
type Same = (Producer, Sign, Figures, Hints);

/// What the log tells about the machine.
#[derive(Clone, Debug, Default)]
struct Facts {
    slice: Option<String>,
    board_gib: Option<u32>,
    free: BTreeMap<u32, u64>,
    loaded: BTreeMap<u32, u64>,
    holds_nothing: bool,
    device: Option<u32>,
    /// The engine's shortfall, said before it gives up.
    short_mib: Option<u64>,
}

/// What one logical line says.
struct Said {
    opens: Option<(Sign, Producer)>,
    settles: Vec<(Sign, Producer)>,
    producers: Vec<Producer>,
    figures: Figures,
    hints: Hints,
}

/// Takes lines in order, gives texts in order of happening.
#[derive(Debug, Default)]
pub(super) struct Gather {
    open: HashMap<String, Text>,
    /// Settling words that stand before the failure they explain.
    ahead: HashMap<String, (u64, Sign, Figures)>,
    done: Vec<Text>,
    seen: HashMap<Same, usize>,
    facts: Facts,
    time: Option<LogTime>,
}

impl Gather {
    /// Takes the next logical line of its stream.
    pub(super) fn take(&mut self, line: &Line) {
        self.time = line.time.or(self.time);
        let starts: Vec<usize> = AGAIN.as_ref().map(|again| again.find_iter(&line.text).map(|found| found.start()).collect()).unwrap_or_default();
        let mut from = 0;
        for next in starts.into_iter().skip(1).chain([line.text.len()]) {
            let found = clauses(&line.text[from..next]);
            if !found.is_empty() {
                self.tell(&found);
                self.apply(line, said(&found));
            }
            from = next;
        }
    }

    /// The log's time at a line that is not handed on.
    pub(super) fn note_time(&mut self, time: LogTime) {
        self.time = Some(time);
    }

    fn tell(&mut self, found: &[Found]) {
        for fact in found.iter().filter(|fact| fact.role == Role::Tells) {
            let facts = &mut self.facts;
            if fact.hints.slice.is_some() {
                facts.slice.clone_from(&fact.hints.slice);
            }
            facts.board_gib = fact.board_gib.or(facts.board_gib);
            facts.holds_nothing |= fact.holds_nothing;
            facts.device = fact.figures.device.or(facts.device);
            if let Some((device, free)) = fact.device_free {
                // A new load begins: what was loaded before belongs to another.
                facts.loaded.remove(&device);
                facts.free.insert(device, free);
            }
            if let Some((device, bytes)) = fact.device_loaded {
                *facts.loaded.entry(device).or_default() += bytes;
            }
        }
    }

    fn apply(&mut self, line: &Line, said: Said) {
        if let Some(short) = said.hints.short_mib {
            self.facts.short_mib = Some(short);
        }
        match said.opens {
            Some((sign, producer)) => self.opens(line, sign, producer, said),
            None => self.adds(line, said),
        }
    }

    fn adds(&mut self, line: &Line, said: Said) {
        if let Some(text) = self.open.get_mut(&line.tag) {
            // "CUDA error: out of memory" is everybody's, and the next line tells whose.
            if text.sign == Sign::Bare && amounts(&text.figures) == 0 && said.producers.contains(&Producer::LlamaCpp) {
                text.producer = Producer::LlamaCpp;
            }
            let related = said.producers.iter().any(|producer| related(text.producer, *producer));
            let near = if text.producer == Producer::Xla || text.producer == Producer::TensorFlow { NEAR_DUMP } else { NEAR };
            if related && line.number - text.last <= near {
                text.last = line.number;
                if text.has_ended() {
                    text.hints.advises_expandable |= said.hints.advises_expandable;
                    text.hints.advises_split |= said.hints.advises_split;
                } else {
                    merge(&mut text.figures, said.figures);
                    merge_hints(&mut text.hints, said.hints);
                    said.settles.iter().for_each(|(sign, _)| settle(text, *sign));
                }
                if said.producers.contains(&Producer::ComfyUi) && text.producer == Producer::Torch {
                    text.producer = Producer::ComfyUi;
                }
                return;
            }
        }
        if let Some((sign, _)) = said.settles.first().copied().filter(|_| self.ahead.len() < MOST_TAGS) {
            let (at, first, figures) = self.ahead.entry(line.tag.clone()).or_insert((line.number, sign, Figures::default()));
            (*at, *first) = (line.number, sign.min(*first));
            merge(figures, said.figures);
        }
    }

    fn opens(&mut self, line: &Line, sign: Sign, producer: Producer, said: Said) {
        if let Some(text) = self.open.get_mut(&line.tag) {
            let near = line.number - text.last <= NEAR_ECHO;
            if near && sign == Sign::Probe && text.sign == Sign::Probe {
                text.last = line.number;
                return;
            }
            let kin = is_echo(sign, producer, text.producer) || related(text.producer, producer);
            // Another layer's word for a failure that has told all: it has nothing to add.
            let echo = text.tells() && amounts(&said.figures) == 0;
            if near && kin && echo && matches!(sign, Sign::Shortage | Sign::Bare | Sign::Status) {
                text.last = line.number;
                return;
            }
            let other = text.tells() && sign < text.sign;
            if near && kin && !other && !conflicts(&text.figures, &said.figures) {
                if text.tells() && text.figures == said.figures {
                    text.count += 1;
                }
                text.last = line.number;
                if rank_of(producer) > rank_of(text.producer) {
                    text.producer = producer;
                }
                text.sign = stronger(text.sign, sign, &said.figures);
                merge(&mut text.figures, said.figures);
                merge_hints(&mut text.hints, said.hints);
                said.settles.iter().for_each(|(sign, _)| settle(text, *sign));
                return;
            }
        }
        self.close(&line.tag);
        if self.open.len() >= MOST_TAGS {
            self.close_all();
        }
        let mut text = Text {
            producer,
            sign,
            figures: said.figures,
            hints: said.hints,
            line: line.number,
            last: line.number,
            count: 1,
            ranks: line.rank.into_iter().collect(),
            time: line.time.or(self.time),
        };
        text.hints.slice = text.hints.slice.take().or_else(|| self.facts.slice.clone());
        if let Some((_, sign, figures)) = self.ahead.remove(&line.tag).filter(|(at, ..)| line.number - at <= NEAR) {
            settle(&mut text, sign);
            if text.sign == sign {
                merge(&mut text.figures, figures);
            }
        }
        said.settles.iter().for_each(|(sign, _)| settle(&mut text, *sign));
        self.open.insert(line.tag.clone(), text);
    }

    fn close(&mut self, tag: &str) {
        let Some(mut text) = self.open.remove(tag) else { return };
        self.inform(&mut text);
        let key = (text.producer, text.sign, text.figures.clone(), text.hints.clone());
        if let Some(before) = self.seen.get(&key).copied().and_then(|at| self.done.get_mut(at)) {
            before.count += text.count;
            before.line = before.line.min(text.line);
            let new = text.ranks.into_iter().filter(|rank| !before.ranks.contains(rank)).collect::<Vec<_>>();
            before.ranks.extend(new);
        } else if self.done.len() < MOST {
            self.seen.insert(key, self.done.len());
            self.done.push(text);
        }
    }

    /// What the log says elsewhere about the device of this text.
    fn inform(&self, text: &mut Text) {
        let facts = &self.facts;
        text.hints.slice = text.hints.slice.take().or_else(|| slice_of(facts.board_gib, text.figures.capacity));
        if text.sign == Sign::LostDevice {
            text.figures.device = text.figures.device.or(facts.device);
            if !facts.holds_nothing {
                text.sign = Sign::Bare;
            }
        }
        if text.sign == Sign::NoCache {
            text.hints.short_mib = text.hints.short_mib.or(facts.short_mib);
        }
        if let Some(device) = text.figures.device.filter(|_| text.producer == Producer::LlamaCpp && text.sign == Sign::Shortage) {
            text.figures.free = text.figures.free.or_else(|| facts.free.get(&device).copied().map(Amount::exact));
            text.hints.loaded = facts.loaded.get(&device).copied();
            if facts.free.len() > 1 {
                let loaded: u64 = facts.loaded.values().sum();
                text.hints.free_everywhere = Some(facts.free.values().sum::<u64>().saturating_sub(loaded));
            }
        }
    }

    fn close_all(&mut self) {
        let mut tags: Vec<(u64, String)> = self.open.iter().map(|(tag, text)| (text.line, tag.clone())).collect();
        tags.sort();
        for (_, tag) in tags {
            self.close(&tag);
        }
    }

    /// All texts, the first to happen first.
    pub(super) fn finish(mut self) -> Vec<Report> {
        self.close_all();
        // A supervisor that ends the other ranks says the same.
        if self.done.iter().any(|text| text.sign != Sign::KilledBySignal) {
            self.done.retain(|text| text.sign != Sign::KilledBySignal);
        }
        // What did not end the program is not the root, whatever came first.
        self.done.sort_by_key(|text| (text.is_warning(), text.line));
        self.done.into_iter().map(report).collect()
    }
}

fn report(text: Text) -> Report {
    let mut report = Report {
        producer: text.producer,
        figures: text.figures,
        verdict: super::Verdict::Unknown,
        also: Vec::new(),
        confidence: super::Confidence::High,
        line: text.line,
        count: text.count,
        ranks: text.ranks,
        time: text.time,
        hints: Hints { sign: Some(text.sign), ..text.hints },
    };
    verdict::judge(&mut report, text.sign);
    report
}

/// One line's clauses together.
fn said(found: &[Found]) -> Said {
    let mut said = Said { opens: None, settles: Vec::new(), producers: Vec::new(), figures: Figures::default(), hints: Hints::default() };
    let tells = found.iter().filter(|clause| clause.role == Role::Opens(Sign::Shortage)).any(|clause| clause.figures.tried.is_some());
    for clause in found {
        match clause.role {
            Role::Opens(Sign::Status) if tells => {}
            Role::Opens(sign) => {
                let better = said.opens.is_none_or(|(before, producer)| {
                    (sign, std::cmp::Reverse(rank_of(clause.producer))) < (before, std::cmp::Reverse(rank_of(producer)))
                });
                if better {
                    said.opens = Some((sign, clause.producer));
                }
            }
            Role::Settles(sign) => said.settles.push((sign, clause.producer)),
            Role::Adds => {}
            Role::Tells => continue,
        }
        said.producers.push(clause.producer);
    }
    let owner = said.opens.map(|(_, producer)| producer);
    for clause in found {
        // Words of one family can occur in another's text with another meaning.
        if clause.role != Role::Tells && owner.is_none_or(|owner| related(owner, clause.producer)) {
            merge(&mut said.figures, clause.figures.clone());
            merge_hints(&mut said.hints, clause.hints.clone());
        }
    }
    said
}

/// Of two signs in one text the one that goes before; a library's status code gives way to a size.
fn stronger(a: Sign, b: Sign, figures: &Figures) -> Sign {
    match (a, b) {
        (Sign::Status, Sign::Shortage) | (Sign::Shortage, Sign::Status) if figures.tried.is_some() => Sign::Shortage,
        _ => a.min(b),
    }
}

/// Words that settle a case hold for some texts only.
fn settle(text: &mut Text, sign: Sign) {
    let fits = match sign {
        Sign::Pinned | Sign::LostDevice | Sign::Communication => text.sign == Sign::Bare,
        Sign::Retried | Sign::Optional | Sign::Plan | Sign::PoolLimit => matches!(text.sign, Sign::Shortage | Sign::Bare),
        _ => true,
    };
    if fits {
        text.sign = text.sign.min(sign);
        if text.sign == Sign::Communication {
            text.producer = Producer::Nccl;
        }
    }
}

/// A capacity that is clearly a part of the board that the log names.
fn slice_of(board_gib: Option<u32>, capacity: Option<Amount>) -> Option<String> {
    let (board, capacity) = board_gib.zip(capacity?.bytes())?;
    (capacity > 0 && capacity < u64::from(board) * 600_000_000).then(|| format!("a part of the {board} GB board"))
}
