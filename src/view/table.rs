//! The table of holders in the order that was chosen. Only the rows that are seen are built.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::columns::{Needs, Placed, columns, mark_width};
use super::past::Past;
use super::pen::{Pen, width_of};
use super::rows::{Row, count_of_gpus};
use super::theme::{Role, Theme};
use crate::app::{App, Column, Holder, Picture, Shown, Sort, Spot, TableRow, Target, sum_figure};
use crate::model::Bytes;

/// Draws head and rows. Says which rows were seen, and where.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, app: &App, past: &Past, theme: &Theme) -> Shown {
    let picture = app.picture();
    let rows = picture.rows();
    let Some(height) = area.height.checked_sub(1).filter(|_| has_head(picture)) else { return Shown::default() };
    let placed = columns(area.width, &needs(picture), app.columns());
    let mut spots = draw_head(buffer, area, &placed, app.listing().sort(), past, theme);
    let seen = window(rows.len(), app.selected().unwrap_or(0), usize::from(height));
    let now = picture.monitor().now().map(|(now, _)| now);
    let rank_apart = placed.iter().any(|placed| placed.column == Column::Job);
    for (at, y) in seen.clone().zip(area.y + 1..) {
        let line = Rect { y, height: 1, ..area };
        let Some(row) = rows.get(at) else { continue };
        let selected = app.selected() == Some(at);
        let tagged = app.tagged().has(picture, row);
        let (ended, zone) = (picture.ended(row), &app.setup().zone);
        Row { picture, entry: row, ended, past, rank_apart, now, zone, selected, tagged, theme }.draw(buffer, line, &placed);
        spots.push(Spot { x: line.left()..line.right(), y: y..y + 1, target: Target::Row(at) });
    }
    if seen.len() < rows.len() && height > 1 {
        draw_more(buffer, Rect { y: area.bottom() - 1, height: 1, ..area }, picture, &seen, theme);
    }
    let columns: Vec<Column> = placed.iter().map(|placed| placed.column).collect();
    Shown { rows: seen, sm_percent: columns.contains(&Column::Sm), columns, spots, ..Shown::default() }
}

/// Whether the names of the columns are drawn: where there are rows, though all of them may be left out.
pub(super) fn has_head(picture: &Picture) -> bool {
    picture.unfiltered().all() > 0
}

/// The rows around the selected one; the last line counts those that are out of sight.
fn window(rows: usize, selected: usize, height: usize) -> Range<usize> {
    if rows <= height {
        return 0..rows;
    }
    let height = if height > 1 { height - 1 } else { height };
    let first = selected.saturating_sub(height / 2).min(rows - height);
    first..first + height
}

fn needs(picture: &Picture) -> Needs {
    let monitor = picture.monitor();
    let longest = |lengths: &mut dyn Iterator<Item = u16>| lengths.max().unwrap_or(0);
    let facts = || monitor.processes().iter().chain(monitor.ended().iter().map(|ended| &ended.row)).map(|row| &row.facts);
    // Each user once, however many processes hold something.
    let owners = picture.owners().iter().filter_map(|owner| owner.user.as_ref());
    let gone = monitor.ended().iter().filter_map(|ended| ended.row.facts.user.as_ref());
    let ancestors = picture.groups().iter().filter_map(|group| group.id.ancestor());
    let spread = picture.groups().iter().filter(|group| group.gpus.len() > 1);
    Needs {
        gpus: monitor.gpus().len(),
        gpu: longest(&mut monitor.gpus().iter().map(|row| width_of(&row.label)).chain(spread.map(|group| width_of(&count_of_gpus(group))))),
        pid: longest(&mut facts().map(|facts| facts.key.pid).chain(ancestors.map(|ancestor| ancestor.key.pid)).map(digits)),
        user: longest(&mut owners.chain(gone).map(|user| width_of(user.as_str()))),
        has_jobs: facts().any(|facts| facts.job.is_some() || facts.rank.is_some()),
    }
}

fn digits(pid: u32) -> u16 {
    u16::try_from(pid.checked_ilog10().unwrap_or(0) + 1).unwrap_or(10)
}

