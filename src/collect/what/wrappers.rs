//! The programs that only start another: what they start is what is named.
//!
//! It holds the table of wrappers and the Python tools that run a script under watch.
//! It refuses to hold launchers of many processes (torchrun and the like): those are work of their
//! own, and the rules name them.

use super::program::{Kind, Program};
use super::shell::{self, is_assignment};
use super::text;

/// A program that starts the command in its arguments.
struct Wrapper {
    names: &'static [&'static str],
    /// The subcommands that do so; any where there are none.
    verbs: &'static [&'static str],
    /// Flags whose value is the next word.
    valued: &'static [&'static str],
    /// Operands before the command, such as timeout's duration.
    operands: usize,
}

const fn wrapper(names: &'static [&'static str], verbs: &'static [&'static str], valued: &'static [&'static str], operands: usize) -> Wrapper {
    Wrapper { names, verbs, valued, operands }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper(&["numactl"], &[], &["-N", "-m", "-C", "-i", "-p", "--cpunodebind", "--membind", "--physcpubind", "--interleave", "--preferred"], 0),
    wrapper(&["nice"], &[], &["-n", "--adjustment"], 0),
    wrapper(&["ionice"], &[], &["-c", "-n", "--class", "--classdata"], 0),
    wrapper(&["chrt", "taskset", "gosu", "su-exec", "s6-setuidgid", "chroot"], &[], &["-T", "-P", "-D"], 1),
    wrapper(&["env"], &[], &["-u", "--unset", "-C", "--chdir"], 0),
    wrapper(&["timeout"], &[], &["-k", "-s", "--kill-after", "--signal"], 1),
    wrapper(&["stdbuf"], &[], &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    wrapper(&["time"], &[], &["-f", "-o"], 0),
    wrapper(
        &["nohup", "setsid", "setpriv", "catchsegv", "dbus-run-session", "prime-run", "optirun", "primusrun", "gamemoderun", "mangohud"],
        &[],
        &[],
        0,
    ),
    wrapper(
        &["sudo", "doas", "runuser"],
        &[],
        &["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-D", "-R", "-T", "-U", "--user", "--group", "--chdir"],
        0,
    ),
    wrapper(&["tini", "dumb-init", "catatonit", "docker-init"], &[], &["-p", "-e", "-r", "--rewrite"], 0),
    wrapper(&["xvfb-run"], &[], &["-n", "-s", "-e", "-f", "-p", "-w", "--server-args", "--server-num"], 0),
    wrapper(
        &["nsys"],
        &["profile", "launch"],
        &[
            "-o",
            "-t",
            "-c",
            "-w",
            "-f",
            "-y",
            "-d",
            "-s",
            "-e",
            "-b",
            "-x",
            "--output",
            "--trace",
            "--sample",
            "--capture-range",
            "--capture-range-end",
            "--stats",
            "--force-overwrite",
            "--delay",
            "--duration",
            "--wait",
            "--kill",
            "--env-var",
            "--backtrace",
            "--cudabacktrace",
            "--cuda-memory-usage",
            "--gpu-metrics-device",
            "--gpu-metrics-devices",
            "--pytorch",
        ],
        0,
    ),
    wrapper(
        &["ncu", "nv-nsight-cu-cli"],
        &[],
        &[
            "-o",
            "-k",
            "-c",
            "-s",
            "--export",
            "--set",
            "--section",
            "--metrics",
            "--target-processes",
            "--kernel-name",
            "--launch-count",
            "--launch-skip",
            "--nvtx-include",
            "--replay-mode",
            "--clock-control",
            "--cache-control",
            "--log-file",
        ],
        0,
    ),
    wrapper(&["compute-sanitizer", "cuda-memcheck"], &[], &["--tool", "--log-file", "--save", "--kernel-name", "--target-processes"], 0),
    wrapper(&["strace", "ltrace"], &[], &["-o", "-e", "-p", "-s", "-P", "-E", "-u", "-a", "-O", "-S", "-I", "-b", "-X"], 0),
    wrapper(&["conda", "mamba", "micromamba"], &["run"], &["-n", "-p", "--name", "--prefix", "--cwd"], 0),
    wrapper(
        &["uv"],
        &["run"],
        &[
            "-p",
            "--python",
            "--with",
            "--with-editable",
            "--with-requirements",
            "--project",
            "--directory",
            "--extra",
            "--group",
            "--env-file",
            "--package",
            "--index",
        ],
        0,
    ),
    wrapper(&["uvx"], &[], &["-p", "--python", "--with", "--from", "--index"], 0),
    wrapper(&["poetry", "pixi", "pdm", "pipenv", "hatch", "rye"], &["run"], &["-e", "--environment", "--manifest-path", "-p", "--project"], 0),
];

/// Python tools that run the script in their arguments: debuggers and profilers.
const TOOLS: &[&str] = &[
    "pdb",
    "ipdb",
    "debugpy",
    "launcher",
    "cProfile",
    "profile",
    "trace",
    "coverage",
    "scalene",
    "viztracer",
    "memory_profiler",
    "kernprof",
    "line_profiler",
    "py-spy",
    "torch.utils.bottleneck",
];

/// The command that a wrapper starts, if this is a wrapper.
pub(super) fn inside(program: &Program) -> Option<Vec<String>> {
    let name = program.name();
    let inner = match program.kind {
        Kind::Code if program.runner == "sh" => shell::command(&program.path)?,
        Kind::Binary | Kind::Script if is_entrypoint(name) => program.args.clone(),
        Kind::Binary | Kind::Script | Kind::Module if is_tool(program) => script(&program.args)?,
        Kind::Binary | Kind::Script | Kind::Module => {
            let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.names.contains(&name))?;
            after(wrapper, &program.args).to_vec()
        }
        _ => return None,
    };
    (!inner.is_empty()).then_some(inner)
}

