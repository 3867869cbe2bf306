//! Probabilities of an integer-weighted sum of discrete Gaussians by Boole's rule: Section A.6 of Su, Su & Wang.
//!
//! Let Y = sum over i of w_i S_i, with S_i the sum of n_i draws of N_Z(0, sigma_i^2). All noise is symmetric, so the
//! characteristic function f(t) = prod over i of f_i(w_i t)^{n_i} is real, and
//!
//! `P[a <= Y <= b]` = integral over [0, pi] of F,  F(t) = (1 / pi) sum over a <= m <= b of cos(m t) f(t),
//!
//! where the sum of cosines is (sin((b + 1/2) t) - sin((a - 1/2) t)) / (2 sin(t / 2)): Proposition A.13's expression by
//! the addition theorem. The factors are the theta functions of (A.3): for |u| <= pi
//!
//! f_i(u) = exp(-sigma^2 u^2 / 2) (1 + 2 sum_(k >= 1) q^(k^2) cosh(2 pi k sigma^2 u)) / theta_3(0, q),
//! q = exp(-2 pi^2 sigma^2).
//!
//! # The error budget
//!
//! - **Beyond b** (E1): `P[Y > b]` <= exp(-(b + 1)^2 / (2 V)), V = sum w_i^2 n_i sigma_i^2, since Y is sub-Gaussian.
//! - **Truncation** (E2): the integral from `reach` to pi is at most (b - a + 1) times the maximum of f there. Every
//!   factor falls on [0, pi] and has period 2 pi (Proposition A.6), so it exceeds a level only within a fixed distance
//!   of 2 pi Z. If no t in [reach, pi] lies in the windows of all factors, f is below the level ([`Boole::sieve`]).
//! - **Discretization** (E3): (2 / 945) reach h^6 sup |F^(6)|. The absolute moments of Y give sup |F^(6)| <= (1 / pi)
//!   sum over m of sum over j of C(6, j) |m|^(6 - j) E|Y|^j.
//! - **Rounding**: the nodes are balls, so the enclosure of the sum includes rounding errors.

mod factor;
mod sieve;

use rug::{Float, Integer, Rational, float::Round, ops::Pow};

use self::factor::{BITS, CorrectionsAtNodes, decay, ln_factor};
pub use self::{factor::Term, sieve::SieveStep};
use crate::{
    error::{Error, Result},
    loss::theta,
    numeric::{
        ball::{Ball, ComplexBall},
        enclosure::Enclosure,
        field::{Field, Real},
        rational,
    },
    replication::verdict::finite,
};

/// The number of nodes of a chunk, and between recomputed angles; a multiple of four.
const CHUNK: u64 = 40_000;
const FRESH: u64 = 4_000;
/// A node with |F| below exp(-NEGLIGIBLE) is not evaluated; its bound is added to the radius.
const NEGLIGIBLE: f64 = 120.0;

/// `P[first <= Y <= last]` by Boole's rule.
#[derive(Clone, Debug)]
pub struct Boole {
    terms: Vec<Term>,
    first: i64,
    last: i64,
    reach: Rational,
    panels: u64,
}

/// Upper bounds on the errors of the rule.
#[derive(Clone, Debug)]
pub struct ErrorBudget {
    /// E1: the probability above the last value.
    pub beyond: Float,
    /// E2: the integral beyond the reach.
    pub truncation: Float,
    /// E3: the discretization error of the rule.
    pub discretisation: Float,
}

