//! Keeps out of a report what is nobody's business: homes, and folders named after the user or the machine.

use std::ffi::OsString;

/// Names that are not told.
#[derive(Clone, Debug, Default)]
pub struct Private {
    home: Option<String>,
    names: Vec<String>,
}

/// A folder of this name below `/home` is Google's and nobody's home: drivers lie there.
const NO_HOME: &str = "kubernetes";

impl Private {
    /// Names from the environment, and the machine's.
    pub fn new(env: &dyn Fn(&str) -> Option<OsString>, host: &str) -> Self {
        let word = |name: &str| env(name).and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty());
        let home = word("HOME").map(|home| home.trim_end_matches('/').to_owned()).filter(|home| home.len() > 1);
        let short = host.split('.').next().map(str::to_owned);
        let names = ["USER", "LOGNAME", "HOSTNAME"].into_iter().filter_map(word).chain([host.to_owned()]).chain(short);
        Self { home, names: names.filter(|name| !name.is_empty() && name != "?").collect() }
    }

    /// The text without them: `~` for the home, `…` for a folder with such a name.
    pub fn hide(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('/') {
            let (before, path) = rest.split_at(at);
            out.push_str(before);
            if let Some(after) = self.home.as_deref().and_then(|home| path.strip_prefix(home)).filter(|after| name_at(after).is_empty()) {
                out.push('~');
                rest = after;
                continue;
            }
            let name = name_at(&path[1..]);
            let in_home = out.ends_with("/home") || out.ends_with("/Users");
            let hidden = (in_home && name != NO_HOME && !name.is_empty()) || self.names.iter().any(|private| private == name);
            out.push('/');
            out.push_str(if hidden { "…" } else { name });
            rest = &path[1 + name.len()..];
        }
        out.push_str(rest);
        out
    }
}

/// The name that a text begins with, up to what cannot be in one.
fn name_at(text: &str) -> &str {
    let end = text.find(|c: char| c == '/' || c.is_whitespace() || matches!(c, '"' | ',' | ':' | ')' | '(' | '\\')).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hide(text: &str) -> String {
        let env = |name: &str| match name {
            "HOME" => Some("/data/people/ada".into()),
            "USER" => Some("ada".into()),
            _ => None,
        };
        Private::new(&env, "node7.lab.example").hide(text)
    }

    #[test]
    fn homes_users_and_hosts_are_hidden_wherever_a_path_stands() {
        for (text, hidden) in [
            ("/data/people/ada/.config/vramtop/config.toml:7: x", "~/.config/vramtop/config.toml:7: x"),
            ("\"library\":\"/data/people/ada\"", "\"library\":\"~\""),
            ("/data/people/adam/x", "/data/people/adam/x"),
            ("/scratch/ada/lib.so", "/scratch/…/lib.so"),
            ("(/home/bob/lib.so, /home/kubernetes/bin/nvidia)", "(/home/…/lib.so, /home/kubernetes/bin/nvidia)"),
            ("/mnt/node7/x and /mnt/node7.lab.example", "/mnt/…/x and /mnt/…"),
            ("sm/memory 12 / 7 //", "sm/memory 12 / 7 //"),
            ("no path: ada", "no path: ada"),
        ] {
            assert_eq!(hide(text), hidden);
        }
    }
}
