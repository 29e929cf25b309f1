//! The stack machine of a pickle, for plain data alone. It executes nothing: an operation either builds a value or is refused.
//!
//! Lists and dictionaries are finished as early as can be and become records; the memo holds what they became, so that a
//! reference costs two words whatever it refers to. There is no recursion, whatever the nesting.

use std::io::Read;
use std::mem;

use super::bytes::Source;
use super::facts::Snapshot;
use super::opcode::{MEANINGS, Meaning, Opcode};
use super::refusal::{Refusal, Why};
use super::store::Store;
use super::value::{Items, Value};

/// Bytes of one text; a template's name can have thousands.
const MOST_TEXT: u64 = 1 << 20;
/// Bytes of a number in digits.
const MOST_DIGITS: usize = 64;
/// Values that Python writes at once; after fewer a list or dictionary is complete.
const BATCH: usize = 1000;
/// Marks within each other. A snapshot has some seven.
const MOST_DEPTH: usize = 64;
/// Keys of one dictionary.
const MOST_KEYS: usize = 1 << 16;

/// A list or dictionary that may still grow.
enum Body {
    List(Items),
    Dict(Vec<Value>),
    /// It was used already and can not change any more.
    Done(Value),
}

struct Open {
    body: Body,
    /// Where the memo has it.
    memo: Option<usize>,
}

/// What lies on the stack, and what is remembered.
struct Machine<R> {
    source: Source<R>,
    store: Store,
    stack: Vec<Value>,
    /// The most values that ever lay there, already accounted for.
    highest: usize,
    marks: Vec<usize>,
    memo: Vec<Value>,
    opens: Vec<Open>,
    free: Vec<u32>,
    scratch: Vec<u8>,
}

/// Reads one pickle of a snapshot, up to its end.
pub(super) fn read(input: impl Read) -> Result<Snapshot, Refusal> {
    let mut machine = Machine {
        source: Source::new(input),
        store: Store::new(),
        stack: Vec::new(),
        highest: 0,
        marks: Vec::new(),
        memo: Vec::new(),
        opens: Vec::new(),
        free: Vec::new(),
        scratch: Vec::new(),
    };
    loop {
        let code = machine.source.byte()?;
        let opcode = match MEANINGS[usize::from(code)] {
            Meaning::Allowed(opcode) => opcode,
            Meaning::Refused(name, reason) => return Err(machine.source.refuse(Why::Opcode { name, reason })),
            Meaning::Unknown => return Err(machine.source.refuse(Why::NoOpcode(code))),
        };
        match opcode {
            Opcode::Stop => break,
            Opcode::Get1 | Opcode::Get4 => machine.recall(opcode)?,
            _ => machine.step(opcode)?,
        }
    }
    let offset = machine.source.offset();
    let top = machine.pop().and_then(|top| machine.settled(top)).map_err(|why| Refusal { why, offset })?;
    machine.store.finish(top).map_err(|why| Refusal { why, offset })
}

impl<R: Read> Machine<R> {
    /// References are nearly all of a large snapshot: one to something finished, onto a stack that was as high before, is a copy.
    #[inline]
    fn recall(&mut self, opcode: Opcode) -> Result<(), Refusal> {
        let at = if opcode == Opcode::Get1 { self.source.byte()?.into() } else { u32::from_le_bytes(self.source.array()?) as usize };
        match self.memo.get(at) {
            Some(value) if !matches!(value, Value::Open(_)) && self.stack.len() < self.highest => {
                self.stack.push(*value);
                Ok(())
            }
            _ => self.get(at).map_err(|why| self.source.refuse(why)),
        }
    }

