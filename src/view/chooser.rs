//! The chooser of columns: what each is, when it is shown, and whether it is on the dashboard now.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::pen::Pen;
use super::theme::{Role, Theme};
use crate::app::{App, Wish};

/// Draws the list into `area`.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let (text, label) = (theme.style(Role::Text), theme.style(Role::Label));
    Pen::new(buffer, area).put("COLUMNS", theme.style(Role::Figure)).skip(3).put("bright: on the dashboard now", label);
    let rows = usize::from(area.height.saturating_sub(1));
    // The line under the cursor is in sight on any screen.
    let first = (app.chooser() + 1).saturating_sub(rows);
    for ((at, column), y) in App::choosable().enumerate().skip(first).zip(area.y.saturating_add(1)..area.bottom()) {
        let line = Rect { y, height: 1, ..area };
        let selected = at == app.chooser();
        let style = |style| if selected { Theme::selected() } else { style };
        if selected {
            buffer.set_style(line.intersection(buffer.area), Theme::selected());
        }
        let wish = app.columns().wish(column);
        let is_shown = app.columns_in_sight().contains(&column);
        let mut pen = Pen::new(buffer, line);
        pen.glyph(if selected { '▸' } else { ' ' }, style(text)).skip(1);
        // Bold under the cursor too: whether it is on the dashboard is the question there.
        let name = if is_shown { style(text).patch(theme.style(Role::Figure)) } else { style(label) };
        pen.left(&column.name().to_uppercase(), 9, name);
        pen.left(wish.word(), 22, style(if wish == Wish::Room { label } else { text }));
        // A word or two of a meaning say nothing.
        if pen.room() >= 30 {
            pen.sentence(column.meaning(), style(label));
        }
    }
}
