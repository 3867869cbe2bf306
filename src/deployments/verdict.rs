//! The verdict on a deployment.

/// The verdict on the printed figures of a deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// A printed figure is proven wrong.
    Disproved,
    /// The source prints figures that exclude each other.
    ContradictsItself,
    /// An entry of the registry does so: a slip of those who wrote the entry, and not of the curator.
    EntryContradictsItself,
    /// Another figure than the printed one follows from the facts.
    Differs,
    /// Every figure that can be recomputed is as printed, and there is one.
    Agrees,
    /// No figure can be recomputed from the stated facts, or one of them could not be decided.
    NotEnoughSaid,
}

impl Verdict {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Verdict; 6] = [
        Verdict::Agrees,
        Verdict::Differs,
        Verdict::EntryContradictsItself,
        Verdict::ContradictsItself,
        Verdict::Disproved,
        Verdict::NotEnoughSaid,
    ];

    /// The word in files, in a sentence about one deployment, and in a count of one and of several.
    fn row(self) -> [&'static str; 4] {
        match self {
            Verdict::Agrees => ["agrees", "agrees", "agrees", "agree"],
            Verdict::Differs => ["differs", "differs", "differs", "differ"],
            Verdict::ContradictsItself => {
                ["contradicts-itself", "contradicts itself", "contradicts itself", "contradict themselves"]
            }
            Verdict::EntryContradictsItself => [
                "entry-contradicts-itself",
                "the registry's entry contradicts itself",
                "whose entry in the registry contradicts itself",
                "whose entries in the registry contradict themselves",
            ],
            Verdict::Disproved => ["disproved"; 4],
            Verdict::NotEnoughSaid => {
                ["not-enough-said", "cannot be checked", "cannot be checked", "cannot be checked"]
            }
        }
    }

    /// The word in tables and in JSON.
    pub fn word(self) -> &'static str {
        self.row()[0]
    }

    /// The words in a cell of a table.
    pub fn in_table(self) -> String {
        match self {
            Verdict::NotEnoughSaid => self.said().to_string(),
            verdict => verdict.word().to_string(),
        }
    }

    /// The words in a sentence about `count` deployments.
    pub fn in_words(self, count: usize) -> &'static str {
        self.row()[if count == 1 { 2 } else { 3 }]
    }

    /// The word in a sentence about one deployment.
    pub fn said(self) -> &'static str {
        self.row()[1]
    }

    /// Whether a printed figure is wrong under every assumption: it is disproved, or another one of the same source excludes it.
    pub fn is_wrong(self) -> bool {
        match self {
            Verdict::Disproved | Verdict::ContradictsItself | Verdict::EntryContradictsItself => true,
            Verdict::Differs | Verdict::Agrees | Verdict::NotEnoughSaid => false,
        }
    }
}

/// The number of each verdict that occurs, in words, as `3 agree, 1 differs`.
pub fn tally_in_words(verdicts: &[Verdict]) -> String {
    let count = |verdict: Verdict| verdicts.iter().filter(|one| **one == verdict).count();
    let said = Verdict::ALL.into_iter().map(|verdict| (verdict, count(verdict))).filter(|(_, count)| *count > 0);
    said.map(|(verdict, count)| format!("{count} {}", verdict.in_words(count))).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_verdict_comes_first() {
        let mut all = Verdict::ALL;
        all.sort_unstable();
        assert_eq!(all[0], Verdict::Disproved);
        assert_eq!(all[5], Verdict::NotEnoughSaid);
        assert_eq!(tally_in_words(&[Verdict::Agrees, Verdict::Disproved, Verdict::Agrees]), "2 agree, 1 disproved");
    }
}
