//! The Gibbs sampler of Section 3.2, for comparison: its limit, and a seeded run.
//!
//! It alternates between X_1 given X_2 (3.8) and X_2 given X_1 (3.9). In the paper's text the first keeps the
//! constraint k_1 <= k_2. A sampler without the constraint can draw X_1 = m + 1 beside X_2 = m. It has no joint law
//! behind it, but still a limit: X_1 alone is a chain with two states. [`GibbsConstraint`] selects one of the two. Both
//! use the approximation (3.7), where the sum of the other groups' noise is one discrete Gaussian.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use rug::Rational;

use crate::{
    error::{Error, Result},
    numeric::{Enclosure, precision::bits},
    risk::{
        check_prior, check_rho,
        decision::NoisyOutput,
        exp, odds,
        others::{self, MassTable},
        plus_at_most, single,
    },
};

/// Whether X_1 is drawn under k_1 <= k_2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GibbsConstraint {
    /// As in (3.8).
    Kept,
    /// As in the printed results.
    LeftOut,
}

/// The sampler for two levels, a target that is unique in its group (m = 0), and the uniform prior of X_2 >= X_1, or
/// the one up to a greatest X_2.
#[derive(Clone, Debug)]
pub struct GibbsSampler {
    /// The prior probability of X_1 = 1.
    pub prior: Rational,
    /// The rho of the two levels.
    pub rhos: [Rational; 2],
    /// The number of other groups.
    pub others: u64,
    /// Whether X_1 is drawn under k_1 <= k_2.
    pub constraint: GibbsConstraint,
}

/// The limit of the sampler after an output.
#[derive(Clone, Debug)]
pub struct SamplerLimit {
    /// The share of draws with X_1 = 1.
    pub present: Enclosure,
    /// The shares of draws of X_2, from X_2 = 0.
    pub upper: Vec<Enclosure>,
}

/// The transition probabilities of X_1 from one round to the next.
struct Moves {
    /// `P[X_1 = 1 next | X_1 = 0 now]`, and the same from 1.
    to_one: [Enclosure; 2],
    /// The law of X_2 given X_1 = 0 and 1, from X_2 = 0.
    upper: [Vec<Enclosure>; 2],
}

/// The decision by the sampler's limit, over all outputs, if X_1 = 1: certified.
#[derive(Clone, Debug)]
pub struct LimitDecision {
    /// The probability of the decision for X_1 = 1.
    pub correct: Enclosure,
    /// The part of it that changes a wrong decision by x_1 alone.
    pub gained: Enclosure,
    /// The probability that it changes a correct decision by x_1 alone.
    pub lost: Enclosure,
}

impl GibbsSampler {
    fn check(&self) -> Result<()> {
        check_prior(&self.prior)?;
        self.rhos.iter().try_for_each(check_rho)?;
        let least = Rational::from((1, 10_000));
        if self.rhos.iter().any(|rho| *rho < least) || self.others == 0 || self.others > 10_000 {
            let expected = "1 to 10^4 other groups, and both rho at least 1e-4, for the sampler";
            return Err(Error::out_of_range("the number of other groups", self.others, expected));
        }
        Ok(())
    }

    /// The transition probabilities after the output, in balls of `bits` bits.
    fn moves(&self, noisy: [i64; 3], bits: u32) -> Moves {
        let [x1, x2, y] = noisy;
        let upper = self.upper(x2, y, bits);
        let to_one = [0, 1].map(|k: usize| self.to_one(x1, y, &upper[k], bits));
        Moves { to_one, upper }
    }

