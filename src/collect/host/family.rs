//! Who started a process, and who started that one: read once, when the process is first seen.
//!
//! Brothers and sisters have the same ancestors, so each of those is read once for all that are met together. It refuses to follow
//! a family into another namespace: what `/proc` does not show ends it.

use std::collections::HashMap;
use std::path::Path;

use super::process::{Folder, program_of};
use super::stat::Stat;
use crate::model::{Ancestor, ProcessKey, SafeText};

/// A family is not followed further up.
const MOST: usize = 16;

/// Ancestors that were read for processes that are met together.
#[derive(Debug, Default)]
pub(super) struct Families(HashMap<u32, Option<(Ancestor, u32)>>);

impl Families {
    /// The ancestors of a process, the nearest first. The first process of the machine is everybody's ancestor and left out.
    pub(super) fn of(&mut self, root: &Path, child: &Stat) -> Vec<Ancestor> {
        let mut family: Vec<Ancestor> = Vec::new();
        let (mut pid, mut child_ticks) = (child.parent, child.start_ticks);
        while pid > 1 && family.len() < MOST {
            let Some((ancestor, parent)) = self.0.entry(pid).or_insert_with(|| read(root, pid)) else { break };
            // Nobody is younger than their child: the number has passed to another process meanwhile.
            if ancestor.key.start_ticks > Some(child_ticks) {
                break;
            }
            child_ticks = ancestor.key.start_ticks.unwrap_or(child_ticks);
            family.push(ancestor.clone());
            pid = *parent;
        }
        family
    }
}

/// A process and the PID of its parent.
fn read(root: &Path, pid: u32) -> Option<(Ancestor, u32)> {
    let folder = Folder::open(&root.join(pid.to_string()))?;
    let stat = folder.stat()?;
    let key = ProcessKey { pid, start_ticks: Some(stat.start_ticks) };
    Some((Ancestor { key, name: SafeText::new(&program_of(&folder, &stat)) }, stat.parent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A process of a made-up `/proc`.
    fn put(root: &Path, pid: u32, comm: &str, parent: u32, ticks: u64, cmdline: &str) {
        let folder = root.join(pid.to_string());
        fs::create_dir_all(&folder).unwrap();
        let stat = format!("{pid} ({comm}) S {parent} 1 1 0 -1 4194304 9 0 0 0 3 4 0 0 20 0 1 0 {ticks} 5885952 417 0 0\n");
        fs::write(folder.join("stat"), stat).unwrap();
        fs::write(folder.join("cmdline"), cmdline.replace(' ', "\0") + "\0").unwrap();
    }

    fn family(root: &Path, pid: u32) -> Vec<(u32, String)> {
        let stat = Folder::open(&root.join(pid.to_string())).and_then(|folder| folder.stat()).unwrap();
        let ancestors = Families::default().of(root, &stat);
        ancestors.into_iter().map(|ancestor| (ancestor.key.pid, ancestor.name.to_string())).collect()
    }

    fn named(pid: u32, name: &str) -> (u32, String) {
        (pid, name.to_owned())
    }

    #[test]
    fn launchers_are_named_by_what_they_launch_and_others_by_themselves() {
        let proc = tempfile::tempdir().unwrap();
        let root = proc.path();
        put(root, 7, "tmux: server", 1, 10, "tmux new");
        put(root, 8, "bash", 7, 20, "bash run.sh");
        put(root, 9, "python3.12", 8, 30, "python3.12 -m torch.distributed.run --nproc-per-node 4 train.py");
        put(root, 10, "python3.12", 9, 40, "python3.12 train.py");
        assert_eq!(family(root, 10), [named(9, "torchrun train.py"), named(8, "bash"), named(7, "tmux: server")]);
        // As on a machine with torch 2.11.
        put(root, 19, "pt_elastic", 8, 30, "/opt/venv/bin/python3 -m torch.distributed.run --standalone --nproc_per_node 2 train.py --bs 16");
        put(root, 20, "pt_main_thread", 19, 40, "/opt/venv/bin/python3 -u train.py --bs 16");
        assert_eq!(family(root, 20)[0], named(19, "torchrun train.py"));
    }

    #[test]
    fn whoever_is_younger_than_the_child_is_no_parent() {
        let proc = tempfile::tempdir().unwrap();
        put(proc.path(), 9, "bash", 1, 41, "bash");
        put(proc.path(), 10, "sleep", 9, 40, "sleep 600");
        assert_eq!(family(proc.path(), 10), []);
    }

    #[test]
    fn a_long_family_and_a_ring_are_bounded() {
        let proc = tempfile::tempdir().unwrap();
        for pid in 10..60 {
            put(proc.path(), pid, "sh", if pid == 10 { 59 } else { pid - 1 }, 5, "sh");
        }
        let found = family(proc.path(), 59);
        assert_eq!((found.len(), found[0].0, found[15].0), (16, 58, 43));
    }
}
