//! A recording played forward at its own pace. It holds no history and cannot play backwards: the monitor remembers.

use std::io::BufRead;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use super::{Clock, Source, SourceEnd, SourceError};
use crate::model::Record;
use crate::record::{ReadError, Reader};

/// What whoever watches can ask for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Playback {
    /// Stand still.
    Pause,
    /// Go on.
    Resume,
    /// So many times as fast as it was recorded; nonsense is passed over.
    Speed(f64),
}

/// How a recording is played.
#[derive(Clone, Copy, Debug)]
pub struct ReplayOptions {
    /// So many times as fast as it was recorded.
    pub speed: f64,
    /// What was before this time (on the clock of the samples) is sent without waiting, so that there is a past to look at.
    pub start_at_ms: Option<u64>,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        Self { speed: 1.0, start_at_ms: None }
    }
}

/// A recording as a source.
#[derive(Debug)]
pub struct ReplaySource<R, C> {
    reader: Reader<R>,
    control: Receiver<Playback>,
    clock: C,
    pace: Pace,
    start_at_ms: u64,
    /// Time of the last record.
    last_ms: Option<u64>,
    /// Where on the way of [`Pace`] the last record stood.
    due: f64,
}

impl<R: BufRead, C: Clock> ReplaySource<R, C> {
    /// Plays what `reader` reads. Without a sender at the other end of `control` it plays on undisturbed.
    pub fn new(reader: Reader<R>, control: Receiver<Playback>, clock: C, options: ReplayOptions) -> Self {
        let mut pace = Pace::new();
        pace.turn(Playback::Speed(options.speed), 0);
        Self { reader, control, clock, pace, start_at_ms: options.start_at_ms.unwrap_or(0), last_ms: None, due: 0.0 }
    }

    /// Whether the recording ended within a line.
    pub const fn torn(&self) -> bool {
        self.reader.torn()
    }

    /// Waits until the record of this time is due; `false` if nobody is left who could end a pause.
    fn wait_for(&mut self, at_ms: u64) -> bool {
        let last = self.last_ms.replace(at_ms);
        if at_ms < self.start_at_ms {
            return true;
        }
        match last.filter(|last| *last >= self.start_at_ms) {
            Some(last) => self.due += played_ms(at_ms.saturating_sub(last)),
            // The first that is waited for is due at once, and the way begins here.
            None => self.pace.begin(self.clock.now_ms()),
        }
        self.wait()
    }

    fn wait(&mut self) -> bool {
        loop {
            match self.control.try_recv() {
                Ok(playback) => {
                    self.pace.turn(playback, self.clock.now_ms());
                    continue;
                }
                Err(TryRecvError::Disconnected) if self.pace.paused => return false,
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
            }
            let now = self.clock.now_ms();
            let Some(left_ms) = self.pace.left_ms(self.due, now) else {
                match self.control.recv() {
                    Ok(playback) => self.pace.turn(playback, self.clock.now_ms()),
                    Err(_) => return false,
                }
                continue;
            };
            if left_ms == 0 {
                return true;
            }
            match self.control.recv_timeout(Duration::from_millis(left_ms)) {
                Ok(playback) => self.pace.turn(playback, self.clock.now_ms()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.clock.sleep_until_ms(now + left_ms),
            }
        }
    }
}

impl<R: BufRead, C: Clock> Source for ReplaySource<R, C> {
    fn next(&mut self) -> Result<Record, SourceEnd> {
        let failed = |error: ReadError| SourceEnd::Failed(SourceError::Recording(error.to_string()));
        let record = self.reader.next().ok_or(SourceEnd::Finished)?.map_err(failed)?;
        let at_ms = match &record {
            Record::Sample(sample) => Some(sample.elapsed_ms),
            Record::Event(event) => Some(event.elapsed_ms),
            Record::Header(_) | Record::Process { .. } => None,
        };
        match at_ms {
            Some(at_ms) if !self.wait_for(at_ms) => Err(SourceEnd::Finished),
            _ => Ok(record),
        }
    }
}

/// How long a stretch of the recording plays at its own pace: a long silence is passed over in a second, and stays a gap in the data.
fn played_ms(recorded_ms: u64) -> f64 {
    const SILENCE_MS: u64 = 10_000;
    if recorded_ms > SILENCE_MS { 1000.0 } else { recorded_ms as f64 }
}

/// The way from the clock to the place in the recording, in milliseconds of its own pace.
#[derive(Clone, Copy, Debug)]
struct Pace {
    place: f64,
    since_ms: u64,
    speed: f64,
    paused: bool,
}

impl Pace {
    const fn new() -> Self {
        Self { place: 0.0, since_ms: 0, speed: 1.0, paused: false }
    }

    fn begin(&mut self, now_ms: u64) {
        self.since_ms = now_ms;
    }

    fn place_at(&self, now_ms: u64) -> f64 {
        if self.paused { self.place } else { self.place + now_ms.saturating_sub(self.since_ms) as f64 * self.speed }
    }

