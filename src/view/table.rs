//! The table of holders, largest first. Only the rows that are seen are built.

use std::ops::Range;

use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::columns::{Column, Needs, Placed, columns, mark_width};
use super::figures::{Change, UNKNOWN, gib, hour_and_minute, span};
use super::graph::small;
use super::past::{Past, total_of};
use super::pen::{Pen, width_of};
use super::theme::{Role, Theme};
use crate::app::{App, Holder, Hue, Picture, Shown, TableRow};
use crate::history::ProcessHistory;
use crate::model::{Bytes, Visibility};
use crate::monitor::{Ended, ProcessRow};

/// Draws head and rows. Says which rows were seen.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, app: &App, past: &Past, theme: &Theme) -> Shown {
    let picture = app.picture();
    let rows = picture.rows();
    let Some(height) = area.height.checked_sub(1).filter(|_| !rows.is_empty()) else { return Shown::default() };
    let placed = columns(area.width, &needs(picture));
    draw_head(buffer, area, &placed, past, theme);
    let seen = window(rows.len(), app.selected().unwrap_or(0), usize::from(height));
    let now = picture.monitor().now().map(|(now, _)| now);
    let rank_apart = placed.iter().any(|placed| placed.column == Column::Job);
    for (at, y) in seen.clone().zip(area.y + 1..) {
        let line = Rect { y, height: 1, ..area };
        let Some(row) = rows.get(at) else { continue };
        let selected = app.selected() == Some(at);
        let (ended, zone) = (picture.ended(row), &app.setup().zone);
        Row { picture, entry: row, ended, past, rank_apart, now, zone, selected, theme }.draw(buffer, line, &placed);
    }
    if seen.len() < rows.len() && height > 1 {
        draw_more(buffer, Rect { y: area.bottom() - 1, height: 1, ..area }, rows, &seen, theme);
    }
    Shown { rows: seen, sm_percent: placed.iter().any(|placed| placed.column == Column::Sm) }
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
    let processes = monitor.processes();
    Needs {
        gpus: monitor.gpus().len(),
        gpu: longest(&mut monitor.gpus().iter().map(|row| width_of(&row.label))),
        pid: longest(&mut processes.iter().map(|row| digits(row.facts.key.pid))),
        user: longest(&mut picture.owners().iter().filter_map(|owner| owner.user.as_ref()).map(|user| width_of(user.as_str()))),
        has_jobs: processes.iter().any(|row| row.facts.job.is_some() || row.facts.rank.is_some()),
    }
}

fn digits(pid: u32) -> u16 {
    u16::try_from(pid.checked_ilog10().unwrap_or(0) + 1).unwrap_or(10)
}

fn draw_head(buffer: &mut Buffer, area: Rect, placed: &[Placed], past: &Past, theme: &Theme) {
    let label = theme.style(Role::Label);
    for column in placed {
        let cell = Rect { x: area.x + column.x, width: column.width, height: 1, ..area };
        let mut pen = Pen::new(buffer, cell);
        let history = if column.width >= 11 { format!("LAST {} MIN", past.minutes) } else { format!("{} MIN", past.minutes) };
        match column.column {
            Column::Gpu => pen.right(if column.width < 3 { "G" } else { "GPU" }, column.width, label),
            Column::Pid => pen.right("PID", column.width, label),
            Column::User => pen.left("USER", column.width, label),
            Column::Kind => pen.left("T", column.width, label),
            Column::Vram => pen.right("VRAM▾", column.width, theme.style(Role::Figure)),
            Column::Peak => pen.right("PEAK", column.width, label),
            Column::Trend => pen.left("TREND", column.width, label),
            Column::History => pen.left(&history, column.width, label),
            Column::Sm => pen.right("SM%", column.width, label),
            Column::Cpu => pen.right("CPU%", column.width, label),
            Column::Rss => pen.right("RSS", column.width, label),
            Column::Time => pen.right("TIME", column.width, label),
            Column::Job => pen.left("JOB · RANK", column.width, label),
            Column::What => pen.left("WHAT", column.width, label),
        };
    }
}

/// What is out of sight, and how much of the memory it holds.
fn draw_more(buffer: &mut Buffer, area: Rect, rows: &[TableRow], seen: &Range<usize>, theme: &Theme) {
    let hidden = rows[..seen.start].iter().chain(&rows[seen.end..]);
    let held =
        |ownerless: bool| -> Bytes { hidden.clone().filter(|row| !ownerless || row.holder == Holder::Nobody).filter_map(|row| row.bytes).sum() };
    let counts = match (seen.start, rows.len() - seen.end) {
        (0, below) => format!("+{below} more"),
        (above, 0) => format!("+{above} above"),
        (above, below) => format!("+{above} above, {below} below"),
    };
    let ownerless = if held(true) > Bytes::ZERO { format!(", {} of it no owner", held(true)) } else { String::new() };
    let indent = mark_width(area.width);
    let held =
        if held(false) > Bytes::ZERO || hidden.clone().any(|row| !row.is_ended()) { format!(": {}", held(false)) } else { " that ended".to_owned() };
    Pen::new(buffer, area).skip(indent).put(&format!("{counts}{held}{ownerless}"), theme.style(Role::Label));
}

