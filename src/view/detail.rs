//! One process from close by: its memory over time, what it is made of, and who it is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::detail_words::{Fact, facts, no_details, reason};
use super::figures::{Change, UNKNOWN, gib, hour_and_minute, span};
use super::graph::{Graph, Scale};
use super::layout::regions;
use super::past::{Past, total_of};
use super::pen::{Pen, lines_of, put_right, width_of, width_of_spans};
use super::plan::Shape;
use super::ranks;
use super::selected::how_it_ended;
use super::theme::{Role, Theme};
use super::{footer, header};
use crate::app::{App, Detail, Shown, TableRow};
use crate::history::{Column, ProcessHistory};
use crate::model::{Bytes, Reading, SafeText};
use crate::monitor::{GpuRow, Peak, ProcessRow};

/// What is said of the parts of its memory, as long as nobody inside the process tells them.
const MADE_OF: [&str; 2] = ["not known: the driver gives one figure a process", "torch.cuda.memory_summary() inside the program tells more"];
/// Cells of a caption.
const CAPTION: u16 = 11;
/// Rows of the graph without its axis: the fewest that are a picture.
const GRAPH: u16 = 3;

/// Draws the whole screen. Says how many variables of an environment can be above, and the time of a column of its history.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, app: &App, theme: &Theme) -> Shown {
    let regions = regions(area, &Shape::default());
    if let Some(keys) = regions.keys {
        footer::draw(buffer, keys, app, theme);
    }
    let Some(detail) = app.detail() else { return Shown::default() };
    let bottom = regions.keys.map_or(area.bottom(), |keys| keys.y);
    let Some((row, process)) = found(app, detail) else {
        return draw_absence(buffer, regions.header, app, detail, theme);
    };
    let past = Past::of(app);
    let mut shown = Shown { column_ms: past.column_ms(past.of_process(&process.history), history_cells(regions.header)), ..Shown::default() };
    let close = Close { app, row, process, past: &past, theme };
    close.draw_title(buffer, regions.header);
    let top = match regions.notice {
        Some(line) => {
            close.draw_verdict(buffer, line);
            line.bottom() + 1
        }
        None => regions.header.bottom(),
    };
    let inside = Rect { y: top, height: bottom.saturating_sub(top + u16::from(regions.notice.is_some())), ..regions.header };
    let Some(first) = detail.environment else {
        close.draw_body(buffer, inside, detail);
        return shown;
    };
    let environment = match detail.details.as_ref().map(|details| &details.environment) {
        Some(Reading::Value(variables)) => Ok(variables.as_slice()),
        Some(Reading::Absent(why)) => Err(reason(why)),
        None => Err(no_details(app, row, process).to_owned()),
    };
    shown.scroll_end = draw_environment(buffer, inside, environment, first, theme);
    shown
}

/// Who it is, why there is nothing to be seen of it, and how fresh this is. Through time it is walked by the columns that the screen
/// had before.
fn draw_absence(buffer: &mut Buffer, area: Rect, app: &App, detail: &Detail, theme: &Theme) -> Shown {
    let mark = header::short_mark(app, area.width, theme);
    let rest = Rect { width: area.width.saturating_sub(width_of_spans(&mark) + 2), ..area };
    put_right(buffer, area, &Line::from(mark));
    let why = if app.then().is_some() { "it had not come yet" } else { "it is no longer listed, and no more is kept of it" };
    let (label, figure) = (theme.style(Role::Label), theme.style(Role::Figure));
    let mut pen = Pen::new(buffer, rest);
    if let Some(key) = detail.key().filter(|_| area.width >= 60) {
        pen.put("vramtop", figure).put(" › ", label).put(&key.pid.to_string(), figure).skip(3);
    }
    pen.sentence(why, theme.style(Role::Text));
    Shown { column_ms: app.column_ms(), ..Shown::default() }
}

/// Cells of the history in a line of that width.
fn history_cells(area: Rect) -> u16 {
    area.width.saturating_sub(Graph::indent(area) + 1)
}

fn found<'a>(app: &'a App, detail: &Detail) -> Option<(&'a TableRow, &'a ProcessRow)> {
    let picture = app.picture();
    let row = detail.row(picture)?;
    Some((row, picture.process(row).or_else(|| picture.ended(row).map(|ended| &ended.row))?))
}

