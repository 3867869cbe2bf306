//! Other noise beside samples: factors of every node, the same in both directions, because its pairs are symmetric.
//!
//! The moment of a loss that is uniform once it is tilted has a closed form (see [`uniform`](crate::loss::uniform)). All other losses A are listed. The listed masses under the
//! law tilted by c fall short of one by at most m, so that the sum of a contour falls short of the answer by at most
//!
//! ```text
//! m k M(c) exp(-c eps),    k = c^c / (c + 1)^(c + 1),    M the moment of everything:
//! ```
//!
//! for the other losses B, E[(1 - exp(y - B))_+] <= k M_B(c) exp(-c y), and each listed loss a has y = eps - a.

use rug::Rational;

use super::arithmetic::{Arithmetic, Precision};
use crate::{
    error::Result,
    loss::{
        engine::machine,
        uniform::{self, Part, UniformSum},
    },
    numeric::{Enclosure, field::Real, rational, upper_bound::UpperBound},
};

/// Bits of error bounds.
const BITS: u32 = 64;
/// Nodes from one exact angle to the next.
const ANEW: usize = 64;

/// The price of the factors of a node in seconds; infinite where too many losses are to be listed.
pub(super) fn price(sum: &UniformSum, c: f64, ln_small: f64) -> f64 {
    let listed = sum.others.as_ref().map_or(1.0, |others| uniform::predicted(others, c, cut(ln_small)));
    listed * machine::PER_UNIFORM_PRODUCT + sum.parts.len() as f64 * machine::PER_UNIFORM_FACTOR
}

/// The bits to which losses are listed, for an error of about exp(ln_small) of the moment.
fn cut(ln_small: f64) -> u32 {
    const GUARD: f64 = 16.0;
    (-ln_small / std::f64::consts::LN_2 + GUARD).clamp(GUARD, 1e5) as u32
}

/// The factors of all nodes with Re s = c.
pub(super) struct Factors<'a> {
    c: Rational,
    parts: Vec<Factor<'a>>,
    /// The distances of the listed losses from the first, and their masses times exp(c distance).
    listed: Vec<(Rational, Enclosure)>,
    /// The sum of the largest uniform losses and the first listed one.
    reach: Rational,
    /// ln of what the factors are relative to.
    pub(super) ln_scale: Enclosure,
    /// Upper bound on the moduli of all factors together: they are largest at Im s = 0.
    pub(super) most: UpperBound,
    /// m k.
    pub(super) missing: UpperBound,
}

/// Equal uniform losses, with a norm for which their factor is about 1 at Im s = 0.
struct Factor<'a> {
    part: &'a Part,
    norm: Rational,
}

impl<'a> Factors<'a> {
    /// For an error of about exp(ln_small) of the moment.
    pub(super) fn new(sum: &'a UniformSum, c: &Rational, ln_small: f64, bits: u32) -> Result<Self> {
        let at = c.to_f64();
        let norm = |part: &'a Part| -> Result<Factor<'a>> {
            let ln = at * part.one.largest.to_f64() - part.ln_mgf_approx(at) / part.copies as f64;
            Ok(Factor { part, norm: rational::from_f64(libm::exp(ln))? })
        };
        let parts = sum.parts.iter().map(norm).collect::<Result<Vec<_>>>()?;
        let (losses, missing) = match &sum.others {
            None => (
                vec![(Rational::new(), Enclosure::double(1.0, bits))],
                UpperBound::of_enclosure(&Enclosure::double(0.0, BITS)),
            ),
            Some(others) => uniform::listed(others, c, cut(ln_small), bits)?,
        };
        let first = losses.first().map(|(loss, _)| loss.clone()).unwrap_or_default();
        let weighted = |(loss, p): (Rational, Enclosure)| {
            let away = Rational::from(&loss - &first);
            let weight = p.mul(&Enclosure::rational(&Rational::from(c * &away), bits).exp());
            (away, weight)
        };
        let listed: Vec<(Rational, Enclosure)> = losses.into_iter().map(weighted).collect();
        let own = parts.iter().map(|factor| Rational::from(&factor.part.one.largest * factor.part.copies));
        let reach = own.fold(first, |sum, loss| sum + loss);
        let real = |x: &Rational, bits| Enclosure::rational(x, bits);
        let mut ln_scale = real(&Rational::from(c * &reach), bits);
        // |M(c + i t)| <= M(c), for the listed losses and for each part.
        let zero = || UpperBound::of_enclosure(&Enclosure::double(0.0, BITS));
        let mut most = listed.iter().fold(zero(), |sum, (_, weight)| sum.add(&UpperBound::of_enclosure(weight)));
        for Factor { part, norm } in &parts {
            let copies = Rational::from(part.copies);
            let ln_norm = real(norm, bits).ln().mul(&real(&copies, bits));
            let to_largest = real(&(Rational::from(c * &part.one.largest) * &copies), BITS);
            most = most.mul(&UpperBound::exp(&part.ln_mgf(c, BITS).sub(&to_largest).add(&ln_norm)));
            ln_scale = ln_scale.sub(&ln_norm);
        }
        let power = |x: &Rational| real(x, BITS).ln().mul(&real(x, BITS));
        let factor = UpperBound::exp(&power(c).sub(&power(&Rational::from(c + 1_u32))));
        Ok(Factors { c: c.clone(), parts, listed, reach, ln_scale, most, missing: missing.mul(&factor) })
    }

