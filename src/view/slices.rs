//! What a bar is made of: who takes how many of its cells, and what can be written inside.

use crate::app::{Holder, Hue, Picture, RowId, TableRow};
use crate::model::{Bytes, Ledger, Visibility};
use crate::monitor::GpuRow;

use super::figures::{share, span};

/// What a slice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// A process, the small ones that share a letter, or a MIG instance; `alternate` tells it from a neighbour of the same hue.
    Held { hue: Hue, alternate: bool, letter: char },
    /// Memory without an owner, or whose owners are not told.
    Ownerless,
    /// What is free.
    Free,
    /// The driver's reserve.
    Driver,
}

/// One slice, from left to right.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    pub(super) bytes: Bytes,
    pub(super) look: Look,
    /// What can be written inside, the longest first; the last is the letter alone.
    pub(super) labels: Vec<String>,
    /// Its cells.
    pub(super) cells: u16,
    /// Whose it is; of several small ones, the largest's.
    pub(super) id: Option<RowId>,
}

impl Slice {
    fn new(bytes: Bytes, look: Look, labels: Vec<String>) -> Self {
        Self { bytes, look, labels, cells: 0, id: None }
    }

    fn of(self, row: &TableRow) -> Self {
        Self { id: Some(row.id.clone()), ..self }
    }

    /// Whether it must be seen however small it is.
    fn must_show(&self) -> bool {
        self.look != Look::Free
    }
}

/// The slices of one device's bar over `cells` cells. All of them are of one moment, the ledger's; its age is said where it is free.
pub(super) fn slices(picture: &Picture, gpu: usize, ledger: &Ledger, cells: u16) -> Vec<Slice> {
    let Some(row) = picture.monitor().gpus().get(gpu) else { return Vec::new() };
    let mut slices = instances(picture, row);
    slices.extend(holders(picture, gpu));
    let told: Bytes = slices.iter().map(|slice| slice.bytes).sum();
    alternate(&mut slices);
    if let Some(host) = ledger.host.filter(|bytes| *bytes > Bytes::ZERO) {
        let labels = vec![format!("host {host}"), "host".to_owned()];
        slices.push(Slice::new(host, Look::Held { hue: Hue::Unseen, alternate: true, letter: 'h' }, labels));
    }
    if let Some(bytes) = untold(ledger, told) {
        let what = if row.names_holders() { "shares not told" } else { "holders unknown" };
        slices.push(Slice::new(bytes, Look::Ownerless, labels('?', what, bytes)));
    }
    let age = picture.monitor().now().and_then(|(_, now_ms)| row.account_age_ms(now_ms));
    let free = format!("free {}", ledger.free);
    let labels = age.map(span).map_or_else(|| vec![free.clone()], |age| vec![format!("{free}, {age} ago"), format!("{age} ago")]);
    slices.push(Slice::new(ledger.free, Look::Free, labels));
    if let Some(driver) = ledger.driver.filter(|bytes| *bytes > Bytes::ZERO) {
        slices.push(Slice::new(driver, Look::Driver, Vec::new()));
    }
    // The noise of a clean card belongs to nobody and is too thin to be seen: the largest slice takes it along.
    let noise = ledger.total.saturating_sub(slices.iter().map(|slice| slice.bytes).sum());
    let sizes: Vec<(u64, bool)> =
        slices.iter().enumerate().map(|(at, slice)| (slice.bytes.0 + if at == 0 { noise.0 } else { 0 }, slice.must_show())).collect();
    for (slice, cells) in slices.iter_mut().zip(apportion(&sizes, cells)) {
        slice.cells = cells;
    }
    slices
}

/// Used memory of which nobody can say whose it is, because a list or a process's figure is absent.
fn untold(ledger: &Ledger, told: Bytes) -> Option<Bytes> {
    ledger.unattributed.is_none().then(|| ledger.in_use().saturating_sub(told)).filter(|bytes| *bytes > Bytes::ZERO)
}

/// The parts of a split GPU, by what is used of each: whoever holds that stands in the bar of the instance, and in its colour here.
fn instances(picture: &Picture, parent: &GpuRow) -> Vec<Slice> {
    let gpus = picture.monitor().gpus().iter().enumerate();
    let instances = gpus.filter(|(_, row)| row.facts.parent.as_ref() == Some(&parent.facts.id));
    let slice = |(at, row): (usize, &GpuRow)| {
        // Less would be written as 0.0.
        let bytes = row.memory.value()?.used()?;
        if bytes.0 * 20 < Bytes::GIB {
            return None;
        }
        // Who held it when its list could last be read may be gone.
        let largest = picture.rows_of(at).next().filter(|row| !picture.is_kept(row));
        // A number alone would be a card's.
        let (look, letter) = match largest.map(|row| row.holder) {
            None | Some(Holder::Nobody) => (Look::Ownerless, '?'),
            Some(holder) => {
                let letter = holder.letter().unwrap_or('*');
                (Look::Held { hue: holder.hue(), alternate: false, letter }, letter)
            }
        };
        let mut labels = vec![format!("{} {bytes}", row.label), row.label.clone(), letter.to_string()];
        if let Some((_, profile)) = row.facts.name.as_str().rsplit_once("MIG ") {
            labels.insert(0, format!("{} {profile} {bytes}", row.label));
        }
        let slice = Slice::new(bytes, look, labels);
        Some(if let Some(row) = largest { slice.of(row) } else { slice })
    };
    instances.filter_map(slice).collect()
}

