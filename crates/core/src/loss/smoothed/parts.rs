//! The groups of a sum at the precision of a number of digits: those whose noise is fine, and all others.

use std::{f64::consts::LN_10, sync::OnceLock};

use rug::{Float, Integer, Rational};

use super::close::Rung;
use crate::{
    error::Result,
    loss::{
        atoms::{
            coarse::{Atom, Coarse},
            tilt::Outline,
        },
        fine::{
            self,
            ripple::{Ripple, Shape},
        },
        law::Group,
        sum::LossSum,
    },
    numeric::Enclosure,
};

/// The masses of fine groups have this number of digits beyond the requested ones.
const MORE_DIGITS: u32 = 6;

/// The groups at the precision of a number of digits.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) fine: Vec<Fine>,
    /// All others; `None` if there are none.
    pub(super) listed: Option<(LossSum, Outline)>,
    /// Upper bound on |e| of the product of all masses of fine groups, without the part that [`rippled`](Self::rippled) corrects.
    pub(super) off: f64,
    /// 1 / (2 v) of each fine group, over one denominator.
    halves: (Vec<Integer>, Integer),
}

/// The sum of the noise of a fine group.
#[derive(Debug)]
pub(super) struct Fine {
    /// shift / sigma2
    pub(super) step: Rational,
    /// n sigma2
    pub(super) variance: Rational,
    /// n shift
    pub(super) shifts: Rational,
    pub(super) rho: Rational,
    /// Upper bound on |e| of its masses.
    off: f64,
    /// The difference of the masses from a Gaussian, if it matters at this number of digits.
    ripples: Option<Ripples>,
}

/// A ripple, tabled on first use.
#[derive(Debug)]
struct Ripples {
    group: Group,
    shape: Shape,
    digits: u32,
    table: OnceLock<Option<Ripple>>,
}

/// The distances of sums of multiples of the steps from a target, over one denominator: no fraction is reduced on the way.
pub(super) struct Distances {
    denominator: Integer,
    target: Integer,
    steps: Vec<Integer>,
}

impl Distances {
    pub(super) fn new(fine: &[Fine], target: &Rational) -> Self {
        let denominators = fine.iter().map(|one| one.step.denom());
        let denominator = denominators.fold(target.denom().clone(), |all, own| all.lcm(own));
        let scaled = |x: &Rational| Integer::from(&denominator / x.denom()) * x.numer();
        let steps = fine.iter().map(|one| scaled(&one.step)).collect();
        Distances { target: scaled(target), steps, denominator }
    }

    /// The target less the sum of these multiples, in units of one over the denominator.
    pub(super) fn distance(&self, multiples: &[i64]) -> Integer {
        self.steps.iter().zip(multiples).fold(self.target.clone(), |rest, (step, x)| rest - step * x)
    }

    /// The same in doubles.
    pub(super) fn approximate(&self, distance: &Integer) -> f64 {
        (Float::with_val(64, distance) / &self.denominator).to_f64()
    }

    /// The same exactly.
    pub(super) fn exact(&self, distance: &Integer) -> Rational {
        Rational::from((distance, &self.denominator))
    }
}

impl Fine {
    /// `None` if a group is not fine to this number of digits. Returned with an upper bound on |e| of its masses after the ripples.
    pub(super) fn new(group: &Group, digits: u32) -> Option<(Self, f64)> {
        let sigma2 = group.law.discrete_sigma2()?;
        let up = |ln_off: f64| libm::exp(ln_off) * (1.0 + 1e-9) + f64::MIN_POSITIVE;
        let ln_off = fine::ln_off(group)?;
        let more = digits + MORE_DIGITS;
        let (ln_rest, ripples) = if ln_off <= -f64::from(more) * LN_10 {
            (ln_off, None)
        } else {
            let shape = Shape::new(group, more)?;
            (shape.ln_rest, Some(Ripples { group: group.clone(), shape, digits: more, table: OnceLock::new() }))
        };
        let fine = Fine {
            step: group.weight(),
            variance: Rational::from(sigma2 * group.copies),
            shifts: Rational::from(group.shift) * group.copies,
            rho: group.rho(),
            off: up(ln_off),
            ripples,
        };
        Some((fine, up(ln_rest)))
    }

    /// The ripple, if it matters at this number of digits.
    fn ripple(&self) -> Option<&Ripple> {
        let ripples = self.ripples.as_ref()?;
        let table = || Ripple::new(&ripples.group, ripples.shape, ripples.digits);
        ripples.table.get_or_init(table).as_ref()
    }

