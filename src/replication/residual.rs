//! Theorem A.11 of Su, Su & Wang: the sum of n discrete Gaussians replaced by the density of a Gaussian at the
//! integers, and the error of this approximation.
//!
//! With S the sum of n copies of N_Z(0, sigma2) and B = sqrt(n sigma2), the residual is
//! r(y) = |`P[S = y]` - phi(y / B) / B|, phi the standard normal density. Appendix C bounds its supremum by three
//! integrals over the difference of the characteristic functions; the supremum itself follows from the masses.

use rug::{Rational, float::Round};

use super::closed_forms::SumOfCopies;
use crate::{
    account::Epsilon,
    error::{Error, Result},
    loss::parameter::Sigma2,
    numeric::{Enclosure, parallel, precision, rational},
};

/// The residual of n copies of N_Z(0, sigma2).
#[derive(Clone, Debug)]
pub struct Residual {
    /// Appendix C's bound on the integral up to floor(pi B), interval by interval.
    pub omega_1: Enclosure,
    /// Its bound on the integral from there to pi B.
    pub omega_2: Enclosure,
    /// Its bound on the Gaussian integral beyond pi B.
    pub omega_3: Enclosure,
    /// sup over y of |`P[S = y]` - phi(y / B) / B|, the true residual.
    pub supremum: Enclosure,
    /// A y at which it is attained.
    pub at: i64,
}

impl Residual {
    /// The bound and the true residual, to a relative width of about 10^-digits, for the ranges of [`SumOfCopies`].
    pub fn new(sigma2: &Rational, copies: u64, digits: u32) -> Result<Self> {
        Sigma2::try_from(sigma2)?;
        // The residual is smaller than the masses, whose difference it is, by a factor of about exp(-2 pi^2 sigma2 (1 -
        // 1/n)).
        let size = (2.0 * std::f64::consts::PI.powi(2) * sigma2.to_f64() / std::f64::consts::LN_10).ceil() as u32;
        let (supremum, at) = supremum(sigma2, copies, digits + size + 5)?;
        let bound = AppendixC::new(sigma2, copies, digits + size + 5)?;
        Ok(Residual { omega_1: bound.omega_1()?, omega_2: bound.omega_2()?, omega_3: bound.omega_3(), supremum, at })
    }

    /// Omega_1 + Omega_2 + Omega_3: an upper bound on the supremum.
    pub fn bound(&self) -> Enclosure {
        self.omega_1.add(&self.omega_2).add(&self.omega_3)
    }
}

/// Appendix C's bound alone, to an absolute width of about 10^-digits: for noise so large that only its upper end
/// matters.
pub fn bound(sigma2: &Rational, copies: u64, digits: u32) -> Result<Enclosure> {
    Sigma2::try_from(sigma2)?;
    let bound = AppendixC::new(sigma2, copies, digits)?;
    Ok(bound.omega_1()?.add(&bound.omega_2()?).add(&bound.omega_3()))
}

/// Omega_4 or Omega_5, the two parts of Omega_2, by their bounds.
pub fn part_of_omega_2(sigma2: &Rational, copies: u64, index: u8, digits: u32) -> Result<Enclosure> {
    Sigma2::try_from(sigma2)?;
    let [fourth, fifth] = AppendixC::new(sigma2, copies, digits)?.parts_of_omega_2();
    match index {
        4 => Ok(fourth),
        5 => Ok(fifth),
        _ => Err(Error::out_of_range("index", index, "4 or 5")),
    }
}

/// Omega_5 itself, the integral that its bound bounds: (1 / (pi B)) times the integral of exp(-t^2 / 2) from floor(pi B) to pi B, which is
/// sqrt(pi / 2) (erfc(floor(pi B) / sqrt 2) - erfc(pi B / sqrt 2)) / (pi B).
pub fn omega_5(sigma2: &Rational, copies: u64, digits: u32) -> Result<Enclosure> {
    Sigma2::try_from(sigma2)?;
    let parts = AppendixC::new(sigma2, copies, digits)?;
    let root = parts.number(2.0).sqrt();
    let tail = |t: &Enclosure| t.div(&root).erfc();
    let half_pi = Enclosure::pi(parts.bits).times_power_of_two(-1);
    Ok(tail(&parts.number(parts.floor as f64)).sub(&tail(&parts.end)).mul(&half_pi.sqrt()).div(&parts.end))
}

