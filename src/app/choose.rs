//! What the keys that choose do: which rows, in what order, which columns, how much of the past.

use super::held::{present, shown};
use super::keys::Action;
use super::row::{Holder, TableRow};
use super::{App, Column, Effect, Picture, Screen, Sort};

impl App {
    pub(super) fn choose(&mut self, action: Action) -> Effect {
        match action {
            Action::Filter => self.screen = Screen::Filter,
            Action::KeepFilter => self.screen = Screen::Dashboard,
            Action::ClearFilter => {
                self.screen = Screen::Dashboard;
                self.listing.set_filter(String::new());
            }
            Action::EraseLetter => {
                let mut typed = self.listing.typed().to_owned();
                // Nothing left to take away: the line closes, as in an editor.
                if typed.pop().is_none() {
                    self.screen = Screen::Dashboard;
                }
                self.listing.set_filter(typed);
            }
            Action::ShowAll if self.then().is_some() => return self.go_on(),
            Action::ShowAll if !self.listing.leaves_out() && self.listing.focus.is_none() => return Effect::None,
            Action::ShowAll => {
                self.listing.set_filter(String::new());
                (self.listing.mine, self.listing.focus) = (false, None);
            }
            Action::NextSort => self.listing.sort = Sort { column: self.next_sort(), reversed: false },
            Action::ReverseSort => self.listing.sort.reversed = !self.listing.sort.reversed,
            Action::SortByVram => self.listing.sort = Sort::default(),
            Action::OnlyMine => self.listing.mine = !self.listing.mine,
            Action::NextGrouping => self.listing.grouping = self.listing.grouping.next(),
            Action::Unfold => self.unfold(),
            Action::Tree => {
                self.listing.tree = !self.listing.tree;
                self.listing.grouping = super::Grouping::Process;
                self.selection.begin();
            }
            Action::Focus(number) => self.focus(number),
            Action::ZeroBase => self.window.toggle_zero(),
            Action::Longer | Action::Shorter => {
                let monitor = present(self.held.as_deref(), &self.live).monitor();
                self.window.zoom(action == Action::Longer, monitor);
            }
            Action::Mark => {
                if let Some((_, now_ms)) = self.picture().monitor().now() {
                    self.window.mark(now_ms.saturating_sub(1));
                }
            }
            Action::Copy => return self.copy(),
            Action::TurnColumn => {
                let Some(column) = Self::choosable().nth(self.chooser) else { return Effect::None };
                self.columns.turn(column);
                // At once: whichever way leads out of the chooser, the choice is kept.
                return Effect::SaveColumns(self.columns.to_text());
            }
            Action::Columns if self.screen == Screen::Columns => self.screen = Screen::Dashboard,
            Action::Columns => (self.screen, self.chooser) = (Screen::Columns, 0),
            _ => return Effect::None,
        }
        self.relist();
        Effect::Redraw
    }

    /// A letter of the filter.
    pub(super) fn typed(&mut self, letter: char) -> Effect {
        const LONGEST: usize = 200;
        let mut typed = self.listing.typed().to_owned();
        if typed.len() < LONGEST && !letter.is_control() {
            typed.push(letter);
        }
        self.listing.set_filter(typed);
        self.relist();
        Effect::Redraw
    }

    /// The columns that somebody may choose about, as the chooser lists them.
    pub fn choosable() -> impl Iterator<Item = Column> {
        Column::ALL.into_iter().filter(|column| column.is_choosable())
    }

    pub(super) fn step_chooser(&mut self, by: isize) {
        self.chooser = self.chooser.saturating_add_signed(by).min(Self::choosable().count().saturating_sub(1));
    }

    /// The next column to the right that is on screen.
    fn next_sort(&self) -> Column {
        let heads: &[Column] = if self.shown.columns.is_empty() { &Column::ALL } else { &self.shown.columns };
        let now = heads.iter().position(|column| *column == self.listing.sort.column);
        now.and_then(|at| heads.get(at + 1)).or(heads.first()).copied().unwrap_or(Column::Vram)
    }

