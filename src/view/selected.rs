//! The row under the cursor in full, and its history where there is room for it.

use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::figures::{gib, span, time_of_day};
use super::graph::{Graph, Scale};
use super::past::{Past, base, total_of};
use super::pen::{Pen, cut, width_of};
use super::rows::group_name;
use super::theme::{Role, Theme};
use crate::app::{App, Group, Holder, TableRow};
use crate::history::ProcessHistory;
use crate::model::{Bytes, ProcessFacts};
use crate::monitor::{Ended, ProcessRow};

/// Draws two lines, and below them the history.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, app: &App, past: &Past, theme: &Theme) {
    let picture = app.picture();
    let Some(row) = app.selected().and_then(|at| picture.rows().get(at)) else { return };
    let second = Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1).min(1), ..area };
    if let Some(group) = picture.group(row) {
        draw_group(buffer, area, second, app, row, group, theme);
        return;
    }
    if let Some(ended) = picture.ended(row) {
        draw_command(buffer, area, &ended.row, theme);
        Pen::new(buffer, second).sentence(&how_it_ended(ended, &app.setup().zone), theme.style(Role::Label));
        return;
    }
    let Some(process) = picture.process(row) else {
        draw_ownerless(buffer, area, second, row, theme);
        return;
    };
    draw_command(buffer, area, process, theme);
    let label = theme.style(Role::Label);
    Pen::new(buffer, second).put("made of: not known", label);
    if area.height > 2 {
        let graph = Rect { y: area.y + 2, height: area.height - 2, ..area };
        draw_history(buffer, graph, app, row, process, past, theme);
    }
}

/// All that is known of an end. The driver's list says only that it came.
pub(super) fn how_it_ended(ended: &Ended, zone: &TimeZone) -> String {
    let verb = if ended.lives_on { "left this GPU" } else { "ended" };
    let ran = ended.ran_ms().map(|ms| format!(" after {}", span(ms)));
    let peak = ended.row.peak.map(|peak| format!(" · peak {}", peak.bytes));
    let full = ended.notable_fullness().map(|fullness| format!(" · card {fullness} % full"));
    let parts: String = [ran, peak, full].into_iter().flatten().collect();
    format!("{verb} at {}{parts} · why is not known", time_of_day(ended.at, zone))
}

/// PID and command, and at the right end what the process belongs to. The command gives way.
fn draw_command(buffer: &mut Buffer, area: Rect, process: &ProcessRow, theme: &Theme) {
    let (text, label) = (theme.style(Role::Text), theme.style(Role::Label));
    let context = context(&process.facts);
    let mut pen = Pen::new(buffer, area);
    pen.put(&process.facts.key.pid.to_string(), theme.style(Role::Figure)).skip(2);
    let command = command(&process.facts);
    let reserved = if context.is_empty() { 0 } else { (width_of(&context) + 3).min(pen.room() / 2) };
    pen.put(&cut(&command, pen.room() - reserved), text).skip(3);
    let room = pen.room();
    pen.put(&cut(&context, room), label);
}

/// The command line as it was typed, as far as it is known.
pub(super) fn command(facts: &ProcessFacts) -> String {
    if facts.cmdline.is_empty() {
        return facts.what_full.to_string();
    }
    let words: Vec<&str> = facts.cmdline.iter().map(crate::model::SafeText::as_str).collect();
    words.join(" ")
}

pub(super) fn context(facts: &ProcessFacts) -> String {
    let rank = facts.rank.map(|rank| match rank.world {
        Some(world) => format!("rank {} of {world}", rank.rank),
        None => format!("rank {}", rank.rank),
    });
    let container = facts.container.as_ref().map(|name| format!("container {name}"));
    let parts: Vec<String> = facts.job.iter().map(ToString::to_string).chain(rank).chain(container).collect();
    parts.join(" · ")
}

/// Who they are and where; and how to see them one by one.
fn draw_group(buffer: &mut Buffer, first: Rect, second: Rect, app: &App, row: &TableRow, group: &Group, theme: &Theme) {
    let (text, label) = (theme.style(Role::Text), theme.style(Role::Label));
    let gpus = app.picture().monitor().gpus();
    let labels: Vec<&str> = group.gpus.iter().filter_map(|at| gpus.get(*at)).map(|row| row.label.as_str()).collect();
    let names: Vec<&str> = group.what.iter().map(crate::model::SafeText::as_str).collect();
    let count = if group.processes == 1 { "1 process".to_owned() } else { format!("{} processes", group.processes) };
    let on = if labels.len() == 1 { "GPU" } else { "GPUs" };
    let age = app.picture().kept_age_ms(row).filter(|age_ms| *age_ms >= 1000);
    let age = age.map_or_else(String::new, |age_ms| format!(" · as of {} ago", span(age_ms)));
    if let Some(ancestor) = group.id.ancestor() {
        Pen::new(buffer, first).put(&ancestor.key.pid.to_string(), theme.style(Role::Figure)).skip(2).put(ancestor.name.as_str(), text);
        let parts = format!("holds no GPU memory itself · below it {count} on {on} {}{age}", labels.join(", "));
        Pen::new(buffer, second).put(&parts, label);
        return;
    }
    Pen::new(buffer, first).put(&group_name(group), theme.style(Role::Figure)).skip(2).put(&names.join(", "), text);
    Pen::new(buffer, second).put(&format!("{count} on {on} {}{age}", labels.join(", ")), label);
}

fn draw_ownerless(buffer: &mut Buffer, first: Rect, second: Rect, row: &TableRow, theme: &Theme) {
    let (text, label) = (theme.style(Role::Text), theme.style(Role::Label));
    let bytes = gib(row.bytes);
    let (what, why) = match row.holder {
        Holder::Untracked { count } => (
            format!("{count} processes with {bytes} GiB together"),
            "counted and not named: left out by -u or -p, or smaller than the 2048 that are followed one by one",
        ),
        _ => (
            format!("{bytes} GiB in use that no listed process owns"),
            "managed memory, a process that is ending, or one that the driver lists to nobody here",
        ),
    };
    Pen::new(buffer, first).put(&what, text);
    Pen::new(buffer, second).put(why, label);
}

fn draw_history(buffer: &mut Buffer, area: Rect, app: &App, row: &TableRow, process: &ProcessRow, past: &Past, theme: &Theme) {
    let tier = past.of_process(&process.history);
    let cells = area.width.saturating_sub(Graph::indent(area) + 1);
    let course = past.course(tier, cells);
    let gpu = app.picture().monitor().gpus().get(row.gpu);
    let scale = scale(&course.cells, gpu.map_or(Bytes::ZERO, total_of), past.from_zero);
    let label = |units: u32| format!("{:.0}", ProcessHistory::bytes(units).as_gib());
    let labels = (label(scale.top), label(scale.base));
    Graph { course: &course, scale, labels: (&labels.0, &labels.1), mark: None, moments: &past.marks, cursor: past.cursor }.draw(buffer, area, theme);
}

/// The card is the ceiling: how much of it the process has is the question.
fn scale(columns: &[crate::history::Column], total: Bytes, from_zero: bool) -> Scale {
    let unit = ProcessHistory::bytes(1).0;
    let top = u32::try_from(total.0 / unit).unwrap_or(u32::MAX).max(1);
    let lowest = columns.iter().flatten().map(|(min, _)| *min).min().filter(|_| !from_zero).unwrap_or(0);
    Scale { base: base(lowest, top, u32::try_from(Bytes::GIB / unit).unwrap_or(1)), top }
}
