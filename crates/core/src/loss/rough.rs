//! Contours in doubles, for searches: approximations without proof. A contour made for one request serves requests close to it.

use std::f64::consts::TAU;

use num_complex::Complex64;
use rayon::prelude::*;
use rug::Rational;

use super::{
    contour::Contours,
    engine::machine,
    integrand::Product,
    plan::Plan,
    question::{Bracket, Kernel, Question},
    search::ContourSearch,
};
use crate::{
    error::{Error, Result},
    numeric::{
        complex_double,
        effort::{self, Effort},
        phase::ExactPhase,
    },
};

/// ln of the relative truncation error of a contour for its own request.
const LN_SHARE: f64 = -34.539;
/// For requests close to it the error is smaller by this many nats, and may be larger for theirs by as many.
const SPARE_NATS: f64 = 4.0;
/// At most this many nodes have their factors kept.
const MOST_KEPT: i64 = 100_000;

/// One processor evaluates at least this many nodes.
const PART: usize = 512;

/// Within this distance from 1, doubles resolve the complement of a hockey stick to fewer digits.
pub(crate) const SMALL_REST: f64 = 1e-3;

/// A contour and the factors of the sum at its nodes.
#[derive(Debug)]
pub(crate) struct RoughContour {
    question: Question,
    plan: Plan,
    /// In the order in which the nodes are summed.
    products: Vec<Complex64>,
    /// ln of the constant that the factors omit.
    scale: f64,
}

/// An approximation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rough {
    pub(crate) ln: f64,
    /// Whether terms do not cancel down to their rounding errors.
    pub(crate) is_resolved: bool,
}

impl Rough {
    /// ln of the hockey stick, given ln of it or of its complement, by the kernel.
    pub(crate) fn ln_hockey_stick(self, kernel: Kernel) -> f64 {
        if kernel == Kernel::Complement { libm::log1p(-libm::exp(self.ln)) } else { self.ln }
    }
}

impl Contours {
    /// The request for the complement of a hockey stick, where that is estimated to be small.
    pub(crate) fn small_rest(&self, question: &Question) -> Option<Question> {
        if !self.may_give_complement(question) {
            return None;
        }
        let rest = Question { kernel: Kernel::Complement, ..question.clone() };
        (self.search(&rest).ln_estimate() < libm::log(SMALL_REST)).then_some(rest)
    }

    /// ln of the answer to a request in doubles: about 13 digits. The plan is made again while the answer turns out far from the one it was made for:
    /// first the saddle point estimate, then the last answer. `for_others`: with the contour, for requests close to this one. `None` where it is
    /// predicted to take longer than this many seconds.
    pub(crate) fn rough(
        &self,
        question: &Question,
        search: ContourSearch,
        for_others: bool,
        most_seconds: f64,
    ) -> Result<Option<(Rough, RoughContour)>> {
        const ATTEMPTS: usize = 8;
        let windows = (most_seconds / machine::PER_WINDOW) as u64;
        let is_limited = windows < search.budget();
        let search = search.unproven();
        let search = if is_limited { search.within(windows) } else { search };
        let ln_share = if for_others { LN_SHARE - SPARE_NATS } else { LN_SHARE };
        let mut expected = search.ln_estimate();
        let mut attempt = 1;
        loop {
            let plan = match search.plan(ln_share, Some(expected)) {
                Err(Error::Unsweepable { .. }) if is_limited => return Ok(None),
                plan => plan?,
            };
            if plan.evaluated() as f64 * machine::PER_ROUGH_NODE > most_seconds {
                return Ok(None);
            }
            let contour = RoughContour::new(self, question, plan);
            let rough = contour.ln_approx(self, question);
            if attempt == ATTEMPTS || !rough.is_resolved || !rough.ln.is_finite() || (rough.ln - expected).abs() < 1.0 {
                return Ok(Some((rough, contour)));
            }
            expected = rough.ln;
            attempt += 1;
        }
    }
}

impl RoughContour {
    pub(super) fn new(contours: &Contours, question: &Question, plan: Plan) -> Self {
        let product = Product::<Complex64>::new(contours.sum(), &plan.exact_c, &plan.period.clone().recip(), ());
        let nodes: Vec<i64> = plan.summed().collect();
        effort::spend(Effort::of_steps(nodes.len() as f64, machine::PER_ROUGH_NODE));
        let products = nodes.par_iter().with_min_len(PART).map(|&node| product.at(node)).collect();
        let scale = contours.sum().ln_prefactor_scale_approx(&plan.exact_c);
        RoughContour { question: question.clone(), plan, products, scale }
    }

    /// Whether it is worth keeping.
    pub(crate) fn is_small(&self) -> bool {
        self.plan.evaluated() <= MOST_KEPT
    }

    /// The same hockey stick at another epsilon, in the form in which this contour computes it; `None` if that is not close enough: the aliasing
    /// error of a loss further out changes by exp((x - c) d) over a distance of d, x where that is bounded.
    pub(crate) fn neighbor(&self, contours: &Contours, epsilon: &Rational) -> Option<Question> {
        let distance = Rational::from(epsilon - &self.question.threshold).to_f64().abs();
        let steepest = (self.plan.above - self.plan.c).max(self.plan.c - self.plan.below).max(1.0 + self.plan.c.abs());
        if distance * steepest > SPARE_NATS {
            return None;
        }
        let question = Question::hockey_stick(contours.sum(), epsilon);
        let question = if self.question.step.is_none() { question.on_line() } else { question };
        Some(Question { kernel: self.question.kernel, ..question })
    }

