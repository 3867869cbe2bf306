//! The outcomes of one count under both hypotheses, listed from the parameters of its noise.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::OnceLock,
};

use rug::Rational;

use super::ends::Ends;
use crate::{
    law::{KeyNoise, Law, PerturbationTable, UnknownKey},
    numeric::Enclosure,
};

/// Bits of numbers that are rounded to doubles afterwards.
const BITS: u32 = 80;
/// Outcomes of a table are listed up to this number.
const MOST: usize = 20_000;
/// Values of noise on the integers are listed up to this size.
const MOST_VALUES: f64 = 100_000.0;
/// More outcomes than these are merged to about as many.
const MOST_APART: usize = 4_000;
/// Noise beyond this many standard deviations, or scales, is not listed: e^(-DEVIATIONS^2 / 2) is 10^-43.
const DEVIATIONS: f64 = 14.0;
/// Intervals of continuous noise.
const INTERVALS: i64 = 1_000;

/// Outcomes that both hypotheses can have, or an interval of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// The probability under the first hypothesis.
    pub p: Ends,
    /// The probability under the second.
    pub q: Ends,
    /// The least and the largest ln(p / q) of single outcomes.
    pub loss: Ends,
}

/// All outcomes of one count.
#[derive(Clone, Debug, Default)]
pub(super) struct Listed {
    pub common: Vec<Outcome>,
    /// The probability of outcomes that the other hypothesis cannot have: of the first, and of the second.
    pub alone: [Ends; 2],
    /// At most the probability of all outcomes that are not listed: under the first hypothesis, and under the second.
    pub beyond: [f64; 2],
    /// Whether the hypotheses exchanged are the same pair.
    pub is_symmetric: bool,
    /// The variance and the range of the finite losses, once they are needed, and the distance of a lattice; approximately.
    pub outline: OnceLock<(f64, [f64; 2])>,
    pub lattice: OnceLock<Option<f64>>,
}

impl Listed {
    /// Both hypotheses exchanged.
    pub fn exchanged(&self) -> Self {
        let of = |one: &Outcome| Outcome { p: one.q, q: one.p, loss: one.loss.negated() };
        let ([first, second], [p, q]) = (self.alone, self.beyond);
        let common = self.common.iter().map(of).collect();
        let is_symmetric = self.is_symmetric;
        Listed { common, alone: [second, first], beyond: [q, p], is_symmetric, ..Listed::default() }
    }

    /// From exact probabilities under both.
    fn of_probabilities(all: impl IntoIterator<Item = (Rational, Rational)>) -> Option<Self> {
        let mut listed = Listed::default();
        let mut alone = [Rational::new(), Rational::new()];
        for (p, q) in all {
            match (p == 0, q == 0) {
                (true, true) => {}
                (false, true) => alone[0] += p,
                (true, false) => alone[1] += q,
                (false, false) => {
                    let loss = Ends::of_enclosure(&Enclosure::rational(&Rational::from(&p / &q), BITS).ln());
                    listed.common.push(Outcome { p: Ends::of_rational(&p), q: Ends::of_rational(&q), loss });
                }
            }
            if listed.common.len() > MOST {
                return None;
            }
        }
        listed.alone = alone.each_ref().map(Ends::of_rational);
        Some(listed)
    }
}

/// The pairs that a count with this noise may have: one for each change that the data can decide on, with the number of records that make it. A record changes
/// a count by at most `one`, or by exactly that, and all that change the same count by at most `shift`. `None` where they are not listed.
pub(super) fn pairs(law: &Law, shift: u64, one: u64, is_exact: bool) -> Option<Vec<(u64, Listed)>> {
    let from = if is_exact { shift } else { 1 };
    let records = |change: u64| change.div_ceil(one.max(1));
    match law {
        Law::Table(table) => {
            let masses: BTreeMap<i64, Rational> = table.masses().map(|(value, p)| (value, p.clone())).collect();
            if masses.len().saturating_mul(shift as usize) > MOST {
                return None;
            }
            (from..=shift)
                .map(|change| Some((records(change), of_table(&masses, i64::try_from(change).ok()?)?)))
                .collect()
        }
        Law::Perturbation(table) => of_rows(table, from..=shift, records),
        Law::UnknownKey(key) => {
            let mut all = Vec::new();
            // Of the changes by as many records the largest is the worst.
            for change in (1..=records(shift)).map(|records| records.saturating_mul(one).min(shift)) {
                let known = of_law(&law_of_key(key.noise()), change);
                let (known, new) = known.zip(new_key(key, change))?;
                all.extend([(records(change), new), (records(change), known)]);
            }
            Some(all)
        }
        // Of the changes by as many records the largest is the worst.
        Law::Staircase { .. } if !is_exact && shift > one => (1..=records(shift))
            .map(|records| Some((records, of_law(law, records.saturating_mul(one).min(shift))?)))
            .collect(),
        Law::Sampled(sampled) => {
            let all = pairs(sampled.law(), shift, one, is_exact)?;
            Some(all.into_iter().map(|(records, listed)| (records, on_samples(&listed, sampled.rate()))).collect())
        }
        // Of log-concave noise the largest change is the worst, so that its pair is the only one.
        other => of_law(other, shift).map(|listed| vec![(records(shift), listed)]),
    }
}