/// phi(y / B) / B with B^2 = n sigma2: the mass at y in the approximation.
pub fn density(sigma2: &Rational, copies: u64, y: i64, digits: u32) -> Enclosure {
    let square = Rational::from(sigma2 * copies);
    let exponent = -Rational::from(y).square() / Rational::from(&square * 2_u32);
    let size = libm::log2(exponent.to_f64().abs()).max(0.0) as u32;
    let bits = precision::bits(digits, 32);
    let width = Enclosure::pi(bits).mul(&Enclosure::rational(&(square * 2_u32), bits)).sqrt();
    Enclosure::rational(&exponent, bits + size).exp().div(&width)
}

fn supremum(sigma2: &Rational, copies: u64, digits: u32) -> Result<(Enclosure, i64)> {
    let sum = SumOfCopies::new(sigma2.clone(), copies, digits)?;
    let bits = precision::bits(digits, 32);
    let mut most = Enclosure::double(0.0, bits);
    let mut at = 0;
    for y in 0.. {
        let difference = sum.mass(y).sub(&density(sigma2, copies, y, digits));
        let size = if *difference.upper() > 0 { difference.clone() } else { difference.negate() };
        if size.upper() > most.upper() {
            at = y;
        }
        most = most.max(&size);
        // Beyond y both masses are at most exp(-y^2 / (2 B^2)): S is sub-Gaussian, and the density is below 1 for B >=
        // 1 / sqrt(2 pi). So a supremum above this bound is the global one.
        let square = Rational::from(sigma2 * copies);
        let scale = if square < 1 { Enclosure::rational(&square, bits).recip() } else { Enclosure::double(1.0, bits) };
        let rest = Enclosure::rational(&(-Rational::from(y).square() / (square * 2_u32)), bits + 32).exp().mul(&scale);
        if rest.upper() < most.lower() {
            return Ok((most, at));
        }
        if y > 1_000_000 {
            return Ok((most.max(&rest), at));
        }
    }
    Ok((most, at))
}

/// Limit on the number of terms of a sum over images.
const MOST_IMAGES: u32 = 10_000;

/// The integrals of Appendix C.
struct AppendixC {
    copies: u64,
    sigma2: Rational,
    /// pi B and its floor.
    end: Enclosure,
    floor: i64,
    bits: u32,
}

impl AppendixC {
    fn new(sigma2: &Rational, copies: u64, digits: u32) -> Result<Self> {
        let bits = precision::bits(digits, 96);
        let end = Enclosure::pi(bits).mul(&Enclosure::rational(&Rational::from(sigma2 * copies), bits).sqrt());
        // pi B is not an integer, since pi^2 is irrational.
        let floor = end.lower().to_integer_round(Round::Down).and_then(|(floor, _)| floor.to_i64());
        let expected = "a variance of the sum within 2^100";
        let floor = floor.ok_or_else(|| Error::out_of_range("pi B", end.lower(), expected))?;
        // The sums over images end when 2 k decay exceeds the bits, decay = 2 pi^2 sigma2 > 19 sigma2.
        if f64::from(bits) / (38.0 * sigma2.to_f64()) > f64::from(MOST_IMAGES) {
            let expected =
                format!("a sigma2 whose sums over images end after {MOST_IMAGES} terms: about 0.001 or more");
            return Err(Error::out_of_range("sigma2 of the residual", rational::display(sigma2), &expected));
        }
        Ok(AppendixC { copies, sigma2: sigma2.clone(), end, floor, bits })
    }

    fn number(&self, value: f64) -> Enclosure {
        Enclosure::double(value, self.bits)
    }

