//! Weighted sums of independent discrete Gaussians and the lattice on which their values lie.

use rug::{Integer, Rational};

use super::rational;
use crate::error::{Error, Result};

/// `copies` independent terms `(shift / sigma2) X` with X drawn from N_Z(0, sigma2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The variance proxy of the discrete Gaussian.
    pub sigma2: Rational,
    /// The integer by which one count moves.
    pub shift: u64,
    /// How many independent terms there are.
    pub copies: u64,
}

impl Group {
    /// The weight shift / sigma2 of X in the sum.
    pub fn weight(&self) -> Rational {
        Rational::from(self.shift) / &self.sigma2
    }

    /// copies shift^2 / (2 sigma2): what the group adds to rho.
    pub fn rho(&self) -> Rational {
        self.weight() * self.shift * self.copies / 2_u32
    }
}

/// The random variable L = rho + sum over groups of (shift / sigma2) (X_1 + ... + X_copies), with
/// rho = sum copies shift^2 / (2 sigma2).
///
/// It is the logarithm of dP/dQ under P, for P a product of N_Z(0, sigma2) and Q the same product with every
/// coordinate moved by its shift (numerics, section 1). Its moment generating function is
/// E[exp(s L)] = exp(rho (s + s^2)) prod (theta(s) / theta(0))^copies, and -L under the weight exp(-L) is
/// distributed as L: the pair is symmetric.
///
/// All values lie on rho + h Z, where h is the greatest common divisor of the weights.
#[derive(Clone, Debug)]
pub struct GaussianSum {
    groups: Vec<Group>,
    rho: Rational,
    step: Rational,
    multipliers: Vec<Integer>,
}

impl GaussianSum {
    /// The sum over the given groups, of which there must be at least one, each with sigma2 > 0, shift >= 1 and
    /// copies >= 1. Groups of equal noise are merged and their order does not matter.
    pub fn new(groups: impl IntoIterator<Item = Group>) -> Result<Self> {
        let mut groups: Vec<Group> = groups.into_iter().collect();
        if groups.is_empty() {
            return Err(Error::EmptyComposition);
        }
        for group in &groups {
            if group.sigma2 <= 0 {
                return Err(Error::out_of_range(
                    "sigma2",
                    rational::display(&group.sigma2),
                    "a variance proxy above 0",
                ));
            }
            if group.shift == 0 || group.copies == 0 {
                return Err(Error::out_of_range("count", 0, "at least one count, each moved by at least 1"));
            }
        }
        groups.sort_by(|a, b| (&a.sigma2, a.shift).cmp(&(&b.sigma2, b.shift)));
        groups.dedup_by(|next, kept| {
            let same = next.sigma2 == kept.sigma2 && next.shift == kept.shift;
            if same {
                kept.copies += next.copies;
            }
            same
        });
        let weights: Vec<Rational> = groups.iter().map(Group::weight).collect();
        let step = weights[1..].iter().fold(weights[0].clone(), |step, weight| rational::gcd(&step, weight));
        let multipliers = weights.iter().map(|weight| Rational::from(weight / &step).into_numer_denom().0).collect();
        let rho = groups.iter().map(Group::rho).fold(Rational::new(), |sum, rho| sum + rho);
        Ok(GaussianSum { groups, rho, step, multipliers })
    }

    /// The groups, merged and in order of sigma2.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// sum copies shift^2 / (2 sigma2), the rho of zero-concentrated differential privacy.
    pub fn rho(&self) -> &Rational {
        &self.rho
    }

    /// rho (x + x^2): ln E[exp(x L)] is at most this for every real x, because no cosine in the theta series exceeds
    /// one.
    pub(crate) fn concentrated(&self, x: &Rational) -> Rational {
        (x + x.clone().square()) * &self.rho
    }

    /// The lattice step h: the greatest common divisor of the weights.
    pub fn step(&self) -> &Rational {
        &self.step
    }

    /// For each group, weight / h: an integer, and all of them together have no common divisor.
    pub(crate) fn multipliers(&self) -> &[Integer] {
        &self.multipliers
    }

    /// (z - rho) / h, whose integer values are the points of the lattice.
    fn index(&self, z: &Rational) -> Rational {
        Rational::from(z - &self.rho) / &self.step
    }

    fn at_index(&self, index: Integer) -> Rational {
        Rational::from(&self.step * index) + &self.rho
    }

    /// The smallest lattice value above z.
    pub fn above(&self, z: &Rational) -> Rational {
        self.at_index(self.index(z).floor().into_numer_denom().0 + 1)
    }

    /// The largest lattice value at most z.
    pub fn at_most(&self, z: &Rational) -> Rational {
        self.at_index(self.index(z).floor().into_numer_denom().0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    fn group(sigma2: &str, shift: u64, copies: u64) -> Group {
        Group { sigma2: parse(sigma2).unwrap(), shift, copies }
    }

    #[test]
    fn the_lattice_is_that_of_all_weights() {
        let sum = GaussianSum::new([group("500/73", 1, 10), group("2500/137", 1, 6)]).unwrap();
        assert_eq!(*sum.step(), parse("1/2500").unwrap());
        assert_eq!(*sum.rho(), parse("0.73").unwrap() + parse("0.1644").unwrap());
        assert_eq!(sum.multipliers(), &[Integer::from(365), Integer::from(137)][..]);
    }

    #[test]
    fn above_and_at_most_are_neighbors_on_the_lattice() {
        let sum = GaussianSum::new([group("5", 1, 10)]).unwrap();
        assert_eq!(sum.above(&parse("1").unwrap()), parse("1.2").unwrap());
        assert_eq!(sum.at_most(&parse("1").unwrap()), parse("1").unwrap());
        assert_eq!(sum.above(&parse("-0.05").unwrap()), 0);
        assert_eq!(sum.at_most(&parse("-0.05").unwrap()), parse("-0.2").unwrap());
    }

    #[test]
    fn equal_groups_merge_whatever_their_order() {
        let a = GaussianSum::new([group("5", 1, 4), group("7", 1, 1), group("5.0", 1, 6)]).unwrap();
        let b = GaussianSum::new([group("7", 1, 1), group("5", 1, 10)]).unwrap();
        assert_eq!(a.groups(), b.groups());
        assert!(GaussianSum::new([]).is_err() && GaussianSum::new([group("0", 1, 1)]).is_err());
    }
}
