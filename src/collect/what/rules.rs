//! The table of rules that name a program's work; the first that matches wins.
//!
//! It holds the order and the rules for programs in general; those for one family each are in
//! [`super::apps`] and [`super::parallel`]. It refuses to hold parsing: what the program is comes
//! from [`super::program`], its telling arguments from [`super::telling`].

use super::program::{Kind, Program};
use super::{Facts, apps, parallel, servers, telling, text};

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

/// One kind of program.
pub(super) struct Rule {
    #[cfg_attr(not(test), allow(dead_code, reason = "the tests check that each rule has an example"))]
    pub(super) name: &'static str,
    /// Names the programs of this kind and answers nothing to the rest.
    pub(super) names: fn(&Seen<'_>) -> Option<Name>,
}

/// The rules in order; the last takes everything.
pub(super) const RULES: &[Rule] = &[
    rule("no command line", kernel),
    rule("ray worker", parallel::ray),
    rule("engine's title", parallel::engine),
    rule("pool worker", parallel::pool),
    rule("launcher", parallel::launcher),
    rule("notebook", apps::notebook),
    rule("jupyter", apps::jupyter),
    rule("model server", server),
    rule("firefox", apps::firefox),
    rule("chromium", apps::chromium),
    rule("application", apps::application),
    rule("web interface", apps::web_interface),
    rule("code", code),
    rule("interpreter", interpreter),
    rule("title", title),
    rule("program", |seen| Some(plain(&seen.program))),
];

const fn rule(name: &'static str, names: fn(&Seen<'_>) -> Option<Name>) -> Rule {
    Rule { name, names }
}

/// The name of what was seen, by the first rule that knows it.
pub(super) fn name(seen: &Seen<'_>) -> Name {
    RULES.iter().find_map(|rule| (rule.names)(seen)).unwrap_or_else(|| plain(&seen.program))
}

/// One name, short and full.
pub(super) fn same(name: String) -> Name {
    Name { short: name.clone(), full: name }
}

/// Words with spaces between them.
pub(super) fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().collect::<Vec<_>>().join(" ")
}

/// Kernel threads and zombies have the kernel's name only.
fn kernel(seen: &Seen<'_>) -> Option<Name> {
    (seen.program.kind == Kind::Nothing).then(|| same(text::bracketed(seen.facts.comm)))
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

/// A server is named by its model, or else by what it was told to do.
fn server(seen: &Seen<'_>) -> Option<Name> {
    let serving = servers::serving(&seen.program, seen.facts.env)?;
    let label = serving.label;
    if let Some(model) = serving.model {
        let room = COLUMNS.saturating_sub(label.chars().count() + 1);
        return Some(Name { short: format!("{label} {}", servers::short_model(&model, room)), full: format!("{label} {model}") });
    }
    let short = words(std::iter::once(label).chain(serving.verb));
    let telling = telling::telling(&seen.program.args);
    Some(Name { full: words(std::iter::once(short.as_str()).chain(telling.iter().map(String::as_str))), short })
}

/// Code on the command line is named by its first words.
fn code(seen: &Seen<'_>) -> Option<Name> {
    if seen.program.kind != Kind::Code {
        return None;
    }
    let label = match seen.program.runner {
        "matlab" => "matlab".to_owned(),
        runner @ ("python" | "sh") => format!("{runner} -c"),
        runner => format!("{runner} -e"),
    };
    let code = text::shorten(&text::shown(seen.program.path.split_whitespace()), 40);
    Some(Name { full: words([label.as_str(), code.as_str()]), short: label })
}

fn interpreter(seen: &Seen<'_>) -> Option<Name> {
    let how = match seen.program.kind {
        Kind::Interactive => "interactive",
        Kind::Stdin => "stdin",
        _ => return None,
    };
    Some(same(format!("{} ({how})", seen.program.runner)))
}

/// A title is shown as the process wrote it: `postgres: checkpointer`.
fn title(seen: &Seen<'_>) -> Option<Name> {
    let program = &seen.program;
    let all = std::iter::once(program.path.as_str()).chain(program.args.iter().map(String::as_str));
    let short = text::masked(program.name().trim_end_matches(':')).to_owned();
    (program.kind == Kind::Title).then(|| Name { short, full: text::shorten(&text::shown(all), 80) })
}
