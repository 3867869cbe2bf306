//! Weighted sums of independent noise terms, the privacy losses that they add up to, and the lattice of their values.

use std::sync::OnceLock;

use rug::{Integer, Rational};

use super::{infinite::InfiniteLoss, law::Group, theta::Outlined};
use crate::{
    error::{Error, Result},
    law::{InDoubles, Law},
    numeric::rational,
};

/// The random variable L = sum over all terms of ln p(X) / p(X - shift), with X drawn from the term's law p.
///
/// It is the logarithm of dP/dQ under P, for P the product of the laws and Q the same product with every coordinate
/// moved by its shift. Where all laws are symmetric, -L under the weight exp(-L) is distributed
/// as L: the pair is symmetric. Otherwise the sum is one direction of its pair ([`LossSum::is_symmetric`]): hockey sticks for epsilon >= 0 and upper
/// tails are those of that direction, and exp(-L) may have another mean than 1. Engines state where they need symmetry.
///
/// Where some outcomes are possible for one neighbor only, L is the loss given that none of these occurs ([`LossSum::infinite_loss`]). It may be zero:
/// then there are no groups ([`LossSum::is_zero`]).
///
/// Gaussian terms have L = shift^2 / (2 sigma2) + (shift / sigma2) X; together they contribute exp(rho (s + s^2)) to
/// the moment generating function E[exp(s L)], times theta functions for the integers. A discrete Laplace term has
/// shift + 1 losses, from epsilon shift down to -epsilon shift in steps of 2 epsilon.
///
/// Without continuous terms all values lie on a lattice offset + h Z, where h is the greatest common divisor of the
/// weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LossSum {
    groups: Vec<Group>,
    /// Groups whose losses are zero or infinite.
    without_finite_loss: Vec<Group>,
    rho: Rational,
    offset: Rational,
    step: Option<Rational>,
    outlines: Outlines,
}

/// The losses of one copy of each group in doubles, listed on first use; they follow from the groups, so that sums are equal without them.
#[derive(Clone, Debug, Default)]
struct Outlines(OnceLock<Vec<Option<InDoubles>>>);

impl PartialEq for Outlines {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Outlines {}

impl LossSum {
    /// The sum over the given groups, of which there must be at least one, each with a positive parameter, shift >= 1
    /// and copies >= 1. Groups of equal noise are merged and their order does not matter.
    pub fn new(groups: impl IntoIterator<Item = Group>) -> Result<Self> {
        let groups: Vec<Group> = groups.into_iter().collect();
        if groups.is_empty() {
            return Err(Error::EmptyComposition);
        }
        for group in &groups {
            if *group.law.parameter() <= 0 {
                let shown = rational::display(group.law.parameter());
                return Err(Error::out_of_range("the parameter of the noise", shown, "above 0"));
            }
            if group.shift == 0 || group.copies == 0 {
                return Err(Error::out_of_range("count", 0, "at least one count, each moved by at least 1"));
            }
        }
        if groups.iter().any(|group| group.law.is_sampled()) {
            return Err(Error::unsuitable("Poisson-sampled noise in a sum of symmetric losses"));
        }
        if groups.iter().any(|group| group.law.uniform(group.shift).is_some()) {
            return Err(Error::unsuitable("continuous Laplace noise, or bounded range, in a sum of listed losses"));
        }
        let is_zero = |group: &Group| group.law.has_no_finite_loss(group.shift);
        let (without_finite_loss, mut groups): (Vec<Group>, Vec<Group>) = groups.into_iter().partition(is_zero);
        groups.sort_by(|a, b| (&a.law, a.shift).cmp(&(&b.law, b.shift)));
        let mut is_too_many = false;
        groups.dedup_by(|next, kept| {
            let same = next.law == kept.law && next.shift == kept.shift;
            if same {
                let copies = kept.copies.checked_add(next.copies);
                is_too_many |= copies.is_none();
                kept.copies = copies.unwrap_or(u64::MAX);
            }
            same
        });
        if is_too_many {
            return Err(too_many_copies());
        }
        groups.shrink_to_fit();
        let continuous = groups.iter().any(|group| group.law.is_continuous());
        let step = groups.iter().map(Group::weight).reduce(|step, weight| rational::gcd(&step, &weight));
        // Of no group the one loss is zero: it lies on every lattice through zero.
        let step = step.or_else(|| Some(Rational::from(1)));
        let rho = groups.iter().fold(Rational::new(), |sum, group| sum + group.rho());
        let offset = groups.iter().fold(rho.clone(), |sum, group| sum + group.largest());
        Ok(LossSum {
            groups,
            without_finite_loss,
            rho,
            offset,
            step: step.filter(|_| !continuous),
            outlines: Outlines::default(),
        })
    }

