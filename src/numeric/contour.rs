//! Probabilities and hockey-stick sums of a [`GaussianSum`] by the trapezoid rule on a contour, with proof.
//!
//! # The formula
//!
//! Let L have its values on rho + h Z and let M(s) = E[exp(s L)]. A question is a sequence g(l) >= 0 on the lattice
//! with sum over l of P[L = l] g(l) asked for, and kappa(s) = h sum over l of g(l) exp(-s l) its transform, which
//! converges in an open strip of Re s. For every c in the strip the answer is the integral of
//! M(s) kappa(s) / (2 pi i) over one period of the line Re s = c. With l0 the first value that counts:
//!
//! | question | g(l) | kappa(s) exp(s l0) / h | strip |
//! | --- | --- | --- | --- |
//! | hockey stick at eps | (1 - exp(eps - l))_+ | (n1 + n2 E) / ((1 - E)(1 - exp(-h) E)) | c > 0 |
//! | its complement | min(1, exp(eps - l)) | minus the same | -1 < c < 0 |
//! | upper tail P[L >= l0] | 1 for l >= l0 | 1 / (1 - E) | c > 0 |
//! | tilted tail E[exp(-L); L >= l0] | exp(-l) for l >= l0 | exp(-l0) / (1 - exp(-h) E) | c > -1 |
//!
//! where E = exp(-s h), y = l0 - eps in (0, h], n1 = 1 - exp(-y), n2 = exp(-y) - exp(-h). Both terms of the privacy
//! profile are in the first line. Nothing cancels: n1, n2 and the two denominators are formed without subtraction of
//! near numbers.
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
//! and the geometric sums are M(x) exp(-x z) / (exp(N h |x - c|) - 1). Finally M(x) <= exp(rho (x + x^2)) for real
//! x: in the theta series the cosines are at most one (numerics, section 1). The strip bound of the general theory
//! asks for integrals of |M kappa|; positivity makes it a sum of two exponentials.
//!
//! # Truncation
//!
//! |kappa(s)| <= |kappa(c)| on the line, since g >= 0. Nodes whose product of factors is at most exp(-cut) by the
//! [`sieve`](super::sieve) add at most exp(rho (c + c^2)) kappa(c) / h exp(-cut) in all, for there are at most N of
//! them and the rule divides by N. All other nodes are summed, side lobes included.

use num_complex::Complex64;
use rug::{Float, Rational, float::Round};

use super::{
    ball::{Ball, ComplexBall},
    enclosure::Enclosure,
    field::{Field, Real},
    plan::{Plan, Sketch},
    rational,
    sum::GaussianSum,
    theta::{self, Factor, Turn},
};
use crate::error::Result;

/// Which sequence g is summed against the masses; see the module's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    HockeyStick,
    Complement,
    UpperTail,
    TiltedTail,
}

impl Kernel {
    /// The open strip of Re s in which kappa converges.
    pub(crate) fn strip(self) -> (f64, f64) {
        match self {
            Kernel::HockeyStick | Kernel::UpperTail => (0.0, f64::INFINITY),
            Kernel::Complement => (-1.0, 0.0),
            Kernel::TiltedTail => (-1.0, f64::INFINITY),
        }
    }

    /// The exponents x for which g(l) <= exp(x (l - z)): the closed strip.
    ///
    /// (1 - exp(-d))_+ <= exp(x d) for x >= 0; min(1, exp(-d)) <= exp(x d) for -1 <= x <= 0; the indicator of d >= 0
    /// is at most exp(x d) for x >= 0; and exp(-d) on d >= 0 is for x >= -1.
    pub(crate) fn closed_strip(self) -> (f64, f64) {
        self.strip()
    }
}

/// A question put to a sum.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub kernel: Kernel,
    /// eps for the hockey stick and its complement, the first value for the tails: the z of the bounds.
    pub threshold: Rational,
    /// The first lattice value l0 that counts.
    pub first: Rational,
    /// l0 - eps, in (0, h].
    pub gap: Rational,
}

/// How a number was certified: everything that `assay explain` prints.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// Re s on the contour.
    pub contour: f64,
    /// Whether the contour ran left of the pole at zero, so that one minus the answer was computed.
    pub complement: bool,
    /// Nodes of the full period.
    pub period_nodes: i64,
    /// Nodes that were evaluated.
    pub evaluated_nodes: i64,
    /// Side lobes that survived the sieve and were integrated.
    pub side_lobes: usize,
    /// Bits of the mantissas.
    pub bits: u32,
    /// Upper bound for what the trapezoid rule adds.
    pub alias_error: Float,
    /// Upper bound for the nodes that were left out.
    pub truncation_error: Float,
    /// Width of the enclosure of the sum itself: the roundings.
    pub rounding_error: Float,
}

