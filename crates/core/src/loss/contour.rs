//! Sums over a contour by the trapezoid rule, with proof.
//!
//! [`question`](super::question) has the formula: the answer is the integral of M(s) kappa(s) / (2 pi i) over one period of the vertical line Re s =
//! c, for every c in the strip of the kernel.
//!
//! # The trapezoid rule and its exact error
//!
//! With N nodes a period, s_j = c + 2 pi i j / (h N), the rule gives exactly
//!
//! T = sum over k in Z of exp(-c k N h) sum over l of P[L = l] g(l + k N h),
//!
//! because the mean over j of exp(2 pi i j m / N) is one if N divides m and zero if not. The term k = 0 is the
//! answer and no other term is negative: T is an upper bound, and it exceeds the answer by the terms k != 0. With
//! z = eps, or l0 for the tails, every g satisfies g(l) <= exp(x (l - z)) (times exp(-l0) for the tilted tail) for
//! every x in the closed strip, so
//!
//! - k >= 1: exp(-c k N h) E[g(L + k N h)] <= M(x) exp(-x z) exp(-(c - x) k N h) for x < c,
//! - k <= -1: the same with exp(-(x - c) |k| N h) for x > c,
//!
//! and the geometric sums are M(x) exp(-x z) / (exp(N h |x - c|) - 1). Finally M(x) <= exp(rho (x + x^2)) for real x, times the moment generating
//! functions of the bounded losses: in the theta series the cosines are at most one. The strip bound of the general theory requires integrals of |M
//! kappa|; positivity replaces them by a sum of two exponentials.
//!
//! On an unbounded contour, with nodes a fixed height apart, the same identity holds with the period of losses 2 pi / height for N h.
//!
//! # Truncation
//!
//! Nodes far up are omitted where the product of the factors is small. The [`sieve`](super::sieve) shows that each node j omitted up to the node
//! `last` has a product of at most exp(-cut) j / J, where J is the last node of the main lobe; the kernel falls as 1/j^2 (1/j for the tails), and
//! together they add at most the truncation error that [`bounds`](super::bounds) states with its proof. All other nodes are summed, side lobes
//! included. On an unbounded contour the nodes beyond `last` are bounded by the kernel and the mean of the factors.

use rug::Float;

use super::{
    answer::{Answer, ContourProof},
    atoms,
    integrand::{self, Integrand},
    plan::{MOST_ON_LINE, Plan},
    question::{Kernel, Question},
    search::ContourSearch,
    sieve::{self, SumSieve},
    sum::LossSum,
};
use crate::{
    error::Result,
    numeric::{
        enclosure::Enclosure,
        field::Field,
        precision,
        twofold::{self, ComplexTwofold, Twofold},
    },
};

/// A contour of at most this many nodes is summed without searching for a shorter one.
const BEARABLE: i64 = 5_000;

/// A period of at most this many nodes is summed without considering other engines.
const SHORT: f64 = 500.0;

/// A longer period is swept only where the unbounded contour does not serve: its sweep would nearly always stop at its budget.
const LONG: f64 = 1e8;

/// Each further attempt sums to this number of additional digits: sums of two doubles may have been the imprecise part.
const MORE_DIGITS: u32 = 5;

/// Why an unbounded contour answers.
const TOO_LONG: &str = "its period is too long to sweep";

/// ln of the part of the answer that errors may have for this number of digits: a tenth of the last digit.
pub(crate) fn ln_share(digits: u32) -> f64 {
    -f64::from(digits + 1) * std::f64::consts::LN_10
}

/// The hockey stick from the enclosure of a contour, which is that of the hockey stick or of its complement.
pub(crate) fn hockey_stick(kernel: Kernel, value: &Enclosure, proof: ContourProof, digits: u32) -> Answer {
    let (value, met) = match kernel {
        Kernel::Complement => {
            // Enough bits for the complement of a small number to keep its digits.
            let small = value.upper().get_exp().map_or(0, |exponent| (-exponent).clamp(0, 20_000) as u32);
            (Enclosure::double(1.0, proof.bits + 64 + small).sub(value).clamp(0.0, 1.0), false)
        }
        _ => (value.clone().clamp(0.0, 1.0), value.is_tight(digits)),
    };
    Answer { met: met || value.is_tight(digits), value, proof: proof.into() }
}

