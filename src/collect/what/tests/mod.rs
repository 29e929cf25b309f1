//! Tests of the names: realistic command lines, identities, hostile input.

mod commands;
mod hostile;
mod identity;

use super::{Facts, What, what};

/// A variable of a process's environment.
type Variable<'a> = (&'a str, &'a str);

/// Names a process with this environment and cgroup.
fn named(comm: &str, args: &[String], env: &[Variable<'_>], cgroup: &str) -> What {
    let lookup = |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    what(&Facts { comm, args, env: &lookup, cgroup })
}
