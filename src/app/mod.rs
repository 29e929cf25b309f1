//! What the dashboard is looking at: the state behind the picture, and the one function that changes it.
//!
//! Nothing here draws, reads or asks the time: messages come in, an effect comes out as a value, and the main loop carries it out.

mod bindings;
mod choose;
mod columns;
mod detail;
mod dialog;
mod filter;
mod freshness;
mod groups;
mod held;
pub mod keys;
mod letters;
mod listing;
mod messages;
mod mouse;
mod offers;
mod owners;
mod picture;
mod press;
mod row;
mod selection;
mod sort;
mod tagged;
mod tree;
mod window;

pub use columns::{Column, Columns, Wish};
pub use detail::{Detail, OwnIndex};
pub use dialog::{Dialog, Stage, Subject};
pub use freshness::{Freshness, Mode, Playback, Position, Waiting};
pub use groups::{Group, GroupId, Grouping};
pub use letters::Letter;
pub use listing::Listing;
pub use messages::{Answer, Effect, Interest, Msg, Notice, Screen, Setup, Shown};
pub use mouse::{Spot, Target};
pub use owners::{Hue, Owner, sum_figure};
pub use picture::{Count, Picture};
pub use row::{Holder, RowId, TableRow};
pub use sort::Sort;
pub use tagged::Tagged;
pub use window::Window;

use crate::insight::{Severity, Warning};
use crate::model::Record;
use freshness::Clock;
use held::{Held, present, shown};
use selection::Selection;

/// Everything that a frame is drawn from.
#[derive(Debug)]
pub struct App {
    setup: Setup,
    live: Picture,
    /// The picture that stands still; samples go on into `live`.
    held: Option<Box<Held>>,
    selection: Selection,
    tagged: Tagged,
    screen: Screen,
    clock: Clock,
    notice: usize,
    /// The notices as they were when they last changed, the worst first.
    notices: Vec<Warning>,
    /// Whether somebody walks through the notices: Enter is then about the one that is shown.
    walking: bool,
    detail: Option<Detail>,
    dialog: Option<Dialog>,
    shown: Shown,
    interest: Interest,
    listing: Listing,
    window: Window,
    columns: Columns,
    /// The line of the chooser of columns that is under the cursor.
    chooser: usize,
    note: Option<String>,
    /// Whether the source ended because it could not go on.
    failed: bool,
    /// The first line of the help that is shown.
    help_top: usize,
}

impl App {
    /// Before the first record.
    pub fn new(setup: Setup) -> Self {
        Self {
            clock: Clock::new(setup.mode),
            setup,
            live: Picture::default(),
            held: None,
            selection: Selection::default(),
            tagged: Tagged::default(),
            screen: Screen::default(),
            notice: 0,
            notices: Vec::new(),
            walking: false,
            detail: None,
            dialog: None,
            shown: Shown::default(),
            interest: Interest::default(),
            listing: Listing::default(),
            window: Window::default(),
            columns: Columns::default(),
            chooser: 0,
            note: None,
            failed: false,
            help_top: 0,
        }
    }

    /// With columns that were chosen another time.
    #[must_use]
    pub fn with_columns(self, columns: Columns) -> Self {
        Self { columns, ..self }
    }

    /// What was settled before the first record.
    pub const fn setup(&self) -> &Setup {
        &self.setup
    }

    /// What is to be drawn: the newest picture, the one that is held, or what it was at a moment before.
    pub fn picture(&self) -> &Picture {
        shown(self.held.as_deref(), &self.live)
    }

    /// How many lines of the help are above the screen, until the next frame perhaps more than there are.
    pub const fn help_top(&self) -> usize {
        self.help_top
    }

    /// Which screen is up.
    pub const fn screen(&self) -> Screen {
        if self.dialog.is_some() { Screen::Signal } else { self.screen }
    }

    /// The screen below the dialog, where one is open.
    pub const fn beneath(&self) -> Screen {
        self.screen
    }

