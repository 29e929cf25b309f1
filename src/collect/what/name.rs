//! A name, what it is made from, and the plain one that any program gets. It refuses to hold rules: see [`super::rules`].

use super::program::{Kind, Program};
use super::{Facts, telling, text};

/// How many columns a short name should fit.
pub(super) const COLUMNS: usize = 20;

/// What the rules look at.
pub(super) struct Seen<'a> {
    pub(super) program: Program,
    pub(super) facts: &'a Facts<'a>,
}

/// What a rule answers.
pub(super) struct Name {
    pub(super) short: String,
    pub(super) full: String,
}

/// One name, short and full.
pub(super) fn same(name: String) -> Name {
    Name { short: name.clone(), full: name }
}

/// Words with spaces between them.
pub(super) fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().collect::<Vec<_>>().join(" ")
}

/// A script, module or binary: its name, its subcommand, its telling arguments.
pub(super) fn plain(program: &Program) -> Name {
    let name = program.name();
    let subcommand = telling::subcommand(&program.args);
    let telling = telling::telling(&program.args);
    let full = words(std::iter::once(name).chain(subcommand).chain(telling.iter().map(String::as_str)));
    let short = if program.kind == Kind::Module { short_module(name) } else { name };
    Name { short: text::masked(short).to_owned(), full: text::shown(full.split(' ')) }
}

/// The longest end of a dotted name that fits the columns, at least its last part.
fn short_module(name: &str) -> &str {
    let mut short = name;
    while let Some((_, rest)) = short.split_once('.').filter(|_| short.chars().count() > COLUMNS) {
        short = rest;
    }
    short
}