impl Boole {
    /// The rule on `panels` + 1 nodes of [0, reach]. `panels` is a multiple of four up to 10^10, and reach is below pi
    /// / weight for every weight.
    pub fn new(terms: Vec<Term>, (first, last): (i64, i64), reach: Rational, panels: u64) -> Result<Self> {
        if panels == 0 || !panels.is_multiple_of(4) || panels > 10_000_000_000 {
            let expected = "a multiple of 4 from 4 to 10^10 (Boole's rule takes four panels at a time)";
            return Err(Error::out_of_range("the panels of Boole's rule", panels, expected));
        }
        if terms.is_empty() || first > last || first.abs().max(last.abs()) > 1 << 40 {
            let shown = format!("{first}..{last} of {} terms", terms.len());
            return Err(Error::out_of_range("the values to sum", shown, "a range within 2^40, and at least one term"));
        }
        // The bounds on the theta series need decays 2 pi^2 sigma2 of at least 1.
        if let Some(term) = terms.iter().find(|term| term.sigma2 < Rational::from((1, 10)) || term.copies == 0) {
            let shown = rational::display(&term.sigma2);
            return Err(Error::out_of_range(
                "sigma2",
                shown,
                "a variance proxy of at least 0.1, and at least one draw",
            ));
        }
        let heaviest = terms.iter().map(|term| term.weight).max().unwrap_or(1);
        // 3 < pi.
        if reach <= 0 || Rational::from(&reach * heaviest) > 3 || terms.iter().any(|term| term.weight == 0) {
            let expected = "a reach above 0 and at most 3 / (the largest weight), and weights of at least 1";
            return Err(Error::out_of_range("the reach of the integral", rational::display(&reach), expected));
        }
        Ok(Boole { terms, first, last, reach, panels })
    }

    /// This rule with another reach.
    pub fn with_reach(self, reach: Rational) -> Result<Self> {
        Boole::new(self.terms, (self.first, self.last), reach, self.panels)
    }

    /// The first and the last value of the sum.
    pub fn range(&self) -> (i64, i64) {
        (self.first, self.last)
    }

    /// The number of panels, one less than the number of nodes.
    pub fn panels(&self) -> u64 {
        self.panels
    }

    /// A line that identifies this computation.
    pub fn identity(&self) -> String {
        let terms: Vec<String> =
            self.terms.iter().map(|term| format!("{}*{}x{}", term.weight, term.sigma2, term.copies)).collect();
        let (a, b, reach, panels) = (self.first, self.last, &self.reach, self.panels);
        format!("boole {BITS} {CHUNK} [{a},{b}] [0,{reach}]/{panels} {}", terms.join(" + "))
    }

    /// V = sum w^2 n sigma2: Y is sub-Gaussian of this variance proxy.
    fn spread(&self) -> Rational {
        self.terms.iter().fold(Rational::new(), |sum, term| {
            sum + Rational::from(&term.sigma2 * term.copies) * Integer::from(term.weight).pow(2)
        })
    }

    /// E1, E2 and E3. The level of the sieve is the paper's, 10^-35; a reach too short for it is refused.
    pub fn budget(&self) -> Result<ErrorBudget> {
        let level = Rational::from((1, Integer::from(10).pow(35)));
        if self.sieve(&level)?.last().is_none_or(|sieved| !sieved.left.is_empty()) {
            let why = "is too short: beyond it the characteristic function is not proven to be below 10^-35";
            return Err(Error::unsuitable(format!(
                "the reach {} of the integral {why}",
                rational::display(&self.reach)
            )));
        }
        let real = |x: &Rational| Enclosure::rational(x, BITS);
        let next = Rational::from(self.last + 1).square();
        let beyond =
            if self.last < 0 { Enclosure::double(1.0, BITS) } else { real(&(-next / (self.spread() * 2_u32))).exp() };
        let count = Rational::from(self.last - self.first + 1);
        let step = Rational::from(&self.reach / self.panels);
        let power = step.pow(6) * &self.reach * Rational::from((2, 945));
        Ok(ErrorBudget {
            beyond: beyond.upper().clone(),
            truncation: real(&(count * level)).upper().clone(),
            discretisation: real(&power).mul(&self.sixth_derivative()).upper().clone(),
        })
    }