    fn turn(&mut self, playback: Playback, now_ms: u64) {
        self.place = self.place_at(now_ms);
        self.since_ms = now_ms;
        match playback {
            Playback::Pause => self.paused = true,
            Playback::Resume => self.paused = false,
            Playback::Speed(speed) if (0.01..=1000.0).contains(&speed) => self.speed = speed,
            Playback::Speed(_) => {}
        }
    }

    /// Milliseconds of the clock until `due`; `None` while it stands still before it.
    fn left_ms(&self, due: f64, now_ms: u64) -> Option<u64> {
        let left = (due - self.place_at(now_ms)) / self.speed;
        if left <= 0.0 && !self.paused {
            return Some(0);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and less than 10 s at the slowest speed")]
        (!self.paused).then_some(left.ceil() as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::Cursor;
    use std::sync::mpsc::{Sender, channel};

    use super::*;
    use crate::model::Moment;

    /// A clock that is only moved by waiting.
    #[derive(Debug, Default)]
    struct ManualClock(Cell<u64>);

    impl Clock for ManualClock {
        fn now_ms(&self) -> u64 {
            self.0.get()
        }
        fn now_us(&self) -> u64 {
            self.0.get() * 1000
        }
        fn wall(&self) -> Moment {
            Moment::default()
        }
        fn sleep_until_ms(&mut self, at_ms: u64) {
            self.0.set(at_ms.max(self.0.get()));
        }
    }

    fn recording(times_ms: &[u64]) -> Cursor<Vec<u8>> {
        let header = r#"{"type":"header","schema":1,"time":"2026-11-30T12:08:18Z"}"#.to_owned();
        let event = |ms: &u64| format!("{{\"type\":\"event\",\"time\":\"2026-11-30T12:08:18Z\",\"elapsed_ms\":{ms},\"event\":\"found\"}}");
        let lines: Vec<String> = std::iter::once(header).chain(times_ms.iter().map(event)).collect();
        Cursor::new(lines.join("\n").into_bytes())
    }

    fn source(times_ms: &[u64], options: ReplayOptions) -> (ReplaySource<Cursor<Vec<u8>>, ManualClock>, Sender<Playback>) {
        let (sender, control) = channel();
        (ReplaySource::new(Reader::new(recording(times_ms)), control, ManualClock(Cell::new(500)), options), sender)
    }

    /// When each record came, on the clock, without anybody who controls it.
    fn played(times_ms: &[u64], options: ReplayOptions) -> Vec<u64> {
        let (mut source, sender) = source(times_ms, options);
        drop(sender);
        let mut came = Vec::new();
        while source.next().is_ok() {
            came.push(source.clock.now_ms() - 500);
        }
        came
    }

    #[test]
    fn it_keeps_the_pace_of_the_recording() {
        assert_eq!(played(&[1000, 2000, 2250, 9000], ReplayOptions::default()), [0, 0, 1000, 1250, 8000]);
        assert_eq!(played(&[0, 1000, 4000], ReplayOptions { speed: 4.0, start_at_ms: None }), [0, 0, 250, 1000]);
    }

    #[test]
    fn a_long_silence_takes_a_second() {
        assert_eq!(played(&[0, 10_000, 3_610_000, 3_611_000], ReplayOptions::default()), [0, 0, 10_000, 11_000, 12_000]);
    }

    #[test]
    fn what_was_before_the_start_comes_at_once() {
        let options = ReplayOptions { speed: 1.0, start_at_ms: Some(3000) };
        assert_eq!(played(&[0, 1000, 2000, 3000, 3500], options), [0, 0, 0, 0, 0, 500]);
    }

    #[test]
    fn a_time_that_goes_back_is_not_waited_for() {
        assert_eq!(played(&[5000, 1000, 1500], ReplayOptions::default()), [0, 0, 0, 500]);
    }

    #[test]
    fn a_pause_nobody_can_end_is_the_end() {
        let (mut source, sender) = source(&[0, 1000], ReplayOptions::default());
        assert!(source.next().is_ok());
        sender.send(Playback::Pause).expect("it listens");
        drop(sender);
        assert!(matches!(source.next(), Err(SourceEnd::Finished)));
    }

    #[test]
    fn orders_act_at_once_and_in_order() {
        let (mut source, sender) = source(&[0, 9000], ReplayOptions::default());
        assert!(source.next().is_ok() && source.next().is_ok());
        for order in [Playback::Pause, Playback::Speed(f64::NAN), Playback::Speed(1000.0), Playback::Resume] {
            sender.send(order).expect("it listens");
        }
        drop(sender);
        assert!(source.next().is_ok());
        assert_eq!(source.clock.now_ms(), 509);
    }

    #[test]
    fn a_broken_line_ends_it_with_its_number() {
        let (_sender, control) = channel();
        let mut lines = recording(&[1]).into_inner();
        lines.extend_from_slice(b"\nbroken\n");
        let mut source = ReplaySource::new(Reader::new(Cursor::new(lines)), control, ManualClock::default(), ReplayOptions::default());
        assert!(source.next().is_ok() && source.next().is_ok());
        let Err(SourceEnd::Failed(error)) = source.next() else { panic!("it fails") };
        assert!(error.to_string().starts_with("line 3 of the recording is broken"), "{error}");
    }
}