/// With the record, an output is that of the sample with it or, with the other probability, that without it.
fn on_samples(listed: &Listed, rate: &Rational) -> Listed {
    let (rate, rest) = (Enclosure::rational(rate, BITS), Enclosure::rational(&Rational::from(1 - rate), BITS));
    let ends = [&rate, &rest].map(Ends::of_enclosure);
    let of = |one: &Outcome| {
        // ln(1 - g + g p / q) of both ends of p / q.
        let loss = [one.loss.lower, one.loss.upper]
            .map(|loss| Ends::of_enclosure(&rest.add(&rate.mul(&Enclosure::double(loss, BITS).exp())).ln()));
        let p = one.p.times(ends[0]).plus(one.q.times(ends[1]));
        Outcome { p, q: one.q, loss: Ends { lower: loss[0].lower, upper: loss[1].upper } }
    };
    let mut common: Vec<Outcome> = listed.common.iter().map(of).collect();
    let [first, second] = listed.alone;
    if second.upper > 0.0 {
        common.push(Outcome { p: second.times(ends[1]), q: second, loss: Ends::of_enclosure(&rest.ln()) });
    }
    let [p, q] = listed.beyond.map(|most| Ends { lower: 0.0, upper: most });
    let beyond = [p.times(ends[0]).plus(q.times(ends[1])).upper, q.upper];
    Listed { common, alone: [first.times(ends[0]), Ends::default()], beyond, ..Listed::default() }
}

/// A key without another record: shown only if the record is there.
fn new_key(key: &UnknownKey, change: u64) -> Option<Listed> {
    let hidden = hidden(key.noise(), &Rational::from(key.threshold() - change))?;
    let one = Ends { lower: 1.0, upper: 1.0 };
    let common = (hidden.lower > 0.0).then(|| Outcome {
        p: hidden,
        q: one,
        loss: Ends::of_enclosure(&hidden.enclosure().ln()),
    })?;
    Some(Listed { common: vec![common], alone: [hidden.complement(), Ends::default()], ..Listed::default() })
}

/// Noise by its masses: with the record the count is larger by the change.
fn of_table(masses: &BTreeMap<i64, Rational>, change: i64) -> Option<Listed> {
    let mass = |value: Option<i64>| value.and_then(|value| masses.get(&value)).cloned().unwrap_or_default();
    let with = masses.iter().map(|(value, p)| (p.clone(), mass(value.checked_add(change))));
    // What only the smaller count can show.
    let without = masses.iter().filter(|(value, _)| mass(value.checked_sub(change)) == 0);
    Listed::of_probabilities(with.chain(without.map(|(_, q)| (Rational::new(), q.clone()))))
}