    /// (3.9): the law of X_2 given X_1 = 0 and 1.
    fn upper(&self, x2: i64, y: i64, bits: u32) -> [Vec<Enclosure>; 2] {
        let [rho1, rho2] = &self.rhos;
        let rate = rho1 / Rational::from(self.others);
        // A discrete Gaussian of rate rho_2 + rho_1 / d about its mean, truncated below k_1.
        let total = Rational::from(rho2 + &rate);
        [0_i64, 1].map(|k1| {
            let mean = (Rational::from(x2) * rho2 + Rational::from(y + k1) * &rate) / &total;
            let peak = mean.to_f64().round().max(k1 as f64) as i64;
            let reach = (f64::from(bits) * std::f64::consts::LN_2 / total.to_f64()).sqrt().ceil() as i64 + 1;
            let offset = (&mean - Rational::from(peak)).square();
            let weight =
                |k2: i64| exp(&((Rational::from(&offset) - (&mean - Rational::from(k2)).square()) * &total), bits);
            let first = (peak - reach).max(k1);
            let mut weights = vec![Enclosure::double(0.0, bits); first as usize];
            weights.extend((first..=peak + reach).map(weight));
            let sum = weights.iter().fold(Enclosure::double(0.0, bits), |sum, weight| sum.add(weight));
            // Relative to the weight 1 of the peak, both tails beyond the reach fall as exp(-total s (s - 1)) and
            // contribute at most 2^-bits times exp(total reach) (2 + 4 / sqrt(total)).
            let left_out = exp(&(-(Rational::from(reach) * (reach - 1)) * &total), 64)
                .mul(&Enclosure::double(2.0 + 4.0 / total.to_f64().sqrt(), 64));
            let inverse = plus_at_most(&sum, &left_out).recip();
            weights.iter().map(|weight| weight.mul(&inverse).clamp(0.0, 1.0)).collect()
        })
    }

    /// (3.8) averaged over a law of X_2: the probability that X_1 = 1 is drawn next.
    fn to_one(&self, x1: i64, y: i64, upper: &[Enclosure], bits: u32) -> Enclosure {
        let rate = &self.rhos[0] / Rational::from(self.others);
        let odds = Enclosure::rational(&odds(&self.prior), bits);
        let one = Enclosure::double(1.0, bits);
        let own = (Rational::from(2 * x1) - 1_u32) * &self.rhos[0];
        let mut sum = Enclosure::double(0.0, bits);
        let mut rest = one.clone();
        for (k2, share) in (0_i64..).zip(upper) {
            rest = rest.sub(share);
            if *share.upper() <= 0 || (k2 == 0 && self.constraint == GibbsConstraint::Kept) {
                continue;
            }
            // ln of the odds: rho_1 (2 x_1 - 1) + (rho_1 / d) ((y - k2)^2 - (y - k2 + 1)^2).
            let evidence = Rational::from(2 * (k2 - y) - 1) * &rate + &own;
            let against = exp(&-evidence, bits).div(&odds);
            sum = sum.add(&share.mul(&one.add(&against).recip()));
        }
        plus_at_most(&sum, &rest.clamp(0.0, 1.0)).clamp(0.0, 1.0)
    }

    /// The limit of the sampler after the noisy counts (x_1, x_2, y_1).
    pub fn limit(&self, noisy: [i64; 3], digits: u32) -> Result<SamplerLimit> {
        self.check()?;
        check_noisy(noisy)?;
        let bits = bits(digits, 56);
        let Moves { to_one: [up, stay], upper: [zero, one] } = self.moves(noisy, bits);
        // The stationary share s of X_1 = 1 solves s = (1 - s) up + s stay.
        let leave = Enclosure::double(1.0, bits).sub(&stay);
        let present = Enclosure::double(1.0, bits).add(&leave.div(&up)).recip();
        let absent = Enclosure::double(1.0, bits).sub(&present);
        let nothing = Enclosure::double(0.0, bits);
        let share = |law: &[Enclosure], k: usize| law.get(k).unwrap_or(&nothing).clone();
        let longest = zero.len().max(one.len());
        let upper = (0..longest).map(|k| absent.mul(&share(&zero, k)).add(&present.mul(&share(&one, k)))).collect();
        Ok(SamplerLimit { present, upper })
    }

