//! Which frame of a stack a person wants to see: the innermost line of their own code, not of torch's.

use super::facts::{Frame, Site};
use super::texts::Texts;

/// Whose code a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// The person's own Python.
    Own,
    /// Python of torch, of an installed package or of Python itself.
    Library,
    /// C++ or C, named or not.
    Native,
}

/// Whose each file is, judged once a file.
#[derive(Default)]
pub(super) struct Names {
    owners: Vec<Option<Owner>>,
}

impl Names {
    /// Takes the next outer frame of a stack into account.
    #[inline]
    pub(super) fn add(&mut self, texts: &Texts, site: &mut Site, id: u32, frame: Frame) {
        if site.own.is_some() {
            return;
        }
        let at = frame.file as usize;
        if self.owners.len() <= at {
            self.owners.resize(at + 1, None);
        }
        let owner = *self.owners[at].get_or_insert_with(|| owner(texts.get(frame.file)));
        match owner {
            Owner::Own if frame.line > 0 => {
                site.own = Some(id);
                site.inner = site.inner.or(Some(id));
            }
            Owner::Library if frame.line > 0 => site.inner = site.inner.or(Some(id)),
            Owner::Own | Owner::Library => {}
            Owner::Native => {
                let name = texts.get(frame.name);
                // The allocator and the unwinder are on every stack: they tell nothing.
                if site.native.is_none() && !name.is_empty() && !["torch::", "c10::", "_Py", "Py"].iter().any(|start| name.starts_with(start)) {
                    site.native = Some(id);
                }
            }
        }
    }
}

fn owner(file: &str) -> Owner {
    const NATIVE: [&str; 9] = [".cpp", ".cc", ".cxx", ".cu", ".c", ".h", ".hpp", ".cuh", ".so"];
    const LIBRARY: [&str; 8] =
        ["/site-packages/", "/dist-packages/", "/torch/", "/lib/python3", "<frozen ", "/torch_extensions/", "\\site-packages\\", "\\torch\\"];
    if file.is_empty() || file == "??" || NATIVE.iter().any(|end| file.ends_with(end)) || file.contains(".so.") {
        Owner::Native
    } else if file.starts_with("torch/") || LIBRARY.iter().any(|part| file.contains(part)) {
        Owner::Library
    } else {
        Owner::Own
    }
}
