//! One noisy count, or one at each of several levels: posterior, risk and decisions, exactly.
//!
//! With n = the released count minus the known count m, the evidence for m + 1 against m is the log-likelihood ratio
//! L = rho (2 n - 1), an exact rational. So everything is a function of L and of the prior: the known count does not
//! matter (Section S1.1). Counts at several levels at which the target is known to be unique (Section S1.3), and counts of
//! several releases (Section S5), add their evidence.

use rug::Rational;

use super::{bits_for, check_prior, exp, noise, odds, plus_at_most, plus_or_minus};
use crate::{
    error::{Error, Result},
    numeric::{
        Enclosure, rational,
        sum::{Group, Law, LossSum},
        theta,
    },
};

/// The bits beyond which an answer is returned as wide as it is.
const MOST_BITS: u32 = 6000;

/// An adversary with a prior, and the rho of each noisy count that moves by one with the target.
///
/// ```
/// use dp_assay::{numeric::rational::parse, risk::single::Attack};
/// // The block count of the 2020 redistricting data as Kazan & Reiter read it, prior 1/2.
/// let attack = Attack::new(parse("1/2")?, vec![parse("0.099")?])?;
/// assert_eq!(attack.posterior(&[2], 12)?.shown(6), "0.573711");
/// assert_eq!(attack.marginal(12)?.shown(6), "0.523615");
/// assert_eq!(attack.correct_decision(12)?.shown(6), "0.588759");
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Attack {
    prior: Rational,
    rhos: Vec<Rational>,
}

/// What each output of a sequence of releases multiplies the adversary's belief by (Section S5).
#[derive(Clone, Debug)]
pub struct Sequence {
    /// R' of each release, given the ones before it.
    pub steps: Vec<Enclosure>,
    /// R' of all together: their product.
    pub total: Enclosure,
}

impl Attack {
    /// The attack with this prior on counts of these rho, of which there must be at least one.
    pub fn new(prior: Rational, rhos: Vec<Rational>) -> Result<Self> {
        check_prior(&prior)?;
        if rhos.is_empty() {
            return Err(Error::out_of_range("the list of levels", "empty", "the rho of at least one noisy count"));
        }
        for rho in &rhos {
            noise(rho)?;
        }
        // The integral over several counts takes as many nodes as the odds have digits, squared.
        let edge = Rational::from((1, 10_u64.pow(18)));
        if rhos.len() > 1 && (prior < edge || prior > Rational::from(1 - &edge)) {
            let expected = "from 1e-18 to 1 - 1e-18 where there are several counts";
            return Err(Error::out_of_range("the prior", rational::display(&prior), expected));
        }
        Ok(Attack { prior, rhos })
    }