    /// The least x_1 at which the limit is above 1/2, at each of the given outputs above and beside: a range of
    /// integers.
    pub fn thresholds(&self, outputs: &[NoisyOutput]) -> Result<Vec<(i64, i64)>> {
        self.check()?;
        let alone = single::Attack::new(self.prior.clone(), vec![self.rhos[0].clone()])?.threshold()?;
        let of = |output: &NoisyOutput| {
            check_noisy([0, output.x2, output.y1])?;
            Ok(match self.least_decided(output.x2, output.y1, alone) {
                Some(least) => (least, least),
                None => (i64::MIN, i64::MAX),
            })
        };
        outputs.iter().map(of).collect()
    }

    /// The least x_1 at which the limit is proven above 1/2, if it is proven not to be at x_1 - 1.
    fn least_decided(&self, x2: i64, y: i64, near: i64) -> Option<i64> {
        let law = self.upper(x2, y, 64);
        let one = Enclosure::double(1.0, 64);
        least_yes(near, |n: i64| {
            let [up, stay] = [0, 1].map(|k: usize| self.to_one(n, y, &law[k], 64));
            one.below(&up.add(&stay))
        })
    }

    /// The decision for X_1 = 1 if the limit is above 1/2, over all outputs with X_1 = 1 and the given X_2, to an
    /// absolute width of about 2^-share.
    ///
    /// The limit exceeds 1/2 if and only if up + stay > 1, and both grow with x_1.
    pub fn limit_decision(&self, x2_true: i64, share: u32) -> Result<LimitDecision> {
        self.check()?;
        let bits = 2 * share + 60;
        let [own, upper] = [0, 1].map(|level: usize| MassTable::of_one(&self.rhos[level], bits));
        let (own, upper) = (own?, upper?);
        let others = others::OtherGroups::new(self.rhos[0].clone(), self.others, others::SumLaw::Exact)?;
        let table = others.table(bits)?;
        let reach = |rate: f64| (f64::from(share) * std::f64::consts::LN_2 / rate).sqrt().ceil() as i64 + 1;
        let (reach2, reach_y) = (reach(self.rhos[1].to_f64()), reach(0.5 / others.sigma2().to_f64()));
        let alone = single::Attack::new(self.prior.clone(), vec![self.rhos[0].clone()])?.threshold()?;
        let zero = || Enclosure::double(0.0, bits);
        let (mut correct, mut gained, mut lost, mut visited) = (zero(), zero(), zero(), zero());
        let one = Enclosure::double(1.0, bits);
        let tail = |n: i64| own.between(n - 1, i64::MAX);
        for a in -reach2..=reach2 {
            for b in -reach_y..=reach_y {
                let mass = upper.stored(a).mul(&table.stored(b));
                visited = visited.add(&mass);
                let (x2, y) = (x2_true + a, x2_true - 1 + b);
                let threshold = self.least_decided(x2, y, alone);
                let before = tail(alone);
                let after = match threshold {
                    Some(n) if n == alone => before.clone(),
                    Some(n) => tail(n),
                    None => Enclosure::double(0.0, 64).hull(&one),
                };
                correct = correct.add(&mass.mul(&after));
                if threshold != Some(alone) {
                    let change = after.sub(&before);
                    gained = gained.add(&mass.mul(&change.max(&zero())));
                    lost = lost.add(&mass.mul(&change.negate().max(&zero())));
                }
            }
        }
        let rest = one.sub(&visited).clamp(0.0, 1.0);
        let close = |value: &Enclosure| plus_at_most(value, &rest).clamp(0.0, 1.0);
        Ok(LimitDecision { correct: close(&correct), gained: close(&gained), lost: close(&lost) })
    }

