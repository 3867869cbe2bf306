//! The integrand at the nodes of a contour: the factors of the sum and the kernel of the request.

use rayon::prelude::*;
use rug::Rational;

use super::{
    law::Group,
    plan::Plan,
    question::{Bracket, Question},
    sum::LossSum,
    theta::{self, Factor},
};
use crate::numeric::{
    Enclosure,
    ball::ComplexBall,
    effort::{self, Effort},
    field::{Field, Real},
    phase::ExactPhase,
    twofold::ComplexTwofold,
};

/// One processor sums this many nodes.
const PART: usize = 512;

/// The summand of the trapezoid rule at node j, without the prefactor.
pub(crate) struct Integrand<F: Field> {
    product: Product<F>,
    /// exp(i t (offset - l0)), on an unbounded contour with eps in place of l0: the advance of the phase, exact.
    offset: ExactPhase,
    two_pi: F::Real,
    bracket: Bracket<F>,
    precision: <F::Real as Real>::Precision,
}

impl<F: Field> Integrand<F> {
    pub(crate) fn new(
        sum: &LossSum,
        question: &Question,
        plan: &Plan,
        precision: <F::Real as Real>::Precision,
    ) -> Self {
        let c = &plan.exact_c;
        let spacing = plan.period.clone().recip();
        let start = question.start();
        Integrand {
            product: Product::new(sum, c, &spacing, precision),
            offset: ExactPhase::new(&(Rational::from(sum.offset() - start) * &spacing)),
            two_pi: F::Real::pi(precision).mul_int(2),
            bracket: Bracket::new(question, c, (&plan.period, plan.nodes), precision),
            precision,
        }
    }

    /// The part of the summand that depends on the request only: all but the factors of the sum.
    pub(crate) fn question_at(&self, node: i64) -> F {
        let turns: F::Real = self.offset.at(node, self.precision);
        self.bracket.at(node).mul(&F::cis(&self.two_pi.mul(&turns)))
    }

    pub(crate) fn at(&self, node: i64) -> F {
        // One phase for all: the turns of the kernel and of the factors nearly cancel at the saddle point.
        let turns: F::Real = self.offset.at(node, self.precision);
        self.bracket.at(node).mul(&self.product.turned(node, Some(turns)))
    }

    /// The trapezoid sum: node 0 and twice the real part of the nodes j >= 1 of the plan, for the nodes -j are the
    /// conjugates and a period holds an odd number of nodes.
    pub(crate) fn total(&self, plan: &Plan) -> F {
        let half = self.half(plan.summed().skip(1));
        let first = self.at(0);
        half.map_or_else(|| first.clone(), |half| half.add(&half).add(&first))
    }

    /// The sum over some nodes, in parts of a fixed number of nodes, so that the rounding does not depend on the machine.
    fn half(&self, nodes: impl Iterator<Item = i64>) -> Option<F> {
        let nodes: Vec<i64> = nodes.collect();
        let factors: f64 = self.product.factors.iter().map(Factor::steps).sum();
        effort::spend(Effort::of_steps(nodes.len() as f64 * factors, F::PRICE));
        let sum_of = |part: &[i64]| part.iter().map(|node| self.at(*node)).reduce(|sum, term| sum.add(&term));
        let parts: Vec<F> = nodes.par_chunks(PART).filter_map(sum_of).collect();
        parts.into_iter().reduce(|sum, part| sum.add(&part))
    }
}

/// Encloses the real part of the trapezoid sum to about this number of digits, in balls of `bits` bits. The nodes beyond the first lobe that are so
/// small that fewer digits suffice are summed in balls of two doubles; `ln_bound` is an upper bound on ln of the product at a node.
pub(crate) fn total(
    sum: &LossSum,
    question: &Question,
    plan: &Plan,
    ln_bound: impl Fn(i64) -> f64,
    digits: u32,
    bits: u32,
) -> Enclosure {
    // Such a ball keeps this number of digits of a term, and the terms together lose a few.
    const KEPT: f64 = 22.0;
    let enough = -(f64::from(digits) - KEPT) * std::f64::consts::LN_10;
    let first = plan.lobes[0].1;
    let is_small = |node: i64| {
        let ln_kernel = -f64::from(plan.decay) * libm::log(node as f64 / first as f64);
        node > first && ln_bound(node) + ln_kernel <= enough
    };
    let (small, large): (Vec<i64>, Vec<i64>) = plan.summed().skip(1).partition(|node| is_small(*node));
    let balls = Integrand::<ComplexBall>::new(sum, question, plan, bits);
    let at_zero = balls.at(0);
    let large = balls.half(large.into_iter()).map(|half| half.add(&half).add(&at_zero));
    let large = large.unwrap_or(at_zero).re().enclosure();
    if small.is_empty() {
        return large;
    }
    let small = Integrand::<ComplexTwofold>::new(sum, question, plan, ()).half(small.into_iter());
    small.map_or_else(|| large.clone(), |half| large.add(&half.add(&half).re().enclosure()))
}

