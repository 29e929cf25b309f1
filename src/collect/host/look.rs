//! A close look at one process: its environment with the secrets masked.
//!
//! Reading an environment can wait for a process that is stuck in the kernel, so whoever draws must not call this.

use std::path::Path;

use super::process::{ENVIRON, Folder};
use crate::model::{Details, ProcessKey, Reading, SafeText};

/// Variables that are kept.
const MOST_VARIABLES: usize = 1000;
/// A variable whose name has one of these in it is a secret; rather one too many.
const SECRET: &[&str] = &["TOKEN", "SECRET", "PASSW", "PASSPHRASE", "PWD_", "KEY", "CREDENTIAL", "AUTH", "COOKIE", "PRIVATE", "SIGNATURE", "DSN"];
/// Why a zombie, whose memory is gone, has none.
const ENDED: &str = "it has ended";
/// What stands for a secret.
const MASK: &str = "***";

/// Looks at a process. What may not be read, or is gone, is absent with its reason.
pub fn look(proc_root: &Path, key: ProcessKey) -> Details {
    let gone = Details { key, environment: Reading::failed("process is gone") };
    let Some(folder) = Folder::open(&proc_root.join(key.pid.to_string())) else { return gone };
    let Some(stat) = folder.stat().filter(|stat| Some(stat.start_ticks) == key.start_ticks) else { return gone };
    let environment = match stat.state {
        'D' => Reading::failed("it is stuck in the kernel, and so would be who reads it"),
        'Z' => Reading::failed(ENDED),
        _ => match folder.read("environ", ENVIRON) {
            Some(bytes) => Reading::Value(variables(&bytes)),
            // It may have ended since: that is another reason than somebody else's.
            None if folder.stat().is_none_or(|stat| stat.state == 'Z') => Reading::failed(ENDED),
            None => Reading::NOT_PERMITTED,
        },
    };
    Details { key, environment }
}

fn variables(environ: &[u8]) -> Vec<(SafeText, SafeText)> {
    let entries = environ.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()).take(MOST_VARIABLES);
    entries
        .map(|entry| {
            let text = String::from_utf8_lossy(entry);
            let (name, value) = text.split_once('=').unwrap_or((&text, ""));
            (SafeText::new(name), SafeText::new(if is_secret(name, value) { MASK } else { value }))
        })
        .collect()
}

/// By its name, or because it is an address with a password in it.
fn is_secret(name: &str, value: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let address = || value.split_once("://").and_then(|(_, rest)| rest.split('/').next()).is_some_and(|host| host.contains('@'));
    SECRET.iter().any(|word| upper.contains(word)) || address()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked() {
        let environ = b"HOME=/root\0HF_TOKEN=hf_abc\0AWS_SECRET_ACCESS_KEY=x\0db_password=y\0WANDB_API_KEY=z\0PROXY=http://me:pw@host:1/a@b\0\
                        SEEN=http://host/a@b\0EMPTY=\0CUDA_VISIBLE_DEVICES=0,1\0noequals\0";
        let read: Vec<String> = variables(environ).iter().map(|(name, value)| format!("{name}={value}")).collect();
        let expected = [
            "HOME=/root",
            "HF_TOKEN=***",
            "AWS_SECRET_ACCESS_KEY=***",
            "db_password=***",
            "WANDB_API_KEY=***",
            "PROXY=***",
            "SEEN=http://host/a@b",
            "EMPTY=",
            "CUDA_VISIBLE_DEVICES=0,1",
            "noequals=",
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn a_zombie_has_ended_and_forbids_nothing() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let folder = Path::new("/proc").join(child.id().to_string());
        let stat = || Folder::open(&folder).and_then(|folder| folder.stat()).unwrap();
        child.kill().unwrap();
        let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while stat().state != 'Z' {
            assert!(std::time::Instant::now() < end, "it never becomes a zombie");
        }
        let details = look(Path::new("/proc"), ProcessKey { pid: child.id(), start_ticks: Some(stat().start_ticks) });
        child.wait().unwrap();
        assert_eq!(details.environment, Reading::failed("it has ended"));
    }

    #[test]
    fn a_real_child_is_seen() {
        let mut child = std::process::Command::new("sleep").arg("600").env("CUDA_VISIBLE_DEVICES", "3").env("MY_TOKEN", "x").spawn().unwrap();
        let pid = child.id();
        // The environment is the child's own from the moment in which it runs its program.
        let details = std::iter::from_fn(|| {
            let ticks = Folder::open(&Path::new("/proc").join(pid.to_string())).and_then(|folder| folder.stat()).map(|stat| stat.start_ticks);
            Some(look(Path::new("/proc"), ProcessKey { pid, start_ticks: ticks }))
        })
        .take(100_000)
        .find(|details| details.variable("CUDA_VISIBLE_DEVICES").is_some());
        let other = look(Path::new("/proc"), ProcessKey { pid, start_ticks: Some(1) });
        child.kill().unwrap();
        child.wait().unwrap();
        let details = details.expect("it runs");
        assert_eq!((details.variable("CUDA_VISIBLE_DEVICES"), details.variable("MY_TOKEN")), (Some("3"), Some("***")));
        // Another process of the same number is none of it.
        assert_eq!(other.environment, Reading::failed("process is gone"));
    }
}