/// The number of nats by which the errors of a contour have to shrink: the excess width of its enclosure, and a little more.
pub(crate) fn more_nats(value: &Enclosure, digits: u32) -> f64 {
    let excess = atoms::bits_above(&Float::with_val(64, value.upper() - value.lower()), value, digits);
    (excess * std::f64::consts::LN_2 + 2.0).clamp(3.0, 9.0)
}

/// A sum of losses and its sieve: the engine that integrates along contours.
#[derive(Debug)]
pub(crate) struct Contours {
    sum: LossSum,
    sieve: SumSieve,
    /// An unbounded contour sums at most this many nodes beyond the main lobe.
    most_on_line: usize,
}

impl Contours {
    /// The engine for a sum, with nothing swept yet.
    pub(crate) fn new(sum: LossSum) -> Self {
        Contours { sieve: SumSieve::new(&sum), sum, most_on_line: MOST_ON_LINE }
    }

    /// The same with at most this many nodes beyond the main lobe on an unbounded contour.
    pub(crate) fn with_nodes(self, most_on_line: usize) -> Self {
        Contours { most_on_line, ..self }
    }

    /// The sum.
    pub(crate) fn sum(&self) -> &LossSum {
        &self.sum
    }

    /// The search for a contour of a request.
    pub(crate) fn search(&self, question: &Question) -> ContourSearch<'_> {
        ContourSearch::new(&self.sum, &self.sieve, question).with_nodes(self.most_on_line).of_itself()
    }

    /// The same for a contour that is shared: quicker, and without the terms by which coarse noise differs from its rho.
    pub(crate) fn search_by_rho(&self, question: &Question) -> ContourSearch<'_> {
        ContourSearch::new(&self.sum, &self.sieve, question)
    }

    /// The length of the period of a contour.
    pub(crate) fn period(search: &ContourSearch, digits: u32) -> Period {
        // For a period that is long in any case, the lower bound is enough.
        let least = search.least_period_nodes();
        Period { nodes: if least > LONG { least } else { search.period_nodes(ln_share(digits)) } }
    }

    /// The number of nodes for a request; `None` if a sieve with this budget of windows does not decide that all digits will be proven.
    pub(crate) fn nodes(&self, question: &Question, digits: u32, budget: u64) -> Option<i64> {
        let plan = self.plan(question, digits, budget).ok()?;
        (!plan.exhausted).then(|| plan.evaluated())
    }

    /// The same for a choice that was made for as many digits: on a lattice the choice knows it, because a sweep that stops early is refused.
    pub(crate) fn nodes_of(&self, choice: &Choice, digits: u32, budget: u64) -> Option<i64> {
        if choice.question.step.is_some() { Some(choice.nodes) } else { self.nodes(&choice.question, digits, budget) }
    }

    /// E[(1 - exp(epsilon - L))_+] for an epsilon that some loss exceeds, by a choice made for as many digits.
    ///
    /// Where the answer is close to 1 and the lattice step is at most 50, its complement is as precise too.
    pub(crate) fn hockey_stick(&self, choice: Choice, digits: u32) -> Result<Answer> {
        let (value, proof) = self.certify(&choice.question, digits)?;
        let proof = ContourProof { lattice_refused: choice.lattice_refused, ..proof };
        let answer = hockey_stick(choice.question.kernel, &value, proof, digits);
        if choice.question.kernel == Kernel::Complement && !answer.met {
            // The complement turned out not to be small.
            let question = Question { kernel: Kernel::HockeyStick, ..choice.question };
            return Ok(self.by_question(&question, digits)?.clamp(0.0, 1.0));
        }
        Ok(answer)
    }

    /// Whether more nodes survive than are summed, and the omitted ones are far too heavy for this number of digits.
    pub(crate) fn leaves_too_much(&self, choice: &Choice, digits: u32) -> bool {
        /// Upper bound on the error of the estimate of ln of the answer.
        const OFF: f64 = 12.0;
        let search = self.search(&choice.question);
        let Ok(plan) = search.plan(ln_share(digits), None) else { return true };
        let least = search.ln_estimate() - f64::from(digits) * std::f64::consts::LN_10 + OFF;
        let left_out = || self.sum.errors_of_itself(&choice.question, &plan).truncation.ln().to_f64();
        plan.exhausted && left_out() > least
    }

    /// The answer for this kernel and this contour, without a choice.
    pub(crate) fn by_question(&self, question: &Question, digits: u32) -> Result<Answer> {
        let (value, proof) = self.certify(question, digits)?;
        let met = value.is_tight(digits);
        Ok(Answer { value, proof: proof.into(), met })
    }

    /// The kernel for a hockey stick: on the lattice where its period can be swept at a bearable cost, else on an unbounded contour; right of both
    /// poles, or between them where that takes fewer nodes.
    pub(crate) fn choose(&self, question: Question, search: &ContourSearch, digits: u32) -> Result<Choice> {
        let right = self.lattice_or_line(question, search, digits)?;
        // Between the poles the contour gives the complement.
        let question = &right.question;
        if self.may_give_complement(question) {
            let left = Question { kernel: Kernel::Complement, ..question.clone() };
            if let Some(fewer) = self.plan(&left, digits, search.budget()).ok().map(|plan| plan.evaluated())
                && fewer < right.nodes
            {
                return Ok(Choice { question: left, nodes: fewer, ..right });
            }
        }
        Ok(right)
    }

    /// Whether a contour may compute the complement of a hockey stick. Below the mean the complement is the smaller number; exp(-c h) must stay
    /// within a double.
    pub(crate) fn may_give_complement(&self, question: &Question) -> bool {
        const COARSE: u32 = 50;
        question.threshold.to_f64() < self.sum.mean_approx()
            && question.step.as_ref().is_none_or(|step| *step <= COARSE)
    }

    /// The kernel for a hockey stick on an unbounded contour by its period, without a sweep: that of the complement below the mean, where its period
    /// is the shorter one.
    pub(crate) fn of_shorter_period(&self, question: Question, digits: u32) -> (Question, f64) {
        let period = |question: &Question| self.search(question).period(ln_share(digits));
        let right = period(&question);
        if question.threshold.to_f64() < self.sum.mean_approx() {
            let rest = Question { kernel: Kernel::Complement, ..question.clone() };
            let left = period(&rest);
            if left < right {
                return (rest, left);
            }
        }
        (question, right)
    }

    /// A request on an unbounded contour, without a choice.
    pub(crate) fn choose_on_line(&self, question: Question, digits: u32) -> Result<Choice> {
        let nodes = self.plan(&question, digits, sieve::BUDGET)?.evaluated();
        Ok(Choice { question, nodes, lattice_refused: None })
    }

    /// A request on its lattice, or on an unbounded contour where the lattice has no end that is worth reaching.
    pub(crate) fn lattice_or_line(&self, lattice: Question, search: &ContourSearch, digits: u32) -> Result<Choice> {
        const AFFORDABLE: i64 = 200_000;
        let line = lattice.clone().on_line();
        let budget = search.budget();
        let nodes = |question: &Question| -> Result<i64> { Ok(self.plan(question, digits, budget)?.evaluated()) };
        let on_line =
            |nodes, refused: Option<String>| Choice { question: line.clone(), nodes, lattice_refused: refused };
        let Some(step) = &lattice.step else { return Ok(on_line(nodes(&line).unwrap_or(i64::MAX), None)) };
        // A step below the range of doubles misleads the plan, and no sweep ends on it.
        if step.to_f64() < 1e-200 {
            return Ok(on_line(nodes(&line)?, Some(TOO_LONG.to_string())));
        }
        if Self::period(search, digits).is_long()
            && let Ok(plan) = self.plan(&line, digits, budget)
            && !plan.exhausted
            && plan.evaluated() <= BEARABLE
        {
            return Ok(on_line(plan.evaluated(), Some(TOO_LONG.to_string())));
        }
        match search.plan(ln_share(digits), None).map(|plan| plan.evaluated()) {
            Ok(cost) if cost > BEARABLE => match self.plan(&line, digits, budget) {
                // A sieve that stopped at its budget may not prove all the digits; the lattice does, where that takes seconds at most.
                Ok(shorter) if shorter.evaluated() < cost / 2 && (!shorter.exhausted || cost > AFFORDABLE) => {
                    Ok(on_line(shorter.evaluated(), Some(format!("its period holds {cost} nodes that matter"))))
                }
                _ => Ok(Choice { question: lattice, nodes: cost, lattice_refused: None }),
            },
            Ok(cost) => Ok(Choice { question: lattice, nodes: cost, lattice_refused: None }),
            Err(error) => Ok(on_line(nodes(&line).map_err(|_| error)?, Some(TOO_LONG.to_string()))),
        }
    }

    /// The plan of a request for this number of digits, by sweeps of at most `budget` windows.
    fn plan(&self, question: &Question, digits: u32, budget: u64) -> Result<Plan> {
        self.search(question).within(budget).plan(ln_share(digits), None)
    }

    /// The enclosure of an answer; precision rises and the errors shrink until the requested precision is reached. For few digits balls in sums of
    /// two doubles are tried first.
    fn certify(&self, question: &Question, digits: u32) -> Result<(Enclosure, ContourProof)> {
        const ATTEMPTS: u32 = 6;
        let search = self.search(question);
        let mut known = None;
        let mut attempt = 0;
        let mut ln_share = ln_share(digits);
        let mut in_doubles = digits <= twofold::ball::MOST_DIGITS;
        loop {
            let plan = search.plan(ln_share, known)?;
            let bits = precision::bits(digits, 24 + plan.evaluated().ilog2() + 24 * attempt);
            let sum = if in_doubles {
                Integrand::<ComplexTwofold>::new(&self.sum, question, &plan, ()).total(&plan).re().enclosure()
            } else {
                integrand::total(
                    &self.sum,
                    question,
                    &plan,
                    |node| self.sieve.ln_bound(plan.height(node)),
                    digits + MORE_DIGITS * attempt,
                    bits,
                )
            };
            let scale = self.sum.ln_prefactor_scale(&plan.exact_c, bits);
            let errors = self.sum.errors_of_itself(question, &plan);
            let (value, proof) = self.sum.certify(question, &plan, sum, &scale, bits, &errors);
            let proof = if in_doubles { ContourProof { bits: Twofold::BITS, ..proof } } else { proof };
            if value.is_tight(digits) {
                return Ok((value, proof));
            }
            // If the rounding errors alone are too large, they are so in every further attempt.
            let rounded = in_doubles && !proof.rounds_below(&value, digits + 1);
            in_doubles &= !rounded;
            attempt += 1;
            if attempt == ATTEMPTS || plan.exhausted && !rounded {
                return Ok((value, proof));
            }
            ln_share -= more_nats(&value, digits);
            let upper = Float::with_val(53, value.upper().ln_ref()).to_f64();
            known = (upper.is_finite()).then_some(upper);
        }
    }
}

