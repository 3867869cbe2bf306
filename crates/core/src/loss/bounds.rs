//! Aliasing and truncation errors of the trapezoid rule: from a sum over nodes to an enclosure of the answer. [`contour`](super::contour) has the
//! argument.

use rug::{Float, Rational, float::Round};

use super::{
    answer::ContourProof,
    plan::Plan,
    question::{Kernel, Question},
    sum::LossSum,
    theta,
};
use crate::numeric::{enclosure::Enclosure, rational, upper_bound::UpperBound};

/// The precision of the bounds.
const BITS: u32 = 96;

/// Upper bounds on the aliasing and the truncation error.
#[derive(Clone, Debug)]
pub(crate) struct Errors {
    alias: Float,
    pub(super) truncation: Float,
}

impl LossSum {
    /// rho (x + x^2) - x z, less l0 for the tilted tail: exact.
    pub(crate) fn ln_size(&self, question: &Question, x: &Rational, z: &Rational) -> Rational {
        let size = self.concentrated(x) - Rational::from(x * z);
        if question.kernel == Kernel::TiltedTail { size - &question.first } else { size }
    }

    /// Encloses ln of the bound exp(rho (x + x^2)) prod m(x) for M(x), m the bounded laws', times exp(-x z).
    pub(crate) fn ln_bound(&self, question: &Question, x: &Rational, z: &Rational, bits: u32) -> Enclosure {
        let gaussian = Enclosure::rational(&self.ln_size(question, x, z), bits);
        // Of a Gaussian group, exp(rho (x + x^2)) is the bound.
        let bounded = self.groups().iter().filter(|group| group.law.has_bounded_loss());
        bounded.fold(gaussian, |sum, group| sum.add(&theta::ln_scale(group, x, bits)))
    }

    /// Encloses ln of the constant that the factors omit at Re s = c.
    pub(crate) fn ln_prefactor_scale(&self, c: &Rational, bits: u32) -> Enclosure {
        let zero = Enclosure::double(0.0, bits + 64);
        self.groups().iter().fold(zero, |sum, group| sum.add(&theta::ln_scale(group, c, bits + 64)))
    }

    /// The same in doubles.
    pub(crate) fn ln_prefactor_scale_approx(&self, c: &Rational) -> f64 {
        self.outlined().map(|group| group.ln_scale_approx(c)).sum()
    }

    /// Encloses the constant by which the sum over the nodes is multiplied; `scale` encloses ln of what the factors omit.
    pub(crate) fn prefactor(&self, question: &Question, plan: &Plan, scale: &Enclosure, bits: u32) -> Enclosure {
        let size = self.ln_size(question, &plan.exact_c, question.start());
        let ln = Enclosure::rational(&size, bits + 64).add(scale);
        ln.exp().div(&Enclosure::rational(&plan.divisor(), bits + 64))
    }

    /// The bounds on aliasing and truncation, valid for every sum of this rho and of these bounded losses.
    pub(crate) fn errors(&self, question: &Question, plan: &Plan) -> Errors {
        self.errors_of_many(question, plan, left_out(question, plan).as_ref())
    }

    /// The same for this sum alone, whose M may be far below that of a Gaussian.
    pub(crate) fn errors_of_itself(&self, question: &Question, plan: &Plan) -> Errors {
        let errors = self.errors(question, plan);
        if !self.groups().iter().any(theta::is_coarse) {
            return errors;
        }
        let own = |x: &Rational| {
            let ln = self.ln_mgf(x, BITS).sub(&Enclosure::rational(&Rational::from(x * &question.threshold), BITS));
            // exp(-l0) of the tilted tail, as in `ln_size`.
            if question.kernel == Kernel::TiltedTail { ln.sub(&Enclosure::rational(&question.first, BITS)) } else { ln }
        };
        let alias = Self::alias_error(question, plan, own);
        let truncation =
            Float::with_val_round(BITS, &errors.truncation * &self.coarse_share(&plan.exact_c), Round::Up).0;
        Errors { alias: if alias < errors.alias { alias } else { errors.alias }, truncation }
    }

    /// Upper bound, of at most 1, on M(c) of all coarse groups over the bound exp(rho (c + c^2)) for it. On the vertical line Re s = c no factor
    /// exceeds its value on the axis, and the sieve takes the factors of coarse groups for 1 everywhere: so the bounds of the sieve are smaller by
    /// this factor.
    fn coarse_share(&self, c: &Rational) -> Float {
        let coarse = self.groups().iter().filter(|group| theta::is_coarse(group));
        let one = || Float::with_val(BITS, 1);
        let Ok(coarse) = LossSum::new(coarse.cloned()) else { return one() };
        let share = coarse.ln_mgf(c, BITS).sub(&Enclosure::rational(&coarse.concentrated(c), BITS + 64)).exp();
        if *share.upper() < 1 { Float::with_val_round(BITS, share.upper(), Round::Up).0 } else { one() }
    }

