//! One noisy count, or one at each of several levels: exact posterior, risk and decisions.
//!
//! The target changes a count by d: by 1 in the paper, by the sensitivity of a query in general. With n = the released
//! count minus the known count m, the evidence for m + d against m is the log-likelihood ratio L = d (2 n - d) /
//! (2 sigma2), an exact rational: rho (2 n - 1) for d = 1. So every result is a function of L and the prior, and does not
//! depend on the known count (Section S1.1). Discrete noise does not scale: a count that moves by d is not one that moves
//! by 1 with noise of the same rho. Evidence adds up over counts at several levels at which the target is known to be unique
//! (Section S1.3), and over counts of several releases (Section S5).

use rug::Rational;

use super::{
    average::average,
    check_prior, check_rho, exact_ends, exp, few,
    marginal::{marginal_by_integral, marginal_of_one},
    noise, odds, plus_at_most, posterior,
};
use crate::{
    error::{Error, Result},
    loss::{
        law::{Group, Law},
        sum::LossSum,
        theta,
    },
    numeric::{Enclosure, precision::bits, rational},
};

/// The precision, in bits, after which a result is returned even if it is too wide.
const MOST_BITS: u32 = 6000;

/// An adversary with a prior, and the noisy counts that the target changes.
///
/// ```
/// # use dp_assay_core as dp_assay;
/// use dp_assay::{numeric::rational::parse, risk::single::Attack};
/// // The block count of the 2020 redistricting data as Kazan & Reiter read it, prior 1/2.
/// let attack = Attack::new(parse("1/2")?, vec![parse("0.099")?])?;
/// assert_eq!(attack.posterior(&[2], 12)?.shown(6), "0.573709");
/// assert_eq!(attack.marginal(12)?.shown(6), "0.523615");
/// assert_eq!(attack.correct_decision(12)?.shown(6), "0.588759");
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Attack {
    prior: Rational,
    /// 1 / (2 sigma2) of the noise of each count.
    rates: Vec<Rational>,
    /// By how much the target changes each count.
    shift: u64,
}

/// The factor by which each output of a sequence of releases multiplies the adversary's probability (Section S5).
#[derive(Clone, Debug)]
pub struct Sequence {
    /// R' of each release, given the releases before it.
    pub steps: Vec<Enclosure>,
    /// R' of all releases together: the product of the steps.
    pub total: Enclosure,
}

impl Attack {
    /// The attack with this prior on counts with these rho, which the target changes by one; there must be at least one.
    pub fn new(prior: Rational, rhos: Vec<Rational>) -> Result<Self> {
        Self::checked(prior, rhos, 1)
    }

    /// The attack with this prior on counts with noise N_Z(0, sigma2), each of which the target changes by `shift`.
    pub fn on_counts(prior: Rational, sigma2: &[Rational], shift: u64) -> Result<Self> {
        if let Some(sigma2) = sigma2.iter().find(|sigma2| **sigma2 <= 0) {
            return Err(Error::out_of_range("sigma2", rational::display(sigma2), "above 0"));
        }
        if shift == 0 {
            return Err(Error::out_of_range("the change of a count", shift, "1 or more"));
        }
        let attack =
            Self::checked(prior, sigma2.iter().map(|sigma2| Rational::from(sigma2 * 2_u32).recip()).collect(), shift)?;
        attack.rhos().iter().try_for_each(check_rho)?;
        Ok(attack)
    }

    fn checked(prior: Rational, rates: Vec<Rational>, shift: u64) -> Result<Self> {
        check_prior(&prior)?;
        if rates.is_empty() {
            return Err(Error::missing("no rho is given: give that of at least one noisy count"));
        }
        for rate in &rates {
            noise(rate)?;
        }
        // The number of nodes of the integral over several counts, or over one that changes by more than 1, grows as the
        // square of the number of digits of the odds.
        let edge = Rational::from((1, 10_u64.pow(18)));
        if (rates.len() > 1 || shift > 1) && (prior < edge || prior > Rational::from(1 - &edge)) {
            let expected = "from 1e-18 to 1 - 1e-18 if there are several counts, or one that changes by more than 1";
            return Err(Error::out_of_range("the prior", rational::display(&prior), expected));
        }
        Ok(Attack { prior, rates, shift })
    }

    /// The prior probability that the target is in the group.
    pub fn prior(&self) -> &Rational {
        &self.prior
    }

    /// The rho that each count spends: shift^2 / (2 sigma2).
    pub fn rhos(&self) -> Vec<Rational> {
        let square = Rational::from(self.shift).square();
        self.rates.iter().map(|rate| Rational::from(rate * &square)).collect()
    }

    /// By how much the target changes each count.
    pub fn shift(&self) -> u64 {
        self.shift
    }

