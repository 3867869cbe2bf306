//! The law of a sum of n copies in closed form, equation (A.5) of Su, Su & Wang, and the total of Theorem A.8 as printed.
//!
//! Neither uses the contour integral: the tests compare it with Theorems A.7 and A.8 and with (A.6), which follow from these laws.
//!
//! # The sum of n copies
//!
//! Let S be the sum of n independent draws of N_Z(0, sigma2). With x_i = z + v_i and sum v_i = k, the squares of an
//! outcome with sum y = n z + k add up to y^2 / n - k^2 / n + sum v_i^2, so
//!
//! `P[S = y]` = c_{n,k} exp(-y^2 / (2 n sigma2)) for every y in n Z + k,
//!
//! with n coefficients, c_{n,k} = c_{n,n-k}. This is (A.5) with a corrected exponent: the paper's text has y^2 / (2
//! sigma2), and coefficients without the normalizing constant. Theorem A.8 is n = 2.

use rug::Rational;

use crate::{
    error::{Error, Result},
    noise::shifted_gaussian::shifted_sum,
    numeric::{Enclosure, precision, rational},
};

/// The total of Theorem A.8's masses with the coefficients as printed, c_{mu, sqrt(2) sigma} / c_{0, sigma}^2 where
/// c_{mu, w} = sum over i of exp(-(i - mu)^2 / w^2). The total of a probability law is 1.
pub fn two_fold_total_as_printed(sigma2: &Rational, digits: u32) -> Result<Enclosure> {
    let narrow = Rational::from(sigma2 / 2_u32);
    let (zero, half) = (Rational::new(), Rational::from((1, 2)));
    let below = shifted_sum(&narrow, &zero, digits + 2)?;
    let even = shifted_sum(sigma2, &zero, digits + 2)?.mul(&below);
    let odd = shifted_sum(sigma2, &half, digits + 2)?.mul(&shifted_sum(&narrow, &half, digits + 2)?);
    Ok(even.add(&odd).div(&below.mul(&below)))
}

/// The law of the sum of n independent copies of N_Z(0, sigma2), by its n coefficients: equation (A.5).
///
/// ```
/// use dp_assay::{replication::closed_forms::SumOfCopies, numeric::rational::parse};
/// let sum = SumOfCopies::new(parse("5")?, 10, 20)?;
/// // `P[S = 20]` / `P[S = 0]` = exp(-20^2 / (2 x 10 x 5)) exactly, since 20 is a multiple of 10.
/// let ratio = sum.mass(20).div(&sum.mass(0));
/// assert!((ratio.approximate() - (-4.0_f64).exp()).abs() < 1e-15);
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SumOfCopies {
    sigma2: Rational,
    copies: u64,
    /// c_{n,k} for 0 <= k <= n / 2.
    coefficients: Vec<Enclosure>,
    bits: u32,
}

/// Limits on the number of copies and on the variance proxy: the coefficients are sums over the integers that carry
/// mass.
const MOST_COPIES: u64 = 1000;
const MOST_SIGMA2: u32 = 10_000;

impl SumOfCopies {
    /// The sum of 1 to 1000 copies for sigma2 from 0.01 to 10000, every coefficient to a relative width of about
    /// 10^-digits.
    pub fn new(sigma2: Rational, copies: u64, digits: u32) -> Result<Self> {
        if sigma2 < Rational::from((1, 100)) || sigma2 > MOST_SIGMA2 {
            let expected = "a variance proxy from 0.01 to 10000 for the coefficients of a sum";
            return Err(Error::out_of_range("sigma2", rational::display(&sigma2), expected));
        }
        if !(1..=MOST_COPIES).contains(&copies) {
            return Err(Error::out_of_range("copies", copies, "1 to 1000 copies"));
        }
        // The doublings below lose a few bits each.
        let bits = precision::bits(digits, 64);
        let normaliser = shifted_sum(&sigma2, &Rational::new(), digits + 10)?;
        let mut sum = SumOfCopies { sigma2, copies: 1, coefficients: vec![normaliser.recip()], bits };
        let single = sum.clone();
        // From the second highest bit of the number down: double, and add one copy if the bit is set.
        for bit in (0..copies.ilog2()).rev() {
            sum = sum.plus(&sum);
            if copies >> bit & 1 == 1 {
                sum = sum.plus(&single);
            }
        }
        Ok(sum)
    }

