//! Writes records as lines: one write and one flush a record, so that a reader never waits and a crash loses one line at most.

use std::io::{self, Write};

use serde::Serialize;

use super::schema::{self, Form};
use crate::model::{Event, GpuId, Header, ProcessFacts, Record, Sample};
use crate::monitor::Monitor;

/// A recording being written.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes to `out`, which need not be buffered.
    pub const fn new(out: W) -> Self {
        Self { out, line: Vec::new() }
    }

    /// Writes a record that `monitor` has just taken in, and the events that it led to.
    pub fn record(&mut self, record: &Record, monitor: &Monitor) -> io::Result<()> {
        match record {
            Record::Header(header) => self.header(header)?,
            Record::Process { gpu, facts } => self.process(gpu, facts)?,
            Record::Sample(sample) => self.sample(sample, monitor)?,
            Record::Event(event) => self.events(std::slice::from_ref(event), monitor)?,
        }
        self.events(monitor.events(), monitor)
    }

    /// Writes a header: first of all, and after a rotation or a driver reload.
    pub fn header(&mut self, header: &Header) -> io::Result<()> {
        self.line(&schema::header(header))
    }

    /// Writes what does not change about a process; `gpu` is where it was seen first.
    pub fn process(&mut self, gpu: &GpuId, facts: &ProcessFacts) -> io::Result<()> {
        self.line(&schema::process(gpu, facts))
    }

    /// Writes a sample that `monitor` has just taken in.
    pub fn sample(&mut self, sample: &Sample, monitor: &Monitor) -> io::Result<()> {
        self.line(&schema::sample(sample, monitor, Form::InRecording))
    }

    /// Writes a sample with the static facts merged in, to stand without other lines.
    pub fn once(&mut self, sample: &Sample, monitor: &Monitor) -> io::Result<()> {
        self.line(&schema::sample(sample, monitor, Form::Alone))
    }

    /// Writes events, one line each.
    pub fn events(&mut self, events: &[Event], monitor: &Monitor) -> io::Result<()> {
        events.iter().try_for_each(|event| self.line(&schema::event(event, monitor)))
    }

    /// The place that was written to.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, line)?;
        self.line.push(b'\n');
        self.out.write_all(&self.line)?;
        self.out.flush()
    }
}
