//! `held by`: the ledger of all devices in one line. It adds up to the cards.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::figures::gib;
use super::pen::{Pen, width_of};
use super::theme::{Role, Theme};
use crate::app::{Holder, Hue, Owner, Picture};
use crate::model::Bytes;

/// Draws the line. Users by what they hold; where there are too many, the smallest are counted together.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, picture: &Picture, theme: &Theme) {
    let Some(total) = picture.monitor().total() else { return };
    let (text, label) = (theme.style(Role::Text), theme.style(Role::Label));
    let mut rest = Vec::new();
    let untracked: Bytes = picture.rows().iter().filter(|row| matches!(row.holder, Holder::Untracked { .. })).filter_map(|row| row.bytes).sum();
    if untracked > Bytes::ZERO {
        rest.push(("counted only", untracked.to_string()));
    }
    rest.push(("unattributed", gib(total.unattributed)));
    if total.host > Bytes::ZERO {
        rest.push(("host", total.host.to_string()));
    }
    if total.overlap > Bytes::ZERO {
        rest.push(("counted twice", total.overlap.to_string()));
    }
    rest.push(("driver", gib(total.driver)));
    rest.push(("free", total.free.to_string()));
    let reserved = rest.iter().map(|(name, figure)| width_of(name) + width_of(figure) + 4).sum::<u16>();
    let mut pen = Pen::new(buffer, area);
    pen.put("held by  ", label);
    let (owners, others) = fitting(picture.owners(), pen.room().saturating_sub(reserved));
    for owner in owners {
        let hue = if picture.is_by_process() && owner.hue != Hue::Unseen { text } else { theme.style(Role::Hue(owner.hue)) };
        pen.put(name(owner), hue).put(" ", label).put(&owner.bytes.to_string(), text).put(" · ", label);
    }
    if !others.is_empty() {
        let bytes: Bytes = others.iter().map(|owner| owner.bytes).sum();
        pen.put(&format!("{} others ", others.len()), label).put(&bytes.to_string(), text).put(" · ", label);
    }
    for (at, (name, figure)) in rest.iter().enumerate() {
        pen.put(if at == 0 { "" } else { " · " }, label).put(name, label).put(" ", label).put(figure, text);
    }
}

fn name(owner: &Owner) -> &str {
    owner.user.as_ref().map_or("not visible here", |user| user.as_str())
}

/// Those whose names fit, and the others, which are said in one figure.
fn fitting(owners: &[Owner], room: u16) -> (&[Owner], &[Owner]) {
    const OTHERS: u16 = 18;
    let width = |owners: &[Owner]| owners.iter().map(|owner| width_of(name(owner)) + width_of(&owner.bytes.to_string()) + 4).sum::<u16>();
    if width(owners) <= room {
        return (owners, &[]);
    }
    let count = (0..owners.len()).rev().find(|count| width(&owners[..*count]) + OTHERS <= room).unwrap_or(0);
    owners.split_at(count)
}
