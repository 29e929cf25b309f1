//! What becomes of finished dictionaries and lists: records of a snapshot, told by their keys. Everything else is dropped at once.
//!
//! There is no tree of the file anywhere: a dictionary lives until its last key, then as a record of some 32 bytes.

use std::collections::HashMap;

use super::facts::{Action, Block, Event, Frame, Run, Segment, Settings, Site, SiteId, Snapshot, State};
use super::fields::Fields;
use super::refusal::Why;
use super::sites::Names;
use super::texts::{TextId, Texts, Word, word};
use super::value::{Items, Value};
use crate::model::{Bytes, SafeText};

/// Bytes that everything kept of one snapshot may take.
const BUDGET: u64 = 900 << 20;
/// Rules of rounding that are kept; torch has 16.
const MOST_RULES: usize = 64;

/// Everything that is kept, and how much of it there may be.
pub(super) struct Store {
    pub(super) texts: Texts,
    out: Snapshot,
    names: Names,
    frames: HashMap<Frame, u32>,
    sites: HashMap<Site, u32>,
    pools: Vec<(i64, i64)>,
    pasts: Vec<(Bytes, SiteId)>,
    settings: Vec<Settings>,
    rounding: Vec<Vec<(u64, u64)>>,
    traces: Vec<Vec<Run>>,
    /// Blocks before this one belong to a segment.
    taken: u32,
    left: u64,
}

impl Store {
    pub(super) fn new() -> Self {
        Self {
            texts: Texts::new(),
            out: Snapshot::default(),
            names: Names::default(),
            frames: HashMap::new(),
            sites: HashMap::new(),
            pools: Vec::new(),
            pasts: Vec::new(),
            settings: Vec::new(),
            rounding: Vec::new(),
            traces: Vec::new(),
            taken: 0,
            left: BUDGET,
        }
    }

    /// Accounts for bytes that are kept.
    #[inline]
    pub(super) fn spend(&mut self, bytes: u64) -> Result<(), Why> {
        self.left = self.left.checked_sub(bytes).ok_or(Why::TooMuch { what: "bytes of memory to read it in", most: BUDGET })?;
        Ok(())
    }

    pub(super) fn text(&mut self, text: &str) -> Result<Value, Why> {
        let (id, cost) = self.texts.keep(text);
        self.spend(cost)?;
        Ok(Value::Text(id))
    }

    /// A pair of numbers is the name of a pool; no other tuple means anything.
    pub(super) fn tuple(&mut self, items: &[Value]) -> Result<Value, Why> {
        let [Value::Int(a), Value::Int(b)] = *items else { return Ok(Value::Other) };
        if let Some(at) = self.pools.iter().rev().take(8).position(|pool| *pool == (a, b)) {
            return Ok(Value::Pool(index(self.pools.len() - 1 - at)));
        }
        self.spend(16)?;
        self.pools.push((a, b));
        Ok(Value::Pool(index(self.pools.len() - 1)))
    }

    /// Puts one more value into a list.
    #[inline]
    pub(super) fn push(&mut self, items: &mut Items, value: Value) -> Result<(), Why> {
        // A stack is known by its innermost frames: what lies further out is not looked at.
        if let (Items::Frames(Site { own: Some(_), .. }), Value::Frame(_)) = (&*items, value) {
            return Ok(());
        }
        let frame = match value {
            Value::Frame(id) => self.out.frames.get(id as usize).map(|frame| (id, *frame)),
            _ => None,
        };
        if let Some((id, frame)) = frame
            && let Items::Empty | Items::Frames(_) = items
        {
            let mut site = if let Items::Frames(site) = *items { site } else { Site::default() };
            self.names.add(&self.texts, &mut site, id, frame);
            *items = Items::Frames(site);
            return Ok(());
        }
        items.push(value)
    }

    /// A list that will have no more values.
    pub(super) fn list(&mut self, items: Items) -> Result<Value, Why> {
        Ok(match items {
            Items::Empty => Value::EmptyList,
            Items::Frames(mut site) => {
                if site.inner.is_some() {
                    site.native = None;
                }
                Value::Site(self.site(site)?)
            }
            Items::Blocks(run) => Value::Blocks(run),
            Items::Events(run) => Value::Events(run),
            Items::Segments(run) => Value::Segments(run),
            Items::Past(first) => Value::Past(first),
            Items::Traces(traces) => {
                self.spend(24 + 8 * traces.len() as u64)?;
                self.traces.push(traces);
                Value::Traces(index(self.traces.len() - 1))
            }
            Items::Other => Value::Other,
        })
    }

    fn site(&mut self, site: Site) -> Result<SiteId, Why> {
        if let Some(id) = self.sites.get(&site) {
            return Ok(SiteId(*id));
        }
        self.spend(96)?;
        let id = index(self.out.sites.len());
        self.out.sites.push(site);
        self.sites.insert(site, id);
        Ok(SiteId(id))
    }

