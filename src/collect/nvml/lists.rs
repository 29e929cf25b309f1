//! The process lists of one device: read, checked, and merged to one row a process.
//!
//! It decides which version of the list calls to trust and which rows cannot be true. It knows nothing of the host's processes.

use nvml_wrapper::error::NvmlError;

use super::call::Call;
use super::line::Line;
use super::raw::{self, ListBuffer, ListVersion, NO_INSTANCE, Row, Which};
use super::words::{self, IMPLAUSIBLE, KEPT_GROWING};
use crate::model::{Absence, Bytes, Kind, ListState, Reading};

/// One process on one device, as the driver's lists have it together.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Its PID as the driver gives it (in the host's namespace).
    pub pid: u32,
    /// In which lists it stands.
    pub kind: Kind,
    /// What it is charged with: the maximum of its lists and not their sum, since each list has the process's whole figure.
    pub memory: Reading<Bytes>,
}

/// The driver's mark for "not available" (`NVML_VALUE_NOT_AVAILABLE`), given under WSL for every process.
const NOT_AVAILABLE: u64 = u64::MAX;
/// The highest number that a `pid_t` can hold. Linux hands out none above 2^22, but the driver may count another system's processes.
const HIGHEST_PID: u32 = i32::MAX.unsigned_abs();
/// A GPU has at most a few MIG instances, with small numbers.
const HIGHEST_INSTANCE: u32 = 255;
const NEWEST_FIRST: [ListVersion; 3] = [ListVersion::V3, ListVersion::V2, ListVersion::V1];

/// The three lists of one device.
#[derive(Debug)]
pub(super) struct Lists {
    lists: [List; 3],
    merged: Vec<Entry>,
}

impl Lists {
    pub(super) fn new() -> Self {
        Self { lists: [Which::Compute, Which::Graphics, Which::Mps].map(List::new), merged: Vec::new() }
    }

    /// Reads all three at `now_ms` and merges them into `into`, which is cleared first. `limit` is the most that a process can have;
    /// `parent` leaves out what belongs to a MIG instance, which has a list of its own.
    ///
    /// A process that stands in none but lists that could not be read keeps its row, and its figure is stale since they could.
    pub(super) fn read(&mut self, line: &mut Line, limit: u64, parent: bool, now_ms: u64, into: &mut Vec<Listed>) -> Reading<ListState> {
        into.clear();
        let (mut failure, mut computing_known) = (None, false);
        for list in &mut self.lists {
            match (list.read(line, limit, now_ms), list.which) {
                (Ok(()), which) => computing_known |= which == Which::Compute,
                // Many cards and old drivers have neither of these. Who computes is known by the compute list alone.
                (Err(Absence::NotSupported), Which::Graphics | Which::Mps) => {}
                (Err(why), _) => {
                    failure.get_or_insert(why);
                }
            }
        }
        self.merge(line, limit, parent, now_ms, into);
        let some_known = computing_known || into.iter().any(|listed| !matches!(listed.memory, Reading::Absent(Absence::StaleSince(_))));
        match failure {
            None => Reading::Value(ListState::Fresh),
            Some(why) if some_known => Reading::Value(ListState::Partial(why)),
            Some(why) => Reading::Absent(why),
        }
    }

    /// The largest figure of the last lists that was more than a process can have.
    pub(super) fn beyond_limit(&self, limit: u64) -> Option<u64> {
        let figures = self.lists.iter().flat_map(|list| &list.rows).map(|row| row.bytes);
        figures.filter(|bytes| is_too_much(*bytes, limit)).max()
    }

    fn merge(&mut self, line: &mut Line, limit: u64, parent: bool, now_ms: u64, into: &mut Vec<Listed>) {
        self.merged.clear();
        for list in &self.lists {
            let call = call(list.which);
            for row in list.rows.iter().filter(|row| !parent || row.instance == NO_INSTANCE) {
                match Entry::of(*row, kind(list.which), limit) {
                    Some(entry) if list.read_ms < now_ms => {
                        self.merged.push(Entry { memory: Reading::Absent(Absence::StaleSince(list.read_ms)), ..entry });
                    }
                    Some(entry) => {
                        if matches!(&entry.memory, Reading::Absent(Absence::Failed(_))) {
                            line.note(call, "a process with more memory than the device has");
                        }
                        self.merged.push(entry);
                    }
                    None => line.note(call, "a row without a possible PID"),
                }
            }
        }
        merge(&mut self.merged, into);
    }
}

/// One of the driver's lists, and its last whole answer.
#[derive(Debug)]
struct List {
    which: Which,
    /// The version of the call that answered first; none was tried before.
    version: Option<ListVersion>,
    /// The answers make no sense, and older versions were tried for it.
    doubted: bool,
    buffer: ListBuffer,
    /// The last answer; empty before the first.
    rows: Vec<Row>,
    /// When that was given.
    read_ms: u64,
    /// Rows of an answer that is not trusted yet.
    fetched: Vec<Row>,
}

