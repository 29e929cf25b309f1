//! Which GPUs are meant: `--id` by index, UUID or PCI id, and `--visible` by `CUDA_VISIBLE_DEVICES`.
//!
//! Devices are told by their facts alone; nothing is read here.

use super::{GpuFacts, GpuId};

/// Which devices to look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// All of them.
    #[default]
    All,
    /// These, as the user wrote them.
    Ids(Vec<String>),
    /// What `CUDA_VISIBLE_DEVICES` holds; `pci_order` when `CUDA_DEVICE_ORDER=PCI_BUS_ID` is set.
    Visible {
        /// The variable's value; `None` where it is not set, which means all.
        value: Option<String>,
        /// Whether CUDA counts in the driver's order.
        pci_order: bool,
    },
    /// These, whatever number they have by now; one that is not there is left out.
    Settled(Vec<GpuId>),
}

/// The devices that were asked for are not there, or cannot be told.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// No device has that name.
    #[error("no GPU {wanted:?} here: there are {known}. Give an index, a UUID or a PCI id (vramtop -i 0,1)")]
    Unknown {
        /// What was asked for.
        wanted: String,
        /// What there is.
        known: String,
    },
    /// The list names no device at all.
    #[error("no GPU is chosen: there are {known}. Name one (vramtop -i 0), or set CUDA_VISIBLE_DEVICES to one that is here")]
    Nothing {
        /// What there is.
        known: String,
    },
    /// Several devices have that name.
    #[error("{wanted:?} is the start of several UUIDs: give more of it")]
    Ambiguous {
        /// What was asked for.
        wanted: String,
    },
    /// CUDA's own order cannot be known from the driver.
    #[error(
        "--visible cannot tell which GPUs CUDA_VISIBLE_DEVICES={value} means: CUDA counts the fastest first and these GPUs differ. \
         Set CUDA_DEVICE_ORDER=PCI_BUS_ID, or give UUIDs"
    )]
    MixedCards {
        /// The variable's value.
        value: String,
    },
}

impl Selection {
    /// A comma list as `--id` takes it.
    pub fn ids(list: &str) -> Self {
        Self::Ids(list.split(',').map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect())
    }

    /// The same devices by names that stay theirs: an index is another GPU's once one appears before it.
    ///
    /// # Errors
    /// [`SelectionError`] when one cannot be found or told.
    pub fn settled(&self, gpus: &[&GpuFacts]) -> Result<Self, SelectionError> {
        Ok(match self {
            Self::Settled(_) => self.clone(),
            _ => self.wanted(gpus)?.map_or(Self::All, |wanted| Self::Settled(wanted.into_iter().map(|at| gpus[at].id.clone()).collect())),
        })
    }

    /// Positions of the devices that are named; `None` means all.
    fn wanted(&self, gpus: &[&GpuFacts]) -> Result<Option<Vec<usize>>, SelectionError> {
        Ok(match self {
            Self::All | Self::Visible { value: None, .. } => None,
            Self::Ids(ids) => Some(ids.iter().map(|id| find(gpus, id)).collect::<Result<_, _>>()?),
            Self::Visible { value: Some(value), pci_order } => Some(visible(gpus, value, *pci_order)?),
            Self::Settled(ids) => Some(ids.iter().filter_map(|id| gpus.iter().position(|gpu| gpu.id == *id)).collect()),
        })
    }

    /// Positions of the devices that are meant, in the driver's order. A whole GPU brings its MIG instances, an instance its parent's row.
    ///
    /// # Errors
    /// [`SelectionError`] when one cannot be found or told.
    pub fn positions(&self, gpus: &[&GpuFacts]) -> Result<Vec<usize>, SelectionError> {
        let Some(wanted) = self.wanted(gpus)? else { return Ok((0..gpus.len()).collect()) };
        let meant = |at: usize| {
            let facts = gpus[at];
            wanted.iter().any(|w| {
                let chosen = gpus[*w];
                *w == at || facts.parent.as_ref() == Some(&chosen.id) || chosen.parent.as_ref() == Some(&facts.id)
            })
        };
        Ok((0..gpus.len()).filter(|at| meant(*at)).collect())
    }
}

impl Selection {
    /// As [`Selection::positions`], of GPUs of which nothing but their place is known: PCI id and index, in the order of PCI ids as the
    /// driver counts. `None` where that is not enough: a UUID or an instance is named, or CUDA's own order among several.
    ///
    /// # Errors
    /// [`SelectionError`] when one cannot be found.
    pub fn positions_by_place(&self, gpus: &[&GpuFacts]) -> Result<Option<Vec<usize>>, SelectionError> {
        let is_index = |entry: &str| entry.parse::<u32>().is_ok();
        let is_place = |entry: &str| is_index(entry) || entry.contains(':');
        let is_uuid = |entry: &str| ["gpu-", "mig-"].iter().any(|prefix| entry.to_ascii_lowercase().starts_with(prefix));
        let told = match self {
            Self::All | Self::Visible { value: None, .. } => true,
            Self::Ids(ids) => ids.iter().all(|id| is_place(id)),
            Self::Visible { value: Some(value), pci_order } => {
                let mut entries = value.split(',').map(str::trim);
                entries.all(|entry| !is_uuid(entry) && (*pci_order || gpus.len() == 1 || !is_index(entry)))
            }
            Self::Settled(_) => false,
        };
        if !told {
            return Ok(None);
        }
        let chosen = self.positions(gpus)?;
        if chosen.is_empty() { Err(SelectionError::Nothing { known: known_gpus(gpus) }) } else { Ok(Some(chosen)) }
    }
}

