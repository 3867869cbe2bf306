//! The suppression of groups that may be empty (2024, Section 5.3.2): the rule, its probability, and the bias of the published counts.
//!
//! The threshold is the smallest integer T with `P[X <= T]` >= p, where X is the noise of a published total. A count is published if it
//! exceeds T, so an empty group is suppressed, if its total alone is published, with probability `P[X <= T]` >= p. The production code does this, and the thresholds in Table
//! 6 of the 2024 paper follow this definition. The text of the paper suppresses counts "less than the suppression threshold", which has
//! probability `P[X < T]`; that is below p, because T is the smallest such integer: [`Suppression::probability_below`].
//!
//! The rule is for groups whose total alone is published. In two stages those are the groups whose noisy total of stage 1 is below the first
//! threshold: an empty group that reaches it by noise gets a finer table, and is published.

use rug::{Integer, Rational};

use super::cell_noise::CellNoise;
use crate::{
    error::{Error, Result},
    noise::DiscreteGaussian,
    numeric::{Enclosure, precision, rational},
};

/// The suppression of groups whose total only is published.
///
/// ```
/// use dp_assay::{numeric::rational::parse, safetab::{cell_noise::{CellNoise, NoiseKind}, suppression::Suppression}};
/// let noise = CellNoise::new(NoiseKind::DiscreteGaussian, &parse("0.0159")?)?;
/// let rule = Suppression::new(noise, parse("0.9999")?)?;
/// assert_eq!(rule.threshold(), 21);
/// assert!(!rule.keeps(21) && rule.keeps(22));
/// // Groups of twice the threshold are almost never suppressed, and their counts are hardly biased.
/// assert!(*rule.probability(42, 12)?.upper() < 1e-3 && *rule.bias(42, 12)?.upper() < 0.01);
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Suppression {
    noise: CellNoise,
    chance: Rational,
    threshold: i64,
}

impl Suppression {
    /// The weakest rule that suppresses an empty group whose total alone is published with probability at least `chance`, for 0 < chance < 1; an error otherwise.
    pub fn new(noise: CellNoise, chance: Rational) -> Result<Self> {
        if chance <= 0 || chance >= 1 {
            let expected = "a probability between 0 and 1";
            return Err(Error::out_of_range("the chance of suppression", rational::display(&chance), expected));
        }
        let threshold = noise.quantile(&chance)?;
        Ok(Suppression { noise, chance, threshold })
    }

    /// The threshold T: counts up to it are suppressed.
    pub fn threshold(&self) -> i64 {
        self.threshold
    }

    /// The required probability of suppressing an empty group whose total alone is published.
    pub fn chance(&self) -> &Rational {
        &self.chance
    }

    /// The noise of a published total.
    pub fn noise(&self) -> &CellNoise {
        &self.noise
    }

    /// Whether a noisy count is published.
    pub fn keeps(&self, noisy: i64) -> bool {
        noisy > self.threshold
    }

    /// `P[n + X <= T]`, the probability that a group of n people is suppressed if its total alone is published, to a relative width of 10^-digits.
    pub fn probability(&self, n: u64, digits: u32) -> Result<Enclosure> {
        // P[X <= T - n] = P[X >= n - T].
        self.noise.survival(distance(n, self.threshold)?, digits)
    }

    /// The probability that a group of n people is suppressed in two stages: stage 1 gives it the total only, because its noisy total is
    /// below the first threshold, and then the published total is suppressed. To a relative width of 2 * 10^-digits.
    pub fn probability_in_two_stages(
        &self,
        n: u64,
        (stage_1, first_threshold): (&CellNoise, i64),
        digits: u32,
    ) -> Result<Enclosure> {
        // P[n + Y < t] = P[Y <= t - 1 - n] = P[Y >= n - (t - 1)]; the noises of both stages are independent.
        let total_only = stage_1.survival(distance(n, first_threshold.saturating_sub(1))?, digits)?;
        Ok(total_only.mul(&self.probability(n, digits)?))
    }

    /// `P[n + X < T]`: [`probability`](Self::probability) for the rule in the text of the paper.
    pub fn probability_below(&self, n: u64, digits: u32) -> Result<Enclosure> {
        self.noise.survival(distance(n, self.threshold)?.saturating_add(1), digits)
    }

