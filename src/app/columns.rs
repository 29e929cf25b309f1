//! The columns of the table, and which of them somebody wants: where there is room, always, never.

use std::collections::BTreeMap;

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Column {
    /// The label of the GPU.
    Gpu,
    /// The PID.
    Pid,
    /// The owner.
    User,
    /// The driver's letters for what it does.
    Kind,
    /// What it holds.
    Vram,
    /// The most that it held.
    Peak,
    /// Change per minute.
    Trend,
    /// Its past in one row.
    History,
    /// Share of time in which its kernels ran.
    Sm,
    /// CPU time.
    Cpu,
    /// Resident memory of the host.
    Rss,
    /// Age.
    Time,
    /// Job and rank.
    Job,
    /// The name of its work.
    What,
}

impl Column {
    /// Every column, from left to right.
    pub const ALL: [Self; 14] = [
        Self::Gpu,
        Self::Pid,
        Self::User,
        Self::Kind,
        Self::Vram,
        Self::Peak,
        Self::Trend,
        Self::History,
        Self::Sm,
        Self::Cpu,
        Self::Rss,
        Self::Time,
        Self::Job,
        Self::What,
    ];

    /// Its name: as the file of chosen columns has it, and as the screen calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gpu => "gpu",
            Self::Pid => "pid",
            Self::User => "user",
            Self::Kind => "type",
            Self::Vram => "vram",
            Self::Peak => "peak",
            Self::Trend => "trend",
            Self::History => "history",
            Self::Sm => "sm",
            Self::Cpu => "cpu",
            Self::Rss => "rss",
            Self::Time => "time",
            Self::Job => "job",
            Self::What => "what",
        }
    }

    /// What stands in it.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Gpu => "the GPU that holds the memory",
            Self::Pid => "the process; 3× is that many",
            Self::User => "who it belongs to",
            Self::Kind => "C compute, G graphics, M client of MPS",
            Self::Vram => "GPU memory, as the driver charges it",
            Self::Peak => "the most that was seen",
            Self::Trend => "change of the lowest value, per minute",
            Self::History => "its past; the order: who moved most in it",
            Self::Sm => "share of time in which its kernels ran",
            Self::Cpu => "percent of one core",
            Self::Rss => "memory of the host",
            Self::Time => "since its start",
            Self::Job => "job and rank",
            Self::What => "the short name of its work",
        }
    }

    /// Whether it may be left out: a table of holders without what they hold, and without their names, is none.
    pub const fn is_choosable(self) -> bool {
        !matches!(self, Self::Vram | Self::What)
    }
}

/// When a column is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wish {
    /// Where there is room for it.
    #[default]
    Room,
    /// Before all others.
    Always,
    /// Not at all.
    Never,
}

impl Wish {
    /// The word for it, in the file and on the screen.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Room => "where there is room",
            Self::Always => "always",
            Self::Never => "never",
        }
    }

    const fn next(self) -> Self {
        match self {
            Self::Room => Self::Never,
            Self::Never => Self::Always,
            Self::Always => Self::Room,
        }
    }
}

/// What is wished of each column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns(BTreeMap<Column, Wish>);

impl Columns {
    /// What is wished of a column.
    pub fn wish(&self, column: Column) -> Wish {
        self.0.get(&column).copied().unwrap_or_default()
    }

    /// The next wish in turn.
    pub(super) fn turn(&mut self, column: Column) {
        if column.is_choosable() {
            self.0.insert(column, self.wish(column).next());
        }
    }

    /// As the file has it: a line for each column of which something is wished. It is TOML.
    pub fn to_text(&self) -> String {
        let wished = self.0.iter().filter(|(_, wish)| **wish != Wish::Room);
        let lines: Vec<String> = wished.map(|(column, wish)| format!("{} = \"{}\"\n", column.name(), wish.word())).collect();
        lines.concat()
    }

    /// Reads what [`Columns::to_text`] writes; lines that mean nothing are passed over.
    pub fn from_text(text: &str) -> Self {
        let wish = |line: &str| {
            let (name, word) = line.split_once('=')?;
            let column = Column::ALL.into_iter().find(|column| column.name() == name.trim()).filter(|column| column.is_choosable())?;
            let wish = [Wish::Always, Wish::Never].into_iter().find(|wish| wish.word() == word.trim().trim_matches('"'))?;
            Some((column, wish))
        };
        Self(text.lines().filter_map(wish).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut columns = Columns::default();
        columns.turn(Column::Rss);
        columns.turn(Column::Kind);
        columns.turn(Column::Kind);
        columns.turn(Column::Vram);
        assert_eq!(columns.to_text(), "type = \"always\"\nrss = \"never\"\n");
        assert_eq!(Columns::from_text(&columns.to_text()), columns);
        assert_eq!(Columns::from_text("rss = never\nvram = \"never\"\n\u{1b}=\nwhat\n").to_text(), "rss = \"never\"\n");
    }

    #[test]
    fn three_turns_lead_back() {
        let mut columns = Columns::default();
        for _ in 0..3 {
            columns.turn(Column::Cpu);
        }
        assert_eq!((columns.wish(Column::Cpu), columns.to_text()), (Wish::Room, String::new()));
    }
}
