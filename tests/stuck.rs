//! A process in state D, which signals do not reach at once: what the dialog says of it before and after TERM and KILL.
//!
//! Whoever starts a program by `posix_spawn` waits in the kernel, as after vfork(2), until the child runs its program. Here the child never
//! does: it opens a pipe that nobody writes to. The test is its own helper, because the state of a process is that of its first thread.
#![expect(clippy::expect_used, clippy::panic, reason = "a test may fail")]

#[path = "pty/session.rs"]
#[allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]
mod session;

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::{OFlag, open};
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, posix_spawn};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use session::{DEADLINE, Session, vramtop};

const NAME: &str = "a_process_stuck_in_the_kernel";
const NO_VARIABLES: [&std::ffi::CStr; 0] = [];
/// The pipe that the helper is stuck on.
const PIPE: &str = "VRAMTOP_TEST_STUCK_ON";

fn main() {
    if let Some(pipe) = std::env::var_os(PIPE) {
        wait_in_the_kernel(Path::new(&pipe));
        return;
    }
    // As a harness has it: options, and words of which one must be in the name.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut words = arguments.iter().filter(|argument| !argument.starts_with('-')).peekable();
    let is_meant = words.peek().is_none() || words.any(|word| NAME.contains(word.as_str()));
    let is_list = arguments.iter().any(|argument| argument == "--list");
    if is_list {
        assert_eq!(std::io::Write::write_all(&mut std::io::stdout(), format!("{NAME}: test\n").as_bytes()).ok(), Some(()));
    } else if is_meant {
        a_process_stuck_in_the_kernel();
    }
}

/// Stays in state D until somebody writes to that pipe, or KILL comes.
fn wait_in_the_kernel(pipe: &Path) {
    let mut actions = PosixSpawnFileActions::init().expect("memory");
    actions.add_open(0, pipe, OFlag::O_RDONLY, Mode::empty()).expect("memory");
    let attributes = PosixSpawnAttr::init().expect("memory");
    let _ = posix_spawn(Path::new("/bin/true"), &actions, &attributes, &[c"true"], &NO_VARIABLES);
}

/// The helper, and the pipe that lets go of it.
struct Stuck {
    process: Child,
    folder: tempfile::TempDir,
}

impl Stuck {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("temporary folder");
        let pipe = folder.path().join("pipe");
        mkfifo(&pipe, Mode::S_IRWXU).expect("a pipe");
        let process = Command::new(std::env::current_exe().expect("own path")).env(PIPE, &pipe).spawn().expect("the helper starts");
        let stuck = Self { process, folder };
        let end = Instant::now() + DEADLINE;
        while stuck.state() != Some('D') {
            assert!(Instant::now() < end, "it never waits in the kernel: {:?}", stuck.state());
            thread::sleep(Duration::from_millis(5));
        }
        stuck
    }

    /// The scheduler's letter.
    fn state(&self) -> Option<char> {
        let line = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).ok()?;
        line.rsplit_once(") ")?.1.chars().next()
    }

    fn wait(&mut self) -> ExitStatus {
        let end = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.process.try_wait().expect("own child") {
                return status;
            }
            assert!(Instant::now() < end, "it never ends");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Stuck {
    fn drop(&mut self) {
        // The child that waits for the pipe outlives the helper; a writer lets it go.
        let _ = open(&self.folder.path().join("pipe"), OFlag::O_WRONLY | OFlag::O_NONBLOCK, Mode::empty());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Whether the driver's PIDs are those of this machine: in a container no process without a GPU's files may be signalled.
fn is_host() -> bool {
    fs::read_link("/proc/self/ns/pid").is_ok_and(|link| link.as_os_str() == "pid:[4026531836]")
}

fn a_process_stuck_in_the_kernel() {
    if !is_host() {
        return;
    }
    let mut stuck = Stuck::start();
    let pid = stuck.process.id();
    let scenario = stuck.folder.path().join("scenario.toml");
    fs::write(&scenario, format!("[[gpu]]\nprocess = [{{ pid = {pid}, memory = '40GiB' }}]\n")).expect("scenario");
    let mut session = Session::start(vramtop(&scenario, &[]));
    session.see(&pid.to_string());
    session.keys("K");
    session.see(&format!("signal to {pid}"));
    session.see("it waits in the kernel (state D): a signal is heeded once it comes back");
    session.keys("\r");
    session.see("TERM was sent and is pending: it waits in the kernel (state D)");
    // It has not come back: the kernel keeps TERM for it.
    assert_eq!((stuck.state(), stuck.process.try_wait().expect("own child")), (Some('D'), None));
    // This wait is one that KILL breaks.
    session.keys("jj\r");
    session.see("KILL was sent; it was waiting in the kernel (state D)");
    assert_eq!(stuck.wait().signal(), Some(9));
    session.keys("\r");
    session.see("no signal can be sent: it has ended");
    session.keys("q");
    assert_eq!(session.end().code(), Some(0));
}