/// An answer with its proof.
#[derive(Clone, Debug)]
pub struct Certified {
    /// The enclosure of the answer.
    pub value: Enclosure,
    /// How it was obtained.
    pub certificate: Certificate,
    /// Whether the asked relative width was met; the enclosure is valid either way.
    pub met: bool,
}

impl GaussianSum {
    /// E[(1 - exp(epsilon - L))_+], the hockey-stick divergence of order exp(epsilon), for epsilon >= 0.
    ///
    /// The relative width is at most 10^-digits unless `met` says otherwise. Where the answer is close to one, one
    /// minus it is as accurate too.
    pub fn hockey_stick(&self, epsilon: &Rational, digits: u32) -> Result<Certified> {
        let right = self.hockey_question(epsilon);
        let left = Question { kernel: Kernel::Complement, ..right.clone() };
        if self.is_shorter(&left, &right, digits) {
            let answer = self.answer(&left, digits)?;
            let one = Enclosure::double(1.0, answer.certificate.bits + 64);
            let value = one.sub(&answer.value).clamp(0.0, 1.0);
            if value.is_tight(digits) {
                return Ok(Certified { value, met: true, ..answer });
            }
        }
        let answer = self.answer(&right, digits)?;
        Ok(Certified { value: answer.value.clamp(0.0, 1.0), ..answer })
    }

    /// Whether the contour between the poles, which gives one minus the answer, needs fewer nodes than the one to
    /// their right. Only for epsilon below rho, where the answer exceeds about a half, and for lattices on which
    /// exp(-c h) stays within a double.
    fn is_shorter(&self, left: &Question, right: &Question, digits: u32) -> bool {
        if left.threshold >= *self.rho() || *self.step() > 50 {
            return false;
        }
        let ln_share = -f64::from(digits) * std::f64::consts::LN_10;
        let nodes = |question: &Question| {
            Sketch::new(self, question).plan(ln_share, None).map_or(i64::MAX, |plan| plan.evaluated())
        };
        nodes(left) < nodes(right)
    }

    /// P[L >= l0] for the first lattice value l0 >= z.
    pub fn upper_tail(&self, z: &Rational, digits: u32) -> Result<Certified> {
        let tail = self.answer(&self.tail_question(Kernel::UpperTail, z), digits)?;
        Ok(Certified { value: tail.value.clamp(0.0, 1.0), ..tail })
    }

    /// E[exp(-L); L >= l0] for the first lattice value l0 >= z: the probability of the tail under the other law of
    /// the pair.
    pub fn tilted_tail(&self, z: &Rational, digits: u32) -> Result<Certified> {
        let tail = self.answer(&self.tail_question(Kernel::TiltedTail, z), digits)?;
        Ok(Certified { value: tail.value.clamp(0.0, 1.0), ..tail })
    }

    /// ln of the hockey-stick divergence, in doubles: about 13 digits, an approximation without proof.
    pub fn ln_hockey_stick_approx(&self, epsilon: &Rational) -> Result<f64> {
        self.ln_approx(&self.hockey_question(epsilon))
    }

    /// ln of E[exp(-L); L >= z], in doubles: an approximation without proof.
    pub fn ln_tilted_tail_approx(&self, z: &Rational) -> Result<f64> {
        self.ln_approx(&self.tail_question(Kernel::TiltedTail, z))
    }

    /// Encloses ln E[exp(x L)] = rho (x + x^2) + ln of the thetas, for a real x.
    pub fn ln_mgf(&self, x: &Rational, bits: u32) -> Enclosure {
        let turn = Turn { step: 0, modulus: 1 };
        let real = |x: &Rational| Enclosure::rational(x, bits + 64);
        let mut total = real(&self.concentrated(x));
        for group in self.groups() {
            let factor = Factor::<ComplexBall>::new(group, x, turn, bits + 16).at(0);
            let series = factor.series.unwrap_or_else(|| {
                let one = Ball::rational(&Rational::from(1), bits + 16);
                ComplexBall::new(one, Ball::rational(&Rational::new(), bits + 16))
                    .with_relative_error(factor.ln_left_out)
            });
            let normaliser = theta::normaliser(&group.sigma2, bits + 16).ln().mul(&real(&Rational::from(group.copies)));
            total = total.add(&series.re().enclosure().ln()).add(&real(&theta::ln_scale(group, x))).sub(&normaliser);
        }
        total
    }

