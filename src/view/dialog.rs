//! The dialog that sends a signal: a sheet over the lower part of the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget as _};

use super::figures::{UNKNOWN, gib};
use super::pen::{Pen, cut, lines_of, width_of};
use super::theme::{Role, Theme};
use crate::app::{Dialog, Stage, Subject};
use crate::insight::Severity;
use crate::model::{RunState, Signal};

/// Draws the sheet at the bottom of `area`; over all of it where there is little room. Says how many processes can be above.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, dialog: &Dialog, theme: &Theme) -> usize {
    let signals = if dialog.is_open() { Signal::ALL.len() } else { 0 };
    match dialog.subjects.as_slice() {
        [subject] => {
            draw_one(buffer, area, dialog, subject, signals, theme);
            0
        }
        subjects => draw_many(buffer, area, dialog, subjects, signals, theme),
    }
}

/// The lines of a sheet of that height, on cleared ground.
fn sheet(buffer: &mut Buffer, area: Rect, height: usize) -> std::vec::IntoIter<Rect> {
    let height = u16::try_from(height).unwrap_or(u16::MAX).min(area.height);
    let sheet = Rect { y: area.bottom() - height, height, ..area }.intersection(buffer.area);
    // The margins too: the cursor of the table stands in one.
    Clear.render(Rect { x: buffer.area.x, width: buffer.area.width, ..sheet }, buffer);
    (sheet.top()..sheet.bottom()).map(|y| Rect { y, height: 1, ..sheet }).collect::<Vec<_>>().into_iter()
}

fn draw_one(buffer: &mut Buffer, area: Rect, dialog: &Dialog, subject: &Subject, signals: usize, theme: &Theme) {
    let (text, label) = (theme.style(Role::Text), theme.style(Role::Label));
    let (sentence, role) = standing(subject);
    // Why nothing can be sent is read to its end: no signals need the room then.
    let standing = lines_of(&sentence, area.width, if signals > 0 { 2 } else { 6 });
    // A rule, who, what it holds, how it stands; blank lines around the signals.
    let mut lines = sheet(buffer, area, signals + standing.len() + if signals > 0 { 5 } else { 4 });
    let roomy = lines.len() >= 10 || signals == 0;
    if roomy && let Some(line) = lines.next() {
        Pen::new(buffer, line).fill('─', line.width, label);
    }
    if let Some(line) = lines.next() {
        let mut pen = Pen::new(buffer, line);
        pen.put("signal to ", label).put(&subject.key.pid.to_string(), theme.style(Role::Figure)).put("  ", label).put(subject.what.as_str(), text);
        if let Some(user) = &subject.user {
            pen.put(" of ", label).put(user.as_str(), text);
        }
    }
    if let Some(line) = lines.next() {
        draw_holdings(buffer, line, subject, theme);
    }
    for (sentence, line) in standing.iter().zip(&mut lines) {
        Pen::new(buffer, line).sentence(sentence, theme.style(role));
    }
    if roomy {
        lines.next();
    }
    let room = lines.len().saturating_sub(usize::from(roomy));
    draw_signals(buffer, lines.take(room), dialog.signal, signals, theme);
}