    /// The standard deviation of its loss.
    pub(super) fn deviation(&self) -> f64 {
        self.step.to_f64() * self.variance.to_f64().sqrt()
    }
}

impl Parts {
    pub(super) fn new(sum: &LossSum, digits: u32) -> Result<Self> {
        let (mut fine, mut others, mut off) = (Vec::new(), Vec::new(), 0.0);
        for group in sum.groups() {
            match Fine::new(group, digits) {
                Some((one, its)) => {
                    fine.push(one);
                    // The Gaussian is less than twice the mass, and the relative error of products of such factors is less than twice the sum of
                    // theirs.
                    off += 4.0 * its;
                }
                None => others.push(group.clone()),
            }
        }
        fine.sort_by(|a, b| b.step.cmp(&a.step));
        let listed = if others.is_empty() { None } else { Some(LossSum::new(others)?) };
        let listed = listed.map(|listed| (Outline::new(listed.groups()), listed)).map(|(outline, sum)| (sum, outline));
        let inverse = |one: &Fine| Rational::from(1) / Rational::from(&one.variance * 2_u32);
        let inverses: Vec<Rational> = fine.iter().map(inverse).collect();
        let denominator = inverses.iter().fold(Integer::from(1), |all, own| all.lcm(own.denom()));
        let scaled = |x: &Rational| Integer::from(&denominator / x.denom()) * x.numer();
        Ok(Parts { halves: (inverses.iter().map(scaled).collect(), denominator), fine, listed, off })
    }

    /// The losses of all other groups with their stored masses, truncated at about 2^-cut under the law tilted by c; and the truncated mass, tilted.
    pub(super) fn list(&self, c: &Rational, cut: u32, bits: u32) -> Result<(Vec<Atom>, Float)> {
        let Some((sum, _)) = &self.listed else { return Ok((vec![Atom::none(bits)], Float::new(64))) };
        let list = Coarse::new(sum, c, cut)?;
        Ok((list.losses(c, bits), list.missing))
    }

    /// The steps of the fine groups, around the centers of their sums under the law tilted by c.
    pub(super) fn rungs(&self, c: &Rational) -> Vec<Rung> {
        let rung = |fine: &Fine| Rung {
            step: fine.step.clone(),
            center: Rational::from(c * &fine.shifts),
            variance: fine.variance.to_f64(),
        };
        self.fine.iter().map(rung).collect()
    }

    /// The loss of fine groups whose noise is zero.
    pub(super) fn rho(&self) -> Rational {
        self.fine.iter().map(|fine| fine.rho.clone()).sum()
    }

    /// x_1^2 / (2 v_1) + ..., exactly: minus ln of the mass of such multiples, without the normaliser and the error of the masses.
    pub(super) fn energy(&self, multiples: &[i64]) -> Rational {
        let (halves, denominator) = &self.halves;
        let square = |(half, x): (&Integer, &i64)| Integer::from(*x).square() * half;
        let sum: Integer = halves.iter().zip(multiples).map(square).sum();
        Rational::from((sum, denominator))
    }

    /// 1 / sqrt(2 pi v_1) ...
    pub(super) fn normaliser(&self, bits: u32) -> Enclosure {
        let two_pi = Enclosure::pi(bits).mul(&Enclosure::double(2.0, bits));
        let root = |fine: &Fine| two_pi.mul(&Enclosure::rational(&fine.variance, bits)).sqrt();
        self.fine.iter().fold(Enclosure::double(1.0, bits), |all, fine| all.div(&root(fine)))
    }

    /// A mass with the ripples of all fine groups at these sums of their noise.
    pub(super) fn rippled(&self, mass: Enclosure, at: impl Iterator<Item = i128>) -> Enclosure {
        self.fine.iter().zip(at).fold(mass, |mass, (one, x)| match one.ripple() {
            Some(ripple) => mass.mul(ripple.at(x)),
            None => mass,
        })
    }

    /// Upper bound on the product of all ripples, anywhere.
    pub(super) fn most_rippled(&self) -> f64 {
        self.fine.iter().map(|one| (1.0 + one.off) * (1.0 + 1e-9)).product()
    }

    /// The factor 1 + e of the masses.
    pub(super) fn one(&self, bits: u32) -> Enclosure {
        // In enclosures: in doubles an error below 2^-53 would be rounded away.
        let (one, off) = (Enclosure::double(1.0, bits), Enclosure::double(self.off, bits));
        one.sub(&off).hull(&one.add(&off))
    }
}
