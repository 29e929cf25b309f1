//! `ranks`: those of one job beside each other, so that the fat one shows itself.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::graph::small;
use super::past::total_of;
use super::pen::{Pen, width_of};
use super::theme::{Role, Theme};
use crate::app::App;
use crate::history::ProcessHistory;
use crate::model::{Bytes, ProcessFacts, SafeText};
use crate::monitor::{Monitor, ProcessRow};

/// A job with two or more ranks here.
pub(super) struct Job {
    name: String,
    /// What each rank holds on the GPU where it holds most, by rank.
    ranks: BTreeMap<u32, Bytes>,
    /// All memory of the largest card.
    card: Bytes,
    /// Whether these are the least that they held, at a moment that is looked back at.
    is_at_least: bool,
}

/// What makes ranks those of one job: the scheduler's word, or else the same program of the same user in a world of the same size.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct JobKey<'a> {
    job: Option<&'a SafeText>,
    program: Option<(Option<&'a SafeText>, &'a SafeText)>,
    world: Option<u32>,
}

impl<'a> JobKey<'a> {
    fn of(facts: &'a ProcessFacts) -> Option<Self> {
        let (job, world) = (facts.job.as_ref(), facts.rank?.world);
        Some(Self { job, program: job.is_none().then_some((facts.user.as_ref(), &facts.what)), world })
    }
}

/// What each rank of each job holds.
type Jobs<'a> = BTreeMap<JobKey<'a>, BTreeMap<u32, Bytes>>;

/// The job of the selected row, or else the one that holds most; its ranks on the GPUs that are looked at.
pub(super) fn shown(app: &App) -> Option<Job> {
    let picture = app.picture();
    let selected = app.selected().and_then(|at| picture.rows().get(at)).and_then(|row| picture.process(row));
    let seen = picture.gpus_in_sight();
    let jobs = jobs(picture.monitor(), &|row| seen.contains(&row.gpu));
    let selected = selected.and_then(|row| JobKey::of(&row.facts)).filter(|key| jobs.contains_key(key));
    let held = |ranks: &BTreeMap<u32, Bytes>| ranks.values().copied().sum::<Bytes>();
    let key = selected.or_else(|| jobs.iter().max_by_key(|(_, ranks)| held(ranks)).map(|(key, _)| *key))?;
    Job::new(picture.monitor(), &jobs, key)
}

/// The job that a process belongs to.
pub(super) fn job_of(monitor: &Monitor, facts: &ProcessFacts) -> Option<Job> {
    Job::new(monitor, &jobs(monitor, &|_| true), JobKey::of(facts)?)
}

impl Job {
    fn new(monitor: &Monitor, jobs: &Jobs<'_>, key: JobKey<'_>) -> Option<Self> {
        let name = match (key.job, key.program) {
            (Some(job), _) => job.to_string(),
            (None, Some((user, what))) => user.map_or_else(|| what.to_string(), |user| format!("{what} of {user}")),
            (None, None) => return None,
        };
        let card = monitor.gpus().iter().map(total_of).max().unwrap_or(Bytes::ZERO);
        let of_job = |row: &&ProcessRow| JobKey::of(&row.facts) == Some(key);
        let is_at_least = monitor.is_past() && monitor.processes().iter().filter(of_job).any(ProcessRow::is_at_least);
        Some(Self { name, ranks: jobs.get(&key)?.clone(), card, is_at_least })
    }
}

fn jobs<'a>(monitor: &'a Monitor, counts: &dyn Fn(&ProcessRow) -> bool) -> Jobs<'a> {
    let mut jobs = Jobs::new();
    for row in monitor.processes().iter().filter(|row| counts(row)) {
        let Some((key, rank, bytes)) = JobKey::of(&row.facts).zip(row.facts.rank).zip(row.bytes_now()).map(|((k, r), b)| (k, r.rank, b)) else {
            continue;
        };
        let held = jobs.entry(key).or_default().entry(rank).or_default();
        *held = bytes.max(*held);
    }
    jobs.retain(|_, ranks| ranks.len() > 1);
    jobs
}

