//! The steps whose losses are composed, and those of nearly equal noise together.

use rug::Rational;

use crate::numeric::Enclosure;

/// Steps of equal sampling and noise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Phase {
    /// The probability g of each record to be in the sample, between 0 and 1 exclusive.
    pub(crate) rate: Rational,
    /// The variance of the noise over the square of the change of a sampled sum.
    pub(crate) sigma2: Rational,
    /// How many steps.
    pub(crate) steps: u64,
}

/// Up to this number of phases each has nodes of its own.
const MOST_APART: usize = 4;
/// Otherwise those up to this ratio of variances share theirs.
const RATIO: (u32, u32) = (21, 20);

/// Phases of one rate and of nearly equal noise: of different numbers of steps, in the order of their variances.
#[derive(Clone, Debug)]
pub(crate) struct Strand {
    /// The rate of all, the least variance, and all steps: at most as private as these phases, because noise of more variance is that of less with more noise added to
    /// the output of either hypothesis.
    pub(crate) least: Phase,
    /// The largest variance.
    pub(crate) most: Rational,
    /// Variances and steps.
    pub(crate) members: Vec<(Rational, u64)>,
}

impl Strand {
    /// One phase.
    pub(crate) fn of_phase(phase: &Phase) -> Self {
        Strand { least: phase.clone(), most: phase.sigma2.clone(), members: vec![(phase.sigma2.clone(), phase.steps)] }
    }

    /// The strands of phases in the order of their rates and variances.
    pub(crate) fn all(phases: &[Phase]) -> Vec<Strand> {
        let mut all: Vec<Strand> = Vec::new();
        for phase in phases {
            let near = |strand: &&mut Strand| {
                phases.len() > MOST_APART
                    && strand.least.rate == phase.rate
                    && phase.sigma2 <= Rational::from(RATIO) * &strand.least.sigma2
            };
            match all.last_mut().filter(near) {
                Some(strand) => {
                    strand.least.steps = strand.least.steps.saturating_add(phase.steps);
                    strand.most.clone_from(&phase.sigma2);
                    strand.members.push((phase.sigma2.clone(), phase.steps));
                }
                None => all.push(Strand::of_phase(phase)),
            }
        }
        all
    }

    /// The variances of all members.
    pub(crate) fn sigma2(&self, bits: u32) -> Enclosure {
        Enclosure::rational(&self.least.sigma2, bits).hull(&Enclosure::rational(&self.most, bits))
    }

    /// Their rate.
    pub(crate) fn rate(&self) -> &Rational {
        &self.least.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(rate: (u32, u32), sigma2: (u32, u32), steps: u64) -> Phase {
        Phase { rate: Rational::from(rate), sigma2: Rational::from(sigma2), steps }
    }

    #[test]
    fn strands_hold_every_phase_once_and_are_short() {
        let few: Vec<Phase> = (0..4).map(|k| phase((1, 100), (100 + k, 100), 2)).collect();
        assert_eq!(Strand::all(&few).len(), 4);
        let many: Vec<Phase> =
            (0..200).map(|k| phase((1 + k / 100, 100), (100 + k % 100, 100), u64::from(k) + 1)).collect();
        let strands = Strand::all(&many);
        assert!((28..=32).contains(&strands.len()), "{}", strands.len());
        let members = |strand: &Strand| -> Vec<Phase> {
            let of = |(sigma2, steps): &(Rational, u64)| Phase {
                rate: strand.rate().clone(),
                sigma2: sigma2.clone(),
                steps: *steps,
            };
            strand.members.iter().map(of).collect()
        };
        assert_eq!(strands.iter().flat_map(members).collect::<Vec<_>>(), many);
        for strand in &strands {
            assert!(strand.most <= Rational::from(RATIO) * &strand.least.sigma2);
            assert_eq!(strand.least.steps, strand.members.iter().map(|(_, steps)| steps).sum::<u64>());
            assert!(strand.members.iter().all(|(sigma2, _)| strand.sigma2(64).contains(sigma2)));
        }
    }
}