/// Each pair of rows i and i + change, once where several are the same. The last rows, a period of them, are those of all larger counts as well, moved along.
fn of_rows(
    table: &PerturbationTable,
    changes: std::ops::RangeInclusive<u64>,
    records: impl Fn(u64) -> u64,
) -> Option<Vec<(u64, Listed)>> {
    let mut rows: BTreeMap<u64, BTreeMap<u64, Rational>> = BTreeMap::new();
    for (i, j, p) in table.entries() {
        rows.entry(i).or_default().insert(j, p.clone());
    }
    let last = *rows.keys().last()?;
    let base = table.base().and_then(|base| base.numer().to_u64());
    let row = |i: u64| -> BTreeMap<u64, Rational> {
        // Random rounding: up with the residue over the base.
        if let Some(base) = base {
            let up = Rational::from((i % base, base));
            let below = i - i % base;
            let both = [(below, Rational::from(1 - &up)), (below + base, up)];
            return both.into_iter().filter(|(_, p)| *p > 0).collect();
        }
        // One period at a time down to a count that has a row.
        let mut own = i;
        while own > last {
            own -= table.period();
        }
        rows.get(&own).into_iter().flatten().map(|(j, p)| (j + i - own, p.clone())).collect()
    };
    let (mut all, mut seen) = (Vec::new(), BTreeSet::new());
    for change in changes {
        for i in 0..=last {
            let (with, without) = (row(i + change), row(i));
            let mut both: BTreeMap<u64, (Rational, Rational)> = BTreeMap::new();
            with.into_iter().for_each(|(j, p)| both.entry(j).or_default().0 = p);
            without.into_iter().for_each(|(j, q)| both.entry(j).or_default().1 = q);
            let mut both: Vec<(Rational, Rational)> = both.into_values().collect();
            both.sort();
            if seen.insert((records(change), both.clone())) {
                all.push((records(change), Listed::of_probabilities(both)?));
            }
            if all.len() > 200 {
                return None;
            }
        }
    }
    Some(all)
}

fn law_of_key(noise: &KeyNoise) -> Law {
    match noise.clone() {
        KeyNoise::DiscreteLaplace(epsilon) => Law::DiscreteLaplace { epsilon },
        KeyNoise::DiscreteGaussian(sigma2) => Law::DiscreteGaussian { sigma2 },
        KeyNoise::Laplace(scale) => Law::Laplace { scale },
        KeyNoise::Gaussian(sigma2) => Law::Gaussian { sigma2 },
    }
}

/// P[noise < threshold].
fn hidden(noise: &KeyNoise, threshold: &Rational) -> Option<Ends> {
    match noise {
        KeyNoise::Gaussian(sigma2) => Some(Ends::of_enclosure(&tail_of_normal(&Rational::from(-threshold), sigma2))),
        KeyNoise::Laplace(scale) => {
            // exp(-|x| / scale) / 2 of the tail on the side of x.
            let size = Enclosure::rational(&(Rational::from(threshold.abs_ref()) / scale), BITS);
            let tail = Ends::of_enclosure(&size.negate().exp().times_power_of_two(-1));
            Some(if *threshold <= 0 { tail } else { tail.complement() })
        }
        KeyNoise::DiscreteLaplace(_) | KeyNoise::DiscreteGaussian(_) => {
            // Noise is below the threshold where it is at most the next smaller integer; the law is symmetric.
            let most = Rational::from(threshold.ceil_ref()).to_f64() - 1.0;
            Weights::of_law(&law_of_key(noise), None).map(|weights| weights.at_most(most))
        }
    }
}

/// Both hypotheses of noise of which the largest change is the worst.
fn of_law(law: &Law, shift: u64) -> Option<Listed> {
    let change = shift as f64;
    match law {
        Law::DiscreteGaussian { .. } | Law::DiscreteLaplace { .. } | Law::Staircase { .. } => {
            Weights::of_law(law, None).map(|weights| weights.moved_by(change))
        }
        Law::TruncatedLaplace { epsilon, bound } => {
            let whole = Law::DiscreteLaplace { epsilon: epsilon.clone() };
            Weights::of_law(&whole, Some(*bound)).map(|weights| weights.moved_by(change))
        }
        Law::TruncatedGaussian { sigma2, bound } => {
            let whole = Law::DiscreteGaussian { sigma2: sigma2.clone() };
            Weights::of_law(&whole, Some(*bound)).map(|weights| weights.moved_by(change))
        }
        Law::Gaussian { sigma2 } => Some(normal(sigma2, shift, &Rational::from(1))),
        Law::SampledGaussian { rate, sigma2 } => Some(normal(sigma2, shift, rate)),
        Law::Laplace { scale } => Some(laplace(&(Rational::from(shift) / scale))),
        // About one record alone.
        Law::RandomizedResponse { .. } | Law::Approximate { .. } | Law::Pair(_) if shift > 1 => None,
        Law::RandomizedResponse { epsilon, answers } => Some(responses(epsilon, *answers)),
        // Each step of the change spends epsilon.
        Law::Pure { epsilon } => Some(responses(&Rational::from(epsilon * shift), 2)),
        Law::Approximate { epsilon, delta } => {
            let mut listed = responses(epsilon, 2);
            let rest = Ends::of_rational(&Rational::from(1 - delta));
            for outcome in &mut listed.common {
                (outcome.p, outcome.q) = (outcome.p.times(rest), outcome.q.times(rest));
            }
            listed.alone = [Ends::of_rational(delta); 2];
            Some(listed)
        }
        Law::Pair(pair) => Listed::of_probabilities(pair.outcomes()),
        // As many people have as many times the range.
        Law::BoundedRange { epsilon } => Some(bounded_range(&Rational::from(epsilon * shift))),
        _ => None,
    }
}

