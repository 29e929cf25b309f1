//! The filter: words that a row must have, all of them, wherever they stand.
//!
//! `ann train gpu:3`: a bare word is looked for in user, name, command, container and job, and at the beginning of the PID;
//! a word with the name of a field before it, there alone. Upper and lower case are one.

use crate::model::ProcessFacts;

/// Where a word is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Any,
    Gpu,
    User,
    What,
    Pid,
    Container,
    Job,
}

impl Field {
    const NAMED: [(&'static str, Self); 6] =
        [("gpu", Self::Gpu), ("user", Self::User), ("what", Self::What), ("pid", Self::Pid), ("container", Self::Container), ("job", Self::Job)];
}

/// What was typed, understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    words: Vec<(Field, String)>,
}

/// What a row offers to a filter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'a> {
    /// The label of its GPU.
    pub(super) gpu: &'a str,
    /// The process, where it is one.
    pub(super) process: Option<&'a ProcessFacts>,
    /// What it is called where it is none.
    pub(super) name: &'a str,
}

impl Filter {
    /// Understands every text. A word whose field is unknown (`llama3.1:8b`) is a bare word; a field without a word is not yet one.
    pub(super) fn parse(text: &str) -> Self {
        let word = |word: &str| {
            let named = word.split_once(':').and_then(|(name, rest)| {
                let field = Field::NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
                Some((field.1, rest.to_owned()))
            });
            named.unwrap_or_else(|| (Field::Any, word.to_owned()))
        };
        Self { words: text.split_whitespace().map(word).filter(|(_, word)| !word.is_empty()).collect() }
    }

    /// Whether all rows pass.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether a row has every word.
    pub(super) fn matches(&self, row: &Subject<'_>) -> bool {
        self.words.iter().all(|(field, word)| row.has(*field, word))
    }
}

impl Subject<'_> {
    fn has(&self, field: Field, word: &str) -> bool {
        if field == Field::Gpu {
            return word.split(',').any(|label| self.is_on(label));
        }
        let Some(facts) = self.process else { return matches!(field, Field::Any | Field::What) && contains(self.name, word) };
        let text = |text: &Option<crate::model::SafeText>| text.as_ref().is_some_and(|text| contains(text.as_str(), word));
        let what = || [&facts.what, &facts.what_full].into_iter().chain(&facts.cmdline).any(|text| contains(text.as_str(), word));
        let pid = || facts.key.pid.to_string().starts_with(word);
        match field {
            Field::Gpu => false,
            Field::User => text(&facts.user),
            Field::What => what(),
            Field::Pid => pid(),
            Field::Container => text(&facts.container),
            Field::Job => text(&facts.job),
            Field::Any => text(&facts.user) || what() || pid() || text(&facts.container) || text(&facts.job),
        }
    }

    /// On that GPU, or on an instance of it.
    fn is_on(&self, label: &str) -> bool {
        self.gpu == label || self.gpu.strip_prefix(label).is_some_and(|rest| !label.is_empty() && rest.starts_with('.'))
    }
}

/// Whether `word` stands in `text`; letters of ASCII are compared without their case, and nothing is allocated for it.
fn contains(text: &str, word: &str) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    word.is_empty() || text.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn facts() -> ProcessFacts {
        ProcessFacts {
            user: Some("ann".into()),
            what: "train.py".into(),
            what_full: "train.py 7b.yaml".into(),
            cmdline: vec!["python".into(), "train.py".into(), "--model=llama3.1:8b".into()],
            container: Some("docker f00".into()),
            job: Some("slurm 48211.0".into()),
            ..ProcessFacts::unseen(41877)
        }
    }

    fn passes(filter: &str) -> bool {
        Filter::parse(filter).matches(&Subject { gpu: "3", process: Some(&facts()), name: "" })
    }

    #[test]
    fn words_are_found_where_they_stand() {
        for filter in [
            "",
            " ",
            "ann",
            "ANN",
            "train",
            "7b.yaml",
            "python",
            "418",
            "41877",
            "f00",
            "48211",
            "llama3.1:8b",
            "gpu:3",
            "gpu:0,3",
            "user:an",
            "what:TRAIN",
            "pid:41",
            "container:docker",
            "job:slurm",
            "GPU:3 ann train",
            "user:",
            "gpu:3 user:",
        ] {
            assert!(passes(filter), "{filter:?}");
        }
        for filter in ["bob", "1877", "gpu:4", "gpu:33", "user:train", "what:ann", "pid:877", "container:slurm", "ann gpu:0", "ann bob", "gpu:0,1"] {
            assert!(!passes(filter), "{filter:?}");
        }
    }

    #[test]
    fn an_instance_is_on_its_card() {
        let on = |gpu, filter: &str| Filter::parse(filter).matches(&Subject { gpu, process: None, name: "no owner" });
        assert!(on("0.2", "gpu:0") && on("0.2", "gpu:0.2") && on("0.2", "owner"));
        assert!(!on("10", "gpu:1") && !on("0.2", "gpu:0.1") && !on("0", "gpu:,") && !on("0", "ann"));
    }

    proptest! {
        /// A row is found by any part of what it says, and a further word only narrows.
        #[test]
        fn any_part_finds_its_row(text in "\\PC{0,30}", from in 0_usize..8, to in 0_usize..9, more in "\\PC{0,12}") {
            let facts = ProcessFacts { what: text.as_str().into(), ..facts() };
            let subject = Subject { gpu: "0", process: Some(&facts), name: "" };
            let shown: Vec<char> = facts.what.as_str().chars().collect();
            let part: String = shown.get(from.min(shown.len())..to.min(shown.len())).unwrap_or(&[]).iter().collect();
            if !part.contains(char::is_whitespace) && !part.contains(':') {
                prop_assert!(Filter::parse(&part).matches(&subject), "{part:?}");
            }
            let narrow = Filter::parse(&format!("{part} {more}")).matches(&subject);
            prop_assert!(!narrow || Filter::parse(&more).matches(&subject));
        }
    }
}
