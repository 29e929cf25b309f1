//! What the frame tests draw: machines made by hand, applied record by record.

pub(crate) mod machine;
pub(crate) mod stories;

use jiff::tz::{Offset, TimeZone};
use machine::Machine;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use vramtop::app::{App, Effect, Mode, Msg, Setup, Shown, update};
use vramtop::view::{Theme, view};

/// A dashboard before its first record.
pub(crate) fn dashboard(mode: Mode) -> App {
    App::new(Setup { zone: TimeZone::fixed(Offset::constant(1)), mode, source: "libnvidia-ml.so.1".into(), read_only: false })
}

/// A dashboard at the end of a machine's story.
pub(crate) fn after(machine: &Machine) -> App {
    let mut app = dashboard(Mode::Live);
    for record in machine.records() {
        update(&mut app, Msg::Record(Box::new(record)));
    }
    app
}

/// Draws one frame.
pub(crate) fn draw(app: &mut App, theme: &Theme, width: u16, height: u16) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a test backend");
    let mut shown = Shown::default();
    terminal.draw(|frame| shown = view(app, theme, frame)).expect("infallible");
    let effect = update(app, Msg::Drawn(shown));
    assert!(matches!(effect, Effect::None | Effect::Interest(_)), "a frame leads to no other");
    terminal
}

/// The cells of one frame.
pub(crate) fn cells(app: &mut App, theme: &Theme, width: u16, height: u16) -> Buffer {
    draw(app, theme, width, height).backend().buffer().clone()
}
