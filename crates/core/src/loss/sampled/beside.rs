//! Other noise beside samples: factors of every node. Where its pairs are symmetric they are the same in both directions.
//!
//! The moment of a loss that is uniform once it is tilted has a closed form (see [`uniform`](crate::loss::uniform)). That of all other losses is the product of a contour of
//! their own ([`Product`]), at heights that are rational multiples of 2 pi. The nodes here are not: each is closer than d to one, and there the moment differs by at most
//!
//! ```text
//! d E[|L| exp(c L)] <= d (M(c / 2) + M(3 c / 2)) 2 / (e c),     since |x| <= exp(|x| - 1) with x = c L / 2.
//! ```
//!
//! # Where moments are small
//!
//! Along Re s = c one count of discrete Gaussian noise has the modulus (see [`theta`](crate::law::theta)), with b the angle t shift / sigma2 reduced to [-pi, pi],
//!
//! ```text
//! |M(c + i t)| / M(c) <= exp(-sigma2 b^2 / 2) (1 + exp(-2 pi sigma2 (pi - |b|)) + y) / (1 - y),     y = 2 / (exp(2 pi^2 sigma2) - 1),
//! ```
//!
//! because (b - 2 pi k)^2 - b^2 = 4 pi (pi k^2 - k b): the nearest image, and all others, which are at most exp(-2 pi^2 sigma2 k) each. Nodes where that is less than the error of a moment
//! are not computed.

use std::f64::consts::{PI, TAU};

use rug::{Float, Rational, float::Round};

use super::{
    arithmetic::{Arithmetic, Precision},
    search::Course,
};
use crate::{
    error::Result,
    law::{Group, Law},
    loss::{
        engine::machine,
        integrand::Product,
        sum::LossSum,
        uniform::{Part, UniformSum},
    },
    numeric::{Enclosure, field::Real, rational, upper_bound::UpperBound},
};

/// Bits of error bounds.
const BITS: u32 = 64;

/// The price of the factors of a node in seconds, on average.
pub(super) fn price(sum: &UniformSum, course: &Course) -> f64 {
    let falls = Fall::all(sum);
    let others = sum.others.as_ref().map_or(0.0, Product::<num_complex::Complex64>::steps_of);
    let factors = (sum.parts.len() as f64 + others) * machine::PER_UNIFORM_FACTOR;
    share(&falls, course) * factors + falls.len() as f64 * machine::PER_WINDOW
}

/// How far the moments of equal counts of discrete Gaussian noise fall along a line, in doubles.
struct Fall {
    /// The angle of a height, in full turns.
    turns: f64,
    sigma2: f64,
    copies: f64,
    /// y.
    images: f64,
}

impl Fall {
    /// Of each law whose images are few.
    fn all(sum: &UniformSum) -> Vec<Fall> {
        /// From here on y is below 10^-3.
        const LEAST_SIGMA2: f64 = 0.4;
        let groups = sum.others.as_ref().map_or(&[][..], LossSum::groups);
        let of = |group: &Group| match &group.law {
            Law::DiscreteGaussian { sigma2 } if sigma2.to_f64() >= LEAST_SIGMA2 => {
                let sigma2 = sigma2.to_f64();
                let images = 2.0 / libm::expm1(2.0 * PI * PI * sigma2);
                Some(Fall { turns: group.shift as f64 / (TAU * sigma2), sigma2, copies: group.copies as f64, images })
            }
            _ => None,
        };
        groups.iter().filter_map(of).collect()
    }

    /// Upper bound on ln |M(c + i t)| / M(c).
    fn ln_above(&self, t: f64) -> f64 {
        let turns = self.turns * t;
        // Each number is rounded by less than this.
        let b = (TAU * (turns - turns.round()).abs() - 1e-12 * (1.0 + turns.abs())).max(0.0);
        let nearest = libm::exp(-TAU * self.sigma2 * (PI - b).max(0.0) * (1.0 - 1e-9));
        // -ln(1 - y) <= 2 y
        let more = libm::log1p(nearest + self.images) + 2.0 * self.images;
        self.copies * (more * (1.0 + 1e-9) - self.sigma2 * b * b / 2.0 * (1.0 - 1e-9))
    }
}

/// The share of nodes whose moments are computed.
fn share(falls: &[Fall], course: &Course) -> f64 {
    const TRIED: i64 = 997;
    let apart = (course.nodes / TRIED).max(1);
    let is_large = |k: &i64| ln_above(falls, course.h * *k as f64) > course.ln_small;
    let tried = || (0..=course.nodes).step_by(apart as usize);
    tried().filter(is_large).count() as f64 / tried().count() as f64
}

fn ln_above(falls: &[Fall], t: f64) -> f64 {
    falls.iter().map(|fall| fall.ln_above(t)).sum()
}