impl LossSum {
    /// Encloses ln E[exp(x L)] = rho (x + x^2) + ln of the thetas, for a real x.
    pub fn ln_mgf(&self, x: &Rational, bits: u32) -> Enclosure {
        let product = Product::<ComplexBall>::new(self, x, &Rational::new(), bits + 16).at(0).re().enclosure();
        self.ln_scale(x, bits + 64).add(&product.ln())
    }

    /// ln of what the factors at Re s = x are relative to: E[exp(s L)] is that times their [`Product`] and exp(i t offset) at s = x + i t.
    pub(crate) fn ln_scale(&self, x: &Rational, bits: u32) -> Enclosure {
        let concentrated = Enclosure::rational(&self.concentrated(x), bits);
        self.groups().iter().fold(concentrated, |sum, group| sum.add(&theta::ln_scale(group, x, bits)))
    }

    /// The same in doubles, to a few digits: for plots.
    pub(crate) fn ln_mgf_approx(&self, x: f64) -> f64 {
        let rho = self.rho().to_f64();
        self.outlined().fold(rho * (x + x * x), |sum, group| sum + group.ln_mgf_approx(x))
    }
}

/// The product of all factors of a sum at the nodes: M(s) without the parts that belong to the prefactor.
pub(crate) struct Product<F: Field> {
    factors: Vec<Factor<F>>,
    two_pi: F::Real,
}

impl<F: Field> Product<F> {
    /// At Re s = c, with Im s advancing by 2 pi `spacing` from node to node.
    pub(crate) fn new(
        sum: &LossSum,
        c: &Rational,
        spacing: &Rational,
        precision: <F::Real as Real>::Precision,
    ) -> Self {
        let factors = sum.groups().iter().map(|group| Factor::new(group, c, spacing, precision)).collect();
        Product { factors, two_pi: F::Real::pi(precision).mul_int(2) }
    }

    /// The factors of one group alone.
    pub(crate) fn of_group(
        group: &Group,
        c: &Rational,
        spacing: &Rational,
        precision: <F::Real as Real>::Precision,
    ) -> Self {
        let factors = vec![Factor::new(group, c, spacing, precision)];
        Product { factors, two_pi: F::Real::pi(precision).mul_int(2) }
    }

    /// How many steps one node of a sum takes, each of the price of a short series.
    pub(crate) fn steps_of(sum: &LossSum) -> f64 {
        sum.outlined().map(|group| theta::steps(group.one.map_or(0, |one| one.losses.len()))).sum()
    }

    /// The product at a node.
    pub(crate) fn at(&self, node: i64) -> F {
        self.turned(node, None)
    }

    /// The product at a node, turned by a further phase.
    fn turned(&self, node: i64, turns: Option<F::Real>) -> F {
        let mut turns = turns;
        let mut ln_modulus: Option<F::Real> = None;
        let mut product: Option<F> = None;
        let mut ln_left_out = f64::NEG_INFINITY;
        for factor in &self.factors {
            let part = factor.at(node);
            ln_modulus = Some(ln_modulus.map_or(part.ln_modulus.clone(), |sum| sum.add(&part.ln_modulus)));
            turns = Some(turns.map_or(part.turns.clone(), |sum| sum.add(&part.turns)));
            if let Some(series) = part.series {
                product = Some(product.map_or(series.clone(), |product| product.mul(&series)));
            }
            ln_left_out = ln_sum(ln_left_out, part.ln_left_out);
        }
        let angle = turns.map_or_else(|| self.two_pi.mul_int(0), |turns| self.two_pi.mul(&turns));
        let modulus = ln_modulus.map_or_else(|| self.two_pi.mul_int(0), |ln| ln.exp());
        let value = F::cis(&angle).scale(&modulus);
        let value = product.map_or(value.clone(), |product| product.mul(&value));
        if ln_left_out == f64::NEG_INFINITY {
            return value;
        }
        // prod (1 + e_i)^copies - 1 is at most exp(sum copies |e_i|) - 1 <= 2 sum copies |e_i| for a sum below one.
        value.with_relative_error(ln_left_out + 0.7)
    }
}

/// ln(exp(a) + exp(b)).
fn ln_sum(a: f64, b: f64) -> f64 {
    let (large, small) = (a.max(b), a.min(b));
    if small == f64::NEG_INFINITY { large } else { large + libm::log1p(libm::exp(small - large)) }
}