    fn hockey_question(&self, epsilon: &Rational) -> Question {
        let first = self.above(epsilon);
        let gap = Rational::from(&first - epsilon);
        Question { kernel: Kernel::HockeyStick, threshold: epsilon.clone(), first, gap }
    }

    fn tail_question(&self, kernel: Kernel, z: &Rational) -> Question {
        let last_below = self.at_most(z);
        let first = if last_below == *z { last_below } else { self.above(z) };
        Question { kernel, threshold: first.clone(), first, gap: Rational::new() }
    }

    /// ln of a question's answer in doubles. The plan is made anew while the answer turns out far from what it was
    /// made for: first the saddle point estimate, then the last answer.
    fn ln_approx(&self, question: &Question) -> Result<f64> {
        const ATTEMPTS: usize = 8;
        let sketch = Sketch::new(self, question);
        let mut expected = sketch.ln_estimate();
        let normalisers: f64 = self.groups().iter().map(theta::ln_normaliser_approx).sum();
        for _ in 0..ATTEMPTS {
            let plan = sketch.plan(1e-15_f64.ln(), Some(expected))?;
            let sum = Integrand::<Complex64>::new(self, question, &plan, ()).total(&plan).re;
            let prefactor = self.ln_prefactor(question, &rational::from_f64(plan.c)).to_f64() - normalisers;
            let answer = prefactor + sum.abs().ln() - (plan.nodes as f64).ln();
            if !answer.is_finite() || (answer - expected).abs() < 1.0 {
                return Ok(answer);
            }
            expected = answer;
        }
        Ok(expected)
    }

    /// rho (c + c^2) - c l0, less l0 for the tilted tail, less what the direct sides of the thetas took out.
    fn ln_prefactor(&self, question: &Question, c: &Rational) -> Rational {
        let exponent = self.ln_size(question, c, &question.first);
        self.groups().iter().fold(exponent, |sum, group| sum + theta::ln_scale(group, c))
    }

    /// rho (x + x^2) - x z, less l0 for the tilted tail: ln of a bound for M(x) exp(-x z), exact.
    fn ln_size(&self, question: &Question, x: &Rational, z: &Rational) -> Rational {
        let size = self.concentrated(x) - Rational::from(x * z);
        if question.kernel == Kernel::TiltedTail { size - &question.first } else { size }
    }

    /// The enclosure of a question's answer, with precision and share of the errors raised until the width is met.
    fn answer(&self, question: &Question, digits: u32) -> Result<Certified> {
        const ATTEMPTS: u32 = 6;
        let sketch = Sketch::new(self, question);
        let mut known = None;
        let mut attempt = 0;
        loop {
            let guard = 2.3 + 9.0 * f64::from(attempt);
            let ln_share = -(f64::from(digits) * std::f64::consts::LN_10 + guard);
            let plan = sketch.plan(ln_share, known)?;
            let bits = (f64::from(digits) * 3.33) as u32 + 24 + (plan.evaluated().ilog2()) + 24 * attempt;
            let result = self.evaluate(question, &plan, bits);
            attempt += 1;
            let met = result.value.is_tight(digits);
            if met || attempt == ATTEMPTS {
                return Ok(Certified { met, ..result });
            }
            let upper = Float::with_val(53, result.value.upper().ln_ref()).to_f64();
            known = (upper.is_finite()).then_some(upper);
        }
    }

    /// One evaluation in balls: the sum over the nodes of the plan with all its errors.
    fn evaluate(&self, question: &Question, plan: &Plan, bits: u32) -> Certified {
        let c = rational::from_f64(plan.c);
        let sum = Integrand::<ComplexBall>::new(self, question, plan, bits).total(plan).re().enclosure();
        let wide = bits + 64;
        let real = |x: &Rational| Enclosure::rational(x, wide);
        let mut prefactor = real(&self.ln_prefactor(question, &c));
        for group in self.groups() {
            let ln = theta::normaliser(&group.sigma2, bits + 16).ln();
            prefactor = prefactor.sub(&ln.mul(&real(&Rational::from(group.copies))));
        }
        let mut total = sum.mul(&prefactor.exp()).div(&real(&Rational::from(plan.nodes)));
        if question.kernel == Kernel::Complement {
            total = total.negate();
        }
        let rounding_error = Float::with_val_round(32, total.upper() - total.lower(), Round::Up).0;
        let alias_error = self.alias_error(question, plan, &c);
        let truncation_error = self.truncation_error(question, plan, &c);
        // T - alias <= answer <= T, and T is within the truncation of the sum that was formed.
        let lower = Float::with_val_round(wide, total.lower() - &truncation_error, Round::Down).0;
        let lower = Float::with_val_round(wide, &lower - &alias_error, Round::Down).0;
        let upper = Float::with_val_round(wide, total.upper() + &truncation_error, Round::Up).0;
        Certified {
            value: Enclosure::new(lower, upper).clamp(0.0, f64::INFINITY),
            certificate: Certificate {
                contour: plan.c,
                complement: question.kernel == Kernel::Complement,
                period_nodes: plan.nodes,
                evaluated_nodes: plan.evaluated(),
                side_lobes: plan.lobes.len() - 1,
                bits,
                alias_error,
                truncation_error,
                rounding_error,
            },
            met: false,
        }
    }