    /// The same where many requests share `left_out`, the part of the truncation error that depends on the plan alone.
    pub(crate) fn errors_of_many(&self, question: &Question, plan: &Plan, left_out: Option<&UpperBound>) -> Errors {
        let truncation = left_out.map_or(Float::new(BITS), |left_out| self.truncation_error(question, plan, left_out));
        let ln_size = |x: &Rational| self.ln_bound(question, x, &question.threshold, BITS);
        Errors { alias: Self::alias_error(question, plan, ln_size), truncation }
    }

    /// From the sum over the nodes of a plan to the answer, with all errors; `scale` encloses ln of the constant that the factors omit.
    pub(crate) fn certify(
        &self,
        question: &Question,
        plan: &Plan,
        sum: Enclosure,
        scale: &Enclosure,
        bits: u32,
        errors: &Errors,
    ) -> (Enclosure, ContourProof) {
        let c = &plan.exact_c;
        let wide = bits + 64;
        let real = |x: &Rational| Enclosure::rational(x, wide);
        let prefactor = real(&self.ln_size(question, c, question.start())).add(scale);
        let mut total = sum.mul(&prefactor.exp()).div(&real(&plan.divisor()));
        if question.kernel == Kernel::Complement {
            total = total.negate();
        }
        let rounding_error = Float::with_val_round(32, total.upper() - total.lower(), Round::Up).0;
        let (alias_error, truncation_error) = (errors.alias.clone(), errors.truncation.clone());
        // T - alias <= answer <= T, and T is within the truncation of the sum that was formed.
        let lower = Float::with_val_round(wide, total.lower() - &truncation_error, Round::Down).0;
        let lower = Float::with_val_round(wide, &lower - &alias_error, Round::Down).0;
        let upper = Float::with_val_round(wide, total.upper() + &truncation_error, Round::Up).0;
        let proof = ContourProof {
            contour: plan.c,
            complement: question.kernel == Kernel::Complement,
            period_nodes: plan.nodes,
            lattice_refused: None,
            swept_height: plan.height(plan.last),
            evaluated_nodes: plan.evaluated(),
            side_lobes: plan.lobes.len() - 1,
            bits,
            alias_error,
            truncation_error,
            rounding_error,
        };
        (Enclosure::new(lower, upper).clamp(0.0, f64::INFINITY), proof)
    }

    /// The sum over both sides of exp(ln_size(x)) / (exp(period |x - c|) - 1), rounded up, where `ln_size` is an upper bound on ln of M(x) exp(-x z);
    /// infinite where a point is not on its side of c.
    fn alias_error(question: &Question, plan: &Plan, ln_size: impl Fn(&Rational) -> Enclosure) -> Float {
        let (low, high) = question.kernel.strip();
        if !(low <= plan.below && plan.below < plan.c && plan.c < plan.above && plan.above <= high) {
            return Float::with_val(BITS, f64::INFINITY);
        }
        let mut error = UpperBound::of_enclosure(&Enclosure::double(0.0, BITS));
        for x in [plan.below, plan.above] {
            let Ok(x) = rational::from_f64(x) else { return Float::with_val(BITS, f64::INFINITY) };
            let size = UpperBound::exp(&ln_size(&x));
            let decay = Rational::from(&x - &plan.exact_c).abs() * &plan.period;
            error = error.add(&size.mul(&UpperBound::of_geometric(&Enclosure::rational(&decay, BITS))));
        }
        error.into_float()
    }

