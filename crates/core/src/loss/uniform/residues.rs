//! The profile in closed form.
//!
//! Let N be the number of losses, and L of them with atoms at both ends, as with Laplace noise. Taking exp(-(1 + s) x) from J of the L and from any of the others,
//! and exp(s x) from the rest, gives terms
//!
//! ```text
//! (1 + s)^(L - J - 1) s^(J - 1) (1 + 2 s)^-N exp(s y),     y = sum (n - 2 j) x - eps over the parts of n equal losses,
//! ```
//!
//! each with weight prod C(n, j) exp(-j x), and (-1)^j / (1 - exp(-x))^n of a part without atoms. The integral of a term along Re s > 0 is zero for y <= 0, where the
//! contour is closed on the right, and else the sum of its residues on the left, as the term falls like |s|^-2:
//!
//! ```text
//! at 0, where J = 0:     1
//! at -1, where J = L:    (-1)^(N + J - 1) exp(-y)
//! at -1/2:               2^(1 - L) exp(-y / 2) sum over k of q_(N - 1 - k) (y / 2)^k / k!,       q(u) = (1 + u)^(L - J - 1) (u - 1)^(J - 1) as a power series.
//! ```

use rug::{Integer, Rational};

use super::sum::{Part, UniformSum};
use crate::numeric::Enclosure;

/// A term: J, the sum of (n - 2 j) x, and the weight.
struct Term {
    ends: usize,
    reach: Rational,
    weight: Enclosure,
}

/// Encloses the sum of P[A = a] D(eps - a) over the listed losses a.
pub(super) fn enclose(sum: &UniformSum, losses: &[(Rational, Enclosure)], epsilon: &Rational, bits: u32) -> Enclosure {
    let terms = sum.parts.iter().fold(vec![Term::one(bits)], |terms, part| times(&terms, part, bits));
    let with_ends = |part: &&Part| part.one.has_ends;
    let all_ends: u64 = sum.parts.iter().filter(with_ends).map(|part| part.copies).sum();
    let mut series = Series::new(sum.count() as usize, all_ends as usize);
    let mut ordered: Vec<&Term> = terms.iter().collect();
    ordered.sort_by_key(|term| term.ends);
    let mut total = Enclosure::double(0.0, bits);
    let mut polynomial: Option<(usize, Vec<Enclosure>)> = None;
    for term in ordered {
        for (loss, p) in losses {
            let y = Rational::from(&term.reach + loss) - epsilon;
            if y <= 0 {
                continue;
            }
            if polynomial.as_ref().is_none_or(|(ends, _)| *ends != term.ends) {
                polynomial = Some((term.ends, series.polynomial(term.ends, bits)));
            }
            let Some((_, coefficients)) = &polynomial else { continue };
            total = total.add(&series.residues(term.ends, &y, coefficients, bits).mul(&term.weight).mul(p));
        }
    }
    total
}

impl Term {
    fn one(bits: u32) -> Term {
        Term { ends: 0, reach: Rational::new(), weight: Enclosure::double(1.0, bits) }
    }
}

/// The terms of a product with the moments of one part.
fn times(terms: &[Term], part: &Part, bits: u32) -> Vec<Term> {
    let (n, x) = (part.copies, &part.one.largest);
    let falling = Enclosure::rational(&Rational::from(-x), bits);
    let scale = match part.one.has_ends {
        true => Enclosure::double(1.0, bits),
        // (1 - exp(-x))^-n
        false => {
            let ln = falling.exp_m1().negate().ln();
            ln.mul(&Enclosure::rational(&-Rational::from(n), bits)).exp()
        }
    };
    let of = |j: u64| {
        let binomial = Integer::from(n).binomial(u32::try_from(j).unwrap_or(u32::MAX));
        let sign = if part.one.has_ends || j.is_multiple_of(2) { 1 } else { -1 };
        let exponent = Rational::from(x * j);
        let weight = Enclosure::rational(&Rational::from(binomial * sign), bits)
            .mul(&Enclosure::rational(&-exponent, bits).exp())
            .mul(&scale);
        let reach = Rational::from(x * (Integer::from(n) - Integer::from(2 * j)));
        Term { ends: if part.one.has_ends { j as usize } else { 0 }, reach, weight }
    };
    let own: Vec<Term> = (0..=n).map(of).collect();
    let with = |term: &Term| -> Vec<Term> {
        let both = |own: &Term| Term {
            ends: term.ends + own.ends,
            reach: Rational::from(&term.reach + &own.reach),
            weight: term.weight.mul(&own.weight),
        };
        own.iter().map(both).collect()
    };
    terms.iter().flat_map(with).collect()
}

/// The power series q for one J after another.
struct Series {
    count: usize,
    all_ends: usize,
    ends: usize,
    coefficients: Vec<Integer>,
}

impl Series {
    /// That of J = 0: -(1 + u)^(L - 1) / (1 - u), up to u^(N - 1).
    fn new(count: usize, all_ends: usize) -> Series {
        let mut power = Integer::from(1);
        let mut sum = Integer::new();
        let mut coefficients = Vec::with_capacity(count);
        for i in 0..count {
            sum += &power;
            coefficients.push(Integer::from(-&sum));
            // The next coefficient of (1 + u)^(L - 1), also for L = 0.
            power = power * (Integer::from(all_ends) - 1 - Integer::from(i)) / Integer::from(i + 1);
        }
        Series { count, all_ends, ends: 0, coefficients }
    }

    /// On to this J, which is not less than the last one, by factors (u - 1) / (1 + u).
    fn advance(&mut self, ends: usize) {
        while self.ends < ends {
            let (mut before, mut quotient) = (Integer::new(), Integer::new());
            for coefficient in &mut self.coefficients {
                let product = before - &*coefficient;
                before = std::mem::take(coefficient);
                quotient = product - quotient;
                *coefficient = quotient.clone();
            }
            self.ends += 1;
        }
    }

    /// The coefficients q_(N - 1 - k) / k! of (y / 2)^k.
    fn polynomial(&mut self, ends: usize, bits: u32) -> Vec<Enclosure> {
        self.advance(ends);
        let mut factorial = Integer::from(1);
        let of = |(k, q): (usize, &Integer)| {
            factorial *= Integer::from(k.max(1));
            Enclosure::rational(&Rational::from((q.clone(), factorial.clone())), bits)
        };
        self.coefficients.iter().rev().enumerate().map(of).collect()
    }

    /// All residues of a term with y > 0.
    fn residues(&self, ends: usize, y: &Rational, coefficients: &[Enclosure], bits: u32) -> Enclosure {
        let half = Enclosure::rational(&Rational::from(y / 2_u32), bits);
        let mut value = Enclosure::double(0.0, bits);
        for coefficient in coefficients.iter().rev() {
            value = value.mul(&half).add(coefficient);
        }
        let power = 1 - i64::try_from(self.all_ends).unwrap_or(i64::MAX);
        value = value.mul(&half.clone().negate().exp()).times_power_of_two(power);
        if ends == 0 {
            value = value.add(&Enclosure::double(1.0, bits));
        }
        if ends == self.all_ends {
            let sign = if (self.count + ends) % 2 == 1 { 1.0 } else { -1.0 };
            let falling = Enclosure::rational(&Rational::from(-y), bits).exp();
            value = value.add(&falling.mul(&Enclosure::double(sign, bits)));
        }
        value
    }
}
