//! The integral along Re s = c, with every error bounded.
//!
//! With g(t) = F^n exp(-s eps) / (s (s + 1)) at s = c + i t, and A = exp(-c eps) prod N^n for the N of each phase,
//!
//! ```text
//! (h / 2 pi) sum over all k of g(k h) = sum over all m of d(eps - m Y) exp(-c m Y),   Y = 2 pi / h,
//! ```
//!
//! where d is the profile for c > 0 and minus its complement for -1 < c < 0 (Poisson's summation formula). Both are between 0 and exp(-c' y) M(c') at y, for
//! every c' on the same side, so the terms with m other than 0 are bounded by two geometric series. The sum ends at k = K; beyond it |F| is at most N(T) with
//! T = K h, the kernel at most 1 / t^2, and h times the sum of 1 / t^2 at most 1 / T.

use num_complex::Complex64;
use rug::{Float, Rational, float::Round};

use super::{
    Direction,
    arithmetic::{Arithmetic, Precision, exact},
    line::{ln_moment_above, start_and_factor},
    search::{Plan, Search, Side},
    sum::{SampledSum, exact_power},
};
use crate::{
    error::Result,
    loss::{
        answer::{self, Answer, ContourProof, Proof},
        engine::machine,
        stop::Stop,
    },
    numeric::{
        Enclosure,
        ball::ComplexBall,
        effort::{self, Effort},
        enclosure,
        field::Real,
        precision, rational,
        twofold::ComplexTwofold,
        upper_bound::UpperBound,
    },
};

/// Sums of two doubles serve up to this number of digits.
const TWOFOLD_DIGITS: u32 = 14;
/// Products of a contour that are affordable: a few seconds as sums of two doubles.
const MOST_PRODUCTS: f64 = 6e7;
/// The same in doubles.
const MOST_APPROX: f64 = 1e7;
/// Bits of error bounds.
const BITS: u32 = 64;

/// Encloses the hockey stick of one direction, or its complement.
pub(super) fn enclose(
    sum: &SampledSum,
    direction: Direction,
    side: Side,
    epsilon: &Rational,
    digits: u32,
    stop: &Stop,
) -> Result<Answer> {
    let request = Request { sum, direction, side, epsilon };
    let search = Search { sum, direction, side, epsilon: epsilon.to_f64() };
    let mut best = request.without_contour(digits)?;
    let mut wanted = f64::from(digits) + 1.0;
    for _ in 0..4 {
        let Some(plan) = search.plan(wanted) else { break };
        let factor = if digits <= TWOFOLD_DIGITS { 1.0 } else { 20.0 };
        if plan.cost() * factor > MOST_PRODUCTS {
            // A shorter contour has fewer digits.
            wanted /= 2.0;
            if wanted < 1.0 {
                break;
            }
            continue;
        }
        match request.by(&plan, digits, stop) {
            Ok(answer) => best = answer::both(Ok(best), Ok(answer), digits)?,
            // A line of too many nodes.
            Err(error) if error.is_beyond_reach() => break,
            Err(error) => return Err(error),
        }
        if best.met || wanted < f64::from(digits) {
            break;
        }
        // The estimate of the answer was too high.
        wanted += 3.0;
    }
    Ok(best)
}

/// ln of the hockey stick, or of its complement, in doubles.
pub(super) fn ln_approx(
    sum: &SampledSum,
    direction: Direction,
    side: Side,
    epsilon: &Rational,
    stop: &Stop,
) -> Result<f64> {
    const DIGITS: f64 = 10.0;
    let search = Search { sum, direction, side, epsilon: epsilon.to_f64() };
    let Some(plan) = search.plan(DIGITS).filter(|plan| plan.cost() <= MOST_APPROX) else {
        return Ok(search.plan(1.0).map_or(f64::NEG_INFINITY, |plan| plan.ln_estimate));
    };
    let request = Request { sum, direction, side, epsilon };
    let (ln_scale, total) = match request.total::<Complex64>(&plan, (), BITS, stop) {
        Err(error) if error.is_beyond_reach() => return Ok(plan.ln_estimate),
        total => total?,
    };
    Ok(if total > 0.0 { ln_scale.approximate() + libm::log(total) } else { plan.ln_estimate })
}

