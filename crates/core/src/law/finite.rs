//! Laws of finitely many losses: what every engine needs of them.
//!
//! The losses are largest, largest - step, ..., -largest, or those multiples of the step that are listed. Each mass is a factor times exp(-exponent), up to a common constant, with an exact exponent; so
//! masses, tilted masses and moments in every arithmetic follow from one list. Outcomes that only one of two neighbors can have are no losses: their
//! masses stand beside, and an account adds them (Murtagh & Vadhan 2016). Unless the law is one direction of a pair that is not symmetric
//! ([`outcomes`](super::outcomes)), the pair of the losses that are finite is symmetric: a loss l has the mass of -l times exp(l).

use std::ops::Range;

use rug::{Integer, Rational};

use crate::numeric::{enclosure::Enclosure, field::Real};

/// The number of masses beyond which those that do not matter are left out.
const MANY: usize = 64;

/// The losses of one count and the masses of its outcomes.
#[derive(Clone, Debug)]
pub(crate) struct Finite {
    /// The largest loss: above zero, unless the law is one direction of a pair that is not symmetric.
    pub largest: Rational,
    /// The distance of neighboring losses, or that of which all are multiples.
    pub step: Rational,
    /// The masses from the largest loss down, up to a common factor.
    pub masses: Vec<Mass>,
    /// The multiples of the step where losses are not evenly spaced, from the largest down.
    pub places: Option<Vec<Integer>>,
    /// The probability of the outcomes that a neighbor cannot have.
    pub infinite: Infinite,
}

/// A mass up to a common factor: factor exp(-exponent).
#[derive(Clone, Debug)]
pub(crate) struct Mass {
    pub exponent: Rational,
    pub factor: Factor,
}

/// A factor of a mass.
#[derive(Clone, Debug)]
pub(crate) enum Factor {
    /// An exact number.
    Exactly(Rational),
    /// 1 - exp(-a) for a > 0.
    OneMinusExp(Rational),
    /// weight / (1 + exp(-loss)): the share of the larger loss in a randomized response of this weight.
    Response { weight: Rational, loss: Rational },
    /// The sum of some masses, each times a number above zero: of a loss that several outputs share.
    Sum(Vec<(u64, Mass)>),
}

/// The probability of the outcomes that a neighbor cannot have.
#[derive(Clone, Debug)]
pub(crate) enum Infinite {
    /// There is none.
    Never,
    /// This probability, from 0 to 1.
    Exactly(Rational),
    /// Their masses, up to the factor of those of the losses.
    Masses(Vec<Mass>),
}

/// ln E[exp(c L)] with its first two derivatives, in doubles.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cumulants {
    pub ln_mgf: f64,
    pub mean: f64,
    pub variance: f64,
}

impl Cumulants {
    /// Those of a sum of this many independent copies.
    pub(crate) fn times(self, n: f64) -> Self {
        Cumulants { ln_mgf: n * self.ln_mgf, mean: n * self.mean, variance: n * self.variance }
    }

    /// Those of a sum of both.
    pub(crate) fn plus(self, other: Self) -> Self {
        Cumulants {
            ln_mgf: self.ln_mgf + other.ln_mgf,
            mean: self.mean + other.mean,
            variance: self.variance + other.variance,
        }
    }
}

impl Mass {
    /// exp(-exponent).
    pub(crate) fn exp(exponent: Rational) -> Mass {
        Mass { exponent, factor: Factor::Exactly(Rational::from(1)) }
    }

    /// An exact number.
    pub(crate) fn exactly(mass: Rational) -> Mass {
        Mass { exponent: Rational::new(), factor: Factor::Exactly(mass) }
    }

    /// exp(-exponent) (1 - exp(-a)).
    pub(crate) fn one_minus_exp(exponent: Rational, a: Rational) -> Mass {
        Mass { exponent, factor: Factor::OneMinusExp(a) }
    }
}

impl Factor {
    /// `None` for a factor of one.
    pub(crate) fn enclosure(&self, bits: u32) -> Option<Enclosure> {
        match self {
            Factor::Exactly(number) if *number == 1 => None,
            Factor::Exactly(number) => Some(Enclosure::rational(number, bits)),
            Factor::OneMinusExp(a) => Some(Enclosure::rational(&-a.clone(), bits).exp_m1().negate()),
            Factor::Response { weight, loss } => {
                let both = Enclosure::rational(&-loss.clone(), bits).exp().add(&Enclosure::double(1.0, bits));
                Some(Enclosure::rational(weight, bits).div(&both))
            }
            Factor::Sum(parts) => {
                let part = |(count, mass): &(u64, Mass)| {
                    let falling = Enclosure::rational(&-mass.exponent.clone(), bits).exp();
                    let each = mass.factor.enclosure(bits).map_or(falling.clone(), |factor| falling.mul(&factor));
                    each.mul(&Enclosure::rational(&Rational::from(*count), bits))
                };
                parts.iter().map(part).reduce(|sum, part| sum.add(&part))
            }
        }
    }