    /// The law of the sum of both: `P[S + R = k]` = sum over x of `P[S = k - x]` `P[R = x]`.
    fn plus(&self, other: &Self) -> Self {
        let copies = self.copies + other.copies;
        let (sigma2, bits) = (&self.sigma2, self.bits);
        // Truncation error: P[|R| > reach] <= 2 exp(-reach^2 / (2 m sigma2)), since R of m copies is sub-Gaussian; the
        // least mass needed is about exp(-copies / (8 sigma2)) P[S + R = 0].
        let exponent = f64::from(bits) * std::f64::consts::LN_2 + copies as f64 / (8.0 * sigma2.to_f64()) + 30.0;
        let reach = (2.0 * other.copies as f64 * sigma2.to_f64() * exponent).sqrt().ceil() as i64;
        let beyond = other.gaussian(reach).mul(&Enclosure::double(2.0, bits));
        let (low, high) = (-(copies as i64 / 2) - reach, copies as i64 / 2 + reach);
        let own: Vec<Enclosure> = (low..=high).map(|y| self.mass(y)).collect();
        let added: Vec<Enclosure> = (-reach..=reach).map(|x| other.mass(x)).collect();
        let coefficients = (0..=copies as i64 / 2)
            .map(|k| {
                let products = added.iter().zip(-reach..).map(|(mass, x)| mass.mul(&own[(k - x - low) as usize]));
                let sum = products.fold(Enclosure::double(0.0, bits).hull(&beyond), |sum, product| sum.add(&product));
                // c_{n,k} = P[S = k] exp(k^2 / (2 n sigma2))
                let square = Rational::from(k).square() / (Rational::from(sigma2 * 2_u32) * copies);
                sum.mul(&self.enclose(&square).exp())
            })
            .collect();
        SumOfCopies { sigma2: sigma2.clone(), copies, coefficients, bits }
    }

    /// c_{n,k}, for the residue class of k modulo n.
    pub fn coefficient(&self, k: i64) -> &Enclosure {
        let n = self.copies as i64;
        let k = k.rem_euclid(n);
        &self.coefficients[k.min(n - k) as usize]
    }

    /// An enclosure of an exact exponent, with as many extra bits as exp loses to its size.
    fn enclose(&self, exponent: &Rational) -> Enclosure {
        let size = libm::log2(exponent.to_f64().abs()).max(0.0) as u32;
        Enclosure::rational(exponent, self.bits + size)
    }

    /// exp(-y^2 / (2 n sigma2)): also an upper bound on `P[S >= y]` for y >= 0.
    fn gaussian(&self, y: i64) -> Enclosure {
        self.enclose(&(-Rational::from(y).square() / (Rational::from(&self.sigma2 * 2_u32) * self.copies))).exp()
    }

    /// `P[S = y]`.
    pub fn mass(&self, y: i64) -> Enclosure {
        self.coefficient(y).mul(&self.gaussian(y))
    }

