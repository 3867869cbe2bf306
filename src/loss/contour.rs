//! Probabilities and hockey-stick sums of a [`LossSum`] by the trapezoid rule on a contour, with proof.
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
use rug::{Float, Rational};

use super::{
    answer::{Certificate, Certified},
    integrand::{Integrand, Product},
    question::{Kernel, Question},
    search::ContourSearch,
    sum::LossSum,
    theta,
};
use crate::{
    error::{Error, Result},
    numeric::{ball::ComplexBall, enclosure::Enclosure, field::Field, rational},
};

impl LossSum {
    /// E[(1 - exp(epsilon - L))_+], the hockey-stick divergence of order exp(epsilon), for epsilon >= 0.
    ///
    /// The relative width is at most 10^-digits unless `met` says otherwise. Where the answer is close to one, one
    /// minus it is as accurate too.
    pub fn hockey_stick(&self, epsilon: &Rational, digits: u32) -> Result<Certified> {
        if self.is_beyond(&self.above(epsilon)) {
            return Ok(Certified::nothing());
        }
        let choice = self.choose(epsilon, digits)?;
        let refused = choice.lattice_refused.clone();
        let answer = self.answer(&choice.question, digits)?;
        // Enough bits that one minus the answer keeps the digits of the answer.
        let small = answer.value.upper().get_exp().map_or(0, |exponent| (-exponent).clamp(0, 20_000) as u32);
        let bits = answer.certificate.bits + 64 + small;
        let value = match choice.question.kernel {
            Kernel::Complement => Enclosure::double(1.0, bits).sub(&answer.value).clamp(0.0, 1.0),
            _ => answer.value.clamp(0.0, 1.0),
        };
        let met = answer.met || value.is_tight(digits);
        if !value.is_tight(digits) && choice.question.kernel == Kernel::Complement {
            // One minus a number that is not small after all.
            let question = Question { kernel: Kernel::HockeyStick, ..choice.question };
            let answer = self.answer(&question, digits)?;
            return Ok(Certified { value: answer.value.clamp(0.0, 1.0), ..answer });
        }
        let certificate = Certificate { lattice_refused: refused, ..answer.certificate };
        Ok(Certified { value, met, certificate })
    }

    /// The kernel for a hockey stick: on the lattice where its period can be swept at a bearable cost, else on the
    /// line; right of both poles, or between them where that takes fewer nodes.
    fn choose(&self, epsilon: &Rational, digits: u32) -> Result<Choice> {
        const BEARABLE: i64 = 5_000;
        const AFFORDABLE: i64 = 200_000;
        let ln_share = -f64::from(digits) * std::f64::consts::LN_10;
        let plan = |question: &Question| ContourSearch::new(self, question).plan(ln_share, None);
        let nodes = |question: &Question| -> Result<i64> { Ok(plan(question)?.evaluated()) };
        let lattice = self.hockey_question(epsilon);
        let line = Question { first: epsilon.clone(), gap: Rational::new(), step: None, ..lattice.clone() };
        let (right, cost, lattice_refused) = match nodes(&lattice) {
            _ if lattice.step.is_none() => (line.clone(), nodes(&line).unwrap_or(i64::MAX), None),
            // A step that doubles cannot hold misleads the plan, and no sweep ends on it.
            _ if lattice.step.as_ref().is_some_and(|step| step.to_f64() < 1e-200) => {
                (line.clone(), nodes(&line)?, Some("its period is too long to sweep".to_string()))
            }
            Ok(cost) if cost <= BEARABLE => (lattice, cost, None),
            Ok(cost) => match plan(&line) {
                // A sieve that is spent may not prove all the digits; the lattice does, where that takes seconds at most.
                Ok(shorter) if shorter.evaluated() < cost / 2 && (!shorter.spent || cost > AFFORDABLE) => {
                    (line, shorter.evaluated(), Some(format!("its period holds {cost} nodes that matter")))
                }
                _ => (lattice, cost, None),
            },
            Err(error) => {
                let cost = nodes(&line).map_err(|_| error.clone())?;
                (line, cost, Some("its period is too long to sweep".to_string()))
            }
        };
        // Between the poles one minus the answer is computed. Below rho that is the smaller half; exp(-c h) must stay
        // within a double.
        let coarse = right.step.as_ref().is_some_and(|step| *step > 50);
        if right.threshold < *self.rho() && !coarse {
            let left = Question { kernel: Kernel::Complement, ..right.clone() };
            if nodes(&left).is_ok_and(|nodes| nodes < cost) {
                return Ok(Choice { question: left, lattice_refused });
            }
        }
        Ok(Choice { question: right, lattice_refused })
    }

