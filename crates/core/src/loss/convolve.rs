//! Exact convolution of masses in fixed point: the independent path.
//!
//! Every mass is replaced by a lower bound that is a multiple of 2^-bits; products are formed exactly, by Kronecker substitution into one
//! multiplication of big integers, and rounded down again. So each stored mass is at most the true one, and the truncated mass is known exactly: 1
//! minus the sum of all stored masses. For a sum of masses against weights in [0, 1] this gives an enclosure whose width is the truncated mass.
//! Nothing of the contour (thetas, poles, trapezoids) enters here.

use rug::{Float, Integer, Rational, float::Round, integer::Order};

use super::{law::Group, sum::LossSum, theta};
use crate::{
    error::{Error, Result},
    law::Finite,
    numeric::enclosure::Enclosure,
};

/// The longest list of masses that is formed.
const MOST_MASSES: usize = 1 << 22;

/// Lower bounds, in units of 2^-bits, for the masses at consecutive integers.
#[derive(Clone, Debug)]
struct Polynomial {
    first: i64,
    masses: Vec<Integer>,
}

/// The distribution of a [`LossSum`]: lower bounds for the masses of offset + h k.
#[derive(Clone, Debug)]
pub struct Masses {
    polynomial: Polynomial,
    bits: u32,
    offset: Rational,
    step: Rational,
}

impl Masses {
    /// Convolves all terms of a sum, to an absolute accuracy of about 2^-bits times their number.
    ///
    /// The cost grows with the span of the lattice that carries mass; sums that would need more than a few million masses are refused.
    pub fn new(sum: &LossSum, bits: u32) -> Result<Self> {
        let mut total: Option<Polynomial> = None;
        let Some(step) = sum.step() else {
            return Err(Error::unsuitable("continuous noise cannot be convolved: integer noise can"));
        };
        for group in sum.groups() {
            let multiplier = (group.weight() / step).into_numer_denom().0;
            let copies = power(&single(group, bits)?, group.copies, bits)?;
            let spread = stretch(&copies, &multiplier)?;
            total = Some(match total {
                None => spread,
                Some(total) => product(&total, &spread, bits)?,
            });
        }
        let polynomial = total.ok_or(Error::EmptyComposition)?;
        Ok(Masses { polynomial, bits, offset: sum.offset().clone(), step: step.clone() })
    }

    /// The truncated mass: 1 minus the sum of the stored masses, rounded up to 64 bits.
    fn missing(&self) -> Float {
        let one = Integer::from(1) << self.bits;
        let missing = one - self.polynomial.masses.iter().sum::<Integer>();
        Float::with_val_round(64, missing, Round::Up).0 >> self.bits
    }

    /// The stored masses and the integer k of the first: the truth at offset + step k is at least the stored value. The third value is an upper bound
    /// on the truncated mass, the difference of all true and all stored masses.
    pub fn listed(&self) -> (i64, Vec<Enclosure>, Float) {
        let stored = |mass: &Integer| {
            let precision = mass.significant_bits().max(64);
            Enclosure::rational(&Rational::from(mass), precision).times_power_of_two(-i64::from(self.bits))
        };
        (self.polynomial.first, self.polynomial.masses.iter().map(stored).collect(), self.missing())
    }

    /// Encloses the sum of P[L = l] weight(l), for weights that `weight` encloses and that lie in [0, 1].
    fn sum(&self, weight: impl Fn(&Rational) -> Option<Enclosure>) -> Enclosure {
        let precision = self.bits + 32;
        let mut total = Enclosure::double(0.0, precision);
        for (mass, k) in self.polynomial.masses.iter().zip(self.polynomial.first..) {
            let l = Rational::from(&self.step * k) + &self.offset;
            if let Some(weight) = weight(&l) {
                total = total.add(&weight.mul(&Enclosure::rational(&Rational::from(mass), precision)));
            }
        }
        let scaled = total.mul(&Enclosure::rational(&Rational::from((1, Integer::from(1) << self.bits)), precision));
        let missing = self.missing();
        let upper = Float::with_val_round(precision, scaled.upper() + &missing, Round::Up).0;
        Enclosure::new(scaled.lower().clone(), upper)
    }