/// The period of a contour in nodes, approximately; infinite for an unbounded contour; a lower bound where it is long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Period {
    pub nodes: f64,
}

impl Period {
    /// Whether all of its nodes are summed without considering other engines.
    pub(crate) fn is_short(self) -> bool {
        self.nodes <= SHORT
    }

    /// Whether the unbounded contour is tried first.
    pub(crate) fn is_long(self) -> bool {
        self.nodes.is_finite() && self.nodes > LONG
    }
}

/// A request on the lattice or on an unbounded contour, and why.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub question: Question,
    nodes: i64,
    lattice_refused: Option<String>,
}

impl Choice {
    /// The number of nodes to evaluate.
    pub(crate) fn nodes(&self) -> i64 {
        self.nodes
    }
}

#[cfg(test)]
mod tests {
    use rug::Rational;

    use super::*;
    use crate::{
        loss::{answer::Quantity, testing::sum},
        numeric::rational::parse,
    };

    /// Lattices forced through the kernel of the unbounded contour: it does not depend on the lattice and must enclose its answer.
    #[test]
    fn an_unbounded_contour_encloses_the_answer_of_the_lattice() {
        for (counts, digits) in [
            (vec!["500/73x10", "2500/137x6"], 4),
            (vec!["4099/100x20", "1001/30x5"], 6),
            (vec!["5x3", "4099/1001x2"], 3),
            (vec!["1/2x4"], 2),
        ] {
            let sum = sum(&counts);
            let contours = Contours::new(sum.clone());
            let nodes = |answer: &Answer| answer.proof.count("period_nodes");
            for epsilon in ["0", "0.7", "3", "8"] {
                let epsilon = parse(epsilon).unwrap();
                let question = Question::hockey_stick(&sum, &epsilon);
                let lattice = contours.by_question(&question, digits + 4).unwrap();
                for kernel in [Kernel::HockeyStick, Kernel::Complement] {
                    if kernel == Kernel::Complement && epsilon >= *sum.rho() {
                        continue;
                    }
                    let line = Question { kernel, ..question.clone().on_line() };
                    let line = contours.by_question(&line, digits).unwrap();
                    let one = Enclosure::double(1.0, 64);
                    let value = if kernel == Kernel::Complement { one.sub(&line.value) } else { line.value.clone() };
                    assert!(nodes(&line).is_none() && nodes(&lattice).is_some());
                    assert!(value.overlaps(&lattice.value), "{counts:?} {epsilon} {kernel:?}: {line:?} {lattice:?}");
                    assert_eq!(line.met, line.value.is_tight(digits));
                    assert!(line.value.is_tight(1), "{counts:?} {epsilon} {kernel:?}: {line:?}");
                }
            }
        }
    }