    /// The shift as a distance of counts, which are below 10^18.
    fn shift_or_most(&self) -> i64 {
        i64::try_from(self.shift).unwrap_or(i64::MAX)
    }

    /// The evidence of one count: L = shift (2 n - shift) / (2 sigma2).
    fn evidence_of(&self, rate: &Rational, n: i64) -> Rational {
        (Rational::from(n) * 2_u32 - self.shift) * self.shift * rate
    }

    /// The evidence of all counts.
    fn evidence(&self, noisy: &[i64]) -> Result<Rational> {
        if noisy.len() != self.rates.len() {
            let (given, rhos) = (noisy.len(), self.rates.len());
            return Err(Error::conflict(format!("{given} noisy counts for {rhos} rho: give one for each rho")));
        }
        let each = self.rates.iter().zip(noisy).map(|(rate, n)| self.evidence_of(rate, *n));
        Ok(each.fold(Rational::new(), |sum, part| sum + part))
    }

    /// The posterior probability that the target is in the group, given the released counts minus the known ones (3.1),
    /// (S1.1).
    pub fn posterior(&self, noisy: &[i64], digits: u32) -> Result<Enclosure> {
        Ok(posterior(&self.prior, &self.evidence(noisy)?, bits(digits, 24)))
    }

    /// R' = posterior / prior (3.2).
    pub fn risk(&self, noisy: &[i64], digits: u32) -> Result<Enclosure> {
        Ok(self.per_prior(&self.posterior(noisy, digits)?))
    }

    /// A probability divided by the prior: R from the marginal posterior (3.4), R' from a posterior (3.2).
    pub fn per_prior(&self, probability: &Enclosure) -> Enclosure {
        probability.div(&Enclosure::rational(&self.prior, probability.lower().prec() + 16))
    }

    /// R' release by release: the posterior after one release is the prior of the next, and the steps multiply to the
    /// total (S5.7).
    pub fn sequence(&self, noisy: &[i64], digits: u32) -> Result<Sequence> {
        self.evidence(noisy)?;
        let bits = bits(digits, 32);
        let mut before = Enclosure::rational(&self.prior, bits);
        let mut evidence = Rational::new();
        let mut steps = Vec::new();
        for (rate, n) in self.rates.iter().zip(noisy) {
            evidence += self.evidence_of(rate, *n);
            let after = posterior(&self.prior, &evidence, bits);
            steps.push(after.div(&before));
            before = after;
        }
        Ok(Sequence { steps, total: before.div(&Enclosure::rational(&self.prior, bits)) })
    }

    /// The probability of the noisy counts if the target is in the group (`present`) or not; the counts are
    /// independent.
    pub fn probability(&self, noisy: &[i64], present: bool, digits: u32) -> Result<Enclosure> {
        self.evidence(noisy)?;
        let mut product = Enclosure::double(1.0, bits(digits, 24));
        let moved = if present { self.shift_or_most() } else { 0 };
        for (rate, n) in self.rates.iter().zip(noisy) {
            product = product.mul(&noise(rate)?.mass(n.saturating_sub(moved), digits + 3));
        }
        Ok(product)
    }

    /// The posterior probability averaged over the outputs if the target is in the group (3.3), to a relative width of
    /// 10^-digits.
    pub fn marginal(&self, digits: u32) -> Result<Enclosure> {
        if self.rates.len() > 1 && self.shift == 1 {
            // marginal = F(exp(2 sum of rho) p / (1 - p)).
            let bits = bits(digits, 40);
            let twice = self.rates.iter().fold(Rational::new(), |sum, rho| sum + rho) * 2_u32;
            let w = exp(&twice, bits).mul(&Enclosure::rational(&odds(&self.prior), bits));
            if let Some(value) = average(&self.rates, &w, digits) {
                return Ok(value);
            }
        }
        let mut bits = bits(digits, 40);
        loop {
            let value = match self.rates.as_slice() {
                [rho] if self.shift == 1 => marginal_of_one(&self.prior, rho, bits),
                rates => marginal_by_integral(&self.prior, rates, self.shift, bits),
            }
            .clamp(0.0, 1.0);
            if value.is_tight(digits) || bits >= MOST_BITS {
                return Ok(value);
            }
            bits *= 2;
        }
    }

