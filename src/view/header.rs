//! Line 1: where this is, what looking costs, how fresh the picture is. Line 2: what is wrong, if anything.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::ascii;
use super::figures::{position, time_of_day};
use super::pen::{Pen, cut, put_right, width_of_spans};
use super::theme::{Role, Theme};
use crate::app::{App, Freshness, Notice};
use crate::model::Header;

/// A part of line 1 and when it is given up, lowest first.
struct Part {
    text: String,
    rank: u8,
    /// What is left of it when its turn first comes.
    short: Option<(String, u8)>,
}

impl Part {
    const fn new(text: String, rank: u8) -> Self {
        Self { text, rank, short: None }
    }

    /// Shorter, or gone.
    fn give_way(self) -> Option<Self> {
        self.short.map(|(text, rank)| Self::new(text, rank))
    }
}

/// Draws line 1.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let monitor = app.picture().monitor();
    let label = theme.style(Role::Label);
    let mut left = monitor.header().map_or_else(Vec::new, facts);
    let mut right = Vec::new();
    if let Some(header) = monitor.header() {
        right.push(Part::new(format!("{} Hz", header.memory_hz), 2));
    }
    if let Some(permille) = monitor.own().cpu_permille {
        right.push(Part::new(format!("own {}.{} %", permille / 10, permille % 10), 5));
    }
    let mark = mark(app, theme);
    // The name with its gap, and at least two cells between the sides.
    let fixed = width_of_spans(&mark) + 8;
    loop {
        let width = |parts: &[Part]| parts.iter().map(|part| super::pen::width_of(&part.text) + 3).sum::<u16>();
        if width(&left) + width(&right) + fixed <= area.width {
            break;
        }
        let Some(rank) = left.iter().chain(&right).map(|part| part.rank).min() else { break };
        for side in [&mut left, &mut right] {
            *side = std::mem::take(side).into_iter().filter_map(|part| if part.rank == rank { part.give_way() } else { Some(part) }).collect();
        }
    }
    let mut pen = Pen::new(buffer, area);
    pen.put("vramtop", theme.style(Role::Figure)).put("  ", label);
    for (at, part) in left.iter().enumerate() {
        pen.put(if at == 0 { "" } else { " · " }, label).put(&part.text, if at == 0 { theme.style(Role::Text) } else { label });
    }
    let mut spans: Vec<Span<'_>> = right.iter().map(|part| Span::styled(format!("{} · ", part.text), label)).collect();
    spans.extend(mark);
    put_right(buffer, area, &Line::from(spans));
}

/// Draws the only line of a small screen: what is wrong, or where this is; and the time.
pub(super) fn draw_small(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let mark = short_mark(app, area.width, theme);
    let width = width_of_spans(&mark) + 1;
    let rest = Rect { width: area.width.saturating_sub(width), ..area };
    if let Some(notice) = app.notice() {
        draw_sentence(buffer, rest, &notice, theme);
    } else {
        let host = app.picture().monitor().header().map_or("vramtop", |header| header.host.as_str());
        Pen::new(buffer, rest).put(host, theme.style(Role::Label));
    }
    put_right(buffer, area, &Line::from(mark));
}

/// Draws line 2. Empty means that all is well.
pub(super) fn draw_notice(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) {
    let Some(notice) = app.notice() else { return };
    let mut rest = area;
    let label = theme.style(Role::Label);
    let mut right = Vec::new();
    if notice.of > 1 {
        right.extend([Span::styled(format!("{} of {}  ", notice.number, notice.of), label), Span::raw("n"), Span::styled(" next", label)]);
    }
    if app.is_walking() {
        right.extend([Span::raw("  "), Span::raw(ascii::keys("↵", theme)), Span::styled(" select it", label)]);
    }
    if !right.is_empty() {
        rest.width = rest.width.saturating_sub(width_of_spans(&right) + 2);
        put_right(buffer, area, &Line::from(right));
    }
    draw_sentence(buffer, rest, &notice, theme);
}

fn draw_sentence(buffer: &mut Buffer, area: Rect, notice: &Notice, theme: &Theme) {
    let style = theme.style(Role::Notice(notice.severity));
    Pen::new(buffer, area).put("▲ ", style).sentence(&notice.text, style);
}

