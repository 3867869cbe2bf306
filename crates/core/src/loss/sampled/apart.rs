//! Little noise: an output shows which steps had the record in their samples.
//!
//! # The sum
//!
//! A is the set of steps that sampled the record, pr(A) its probability, P_A the outputs given A, Q those without the record, and M = sum of pr(A) P_A. An output x is classified
//! as C(x), the steps whose x_i is beyond a threshold t_i between 0 and the shift, 1. By a union bound over the steps the classification errs, C != A, with a probability of at most
//!
//! ```text
//! e = sum over the steps of (1 - g_i) Phi(-t_i / sigma_i) + g_i Phi(-(1 - t_i) / sigma_i).
//! ```
//!
//! A removed record: delta is the sum over all A of the integral of [M - exp(eps) Q]+ over the outputs classified as A. There M is at least pr(A) P_A, and at most that and the
//! pr(B) P_B of all other B, which are all together at most e. And the integral of [pr(A) P_A - exp(eps) Q]+ over all other outputs is at most pr(A) P_A[C != A], so that with the
//! profile H_A of P_A and Q, that of Gaussian noise whose rho is the sum of those of the steps in A,
//!
//! ```text
//! S - e <= delta <= S + e,    S = sum over all A of pr(A) H_A(eps - ln pr(A)).
//! ```
//!
//! An added record: M is at least pr(0) P_0, with 0 the empty set, so that delta <= H = sup over events of Q - exp(eps) pr(0) P_0. On the outputs classified as 0 all other pr(B) P_B are
//! together at most the probability that a sampled step looks like another, so that
//!
//! ```text
//! delta >= H - sum of Phi(-t_i / sigma_i) - exp(eps) times the sum of g_i Phi(-(1 - t_i) / sigma_i).
//! ```

use rug::{Float, Rational, float::Round};

use super::{Direction, Phase, search::Side, sum::SampledSum};
use crate::{
    loss::{
        answer::{Answer, Proof},
        engine::machine,
        gaussian,
    },
    numeric::{
        Enclosure,
        effort::{self, Effort},
        precision, rational,
        upper_bound::UpperBound,
    },
};

/// Bits of bounds that need no precision.
const BITS: u32 = 64;
/// The most terms of S: sets with the same numbers of steps of each phase are one term.
const MOST_SETS: usize = 10_000;

/// The sets with the same number of steps of each phase.
struct Sets {
    /// How many there are.
    ways: Enclosure,
    /// ln pr(A) of each.
    ln_probability: Enclosure,
    /// The rho of P_A and Q.
    rho: Rational,
}

impl SampledSum {
    /// The hockey stick of one direction, or its complement, where outputs show which steps had the record in their samples.
    pub(super) fn apart(&self, direction: Direction, side: Side, epsilon: &Rational, digits: u32) -> Option<Answer> {
        let bits = precision::bits(digits, 128);
        let errors = self.errors()?;
        let delta = match direction {
            Direction::Remove => self.removed(&errors, epsilon, digits)?,
            Direction::Add => self.added(&errors, epsilon, digits),
        };
        let value = match side {
            Side::Delta => delta,
            Side::Complement => Enclosure::double(1.0, bits).sub(&delta).clamp(0.0, 1.0),
        };
        let proof = Proof::new(
            "closed form",
            "closed forms of Gaussian noise for all numbers of sampled steps, which the outputs show but for a proven error",
        );
        Some(Answer { met: value.is_tight(digits), value, proof })
    }

