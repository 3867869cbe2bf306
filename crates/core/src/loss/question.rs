//! The functionals that are computed of a sum of privacy losses, and their kernels.
//!
//! Let L have its values on rho + h Z and let M(s) = E[exp(s L)]. A question is a sequence g(l) >= 0 on the lattice, whose answer is the sum over l
//! of P[L = l] g(l), and kappa(s) = h sum over l of g(l) exp(-s l) is its transform, which converges in an open strip of Re s. For every c in the
//! strip the answer is the integral of M(s) kappa(s) / (2 pi i) over one period of the vertical line Re s = c. With l0 the first value that counts:
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
//! Without a lattice, or where its period is too long to sweep, the hockey stick and its complement take the unbounded contour, the whole vertical
//! line, and the kernel exp(-s eps) / (s (s + 1)), which does not depend on a lattice.

use rug::Rational;

use super::sum::LossSum;
use crate::{
    error::{Error, Result},
    numeric::field::{Field, Real},
};

/// The sequence g that is summed against the masses; see the module's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    HockeyStick,
    Complement,
    UpperTail,
    TiltedTail,
}

impl Kernel {
    /// The open strip of Re s in which kappa converges. Its closure holds the exponents x with
    /// g(l) <= exp(x (l - z)): (1 - exp(-d))_+ <= exp(x d) for x >= 0; min(1, exp(-d)) <= exp(x d) for -1 <= x <= 0; the
    /// indicator of d >= 0 is at most exp(x d) for x >= 0; and exp(-d) on d >= 0 is for x >= -1.
    pub(crate) fn strip(self) -> (f64, f64) {
        match self {
            Kernel::HockeyStick | Kernel::UpperTail => (0.0, f64::INFINITY),
            Kernel::Complement => (-1.0, 0.0),
            Kernel::TiltedTail => (-1.0, f64::INFINITY),
        }
    }
}

/// One functional of a sum, at one threshold.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub kernel: Kernel,
    /// eps for the hockey stick and its complement, the first value for the tails: the z of the bounds.
    pub threshold: Rational,
    /// The first lattice value l0 that counts.
    pub first: Rational,
    /// l0 - eps, in (0, h].
    pub gap: Rational,
    /// The lattice step h of the periodic kernels, or `None` for the kernel of an unbounded contour.
    pub step: Option<Rational>,
}

impl Question {
    /// The hockey stick at epsilon: on the lattice of the sum if it has one, else on an unbounded contour.
    pub(crate) fn hockey_stick(sum: &LossSum, epsilon: &Rational) -> Self {
        let first = sum.above(epsilon);
        let gap = Rational::from(&first - epsilon);
        Question { kernel: Kernel::HockeyStick, threshold: epsilon.clone(), first, gap, step: sum.step().cloned() }
    }

    /// A tail from the first lattice value >= z. The kernel 1 / s of a tail does not decay fast enough on an unbounded contour for the bounds of the
    /// rule, so a sum without a lattice is refused.
    pub(crate) fn tail(kernel: Kernel, sum: &LossSum, z: &Rational) -> Result<Self> {
        let step = sum.step().ok_or(Error::NoLattice)?.clone();
        let last_below = sum.at_most(z);
        let first = if last_below == *z { last_below } else { sum.above(z) };
        Ok(Question { kernel, threshold: first.clone(), first, gap: Rational::new(), step: Some(step) })
    }

    /// The same hockey stick, or complement of one, on an unbounded contour.
    pub(crate) fn on_line(self) -> Self {
        Question { first: self.threshold.clone(), gap: Rational::new(), step: None, ..self }
    }

    /// Where the kernel's exponential starts: l0 on a lattice, eps on an unbounded contour.
    pub(crate) fn start(&self) -> &Rational {
        if self.step.is_some() { &self.first } else { &self.threshold }
    }
}

/// exp(-c h): the modulus of exp(-s h) on the vertical line Re s = c.
pub(crate) fn modulus<R: Real>(step: &Rational, c: &Rational, precision: R::Precision) -> R {
    R::rational(&-Rational::from(c * step), precision).exp()
}