    /// Position of the row under the cursor in [`Picture::rows`]; `None` while whoever is selected is hidden.
    pub const fn selected(&self) -> Option<usize> {
        self.selection.cursor()
    }

    /// By what choices the table is made.
    pub const fn listing(&self) -> &Listing {
        &self.listing
    }

    /// What the histories show.
    pub const fn window(&self) -> &Window {
        &self.window
    }

    /// What is wished of the columns.
    pub const fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The line under the cursor in the chooser of columns.
    pub const fn chooser(&self) -> usize {
        self.chooser
    }

    /// The columns that the last frame had.
    pub fn columns_in_sight(&self) -> &[Column] {
        &self.shown.columns
    }

    /// The time of a column of the histories that the last frame had, in milliseconds.
    pub const fn column_ms(&self) -> u64 {
        self.shown.column_ms
    }

    /// What is said in passing.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// How fresh the picture is.
    pub fn freshness(&self) -> Freshness {
        self.clock.freshness(self.held.is_some(), self.live.monitor())
    }

    /// Which driver call the source was in when it last said so, unless a sample has come since.
    pub const fn waiting(&self) -> Option<&Waiting> {
        self.clock.waiting()
    }

    /// Why the source has ended, if it has.
    pub fn ended(&self) -> Option<&str> {
        self.clock.ended()
    }

    /// What line 2 says now; nothing when all is well.
    pub fn notice(&self) -> Option<Notice> {
        if let Some(then) = self.then() {
            return self.happened(then);
        }
        let warnings = self.picture().monitor().warnings();
        // A live source that ends is a failure and comes first; the end of a recording is none.
        let ended = self.clock.ended().filter(|_| self.failed);
        let first = ended.map(|reason| (Severity::Alarm, format!("reading has ended: {reason}"))).or_else(|| Some((Severity::Warn, self.silence()?)));
        let of = warnings.len() + usize::from(first.is_some());
        let place = self.notice.min(of.saturating_sub(1));
        let (severity, text, names) = match first {
            Some((severity, text)) if place == 0 => (severity, text, None),
            first => {
                let warning = warnings.get(place - usize::from(first.is_some()))?;
                (warning.severity(), warning.to_string(), self.named_by(warning))
            }
        };
        Some(Notice { severity, text, number: place + 1, of, names })
    }

    /// The call that keeps the first sample from coming. Later the mark of freshness names it.
    fn silence(&self) -> Option<String> {
        let waiting = self.clock.waiting().filter(|waiting| waiting.for_ms >= Waiting::NOTABLE_MS)?;
        let connecting = self.freshness() == Freshness::Connecting;
        connecting.then(|| format!("the driver has not answered `{}` for {} s", waiting.call, waiting.for_ms / 1000))
    }

    fn named_by(&self, warning: &Warning) -> Option<RowId> {
        let (label, key) = warning.names()?;
        let gpu = self.picture().monitor().gpus().iter().find(|gpu| gpu.label == label)?;
        Some(RowId::of_process(gpu.facts.id.clone(), key))
    }

    /// Whether Enter selects the process that line 2 names.
    pub fn is_walking(&self) -> bool {
        self.walking && self.notice().is_some_and(|notice| notice.names.is_some())
    }

    /// Of more processes than these the host is asked only while they are on screen: each costs it 30 µs a second.
    const MOST_ASKED: usize = 256;

    fn take(&mut self, record: &Record) -> Effect {
        self.live.apply(record);
        self.tagged.keep(self.live.all());
        if let Some(dialog) = &mut self.dialog {
            dialog.follow(self.live.monitor());
        }
        if let Record::Sample(sample) = record {
            self.clock.sampled(sample.elapsed_ms);
        }
        if self.held.is_some() {
            return Effect::None;
        }
        self.relist();
        self.follow_notices();
        Effect::Redraw
    }