/// The true answer with probability e^epsilon / (e^epsilon + answers - 1), and each other with the rest: the two that differ, and all others together.
fn responses(epsilon: &Rational, answers: u64) -> Listed {
    let epsilon = Enclosure::rational(epsilon, BITS);
    let all = epsilon.exp().add(&Enclosure::rational(&Rational::from(answers - 1), BITS));
    let (high, low) = (Ends::of_enclosure(&epsilon.exp().div(&all)), Ends::of_enclosure(&all.recip()));
    let loss = Ends::of_enclosure(&epsilon);
    let none = Ends::default();
    let mut common = vec![Outcome { p: high, q: low, loss }, Outcome { p: low, q: high, loss: loss.negated() }];
    if answers > 2 {
        let others = Ends::of_enclosure(&Enclosure::rational(&Rational::from(answers - 2), BITS).div(&all));
        common.push(Outcome { p: others, q: others, loss: none });
    }
    Listed { common, is_symmetric: true, ..Listed::default() }
}

/// Any mechanism whose losses are within this range of one another: by its dominating pair, whose loss exceeds l with the probability (1 - e^((l - epsilon) / 2)) / (1 -
/// e^-epsilon) for -epsilon < l < epsilon, in intervals.
fn bounded_range(epsilon: &Rational) -> Listed {
    let bits = |value: &Rational| Enclosure::rational(value, BITS);
    let all = bits(&Rational::from(-epsilon)).exp_m1().negate();
    let at = |k: i64| Rational::from(epsilon * (2 * k - INTERVALS)) / INTERVALS;
    let mut listed = Listed { is_symmetric: true, ..Listed::default() };
    for k in 0..INTERVALS {
        let (a, b) = (at(k), at(k + 1));
        // (e^((b - epsilon) / 2) - e^((a - epsilon) / 2)) / (1 - e^-epsilon); the density of the second is e^-l times that, so that its interval is the mirror image.
        let mass = |a: &Rational, b: &Rational| {
            let inner = bits(&(Rational::from(a - b) / 2_u32)).exp_m1().negate();
            Ends::of_enclosure(&bits(&(Rational::from(b - epsilon) / 2_u32)).exp().mul(&inner).div(&all))
        };
        let loss = Ends { lower: Ends::of_rational(&a).lower, upper: Ends::of_rational(&b).upper };
        listed.common.push(Outcome { p: mass(&a, &b), q: mass(&Rational::from(-&b), &Rational::from(-&a)), loss });
    }
    listed
}

/// The exponent of a mass, in units of `a`.
#[derive(Clone, Copy)]
enum Units {
    /// x^2
    Square,
    /// |x|
    Size,
    /// floor((|x| + period - first) / period)
    Stairs { period: f64, first: f64 },
}

impl Units {
    /// The value at an integer below 10^6, exactly.
    fn value(self, x: f64) -> f64 {
        match self {
            Units::Square => x * x,
            Units::Size => x.abs(),
            Units::Stairs { period, first } => ((x.abs() + period - first) / period).floor(),
        }
    }

    /// The largest number of neighboring values, on one side of zero, that have one exponent.
    fn values(self) -> f64 {
        if let Units::Stairs { period, .. } = self { period } else { 1.0 }
    }
}

/// Unnormalized masses exp(-a x^2), exp(-a |x|), or those of stairs, of noise on the integers: of x = 0, 1, ...
struct Weights {
    weights: Vec<Ends>,
    /// At most the sum of all beyond the last one, on one side.
    tail: f64,
    /// The sum of all, on both sides.
    sum: Ends,
    a: Ends,
    units: Units,
    /// The largest absolute value, where there is one.
    bound: Option<f64>,
}