    /// Upper bounds on how often a step is taken for sampled and is not, without its probability, and the reverse, with its probability: both summed over all steps.
    fn errors(&self) -> Option<[UpperBound; 2]> {
        let mut sums = [(); 2].map(|()| UpperBound::of_enclosure(&Enclosure::double(0.0, BITS)));
        // Of a group there are more sums than two.
        if self.phases.iter().any(|phase| phase.group > 1) {
            return None;
        }
        for phase in &self.phases {
            let threshold = threshold(phase)?;
            let steps = Enclosure::rational(&Rational::from(phase.steps), BITS);
            let rate = Enclosure::rational(&phase.rate, BITS);
            let tails = [threshold.clone(), 1 - threshold].map(|far| tail(&far, &phase.sigma2));
            let [taken, missed] = tails;
            sums = [
                sums[0].add(&UpperBound::of_enclosure(&taken.mul(&steps))),
                sums[1].add(&UpperBound::of_enclosure(&missed.mul(&steps).mul(&rate))),
            ];
        }
        Some(sums)
    }

    /// S, and e to both sides.
    fn removed(&self, errors: &[UpperBound; 2], epsilon: &Rational, digits: u32) -> Option<Enclosure> {
        let bits = precision::bits(digits, 128);
        let (all, mut rest) = self.sets(bits)?;
        rest = rest.add(&errors[0]).add(&errors[1]);
        let epsilon = Enclosure::rational(epsilon, bits);
        // Of each an upper bound first: sets that add nothing to the digits are not computed.
        let mut all: Vec<(Float, Sets)> = all.into_iter().map(|sets| (sets.above(&epsilon), sets)).collect();
        all.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let small =
            Float::with_val(BITS, Float::i_exp(1, -(precision::bits(digits + 3, 16) as i32))) / all.len() as u64;
        let mut sum = Enclosure::double(0.0, bits);
        let mut computed = 0_u32;
        for (above, sets) in all {
            if above <= Float::with_val(BITS, sum.lower() * &small) {
                rest = rest.add(&UpperBound::of_enclosure(&Enclosure::new(Float::new(BITS), above)));
            } else {
                sum = sum.add(&sets.term(&epsilon, digits + 3)?);
                computed += 1;
            }
        }
        effort::spend(Effort::of_steps(f64::from(computed), machine::PER_CLOSED_FORM));
        // S - e: what is left out of the sum is not negative, and missing from the lower end alone.
        let errors = errors[0].add(&errors[1]).into_float();
        let lower = Float::with_val_round(bits, sum.lower() - &errors, Round::Down).0;
        let upper = Float::with_val_round(bits, sum.upper() + &rest.into_float(), Round::Up).0;
        Some(Enclosure::new(lower, upper).clamp(0.0, 1.0))
    }

    /// H, and below it both errors.
    fn added(&self, [taken, missed]: &[UpperBound; 2], epsilon: &Rational, digits: u32) -> Enclosure {
        let bits = precision::bits(digits, 128);
        let order = Enclosure::rational(epsilon, bits).add(&self.ln_never(bits));
        let above = one_sided(&self.rho, &order, digits);
        let odds = UpperBound::exp(&Enclosure::rational(epsilon, BITS));
        let errors = taken.add(&missed.mul(&odds)).into_float();
        let lower = Float::with_val_round(bits, above.lower() - &errors, Round::Down).0;
        Enclosure::new(lower, above.upper().clone()).clamp(0.0, 1.0)
    }

    /// ln of the probability that no step has the record in its sample.
    fn ln_never(&self, bits: u32) -> Enclosure {
        self.phases.iter().fold(Enclosure::double(0.0, bits), |ln, phase| {
            let steps = Enclosure::rational(&Rational::from(phase.steps), bits);
            ln.add(&Enclosure::rational(&Rational::from(1 - &phase.rate), bits).ln().mul(&steps))
        })
    }

