//! A program in a pseudo-terminal: its screen as a person would see it, its keys, and how it left the terminal.
//!
//! Nothing here sleeps for a fixed time: whoever waits, waits for a condition, up to a deadline.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use portable_pty::{CommandBuilder, ExitStatus, MasterPty, PtySize, SlavePty, native_pty_system};
use vt100::Screen;

/// The machine that runs this may be slow and busy.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);
/// Columns and rows of a new terminal.
pub(crate) const SIZE: (u16, u16) = (120, 36);

const ENTER: &[u8] = b"\x1b[?1049h";
const LEAVE: &[u8] = b"\x1b[?1049l";

/// What came out of the terminal so far.
struct Seen {
    parser: vt100::Parser,
    bytes: Vec<u8>,
    closed: bool,
}

#[derive(Clone)]
struct Output(Arc<(Mutex<Seen>, Condvar)>);

impl Output {
    fn new() -> Self {
        let (width, height) = SIZE;
        let seen = Seen { parser: vt100::Parser::new(cells(height), cells(width), 0), bytes: Vec::new(), closed: false };
        Self(Arc::new((Mutex::new(seen), Condvar::new())))
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.0.lock().expect("the reader does not panic")
    }

    fn read_from(&self, mut from: impl Read) {
        let mut buffer = vec![0; 65536];
        while let Ok(n @ 1..) = from.read(&mut buffer) {
            let mut seen = self.lock();
            seen.parser.process(&buffer[..n]);
            seen.bytes.extend_from_slice(&buffer[..n]);
            let closed = seen.closed;
            drop(seen);
            self.0.1.notify_all();
            if closed {
                return;
            }
        }
    }

    fn close(&self) {
        self.lock().closed = true;
    }

    fn wait(&self, patience: Duration, mut until: impl FnMut(&Seen) -> bool) -> Result<(), String> {
        let end = Instant::now() + patience;
        let mut seen = self.lock();
        while !until(&seen) {
            let Some(left) = end.checked_duration_since(Instant::now()) else {
                return Err(format!("not seen within {patience:?}; the screen:\n{}", seen.parser.screen().contents()));
            };
            seen = self.0.1.wait_timeout(seen, left).expect("the reader does not panic").0;
        }
        Ok(())
    }
}

fn cells(n: u16) -> NonZeroU16 {
    NonZeroU16::new(n).expect("a terminal has cells")
}

/// A program that runs in a terminal of its own.
pub(crate) struct Session {
    pid: Pid,
    output: Output,
    reader: Option<JoinHandle<()>>,
    ended: Receiver<ExitStatus>,
    keys: Box<dyn Write + Send>,
    slave: Option<Box<dyn SlavePty + Send>>,
    master: Option<Box<dyn MasterPty + Send>>,
    settings_before: String,
}

/// How it ended, with all that it wrote.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) bytes: Vec<u8>,
    /// What stands on the screen.
    pub(crate) screen: String,
}

impl Session {
    /// Starts a command. Its output is read at once and to its end.
    pub(crate) fn start(command: CommandBuilder) -> Self {
        Self::start_unread(command).read()
    }

    /// As [`Session::start`], in a terminal that does not say how large it is.
    pub(crate) fn start_without_size(command: CommandBuilder) -> Self {
        Self::open(command, (0, 0)).read()
    }

    fn read(mut self) -> Self {
        let (output, from) = (self.output.clone(), self.master().try_clone_reader().expect("master"));
        self.reader = Some(thread::spawn(move || output.read_from(from)));
        self
    }

    /// Starts a command in a terminal from which nobody reads.
    pub(crate) fn start_unread(command: CommandBuilder) -> Self {
        Self::open(command, SIZE)
    }

