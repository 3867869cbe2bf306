//! The steps whose losses are composed, and those of nearly equal noise together.

use rug::{Rational, ops::Pow};

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
    /// The number K of records that differ, each of which is in the sample or not by itself.
    pub(crate) group: u32,
}

impl Phase {
    /// Of one record, at most as private: with the probability 1 - (1 - g)^K that a record of the group is in the sample, the sum moves by K.
    ///
    /// An output moved by K becomes one moved by j, and one that is not moved stays that, if it is multiplied by j / K and noise of variance sigma2 (1 - (j / K)^2) is added.
    /// With j chosen as the number of records in a sample that has one, the mixture becomes that of the group.
    pub(crate) fn dominating(&self) -> Phase {
        let Phase { rate, sigma2, steps, group } = self;
        match group {
            1 => self.clone(),
            _ => Phase {
                rate: 1 - Rational::from(1 - rate).pow(*group),
                sigma2: sigma2 / Rational::from(*group).square(),
                steps: *steps,
                group: 1,
            },
        }
    }

    /// The coefficients of r = sum over j of C(K, j) g^j (1 - g)^(K - j) exp(-j (j - 1) / (2 s2)) exp(j u), with u = v - 1 / (2 s2).
    pub(super) fn coefficients(&self, bits: u32) -> Vec<Enclosure> {
        let (rate, rest) = (&self.rate, Rational::from(1 - &self.rate));
        let mut weight = Rational::from((&rest).pow(self.group));
        let mut all = Vec::new();
        for j in 0..=self.group {
            let exponent = Rational::from(u64::from(j) * u64::from(j.saturating_sub(1))) / &self.sigma2 / 2_u32;
            all.push(Enclosure::rational(&weight, bits).mul(&Enclosure::rational(&-exponent, bits).exp()));
            weight *= Rational::from((self.group - j, j + 1)) * Rational::from(rate / &rest);
        }
        all
    }

    /// Encloses r at an enclosed u.
    pub(super) fn ratio(&self, u: &Enclosure, bits: u32) -> Enclosure {
        let z = u.exp();
        let all = self.coefficients(bits);
        all.iter().rev().fold(Enclosure::double(0.0, bits), |sum, c| sum.mul(&z).add(c))
    }

    /// K in doubles: arguments of r are up to K times those for one record.
    pub(super) fn turns(&self) -> f64 {
        f64::from(self.group)
    }
}

/// ln of the coefficients of a ratio in doubles, for searches.
#[derive(Clone, Debug)]
pub(super) struct Ratio {
    rate: f64,
    /// Of a group; empty for one record.
    ln_coefficients: Vec<f64>,
}

impl Ratio {
    pub(super) fn new(phase: &Phase) -> Ratio {
        let ln_coefficients = match phase.group {
            1 => Vec::new(),
            _ => phase.coefficients(64).iter().map(|c| c.ln().approximate()).collect(),
        };
        Ratio { rate: phase.rate.to_f64(), ln_coefficients }
    }

    /// ln r(u).
    pub(super) fn ln(&self, u: f64) -> f64 {
        if !self.ln_coefficients.is_empty() {
            return self.polar(u, 0.0).0;
        }
        // Beyond, the one does not matter beside exp.
        if u > 600.0 { libm::log(self.rate) + u } else { libm::log1p(self.rate * libm::expm1(u)) }
    }

    /// ln |r| and arg r of a group at u + i theta, with 0 <= K theta < pi / 2: sums of numbers that are not negative.
    pub(super) fn polar(&self, u: f64, theta: f64) -> (f64, f64) {
        let terms =
            || self.ln_coefficients.iter().zip(0_u32..).map(|(ln, j)| (ln + f64::from(j) * u, f64::from(j) * theta));
        let most = terms().fold(f64::NEG_INFINITY, |most, (ln, _)| most.max(ln));
        let (re, im) = terms().fold((0.0, 0.0), |(re, im), (ln, angle)| {
            let (sin, cos) = libm::sincos(angle);
            let size = libm::exp(ln - most);
            (re + size * cos, im + size * sin)
        });
        (most + libm::log(re * re + im * im) / 2.0, libm::atan2(im, re))
    }

    /// The sizes of all terms of ln |r| and arg r, for bounds on their rounding errors.
    pub(super) fn sizes(&self, u: f64) -> f64 {
        self.ln_coefficients.iter().map(|ln| ln.abs()).fold(0.0, f64::max)
            + self.ln_coefficients.len() as f64 * (u.abs() + 1.0)
    }
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
                    && [strand.least.group, phase.group] == [1; 2]
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
        Phase { rate: Rational::from(rate), sigma2: Rational::from(sigma2), steps, group: 1 }
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
                group: 1,
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
