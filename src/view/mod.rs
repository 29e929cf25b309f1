//! From the state to a frame: one file a region of the screen, and nothing here remembers, reads or decides anything.
//!
//! A frame is drawn anew each time, straight into the buffer, and builds only what is seen.

mod ascii;
mod bar;
mod chooser;
mod columns;
mod detail;
mod detail_words;
mod dialog;
mod figures;
mod footer;
mod gpu;
mod graph;
mod header;
mod held;
mod help;
mod layout;
mod list;
mod message;
mod palette;
mod past;
mod pen;
mod plan;
mod ranks;
mod rows;
mod selected;
mod slices;
mod table;
mod telemetry;
mod theme;

pub use palette::Name as ThemeName;
pub use theme::{Colors, Role, Theme};

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::{App, Count, Grouping, Screen, Shown};
use layout::{Gpus, Regions, regions};
use past::Past;
use plan::Shape;

/// Draws one frame, and says which rows of the table were in it.
pub fn view(app: &App, theme: &Theme, frame: &mut Frame<'_>) -> Shown {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    let mut shown = match app.beneath() {
        Screen::Dashboard | Screen::Filter | Screen::Signal => dashboard(buffer, area, app, theme),
        Screen::Detail => detail::draw(buffer, area, app, theme),
        Screen::Columns => {
            let inside = page(buffer, area, app, theme);
            chooser::draw(buffer, inside, app, theme);
            Shown { columns: app.columns_in_sight().to_vec(), ..Shown::default() }
        }
        Screen::Help => {
            let inside = page(buffer, area, app, theme);
            Shown { scroll_end: help::draw(buffer, inside, app, theme), ..Shown::default() }
        }
    };
    if let Some(dialog) = app.dialog() {
        let regions = regions(area, &Shape::default());
        let bottom = regions.keys.map_or(area.bottom(), |keys| keys.y);
        let above = Rect { y: area.y, height: bottom.saturating_sub(area.y), ..regions.header };
        shown.scroll_end = dialog::draw(buffer, above, dialog, theme);
    }
    if theme.is_ascii() {
        ascii::translate(buffer);
    }
    shown
}

fn dashboard(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) -> Shown {
    let picture = app.picture();
    let gpus = picture.monitor().gpus();
    let in_sight = picture.gpus_in_sight();
    let selected = app.selected().and_then(|at| picture.rows().get(at));
    let focus = selected.and_then(|row| in_sight.iter().position(|gpu| *gpu == row.gpu)).unwrap_or(0);
    // What a filter leaves out keeps its room: nothing jumps while it is typed.
    let keeps_room = app.listing().leaves_out() && app.listing().grouping() == Grouping::Process;
    let ended = picture.kept().ended;
    let shown = Count { holding: picture.rows().len().saturating_sub(ended), ended };
    let rows = room_for(if keeps_room { picture.unfiltered() } else { shown });
    let job = ranks::shown(app);
    let regions = regions(area, &Shape { gpus: in_sight.len(), focus, rows, ranks: job.is_some() });
    frame_of(buffer, &regions, app, theme);
    if gpus.is_empty() {
        message::draw(buffer, regions.table, app, theme);
        return Shown::default();
    }
    let past = Past::of(app);
    let mut spots = Vec::new();
    match &regions.gpus {
        Gpus::Blocks(blocks) => {
            for (place, gpu) in in_sight.iter().enumerate() {
                spots.extend(gpu::draw(buffer, &blocks.block(place), blocks.telemetry, app, *gpu, &past, theme));
            }
        }
        Gpus::List(list) => spots.extend(list::draw(buffer, list, app, &past, theme)),
    }
    if let Some(area) = regions.held {
        held::draw(buffer, area, picture, theme);
    }
    if let Some((area, job)) = regions.ranks.zip(job) {
        ranks::draw(buffer, area, &job, theme);
    }
    if picture.rows().is_empty() {
        let head = u16::from(table::has_head(picture)).min(regions.table.height);
        let below = Rect { y: regions.table.y + head, height: regions.table.height - head, ..regions.table };
        message::draw(buffer, below, app, theme);
    }
    let mut shown = table::draw(buffer, regions.table, app, &past, theme);
    let cells = match &regions.gpus {
        Gpus::Blocks(blocks) => gpu::history_cells(blocks.block(0).history),
        Gpus::List(list) => list::history_cells(list, app),
    };
    shown.column_ms = gpus.first().map_or(0, |row| past.column_ms(past.of_gpu(&row.history), cells));
    shown.spots.append(&mut spots);
    if let Some(area) = regions.selected {
        selected::draw(buffer, area, app, &past, theme);
    }
    shown
}

/// Rows for which the table is given room. Of those that ended the last few; the others are scrolled to.
fn room_for(rows: Count) -> usize {
    const ENDED: usize = 3;
    rows.holding + rows.ended.min(ENDED)
}

/// What surrounds the picture: the two lines at the top and the keys.
fn frame_of(buffer: &mut Buffer, regions: &Regions, app: &App, theme: &Theme) {
    match regions.notice {
        Some(notice) => {
            header::draw(buffer, regions.header, app, theme);
            header::draw_notice(buffer, notice, app, theme);
        }
        None => header::draw_small(buffer, regions.header, app, theme),
    }
    if let Some(keys) = regions.keys {
        footer::draw(buffer, keys, app, theme);
    }
}

/// The frame of a screen that takes the dashboard's place, and the room inside.
fn page(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) -> Rect {
    let regions = regions(area, &Shape::default());
    frame_of(buffer, &regions, app, theme);
    let top = regions.notice.unwrap_or(regions.header).bottom() + u16::from(regions.notice.is_some());
    let bottom = regions.keys.map_or(area.bottom(), |keys| keys.y);
    Rect { y: top, height: bottom.saturating_sub(top), ..regions.header }
}
