//! Histories: the graph with its axes, and the small ones of one or two rows without any.
//!
//! Solid is the lowest value of a column's time, `░` above it reaches the highest, so a short spike is a thin tower.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::figures::share;
use super::past::Course;
use super::pen::{Pen, width_of};
use super::theme::{Role, Theme};
use crate::history::Column;

/// `▁` to `█`, after nothing at all.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const SPIKE: char = '░';
/// The highest glyph of a history of one row: a gap is left to the row above. It has a middle, so that flat is flat.
const SMALL_TOP: u16 = 7;

/// The vertical scale, in the unit of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale {
    /// The value of the graph's foot.
    pub(super) base: u32,
    /// The value of its top.
    pub(super) top: u32,
}

impl Scale {
    /// From nothing to `top`.
    pub(super) const fn to(top: u32) -> Self {
        Self { base: 0, top }
    }

    fn eighths(self, value: u32, rows: u16) -> u16 {
        share(value.saturating_sub(self.base).into(), self.top.saturating_sub(self.base).into(), rows * 8)
    }
}

/// A history with its axes.
pub(super) struct Graph<'a> {
    pub(super) course: &'a Course,
    pub(super) scale: Scale,
    /// What is written at the top and at the foot.
    pub(super) labels: (&'a str, &'a str),
    /// A point that is named where it stands: its time, its value, and the name.
    pub(super) mark: Option<(u64, u32, &'a str)>,
    /// Moments that are marked by a line, on the clock of the columns.
    pub(super) moments: &'a [u64],
    /// The moment that is looked back at.
    pub(super) cursor: Option<u64>,
}