    /// (3.9) in doubles: the law of X_2 up to `most` given X_1, without masses too small to change a sum of doubles.
    fn upper_approx(&self, x2: i64, y: i64, k1: i64, most: i64) -> Vec<(i64, f64)> {
        let (rho2, rate) = (self.rhos[1].to_f64(), self.rhos[0].to_f64() / self.others as f64);
        let total = rho2 + rate;
        let mean = (x2 as f64 * rho2 + (y + k1) as f64 * rate) / total;
        let first = ((mean - 9.0 / total.sqrt()) as i64).max(k1).min(most);
        let last = first.max(((mean + 9.0 / total.sqrt()) as i64).min(most));
        let least = (mean.max(k1 as f64).min(most as f64) - mean).powi(2);
        let weight = |k2: i64| (k2, libm::exp(total * (least - (k2 as f64 - mean).powi(2))));
        let weights: Vec<(i64, f64)> = (first..=last).map(weight).collect();
        let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
        weights.into_iter().map(|(k2, weight)| (k2, weight / sum)).collect()
    }

    /// (3.8) in doubles, averaged over a law of X_2: the probability that X_1 = 1 is drawn next.
    fn to_one_approx(&self, x1: i64, y: i64, upper: &[(i64, f64)]) -> f64 {
        let (rho1, odds) = (self.rhos[0].to_f64(), odds(&self.prior).to_f64());
        let rate = rho1 / self.others as f64;
        let one = |&(k2, share): &(i64, f64)| {
            if k2 == 0 && self.constraint == GibbsConstraint::Kept {
                return 0.0;
            }
            let evidence = rho1 * (2 * x1 - 1) as f64 + rate * (2 * (k2 - y) - 1) as f64;
            share / (1.0 + libm::exp(-evidence) / odds)
        };
        upper.iter().map(one).sum()
    }

    /// Whether the limit is above 1/2 at an x_1, in doubles: with the prior of X_2 uniform up to `most`.
    fn decides_approx(&self, x2: i64, y: i64, most: i64) -> impl Fn(i64) -> bool {
        let laws = [0, 1].map(|k1| self.upper_approx(x2, y, k1, most));
        move |x1| laws.iter().map(|law| self.to_one_approx(x1, y, law)).sum::<f64>() > 1.0
    }

    /// The least x_1 at which the limit is above 1/2, in doubles: an approximation, for plots. `None` if it is far from
    /// zero. With `most` the prior of X_2 is uniform up to it, otherwise unbounded.
    pub fn threshold_approx(&self, x2: i64, y: i64, most: Option<i64>) -> Result<Option<i64>> {
        const FURTHEST: i64 = 60;
        self.check()?;
        check_noisy([0, x2, y])?;
        let most = most.unwrap_or(i64::MAX).max(1);
        let decides = self.decides_approx(x2, y, most);
        Ok((-FURTHEST..=FURTHEST).find(|x1| decides(*x1)))
    }

    /// The probability that the limit decides for X_1 = 1 if that is true, over all outputs, in doubles: an
    /// approximation, for plots. Outputs of probability below 10^-9 are omitted.
    pub fn limit_decision_approx(&self, x2_true: i64) -> Result<f64> {
        self.check()?;
        let others = others::OtherGroups::new(self.rhos[0].clone(), self.others, others::SumLaw::Exact)?;
        let (own, upper, table) =
            (MassTable::of_one(&self.rhos[0], 40)?, MassTable::of_one(&self.rhos[1], 40)?, others.table(40)?);
        // x_1 = 1 + noise, and the noise is at least n - 1 with this probability.
        let tails: Vec<f64> = (-61..=60).map(|n| own.between(n - 1, i64::MAX).approximate()).collect();
        let mut correct = 0.0;
        for a in upper.first()..=upper.last() {
            for b in table.first()..=table.last() {
                let mass = upper.stored(a).approximate() * table.stored(b).approximate();
                if mass < 1e-9 {
                    continue;
                }
                let (x2, y) = (x2_true + a, x2_true - 1 + b);
                let decides = self.decides_approx(x2, y, i64::MAX);
                // It decides for X_1 = 1 from some x_1 on, which is near the threshold without the other counts.
                let from = match decides(1) {
                    true => (-60..1).rev().find(|x1| !decides(*x1)).map(|x1| x1 + 1),
                    false => (2..=60).find(|x1| decides(*x1)),
                };
                correct += mass * from.map_or(0.0, |from| tails[(from + 61) as usize]);
            }
        }
        Ok(correct)
    }

