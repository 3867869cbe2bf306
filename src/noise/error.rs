//! The error of a count that is published with noise: by itself, and cut at zero.
//!
//! A count y >= 0 is published as y + X, X of law N_Z(0, sigma2), or as max(0, y + X). The expected squared and absolute
//! errors are sums over the masses; what is left out is bounded by the sub-Gaussian tail.

use rug::Rational;

use super::DiscreteGaussian;
use crate::numeric::Enclosure;

/// Expected errors.
#[derive(Clone, Debug)]
pub struct Errors {
    /// `E[(published - y)^2]`.
    pub squared: Enclosure,
    /// `E|published - y|`.
    pub absolute: Enclosure,
}

/// The partial sums of one noise, from which the errors of all counts follow.
#[derive(Clone, Debug)]
pub struct Cut {
    /// For y = 0, 1, ...: `E[X^2; X >= -y] + y^2 P[X < -y]`, and the same with absolute values; constant beyond the end.
    errors: Vec<Errors>,
}

/// `E|X|` = 2 sum over x >= 1 of x `P[X = x]`, to a relative width of about 10^-digits.
pub fn absolute_error(noise: &DiscreteGaussian, digits: u32) -> Enclosure {
    Cut::new(noise, digits).plain().absolute
}

impl Cut {
    /// The errors of all counts under one noise, to about 10^-digits of the errors without cutting.
    pub fn new(noise: &DiscreteGaussian, digits: u32) -> Self {
        let bits = (f64::from(digits) * 3.33) as u32 + 40;
        let number = |value: i64| Enclosure::rational(&Rational::from(value), bits);
        // exp(-Y^2 / (2 sigma2)) = 2^-(bits + 20)
        let sigma2 = noise.sigma2().to_f64();
        let reach = (2.0 * sigma2 * f64::from(bits + 20) * std::f64::consts::LN_2).sqrt().ceil() as i64 + 2;
        let masses: Vec<Enclosure> = (0..=reach).map(|x| noise.mass(x, digits + 8)).collect();
        // Beyond the reach Y, with P[X >= x] <= exp(-x^2 / (2 sigma2)) and summation by parts: sum over x > Y of x^2 P[X = x]
        // = (Y + 1)^2 P[X > Y] + sum over x > Y of (2 x + 1) P[X > x] <= ((Y + 1)^2 + 2 sigma2) exp(-Y^2 / (2 sigma2)),
        // since 2 u exp(-u^2 / (2 sigma2)) falls from sigma on; (Y + 1 + sigma2)^2 times 4 is more.
        let exponent = -Rational::from(reach).square() / Rational::from(noise.sigma2() * 2_u32);
        let size = Rational::from(noise.sigma2() + (reach + 1)).square() * 4_u32;
        let beyond = Enclosure::rational(&exponent, bits + 16).exp().mul(&Enclosure::rational(&size, bits));
        let rest = Enclosure::double(0.0, bits).hull(&beyond);
        // From the far end: P[X > y], E[X; X > y] and E[X^2; X > y], X symmetric.
        let mut tails = vec![[rest.clone(), rest.clone(), rest]; 1];
        for x in (1..=reach).rev() {
            let mass = &masses[x as usize];
            let last = tails[tails.len() - 1].clone();
            let terms = [mass.clone(), mass.mul(&number(x)), mass.mul(&number(x * x))];
            tails.push([0, 1, 2].map(|k| last[k].add(&terms[k])));
        }
        tails.reverse();
        // tails[y] belongs to X > y; the half X > 0 is not cut.
        let half = tails[0].clone();
        let errors = (0..=reach)
            .map(|y| {
                let cut = &tails[y as usize];
                let (least, square) = (number(y), number(y * y));
                // E[X^2; -y <= X < 0] + y^2 P[X < -y] is the half less its tail, plus y^2 times the tail's probability.
                let lower = |k: usize, at: &Enclosure| half[k].sub(&cut[k]).add(&at.mul(&cut[0]));
                Errors { squared: half[2].add(&lower(2, &square)), absolute: half[1].add(&lower(1, &least)) }
            })
            .collect();
        Cut { errors }
    }

    /// The errors of max(0, y + X).
    pub fn at(&self, y: u64) -> &Errors {
        // Beyond the end the cut changes nothing that the enclosure does not hold.
        let last = self.errors.len() - 1;
        &self.errors[usize::try_from(y).map_or(last, |y| y.min(last))]
    }

    /// The errors of y + X.
    pub fn plain(&self) -> Errors {
        self.errors[self.errors.len() - 1].clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rational::parse;

    #[test]
    fn errors_agree_with_enumeration() {
        for sigma2 in ["0.3", "5", "456.62"] {
            let noise = DiscreteGaussian::new(parse(sigma2).unwrap()).unwrap();
            let cut = Cut::new(&noise, 15);
            let reach = (14.0 * noise.sigma2().to_f64().sqrt()) as i64 + 4;
            let masses: Vec<f64> = (0..=reach).map(|x| noise.mass(x, 17).approximate()).collect();
            let mean = |error: &dyn Fn(i64) -> f64| -> f64 {
                (-reach..=reach).map(|x| masses[x.unsigned_abs() as usize] * error(x)).sum()
            };
            for y in [0_i64, 1, 2, 7, 30, 1000] {
                let published = |x: i64| ((y + x).max(0) - y) as f64;
                let (squared, absolute) = (mean(&|x| published(x).powi(2)), mean(&|x| published(x).abs()));
                let at = cut.at(y as u64);
                assert!((at.squared.approximate() / squared - 1.0).abs() < 1e-12, "{sigma2} {y}");
                assert!((at.absolute.approximate() / absolute - 1.0).abs() < 1e-12, "{sigma2} {y}");
                assert!(at.squared.is_tight(14) && at.absolute.is_tight(14), "{sigma2} {y}");
            }
            assert!(cut.plain().squared.overlaps(&noise.variance(15)), "{sigma2}");
        }
    }

    #[test]
    fn cutting_at_zero_never_hurts() {
        let cut = Cut::new(&DiscreteGaussian::new(parse("9").unwrap()).unwrap(), 20);
        let plain = cut.plain();
        for y in 0..30 {
            assert!(cut.at(y).squared.lower() <= plain.squared.upper());
            assert!(cut.at(y).squared.lower() <= cut.at(y + 1).squared.upper());
        }
        // At zero half of the squares is left.
        let half = cut.at(0).squared.mul(&Enclosure::double(2.0, 100));
        assert!(half.overlaps(&plain.squared));
    }
}
