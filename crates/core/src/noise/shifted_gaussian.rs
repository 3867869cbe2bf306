//! Discrete Gaussians with a center between the integers, and the characteristic function: Lemma A.4, Propositions A.5
//! and A.6, and equation (A.3) of Su, Su & Wang.
//!
//! Everything is a sum over the integers, which Jacobi's identity gives in two forms. For f = center mod 1 and
//! q = exp(-2 pi^2 sigma2),
//!
//! sum_x exp(-(x - f)^2 / (2 sigma2)) = sqrt(2 pi sigma2) (1 + 2 sum_(k >= 1) q^(k^2) cos(2 pi k f)),
//!
//! and the left side is summed for sigma2 < 0.3, the right side otherwise.

use rug::{Float, Rational, float::Round};

use crate::loss::parameter::Sigma2;
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, ball::Ball, field::Real, precision, rational},
};

/// Below this variance proxy the left side is summed, otherwise the right side.
const DIRECT_BELOW: f64 = 0.3;
/// Bits of precision in addition to the requested digits.
const GUARD: u32 = 32;

/// sum over x in Z of exp(-(x - center)^2 / (2 sigma2)), to a relative width of about 10^-digits: it falls strictly as
/// the center moves from an integer to a half-integer (Lemma A.4).
pub fn shifted_sum(sigma2: &Rational, center: &Rational, digits: u32) -> Result<Enclosure> {
    Sigma2::try_from(sigma2)?;
    let (bits, f) = (precision::bits(digits, GUARD), fraction(center));
    if sigma2.to_f64() < DIRECT_BELOW {
        return Ok(direct(sigma2, &f, bits, |_| Rational::from(1)));
    }
    let scale = Enclosure::pi(bits).mul(&Enclosure::rational(&Rational::from(sigma2 * 2_u32), bits)).sqrt();
    let cosines = images(sigma2, bits, |k| angle(&f, k, bits).1);
    Ok(scale.mul(&Enclosure::double(1.0, bits).add(&cosines.mul(&Enclosure::double(2.0, bits)))))
}

/// `E[N_Z(center, sigma2)] - center`, to a relative width of 10^-digits however small it is: zero exactly at the integers
/// and half-integers and nowhere else (Proposition A.5), negative between an integer and the half above it.
///
/// With s the sum above it is sigma2 (ds / d center) / s, so for large sigma2 it is
/// -4 pi sigma2 sum k q^(k^2) sin(2 pi k f) / (1 + 2 sum q^(k^2) cos(2 pi k f)).
pub fn bias(sigma2: &Rational, center: &Rational, digits: u32) -> Result<Enclosure> {
    Sigma2::try_from(sigma2)?;
    let f = fraction(center);
    if f == 0 || f.clone().abs() == Rational::from((1, 2)) {
        return Ok(Enclosure::double(0.0, 64));
    }
    let mut bits = precision::bits(digits, GUARD);
    loop {
        let value = if sigma2.to_f64() < DIRECT_BELOW {
            let moment = direct(sigma2, &f, bits, |distance| distance.clone());
            moment.div(&direct(sigma2, &f, bits, |_| Rational::from(1)))
        } else {
            let sines = images(sigma2, bits, |k| angle(&f, k, bits).0.mul(&Enclosure::double(f64::from(k), bits)));
            let cosines = images(sigma2, bits, |k| angle(&f, k, bits).1);
            let scale = Enclosure::pi(bits).mul(&Enclosure::rational(&Rational::from(sigma2 * -4_i32), bits));
            let below = Enclosure::double(1.0, bits).add(&cosines.mul(&Enclosure::double(2.0, bits)));
            scale.mul(&sines).div(&below)
        };
        if value.is_tight(digits) {
            return Ok(value);
        }
        bits *= 2;
        if bits > 100_000 {
            let apart = "it must differ from the integers and half-integers by more than 10^-1000";
            return Err(Error::undecided("the center of the noise", rational::display(center), apart));
        }
    }
}

/// `E[exp(i t X)]` for X of law N_Z(0, sigma2) at t = 2 pi turns, to a relative width of about 10^-digits. It is
///
/// sum_k exp(-sigma2 (t - 2 pi k)^2 / 2) / sum_k exp(-2 pi^2 sigma2 k^2)
///
/// (A.3), real and positive; it has period 1 in `turns` and falls strictly from 0 to 1/2 (Proposition A.6). The
/// characteristic function of S_n of n copies is its n-th power at t / sqrt(n sigma2).
pub fn characteristic(sigma2: &Rational, turns: &Rational, digits: u32) -> Result<Enclosure> {
    Sigma2::try_from(sigma2)?;
    let f = fraction(turns);
    if sigma2.to_f64() < DIRECT_BELOW {
        // sum_x exp(-x^2 / (2 sigma2)) cos(2 pi x f) over the same at f = 0; positive, so more bits make it tight.
        let mut bits = precision::bits(digits, GUARD);
        loop {
            let a = Enclosure::rational(&Rational::from(sigma2 * 2_u32), bits).recip();
            let one = Enclosure::double(1.0, bits);
            let twice = |sum: Enclosure| one.add(&sum.mul(&Enclosure::double(2.0, bits)));
            let value =
                twice(series(&a, bits, |k| angle(&f, k, bits).1)).div(&twice(series(&a, bits, |_| one.clone())));
            if value.is_tight(digits) || bits > 100_000 {
                return Ok(value);
            }
            bits *= 2;
        }
    }
    // exp(-2 pi^2 sigma2 d^2) is the term of a shifted discrete Gaussian of variance proxy 1 / (4 pi^2 sigma2).
    let size = libm::log2(20.0 * sigma2.to_f64()).max(0.0) as u32;
    let bits = precision::bits(digits, GUARD) + size;
    let a =
        Enclosure::pi(bits).mul(&Enclosure::pi(bits)).mul(&Enclosure::rational(&Rational::from(sigma2 * 2_u32), bits));
    let one = |_: &Rational| Rational::from(1);
    Ok(positive(&a, &f, bits, one).div(&positive(&a, &Rational::new(), bits, one)))
}

