//! Where every byte of one card is: total = free + driver + host + processes + unattributed - overlap.
//!
//! It is computed from one process list and the memory read right after it, adds up to the byte, or says which term is unknown.

use super::{Bytes, DeviceMemory, Reading};

/// One process's claim, as the driver charges it; `None` where the driver does not say.
pub type Share = Option<Bytes>;

/// The account of one card at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// All of the device's memory.
    pub total: Bytes,
    /// What a new allocation could get.
    pub free: Bytes,
    /// The driver's reserve; `None` where it stays inside `unattributed` because memory v1 does not tell it apart.
    pub driver: Option<Bytes>,
    /// The host's part of a shared pool, zero elsewhere; `None` where it cannot be told from the processes'.
    pub host: Option<Bytes>,
    /// The sum of the processes; `None`, as the two below, when one of their figures is absent or the list is of another moment.
    pub processes: Option<Bytes>,
    /// Used memory that no listed process owns.
    pub unattributed: Option<Bytes>,
    /// What the processes claim beyond used; normally zero.
    pub overlap: Option<Bytes>,
    /// How many processes hold memory of which the driver does not say how much.
    pub unknown_processes: u32,
    /// How many processes are counted in.
    pub holders: u32,
}

impl Ledger {
    /// Unattributed memory that a clean card shows for each process: some 7 MB measured on H200s (26.8 MB with four
    /// processes, 15.1 MB with two), doubled so that noise is never called a finding.
    const NOISE_PER_PROCESS: Bytes = Bytes::mib(14);
    /// Unattributed memory that is never worth a word: it would read as 0.0.
    const NOISE_BASE: Bytes = Bytes::mib(64);

    /// Adds up one list of shares and the memory that was read with it.
    pub fn new(memory: &DeviceMemory, shares: impl IntoIterator<Item = Share>) -> Self {
        let (mut known, mut unknown_processes, mut holders) = (Bytes::ZERO, 0, 0);
        for share in shares {
            holders += 1;
            match share {
                Some(bytes) => known += bytes,
                None => unknown_processes += 1,
            }
        }
        let processes = (unknown_processes == 0).then_some(known);
        let both = processes.zip(memory.used());
        Self {
            total: memory.total(),
            free: memory.free(),
            driver: memory.driver(),
            host: memory.host(),
            processes,
            unattributed: both.map(|(processes, used)| used.saturating_sub(processes)),
            overlap: both.map(|(processes, used)| processes.saturating_sub(used)),
            unknown_processes,
            holders,
        }
    }

    /// What is neither free nor the driver's nor known to be the host's: what the memory call that it rests on gave as used. Of a shared
    /// pool whose processes are not known, all that is in use.
    pub fn in_use(&self) -> Bytes {
        self.total.saturating_sub(self.free + self.driver.unwrap_or(Bytes::ZERO) + self.host.unwrap_or(Bytes::ZERO))
    }

    /// The account of a card whose processes nobody knows at this moment.
    pub fn unexplained(memory: &DeviceMemory) -> Self {
        Self { unknown_processes: 0, holders: 0, ..Self::new(memory, [None]) }
    }

    /// The unattributed part when it is more than a clean card shows.
    pub fn notable_unattributed(&self) -> Option<Bytes> {
        let noise = Self::NOISE_BASE + Bytes(Self::NOISE_PER_PROCESS.0 * u64::from(self.holders));
        self.unattributed.filter(|bytes| self.driver.is_some() && *bytes > noise)
    }

    /// Whether every term is known, so that the sum can be checked.
    pub const fn is_whole(&self) -> bool {
        self.driver.is_some() && self.unattributed.is_some()
    }

    /// The right-hand side of the equation; equal to `total` whenever `unattributed` is known.
    pub fn sum(&self) -> Option<Bytes> {
        let (host, processes, unattributed, overlap) = (self.host?, self.processes?, self.unattributed?, self.overlap?);
        (self.free + self.driver.unwrap_or(Bytes::ZERO) + host + processes + unattributed).checked_sub(overlap)
    }