    /// `E[X | n + X > T]`: the bias of the count of a group of n people, given that it is published, to a relative width of about
    /// 10^-digits.
    pub fn bias(&self, n: u64, digits: u32) -> Result<Enclosure> {
        // Published if X >= a.
        let a = distance(n, self.threshold)?.saturating_neg().saturating_add(1);
        conditional_mean(&self.noise, a, digits)
    }

    /// Equation (13) of the 2024 paper: sigma phi(z) / (1 - Phi(z)) at z = (T - n) / sigma, with the density and the distribution function
    /// of the continuous standard normal, because the discrete one has no mass at z. `None` for geometric noise, for which the paper has no
    /// formula.
    pub fn bias_by_formula(&self, n: u64, digits: u32) -> Result<Option<Enclosure>> {
        let CellNoise::Gaussian(noise) = &self.noise else { return Ok(None) };
        Ok(Some(mills(noise, -distance(n, self.threshold)?, digits)))
    }

    /// The smallest n such that a group of n people is published with probability at least `level`, proven from both sides. An error unless
    /// 0 < level < 1.
    pub fn published_from(&self, level: &Rational) -> Result<u64> {
        // P[X > T - n] = P[X <= n - T - 1] >= level from n - T - 1 = quantile(level) on.
        Ok((self.noise.quantile(level)?.saturating_add(self.threshold).saturating_add(1)).max(0).unsigned_abs())
    }
}

/// Bits of precision beyond the requested digits.
const GUARD: u32 = 64;

/// n - T.
fn distance(n: u64, threshold: i64) -> Result<i64> {
    i64::try_from(i128::from(n) - i128::from(threshold))
        .map_err(|_| Error::out_of_range("the size of a group", n, "at most 9e18 people"))
}

/// `E[X | X >= a]`, to a relative width of about 10^-digits, for noise that is symmetric about 0.
///
/// The values from a < 0 to -a cancel in the sum of x `P[X = x]`, so the mean is `E[X; X >= b]` / `P[X >= a]` with b = 1 - a.
fn conditional_mean(noise: &CellNoise, a: i64, digits: u32) -> Result<Enclosure> {
    let b = if a >= 1 { a } else { 1_i64.saturating_sub(a) };
    let partial = match noise {
        CellNoise::Gaussian(noise) => partial_mean(noise, b, digits)?,
        // The sum over x >= b of x p^x (1 - p) / (1 + p) is p^b / (1 + p) (b + p / (1 - p)), and p^b / (1 + p) the tail.
        CellNoise::Geometric(own) => {
            let bits = precision::bits(digits, GUARD);
            let exponent = Enclosure::rational(&Rational::from(-own.epsilon()), bits);
            let ratio = exponent.exp().div(&exponent.exp_m1().negate());
            noise.survival(b, digits + 4)?.mul(&Enclosure::rational(&Rational::from(b), bits).add(&ratio))
        }
    };
    // For a < 1, P[X >= a] is 1 minus the tail from 1 - a = b on, by symmetry.
    let tail = noise.survival(b, digits + 4)?;
    let kept = if a >= 1 { tail } else { Enclosure::double(1.0, precision::bits(digits, GUARD)).sub(&tail) };
    Ok(partial.div(&kept))
}

/// The largest variance for which the bias is summed: about 10^6 terms.
const MOST_SIGMA2: u32 = 1_000_000_000;