    fn real<R: Real>(&self, precision: R::Precision) -> Option<R> {
        match self {
            Factor::Exactly(number) if *number == 1 => None,
            Factor::Exactly(number) => Some(R::rational(number, precision)),
            Factor::OneMinusExp(a) => Some(R::rational(&-a.clone(), precision).exp_m1().neg()),
            Factor::Response { weight, loss } => {
                let one = R::ratio(1, 1, precision);
                let both = R::rational(&-loss.clone(), precision).exp().add(&one);
                Some(R::rational(weight, precision).mul(&both.recip()))
            }
            Factor::Sum(parts) => {
                let part = |(count, mass): &(u64, Mass)| {
                    let falling = R::rational(&-mass.exponent.clone(), precision).exp();
                    let each = mass.factor.real::<R>(precision).map_or(falling.clone(), |factor| falling.mul(&factor));
                    each.mul(&R::rational(&Rational::from(*count), precision))
                };
                parts.iter().map(part).reduce(|sum, part| sum.add(&part))
            }
        }
    }

    /// Its logarithm in doubles.
    pub(crate) fn ln_approx(&self) -> f64 {
        match self {
            Factor::Exactly(number) => libm::log(number.to_f64()),
            Factor::OneMinusExp(a) => libm::log(-libm::expm1(-a.to_f64())),
            Factor::Response { weight, loss } => libm::log(weight.to_f64()) - libm::log1p(libm::exp(-loss.to_f64())),
            Factor::Sum(parts) => {
                let part = |(count, mass): &(u64, Mass)| {
                    *count as f64 * libm::exp(mass.factor.ln_approx() - mass.exponent.to_f64())
                };
                libm::log(parts.iter().map(part).sum())
            }
        }
    }
}

impl Finite {
    /// The law of two neighbors without a common outcome: every loss is infinite.
    pub(crate) fn none() -> Self {
        let (masses, infinite) = (Vec::new(), Infinite::Exactly(Rational::from(1)));
        Finite { largest: Rational::new(), step: Rational::from(1), masses, places: None, infinite }
    }

    /// The number of steps from the largest loss down to the k-th one.
    pub(crate) fn steps(&self, k: usize) -> Integer {
        match &self.places {
            None => Integer::from(k),
            Some(places) => Integer::from(&places[0] - &places[k]),
        }
    }

    /// The k-th loss from the largest down.
    pub(crate) fn loss(&self, k: usize) -> Rational {
        &self.largest - Rational::from(&self.step * self.steps(k))
    }

    /// The largest size of a loss.
    pub(crate) fn size(&self) -> Rational {
        let last = self.loss(self.masses.len().saturating_sub(1)).abs();
        self.largest.clone().abs().max(last)
    }

    /// The least distance of two losses; the step where there is only one.
    pub(crate) fn spacing(&self) -> Rational {
        let apart = |k: usize| self.steps(k + 1) - self.steps(k);
        let least = (0..self.masses.len().saturating_sub(1)).map(apart).min();
        least.map_or_else(|| self.step.clone(), |least| Rational::from(&self.step * least))
    }

    /// The exponent of each mass, tilted by exp(c loss) relative to the largest loss: exponent + c (largest - loss).
    fn tilted_exponents(&self, c: &Rational) -> impl Iterator<Item = Rational> {
        let slope = Rational::from(c * &self.step);
        self.masses.iter().enumerate().map(move |(k, mass)| Rational::from(&slope * self.steps(k)) + &mass.exponent)
    }

    /// The masses tilted by exp(c loss), from the largest loss down, scaled to sum to one.
    pub(crate) fn weights<R: Real>(&self, c: &Rational, precision: R::Precision) -> Vec<R> {
        self.weights_of(0..self.masses.len(), c, precision)
    }

