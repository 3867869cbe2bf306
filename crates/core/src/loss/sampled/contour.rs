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

use std::sync::Arc;

use rug::{Float, Rational, float::Round};

use super::{
    Direction, Strand,
    arithmetic::{Arithmetic, Precision, exact},
    beside,
    fixed::Length,
    kept::{Along, Kept, Kind, Moments, Terms},
    search::{Course, Plan, Search, Side, StrandPlan},
    sum::SampledSum,
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
        field::{Field, Real},
        precision, rational,
        twofold::ComplexTwofold,
        upper_bound::UpperBound,
    },
};

/// Sums of two doubles serve up to this number of digits.
const TWOFOLD_DIGITS: u32 = 14;
/// Between a few digits and these, digits are taken from the contour that has these, which requests close to one another share.
const SHARED_DIGITS: u32 = 12;
const FEW_DIGITS: u32 = 3;

/// The digits of a contour for an answer to this number of digits.
fn shared(digits: u32) -> u32 {
    if digits > FEW_DIGITS { digits.max(SHARED_DIGITS) } else { digits }
}
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
    let request = Request { sum, direction, side, epsilon, stop };
    let mut best = request.without_contour(digits)?;
    let mut wanted = f64::from(shared(digits)) + 1.0;
    for attempt in 0..4 {
        let Some(plan) = request.search().plan(wanted) else { break };
        let strands = Kept::of_sum(sum)?.strands(&request.search(), &plan.course)?;
        let kind = request.kind(&strands, digits, attempt > 0);
        let seconds = seconds(sum, &plan.course, &strands, kind);
        if seconds > machine::MOST_OF_SAMPLES {
            // A shorter contour has fewer digits.
            wanted /= 2.0;
            if wanted < 1.0 {
                break;
            }
            continue;
        }
        effort::spend(Effort::of_seconds(seconds));
        match request.by(&plan, &strands, kind, digits) {
            Ok(answer) => best = answer::both(Ok(best), Ok(answer), digits)?,
            // A line of too many nodes: fewer digits need fewer.
            Err(error) if error.is_beyond_reach() => {
                wanted /= 2.0;
                continue;
            }
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

/// ln of the hockey stick, or of its complement, in doubles. Where it is far from `near`, if there is such a number, a rough estimate.
pub(super) fn ln_approx(
    sum: &SampledSum,
    direction: Direction,
    side: Side,
    epsilon: &Rational,
    near: Option<f64>,
    stop: &Stop,
) -> Result<f64> {
    /// An estimate by the saddle point errs by less, where losses are smooth.
    const FAR: f64 = 60.0;
    let request = Request { sum, direction, side, epsilon, stop };
    if let Some(near) = near {
        let rough = request.search().rough();
        if (rough - near).abs() > FAR {
            return Ok(rough);
        }
    }
    let Some(plan) = request.search().plan(f64::from(SHARED_DIGITS) + 1.0) else {
        return Ok(request.search().plan(1.0).map_or(f64::NEG_INFINITY, |plan| plan.ln_estimate));
    };
    let strands = Kept::of_sum(sum)?.strands(&request.search(), &plan.course)?;
    let kind = request.kind(&strands, SHARED_DIGITS, false);
    if seconds(sum, &plan.course, &strands, kind) > machine::MOST_OF_SAMPLES {
        return Ok(plan.ln_estimate);
    }
    // An approximation is one of several on nearly the same course.
    effort::spend(Effort::of_steps(plan.course.nodes as f64, machine::PER_ROUGH_NODE));
    let value = match request.along(&plan.course, &strands, kind) {
        Err(error) if error.is_beyond_reach() => return Ok(plan.ln_estimate),
        along => request.sum_of_nodes(&plan.course, &*along?),
    };
    Ok(if *value.1.lower() > 0 { value.0.approximate() + value.1.ln().approximate() } else { plan.ln_estimate })
}

/// The price of a contour in seconds; infinite for one that would take much memory.
fn seconds(sum: &SampledSum, course: &Course, strands: &[StrandPlan], kind: Kind) -> f64 {
    const MOST_NODES: i64 = 2_000_000;
    if course.nodes > MOST_NODES {
        return f64::INFINITY;
    }
    let of = |(strand, plan): (&Strand, &StrandPlan)| {
        let (products, members) = (plan.grid.len(), strand.members.len() as f64);
        match kind {
            Kind::Twofold(length) => members * (products * length.price() * machine::PER_PRODUCT + machine::PER_POWER),
            Kind::Balls(_) => members * products * ComplexBall::PRICE * machine::SHARE_OF_A_STATE,
        }
    };
    let factors: f64 = sum.strands.iter().zip(strands).map(of).sum();
    let beside = sum.beside.as_ref().map_or(0.0, |own| beside::price(own, course));
    course.nodes as f64 * (factors + beside + machine::PER_ROUGH_NODE)
}

struct Request<'a> {
    sum: &'a SampledSum,
    direction: Direction,
    side: Side,
    epsilon: &'a Rational,
    stop: &'a Stop,
}

impl Request<'_> {
    fn search(&self) -> Search<'_> {
        Search { sum: self.sum, direction: self.direction, side: self.side, epsilon: self.epsilon.to_f64() }
    }

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
        let s = self.of_side(Side::Delta).search().stepped_saddle();
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

    fn of_side(&self, side: Side) -> Request<'_> {
        Request { side, ..*self }
    }

    /// The arithmetic for this number of digits.
    fn kind(&self, strands: &[StrandPlan], digits: u32, is_careful: bool) -> Kind {
        if digits > TWOFOLD_DIGITS {
            return Kind::Balls(precision::bits(digits, 128));
        }
        // The errors of all moments, where the sizes of terms add up to this much more than their sum.
        let of = |(strand, plan): (&Strand, &StrandPlan)| {
            let more = libm::exp(plan.grid.theta * plan.grid.theta * strand.most.to_f64() / 2.0);
            4.0 * more * strand.least.steps as f64 * Length::Short.error(plan.grid.len() as usize)
        };
        let error: f64 = self.sum.strands.iter().zip(strands).map(of).sum();
        let most = 0.1 * libm::exp(-f64::from(shared(digits)) * std::f64::consts::LN_10);
        // Left of the saddle point terms cancel, which a second attempt finds.
        Kind::Twofold(if error <= most && !is_careful { Length::Short } else { Length::Long })
    }

    fn along(&self, course: &Course, strands: &[StrandPlan], kind: Kind) -> Result<Arc<Along>> {
        let (sum, direction) = (self.sum, self.direction);
        Kept::of_sum(sum)?.along(&Moments { sum, direction, course: *course, strands, stop: self.stop }, kind)
    }

    /// By one contour.
    fn by(&self, plan: &Plan, strands: &[StrandPlan], kind: Kind, digits: u32) -> Result<Answer> {
        let (bits, course) = (precision::bits(digits, 128), &plan.course);
        let along = self.along(course, strands, kind)?;
        let (ln_scale, total) = self.sum_of_nodes(course, &along);
        let scale = ln_scale.exp();
        let rounded = scale.mul(&total);
        let beyond = UpperBound::of_enclosure(&scale).mul(&along.beyond).into_float();
        let alias = self.alias(plan)?.into_float();
        // The sum is the answer, and terms that are not negative, and less than `beyond` in size that is not summed.
        let lower = Float::with_val_round(bits, rounded.lower() - &alias, Round::Down).0;
        let lower = Float::with_val_round(bits, &lower - &beyond, Round::Down).0;
        let upper = Float::with_val_round(bits, rounded.upper() + &beyond, Round::Up).0;
        if lower.is_nan() || upper.is_nan() {
            return self.without_contour(digits);
        }
        let value = Enclosure::new(lower, upper).clamp(0.0, 1.0);
        let proof = ContourProof {
            contour: course.c,
            complement: self.side == Side::Complement,
            period_nodes: None,
            lattice_refused: None,
            swept_height: course.h * course.nodes as f64,
            evaluated_nodes: course.nodes + 1,
            side_lobes: 0,
            bits: if digits <= TWOFOLD_DIGITS { 106 } else { bits },
            alias_error: alias,
            truncation_error: beyond,
            rounding_error: Float::with_val_round(64, rounded.upper() - rounded.lower(), Round::Up).0,
        };
        Ok(Answer { met: value.is_tight(digits), value, proof: proof.into() })
    }

    /// ln A and (h / 2 pi) sum over |k| <= K of g(k h) / A, of the complement with the opposite sign.
    fn sum_of_nodes(&self, course: &Course, along: &Along) -> (Enclosure, Enclosure) {
        let total = match &along.terms {
            Terms::Twofold(terms) => self.total::<ComplexTwofold>(course, terms, ()).enclosure(),
            Terms::Balls(terms) => {
                let bits = along.ln_scale.lower().prec();
                self.total::<ComplexBall>(course, terms, bits).enclosure()
            }
        };
        let c_epsilon = Rational::from_f64(course.c).unwrap_or_default() * self.epsilon;
        let ln_scale = along.ln_scale.sub(&Enclosure::rational(&c_epsilon, along.ln_scale.lower().prec()));
        (ln_scale, if self.side == Side::Complement { total.negate() } else { total })
    }

    fn total<F: Arithmetic>(&self, course: &Course, terms: &[F], precision: Precision<F>) -> F::Real {
        /// Nodes from one exact angle to the next.
        const ANEW: usize = 64;
        let number = |x: &Rational| F::Real::rational(x, precision);
        let step = Rational::from_f64(course.h).unwrap_or_default();
        // exp(-i t eps)
        let turned = |k: usize| F::cis(&number(&-(Rational::from(&step * k as u64) * self.epsilon)));
        let (one, mut state) = (turned(1), turned(0));
        let mut total: F::Real = exact(0.0, precision);
        for (k, term) in terms.iter().enumerate() {
            if k % ANEW == 0 {
                state = turned(k);
            }
            let term = term.mul(&state).re();
            total = total.add(&if k == 0 { term } else { term.mul_int(2) });
            state = state.mul(&one);
        }
        let two_pi = F::Real::pi(precision).mul_int(2);
        total.mul(&number(&step)).mul(&two_pi.recip())
    }

    /// Upper bound on the terms that the trapezoid rule adds.
    fn alias(&self, plan: &Plan) -> Result<UpperBound> {
        let double = |x: f64| Enclosure::double(x, BITS);
        let (c, h) = (plan.course.c, plan.course.h);
        let period = Enclosure::pi(BITS).mul(&double(2.0)).div(&double(h));
        let series = |other: f64| -> Result<UpperBound> {
            // psi(c') sum over m >= 1 of exp(-|c - c'| m Y)
            let apart = double(c).sub(&double(other));
            let apart = apart.max(&apart.clone().negate()).mul(&period);
            let psi = if other == 0.0 { UpperBound::of_enclosure(&double(1.0)) } else { self.psi(other)? };
            Ok(psi.mul(&UpperBound::of_geometric(&apart)))
        };
        Ok(series(plan.left)?.add(&series(plan.right)?))
    }

    /// Upper bound on M(c) exp(-c eps).
    fn psi(&self, c: f64) -> Result<UpperBound> {
        let ln_moment = Kept::of_sum(self.sum)?.ln_moment_above(self.sum, self.direction, c)?;
        let c_epsilon = rational::from_f64(c)? * self.epsilon;
        Ok(UpperBound::exp(&ln_moment.sub(&Enclosure::rational(&c_epsilon, BITS))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{loss::sampled::Phase, numeric::rational::parse};

    fn sum(rate: &str, sigma2: &str, steps: u64) -> SampledSum {
        let phase = Phase { rate: parse(rate).unwrap(), sigma2: parse(sigma2).unwrap(), steps, group: 1 };
        SampledSum::new([phase], Rational::new())
    }

    /// Of a group, each record of which is in a sample by itself: one step by Simpson's rule, in both directions.
    #[test]
    fn one_step_of_a_group_agrees_with_a_quadrature() {
        const STEP: f64 = 1e-3;
        for (rate, sigma2, group) in [("0.1", "1", 2), ("0.01", "0.5", 3), ("0.3", "4", 5), ("0.001", "1", 20)] {
            let phase = Phase { rate: parse(rate).unwrap(), sigma2: parse(sigma2).unwrap(), steps: 1, group };
            let (g, s2) = (phase.rate.to_f64(), phase.sigma2.to_f64());
            let density = |x: f64| libm::exp(-x * x / (2.0 * s2)) / (std::f64::consts::TAU * s2).sqrt();
            let binomial = |j: u32| {
                let choose = (0..j).fold(1.0, |c, i| c * f64::from(group - i) / f64::from(i + 1));
                choose * g.powi(j as i32) * (1.0 - g).powi((group - j) as i32)
            };
            let mixture = |x: f64| (0..=group).map(|j| binomial(j) * density(x - f64::from(j))).sum::<f64>();
            let sum = SampledSum::new([phase], Rational::new());
            for (direction, epsilon) in [(Direction::Remove, 0.5_f64), (Direction::Remove, 2.0), (Direction::Add, 0.01)]
            {
                let of = |x: f64| {
                    let (p, q) = direction.pick([(mixture(x), density(x)), (density(x), mixture(x))]);
                    (p - libm::exp(epsilon) * q).max(0.0)
                };
                let points = (-30_000..=50_000).map(|k| of(f64::from(k) * STEP));
                let other: f64 = points.sum::<f64>() * STEP;
                let exact = rational::from_f64(epsilon).unwrap();
                let value = sum.hockey_stick(direction, Side::Delta, &exact, 9, &Stop::default()).unwrap();
                let own = value.value.approximate();
                // The rule errs at the kink by its step squared.
                assert!(
                    value.met && (own - other).abs() < 1e-6 * other + 1e-12,
                    "{rate} {group} {direction:?} {epsilon}: {own} {other}"
                );
                // Moments of one step fall slowly: a contour has few digits.
                let contour = enclose(&sum, direction, Side::Delta, &exact, 9, &Stop::default()).unwrap().value;
                assert!(contour.overlaps(&value.value), "{rate} {group} {direction:?} {epsilon}: {contour}");
            }
        }
    }

    /// A group of one is one record; more records are less private, and at most as private as the pair that dominates them is.
    #[test]
    fn groups_are_between_their_bounds() {
        let delta = |phase: Phase| {
            let sum = SampledSum::new([phase], Rational::new());
            let epsilon = Rational::from(2);
            let own = enclose(&sum, Direction::Remove, Side::Delta, &epsilon, 9, &Stop::default()).unwrap();
            assert!(own.met, "{:?}", own.value);
            own.value
        };
        let phase = |group| Phase { rate: Rational::from((1, 100)), sigma2: Rational::from(2), steps: 300, group };
        let mut before = Enclosure::double(0.0, 64);
        for group in [1, 2, 3, 6] {
            let own = delta(phase(group));
            assert!(own.lower() > before.upper(), "{group}: {own} {before}");
            assert!(own.lower() <= delta(phase(group).dominating()).upper());
            before = own;
        }
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
                let approx = sum.ln_hockey_stick_approx(direction, &epsilon, None, &Stop::default()).unwrap().exp();
                assert!((approx / answer.value.approximate() - 1.0).abs() < 1e-8, "{approx} {answer:?}");
                if direction == Direction::Remove {
                    assert!((answer.value.approximate() / known - 1.0).abs() < 1e-9, "{answer:?}");
                }
            }
        }
    }

    /// Two different steps by quadrature, to 22 digits: over the loss of the first, with the closed form of the second.
    #[test]
    fn two_steps_agree_with_a_quadrature() {
        for (first, second, epsilon, known) in [
            (("1/5", "4"), ("1/10", "1"), "1/2", "0.002640862112471629730985"),
            (("1/100", "1/25"), ("1/100", "1/25"), "3", "0.01554879797895811409605"),
            (("1/1000", "1/25"), ("1/1000", "1/25"), "1/2", "0.001674961837213968311731"),
        ] {
            let phase = |(rate, sigma2): (&str, &str)| Phase {
                rate: parse(rate).unwrap(),
                sigma2: parse(sigma2).unwrap(),
                steps: 1,
                group: 1,
            };
            let sum = SampledSum::new([phase(first), phase(second)], Rational::new());
            let epsilon = parse(epsilon).unwrap();
            let of = |direction, digits| {
                sum.hockey_stick(direction, Side::Delta, &epsilon, digits, &Stop::default()).unwrap()
            };
            let answer = of(Direction::Remove, 12);
            let known = parse(known).unwrap();
            let off = Rational::from_f64(1e-21).unwrap() * &known;
            let [low, high] = [Rational::from(&known - &off), Rational::from(&known + &off)];
            assert!(*answer.value.lower() <= high && low <= *answer.value.upper(), "{answer:?}");
            assert_eq!(*of(Direction::Add, 12).value.lower(), 0);
        }
    }

    /// Phases of nearly equal noise share their nodes, in integers and in balls; they lie between as many steps of the least and of the most noise.
    #[test]
    fn phases_that_share_nodes_agree_in_both_arithmetics() {
        let phase = |k: u32| Phase {
            rate: Rational::from((1, 50)),
            sigma2: Rational::from((100 + k, 80)),
            steps: 2 + u64::from(k),
            group: 1,
        };
        let phases: Vec<Phase> = (0..8).map(phase).collect();
        let all = SampledSum::new(phases.clone(), Rational::from((1, 100)));
        assert!(all.strands.len() < phases.len());
        let steps: u64 = phases.iter().map(|phase| phase.steps).sum();
        let [least, most] = [&phases[0], &phases[7]]
            .map(|phase| SampledSum::new([Phase { steps, ..phase.clone() }], Rational::from((1, 100))));
        for (direction, side) in
            [(Direction::Remove, Side::Delta), (Direction::Add, Side::Delta), (Direction::Remove, Side::Complement)]
        {
            let epsilon = Rational::from((1, 3));
            let of = |sum: &SampledSum, digits| {
                sum.hockey_stick(direction, side, &epsilon, digits, &Stop::default()).unwrap()
            };
            let (quick, slow) = (of(&all, 12), of(&all, 17));
            assert!(quick.met && slow.met, "{quick:?} {slow:?}");
            assert!(quick.value.overlaps(&slow.value), "{quick:?} {slow:?}");
            let (more, less) = (of(&least, 12).value, of(&most, 12).value);
            let (more, less) = if side == Side::Delta { (more, less) } else { (less, more) };
            assert!(less.upper() < quick.value.lower() && quick.value.upper() < more.lower(), "{quick:?}");
            // What was remembered has the same digits as what is computed anew.
            let anew = SampledSum::new(phases.clone(), Rational::from((1, 100)));
            assert_eq!(of(&anew, 12).value, quick.value);
        }
    }
}
