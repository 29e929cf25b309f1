//! One row of the table, cell by cell: a process, several in one, or memory without an owner.

use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::columns::{Placed, mark_width};
use super::figures::{Change, UNKNOWN, gib, hour_and_minute, span};
use super::graph::small;
use super::past::{Past, total_of};
use super::pen::{Pen, width_of};
use super::theme::{Role, Theme};
use crate::app::{Column, Group, Grouping, Holder, Hue, Picture, TableRow};
use crate::history::ProcessHistory;
use crate::model::{Bytes, Moment, Reading, Visibility};
use crate::monitor::{Ended, ProcessRow};

/// A row, and all that its look depends on.
pub(super) struct Row<'a> {
    pub(super) picture: &'a Picture,
    pub(super) entry: &'a TableRow,
    /// The process, where it is no longer listed.
    pub(super) ended: Option<&'a Ended>,
    pub(super) past: &'a Past,
    /// Whether the rank has a column of its own.
    pub(super) rank_apart: bool,
    pub(super) now: Option<Moment>,
    pub(super) zone: &'a TimeZone,
    pub(super) selected: bool,
    pub(super) tagged: bool,
    pub(super) theme: &'a Theme,
}

impl Row<'_> {
    fn style(&self, role: Role) -> Style {
        // Under the cursor all has one look, so that no colour breaks the reversal.
        match role {
            // Except the history, which is a shape: turned over, it would be another.
            Role::Small if self.selected => self.theme.style(role).remove_modifier(Modifier::REVERSED),
            _ if self.selected => Theme::selected(),
            // What holds nothing itself is dim from end to end.
            _ if (self.ended.is_some() || self.is_ancestor()) && role != Role::Small => self.theme.style(Role::Label),
            role => self.theme.style(role),
        }
    }

    fn is_ancestor(&self) -> bool {
        self.picture.group(self.entry).is_some_and(|group| group.id.ancestor().is_some())
    }

    /// The name of its work, below that of who started it.
    fn below(&self, name: &str) -> String {
        format!("{}{name}", "› ".repeat(usize::from(self.entry.depth.min(8))))
    }

    /// Draws it into its line.
    pub(super) fn draw(&self, buffer: &mut Buffer, area: Rect, placed: &[Placed]) {
        if self.selected {
            buffer.set_style(area.intersection(buffer.area), Theme::selected());
        }
        let process = self.picture.process(self.entry).or(self.ended.map(|ended| &ended.row));
        let group = self.picture.group(self.entry);
        let (letter, hue) = match self.entry.holder {
            Holder::Process { letter, hue, .. } => (letter.letter, hue),
            Holder::Nobody => ('?', Hue::Unseen),
            Holder::Untracked { .. } => ('+', Hue::Unseen),
            Holder::Ended { .. } => ('×', Hue::Unseen),
            Holder::Group { .. } => (if group.is_some_and(|group| group.is_open) { '–' } else { '+' }, group.map_or(Hue::Unseen, |group| group.hue)),
        };
        let mark = mark_width(area.width);
        let mut pen = Pen::new(buffer, area);
        pen.glyph(if self.selected { '▸' } else { ' ' }, self.style(Role::Text)).skip(mark - 3);
        pen.glyph(letter, self.style(Role::Hue(hue)));
        if self.tagged {
            pen.glyph('●', self.style(Role::Figure));
        }
        for column in placed.iter().copied() {
            let cell = Rect { x: area.x + column.x, width: column.width, ..area };
            let mut pen = Pen::new(buffer, cell);
            match (group, self.ended.and_then(|ended| self.ended_cell(column, ended))) {
                (Some(group), _) => self.group_cell(&mut pen, column, group),
                (None, Some(text)) if column.column == Column::Trend => {
                    pen.left(&text, column.width, self.style(Role::Label));
                }
                (None, Some(text)) => {
                    pen.right(&text, column.width, self.style(Role::Label));
                }
                (None, None) => self.cell(&mut pen, column, process, hue),
            }
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

    fn cell(&self, pen: &mut Pen<'_>, placed: Placed, process: Option<&ProcessRow>, hue: Hue) {
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
            Column::Vram => self.vram(pen, width),
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
            Column::Cpu => pen.right(&percent(host.and_then(|host| host.cpu_permille)), width, label),
            Column::Rss => pen.right(&host.map_or_else(|| UNKNOWN.to_owned(), |host| format!("{}G", host.rss)), width, label),
            Column::Time => {
                let started = process.and_then(|row| row.facts.started).zip(self.now);
                pen.right(&started.map_or_else(|| UNKNOWN.to_owned(), |(started, now)| span(now.since(started))), width, label)
            }
            Column::Job => pen.left(&process.map_or_else(|| UNKNOWN.to_owned(), job), width, label),
            Column::What => pen.left(&self.below(&self.what(process, width)), width, if hue == Hue::Unseen { label } else { text }),
        };
    }

    /// The totals of several processes. What cannot be added up (peaks, ages) is not there.
    fn group_cell(&self, pen: &mut Pen<'_>, placed: Placed, group: &Group) {
        let (label, text, width) = (self.style(Role::Label), self.style(Role::Text), placed.width);
        let hue = self.style(Role::Hue(group.hue));
        match placed.column {
            Column::Gpu => {
                let gpus = self.picture.monitor().gpus();
                let one = group.gpus.first().filter(|_| group.gpus.len() == 1).and_then(|at| gpus.get(*at));
                pen.right(&one.map_or_else(|| count_of_gpus(group), |gpu| gpu.label.clone()), width, text)
            }
            Column::Pid => {
                let count = || format!("{}×", group.processes);
                pen.right(&group.id.ancestor().map_or_else(count, |ancestor| ancestor.key.pid.to_string()), width, label)
            }
            Column::User => pen.left(group.user.as_ref().map_or(UNKNOWN, |user| user.as_str()), width, hue),
            Column::Vram => self.vram(pen, width),
            Column::Trend => match self.age() {
                Some(age) => pen.left(&age, width, label),
                None => self.change(pen, &group.bytes_per_minute.map_or(Reading::NOT_YET, Reading::Value), width),
            },
            Column::Cpu => pen.right(&percent(group.cpu_permille), width, label),
            Column::Rss => pen.right(&group.rss.map_or_else(|| UNKNOWN.to_owned(), |rss| format!("{rss}G")), width, label),
            Column::Job => {
                let job = group.id.name().filter(|_| group.id.grouping() == Grouping::Job);
                pen.left(job.map_or(UNKNOWN, |job| job.as_str()), width, label)
            }
            Column::What => {
                if let Some(ancestor) = group.id.ancestor() {
                    pen.left(&self.below(&format!("{} ({})", ancestor.name, group.processes)), width, label);
                    return;
                }
                let names = group.what.iter().map(crate::model::SafeText::as_str).collect::<Vec<_>>().join(", ");
                match group.id.grouping() {
                    Grouping::Process | Grouping::User => pen.left(&names, width, text),
                    Grouping::Container | Grouping::Job => {
                        let name = group_name(group);
                        // Those that are not visible here have no names beside that.
                        let both = if name == names { name } else { format!("{name} · {names}") };
                        pen.left(&both, width, text)
                    }
                }
            }
            Column::Kind => pen.left(UNKNOWN, width, label),
            Column::Peak | Column::Sm | Column::Time => pen.right(UNKNOWN, width, label),
            Column::History => pen,
        };
    }

    fn trend<'p, 'b>(&self, pen: &'p mut Pen<'b>, process: Option<&ProcessRow>, width: u16) -> &'p mut Pen<'b> {
        let known = process.filter(|row| row.memory.is_value());
        let Some(process) = known else { return pen.left(UNKNOWN, width, self.style(Role::Label)) };
        match self.age() {
            Some(age) => pen.left(&age, width, self.style(Role::Label)),
            None => self.change(pen, &process.bytes_per_minute(), width),
        }
    }

    fn vram<'p, 'b>(&self, pen: &'p mut Pen<'b>, width: u16) -> &'p mut Pen<'b> {
        let role = if self.picture.is_kept(self.entry) { Role::Label } else { Role::Figure };
        pen.right(&self.picture.figure(self.entry), width, self.style(role))
    }

    /// How old the row's figure is, where a list cannot be read now: it stands in place of a change that nobody knows.
    fn age(&self) -> Option<String> {
        let age_ms = self.picture.kept_age_ms(self.entry)?;
        Some(if age_ms < 1000 { UNKNOWN.to_owned() } else { format!("{} ago", span(age_ms)) })
    }

    fn change<'p, 'b>(&self, pen: &'p mut Pen<'b>, bytes_per_minute: &Reading<f64>, width: u16) -> &'p mut Pen<'b> {
        let change = Change::new(bytes_per_minute, self.card());
        let text = if width < 11 { change.short() } else { change.long() };
        pen.left(&text, width, self.style(if change.moves { Role::Text } else { Role::Label }))
    }

    /// All memory of the row's card.
    fn card(&self) -> Bytes {
        self.picture.monitor().gpus().get(self.entry.gpu).map_or(Bytes::ZERO, total_of)
    }

    fn history(&self, process: &ProcessRow, width: u16) -> String {
        let columns = self.past.course(self.past.of_process(&process.history), width).cells;
        // Two in a hundred of the card: what moves less is flat.
        let least = self.card().0 / 50 / ProcessHistory::bytes(1).0;
        small(&columns, u32::try_from(least).unwrap_or(u32::MAX))
    }

    fn what(&self, process: Option<&ProcessRow>, width: u16) -> String {
        match self.entry.holder {
            Holder::Nobody => {
                let ledger = self.picture.monitor().gpus().get(self.entry.gpu).and_then(|gpu| gpu.ledger.get());
                let told_apart = ledger.is_none_or(|ledger| ledger.driver.is_some());
                let both = "no owner, or the driver's reserve";
                let words = if told_apart {
                    "no owner"
                } else if width_of(both) <= width {
                    both
                } else {
                    "no owner or driver"
                };
                words.to_owned()
            }
            Holder::Untracked { count: 1 } => "1 other, counted only".to_owned(),
            Holder::Untracked { count } => format!("{count} others, counted only"),
            Holder::Process { .. } | Holder::Ended { .. } | Holder::Group { .. } => {
                process.map_or_else(String::new, |row| name(row, width, !self.rank_apart))
            }
        }
    }
}

/// Tenths of a percent, in whole percent.
fn percent(permille: Option<u32>) -> String {
    permille.map_or_else(|| UNKNOWN.to_owned(), |permille| ((permille + 5) / 10).to_string())
}

/// `2×`: on how many GPUs a group is.
pub(super) fn count_of_gpus(group: &Group) -> String {
    format!("{}×", group.gpus.len())
}

/// What the members of a group have in common.
pub(super) fn group_name(group: &Group) -> String {
    match (group.id.name(), group.id.grouping()) {
        (Some(name), Grouping::Container) => format!("container {name}"),
        (_, _) => group.id.to_string(),
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
