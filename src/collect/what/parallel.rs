//! Rules for programs of many processes: their launchers and their workers.
//!
//! It refuses to hold ranks: a worker's place comes from its environment, in [`super::identity`].

use super::name::{Name, Seen, plain, same};
use super::program::Kind;
use super::{interpreters, servers::is_named, wrappers};

/// Ray sets `ray::fn()`, `ray::Class.method()` and `ray::IDLE`.
pub(super) fn ray(seen: &Seen<'_>) -> Option<Name> {
    let title = seen.program.path.strip_prefix("ray::")?.trim_end_matches("()");
    let class = title.split(['.', '(']).next()?;
    Some(Name { short: format!("ray::{class}"), full: format!("ray::{title}") })
}

/// vLLM and `SGLang` set `VLLM::EngineCore_DP0`, `VLLM::Worker_TP3`, `sglang::scheduler_TP0`.
pub(super) fn engine(seen: &Seen<'_>) -> Option<Name> {
    let (maker, title) = seen.program.path.split_once("::")?;
    let maker = ["vllm", "sglang"].into_iter().find(|known| maker.eq_ignore_ascii_case(known))?;
    // The role ends where `_TP3` or `_0` begins.
    let is_tail = |at: &usize| title.get(at + 1..).is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit()));
    let end = title.match_indices('_').map(|(at, _)| at).find(is_tail).unwrap_or(title.len());
    let (role, tail) = title.split_at(end);
    let role = match role {
        "EngineCore" => "engine".to_owned(),
        "APIServer" => "api".to_owned(),
        other => other.to_lowercase().replace('_', " "),
    };
    Some(same(format!("{maker} {role}{}", tail.replace('_', " "))))
}

/// The children of Python's process pools, by what their command line names: multiprocessing's
/// (`spawn`, `forkserver`), joblib's loky, and the compile workers of `torch.compile`.
pub(super) fn pool(seen: &Seen<'_>) -> Option<Name> {
    const POOLS: &[(&str, &str)] = &[
        ("multiprocessing.spawn", "python worker (spawn)"),
        ("multiprocessing.forkserver", "python worker (forkserver)"),
        ("multiprocessing.resource_tracker", "python resource tracker"),
        ("loky.backend.popen", "python worker (loky)"),
        ("_inductor/compile_worker", "torch compile worker"),
    ];
    let program = &seen.program;
    let named = program.runner == "python" && matches!(program.kind, Kind::Code | Kind::Module | Kind::Script);
    POOLS.iter().find(|(mark, _)| named && program.path.contains(mark)).map(|(_, name)| same((*name).to_owned()))
}

/// The launchers of distributed programs: their label, their names, the verb that launches.
const LAUNCHERS: &[(&str, &[&str], &str)] = &[
    ("torchrun", &["torchrun", "torch.distributed.run", "torch.distributed.launch"], ""),
    ("accelerate", &["accelerate", "accelerate.commands.accelerate_cli"], "launch"),
    ("accelerate", &["accelerate.commands.launch"], ""),
    ("deepspeed", &["deepspeed", "deepspeed.launcher.runner", "deepspeed.launcher.launch"], ""),
    ("horovodrun", &["horovodrun"], ""),
    ("mpirun", &["mpirun", "mpiexec", "orterun", "prterun", "mpiexec.hydra"], ""),
    ("srun", &["srun"], ""),
];

/// A launcher is named by what it launches.
pub(super) fn launcher(seen: &Seen<'_>) -> Option<Name> {
    let args = &seen.program.args;
    let launches = |verb: &str| verb.is_empty() || args.first().is_some_and(|first| first == verb);
    let (label, ..) = LAUNCHERS.iter().find(|(_, names, verb)| is_named(&seen.program, names) && launches(verb))?;
    let Some(command) = wrappers::script(args) else {
        return Some(same((*label).to_owned()));
    };
    let inner = plain(&interpreters::read(&command));
    Some(Name { short: format!("{label} {}", inner.short), full: format!("{label} {}", inner.full) })
}