/// The center less the nearest integer, in [-1/2, 1/2].
fn fraction(center: &Rational) -> Rational {
    center - center.clone().round()
}

/// (sin, cos) of 2 pi k f.
fn angle(f: &Rational, k: u32, bits: u32) -> (Enclosure, Enclosure) {
    // Full turns are subtracted first.
    let turns = fraction(&Rational::from(f * k));
    let (sin, cos) = Ball::pi(bits).mul(&Ball::rational(&(turns * 2_u32), bits)).sin_cos();
    (sin.enclosure(), cos.enclosure())
}

/// sum over x of weight(x - f) exp(-(x - f)^2 / (2 sigma2)).
fn direct(sigma2: &Rational, f: &Rational, bits: u32, weight: impl Fn(&Rational) -> Rational) -> Enclosure {
    let a = Enclosure::rational(&Rational::from(sigma2 * 2_u32), bits + 64).recip();
    positive(&a, f, bits, weight)
}

/// sum over x in Z of weight(x - f) exp(-a (x - f)^2) for |f| <= 1/2, a >= 1 and |weight(d)| <= max(1, |d|).
fn positive(a: &Enclosure, f: &Rational, bits: u32, weight: impl Fn(&Rational) -> Rational) -> Enclosure {
    let mut sum = Enclosure::double(0.0, bits);
    let nearest = a.upper().to_f64() * f.to_f64() * f.to_f64();
    for x in 0.. {
        for x in if x == 0 { vec![0] } else { vec![x, -x] } {
            let distance = Rational::from(x) - f;
            let square = Enclosure::rational(&-distance.clone().square(), bits + 64);
            let term = a.mul(&square).exp().mul(&Enclosure::rational(&weight(&distance), bits));
            sum = sum.add(&term);
        }
        // The other terms lie at distances of at least x + 1/2, on both sides; with a >= 1 and x >= 1 each term, including its weight,
        // is less than 2 exp(-3) < 1/4 of the one before, so both sides are below 3 (x + 1) times the bound at
        // x + 1/2.
        let next = f64::from(x) + 0.5;
        if x >= 1 && a.lower().to_f64() * next * next > nearest + f64::from(bits) {
            let square = Enclosure::double(-next * next, bits);
            let rest = a.mul(&square).exp().mul(&Enclosure::double(3.0 * (f64::from(x) + 1.0), bits));
            return sum.add(&rest.clone().negate().hull(&rest));
        }
    }
    sum
}

/// sum over k >= 1 of q^(k^2) value(k) with q = exp(-2 pi^2 sigma2), for |value(k)| <= k and sigma2 >= 0.3.
fn images(sigma2: &Rational, bits: u32, value: impl Fn(u32) -> Enclosure) -> Enclosure {
    let size = libm::log2(20.0 * sigma2.to_f64()).max(0.0) as u32;
    let pi = Enclosure::pi(bits + size);
    series(&pi.mul(&pi).mul(&Enclosure::rational(&Rational::from(sigma2 * 2_u32), bits + size)), bits, value)
}

