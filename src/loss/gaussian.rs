//! The hockey stick of continuous Gaussian noise, in closed form.

use rug::Rational;

use crate::numeric::{Enclosure, precision};

/// Encloses Phi(-epsilon / mu + mu / 2) - exp(epsilon) Phi(-epsilon / mu - mu / 2) with mu = sqrt(2 rho), to a relative width
/// of 10^-digits: the privacy profile of any composition of continuous Gaussian noise that spends rho (Dong, Roth & Su 2022,
/// Corollary 2.13). With Phi(-x) = erfc(x / sqrt(2)) / 2 the arguments are (epsilon -+ rho) / (2 sqrt(rho)).
///
/// Wider if that takes more than 10^5 bits, or if the answer is below the least number that floating point holds.
pub(crate) fn hockey_stick(rho: &Rational, epsilon: &Rational, digits: u32) -> Enclosure {
    const MOST_BITS: u32 = 100_000;
    let mut bits = precision::bits(digits, 32 + 64);
    loop {
        let real = |x: &Rational| Enclosure::rational(x, bits);
        let width = real(&Rational::from(rho * 4_u32)).sqrt();
        let left = real(&Rational::from(epsilon - rho)).div(&width).erfc();
        let right = real(&Rational::from(epsilon + rho)).div(&width).erfc();
        let delta = left.sub(&real(epsilon).exp().mul(&right)).div(&Enclosure::double(2.0, bits)).clamp(0.0, 1.0);
        // No precision helps against an underflow.
        if delta.is_tight(digits) || *left.lower() == 0 || bits >= MOST_BITS {
            return delta;
        }
        bits *= 2;
    }
}

/// Its logarithm in doubles, an approximation without proof; minus infinity where it underflows.
pub(crate) fn ln_hockey_stick_approx(rho: &Rational, epsilon: &Rational) -> f64 {
    let value = hockey_stick(rho, epsilon, 17);
    if *value.lower() > 0 { value.ln().approximate() } else { f64::NEG_INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        loss::{
            law::{Group, Law},
            sum::LossSum,
        },
        numbers::number,
    };

    #[test]
    fn the_closed_form_is_the_contour_on_the_line() {
        for (sigma2, copies) in [("5", 10), ("40/3", 7), ("1000", 3)] {
            let law = Law::Gaussian { sigma2: number(sigma2) };
            let sum = LossSum::new([Group { law, shift: 1, copies }]).unwrap();
            for epsilon in ["0", "0.01", "1", "9"] {
                let closed = hockey_stick(sum.rho(), &number(epsilon), 15);
                let contour = sum.evaluator().by_contour(&number(epsilon), 12).unwrap();
                assert!(
                    closed.is_tight(15) && closed.overlaps(&contour.value),
                    "{sigma2} {epsilon}: {closed} {contour:?}"
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

    #[test]
    fn what_is_below_all_floating_point_numbers_is_below_every_delta() {
        let none = hockey_stick(&number("1e-18"), &number("3"), 12);
        assert!(*none.lower() == 0 && *none.upper() < 1e-300, "{none}");
    }
}
