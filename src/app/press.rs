//! What each key does. Which key means what is in the table of keys; here an action becomes a change of the state, or an effect.

use crossterm::event::KeyEvent;

use super::App;
use super::held::shown;
use super::keys::{self, Action};
use super::messages::{Effect, Screen};

impl App {
    pub(super) fn key(&mut self, key: &KeyEvent) -> Effect {
        let said = self.note.take().is_some();
        let letter = keys::letter(key).filter(|_| self.screen == Screen::Filter);
        let effect = match letter {
            Some(letter) => self.typed(letter),
            None => self.press(key),
        };
        if said && effect == Effect::None { Effect::Redraw } else { effect }
    }

    pub(super) fn act(&mut self, action: Action) -> Effect {
        let walking = std::mem::take(&mut self.walking);
        let page = isize::try_from(self.shown.rows.len().max(1)).unwrap_or(1);
        match action {
            Action::Up => self.step(-1),
            Action::Down => self.step(1),
            Action::PageUp => self.step(-page),
            Action::PageDown => self.step(page),
            Action::First => self.step(isize::MIN),
            Action::Last => self.step(isize::MAX),
            Action::NextNotice => {
                let of = self.notice().map_or(1, |notice| notice.of);
                self.notice = (self.notice + 1) % of.max(1);
                self.walking = true;
            }
            Action::Open => {
                let named = self.notice().filter(|_| walking).and_then(|notice| notice.names);
                let picture = shown(self.held.as_deref(), &self.live);
                match named {
                    Some(id) => self.selection.find(picture, &id),
                    None => return self.look_closely(),
                }
            }
            Action::Environment => self.toggle_environment(),
            Action::Scroll(by) => self.scroll(by),
            Action::Tag => self.tag(),
            Action::Untag => return self.untag(),
            Action::Pause => return self.pause(),
            Action::Past(columns) => return self.look_back(columns),
            Action::Faster => return self.clock.speed(2.0).map_or(Effect::None, Effect::Playback),
            Action::Slower => return self.clock.speed(0.5).map_or(Effect::None, Effect::Playback),
            Action::Signal(signal) => return self.ask(signal),
            Action::Choose(by) => self.choose_signal(by),
            Action::Send => return self.send(),
            Action::Help => {
                self.dialog = None;
                self.help_top = 0;
                self.screen = if self.screen == Screen::Help { self.below_help() } else { Screen::Help };
            }
            Action::Back => return self.back(),
            Action::Quit => return Effect::Quit,
            Action::Redraw => return Effect::RedrawAll,
            Action::Suspend => return Effect::Suspend,
            chosen => return self.choose(chosen),
        }
        Effect::Redraw
    }

    pub(super) const fn below_help(&self) -> Screen {
        if self.detail.is_some() { Screen::Detail } else { Screen::Dashboard }
    }

    /// One step back: out of the dialog, the help, the environment, the past, the close look.
    pub(super) fn back(&mut self) -> Effect {
        if self.dialog.take().is_some() {
            return Effect::Redraw;
        }
        if self.screen == Screen::Help {
            self.screen = self.below_help();
            return Effect::Redraw;
        }
        if self.detail.as_mut().is_some_and(|detail| detail.environment.take().is_some()) {
            return Effect::Redraw;
        }
        if self.then().is_some() {
            return self.go_on();
        }
        self.detail = None;
        self.screen = Screen::Dashboard;
        Effect::Redraw
    }

    pub(super) fn press(&mut self, key: &KeyEvent) -> Effect {
        let Some(action) = keys::action(key, self.screen(), self.setup.mode) else { return Effect::None };
        match self.in_the_way(action) {
            Some(why) => {
                self.note = Some(why.to_owned());
                Effect::Redraw
            }
            None => self.act(action),
        }
    }

    pub(super) fn step(&mut self, by: isize) {
        if self.screen == Screen::Columns {
            return self.step_chooser(by);
        }
        self.selection.step(shown(self.held.as_deref(), &self.live), by);
    }

    pub(super) fn scroll(&mut self, by: isize) {
        if let Some(top) = self.scrolled() {
            *top = top.saturating_add_signed(by);
        }
    }

    /// How much of what is scrolled is above the screen.
    pub(super) fn scrolled(&mut self) -> Option<&mut usize> {
        if let Some(dialog) = &mut self.dialog {
            return Some(&mut dialog.top);
        }
        if self.screen == Screen::Help { Some(&mut self.help_top) } else { self.detail.as_mut()?.environment.as_mut() }
    }
}