impl List {
    fn new(which: Which) -> Self {
        Self { which, version: None, doubted: false, buffer: ListBuffer::default(), rows: Vec::new(), read_ms: 0, fetched: Vec::new() }
    }

    /// Reads the list; on a failure the last answer stays.
    fn read(&mut self, line: &mut Line, limit: u64, now_ms: u64) -> Result<(), Absence> {
        let call = call(self.which);
        if line.lacks(call) {
            return Err(Absence::NotSupported);
        }
        let newest = [self.version.unwrap_or(ListVersion::V3)];
        let versions = if self.version.is_some() { newest.as_slice() } else { &NEWEST_FIRST };
        let answer = match words::newest(versions, |version| self.fetch(line, version)) {
            // The driver's word would be "Insufficient Size"; ours says whose fault it is.
            Err(NvmlError::InsufficientSize(_)) => {
                line.note(call, KEPT_GROWING);
                Reading::failed(KEPT_GROWING)
            }
            answer => line.learn(call, answer),
        };
        match answer {
            Reading::Value((version, ())) => {
                self.version = Some(version);
                std::mem::swap(&mut self.rows, &mut self.fetched);
                self.read_ms = now_ms;
                self.doubt(line, version, limit);
                Ok(())
            }
            Reading::Absent(why) => {
                if why == Absence::NotSupported {
                    self.rows.clear();
                }
                Err(why)
            }
        }
    }

    fn fetch(&mut self, line: &Line, version: ListVersion) -> Result<(), NvmlError> {
        self.fetched.clear();
        let (which, buffer, fetched) = (self.which, &mut self.buffer, &mut self.fetched);
        line.put(call(which), |device| raw::processes(device, which, version, buffer, |row| fetched.push(row)))
    }

    /// Some drivers fill a version's array with another version's rows, and from the second row on PIDs and bytes are mixed up.
    /// When half of a list cannot be true, each older version is tried once; one that makes sense is used from then on.
    fn doubt(&mut self, line: &mut Line, version: ListVersion, limit: u64) {
        let nonsense = makes_no_sense(&self.rows, limit);
        if !nonsense || self.doubted {
            self.doubted = nonsense;
            return;
        }
        self.doubted = true;
        line.note(call(self.which), "rows that cannot be true");
        for older in NEWEST_FIRST.into_iter().skip_while(|other| *other != version).skip(1) {
            if self.fetch(line, older).is_ok() && !self.fetched.is_empty() && !makes_no_sense(&self.fetched, limit) {
                std::mem::swap(&mut self.rows, &mut self.fetched);
                self.version = Some(older);
                self.doubted = false;
                return;
            }
        }
    }
}

const fn call(which: Which) -> Call {
    match which {
        Which::Compute => Call::ComputeList,
        Which::Graphics => Call::GraphicsList,
        Which::Mps => Call::MpsList,
    }
}

const fn kind(which: Which) -> Kind {
    Kind { compute: matches!(which, Which::Compute), graphics: matches!(which, Which::Graphics), mps: matches!(which, Which::Mps) }
}

const fn is_possible(pid: u32) -> bool {
    pid != 0 && pid <= HIGHEST_PID
}

const fn is_too_much(bytes: u64, limit: u64) -> bool {
    bytes > limit && bytes != NOT_AVAILABLE
}

/// Whether at least half of the rows cannot be true.
fn makes_no_sense(rows: &[Row], limit: u64) -> bool {
    let no_instance = |id| id > HIGHEST_INSTANCE && id != NO_INSTANCE;
    let wrong = rows.iter().filter(|row| !is_possible(row.pid) || is_too_much(row.bytes, limit) || no_instance(row.instance)).count();
    wrong > 0 && wrong * 2 >= rows.len()
}

/// A row on its way to being merged.
#[derive(Debug)]
struct Entry {
    pid: u32,
    instance: u32,
    kind: Kind,
    memory: Reading<Bytes>,
}

impl Entry {
    /// `None` for a row that is nobody's.
    fn of(row: Row, kind: Kind, limit: u64) -> Option<Self> {
        let memory = match row.bytes {
            NOT_AVAILABLE => Reading::NOT_SUPPORTED,
            bytes if is_too_much(bytes, limit) => Reading::failed(IMPLAUSIBLE),
            bytes => Reading::Value(Bytes(bytes)),
        };
        is_possible(row.pid).then_some(Self { pid: row.pid, instance: row.instance, kind, memory })
    }
}

