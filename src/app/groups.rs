//! Rows that belong together as one, with their totals: by user, container or job, or by the process that started them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use super::owners::Hue;
use super::row::{Holder, TableRow};
use crate::model::{Ancestor, Bytes, SafeText, Visibility};
use crate::monitor::{Monitor, ProcessRow};

/// What makes one row of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grouping {
    /// Nothing: a row for each process on each GPU.
    #[default]
    Process,
    /// Their owner.
    User,
    /// Their container.
    Container,
    /// Their job.
    Job,
}

impl Grouping {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::User => "user",
            Self::Container => "container",
            Self::Job => "job",
        }
    }

    pub(super) const fn next(self) -> Self {
        match self {
            Self::Process => Self::User,
            Self::User => Self::Container,
            Self::Container => Self::Job,
            Self::Job => Self::Process,
        }
    }

    fn common(self, row: &ProcessRow) -> Common {
        let name = match self {
            Self::Process => None,
            Self::User => row.facts.user.as_ref(),
            Self::Container => row.facts.container.as_ref(),
            Self::Job => row.facts.job.as_ref(),
        };
        match name {
            Some(name) => Common::Name(name.clone()),
            None if self == Self::User || row.facts.visibility == Visibility::NotHere => Common::Unseen,
            None => Common::Nothing,
        }
    }
}

/// What several processes have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Common {
    /// A user, a container or a job.
    Name(SafeText),
    /// That they have none.
    Nothing,
    /// That nobody here can see whether they have one.
    Unseen,
}

/// Which group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupId {
    /// Those that have this in common.
    Common(Grouping, Common),
    /// Those that this process has started, itself or through others. It holds no GPU memory.
    Ancestor(Ancestor),
}

impl GroupId {
    /// What its members have in common.
    pub const fn grouping(&self) -> Grouping {
        match self {
            Self::Common(by, _) => *by,
            Self::Ancestor(_) => Grouping::Process,
        }
    }

    /// The name of that; `None` stands for those that have none.
    pub const fn name(&self) -> Option<&SafeText> {
        match self {
            Self::Common(_, Common::Name(name)) => Some(name),
            Self::Common(_, Common::Nothing | Common::Unseen) => None,
            Self::Ancestor(ancestor) => Some(&ancestor.name),
        }
    }

    /// The process that started them, where that is what they have in common.
    pub const fn ancestor(&self) -> Option<&Ancestor> {
        match self {
            Self::Common(..) => None,
            Self::Ancestor(ancestor) => Some(ancestor),
        }
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Common(_, Common::Name(name)) => name.fmt(f),
            Self::Common(by, Common::Nothing) => write!(f, "no {}", by.word()),
            Self::Common(_, Common::Unseen) => f.write_str("not visible here"),
            Self::Ancestor(ancestor) => write!(f, "below {} ({})", ancestor.name, ancestor.key.pid),
        }
    }
}

/// Several rows in one. A total of which a part is unknown is unknown.
#[derive(Clone, Debug)]
pub struct Group {
    /// Which it is.
    pub id: GroupId,
    /// Its rows, in the order of the table.
    pub(super) members: Vec<TableRow>,
    /// How many processes; one on two GPUs is one.
    pub processes: usize,
    /// Positions of their GPUs, ascending.
    pub gpus: Vec<usize>,
    /// What they hold together.
    pub bytes: Option<Bytes>,
    /// Their owner, where they have one in common.
    pub user: Option<SafeText>,
    /// The hue of the largest.
    pub hue: Hue,
    /// The change of what they hold; unknown while a list that one of them stands in cannot be read.
    pub bytes_per_minute: Option<f64>,
    /// CPU time in tenths of a percent of one core.
    pub cpu_permille: Option<u32>,
    /// Resident memory of the host.
    pub rss: Option<Bytes>,
    /// The names of their work, those of the largest first.
    pub what: Vec<SafeText>,
    /// Whether its rows are shown below it.
    pub is_open: bool,
}

/// The groups that rows fall into, and the rows that are no processes. Rows come in the order of the table, the largest
/// of a group standing for it.
pub(super) fn fold(rows: Vec<TableRow>, by: Grouping, monitor: &Monitor, open: &BTreeSet<GroupId>) -> (Vec<Group>, Vec<TableRow>) {
    let mut members: Vec<(Common, Vec<TableRow>)> = Vec::new();
    let mut places: HashMap<Common, usize> = HashMap::new();
    let mut others = Vec::new();
    for row in rows {
        let Holder::Process { at, .. } = row.holder else {
            others.push(row);
            continue;
        };
        let common = monitor.processes().get(at).map_or(Common::Unseen, |process| by.common(process));
        let place = *places.entry(common.clone()).or_insert_with(|| {
            members.push((common, Vec::new()));
            members.len() - 1
        });
        members[place].1.push(row);
    }
    let groups = members.into_iter().map(|(common, members)| {
        let id = GroupId::Common(by, common);
        let is_open = open.contains(&id);
        add_up(id, members, monitor, is_open)
    });
    (groups.collect(), others)
}

/// The totals of rows, which come in the order of the table.
pub(super) fn add_up(id: GroupId, members: Vec<TableRow>, monitor: &Monitor, is_open: bool) -> Group {
    let rows: Vec<&ProcessRow> = members.iter().filter_map(|row| row.holder.process()).filter_map(|at| monitor.processes().get(at)).collect();
    // A process on two GPUs uses its CPU once.
    let distinct: Vec<&ProcessRow> = rows.iter().map(|row| (row.facts.key, *row)).collect::<BTreeMap<_, _>>().into_values().collect();
    let first = rows.first().and_then(|row| row.facts.user.clone());
    let mut what: Vec<SafeText> = Vec::new();
    for row in &rows {
        if what.len() < Group::NAMES && !what.contains(&row.facts.what) {
            what.push(row.facts.what.clone());
        }
    }
    Group {
        processes: distinct.len(),
        gpus: members.iter().map(|row| row.gpu).collect::<BTreeSet<_>>().into_iter().collect(),
        bytes: rows.iter().map(|row| row.bytes()).sum(),
        user: first.filter(|user| rows.iter().all(|row| row.facts.user.as_ref() == Some(user))),
        hue: members.first().map_or(Hue::Unseen, |row| row.holder.hue()),
        bytes_per_minute: rows.iter().map(|row| row.bytes_per_minute().get()).sum(),
        cpu_permille: distinct.iter().map(|row| row.host.get().and_then(|host| host.cpu_permille)).sum(),
        rss: distinct.iter().map(|row| row.host.get().map(|host| host.rss)).sum(),
        what,
        is_open,
        id,
        members,
    }
}

impl Group {
    /// More names than these are not read.
    const NAMES: usize = 8;

    /// The row that stands for it. Its GPU is that of its largest member.
    pub(super) fn row(&self, at: usize) -> Option<TableRow> {
        let first = self.members.first()?;
        Some(TableRow { id: first.id.of_group(self.id.clone()), gpu: first.gpu, bytes: self.bytes, holder: Holder::Group { at }, depth: 0 })
    }

    /// The PIDs of its members.
    pub(super) fn pids(&self) -> impl Iterator<Item = u32> {
        self.members.iter().filter_map(TableRow::pid)
    }
}
