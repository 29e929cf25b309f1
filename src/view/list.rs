//! Many devices, a row each: down a column the odd one shows itself, because bars and histories share their scales.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::bar::{self, Bar};
use super::figures::{Change, UNKNOWN, gib};
use super::gpu::{absence, peak_at, tall_peak};
use super::graph::{Scale, draw_columns, draw_cursor};
use super::layout::List;
use super::past::{Past, axis_label, total_of};
use super::pen::{Pen, width_of};
use super::telemetry;
use super::theme::{Role, Theme};
use crate::app::{App, Spot, Target};
use crate::model::DeviceMemory;
use crate::monitor::GpuRow;

/// Without a head the figure says itself what it is.
const CAPTION: &str = " free";

/// Which columns there are, and their widths. Those without cells are given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Columns {
    gpu: u16,
    free: u16,
    bar: u16,
    used: u16,
    percent: u16,
    history: u16,
    trend: u16,
    util: u16,
    degrees: u16,
    power: u16,
}

impl Columns {
    /// The columns for what the devices have to say.
    fn of(width: u16, gpus: &[GpuRow]) -> Self {
        let longest = |text: &dyn Fn(&GpuRow) -> String| gpus.iter().map(|row| width_of(&text(row))).max().unwrap_or(1);
        Self::new(width, longest(&|row| row.label.clone()), longest(&free_of), longest(&watts_of))
    }

    /// Power and degrees go first, then the history, what is used, and utilization; at last the trend is an arrow. The figures of
    /// two columns never touch, however long they are: `label`, `free` and `watts` are the widths of the longest.
    fn new(width: u16, label: u16, free: u16, watts: u16) -> Self {
        let gpu = label.max(if width < 60 { 1 } else { 3 });
        let free = 1 + if (36..60).contains(&width) { free.max(4) + width_of(CAPTION) } else { free.max(5) };
        let mut columns = Self { gpu, free, percent: 5, trend: 2, ..Self::default() };
        if width >= 60 {
            columns.trend = 13;
        }
        if width >= 98 {
            columns = Self { used: 8, history: 15, util: 6, ..columns };
        }
        if width >= 150 {
            columns = Self { free: free.max(8), history: 40, trend: 24, degrees: 6, power: (watts + 1).max(11), ..columns };
        }
        let gaps = 2 + 2 + 2 * u16::from(columns.history > 0) + u16::from(width >= 60);
        let rest = columns.gpu + columns.free + columns.used + columns.percent + columns.trend + columns.util + columns.degrees + columns.power;
        let history = if columns.history > 0 { columns.history + 2 } else { 0 };
        Self { bar: width.saturating_sub(rest + history + gaps), ..columns }
    }
}

/// What is free, in GiB.
fn free_of(row: &GpuRow) -> String {
    row.memory.value().map_or_else(|| UNKNOWN.to_owned(), |memory| memory.free().to_string())
}

fn watts_of(row: &GpuRow) -> String {
    format!("{} W", telemetry::watts_of_limit(row))
}

/// Cells of the histories in that room.
pub(super) fn history_cells(list: &List, app: &App) -> u16 {
    Columns::of(list.area.width, app.picture().monitor().gpus()).history
}

/// Draws the rows, and the names of their columns. Says what can be clicked.
pub(super) fn draw(buffer: &mut Buffer, list: &List, app: &App, past: &Past, theme: &Theme) -> Vec<Spot> {
    let gpus = app.picture().monitor().gpus();
    let columns = Columns::of(list.area.width, gpus);
    if let Some(head) = list.head {
        draw_head(buffer, head, &columns, app, past, theme);
    }
    let mut spots = Vec::new();
    let in_sight = app.picture().gpus_in_sight().iter().skip(list.first).take(list.count);
    for (n, gpu) in in_sight.enumerate() {
        let row = list.row(n);
        spots.extend(draw_row(buffer, row, *gpu, &columns, app, past, theme));
        spots.push(Spot { x: row.left()..row.right(), y: row.top()..row.bottom(), target: Target::Gpu(*gpu) });
    }
    if let Some(more) = list.more {
        draw_more(buffer, more, list, gpus, theme);
    }
    spots
}