/// `E[X; X >= b]` for b >= 1: `P[X = b]` times the sum over x >= b of x w(x), w(x) = exp(-(x^2 - b^2) / (2 sigma2)).
///
/// w(x + 1) = w(x) g(x) and g(x + 1) = g(x) exp(-1 / sigma2), so a term costs two products. Beyond c >= sigma, where x exp(-x^2 / (2
/// sigma2)) decreases, the truncation error is at most the integral from c on: sigma2 w(c).
fn partial_mean(noise: &DiscreteGaussian, b: i64, digits: u32) -> Result<Enclosure> {
    let sigma2 = noise.sigma2();
    if *sigma2 > MOST_SIGMA2 {
        let expected = "at most 1e9, over whose masses the bias is summed";
        return Err(Error::out_of_range("sigma2 of a suppressed count", rational::display(sigma2), expected));
    }
    // 10^6 times two products lose at most 40 bits.
    let bits = precision::bits(digits, GUARD) + 40;
    let exp_of = |twice: Rational| {
        let exponent = -twice / Rational::from(sigma2 * 2_u32);
        let size = libm::log2(exponent.to_f64().abs()).max(0.0) as u32;
        Enclosure::rational(&exponent, bits + size).exp()
    };
    let (mut w, mut g) = (Enclosure::double(1.0, bits), exp_of(Rational::from(Integer::from(b) * 2 + 1)));
    let bend = exp_of(Rational::from(2));
    let sigma = sigma2.to_f64().sqrt().ceil() as i64 + 1;
    let mut sum = Enclosure::double(0.0, bits);
    let mut x = b;
    loop {
        sum = sum.add(&w.mul(&Enclosure::rational(&Rational::from(x), bits)));
        let small = w.upper().get_exp().is_none_or(|exponent| exponent < -(bits as i32));
        if small && x >= sigma || x == i64::MAX {
            break;
        }
        (w, g) = (w.mul(&g), g.mul(&bend));
        x += 1;
    }
    let rest = Enclosure::double(0.0, bits).hull(&w.mul(&Enclosure::rational(sigma2, bits)));
    Ok(noise.mass(b, digits + 4).mul(&sum.add(&rest)))
}