    /// theta_3(-i sigma pi t / sqrt(n), q) / theta_3(0, q) at an integer t: 1 + 2 sum q^(k^2) cosh(2 pi k sigma t /
    /// sqrt(n)) over the same sum with every cosh replaced by 1, raised to the n-th power.
    fn ratio(&self, t: i64) -> Enclosure {
        let pi = Enclosure::pi(self.bits + 32);
        let root = Enclosure::rational(&(Rational::from(&self.sigma2 / self.copies)), self.bits + 32).sqrt();
        let slope = pi.mul(&root).mul(&Enclosure::double(2.0 * t as f64, self.bits));
        let decay = pi.mul(&pi).mul(&Enclosure::rational(&Rational::from(&self.sigma2 * 2_u32), self.bits));
        let mut above = self.number(0.0);
        let mut below = self.number(0.0);
        for k in 1_u32.. {
            let power = decay.mul(&self.number(-f64::from(k) * f64::from(k)));
            let step = slope.mul(&self.number(f64::from(k)));
            // 2 q^(k^2) cosh(k u), written as two exponentials.
            let term = power.add(&step).exp().add(&power.sub(&step).exp());
            above = above.add(&term);
            below = below.add(&power.exp().mul(&self.number(2.0)));
            // |u| <= decay, as t <= pi B; from k to k + 1 the term falls by r = exp(-decay (2 k + 1) + u) <= exp(-2 k decay). At the end of the loop r <= 1/2, so the truncation error is at most the last term times r / (1 - r) <= 2 exp(-2 k decay).
            if 2.0 * f64::from(k) * decay.lower().to_f64() > f64::from(self.bits) + 2.0 {
                let rest =
                    term.mul(&self.number(2.0 * libm::exp(-2.0 * f64::from(k) * decay.lower().to_f64()).next_up()));
                above = above.add(&self.number(0.0).hull(&rest));
                below = below.add(&self.number(0.0).hull(&rest));
                break;
            }
        }
        let one = self.number(1.0);
        let quotient = one.add(&above).div(&one.add(&below));
        (0..self.copies).fold(one, |product, _| product.mul(&quotient))
    }

    /// exp(-t^2 / 2) at an integer.
    fn bell(&self, t: i64) -> Enclosure {
        Enclosure::double(-0.5 * (t * t) as f64, self.bits + 64).exp()
    }

    /// (1 / (pi B)) sum over 1 <= j <= floor(pi B) of exp(-(j - 1)^2 / 2) (ratio(j)^n - 1). This is an upper bound: on the
    /// interval from j - 1 to j the first factor is at most exp(-(j - 1)^2 / 2), and the ratio grows with t, from 1.
    fn omega_1(&self) -> Result<Enclosure> {
        let sum = (1..=self.floor)
            .fold(self.number(0.0), |sum, j| sum.add(&self.bell(j - 1).mul(&self.ratio(j).sub(&self.number(1.0)))));
        Ok(sum.div(&self.end))
    }

    /// Omega_4 + Omega_5.
    fn omega_2(&self) -> Result<Enclosure> {
        let [fourth, fifth] = self.parts_of_omega_2();
        Ok(fourth.add(&fifth))
    }

    /// (pi B - floor(pi B)) / (pi B) times f_S(floor(pi B)), and times exp(-floor(pi B)^2 / 2): both functions fall up
    /// to pi B.
    fn parts_of_omega_2(&self) -> [Enclosure; 2] {
        let share = self.end.sub(&self.number(self.floor as f64)).div(&self.end);
        let bell = self.bell(self.floor);
        [share.mul(&bell.mul(&self.ratio(self.floor))), share.mul(&bell)]
    }

    /// exp(-(pi B)^2 / 2) / (pi B)^2, by the tail bound (C.5).
    fn omega_3(&self) -> Enclosure {
        let square = self.end.mul(&self.end);
        square.div(&self.number(-2.0)).exp().div(&square)
    }
}

/// The approximation of delta(epsilon) by Theorem A.11 with its total error, by equation (A.8).
#[derive(Clone, Debug)]
pub struct Approximation {
    /// (1 / B) sum phi(i / B) over i > sigma2 epsilon - n / 2, less exp(epsilon) times the same over
    /// i > sigma2 epsilon + n / 2, up to i = 20 B.
    pub value: Enclosure,
    /// The same with the sums up to the limits of (A.8): sigma2 epsilon + n / 2, and twice that.
    pub value_as_printed: Enclosure,
    /// E_11 + E_12 + exp(epsilon) (E_21 + E_22): the residual times the number of terms, and exp(-20^2 / 2), for both sums.
    pub error: Enclosure,
}