/// The devices as a process counts them that has this `CUDA_VISIBLE_DEVICES`: its `cuda:0` first.
///
/// # Errors
/// When CUDA's own order cannot be known from the driver.
pub fn cuda_order(gpus: &[&GpuFacts], value: Option<&str>, pci_order: bool) -> Result<Vec<usize>, SelectionError> {
    let all: Vec<String> = gpus.iter().filter_map(|gpu| gpu.index).map(|index| index.to_string()).collect();
    visible(gpus, value.unwrap_or(&all.join(",")), pci_order)
}

/// CUDA takes the entries up to the first that names nothing; `-1` and the empty text hide all.
fn visible(gpus: &[&GpuFacts], value: &str, pci_order: bool) -> Result<Vec<usize>, SelectionError> {
    let entries: Vec<&str> = value.split(',').map(str::trim).collect();
    let by_index = entries.iter().any(|e| e.parse::<u32>().is_ok());
    let whole: Vec<&&GpuFacts> = gpus.iter().filter(|g| g.parent.is_none()).collect();
    let mixed = whole.iter().any(|g| g.name != whole[0].name);
    if by_index && mixed && !pci_order {
        return Err(SelectionError::MixedCards { value: value.to_owned() });
    }
    Ok(entries.iter().map_while(|entry| find(gpus, entry).ok()).collect())
}

fn find(gpus: &[&GpuFacts], wanted: &str) -> Result<usize, SelectionError> {
    let unknown = || SelectionError::Unknown { wanted: wanted.to_owned(), known: known_gpus(gpus) };
    if let Ok(index) = wanted.parse::<u32>() {
        return gpus.iter().position(|g| g.index == Some(index)).ok_or_else(unknown);
    }
    if let Some((parent, instance)) = wanted.split_once('.').and_then(|(p, i)| Some((p.parse::<u32>().ok()?, i.parse::<u32>().ok()?))) {
        let parent = gpus.iter().find(|g| g.index == Some(parent)).map(|g| &g.id);
        return gpus.iter().position(|g| g.parent.is_some() && g.parent.as_ref() == parent && g.instance == Some(instance)).ok_or_else(unknown);
    }
    let lower = wanted.to_ascii_lowercase();
    let by_uuid: Vec<usize> = matching(gpus, |g| lower.len() >= 5 && g.id.as_str().to_ascii_lowercase().starts_with(&lower));
    match by_uuid.as_slice() {
        [one] => return Ok(*one),
        [] => {}
        [..] => return Err(SelectionError::Ambiguous { wanted: wanted.to_owned() }),
    }
    // `0000:01:00.0` and `01:00.0` are written for `00000000:01:00.0`, too.
    let by_pci = matching(gpus, |g| g.parent.is_none() && g.pci.as_ref().is_some_and(|pci| same_bus_id(pci.as_str(), &lower)));
    by_pci.first().copied().ok_or_else(unknown)
}

fn matching(gpus: &[&GpuFacts], is_it: impl Fn(&GpuFacts) -> bool) -> Vec<usize> {
    (0..gpus.len()).filter(|at| is_it(gpus[*at])).collect()
}

fn same_bus_id(pci: &str, wanted: &str) -> bool {
    let normal = |id: &str| {
        let (rest, device) = id.rsplit_once(':')?;
        let (domain, bus) = rest.rsplit_once(':').unwrap_or(("0", rest));
        Some((u32::from_str_radix(domain, 16).ok()?, u8::from_str_radix(bus, 16).ok()?, device.to_ascii_lowercase()))
    };
    normal(pci).is_some_and(|id| Some(id) == normal(wanted))
}