    /// The prior probability that the target counts.
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
            let expected = format!("one for each rho, which makes {}", self.rhos.len());
            return Err(Error::out_of_range("the number of noisy counts", noisy.len(), &expected));
        }
        let one = |(rho, n): (&Rational, &i64)| (Rational::from(*n) * 2_u32 - 1_u32) * rho;
        Ok(self.rhos.iter().zip(noisy).map(one).fold(Rational::new(), |sum, part| sum + part))
    }

    /// The posterior probability that the target counts, after the released counts minus the known ones (3.1), (S1.1).
    pub fn posterior(&self, noisy: &[i64], digits: u32) -> Result<Enclosure> {
        Ok(posterior(&self.prior, &self.evidence(noisy)?, bits_for(digits)))
    }

    /// R' = posterior / prior (3.2).
    pub fn risk(&self, noisy: &[i64], digits: u32) -> Result<Enclosure> {
        Ok(self.per_prior(&self.posterior(noisy, digits)?))
    }

    /// A probability divided by the prior: R from the marginal posterior (3.4), R' from a posterior (3.2).
    pub fn per_prior(&self, probability: &Enclosure) -> Enclosure {
        probability.div(&Enclosure::rational(&self.prior, probability.lower().prec() + 16))
    }

    /// R' release by release: the posterior after one is the prior of the next, and the steps multiply to the total
    /// (S5.7).
    pub fn sequence(&self, noisy: &[i64], digits: u32) -> Result<Sequence> {
        self.evidence(noisy)?;
        let bits = bits_for(digits) + 8;
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

    /// The probability with which the noisy counts come out, if the target counts or not; the counts are independent.
    pub fn probability(&self, noisy: &[i64], present: bool, digits: u32) -> Result<Enclosure> {
        self.evidence(noisy)?;
        let mut product = Enclosure::double(1.0, bits_for(digits));
        for (rho, n) in self.rhos.iter().zip(noisy) {
            product = product.mul(&noise(rho)?.mass(n.saturating_sub(i64::from(present)), digits + 3));
        }
        Ok(product)
    }

    /// The posterior probability averaged over the outputs when the target counts (3.3), to a relative width of
    /// 10^-digits.
    pub fn marginal(&self, digits: u32) -> Result<Enclosure> {
        let mut bits = bits_for(digits) + 16;
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

    /// The same when the target does not count. The prior is the mean of all posteriors:
    /// p E[posterior | counts] + (1 - p) E[posterior | does not] = p.
    pub fn marginal_if_absent(&self, digits: u32) -> Result<Enclosure> {
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
    /// rho (2 n - 1) > ln((1 - p) / p) (3.5), (3.6).
    ///
    /// No tie occurs: the right side is zero, where the left is not, or transcendental.
    pub fn threshold(&self) -> Result<i64> {
        let [rho] = self.rhos.as_slice() else {
            let expected = "one count; several have no common threshold";
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
                    let expected = "one whose odds are not within 10^-30000 of a turn";
                    return Err(Error::out_of_range("the prior", rational::display(&self.prior), expected));
                }
                _ => bits *= 2,
            }
        }
    }

    /// The probability that the adversary who decides by the larger posterior decides for the target, when it counts
    /// (3.6).
    ///
    /// Several counts need a lattice of evidence that can be swept.
    pub fn correct_decision(&self, digits: u32) -> Result<Enclosure> {
        match self.rhos.as_slice() {
            [rho] => noise(rho)?.survival(self.threshold()?.saturating_sub(1), digits),
            _ => self.tail_of_evidence(false, digits),
        }
    }

    /// The probability that the same adversary decides against the target, when it does not count.
    pub fn correct_if_absent(&self, digits: u32) -> Result<Enclosure> {
        match self.rhos.as_slice() {
            [rho] => noise(rho)?.cdf(self.threshold()?.saturating_sub(1), digits),
            _ => self.tail_of_evidence(true, digits),
        }
    }

    /// P[L > ln((1 - p) / p)] when the target counts, or `P[L <= ln((1 - p) / p)]` when not: -L has then the law that L
    /// has otherwise.
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
            let end = |end: &rug::Float| end.to_rational().unwrap_or_default();
            let (low, high) = (end(ln.lower()), end(ln.upper()));
            // The first lattice point beyond the edge is the same from both ends of its enclosure, or is refined.
            let (first, again) =
                if absent { (-sum.at_most(&low), -sum.at_most(&high)) } else { (sum.above(&low), sum.above(&high)) };
            if first == again || bits > 100_000 {
                let (tail, other) = (sum.upper_tail(&first, digits)?.value, sum.upper_tail(&again, digits)?.value);
                return Ok(tail.hull(&other));
            }
            bits *= 2;
        }
    }
}

/// 1 / (1 + exp(-L) (1 - p) / p).
pub(super) fn posterior(prior: &Rational, evidence: &Rational, bits: u32) -> Enclosure {
    let against = Enclosure::rational(&(Rational::from(1) / odds(prior)), bits + 8);
    let ratio = exp(&-evidence.clone(), bits + 8).mul(&against);
    Enclosure::double(1.0, bits + 8).add(&ratio).recip()
}

/// sum over x in Z of g(x) / (1 + exp(-rho (2 x + 1)) (1 - p) / p), with g the mass of N_Z(0, sigma2), by every k-th
/// term. The summand F at real x has a Gaussian factor and a second one that is at most 1 in modulus where
/// |Im x| <= pi sigma2 / 2, since exp(-rho (2 x + 1)) has a real part >= 0 there.
fn marginal_of_one(prior: &Rational, rho: &Rational, bits: u32) -> Enclosure {
    use std::f64::consts::{LN_2, PI};
    let sigma2 = Rational::from(1) / Rational::from(rho * 2_u32);
    let sigma = sigma2.to_f64().sqrt();
    let per_sigma = ((f64::from(bits) * LN_2 + 8.0) / (2.0 * PI * PI)).sqrt();
    let stride = if sigma >= 4.0 * per_sigma { (sigma / per_sigma).floor() as i64 } else { 1 };
    let last = (sigma * (2.0 * f64::from(bits) * LN_2).sqrt() / stride as f64).ceil() as i64 + 1;
    let mut sum = Enclosure::double(0.0, bits + 16);
    for k in -last..=last {
        let x = Rational::from(k) * stride;
        let exponent = -Rational::from(x.square_ref()) * rho;
        let evidence = (x * 2_u32 + 1_u32) * rho;
        sum = sum.add(&exp(&exponent, bits + 16).mul(&posterior(prior, &evidence, bits + 16)));
    }
    let scale = Enclosure::double(stride as f64, bits + 16).div(&theta::gaussian_sum(&sigma2, bits + 16));
    let value = sum.mul(&scale);
    // Terms beyond: stride exp(-(stride k)^2 / (2 sigma2)) is at most the integral over the step before, and the integral
    // from y on at most sigma sqrt(pi / 2) exp(-y^2 / (2 sigma2)); divided by the normalising sum, which is at least
    // sigma sqrt(2 pi), both sides make at most exp(-(stride last)^2 / (2 sigma2)).
    let reach = Rational::from(last) * stride;
    let left_out = exp(&-(reach.square() * rho), 64);
    let value = plus_at_most(&value, &left_out);
    if stride == 1 {
        return value;
    }
    // Both sums are trapezoid rules for one integral. On Im x = +-a the integral of |F| is at most exp(a^2 / (2 sigma2)).
    // With a = 2 pi sigma2 / k <= pi sigma2 / 2 for k >= 4 the rule of step k errs by at most
    // 2 exp(a^2 / (2 sigma2)) / (exp(2 pi a / k) - 1) <= 2.01 exp(-2 pi^2 sigma2 / k^2); the rule of step 1, with
    // a = pi sigma2 / 2, by less.
    let ratio = &sigma2 / (Rational::from(stride) * stride);
    let exponent = Enclosure::pi(64).mul(&Enclosure::pi(64)).mul(&Enclosure::rational(&(ratio * 2_u32), 64));
    plus_or_minus(&value, &exponent.negate().exp().mul(&Enclosure::double(5.0, 64)))
}