impl Graph<'_> {
    /// Cells to the left of the first column, for a label of that width: the label, and the axis.
    pub(super) fn indent(area: Rect) -> u16 {
        if area.width >= 90 { 7 } else { 4 }
    }

    /// Draws into all of `area`; its last row is the time axis.
    pub(super) fn draw(&self, buffer: &mut Buffer, area: Rect, theme: &Theme) {
        let area = area.intersection(buffer.area);
        let Some(rows) = area.height.checked_sub(1).filter(|rows| *rows > 0) else { return };
        let indent = Self::indent(area);
        let label = theme.style(Role::Label);
        for row in 0..rows {
            let text = if row == 0 {
                self.labels.0
            } else if row + 1 == rows {
                self.labels.1
            } else {
                ""
            };
            let line = Rect { y: area.y + row, height: 1, ..area };
            Pen::new(buffer, line).right(text, indent, label).glyph(if row == 0 { '┬' } else { '│' }, label);
        }
        let plot = Rect { x: area.x + indent + 1, y: area.y, width: area.width.saturating_sub(indent + 1), height: rows };
        draw_columns(buffer, plot, &self.course.cells, self.scale, theme);
        self.draw_mark(buffer, plot, theme);
        let foot = Rect { y: area.bottom() - 1, height: 1, ..area };
        let cursor = self.cursor.and_then(|at_ms| self.course.cell_of(at_ms));
        self.draw_foot(buffer, foot, indent, cursor.map(|column| plot.x + column), theme);
        self.draw_moments(buffer, plot, foot.y, theme);
        if let Some(column) = cursor {
            draw_cursor(buffer, Rect { height: plot.height + 1, ..plot }, column, theme);
        }
    }

    /// Minutes before now, each under its column; those without room, or where the cursor has its foot, are left out.
    fn draw_foot(&self, buffer: &mut Buffer, line: Rect, indent: u16, cursor: Option<u16>, theme: &Theme) {
        let label = theme.style(Role::Label);
        let foot = if self.scale.base > 0 { '≈' } else { '┴' };
        Pen::new(buffer, line).skip(indent).glyph(foot, label);
        let columns = u16::try_from(self.course.cells.len()).unwrap_or(u16::MAX);
        let minutes = self.course.span_ms / 60_000;
        let start = line.x + indent + 1;
        let hours = minutes > 60;
        let first = if hours { format!("−{} h", minutes / 60) } else { format!("−{minutes} min") };
        let end = start + columns;
        if width_of(&first) + 5 > columns {
            return;
        }
        let mut at = |x: u16, text: &str| {
            if cursor.is_none_or(|cursor| !(x..x + width_of(text)).contains(&cursor)) {
                Pen::new(buffer, Rect { x, width: line.right().saturating_sub(x), ..line }).put(text, label);
            }
        };
        at(start, &first);
        at(end - 3, "now");
        let step = match minutes {
            0..=5 => 1,
            6..=15 => 5,
            16..=60 => 15,
            61..=360 => 60,
            _ => 360,
        };
        let mut taken = start + width_of(&first) + 2;
        for minute in (1..minutes).rev().filter(|minute| minute % step == 0) {
            let text = format!("−{}", if hours { minute / 60 } else { minute });
            let x = end.saturating_sub(self.course.cells_of(minute * 60_000));
            if x >= taken && x + width_of(&text) + 2 < end - 3 {
                at(x, &text);
                taken = x + width_of(&text) + 2;
            }
        }
    }

    /// A line down to each marked moment, where nothing else stands, and its foot on the axis.
    fn draw_moments(&self, buffer: &mut Buffer, plot: Rect, foot: u16, theme: &Theme) {
        let style = theme.style(Role::Text);
        for column in self.moments.iter().filter_map(|at_ms| self.course.cell_of(*at_ms)) {
            let x = plot.x + column;
            for y in plot.top()..plot.bottom() {
                if let Some(cell) = buffer.cell_mut((x, y)).filter(|cell| cell.symbol() == " ") {
                    cell.set_char('│').set_style(theme.style(Role::Label));
                }
            }
            if let Some(cell) = buffer.cell_mut((x, foot)).filter(|cell| cell.symbol() == " ") {
                cell.set_char('▴').set_style(style);
            }
        }
    }

    /// Writes the name of a point beside its tower, where nothing else stands.
    fn draw_mark(&self, buffer: &mut Buffer, plot: Rect, theme: &Theme) {
        let Some((at_ms, value, name)) = self.mark else { return };
        let Some(column) = self.course.cell_of(at_ms) else { return };
        let level = self.scale.eighths(value, plot.height).max(1);
        let storey = (level - 1) / 8;
        // A name for one of many equals would say that it is alone.
        let as_tall = |at: &usize| self.course.cells[*at].is_some_and(|(_, max)| (self.scale.eighths(max, plot.height).max(1) - 1) / 8 >= storey);
        if (0..self.course.cells.len()).filter(as_tall).count() > 2 * self.course.widest {
            return;
        }
        let y = plot.bottom() - 1 - storey;
        let width = width_of(name);
        let beside = |at: usize| u16::try_from(at).unwrap_or(u16::MAX).saturating_add(plot.x);
        let column = usize::from(column);
        let right = (column..self.course.cells.len()).find(|at| !as_tall(at)).unwrap_or(self.course.cells.len());
        let left = (0..column).rev().find(|at| !as_tall(at)).map_or(0, |at| at + 1);
        let is_free =
            |x: u16| x >= plot.x && x + width <= plot.right() && (x..x + width).all(|x| buffer.cell((x, y)).is_some_and(|c| c.symbol() == " "));
        let place = [Some(beside(right).saturating_add(1)), beside(left).checked_sub(width + 1)].into_iter().flatten().find(|x| is_free(*x));
        if let Some(x) = place {
            Pen::new(buffer, Rect::new(x, y, width, 1)).put(name, theme.style(Role::Label));
        }
    }
}

/// A line through all that stands in a column, and its foot below.
pub(super) fn draw_cursor(buffer: &mut Buffer, area: Rect, column: u16, theme: &Theme) {
    let area = area.intersection(buffer.area);
    for y in area.top()..area.bottom() {
        let glyph = if y + 1 == area.bottom() && area.height > 2 { '▴' } else { '│' };
        if let Some(cell) = buffer.cell_mut((area.x + column, y)) {
            // What was there had a colour, and the line has none that would replace it.
            cell.reset();
            cell.set_char(glyph).set_style(theme.style(Role::Figure));
        }
    }
}

