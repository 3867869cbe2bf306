//! The declared law of the draws, in fixed-point integers: enclosures of every mass and tail.

use rug::{Float, Integer, Rational, float::Round};

use crate::{
    error::{Error, Result},
    law::{Law, Shape},
    noise::magnitude_tails,
    numeric::Enclosure,
};

/// Magnitudes are followed until the tail beyond them is below about 2^-WANTED.
const WANTED: u32 = 128;
/// The most magnitudes of a law that is audited.
const MOST: usize = 1 << 16;
/// The precision of enclosures of masses.
const PRECISION: u32 = 160;

/// A symmetric law on the integers: enclosures of its masses and tails.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Masses and tails are in units of 2^-bits.
    bits: u32,
    /// `P[X = m]` = `P[X = -m]` for m = 0, 1, ..., lower and upper ends.
    mass: Vec<(Integer, Integer)>,
    /// `P[|X| > m]`.
    tail: Vec<(Integer, Integer)>,
}

impl Declared {
    /// The law of single draws. Refuses noise on the real line, and noise so wide that a histogram would have more than 2^17 values.
    pub fn of_law(law: &Law) -> Result<Declared> {
        // exp(-curvature m^2 / 2), exp(-slope m) or exp(-epsilon m / period) below 2^-(WANTED + 2), approximately.
        let depth = f64::from(WANTED + 2) * std::f64::consts::LN_2;
        let (reach, expected) = match law.shape()? {
            Shape::Exponential { exponent, bound } => {
                let (reach, expected) = if exponent.curvature > 0 {
                    ((2.0 * depth / exponent.curvature.to_f64()).sqrt(), "a sigma2 of at most 2.3e7")
                } else {
                    (depth / exponent.slope.to_f64(), "an epsilon of at least 1.4e-3")
                };
                (bound.map_or(reach, |bound| reach.min(bound as f64)), expected)
            }
            Shape::Staircase { epsilon, period, .. } => (
                period as f64 * (depth / epsilon.to_f64() + 1.0),
                "an epsilon of at least 1.4e-3 for each value of a period",
            ),
            Shape::Listed(_) | Shape::Response { .. } => {
                return Err(Error::unsuitable(format!(
                    "{law}: an audit is about noise that is symmetric about zero, not a list of masses"
                )));
            }
        };
        if reach > MOST as f64 {
            let (name, value) = (law.parameter_name(), law.parameter().to_f64());
            return Err(Error::out_of_range(&format!("{name} of the audited law"), value, expected));
        }
        let tails = magnitude_tails(law, WANTED)?;
        let (bits, tail): (u32, Vec<(Integer, Integer)>) =
            (tails.bits, tails.lower.into_iter().zip(tails.upper).collect());
        let one = Integer::from(1) << bits;
        let mut above = (one.clone(), one);
        let mut mass = Vec::with_capacity(tail.len());
        for (m, own) in tail.iter().enumerate() {
            // P[|X| = m] = P[|X| > m - 1] - P[|X| > m], with ends rounded outward; half of it on each side of zero.
            let (low, high) = (Integer::from(&above.0 - &own.1).max(Integer::new()), Integer::from(&above.1 - &own.0));
            mass.push(if m == 0 { (low, high) } else { (low >> 1, (high + 1_u32) >> 1) });
            above = own.clone();
        }
        Ok(Declared { bits, mass, tail })
    }