/// Whether this is a container's entry point that ends in `exec "$@"`.
fn is_entrypoint(name: &str) -> bool {
    matches!(name.strip_suffix("entrypoint.sh"), Some(rest) if rest.is_empty() || rest.ends_with(['-', '_']))
}

fn is_tool(program: &Program) -> bool {
    TOOLS.contains(&program.name()) && (program.name() != "launcher" || program.path.contains("debugpy"))
}

/// The words after a wrapper's own.
fn after<'a>(wrapper: &Wrapper, args: &'a [String]) -> &'a [String] {
    let skipped = usize::from(!wrapper.verbs.is_empty());
    if skipped == 1 && !args.first().is_some_and(|verb| wrapper.verbs.contains(&verb.as_str())) {
        return &[];
    }
    let mut rest = args.get(skipped..).unwrap_or_default();
    let mut operands = wrapper.operands;
    while let Some(word) = rest.first() {
        let width = match word.as_str() {
            "--" => return rest.get(1 + operands..).unwrap_or_default(),
            flag if wrapper.valued.contains(&flag) => 2,
            flag if flag.starts_with('-') || is_assignment(flag) => 1,
            _ if operands > 0 => {
                operands -= 1;
                1
            }
            _ => return rest,
        };
        rest = rest.get(width..).unwrap_or_default();
    }
    rest
}

/// The Python command in a tool's or a launcher's arguments, from its script on.
pub(super) fn script(args: &[String]) -> Option<Vec<String>> {
    let is_module = |word: &String| word == "-m" || word == "--module";
    let is_script = |word: &String| !word.starts_with('-') && (text::has_kind(word, &["py"]) || word.contains("/bin/"));
    let at = args.iter().position(|word| is_module(word) || is_script(word))?;
    let flag = args.get(at).filter(|word| is_module(word)).map(|_| "-m".to_owned());
    let rest = args.get(at + usize::from(flag.is_some())..)?;
    Some(std::iter::once("python".to_owned()).chain(flag).chain(rest.iter().cloned()).collect())
}