    /// `P[S > t]`, term by term.
    pub fn above(&self, t: i64) -> Enclosure {
        // P[S > t] = 1 - P[S > -t - 1]; the complement avoids cancellation.
        if t < 0 {
            return Enclosure::double(1.0, self.bits).sub(&self.above(-t - 1));
        }
        let first = self.gaussian(t + 1);
        let mut sum = Enclosure::double(0.0, self.bits);
        for y in t + 1.. {
            sum = sum.add(&self.mass(y));
            // The truncation error is at most exp(-(y + 1)^2 / (2 n sigma2)).
            let rest = self.gaussian(y + 1);
            if rest.upper().get_exp() < first.lower().get_exp().map(|e| e - self.bits as i32) {
                return sum.add(&Enclosure::double(0.0, self.bits).hull(&rest));
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        account::{Account, Composition, Counts, Epsilon},
        noise::DiscreteGaussian,
        numbers::number,
    };

    /// Theorem A.7: the trade-off function of N_Z(0, sigma2) against N_Z(shift, sigma2) at 0 < alpha < 1, to a relative
    /// width of about 10^-digits away from its knots.
    ///
    /// With t the smallest integer such that `P[X <= t]` >= 1 - alpha, the best test rejects above t, and at t with
    /// probability c = (alpha - `P[X > t]`) / `P[X = t]`: f(alpha) = `P[X < t - shift]` + (1 - c) `P[X = t - shift]`.
    fn single_tradeoff(noise: &DiscreteGaussian, shift: u64, alpha: &Rational, digits: u32) -> Result<Enclosure> {
        let t = noise.quantile(&Rational::from(1 - alpha))?;
        let moved = t - offset(shift)?;
        let bits = precision::bits(digits, 32);
        let rejected = Enclosure::rational(alpha, bits).sub(&noise.survival(t + 1, digits)?);
        let share = rejected.div(&noise.mass(t, digits)).clamp(0.0, 1.0);
        let rest = Enclosure::double(1.0, bits).sub(&share).clamp(0.0, 1.0);
        Ok(noise.cdf(moved - 1, digits)?.add(&rest.mul(&noise.mass(moved, digits))))
    }

    /// The privacy profile of one count (the display after Theorem A.7; Canonne, Kamath & Steinke, Theorem 7):
    /// `P[X > epsilon sigma2 / shift - shift / 2]` - exp(epsilon) `P[X > epsilon sigma2 / shift + shift / 2]`, to a relative
    /// width of 10^-digits.
    fn single_delta(noise: &DiscreteGaussian, shift: u64, epsilon: &Rational, digits: u32) -> Result<Enclosure> {
        Epsilon::try_from(epsilon)?;
        let middle = Rational::from(epsilon * noise.sigma2()) / offset(shift)?;
        let half = Rational::from((shift, 2));
        let (first, second) = (next_integer(&Rational::from(&middle - &half))?, next_integer(&(middle + half))?);
        tightened(digits, |digits| {
            let exp = Enclosure::rational(epsilon, precision::bits(digits, 64)).exp();
            Ok(noise.survival(first, digits)?.sub(&exp.mul(&noise.survival(second, digits)?)))
        })
    }

    /// Theorem A.8's coefficients of exp(-y^2 / (4 sigma2)) for even and odd y, to a relative width of about 10^-digits:
    /// sum over i of exp(-(i - mu)^2 / sigma2) for mu = 0 and 1/2, over (sum over i of exp(-i^2 / (2 sigma2)))^2. The
    /// paper's text exchanges the two widths, sigma and sqrt(2) sigma; see [`two_fold_total_as_printed`].
    fn two_fold_coefficients(sigma2: &Rational, digits: u32) -> Result<[Enclosure; 2]> {
        let normaliser = shifted_sum(sigma2, &Rational::new(), digits + 2)?;
        let square = normaliser.mul(&normaliser);
        let narrow = Rational::from(sigma2 / 2_u32);
        let even = shifted_sum(&narrow, &Rational::new(), digits + 2)?.div(&square);
        let odd = shifted_sum(&narrow, &Rational::from((1, 2)), digits + 2)?.div(&square);
        Ok([even, odd])
    }

    impl SumOfCopies {
        /// (A.5) and (A.6): the errors alpha = `P[S > t]` and beta = `P[S <= t - n shift]` of the test that rejects for
        /// sums above t, if every copy moves by `shift`.
        fn errors(&self, t: i64, shift: u64) -> Result<(Enclosure, Enclosure)> {
            let moved = t - offset(shift.saturating_mul(self.copies))?;
            // P[S <= u] = P[S >= -u]
            Ok((self.above(t), self.above(-moved - 1)))
        }

        /// The privacy profile 1 + max over t of (-exp(epsilon) alpha(t) - beta(t)). The maximum is at the largest t with a
        /// likelihood ratio of at most exp(epsilon): t = floor(epsilon sigma2 / shift + n shift / 2) (Theorem A.8 and
        /// Proposition A.10). The width is about 10^-(digits - 8) relative to the terms.
        fn delta(&self, epsilon: &Rational, shift: u64) -> Result<Enclosure> {
            Epsilon::try_from(epsilon)?;
            let middle = Rational::from(epsilon * &self.sigma2) / offset(shift)?;
            let half = Rational::from((shift, 2)) * self.copies;
            let (first, second) = (next_integer(&Rational::from(&middle - &half))?, next_integer(&(middle + half))?);
            let exp = self.enclose(epsilon).exp();
            Ok(self.above(first - 1).sub(&exp.mul(&self.above(second - 1))).clamp(0.0, 1.0))
        }
    }

    fn offset(shift: u64) -> Result<i64> {
        i64::try_from(shift)
            .ok()
            .filter(|shift| (1..=1 << 40).contains(shift))
            .ok_or_else(|| Error::out_of_range("shift", shift, "an integer change from 1 to 2^40"))
    }

    /// The smallest integer above x.
    fn next_integer(x: &Rational) -> Result<i64> {
        let next = x.clone().floor().into_numer_denom().0 + 1_u32;
        next.to_i64()
            .filter(|next| next.abs() < 1 << 50)
            .ok_or_else(|| Error::out_of_range("a threshold of the noise", next, "within 2^50"))
    }

    /// A difference, recomputed with more digits until its relative width is 10^-digits.
    fn tightened(digits: u32, value: impl Fn(u32) -> Result<Enclosure>) -> Result<Enclosure> {
        let mut asked = digits + 4;
        loop {
            let value = value(asked)?.clamp(0.0, 1.0);
            if value.is_tight(digits) || asked > 20 * digits + 2000 {
                return Ok(value);
            }
            asked *= 2;
        }
    }

    fn composition(sigma2: &Rational, count: u64, shift: u64) -> Composition {
        Composition::new([Counts::discrete_gaussian(sigma2.clone(), count, shift).unwrap()]).unwrap()
    }

    #[test]
    fn theorem_a7_is_the_trade_off_function_of_one_count() {
        for (sigma2, shift) in [("0.4", 1), ("5", 1), ("5", 3), ("68.49", 2)] {
            let noise = DiscreteGaussian::new(number(sigma2)).unwrap();
            let one = composition(&number(sigma2), 1, shift);
            for alpha in ["1e-9", "0.001", "0.05", "1/3", "0.5", "0.9"] {
                let alpha = number(alpha);
                let (closed, contour) = (single_tradeoff(&noise, shift, &alpha, 25).unwrap(), one.tradeoff(&alpha, 20));
                assert!(closed.overlaps(&contour.unwrap().value) && closed.is_tight(12), "{sigma2} {shift} {alpha}");
            }
            for epsilon in ["0", "0.3", "2", "7"] {
                let epsilon = number(epsilon);
                let closed = single_delta(&noise, shift, &epsilon, 20).unwrap();
                let contour = one.delta(&epsilon, 20).unwrap().value;
                assert!(closed.overlaps(&contour) && closed.is_tight(20), "{sigma2} {shift} {epsilon}");
            }
        }
    }

    #[test]
    fn theorem_a8_is_the_law_of_the_sum_of_two() {
        for sigma2 in ["0.3", "1", "5", "25"] {
            let sigma2 = number(sigma2);
            let sum = SumOfCopies::new(sigma2.clone(), 2, 25).unwrap();
            let [even, odd] = two_fold_coefficients(&sigma2, 25).unwrap();
            for (closed, convolved) in [(&even, sum.coefficient(0)), (&odd, sum.coefficient(1))] {
                assert!(closed.overlaps(convolved) && closed.is_tight(24) && convolved.is_tight(24), "{sigma2}");
            }
            // c_0 and c_1/2 differ (the remark after Theorem A.8), relatively by about 4 exp(-pi^2 sigma2).
            let far = SumOfCopies::new(sigma2.clone(), 2, 120).unwrap();
            assert!(far.coefficient(0).lower() > far.coefficient(1).upper(), "{sigma2}");
            // As printed the masses do not sum to 1.
            assert!(*two_fold_total_as_printed(&sigma2, 20).unwrap().lower() > 2, "{sigma2}");
        }
    }

    #[test]
    fn sums_of_copies_are_laws_and_agree_with_the_contour() {
        for (sigma2, copies, shift) in [("0.2", 5, 1), ("1", 3, 2), ("5", 10, 1), ("2.5", 7, 1), ("16", 100, 1)] {
            let sum = SumOfCopies::new(number(sigma2), copies, 30).unwrap();
            let total = sum.mass(0).add(&sum.above(0).mul(&Enclosure::double(2.0, 100)));
            assert!(total.contains(&Rational::from(1)) && total.is_tight(25), "{sigma2} {copies}");
            let both = composition(&number(sigma2), copies, shift);
            for epsilon in ["0.1", "1", "4"] {
                let epsilon = number(epsilon);
                let (closed, contour) = (sum.delta(&epsilon, shift).unwrap(), both.delta(&epsilon, 15).unwrap().value);
                assert!(closed.overlaps(&contour), "{sigma2} {copies} {epsilon}: {closed:?} {contour:?}");
            }
            // The knots of Section A.7: a sum of t is a loss of (shift t - n shift^2 / 2) / sigma2 under the null.
            for t in [-3_i64, 0, 5, 20] {
                let loss = (Rational::from(t) * shift - Rational::from((copies * shift * shift, 2))) / number(sigma2);
                let knot = both.knot(&loss, 15).unwrap();
                let (alpha, beta) = sum.errors(t, shift).unwrap();
                assert!(alpha.overlaps(&knot.alpha) && beta.overlaps(&knot.beta), "{sigma2} {copies} {t}");
                if shift == 1 {
                    let again = both.knot_at(&(Rational::from(t) / number(sigma2)), 15).unwrap();
                    assert!(again.alpha.overlaps(&alpha) && again.beta.overlaps(&beta), "{sigma2} {copies} {t}");
                }
            }
        }
    }

    #[test]
    fn the_maximum_over_tests_is_at_the_likelihood_ratio() {
        let sum = SumOfCopies::new(number("5"), 2, 30).unwrap();
        let epsilon = number("0.7");
        let delta = sum.delta(&epsilon, 1).unwrap();
        let exp = Enclosure::rational(&epsilon, 120).exp();
        for t in -20..40 {
            let (alpha, beta) = sum.errors(t, 1).unwrap();
            let value = Enclosure::double(1.0, 120).sub(&exp.mul(&alpha)).sub(&beta);
            assert!(value.lower() <= delta.upper(), "{t}");
        }
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        assert!(SumOfCopies::new(number("0.001"), 2, 10).is_err());
        assert!(SumOfCopies::new(number("5"), 0, 10).is_err());
        let noise = DiscreteGaussian::new(number("5")).unwrap();
        assert!(single_tradeoff(&noise, 0, &number("0.5"), 10).is_err());
        assert!(single_tradeoff(&noise, 1, &number("1"), 10).is_err());
        assert!(single_delta(&noise, u64::MAX, &number("1"), 10).is_err());
    }
}
