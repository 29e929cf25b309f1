//! The host's memory: kernels that kill, supervisors that do, and programs that asked the host.

use super::Producer::{Host, Linux, Ray, TensorFlow};
use super::Sign::{HostRam, Killed, KilledBySignal, Optional, SharedMemory};
use super::{Clause, opens};

pub(super) const CLAUSES: &[Clause] = &[
    opens(Linux, Killed, r"out of memory: kill(?:ed)? process \d+"),
    opens(Linux, Killed, r"invoked oom-killer|oom-kill:constraint|oom_reaper: reaped process"),
    opens(Linux, Killed, r"Detected \d+ oom[-_]kill event|Exceeded (?:job|step) memory limit"),
    // A field that is false and a word in prose say nothing.
    opens(Linux, Killed, r#"OOMKilled"?\s*[:=]\s*"?true\b|\b(?:reason|status)"?\s*[:=]\s*"?OOMKilled\b|^\W*OOMKilled\W*$"#),
    opens(
        Linux,
        Killed,
        r"\b\d+/\d+\s+(?:Init:)?OOMKilled\b|(?:container|pod|process)\b.{0,80}\b(?:was|been|got|terminated:?|reason:?) \(?OOMKilled\b",
    ),
    opens(
        Linux,
        KilledBySignal,
        r"exit(?:ed)?(?: with)?(?: code| status)?:? 137\b|return code = -9\b|exitcode\s*:\s*-9\b|Signals\.SIGKILL|signal 9 \(SIGKILL\)",
    ),
    opens(Linux, Killed, r"systemd-oomd.{0,40}killed|earlyoom.{0,80}(?:sending|killing)"),
    opens(
        Ray,
        Killed,
        r"ray\.exceptions\.OutOfMemoryError|killed due to the node running low on memory|worker\(?s?\)? killed due to memory pressure",
    ),
    opens(Host, HostRam, r"unable to allocate (?P<tried>{F}) for an array"),
    opens(Host, HostRam, r"out of memory, \w*alloc failed(?: \(tried to allocate (?P<tried>{F})\))?"),
    opens(
        Host,
        HostRam,
        r"java\.lang\.OutOfMemoryError: (?:GC overhead|Metaspace|Compressed class|Direct buffer|Requested array|unable to create)|Java heap space",
    ),
    opens(Host, HostRam, r"(?:OSError|Errno 12).{0,20}cannot allocate memory|fork: cannot allocate memory"),
    opens(Host, SharedMemory, r"/dev/shm.{0,60}no space left|no space left.{0,60}/dev/shm"),
    opens(TensorFlow, HostRam, r"OOM when allocating tensor .{0,200}device:CPU:\d|by allocator (?:cpu|mklcpu|cuda_host_bfc|gpu_host_bfc)"),
    opens(TensorFlow, Optional, r"allocation of (?P<tried>{N}) exceeds \d+% of (?:free )?system memory"),
];