    /// An upper bound on E|Y|^j by the triangle inequality: (sum w_i (E|S_i|^j)^(1/j))^j.
    pub fn moment(&self, order: u32) -> Enclosure {
        let power = Enclosure::double(f64::from(order), BITS);
        let sum = self.terms.iter().fold(Enclosure::double(0.0, BITS), |sum, term| {
            let root = term.moments[order as usize - 1].ln().div(&power).exp();
            sum.add(&root.mul(&Enclosure::rational(&Rational::from(term.weight), BITS)))
        });
        sum.ln().mul(&power).exp()
    }

    /// (1 / pi) sum over m of sum over j of C(6, j) |m|^(6 - j) E|Y|^j.
    pub fn sixth_derivative(&self) -> Enclosure {
        const BINOMIAL: [u32; 7] = [1, 6, 15, 20, 15, 6, 1];
        let mut total = Enclosure::double(0.0, BITS);
        for (j, binomial) in (0_u32..).zip(BINOMIAL) {
            let sum: Integer = (self.first..=self.last).map(|m| Integer::from(m.abs()).pow(6 - j)).sum();
            let moment = if j == 0 { Enclosure::double(1.0, BITS) } else { self.moment(j) };
            total = total.add(&moment.mul(&Enclosure::rational(&Rational::from(sum * binomial), BITS)));
        }
        total.div(&Enclosure::pi(BITS))
    }

    /// The sieve: the parts of [reach, pi] where no factor is proven to be at most `level`, with one more term in each
    /// step, terms of large variance first. If no part remains, f is at most the level on all of [reach, pi].
    pub fn sieve(&self, level: &Rational) -> Result<Vec<SieveStep>> {
        self.sieve_between(&self.reach, &finite(Enclosure::pi(96).upper(), "pi")?, level)
    }

    /// The sieve on any interval of t >= 0.
    pub fn sieve_between(&self, from: &Rational, to: &Rational, level: &Rational) -> Result<Vec<SieveStep>> {
        sieve::sieve_between(&self.terms, from, to, level)
    }

    /// The number of chunks of the nodes.
    pub fn chunks(&self) -> u64 {
        (self.panels + 1).div_ceil(CHUNK)
    }

    /// The sum over the nodes of a chunk of c_k F(t_k), c the weights 7, 32, 12, 32, 14, ..., 7 of the rule.
    pub fn chunk(&self, chunk: u64) -> Enclosure {
        let (from, to) = (chunk * CHUNK, ((chunk + 1) * CHUNK).min(self.panels + 1));
        let step = Rational::from(&self.reach / self.panels);
        // f falls on all of [0, reach], and |F| <= (b - a + 1) f / pi.
        let start = Enclosure::rational(&Rational::from(&step * from), BITS);
        let ln_f = self.terms.iter().fold(Enclosure::double(0.0, BITS), |sum, term| {
            sum.add(&ln_factor(term, &start.mul(&Enclosure::rational(&Rational::from(term.weight), BITS))))
        });
        let count = Enclosure::rational(&Rational::from(self.last - self.first + 1), BITS);
        let most = ln_f.add(&count.ln());
        if *most.upper() < -NEGLIGIBLE {
            // The weights are at most 32, and 32 / pi < 11.
            let bound = most.exp().mul(&Enclosure::rational(&Rational::from((to - from) * 11), BITS));
            return bound.clone().negate().hull(&bound);
        }
        let mut sum = Enclosure::double(0.0, BITS);
        let mut k = from;
        while k < to {
            let end = (k + FRESH).min(to);
            sum = sum.add(&self.run(k, end, &step));
            k = end;
        }
        sum
    }

