//! The terminal as the dashboard needs it, and its restoration: exactly once, on every way out.

use std::io::{self, BufWriter, Stdout, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};

use super::size::size;
use super::{clipboard, signals};

/// Whether the screen is ours now. Whoever turns it off restores the terminal; nobody else does.
static OURS: AtomicBool = AtomicBool::new(false);

/// Whether the mouse is reported now. Whoever restores the terminal turns that off, too.
static MOUSE: AtomicBool = AtomicBool::new(false);

/// Clicks and the wheel, in the form that has no limit of columns. Not the pointer's every move, which crossterm's own
/// command asks for: each would wake this program.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1000l";

/// A whole frame of the largest screen fits, so that a frame is one write.
const FRAME_BYTES: usize = 256 * 1024;

/// The screen. Dropping it restores the terminal.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    /// All of the screen, as it was drawn last.
    area: Rect,
    mouse: bool,
}

impl Screen {
    /// Takes the terminal over, and its mouse where that is wanted.
    ///
    /// # Errors
    /// The system's, when there is no terminal to take.
    pub(super) fn enter(mouse: bool) -> io::Result<Self> {
        restore_on_panic();
        take_over(mouse)?;
        let backend = CrosstermBackend::new(BufWriter::with_capacity(FRAME_BYTES, io::stdout()));
        let area = area();
        // The screen's size is ours to follow: a terminal that tells none would have nothing drawn.
        let terminal = Terminal::with_options(backend, TerminalOptions { viewport: Viewport::Fixed(area) }).inspect_err(|_| restore())?;
        Ok(Self { terminal, area, mouse })
    }

    /// Asks the terminal to take a text into its clipboard.
    ///
    /// # Errors
    /// The terminal's.
    pub(super) fn copy(&mut self, text: &str) -> io::Result<()> {
        clipboard::copy(self.terminal.backend_mut(), text)
    }

    /// Draws one frame: only the cells that changed, in one write, and at once where the terminal can.
    ///
    /// # Errors
    /// The terminal's.
    pub(super) fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        if area() != self.area {
            self.forget()?;
        }
        self.terminal.draw(picture)?;
        queue!(self.terminal.backend_mut(), EndSynchronizedUpdate)?;
        io::Write::flush(self.terminal.backend_mut())
    }

    /// The next frame draws every cell: something else has written on the screen.
    ///
    /// # Errors
    /// The terminal's.
    pub(super) fn forget(&mut self) -> io::Result<()> {
        // Not `Terminal::clear`: it asks the terminal where the cursor is and waits for an answer that the keyboard's thread takes.
        self.area = area();
        self.terminal.resize(self.area)
    }

    /// Gives the terminal back, stops the job as Ctrl-Z does, and takes the terminal over again when it goes on. Does nothing
    /// where nobody could bring it back.
    ///
    /// # Errors
    /// The terminal's, or the system's when it does not stop us.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        if !signals::can_come_back() {
            return Ok(());
        }
        restore();
        signals::stop_job()?;
        take_over(self.mouse)?;
        self.forget()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn area() -> Rect {
    let (width, height) = size();
    Rect::new(0, 0, width, height)
}

fn take_over(mouse: bool) -> io::Result<()> {
    enable_raw_mode()?;
    OURS.store(true, Ordering::SeqCst);
    MOUSE.store(mouse, Ordering::SeqCst);
    let mouse = if mouse { MOUSE_ON } else { "" };
    execute!(io::stdout(), EnterAlternateScreen, cursor::Hide, Print(mouse)).inspect_err(|_| restore())
}

/// Gives the terminal back, if it is ours. Safe to call from anywhere and as often as one likes.
pub(super) fn restore() {
    if !OURS.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    // Nothing can be done about a terminal that is gone.
    let mouse = if MOUSE.swap(false, Ordering::SeqCst) { MOUSE_OFF } else { "" };
    let _ = execute!(out, Print(mouse), cursor::Show, LeaveAlternateScreen);
    let _ = disable_raw_mode();
    let _ = out.flush();
}

/// Name of the thread whose panic is shown on the screen instead of ending the program.
pub(super) const READER: &str = "reader";

/// A panic restores the terminal before its message is printed. The reader's own panics are caught and drawn.
fn restore_on_panic() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if DONE.swap(true, Ordering::SeqCst) {
        return;
    }
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let current = thread::current();
        if current.name() == Some(READER) && OURS.load(Ordering::SeqCst) {
            return;
        }
        restore();
        before(info);
        if current.name() != Some("main") {
            // No other thread is drawn without: end as a panic of the main thread would.
            std::process::exit(101);
        }
    }));
}

#[cfg(test)]
mod tests;