/// One row a PID, in the order of PIDs. The lists each have a process's whole figure on one instance, so there the maximum counts;
/// a process on two instances holds both.
fn merge(entries: &mut Vec<Entry>, into: &mut Vec<Listed>) {
    entries.sort_unstable_by_key(|entry| (entry.pid, entry.instance));
    entries.dedup_by(|next, first| {
        let same = (next.pid, next.instance) == (first.pid, first.instance);
        if same {
            first.kind = first.kind.or(next.kind);
            if let Some(bytes) = next.memory.get()
                && first.memory.get().is_none_or(|known| known < bytes)
            {
                first.memory = Reading::Value(bytes);
            }
        }
        same
    });
    for entry in entries.drain(..) {
        match into.last_mut() {
            Some(last) if last.pid == entry.pid => {
                last.kind = last.kind.or(entry.kind);
                last.memory = match (last.memory.get(), entry.memory) {
                    (Some(one), Reading::Value(other)) => Reading::Value(one + other),
                    (Some(_), absent) => absent,
                    (None, _) => continue,
                };
            }
            _ => into.push(Listed { pid: entry.pid, kind: entry.kind, memory: entry.memory }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOTAL: u64 = 80 * Bytes::GIB;

    fn row(pid: u32, gib: u64) -> Row {
        Row { pid, bytes: gib * Bytes::GIB, instance: NO_INSTANCE }
    }

    fn merged(rows: &[(Which, Row)]) -> Vec<(u32, &'static str, Reading<Bytes>)> {
        let mut entries = rows.iter().filter_map(|(which, row)| Entry::of(*row, kind(*which), TOTAL)).collect();
        let mut into = Vec::new();
        merge(&mut entries, &mut into);
        into.into_iter().map(|row| (row.pid, row.kind.letters(), row.memory)).collect()
    }

    #[test]
    fn a_process_in_two_lists_is_one_row_with_its_figure_once() {
        let rows = [(Which::Compute, row(199_237, 2)), (Which::Compute, row(7, 1)), (Which::Graphics, row(199_237, 2))];
        assert_eq!(merged(&rows), [(7, "C", Reading::Value(Bytes::gib(1))), (199_237, "C+G", Reading::Value(Bytes::gib(2)))]);
        let mps = [(Which::Compute, row(5, 3)), (Which::Mps, row(5, 4)), (Which::Graphics, row(6, 1))];
        assert_eq!(merged(&mps), [(5, "M+C", Reading::Value(Bytes::gib(4))), (6, "G", Reading::Value(Bytes::gib(1)))]);
    }

    #[test]
    fn three_processes_stay_three() {
        let rows = [(Which::Compute, row(1, 1)), (Which::Compute, row(2, 2)), (Which::Compute, row(3, 4))];
        let sum: Bytes = merged(&rows).iter().filter_map(|(_, _, memory)| memory.get()).sum();
        assert_eq!(sum, Bytes::gib(7));
    }

    #[test]
    fn an_unknown_figure_is_absent_and_yields_to_a_known_one() {
        let unknown = Row { pid: 79, bytes: NOT_AVAILABLE, instance: NO_INSTANCE };
        assert_eq!(merged(&[(Which::Compute, unknown)]), [(79, "C", Reading::NOT_SUPPORTED)]);
        let both = [(Which::Compute, unknown), (Which::Graphics, row(79, 2))];
        assert_eq!(merged(&both), [(79, "C+G", Reading::Value(Bytes::gib(2)))]);
    }

    #[test]
    fn a_process_on_two_instances_holds_both() {
        let on = |instance, gib| (Which::Compute, Row { instance, ..row(9, gib) });
        assert_eq!(merged(&[on(1, 2), on(2, 3), on(1, 2)]), [(9, "C", Reading::Value(Bytes::gib(5)))]);
    }

    #[test]
    fn nobodys_rows_go_and_impossible_figures_are_absent() {
        let rows = [(Which::Compute, row(0, 1)), (Which::Compute, row(u32::MAX, 1)), (Which::Compute, row(4, 81))];
        assert_eq!(merged(&rows), [(4, "C", Reading::failed(IMPLAUSIBLE))]);
    }

    #[test]
    fn rows_of_another_stride_are_recognised() {
        // Two v2 rows (24 bytes) read as v1 (16 bytes): the second row is made of instance marks and the next PID.
        let mixed = [row(3301, 2), Row { pid: u32::MAX, bytes: 3302, instance: NO_INSTANCE }];
        assert!(makes_no_sense(&mixed, TOTAL));
        // The other way round, the first row takes the second PID for its instance.
        let narrow = [Row { instance: 3302, ..row(3301, 2) }, Row { pid: 1 << 30, bytes: 0, instance: NO_INSTANCE }];
        assert!(makes_no_sense(&narrow, TOTAL));
        assert!(!makes_no_sense(&[row(3301, 2), row(3302, 4)], TOTAL));
        assert!(!makes_no_sense(&[Row { bytes: NOT_AVAILABLE, ..row(79, 0) }], TOTAL));
        assert!(!makes_no_sense(&[], TOTAL));
    }
}