/// The factors of all nodes with Re s = c.
pub(super) struct Factors<'a> {
    c: Rational,
    parts: Vec<Factor<'a>>,
    others: Option<&'a LossSum>,
    falls: Vec<Fall>,
    /// ln of what the moments of other losses are relative to.
    ln_scale_of_others: Enclosure,
    /// The sum of the largest uniform losses and the offset of the others.
    reach: Rational,
    /// ln of what the factors are relative to.
    pub(super) ln_scale: Enclosure,
    /// Upper bound on the moduli of all factors together: they are largest at Im s = 0.
    pub(super) most: UpperBound,
}

/// Equal uniform losses, with a norm for which their factor is about 1 at Im s = 0.
struct Factor<'a> {
    part: &'a Part,
    norm: Rational,
}

impl<'a> Factors<'a> {
    pub(super) fn new(sum: &'a UniformSum, c: &Rational, bits: u32) -> Result<Self> {
        let at = c.to_f64();
        let norm = |part: &'a Part| -> Result<Factor<'a>> {
            let ln = at * part.one.largest.to_f64() - part.ln_mgf_approx(at) / part.copies as f64;
            Ok(Factor { part, norm: rational::from_f64(libm::exp(ln))? })
        };
        let parts = sum.parts.iter().map(norm).collect::<Result<Vec<_>>>()?;
        let others = sum.others.as_ref();
        let ln_scale_of_others = others.map_or_else(|| Enclosure::double(0.0, bits), |others| others.ln_scale(c, bits));
        let real = |x: &Rational, bits| Enclosure::rational(x, bits);
        let own = || parts.iter().map(|factor| Rational::from(&factor.part.one.largest * factor.part.copies));
        let largest = own().fold(Rational::new(), |sum, loss| sum + loss);
        let mut ln_scale = ln_scale_of_others.add(&real(&Rational::from(c * &largest), bits));
        // |M(c + i t)| <= M(c), for the other losses and for each part.
        let mut most = match others {
            Some(others) => UpperBound::exp(&others.ln_mgf(c, bits).sub(&ln_scale_of_others)),
            None => UpperBound::of_enclosure(&Enclosure::double(1.0, BITS)),
        };
        for Factor { part, norm } in &parts {
            let copies = Rational::from(part.copies);
            let ln_norm = real(norm, bits).ln().mul(&real(&copies, bits));
            let to_largest = real(&(Rational::from(c * &part.one.largest) * &copies), BITS);
            most = most.mul(&UpperBound::exp(&part.ln_mgf(c, BITS).sub(&to_largest).add(&ln_norm)));
            ln_scale = ln_scale.sub(&ln_norm);
        }
        let reach = others.map_or(largest.clone(), |others| largest + others.offset());
        Ok(Factors { c: c.clone(), parts, others, falls: Fall::all(sum), ln_scale_of_others, reach, ln_scale, most })
    }

    /// Multiplies terms at the nodes of a course by the factors there, relative to the scale.
    pub(super) fn multiply<F: Arithmetic>(
        &self,
        terms: &mut [F],
        course: &Course,
        precision: Precision<F>,
    ) -> Result<()> {
        let step = rational::from_f64(course.h)?;
        let ln_most = self.ln_most();
        let number = |x: &Rational| F::Real::rational(x, precision);
        let others = self.others.map(|others| self.product::<F>(others, &step, terms.len(), precision));
        let none = F::new(number(&Rational::new()), number(&Rational::new()));
        for (k, term) in terms.iter_mut().enumerate() {
            let ln_above = ln_above(&self.falls, course.h * k as f64);
            if ln_above <= course.ln_small {
                *term = term.mul(&none.clone().with_error(ln_above + ln_most));
                continue;
            }
            let t = Rational::from(&step * k as u64);
            let mut product = term.mul(&F::cis(&number(&Rational::from(&t * &self.reach))));
            for factor in &self.parts {
                product = product.mul(&factor.at::<F>(&self.c, &t, precision));
            }
            if let Some((others, ln_error)) = &others {
                product = product.mul(&others.at(k as i64).with_error(*ln_error));
            }
            *term = product;
        }
        Ok(())
    }

    /// Upper bound on ln of the moduli of all factors together.
    fn ln_most(&self) -> f64 {
        let most = self.most.clone().into_float();
        Float::with_val_round(BITS, most.ln_ref(), Round::Up).0.to_f64_round(Round::Up)
    }