/// n1 = 1 - exp(-y) and n2 exp(-c h), with n2 = exp(-y) - exp(-h) = exp(-y) (1 - exp(-(h - y))); `modulus` is exp(-c h).
pub(crate) fn numerator<R: Real>(question: &Question, step: &Rational, modulus: &R, precision: R::Precision) -> (R, R) {
    let real = |x: &Rational| R::rational(x, precision);
    let gap = -question.gap.clone();
    let second = real(&gap).exp().mul(&real(&-Rational::from(step + &gap)).exp_m1().neg());
    (real(&gap).exp_m1().neg(), second.mul(modulus))
}

/// kappa(s) exp(s l0) / h at the nodes of a lattice contour, kappa(s) exp(s eps) on an unbounded one.
pub(crate) enum Bracket<F: Field> {
    /// The periodic kernels.
    Lattice(Periodic<F>),
    /// 1 / (s (s + 1)).
    Line {
        /// c, c + 1 and the height of node 1.
        at: [F::Real; 3],
    },
}

/// The kernels on a lattice.
pub(crate) struct Periodic<F: Field> {
    kernel: Kernel,
    /// -pi / N: half the angle by which exp(-s h) turns from node to node.
    half_angle: F::Real,
    /// (1 - r, 1 + r) for r = exp(-c h) and for r = exp(-(c + 1) h).
    first: (F::Real, F::Real),
    second: (F::Real, F::Real),
    /// n1 and n2 exp(-c h).
    numerator: (F::Real, F::Real),
}

impl<F: Field> Bracket<F> {
    /// On the vertical line Re s = c, where the rule repeats itself after losses of one `period`: on a lattice that is the number of nodes.
    pub(crate) fn new(
        question: &Question,
        c: &Rational,
        (period, nodes): (&Rational, Option<i64>),
        precision: <F::Real as Real>::Precision,
    ) -> Self {
        let real = |x: &Rational| F::Real::rational(x, precision);
        let (Some(step), Some(nodes)) = (&question.step, nodes) else {
            let height = F::Real::pi(precision).mul(&real(&(Rational::from(2) / period)));
            return Bracket::Line { at: [real(c), real(&Rational::from(c + 1_u32)), height] };
        };
        let one = real(&Rational::from(1));
        let exponent = -Rational::from(c * step);
        let pair = |exponent: &Rational| {
            let exponent = real(exponent);
            (exponent.exp_m1().neg(), one.add(&exponent.exp()))
        };
        Bracket::Lattice(Periodic {
            kernel: question.kernel,
            half_angle: F::Real::pi(precision).mul(&real(&Rational::from((-1, nodes)))),
            first: pair(&exponent),
            second: pair(&Rational::from(&exponent - step)),
            numerator: numerator(question, step, &modulus(step, c, precision), precision),
        })
    }

    /// A and B of kappa = n1 A + n2 exp(-c h) B for a hockey stick on a lattice: they depend on the contour only. For an unbounded contour the
    /// kernel, as A.
    pub(crate) fn parts(&self, node: i64) -> (F, Option<F>) {
        match self {
            Bracket::Lattice(periodic) => {
                let (sin, cos) = periodic.half_angle.mul_int(node).sin_cos();
                let back = F::new(cos.clone(), sin.clone()).conj();
                let one_minus = |(minus, plus): &(F::Real, F::Real)| F::new(minus.mul(&cos), plus.mul(&sin).neg());
                let pole = one_minus(&periodic.first).mul(&one_minus(&periodic.second)).recip();
                (back.mul(&back).mul(&pole), Some(pole))
            }
            Bracket::Line { .. } => (self.at(node), None),
        }
    }

    pub(crate) fn at(&self, node: i64) -> F {
        match self {
            Bracket::Lattice(periodic) => periodic.at(node),
            Bracket::Line { at: [c, next, height] } => {
                let t = height.mul_int(node);
                F::new(c.clone(), t.clone()).mul(&F::new(next.clone(), t)).recip()
            }
        }
    }
}

impl<F: Field> Periodic<F> {
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
                let zero = n2.mul_int(0);
                let top = back.mul(&back).scale(n1).add(&F::new(n2.clone(), zero));
                top.mul(&one_minus(&self.first).mul(&one_minus(&self.second)).recip())
            }
            Kernel::UpperTail => p.conj().mul(&one_minus(&self.first).recip()),
            Kernel::TiltedTail => p.conj().mul(&one_minus(&self.second).recip()),
        }
    }
}
