//! `held by`: the ledger of all devices in one line. It adds up to the cards, less those that it says are not counted.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::figures::{gib, span};
use super::pen::{Pen, width_of};
use super::theme::{Role, Theme};
use crate::app::{Holder, Hue, Owner, Picture, sum_figure};
use crate::model::{Bytes, Ledger};

/// What the line begins with, and how old it is where its lists are older than the step.
fn title(picture: &Picture) -> String {
    picture.monitor().account_age_ms().map_or_else(|| "held by  ".to_owned(), |age_ms| format!("held by, {} ago  ", span(age_ms)))
}

/// Draws the line. Users by what they hold; where there are too many, the smallest are counted together.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, picture: &Picture, theme: &Theme) {
    let (text, label) = (theme.style(Role::Text), theme.style(Role::Label));
    let mut rest = picture.monitor().total().map_or_else(Vec::new, |total| rest(picture, &total));
    // A machine before its first sample, or without anybody, has nothing to be missed.
    if !rest.is_empty() || !picture.owners().is_empty() {
        rest.extend(not_counted(picture));
    }
    let title = title(picture);
    let room = area.width.saturating_sub(width_of(&title));
    let width = |rest: &[Term]| rest.iter().map(|term| width_of(term.name) + width_of(&term.figure) + 4).sum::<u16>();
    // Who holds it comes first: what the bars show as well gives way, and leaves a mark.
    let terms = rest.len();
    for term in ["driver", "free"] {
        if !fitting(picture.owners(), room.saturating_sub(width(&rest))).1.is_empty() {
            rest.retain(|kept| kept.name != term);
        }
    }
    let left_out = if rest.len() < terms { " · …" } else { "" };
    let reserved = width(&rest) + width_of(left_out);
    let mut pen = Pen::new(buffer, area);
    pen.put(&title, label);
    let (owners, others) = fitting(picture.owners(), pen.room().saturating_sub(reserved));
    for owner in owners {
        let hue = if picture.is_by_process() && owner.hue != Hue::Unseen { text } else { theme.style(Role::Hue(owner.hue)) };
        pen.put(name(owner), hue).put(" ", label).put(&owner.figure(), text).put(" · ", label);
    }
    if !others.is_empty() {
        let bytes: Bytes = others.iter().map(|owner| owner.bytes).sum();
        let word = if others.len() == 1 { "other" } else { "others" };
        let figure = sum_figure(bytes, others.iter().any(|owner| owner.is_partial));
        pen.put(&format!("{} {word} ", others.len()), label).put(&figure, text).put(" · ", label);
    }
    for (at, term) in rest.iter().enumerate() {
        pen.put(if at == 0 { "" } else { " · " }, label).put(term.name, label).put(" ", label).put(&term.figure, text);
    }
    pen.put(left_out, label);
}

/// A part of the ledger that no process holds.
struct Term {
    name: &'static str,
    figure: String,
}

/// What is there beside the processes; terms that are zero by nature are not written.
fn rest(picture: &Picture, total: &Ledger) -> Vec<Term> {
    let untracked = picture.all().iter().filter(|row| matches!(row.holder, Holder::Untracked { .. }));
    let untracked: Option<Bytes> = untracked.map(|row| row.bytes).sum();
    // What reads as 0.0 is nothing to be said; an unknown part is.
    let known = |bytes: Option<Bytes>| Some(gib(bytes)).filter(|figure| figure != "0.0");
    let terms = [
        ("counted only", known(untracked)),
        ("unattributed", known(total.unattributed)),
        ("host", known(total.host)),
        ("counted twice", total.overlap.and_then(|overlap| known(Some(overlap)))),
        ("driver", Some(gib(total.driver))),
        ("free", Some(total.free.to_string())),
    ];
    terms.into_iter().filter_map(|(name, figure)| Some(Term { name, figure: figure? })).collect()
}

/// The devices of which nothing is known now.
fn not_counted(picture: &Picture) -> Option<Term> {
    let unknown: Vec<&str> =
        picture.monitor().gpus().iter().filter(|row| row.facts.parent.is_none() && !row.ledger.is_value()).map(|row| row.label.as_str()).collect();
    let figure = match unknown.as_slice() {
        [] => return None,
        [one] => format!("GPU {one}"),
        [_, _] | [_, _, _] => format!("GPUs {}", unknown.join(", ")),
        many => format!("{} GPUs", many.len()),
    };
    Some(Term { name: "not counted", figure })
}

fn name(owner: &Owner) -> &str {
    owner.user.as_ref().map_or("not visible here", |user| user.as_str())
}

/// Those whose names fit, and the others, which are said in one figure.
fn fitting(owners: &[Owner], room: u16) -> (&[Owner], &[Owner]) {
    const OTHERS: u16 = 18;
    let width = |owners: &[Owner]| owners.iter().map(|owner| width_of(name(owner)) + width_of(&owner.figure()) + 4).sum::<u16>();
    if width(owners) <= room {
        return (owners, &[]);
    }
    let count = (0..owners.len()).rev().find(|count| width(&owners[..*count]) + OTHERS <= room).unwrap_or(0);
    owners.split_at(count)
}