    /// Multiplies terms at the heights k h by the factors there, relative to the scale.
    pub(super) fn multiply<F: Arithmetic>(&self, terms: &mut [F], h: f64, precision: Precision<F>) -> Result<()> {
        let step = rational::from_f64(h)?;
        let number = |x: &Rational| F::Real::rational(x, precision);
        let cis = |x: Rational| F::cis(&number(&x));
        let turns: Vec<F> = self.listed.iter().map(|(away, _)| cis(Rational::from(&step * away))).collect();
        let mut listed: Vec<F> = Vec::new();
        for (k, term) in terms.iter_mut().enumerate() {
            let t = Rational::from(&step * k as u64);
            if k % ANEW == 0 {
                let anew = |(away, weight): &(Rational, Enclosure)| {
                    cis(Rational::from(&t * away)).scale(&F::real(weight, precision))
                };
                listed = self.listed.iter().map(anew).collect();
            }
            let mut product = term.mul(&cis(Rational::from(&t * &self.reach)));
            for factor in &self.parts {
                product = product.mul(&factor.at::<F>(&self.c, &t, precision));
            }
            if let Some(sum) = listed.iter().cloned().reduce(|sum, one| sum.add(&one)) {
                product = product.mul(&sum);
            }
            *term = product;
            listed.iter_mut().zip(&turns).for_each(|(state, turn)| *state = state.mul(turn));
        }
        Ok(())
    }
}

