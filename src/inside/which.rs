//! Which of several cards a text means. CUDA's numbers are not the driver's (`CUDA_VISIBLE_DEVICES`, fastest first), so a number alone says
//! nothing: processes, size and fullness do. Where these leave several it says so and takes none of them for the one.

use super::moment::Seen;
use super::oom::{Amount, Report};

/// The most cards that are told where several can be meant.
const MOST: usize = 3;

/// When the cards were looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At the time of the failure.
    Then,
    /// After it: how full they are tells nothing.
    After,
}

/// The cards that a text can mean, and a sentence on how that is known; none where there is nothing to choose from.
pub fn meant(report: &Report, seen: Vec<Seen>, when: When) -> (Vec<Seen>, Option<String>) {
    let figures = &report.figures;
    let bytes = |amount: Option<Amount>| amount.and_then(Amount::bytes);
    let all = seen.len();
    let named = |card: &Seen| card.holders.iter().map(|holder| holder.pid).find(|pid| figures.others.iter().any(|(other, _)| other == pid));
    let on: Vec<(Seen, u32)> = seen.iter().filter_map(|card| Some((card.clone(), named(card)?))).collect();
    if let [(card, pid)] = on.as_slice() {
        let why = (all > 1).then(|| format!("{} is meant: process {pid}, which the text names, is on it.", name(card)));
        return (vec![card.clone()], why);
    }
    let capacity = bytes(figures.capacity);
    let fits = |card: &Seen| capacity.is_none_or(|capacity| capacity.abs_diff(card.room.0) <= card.room.0 / 200);
    // Whoever has a card of that number has as many others before it.
    if let Some(device) = figures.device.filter(|device| all <= *device as usize && seen.iter().all(|card| card.index != Some(*device))) {
        return without(device, seen.into_iter().filter(fits).collect());
    }
    let Some(capacity) = capacity else { return by_number(report, seen) };
    let mut alike: Vec<Seen> = seen.into_iter().filter(fits).collect();
    if let Some(used) = bytes(figures.free).and_then(|free| capacity.checked_sub(free)).filter(|_| when == When::Then && alike.len() > 1) {
        // The text is printed when the request has failed: the card was as full as it says a moment before.
        let full: Vec<Seen> = alike.iter().filter(|card| card.used.0 >= used / 50 * 49).cloned().collect();
        if let [card] = full.as_slice() {
            return (full.clone(), Some(format!("{} is meant: no other one of that size was as full as the text says.", name(card))));
        }
        if !full.is_empty() {
            alike = full;
        }
    }
    match alike.as_slice() {
        [] => (alike, None),
        [card] => {
            let why = (all > 1).then(|| format!("{} is meant: no other one has the size that the text says.", name(card)));
            (alike, why)
        }
        _ => several(report, alike),
    }
}

/// A text without a size: its number is all there is.
fn by_number(report: &Report, seen: Vec<Seen>) -> (Vec<Seen>, Option<String>) {
    if seen.len() < 2 { (seen, None) } else { several(report, seen) }
}

/// A number beyond all of them: what is here may be of other cards alone.
fn without(device: u32, mut cards: Vec<Seen>) -> (Vec<Seen>, Option<String>) {
    let why = (!cards.is_empty()).then(|| {
        format!(
            "The text says GPU {device}, and of its size only {} can be seen here: the one that is meant may not be among them.",
            names(&cards, "and")
        )
    });
    cards.truncate(MOST);
    (cards, why)
}

/// The first of them by name.
fn names(cards: &[Seen], word: &str) -> String {
    let names: Vec<String> = cards.iter().take(MOST).map(name).collect();
    let more = if cards.len() > MOST { format!(" and {} more", cards.len() - MOST) } else { String::new() };
    format!("{}{more}", names.join(&format!(" {word} ")))
}

/// Nothing tells them apart. The one with the text's number comes first.
fn several(report: &Report, mut cards: Vec<Seen>) -> (Vec<Seen>, Option<String>) {
    let device = report.figures.device;
    cards.sort_by_key(|card| device.is_none() || card.index != device);
    let names = names(&cards, "or");
    let number =
        device.map_or_else(|| "names no card".to_owned(), |device| format!("says GPU {device}, which is CUDA's number and not the driver's"));
    cards.truncate(MOST);
    (cards, Some(format!("The text {number}: it can be {names}.")))
}

/// A card by its number and the beginning of its UUID.
fn name(card: &Seen) -> String {
    let uuid: String = card.id.as_str().chars().take(12).collect();
    card.index.map_or_else(|| format!("the instance {uuid}"), |index| format!("GPU {index} ({uuid})"))
}