    /// The law of the sum of two independent draws, by convolution; `None` if both are so wide that this takes long.
    pub fn plus(&self, other: &Declared) -> Option<Declared> {
        const MOST_PRODUCTS: usize = 1 << 18;
        let (a, b) = (self.mass.len() as i64, other.mass.len() as i64);
        let reach = a + b - 1;
        if (a as usize) * (b as usize) > MOST_PRODUCTS || reach as usize > MOST {
            return None;
        }
        let bits = self.bits.min(other.bits);
        let end = |law: &Declared, x: i64, upper: bool| {
            let (low, high) = &law.mass[x.unsigned_abs() as usize];
            let extra = law.bits - bits;
            // Rounded outward to the common unit.
            if upper { -(-Integer::from(high) >> extra) } else { Integer::from(low >> extra) }
        };
        let ends = |law: &Declared, size: i64| -> [Vec<Integer>; 2] {
            [false, true].map(|upper| (1 - size..size).map(|x| end(law, x, upper)).collect())
        };
        let (own, others) = (ends(self, a), ends(other, b));
        // A value beyond the enumerated magnitudes of either term adds at most the tail of that term.
        let last = |law: &Declared| {
            law.tail.last().map_or_else(Integer::new, |(_, high)| -(-Integer::from(high) >> (law.bits - bits)))
        };
        let beyond = last(self) + last(other);
        let mut mass: Vec<(Integer, Integer)> = (0..reach)
            .map(|x| {
                let sum = |at: usize| {
                    let mut sum = Integer::new();
                    for y in (x - (b - 1)).max(1 - a)..=(x + b - 1).min(a - 1) {
                        sum += &own[at][(y + a - 1) as usize] * &others[at][(x - y + b - 1) as usize];
                    }
                    sum
                };
                (sum(0) >> bits, (-(-sum(1) >> bits)) + &beyond)
            })
            .collect();
        // The tails: twice the masses above, and what lies beyond.
        let mut tail = vec![(Integer::new(), beyond.clone())];
        for (low, high) in mass[1..].iter().rev() {
            let (below, above) = &tail[tail.len() - 1];
            tail.push((Integer::from(low << 1) + below, Integer::from(high << 1) + above));
        }
        tail.reverse();
        // Magnitudes whose tail is no more than the uncertainty are dropped.
        let small = Integer::from(&beyond << 2) + (Integer::from(1) << (bits - WANTED));
        let keep = tail.iter().position(|(_, high)| *high <= small).map_or(tail.len(), |at| at + 1);
        tail.truncate(keep);
        mass.truncate(keep);
        Some(Declared { bits, mass, tail })
    }

    /// The law of the sum of `copies` independent draws; `None` if it takes long.
    pub fn times(&self, copies: u32) -> Option<Declared> {
        let (mut left, mut power, mut sum) = (copies, self.clone(), None::<Declared>);
        loop {
            if left & 1 == 1 {
                sum = Some(match sum {
                    None => power.clone(),
                    Some(sum) => sum.plus(&power)?,
                });
            }
            left >>= 1;
            if left == 0 {
                return sum;
            }
            power = power.plus(&power)?;
        }
    }

    /// The largest magnitude with an enclosed mass; larger ones together have at most `tail(reach + 1)`.
    pub fn reach(&self) -> i64 {
        self.mass.len() as i64 - 1
    }

    fn enclosure(&self, (low, high): (&Integer, &Integer)) -> Enclosure {
        let end = |value: &Integer, round| Float::with_val_round(PRECISION, value, round).0 >> self.bits;
        Enclosure::new(end(low, Round::Down), end(high, Round::Up)).clamp(0.0, 1.0)
    }

    /// `P[X = x]`.
    pub fn mass(&self, x: i64) -> Enclosure {
        match self.mass.get(x.unsigned_abs() as usize) {
            Some((low, high)) => self.enclosure((low, high)),
            None => self.tail(self.reach() + 1),
        }
    }

    /// `P[|X| >= m]`, enclosed; beyond the reach from zero to the tail there.
    pub fn tail(&self, m: i64) -> Enclosure {
        match m {
            ..=0 => Enclosure::double(1.0, PRECISION),
            m => match self.tail.get(m as usize - 1) {
                Some((low, high)) => self.enclosure((low, high)),
                None => {
                    let last = self.tail.last().map_or_else(Integer::new, |(_, high)| high.clone());
                    self.enclosure((&Integer::new(), &last))
                }
            },
        }
    }

    /// `P[from <= X <= to]` for 0 < from <= to, or for from = -to.
    pub(super) fn between(&self, from: i64, to: i64) -> Enclosure {
        let one = Enclosure::double(1.0, PRECISION);
        match from {
            1.. => self.tail(from).sub(&self.tail(to + 1)).times_power_of_two(-1).clamp(0.0, 1.0),
            _ => one.sub(&self.tail(to + 1)).clamp(0.0, 1.0),
        }
    }

    /// The probability of an even number.
    pub(super) fn even(&self) -> Enclosure {
        let mut sum = (Integer::new(), Integer::new());
        for (m, (low, high)) in self.mass.iter().enumerate().step_by(2) {
            let twice = u32::from(m > 0);
            sum.0 += Integer::from(low << twice);
            sum.1 += Integer::from(high << twice);
        }
        if let Some((_, beyond)) = self.tail.last() {
            sum.1 += beyond;
        }
        self.enclosure((&sum.0, &sum.1))
    }

