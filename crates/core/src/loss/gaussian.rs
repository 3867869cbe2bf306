//! Continuous Gaussian noise, in closed form: its hockey stick and its trade-off function.

use rug::{Float, Rational};

use crate::{
    error::Result,
    numeric::{
        Enclosure, precision,
        root::{Decreasing, decreasing_root},
    },
};

/// The largest precision in bits.
const MOST_BITS: u32 = 100_000;

/// Encloses Phi(-epsilon / mu + mu / 2) - exp(epsilon) Phi(-epsilon / mu - mu / 2) with mu = sqrt(2 rho), to a relative width
/// of 10^-digits: the privacy profile of any composition of continuous Gaussian noise that spends rho (Dong, Roth & Su 2022,
/// Corollary 2.13). With Phi(-x) = erfc(x / sqrt(2)) / 2 the arguments are (epsilon -+ rho) / (2 sqrt(rho)).
///
/// Wider if that takes more than 10^5 bits, or if the answer is below the smallest number of the floating-point arithmetic.
pub(crate) fn hockey_stick(rho: &Rational, epsilon: &Rational, digits: u32) -> Enclosure {
    let mut bits = precision::bits(digits, 32 + 64);
    loop {
        let real = |x: &Rational| Enclosure::rational(x, bits);
        let width = real(&Rational::from(rho * 4_u32)).sqrt();
        let less = Rational::from(epsilon - rho);
        let left = real(&less).div(&width).erfc();
        let far = real(&Rational::from(epsilon + rho)).div(&width);
        // The squares of the arguments differ by epsilon, so that exp(epsilon) erfc(far) is exp(-near^2) times the scaled
        // function: far out neither factor of the first form is a floating-point number.
        let right = match scaled_erfc(&far, bits) {
            Some(scaled) => {
                real(&-(Rational::from(less.square_ref()) / Rational::from(rho * 4_u32))).exp().mul(&scaled)
            }
            None => real(epsilon).exp().mul(&far.erfc()),
        };
        let delta = left.sub(&right).div(&Enclosure::double(2.0, bits)).clamp(0.0, 1.0);
        // No precision helps against an underflow.
        if delta.is_tight(digits) || *left.lower() == 0 || bits >= MOST_BITS {
            return delta;
        }
        bits *= 2;
    }
}

/// Encloses exp(x^2) erfc(x) far out, where its asymptotic series gives all bits; `None` nearer.
///
/// The series sum over k of (-1)^k (2 k - 1)!! / (2 x^2)^k, over x sqrt(pi), envelops its limit: the truth lies between any two
/// consecutive partial sums (Abramowitz & Stegun 7.1.23 and 7.1.24).
fn scaled_erfc(x: &Enclosure, bits: u32) -> Option<Enclosure> {
    // From here on the least term, near k = x^2, is far below 2^-bits.
    if *x.lower() < 1000 || Float::with_val(64, x.lower().square_ref()) < bits {
        return None;
    }
    let real = |value: i64| Enclosure::rational(&Rational::from(value), bits);
    let ratio = real(1).div(&x.mul(x).mul(&real(2)));
    let (mut term, mut sum) = (real(1), real(1));
    for k in 1.. {
        term = term.mul(&ratio).mul(&real(1 - 2 * k));
        let next = sum.add(&term);
        if next.hull(&sum).is_tight(bits / 3) || k >= i64::from(bits) {
            return Some(next.hull(&sum).div(&x.mul(&Enclosure::pi(bits).sqrt())));
        }
        sum = next;
    }
    None
}

/// Encloses Phi(Phi^-1(1 - alpha) - mu), mu = sqrt(2 rho), to a relative width of 10^-digits: the trade-off function of any
/// composition of continuous Gaussian noise that spends rho, for 0 < alpha < 1 (Dong, Roth & Su 2022, Definition 2.6).
///
/// With erfc(u) = 2 alpha it is erfc(sqrt(rho) - u) / 2. Wider if that takes more than 10^5 bits, or if the answer is below the smallest number of
/// the floating-point arithmetic.
pub(crate) fn tradeoff(rho: &Rational, alpha: &Rational, digits: u32) -> Result<Enclosure> {
    // erfc(-v) = 2 - erfc(v): the smaller of the two tails is inverted.
    let mirrored = Rational::from(alpha * 2_u32) > 1;
    let tail = if mirrored { Rational::from(1 - alpha) } else { alpha.clone() } * 2_u32;
    let mut asked = digits + 3;
    loop {
        let bits = precision::bits(asked, 64);
        let distance =
            if tail == 1 { Enclosure::rational(&Rational::new(), bits) } else { inverse_erfc(&tail, asked)? };
        let shift = Enclosure::rational(rho, bits).sqrt();
        let at = if mirrored { shift.add(&distance) } else { shift.sub(&distance) };
        let beta = at.erfc().div(&Enclosure::double(2.0, bits)).clamp(0.0, 1.0);
        if beta.is_tight(digits) || *beta.upper() < 1e-300 && *beta.lower() == 0 || bits >= MOST_BITS {
            return Ok(beta);
        }
        asked *= 2;
    }
}

/// Encloses the v >= 0 with erfc(v) = tail, for a tail from 0 to 1, to a relative width of about 10^-digits.
fn inverse_erfc(tail: &Rational, digits: u32) -> Result<Enclosure> {
    let enclose = |v: &Rational, digits| {
        let bits = precision::bits(digits, 64);
        // The logarithm of erfc has a slope of about 2 v: the argument takes as many bits more.
        Ok(Enclosure::rational(v, bits + 64).erfc())
    };
    let ln_approx = |v: &Rational| Ok(enclose(v, 17)?.ln().approximate());
    // erfc(v) <= exp(-v^2)
    let ceiling = Enclosure::rational(tail, 64).ln().negate().sqrt().upper().to_f64().next_up();
    Ok(decreasing_root(&Decreasing { ln_approx, enclose }, tail, ceiling, digits)?.value)
}