fn facts(header: &Header) -> Vec<Part> {
    let mut parts = vec![Part::new(cut(header.host.as_str(), 40).into_owned(), 9)];
    if let Some(models) = models(header) {
        let short = models.replace("NVIDIA ", "").replace("GeForce ", "");
        parts.push(Part { text: models, rank: 3, short: Some((short, 6)) });
    }
    parts.extend(header.driver.as_ref().map(|version| Part::new(format!("driver {version}"), 4)));
    parts.extend(header.cuda.as_ref().map(|version| Part::new(format!("CUDA {version}"), 1)));
    parts
}

/// `2 × NVIDIA H200`; a MIG instance is a part of its card and not counted.
fn models(header: &Header) -> Option<String> {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for gpu in header.gpus.iter().filter(|gpu| gpu.parent.is_none()) {
        let name = gpu.name.as_str();
        match counted.iter_mut().find(|(known, _)| *known == name) {
            Some((_, n)) => *n += 1,
            None => counted.push((name, 1)),
        }
    }
    let one = |(name, n): &(&str, usize)| if *n == 1 { (*name).to_owned() } else { format!("{n} × {name}") };
    match counted.as_slice() {
        [] => None,
        [_] | [_, _] => Some(counted.iter().map(one).collect::<Vec<_>>().join(" + ")),
        more => Some(format!("{} GPUs of {} models", more.iter().map(|(_, n)| n).sum::<usize>(), more.len())),
    }
}

/// The same for a narrow line: the time alone while all is as it should be; else the mark alone where it is long.
pub(super) fn short_mark(app: &App, width: u16, theme: &Theme) -> Vec<Span<'static>> {
    let mut mark = mark(app, theme);
    let is_live = app.freshness() == Freshness::Live;
    if is_live {
        return mark.split_off(1);
    }
    while width_of_spans(&mark) * 2 > width && mark.len() > 1 {
        mark.pop();
    }
    mark
}

/// How fresh the picture is: the mark with its word, then the time of the sample that is shown.
pub(super) fn mark(app: &App, theme: &Theme) -> Vec<Span<'static>> {
    let label = theme.style(Role::Label);
    let alarm = theme.style(Role::Notice(crate::insight::Severity::Alarm));
    let (live, held) = (theme.style(Role::Live), theme.style(Role::Held));
    let time = app.picture().monitor().now().map(|(now, _)| time_of_day(now, &app.setup().zone));
    let time = |style| time.clone().map(|time| Span::styled(format!(" {time}"), style));
    let dot = |word: &str, style| Span::styled(format!("● {word}"), style);
    let plain = theme.style(Role::Text);
    let mut spans = Vec::with_capacity(3);
    if let Some(ago_ms) = app.ago_ms() {
        spans.push(dot("paused", held));
        spans.extend(time(plain));
        spans.push(Span::styled(format!(" · {} ago", position(ago_ms)), held));
        return spans;
    }
    match app.freshness() {
        Freshness::Connecting => spans.push(dot("connecting", held)),
        Freshness::Live => {
            spans.push(dot("live", live));
            spans.extend(time(plain));
        }
        Freshness::Held => {
            spans.push(dot("paused", held));
            spans.extend(time(plain));
        }
        Freshness::Stale { seconds } => {
            spans.push(dot(&format!("stale {seconds} s"), alarm));
            let busy = app.waiting().map(|waiting| Span::styled(format!(" · the driver is busy with {}", waiting.call), label));
            spans.extend(busy);
        }
        Freshness::Replay(replay) => {
            spans.push(dot(if replay.paused { "paused" } else { "replay" }, held));
            spans.extend(time(plain));
            let of = replay.of_ms.map_or_else(String::new, |of| format!(" of {}", position(of)));
            let speed = if (replay.speed - 1.0).abs() < f64::EPSILON { String::new() } else { format!(" ×{}", replay.speed) };
            spans.push(Span::styled(format!(" · {}{of}{speed}", position(replay.at_ms)), label));
        }
        Freshness::Ended => {
            spans.push(dot("ended", held));
            spans.extend(time(plain));
        }
    }
    spans
}