    fn step(&mut self, opcode: Opcode) -> Result<(), Refusal> {
        let done = match opcode {
            Opcode::Int1 => {
                let n = self.source.byte()?;
                self.put(Value::Int(n.into()))
            }
            Opcode::Int2 => {
                let n = u16::from_le_bytes(self.source.array()?);
                self.put(Value::Int(n.into()))
            }
            Opcode::Int4 => {
                let n = i32::from_le_bytes(self.source.array()?);
                self.put(Value::Int(n.into()))
            }
            Opcode::Long1 => {
                let n = self.source.byte()?;
                self.long(n.into())?
            }
            Opcode::Long4 => {
                let n = u32::from_le_bytes(self.source.array()?);
                self.long(n.into())?
            }
            Opcode::Float => {
                let _: [u8; 8] = self.source.array()?;
                self.put(Value::Number)
            }
            Opcode::Text(width) => self.text(width)?,
            Opcode::Put1 => {
                let at = self.source.byte()?;
                self.remember(at.into())
            }
            Opcode::Put4 => {
                let at = u32::from_le_bytes(self.source.array()?);
                self.remember(at as usize)
            }
            Opcode::IntLine | Opcode::LongLine | Opcode::FloatLine | Opcode::TextLine | Opcode::PutLine | Opcode::GetLine => self.line(opcode)?,
            Opcode::Proto => match self.source.byte()? {
                0..=5 => Ok(()),
                n => Err(Why::Protocol(n)),
            },
            // The length of a frame is a hint for whoever reads in pieces.
            Opcode::Frame => self.source.array::<8>().map(|_| Ok(()))?,
            _ => self.build(opcode),
        };
        done.map_err(|why| self.source.refuse(why))
    }

    /// The operations that take nothing from the stream.
    fn build(&mut self, opcode: Opcode) -> Result<(), Why> {
        match opcode {
            Opcode::None => self.put(Value::None),
            Opcode::True => self.put(Value::Bool(true)),
            Opcode::False => self.put(Value::Bool(false)),
            Opcode::Mark => {
                if self.marks.len() >= MOST_DEPTH {
                    return Err(Why::TooMuch { what: "levels of nesting", most: MOST_DEPTH as u64 });
                }
                self.marks.push(self.stack.len());
                Ok(())
            }
            Opcode::Memoize => self.remember(self.memo.len()),
            Opcode::EmptyList => self.open(Body::List(Items::Empty)),
            Opcode::EmptyDict => self.open(Body::Dict(Vec::new())),
            Opcode::EmptyTuple => self.put(Value::Other),
            Opcode::Tuple1 => self.tuple(self.stack.len().checked_sub(1)),
            Opcode::Tuple2 => self.tuple(self.stack.len().checked_sub(2)),
            Opcode::Tuple3 => self.tuple(self.stack.len().checked_sub(3)),
            Opcode::Tuple => {
                let mark = self.mark()?;
                self.tuple(Some(mark))
            }
            Opcode::Append => self.fill(self.stack.len().checked_sub(1), false),
            Opcode::SetItem => self.fill(self.stack.len().checked_sub(2), false),
            Opcode::Appends | Opcode::SetItems => {
                let mark = self.mark()?;
                let many = if opcode == Opcode::Appends { 1 } else { 2 };
                let complete = self.stack.len() - mark != BATCH * many;
                self.fill(Some(mark), complete)
            }
            Opcode::List | Opcode::Dict => {
                let mark = self.mark()?;
                let body = if opcode == Opcode::List { Body::List(Items::Empty) } else { Body::Dict(Vec::new()) };
                let body = self.filled(body, mark)?;
                self.open(body)
            }
            _ => Err(Why::Malformed("an operation out of place")),
        }
    }

    fn put(&mut self, value: Value) -> Result<(), Why> {
        self.stack.push(value);
        if self.stack.len() > self.highest {
            self.highest = self.stack.len();
            self.store.spend(size_of::<Value>() as u64)?;
        }
        Ok(())
    }

    /// Takes the top of the stack; never across a mark.
    fn pop(&mut self) -> Result<Value, Why> {
        if self.marks.last().is_some_and(|mark| *mark >= self.stack.len()) {
            return Err(Why::Malformed("a mark that nothing closes"));
        }
        self.stack.pop().ok_or(Why::Malformed("nothing where a value should be"))
    }

    fn mark(&mut self) -> Result<usize, Why> {
        self.marks.pop().filter(|mark| *mark <= self.stack.len()).ok_or(Why::Malformed("the end of something that did not begin"))
    }

    fn open(&mut self, body: Body) -> Result<(), Why> {
        let open = Open { body, memo: None };
        let at = if let Some(at) = self.free.pop() {
            self.opens[at as usize] = open;
            at
        } else {
            self.store.spend(64)?;
            self.opens.push(open);
            u32::try_from(self.opens.len() - 1).map_err(|_| Why::Malformed("too many open lists"))?
        };
        self.put(Value::Open(at))
    }