    /// P[L >= l0] for the first lattice value l0 >= z; refused where a term is continuous.
    pub fn upper_tail(&self, z: &Rational, digits: u32) -> Result<Certified> {
        if self.is_beyond(z) {
            return Ok(Certified::nothing());
        }
        let tail = self.answer(&self.tail_question(Kernel::UpperTail, z)?, digits)?;
        Ok(Certified { value: tail.value.clamp(0.0, 1.0), ..tail })
    }

    /// E[exp(-L); L >= l0] for the first lattice value l0 >= z: the probability of the tail under the other law of
    /// the pair. Refused where a term is continuous.
    pub fn tilted_tail(&self, z: &Rational, digits: u32) -> Result<Certified> {
        if self.is_beyond(z) {
            return Ok(Certified::nothing());
        }
        let tail = self.answer(&self.tail_question(Kernel::TiltedTail, z)?, digits)?;
        Ok(Certified { value: tail.value.clamp(0.0, 1.0), ..tail })
    }

    /// ln of the hockey-stick divergence, in doubles: about 13 digits, an approximation without proof.
    pub fn ln_hockey_stick_approx(&self, epsilon: &Rational) -> Result<f64> {
        if self.is_beyond(&self.above(epsilon)) {
            return Ok(f64::NEG_INFINITY);
        }
        let lattice = self.hockey_question(epsilon);
        match self.ln_approx(&lattice) {
            Err(Error::Unsweepable { .. }) if lattice.step.is_some() => {
                let line = Question { first: epsilon.clone(), gap: Rational::new(), step: None, ..lattice };
                self.ln_approx(&line)
            }
            answer => answer,
        }
    }

    /// ln of E[exp(-L); L >= z], in doubles: an approximation without proof.
    pub fn ln_tilted_tail_approx(&self, z: &Rational) -> Result<f64> {
        if self.is_beyond(z) {
            return Ok(f64::NEG_INFINITY);
        }
        self.ln_approx(&self.tail_question(Kernel::TiltedTail, z)?)
    }

    /// Encloses ln E[exp(x L)] = rho (x + x^2) + ln of the thetas, for a real x.
    pub fn ln_mgf(&self, x: &Rational, bits: u32) -> Enclosure {
        let product = Product::<ComplexBall>::new(self, x, &Rational::new(), bits + 16).at(0).re().enclosure();
        let total = Enclosure::rational(&self.concentrated(x), bits + 64).add(&product.ln());
        self.groups().iter().fold(total, |sum, group| sum.add(&theta::ln_scale(group, x, bits + 64)))
    }

    /// Whether no loss is as large as z: without Gaussian terms the losses end at the offset.
    fn is_beyond(&self, z: &Rational) -> bool {
        *self.rho() == 0 && z > self.offset()
    }

    fn hockey_question(&self, epsilon: &Rational) -> Question {
        let first = self.above(epsilon);
        let gap = Rational::from(&first - epsilon);
        Question { kernel: Kernel::HockeyStick, threshold: epsilon.clone(), first, gap, step: self.step().cloned() }
    }

    /// A tail's kernel 1 / s does not decay fast enough on the line for the bounds here, so a lattice it must be.
    fn tail_question(&self, kernel: Kernel, z: &Rational) -> Result<Question> {
        let step = self.step().ok_or(Error::NoLattice)?.clone();
        let last_below = self.at_most(z);
        let first = if last_below == *z { last_below } else { self.above(z) };
        Ok(Question { kernel, threshold: first.clone(), first, gap: Rational::new(), step: Some(step) })
    }

    /// ln of a question's answer in doubles. The plan is made anew while the answer turns out far from what it was
    /// made for: first the saddle point estimate, then the last answer.
    fn ln_approx(&self, question: &Question) -> Result<f64> {
        const ATTEMPTS: usize = 8;
        let sketch = ContourSearch::new(self, question).unproven();
        let mut expected = sketch.ln_estimate();
        for _ in 0..ATTEMPTS {
            let plan = sketch.plan(1e-15_f64.ln(), Some(expected))?;
            let sum = Integrand::<Complex64>::new(self, question, &plan, ()).total(&plan).re;
            let c = rational::from_f64(plan.c);
            let scale = self.ln_prefactor_scale_approx(&c);
            let prefactor = self.ln_size(question, &c, question.start()).to_f64() + scale;
            let answer = prefactor + sum.abs().ln() - plan.divisor().to_f64().ln();
            if !answer.is_finite() || (answer - expected).abs() < 1.0 {
                return Ok(answer);
            }
            expected = answer;
        }
        Ok(expected)
    }

    /// rho (x + x^2) - x z, less l0 for the tilted tail: exact.
    pub(crate) fn ln_size(&self, question: &Question, x: &Rational, z: &Rational) -> Rational {
        let size = self.concentrated(x) - Rational::from(x * z);
        if question.kernel == Kernel::TiltedTail { size - &question.first } else { size }
    }