impl Weights {
    /// The weights of discrete Gaussian, Laplace or staircase noise, on -bound, ..., bound alone where that is given; `None` for other noise, and where there are too many.
    fn of_law(law: &Law, bound: Option<u64>) -> Option<Self> {
        let (a, units, reach) = match law {
            Law::DiscreteGaussian { sigma2 } => {
                (Rational::from(sigma2 * 2_u32).recip(), Units::Square, DEVIATIONS * sigma2.to_f64().sqrt())
            }
            Law::DiscreteLaplace { epsilon } => (epsilon.clone(), Units::Size, 7.0 * DEVIATIONS / epsilon.to_f64()),
            Law::Staircase { epsilon, period, first, .. } => {
                let units = Units::Stairs { period: *period as f64, first: *first as f64 };
                (epsilon.clone(), units, (7.0 * DEVIATIONS / epsilon.to_f64() + 1.0) * *period as f64)
            }
            _ => return None,
        };
        let bound = bound.map(|bound| bound as f64);
        let last = (reach.ceil() + 2.0).min(bound.unwrap_or(f64::MAX));
        if last > MOST_VALUES {
            return None;
        }
        // w(x + 1) = w(x) r(x), and r(x + 1) = r(x) c with c = exp(-2 a) or 1; on a stair w(x + 1) = w(x).
        let power = |times: i32| Enclosure::rational(&Rational::from(&a * -times), BITS).exp().approximate();
        let (mut ratio, factor) = (power(1), if matches!(units, Units::Square) { power(2) } else { 1.0 });
        let (mut weight, mut weights) = (1.0_f64, Vec::new());
        for x in 0..=last as u64 {
            // r(x) has at most 2 x + 1 roundings, each below a relative 2^-53, so w(x) has at most x^2 + 2 x: twice that pays for their products.
            let x = x as f64;
            weights.push(Ends::around(weight, (x * x + 2.0 * x + 4.0) * f64::EPSILON));
            if units.value(x + 1.0) > units.value(x) {
                weight *= ratio;
            }
            ratio *= factor;
        }
        // Ratios do not rise, so the sum beyond is at most w / (1 - r), times the values of a stair; twice that pays for the roundings.
        let is_whole = bound.is_some_and(|bound| bound <= last);
        let tail = if is_whole { 0.0 } else { 2.0 * units.values() * weight / (1.0 - ratio) + f64::MIN_POSITIVE };
        if !tail.is_finite() {
            return None;
        }
        let sum = sum_of(&weights[1..]);
        let sum = weights[0].plus(sum).plus(sum).plus(Ends { lower: 0.0, upper: (2.0 * tail).next_up() });
        Some(Weights { weights, tail, sum, a: Ends::of_rational(&a), units, bound })
    }

    /// The probability of this value, of absolute value at most the last one listed.
    fn mass(&self, value: i64) -> Ends {
        self.weights[value.unsigned_abs() as usize].over(self.sum)
    }

    /// The pair of a count that is larger by the change with the record: noise x is x + change for the smaller count.
    fn moved_by(&self, change: f64) -> Listed {
        let last = self.weights.len() as i64 - 1;
        let mut listed = Listed { is_symmetric: true, ..Listed::default() };
        let mut alone = Ends::default();
        for x in -last..=last {
            let (p, x) = (self.mass(x), x as f64);
            let with = x + change;
            if self.bound.is_some_and(|bound| with > bound) {
                alone = alone.plus(p);
                continue;
            }
            // ln p(x) - ln p(x + s) = a times a difference of integers that are exact in doubles.
            let loss = self.a.scaled(self.units.value(with) - self.units.value(x));
            // q is that of the value x + change, or p e^-loss where that is not listed.
            let q = if with.abs() <= last as f64 {
                self.mass(with as i64)
            } else {
                p.times(Ends::of_enclosure(&loss.enclosure().negate().exp()))
            };
            listed.common.push(Outcome { p, q, loss });
        }
        // By symmetry the other hypothesis has as much that the first cannot have, and as much that is not listed.
        listed.alone = [alone; 2];
        let beyond = Ends { lower: 0.0, upper: 2.0 * self.tail }.over(self.sum).upper;
        // Of the second hypothesis, all outcomes further out than the last by the change are not listed either: those below -last + change.
        let missing = (self.bound.is_none() || self.tail > 0.0).then(|| self.below(change as i64 - last));
        listed.beyond = [beyond, beyond + missing.unwrap_or_default()];
        listed.common = merged(listed.common);
        listed
    }