    /// Adds what lies above `from` to the list or dictionary below it, which is finished where it is `complete`.
    fn fill(&mut self, from: Option<usize>, complete: bool) -> Result<(), Why> {
        let floor = self.marks.last().copied().unwrap_or(0);
        let below = from.and_then(|from| from.checked_sub(1)).filter(|below| *below >= floor);
        let (Some(from), Some(below)) = (from, below) else { return Err(Why::Malformed("values without a list or dictionary")) };
        let Value::Open(at) = self.stack[below] else { return Err(Why::Recursive) };
        let body = mem::replace(&mut self.opens[at as usize].body, Body::Done(Value::Other));
        if let Body::Done(_) = body {
            return Err(Why::Recursive);
        }
        let body = self.filled(body, from)?;
        self.opens[at as usize].body = body;
        if complete {
            self.stack[below] = self.settled(Value::Open(at))?;
        }
        Ok(())
    }

    /// `body` with what lies above `from`, which is taken from the stack.
    fn filled(&mut self, body: Body, from: usize) -> Result<Body, Why> {
        let body = match body {
            Body::List(mut items) => {
                for at in from..self.stack.len() {
                    let value = self.settled(self.stack[at])?;
                    self.store.push(&mut items, value)?;
                }
                Body::List(items)
            }
            Body::Dict(mut pairs) => {
                for at in from..self.stack.len() {
                    self.stack[at] = self.settled(self.stack[at])?;
                }
                let values = &self.stack[from..];
                if !values.len().is_multiple_of(2) {
                    return Err(Why::Malformed("a key without a value"));
                }
                if pairs.len() + values.len() > 2 * MOST_KEYS {
                    return Err(Why::TooMuch { what: "keys in one dictionary", most: MOST_KEYS as u64 });
                }
                pairs.extend_from_slice(values);
                Body::Dict(pairs)
            }
            Body::Done(_) => return Err(Why::Recursive),
        };
        self.stack.truncate(from);
        Ok(body)
    }

    /// The value as it will be for good. What was open is finished and its place is free again.
    #[inline]
    fn settled(&mut self, value: Value) -> Result<Value, Why> {
        let Value::Open(at) = value else { return Ok(value) };
        let value = self.finish(at)?;
        self.free.push(at);
        Ok(value)
    }

    /// Finishes an open list or dictionary, and lets the memo know.
    fn finish(&mut self, at: u32) -> Result<Value, Why> {
        let Some(open) = self.opens.get_mut(at as usize) else { return Err(Why::Recursive) };
        let memo = open.memo;
        let value = match mem::replace(&mut open.body, Body::Done(Value::Other)) {
            Body::Done(value) => value,
            Body::List(items) => self.store.list(items)?,
            Body::Dict(pairs) => self.store.dict(&pairs)?,
        };
        if let Some(place) = memo.and_then(|memo| self.memo.get_mut(memo)) {
            *place = value;
        }
        self.opens[at as usize].body = Body::Done(value);
        Ok(value)
    }

    fn tuple(&mut self, from: Option<usize>) -> Result<(), Why> {
        let floor = self.marks.last().copied().unwrap_or(0);
        let Some(from) = from.filter(|from| *from >= floor) else { return Err(Why::Malformed("a tuple of too few values")) };
        for at in from..self.stack.len() {
            self.stack[at] = self.settled(self.stack[at])?;
        }
        let value = self.store.tuple(&self.stack[from..])?;
        self.stack.truncate(from);
        self.put(value)
    }

    /// Remembers the top of the stack by a number. Writers count up; a number out of order is no reason to make room for it.
    fn remember(&mut self, at: usize) -> Result<(), Why> {
        let value = *self.stack.last().ok_or(Why::Malformed("nothing to remember"))?;
        if at > self.memo.len() {
            return Err(Why::Malformed("a number of the memo that is out of order"));
        }
        if let Value::Open(open) = value {
            let open = &mut self.opens[open as usize];
            if open.memo.is_some() {
                return Err(Why::Malformed("something that is remembered twice"));
            }
            open.memo = Some(at);
        }
        if at == self.memo.len() {
            self.store.spend(size_of::<Value>() as u64)?;
            self.memo.push(value);
        } else {
            self.memo[at] = value;
        }
        Ok(())
    }

    fn get(&mut self, at: usize) -> Result<(), Why> {
        let value = *self.memo.get(at).ok_or(Why::Malformed("a number of the memo that was never given"))?;
        // The one that still lies on the stack stays there, finished: whatever it is given afterwards is refused.
        let value = if let Value::Open(open) = value { self.finish(open)? } else { value };
        self.put(value)
    }
}

mod scalars;
