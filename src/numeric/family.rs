//! All pairs of a family of sums at once: E[(1 - exp(eps - L))_+] for L = L_p + L_q with p and q from a family.
//!
//! The members of a family have the same rho and only Gaussian terms, so one contour serves all pairs: the same real
//! part, the same nodes and the same bounds for aliasing and truncation. The product of factors is evaluated once for
//! each member and node; a pair costs one multiplication a node.
//!
//! The sieve is asked for the pairs (p, p) only. It bounds |F_p|^2 by the target, hence |F_p F_q| by it too.

use num_complex::Complex64;
use rug::{Integer, Rational};

use super::{
    ball::ComplexBall,
    contour::{Certificate, Kernel, Question},
    enclosure::Enclosure,
    field::{Field, Real},
    integrand::{Integrand, Product, total},
    plan::{Plan, Sketch},
    rational,
    sum::{Group, Law, LossSum},
};
use crate::error::{Error, Result};

/// Sums of equal rho, to be added in pairs.
#[derive(Clone, Debug)]
pub struct Family {
    members: Vec<LossSum>,
    /// Each member added to itself.
    doubles: Vec<LossSum>,
    /// The lattice on which all pairs lie.
    step: Option<Rational>,
}

/// A pair of members, the smaller index first, and its answer.
pub type PairAnswer = ((usize, usize), Enclosure);