    /// Opens or folds the group of the selected row.
    fn unfold(&mut self) {
        let picture = self.picture();
        let Some(at) = self.selected() else { return };
        // A member folds the group that it stands in.
        let mut depth = u16::MAX;
        let above = picture.rows().get(..=at).unwrap_or(&[]).iter().rev().find_map(|row| {
            let is_above = row.depth < depth;
            depth = depth.min(row.depth);
            picture.group(row).filter(|_| is_above)
        });
        let Some(id) = above.map(|group| group.id.clone()) else { return };
        // Whoever opens the group under the cursor means the group.
        if matches!(picture.rows().get(at).map(|row| row.holder), Some(Holder::Group { .. })) {
            self.selection.select(shown(self.held.as_deref(), &self.live), at);
        }
        if !self.listing.turned.remove(&id) {
            self.listing.turned.insert(id);
        }
    }

    fn focus(&mut self, number: u32) {
        let gpu = self.picture().monitor().gpus().iter().find(|row| row.facts.index == Some(number));
        let Some(id) = gpu.map(|row| row.facts.id.clone()) else {
            self.note = Some(format!("there is no GPU {number}"));
            return;
        };
        self.listing.focus = if self.listing.focus.as_ref() == Some(&id) { None } else { Some(id) };
    }

    fn copy(&mut self) -> Effect {
        let picture = self.picture();
        let mut rows = if self.detail.is_none() { self.tagged.of(picture.all()) } else { Vec::new() };
        if rows.is_empty() {
            rows.extend(self.meant());
        }
        if rows.is_empty() {
            return Effect::None;
        }
        let lines: Vec<String> = rows.into_iter().map(|row| line_of(picture, row, self.ago_ms())).collect();
        let what = if lines.len() == 1 { "the line is copied".to_owned() } else { format!("{} lines are copied", lines.len()) };
        self.note = Some(format!("{what}, where the terminal allows it"));
        Effect::Copy(lines.join("\n"))
    }
}

/// How long ago a figure was true, where that is not now.
fn age(age_ms: Option<u64>) -> String {
    age_ms.map_or_else(String::new, |age_ms| format!(" ({} s ago)", age_ms / 1000))
}

/// A row in one line of plain text, with its unit, as one would write it to a colleague.
fn line_of(picture: &Picture, row: &TableRow, ago_ms: Option<u64>) -> String {
    let label = |gpu: usize| picture.monitor().gpus().get(gpu).map_or("?", |gpu| gpu.label.as_str());
    let ended = picture.ended(row).map(|ended| &ended.row);
    let bytes = match (ended, row.bytes) {
        (Some(process), _) => process.peak.map_or_else(|| "ended".to_owned(), |peak| format!("ended, peak {} GiB", peak.bytes)),
        // As it is written in the table, where it may be the least that it was, or an older one.
        (None, Some(_)) => format!("{} GiB{}", picture.figure(row), age(ago_ms.or_else(|| picture.kept_age_ms(row)))),
        (None, None) => "unknown".to_owned(),
    };
    let parts = match (picture.process(row).or(ended), picture.group(row)) {
        (Some(process), _) => {
            let facts = &process.facts;
            let words: Vec<&str> = facts.cmdline.iter().map(crate::model::SafeText::as_str).collect();
            let command = if words.is_empty() { facts.what_full.to_string() } else { words.join(" ") };
            let user = facts.user.as_ref().map_or("not visible here", |user| user.as_str());
            vec![format!("GPU {}", label(row.gpu)), format!("pid {}", facts.key.pid), user.to_owned(), bytes, command]
        }
        (None, Some(group)) => {
            let gpus: Vec<&str> = group.gpus.iter().map(|gpu| label(*gpu)).collect();
            let processes = if group.processes == 1 { "1 process".to_owned() } else { format!("{} processes", group.processes) };
            vec![format!("GPU {}", gpus.join(",")), processes, group.id.to_string(), bytes]
        }
        (None, None) => {
            let what = match row.holder {
                Holder::Untracked { count: 1 } => "1 other".to_owned(),
                Holder::Untracked { count } => format!("{count} others"),
                _ => "no owner".to_owned(),
            };
            vec![format!("GPU {}", label(row.gpu)), bytes, what]
        }
    };
    parts.join("  ")
}