    /// All sets of a probability that matters, and an upper bound on that of the others; `None` for too many.
    fn sets(&self, bits: u32) -> Option<(Vec<Sets>, UpperBound)> {
        let real = |x: &Rational| Enclosure::rational(x, bits);
        let mut rest = UpperBound::of_enclosure(&Enclosure::double(0.0, BITS));
        let none = Enclosure::double(1.0, bits);
        let mut all =
            vec![Sets { ways: none.clone(), ln_probability: Enclosure::double(0.0, bits), rho: self.rho.clone() }];
        for phase in &self.phases {
            let [with, without] = [phase.rate.clone(), Rational::from(1 - &phase.rate)].map(|p| real(&p).ln());
            let rho = Rational::from(&phase.sigma2 * 2_u32).recip();
            let mut of_phase = Vec::new();
            let mut ways = none.clone();
            for k in 0..=phase.steps {
                if of_phase.len() > MOST_SETS {
                    return None;
                }
                let left = Rational::from(phase.steps - k);
                let ln_probability = with.mul(&real(&Rational::from(k))).add(&without.mul(&real(&left)));
                let sets = Sets { ways: ways.clone(), ln_probability, rho: Rational::from(&rho * k) };
                // C(n, k + 1) = C(n, k) (n - k) / (k + 1)
                let ratio = left / Rational::from(k + 1);
                ways = ways.mul(&real(&ratio));
                // The probability of k + 1 sampled steps over that of k, which falls in k: from 1/2 on those of all larger k add up to at most that of k.
                let falls = ratio * &phase.rate / Rational::from(1 - &phase.rate);
                let weight = sets.weight(BITS);
                of_phase.push(sets);
                if falls * 2_u32 <= 1 && *weight.upper() < Float::with_val(BITS, Float::i_exp(1, -(2 * bits as i32))) {
                    rest = rest.add(&UpperBound::of_enclosure(&weight));
                    break;
                }
            }
            if all.len() * of_phase.len() > MOST_SETS {
                return None;
            }
            all = all
                .iter()
                .flat_map(|a| {
                    of_phase.iter().map(|b| Sets {
                        ways: a.ways.mul(&b.ways),
                        ln_probability: a.ln_probability.add(&b.ln_probability),
                        rho: Rational::from(&a.rho + &b.rho),
                    })
                })
                .collect();
        }
        Some((all, rest))
    }
}

impl Sets {
    /// The probability that the sampled steps are one of these sets.
    fn weight(&self, bits: u32) -> Enclosure {
        let weight = self.ways.mul(&self.ln_probability.exp());
        Enclosure::new(
            Float::with_val_round(bits, weight.lower(), Round::Down).0,
            Float::with_val_round(bits, weight.upper(), Round::Up).0,
        )
    }

    /// Upper bound on what they add to S: H_A(x) <= P_A[loss >= x] <= exp(-(x - rho)^2 / (4 rho)) for x >= rho, as the loss has mean rho and variance 2 rho.
    fn above(&self, epsilon: &Enclosure) -> Float {
        let weight = self.weight(BITS);
        let rho = Enclosure::rational(&self.rho, BITS);
        let far = epsilon.sub(&self.ln_probability).sub(&rho);
        if self.rho == 0 || *far.lower() <= 0 {
            return weight.upper().clone();
        }
        let exponent = far.mul(&far).div(&rho.times_power_of_two(2)).negate();
        UpperBound::of_enclosure(&weight).mul(&UpperBound::exp(&exponent)).into_float()
    }

    /// What they add to S.
    fn term(&self, epsilon: &Enclosure, digits: u32) -> Option<Enclosure> {
        let bits = epsilon.lower().prec();
        let order = epsilon.sub(&self.ln_probability);
        Some(self.weight(bits).mul(&one_sided(&self.rho, &order, digits)))
    }
}

/// sup over events of P - exp(x) Q for Gaussian noise of this rho, for every order x.
///
/// For x < 0 it is 1 - exp(x) + exp(x) times that of -x with both exchanged, and the pair is symmetric. For rho = 0 both are equal.
fn one_sided(rho: &Rational, order: &Enclosure, digits: u32) -> Enclosure {
    let bits = order.lower().prec();
    let at = |x: &Float| {
        let Some(x) = x.to_rational() else { return Enclosure::double(0.0, bits).hull(&Enclosure::double(1.0, bits)) };
        let positive = match *rho == 0 {
            true => Enclosure::double(0.0, bits),
            false => gaussian::hockey_stick(rho, &x.clone().abs(), digits),
        };
        if x >= 0 {
            return positive;
        }
        let real = Enclosure::rational(&x, bits);
        real.exp().mul(&positive).sub(&real.exp_m1())
    };
    // It falls in x, so the ends of x enclose it.
    at(order.upper()).hull(&at(order.lower())).clamp(0.0, 1.0)
}