    /// The same of some neighboring masses alone.
    fn weights_of<R: Real>(&self, places: Range<usize>, c: &Rational, precision: R::Precision) -> Vec<R> {
        // Relative to the largest weight's exponential, so that nothing leaves the range of doubles.
        let slope = Rational::from(c * &self.step);
        let masses = &self.masses[places.clone()];
        let exponents: Vec<Rational> =
            places.zip(masses).map(|(k, mass)| Rational::from(&slope * self.steps(k)) + &mass.exponent).collect();
        let least = exponents.iter().min().cloned().unwrap_or_default();
        let weight = |(mass, exponent): (&Mass, Rational)| {
            let falling = R::rational(&(&least - exponent), precision).exp();
            mass.factor.real::<R>(precision).map_or(falling.clone(), |factor| falling.mul(&factor))
        };
        let weights: Vec<R> = masses.iter().zip(exponents).map(weight).collect();
        let mut rest = weights.iter();
        let Some(first) = rest.next() else { return weights };
        let total = rest.fold(first.clone(), |sum, weight| sum.add(weight)).recip();
        weights.iter().map(|weight| weight.mul(&total)).collect()
    }

    /// The weights of the masses that matter, where there are many and each is an exponential: without the others, with the place of the first, and an upper bound on ln of what
    /// that changes in their sum times any phases. `None` where all matter.
    pub(crate) fn weights_near<R: Real>(
        &self,
        c: &Rational,
        precision: R::Precision,
        reach: f64,
    ) -> Option<(usize, Vec<R>, f64)> {
        let is_exponential = |mass: &Mass| matches!(&mass.factor, Factor::Exactly(number) if *number == 1);
        if self.masses.len() < MANY || self.places.is_some() || !self.masses.iter().all(is_exponential) {
            return None;
        }
        // Neighboring ones: of noise that is log-concave, those between the first and the last.
        let near = self.near(c, reach)?;
        let places = *near.first()?..near.last()? + 1;
        // Of weights w with sums N near and R far, |(N(z) + R(z)) / (N + R) - N(z) / N| <= 2 R / N, and R <= (number of masses) exp(-reach) N.
        let changed = libm::log(2.0 * self.masses.len() as f64) - reach;
        (places.len() < self.masses.len()).then(|| (places.start, self.weights_of(places, c, precision), changed))
    }

    /// The same as enclosures that are not scaled, relative to the exponent that is returned beside them.
    pub(crate) fn tilted(&self, c: &Rational, bits: u32) -> (Vec<Enclosure>, Rational) {
        let exponents: Vec<Rational> = self.tilted_exponents(c).collect();
        let least = exponents.iter().min().cloned().unwrap_or_default();
        // Where exponents are evenly spaced, the next exponential is the last one times a ratio.
        let mut steady: Option<(Rational, Enclosure)> = None;
        let mut last: Option<(Rational, Enclosure)> = None;
        let mut factors: Option<(Rational, Enclosure)> = None;
        let mut weights = Vec::with_capacity(exponents.len());
        for (mass, exponent) in self.masses.iter().zip(exponents) {
            let away = Rational::from(&least - &exponent);
            let falling = match (&last, &mut steady) {
                (Some((before, value)), steady) => {
                    let step = Rational::from(before - &exponent);
                    match steady {
                        Some((known, ratio)) if *known == step => value.mul(ratio),
                        _ => {
                            *steady = Some((step.clone(), Enclosure::rational(&step, bits).exp()));
                            Enclosure::rational(&away, bits).exp()
                        }
                    }
                }
                (None, _) => Enclosure::rational(&away, bits).exp(),
            };
            let factor = match (&mass.factor, &factors) {
                (Factor::OneMinusExp(a), Some((known, factor))) if a == known => Some(factor.clone()),
                (factor, _) => factor.enclosure(bits),
            };
            if let (Factor::OneMinusExp(a), Some(factor)) = (&mass.factor, &factor) {
                factors = Some((a.clone(), factor.clone()));
            }
            weights.push(factor.map_or(falling.clone(), |factor| falling.mul(&factor)));
            last = Some((exponent, falling));
        }
        (weights, least)
    }

    /// Encloses ln E[exp(c L)] of one count, given that its loss is finite.
    pub(crate) fn ln_mgf(&self, c: &Rational, bits: u32) -> Enclosure {
        let (weights, least) = self.tilted_sum(c, bits);
        let (plain, least_plain) = self.tilted_sum(&Rational::new(), bits);
        let exact = Rational::from(c * &self.largest) - least + least_plain;
        Enclosure::rational(&exact, bits).add(&weights.div(&plain).ln())
    }

