//! A source on a thread of its own, so that nothing that draws or answers keys ever waits for a driver.
//!
//! The thread is detached: leaving the program never waits for it, whatever a driver call is doing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use super::{Source, SourceEnd, SourceError};
use crate::model::Record;

/// What a source's thread sends.
#[derive(Debug)]
pub enum Feed {
    /// The next record.
    Record(Record),
    /// There is no further record.
    Ended(SourceEnd),
}

/// Runs the source that `open` makes and hands on what it sends, until `send` answers `false` or the source ends.
///
/// # Errors
/// The system's error when no thread can be made.
pub fn spawn<S, O>(name: &str, open: O, mut send: impl FnMut(Feed) -> bool + Send + 'static) -> std::io::Result<()>
where
    S: Source,
    O: FnOnce() -> Result<S, SourceEnd> + Send + 'static,
{
    let run = move || {
        // A panic here is news for the picture, not the end of the program: the last figures stay on the screen.
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let mut source = match open() {
                Ok(source) => source,
                Err(end) => return Some(end),
            };
            loop {
                match source.next() {
                    Ok(record) => {
                        if !send(Feed::Record(record)) {
                            return None;
                        }
                    }
                    Err(end) => return Some(end),
                }
            }
        }))
        .unwrap_or_else(|panic| Some(SourceEnd::Failed(SourceError::Panicked(panic_text(panic.as_ref())))));
        if let Some(end) = ended {
            send(Feed::Ended(end));
        }
    };
    thread::Builder::new().name(name.to_owned()).stack_size(512 * 1024).spawn(run).map(drop)
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason given".to_owned())
}