/// Draws the line. Where not all ranks fit, the largest do.
pub(super) fn draw(buffer: &mut Buffer, area: Rect, job: &Job, theme: &Theme) {
    let (text, label) = (theme.style(Role::Text), theme.style(Role::Label));
    let mut pen = Pen::new(buffer, area);
    pen.put("ranks    ", label).put(&job.name, text);
    let held = if job.is_at_least { "at least" } else { "" };
    let median = if job.is_at_least { String::new() } else { format!("median {}", median(&job.ranks)) };
    pen.put(&format!(", {} ranks, {held}{median}:", job.ranks.len()), label);
    let levels = levels(job);
    let mut by_size: Vec<(u32, Bytes)> = job.ranks.iter().map(|(rank, bytes)| (*rank, *bytes)).collect();
    by_size.sort_by_key(|(rank, bytes)| (std::cmp::Reverse(*bytes), *rank));
    let width = by_size.iter().map(|(rank, bytes)| width_of(&rank.to_string()) + width_of(&bytes.to_string()) + 6).max().unwrap_or(1);
    let all = usize::from(pen.room() / width);
    let fit = if all >= by_size.len() { by_size.len() } else { usize::from(pen.room().saturating_sub(9) / width) };
    let largest = by_size.first().map(|(_, bytes)| *bytes);
    by_size.truncate(fit);
    by_size.sort_unstable();
    for (rank, bytes) in &by_size {
        let level = levels.get(rank).copied().unwrap_or(' ');
        let figure = theme.style(if Some(*bytes) == largest { Role::Figure } else { Role::Text });
        pen.put("  ", label).put(&rank.to_string(), label).put(" ", label).glyph(level, theme.style(Role::Edge));
        pen.put(" ", label).put(&bytes.to_string(), figure).put(" ", label);
    }
    if fit < job.ranks.len() {
        pen.put(&format!("  +{} more", job.ranks.len() - fit), label);
    }
}

/// The height of each rank above the least, as in a small history: what differs by less than 2 % of the card is level.
fn levels(job: &Job) -> BTreeMap<u32, char> {
    let unit = ProcessHistory::bytes(1).0;
    let units = |bytes: Bytes| u32::try_from(bytes.0 / unit).unwrap_or(u32::MAX);
    let columns: Vec<_> = job.ranks.values().map(|bytes| Some((units(*bytes), units(*bytes)))).collect();
    let least = units(Bytes(job.card.0 / 50));
    job.ranks.keys().copied().zip(small(&columns, least).chars()).collect()
}

fn median(ranks: &BTreeMap<u32, Bytes>) -> Bytes {
    let mut sorted: Vec<Bytes> = ranks.values().copied().collect();
    sorted.sort_unstable();
    let middle = sorted.len() / 2;
    match sorted.as_slice() {
        [] => Bytes::ZERO,
        sorted if sorted.len() % 2 == 1 => sorted[middle],
        sorted => Bytes(sorted[middle - 1].0.midpoint(sorted[middle].0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(gib: &[u64]) -> BTreeMap<u32, Bytes> {
        (0..).zip(gib.iter().map(|n| Bytes::gib(*n))).collect()
    }

    #[test]
    fn the_median_lies_in_the_middle() {
        assert_eq!(median(&ranks(&[66, 75, 64])), Bytes::gib(66));
        assert_eq!(median(&ranks(&[60, 70])), Bytes::gib(65));
    }

    #[test]
    fn equal_ranks_are_level_and_the_fat_one_is_a_tower() {
        let heights = |gib: &[u64]| {
            levels(&Job { name: String::new(), ranks: ranks(gib), card: Bytes::gib(80), is_at_least: false }).into_values().collect::<String>()
        };
        assert_eq!(heights(&[66, 66, 66]), "▄▄▄");
        assert_eq!(heights(&[66, 66, 75]), "▁▁▇");
    }
}
