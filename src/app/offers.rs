//! What a key could be about now, and what is said where it is pressed and nothing can come of it.

use super::keys::Action;
use super::row::{Holder, TableRow};
use super::{App, Mode, Screen};
use crate::model::Visibility;

impl App {
    /// Whether there is something that an action could be about now; what would do nothing is not offered.
    pub fn has_use_for(&self, action: Action) -> bool {
        let (picture, dashboard) = (self.picture(), self.screen() == Screen::Dashboard);
        let gpus = picture.monitor().gpus().len();
        match action {
            Action::NextNotice => self.notice().is_some_and(|notice| notice.of > 1),
            Action::Focus(_) => gpus > 1,
            Action::Copy | Action::Signal(_) if dashboard && self.tagged.count() > 0 => true,
            Action::Open if self.is_walking() => true,
            Action::Up if dashboard => !picture.rows().is_empty(),
            Action::Open | Action::Tag | Action::Copy | Action::Signal(_) if dashboard => self.selected().is_some(),
            Action::Filter | Action::NextSort | Action::OnlyMine | Action::NextGrouping | Action::Tree => picture.unfiltered().all() > 0,
            Action::Past(_) | Action::Longer | Action::Mark | Action::Columns => gpus > 0,
            Action::Pause if self.held.is_some() => true,
            // Before the first sample there is nothing to hold, and a recording that is over does not go on.
            Action::Pause | Action::Faster => picture.monitor().samples() > 0 && (self.setup.mode == Mode::Live || self.ended().is_none()),
            Action::Environment => self.has_environment(),
            Action::Copy => self.meant().is_some(),
            Action::Signal(_) if self.screen() == Screen::Detail => self.meant().is_some(),
            _ => true,
        }
    }

    /// Whether the environment of the process that is looked at is known, or can be asked for; the way out of it stays open.
    fn has_environment(&self) -> bool {
        let Some(row) = self.meant() else { return false };
        let is_known = self.detail.as_ref().is_some_and(|detail| detail.environment.is_some() || detail.details.is_some());
        is_known || self.picture().process(row).is_some_and(|process| process.facts.visibility == Visibility::Here)
    }

    /// Whether a row is that of an ancestor, which holds nothing.
    fn has_nothing(&self, row: &TableRow) -> bool {
        self.picture().group(row).is_some_and(|group| group.id.ancestor().is_some())
    }

    /// Why nothing comes of an action, where that is to be said.
    pub(super) fn in_the_way(&self, action: Action) -> Option<&'static str> {
        let recording = self.setup.mode != Mode::Live;
        match action {
            _ if action.changes_the_world() && recording => Some("a recording: there is nobody to send a signal to"),
            _ if action.changes_the_world() && self.setup.read_only => Some("read-only: no signal is sent"),
            Action::Environment if recording => Some("its environment is not in a recording"),
            Action::Environment | Action::Copy | Action::Signal(_) if self.screen() == Screen::Detail && self.meant().is_none() => {
                Some("nothing is known of it now")
            }
            _ if self.screen() != Screen::Dashboard => None,
            Action::Copy | Action::Signal(_) if self.tagged.count() > 0 => None,
            Action::Open if self.is_walking() => None,
            Action::Open | Action::Tag | Action::Copy | Action::Signal(_) if self.selected().is_none() => {
                (!self.picture().rows().is_empty()).then_some("no row is selected: ↓ selects one")
            }
            Action::Open | Action::Signal(_) if self.meant().is_some_and(|row| self.has_nothing(row)) => {
                Some("it holds no GPU memory itself: x tags all below it, and K is about those then")
            }
            Action::Signal(_) => match self.meant()?.holder {
                Holder::Group { .. } => Some("several processes: x tags them all, Tab shows them one by one"),
                Holder::Nobody | Holder::Untracked { .. } => Some("no process is named here that a signal could be sent to"),
                Holder::Process { .. } | Holder::Ended { .. } => None,
            },
            _ => None,
        }
    }
}