impl Factor<'_> {
    /// w^n exp(-s x)^n M(s)^n at s = c + i t, M(s) exp(-s x) = ((1 + s) + s exp(-(1 + 2 s) x)) / (1 + 2 s) with ends, and
    /// (1 - exp(-(1 + 2 s) x)) / ((1 + 2 s) (1 - exp(-x))) without.
    fn at<F: Arithmetic>(&self, c: &Rational, t: &Rational, precision: Precision<F>) -> F {
        let number = |x: &Rational| F::Real::rational(x, precision);
        let x = &self.part.one.largest;
        let (twice_t, next) = (Rational::from(t * 2_u32), Rational::from(c + 1_u32));
        let twice_c = Rational::from(c + &next);
        let falling = number(&-Rational::from(&twice_c * x)).exp();
        let turned = F::cis(&number(&-Rational::from(&twice_t * x))).scale(&falling);
        let slope = F::new(number(&twice_c), number(&twice_t)).recip();
        let top = match self.part.one.has_ends {
            true => F::new(number(&next), number(t)).add(&F::new(number(c), number(t)).mul(&turned)),
            false => {
                let one = F::new(number(&Rational::from(1)), number(&Rational::new()));
                let scale = number(&Rational::from(-x)).exp_m1().neg();
                one.add(&turned.scale(&number(&Rational::from(-1)))).scale(&scale.recip())
            }
        };
        top.mul(&slope).scale(&number(&self.norm)).pow(self.part.copies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        law::{Group, Law},
        loss::{
            sampled::{Direction, Phase, SampledSum, Side},
            stop::Stop,
        },
        numeric::rational::parse,
    };

    fn samples() -> SampledSum {
        let phase = Phase { rate: Rational::from((1, 10)), sigma2: Rational::from(1), steps: 20 };
        SampledSum::new([phase], Rational::from((1, 50)))
    }

    fn delta(sum: &SampledSum, direction: Direction, epsilon: &Rational, digits: u32) -> Enclosure {
        sum.hockey_stick(direction, Side::Delta, epsilon, digits, &Stop::default()).unwrap().value
    }

    /// That of the samples alone in doubles, for an epsilon of either sign: 1 - exp(x) + exp(x) times that of -x in the other direction.
    fn alone(direction: Direction, epsilon: f64) -> f64 {
        let at = |direction, x: f64| delta(&samples(), direction, &rational::from_f64(x).unwrap(), 12).approximate();
        let [own, other] = direction.pick([[Direction::Remove, Direction::Add], [Direction::Add, Direction::Remove]]);
        match epsilon >= 0.0 {
            true => at(own, epsilon),
            false => -libm::expm1(epsilon) + libm::exp(epsilon) * at(other, -epsilon),
        }
    }

    fn beside(terms: &[(Law, u64)]) -> SampledSum {
        let group = |(law, copies): &(Law, u64)| Group { law: law.clone(), shift: 1, copies: *copies };
        let terms: Vec<Group> = terms.iter().map(group).collect();
        samples().beside(UniformSum::beside_samples(&terms).unwrap().unwrap())
    }

    /// Against the sum over the losses of the other noise, each with the samples alone.
    fn agrees(sum: &SampledSum, losses: &[(f64, f64)]) {
        for direction in [Direction::Remove, Direction::Add] {
            for epsilon in ["0", "1/2", "3"] {
                let epsilon = parse(epsilon).unwrap();
                let value = delta(sum, direction, &epsilon, 10);
                assert!(value.is_tight(9), "{direction:?} {epsilon}: {value:?}");
                let each = losses.iter().map(|(loss, p)| p * alone(direction, epsilon.to_f64() - loss));
                let (own, other) = (value.approximate(), each.sum::<f64>());
                // The sum of doubles errs by 1e-18 where the answer is tiny.
                assert!((own - other).abs() < 1e-8 * other + 1e-18, "{direction:?} {epsilon}: {own} {other}");
            }
        }
    }

    #[test]
    fn guarantees_and_counts_beside_samples_are_mixtures() {
        let epsilon = Rational::from((3, 4));
        let down = 1.0 / (1.0 + libm::exp(0.75));
        let up = 1.0 - down;
        agrees(&beside(&[(Law::Pure { epsilon: epsilon.clone() }, 1)]), &[(0.75, up), (-0.75, down)]);
        let both = [(1.5, up * up), (0.0, 2.0 * up * down), (-1.5, down * down)];
        agrees(&beside(&[(Law::Pure { epsilon }, 2)]), &both);
        // Outputs y around 1 against outputs around 0: the loss is (2 y - 1) / (2 sigma2).
        let sigma2 = 2.0_f64;
        let mass = |y: i32| libm::exp(-f64::from(y - 1).powi(2) / (2.0 * sigma2));
        let total: f64 = (-40..=42).map(mass).sum();
        let losses: Vec<(f64, f64)> =
            (-14..=16).map(|y| (f64::from(2 * y - 1) / (2.0 * sigma2), mass(y) / total)).collect();
        agrees(&beside(&[(Law::DiscreteGaussian { sigma2: Rational::from(2) }, 1)]), &losses);
    }

    /// Continuous Laplace noise of scale 2: atoms at both ends, and the density exp((l - 1/2) / 2) / 4 between, by Simpson's rule.
    #[test]
    fn laplace_noise_beside_samples_is_a_mixture() {
        const PARTS: i32 = 64;
        let end = 0.5_f64;
        let mut losses = vec![(end, 0.5), (-end, 0.5 * libm::exp(-end))];
        for k in 0..=PARTS {
            let l = -end + 2.0 * end * f64::from(k) / f64::from(PARTS);
            let weight = if k == 0 || k == PARTS {
                1.0
            } else if k % 2 == 1 {
                4.0
            } else {
                2.0
            };
            losses.push((l, weight * 2.0 * end / f64::from(PARTS) / 3.0 * libm::exp((l - end) / 2.0) / 4.0));
        }
        let total: f64 = losses.iter().map(|(_, p)| p).sum();
        assert!((total - 1.0).abs() < 1e-8, "{total}");
        agrees(&beside(&[(Law::Laplace { scale: Rational::from(2) }, 1)]), &losses);
    }
}