    /// A run of the sampler itself from a seed: the shares of draws with X_1 = 1 and of X_2 = 0, 1, ..., after a
    /// burn-in of one tenth as many draws. Its output is an estimate, never a certified result.
    pub fn run(&self, noisy: [i64; 3], draws: u32, seed: u64) -> Result<(f64, Vec<f64>)> {
        self.check()?;
        check_noisy(noisy)?;
        if draws == 0 {
            return Err(Error::out_of_range("the number of draws", draws, "1 or more"));
        }
        let laws = self.upper(noisy[1], noisy[2], 64);
        let laws = laws.map(|law| law.iter().map(Enclosure::approximate).collect::<Vec<f64>>());
        let [own, rate] = [self.rhos[0].to_f64(), self.rhos[0].to_f64() / self.others as f64];
        let odds = odds(&self.prior).to_f64();
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        let mut unit = move || (random.next_u64() >> 11) as f64 * 0.5_f64.powi(53);
        let (mut k1, mut ones) = (0_usize, 0_u32);
        let mut counts = vec![0_u32; laws[0].len().max(laws[1].len())];
        let discarded = draws / 10;
        for draw in 0..draws.saturating_add(discarded) {
            let mut left = unit();
            let found = laws[k1].iter().position(|share| {
                left -= share;
                left < 0.0
            });
            let k2 = found.unwrap_or(laws[k1].len() - 1);
            let evidence = own * (2 * noisy[0] - 1) as f64 + rate * (2 * (k2 as i64 - noisy[2]) - 1) as f64;
            let possible = k2 > 0 || self.constraint == GibbsConstraint::LeftOut;
            k1 = usize::from(possible && unit() < 1.0 / (1.0 + libm::exp(-evidence) / odds));
            if draw >= discarded {
                ones += k1 as u32;
                counts[k2] += 1;
            }
        }
        let share = |count: u32| f64::from(count) / f64::from(draws);
        Ok((share(ones), counts.into_iter().map(share).collect()))
    }
}

/// Refuses counts too large for a sampler.
fn check_noisy(noisy: [i64; 3]) -> Result<()> {
    match noisy.iter().find(|count| count.abs() > 100_000) {
        Some(count) => Err(Error::out_of_range("the noisy count", count, "a count up to 10^5, for the sampler")),
        None => Ok(()),
    }
}