    /// The ledger of a device whose memory was read, or why there is none.
    pub fn of(memory: &Reading<DeviceMemory>, shares: impl IntoIterator<Item = Share>) -> Reading<Self> {
        memory.as_ref().map(|memory| Self::new(memory, shares))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn memory(used: u64) -> DeviceMemory {
        let (total, driver) = (150_754_820_096, 644_939_776);
        DeviceMemory::new(total, used, total - driver - used, Some(driver)).get().expect("valid")
    }

    #[test]
    fn two_real_cards_add_up() {
        // GPU 0 of a two-card host with four processes: 26 804 224 B belonged to nobody.
        let shares = [9_133_096_960, 641_728_512, 641_728_512, 9_231_663_104].map(|b| Some(Bytes(b)));
        let ledger = Ledger::new(&memory(19_675_021_312), shares);
        assert_eq!(ledger.unattributed, Some(Bytes(26_804_224)));
        assert_eq!(ledger.sum(), Some(ledger.total));
        assert_eq!(ledger.notable_unattributed(), None);
        // GPU 1, two processes: 15 138 816 B.
        let ledger = Ledger::new(&memory(18_281_332_736), [Some(Bytes(9_133_096_960)), Some(Bytes(9_133_096_960))]);
        assert_eq!(ledger.unattributed, Some(Bytes(15_138_816)));
    }

    #[test]
    fn managed_memory_shows_as_unattributed() {
        // 20 GiB of touched managed memory: used rose by 22 029 336 576 B, the process was charged 543 162 368 B.
        let ledger = Ledger::new(&memory(22_029_336_576), [Some(Bytes(543_162_368))]);
        assert_eq!(ledger.notable_unattributed(), Some(Bytes(21_486_174_208)));
    }

    #[test]
    fn an_unknown_share_makes_the_rest_unknown() {
        let ledger = Ledger::new(&memory(Bytes::gib(14).0), [None, Some(Bytes::gib(2))]);
        assert_eq!((ledger.unattributed, ledger.sum()), (None, None));
        assert_eq!((ledger.processes, ledger.overlap, ledger.unknown_processes), (None, None, 1));
        let ledger = Ledger::unexplained(&memory(Bytes::gib(14).0));
        assert_eq!((ledger.processes, ledger.unattributed, ledger.overlap, ledger.holders), (None, None, None, 0));
    }

    #[test]
    fn a_pool_without_a_list_says_what_is_in_use_and_no_more() {
        let pool = DeviceMemory::shared(Bytes::gib(120), Bytes::gib(87), None).get().expect("valid");
        for ledger in [Ledger::unexplained(&pool), Ledger::new(&pool, [])] {
            assert_eq!((ledger.host, ledger.unattributed, ledger.overlap, ledger.sum()), (None, None, None, None));
            assert_eq!((ledger.free, ledger.in_use()), (Bytes::gib(87), Bytes::gib(33)));
        }
    }

    #[test]
    fn claims_beyond_used_are_overlap() {
        let ledger = Ledger::new(&memory(Bytes::gib(3).0), [Some(Bytes::gib(2)), Some(Bytes::gib(2))]);
        assert_eq!((ledger.overlap, ledger.unattributed), (Some(Bytes::gib(1)), Some(Bytes::ZERO)));
        assert_eq!(ledger.sum(), Some(ledger.total));
    }

    proptest! {
        #[test]
        fn it_always_adds_up(used in 0..150_109_880_320_u64, shares in proptest::collection::vec(0..1_u64 << 38, 0..40)) {
            let ledger = Ledger::new(&memory(used), shares.into_iter().map(|b| Some(Bytes(b))));
            prop_assert_eq!(ledger.sum(), Some(ledger.total));
        }
    }
}
