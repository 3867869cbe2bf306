//! Laws of magnitudes 0, 1, 2, ... with log-concave weights, and certified enclosures of their tails in fixed-point
//! integers.

use rug::{Float, Integer, Rational, float::Round, ops::DivRounding};

use crate::{
    error::{Error, Result},
    loss::law::Law,
    numeric::{Enclosure, rational},
};

/// The law on m = 0, 1, 2, ... with mass proportional to w(m) = exp(-(slope m + bend m (m - 1) / 2)), where zero may
/// count half.
///
/// N_Z(0, sigma2) has slope 1 / (2 sigma2) and bend 1 / sigma2, since m + m (m - 1) = m^2; the discrete Laplace has
/// slope epsilon and bend 0. A symmetric law on the integers is a fair sign and a magnitude whose zero counts half:
/// both signs of zero together have weight one.
#[derive(Clone, Debug)]
pub(super) struct Magnitude {
    slope: Rational,
    bend: Rational,
    half_zero: bool,
}

/// Enclosures of `P[M > m]` for m = 0, 1, ..., in units of 2^-bits: lower ends and upper ends.
#[derive(Debug)]
pub(super) struct Tails {
    pub bits: u32,
    pub lower: Vec<Integer>,
    pub upper: Vec<Integer>,
}

impl Magnitude {
    /// The magnitude of noise of a law on the integers.
    pub(super) fn of(law: &Law) -> Result<Self> {
        let (slope, bend) = match law {
            Law::DiscreteGaussian { sigma2 } => {
                super::check_sigma2(sigma2)?;
                (Rational::from(sigma2 * 2_u32).recip(), sigma2.clone().recip())
            }
            Law::DiscreteLaplace { epsilon } => {
                super::check_epsilon(epsilon)?;
                (epsilon.clone(), Rational::new())
            }
            Law::Gaussian { sigma2 } => {
                let value = format!("the continuous Gaussian of variance {}", rational::display(sigma2));
                return Err(Error::out_of_range("noise", value, "a law on the integers, which can be drawn exactly"));
            }
        };
        Ok(Magnitude { slope, bend, half_zero: true })
    }

    pub(super) fn slope(&self) -> &Rational {
        &self.slope
    }

    pub(super) fn bend(&self) -> &Rational {
        &self.bend
    }

    /// The law with weights w(k m), where zero counts in full.
    ///
    /// With slope' = slope k + bend k (k - 1) / 2 and bend' = bend k^2, the exponent slope' m + bend' m (m - 1) / 2 is
    /// slope k m + bend k m (k m - 1) / 2.
    pub(super) fn every(&self, k: u64) -> Magnitude {
        let slope = Rational::from(&self.slope * k) + Rational::from(&self.bend * k) * (k - 1) / 2_u32;
        Magnitude { slope, bend: Rational::from(&self.bend * k) * k, half_zero: false }
    }

    /// Encloses `P[M > m]` for every m for which it is above 2^-wanted or so, each to within about 2^-(wanted + 32).
    ///
    /// In fixed point with `bits` fractional bits, every product rounded down for the lower ends and up for the upper:
    /// w(m + 1) = w(m) r(m) and r(m + 1) = r(m) exp(-bend) from r(0) = exp(-slope). The sum beyond the last weight
    /// kept, w(n), is at most w(n) r / (1 - r) with r = r(n), because the ratios do not increase.
    pub(super) fn tails(&self, wanted: u32) -> Tails {
        // A weight loses two units a step and its ratio as well: n steps lose about n^2 units, and their sum n^3. The
        // extra 96 bits pay for n = 2^21; more steps only widen the enclosures.
        let bits = wanted + 32 + 96;
        let one = Integer::from(1) << bits;
        let (mut ratio, factor) = (fixed_exp(&self.slope, bits), fixed_exp(&self.bend, bits));
        let mut weights = vec![(one.clone(), one.clone())];
        let enough = Integer::from(1) << (bits - wanted - 32);
        let beyond = loop {
            let (low, high) = &weights[weights.len() - 1];
            // Where r may be 1 the bound says nothing; it falls below 1 within the first bits of exp(-slope).
            let gap = Integer::from(&one - &ratio.1);
            if gap > 0 {
                let beyond = Integer::from(high * &ratio.1).div_ceil(&gap);
                if beyond <= enough {
                    break beyond;
                }
            }
            let next = product((low, high), (&ratio.0, &ratio.1), bits);
            if self.bend != 0 {
                ratio = product((&ratio.0, &ratio.1), (&factor.0, &factor.1), bits);
            }
            weights.push(next);
        };
        // sums[m] = sum over i > m of w(i), from the far end.
        let (mut low, mut high) = (Integer::new(), beyond);
        let mut sums: Vec<(Integer, Integer)> = Vec::with_capacity(weights.len());
        for weight in weights[1..].iter().rev() {
            sums.push((low.clone(), high.clone()));
            low += &weight.0;
            high += &weight.1;
        }
        sums.push((low.clone(), high.clone()));
        sums.reverse();
        let zero = if self.half_zero { Integer::from(&one >> 1) } else { one };
        let (low, high) = (low + &zero, high + &zero);
        // 1 / total, rounded outward.
        let square = Integer::from(1) << (2 * bits);
        let (least, most) = (square.clone().div_floor(&high), square.div_ceil(&low));
        let shrink = |(low, high): (Integer, Integer)| product((&low, &high), (&least, &most), bits);
        let (lower, upper) = sums.into_iter().map(shrink).unzip();
        Tails { bits, lower, upper }
    }
}