/// Theorem A.11 and (A.8) for n copies of N_Z(0, sigma2) of sensitivity 1, with `residual` as the bound on r.
pub fn approximation(
    sigma2: &Rational,
    copies: u64,
    epsilon: &Rational,
    residual: &Enclosure,
) -> Result<Approximation> {
    Sigma2::try_from(sigma2)?;
    Epsilon::try_from(epsilon)?;
    const DIGITS: u32 = 110;
    const BITS: u32 = 400;
    let middle = Rational::from(epsilon * sigma2);
    let half = Rational::from((copies, 2));
    let index = |x: &Rational| x.clone().floor().into_numer_denom().0.to_i64().unwrap_or(i64::MAX / 4);
    let (first, second) = (index(&Rational::from(&middle - &half)) + 1, index(&Rational::from(&middle + &half)) + 1);
    // The last i with i / B <= 20; a sum that begins later is empty.
    let reach = (400.0 * sigma2.to_f64() * copies as f64).sqrt().floor() as i64;
    let sum = |from: i64, to: i64| {
        (from..=to).fold(Enclosure::double(0.0, BITS), |sum, i| sum.add(&density(sigma2, copies, i, DIGITS)))
    };
    let exp = Enclosure::rational(epsilon, BITS + 32).exp();
    let bracket = |first_end: i64, second_end: i64| sum(first, first_end).sub(&exp.mul(&sum(second, second_end)));
    let terms = |from: i64| Enclosure::double((reach - from + 1).max(0) as f64, BITS);
    let tail = Enclosure::double(-200.0, BITS).exp();
    let error = |from: i64| residual.mul(&terms(from)).add(&tail);
    Ok(Approximation {
        value: bracket(reach, reach),
        value_as_printed: bracket(second - 1, 2 * (second - 1)),
        error: error(first).add(&exp.mul(&error(second))),
    })
}

