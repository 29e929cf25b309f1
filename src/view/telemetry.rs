//! What people miss when it is not there: utilization, bus, power, temperature, clocks. Dim, and silent where unsupported.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::figures::UNKNOWN;
use super::graph::small_on;
use super::past::Past;
use super::pen::{Pen, width_of};
use super::theme::{Role, Theme};
use crate::history::{Slot, Tier};
use crate::monitor::GpuRow;

/// Cells of a small history.
const HISTORY: u16 = 14;

/// Three figures with their small histories, and a line or two of others.
pub(super) fn draw_column(buffer: &mut Buffer, area: Rect, row: &GpuRow, past: &Past, theme: &Theme) {
    let (label, small) = (theme.style(Role::Label), theme.style(Role::Small));
    let limit = row.facts.power_limit_mw.get().map_or(1000, |mw| mw / 1000).max(1);
    let lines = [
        ("util", utilization(row), "%", history(past, &row.history.utilization, HISTORY, 100)),
        ("bus", bus(row), "%", history(past, &row.history.bus, HISTORY, 100)),
        ("power", watts(row), "W", history(past, &row.history.power, HISTORY, limit)),
    ];
    let mut left = area;
    for (name, value, unit, past) in &lines {
        if left.height == 0 {
            return;
        }
        let mut pen = Pen::new(buffer, left);
        pen.left(name, 6, label).right(value, 4, label).put(" ", label).left(unit, 4, label);
        let room = pen.room();
        pen.right(past, room, small);
        left = below(left);
    }
    let warmth: Vec<Fact> = temperature(row).into_iter().chain(clocks(row)).collect();
    // What slows the work down is the one thing here that is not silent.
    for (facts, role) in [(warmth, Role::Label), (held_down(row), Role::Text)] {
        if left.height > 0 && !facts.is_empty() {
            draw_facts(buffer, left, &facts, role, theme);
            left = below(left);
        }
    }
}

/// The same in one line; what does not fit is left out.
pub(super) fn draw_line(buffer: &mut Buffer, area: Rect, row: &GpuRow, past: &Past, theme: &Theme) {
    let (label, small) = (theme.style(Role::Label), theme.style(Role::Small));
    let mut pen = Pen::new(buffer, area);
    pen.put("util ", label).right(&utilization(row), 3, label).put(" % ", label);
    pen.right(&history(past, &row.history.utilization, 12, 100), 12, small).skip(3);
    let mut facts = vec![("bus".to_owned(), bus(row), "%".to_owned())];
    facts.extend(temperature(row));
    facts.push((String::new(), watts_of_limit(row), "W".to_owned()));
    facts.extend(clocks(row).into_iter().filter(|(name, _, _)| !name.starts_with('P')));
    let used = area.width - pen.room();
    draw_facts(buffer, Rect { x: area.x + used, width: area.width - used, ..area }, &facts, Role::Label, theme);
}

/// Caption, figure and unit; any of them may be empty.
type Fact = (String, String, String);

fn draw_facts(buffer: &mut Buffer, area: Rect, facts: &[Fact], value: Role, theme: &Theme) {
    let (text, label) = (theme.style(value), theme.style(Role::Label));
    let mut pen = Pen::new(buffer, area);
    for (at, (name, value, unit)) in facts.iter().enumerate() {
        let words = [name, value, unit].into_iter().filter(|word| !word.is_empty());
        let width = words.map(|word| width_of(word) + 1).sum::<u16>().saturating_sub(1);
        let gap = if at == 0 { 0 } else { 3 };
        if gap + width > pen.room() {
            continue;
        }
        pen.skip(gap);
        let mut first = true;
        for (word, style) in [(name, label), (value, text), (unit, label)] {
            if !word.is_empty() {
                pen.put(if first { "" } else { " " }, label).put(word, style);
                first = false;
            }
        }
    }
}

fn temperature(row: &GpuRow) -> Option<Fact> {
    row.telemetry.temperature_c.get().map(|c| (String::new(), c.to_string(), "°C".to_owned()))
}

/// Clock, performance state, fan: those that the device has.
fn clocks(row: &GpuRow) -> Vec<Fact> {
    let mut facts = Vec::with_capacity(3);
    facts.extend(row.telemetry.sm_mhz.get().map(|mhz| (String::new(), mhz.to_string(), "MHz".to_owned())));
    facts.extend(row.telemetry.pstate.get().map(|state| (format!("P{state}"), String::new(), String::new())));
    facts.extend(row.telemetry.fan_percent.get().map(|percent| ("fan".to_owned(), percent.to_string(), "%".to_owned())));
    facts
}

/// What holds the clocks down.
fn held_down(row: &GpuRow) -> Vec<Fact> {
    let reasons: Vec<&str> = row.telemetry.throttle.get().map_or_else(Vec::new, |throttle| throttle.names().collect());
    if reasons.is_empty() { Vec::new() } else { vec![("held down by".to_owned(), reasons.join(", "), String::new())] }
}

/// Kernel utilization in percent.
pub(super) fn utilization(row: &GpuRow) -> String {
    row.telemetry.gpu.get().map_or_else(|| UNKNOWN.to_owned(), |percent| percent.to_string())
}

fn bus(row: &GpuRow) -> String {
    row.telemetry.bus.get().map_or_else(|| UNKNOWN.to_owned(), |percent| percent.to_string())
}

/// Degrees Celsius.
pub(super) fn degrees(row: &GpuRow) -> String {
    row.telemetry.temperature_c.get().map_or_else(|| UNKNOWN.to_owned(), |c| c.to_string())
}

fn watts(row: &GpuRow) -> String {
    row.telemetry.power_mw.get().map_or_else(|| UNKNOWN.to_owned(), |mw| (mw / 1000).to_string())
}

/// `431/450`, or the draw alone where there is no limit.
pub(super) fn watts_of_limit(row: &GpuRow) -> String {
    match row.facts.power_limit_mw.get().filter(|_| row.telemetry.power_mw.is_value()) {
        Some(limit) => format!("{}/{}", watts(row), limit / 1000),
        None => watts(row),
    }
}

fn history<S: Slot>(past: &Past, tier: &Tier<S>, cells: u16, top: u32) -> String {
    let mut course = past.course(tier, cells);
    // Beside the figures of a moment before, what came after it would be read as theirs.
    let shown = past.cursor.map_or(course.cells.len(), |at_ms| course.cell_of(at_ms).map_or(0, |cell| usize::from(cell) + 1));
    course.cells.iter_mut().skip(shown).for_each(|cell| *cell = None);
    small_on(&course.cells, top)
}

const fn below(area: Rect) -> Rect {
    Rect { y: area.y + 1, height: area.height - 1, ..area }
}