    /// The posterior averaged over the outputs if the target is not in the group. The mean of all posteriors is the prior: p E[posterior | present] +
    /// (1 - p) E[posterior | absent] = p.
    pub fn marginal_if_absent(&self, digits: u32) -> Result<Enclosure> {
        // One digit more, for the product. 1 - marginal = F((1 - p) / p).
        let exact_bits = bits(digits, 40);
        let against = Enclosure::rational(&Rational::from(odds(&self.prior).recip_ref()), exact_bits);
        let of_ones = if self.shift == 1 { average(&self.rates, &against, digits + 1) } else { None };
        if let Some(missing) = of_ones {
            return Ok(missing.mul(&Enclosure::rational(&odds(&self.prior), exact_bits)).clamp(0.0, 1.0));
        }
        let mut extra = 4;
        loop {
            let marginal = self.marginal(digits + extra)?;
            let bits = marginal.lower().prec();
            let rest = Enclosure::double(1.0, bits).sub(&marginal).clamp(0.0, 1.0);
            let value = rest.mul(&Enclosure::rational(&odds(&self.prior), bits));
            if value.is_tight(digits) || extra > 250 {
                return Ok(value);
            }
            extra *= 4;
        }
    }

    /// The least n = released minus known count at which the adversary decides for the target, for a single count:
    /// L > ln((1 - p) / p) (3.5), (3.6).
    ///
    /// A tie, n = shift / 2 at the prior 1/2, is a decision against the target. No other tie occurs: for other priors the
    /// logarithm is transcendental.
    pub fn threshold(&self) -> Result<i64> {
        let [rate] = self.rates.as_slice() else {
            let expected = "exactly 1: several counts have no common threshold";
            return Err(Error::out_of_range("the number of noisy counts", self.rates.len(), expected));
        };
        if self.prior == Rational::from((1, 2)) {
            return Ok(self.shift_or_most() / 2 + 1);
        }
        let mut bits = 128;
        loop {
            let ln = Enclosure::rational(&odds(&self.prior), bits).ln().negate();
            let half = Enclosure::rational(&Rational::from((self.shift, 2)), bits);
            // L > x is n > x / (2 shift rate) + shift / 2.
            let slope = Rational::from(rate * 2_u32) * self.shift;
            let edge = ln.div(&Enclosure::rational(&slope, bits)).add(&half);
            let floor = |end: &rug::Float| end.to_integer_round(rug::float::Round::Down).map(|(floor, _)| floor);
            match (floor(edge.lower()), floor(edge.upper())) {
                (Some(low), Some(high)) if low == high => {
                    return (low + 1_u32).to_i64().ok_or_else(|| {
                        Error::out_of_range(
                            "rho",
                            rational::display(rate),
                            "one at which the decision turns below 9e18",
                        )
                    });
                }
                _ if bits > 100_000 => {
                    let apart = "its odds must differ from a turn of the decision by more than 10^-30000";
                    return Err(Error::undecided("the prior", rational::display(&self.prior), apart));
                }
                _ => bits *= 2,
            }
        }
    }

    /// The probability that the adversary who decides for the larger posterior decides for the target, if it is in the
    /// group (3.6).
    ///
    /// Several counts need a lattice of evidence whose tail can be computed.
    pub fn correct_decision(&self, digits: u32) -> Result<Enclosure> {
        match self.rates.as_slice() {
            [rate] => upper_tail(rate, self.threshold()?.saturating_sub(self.shift_or_most()), digits),
            _ => self.tail_of_evidence(false, digits),
        }
    }

    /// The probability that the same adversary decides against the target, if it is not in the group.
    pub fn correct_if_absent(&self, digits: u32) -> Result<Enclosure> {
        match self.rates.as_slice() {
            // P[X < t] = P[X >= 1 - t] by symmetry.
            [rate] => upper_tail(rate, 1_i64.saturating_sub(self.threshold()?), digits),
            _ => self.tail_of_evidence(true, digits),
        }
    }

    /// P[L > ln((1 - p) / p)] if the target is in the group, or `P[L <= ln((1 - p) / p)]` if it is not: the law of -L
    /// is then the law of L in the first case.
    fn tail_of_evidence(&self, absent: bool, digits: u32) -> Result<Enclosure> {
        let group = |rate: &Rational| Group {
            law: Law::DiscreteGaussian { sigma2: Rational::from(1) / Rational::from(rate * 2_u32) },
            shift: self.shift,
            copies: 1,
        };
        let sum = LossSum::new(self.rates.iter().map(group))?;
        let ratio = Rational::from(1) / odds(&self.prior);
        let mut bits = 128;
        loop {
            let ln = Enclosure::rational(&ratio, bits).ln();
            let (low, high) = exact_ends(&ln, "the logarithm of the prior odds")?;
            // The first lattice point beyond the edge must be the same from both ends of the enclosure of the edge;
            // otherwise the enclosure is refined.
            let (first, again) =
                if absent { (-sum.at_most(&low), -sum.at_most(&high)) } else { (sum.above(&low), sum.above(&high)) };
            if first == again || bits > 100_000 {
                let of_ones =
                    |z: &Rational| if self.shift == 1 { few::upper_tail(&self.rates, z, digits) } else { None };
                let tail = |z: &Rational| of_ones(z).map_or_else(|| tail_of(&sum, z, digits), Ok);
                let value = tail(&first)?;
                return if first == again { Ok(value) } else { Ok(value.hull(&tail(&again)?)) };
            }
            bits *= 2;
        }
    }
}