    /// At most P[x < value].
    fn below(&self, value: i64) -> f64 {
        let last = self.weights.len() as i64 - 1;
        let listed: Vec<Ends> = (-last..value.min(last + 1)).map(|x| self.weights[x.unsigned_abs() as usize]).collect();
        let rest = Ends { lower: 0.0, upper: if value > last { 2.0 * self.tail } else { self.tail } };
        sum_of(&listed).plus(rest).over(self.sum).upper
    }

    /// P[x <= most].
    fn at_most(&self, most: f64) -> Ends {
        let last = self.weights.len() as f64 - 1.0;
        let tail = Ends { lower: 0.0, upper: self.tail };
        // The sum on the side of the shorter tail.
        let (is_below, from) = if most < 0.0 { (true, -most) } else { (false, most + 1.0) };
        let listed = if from > last { Ends::default() } else { sum_of(&self.weights[from as usize..]) };
        let share = listed.plus(tail).over(self.sum);
        if is_below { share } else { share.complement() }
    }
}

/// Neighboring outcomes in intervals, where there are many.
fn merged(all: Vec<Outcome>) -> Vec<Outcome> {
    let together = all.len().div_ceil(MOST_APART).max(1);
    let of = |some: &[Outcome]| {
        let of_loss = |end: fn(f64, f64) -> f64, of: fn(&Outcome) -> f64| some.iter().map(of).reduce(end);
        let (lower, upper) = (of_loss(f64::min, |one| one.loss.lower), of_loss(f64::max, |one| one.loss.upper));
        let sum = |of: fn(&Outcome) -> Ends| some.iter().map(of).fold(Ends::default(), Ends::plus);
        let loss = Ends { lower: lower.unwrap_or_default(), upper: upper.unwrap_or_default() };
        Outcome { p: sum(|one| one.p), q: sum(|one| one.q), loss }
    };
    if together == 1 { all } else { all.chunks(together).map(of).collect() }
}

fn sum_of(weights: &[Ends]) -> Ends {
    // From the smallest on.
    weights.iter().rev().fold(Ends::default(), |sum, one| sum.plus(*one))
}

/// Continuous Gaussian noise, on a Poisson sample of this rate or on all records: intervals between which the likelihood ratio 1 - rate + rate exp((2 y s - s^2) /
/// (2 sigma2)) rises with y.
fn normal(sigma2: &Rational, shift: u64, rate: &Rational) -> Listed {
    let s = Rational::from(shift);
    let deviation = sigma2.to_f64().sqrt();
    let edges = edges_of_normal(&s, deviation);
    let (rate_ends, rest) = (Enclosure::rational(rate, BITS), Enclosure::rational(&Rational::from(1 - rate), BITS));
    let ratio = |y: &Rational| {
        let exponent = Rational::from(y * &s) - Rational::from(s.square_ref()) / 2_u32;
        rest.add(&rate_ends.mul(&Enclosure::rational(&(exponent / sigma2), BITS).exp())).ln()
    };
    // P[noise > |x|] at each edge, around each mean; the probability of an interval is that between both, or what both leave. Few of the |x| differ.
    let mut known: BTreeMap<Rational, Enclosure> = BTreeMap::new();
    let mut tails = |mean: &Rational| -> Vec<(bool, Enclosure)> {
        let of = |edge: &Rational| {
            let x = Rational::from(edge - mean);
            let is_left = x < 0;
            let tail = known.entry(x.abs()).or_insert_with_key(|x| tail_of_normal(x, sigma2));
            (is_left, tail.clone())
        };
        edges.iter().map(of).collect()
    };
    let within = |ends: &[(bool, Enclosure)]| {
        let [(is_left, a), (is_also_left, b)] = ends else { return Enclosure::double(0.0, BITS) };
        let within = match (is_left, is_also_left) {
            (true, true) => b.sub(a),
            (true, false) => Enclosure::double(1.0, BITS).sub(a).sub(b),
            _ => a.sub(b),
        };
        within.max(&Enclosure::double(0.0, BITS))
    };
    let mut listed = Listed { is_symmetric: *rate == 1, ..Listed::default() };
    let (around_zero, around_shift) = (tails(&Rational::new()), tails(&s));
    let mut losses = edges.iter().map(ratio);
    let mut low = losses.next();
    for (without, with) in around_zero.windows(2).zip(around_shift.windows(2)) {
        let (Some(least), Some(most)) = (low, losses.next()) else { break };
        let (q, moved) = (within(without), within(with));
        let p = rest.mul(&q).add(&rate_ends.mul(&moved));
        let loss = Ends { lower: Ends::of_enclosure(&least).lower, upper: Ends::of_enclosure(&most).upper };
        listed.common.push(Outcome { p: Ends::of_enclosure(&p), q: Ends::of_enclosure(&q), loss });
        low = Some(most);
    }
    // Both laws are within DEVIATIONS of their means but for this much on each side.
    let tail =
        Ends::of_enclosure(&tail_of_normal(&Rational::from_f64(DEVIATIONS * deviation).unwrap_or_default(), sigma2));
    // The edges are rounded: a little more.
    listed.beyond = [2.0 * tail.upper * 1.001; 2];
    listed
}

