//! The verdict on a deployment.

/// The verdict on the printed figures of a deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// A printed figure is proven wrong.
    Disproved,
    /// The source prints figures that exclude each other.
    ContradictsItself,
    /// Another figure than the printed one follows from the facts.
    Differs,
    /// Every figure that the stated facts decide is as printed, and there is one; figures that they do not decide are named among the reasons.
    Agrees,
    /// No figure can be recomputed from the stated facts.
    NotEnoughSaid,
}

impl Verdict {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Verdict; 5] =
        [Verdict::Agrees, Verdict::Differs, Verdict::ContradictsItself, Verdict::Disproved, Verdict::NotEnoughSaid];

    /// The word in tables and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::Differs => "differs",
            Verdict::ContradictsItself => "contradicts-itself",
            Verdict::Disproved => "disproved",
            Verdict::NotEnoughSaid => "not-enough-said",
        }
    }

    /// The words in a sentence about `count` deployments.
    pub fn of(self, count: usize) -> &'static str {
        match (self, count) {
            (Verdict::Agrees, 1) => "agrees",
            (Verdict::Agrees, _) => "agree",
            (Verdict::Differs, 1) => "differs",
            (Verdict::Differs, _) => "differ",
            (Verdict::ContradictsItself, 1) => "contradicts itself",
            (Verdict::ContradictsItself, _) => "contradict themselves",
            (Verdict::Disproved, _) => "disproved",
            (Verdict::NotEnoughSaid, 1) => "does not say enough",
            (Verdict::NotEnoughSaid, _) => "do not say enough",
        }
    }

    /// Whether a printed figure is wrong under every assumption: it is disproved, or another one of the same source excludes it.
    pub fn is_wrong(self) -> bool {
        match self {
            Verdict::Disproved | Verdict::ContradictsItself => true,
            Verdict::Differs | Verdict::Agrees | Verdict::NotEnoughSaid => false,
        }
    }
}

/// The number of each verdict that occurs, in words, as `3 agree, 1 differs`.
pub fn tally_in_words(verdicts: &[Verdict]) -> String {
    let count = |verdict: Verdict| verdicts.iter().filter(|one| **one == verdict).count();
    let said = Verdict::ALL.into_iter().map(|verdict| (verdict, count(verdict))).filter(|(_, count)| *count > 0);
    said.map(|(verdict, count)| format!("{count} {}", verdict.of(count))).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_verdict_comes_first() {
        let mut all = Verdict::ALL;
        all.sort_unstable();
        assert_eq!(all[0], Verdict::Disproved);
        assert_eq!(all[4], Verdict::NotEnoughSaid);
        assert_eq!(tally_in_words(&[Verdict::Agrees, Verdict::Disproved, Verdict::Agrees]), "2 agree, 1 disproved");
    }
}