    /// Coarse noise, whose moment generating function is far below that of a Gaussian of the same rho: few nodes, no cancellation, and the
    /// enumeration agrees.
    #[test]
    fn coarse_noise_takes_few_nodes() {
        for groups in
            [vec!["1/16x13"], vec!["1/1144x698@2", "1/16x13"], vec!["1/10x40", "1/25x9@3"], vec!["1/4x200", "1/2x3"]]
        {
            let sum = sum(&groups);
            let contours = Contours::new(sum.clone());
            let atoms = crate::loss::atoms::Atoms::new(&sum).unwrap();
            for steps in [-3, 0, 2, 5] {
                let epsilon = Rational::from(sum.step().unwrap() * steps) + sum.rho() + Rational::from((1, 3));
                let question = Question::hockey_stick(&sum, &epsilon);
                let choice = contours.choose(question.clone(), &contours.search(&question), 12).unwrap();
                let answer = contours.hockey_stick(choice, 12).unwrap();
                let listed = atoms.hockey_stick(&epsilon, 14).unwrap();
                assert!(
                    answer.met && answer.value.overlaps(&listed.value),
                    "{groups:?} {steps}: {answer:?} {listed:?}"
                );
                let proof = &answer.proof;
                assert!(proof.count("evaluated_nodes").unwrap() < 1000, "{groups:?} {steps}: {proof:?}");
                let Some(Quantity::UpperBound(rounding)) = proof.field("rounding_error") else { panic!("{proof:?}") };
                assert!(*rounding.as_abs() < answer.value.upper().to_f64() * 1e-18, "{groups:?} {steps}: {proof:?}");
            }
        }
    }

