//! The folded law of noise, that of |X|, and certified enclosures of its tails in fixed-point integers.

use rug::{Float, Integer, Rational, float::Round, ops::DivRounding};

use crate::{
    error::{Error, Result},
    law::{Exponent, Law, Shape},
    numeric::Enclosure,
};

/// A log-concave law on m = 0, 1, 2, ... with mass proportional to w(m) = exp(-(slope m + curvature m (m - 1) / 2)), where
/// zero may count half, and m may have a bound.
///
/// N_Z(0, sigma2) has slope 1 / (2 sigma2) and curvature 1 / sigma2, since m + m (m - 1) = m^2; the discrete Laplace has
/// slope epsilon and curvature 0. A symmetric law on the integers is a fair sign times a magnitude whose zero counts half:
/// zero with either sign together has weight one.
#[derive(Clone, Debug)]
pub(super) struct FoldedLaw {
    slope: Rational,
    curvature: Rational,
    half_zero: bool,
    /// The largest magnitude; `None` where there is none.
    bound: Option<u64>,
}

/// Enclosures of `P[M > m]` for m = 0, 1, ..., in units of 2^-bits: lower ends and upper ends.
#[derive(Debug)]
pub(crate) struct TailBounds {
    pub bits: u32,
    pub lower: Vec<Integer>,
    pub upper: Vec<Integer>,
}

impl FoldedLaw {
    /// The law of |X| for noise X of a symmetric law on the integers that has an exponent; an error for other laws.
    pub(super) fn of_law(law: &Law) -> Result<Self> {
        match law.shape()? {
            Shape::Exponential { exponent, bound } => Ok(FoldedLaw::new(exponent, bound)),
            _ => Err(Error::unsuitable(format!("{law}: the masses of one draw are not symmetric with an exponent"))),
        }
    }

    /// That of the masses with an exponent, on -bound, ..., bound where there is a bound.
    pub(super) fn new(Exponent { slope, curvature }: Exponent, bound: Option<u64>) -> Self {
        FoldedLaw { slope, curvature, half_zero: true, bound }
    }

    pub(super) fn slope(&self) -> &Rational {
        &self.slope
    }

    pub(super) fn curvature(&self) -> &Rational {
        &self.curvature
    }

    pub(super) fn bound(&self) -> Option<u64> {
        self.bound
    }

    /// w(m), to a relative width of about 2^-bits.
    pub(super) fn weight(&self, m: u64, bits: u32) -> Enclosure {
        let quadratic = Rational::from(m) * m.saturating_sub(1) / 2_u32;
        let exponent = -(Rational::from(&self.slope * m) + &self.curvature * quadratic);
        // exp turns the relative rounding error of the exponent into an absolute one: it gets as many further bits as its integer part has.
        let size = libm::log2(exponent.to_f64().abs()).max(0.0) as u32;
        Enclosure::rational(&exponent, bits + size + 8).exp()
    }

    /// The law with weights w(m + j) / w(m), j = 0, 1, ..., for m up to the bound: its exponent is (slope + curvature m) j + curvature j (j - 1) / 2.
    pub(super) fn beyond(&self, m: u64) -> FoldedLaw {
        FoldedLaw {
            slope: Rational::from(&self.curvature * m) + &self.slope,
            curvature: self.curvature.clone(),
            half_zero: false,
            bound: self.bound.map(|bound| bound - m),
        }
    }

    /// The sum of f(m) w(m) over all m, where 1 <= f(0) and f does not decrease, to a relative width of about 2^-bits. Only for a law with a bound.
    pub(super) fn moment(&self, bits: u32, f: impl Fn(u64) -> u64) -> Enclosure {
        let largest = f(self.bound.unwrap_or(0));
        // As in `tails`: n steps lose about n^3 units, and f as many bits as it has.
        let wanted = bits + 64 - largest.leading_zeros();
        let unit = wanted + 32 + 96;
        let (weights, beyond) = self.weights(wanted, unit);
        let (mut low, mut high) = (Integer::new(), beyond * largest);
        for (m, weight) in weights.iter().enumerate() {
            low += Integer::from(&weight.0 * f(m as u64));
            high += Integer::from(&weight.1 * f(m as u64));
        }
        let end = |value: &Integer, round| Float::with_val_round(bits + 8, value, round).0 >> unit;
        Enclosure::new(end(&low, Round::Down), end(&high, Round::Up))
    }

    /// The law with weights w(k m): every k-th weight of this one, with the full weight of zero.
    ///
    /// With slope' = slope k + curvature k (k - 1) / 2 and curvature' = curvature k^2, the exponent slope' m + curvature' m (m - 1) / 2 is
    /// slope k m + curvature k m (k m - 1) / 2.
    pub(super) fn coarsened(&self, k: u64) -> FoldedLaw {
        let slope = Rational::from(&self.slope * k) + Rational::from(&self.curvature * k) * (k - 1) / 2_u32;
        FoldedLaw {
            slope,
            curvature: Rational::from(&self.curvature * k) * k,
            half_zero: false,
            bound: self.bound.map(|bound| bound / k),
        }
    }

    /// Encloses `P[M > m]` for every m for which it is above about 2^-wanted, each to within about 2^-(wanted + 32).
    pub(super) fn tails(&self, wanted: u32) -> TailBounds {
        // A weight loses two units per step, and so does its ratio: n steps lose about n^2 units, and their sum n^3. The
        // 96 extra bits cover n = 2^21; more steps only widen the enclosures.
        let bits = wanted + 32 + 96;
        let one = Integer::from(1) << bits;
        let (weights, beyond) = self.weights(wanted, bits);
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
        TailBounds { bits, lower, upper }
    }

