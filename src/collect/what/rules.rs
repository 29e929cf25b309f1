//! The table of rules that name a program's work; the first that matches wins.
//!
//! It holds the order and the rules for programs in general; those for one family each are in
//! [`super::apps`] and [`super::parallel`]. It refuses to hold parsing: what the program is comes
//! from [`super::program`], its telling arguments from [`super::telling`].

use super::name::{COLUMNS, Name, Seen, plain, same, words};
use super::program::Kind;
use super::{apps, parallel, servers, telling, text};

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

/// Kernel threads and zombies have the kernel's name only.
fn kernel(seen: &Seen<'_>) -> Option<Name> {
    (seen.program.kind == Kind::Nothing).then(|| same(text::bracketed(seen.facts.comm)))
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