/// The ends of intervals from `DEVIATIONS` below zero to as many above the shift: multiples of one width, which divides the shift where the shift is as long as an interval, so that
/// most distances from either mean are those of other ends.
fn edges_of_normal(shift: &Rational, deviation: f64) -> Vec<Rational> {
    let reach = DEVIATIONS * deviation;
    let width = (2.0 * reach + shift.to_f64()) / INTERVALS as f64;
    let parts = (shift.to_f64() / width).ceil();
    let width = match parts > 1.0 {
        true => shift / Rational::from_f64(parts).unwrap_or_else(|| Rational::from(1)),
        false => Rational::from_f64(width).unwrap_or_default(),
    };
    let most = |x: f64| (x / width.to_f64()).ceil() as i64;
    (-most(reach)..=most(reach + shift.to_f64())).map(|k| Rational::from(&width * k)).collect()
}

/// P[N(0, sigma2) > x].
fn tail_of_normal(x: &Rational, sigma2: &Rational) -> Enclosure {
    let deviation = Enclosure::rational(&Rational::from(sigma2 * 2_u32), BITS).sqrt();
    Enclosure::rational(x, BITS).div(&deviation).erfc().times_power_of_two(-1)
}

/// Continuous Laplace noise of scale one and a change by s: a loss of s above zero, of -s below -s, and -2 y - s, which falls, between; each y as far from -s as
/// from the other side.
fn laplace(s: &Rational) -> Listed {
    let bits = |value: &Rational| Enclosure::rational(value, BITS);
    let half = |enclosure: Enclosure| enclosure.times_power_of_two(-1);
    // The first hypothesis has its center at 0, the second at -s. Above zero: 1/2 and e^-s / 2.
    let above = Outcome {
        p: Ends { lower: 0.5, upper: 0.5 },
        q: Ends::of_enclosure(&half(bits(&Rational::from(-s)).exp())),
        loss: Ends::of_rational(s),
    };
    let below = Outcome { p: above.q, q: above.p, loss: above.loss.negated() };
    let mut listed = Listed { common: vec![above, below], is_symmetric: true, ..Listed::default() };
    // At -t, 0 < t < s: densities e^-t / 2 and e^-(s - t) / 2, loss s - 2 t.
    let at = |k: i64| s * Rational::from((k, INTERVALS));
    for k in 0..INTERVALS {
        let (near, far) = (at(k), at(k + 1));
        let mass = |a: &Rational, b: &Rational| {
            // (e^-a - e^-b) / 2 = e^-a (1 - e^-(b - a)) / 2 for a < b.
            let inner = bits(&Rational::from(a - b)).exp_m1().negate();
            Ends::of_enclosure(&half(bits(&Rational::from(-a)).exp().mul(&inner)))
        };
        let of_loss = |t: &Rational| Ends::of_rational(&(s - Rational::from(t * 2_u32)));
        let (p, q) = (mass(&near, &far), mass(&Rational::from(s - &far), &Rational::from(s - &near)));
        let loss = Ends { lower: of_loss(&far).lower, upper: of_loss(&near).upper };
        listed.common.push(Outcome { p, q, loss });
    }
    listed
}