/// The product of two enclosures of numbers >= 0 in units of 2^-bits, rounded outward.
fn product(x: (&Integer, &Integer), y: (&Integer, &Integer), bits: u32) -> (Integer, Integer) {
    let lower = Integer::from(x.0 * y.0) >> bits;
    // -floor(-a) is the ceiling.
    let upper = -((-Integer::from(x.1 * y.1)) >> bits);
    (lower, upper)
}

/// Encloses exp(-exponent) in units of 2^-bits, for exponents >= 0.
pub(super) fn fixed_exp(exponent: &Rational, bits: u32) -> (Integer, Integer) {
    // The exponent's relative rounding becomes absolute: its size in bits is added.
    let size = exponent.to_f64().log2().max(0.0) as u32;
    let value = Enclosure::rational(&Rational::from(-exponent), bits + size + 8).exp();
    let scaled = |end: &Float, round| {
        // A shift is exact; the integer is rounded outward. An exponential of MPFR is finite.
        Float::with_val(end.prec(), end << bits).to_integer_round(round).map_or_else(Integer::new, |(whole, _)| whole)
    };
    (scaled(value.lower(), Round::Down), scaled(value.upper(), Round::Up))
}

#[cfg(test)]
mod tests {
    use super::super::DiscreteGaussian;
    use super::*;
    use crate::numeric::rational::parse;

    fn end(value: &Integer, bits: u32) -> Rational {
        Rational::from((value.clone(), Integer::from(1) << bits))
    }

    #[test]
    fn tails_enclose_those_of_the_distribution() {
        for sigma2 in ["1e-6", "0.02", "0.3", "5", "456.62", "104/4099"] {
            let sigma2 = parse(sigma2).unwrap();
            let noise = DiscreteGaussian::new(sigma2.clone()).unwrap();
            let tails = Magnitude::of(&Law::DiscreteGaussian { sigma2 }).unwrap().tails(64);
            for (m, (lower, upper)) in tails.lower.iter().zip(&tails.upper).enumerate().step_by(7) {
                // V < P[M > m] for a uniform V: half the mass of both tails, doubled by the sign.
                let truth = noise.survival(m as i64 + 1, 40).unwrap();
                let (lower, upper) = (end(lower, tails.bits) / 2_u32, end(upper, tails.bits) / 2_u32);
                assert!(*truth.lower() <= upper && *truth.upper() >= lower, "{m}");
                assert!(Rational::from(&upper - &lower) < Rational::from((1, Integer::from(1) << 90)));
            }
            let last = end(&tails.upper[tails.upper.len() - 1], tails.bits);
            assert!(last < Rational::from((1, Integer::from(1) << 90)), "the tail is followed far enough");
        }
    }

    #[test]
    fn every_kth_weight_is_that_of_the_law() {
        for law in [
            Law::DiscreteGaussian { sigma2: parse("7.3").unwrap() },
            Law::DiscreteLaplace { epsilon: parse("1/7").unwrap() },
        ] {
            let whole = Magnitude::of(&law).unwrap();
            let part = whole.every(8);
            let exponent = |law: &Magnitude, m: u64| {
                Rational::from(&law.slope * m) + Rational::from(&law.bend * (m * (m - 1))) / 2_u32
            };
            for m in 1..20 {
                assert_eq!(exponent(&part, m), exponent(&whole, 8 * m));
            }
        }
    }

    #[test]
    fn continuous_noise_is_refused() {
        let law = Law::Gaussian { sigma2: parse("5").unwrap() };
        assert!(Magnitude::of(&law).unwrap_err().to_string().contains("continuous"));
    }
}