/// Its logarithm in doubles, an approximation without proof; minus infinity where it underflows.
pub(crate) fn ln_hockey_stick_approx(rho: &Rational, epsilon: &Rational) -> f64 {
    const BITS: u32 = 64;
    let width = Float::with_val(BITS, rho * Rational::from(4)).sqrt();
    let argument = |top: Rational| Float::with_val(BITS, top) / &width;
    let left = argument(Rational::from(epsilon - rho)).erfc();
    let right = Float::with_val(BITS, epsilon).exp() * argument(Rational::from(epsilon + rho)).erfc();
    let difference = Float::with_val(BITS, &left - &right);
    // Twenty bits may cancel; where more do, or where a factor is not a floating-point number, the enclosure serves.
    if right.is_finite() && difference > left * 1e-6 && difference.is_normal() {
        return (difference / 2_u32).ln().to_f64();
    }
    let value = hockey_stick(rho, epsilon, 17);
    if *value.lower() > 0 { value.ln().approximate() } else { f64::NEG_INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{loss::testing::sum, numbers::number};

    #[test]
    fn the_closed_form_agrees_with_an_unbounded_contour() {
        for noise in ["gaussian:5x10", "gaussian:40/3x7", "gaussian:1000x3"] {
            let sum = sum(&[noise]);
            for epsilon in ["0", "0.01", "1", "9"] {
                let closed = hockey_stick(sum.rho(), &number(epsilon), 15);
                let contour = sum.evaluator().by_contour(&number(epsilon), 12).unwrap();
                assert!(
                    closed.is_tight(15) && closed.overlaps(&contour.value),
                    "{noise} {epsilon}: {closed} {contour:?}"
                );
            }
        }
    }

    #[test]
    fn tiny_and_huge_budgets_have_an_answer() {
        // delta(0) is about sqrt(rho / pi) for little rho: the total variation distance 2 Phi(mu / 2) - 1.
        let tiny = hockey_stick(&number("5e-19"), &number("0"), 20);
        assert!((tiny.approximate() / (5e-19_f64 / std::f64::consts::PI).sqrt() - 1.0).abs() < 1e-9, "{tiny}");
        assert!(hockey_stick(&number("5e-19"), &number("1e-9"), 20).is_tight(20));
        assert!(*hockey_stick(&number("1e6"), &number("1"), 12).lower() > 0.999);
    }

    /// Both forms of the far term where both serve, and the sum where only the scaled one does.
    #[test]
    fn far_out_the_series_is_the_function() {
        let x = Enclosure::rational(&number("1001/1"), 300);
        let direct = x.mul(&x).exp().mul(&x.erfc());
        let series = scaled_erfc(&x, 300).unwrap();
        assert!(series.overlaps(&direct) && series.is_tight(60), "{series} {direct}");
        assert!(scaled_erfc(&Enclosure::double(999.0, 64), 64).is_none());
        let far = hockey_stick(&number("1e12"), &number("1000006000000"), 15);
        // erfc(3) / 2 less exp(-9) / (2 sqrt(pi) 10^6)
        assert!(far.is_tight(15) && (far.approximate() / 1.1045e-5 - 1.0).abs() < 1e-3, "{far}");
    }

    /// f(f(alpha)) = alpha, and f against the profile: 1 - delta(eps) = f(alpha) + exp(eps) alpha at the tangent.
    #[test]
    fn the_tradeoff_function_is_its_own_inverse_and_dual_to_the_profile() {
        for (rho, alpha) in [("1/2", "1/2"), ("1/2", "0.975"), ("3", "1e-30"), ("1e-18", "1/2"), ("40", "0.3")] {
            let (rho, alpha) = (number(rho), number(alpha));
            let beta = tradeoff(&rho, &alpha, 20).unwrap();
            assert!(beta.is_tight(20), "{rho} {alpha} {beta}");
            for (end, above) in [(beta.lower(), true), (beta.upper(), false)] {
                let back = tradeoff(&rho, &end.to_rational().unwrap(), 25).unwrap();
                let holds = if above { *back.upper() >= alpha } else { *back.lower() <= alpha };
                assert!(holds, "{rho} {alpha} {back}");
            }
            for epsilon in ["0", "1/3", "2"] {
                let epsilon = number(epsilon);
                let line = |x: &Rational| Enclosure::rational(x, 200);
                let bound = line(&Rational::from(1))
                    .sub(&hockey_stick(&rho, &epsilon, 20))
                    .sub(&line(&epsilon).exp().mul(&line(&alpha)));
                assert!(bound.lower() <= beta.upper(), "{rho} {alpha} {epsilon}: {bound} {beta}");
            }
        }
        // Phi(Phi^-1(1/2) - 1) = Phi(-1)
        let known = tradeoff(&number("1/2"), &number("1/2"), 15).unwrap();
        assert!((known.approximate() - 0.158_655_253_931_457_05).abs() < 1e-15, "{known}");
    }

    #[test]
    fn underflow_is_below_every_delta() {
        let none = hockey_stick(&number("1e-18"), &number("3"), 12);
        assert!(*none.lower() == 0 && *none.upper() < 1e-300, "{none}");
    }
}