fn draw_head(buffer: &mut Buffer, area: Rect, columns: &Columns, app: &App, past: &Past, theme: &Theme) {
    let label = theme.style(Role::Label);
    let mut pen = Pen::new(buffer, area);
    pen.left("GPU", columns.gpu, label).right("FREE", columns.free, label).skip(2);
    pen.left("WHO HOLDS IT", columns.bar, label).right("USED", columns.used, label).right("%", columns.percent, label).skip(1);
    if columns.history > 0 {
        pen.skip(1);
        let gpus = app.picture().monitor().gpus().iter().enumerate();
        let mut scales = gpus.filter(|(_, row)| row.memory.is_value()).map(|(gpu, _)| past.scale(gpu));
        let first = scales.next();
        let is_one = scales.all(|scale| Some(scale) == first);
        let (span, roomy) = (past.span(), columns.history >= 30);
        let title = match first {
            Some(scale) if is_one && roomy => format!("LAST {span}  {}–{} GiB", axis_label(scale.base), axis_label(scale.top)),
            Some(_) if !is_one && roomy => format!("LAST {span}  each card on its scale"),
            Some(_) if !is_one => format!("{span} own scale"),
            _ => format!("LAST {span}"),
        };
        pen.left(&title, columns.history + 1, label).skip(1);
    }
    pen.skip(1).left("TREND", columns.trend, label).right("UTIL", columns.util, label);
    pen.right("°C", columns.degrees, label).right("POWER", columns.power, label);
}

fn draw_row(buffer: &mut Buffer, area: Rect, gpu: usize, columns: &Columns, app: &App, past: &Past, theme: &Theme) -> Vec<Spot> {
    let picture = app.picture();
    let Some(row) = picture.monitor().gpus().get(gpu) else { return Vec::new() };
    let (text, label, figure) = (theme.style(Role::Text), theme.style(Role::Label), theme.style(Role::Figure));
    let memory = row.memory.value();
    let narrow = area.width < 60;
    let mut pen = Pen::new(buffer, area);
    let caption = if (36..60).contains(&area.width) { CAPTION } else { "" };
    pen.left(&row.label, columns.gpu, text).right(&free_of(row), columns.free - width_of(caption), figure).put(caption, label);
    if narrow {
        pen.skip(1);
    } else {
        pen.skip(2);
    }
    let bar_at = Rect { x: area.right() - pen.room(), width: columns.bar.min(pen.room()), height: 1, ..area };
    pen.skip(columns.bar);
    pen.right(&memory.map_or_else(String::new, |memory| gib(memory.used())), columns.used, label);
    let percent = memory.and_then(DeviceMemory::used_share).map_or_else(|| UNKNOWN.to_owned(), |percent| percent.to_string());
    let percent = if narrow { format!("{percent} %") } else { percent };
    pen.right(&percent, columns.percent, label).skip(1);
    let history_at = Rect { x: area.right() - pen.room(), width: (columns.history + 2).min(pen.room()), ..area };
    if columns.history > 0 {
        pen.skip(columns.history + 2).skip(2);
    } else if !narrow {
        pen.skip(1);
    }
    let change = Change::new(&row.bytes_per_minute(), total_of(row));
    let style = if change.moves { text } else { label };
    if narrow {
        pen.glyph(change.arrow, style);
    } else {
        pen.left(&change.long(), columns.trend, style);
    }
    let utilization = format!("{} %", telemetry::utilization(row));
    pen.right(&utilization, columns.util, label).right(&telemetry::degrees(row), columns.degrees, label);
    pen.right(&watts_of(row), columns.power, label);
    let bar = draw_bar(buffer, bar_at, app, gpu, row, theme);
    if columns.history > 0 {
        draw_history(buffer, history_at, row, past.scale(gpu), past, theme);
    }
    if area.height > 1 {
        let below = Rect { y: area.y + 1, height: 1, x: bar_at.x + 1, width: bar_at.width.saturating_sub(1) };
        draw_below(buffer, below, app, row, &bar.unnamed, theme);
    }
    bar.spots
}

