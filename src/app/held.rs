//! A picture that stands still, and the moment of its past that is looked back at. Samples go on into the live one meanwhile.

use super::picture::Picture;
use super::{App, Effect, Mode, Notice};
use crate::insight::Severity;
use crate::monitor::Then;

/// The picture that was up when somebody held it.
#[derive(Clone, Debug)]
pub(super) struct Held {
    present: Picture,
    past: Option<(Then, Picture)>,
}

impl Held {
    fn picture(&self) -> &Picture {
        self.past.as_ref().map_or(&self.present, |(_, picture)| picture)
    }

    pub(super) const fn picture_mut(&mut self) -> &mut Picture {
        match &mut self.past {
            Some((_, picture)) => picture,
            None => &mut self.present,
        }
    }
}

/// What is to be drawn.
pub(super) fn shown<'a>(held: Option<&'a Held>, live: &'a Picture) -> &'a Picture {
    held.map_or(live, Held::picture)
}

/// The newest of what is to be drawn: where the histories end, however far somebody looks back.
pub(super) fn present<'a>(held: Option<&'a Held>, live: &'a Picture) -> &'a Picture {
    held.map_or(live, |held| &held.present)
}

impl App {
    /// The newest picture that the histories reach to: the live one, or the one that is held.
    pub fn present(&self) -> &Picture {
        present(self.held.as_deref(), &self.live)
    }

    /// The moment that is looked back at.
    pub fn then(&self) -> Option<Then> {
        self.held.as_ref()?.past.as_ref().map(|(then, _)| *then)
    }

    /// How long before the newest sample that moment is, in milliseconds.
    pub fn ago_ms(&self) -> Option<u64> {
        let (_, now_ms) = self.present().monitor().now()?;
        self.then().map(|then| now_ms.saturating_sub(then.at_ms + 1))
    }

    /// Holds the picture, or goes on. A replay stands still itself.
    pub(super) fn pause(&mut self) -> Effect {
        if self.held.is_some() {
            return self.go_on();
        }
        if let Mode::Replay { .. } = self.setup.mode {
            return self.clock.toggle_pause().map_or(Effect::None, Effect::Playback);
        }
        self.hold();
        Effect::Redraw
    }

    fn hold(&mut self) {
        if self.held.is_none() && self.live.monitor().now().is_some() {
            self.held = Some(Box::new(Held { present: self.live.clone(), past: None }));
        }
    }

    /// Back to the newest; a replay that stood still plays on.
    pub(super) fn go_on(&mut self) -> Effect {
        self.held = None;
        self.relist();
        if self.clock.is_paused() { self.clock.toggle_pause().map_or(Effect::Redraw, Effect::Playback) } else { Effect::Redraw }
    }

    /// So many columns of the histories further into the past, or back towards the newest, which is now again. The picture is held
    /// meanwhile. Where there is nothing older nothing is held, and it says so: whoever sees no past has none to come back from.
    pub(super) fn look_back(&mut self, columns: i64) -> Effect {
        // There is nothing after the newest.
        if self.then().is_none() && columns > 0 {
            return Effect::None;
        }
        let span_ms = self.shown.column_ms.max(1000);
        let monitor = self.present().monitor();
        let (Some((_, now_ms)), Some(first_ms)) = (monitor.now(), monitor.first_ms()) else { return Effect::None };
        let newest = now_ms.saturating_sub(1) / span_ms;
        let at = self.then().map_or(newest, |then| then.at_ms / span_ms);
        let column = at.saturating_add_signed(columns).max(first_ms / span_ms);
        if columns < 0 && column >= at {
            // Who looks back already sees how far, and that Esc is the way out.
            self.note = self.then().is_none().then(|| "there is nothing older".to_owned());
            return Effect::Redraw;
        }
        if column >= newest {
            return self.go_on();
        }
        self.hold();
        let Some(held) = &mut self.held else { return Effect::None };
        let then = Then { at_ms: (column + 1) * span_ms - 1, span_ms };
        held.past = held.present.at(then).map(|picture| (then, picture));
        self.relist();
        let plays = matches!(self.setup.mode, Mode::Replay { .. }) && !self.clock.is_paused();
        if plays { self.clock.toggle_pause().map_or(Effect::Redraw, Effect::Playback) } else { Effect::Redraw }
    }

    /// What happened in the column that is looked back at: who ended, who came, what somebody marked.
    pub(super) fn happened(&self, then: Then) -> Option<Notice> {
        const MOST: usize = 3;
        let (came, ended) = self.present().monitor().happenings(then);
        let name = |facts: &crate::model::ProcessFacts| {
            let user = facts.user.as_ref().map_or_else(String::new, |user| format!(" of {user}"));
            format!("{}{user} ({})", facts.what, facts.key.pid)
        };
        let full = |ended: &crate::monitor::Ended| {
            let full = ended.notable_fullness().map_or_else(String::new, |full| format!(" at {full} %"));
            format!("{} {}{full}", name(&ended.row.facts), if ended.lives_on { "left its GPU" } else { "ended" })
        };
        let begin = (then.at_ms + 1).saturating_sub(then.span_ms);
        let marked = self.window.marks().iter().any(|at_ms| (begin..=then.at_ms).contains(at_ms));
        let mut parts: Vec<String> = ended.into_iter().map(full).collect();
        parts.extend(came.into_iter().map(|row| format!("{} came", name(&row.facts))));
        parts.extend(marked.then(|| "marked".to_owned()));
        let more = parts.len().saturating_sub(MOST);
        parts.truncate(MOST);
        if more > 0 {
            parts.push(format!("{more} more"));
        }
        let text = format!("then: {}", parts.join(" · "));
        (!parts.is_empty()).then_some(Notice { severity: Severity::Warn, text, number: 1, of: 1, names: None })
    }
}