/// The columns alone, from the left edge of `area`, over all of its height.
pub(super) fn draw_columns(buffer: &mut Buffer, area: Rect, columns: &[Column], scale: Scale, theme: &Theme) {
    let area = area.intersection(buffer.area);
    let rows = area.height;
    let roles = if rows <= 2 { (Role::Small, Role::Small) } else { (Role::History, Role::Edge) };
    let (body, edge) = (theme.style(roles.0), theme.style(roles.1));
    // A tower of a quarter of its cells' ink would be lost in the colour of the edge.
    let spike = theme.style(Role::Text);
    for (x, column) in (area.left()..area.right()).zip(columns) {
        let Some((min, max)) = *column else { continue };
        // What is as low as the foot is still seen: only a time without readings is empty.
        let (low, high) = (scale.eighths(min, rows).max(1), scale.eighths(max, rows).max(1));
        // In two rows a tower would be as loud as the rest: only the highest is drawn.
        let low = if rows <= 2 { high } else { low };
        for (row, y) in (area.top()..area.bottom()).rev().enumerate() {
            let foot = u16::try_from(row).unwrap_or(u16::MAX) * 8;
            let solid = low.saturating_sub(foot).min(8);
            // A tower stands on what is solid: the cell where that ends is of the one or the other. One that would not fill half of
            // its cell is seen in the cell below.
            let is_below_tower = high >= foot + 12;
            let (glyph, style) = match solid {
                0 if high >= foot + 4 => (SPIKE, spike),
                0 => break,
                1..4 if is_below_tower => (SPIKE, spike),
                4..8 if is_below_tower => (EIGHTHS[8], edge),
                8 if low > foot + 8 => (EIGHTHS[8], body),
                n => (EIGHTHS[usize::from(n)], edge),
            };
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.set_char(glyph).set_style(style);
            }
        }
    }
}

/// A history of one row: the highest of each column between the lowest and the highest of all, or within `least`
/// where they are closer together, so that noise is no mountain. Flat is a flat middle line.
pub(super) fn small(columns: &[Column], least: u32) -> String {
    let (low, high) = columns.iter().flatten().fold((u32::MAX, 0), |(low, high), column| (low.min(column.0), high.max(column.1)));
    let spread = high.saturating_sub(low);
    let margin = if spread < least { u64::from(least - spread) / 2 } else { 0 };
    let level = |max: u32| 1 + share(u64::from(max.saturating_sub(low)) + margin, spread.max(least).into(), SMALL_TOP - 1);
    let glyph = |column: &Column| column.map_or(' ', |(_, max)| EIGHTHS[usize::from(level(max))]);
    columns.iter().map(glyph).collect()
}

/// A history of one row from zero to `top`: a measured zero is the lowest glyph, a gap is none.
pub(super) fn small_on(columns: &[Column], top: u32) -> String {
    let level = |max: u32| share(max.into(), top.into(), SMALL_TOP).max(1);
    columns.iter().map(|column| column.map_or(' ', |(_, max)| EIGHTHS[usize::from(level(max))])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::theme::Colors;

    fn drawn(columns: &[Column], rows: u16) -> Vec<String> {
        let width = u16::try_from(columns.len()).expect("small");
        let area = Rect::new(0, 0, width, rows);
        let mut buffer = Buffer::empty(area);
        draw_columns(&mut buffer, area, columns, Scale { base: 0, top: 8 * u32::from(rows) }, &Theme::new(Colors::Never, false));
        buffer.content.chunks(usize::from(width)).map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect()).collect()
    }

    #[test]
    fn solid_is_the_lowest_and_a_spike_is_a_tower() {
        let columns = [Some((12, 12)), Some((12, 24)), None, Some((8, 8)), Some((0, 0))];
        assert_eq!(drawn(&columns, 3), [" ░   ", "▄█   ", "██ █▁"]);
    }

    #[test]
    fn two_rows_show_the_highest_alone() {
        assert_eq!(drawn(&[Some((4, 12)), Some((4, 4))], 2), ["▄ ", "█▄"]);
    }

    #[test]
    fn flat_is_a_middle_line_and_noise_is_flat() {
        assert_eq!(small(&[Some((100, 100)), Some((100, 101)), None], 70), "▄▄ ");
        assert_eq!(small(&[Some((0, 0)), Some((100, 100))], 20), "▁▇");
    }
}
