//! vramtop: how much VRAM is free, who holds the rest, and how fast it changes.
//!
//! Data flows one way: a source (the driver, or a recording) sends records; [`monitor::Monitor::apply`] is the only writer of
//! state; pictures read it: the dashboard, the status line, the log. `ARCHITECTURE.md` is the map.

pub mod act;
pub mod app;
pub mod cli;
pub mod collect;
pub mod command;
pub mod config;
pub mod doctor;
pub mod exit;
pub mod history;
pub mod inside;
pub mod insight;
pub mod model;
pub mod monitor;
pub mod output;
pub mod record;
pub mod view;