    fn open(command: CommandBuilder, (cols, rows): (u16, u16)) -> Self {
        let pair = native_pty_system().openpty(PtySize { rows, cols, ..PtySize::default() }).expect("a pty");
        let settings_before = settings(pair.master.as_ref());
        let mut child = pair.slave.spawn_command(command).expect("the program starts");
        let pid = Pid::from_raw(child.process_id().expect("it runs").cast_signed());
        let (sender, ended) = channel();
        thread::spawn(move || sender.send(child.wait().expect("own child")));
        let keys = pair.master.take_writer().expect("master");
        Self { pid, output: Output::new(), reader: None, ended, keys, slave: Some(pair.slave), master: Some(pair.master), settings_before }
    }

    fn master(&self) -> &dyn MasterPty {
        self.master.as_deref().expect("it is not closed yet")
    }

    /// Waits until the screen is as wanted; the error shows the screen.
    pub(crate) fn try_wait(&self, patience: Duration, until: impl Fn(&Screen) -> bool) -> Result<(), String> {
        self.output.wait(patience, |seen| until(seen.parser.screen()))
    }

    /// Waits until the screen is as wanted.
    #[track_caller]
    pub(crate) fn wait(&self, what: &str, until: impl Fn(&Screen) -> bool) {
        if let Err(error) = self.try_wait(DEADLINE, until) {
            panic!("{what}: {error}");
        }
    }

    /// Waits until a text is on the screen.
    #[track_caller]
    pub(crate) fn see(&self, text: &str) {
        self.wait(text, |screen| screen.contents().contains(text));
    }

    /// Waits until a text is no longer on the screen.
    #[track_caller]
    pub(crate) fn see_no(&self, text: &str) {
        self.wait(&format!("no {text}"), |screen| !screen.contents().contains(text));
    }

    /// Waits until the program has written more than `before` bytes.
    #[track_caller]
    pub(crate) fn see_output_after(&self, before: usize) {
        self.output.wait(DEADLINE, |seen| seen.bytes.len() > before).unwrap_or_else(|error| panic!("more output: {error}"));
    }

    /// What stands on the screen now.
    pub(crate) fn screen(&self) -> String {
        self.output.lock().parser.screen().contents()
    }

    /// Everything that was written so far.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.output.lock().bytes.clone()
    }

    /// Types.
    pub(crate) fn keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// Gives the terminal another size and forgets what stood on it, so that only what is drawn anew is seen.
    pub(crate) fn resize(&mut self, cols: u16, rows: u16) {
        {
            let mut seen = self.output.lock();
            seen.parser.screen_mut().set_size(cells(rows), cells(cols));
            seen.parser.process(b"\x1b[2J");
        }
        self.master().resize(PtySize { rows, cols, ..PtySize::default() }).expect("master");
    }

    /// Something else writes on the screen: nothing of what was drawn is left.
    pub(crate) fn spoil(&self) {
        self.output.lock().parser.process(b"\x1b[2J\x1b[Hspoilt");
    }

    /// Waits until the program is stuck in a write, since nobody reads from the terminal.
    pub(crate) fn wait_until_stuck(&mut self) {
        const WRITE: &str = if cfg!(target_arch = "x86_64") { "1 " } else { "64 " };
        let end = Instant::now() + DEADLINE;
        let file = format!("/proc/{}/syscall", self.pid);
        while !std::fs::read_to_string(&file).is_ok_and(|call| call.starts_with(WRITE)) {
            assert!(Instant::now() < end, "it never waits for its terminal");
            // Ctrl-L: the whole screen once more.
            self.keys("\x0c");
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) const fn pid(&self) -> Pid {
        self.pid
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid, signal).expect("it runs");
    }

    /// Whether the terminal is set as it was before the program started.
    pub(crate) fn is_set_as_before(&self) -> bool {
        settings(self.master()) == self.settings_before
    }

    /// Waits until it has ended by itself.
    ///
    /// # Errors
    /// With the screen, when it does not; it is killed then.
    pub(crate) fn try_end(mut self, patience: Duration) -> Result<(Ended, bool), String> {
        let Ok(status) = self.ended.recv_timeout(patience) else {
            return Err(format!("still running after {patience:?}; the screen:\n{}", self.screen()));
        };
        let restored = self.is_set_as_before();
        // With the last slave gone the reader comes to the end.
        self.slave = None;
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reader does not panic");
        }
        let seen = self.output.lock();
        let screen = seen.parser.screen();
        let calm = !screen.alternate_screen() && !screen.hide_cursor();
        let ended = Ended { status, bytes: seen.bytes.clone(), screen: screen.contents() };
        drop(seen);
        Ok((ended, restored && calm))
    }

    /// Waits until it has ended, and checks that the terminal is as it was: settings, screen, cursor, each restored once.
    #[track_caller]
    pub(crate) fn end(self) -> Ended {
        self.end_after_visits(1)
    }

    /// As [`Session::end`], where the alternate screen was entered that often.
    #[track_caller]
    pub(crate) fn end_after_visits(self, visits: usize) -> Ended {
        let (ended, restored) = self.try_end(DEADLINE).unwrap_or_else(|error| panic!("{error}"));
        assert!(restored, "the terminal is not as it was:\n{}", ended.screen);
        let (entered, left) = (count(&ended.bytes, ENTER), count(&ended.bytes, LEAVE));
        assert_eq!((entered, left), (visits, visits), "alternate screen entered and left");
        ended
    }

    /// Closes the terminal as a window is closed, and waits for the end.
    pub(crate) fn hang_up(mut self) -> Result<ExitStatus, String> {
        self.output.close();
        // A redrawn screen wakes the reader, whose own handle would keep the terminal open.
        self.keys("\x0c");
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reader does not panic");
        }
        self.slave = None;
        self.keys = Box::new(std::io::sink());
        self.master = None;
        self.ended.recv_timeout(DEADLINE).map_err(|_| "still running without a terminal".to_owned())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Only where a test failed before the end: nobody is to be left behind.
        if self.ended.try_recv().is_err() {
            let _ = kill(self.pid, Signal::SIGKILL);
        }
    }
}