/// sum over k >= 1 of exp(-a k^2) value(k), for |value(k)| <= k and a >= 1, relative to its first term.
fn series(a: &Enclosure, bits: u32, value: impl Fn(u32) -> Enclosure) -> Enclosure {
    let mut sum = Enclosure::double(0.0, bits);
    for k in 1_u32.. {
        let power = |k: u32| a.mul(&Enclosure::double(-f64::from(k) * f64::from(k), bits)).exp();
        sum = sum.add(&power(k).mul(&value(k)));
        // Each later term is at most 2 exp(-3) < 1/4 of the bound (k + 1) exp(-a (k + 1)^2) before it.
        if a.lower().to_f64() * f64::from(k) * f64::from(k + 2) > f64::from(bits) {
            let rest = power(k + 1).mul(&Enclosure::double(2.0 * f64::from(k + 1), bits));
            let rest = Float::with_val_round(bits, rest.upper(), Round::Up).0;
            return sum.add(&Enclosure::new(-rest.clone(), rest));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::DiscreteGaussian;
    use super::*;
    use crate::numbers::number;

    /// sum over |x| <= reach of value(x - center) exp(-(x - center)^2 / (2 sigma2)), by definition.
    fn by_definition(sigma2: &Rational, center: &Rational, moment: bool) -> Enclosure {
        let reach = (30.0 * sigma2.to_f64().sqrt()) as i64 + 20;
        (-reach..=reach).fold(Enclosure::double(0.0, 300), |sum, x| {
            let distance = Rational::from(x) - center;
            let exponent = -distance.clone().square() / Rational::from(sigma2 * 2_u32);
            let term = Enclosure::rational(&exponent, 300).exp();
            sum.add(&if moment { term.mul(&Enclosure::rational(&distance, 300)) } else { term })
        })
    }

    fn close(a: &Enclosure, b: &Enclosure) -> bool {
        (a.div(b).approximate() - 1.0).abs() < 1e-13
    }

    #[test]
    fn lemma_a4_the_sum_falls_to_the_half_integer() {
        for sigma2 in ["0.01", "0.2", "0.29", "0.31", "1", "5", "16"] {
            let sigma2 = number(sigma2);
            let digits = 20 + (9.0 * sigma2.to_f64()) as u32;
            let mut before: Option<Enclosure> = None;
            for center in ["0", "0.1", "0.25", "1/3", "0.49", "0.5"] {
                let sum = shifted_sum(&sigma2, &number(center), digits).unwrap();
                assert!(sum.is_tight(digits - 1), "{sigma2} {center}");
                assert!(close(&sum, &by_definition(&sigma2, &number(center), false)), "{sigma2} {center}");
                if let Some(before) = &before {
                    assert!(sum.upper() < before.lower(), "{sigma2} {center}");
                }
                let other = shifted_sum(&sigma2, &(Rational::from(7) - number(center)), digits).unwrap();
                assert!(other.overlaps(&sum));
                before = Some(sum);
            }
        }
    }

    /// The product of Appendix B.1 for the ratio of two such sums.
    #[test]
    fn the_triple_product_gives_the_same_ratio() {
        let (sigma2, mu, nu) = (number("0.5"), number("0.1"), number("0.4"));
        let ratio = shifted_sum(&sigma2, &mu, 30).unwrap().div(&shifted_sum(&sigma2, &nu, 30).unwrap());
        let q = (-2.0 * std::f64::consts::PI.powi(2) * 0.5).exp();
        let factor = |m: i32, center: f64| {
            let power = q.powi(2 * m + 1);
            1.0 + power * power + 2.0 * (std::f64::consts::TAU * center).cos() * power
        };
        let product: f64 = (0..8).map(|m| factor(m, 0.1) / factor(m, 0.4)).product();
        assert!((ratio.approximate() - product).abs() < 1e-14);
    }

    #[test]
    fn proposition_a5_only_half_integers_are_unbiased() {
        for sigma2 in ["0.01", "0.2", "0.4", "1", "5", "100"] {
            let sigma2 = number(sigma2);
            for center in ["0", "3", "1/2", "-7/2"] {
                let bias = bias(&sigma2, &number(center), 20).unwrap();
                assert!(*bias.lower() == 0 && *bias.upper() == 0);
            }
            for center in ["0.01", "1/3", "0.499", "5.25"] {
                let (below, above) = (number(center), -number(center));
                let (below, above) = (bias(&sigma2, &below, 20).unwrap(), bias(&sigma2, &above, 20).unwrap());
                assert!(*below.upper() < 0 && *above.lower() > 0 && below.is_tight(20), "{sigma2} {center}");
                if sigma2 < 2 {
                    let (f, sum) = (number(center) - number(center).round(), by_definition);
                    let truth = sum(&sigma2, &f, true).div(&sum(&sigma2, &f, false));
                    assert!(close(&below, &truth), "{sigma2} {center}");
                }
            }
        }
    }

    #[test]
    fn proposition_a6_the_characteristic_function_falls_and_repeats() {
        for sigma2 in ["0.02", "0.25", "0.35", "1", "5"] {
            let noise = DiscreteGaussian::new(number(sigma2)).unwrap();
            let at = |turns: &str| characteristic(&number(sigma2), &number(turns), 25).unwrap();
            assert!(at("0").contains(&Rational::from(1)) && at("2").contains(&Rational::from(1)));
            let mut before = 2.0;
            for turns in ["0", "0.05", "0.2", "0.4", "0.5"] {
                let value = at(turns);
                assert!(value.is_tight(20) && value.approximate() < before, "{sigma2} {turns}");
                assert!(value.overlaps(&at(&format!("-{turns}"))));
                before = value.approximate();
                let angle = std::f64::consts::TAU * number(turns).to_f64();
                let sum: f64 = (-60_i64..=60).map(|x| noise.mass(x, 18).approximate() * (angle * x as f64).cos()).sum();
                assert!((sum - before).abs() < 1e-14, "{sigma2} {turns}");
            }
        }
    }
}