/// Phi(-far / sigma).
fn tail(far: &Rational, sigma2: &Rational) -> Enclosure {
    let square = Rational::from(far.square_ref()) / Rational::from(sigma2 * 2_u32);
    Enclosure::rational(&square, BITS).sqrt().erfc().times_power_of_two(-1)
}

/// The threshold at which both errors of a step are equally dense, 1/2 + sigma2 ln((1 - g) / g), in doubles: each serves. `None` where no threshold tells both apart.
fn threshold(phase: &Phase) -> Option<Rational> {
    const LARGEST_SIGMA2: f64 = 0.05;
    let (rate, sigma2) = (phase.rate.to_f64(), phase.sigma2.to_f64());
    let at = 0.5 + sigma2 * (libm::log1p(-rate) - libm::log(rate));
    (sigma2 < LARGEST_SIGMA2 && (0.1..0.9).contains(&at)).then(|| rational::from_f64(at).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{loss::stop::Stop, numeric::rational::parse};

    fn sum(phases: &[(&str, &str, u64)], rho: &str) -> SampledSum {
        let phase = |&(rate, sigma2, steps): &(&str, &str, u64)| Phase {
            rate: parse(rate).unwrap(),
            sigma2: parse(sigma2).unwrap(),
            steps,
            group: 1,
        };
        SampledSum::new(phases.iter().map(phase), parse(rho).unwrap())
    }

    /// By the contour alone.
    fn by_contour(sum: &SampledSum, direction: Direction, side: Side, epsilon: &Rational) -> Enclosure {
        super::super::contour::enclose(sum, direction, side, epsilon, 10, &Stop::default()).unwrap().value
    }

    /// One step has a closed form without an error, and many steps the contour.
    #[test]
    fn closed_forms_of_all_sets_agree_with_other_proofs() {
        let one = sum(&[("0.01", "0.002", 1)], "0");
        for epsilon in ["0.001", "0.1", "3", "200", "240", "260"] {
            let epsilon = parse(epsilon).unwrap();
            for direction in [Direction::Remove, Direction::Add] {
                let known = super::super::closed::hockey_stick(&one, direction, &epsilon, 12)
                    .unwrap_or_else(|| Enclosure::double(0.0, 64));
                let answer = one.apart(direction, Side::Delta, &epsilon, 12).unwrap();
                assert!(answer.value.overlaps(&known), "{epsilon} {direction:?}: {answer:?} {known:?}");
                if known.lower().to_f64() > 1e-12 {
                    assert!(answer.met, "{epsilon} {direction:?}: {answer:?}");
                }
            }
        }
        let mut tight = 0;
        for (phases, rho) in [
            (vec![("0.2", "0.01", 60)], "0"),
            (vec![("0.1", "0.02", 100)], "1"),
            (vec![("0.3", "0.0025", 50), ("0.5", "0.01", 20)], "0"),
        ] {
            let sum = sum(&phases, rho);
            for epsilon in ["1", "150", "700"] {
                let epsilon = parse(epsilon).unwrap();
                for direction in [Direction::Remove, Direction::Add] {
                    for side in [Side::Delta, Side::Complement] {
                        let contour = by_contour(&sum, direction, side, &epsilon);
                        let answer = sum.apart(direction, side, &epsilon, 10).unwrap();
                        assert!(
                            answer.value.overlaps(&contour),
                            "{phases:?} {epsilon} {direction:?}: {answer:?} {contour:?}"
                        );
                        tight += usize::from(answer.met && contour.is_tight(6));
                    }
                }
            }
        }
        assert!(tight > 4, "{tight}");
    }
}