    /// The sum of the masses tilted by exp(c loss), relative to the exponent that is returned beside it. Of many masses only those that matter are computed.
    fn tilted_sum(&self, c: &Rational, bits: u32) -> (Enclosure, Rational) {
        let Some(near) = self.near(c, f64::from(bits) + 32.0) else {
            let (weights, least) = self.tilted(c, bits);
            let zero = Enclosure::double(0.0, bits);
            return (weights.iter().fold(zero, |sum, weight| sum.add(weight)), least);
        };
        let slope = Rational::from(c * &self.step);
        sum_of_near(&self.masses, near, bits, |k| Rational::from(&slope * self.steps(k)) + &self.masses[k].exponent)
    }

    /// The masses whose exponential, tilted by exp(c loss), is not far below the largest: see [`near_among`].
    fn near(&self, c: &Rational, reach: f64) -> Option<Vec<usize>> {
        let slope = Rational::from(c * &self.step).to_f64();
        near_among(&self.masses, (slope, &|k| self.steps(k).to_f64()), reach)
    }

    /// The masses under P given that the loss is finite, from the largest loss down.
    pub(crate) fn masses(&self, bits: u32) -> Vec<Enclosure> {
        let (weights, _) = self.tilted(&Rational::new(), bits);
        let zero = Enclosure::double(0.0, bits);
        let total = weights.iter().fold(zero, |sum, weight| sum.add(weight)).recip();
        weights.iter().map(|weight| weight.mul(&total)).collect()
    }

    /// Encloses the probability of the outcomes that a neighbor cannot have, with a relative error of about 2^-bits.
    pub(crate) fn infinite_mass(&self, bits: u32) -> Enclosure {
        let sum = |masses: &[Mass]| {
            let near = near_among(masses, (0.0, &|_| 0.0), f64::from(bits) + 32.0);
            let near = near.unwrap_or_else(|| (0..masses.len()).collect());
            sum_of_near(masses, near, bits, |k| masses[k].exponent.clone())
        };
        match &self.infinite {
            Infinite::Never => Enclosure::double(0.0, bits),
            Infinite::Exactly(mass) => Enclosure::rational(mass, bits),
            Infinite::Masses(masses) if masses.is_empty() => Enclosure::double(0.0, bits),
            Infinite::Masses(_) if self.masses.is_empty() => Enclosure::double(1.0, bits),
            Infinite::Masses(masses) => {
                let ((infinite, of_infinite), (finite, of_finite)) = (sum(masses), sum(&self.masses));
                // I / (I + F) = x / (1 + x) with x = I / F.
                let apart = Enclosure::rational(&(of_finite - of_infinite), bits).exp();
                let odds = infinite.div(&finite).mul(&apart);
                odds.div(&odds.add(&Enclosure::double(1.0, bits)))
            }
        }
    }

    /// The same where it is known exactly.
    pub(crate) fn exact_infinite_mass(&self) -> Option<Rational> {
        match &self.infinite {
            Infinite::Never => Some(Rational::new()),
            Infinite::Exactly(mass) => Some(mass.clone()),
            Infinite::Masses(_) => None,
        }
    }

    /// ln of each mass in doubles, up to a common constant, and the losses, both from the largest loss down.
    pub(crate) fn in_doubles(&self) -> InDoubles {
        let ln_masses = self.masses.iter().map(|mass| mass.factor.ln_approx() - mass.exponent.to_f64()).collect();
        let losses = (0..self.masses.len()).map(|k| self.loss(k).to_f64()).collect();
        InDoubles { losses, ln_masses }.normalized()
    }
}

/// The sum of these masses alone, each tilted to an exponent, and of others that are below the largest by exp(-(bits + 32)) or more: relative to the exponent that is
/// returned beside it.
fn sum_of_near(
    masses: &[Mass],
    near: Vec<usize>,
    bits: u32,
    exponent: impl Fn(usize) -> Rational,
) -> (Enclosure, Rational) {
    let are_all = near.len() == masses.len();
    let near: Vec<(usize, Rational)> = near.into_iter().map(|k| (k, exponent(k))).collect();
    let least = near.iter().map(|(_, exponent)| exponent).min().cloned().unwrap_or_default();
    let mut sum = Enclosure::double(0.0, bits);
    for (k, exponent) in &near {
        let falling = Enclosure::rational(&Rational::from(&least - exponent), bits).exp();
        sum = sum.add(&masses[*k].factor.enclosure(bits).map_or(falling.clone(), |factor| falling.mul(&factor)));
    }
    if are_all {
        return (sum, least);
    }
    // Each of the others is at most exp(-(bits + 32)) of the largest, which is a part of the sum, and there are fewer than 2^32 of them.
    let rest = sum.clone().times_power_of_two(-i64::from(bits));
    (sum.add(&Enclosure::double(0.0, bits).hull(&rest)), least)
}