/// A line for each process, and what the end of all would free. Where there is little room, both lists are scrolled to.
fn draw_many(buffer: &mut Buffer, area: Rect, dialog: &Dialog, subjects: &[Subject], signals: usize, theme: &Theme) -> usize {
    /// A rule, whom, the names of the columns, the sum; and blank lines around the signals.
    const OTHERS: usize = 6;
    const FEWEST_SIGNALS: usize = 3;
    let label = theme.style(Role::Label);
    let mut lines = sheet(buffer, area, subjects.len() + signals + OTHERS);
    let shown = signals.min(lines.len().saturating_sub(subjects.len() + OTHERS).max(FEWEST_SIGNALS));
    let room = lines.len().saturating_sub(shown + OTHERS).max(1);
    if let Some(line) = lines.next() {
        Pen::new(buffer, line).fill('─', line.width, label);
    }
    if let Some(line) = lines.next() {
        let (reach, all) = (dialog.reach(), subjects.len());
        let whom = if reach < all { format!("{reach} of {all} processes") } else { format!("{all} processes") };
        Pen::new(buffer, line).put("signal to ", label).put(&whom, theme.style(Role::Figure));
    }
    let columns = Columns::of(subjects, area.width);
    if let Some(line) = lines.next() {
        let mut pen = Pen::new(buffer, line);
        pen.left("GPU", columns.gpus, label).right("PID", columns.pid, label).skip(2).left("USER", columns.user, label);
        pen.right("FREES", columns.frees, label).skip(2).put("WHAT", label);
    }
    // The last line of the list counts those that are out of sight.
    let listed = if subjects.len() > room { room.saturating_sub(1).max(1) } else { room };
    let hidden = subjects.len().saturating_sub(listed);
    let first = dialog.top.min(hidden);
    for (subject, line) in subjects.iter().skip(first).take(listed).zip(&mut lines) {
        draw_subject(buffer, line, subject, &columns, theme);
    }
    if hidden > 0
        && let Some(line) = lines.next()
    {
        let (above, below) = (first, subjects.len() - (first + listed).min(subjects.len()));
        Pen::new(buffer, line).put(&format!("+{above} above, {below} below: PgUp PgDn"), label);
    }
    if let Some(line) = lines.next() {
        let mut pen = Pen::new(buffer, line);
        match dialog.frees() {
            _ if dialog.reach() == 0 => pen.put("none of them can be sent a signal", label),
            Some(bytes) if dialog.reach() < subjects.len() => {
                pen.put(&format!("the end of these {} would free ", dialog.reach()), label).put(&bytes.to_string(), theme.style(Role::Figure))
            }
            Some(bytes) => pen.put("together their end would free ", label).put(&bytes.to_string(), theme.style(Role::Figure)),
            None => pen.sentence("what their end would free together is not known: the driver does not say what each holds", label),
        };
    }
    lines.next();
    draw_signals(buffer, lines.take(shown), dialog.signal, signals, theme);
    hidden
}

/// Widths of the list of processes, from what it holds.
struct Columns {
    gpus: u16,
    pid: u16,
    user: u16,
    frees: u16,
    /// The longest sentence about how one stands.
    standing: u16,
}

impl Columns {
    fn of(subjects: &[Subject], width: u16) -> Self {
        let widest = |text: &dyn Fn(&Subject) -> String, least: u16| subjects.iter().map(|s| width_of(&text(s))).max().unwrap_or(0).max(least);
        Self {
            gpus: widest(&gpus_of, 3) + 1,
            pid: widest(&|subject| subject.key.pid.to_string(), 5) + 1,
            user: (widest(&user_of, 4) + 1).min(13),
            frees: 6,
            standing: widest(&|subject| short_standing(subject).0, 0).min(width / 2),
        }
    }
}

fn gpus_of(subject: &Subject) -> String {
    subject.holds.iter().map(|(gpu, _)| gpu.as_str()).collect::<Vec<_>>().join(",")
}

fn user_of(subject: &Subject) -> String {
    subject.user.as_ref().map_or_else(|| UNKNOWN.to_owned(), ToString::to_string)
}

fn draw_subject(buffer: &mut Buffer, line: Rect, subject: &Subject, columns: &Columns, theme: &Theme) {
    let (text, label) = (theme.style(Role::Text), theme.style(Role::Label));
    let mut pen = Pen::new(buffer, line);
    pen.left(&gpus_of(subject), columns.gpus, text).right(&subject.key.pid.to_string(), columns.pid, theme.style(Role::Figure)).skip(2);
    pen.left(&user_of(subject), columns.user, text).right(&gib(subject.frees()), columns.frees, theme.style(Role::Figure)).skip(2);
    let standing_room = if columns.standing == 0 { 0 } else { columns.standing + 2 };
    let what = pen.room().saturating_sub(standing_room);
    pen.left(&cut(subject.what.as_str(), what), what, if subject.is_open() { text } else { label }).skip(2);
    let (sentence, role) = short_standing(subject);
    let room = pen.room();
    pen.put(&cut(&sentence, room), theme.style(role));
}