/// The marginal posterior of several counts, by Mellin's integral of the logistic function.
///
/// 1 / (1 + u) = (1 / 2 pi i) times the integral of u^(-s) pi / sin(pi s) over Re s = 1/2. With u = exp(L + c),
/// c = ln(p / (1 - p)), s = 1/2 + i t and the average over L,
///
/// 1 - marginal = exp(-c / 2) times the integral over t > 0 of m(t) cos(c t) / cosh(pi t),
///
/// where m(t) = E[exp((-1/2 + i t) L)] is real, because the two laws of the pair mirror each other: a product over the
/// counts.
fn marginal_by_integral(prior: &Rational, rhos: &[Rational], bits: u32) -> Enclosure {
    use std::f64::consts::{LN_2, PI};
    let total = rhos.iter().fold(Rational::new(), |sum, rho| sum + rho);
    let c = Enclosure::rational(&odds(prior), bits + 32).ln();
    let size = c.approximate().abs();
    let work = bits + (size * 1.5).min(1e6) as u32 + 32;
    let c = Enclosure::rational(&odds(prior), work + 16).ln();
    // Alias and truncation errors below 2^-bits: the strip is 9/20 wide.
    let nats = f64::from(bits) * LN_2 + 4.0;
    let inverse_step = ((nats + 1.0 + size) / (2.0 * PI * 0.45)).ceil();
    let step = Rational::from((1, (inverse_step as u64).max(2)));
    let nodes = ((nats + size / 2.0) / PI * inverse_step).ceil() as i64 + 1;
    let factors: Vec<Factor> = rhos.iter().map(|rho| Factor::new(rho, work)).collect();
    let pi = Enclosure::pi(work + 16);
    let one = Enclosure::double(1.0, work);
    let mut sum = Enclosure::double(0.5, work);
    for factor in &factors {
        sum = sum.mul(&factor.at(&Rational::new(), work));
    }
    for node in 1..=nodes {
        let t = Rational::from(&step * node);
        let real = Enclosure::rational(&t, work + 16);
        let decay = pi.mul(&real).negate().exp();
        // 1 / cosh(x) = 2 exp(-x) / (1 + exp(-2 x)).
        let kernel = decay.mul(&Enclosure::double(2.0, work)).div(&one.add(&decay.mul(&decay)));
        let term = kernel.mul(&c.mul(&real).cos());
        sum = sum.add(&factors.iter().fold(term, |term, factor| term.mul(&factor.at(&t, work))));
    }
    let short = |x: &Rational| Enclosure::rational(x, 64);
    let step_short = short(&step);
    let integral = sum.mul(&Enclosure::rational(&step, work));
    // Nodes beyond: |m(t)| <= m(0) <= exp(-rho / 4), and 2 exp(-pi t) decreases: at most its integral from the last node.
    let level = short(&-(total.clone() / 4_u32)).exp();
    let end = Enclosure::pi(64).mul(&short(&Rational::from(&step * nodes))).negate().exp();
    let left_out = level.mul(&end);
    // On Im t = +-b, b = 9/20: |m| <= M(-1/2 + b) <= exp(rho (b^2 - 1/4)), |exp(i c t)| <= exp(|c| b), and
    // |cosh(pi t)| >= cos(pi b) cosh(pi Re t), whose inverse integrates to 1 / cos(pi b) < 6.4. The integral over the
    // half line is half of that over the line, and the rule errs by at most the two sides' sum over exp(2 pi b / h) - 1.
    let b = Rational::from((9, 20));
    let growth = short(&((Rational::from(b.square_ref()) - Rational::from((1, 4))) * &total)).exp();
    let tilt = short(&b).mul(&Enclosure::double(size + 1e-6 * size, 64)).exp();
    let period = Enclosure::pi(64).mul(&short(&(b * 2_u32))).div(&step_short).exp_m1();
    let alias = growth.mul(&tilt).mul(&Enclosure::double(6.4, 64)).div(&period);
    let integral = plus_or_minus(&plus_or_minus(&integral, &left_out), &alias);
    let tilt = c.div(&Enclosure::double(-2.0, work)).exp();
    Enclosure::double(1.0, work).sub(&tilt.mul(&integral))
}