    /// Twice the sum, of independent terms: every group has twice its copies, which are to be less than 2^64.
    pub(crate) fn doubled(&self) -> Result<Self> {
        let fits = |group: &Group| group.copies.checked_mul(2).is_some();
        let mut all = self.groups.iter().chain(&self.without_finite_loss);
        if all.all(fits) { Ok(self.twice()) } else { Err(too_many_copies()) }
    }

    /// The same of a sum whose copies were found to fit.
    pub(crate) fn twice(&self) -> Self {
        let twice = |group: &Group| Group { copies: group.copies.saturating_mul(2), ..group.clone() };
        LossSum {
            groups: self.groups.iter().map(twice).collect(),
            without_finite_loss: self.without_finite_loss.iter().map(twice).collect(),
            rho: Rational::from(&self.rho * 2_u32),
            offset: Rational::from(&self.offset * 2_u32),
            step: self.step.clone(),
            outlines: self.outlines.clone(),
        }
    }

    /// Upper bound on how much larger its losses are than those of another sum, of the same counts with losses rounded down; `None` where it is not known to be that.
    pub(crate) fn raised_from(&self, lower: &LossSum) -> Option<Rational> {
        let by = |(own, other): (&Group, &Group)| match (&own.law, &other.law) {
            _ if own.shift != other.shift || own.copies != other.copies => None,
            (Law::Outcomes(own_law), Law::Outcomes(other_law)) => Some(own_law.raised_from(other_law)? * own.copies),
            _ => (own.law == other.law).then(Rational::new),
        };
        let is_same = self.groups.len() == lower.groups.len() && self.without_finite_loss == lower.without_finite_loss;
        is_same.then(|| self.groups.iter().zip(&lower.groups).map(by).sum::<Option<Rational>>()).flatten()
    }

    /// The groups, merged and in order.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The same with the losses of their bounded laws in doubles.
    pub(crate) fn outlined(&self) -> impl Iterator<Item = Outlined<'_>> {
        let list = |group: &Group| group.law.finite(group.shift).map(|finite| finite.in_doubles());
        let lists = self.outlines.0.get_or_init(|| self.groups.iter().map(list).collect());
        self.groups.iter().zip(lists).map(|(group, one)| Outlined { group, one: one.as_ref() })
    }

    /// The outcomes that only one of two neighbors can have, of which the losses here say nothing; `None` where there are none.
    pub fn infinite_loss(&self) -> Option<InfiniteLoss> {
        InfiniteLoss::of_groups(&[&self.groups[..], &self.without_finite_loss].concat())
    }

    /// Whether every loss that is finite is zero: all outcomes that both neighbors can have are equally likely under both.
    pub fn is_zero(&self) -> bool {
        self.groups.is_empty()
    }

    /// Whether all laws are symmetric; else it is one direction of a pair.
    pub fn is_symmetric(&self) -> bool {
        self.groups.iter().all(|group| group.law.is_symmetric())
    }

    /// Whether some losses are bounded.
    pub(crate) fn has_bounded_group(&self) -> bool {
        self.groups.iter().any(|group| group.law.has_bounded_loss())
    }

    /// sum copies shift^2 / (2 sigma2) over the Gaussian terms.
    pub fn rho(&self) -> &Rational {
        &self.rho
    }

    /// rho plus the largest losses of the bounded terms: a point of the lattice.
    pub(crate) fn offset(&self) -> &Rational {
        &self.offset
    }

    /// The mean of L under P, in doubles, for choices. Discrete Gaussian losses lie around their rho, evenly.
    pub(crate) fn mean_approx(&self) -> f64 {
        let bounded = self.outlined().map(|group| group.ln_bounded_mgf_approx(0.0).1);
        self.rho.to_f64() + bounded.sum::<f64>()
    }

    /// The lattice step h, the greatest common divisor of the weights; `None` if a term is continuous.
    pub fn step(&self) -> Option<&Rational> {
        self.step.as_ref()
    }