struct Row<'a> {
    picture: &'a Picture,
    entry: &'a TableRow,
    /// The process, where it is no longer listed.
    ended: Option<&'a Ended>,
    past: &'a Past,
    /// Whether the rank has a column of its own.
    rank_apart: bool,
    now: Option<crate::model::Moment>,
    zone: &'a TimeZone,
    selected: bool,
    theme: &'a Theme,
}

impl Row<'_> {
    fn style(&self, role: Role) -> Style {
        // Under the cursor all has one look, so that no colour breaks the reversal.
        match role {
            _ if self.selected => Theme::selected(),
            // What holds nothing any more is dim from end to end.
            _ if self.ended.is_some() && role != Role::Small => self.theme.style(Role::Label),
            role => self.theme.style(role),
        }
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, placed: &[Placed]) {
        if self.selected {
            buffer.set_style(area.intersection(buffer.area), Theme::selected());
        }
        let process = self.picture.process(self.entry).or(self.ended.map(|ended| &ended.row));
        let (letter, hue) = match self.entry.holder {
            Holder::Process { tag, hue, .. } => (tag.letter, hue),
            Holder::Nobody => ('?', Hue::Unseen),
            Holder::Untracked { .. } => ('+', Hue::Unseen),
            Holder::Ended { .. } => ('×', Hue::Unseen),
        };
        let mark = mark_width(area.width);
        let mut pen = Pen::new(buffer, area);
        pen.glyph(if self.selected { '▸' } else { ' ' }, self.style(Role::Text)).skip(mark - 3);
        pen.glyph(letter, self.style(Role::Hue(hue)));
        for column in placed.iter().copied() {
            let cell = Rect { x: area.x + column.x, width: column.width, ..area };
            let mut pen = Pen::new(buffer, cell);
            match self.ended.and_then(|ended| self.ended_cell(column, ended)) {
                Some(text) if matches!(column.column, Column::Trend) => pen.left(&text, column.width, self.style(Role::Label)),
                Some(text) => pen.right(&text, column.width, self.style(Role::Label)),
                None => self.cell(&mut pen, column, process, hue),
            };
        }
    }

    /// What a process that is no longer listed has of its own in a column; `None` where it has what all have.
    fn ended_cell(&self, placed: Placed, ended: &Ended) -> Option<String> {
        match placed.column {
            Column::Vram => Some(if ended.lives_on { "left" } else { "ended" }.to_owned()),
            Column::Trend => Some(how_it_went(ended, self.zone, placed.width)),
            Column::Time => ended.ran_ms().map(span),
            Column::Sm | Column::Cpu | Column::Rss => Some(String::new()),
            _ => None,
        }
    }

    fn cell<'p, 'b>(&self, pen: &'p mut Pen<'b>, placed: Placed, process: Option<&ProcessRow>, hue: Hue) -> &'p mut Pen<'b> {
        let (label, text, width) = (self.style(Role::Label), self.style(Role::Text), placed.width);
        let host = process.and_then(|row| row.host.get());
        match placed.column {
            Column::Gpu => pen.right(self.picture.monitor().gpus().get(self.entry.gpu).map_or("", |gpu| &gpu.label), width, text),
            Column::Pid => {
                let pid = match self.entry.holder {
                    Holder::Untracked { count } => format!("{count}×"),
                    _ => self.entry.pid().map_or_else(|| UNKNOWN.to_owned(), |pid| pid.to_string()),
                };
                pen.right(&pid, width, label)
            }
            Column::User => {
                let user = process.and_then(|row| row.facts.user.as_ref()).map_or(UNKNOWN, |user| user.as_str());
                pen.left(user, width, self.style(Role::Hue(hue)))
            }
            Column::Kind => pen.left(process.map_or(UNKNOWN, |row| row.kind.letters()), width, label),
            Column::Vram => pen.right(&gib(self.entry.bytes), width, if self.is_past() { label } else { self.style(Role::Figure) }),
            Column::Peak => pen.right(&gib(process.and_then(|row| row.peak).map(|peak| peak.bytes)), width, label),
            Column::Trend => self.trend(pen, process, width),
            Column::History => {
                let history = process.map_or_else(String::new, |row| self.history(row, width));
                pen.right(&history, width, self.style(Role::Small))
            }
            Column::Sm => {
                let percent = process.and_then(|row| row.sm_percent.get()).map_or_else(|| UNKNOWN.to_owned(), |percent| percent.to_string());
                pen.right(&percent, width, label)
            }
            Column::Cpu => {
                let percent =
                    host.and_then(|host| host.cpu_permille).map_or_else(|| UNKNOWN.to_owned(), |permille| ((permille + 5) / 10).to_string());
                pen.right(&percent, width, label)
            }
            Column::Rss => pen.right(&host.map_or_else(|| UNKNOWN.to_owned(), |host| format!("{}G", host.rss)), width, label),
            Column::Time => {
                let started = process.and_then(|row| row.facts.started).zip(self.now);
                pen.right(&started.map_or_else(|| UNKNOWN.to_owned(), |(started, now)| span(now.since(started))), width, label)
            }
            Column::Job => pen.left(&process.map_or_else(|| UNKNOWN.to_owned(), job), width, label),
            Column::What => pen.left(&self.what(process, width), width, if hue == Hue::Unseen { label } else { text }),
        }
    }

    fn trend<'p, 'b>(&self, pen: &'p mut Pen<'b>, process: Option<&ProcessRow>, width: u16) -> &'p mut Pen<'b> {
        let known = process.filter(|row| row.memory.is_value() && !self.is_past());
        let Some(process) = known else { return pen.left(UNKNOWN, width, self.style(Role::Label)) };
        let change = Change::new(&process.bytes_per_minute(), self.card());
        let text = if width < 11 { change.short() } else { change.long() };
        pen.left(&text, width, self.style(if change.moves { Role::Text } else { Role::Label }))
    }

    /// Whether the figures are the last that were known, because the card's list can't be read now.
    fn is_past(&self) -> bool {
        self.picture.monitor().gpus().get(self.entry.gpu).is_none_or(|gpu| !gpu.list.is_value())
    }

    /// All memory of the row's card.
    fn card(&self) -> Bytes {
        self.picture.monitor().gpus().get(self.entry.gpu).map_or(Bytes::ZERO, total_of)
    }

    /// Two minutes by the second, else by 15 seconds.
    fn history(&self, process: &ProcessRow, width: u16) -> String {
        let tier = if self.past.minutes <= 2 { &process.history.seconds } else { &process.history.hour };
        let columns = self.past.columns(tier, width).1;
        // Two in a hundred of the card: what moves less is flat.
        let least = self.card().0 / 50 / ProcessHistory::bytes(1).0;
        small(&columns, u32::try_from(least).unwrap_or(u32::MAX))
    }

    fn what(&self, process: Option<&ProcessRow>, width: u16) -> String {
        match self.entry.holder {
            Holder::Nobody => {
                let ledger = self.picture.monitor().gpus().get(self.entry.gpu).and_then(|gpu| gpu.ledger.get());
                let told_apart = ledger.is_none_or(|ledger| ledger.driver.is_some());
                if told_apart { "no owner".to_owned() } else { "no owner, or the driver's reserve".to_owned() }
            }
            Holder::Untracked { count } => format!("{count} others, counted only"),
            Holder::Process { .. } | Holder::Ended { .. } => process.map_or_else(String::new, |row| name(row, width, !self.rank_apart)),
        }
    }
}