    /// A dictionary that will have no more keys, as `[key, value, key, value, …]`.
    pub(super) fn dict(&mut self, pairs: &[Value]) -> Result<Value, Why> {
        let fields = Fields::of(pairs);
        match fields {
            Fields { action: Some(action), .. } => self.event(action, &fields),
            Fields { blocks: Some(blocks), total: Some(total), .. } => self.segment(blocks, total, &fields),
            Fields { segments: Some(segments), .. } => self.whole(segments, &fields),
            Fields { file: Some(Value::Text(file)), name: Some(Value::Text(name)), .. } => self.frame(file, name, &fields),
            Fields { real_size: Some(size), .. } => {
                self.spend(16)?;
                self.pasts.push((bytes(size)?, site_of(fields.frames)));
                Ok(Value::Past(index(self.pasts.len() - 1)))
            }
            Fields { state: Some(state), size: Some(size), .. } => self.block(state, size, &fields),
            Fields { expandable: Some(_), .. } | Fields { max_split: Some(_), .. } | Fields { conf: Some(_), .. } => self.setup(&fields),
            _ => self.rules(pairs),
        }
    }

    fn frame(&mut self, file: TextId, name: TextId, fields: &Fields) -> Result<Value, Why> {
        let line = if let Some(Value::Int(line)) = fields.line { u32::try_from(line).unwrap_or(0) } else { 0 };
        let frame = Frame { file, line, name };
        if let Some(id) = self.frames.get(&frame) {
            return Ok(Value::Frame(*id));
        }
        self.spend(64)?;
        let id = index(self.out.frames.len());
        self.out.frames.push(frame);
        self.frames.insert(frame, id);
        Ok(Value::Frame(id))
    }

    fn event(&mut self, action: Value, fields: &Fields) -> Result<Value, Why> {
        let Value::Text(action) = action else { return Err(Why::Malformed("an event whose action is no text")) };
        let action = match word(action) {
            Some(Word::Alloc) => Action::Alloc,
            Some(Word::FreeRequested) => Action::FreeRequested,
            Some(Word::FreeCompleted) => Action::FreeCompleted,
            Some(Word::SegmentAlloc | Word::SegmentMap) => Action::SegmentTaken,
            Some(Word::SegmentFree | Word::SegmentUnmap) => Action::SegmentReturned,
            Some(Word::Oom) => Action::Oom,
            _ => Action::Other,
        };
        let address = if action == Action::Oom { fields.device_free.or(fields.address) } else { fields.address };
        let time_us = if let Some(Value::Int(time)) = fields.time { time } else { 0 };
        let event = Event { action, address: number(address)?, size: optional(fields.size)?, time_us, site: site_of(fields.frames) };
        self.spend(size_of::<Event>() as u64)?;
        self.out.events.push(event);
        Ok(Value::Event(index(self.out.events.len() - 1)))
    }

    fn block(&mut self, state: Value, total: Value, fields: &Fields) -> Result<Value, Why> {
        let state = match state {
            Value::Text(text) => match word(text) {
                Some(Word::ActiveAllocated) => State::Live,
                Some(Word::ActivePendingFree | Word::ActiveAwaitingFree) => State::Pending,
                Some(Word::Inactive) => State::Free,
                _ => return Err(Why::NotASnapshot("a block has a state that no torch writes")),
            },
            _ => return Err(Why::Malformed("a block whose state is no text")),
        };
        let size = bytes(total)?;
        let past = if let Some(Value::Past(past)) = fields.history { self.pasts.get(past as usize).copied() } else { None };
        let requested = match (fields.requested, past) {
            (Some(requested), _) => bytes(requested)?,
            (None, Some((real, _))) => real,
            (None, None) => size,
        };
        let own = site_of(fields.frames);
        let place = past.filter(|_| own == SiteId::UNKNOWN).map_or(own, |(_, earlier)| earlier);
        self.spend(size_of::<Block>() as u64)?;
        self.out.blocks.push(Block { address: number(fields.address)?, size, requested, state, site: place });
        Ok(Value::Block(index(self.out.blocks.len() - 1)))
    }

    fn segment(&mut self, blocks: Value, total: Value, fields: &Fields) -> Result<Value, Why> {
        let blocks = match blocks {
            Value::Blocks(run) => run,
            Value::EmptyList => Run { start: self.taken, len: 0 },
            _ => return Err(Why::Malformed("a segment whose blocks are none")),
        };
        // A block in two segments would be counted twice, and a list of it a million times.
        if blocks.start < self.taken {
            return Err(Why::Malformed("a block that is in two segments"));
        }
        self.taken = blocks.end();
        let address = number(fields.address)?;
        let size = bytes(total)?;
        self.place_blocks(blocks, address, size)?;
        let pool = if let Some(Value::Pool(pool)) = fields.pool { self.pools.get(pool as usize).copied() } else { None };
        let segment = Segment {
            device: if let Some(Value::Int(device)) = fields.device { u32::try_from(device).unwrap_or(0) } else { 0 },
            address,
            size,
            stream: if let Some(Value::Int(stream)) = fields.stream { stream } else { 0 },
            small: matches!(fields.kind, Some(Value::Text(kind)) if word(kind) == Some(Word::Small)),
            pool: pool.unwrap_or((0, 0)),
            expandable: matches!(fields.expandable, Some(Value::Bool(true))),
            blocks,
        };
        self.spend(size_of::<Segment>() as u64)?;
        self.out.segments.push(segment);
        Ok(Value::Segment(index(self.out.segments.len() - 1)))
    }