    /// Encloses ln of the bound exp(rho (x + x^2)) prod m(x) for M(x), m the bounded laws', times exp(-x z).
    pub(crate) fn ln_bound(&self, question: &Question, x: &Rational, z: &Rational, bits: u32) -> Enclosure {
        let gaussian = Enclosure::rational(&self.ln_size(question, x, z), bits);
        self.groups().iter().fold(gaussian, |sum, group| {
            let copies = Enclosure::rational(&Rational::from(group.copies), bits);
            sum.add(&theta::ln_bounded_mgf(group, x, bits).mul(&copies))
        })
    }

    /// The enclosure of a question's answer, with precision and share of the errors raised until the width is met.
    fn answer(&self, question: &Question, digits: u32) -> Result<Certified> {
        const ATTEMPTS: u32 = 6;
        let sketch = ContourSearch::new(self, question);
        let mut known = None;
        let mut attempt = 0;
        loop {
            let guard = 2.3 + 9.0 * f64::from(attempt);
            let ln_share = -(f64::from(digits) * std::f64::consts::LN_10 + guard);
            let plan = sketch.plan(ln_share, known)?;
            let bits = (f64::from(digits) * 3.33) as u32 + 24 + (plan.evaluated().ilog2()) + 24 * attempt;
            let sum = Integrand::<ComplexBall>::new(self, question, &plan, bits).total(&plan);
            let scale = self.ln_prefactor_scale(&rational::from_f64(plan.c), bits);
            let errors = self.errors(question, &plan);
            let result = self.certify(question, &plan, sum.re().enclosure(), &scale, bits, &errors);
            attempt += 1;
            let met = result.value.is_tight(digits);
            if met || attempt == ATTEMPTS || plan.spent {
                return Ok(Certified { met, ..result });
            }
            let upper = Float::with_val(53, result.value.upper().ln_ref()).to_f64();
            known = (upper.is_finite()).then_some(upper);
        }
    }

    /// Encloses ln of what the factors leave out at Re s = c.
    pub(crate) fn ln_prefactor_scale(&self, c: &Rational, bits: u32) -> Enclosure {
        let nought = Enclosure::double(0.0, bits + 64);
        self.groups().iter().fold(nought, |sum, group| sum.add(&theta::ln_scale(group, c, bits + 64)))
    }

    /// The same in doubles.
    pub(crate) fn ln_prefactor_scale_approx(&self, c: &Rational) -> f64 {
        self.groups().iter().map(|group| theta::ln_scale_approx(group, c)).sum()
    }
}

/// A question on the lattice or on the line, and why.
struct Choice {
    question: Question,
    lattice_refused: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::super::law::{Group, Law};
    use super::*;
    use crate::numeric::rational::parse;

    /// Lattices forced through the kernel on the line: it knows nothing of the lattice and must enclose its answer.
    #[test]
    fn the_line_encloses_what_the_lattice_answers() {
        let gaussian = |(sigma2, copies): &(&str, u64)| Group {
            law: Law::DiscreteGaussian { sigma2: parse(sigma2).unwrap() },
            shift: 1,
            copies: *copies,
        };
        for (counts, digits) in [
            (vec![("500/73", 10), ("2500/137", 6)], 4),
            (vec![("4099/100", 20), ("1001/30", 5)], 6),
            (vec![("5", 3), ("4099/1001", 2)], 3),
            (vec![("1/2", 4)], 2),
        ] {
            let sum = LossSum::new(counts.iter().map(gaussian)).unwrap();
            for epsilon in ["0", "0.7", "3", "8"] {
                let epsilon = parse(epsilon).unwrap();
                let lattice = sum.answer(&sum.hockey_question(&epsilon), digits + 4).unwrap();
                for kernel in [Kernel::HockeyStick, Kernel::Complement] {
                    if kernel == Kernel::Complement && epsilon >= *sum.rho() {
                        continue;
                    }
                    let gap = Rational::new();
                    let line = Question { kernel, threshold: epsilon.clone(), first: epsilon.clone(), gap, step: None };
                    let line = sum.answer(&line, digits).unwrap();
                    let one = Enclosure::double(1.0, 64);
                    let value = if kernel == Kernel::Complement { one.sub(&line.value) } else { line.value.clone() };
                    assert!(line.certificate.period_nodes.is_none() && lattice.certificate.period_nodes.is_some());
                    assert!(value.overlaps(&lattice.value), "{counts:?} {epsilon} {kernel:?}: {line:?} {lattice:?}");
                    assert_eq!(line.met, line.value.is_tight(digits));
                    assert!(line.value.is_tight(1), "{counts:?} {epsilon} {kernel:?}: {line:?}");
                }
            }
        }
    }
}