/// The masses whose exponential is not far below the largest: all others are below it by a factor of exp(-reach) or more, and their factors are at most one. Each exponent
/// is that of the mass plus the slope times a number. `None` where there are few masses, or all of them are near.
fn near_among(masses: &[Mass], (slope, steps): (f64, &dyn Fn(usize) -> f64), reach: f64) -> Option<Vec<usize>> {
    if masses.len() < MANY {
        return None;
    }
    // With a bound on the roundings of both doubles, of the product and of the sum: below 8 2^-53 of the sizes.
    // A number as a factor is a part of the exponential: its logarithm errs by less than 2^-51 of itself, and of one.
    let outline = |(k, mass): (usize, &Mass)| {
        let ln_factor = match &mass.factor {
            // Below the range of doubles it is taken as one.
            Factor::Exactly(number) if number.to_f64() >= f64::MIN_POSITIVE && *number != 1 => {
                libm::log(number.to_f64())
            }
            _ => 0.0,
        };
        let (tilt, own) = (slope * steps(k), mass.exponent.to_f64() - ln_factor);
        let rounded = 1e-15 * (tilt.abs() + mass.exponent.to_f64().abs() + ln_factor.abs());
        (tilt + own, rounded + if ln_factor == 0.0 { f64::MIN_POSITIVE } else { 1e-15 })
    };
    let all: Vec<(f64, f64)> = masses.iter().enumerate().map(outline).collect();
    let least = all.iter().map(|(exponent, error)| exponent + error).fold(f64::INFINITY, f64::min);
    let is_at_most_one = |factor: &Factor| match factor {
        Factor::Exactly(number) => *number <= 1,
        Factor::OneMinusExp(_) => true,
        Factor::Response { weight, .. } => *weight <= 1,
        Factor::Sum(_) => false,
    };
    // One double further for each difference.
    let reach = reach * (1.0 + 1e-12) + 1e-12 * least.abs();
    let is_far = |k: usize| {
        let (exponent, error) = all[k];
        exponent - error - least > reach && is_at_most_one(&masses[k].factor)
    };
    let near: Vec<usize> = (0..all.len()).filter(|k| !is_far(*k)).collect();
    (least.is_finite() && near.len() < masses.len()).then_some(near)
}

/// The losses and masses of one count in doubles.
#[derive(Clone, Debug)]
pub(crate) struct InDoubles {
    pub losses: Vec<f64>,
    /// ln of the masses under P.
    pub ln_masses: Vec<f64>,
}

impl InDoubles {
    fn normalized(self) -> Self {
        let most = self.ln_masses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let ln_total = most + libm::log(self.ln_masses.iter().map(|ln| libm::exp(ln - most)).sum::<f64>());
        InDoubles { ln_masses: self.ln_masses.iter().map(|ln| ln - ln_total).collect(), ..self }
    }

    /// The largest size of a loss.
    pub(crate) fn size(&self) -> f64 {
        [self.losses.first(), self.losses.last()].into_iter().flatten().fold(0.0, |size, loss| size.max(loss.abs()))
    }

    /// Half the distance of the two largest losses: a tilt of many times one over this leaves the largest loss alone.
    pub(crate) fn least_step(&self) -> f64 {
        let apart = self.losses.windows(2).map(|pair| pair[0] - pair[1]).next();
        apart.unwrap_or(2.0 * self.size()) / 2.0
    }

    /// ln E[exp(c L)], mean and variance under the law tilted by c.
    pub(crate) fn cumulants(&self, c: f64) -> Cumulants {
        let terms = || self.losses.iter().zip(&self.ln_masses).map(|(loss, ln)| (loss, ln + c * loss));
        let peak = terms().map(|(_, ln)| ln).fold(f64::NEG_INFINITY, f64::max);
        let mut sums = [0.0; 3];
        for (loss, ln) in terms() {
            let mass = libm::exp(ln - peak);
            sums = [sums[0] + mass, sums[1] + mass * loss, sums[2] + mass * loss * loss];
        }
        let [mass, first, second] = sums;
        let mean = first / mass;
        Cumulants { ln_mgf: peak + libm::log(mass), mean, variance: (second / mass - mean * mean).max(0.0) }
    }
}
