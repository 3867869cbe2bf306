//! The expected deviation of a simulated percentage: approximations in doubles, which do not affect verdicts.

use rug::Rational;

use crate::{
    error::{Error, Result},
    noise::{DiscreteGaussian, published_error::absolute_error},
    numeric::Enclosure,
};

const DIGITS: u32 = 20;

/// The number of draws of each of two noises at which one standard deviation of the simulated reduction equals the
/// error of a printed percentage. The reduction is 1 minus the ratio of mean errors, squared or absolute.
///
/// By the delta method the variance of the ratio r of two means over N draws is r^2 (v + v') / N, with v the squared
/// coefficient of variation of an error: E X^4 / (E X^2)^2 - 1 for squares, E X^2 / (E |X|)^2 - 1 for absolute values.
pub(super) fn draws_of_deviation(
    noises: [&DiscreteGaussian; 2],
    printed: &Rational,
    absolute: bool,
) -> Result<Enclosure> {
    let error = |noise: &DiscreteGaussian| match absolute {
        true => absolute_error(noise, DIGITS).approximate(),
        false => noise.variance(DIGITS).approximate(),
    };
    let spread = |noise: &DiscreteGaussian| match absolute {
        true => noise.variance(DIGITS).approximate() / error(noise).powi(2) - 1.0,
        false => fourth_moment_approx(noise) / error(noise).powi(2) - 1.0,
    };
    let [own, less] = noises;
    let ratio = error(less) / error(own);
    let off = (1.0 - printed.to_f64() / 100.0) - ratio;
    let draws = ratio.powi(2) * (spread(own) + spread(less)) / off.powi(2);
    if !draws.is_finite() {
        return Err(Error::unsuitable(format!(
            "the printed percentage {printed} is the expected one: no number of draws is implied"
        )));
    }
    Ok(Enclosure::double(draws.round(), 53))
}

/// E X^4 in doubles, over all x with a mass that is not negligible.
fn fourth_moment_approx(noise: &DiscreteGaussian) -> f64 {
    let reach = (12.0 * noise.variance(DIGITS).approximate().sqrt()).ceil() as i64 + 2;
    (1..=reach).map(|x| 2.0 * (x as f64).powi(4) * noise.mass(x, DIGITS).approximate()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For wide noise the coefficients of variation are those of a Gaussian: 2 and pi / 2 - 1.
    #[test]
    fn draws_are_those_of_a_gaussian() {
        let noise = |sigma2: u32| DiscreteGaussian::new(Rational::from(sigma2)).unwrap();
        let (own, less) = (noise(400), noise(300));
        let printed = Rational::from(24);
        let squared = draws_of_deviation([&own, &less], &printed, false).unwrap().approximate();
        assert!((squared - (0.75_f64.powi(2) * 4.0 / 0.01_f64.powi(2)).round()).abs() < 3.0, "{squared}");
        let off = 0.76 - 0.75_f64.sqrt();
        let by_hand = 0.75 * (std::f64::consts::PI - 2.0) / off.powi(2);
        let absolute = draws_of_deviation([&own, &less], &printed, true).unwrap().approximate();
        assert!((absolute - by_hand).abs() < 1.0, "{absolute} {by_hand}");
    }
}