struct Request<'a> {
    sum: &'a SampledSum,
    direction: Direction,
    side: Side,
    epsilon: &'a Rational,
}

impl Request<'_> {
    /// Where no contour serves: between zero and the least of four bounds.
    fn without_contour(&self, digits: u32) -> Result<Answer> {
        let unsampled = self.sum.above(self.epsilon, digits);
        let by_mixture = self.sum.above_by_mixture(self.epsilon, digits);
        let by_central = self.sum.above_by_central_moments(self.epsilon);
        let others = [self.above_by_moment()?, Some(by_mixture), by_central];
        let upper = others.into_iter().flatten().fold(unsampled.upper().clone(), |a, b| enclosure::smaller(&a, &b));
        let above = Enclosure::new(Float::new(BITS), upper);
        let value = match self.side {
            Side::Delta => above,
            Side::Complement => Enclosure::double(1.0, BITS).sub(&above),
        };
        let why = "no contour: the least of the same noise without sampling, of one moment of the loss, of central moments, and of the probability of no sampled step";
        Ok(Answer { met: false, value, proof: Proof::bound(why) })
    }

    /// delta <= M(s) exp(-s eps) s^s / (s + 1)^(s + 1) at the s that is best in doubles; `None` beyond reach.
    fn above_by_moment(&self) -> Result<Option<Float>> {
        let search =
            Search { sum: self.sum, direction: self.direction, side: Side::Delta, epsilon: self.epsilon.to_f64() };
        let s = search.saddle();
        match self.psi(s) {
            Err(error) if error.is_beyond_reach() => Ok(None),
            Err(error) => Err(error),
            Ok(psi) => {
                let s = Enclosure::double(s, BITS);
                let next = s.add(&Enclosure::double(1.0, BITS));
                let factor = UpperBound::exp(&s.mul(&s.ln()).sub(&next.mul(&next.ln())));
                Ok(Some(psi.mul(&factor).into_float()))
            }
        }
    }

    /// By one contour.
    fn by(&self, plan: &Plan, digits: u32, stop: &Stop) -> Result<Answer> {
        let bits = precision::bits(digits, 128);
        let (ln_scale, total) = if digits <= TWOFOLD_DIGITS {
            let (ln_scale, total) = self.total::<ComplexTwofold>(plan, (), bits, stop)?;
            (ln_scale, total.enclosure())
        } else {
            let (ln_scale, total) = self.total::<ComplexBall>(plan, bits, bits, stop)?;
            (ln_scale, total.enclosure())
        };
        let scale = ln_scale.exp();
        let rounded = scale.mul(&total);
        let (alias, beyond) = (self.alias(plan)?.into_float(), self.beyond(plan, &scale)?.into_float());
        // The sum is the answer, and terms that are not negative, and less than `beyond` in size that is not summed.
        let lower = Float::with_val_round(bits, rounded.lower() - &alias, Round::Down).0;
        let lower = Float::with_val_round(bits, &lower - &beyond, Round::Down).0;
        let upper = Float::with_val_round(bits, rounded.upper() + &beyond, Round::Up).0;
        if lower.is_nan() || upper.is_nan() {
            return self.without_contour(digits);
        }
        let value = Enclosure::new(lower, upper).clamp(0.0, 1.0);
        let proof = ContourProof {
            contour: plan.c,
            complement: self.side == Side::Complement,
            period_nodes: None,
            lattice_refused: None,
            swept_height: plan.h * plan.nodes as f64,
            evaluated_nodes: plan.nodes + 1,
            side_lobes: 0,
            bits: if digits <= TWOFOLD_DIGITS { 106 } else { bits },
            alias_error: alias,
            truncation_error: beyond,
            rounding_error: Float::with_val_round(64, rounded.upper() - rounded.lower(), Round::Up).0,
        };
        Ok(Answer { met: value.is_tight(digits), value, proof: proof.into() })
    }

    fn power(&self, c: f64) -> Result<Rational> {
        Ok(exact_power(self.direction, &rational::from_f64(c)?))
    }

    /// ln A and (h / 2 pi) sum over |k| <= K of g(k h) / A, of the complement with the opposite sign.
    fn total<F: Arithmetic>(
        &self,
        plan: &Plan,
        precision: Precision<F>,
        bits: u32,
        stop: &Stop,
    ) -> Result<(Enclosure, F::Real)> {
        effort::spend(Effort::of(plan.cost(), F::PRICE * machine::SHARE_OF_A_STATE));
        let p = self.power(plan.c)?;
        let (c, h) = (rational::from_f64(plan.c)?, rational::from_f64(plan.h)?);
        let real = |x: &Rational| Enclosure::rational(x, bits);
        // A = exp(-c eps + rho (c + c^2)) prod N^n
        let concentrated = (&c + c.clone().square()) * &self.sum.rho;
        let mut ln_scale = real(&(concentrated - Rational::from(&c * self.epsilon)));
        let mut lines = Vec::new();
        let bounds = self.ln_moments_above(&p)?;
        for ((phase, chosen), ln_above) in self.sum.phases.iter().zip(&plan.phases).zip(bounds) {
            let copies = real(&Rational::from(phase.steps));
            ln_scale = ln_scale.add(&Enclosure::double(chosen.ln_norm, bits).mul(&copies));
            let nodes = chosen.grid.nodes::<F>(phase, &p, chosen.ln_norm, precision, bits)?;
            let states: Vec<(F, F)> = nodes.iter().map(|node| start_and_factor(node, 0.0, plan.h, precision)).collect();
            lines.push((phase.steps, chosen.grid.ln_error(phase, &p, chosen.ln_norm, ln_above)?, states));
        }
        let zero = || exact::<F::Real>(0.0, precision);
        let number = |x: &Rational| F::Real::rational(x, precision);
        let turn = (Rational::from(&c * 2_u32) + 1_u32) * &self.sum.rho - self.epsilon;
        let mut total = zero();
        for k in 0..=plan.nodes {
            if k % 256 == 0 {
                stop.check()?;
            }
            let t = Rational::from(&h * k);
            let mut product = F::new(exact(1.0, precision), zero());
            for (steps, ln_error, states) in &mut lines {
                let mut moment = F::new(zero(), zero());
                for (state, factor) in states.iter_mut() {
                    moment = moment.add(state);
                    *state = state.mul(factor);
                }
                product = product.mul(&moment.with_error(*ln_error).pow(*steps));
            }
            // F was evaluated at p + i t; for an added record s is at p - i t.
            if self.direction == Direction::Add {
                product = product.conj();
            }
            // exp(rho (i t (1 + 2 c) - t^2) - i t eps)
            let fall = number(&-(Rational::from(t.square_ref()) * &self.sum.rho)).exp();
            let gauss = F::cis(&number(&Rational::from(&t * &turn))).scale(&fall);
            let s = F::new(number(&c), number(&t));
            let next = F::new(number(&Rational::from(&c + 1_u32)), number(&t));
            let term = product.mul(&gauss).mul(&s.mul(&next).recip()).re();
            total = total.add(&if k == 0 { term } else { term.mul_int(2) });
        }
        let two_pi = F::Real::pi(precision).mul_int(2);
        let total = total.mul(&number(&h)).mul(&two_pi.recip());
        Ok((ln_scale, if self.side == Side::Complement { total.neg() } else { total }))
    }

    /// Upper bound on the terms that the trapezoid rule adds.
    fn alias(&self, plan: &Plan) -> Result<UpperBound> {
        let double = |x: f64| Enclosure::double(x, BITS);
        let period = Enclosure::pi(BITS).mul(&double(2.0)).div(&double(plan.h));
        let series = |other: f64| -> Result<UpperBound> {
            // psi(c') sum over m >= 1 of exp(-|c - c'| m Y)
            let apart = double(plan.c).sub(&double(other));
            let apart = apart.max(&apart.clone().negate()).mul(&period);
            let psi = if other == 0.0 { UpperBound::of(&double(1.0)) } else { self.psi(other)? };
            Ok(psi.mul(&UpperBound::of_geometric(&apart)))
        };
        Ok(series(plan.left)?.add(&series(plan.right)?))
    }

    /// Upper bound on M(c) exp(-c eps).
    fn psi(&self, c: f64) -> Result<UpperBound> {
        let p = self.power(c)?;
        let c = rational::from_f64(c)?;
        let exponent = (&c + c.clone().square()) * &self.sum.rho - Rational::from(&c * self.epsilon);
        let mut psi = UpperBound::exp(&Enclosure::rational(&exponent, BITS));
        for (phase, table) in self.sum.phases.iter().zip(&self.sum.tables) {
            let ln_moment = Enclosure::double(ln_moment_above(phase, table, &p)?, BITS);
            psi = psi.mul(&UpperBound::exp(&ln_moment.mul(&Enclosure::rational(&Rational::from(phase.steps), BITS))));
        }
        Ok(psi)
    }

    /// Upper bounds on ln F(p) of all phases.
    fn ln_moments_above(&self, p: &Rational) -> Result<Vec<f64>> {
        self.sum.phases.iter().zip(&self.sum.tables).map(|(phase, table)| ln_moment_above(phase, table, p)).collect()
    }

    /// Upper bound on what the nodes beyond the last one add: A N(T)^n exp(-rho T^2) / (pi T).
    fn beyond(&self, plan: &Plan, scale: &Enclosure) -> Result<UpperBound> {
        let p = self.power(plan.c)?;
        // Not above T, where the modulus is larger.
        let height = (plan.h * plan.nodes as f64).next_down();
        let double = |x: f64| Enclosure::double(x, BITS);
        let fall = double(height).mul(&double(height)).mul(&Enclosure::rational(&self.sum.rho, BITS)).negate();
        let kernel = Enclosure::pi(BITS).mul(&double(height)).recip();
        let mut bound = UpperBound::of(scale).mul(&UpperBound::exp(&fall)).mul(&UpperBound::of(&kernel));
        let bounds = self.ln_moments_above(&p)?;
        for ((phase, chosen), ln_above) in self.sum.phases.iter().zip(&plan.phases).zip(bounds) {
            let norms = [chosen.ln_norm, ln_above];
            let modulus = chosen.beyond.modulus::<ComplexTwofold>(phase, &p, norms, height, (), 128)?;
            bound = bound.mul(&powered(&modulus, 0.0, phase.steps));
        }
        Ok(bound)
    }
}