fn draw_bar(buffer: &mut Buffer, area: Rect, app: &App, gpu: usize, row: &GpuRow, theme: &Theme) -> Bar {
    let drawn = bar::draw(buffer, area, app.picture(), gpu, false, theme);
    if let Some(absence) = absence(app, row, theme) {
        let inside = Rect { x: area.x + 2, width: area.width.saturating_sub(3), ..area };
        absence.draw(&mut Pen::new(buffer, inside));
    }
    drawn
}

fn draw_history(buffer: &mut Buffer, area: Rect, row: &GpuRow, scale: Scale, past: &Past, theme: &Theme) {
    let ends = theme.style(Role::Label);
    for y in area.top()..area.bottom() {
        let line = Rect { y, height: 1, ..area };
        Pen::new(buffer, line).glyph('▕', ends).skip(area.width.saturating_sub(2)).glyph('▏', ends);
    }
    let cells = area.width.saturating_sub(2);
    let course = past.course(past.of_gpu(&row.history), cells);
    let shown = u16::try_from(course.cells.len()).unwrap_or(cells);
    let plot = Rect { x: area.x + 1 + cells.saturating_sub(shown), width: shown, ..area };
    draw_columns(buffer, plot, &course.cells, scale, theme);
    if let Some(column) = past.cursor.and_then(|at_ms| course.cell_of(at_ms)) {
        draw_cursor(buffer, plot, column, theme);
    }
}

/// Who the slices without a name are; else the peak, where it is not now; else nothing.
fn draw_below(buffer: &mut Buffer, area: Rect, app: &App, row: &GpuRow, unnamed: &[String], theme: &Theme) {
    let mut parts = unnamed.to_vec();
    parts.extend(tall_peak(row).map(|peak| format!("peak {}", peak_at(peak, app))));
    Pen::new(buffer, area).put(&parts.join(" · "), theme.style(Role::Label));
}

/// What is out of sight is at least counted, with the one that matters most.
fn draw_more(buffer: &mut Buffer, area: Rect, list: &List, gpus: &[GpuRow], theme: &Theme) {
    let (above, below) = (list.first, gpus.len().saturating_sub(list.first + list.count));
    let hidden = gpus.iter().enumerate().filter(|(at, _)| *at < list.first || *at >= list.first + list.count);
    let fullest = hidden.filter_map(|(_, row)| row.memory.value().and_then(DeviceMemory::used_share)).max_by(|a, b| a.value().total_cmp(&b.value()));
    let counts = match (above, below) {
        (0, below) => format!("{below} more below"),
        (above, 0) => format!("{above} more above"),
        (above, below) => format!("{above} more above, {below} below"),
    };
    let fullest = fullest.map_or_else(String::new, |percent| format!(", fullest {percent} %"));
    Pen::new(buffer, area).sentence(&format!("{counts}{fullest}"), theme.style(Role::Label));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn two_figures_never_touch(width in 30..300_u16, label in 1..6_u16, free in 1..7_u16, watts in 3..13_u16) {
            let columns = Columns::new(width, label, free, watts);
            let caption = if (36..60).contains(&width) { width_of(CAPTION) } else { 0 };
            prop_assert!(columns.free > free + caption);
            prop_assert!(columns.power == 0 || columns.power > watts);
            // The longest of the others: 1999.9 of a pool, 100, 100 %, 100 °C.
            prop_assert!(columns.used == 0 || columns.used > 6);
            prop_assert!(columns.percent > 3 && (columns.util == 0 || columns.util > 5) && (columns.degrees == 0 || columns.degrees > 3));
        }
    }
}