/// sigma phi(z) / (1 - Phi(z)) for z = d / sigma.
fn mills(noise: &DiscreteGaussian, d: i64, digits: u32) -> Enclosure {
    let mut bits = precision::bits(digits, GUARD);
    loop {
        let real = |value: &Rational| Enclosure::rational(value, bits);
        // z / sqrt 2 = d / sqrt(2 sigma2); sigma phi(z) = sigma exp(-z^2 / 2) / sqrt(2 pi); 1 - Phi(z) = erfc(z / sqrt 2) / 2.
        let width = real(&Rational::from(noise.sigma2() * 2_u32)).sqrt();
        let tail = real(&Rational::from(d)).div(&width).erfc();
        let exponent = -Rational::from(d).square() / Rational::from(noise.sigma2() * 2_u32);
        let density = width.div(&Enclosure::pi(bits).sqrt()).mul(&real(&exponent).exp());
        let value = density.div(&tail);
        if value.is_tight(digits) || bits > 20_000 {
            return value;
        }
        bits *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::super::cell_noise::NoiseKind;
    use super::*;
    use crate::numeric::rational::parse;

    fn rule(noise_kind: NoiseKind, budget: &str, chance: &str) -> Suppression {
        let noise = CellNoise::new(noise_kind, &parse(budget).unwrap()).unwrap();
        Suppression::new(noise, parse(chance).unwrap()).unwrap()
    }

    #[test]
    fn probability_and_bias_agree_with_enumeration() {
        let cases = [
            (NoiseKind::DiscreteGaussian, [("0.0008", "0.9999"), ("0.0159", "0.9999"), ("3", "0.99")]),
            (NoiseKind::Geometric, [("0.2", "0.999"), ("0.5", "0.9"), ("3", "0.99")]),
        ];
        for (noise_kind, (budget, chance)) in cases.iter().flat_map(|(of, all)| all.iter().map(move |one| (*of, *one)))
        {
            let rule = rule(noise_kind, budget, chance);
            let reach = 6 * (rule.threshold() + 30);
            let masses: Vec<f64> = (-reach..=reach).map(|x| rule.noise().mass(x, 17).approximate()).collect();
            for n in [0, 1, 3, rule.threshold() as u64, rule.threshold() as u64 * 2 + 1, 500] {
                let (mut kept, mut moment, mut hidden) = (0.0, 0.0, 0.0);
                for (mass, x) in masses.iter().zip(-reach..=reach) {
                    if rule.keeps(n as i64 + x) {
                        kept += mass;
                        moment += mass * x as f64;
                    } else {
                        hidden += mass;
                    }
                }
                let probability = rule.probability(n, 14).unwrap();
                let bias = rule.bias(n, 14).unwrap();
                assert!((probability.approximate() - hidden).abs() < 1e-11, "{noise_kind:?} {budget} {n}");
                assert!((bias.approximate() - moment / kept).abs() < 1e-8 * (1.0 + moment / kept), "{budget} {n}");
                assert!(bias.is_tight(12) && probability.is_tight(14), "{noise_kind:?} {budget} {n} {bias:?}");
            }
        }
    }

    #[test]
    fn two_stages_agree_with_enumeration() {
        for (noise_kind, budget, share) in
            [(NoiseKind::DiscreteGaussian, "0.0159", "0.00177"), (NoiseKind::Geometric, "0.5", "0.06")]
        {
            let rule = rule(noise_kind, budget, "0.9999");
            let stage_1 = CellNoise::new(noise_kind, &parse(share).unwrap()).unwrap();
            for (first, n) in [(20, 0), (20, 30), (-7, 2), (0, 0), (971, 5)] {
                let mut hidden = [0.0; 2];
                for x in -600..=600 {
                    hidden[0] += if n + x < first { stage_1.mass(x, 17).approximate() } else { 0.0 };
                    hidden[1] += if rule.keeps(n + x) { 0.0 } else { rule.noise().mass(x, 17).approximate() };
                }
                let own = rule.probability_in_two_stages(n as u64, (&stage_1, first), 14).unwrap().approximate();
                assert!((own - hidden[0] * hidden[1]).abs() < 1e-11, "{noise_kind:?} {first} {n} {own}");
            }
        }
    }

    #[test]
    fn the_threshold_is_the_least_that_reaches_the_chance() {
        for (budget, threshold) in [("0.0008", 93), ("0.0159", 21), ("0.0543", 11)] {
            let rule = rule(NoiseKind::DiscreteGaussian, budget, "0.9999");
            assert_eq!(rule.threshold(), threshold);
            let chance = parse("0.9999").unwrap();
            assert!(*rule.probability(0, 15).unwrap().lower() >= chance);
            // With the rule in the text the probability is too small, by one mass.
            let below = rule.probability_below(0, 15).unwrap();
            assert!(*below.upper() < chance);
            let both = below.add(&rule.noise().mass(threshold, 15));
            assert!(both.overlaps(&rule.probability(0, 15).unwrap()));
        }
    }

    #[test]
    fn published_from_is_the_least_size() {
        for noise_kind in [NoiseKind::DiscreteGaussian, NoiseKind::Geometric] {
            let rule = rule(noise_kind, "0.0159", "0.999");
            let n = rule.published_from(&parse("0.95").unwrap()).unwrap();
            let most = parse("0.05").unwrap();
            assert!(*rule.probability(n, 15).unwrap().upper() <= most);
            assert!(*rule.probability(n - 1, 15).unwrap().lower() > most);
        }
    }

    #[test]
    fn the_formula_is_close_for_wide_noise_half_a_count_away() {
        let wide = rule(NoiseKind::DiscreteGaussian, "0.00001", "0.9999");
        for n in [0, 100, 800] {
            let (bias, formula) = (wide.bias(n, 12).unwrap(), wide.bias_by_formula(n, 12).unwrap().unwrap());
            assert!(formula.is_tight(12) && (bias.approximate() - formula.approximate()).abs() < 0.6, "{n}");
        }
        assert!(rule(NoiseKind::Geometric, "0.1", "0.9").bias_by_formula(3, 12).unwrap().is_none());
    }

    #[test]
    fn far_groups_are_neither_suppressed_nor_biased() {
        let rule = rule(NoiseKind::DiscreteGaussian, "0.0159", "0.9999");
        for n in [10_000, u64::MAX >> 2] {
            assert!(*rule.probability(n, 12).unwrap().upper() < 1e-300);
            let bias = rule.bias(n, 12).unwrap();
            assert!(*bias.lower() >= 0 && *bias.upper() < 1e-300);
        }
        assert!(rule.probability(u64::MAX, 12).is_err());
    }
}