    /// Of the same warnings in another order the one that is read stays on the screen; of others the worst is shown again.
    fn follow_notices(&mut self) {
        let newest = self.live.monitor().warnings();
        if newest.len() == self.notices.len() && newest.iter().zip(&self.notices).all(|(new, old)| new.is_about_same(old)) {
            return;
        }
        let place_of = |old: &Warning| newest.iter().position(|new| new.is_about_same(old));
        let are_same = newest.len() == self.notices.len() && self.notices.iter().all(|old| place_of(old).is_some());
        self.notice = self.notices.get(self.notice).filter(|_| are_same).and_then(place_of).unwrap_or(0);
        self.notices = newest.to_vec();
    }

    /// Makes the table anew that is on screen. The selected row stays so wherever it stands.
    fn relist(&mut self) {
        // Histories end with the newest sample, however far somebody looks back.
        let covered = self.window.covered(self.present().monitor());
        self.held.as_deref_mut().map_or(&mut self.live, Held::picture_mut).list(&self.listing, covered);
        let held = self.held.as_deref();
        self.selection.follow(shown(held, &self.live), present(held, &self.live));
    }

    /// Selects the row that is found, if one is.
    fn select(&mut self, find: impl FnOnce(&[TableRow]) -> Option<usize>) {
        let picture = shown(self.held.as_deref(), &self.live);
        if let Some(at) = find(picture.rows()) {
            self.selection.select(picture, at);
        }
    }

    fn drawn(&mut self, shown: Shown) -> Effect {
        // Presses beyond the end do not have to be taken back.
        if let Some(top) = self.scrolled() {
            *top = (*top).min(shown.scroll_end);
        }
        let rows = self.picture().rows();
        let visible = rows.get(shown.rows.clone()).unwrap_or(&[]).iter();
        let selected = self.meant();
        let seen: Vec<&TableRow> = visible.chain(selected).filter(|row| !row.is_ended()).collect();
        let mut pids: Vec<u32> = seen.iter().filter_map(|row| row.pid()).collect();
        pids.extend(seen.iter().filter_map(|row| self.picture().group(row)).flat_map(Group::pids).take(Self::MOST_ASKED));
        // What the table is in order of is asked of all rows, since it decides which of them are seen.
        if matches!(self.listing.sort.column, Column::Cpu | Column::Rss) {
            pids.extend(rows.iter().filter(|row| !row.is_ended()).filter_map(TableRow::pid).take(Self::MOST_ASKED));
        }
        pids.sort_unstable();
        pids.dedup();
        let interest = Interest { pids, sm_percent: shown.sm_percent };
        self.shown = shown;
        if interest == self.interest {
            return Effect::None;
        }
        self.interest = interest.clone();
        Effect::Interest(interest)
    }
}

/// Takes in one message and says what has to be done about it.
pub fn update(app: &mut App, msg: Msg) -> Effect {
    let before = app.freshness();
    let redraw_if = |changed: bool| if changed { Effect::Redraw } else { Effect::None };
    match msg {
        Msg::Record(record) => app.take(&record),
        Msg::Key(key) => app.key(&key),
        Msg::Mouse(event) => app.mouse(event),
        Msg::Note(text) => {
            app.note = Some(text);
            Effect::Redraw
        }
        Msg::Details(details) => redraw_if(app.detail.as_mut().is_some_and(|detail| detail.take(details))),
        Msg::Answer { key, answer } => app.answered(key, answer),
        Msg::Resized => Effect::RedrawAll,
        Msg::Tick(now) => {
            app.clock.tick(now);
            redraw_if(app.freshness() != before)
        }
        Msg::Waiting(waiting) => {
            let new = app.clock.waiting() != Some(&waiting);
            app.clock.wait(waiting);
            // During a picture that is fresh a call in progress is nothing to be shown.
            redraw_if(new && !matches!(before, Freshness::Live))
        }
        Msg::Ended { reason, failed } => {
            app.failed = failed;
            app.clock.end(reason);
            Effect::Redraw
        }
        Msg::Drawn(shown) => app.drawn(shown),
    }
}

#[cfg(test)]
mod tests;
