//! One device as a block: the line of figures, the bar, the history, the telemetry.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::bar;
use super::figures::{Change, UNKNOWN, gib, hour_and_minute, time_of_day};
use super::graph::{Graph, Scale};
use super::layout::Block;
use super::past::{Past, axis_label, total_of};
use super::pen::{Pen, put_right, width_of, width_of_spans};
use super::plan::{Telemetry, WIDE};
use super::telemetry;
use super::theme::{Role, Theme};
use crate::app::{App, Spot, Target};
use crate::insight::Severity;
use crate::model::{Bytes, GpuState, Reading};
use crate::monitor::{GpuRow, Peak};

/// Draws the block of one device. Says what can be clicked.
pub(super) fn draw(buffer: &mut Buffer, block: &Block, place: Telemetry, app: &App, gpu: usize, past: &Past, theme: &Theme) -> Vec<Spot> {
    let picture = app.picture();
    let Some(row) = picture.monitor().gpus().get(gpu) else { return Vec::new() };
    draw_line(buffer, block.line, app, row, theme);
    let mut spots = bar::draw(buffer, block.bar, picture, gpu, true, theme).spots;
    if block.history.height > 0 {
        draw_history(buffer, block.history, app, row, (past, past.scale(gpu)), theme);
    }
    match place {
        Telemetry::Beside => telemetry::draw_column(buffer, block.telemetry, row, past, theme),
        Telemetry::Below => telemetry::draw_line(buffer, block.telemetry, row, past, theme),
        Telemetry::Nowhere => {}
    }
    let all = block.line.union(block.bar).union(if block.history.is_empty() { block.bar } else { block.history });
    spots.push(Spot { x: all.left()..all.right(), y: all.top()..all.bottom(), target: Target::Gpu(gpu) });
    spots
}

/// What is free comes first and is the brightest thing on its line.
fn draw_line(buffer: &mut Buffer, area: Rect, app: &App, row: &GpuRow, theme: &Theme) {
    let (text, label) = (theme.style(Role::Text), theme.style(Role::Label));
    let widest = app.picture().monitor().gpus().iter().map(|row| row.label.len()).max().unwrap_or(1);
    let mut pen = Pen::new(buffer, area);
    pen.put("GPU ", label).put(&format!("{:<widest$}", row.label), text).skip(2);
    if let Some(absence) = absence(app, row, theme) {
        if row.state == GpuState::Present {
            pen.put(&format!("{UNKNOWN:>5}"), theme.style(Role::Figure)).put(" GiB free", label).skip(3);
        }
        absence.draw(&mut pen);
        return;
    }
    if let Some(memory) = row.memory.value() {
        pen.put(&format!("{:5}", memory.free()), theme.style(Role::Figure)).put(" GiB free", label).skip(3);
        let percent = memory.used_share().map_or_else(|| UNKNOWN.to_owned(), |p| p.to_string());
        pen.put(&format!("{:>5} of {} · {percent} %", gib(memory.used()), memory.total()), label);
        if let Some(host) = memory.host().filter(|host| *host > Bytes::ZERO) {
            pen.put(&format!(" · host {host}"), label);
        }
    }
    let wide = area.width >= WIDE - 2;
    let spans = trend(app, row, wide, theme);
    let room = pen.room();
    if width_of_spans(&spans) + 3 > room {
        return;
    }
    if wide {
        pen.skip(3);
        for span in &spans {
            pen.put(&span.content, span.style);
        }
        draw_model(&mut pen, app, row, label);
    } else {
        put_right(buffer, area, &Line::from(spans));
    }
}

/// The model at the right end, where the cards are not all the same.
fn draw_model(pen: &mut Pen<'_>, app: &App, row: &GpuRow, style: Style) {
    let gpus = app.picture().monitor().gpus();
    if gpus.iter().any(|other| other.facts.name != row.facts.name) {
        pen.skip(3);
        let room = pen.room();
        pen.right(row.facts.name.as_str(), room, style);
    }
}