/// The names of the columns, with a mark beside the one that the rows are in order of. Says where they can be clicked.
fn draw_head(buffer: &mut Buffer, area: Rect, placed: &[Placed], sort: Sort, past: &Past, theme: &Theme) -> Vec<Spot> {
    let mut spots = Vec::with_capacity(placed.len());
    for (at, column) in placed.iter().enumerate() {
        let (title, is_right) = title(*column, past);
        let chosen = column.column == sort.column;
        let mark = if sort.is_descending() { '▾' } else { '▴' };
        let title = if chosen { format!("{title}{mark}") } else { title };
        let style = theme.style(if chosen { Role::Figure } else { Role::Label });
        // A name and its mark may be wider than the figures below by a cell of the gap.
        let over = width_of(&title).saturating_sub(column.width).min(u16::from(chosen));
        let x = area.x + column.x - if is_right { over } else { 0 };
        let mut pen = Pen::new(buffer, Rect { x, width: column.width + over, height: 1, ..area });
        if is_right {
            pen.right(&title, column.width + over, style);
        } else {
            pen.left(&title, column.width + over, style);
        }
        let end = placed.get(at + 1).map_or(area.right(), |next| area.x + next.x);
        spots.push(Spot { x: area.x + column.x..end, y: area.y..area.y + 1, target: Target::Head(column.column) });
    }
    spots
}

/// The name of a column, and whether it stands at the right end.
fn title(placed: Placed, past: &Past) -> (String, bool) {
    let (name, is_right) = match placed.column {
        Column::Gpu => (if placed.width < 3 { "G" } else { "GPU" }, true),
        Column::Pid => ("PID", true),
        Column::User => ("USER", false),
        Column::Kind => ("T", false),
        Column::Vram => ("VRAM", true),
        Column::Peak if past.cursor.is_some() => ("MOST", true),
        Column::Peak => ("PEAK", true),
        Column::Trend => ("TREND", false),
        Column::History if placed.width >= 11 => return (format!("LAST {}", past.span()), false),
        Column::History => return (past.span(), false),
        Column::Sm => ("SM%", true),
        Column::Cpu => ("CPU%", true),
        Column::Rss => ("RSS", true),
        Column::Time => ("TIME", true),
        Column::Job => ("JOB · RANK", false),
        Column::What => ("WHAT", false),
    };
    (name.to_owned(), is_right)
}

/// What is out of sight, and how much of the memory it holds.
fn draw_more(buffer: &mut Buffer, area: Rect, picture: &Picture, seen: &Range<usize>, theme: &Theme) {
    let rows = picture.rows();
    let hidden = rows[..seen.start].iter().chain(&rows[seen.end..]);
    // What an open group holds is that of its rows, which are counted themselves.
    let holding = hidden.clone().filter(|row| !row.is_ended() && picture.group(row).is_none_or(|group| !group.is_open));
    let held =
        |ownerless: bool| -> Bytes { holding.clone().filter(|row| !ownerless || row.holder == Holder::Nobody).filter_map(|row| row.bytes).sum() };
    let counts = match (seen.start, rows.len() - seen.end) {
        (0, below) => format!("+{below} more"),
        (above, 0) => format!("+{above} above"),
        (above, below) => format!("+{above} above, {below} below"),
    };
    let ownerless = if held(true) > Bytes::ZERO { format!(", {} of it no owner", held(true)) } else { String::new() };
    let indent = mark_width(area.width);
    let held = match holding.clone().next() {
        Some(_) => format!(": {}", sum_figure(held(false), holding.clone().any(|row| row.bytes.is_none()))),
        None if hidden.clone().all(TableRow::is_ended) => " that ended".to_owned(),
        None => String::new(),
    };
    Pen::new(buffer, area).skip(indent).sentence(&format!("{counts}{held}{ownerless}"), theme.style(Role::Label));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_row_is_always_in_sight() {
        for rows in 1..40 {
            for height in 1..45 {
                for selected in 0..rows {
                    let seen = window(rows, selected, height);
                    assert!(seen.contains(&selected) && seen.end <= rows && seen.len() <= height, "{rows} {height} {selected}");
                }
            }
        }
    }
}