/// The indices that there are, for a sentence.
pub fn known_gpus(gpus: &[&GpuFacts]) -> String {
    let indices: Vec<String> = gpus.iter().filter_map(|g| g.index).map(|i| i.to_string()).collect();
    if indices.is_empty() { "none".to_owned() } else { indices.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{GpuId, Reading, SafeText};

    fn gpu(index: u32, name: &str) -> GpuFacts {
        GpuFacts {
            id: GpuId::new(&format!("GPU-0000000{index}-1111")),
            index: Some(index),
            instance: None,
            parent: None,
            pci: Some(SafeText::new(&format!("00000000:0{index}:00.0"))),
            name: SafeText::new(name),
            total: Reading::NOT_YET,
            shared_with_host: false,
            power_limit_mw: Reading::NOT_YET,
            max_sm_mhz: Reading::NOT_YET,
            max_memory_mhz: Reading::NOT_YET,
            bar1_total: Reading::NOT_YET,
            mig: Reading::Value(false),
        }
    }

    fn positions(selection: &Selection, gpus: &[GpuFacts]) -> Result<Vec<usize>, SelectionError> {
        selection.positions(&gpus.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_gpu_can_be_named_in_three_ways() {
        let gpus = [gpu(0, "H200"), gpu(1, "H200"), gpu(2, "H200")];
        for list in ["1,2", "GPU-00000001,GPU-00000002-1111", "00000000:01:00.0,0000:02:00.0", "01:00.0 , 02:00.0", "2,1,1"] {
            assert_eq!(positions(&Selection::ids(list), &gpus), Ok(vec![1, 2]), "{list}");
        }
    }

    #[test]
    fn a_wrong_name_says_what_there_is() {
        let gpus = [gpu(0, "H200"), gpu(1, "H200")];
        let error = positions(&Selection::ids("7"), &gpus).expect_err("there is no GPU 7");
        assert!(error.to_string().contains("there are 0, 1"), "{error}");
        assert!(matches!(positions(&Selection::ids("GPU-0000000"), &gpus), Err(SelectionError::Ambiguous { .. })));
    }

    #[test]
    fn what_a_place_does_not_tell_is_left_open() {
        let gpus = [gpu(0, "NVIDIA GPU"), gpu(1, "NVIDIA GPU")];
        let by_place = |selection: Selection| selection.positions_by_place(&gpus.iter().collect::<Vec<_>>());
        let visible = |value: &str, pci_order| Selection::Visible { value: Some(value.to_owned()), pci_order };
        for selection in [Selection::ids("1"), Selection::ids("0000:01:00.0"), visible("1", true)] {
            assert_eq!(by_place(selection.clone()), Ok(Some(vec![1])), "{selection:?}");
        }
        assert_eq!(by_place(Selection::All), Ok(Some(vec![0, 1])));
        // The fastest first, says CUDA, unless it is told otherwise; a UUID is nowhere but in the driver.
        for selection in [Selection::ids("GPU-00000001"), Selection::ids("0,GPU-00000001"), Selection::ids("0.1"), visible("1", false)] {
            assert_eq!(by_place(selection.clone()), Ok(None), "{selection:?}");
        }
        assert!(matches!(by_place(Selection::ids("2")), Err(SelectionError::Unknown { .. })));
        assert!(matches!(by_place(visible("-1", true)), Err(SelectionError::Nothing { .. })));
    }

    #[test]
    fn what_was_chosen_stays_chosen_when_the_numbers_move() {
        let before = [gpu(0, "H200"), gpu(1, "H200"), gpu(2, "H200")];
        let settle = |selection: Selection| selection.settled(&before.iter().collect::<Vec<_>>()).expect("they are there");
        // One was put in before them, and the last was taken out.
        let mut after = [gpu(9, "H200"), gpu(0, "H200"), gpu(1, "H200")];
        for (index, gpu) in (0..).zip(&mut after) {
            gpu.index = Some(index);
        }
        let visible = |value: &str| Selection::Visible { value: Some(value.to_owned()), pci_order: false };
        for selection in [Selection::ids("1"), Selection::ids("1,2"), Selection::ids("01:00.0"), visible("1"), visible("1,2")] {
            let settled = settle(selection);
            assert_eq!(positions(&settled, &after), Ok(vec![2]), "{settled:?}");
            assert_eq!(settled.settled(&after.iter().collect::<Vec<_>>()), Ok(settled), "once and for all");
        }
        assert_eq!(positions(&settle(Selection::ids("2")), &after), Ok(vec![]));
        assert_eq!(settle(Selection::All), Selection::All);
        assert_eq!(positions(&settle(Selection::Visible { value: None, pci_order: false }), &after), Ok(vec![0, 1, 2]));
    }

    #[test]
    fn visible_devices_by_index_need_one_kind_of_card() {
        let mixed = [gpu(0, "RTX 4090"), gpu(1, "RTX 3060")];
        let visible = |value: &str, pci_order| Selection::Visible { value: Some(value.to_owned()), pci_order };
        assert!(matches!(positions(&visible("1", false), &mixed), Err(SelectionError::MixedCards { .. })));
        assert_eq!(positions(&visible("1", true), &mixed), Ok(vec![1]));
        assert_eq!(positions(&visible("GPU-00000001", false), &mixed), Ok(vec![1]));
        let same = [gpu(0, "H200"), gpu(1, "H200")];
        assert_eq!(positions(&visible("1,0", false), &same), Ok(vec![0, 1]));
        // CUDA stops at the first entry that names nothing.
        assert_eq!(positions(&visible("0,-1,1", false), &same), Ok(vec![0]));
        assert_eq!(positions(&visible("", false), &same), Ok(vec![]));
    }
}
