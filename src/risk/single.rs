//! One noisy count, or one at each of several levels: exact posterior, risk and decisions.
//!
//! With n = the released count minus the known count m, the evidence for m + 1 against m is the log-likelihood ratio L
//! = rho (2 n - 1), an exact rational. So every result is a function of L and the prior, and does not depend on the
//! known count (Section S1.1). Evidence adds up over counts at several levels at which the target is known to be unique
//! (Section S1.3), and over counts of several releases (Section S5).

use rug::Rational;

use super::{
    average::average,
    check_prior, exact_ends, exp, few,
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

/// An adversary with a prior, and the rho of each noisy count that the target changes by one.
///
/// ```
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
    rhos: Vec<Rational>,
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
    /// The attack with this prior on counts with these rho; there must be at least one.
    pub fn new(prior: Rational, rhos: Vec<Rational>) -> Result<Self> {
        check_prior(&prior)?;
        if rhos.is_empty() {
            return Err(Error::missing("no rho is given: give that of at least one noisy count"));
        }
        for rho in &rhos {
            noise(rho)?;
        }
        // The number of nodes of the integral over several counts grows as the square of the number of digits of the
        // odds.
        let edge = Rational::from((1, 10_u64.pow(18)));
        if rhos.len() > 1 && (prior < edge || prior > Rational::from(1 - &edge)) {
            let expected = "from 1e-18 to 1 - 1e-18 if there are several counts";
            return Err(Error::out_of_range("the prior", rational::display(&prior), expected));
        }
        Ok(Attack { prior, rhos })
    }

    /// The prior probability that the target is in the group.
    pub fn prior(&self) -> &Rational {
        &self.prior
    }

    /// The rho of each count.
    pub fn rhos(&self) -> &[Rational] {
        &self.rhos
    }

    /// The sum of L = rho (2 n - 1) over the counts.
    fn evidence(&self, noisy: &[i64]) -> Result<Rational> {
        if noisy.len() != self.rhos.len() {
            let (given, rhos) = (noisy.len(), self.rhos.len());
            return Err(Error::conflict(format!("{given} noisy counts for {rhos} rho: give one for each rho")));
        }
        let one = |(rho, n): (&Rational, &i64)| (Rational::from(*n) * 2_u32 - 1_u32) * rho;
        Ok(self.rhos.iter().zip(noisy).map(one).fold(Rational::new(), |sum, part| sum + part))
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
        for (rho, n) in self.rhos.iter().zip(noisy) {
            evidence += (Rational::from(*n) * 2_u32 - 1_u32) * rho;
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
        for (rho, n) in self.rhos.iter().zip(noisy) {
            product = product.mul(&noise(rho)?.mass(n.saturating_sub(i64::from(present)), digits + 3));
        }
        Ok(product)
    }

    /// The posterior probability averaged over the outputs if the target is in the group (3.3), to a relative width of
    /// 10^-digits.
    pub fn marginal(&self, digits: u32) -> Result<Enclosure> {
        if self.rhos.len() > 1 {
            // marginal = F(exp(2 sum of rho) p / (1 - p)).
            let bits = bits(digits, 40);
            let twice = self.rhos.iter().fold(Rational::new(), |sum, rho| sum + rho) * 2_u32;
            let w = exp(&twice, bits).mul(&Enclosure::rational(&odds(&self.prior), bits));
            if let Some(value) = average(&self.rhos, &w, digits) {
                return Ok(value);
            }
        }
        let mut bits = bits(digits, 40);
        loop {
            let value = match self.rhos.as_slice() {
                [rho] => marginal_of_one(&self.prior, rho, bits),
                rhos => marginal_by_integral(&self.prior, rhos, bits),
            }
            .clamp(0.0, 1.0);
            if value.is_tight(digits) || bits >= MOST_BITS {
                return Ok(value);
            }
            bits *= 2;
        }
    }

    /// The same if the target is not in the group. The mean of all posteriors is the prior: p E[posterior | present] +
    /// (1 - p) E[posterior | absent] = p.
    pub fn marginal_if_absent(&self, digits: u32) -> Result<Enclosure> {
        // One digit more, for the product. 1 - marginal = F((1 - p) / p).
        let exact_bits = bits(digits, 40);
        let against = Enclosure::rational(&Rational::from(odds(&self.prior).recip_ref()), exact_bits);
        if let Some(missing) = average(&self.rhos, &against, digits + 1) {
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

    /// The least n = released minus known count at which the adversary decides for the target, for a single count: rho
    /// (2 n - 1) > ln((1 - p) / p) (3.5), (3.6).
    ///
    /// No tie occurs: the right side is either zero, where the left side is not, or transcendental.
    pub fn threshold(&self) -> Result<i64> {
        let [rho] = self.rhos.as_slice() else {
            let expected = "exactly 1: several counts have no common threshold";
            return Err(Error::out_of_range("the number of noisy counts", self.rhos.len(), expected));
        };
        if self.prior == Rational::from((1, 2)) {
            return Ok(1);
        }
        let mut bits = 128;
        loop {
            let ln = Enclosure::rational(&odds(&self.prior), bits).ln().negate();
            let half = Enclosure::double(0.5, bits);
            let edge = ln.div(&Enclosure::rational(&Rational::from(rho * 2_u32), bits)).add(&half);
            let floor = |end: &rug::Float| end.to_integer_round(rug::float::Round::Down).map(|(floor, _)| floor);
            match (floor(edge.lower()), floor(edge.upper())) {
                (Some(low), Some(high)) if low == high => {
                    return (low + 1_u32).to_i64().ok_or_else(|| {
                        Error::out_of_range("rho", rational::display(rho), "one at which the decision turns below 9e18")
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
        match self.rhos.as_slice() {
            [rho] => upper_tail(rho, self.threshold()?.saturating_sub(1), digits),
            _ => self.tail_of_evidence(false, digits),
        }
    }

    /// The probability that the same adversary decides against the target, if it is not in the group.
    pub fn correct_if_absent(&self, digits: u32) -> Result<Enclosure> {
        match self.rhos.as_slice() {
            // P[X < t] = P[X >= 1 - t] by symmetry.
            [rho] => upper_tail(rho, 1_i64.saturating_sub(self.threshold()?), digits),
            _ => self.tail_of_evidence(true, digits),
        }
    }

    /// P[L > ln((1 - p) / p)] if the target is in the group, or `P[L <= ln((1 - p) / p)]` if it is not: the law of -L
    /// is then the law of L in the first case.
    fn tail_of_evidence(&self, absent: bool, digits: u32) -> Result<Enclosure> {
        let group = |rho: &Rational| Group {
            law: Law::DiscreteGaussian { sigma2: Rational::from(1) / Rational::from(rho * 2_u32) },
            shift: 1,
            copies: 1,
        };
        let sum = LossSum::new(self.rhos.iter().map(group))?;
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
                let tail = |z: &Rational| match few::upper_tail(&self.rhos, z, digits) {
                    Some(tail) => Ok(tail),
                    None => tail_of(&sum, z, digits),
                };
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
