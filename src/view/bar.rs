//! The stacked bar of one device: names inside the slices they own, nothing where memory is free.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::pen::{Pen, width_of};
use super::slices::{Look, Slice, slices};
use super::theme::{Role, Theme};
use crate::app::{Hue, Picture, Spot, Target};

/// What hatches memory without an owner.
const HATCH: char = '╱';
/// The driver's reserve.
const RESERVE: char = '▒';

/// What was drawn.
#[derive(Default)]
pub(super) struct Bar {
    /// The full labels of the slices that show their letter alone.
    pub(super) unnamed: Vec<String>,
    /// Where the holders' slices are.
    pub(super) spots: Vec<Spot>,
}

/// Draws the bar into the first row of `area`.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, picture: &Picture, gpu: usize, say_free: bool, theme: &Theme) -> Bar {
    let ends = theme.style(Role::Label);
    let cells = area.width.saturating_sub(2);
    let memory = picture.monitor().gpus().get(gpu).and_then(|row| row.memory.get());
    let mut pen = Pen::new(buffer, area);
    pen.glyph('▕', ends);
    let mut drawn = Bar::default();
    let mut x = area.x.saturating_add(1);
    if let Some(memory) = memory {
        for slice in slices(picture, gpu, &memory, cells) {
            let named = match slice.look {
                Look::Free => draw_free(&mut pen, &slice, say_free, theme),
                Look::Driver => {
                    pen.fill(RESERVE, slice.cells, theme.style(Role::Driver));
                    true
                }
                Look::Held { hue, alternate, letter } => draw_held(&mut pen, &slice, (hue, alternate, letter), theme),
                Look::Ownerless => {
                    let style = theme.style(Role::Hue(Hue::Unseen));
                    draw_labelled(&mut pen, &slice.labels, slice.cells, (HATCH, style, style))
                }
            };
            if !named && slice.cells > 0 {
                drawn.unnamed.extend(slice.labels.into_iter().next());
            }
            let end = x.saturating_add(slice.cells);
            drawn.spots.extend(slice.id.map(|id| Spot { x: x..end, y: area.y..area.y.saturating_add(1), target: Target::Slice(id) }));
            x = end;
        }
    } else {
        pen.skip(cells);
    }
    pen.glyph('▏', ends);
    drawn
}

/// The figure stands at the right end, where the eye ends up.
fn draw_free(pen: &mut Pen<'_>, slice: &Slice, say: bool, theme: &Theme) -> bool {
    let text = slice.labels.first().map_or("", String::as_str);
    let width = width_of(text);
    if say && width + 4 <= slice.cells {
        pen.skip(slice.cells - width - 2).put(text, theme.style(Role::Label)).skip(2);
    } else {
        pen.skip(slice.cells);
    }
    true
}

fn draw_held(pen: &mut Pen<'_>, slice: &Slice, (hue, alternate, letter): (Hue, bool, char), theme: &Theme) -> bool {
    let look = theme.slice(hue, alternate, letter);
    if theme.is_ascii() {
        // The slice is filled with its letter, so that the label need not begin with it.
        let rest = |label: &String| match label.strip_prefix(letter) {
            Some(rest) if rest.is_empty() || rest.starts_with(' ') => rest.trim_start().to_owned(),
            _ => label.clone(),
        };
        let labels: Vec<String> = slice.labels.iter().map(rest).collect();
        return draw_labelled(pen, &labels, slice.cells, (look.glyph, look.fill, look.label));
    }
    draw_labelled(pen, &slice.labels, slice.cells, (look.glyph, look.fill, look.label))
}

/// Draws the longest label that fits, with a cell of the slice before it. Says whether it is more than the last one.
fn draw_labelled(
    pen: &mut Pen<'_>,
    labels: &[String],
    cells: u16,
    (glyph, fill, label): (char, ratatui::style::Style, ratatui::style::Style),
) -> bool {
    let place = labels.iter().position(|text| width_of(text) + 3 <= cells && !text.is_empty());
    if let Some((at, text)) = place.and_then(|at| Some((at, labels.get(at)?))) {
        pen.glyph(glyph, fill).put(" ", label).put(text, label).put(" ", label);
        pen.fill(glyph, cells - width_of(text) - 3, fill);
        return at + 1 < labels.len();
    }
    let letter = labels.last().filter(|text| width_of(text) == 1);
    let before = u16::from(cells > 2 && letter.is_some());
    pen.fill(glyph, before, fill);
    if let Some(letter) = letter.filter(|_| cells > 0) {
        pen.put(letter, label);
        pen.fill(glyph, cells - before - 1, fill);
    } else {
        pen.fill(glyph, cells, fill);
    }
    false
}
