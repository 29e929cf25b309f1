//! The close look at one process: which one it is, what was found out about it, and whether its environment is shown.

use super::picture::Picture;
use super::row::{RowId, TableRow};
use super::{App, Effect, Mode, Screen};
use crate::model::{Details, ProcessKey, cuda_order};

/// Which process is looked at.
#[derive(Clone, Debug)]
pub struct Detail {
    id: RowId,
    /// What was found out about it on demand; `None` before the answer, and in a recording.
    pub details: Option<Box<Details>>,
    /// Whether its environment is listed, and from which variable on.
    pub environment: Option<usize>,
}

/// Which of its own CUDA devices a GPU is to a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnIndex {
    /// `cuda:N`
    Known(usize),
    /// It can't be told, and why.
    Unknown(&'static str),
}

impl Detail {
    pub(super) const fn of(id: RowId) -> Self {
        Self { id, details: None, environment: None }
    }

    /// Its process.
    pub fn key(&self) -> Option<ProcessKey> {
        self.id.key()
    }

    /// Its row: as long as it is listed, and for a while after.
    pub fn row<'a>(&self, picture: &'a Picture) -> Option<&'a TableRow> {
        picture.find(&self.id)
    }

    pub(super) fn take(&mut self, details: Box<Details>) -> bool {
        let is_ours = self.id.key().is_some_and(|key| key == details.key);
        if is_ours {
            self.details = Some(details);
        }
        is_ours
    }

    /// The index that the process's own CUDA gives to its GPU, as its environment was when it started.
    pub fn own_index(&self, picture: &Picture) -> Option<OwnIndex> {
        let (details, row) = (self.details.as_ref()?, self.row(picture)?);
        details.environment.value()?;
        if picture.process(row)?.facts.container.is_some() {
            return Some(OwnIndex::Unknown("its container numbers the GPUs anew"));
        }
        let gpus: Vec<_> = picture.monitor().gpus().iter().map(|gpu| &*gpu.facts).collect();
        let pci_order = details.variable("CUDA_DEVICE_ORDER") == Some("PCI_BUS_ID");
        Some(match cuda_order(&gpus, details.variable("CUDA_VISIBLE_DEVICES"), pci_order) {
            Ok(order) => {
                let place = order.iter().position(|at| *at == row.gpu);
                place.map_or(OwnIndex::Unknown("it has chosen its GPUs after it had started"), OwnIndex::Known)
            }
            Err(_) => OwnIndex::Unknown("CUDA counts the fastest first, and these GPUs differ"),
        })
    }
}

impl App {
    /// The process that is looked at from close by.
    pub const fn detail(&self) -> Option<&Detail> {
        self.detail.as_ref()
    }

    /// Opens the close look at the selected process.
    pub(super) fn look_closely(&mut self) -> Effect {
        let picture = self.picture();
        let Some(row) = self.selected().and_then(|at| picture.rows().get(at)).filter(|row| row.key().is_some()) else { return Effect::None };
        let whom = whom(picture, row).filter(|_| self.setup.mode == Mode::Live);
        self.detail = Some(Detail::of(row.id.clone()));
        self.screen = Screen::Detail;
        whom.map_or(Effect::Redraw, Effect::Look)
    }

    /// The row that keys about a process mean: the one that is looked at, or else the one under the cursor.
    pub(super) fn meant(&self) -> Option<&TableRow> {
        let picture = self.picture();
        match &self.detail {
            Some(detail) => detail.row(picture),
            None => self.selected().and_then(|at| picture.rows().get(at)),
        }
    }

    /// Its environment, and out of it.
    pub(super) fn toggle_environment(&mut self) {
        if let Some(detail) = &mut self.detail {
            detail.environment = if detail.environment.is_some() { None } else { Some(0) };
        }
    }
}

/// Whom to ask about, where a look is allowed at all.
fn whom(picture: &Picture, row: &TableRow) -> Option<ProcessKey> {
    let facts = &picture.process(row)?.facts;
    (facts.visibility == crate::model::Visibility::Here).then_some(facts.key)
}