/// The short name of the work; with a letter before it where it is graphics, and the rank where that is not said elsewhere.
fn name(row: &ProcessRow, width: u16, with_rank: bool) -> String {
    let facts = &row.facts;
    if facts.visibility == Visibility::NotHere {
        return facts.what.to_string();
    }
    let kind = if row.kind.graphics && !row.kind.compute { "G " } else { "" };
    let full = if width < 16 { &facts.what } else { &facts.what_full };
    let rank = facts
        .rank
        .filter(|rank| with_rank && rank.world.is_none_or(|world| world > 1))
        .map_or_else(String::new, |rank| format!(" · rank {}", rank.rank));
    format!("{kind}{full}{rank}")
}

/// When it went, and how full the card was where that may be why; shorter where there is no room.
fn how_it_went(ended: &Ended, zone: &TimeZone, width: u16) -> String {
    let at = format!("× {}", hour_and_minute(ended.at, zone));
    let full = ended.notable_fullness().map(|fullness| format!("{at} at {fullness} %"));
    full.filter(|text| width_of(text) <= width).unwrap_or(at)
}

fn job(row: &ProcessRow) -> String {
    let rank = row.facts.rank.map(|rank| format!("r{}", rank.rank));
    let parts: Vec<String> = row.facts.job.iter().map(ToString::to_string).chain(rank).collect();
    if parts.is_empty() { UNKNOWN.to_owned() } else { parts.join(" · ") }
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