fn gpu_of<'a>(app: &'a App, process: &ProcessRow) -> Option<&'a GpuRow> {
    app.picture().monitor().gpus().get(process.gpu)
}

/// The process that is looked at, and where it stands.
struct Close<'a> {
    app: &'a App,
    row: &'a TableRow,
    process: &'a ProcessRow,
    past: &'a Past,
    theme: &'a Theme,
}

impl Close<'_> {
    /// Where this is, who it is, since when, how fresh.
    fn draw_title(&self, buffer: &mut Buffer, area: Rect) {
        let Self { app, row, process, theme, .. } = *self;
        let (text, label, figure) = (theme.style(Role::Text), theme.style(Role::Label), theme.style(Role::Figure));
        let gpu = gpu_of(app, process).map_or(UNKNOWN, |gpu| &gpu.label);
        let mut left = Vec::new();
        if area.width >= 60 {
            left.extend([Span::styled("vramtop", figure), Span::styled(" › ", label)]);
        }
        left.extend([Span::styled(format!("GPU {gpu}"), text), Span::styled(" › ", label)]);
        let gap = if area.width >= 60 { "   " } else { " " };
        left.extend([Span::styled(process.facts.key.pid.to_string(), figure), Span::styled(gap, label)]);
        left.push(Span::styled(process.facts.what.as_str(), text));
        if let Some(user) = &process.facts.user {
            left.extend([Span::styled(" of ", label), Span::styled(user.as_str(), text)]);
        }
        let now = app.picture().monitor().now().map(|(now, _)| now);
        let started = process.facts.started.zip(now).filter(|_| app.picture().process(row).is_some());
        let mut sides: Vec<Vec<Span<'_>>> = Vec::new();
        if let Some((started, now)) = started {
            let (at, since) = (hour_and_minute(started, &app.setup().zone), span(now.since(started)));
            let before = |words: String| std::iter::once(Span::styled(words, label)).chain(header::mark(app, theme)).collect();
            sides.extend([before(format!("started {at} · {since} · ")), before(format!("{since} · "))]);
        }
        sides.extend([header::mark(app, theme), header::short_mark(app, area.width, theme)]);
        // Who it is comes first: the other side is as long as that leaves it room, and at least says how fresh this is.
        let room = area.width.saturating_sub(width_of_spans(&left) + 2);
        let last = sides.pop().unwrap_or_default();
        let right = sides.into_iter().find(|side| width_of_spans(side) <= room).unwrap_or(last);
        let rest = Rect { width: area.width.saturating_sub(width_of_spans(&right) + 1), ..area };
        put_right(buffer, area, &Line::from(right));
        let mut pen = Pen::new(buffer, rest);
        for part in left {
            pen.put(&part.content, part.style);
        }
    }

    /// How its memory moves, or how it ended.
    fn draw_verdict(&self, buffer: &mut Buffer, area: Rect) {
        let Self { app, row, process, theme, .. } = *self;
        let mut pen = Pen::new(buffer, area);
        if let Some(ended) = app.picture().ended(row) {
            pen.sentence(&how_it_ended(ended, &app.setup().zone), theme.style(Role::Text));
            return;
        }
        let change = Change::new(&process.bytes_per_minute(), gpu_of(app, process).map_or(Bytes::ZERO, total_of));
        let (text, label) = (theme.style(Role::Text), theme.style(Role::Label));
        if change.known {
            pen.put(&change.long(), if change.moves { text } else { label });
            let over = process.rate_over_ms().map_or_else(String::new, |ms| format!(" over the last {}", span(ms)));
            pen.put(&over, label);
        } else if app.then().is_some() {
            pen.put("its change was not known yet", label);
        } else if process.kept_since_ms.is_some() {
            pen.put("its change is not known while its list cannot be read", label);
        } else {
            pen.put("its change is not known yet: that takes 45 s without a jump", label);
        }
    }

    /// The parts that have room, from top to bottom. What is given up first: see [`Fact::given_up`].
    fn draw_body(&self, buffer: &mut Buffer, area: Rect, detail: &Detail) {
        let Self { app, row, process, theme, .. } = *self;
        let job = ranks::job_of(app.picture().monitor(), &process.facts);
        let mut facts = facts(app, detail, row, process);
        let gap = u16::from(area.height >= 12);
        let width = area.width.saturating_sub(CAPTION);
        let lines = |facts: &[Fact]| facts.iter().map(|fact| lines_of(&fact.text, width, fact.most).len()).sum::<usize>();
        let made_of = if area.height >= 10 { 1 + u16::try_from(MADE_OF.len()).unwrap_or(0) } else { 0 };
        let ranks = if job.is_some() && area.height >= 20 { 2 } else { 0 };
        let fixed = 1 + gap + made_of + ranks;
        let height = |facts: &[Fact]| fixed + u16::try_from(lines(facts)).unwrap_or(u16::MAX) + if facts.is_empty() { 0 } else { gap };
        while height(&facts) + GRAPH + 1 > area.height && facts.len() > 1 {
            let last = facts.iter().enumerate().max_by_key(|(_, fact)| fact.given_up).map_or(0, |(at, _)| at);
            facts.remove(last);
        }
        let graph = area.height.saturating_sub(height(&facts));
        let mut left = area;
        self.draw_figures(buffer, take(&mut left, 1));
        let plot = take(&mut left, graph);
        if plot.height > GRAPH {
            self.draw_history(buffer, plot);
        }
        take(&mut left, gap);
        if made_of > 0 {
            for (at, sentence) in MADE_OF.iter().enumerate() {
                draw_fact(buffer, take(&mut left, 1), if at == 0 { "MADE OF" } else { "" }, sentence, Role::Label, theme);
            }
            take(&mut left, 1);
        }
        if let Some(job) = job.filter(|_| ranks > 0) {
            ranks::draw(buffer, take(&mut left, 1), &job, theme);
            take(&mut left, 1);
        }
        for fact in &facts {
            for (at, text) in lines_of(&fact.text, width, fact.most).iter().enumerate() {
                draw_fact(buffer, take(&mut left, 1), if at == 0 { fact.caption } else { "" }, text, Role::Text, theme);
            }
        }
    }

    /// The figures of this moment, those that matter most first; what does not fit is left out.
    fn draw_figures(&self, buffer: &mut Buffer, line: Rect) {
        let Self { app, row, process, theme, .. } = *self;
        let (text, label, figure) = (theme.style(Role::Text), theme.style(Role::Label), theme.style(Role::Figure));
        let memory = gpu_of(app, process).and_then(|gpu| gpu.memory.get());
        let bytes = process.bytes();
        let at_least = if app.picture().is_past() && process.is_at_least() { "≥" } else { "" };
        let mut pen = Pen::new(buffer, line);
        if row.is_ended() {
            pen.put("it held ", label).put(&gib(bytes), text).put(" GiB at last", label);
        } else {
            let age = app.picture().monitor().kept_age_ms(process).map(|age_ms| format!(", {} ago", span(age_ms)));
            let (look, age) = age.map_or((figure, String::new()), |age| (label, age));
            pen.put("VRAM ", label).put(&format!("{at_least}{}", gib(bytes)), look).put(" GiB", label).put(&age, label);
        }
        let at = |peak: Peak| format!(" at {} (sampled)", hour_and_minute(peak.at, &app.setup().zone));
        let is_past = app.picture().is_past();
        let peak = process
            .peak
            .map(|peak| if is_past { ("at most ", peak.bytes.to_string(), String::new()) } else { ("peak ", peak.bytes.to_string(), at(peak)) });
        let share = process.bytes_now().zip(memory).and_then(|(bytes, memory)| bytes.percent_of(memory.room()));
        let share = share.map(|percent| ("", format!("{at_least}{percent} %"), " of the card".to_owned()));
        let free = Some(("free on the card ", gib(memory.map(|memory| memory.free())), String::new()));
        for (before, value, after) in [peak, share, free].into_iter().flatten() {
            if width_of(before) + width_of(&value) + width_of(&after) + 3 <= pen.room() {
                pen.skip(3).put(before, label).put(&value, text).put(&after, label);
            }
        }
    }

    fn draw_history(&self, buffer: &mut Buffer, area: Rect) {
        let Self { app, process, past, theme, .. } = *self;
        let course = past.course(past.of_process(&process.history), history_cells(area));
        let scale = scale(&course.cells, gpu_of(app, process).map_or(Bytes::ZERO, total_of));
        let label = |units: u32| format!("{:.0}", ProcessHistory::bytes(units).as_gib());
        let labels = (label(scale.top), label(scale.base));
        Graph { course: &course, scale, labels: (&labels.0, &labels.1), mark: None, moments: &past.marks, cursor: past.cursor }
            .draw(buffer, area, theme);
    }
}