/// P[L >= z] for a point z of the lattice; below exp(-5000) only an upper bound is computed.
fn tail_of(sum: &LossSum, z: &Rational, digits: u32) -> Result<Enclosure> {
    let bits = bits(digits, 40);
    // Markov's inequality with ln E[exp(s L)] <= rho (s + s^2): P[L >= z] <= exp(-(z - rho)^2 / (4 rho)) for z >= rho.
    // The same bound holds for P[L <= z] for z <= rho.
    let exponent = -(Rational::from(z - sum.rho()).square() / (sum.rho().clone() * 4_u32));
    let bounded = exponent < -5000;
    let most = || Enclosure::double(0.0, bits).hull(&exp(&exponent, bits));
    if z > sum.rho() {
        return if bounded { Ok(most()) } else { Ok(sum.evaluator().upper_tail(z, digits)?.value) };
    }
    // P[L < z] = Q[L > -z]; computing the complement avoids cancellation.
    let rest = if bounded { most() } else { sum.evaluator().tilted_tail(&sum.above(&-z.clone()), digits)?.value };
    Ok(Enclosure::double(1.0, bits).sub(&rest).clamp(0.0, 1.0))
}

/// P[X >= t] for the noise X that spends rho, to a relative width of 10^-digits.
///
/// Far in the tail a few masses are summed: they fall by at least a factor exp(-2 rho t) per step. Elsewhere the
/// contour integral is used.
fn upper_tail(rho: &Rational, t: i64, digits: u32) -> Result<Enclosure> {
    const MOST_TERMS: f64 = 3000.0;
    if t <= 0 {
        let rest = upper_tail(rho, 1_i64.saturating_sub(t), digits)?;
        return Ok(Enclosure::double(1.0, bits(digits, 40)).sub(&rest).clamp(0.0, 1.0));
    }
    let bits = bits(digits, 40);
    let fall = 2.0 * rho.to_f64() * t as f64;
    let needed = (f64::from(bits) * std::f64::consts::LN_2 / fall).ceil() + 1.0;
    if needed > MOST_TERMS {
        return noise(rho)?.survival(t, digits);
    }
    let last = needed as i64;
    let term = |k: i64| exp(&-(Rational::from(k) * (Rational::from(t) * 2_u32 + k) * rho), bits);
    let sum = (0..=last).fold(Enclosure::double(0.0, bits), |sum, k| sum.add(&term(k)));
    // Truncated terms are at most the last term times ratio + ratio^2 + ... for ratio = exp(-2 rho t).
    let ratio = exp(&-(Rational::from(t) * 2_u32 * rho), 64);
    let left_out = term(last).mul(&ratio).div(&Enclosure::double(1.0, 64).sub(&ratio));
    let sum = plus_at_most(&sum, &left_out);
    let mass = exp(&-(Rational::from(t).square() * rho), bits);
    let sigma2 = Rational::from(1) / Rational::from(rho * 2_u32);
    Ok(mass.mul(&sum).div(&theta::gaussian_sum(&sigma2, bits)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    #[test]
    fn few_masses_and_the_contour_give_the_same_tail() {
        for (rho, t) in [("0.099", 30), ("0.5", 3), ("2", 1), ("0.001", 60), ("0.001", -60), ("0.1", 0)] {
            let rho = parse(rho).unwrap();
            let (own, contour) = (upper_tail(&rho, t, 25).unwrap(), noise(&rho).unwrap().survival(t, 25).unwrap());
            assert!(own.overlaps(&contour) && own.is_tight(25), "{rho} {t}: {own:?} {contour:?}");
        }
    }

    #[test]
    fn wide_noise_and_far_thresholds_give_tight_answers() {
        for (rho, prior) in [("1e-8", "1/3"), ("1e-15", "0.9"), ("1e-17", "1/864"), ("1e-12", "0.499999")] {
            let attack = Attack::new(parse(prior).unwrap(), vec![parse(rho).unwrap()]).unwrap();
            let (present, absent) = (attack.correct_decision(10).unwrap(), attack.correct_if_absent(10).unwrap());
            let far = if parse(prior).unwrap() < Rational::from((1, 2)) { &absent } else { &present };
            // Values below 10^-323228497 cannot be represented, so they cannot be tight.
            let answered = |value: &Enclosure| value.is_tight(10) || *value.upper() < 1e-300;
            assert!(
                *far.lower() > 0.99 && answered(&present) && answered(&absent),
                "{rho} {prior} {present:?} {absent:?}"
            );
        }
    }
}
