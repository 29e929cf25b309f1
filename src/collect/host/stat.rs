//! The one line of `/proc/PID/stat`: name, state, CPU time, start and resident pages of a process.
//!
//! It refuses to hold I/O, and the fields that nobody asks for.

/// What the kernel says of a process in `/proc/PID/stat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    /// The kernel's name of it: 15 bytes that the process chose, spaces and parentheses included.
    pub(super) comm: String,
    /// The scheduler's letter.
    pub(super) state: char,
    /// The PID of its parent.
    pub(super) parent: u32,
    /// CPU time of all its threads, in clock ticks.
    pub(super) cpu_ticks: u64,
    /// When it started, in clock ticks since boot (field 22).
    pub(super) start_ticks: u64,
    /// Its resident set in pages.
    pub(super) rss_pages: u64,
}

impl Stat {
    /// Reads the line; `None` where it is not one.
    ///
    /// The name may hold anything, so it ends at the *last* parenthesis: only numbers and one letter follow.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let open = line.iter().position(|byte| *byte == b'(')?;
        let close = line.iter().rposition(|byte| *byte == b')')?;
        let comm = String::from_utf8_lossy(line.get(open + 1..close)?).into_owned();
        let rest = std::str::from_utf8(line.get(close + 1..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        // Fields are numbered from 1 as in proc(5); the state is the third. `nth` counts from the one read last.
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        let user: u64 = fields.nth(14 - 5)?.parse().ok()?;
        let system: u64 = fields.next()?.parse().ok()?;
        let start_ticks = fields.nth(22 - 16)?.parse().ok()?;
        let rss_pages = fields.nth(24 - 23)?.parse().ok()?;
        Some(Self { comm, state, parent, cpu_ticks: user.saturating_add(system), start_ticks, rss_pages })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A real line of `sleep`, with its name left open: 3 ticks in user mode, 4 in the kernel, started at 987 654, 417 pages.
    fn line(comm: &str) -> String {
        format!(
            "4711 ({comm}) S 4700 4711 4700 34816 4711 4194304 98 0 0 0 3 4 11 12 20 0 1 0 987654 5885952 417 18446744073709551615 \
             94 95 96 0 0 0 0 0 0 1 0 0 17 1 0 0 0 0 0 97 98 99 100 101 102 103 0\n"
        )
    }

    #[test]
    fn a_name_may_hold_spaces_and_parentheses() {
        for comm in ["sleep", "a b", "(a b) c)", ")", "", "tmux: server", ") R 1 1 1", "naïve", "a\nb"] {
            let expected = Stat { comm: comm.to_owned(), state: 'S', parent: 4700, cpu_ticks: 7, start_ticks: 987_654, rss_pages: 417 };
            assert_eq!(Stat::parse(line(comm).as_bytes()), Some(expected), "{comm:?}");
        }
    }

    #[test]
    fn what_is_no_such_line_is_refused() {
        let whole = line("sleep");
        for broken in ["", "4711", "4711 (sleep", "4711 sleep) S 1", "4711 )sleep( S 1", "4711 (sleep) S 1 2 3", &whole.replace("987654", "x")] {
            assert_eq!(Stat::parse(broken.as_bytes()), None, "{broken:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = Stat::parse(&bytes);
        }

        #[test]
        fn no_damage_to_a_line_makes_it_panic(at in 0_usize..180, byte in any::<u8>(), end in 0_usize..220) {
            let mut bytes = line("(a b) c)").into_bytes();
            bytes[at] = byte;
            bytes.truncate(end);
            let _ = Stat::parse(&bytes);
        }

        #[test]
        fn every_name_is_given_back(comm in "[ -~]{0,15}") {
            prop_assert_eq!(Stat::parse(line(&comm).as_bytes()).map(|stat| stat.comm), Some(comm));
        }
    }
}