/// The approximation of delta at several epsilons with the sums up to the limits of (A.8), as printed. The values are
/// those of `value_as_printed` of [`approximation`], to about 30 digits of a probability, by one pass over the terms.
pub fn curve_as_printed(sigma2: &Rational, copies: u64, epsilons: &[Rational]) -> Result<Vec<Enclosure>> {
    const DIGITS: u32 = 40;
    const BITS: u32 = 200;
    const MOST_TERMS: i64 = 300_000;
    Sigma2::try_from(sigma2)?;
    let half = Rational::from((copies, 2));
    // The last i of the terms that are at most x.
    let index = |x: Rational| x.floor().into_numer_denom().0.to_i64().unwrap_or(i64::MAX / 4);
    // Each epsilon with the last terms before the first sum, of the first sum, and of the second sum.
    let limits: Vec<[i64; 3]> = (epsilons.iter())
        .map(|epsilon| {
            Epsilon::try_from(epsilon)?;
            let middle = Rational::from(epsilon * sigma2);
            let end = index(Rational::from(&middle + &half));
            Ok([index(middle - &half), end, 2 * end])
        })
        .collect::<Result<_>>()?;
    let (Some(first), Some(last)) =
        (limits.iter().map(|limits| limits[0]).min(), limits.iter().map(|limits| limits[2]).max())
    else {
        return Ok(Vec::new());
    };
    let terms = last.saturating_sub(first);
    if terms > MOST_TERMS {
        return Err(Error::out_of_range("the number of terms of (A.8)", terms, &format!("at most {MOST_TERMS}")));
    }
    // sums[k] is the sum over first < i <= first + k.
    let places: Vec<i64> = (first + 1..=last).collect();
    let densities = parallel::map(&places, |&i| density(sigma2, copies, i, DIGITS));
    let mut sums = vec![Enclosure::double(0.0, BITS)];
    for density in &densities {
        sums.push(sums[sums.len() - 1].add(density));
    }
    let between = |from: i64, to: i64| sums[(to - first) as usize].sub(&sums[(from - first) as usize]);
    let value = |(epsilon, [before, end, cut]): (&Rational, &[i64; 3])| {
        between(*before, *end).sub(&Enclosure::rational(epsilon, BITS).exp().mul(&between(*end, *cut)))
    };
    Ok(epsilons.iter().zip(&limits).map(value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Account;
    use crate::{
        account::{Composition, Counts},
        numeric::rational::parse,
    };

    #[test]
    fn the_bound_holds_and_the_residual_is_its_leading_image() {
        for (sigma2, copies) in [("0.8", 3), ("1", 5), ("1", 20), ("5", 10), ("10", 27)] {
            let sigma2 = parse(sigma2).unwrap();
            let residual = Residual::new(&sigma2, copies, 15).unwrap();
            assert!(residual.supremum.is_tight(12) && residual.bound().is_tight(8), "{sigma2} {copies}");
            assert!(residual.supremum.upper() <= residual.bound().lower(), "{sigma2} {copies}");
            assert!(bound(&sigma2, copies, 130).unwrap().overlaps(&residual.bound()), "{sigma2} {copies}");
            // To first order in q = exp(-2 pi^2 sigma2) the residual at zero is 2 n (q^(1 - 1/n) - q) / (sqrt(2 pi) B).
            let (n, s) = (copies as f64, sigma2.to_f64());
            let power = |share: f64| (-2.0 * std::f64::consts::PI.powi(2) * s * share).exp();
            let leading = 2.0 * n * (power(1.0 - 1.0 / n) - power(1.0)) / (std::f64::consts::TAU * n * s).sqrt();
            let ratio = residual.supremum.approximate() / leading;
            assert_eq!(residual.at, 0);
            assert!((ratio - 1.0).abs() < if s > 4.0 { 1e-10 } else { 0.01 }, "{sigma2} {copies}: {ratio}");
        }
    }

    /// For small sigma2 the terms over images fall slowly, so the sums need hundreds of terms; their tail bound is
    /// still added.
    #[test]
    fn little_noise_needs_many_images() {
        let sigma2 = parse("0.012").unwrap();
        let coarse = AppendixC::new(&sigma2, 40, 12).unwrap();
        let fine = AppendixC::new(&sigma2, 40, 90).unwrap();
        assert!(coarse.floor >= 2);
        for t in 0..=coarse.floor {
            let (coarse, fine) = (coarse.ratio(t), fine.ratio(t));
            assert!(coarse.overlaps(&fine) && coarse.is_tight(12) && fine.is_tight(90), "{t}: {coarse} {fine}");
        }
        let residual = Residual::new(&sigma2, 40, 10).unwrap();
        assert!(residual.supremum.upper() <= residual.bound().lower());
        assert!(bound(&parse("1e-6").unwrap(), 40, 12).unwrap_err().to_string().contains("0.001"));
    }

    #[test]
    fn a_curve_as_printed_agrees_with_its_points() {
        let (sigma2, copies) = (parse("7/2").unwrap(), 9);
        let residual = Residual::new(&sigma2, copies, 15).unwrap().bound();
        let epsilons: Vec<Rational> = ["0", "0.3", "2", "5.5"].map(|text| parse(text).unwrap()).to_vec();
        for (epsilon, value) in epsilons.iter().zip(curve_as_printed(&sigma2, copies, &epsilons).unwrap()) {
            let alone = approximation(&sigma2, copies, epsilon, &residual).unwrap().value_as_printed;
            assert!(value.overlaps(&alone) && value.is_tight(15), "{epsilon}: {value:?} {alone:?}");
        }
        assert!(curve_as_printed(&parse("1e9").unwrap(), copies, &epsilons).is_err());
    }

    #[test]
    fn the_approximation_is_within_its_error() {
        for (sigma2, copies, epsilon) in [("5", 10, "3"), ("5", 10, "10"), ("16", 20, "1")] {
            let (sigma2, epsilon) = (parse(sigma2).unwrap(), parse(epsilon).unwrap());
            let residual = Residual::new(&sigma2, copies, 15).unwrap().bound();
            let approximation = approximation(&sigma2, copies, &epsilon, &residual).unwrap();
            let composition = Composition::new([Counts::discrete_gaussian(sigma2, copies, 1).unwrap()]).unwrap();
            let delta = composition.delta(&epsilon, 40).unwrap().value;
            let error = approximation.error.clone();
            let around = approximation.value.add(&error.clone().negate().hull(&error));
            assert!(around.overlaps(&delta) && *error.upper() < 1e-20);
            // The sums up to the limits of (A.8) have a far larger truncation error.
            let around = approximation.value_as_printed.add(&error.clone().negate().hull(&error));
            assert!(!around.overlaps(&delta));
        }
    }
}