/// E[exp((-1/2 + i t) L)] of one count, for real t: with Z the normalising sum,
///
/// ```text
/// exp(-rho / 4) sum_x exp(-rho (x - 1/2)^2) cos(2 rho t (x - 1/2)) / Z          direct
///   = exp(-rho / 4) sum_k (-1)^k exp(-(rho t - pi k)^2 / rho) / sum_k exp(-pi^2 k^2 / rho)      images
/// ```
struct Factor {
    rho: Rational,
    scale: Enclosure,
    direct: Option<Vec<Enclosure>>,
}

impl Factor {
    fn new(rho: &Rational, bits: u32) -> Self {
        let level = exp(&-(rho.clone() / 4_u32), bits);
        if *rho < 1 {
            let pi = Enclosure::pi(bits + 8);
            let exponent = pi.mul(&pi).div(&Enclosure::rational(rho, bits + 8));
            return Factor { rho: rho.clone(), scale: level.div(&theta::theta3(&exponent, bits)), direct: None };
        }
        let sigma2 = Rational::from(1) / Rational::from(rho * 2_u32);
        // Terms x and 1 - x are equal: twice those of x >= 1. Left out: below 2^-bits each, and falling by exp(-2) at least.
        let last = (f64::from(bits + 8) / rho.to_f64()).sqrt().ceil() as i64 + 2;
        let half = |x: i64| Rational::from((2 * x - 1, 2));
        let weights = (1..=last).map(|x| exp(&-(half(x).square() * rho), bits)).collect();
        let scale = level.mul(&Enclosure::double(2.0, bits)).div(&theta::gaussian_sum(&sigma2, bits));
        Factor { rho: rho.clone(), scale, direct: Some(weights) }
    }

    fn at(&self, t: &Rational, bits: u32) -> Enclosure {
        let angle = Rational::from(&self.rho * t);
        let error = Enclosure::double(1.0, 64).times_power_of_two(-i64::from(bits));
        let sum = match &self.direct {
            Some(weights) => {
                let terms = (1..).zip(weights).map(|(x, weight): (i64, &Enclosure)| {
                    let turn = Rational::from(&angle * (2 * x - 1));
                    let size = turn.to_f64().abs().log2().max(0.0) as u32;
                    Enclosure::rational(&turn, bits + size).cos().mul(weight)
                });
                let sum = terms.fold(Enclosure::double(0.0, bits), |sum, term| sum.add(&term));
                // exp(-rho (last + 1/2)^2) / (1 - exp(-2)) < 2^-bits.
                plus_or_minus(&sum, &error)
            }
            None => {
                let nearest = (angle.to_f64() / std::f64::consts::PI).round() as i64;
                let size = (nearest.unsigned_abs() + 2).ilog2();
                let pi = Enclosure::pi(bits + 16 + 2 * size);
                let real = Enclosure::rational(&angle, bits + 16 + 2 * size);
                let inverse = Enclosure::rational(&(Rational::from(-1) / &self.rho), bits + 16 + 2 * size);
                // Distances beyond grow by pi each: (pi (r + 1/2))^2 / rho >= bits ln 2 + 1 for the first left out.
                let reach = ((f64::from(bits) + 2.0) * self.rho.to_f64() * 0.07).sqrt().ceil() as i64 + 1;
                let mut sum = Enclosure::double(0.0, bits);
                for k in nearest - reach..=nearest + reach {
                    let distance = real.sub(&pi.mul(&Enclosure::double(k as f64, bits)));
                    let term = distance.mul(&distance).mul(&inverse).exp();
                    sum = if k % 2 == 0 { sum.add(&term) } else { sum.sub(&term) };
                }
                // Four times the first left out bounds both sides.
                plus_or_minus(&sum, &error)
            }
        };
        sum.mul(&self.scale)
    }
}