    /// Bounded losses below their mean, which rho does not describe: the complement takes fewer nodes and a shorter period, and the enumeration
    /// agrees.
    #[test]
    fn below_the_mean_of_bounded_losses_the_complement_is_computed() {
        let sum = sum(&["discrete-laplace:1/2x60@3", "5x4"]);
        let contours = Contours::new(sum.clone());
        let atoms = crate::loss::atoms::Atoms::new(&sum).unwrap();
        let mean = sum.mean_approx();
        for (share, kernel) in [(0.3, Kernel::Complement), (0.7, Kernel::Complement), (1.3, Kernel::HockeyStick)] {
            let epsilon = Rational::from_f64(share * mean).unwrap();
            let question = Question::hockey_stick(&sum, &epsilon);
            let choice = contours.choose(question.clone(), &contours.search(&question), 20).unwrap();
            assert_eq!(choice.question.kernel, kernel, "{share}");
            let (shorter, period) = contours.of_shorter_period(question.clone().on_line(), 20);
            assert_eq!(shorter.kernel, kernel, "{share}");
            let right = contours.search(&question.on_line()).period(ln_share(20));
            assert!(period <= right, "{share}: {period} {right}");
            let listed = atoms.hockey_stick(&epsilon, 24).unwrap();
            let answer = contours.hockey_stick(choice, 20).unwrap();
            assert!(answer.met && answer.value.overlaps(&listed.value), "{share}: {answer:?} {listed:?}");
            // The unbounded contour does not use the lattice, and reaches few digits.
            let on_line = contours.hockey_stick(contours.choose_on_line(shorter, 2).unwrap(), 2).unwrap();
            assert!(on_line.met && on_line.value.overlaps(&listed.value), "{share}: {on_line:?} {listed:?}");
        }
    }
}
