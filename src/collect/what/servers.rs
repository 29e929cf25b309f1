//! Model servers: the programs named by the model they hold.
//!
//! It holds the table of servers and how each is told its model. It refuses to ask them: only the
//! command line and the environment count here.

use super::program::{Kind, Program};
use super::{telling, text};

/// A program named by its model.
struct Server {
    /// How it is called; its own name where empty.
    label: &'static str,
    /// Its names: of the program or the Python module (`x.*`: any module in `x`).
    names: &'static [&'static str],
    /// Flags that give the model, in the spelling of [`text::key`].
    flags: &'static [&'static str],
    /// Whether the model may be the first argument, after the verbs.
    operand: bool,
    /// The variable that gives the model, or nothing.
    env: &'static str,
}

/// Words that may stand before the model: `vllm serve M`, `lmdeploy serve api_server M`.
const VERBS: &[&str] = &["serve", "api_server", "run", "runner", "chat", "complete", "start", "download-weights"];

const SERVERS: &[Server] = &[
    // https://docs.vllm.ai/en/latest/cli/
    Server { label: "vllm", names: &["vllm", "vllm.entrypoints.*"], flags: &["model", "model-tag"], operand: true, env: "" },
    // https://docs.sglang.ai/advanced_features/server_arguments.html
    Server { label: "sglang", names: &["sglang", "sglang.*"], flags: &["model-path", "model"], operand: false, env: "" },
    // `ollama runner --model …/blobs/sha256-…` names no model; `ollama run llama3.1:8b` does.
    Server { label: "ollama", names: &["ollama"], flags: &["model"], operand: true, env: "" },
    // https://huggingface.co/docs/text-generation-inference/reference/launcher
    Server {
        label: "tgi",
        names: &["text-generation-launcher", "text-generation-router", "text-generation-server"],
        flags: &["model-id"],
        operand: true,
        env: "MODEL_ID",
    },
    Server { label: "tei", names: &["text-embeddings-router"], flags: &["model-id"], operand: false, env: "MODEL_ID" },
    Server { label: "lmdeploy", names: &["lmdeploy", "lmdeploy.*"], flags: &["model-path"], operand: true, env: "" },
    Server { label: "trtllm", names: &["trtllm-serve", "trtllm-bench"], flags: &["model"], operand: true, env: "" },
    Server { label: "fastchat", names: &["fastchat.serve.*"], flags: &["model-path", "model-names"], operand: false, env: "" },
    // https://github.com/ggml-org/llama.cpp/tree/master/tools
    Server {
        label: "",
        names: &[
            "llama-server",
            "llama-cli",
            "llama-run",
            "llama-bench",
            "llama-batched-bench",
            "llama-perplexity",
            "llama-embedding",
            "llama-mtmd-cli",
        ],
        flags: &["m", "model", "hf", "hf-repo", "hfr"],
        operand: false,
        env: "LLAMA_ARG_MODEL",
    },
    Server { label: "llama-cpp", names: &["llama_cpp.server"], flags: &["model"], operand: false, env: "MODEL" },
    Server { label: "", names: &["whisper-server", "whisper-cli"], flags: &["m", "model"], operand: false, env: "" },
    Server { label: "koboldcpp", names: &["koboldcpp", "koboldcpp.py"], flags: &["model"], operand: true, env: "" },
];

/// A server at work.
pub(super) struct Serving<'a> {
    pub(super) label: &'a str,
    pub(super) model: Option<String>,
    /// What it was told to do, such as `serve`.
    pub(super) verb: Option<&'a str>,
}

/// The server that a program is, if it is one.
pub(super) fn serving<'a>(program: &'a Program, env: &dyn Fn(&str) -> Option<String>) -> Option<Serving<'a>> {
    let server = SERVERS.iter().find(|server| is_named(program, server.names))?;
    let verbs = program.args.iter().take_while(|word| VERBS.contains(&word.as_str())).count();
    let operand = || program.args.get(verbs).map(String::as_str).filter(|word| server.operand && !word.starts_with('-'));
    let stated = telling::value_of(&program.args, server.flags).or_else(operand).map(str::to_owned);
    let model = stated.or_else(|| (!server.env.is_empty()).then(|| env(server.env)).flatten());
    Some(Serving {
        label: if server.label.is_empty() { program.name() } else { server.label },
        model: model.as_deref().and_then(model_name),
        verb: program.args.first().map(String::as_str).filter(|_| verbs > 0),
    })
}

/// Whether a program has one of these names; `x.*` stands for every module in `x`.
pub(super) fn is_named(program: &Program, names: &[&str]) -> bool {
    let has_name = matches!(program.kind, Kind::Binary | Kind::Script | Kind::Module | Kind::Title);
    let name = program.name();
    let fits = |pattern: &str| match pattern.strip_suffix('*') {
        Some(package) => program.kind == Kind::Module && name.starts_with(package),
        None => name == pattern,
    };
    has_name && names.iter().any(|pattern| fits(pattern))
}

/// A model's name; none for a blob that is named by its hash.
fn model_name(model: &str) -> Option<String> {
    let name = telling::model(text::masked(text::cut(model.trim(), 1024)));
    (!name.is_empty() && !name.starts_with("sha256")).then(|| name.to_owned())
}

/// A model's name in `room` characters where that keeps its size: `Llama-3.1-8B-Instruct` in 14 is
/// `Llama-3.1-8B`.
pub(super) fn short_model(name: &str, room: usize) -> String {
    let name = name.strip_suffix(".gguf").unwrap_or(name);
    let mut parts: Vec<&str> = name.split('-').collect();
    let least = parts.iter().position(|part| is_size(part)).map_or(2, |at| at + 1);
    while parts.len() > least && parts.join("-").chars().count() > room {
        parts.pop();
    }
    parts.join("-")
}

/// Whether a part of a model's name is its size: `8B`, `0.6b`, `8x7B`.
fn is_size(part: &str) -> bool {
    let number = part.strip_suffix(['B', 'b', 'M', 'm']).unwrap_or_default();
    number.starts_with(|c: char| c.is_ascii_digit()) && number.chars().all(|c| c.is_ascii_digit() || c == '.' || c == 'x')
}