    /// E[(1 - exp(epsilon - L))_+].
    pub fn hockey_stick(&self, epsilon: &Rational) -> Enclosure {
        let one = Enclosure::double(1.0, self.bits + 32);
        self.sum(|l| {
            (l > epsilon).then(|| {
                one.sub(&Enclosure::rational(&Rational::from(epsilon - l), self.bits + 32).exp()).clamp(0.0, 1.0)
            })
        })
    }

    /// P[L >= z].
    pub fn upper_tail(&self, z: &Rational) -> Enclosure {
        self.sum(|l| (l >= z).then(|| Enclosure::double(1.0, self.bits)))
    }
}

/// Lower bounds for the masses of the integer behind one term's loss: the noise itself for Gaussians, as far out as
/// they reach 2^-bits; minus the number of steps below the largest loss for the discrete Laplace.
fn single(group: &Group, bits: u32) -> Result<Polynomial> {
    let precision = bits + 32;
    let sigma2 = match (group.law.finite(group.shift), group.law.sigma2()) {
        (Some(one), _) if one.places.is_some() => return Err(too_long(f64::INFINITY)),
        (Some(one), _) => return Ok(finite(&one, bits)),
        (None, Some(sigma2)) => sigma2,
        (None, None) => return Err(Error::NoLattice),
    };
    let inverse = theta::gaussian_sum(sigma2, precision).recip();
    let reach = (2.0 * sigma2.to_f64() * (f64::from(bits) + 1.0) * std::f64::consts::LN_2).sqrt().ceil();
    if reach >= (MOST_MASSES / 2) as f64 {
        return Err(too_long(reach * 2.0));
    }
    let reach = reach as i64;
    let half: Vec<Integer> = (0..=reach)
        .map(|x| {
            let exponent = -Rational::from(x * x) / Rational::from(sigma2 * 2_u32);
            units_down(&Enclosure::rational(&exponent, precision).exp().mul(&inverse), bits)
        })
        .collect();
    let masses = half.iter().skip(1).rev().chain(half.iter()).cloned().collect();
    Ok(trimmed(Polynomial { first: -reach, masses }))
}

/// The masses of finitely many losses, from the smallest.
fn finite(one: &Finite, bits: u32) -> Polynomial {
    let masses: Vec<Integer> = one.masses(bits + 32).iter().rev().map(|mass| units_down(mass, bits)).collect();
    Polynomial { first: 1 - masses.len() as i64, masses }
}

/// The largest multiple of 2^-bits that is at most the truth, in these units.
fn units_down(mass: &Enclosure, bits: u32) -> Integer {
    let scaled: Float = mass.lower().clone() << bits;
    scaled.to_integer_round(Round::Down).map_or_else(Integer::new, |(floor, _)| floor)
}

/// The sum of `copies` independent terms, by repeated squaring.
fn power(single: &Polynomial, copies: u64, bits: u32) -> Result<Polynomial> {
    let mut result = single.clone();
    for bit in (0..u64::BITS - 1 - copies.leading_zeros()).rev() {
        result = product(&result, &result, bits)?;
        if copies >> bit & 1 == 1 {
            result = product(&result, single, bits)?;
        }
    }
    Ok(result)
}

/// The masses of multiplier times the variable.
fn stretch(polynomial: &Polynomial, multiplier: &Integer) -> Result<Polynomial> {
    let span = Integer::from(polynomial.masses.len()) * multiplier;
    let (Some(m), Some(_)) = (multiplier.to_i64(), span.to_usize().filter(|&span| span <= MOST_MASSES)) else {
        return Err(too_long(span.to_f64()));
    };
    let mut masses = vec![Integer::new(); (polynomial.masses.len() - 1) * m as usize + 1];
    for (k, mass) in polynomial.masses.iter().enumerate() {
        masses[k * m as usize] = mass.clone();
    }
    Ok(Polynomial { first: polynomial.first * m, masses })
}