/// Upper bound on (N x)^n.
fn powered(x: &UpperBound, ln_norm: f64, copies: u64) -> UpperBound {
    let x = x.clone().into_float();
    let ln = Enclosure::new(x.clone(), x).ln().add(&Enclosure::double(ln_norm, BITS));
    UpperBound::exp(&ln.mul(&Enclosure::rational(&Rational::from(copies), BITS)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{loss::sampled::Phase, numeric::rational::parse};

    fn sum(rate: &str, sigma2: &str, steps: u64) -> SampledSum {
        let phase = Phase { rate: parse(rate).unwrap(), sigma2: parse(sigma2).unwrap(), steps };
        SampledSum::new([phase], Rational::new())
    }

    #[test]
    fn known_deltas_are_enclosed() {
        for (rate, sigma2, steps, epsilon, known) in [
            ("0.01", "1", 1000, "1.5", 1.0925590767036832e-4),
            ("0.01", "1", 1000, "3", 9.222089003881821e-10),
            ("0.001", "0.64", 10_000, "1", 5.319591378208319e-7),
            ("0.2", "16", 100, "2", 2.1462382695515396e-5),
            ("0.5", "4", 10, "4", 8.472448694028473e-6),
        ] {
            let sum = sum(rate, sigma2, steps);
            let epsilon = parse(epsilon).unwrap();
            for direction in [Direction::Remove, Direction::Add] {
                let answer = sum.hockey_stick(direction, Side::Delta, &epsilon, 12, &Stop::default()).unwrap();
                assert!(answer.met, "{rate} {steps} {direction:?}: {answer:?}");
                let approx = sum.ln_hockey_stick_approx(direction, &epsilon, &Stop::default()).unwrap().exp();
                assert!((approx / answer.value.approximate() - 1.0).abs() < 1e-8, "{approx} {answer:?}");
                if direction == Direction::Remove {
                    assert!((answer.value.approximate() / known - 1.0).abs() < 1e-9, "{answer:?}");
                }
            }
        }
    }
}