/// Change per minute, and the peak where it is not now.
fn trend(app: &App, row: &GpuRow, wide: bool, theme: &Theme) -> Vec<Span<'static>> {
    let label = theme.style(Role::Label);
    let change = Change::new(&row.bytes_per_minute(), total_of(row));
    let mut spans = vec![Span::styled(change.long(), if change.moves { theme.style(Role::Text) } else { label })];
    // The column that is looked back at, where it was not one figure.
    let range = row.range.filter(|(low, high)| app.picture().is_past() && high.saturating_sub(*low) >= Bytes(Bytes::GIB / 10));
    if let Some((low, high)) = range {
        spans.push(Span::styled(format!(" · {low}–{high} then"), label));
    } else if let Some(peak) = past_peak(row) {
        let peak = if wide { peak_at(peak, app) } else { peak.bytes.to_string() };
        spans.push(Span::styled(format!(" · peak {peak}"), label));
    }
    spans
}

/// The peak, where what is used now is visibly less.
fn past_peak(row: &GpuRow) -> Option<Peak> {
    let used = row.memory.value()?.used()?;
    row.peak.filter(|peak| peak.bytes.saturating_sub(used) >= Bytes(Bytes::GIB / 10))
}

/// The peak, where it was so much more (a twentieth of the card) that it is worth a name in the history.
pub(super) fn tall_peak(row: &GpuRow) -> Option<Peak> {
    let (used, total) = row.memory.value().and_then(|memory| Some((memory.used()?, memory.total())))?;
    row.peak.filter(|peak| peak.bytes.saturating_sub(used).0 >= total.0 / 20)
}

/// `138.9 at 11:58`
pub(super) fn peak_at(peak: Peak, app: &App) -> String {
    format!("{} at {}", peak.bytes, hour_and_minute(peak.at, &app.setup().zone))
}

/// Why there are no figures: in more and in fewer words.
pub(super) struct Absence {
    words: Vec<String>,
    style: Style,
}

impl Absence {
    /// Writes as many words as there is room for.
    pub(super) fn draw(&self, pen: &mut Pen<'_>) {
        let room = pen.room();
        let words = self.words.iter().find(|words| width_of(words) <= room).or(self.words.last());
        pen.put(words.map_or("", String::as_str), self.style);
    }
}

/// Why there are no figures, where there are none.
pub(super) fn absence(app: &App, row: &GpuRow, theme: &Theme) -> Option<Absence> {
    let label = theme.style(Role::Label);
    let since = |since_ms: u64| {
        let at = app.picture().monitor().now().map(|(time, now_ms)| time.minus_ms(now_ms.saturating_sub(since_ms)));
        at.map_or_else(String::new, |at| format!(" since {}", time_of_day(at, &app.setup().zone)))
    };
    let (words, style) = match (&row.state, &row.memory) {
        (GpuState::Lost { since_ms }, _) => {
            (vec![format!("lost{}", since(*since_ms)), "lost".to_owned()], theme.style(Role::Notice(Severity::Alarm)))
        }
        (GpuState::Asleep { since_ms }, _) => {
            let since = since(*since_ms);
            (vec![format!("asleep{since}, left alone"), format!("asleep{since}"), "asleep".to_owned()], label)
        }
        (GpuState::Present, Reading::Absent(why)) => (vec![format!("memory unknown: {why}"), "memory unknown".to_owned()], label),
        (GpuState::Present, Reading::Value(_)) => return None,
    };
    Some(Absence { words, style })
}

/// Cells of the history in that room.
pub(super) fn history_cells(area: Rect) -> u16 {
    if area.height > 0 { area.width.saturating_sub(Graph::indent(area) + 1) } else { 0 }
}

fn draw_history(buffer: &mut Buffer, area: Rect, app: &App, row: &GpuRow, (past, scale): (&Past, Scale), theme: &Theme) {
    let monitor = app.present().monitor();
    let cells = history_cells(area);
    let course = past.course(past.of_gpu(&row.history), cells);
    let name = tall_peak(row).map(|peak| peak_at(peak, app));
    let mark = tall_peak(row).zip(monitor.now()).zip(name.as_deref());
    let mark = mark.map(|((peak, (now, _)), name)| {
        let kib = u32::try_from(peak.bytes.0 / Bytes::KIB).unwrap_or(u32::MAX);
        (past.now_ms.saturating_sub(now.since(peak.at)), kib, name)
    });
    let labels = (axis_label(scale.top), axis_label(scale.base));
    Graph {
        course: &course,
        scale,
        labels: (&labels.0, if scale.base > 0 { &labels.1 } else { "0" }),
        mark,
        moments: &past.marks,
        cursor: past.cursor,
    }
    .draw(buffer, area, theme);
}