    /// The same for nodes from..to, with each angle computed from the previous one by one multiplication.
    fn run(&self, from: u64, to: u64, step: &Rational) -> Enclosure {
        let real = |x: &Rational| Ball::rational(x, BITS);
        let cis = |x: &Rational| ComplexBall::cis(&real(x));
        let half_step = Rational::from(step / 2_u32);
        let start = Rational::from(&half_step * from);
        // The sines of (2 b + 1) t / 2, (2 a - 1) t / 2 and t / 2.
        let angles = [2 * self.last + 1, 2 * self.first - 1, 1];
        let mut points = angles.map(|n| cis(&Rational::from(&start * n)));
        let turns = angles.map(|n| cis(&Rational::from(&half_step * n)));
        // exp(-V t^2 / 2) at t = k step: from k to k + 1 the exponent changes by -(2 k + 1) V step^2 / 2.
        let unit = self.spread() * step.clone().square() / 2_u32;
        let mut bell = real(&-(Rational::from(&unit * from) * from)).exp();
        let mut fall = real(&-Rational::from(&unit * (2 * from + 1))).exp();
        let fall_step = real(&-Rational::from(&unit * 2_u32)).exp();
        let mut corrections: Vec<CorrectionsAtNodes> =
            self.terms.iter().map(|term| CorrectionsAtNodes::new(term, step, (from, to))).collect();
        let normaliser = self.terms.iter().fold(Enclosure::double(1.0, BITS), |product, term| {
            let single = theta::theta3(&decay(&term.sigma2, BITS), BITS);
            (0..term.copies).fold(product, |product, _| product.mul(&single))
        });
        let mut sum = real(&Rational::new());
        for k in from..to {
            let kernel = if k == 0 {
                real(&Rational::from(self.last - self.first + 1))
            } else {
                let top = points[0].im().add(&points[1].im().neg());
                top.mul(&points[2].im().mul_int(2).recip())
            };
            let weight = match k % 4 {
                _ if k == 0 || k == self.panels => 7,
                0 => 14,
                2 => 12,
                _ => 32,
            };
            let product = corrections.iter_mut().fold(bell.clone(), |product, term| term.times_next(product));
            sum = sum.add(&kernel.mul(&product).mul_int(weight));
            for (point, turn) in points.iter_mut().zip(&turns) {
                *point = point.mul(turn);
            }
            bell = bell.mul(&fall);
            fall = fall.mul(&fall_step);
        }
        sum.enclosure().div(&normaliser).div(&Enclosure::pi(BITS))
    }

    /// The rule's value from the sums of all chunks in order: (2 h / 45) times their sum. It encloses the sum in Fact
    /// A.15, including rounding errors.
    pub fn sum(&self, chunks: &[Enclosure]) -> Enclosure {
        let scale = Rational::from(&self.reach / self.panels) * Rational::from((2, 45));
        let total = chunks.iter().fold(Enclosure::double(0.0, BITS), |total, chunk| total.add(chunk));
        total.mul(&Enclosure::rational(&scale, BITS))
    }