    /// The moments of other losses at heights close to those of the nodes, and an upper bound on ln of how much they differ from the moments there.
    fn product<F: Arithmetic>(
        &self,
        others: &LossSum,
        step: &Rational,
        count: usize,
        precision: Precision<F>,
    ) -> (Product<F>, f64) {
        /// Bits beyond those of the moments.
        const GUARD: u32 = 192;
        let bits = F::working_bits(precision) + GUARD;
        let two_pi = Enclosure::pi(bits).times_power_of_two(1);
        let spacing = Enclosure::rational(step, bits).div(&two_pi).lower_rational().unwrap_or_default();
        let away = two_pi.mul(&Enclosure::rational(&spacing, bits)).sub(&Enclosure::rational(step, bits));
        let away = away.max(&away.clone().negate()).mul(&Enclosure::rational(&Rational::from(count as u64), BITS));
        let relative = |c: Rational| UpperBound::exp(&others.ln_mgf(&c, BITS).sub(&self.ln_scale_of_others));
        let moments = relative(Rational::from(&self.c / 2_u32)).add(&relative(Rational::from(&self.c * 3_u32) / 2_u32));
        // 2 / (e c)
        let e = Enclosure::double(1.0, BITS).exp();
        let slope = Enclosure::rational(&(Rational::from(2) / &self.c), BITS).div(&e);
        let error = UpperBound::of_enclosure(&away.mul(&slope)).mul(&moments).into_float();
        let ln_error = Float::with_val_round(BITS, error.ln_ref(), Round::Up).0.to_f64_round(Round::Up);
        (Product::new(others, &self.c, &spacing, precision), ln_error)
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
        law::Rounding,
        loss::{
            sampled::{Direction, Phase, SampledSum, Side},
            stop::Stop,
        },
        numeric::rational::parse,
    };

    fn samples() -> SampledSum {
        let phase = Phase { rate: Rational::from((1, 10)), sigma2: Rational::from(1), steps: 20, group: 1 };
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
        samples().beside(UniformSum::collected(&terms, Rounding::Up, Direction::Remove).unwrap())
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

    /// One step, and little noise, beside few losses: closed forms added up, and contours that are wider.
    #[test]
    fn few_losses_beside_closed_forms_agree_with_contours() {
        let law = Law::Pure { epsilon: Rational::from((3, 4)) };
        let term = [Group { law, shift: 1, copies: 2 }];
        for (rate, sigma2, steps, epsilon) in
            [((3, 10), (1, 25), 1, 1), ((3, 10), (2, 1), 1, 0), ((1, 100), (1, 400), 10, 1)]
        {
            let phase = Phase { rate: Rational::from(rate), sigma2: Rational::from(sigma2), steps, group: 1 };
            let sum = SampledSum::new([phase], Rational::new());
            let beside = UniformSum::collected(&term, Rounding::Up, Direction::Remove).unwrap();
            let sum = sum.beside(beside.clone());
            for direction in [Direction::Remove, Direction::Add] {
                let epsilon = Rational::from(epsilon);
                let own = sum.by_outcomes(&beside, direction, &epsilon, 10).unwrap().unwrap();
                let contour =
                    super::super::contour::enclose(&sum, direction, Side::Delta, &epsilon, 10, &Stop::default())
                        .unwrap();
                assert!(own.value.overlaps(&contour.value), "{direction:?}: {} {}", own.value, contour.value);
                let chosen = delta(&sum, direction, &epsilon, 10);
                assert!(own.met && chosen.is_tight(9), "{direction:?}: {} {chosen}", own.value);
            }
        }
    }

    /// Two laws with losses on no common short lattice, several copies each: all pairs of sums, which no list of 2 10^4 losses holds to 12 digits.
    #[test]
    fn counts_of_two_laws_beside_samples_are_mixtures() {
        // The sum of n outputs around 0 has the mass of their convolution; the loss is (2 y + n) / (2 sigma2) for the sum y of the noise.
        let losses = |sigma2: f64, copies: usize| -> Vec<(f64, f64)> {
            const REACH: i32 = 30;
            let one: Vec<f64> = (-REACH..=REACH).map(|x| libm::exp(-f64::from(x).powi(2) / (2.0 * sigma2))).collect();
            let total: f64 = one.iter().sum();
            let mut sum = vec![1.0];
            for _ in 0..copies {
                let mut next = vec![0.0; sum.len() + one.len() - 1];
                for (i, p) in sum.iter().enumerate() {
                    one.iter().enumerate().for_each(|(j, q)| next[i + j] += p * q / total);
                }
                sum = next;
            }
            let center = (sum.len() / 2) as f64;
            let loss = |k: usize| (2.0 * (k as f64 - center) + copies as f64) / (2.0 * sigma2);
            sum.iter().enumerate().map(|(k, p)| (loss(k), *p)).filter(|(_, p)| *p > 1e-14).collect()
        };
        let (first, second) = (losses(3.0, 2), losses(7.0, 3));
        let each = first.iter().flat_map(|(a, p)| second.iter().map(move |(b, q)| (a + b, p * q)));
        let all: Vec<(f64, f64)> = each.filter(|(_, p)| *p > 1e-10).collect();
        let law = |sigma2: u32| Law::DiscreteGaussian { sigma2: Rational::from(sigma2) };
        let sum = beside(&[(law(3), 2), (law(7), 3)]);
        let epsilon = parse("3/2").unwrap();
        for direction in [Direction::Remove, Direction::Add] {
            let value = delta(&sum, direction, &epsilon, 12);
            assert!(value.is_tight(11), "{value:?}");
            let each = all.iter().map(|(loss, p)| p * alone(direction, 1.5 - loss));
            let other: f64 = each.sum();
            assert!((value.approximate() - other).abs() < 1e-7, "{direction:?}: {value:?} {other}");
        }
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