    /// An approximation of the variance.
    pub fn variance_approx(&self) -> f64 {
        let square = |m: usize| 2.0 * (m as f64).powi(2);
        self.mass.iter().enumerate().map(|(m, _)| square(m) * self.mass_approx(m as i64)).sum()
    }

    /// An approximation of `P[X = x]`.
    pub fn mass_approx(&self, x: i64) -> f64 {
        self.mass.get(x.unsigned_abs() as usize).map_or(0.0, |(low, _)| scaled(low, self.bits))
    }

    /// An approximation of `P[|X| >= m]`.
    pub fn tail_approx(&self, m: i64) -> f64 {
        match m {
            ..=0 => 1.0,
            m => self.tail.get(m as usize - 1).map_or(0.0, |(low, _)| scaled(low, self.bits)),
        }
    }
}

fn scaled(value: &Integer, bits: u32) -> f64 {
    (Float::with_val(64, value) >> bits).to_f64()
}

/// The parameter of a law one step of `factor` further, for intervals.
pub(super) fn scaled_law(law: &Law, factor: f64) -> Option<Law> {
    let factor = Rational::from_f64(factor).filter(|factor| *factor > 0)?;
    Some(law.times(&factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{loss::testing::law, noise::DiscreteGaussian, numeric::rational::parse};

    fn gaussian(sigma2: &str) -> Declared {
        Declared::of_law(&law(sigma2)).unwrap()
    }

    #[test]
    fn masses_and_tails_enclose_those_of_the_distribution() {
        for sigma2 in ["0.02", "0.6", "5", "456.62"] {
            let (law, noise) = (gaussian(sigma2), DiscreteGaussian::new(parse(sigma2).unwrap()).unwrap());
            for x in [0, 1, 2, 7, 30, law.reach(), law.reach() + 3] {
                assert!(law.mass(x).overlaps(&noise.mass(x, 30)), "{sigma2} {x}");
                let both = noise.survival(x.max(1), 30).unwrap().times_power_of_two(1);
                assert!(law.tail(x.max(1)).overlaps(&both), "{sigma2} {x}");
            }
            assert!(law.mass(0).is_tight(30));
            let even = (0..=law.reach()).step_by(2).map(|x| law.mass_approx(x) * f64::from(1 + u8::from(x > 0)));
            assert!((law.even().approximate() - even.sum::<f64>()).abs() < 1e-12);
        }
    }

    /// The sum of draws against a direct sum of products of enclosures.
    #[test]
    fn sums_of_draws_are_convolutions() {
        let (a, b) = (gaussian("0.6"), gaussian("2.5"));
        let sum = a.plus(&b).unwrap();
        let zero = Enclosure::double(0.0, 160);
        for x in 0..12 {
            let direct = (-40_i64..=40).fold(zero.clone(), |sum, y| sum.add(&a.mass(y).mul(&b.mass(x - y))));
            assert!(sum.mass(x).overlaps(&direct) && sum.mass(x).is_tight(20), "{x}");
            let tail = (x.max(1)..60).fold(zero.clone(), |total, y| total.add(&sum.mass(y)));
            assert!((sum.tail(x.max(1)).approximate() / (2.0 * tail.approximate()) - 1.0).abs() < 1e-9);
        }
        let five = a.times(5).unwrap();
        assert!((five.variance_approx() / (5.0 * a.variance_approx()) - 1.0).abs() < 1e-12);
        let total = (-five.reach()..=five.reach()).fold(zero, |sum, x| sum.add(&five.mass(x)));
        assert!((total.approximate() - 1.0).abs() < 1e-30);
    }

    #[test]
    fn noise_that_is_too_wide_or_continuous_is_refused() {
        let wide = Declared::of_law(&law("1e10")).unwrap_err().to_string();
        assert!(wide.contains("2.3e7"), "{wide}");
        let laplace = Declared::of_law(&law("discrete-laplace:1e-5")).unwrap_err().to_string();
        assert!(laplace.contains("1.4e-3"), "{laplace}");
        assert!(Declared::of_law(&law("gaussian:5")).is_err());
        assert!(Declared::of_law(&law("2.3e7")).is_ok());
    }
}