/// The rows of the table that hold something, those with a shared letter together.
fn holders(picture: &Picture, gpu: usize) -> Vec<Slice> {
    let mut slices: Vec<Slice> = Vec::new();
    let mut small: Option<(Slice, u32)> = None;
    let mut others = Vec::new();
    for row in picture.rows_of(gpu) {
        // A list that cannot be read now names nobody: who held what before is no part of this moment's bar.
        let Some(bytes) = row.bytes.filter(|bytes| *bytes > Bytes::ZERO && !picture.is_kept(row)) else { continue };
        match row.holder {
            Holder::Process { letter, .. } if letter.shared && small.is_some() => {
                if let Some((all, count)) = &mut small {
                    all.bytes += bytes;
                    *count += 1;
                }
            }
            Holder::Process { letter, hue, .. } => {
                let look = Look::Held { hue, alternate: false, letter: letter.letter };
                let slice = Slice::new(bytes, look, process_labels(picture, row, letter.letter)).of(row);
                if letter.shared {
                    small = Some((slice, 1));
                } else {
                    slices.push(slice);
                }
            }
            Holder::Nobody => others.push(Slice::new(bytes, Look::Ownerless, labels('?', "no owner", bytes)).of(row)),
            Holder::Untracked { count } => {
                let look = Look::Held { hue: Hue::Unseen, alternate: false, letter: '+' };
                others.push(Slice::new(bytes, look, labels('+', &format!("{count} more"), bytes)).of(row));
            }
            // No row of `rows_of` is a group.
            Holder::Ended { .. } | Holder::Group { .. } => {}
        }
    }
    slices.extend(small.map(|(mut all, count)| {
        if let (2.., Look::Held { letter, .. }) = (count, all.look) {
            all.labels = labels(letter, &format!("{count} small"), all.bytes);
        }
        all
    }));
    slices.extend(others);
    slices
}

/// A name with its figure, the figure, the letter alone.
fn labels(letter: char, name: &str, bytes: Bytes) -> Vec<String> {
    vec![format!("{letter} {name} {bytes}"), format!("{letter} {bytes}"), letter.to_string()]
}

/// The end of the name, then the name, then the user, then the figure are given up. Where one user has all, the user is not said.
fn process_labels(picture: &Picture, row: &TableRow, letter: char) -> Vec<String> {
    let figure = picture.figure(row);
    let mut labels = Vec::with_capacity(5);
    if let Some(process) = picture.process(row) {
        let facts = &process.facts;
        let rank = facts.rank.filter(|rank| rank.world.is_some_and(|world| world > 1)).map(|rank| format!("rank {}", rank.rank));
        let user = facts.user.as_ref().filter(|_| !picture.is_by_process()).map_or_else(String::new, |user| format!("{user} "));
        match rank {
            Some(rank) => labels.extend([format!("{letter} {user}{rank} · {} {figure}", facts.what), format!("{letter} {user}{rank} {figure}")]),
            None => labels.push(format!("{letter} {user}{} {figure}", facts.what)),
        }
        // `ollama` of `ollama llama3.1:8b`
        if let Some((first, _)) = facts.what.as_str().split_once(' ').filter(|_| facts.visibility == Visibility::Here) {
            labels.push(format!("{letter} {user}{first} {figure}"));
        }
        if !user.is_empty() {
            labels.push(format!("{letter} {user}{figure}"));
        }
    }
    labels.push(format!("{letter} {figure}"));
    labels.push(letter.to_string());
    labels
}

/// Every second of several neighbours with one hue gets the other look.
fn alternate(slices: &mut [Slice]) {
    let mut before: Option<(Hue, bool)> = None;
    for slice in slices {
        if let Look::Held { hue, alternate, .. } = &mut slice.look {
            *alternate = before.is_some_and(|(other, flag)| other == *hue && !flag);
            before = Some((*hue, *alternate));
        } else {
            before = None;
        }
    }
}

/// Cells for sizes in their order. A cell is the same number of bytes along the whole bar; what must be seen and would
/// vanish gets one cell of the longest.
fn apportion(sizes: &[(u64, bool)], cells: u16) -> Vec<u16> {
    let whole = sizes.iter().fold(0_u64, |sum, (bytes, _)| sum.saturating_add(*bytes));
    let (mut sum, mut end) = (0_u64, 0);
    let mut given: Vec<u16> = Vec::with_capacity(sizes.len());
    for (bytes, _) in sizes {
        sum = sum.saturating_add(*bytes);
        let next = share(sum, whole, cells);
        given.push(next - end);
        end = next;
    }
    for at in 0..sizes.len() {
        if given[at] > 0 || !sizes[at].1 {
            continue;
        }
        let Some(longest) = (0..given.len()).max_by_key(|at| given[*at]).filter(|at| given[*at] > 1) else { break };
        given[longest] -= 1;
        given[at] = 1;
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_thin_are_seen_and_the_rest_is_to_scale() {
        assert_eq!(apportion(&[(50, true), (1, true), (48, false), (1, true)], 20), [9, 1, 9, 1]);
        assert_eq!(apportion(&[(970, true), (1, true), (1, true), (28, false)], 10), [8, 1, 1, 0]);
    }

    proptest! {
        #[test]
        fn the_cells_add_up(sizes in proptest::collection::vec((0..1_u64 << 40, any::<bool>()), 1..40), cells in 0..300_u16) {
            let given = apportion(&sizes, cells);
            let whole: u64 = sizes.iter().map(|(bytes, _)| bytes).sum();
            prop_assert_eq!(given.iter().sum::<u16>(), if whole == 0 { 0 } else { cells });
        }
    }
}