/// The least n at which a monotone condition is proven to hold while it is proven not to hold at n - 1, near `start`.
fn least_yes(start: i64, holds: impl Fn(i64) -> crate::numeric::Certainty) -> Option<i64> {
    use crate::numeric::Certainty::{No, Undecided, Yes};
    const FURTHEST: i64 = 400;
    match holds(start) {
        Undecided => None,
        Yes => {
            let below = (1..FURTHEST).map(|k| start - k).find(|n| holds(*n) != Yes)?;
            (holds(below) == No).then_some(below + 1)
        }
        No => {
            let above = (1..FURTHEST).map(|k| start + k).find(|n| holds(*n) != No)?;
            (holds(above) == Yes).then_some(above)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::number;

    /// The decision by majority of draws, over all outputs: approximations in doubles.
    #[derive(Clone, Copy, Debug)]
    struct Majority {
        /// The probability of the decision for X_1 = 1 if it is true, with ties against it.
        tie_down: f64,
        /// The same, with ties for it.
        tie_up: f64,
    }

    impl GibbsSampler {
        /// The decision by the majority of an even number of draws in place of the limit, in doubles. This approximation
        /// treats the draws as independent, which nearly holds for many other groups. X_2 is given; if `known`, the
        /// adversary knows it too.
        fn majority_approx(&self, x2_true: i64, draws: u32, known: bool) -> Result<Majority> {
            self.check()?;
            let others = others::OtherGroups::new(self.rhos[0].clone(), self.others, others::SumLaw::Exact)?;
            let (own, upper, table) =
                (MassTable::of_one(&self.rhos[0], 40)?, MassTable::of_one(&self.rhos[1], 40)?, others.table(40)?);
            let mut majority = Majority { tie_down: 0.0, tie_up: 0.0 };
            let mass = |table: &MassTable, x: i64| table.stored(x).approximate();
            for b in table.first()..=table.last() {
                let y = x2_true - 1 + b;
                for a in upper.first()..=upper.last() {
                    let both = mass(&upper, a) * mass(&table, b);
                    if both < 1e-10 {
                        continue;
                    }
                    let laws = match known {
                        true => [vec![(x2_true, 1.0)], vec![(x2_true, 1.0)]],
                        false => [0, 1].map(|k1| self.upper_approx(x2_true + a, y, k1, i64::MAX)),
                    };
                    for c in own.first()..=own.last() {
                        let weight = both * mass(&own, c);
                        if weight < 1e-12 {
                            continue;
                        }
                        let next = |law: &[(i64, f64)]| self.to_one_approx(c + 1, y, law);
                        let (up, stay) = (next(&laws[0]), next(&laws[1]));
                        let (above, half) = majority_approx(draws, up / (1.0 - stay + up));
                        majority.tie_down += weight * above;
                        majority.tie_up += weight * (above + half);
                    }
                }
            }
            Ok(majority)
        }
    }

    /// ln n! in doubles, by Stirling's series.
    fn ln_factorial(n: f64) -> f64 {
        if n < 10.0 {
            return (1..=n as u32).map(|k| libm::log(f64::from(k))).sum();
        }
        n * libm::log(n) - n + 0.5 * libm::log(2.0 * std::f64::consts::PI * n) + 1.0 / (12.0 * n)
            - 1.0 / (360.0 * n.powi(3))
    }

    /// The probabilities of more than half, and of exactly half, of an even number of independent draws, in doubles.
    fn majority_approx(draws: u32, share: f64) -> (f64, f64) {
        if share <= 0.0 || share >= 1.0 {
            return (f64::from(u8::from(share >= 1.0)), 0.0);
        }
        let n = f64::from(draws);
        let mass = |k: f64| {
            let ln = ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
                + k * libm::log(share)
                + (n - k) * libm::log(1.0 - share);
            libm::exp(ln)
        };
        let half = draws / 2;
        // Beyond nine standard deviations the masses are too small to change a double.
        let last = (n * share + 9.0 * (n * share * (1.0 - share)).sqrt() + 2.0).min(n) as u32;
        let above = (half + 1..=last).map(|k| mass(f64::from(k))).sum::<f64>();
        (above.min(1.0), mass(f64::from(half)))
    }

    /// An explanation of the level of Figure 5: ties among 10^3 draws, counted for the target.
    #[test]
    fn the_majority_of_draws_with_ties_for_the_target_gives_the_printed_level() {
        let rhos = [number("1666368/16793603"), number("4141383.68/16793603")];
        let sampler = GibbsSampler { prior: number("1/2"), rhos, others: 27, constraint: GibbsConstraint::LeftOut };
        let majority = sampler.majority_approx(10, 1000, false).expect("a majority");
        assert!(
            (majority.tie_up - 0.590_556).abs() < 2e-6 && (majority.tie_down - 0.587_190).abs() < 2e-6,
            "{majority:?}"
        );
    }
}
