//! The arguments that say which experiment this is.
//!
//! It holds the list of argument names worth showing, and how they are shown. It refuses to show
//! anything off the list, so an unknown argument's value, secret or not, stays out of sight.

use super::text;

/// How many telling arguments are shown.
const MOST: usize = 4;
/// How much of one value is shown, in characters.
const VALUE: usize = 32;

/// The names of telling arguments, the most telling first.
const NAMES: &[&str] = &[
    "config",
    "config-name",
    "config-file",
    "cfg",
    "experiment",
    "experiment-name",
    "exp",
    "exp-name",
    "run-name",
    "name",
    "model",
    "model-name",
    "model-name-or-path",
    "model-path",
    "model-id",
    "model-type",
    "pretrained-model-name-or-path",
    "base-model",
    "arch",
    "backbone",
    "variant",
    "task",
    "tasks",
    "data",
    "dataset",
    "dataset-name",
    "data-path",
    "data-dir",
    "train-data",
    "train-file",
    "ckpt",
    "checkpoint",
    "ckpt-path",
    "checkpoint-path",
    "resume",
    "bs",
    "batch-size",
    "batch",
    "per-device-train-batch-size",
    "train-batch-size",
    "micro-batch-size",
    "global-batch-size",
    "seq-len",
    "seq-length",
    "max-seq-len",
    "max-seq-length",
    "max-length",
    "lr",
    "learning-rate",
    "seed",
];

/// The kinds of files that are telling without a name in front.
const FILES: &[&str] = &["yaml", "yml", "toml", "json", "ini", "cfg", "conf", "py", "ipynb", "blend", "gguf", "safetensors", "uproject", "usd"];

/// The telling ones among a program's arguments, in the order they were given.
pub(super) fn telling(args: &[String]) -> Vec<String> {
    let mut found: Vec<(usize, usize, String)> = Vec::new();
    let mut rest = args;
    while let Some((word, tail)) = rest.split_first() {
        let value = tail.first().filter(|next| !next.starts_with('-'));
        let (width, telling) = match word.split_once('=') {
            Some((name, value)) => (1, weight(name).map(|weight| (weight, format!("{name}={}", shown(value))))),
            None if word.starts_with('-') => match value.filter(|next| !next.contains('=')) {
                Some(value) => (2, flag_weight(word, value).map(|weight| (weight, format!("{word} {}", shown(value))))),
                None => (1, None),
            },
            None => (1, is_telling_file(word).then(|| (0, shown(word)))),
        };
        // What is named by its hash (ollama's blobs) tells nothing.
        if let Some((weight, text)) = telling.filter(|(_, text)| !text.contains("sha256")) {
            found.push((weight, found.len(), text));
        }
        rest = tail.get(width - 1..).unwrap_or_default();
    }
    found.sort_unstable();
    found.truncate(MOST);
    found.sort_unstable_by_key(|(_, place, _)| *place);
    found.into_iter().map(|(_, _, text)| text).collect()
}

/// The subcommand, where the first argument is one: `train` of `axolotl train 7b.yaml`.
pub(super) fn subcommand(args: &[String]) -> Option<&str> {
    let first = args.first()?.as_str();
    let plain = first.len() <= 16 && first.starts_with(|c: char| c.is_ascii_lowercase());
    (plain && first.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c == '_')).then_some(first)
}

/// The value of the first of these flags (spelt as in [`text::key`]), given as `--flag v` or `--flag=v`.
pub(super) fn value_of<'a>(args: &'a [String], flags: &[&str]) -> Option<&'a str> {
    let is_flag = |word: &str| word.starts_with('-') && flags.contains(&text::key(text::cut(word, 64)).as_str());
    args.iter().enumerate().find_map(|(at, word)| match word.split_once('=') {
        Some((name, value)) => is_flag(name).then_some(value),
        None if is_flag(word) => args.get(at + 1).map(String::as_str),
        None => None,
    })
}

/// How telling an argument is by its name (0 most): `--data.batch_size` counts as `batch-size`.
fn weight(name: &str) -> Option<usize> {
    if name.len() > 64 {
        return None;
    }
    let key = text::key(name);
    let last = key.rsplit('.').next().unwrap_or(&key);
    NAMES.iter().position(|telling| *telling == last)
}

/// The same for a flag with a value; a one-letter flag is telling where its value is a telling file.
fn flag_weight(flag: &str, value: &str) -> Option<usize> {
    let one_letter = flag.len() == 2 && flag != "-o";
    if one_letter { is_telling_file(value).then_some(0) } else { weight(flag) }
}

fn is_telling_file(word: &str) -> bool {
    !word.contains(char::is_whitespace) && text::has_kind(word, FILES)
}

/// A value as it is shown: a path's or a model's last part, no secrets, not too long.
fn shown(value: &str) -> String {
    text::shorten(&text::clean(model(text::masked(value))), VALUE)
}

/// The name of a model or a file from a path, a hub's `org/name`, or the Hugging Face cache
/// (`models--Qwen--Qwen3-32B/snapshots/<hash>`).
pub(super) fn model(path: &str) -> &str {
    let cached = path.split('/').find_map(|part| part.strip_prefix("models--"));
    cached.map_or_else(|| text::base(path), |name| name.rsplit("--").next().unwrap_or(name))
}