    /// Whether no loss is as large as z: without Gaussian terms the losses end at the offset.
    pub(crate) fn is_beyond(&self, z: &Rational) -> bool {
        self.rho == 0 && *z > self.offset
    }

    /// Whether all noise is continuous: then the closed form of Gaussian differential privacy is exact.
    pub(crate) fn is_continuous(&self) -> bool {
        !self.is_zero() && self.groups.iter().all(|group| group.law.is_continuous())
    }

    /// rho (x + x^2): ln E[exp(x L)] of the Gaussian terms is at most this for every real x, because no cosine in the
    /// theta series exceeds one.
    pub(crate) fn concentrated(&self, x: &Rational) -> Rational {
        (x + x.clone().square()) * &self.rho
    }

    fn floor_index(&self, z: &Rational, step: &Rational) -> Integer {
        (Rational::from(z - &self.offset) / step).floor().into_numer_denom().0
    }

    /// The smallest lattice value above z; z itself where there is no lattice.
    pub fn above(&self, z: &Rational) -> Rational {
        let Some(step) = &self.step else { return z.clone() };
        Rational::from(step * (self.floor_index(z, step) + 1)) + &self.offset
    }

    /// The largest lattice value at most z; z itself where there is no lattice.
    pub fn at_most(&self, z: &Rational) -> Rational {
        let Some(step) = &self.step else { return z.clone() };
        Rational::from(step * self.floor_index(z, step)) + &self.offset
    }
}

/// Copies of one group are counted in 64 bits.
fn too_many_copies() -> Error {
    Error::out_of_range("the number of equal counts", "2^64 or more", "less than 2^64 in all")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        loss::testing::{group, sum},
        numeric::rational::parse,
    };

    /// Numbers of copies above 64 bits are refused: they would wrap to small ones.
    #[test]
    fn copies_do_not_wrap() {
        let half = || group(&format!("5x{}", 1_u64 << 63));
        assert!(LossSum::new([half(), half()]).is_err());
        assert!(LossSum::new([half()]).unwrap().doubled().is_err());
    }

    #[test]
    fn the_lattice_is_that_of_all_weights() {
        let fine = sum(&["500/73x10", "2500/137x6"]);
        assert_eq!(*fine.step().unwrap(), parse("1/2500").unwrap());
        assert_eq!(*fine.rho(), parse("0.73").unwrap() + parse("0.1644").unwrap());
        let mixed = sum(&["5x2", "discrete-laplace:0.3x3@2"]);
        assert_eq!(*mixed.step().unwrap(), parse("0.2").unwrap());
        assert_eq!((mixed.rho().clone(), mixed.offset().clone()), (parse("0.2").unwrap(), parse("2").unwrap()));
        assert!(sum(&["5x2", "gaussian:5"]).step().is_none());
        // Of one discrete Laplace term P[loss = 2 epsilon] is 1 / (1 + q), and P[0] is (q - q^2) / (1 + q) for q = exp(-epsilon).
        let q = (-0.3_f64).exp();
        let of_laplace = 3.0 * (0.6 - 0.6 * q * q) / (1.0 + q);
        assert!((mixed.mean_approx() - 0.2 - of_laplace).abs() < 1e-12, "{}", mixed.mean_approx());
        assert_eq!(
            mixed.doubled().unwrap(),
            LossSum::new(mixed.groups().iter().chain(mixed.groups()).cloned()).unwrap()
        );
    }

    #[test]
    fn above_and_at_most_are_adjacent_on_the_lattice() {
        let sum = sum(&["5x10"]);
        assert_eq!(sum.above(&parse("1").unwrap()), parse("1.2").unwrap());
        assert_eq!(sum.at_most(&parse("1").unwrap()), parse("1").unwrap());
        assert_eq!(sum.above(&parse("-0.05").unwrap()), 0);
        assert_eq!(sum.at_most(&parse("-0.05").unwrap()), parse("-0.2").unwrap());
    }

    #[test]
    fn equal_groups_merge_in_any_order() {
        let a = sum(&["5x4", "7", "5.0x6"]);
        let b = sum(&["7", "5x10"]);
        assert_eq!(a.groups(), b.groups());
        assert!(LossSum::new([]).is_err() && LossSum::new([group("0")]).is_err());
    }
}