impl Ended {
    /// The exit code; `None` where it died of a signal.
    pub(crate) fn code(&self) -> Option<u32> {
        self.status.signal().is_none().then(|| self.status.exit_code())
    }

    /// What was written after the alternate screen was left.
    pub(crate) fn after_leaving(&self) -> String {
        let at = self.bytes.windows(LEAVE.len()).rposition(|window| window == LEAVE).expect("it was left");
        String::from_utf8_lossy(&self.bytes[at + LEAVE.len()..]).into_owned()
    }
}

/// How often `what` stands in `bytes`.
pub(crate) fn count(bytes: &[u8], what: &[u8]) -> usize {
    bytes.windows(what.len()).filter(|window| *window == what).count()
}

fn settings(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().expect("a terminal has settings"))
}

/// vramtop over the fake driver, with nothing of this environment that could change what it draws.
pub(crate) fn vramtop(scenario: &Path, args: &[&str]) -> CommandBuilder {
    let mut command = program(env!("CARGO_BIN_EXE_vramtop"), scenario);
    command.arg("--nvml-library");
    command.arg(fake_nvml::library_path());
    command.args(args);
    command
}

/// Any program, in the same environment.
pub(crate) fn program(program: impl AsRef<OsStr>, scenario: &Path) -> CommandBuilder {
    let mut command = CommandBuilder::new(program);
    for name in ["LC_ALL", "LC_CTYPE", "NO_COLOR", "COLORTERM", "COLUMNS", "LINES", "FAKE_NVML_TIME", "CUDA_VISIBLE_DEVICES"] {
        command.env_remove(name);
    }
    for (name, value) in [("LANG", "C.UTF-8"), ("TERM", "xterm-256color"), ("TZ", "UTC")] {
        command.env(name, value);
    }
    command.env("FAKE_NVML_SCENARIO", scenario);
    // Columns that somebody chose on this machine are none of a test's, and nothing is kept there.
    command.env("XDG_STATE_HOME", "/dev/null/state");
    command
}