    /// Upper bound on the sum over the nodes that are not evaluated. With M <= exp(ln_bound(c)) on the vertical line, J the last node of the first
    /// lobe and j beyond it, |product of the factors| <= exp(-cut) j / J up to the node `last`.
    ///
    /// On a lattice, |1 - r exp(i phi)| >= phi / pi for r <= 1 and phi in [0, pi] (it is at least sin phi, and at least
    /// 1 beyond pi / 2), and for r > 1 it is r times such a number. With phi = 2 pi j / N the double pole of the hockey
    /// stick gives at most (n1 + n2 r) (N / 2 j)^2, a single pole N / 2 j. The rule divides by N, and j and -j count:
    ///
    /// sum over J < j <= N/2 of (2 / N) (N / 2 j)^2 j / J <= (N / 2 J) ln(N / 2 J), and (2 / N) (N / 2 j) j / J: N / 2 J.
    ///
    /// On an unbounded contour |kappa| exp(c eps) <= (period / 2 pi j)^2 and the rule divides by the period:
    ///
    /// sum over J < j <= last of (2 / period) (period / 2 pi j)^2 j / J <= (period / 2 pi^2 J) ln(last / J), and beyond
    /// `last` period / (2 pi^2 last) times a mean (`SumSieve::beyond`).
    ///
    /// A dropped node adds its own bound b / j^decay in place of exp(-cut) j / J / j^decay: the plan has summed these bounds in
    /// units of exp(-cut).
    fn truncation_error(&self, question: &Question, plan: &Plan, left_out: &UpperBound) -> Float {
        let c = &plan.exact_c;
        let real = |x: &Rational| Enclosure::rational(x, BITS);
        let size = UpperBound::exp(&self.ln_bound(question, c, question.start(), BITS));
        let bound = match (&question.step, question.kernel) {
            (Some(step), Kernel::HockeyStick | Kernel::Complement) => {
                // n1 + n2 r, with n1 = 1 - exp(-gap), n2 r = exp(-gap) (1 - exp(gap - h)) exp(-c h).
                let gap = real(&question.gap);
                let n1 = UpperBound::one_minus_exp(&gap.clone().negate());
                let n2 = UpperBound::one_minus_exp(&gap.sub(&real(step)));
                let r = UpperBound::exp(&real(&-(Rational::from(c * step) + &question.gap)));
                &n1.add(&n2.mul(&r)).mul(left_out)
            }
            (Some(_), Kernel::UpperTail | Kernel::TiltedTail) | (None, _) => left_out,
        };
        size.mul(bound).into_float()
    }
}

/// The sums of `truncation_error`, without the size of M and of n1 + n2 r: the truncation error of a plan for any request of this kernel, at any
/// threshold. `None` where no node is omitted.
pub(crate) fn left_out(question: &Question, plan: &Plan) -> Option<UpperBound> {
    if plan.cut.is_infinite() {
        return None;
    }
    let real = |x: &Rational| Enclosure::rational(x, BITS);
    // A value that is not finite becomes the whole real line, and the bound infinite.
    let double = |x: f64| Enclosure::double(x, BITS);
    let whole = |n: i64| real(&Rational::from(n));
    let reach = plan.lobes[0].1;
    let (below_cut, dropped) = (double(-plan.cut).exp(), double(plan.dropped));
    let sum = match (&question.step, plan.nodes) {
        (Some(_), Some(nodes)) => {
            let half = whole(nodes).div(&whole(2 * reach));
            match question.kernel {
                // (2 / N) (N / 2)^2 = N / 2 for the dropped ones.
                Kernel::HockeyStick | Kernel::Complement => {
                    half.ln().mul(&half).add(&whole(nodes).mul(&dropped)).mul(&below_cut)
                }
                Kernel::UpperTail | Kernel::TiltedTail => half.add(&dropped).mul(&below_cut),
            }
        }
        _ => {
            let pi = Enclosure::pi(BITS);
            let scale = real(&plan.period).div(&pi.mul(&pi).mul(&Enclosure::double(2.0, BITS)));
            let swept = whole(plan.last).div(&whole(reach)).ln().div(&whole(reach)).add(&dropped).mul(&below_cut);
            let beyond = double(plan.beyond).div(&whole(plan.last));
            scale.mul(&swept.add(&beyond))
        }
    };
    Some(UpperBound::of_enclosure(&sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        loss::{search::ContourSearch, sieve::SumSieve, testing::sum},
        numeric::rational::parse,
    };

    /// If any number of a plan is infinite or NaN, the enclosure is at least as wide: no bound becomes zero on its way.
    #[test]
    fn a_plan_that_is_not_finite_leaves_the_answer_open() {
        let sum = sum(&["500/73x10", "2500/137x6"]);
        let sieve = SumSieve::new(&sum);
        let lattice = Question::hockey_stick(&sum, &parse("3").unwrap());
        for question in [lattice.clone(), lattice.on_line()] {
            let plan = ContourSearch::new(&sum, &sieve, &question).plan(-20.0, None).unwrap();
            assert!(plan.cut.is_finite(), "nodes are left out");
            let answer = |plan: &Plan| {
                let (one, scale) = (Enclosure::double(1.0, 80), Enclosure::double(0.0, 80));
                sum.certify(&question, plan, one, &scale, 80, &sum.errors(&question, plan)).0
            };
            assert!(answer(&plan).upper().is_finite());
            for wrong in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
                let mut broken: Vec<Plan> = vec![plan.clone(); 4];
                broken[0].above = wrong;
                broken[1].below = wrong;
                broken[2].dropped = wrong;
                broken[3].beyond = wrong;
                if question.step.is_some() {
                    // Nothing lies beyond the period of a lattice.
                    broken.pop();
                }
                for plan in &broken {
                    let value = answer(plan);
                    let open = *value.lower() == 0
                        && (plan.above.is_finite() && plan.below.is_finite() || value.lower() == &0);
                    assert!(open, "{wrong}: {plan:?} {value}");
                }
            }
        }
    }
}