impl Family {
    /// A family of at least one member. All must have the same rho and no bounded terms.
    pub fn new(members: Vec<Vec<Group>>) -> Result<Self> {
        let twice = |groups: &Vec<Group>| {
            LossSum::new(groups.iter().map(|group| Group { copies: group.copies * 2, ..group.clone() }))
        };
        let doubles: Vec<LossSum> = members.iter().map(twice).collect::<Result<_>>()?;
        let members: Vec<LossSum> = members.into_iter().map(LossSum::new).collect::<Result<_>>()?;
        let Some(first) = members.first() else { return Err(Error::EmptyComposition) };
        let bounded = |sum: &LossSum| sum.groups().iter().any(|group| matches!(group.law, Law::DiscreteLaplace { .. }));
        if let Some(other) = members.iter().find(|member| member.rho() != first.rho() || bounded(member)) {
            let expected = "Gaussian noise of the same total rho on every path";
            return Err(Error::out_of_range("the rho of a path", rational::display(other.rho()), expected));
        }
        let step = members.iter().map(|member| member.step().cloned()).reduce(|a, b| {
            let (a, b) = (a?, b?);
            Some(rational::gcd(&a, &b))
        });
        Ok(Family { step: step.flatten(), members, doubles })
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are none, which [`Family::new`] refuses.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The rho of every pair.
    pub fn rho(&self) -> &Rational {
        self.doubles[0].rho()
    }

    fn question(&self, epsilon: &Rational, on_lattice: bool) -> Question {
        let kernel = Kernel::HockeyStick;
        match &self.step {
            Some(step) if on_lattice => {
                // The offset of every pair is the common rho.
                let index: Integer = (Rational::from(epsilon - self.rho()) / step).floor().into_numer_denom().0 + 1;
                let first = Rational::from(step * index) + self.rho();
                let gap = Rational::from(&first - epsilon);
                Question { kernel, threshold: epsilon.clone(), first, gap, step: Some(step.clone()) }
            }
            _ => {
                let gap = Rational::new();
                Question { kernel, threshold: epsilon.clone(), first: epsilon.clone(), gap, step: None }
            }
        }
    }

    /// A question and a plan for all pairs: the lattice where its period can be swept, else the line.
    fn plan(&self, epsilon: &Rational, ln_share: f64) -> Result<(Question, Plan)> {
        let attempt = |on_lattice: bool| -> Result<(Question, Plan)> {
            let question = self.question(epsilon, on_lattice);
            let plan = Sketch::new(&self.doubles[0], &question).plan(ln_share, None)?;
            // Leave out nothing that matters to some other member.
            let plan = self.doubles[1..].iter().try_fold(plan, |plan, double| double.also_sieved(plan))?;
            Ok((question, plan))
        };
        match attempt(self.step.is_some()) {
            Err(Error::Unsweepable { .. }) if self.step.is_some() => attempt(false),
            other => other,
        }
    }

    /// The hockey-stick divergences of all pairs, with the certificate that they share, and whether all have a relative
    /// width of 10^-digits.
    pub fn hockey_sticks(&self, epsilon: &Rational, digits: u32) -> Result<(Vec<PairAnswer>, Certificate, bool)> {
        const ATTEMPTS: u32 = 4;
        let mut attempt = 0;
        loop {
            let ln_share = -(f64::from(digits) * std::f64::consts::LN_10 + 2.3 + 9.0 * f64::from(attempt));
            let (question, plan) = self.plan(epsilon, ln_share)?;
            let bits = (f64::from(digits) * 3.33) as u32 + 24 + plan.evaluated().ilog2() + 24 * attempt;
            let c = rational::from_f64(plan.c);
            let sum = &self.doubles[0];
            let errors = sum.errors(&question, &plan);
            let scales: Vec<Enclosure> = self.members.iter().map(|m| m.ln_prefactor_scale(&c, bits)).collect();
            let mut certificate = None;
            let mut answers = Vec::new();
            self.pair_sums::<ComplexBall>(&question, &plan, bits, |p, q, value| {
                let scale = scales[p].add(&scales[q]);
                let certified = sum.certify(&question, &plan, value.re().enclosure(), &scale, bits, &errors);
                certificate.get_or_insert(certified.certificate);
                answers.push(((p, q), certified.value.clamp(0.0, 1.0)));
            });
            attempt += 1;
            let met = answers.iter().all(|(_, value)| value.is_tight(digits));
            if let Some(certificate) = certificate
                && (met || attempt == ATTEMPTS || plan.spent)
            {
                return Ok((answers, certificate, met));
            }
        }
    }

    /// ln of the largest of all pairs in doubles, an approximation without proof, and the pair.
    pub fn ln_largest_approx(&self, epsilon: &Rational) -> Result<(f64, (usize, usize))> {
        let (question, plan) = self.plan(epsilon, 1e-14_f64.ln())?;
        let c = rational::from_f64(plan.c);
        let scales: Vec<f64> = self.members.iter().map(|member| member.ln_prefactor_scale_approx(&c)).collect();
        let fixed = self.doubles[0].ln_size(&question, &c, question.start()).to_f64() - plan.divisor().to_f64().ln();
        let mut best = (f64::NEG_INFINITY, (0, 0));
        self.pair_sums::<Complex64>(&question, &plan, (), |p, q, value| {
            let ln = fixed + scales[p] + scales[q] + value.re.abs().ln();
            if ln > best.0 {
                best = (ln, (p, q));
            }
        });
        Ok(best)
    }

    /// The trapezoid sum of every pair.
    fn pair_sums<F: Field>(
        &self,
        question: &Question,
        plan: &Plan,
        precision: <F::Real as Real>::Precision,
        mut visit: impl FnMut(usize, usize, F),
    ) {
        let c = rational::from_f64(plan.c);
        let spacing = plan.period.clone().recip();
        let nodes: Vec<i64> = plan.lobes.iter().flat_map(|&(from, to)| from..=to).collect();
        let integrand = Integrand::<F>::new(&self.doubles[0], question, plan, precision);
        let kernel: Vec<F> = nodes.iter().map(|&node| integrand.question_at(node)).collect();
        let factors: Vec<Vec<F>> = (self.members.iter())
            .map(|member| {
                let product = Product::<F>::new(member, &c, &spacing, precision);
                nodes.iter().map(|&node| product.at(node)).collect()
            })
            .collect();
        for (p, left) in factors.iter().enumerate() {
            let weighted: Vec<F> = left.iter().zip(&kernel).map(|(factor, kernel)| factor.mul(kernel)).collect();
            for (q, right) in factors.iter().enumerate().skip(p) {
                let mut terms = weighted.iter().zip(right).map(|(a, b)| a.mul(b));
                let Some(first) = terms.next() else { continue };
                visit(p, q, total(&first, terms));
            }
        }
    }
}
