//! That a panic gives the terminal back, once, and only then speaks. The test binary starts itself in a pty, takes the terminal
//! over as the dashboard does, and panics.

use std::io::Read;
use std::sync::mpsc::channel;
use std::time::Duration;
use std::{env, thread};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use super::{READER, Screen};

const ROLE: &str = "VRAMTOP_TEST_PANIC_IN";

/// Takes the terminal over and panics on the thread that the environment names. Does nothing in an ordinary run.
#[test]
fn child_that_panics() {
    let Ok(role) = env::var(ROLE) else { return };
    let mut screen = Screen::enter(true).expect("the pty is a terminal");
    screen.draw(|frame| frame.render_widget("drawn", frame.area())).expect("drawn");
    match role.as_str() {
        "main" => panic!("said by the drawing thread"),
        name => {
            let thread = thread::Builder::new().name(name.to_owned()).spawn(|| panic!("said by another thread")).expect("a thread");
            assert!(thread.join().is_err());
            screen.draw(|frame| frame.render_widget("1234567", frame.area())).expect("drawn");
        }
    }
}

/// What the child wrote in its pty, and whether it ended well.
fn output_of(role: &str) -> (String, bool) {
    let pair = native_pty_system().openpty(PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 }).expect("a pty");
    let mut command = CommandBuilder::new(env::current_exe().expect("own path"));
    command.args(["--exact", "command::terminal::tests::child_that_panics", "--nocapture", "--test-threads=1"]);
    command.env(ROLE, role);
    command.env("RUST_BACKTRACE", "0");
    let mut child = pair.slave.spawn_command(command).expect("started");
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().expect("a reader");
    let (send, whole) = channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        // A pty whose other end is gone reads as an error; what came before counts.
        let _ = reader.read_to_end(&mut text);
        let _ = send.send(String::from_utf8_lossy(&text).into_owned());
    });
    let status = child.wait().expect("own child");
    (whole.recv_timeout(Duration::from_secs(20)).expect("the child's output ends with it"), status.success())
}

#[test]
fn a_panic_restores_once_and_then_speaks() {
    for (role, message) in [("main", "said by the drawing thread"), ("keyboard", "said by another thread")] {
        let (text, fine) = output_of(role);
        assert!(!fine, "{role}");
        assert_eq!(text.matches("\u{1b}[?1049l").count(), 1, "{role}: {text:?}");
        let left = text.find("\u{1b}[?1049l").expect("left");
        assert!(text[left..].contains(message), "{role}: {text:?}");
        assert!(!text[..left].contains(message), "{role}: {text:?}");
    }
}

#[test]
fn a_panic_of_the_reader_is_drawn_and_not_printed() {
    let (text, fine) = output_of(READER);
    assert!(fine, "{text:?}");
    assert!(text.contains("1234567"), "{text:?}");
    assert!(!text.contains("said by another thread"), "{text:?}");
    assert_eq!(text.matches("\u{1b}[?1049l").count(), 1, "{text:?}");
}