    /// Older layouts have no addresses of blocks: they follow from each other. In all of them blocks lie in order, within their segment.
    fn place_blocks(&mut self, run: Run, start: u64, size: Bytes) -> Result<(), Why> {
        let blocks = self.out.blocks.get_mut(run.range()).unwrap_or_default();
        let has_addresses = blocks.iter().any(|block| block.address != 0);
        let end = start.saturating_add(size.0);
        let mut at = start;
        for block in blocks {
            if !has_addresses {
                block.address = at;
            }
            if block.address < at || block.size.0 > end.saturating_sub(block.address) {
                return Err(Why::Malformed("a block that does not lie within its segment, behind the one before"));
            }
            at = block.address.saturating_add(block.size.0);
        }
        Ok(())
    }

    fn setup(&mut self, fields: &Fields) -> Result<Value, Why> {
        let conf = match fields.conf {
            Some(Value::Text(conf)) => Some(self.texts.get(conf)).filter(|conf| !conf.is_empty()).map(SafeText::new),
            _ => None,
        };
        let max_split_size = match fields.max_split {
            // -1 and the highest number both say that there is no limit.
            Some(Value::Int(n)) if n != i64::MAX => u64::try_from(n).ok().map(Bytes),
            _ => None,
        };
        let roundup = if let Some(Value::Rules(rules)) = fields.roundup { self.rounding.get(rules as usize).cloned() } else { None };
        let expandable = if let Some(Value::Bool(is)) = fields.expandable { Some(is) } else { None };
        self.spend(2048 + 4096)?;
        self.settings.push(Settings { conf, expandable, max_split_size, roundup: roundup.unwrap_or_default() });
        Ok(Value::Settings(index(self.settings.len() - 1)))
    }

    /// `{"1": 0, "2": 4, …}`: how sizes are rounded from so many MiB on.
    fn rules(&mut self, pairs: &[Value]) -> Result<Value, Why> {
        if pairs.is_empty() || pairs.len() / 2 > MOST_RULES {
            return Ok(Value::Other);
        }
        let mut rules = Vec::new();
        for pair in pairs.chunks_exact(2) {
            let (Value::Text(key), Value::Int(parts)) = (pair[0], pair[1]) else { return Ok(Value::Other) };
            let (Ok(from), Ok(parts)) = (self.texts.get(key).parse(), u64::try_from(parts)) else { return Ok(Value::Other) };
            rules.push((from, parts));
        }
        rules.sort_unstable();
        self.spend(1024 + 24)?;
        self.rounding.push(rules);
        Ok(Value::Rules(index(self.rounding.len() - 1)))
    }

    fn whole(&mut self, segments: Value, fields: &Fields) -> Result<Value, Why> {
        let segments = match segments {
            Value::Segments(run) => run,
            Value::EmptyList => Run::default(),
            _ => return Err(Why::NotASnapshot("its segments are no list of segments")),
        };
        self.out.settings = if let Some(Value::Settings(at)) = fields.settings { self.settings.get(at as usize).cloned() } else { None };
        self.out.traces = match fields.traces {
            Some(Value::Traces(at)) => self.traces.get(at as usize).cloned().unwrap_or_default(),
            // One device, or an old layout without a list for each.
            Some(Value::Events(run)) => vec![run],
            _ => Vec::new(),
        };
        Ok(Value::Whole(segments))
    }

    /// The snapshot whose segments these are.
    pub(super) fn finish(mut self, top: Value) -> Result<Snapshot, Why> {
        let run = match top {
            Value::Whole(run) | Value::Segments(run) => run,
            Value::EmptyList => return Err(Why::NotASnapshot("it is an empty list")),
            _ => return Err(Why::NotASnapshot("it has no segments")),
        };
        self.out.segments.truncate(run.end() as usize);
        self.out.segments.drain(..(run.start as usize).min(self.out.segments.len()));
        self.out.segments.sort_by_key(|segment| segment.device);
        self.out.texts = self.texts.into_all();
        Ok(self.out)
    }
}

fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn site_of(frames: Option<Value>) -> SiteId {
    if let Some(Value::Site(site)) = frames { site } else { SiteId::UNKNOWN }
}

fn bytes(value: Value) -> Result<Bytes, Why> {
    match value {
        Value::Int(n) => u64::try_from(n).map(Bytes).map_err(|_| Why::NotASnapshot("a size is negative")),
        _ => Err(Why::Malformed("a size that is no number")),
    }
}

fn optional(value: Option<Value>) -> Result<Bytes, Why> {
    value.map_or(Ok(Bytes::ZERO), bytes)
}

/// An address; 0 where there is none.
fn number(value: Option<Value>) -> Result<u64, Why> {
    match value {
        None | Some(Value::None) => Ok(0),
        // Addresses of a device are the same 64 bits whether Python had them signed or not.
        Some(Value::Int(n)) => Ok(n.cast_unsigned()),
        Some(_) => Err(Why::Malformed("an address that is no number")),
    }
}