    /// sum over both sides of exp(rho (x + x^2) - x z) / (exp(N h |x - c|) - 1), less l0 in the exponent for the
    /// tilted tail, rounded up.
    fn alias_error(&self, question: &Question, plan: &Plan, c: &Rational) -> Float {
        const BITS: u32 = 96;
        let period = Rational::from(self.step() * plan.nodes);
        let mut error = Enclosure::double(0.0, BITS);
        for x in [plan.below, plan.above] {
            let x = rational::from_f64(x);
            let exponent = self.ln_size(question, &x, &question.threshold);
            let decay = Rational::from(&x - c).abs() * &period;
            let side = Enclosure::rational(&exponent, BITS).exp().div(&Enclosure::rational(&decay, BITS).exp_m1());
            error = error.add(&side);
        }
        error.upper().clone()
    }

    /// exp(rho (c + c^2)) kappa(c) / h exp(-cut), rounded up: the product of factors that the sieve bounds is
    /// normalised, and the nodes left out are at most N of N.
    fn truncation_error(&self, question: &Question, plan: &Plan, c: &Rational) -> Float {
        const BITS: u32 = 96;
        if plan.cut.is_infinite() {
            return Float::new(BITS);
        }
        let exponent = self.ln_size(question, c, &question.first) - rational::from_f64(plan.cut);
        let bracket = Bracket::<ComplexBall>::new(self, question, c, plan.nodes, BITS).at(0).re().enclosure();
        let size = bracket.lower().clone().abs().max(&bracket.upper().clone().abs());
        let bound = Enclosure::rational(&exponent, BITS).exp().mul(&Enclosure::new(size.clone(), size));
        bound.upper().clone()
    }
}

/// The summand of the trapezoid rule at node j, without the prefactor.
struct Integrand<F: Field> {
    factors: Vec<Factor<F>>,
    /// exp(i t (rho - l0)): the advance of the phase, exact because (rho - l0) / h is an integer.
    offset: Turn,
    turn_of_offset: F::Real,
    two_pi: F::Real,
    bracket: Bracket<F>,
    zero: F,
}

impl<F: Field> Integrand<F> {
    fn new(sum: &GaussianSum, question: &Question, plan: &Plan, precision: <F::Real as Real>::Precision) -> Self {
        let c = rational::from_f64(plan.c);
        let modulus = plan.nodes;
        let reduce = |integer: &rug::Integer| -> i64 {
            let (_, remainder) = integer.clone().div_rem_euc(rug::Integer::from(modulus));
            remainder.to_i64().unwrap_or(0)
        };
        let real = |x: &Rational| F::Real::rational(x, precision);
        let factors = (sum.groups().iter().zip(sum.multipliers()))
            .map(|(group, multiplier)| Factor::new(group, &c, Turn { step: reduce(multiplier), modulus }, precision))
            .collect();
        let steps = (Rational::from(sum.rho() - &question.first) / sum.step()).into_numer_denom().0;
        let nought = real(&Rational::new());
        Integrand {
            factors,
            offset: Turn { step: reduce(&steps), modulus },
            turn_of_offset: real(&Rational::from((1, modulus))),
            two_pi: F::Real::pi(precision).mul_int(2),
            bracket: Bracket::new(sum, question, &c, plan.nodes, precision),
            zero: F::new(nought.clone(), nought),
        }
    }

