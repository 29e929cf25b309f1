//! The dialog that sends a signal: a sheet over the lower part of the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget as _};

use super::pen::Pen;
use super::theme::{Role, Theme};
use crate::app::{Dialog, Stage};
use crate::insight::Severity;
use crate::model::{RunState, Signal};

/// Draws the sheet at the bottom of `area`; over all of it where there is little room.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, dialog: &Dialog, theme: &Theme) {
    let (text, label) = (theme.style(Role::Text), theme.style(Role::Label));
    let signals = if dialog.is_open() { Signal::ALL.len() } else { 0 };
    // A rule, who, what it holds, how it stands; blank lines around the signals.
    let height = u16::try_from(signals).unwrap_or(0) + if signals > 0 { 6 } else { 5 };
    let height = height.min(area.height);
    let sheet = Rect { y: area.bottom() - height, height, ..area }.intersection(buffer.area);
    // The margins too: the cursor of the table stands in one.
    Clear.render(Rect { x: buffer.area.x, width: buffer.area.width, ..sheet }, buffer);
    let mut lines = (sheet.top()..sheet.bottom()).map(|y| Rect { y, height: 1, ..sheet });
    let roomy = sheet.height >= 10 || signals == 0;
    if roomy && let Some(line) = lines.next() {
        Pen::new(buffer, line).fill('─', line.width, label);
    }
    if let Some(line) = lines.next() {
        let mut pen = Pen::new(buffer, line);
        pen.put("signal to ", label).put(&dialog.key.pid.to_string(), theme.style(Role::Figure)).put("  ", label).put(dialog.what.as_str(), text);
        if let Some(user) = &dialog.user {
            pen.put(" of ", label).put(user.as_str(), text);
        }
    }
    if let Some(line) = lines.next() {
        draw_holdings(buffer, line, dialog, theme);
    }
    if let Some(line) = lines.next() {
        let (sentence, role) = standing(dialog);
        Pen::new(buffer, line).sentence(&sentence, theme.style(role));
    }
    if roomy {
        lines.next();
    }
    let room = lines.len().saturating_sub(usize::from(roomy));
    let at = Signal::ALL.iter().position(|signal| *signal == dialog.signal).unwrap_or(0);
    let first = (at + 1).saturating_sub(room);
    for (signal, line) in Signal::ALL.iter().take(signals).skip(first).zip(lines.take(room)) {
        draw_signal(buffer, line, *signal, *signal == dialog.signal, theme);
    }
}

fn draw_signal(buffer: &mut Buffer, line: Rect, signal: Signal, selected: bool, theme: &Theme) {
    let style = |role| if selected { Theme::selected() } else { theme.style(role) };
    if selected {
        buffer.set_style(line.intersection(buffer.area), Theme::selected());
    }
    let mut pen = Pen::new(buffer, line);
    pen.glyph(if selected { '▸' } else { ' ' }, style(Role::Text)).skip(1);
    pen.left(signal.name(), 6, style(Role::Text)).sentence(signal.meaning(), style(Role::Label));
}

/// What it holds, and what its end would free.
fn draw_holdings(buffer: &mut Buffer, line: Rect, dialog: &Dialog, theme: &Theme) {
    let (label, figure) = (theme.style(Role::Label), theme.style(Role::Figure));
    let mut pen = Pen::new(buffer, line);
    let gpus: Vec<&str> = dialog.holds.iter().map(|(gpu, _)| gpu.as_str()).collect();
    let places = if gpus.len() == 1 { format!("GPU {}", gpus[0]) } else { format!("GPUs {}", gpus.join(", ")) };
    match dialog.frees() {
        _ if gpus.is_empty() => pen.put("it holds no GPU memory now", label),
        Some(bytes) => pen.put("its end would free ", label).put(&bytes.to_string(), figure).put(&format!(" on {places}"), label),
        None => pen.put(&format!("on {places}; what its end would free is not known: the driver does not say what it holds"), label),
    };
}

/// How it stands: what came of the last signal, or what is in the way of the next.
fn standing(dialog: &Dialog) -> (String, Role) {
    let warn = Role::Notice(Severity::Warn);
    match (&dialog.stage, dialog.state) {
        (Stage::Opening, _) => ("taking hold of it".to_owned(), Role::Label),
        (Stage::Refused(why), _) => (format!("no signal can be sent: {why}"), warn),
        (Stage::Failed(signal, why), _) => (format!("{} was not sent: {why}", signal.name()), warn),
        (Stage::Sent(signal), _) => (format!("{} was sent", signal.name()), Role::Text),
        (Stage::Ready, Some(RunState('Z'))) => ("it is a zombie: signals will not work, its parent has to take note of its end".to_owned(), warn),
        (Stage::Ready, Some(RunState('D'))) => ("it waits in the kernel (state D): signals will not work until it comes back".to_owned(), warn),
        (Stage::Ready, Some(RunState('T'))) => ("it is stopped: only KILL and CONT work at once".to_owned(), Role::Label),
        (Stage::Ready, _) => (String::new(), Role::Label),
    }
}