    /// Encloses `P[Y >= first]` from the rule's value.
    pub fn upper_tail(&self, sum: &Enclosure, budget: &ErrorBudget) -> Enclosure {
        // |integral - sum| <= E3 on [0, reach], the integral beyond is at most E2, and P[Y > last] is in [0, E1].
        let error = Float::with_val_round(BITS, &budget.truncation + &budget.discretisation, Round::Up).0;
        let around = Enclosure::new(-error.clone(), error);
        let beyond = Enclosure::new(Float::new(BITS), budget.beyond.clone());
        sum.add(&around).add(&beyond)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{noise::DiscreteGaussian, numeric::rational::parse};

    /// E|X|^j for one draw, from its definition.
    fn moments(sigma2: &str) -> [Enclosure; 6] {
        let noise = DiscreteGaussian::new(parse(sigma2).unwrap()).unwrap();
        [1, 2, 3, 4, 5, 6].map(|j| {
            (1..400_i64).fold(Enclosure::double(1e-30, 100), |sum, x| {
                sum.add(&noise.mass(x, 20).mul(&Enclosure::double(2.0 * (x as f64).powi(j), 100)))
            })
        })
    }

    fn single(weight: u64, sigma2: &str) -> Term {
        Term { weight, sigma2: parse(sigma2).unwrap(), copies: 1, moments: moments(sigma2) }
    }

    fn tail(boole: &Boole) -> Enclosure {
        let chunks: Vec<Enclosure> = (0..boole.chunks()).map(|chunk| boole.chunk(chunk)).collect();
        boole.upper_tail(&boole.sum(&chunks), &boole.budget().unwrap())
    }

    #[test]
    fn the_rule_gives_the_tail_of_one_noise() {
        let noise = DiscreteGaussian::new(parse("30").unwrap()).unwrap();
        for (first, panels) in [(3, 4_000), (20, 16_000)] {
            let boole = Boole::new(vec![single(1, "30")], (first, 80), parse("2.5").unwrap(), panels).unwrap();
            let value = tail(&boole);
            let truth = noise.survival(first, 30).unwrap();
            assert!(value.overlaps(&truth), "{value:?} {truth:?}");
            assert!(value.upper().to_f64() - value.lower().to_f64() < 1e-9);
        }
    }

    #[test]
    fn two_weights_agree_with_enumeration() {
        let terms = vec![single(2, "225"), single(3, "200")];
        let boole = Boole::new(terms, (15, 700), parse("0.5").unwrap(), 40_000).unwrap();
        let masses = |sigma2: &str| {
            let noise = DiscreteGaussian::new(parse(sigma2).unwrap()).unwrap();
            (-240..=240).map(|x| noise.mass(x, 25)).collect::<Vec<_>>()
        };
        let (a, b) = (masses("225"), masses("200"));
        let mut truth = Enclosure::double(0.0, 120);
        for (x, p) in (-240_i64..).zip(&a) {
            for (y, q) in (-240_i64..).zip(&b) {
                if 2 * x + 3 * y >= 15 {
                    truth = truth.add(&p.mul(q));
                }
            }
        }
        let value = tail(&boole);
        // The truncation error of the enumeration is below 10^-50, the error bound of the rule about 10^-10.
        assert!(value.overlaps(&truth), "{value:?} {truth:?}");
        // The rule itself is far more accurate than its bound.
        let chunks: Vec<Enclosure> = (0..boole.chunks()).map(|chunk| boole.chunk(chunk)).collect();
        assert!((boole.sum(&chunks).approximate() / truth.approximate() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_sieve_finds_overlapping_windows() {
        let terms = vec![single(2, "100"), single(3, "64")];
        let boole = |reach: &str| Boole::new(terms.clone(), (0, 10), parse(reach).unwrap(), 40).unwrap();
        // exp(-50 u^2) = 10^-10 at u = 0.68, exp(-32 u^2) at 0.85: windows of half-width 0.34 and 0.28 at zero.
        let level = parse("1e-10").unwrap();
        let open = boole("0.2").sieve(&level).unwrap();
        assert!(!open.last().unwrap().left.is_empty());
        assert_eq!(open[0].weight, 2);
        // Around 2 pi / 3 = 2.09 and pi the windows of the two weights do not overlap.
        assert!(boole("0.3").sieve(&level).unwrap().last().unwrap().left.is_empty());
        assert!(boole("0.3").budget().is_err(), "10^-35 needs more");
    }

    #[test]
    fn inputs_outside_the_rule_are_refused() {
        let term = || vec![single(4, "30")];
        let new = |range, reach: &str, panels| Boole::new(term(), range, parse(reach).unwrap(), panels);
        assert!(new((0, 5), "0.5", 10).unwrap_err().to_string().contains("multiple of 4"));
        assert!(new((0, 5), "0.5", 0).is_err() && new((5, 0), "0.5", 8).is_err());
        assert!(new((0, 5), "0.8", 8).is_err() && new((0, 5), "0", 8).is_err());
        assert!(Boole::new(vec![], (0, 5), parse("0.5").unwrap(), 8).is_err());
    }
}