    /// Enclosures of w(0) = 1, w(1), ..., w(n) in units of 2^-bits, and an upper bound of the sum of all later weights, at
    /// most 2^-(wanted + 32).
    ///
    /// Every product is rounded down for the lower ends and up for the upper: w(m + 1) = w(m) r(m) and r(m + 1) = r(m)
    /// exp(-curvature) from r(0) = exp(-slope). The sum beyond w(n) is at most w(n) r / (1 - r) with r = r(n), because the
    /// ratios do not increase, and zero at the bound.
    fn weights(&self, wanted: u32, bits: u32) -> (Vec<(Integer, Integer)>, Integer) {
        let one = Integer::from(1) << bits;
        let (mut ratio, factor) = (fixed_exp(&self.slope, bits), fixed_exp(&self.curvature, bits));
        let mut weights = vec![(one.clone(), one.clone())];
        let enough = Integer::from(1) << (bits - wanted - 32);
        loop {
            if self.bound.is_some_and(|bound| weights.len() as u64 > bound) {
                return (weights, Integer::new());
            }
            let (low, high) = &weights[weights.len() - 1];
            // While r may be 1 there is no bound; r falls below 1 within the first bits of exp(-slope).
            let gap = Integer::from(&one - &ratio.1);
            if gap > 0 {
                let beyond = Integer::from(high * &ratio.1).div_ceil(&gap);
                if beyond <= enough {
                    return (weights, beyond);
                }
            }
            let next = product((low, high), (&ratio.0, &ratio.1), bits);
            if self.curvature != 0 {
                ratio = product((&ratio.0, &ratio.1), (&factor.0, &factor.1), bits);
            }
            weights.push(next);
        }
    }
}

/// The product of two enclosures of nonnegative numbers in units of 2^-bits, rounded outward.
fn product(x: (&Integer, &Integer), y: (&Integer, &Integer), bits: u32) -> (Integer, Integer) {
    let lower = Integer::from(x.0 * y.0) >> bits;
    // -floor(-a) is the ceiling.
    let upper = -((-Integer::from(x.1 * y.1)) >> bits);
    (lower, upper)
}

/// Encloses exp(-exponent) in units of 2^-bits, for exponents >= 0.
pub(super) fn fixed_exp(exponent: &Rational, bits: u32) -> (Integer, Integer) {
    // exp turns the relative rounding error of the exponent into an absolute one, so the exponent gets additional bits, as many as
    // its integer part has.
    let size = libm::log2(exponent.to_f64()).max(0.0) as u32;
    fixed_ends(&Enclosure::rational(&Rational::from(-exponent), bits + size + 8).exp(), bits)
}

/// The ends of an enclosure of a number in [0, 1] in units of 2^-bits, rounded outward. An end that is not finite becomes
/// the end of [0, 1].
fn fixed_ends(value: &Enclosure, bits: u32) -> (Integer, Integer) {
    // A shift is exact; the integer is rounded outward.
    let scaled =
        |end: &Float, round| Float::with_val(end.prec(), end << bits).to_integer_round(round).map(|(whole, _)| whole);
    let lower = scaled(value.lower(), Round::Down).unwrap_or_else(Integer::new);
    let upper = scaled(value.upper(), Round::Up).unwrap_or_else(|| Integer::from(1) << bits);
    (lower, upper)
}

#[cfg(test)]
mod tests {
    use super::super::DiscreteGaussian;
    use super::*;
    use crate::{loss::testing::law, numeric::rational::parse};

    fn end(value: &Integer, bits: u32) -> Rational {
        Rational::from((value.clone(), Integer::from(1) << bits))
    }

    #[test]
    fn tails_enclose_those_of_the_distribution() {
        for sigma2 in ["1e-6", "0.02", "0.3", "5", "456.62", "104/4099"] {
            let sigma2 = parse(sigma2).unwrap();
            let noise = DiscreteGaussian::new(sigma2.clone()).unwrap();
            let tails = FoldedLaw::of_law(&Law::DiscreteGaussian { sigma2 }).unwrap().tails(64);
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
        for law in [law("7.3"), law("discrete-laplace:1/7")] {
            let whole = FoldedLaw::of_law(&law).unwrap();
            let part = whole.coarsened(8);
            let exponent = |law: &FoldedLaw, m: u64| {
                Rational::from(&law.slope * m) + Rational::from(&law.curvature * (m * (m - 1))) / 2_u32
            };
            for m in 1..20 {
                assert_eq!(exponent(&part, m), exponent(&whole, 8 * m));
            }
        }
    }

    #[test]
    fn an_end_that_is_not_finite_is_an_end_of_the_unit_interval() {
        let ends = |lower: f64, upper: f64| {
            fixed_ends(&Enclosure::new(Float::with_val(53, lower), Float::with_val(53, upper)), 8)
        };
        assert_eq!(ends(0.25, 0.5), (Integer::from(64), Integer::from(128)));
        assert_eq!(ends(0.25, f64::INFINITY), (Integer::from(64), Integer::from(256)));
        assert_eq!(ends(f64::NAN, 0.5), (Integer::new(), Integer::from(256)));
    }

    #[test]
    fn continuous_noise_is_refused() {
        let law = law("gaussian:5");
        assert!(FoldedLaw::of_law(&law).unwrap_err().to_string().contains("continuous"));
    }
}
