//! Rules for programs with a name of their own: notebooks, web interfaces, browsers, desktops.
//!
//! It refuses to hold model servers, which are named by their model: those are in
//! [`super::servers`].

use super::name::{COLUMNS, Name, Seen, same, words};
use super::program::{Kind, Program};
use super::{Facts, servers::is_named, telling, text};

/// What runs a notebook's cells.
const KERNELS: &[&str] = &["ipykernel_launcher", "ipykernel", "ipykernel_launcher.py", "ipykernel.kernelapp", "colab_kernel_launcher"];

/// `JPY_SESSION_NAME` is the notebook's path, set by Jupyter Server since 1.18 / 2.0; without it
/// the connection file `kernel-<id>.json` is all there is.
pub(super) fn notebook(seen: &Seen<'_>) -> Option<Name> {
    if !is_named(&seen.program, KERNELS) {
        return None;
    }
    if let Some(session) = (seen.facts.env)("JPY_SESSION_NAME").filter(|name| !name.trim().is_empty()) {
        let file = text::base(text::cut(&session, 1024));
        let full = format!("notebook {file}");
        let short = if full.chars().count() > COLUMNS { file.to_owned() } else { full.clone() };
        return Some(Name { short, full });
    }
    let file = telling::value_of(&seen.program.args, &["f"]).map(text::base);
    let id = file.and_then(|file| file.strip_prefix("kernel-")?.strip_suffix(".json"));
    // VS Code writes `kernel-v3<id>.json`.
    let id = id.map(|id| id.strip_prefix("v3").or(id.strip_prefix("v2-")).unwrap_or(id)).filter(|id| !id.is_empty());
    Some(same(id.map_or_else(|| "notebook kernel".to_owned(), |id| format!("notebook kernel-{}", text::cut(id, 8)))))
}

/// Jupyter's servers and tools: programs and modules.
const JUPYTER: &[&str] = &[
    "jupyter",
    "jupyter-lab",
    "jupyter-notebook",
    "jupyter-server",
    "jupyter-nbconvert",
    "jupyterhub",
    "jupyterhub-singleuser",
    "jupyterlab",
    "notebook",
    "jupyterlab_server",
    "jupyter_server",
];

pub(super) fn jupyter(seen: &Seen<'_>) -> Option<Name> {
    let program = &seen.program;
    if !is_named(program, JUPYTER) {
        return None;
    }
    let part = match program.name() {
        "jupyterlab" => Some("lab"),
        "notebook" => Some("notebook"),
        name => name.split_once(['-', '_']).map(|(_, part)| part).or_else(|| telling::subcommand(&program.args)),
    };
    let file = program.args.iter().find(|arg| text::has_kind(arg, &["ipynb"])).map(|arg| text::base(arg));
    Some(Name { short: "jupyter".to_owned(), full: words(std::iter::once("jupyter").chain(part).chain(file)) })
}

/// Firefox's child processes end their arguments with their type.
pub(super) fn firefox(seen: &Seen<'_>) -> Option<Name> {
    let program = &seen.program;
    if !program.args.iter().any(|arg| arg == "-contentproc") {
        return None;
    }
    let name = program.name().trim_end_matches("-bin");
    let last = program.args.last().map(String::as_str);
    let child = last.filter(|last| ["gpu", "tab", "rdd", "socket", "utility", "forkserver"].contains(last));
    Some(Name { short: name.to_owned(), full: words(std::iter::once(name).chain(child)) })
}

/// Chromium and Electron give each child its `--type`.
pub(super) fn chromium(seen: &Seen<'_>) -> Option<Name> {
    const TYPES: &[&str] = &["gpu-process", "renderer", "utility", "zygote", "broker", "extension", "ppapi", "nacl-loader", "crashpad-handler"];
    let program = &seen.program;
    let child = program.args.iter().find_map(|arg| arg.strip_prefix("--type=")).filter(|child| TYPES.contains(child))?;
    let is_program = matches!(program.kind, Kind::Binary | Kind::Title);
    // Electron runs `/proc/self/exe`, which names nothing.
    let name = if program.name() == "exe" { seen.facts.comm } else { program.name() };
    is_program.then(|| same(format!("{name} {child}")))
}

/// Programs with a name of their own, whatever their arguments.
const APPLICATIONS: &[(&str, &[&str])] = &[
    ("triton server", &["tritonserver"]),
    ("triton stub", &["triton_python_backend_stub"]),
    ("comfyui", &["comfyui", "comfyui.exe"]),
    ("invokeai", &["invokeai", "invokeai-web"]),
    ("tensorboard", &["tensorboard", "tensorboard.main"]),
    ("Xorg", &["Xorg", "X", "Xorg.bin"]),
    ("Xwayland", &["Xwayland"]),
    ("gnome-shell", &["gnome-shell"]),
    ("mutter", &["mutter"]),
    ("kwin_x11", &["kwin_x11"]),
    ("kwin_wayland", &["kwin_wayland", "kwin_wayland_wrapper"]),
    ("plasmashell", &["plasmashell"]),
    ("sway", &["sway"]),
    ("Hyprland", &["Hyprland"]),
    ("weston", &["weston"]),
    ("cinnamon", &["cinnamon"]),
    ("firefox", &["firefox-bin", "firefox-esr"]),
];

pub(super) fn application(seen: &Seen<'_>) -> Option<Name> {
    let (label, _) = APPLICATIONS.iter().find(|(_, names)| is_named(&seen.program, names))?;
    Some(same((*label).to_owned()))
}

/// Programs known by the folder their script lies in: label, part of the folder's name, scripts.
const FOLDERS: &[(&str, &str, &[&str])] = &[
    ("comfyui", "comfyui", &["main.py"]),
    ("sd-webui", "stable-diffusion-webui", &["launch.py", "webui.py"]),
    ("sd-webui", "sd-webui", &["launch.py", "webui.py"]),
    ("text-gen-webui", "text-generation-webui", &["server.py"]),
];

pub(super) fn web_interface(seen: &Seen<'_>) -> Option<Name> {
    let program = &seen.program;
    let mut known = FOLDERS.iter().filter(|(.., scripts)| program.kind == Kind::Script && scripts.contains(&program.name()));
    let folder = folder(program, seen.facts).to_ascii_lowercase();
    known.find(|(_, part, _)| folder.contains(part)).map(|(label, ..)| same((*label).to_owned()))
}

/// The name of the folder that a script lies in, taken from `PWD` where its path does not say.
fn folder(program: &Program, facts: &Facts<'_>) -> String {
    let path = program.path.trim_start_matches("./");
    let named = path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let folder = named.or_else(|| (facts.env)("PWD")).unwrap_or_default();
    text::base(text::cut(&folder, 1024)).to_owned()
}