fn draw_signals(buffer: &mut Buffer, lines: impl ExactSizeIterator<Item = Rect>, chosen: Signal, signals: usize, theme: &Theme) {
    let at = Signal::ALL.iter().position(|signal| *signal == chosen).unwrap_or(0);
    let first = (at + 1).saturating_sub(lines.len());
    for (signal, line) in Signal::ALL.iter().take(signals).skip(first).zip(lines) {
        draw_signal(buffer, line, *signal, *signal == chosen, theme);
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
fn draw_holdings(buffer: &mut Buffer, line: Rect, subject: &Subject, theme: &Theme) {
    let (label, figure) = (theme.style(Role::Label), theme.style(Role::Figure));
    let mut pen = Pen::new(buffer, line);
    let gpus: Vec<&str> = subject.holds.iter().map(|(gpu, _)| gpu.as_str()).collect();
    let places = if gpus.len() == 1 { format!("GPU {}", gpus[0]) } else { format!("GPUs {}", gpus.join(", ")) };
    match subject.frees() {
        _ if gpus.is_empty() => pen.put("it holds no GPU memory now", label),
        Some(bytes) => pen.put("its end would free ", label).put(&bytes.to_string(), figure).put(&format!(" on {places}"), label),
        None => pen.sentence(&format!("on {places}; the driver does not say what its end would free"), label),
    };
}

/// How it stands: what came of the last signal, or what is in the way of the next.
fn standing(subject: &Subject) -> (String, Role) {
    let warn = Role::Notice(Severity::Warn);
    match (&subject.stage, subject.state) {
        (Stage::Opening, _) => ("taking hold of it".to_owned(), Role::Label),
        (Stage::Refused(why), _) => (format!("no signal can be sent: {why}"), warn),
        (Stage::Failed(signal, why), _) => (format!("{} was not sent: {why}", signal.name()), warn),
        (Stage::Sent(Signal::Kill), Some(RunState('D'))) => (
            "KILL was sent; it was waiting in the kernel (state D): it ends now if that wait can be broken, else once it comes back".to_owned(),
            warn,
        ),
        (Stage::Sent(signal), Some(RunState('D'))) => (
            format!(
                "{} was sent and is pending: it waits in the kernel (state D) and heeds it once it comes back; KILL may end it now",
                signal.name()
            ),
            warn,
        ),
        (Stage::Sent(signal), _) => (format!("{} was sent", signal.name()), Role::Text),
        (Stage::Ready, Some(RunState('D'))) => {
            ("it waits in the kernel (state D): a signal is heeded once it comes back; KILL ends it now if that wait can be broken".to_owned(), warn)
        }
        (Stage::Ready, Some(RunState('T'))) => ("it is stopped: only KILL and CONT work at once".to_owned(), Role::Label),
        (Stage::Ready, _) => (String::new(), Role::Label),
    }
}

/// The same in a few words, for a line of a list.
fn short_standing(subject: &Subject) -> (String, Role) {
    let warn = Role::Notice(Severity::Warn);
    let state = match subject.state {
        Some(RunState('D')) => Some("stuck in the kernel (D)"),
        Some(RunState('T')) => Some("stopped (T)"),
        _ => None,
    };
    match (&subject.stage, state) {
        (Stage::Opening, _) => ("…".to_owned(), Role::Label),
        (Stage::Refused(why), _) => (why.short().to_owned(), warn),
        (Stage::Failed(signal, why), _) => (format!("no {}: {}", signal.name(), why.short()), warn),
        (Stage::Sent(signal), Some(state)) => (format!("{} sent, {state}", signal.name()), warn),
        (Stage::Sent(signal), None) => (format!("{} sent", signal.name()), Role::Text),
        (Stage::Ready, Some(state)) => (state.to_owned(), warn),
        (Stage::Ready, None) => (String::new(), Role::Label),
    }
}
