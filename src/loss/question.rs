//! The questions that are put to a sum, and their kernels.

use rug::Rational;

use super::plan::Plan;
use crate::numeric::field::{Field, Real};

/// Which sequence g is summed against the masses; see the module's table.
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
    /// The lattice step h of the periodic kernels; nothing for the kernel on the line.
    pub step: Option<Rational>,
}

impl Question {
    /// Where the kernel's exponential starts: l0 on a lattice, eps on the line.
    pub(crate) fn start(&self) -> &Rational {
        if self.step.is_some() { &self.first } else { &self.threshold }
    }
}

/// kappa(s) exp(s l0) / h at the nodes of a lattice, kappa(s) exp(s eps) on the line.
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
    pub(crate) fn new(question: &Question, c: &Rational, plan: &Plan, precision: <F::Real as Real>::Precision) -> Self {
        let real = |x: &Rational| F::Real::rational(x, precision);
        let (Some(step), Some(nodes)) = (&question.step, plan.nodes) else {
            let height = F::Real::pi(precision).mul(&real(&(Rational::from(2) / &plan.period)));
            return Bracket::Line { at: [real(c), real(&Rational::from(c + 1_u32)), height] };
        };
        let one = real(&Rational::from(1));
        let exponent = -Rational::from(c * step);
        let pair = |exponent: &Rational| {
            let exponent = real(exponent);
            (exponent.exp_m1().neg(), one.add(&exponent.exp()))
        };
        let gap = &question.gap;
        // exp(-y) - exp(-h) = exp(-y) (1 - exp(-(h - y)))
        let second_term = real(&-gap.clone()).exp().mul(&real(&Rational::from(gap - step)).exp_m1().neg());
        Bracket::Lattice(Periodic {
            kernel: question.kernel,
            half_angle: F::Real::pi(precision).mul(&real(&Rational::from((-1, nodes)))),
            first: pair(&exponent),
            second: pair(&Rational::from(&exponent - step)),
            numerator: (real(&-gap.clone()).exp_m1().neg(), second_term.mul(&real(&exponent).exp())),
        })
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
                let nought = n2.mul_int(0);
                let top = back.mul(&back).scale(n1).add(&F::new(n2.clone(), nought));
                top.mul(&one_minus(&self.first).mul(&one_minus(&self.second)).recip())
            }
            Kernel::UpperTail => p.conj().mul(&one_minus(&self.first).recip()),
            Kernel::TiltedTail => p.conj().mul(&one_minus(&self.second).recip()),
        }
    }
}