/// The convolution, rounded down to multiples of 2^-bits.
fn product(a: &Polynomial, b: &Polynomial, bits: u32) -> Result<Polynomial> {
    let length = a.masses.len() + b.masses.len() - 1;
    if length > MOST_MASSES {
        return Err(too_long(length as f64));
    }
    // A coefficient of the product is below the product of the two totals, at most 2^(2 bits): no carry between slots.
    let words = (2 * bits as usize + 2).div_ceil(64);
    let value = pack(&a.masses, words) * pack(&b.masses, words);
    let digits = value.to_digits::<u64>(Order::Lsf);
    let masses = (0..length)
        .map(|k| {
            let slot = digits.get(k * words..).unwrap_or(&[]);
            Integer::from_digits(&slot[..words.min(slot.len())], Order::Lsf) >> bits
        })
        .collect();
    Ok(trimmed(Polynomial { first: a.first + b.first, masses }))
}

/// Kronecker substitution: the masses as digits of one integer.
fn pack(masses: &[Integer], words: usize) -> Integer {
    let mut digits = vec![0_u64; masses.len() * words];
    for (mass, slot) in masses.iter().zip(digits.chunks_mut(words)) {
        let own = mass.to_digits::<u64>(Order::Lsf);
        slot[..own.len()].copy_from_slice(&own);
    }
    Integer::from_digits(&digits, Order::Lsf)
}

/// Without the zeros at both ends.
fn trimmed(mut polynomial: Polynomial) -> Polynomial {
    let leading = polynomial.masses.iter().take_while(|mass| mass.is_zero()).count();
    if leading < polynomial.masses.len() {
        polynomial.masses.drain(..leading);
        polynomial.first += leading as i64;
    }
    while polynomial.masses.len() > 1 && polynomial.masses.last().is_some_and(Integer::is_zero) {
        polynomial.masses.pop();
    }
    polynomial
}

fn too_long(masses: f64) -> Error {
    Error::out_of_range("the number of masses to convolve", format!("{masses:.1e}"), "at most 4194304")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{loss::testing::sum, numeric::rational::parse};

    /// E[(1 - exp(eps - L))_+] by enumeration of all pairs of two counts, in balls.
    #[test]
    fn two_counts_agree_with_enumeration() {
        let (a, b) = (parse("3/2").unwrap(), parse("5/2").unwrap());
        let sum = sum(&["3/2", "5/2@2"]);
        let epsilon = parse("1.3").unwrap();
        let bits = 200;
        let weight = |x: i64, sigma2: &Rational| {
            Enclosure::rational(&(-Rational::from(x * x) / Rational::from(sigma2 * 2_u32)), bits).exp()
        };
        let (za, zb) = (theta::gaussian_sum(&a, bits), theta::gaussian_sum(&b, bits));
        let mut total = Enclosure::double(0.0, bits);
        for x in -40_i64..=40 {
            for y in -50_i64..=50 {
                let loss = Rational::from(x) / &a + Rational::from(2 * y) / &b + sum.rho();
                if loss > epsilon {
                    let gain = Enclosure::rational(&Rational::from(&epsilon - &loss), bits).exp_m1().negate();
                    total = total.add(&weight(x, &a).mul(&weight(y, &b)).mul(&gain));
                }
            }
        }
        let enumerated = total.div(&za.mul(&zb));
        let convolved = Masses::new(&sum, 180).unwrap().hockey_stick(&epsilon);
        assert!(convolved.overlaps(&enumerated) && convolved.is_tight(40), "{convolved:?} {enumerated:?}");
    }

    #[test]
    fn the_truncated_mass_is_known_and_small() {
        let masses = Masses::new(&sum(&["5x7"]), 150).unwrap();
        let missing = masses.missing();
        assert!(missing >= 0 && missing < Float::with_val(53, 1) >> 130);
        let all = masses.upper_tail(&parse("-1000").unwrap());
        assert!(all.contains(&Rational::from(1)));
    }

    #[test]
    fn long_convolutions_are_refused() {
        assert!(Masses::new(&sum(&["1e18"]), 100).is_err());
        assert!(Masses::new(&sum(&["5", "4099/4097"]), 100).is_ok());
        assert!(Masses::new(&sum(&["5", "40990001/4097"]), 100).is_err());
    }
}