fn draw_fact(buffer: &mut Buffer, line: Rect, caption: &str, text: &str, role: Role, theme: &Theme) {
    Pen::new(buffer, line).left(caption, CAPTION, theme.style(Role::Label)).put(text, theme.style(role));
}

/// From its own lowest to its own highest, in whole GiB with a margin; at least 2 % of the card, so that noise is no mountain.
fn scale(columns: &[Column], card: Bytes) -> Scale {
    let unit = u32::try_from(Bytes::GIB / ProcessHistory::bytes(1).0).unwrap_or(1);
    let (low, high) = columns.iter().flatten().fold((u32::MAX, 0), |(low, high), column| (low.min(column.0), high.max(column.1)));
    let low = low.min(high);
    let least = u32::try_from(card.0 / 50 / ProcessHistory::bytes(1).0).unwrap_or(u32::MAX).max(unit);
    let spread = (high - low).max(least);
    let wanted = (spread / 4 / unit).max(1);
    let power = 10_u32.pow(wanted.ilog10());
    let step = [5, 2, 1].into_iter().map(|n| n * power).find(|step| *step <= wanted).unwrap_or(power) * unit;
    let top = high.saturating_add(step / 2).div_ceil(step).max(1).saturating_mul(step);
    let base = if low > high / 2 { low.saturating_sub(step / 2) / step * step } else { 0 };
    Scale { base, top }
}