    fn at(&self, node: i64) -> F {
        let mut ln_modulus: Option<F::Real> = None;
        let mut turns = self.turn_of_offset.mul_int(self.offset.at(node));
        let mut product = self.bracket.at(node);
        let mut ln_left_out = f64::NEG_INFINITY;
        for factor in &self.factors {
            let part = factor.at(node);
            ln_modulus = Some(ln_modulus.map_or(part.ln_modulus.clone(), |sum| sum.add(&part.ln_modulus)));
            turns = turns.add(&part.turns);
            if let Some(series) = part.series {
                product = product.mul(&series);
            }
            ln_left_out = ln_sum(ln_left_out, part.ln_left_out);
        }
        let modulus = ln_modulus.map_or_else(|| self.zero.re(), |ln| ln.exp());
        let value = product.mul(&F::cis(&self.two_pi.mul(&turns)).scale(&modulus));
        if ln_left_out == f64::NEG_INFINITY {
            return value;
        }
        // prod (1 + e_i)^copies - 1 is at most exp(sum copies |e_i|) - 1 <= 2 sum copies |e_i| for a sum below one.
        value.with_relative_error(ln_left_out + 0.7)
    }

    /// Node 0 and twice the real part of the nodes j >= 1 of the plan: the nodes -j are the conjugates.
    fn total(&self, plan: &Plan) -> F {
        let mut sum = self.zero.clone();
        for &(from, to) in &plan.lobes {
            for node in from.max(1)..=to {
                sum = sum.add(&self.at(node));
            }
        }
        sum.add(&sum).add(&self.at(0))
    }
}

/// kappa(s) exp(s l0) / h at the nodes.
struct Bracket<F: Field> {
    kernel: Kernel,
    /// pi / N: half the angle by which exp(-s h) turns from node to node.
    half_angle: F::Real,
    /// (1 - r, 1 + r) for r = exp(-c h) and for r = exp(-(c + 1) h).
    first: (F::Real, F::Real),
    second: (F::Real, F::Real),
    /// n1 and n2 exp(-c h).
    numerator: (F::Real, F::Real),
}

impl<F: Field> Bracket<F> {
    fn new(
        sum: &GaussianSum,
        question: &Question,
        c: &Rational,
        nodes: i64,
        precision: <F::Real as Real>::Precision,
    ) -> Self {
        let real = |x: &Rational| F::Real::rational(x, precision);
        let one = real(&Rational::from(1));
        let exponent = -Rational::from(c * sum.step());
        let pair = |exponent: &Rational| {
            let exponent = real(exponent);
            (exponent.exp_m1().neg(), one.add(&exponent.exp()))
        };
        let gap = &question.gap;
        // exp(-y) - exp(-h) = exp(-y) (1 - exp(-(h - y)))
        let second_term = real(&-gap.clone()).exp().mul(&real(&Rational::from(gap - sum.step())).exp_m1().neg());
        Bracket {
            kernel: question.kernel,
            half_angle: F::Real::pi(precision).mul(&real(&Rational::from((-1, nodes)))),
            first: pair(&exponent),
            second: pair(&Rational::from(&exponent - sum.step())),
            numerator: (real(&-gap.clone()).exp_m1().neg(), second_term.mul(&real(&exponent).exp())),
        }
    }

    /// With p = cis(angle / 2) and r e^{i angle} = E: 1 - E = p ((1 - r) cos(angle/2) - i (1 + r) sin(angle/2)),
    /// which subtracts nothing.
    fn at(&self, node: i64) -> F {
        let (sin, cos) = self.half_angle.mul_int(node).sin_cos();
        let p = F::new(cos.clone(), sin.clone());
        let one_minus = |(minus, plus): &(F::Real, F::Real)| F::new(minus.mul(&cos), plus.mul(&sin).neg());
        match self.kernel {
            Kernel::HockeyStick | Kernel::Complement => {
                // (n1 + n2 r p^2) / (p^2 a b) = (n1 conj(p)^2 + n2 r) / (a b)
                let back = p.conj();
                let (n1, n2) = &self.numerator;
                let nought = n2.mul_int(0);
                let top = back.mul(&back).scale(n1).add(&F::new(n2.clone(), nought));
                top.mul(&one_minus(&self.first).mul(&one_minus(&self.second)).recip())
            }
            Kernel::UpperTail => p.conj().mul(&one_minus(&self.first).recip()),
            Kernel::TiltedTail => p.conj().mul(&one_minus(&self.second).recip()),
        }
    }
}

/// ln(exp(a) + exp(b)).
fn ln_sum(a: f64, b: f64) -> f64 {
    let (large, small) = (a.max(b), a.min(b));
    if small == f64::NEG_INFINITY { large } else { large + (small - large).exp().ln_1p() }
}