    /// ln of the answer to a request.
    pub(crate) fn ln_approx(&self, contours: &Contours, question: &Question) -> Rough {
        /// ln of the rounding error of a term relative to it, and a few digits above.
        const LN_NOISE: f64 = -24.0;
        let (sum, plan) = (contours.sum(), &self.plan);
        let bracket = Bracket::<Complex64>::new(question, &plan.exact_c, (&plan.period, plan.nodes), ());
        let turns = ExactPhase::new(&(Rational::from(sum.offset() - question.start()) / &plan.period));
        let term = |(node, product): (i64, &Complex64)| {
            bracket.at(node) * product * complex_double::cis(TAU * turns.at::<f64>(node, ()))
        };
        // Node 0, and twice the others: nodes j and -j are conjugates. The parts are the same for any number of cores.
        let first = plan.summed().zip(&self.products).next().map(term).unwrap_or_default();
        let nodes: Vec<i64> = plan.summed().collect();
        let of_part = |(nodes, products): (&[i64], &[Complex64])| {
            nodes.iter().copied().zip(products).map(|pair| term(pair).re).sum::<f64>()
        };
        effort::spend(Effort::of_steps(nodes.len() as f64, machine::PER_KEPT_NODE));
        let parts: Vec<f64> = nodes.par_chunks(PART).zip(self.products.par_chunks(PART)).map(of_part).collect();
        let total = 2.0 * parts.iter().sum::<f64>() - first.re;
        let prefactor = sum.ln_size(question, &plan.exact_c, question.start()).to_f64() + self.scale;
        let ln = prefactor + libm::log(total.abs()) - libm::log(plan.divisor().to_f64());
        Rough { ln, is_resolved: libm::log(total.abs()) > libm::log(complex_double::modulus(first)) + LN_NOISE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{loss::testing::sum, numeric::rational::parse};

    /// Requests close to one another, on a lattice and on an unbounded contour, against proofs; requests further away are refused.
    #[test]
    fn contours_serve_requests_close_to_their_own() {
        let (mut on_line, mut on_lattice) = (0, 0);
        for (groups, middles) in [
            (vec!["2003/7x40", "1009/5x3", "1/3x2"], ["3.7", "14"]),
            (vec!["5x10", "discrete-laplace:0.3x7@2"], ["0.4", "9"]),
            (vec!["154013156402/4099x28", "59671/1237x5"], ["0.1", "2.5"]),
        ] {
            let contours = Contours::new(sum(&groups));
            let evaluator = contours.sum().evaluator();
            for middle in middles {
                let middle = parse(middle).unwrap();
                let lattice = Question::hockey_stick(contours.sum(), &middle);
                for question in [lattice.clone(), lattice.on_line()] {
                    let is_on_line = question.step.is_none();
                    let rough = |most| contours.rough(&question, contours.search(&question), true, most);
                    let Ok(Some((own, contour))) = rough(1.0) else { continue };
                    assert!(rough(1e-7).unwrap().is_none());
                    let proven = evaluator.hockey_stick(&middle, 16).unwrap().value.ln().approximate();
                    // The unbounded contour does not see what a lattice repeats far up.
                    if !own.is_resolved || (own.ln - proven).abs() > 1e-11 * (1.0 + proven.abs()) {
                        assert!(is_on_line, "{groups:?} {middle}: {own:?} {proven}");
                        continue;
                    }
                    (on_line, on_lattice) = (on_line + i32::from(is_on_line), on_lattice + i32::from(!is_on_line));
                    let reach =
                        SPARE_NATS / (contour.plan.above - contour.plan.c).max(contour.plan.c - contour.plan.below);
                    for share in [0.0, 1e-6, -0.2, 0.9] {
                        let apart = reach.min(SPARE_NATS / (1.0 + contour.plan.c.abs())) * share;
                        let epsilon = (&middle + Rational::from_f64(apart).unwrap()).max(Rational::new());
                        let Some(question) = contour.neighbor(&contours, &epsilon) else {
                            panic!("{groups:?} {epsilon}")
                        };
                        let shifted = contour.ln_approx(&contours, &question);
                        let proven = evaluator.hockey_stick(&epsilon, 16).unwrap().value.ln().approximate();
                        let off = (shifted.ln - proven).abs();
                        assert!(
                            shifted.is_resolved && off < 1e-10 * (1.0 + proven.abs()),
                            "{groups:?} {epsilon}: {shifted:?} {proven}"
                        );
                    }
                    let far = &middle + Rational::from_f64(reach * 1.1).unwrap();
                    assert!(contour.neighbor(&contours, &far).is_none(), "{groups:?} {middle}");
                }
            }
        }
        assert!(on_line > 1 && on_lattice > 2, "{on_line} {on_lattice}");
    }
}