/// Its variables, from `first` on. Says how many can be above.
fn draw_environment(buffer: &mut Buffer, area: Rect, environment: Result<&[(SafeText, SafeText)], String>, first: usize, theme: &Theme) -> usize {
    let (text, label) = (theme.style(Role::Text), theme.style(Role::Label));
    let mut left = area;
    let head = take(&mut left, 1);
    match environment {
        Err(why) => {
            Pen::new(buffer, head).put("ENVIRONMENT", label).put(&format!("  not known: {why}"), text);
            0
        }
        Ok(variables) => {
            let count = variables.len();
            Pen::new(buffer, head).put("ENVIRONMENT", label).put(&format!("  {count} variables, as it was started; secrets are masked"), label);
            let end = count.saturating_sub(usize::from(left.height));
            for ((name, value), y) in variables.iter().skip(first.min(end)).zip(left.top()..left.bottom()) {
                let mut pen = Pen::new(buffer, Rect { y, height: 1, ..left });
                pen.put(name.as_str(), text).put("=", label).put(value.as_str(), label);
            }
            end
        }
    }
}

/// The first rows of what is left.
fn take(left: &mut Rect, height: u16) -> Rect {
    let height = height.min(left.height);
    let taken = Rect { height, ..*left };
    left.y += height;
    left.height -= height;
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_its_own() {
        const TENTH: u32 = 16_384 / 10;
        let of = |low: u32, high: u32| {
            let scale = scale(&[Some((low * TENTH, high * TENTH))], Bytes::gib(140));
            (scale.base / 16_384, scale.top / 16_384)
        };
        // The design's, in tenths: 91.7 to 96.4 on a card of 140.
        assert_eq!(of(917, 964), (91, 97));
        assert_eq!(of(5, 5), (0, 1));
        assert_eq!(of(100, 900), (0, 100));
        // A damaged recording can claim more than any card has: the history keeps at most 2^32 - 1 units of 64 KiB.
        let top = scale(&[Some((7, u32::MAX))], Bytes::gib(140)).top;
        assert_eq!(top, u32::MAX);
    }
}
