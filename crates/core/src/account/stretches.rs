//! Less noise that is more private.
//!
//! The losses of discrete Gaussian noise lie on a lattice that moves with its variance, so at one epsilon delta does not always fall as the noise grows. With n counts that a
//! record changes by s each, the loss is s (2 T - n s) / (2 sigma2) for the sum T of their noise: it exceeds epsilon from T = sigma2 epsilon / s + n s / 2 on. Where
//! sigma2 grows, delta falls until this is a whole number, and may then rise for a stretch. So where the least noise is sought, the ends of the falls below a noise that
//! was found are tried as well.

use rug::{Integer, Rational, ops::Pow};

use super::{
    calibrate::{Least, Multiples},
    composition::Composition,
    profile::Account,
};
use crate::{error::Result, law::Law, loss::parameter::Delta, numeric::Enclosure};

/// With more ends of falls below a noise the search is left out: it would take long, and where losses are that dense delta hardly rises.
const MOST_ENDS: u32 = 4096;

/// A number of equal counts with discrete Gaussian noise, each changed by the same.
struct Equal {
    sigma2: Rational,
    count: u64,
    shift: u64,
}

impl Equal {
    fn of_composition(composition: &Composition) -> Option<Self> {
        let mut equal: Option<Equal> = None;
        for counts in composition.counts() {
            // The worst change by at most the shift is that by all of it, as this noise is log-concave.
            let Law::DiscreteGaussian { sigma2 } = &counts.law else { return None };
            match &mut equal {
                None => equal = Some(Equal { sigma2: sigma2.clone(), count: counts.count, shift: counts.shift }),
                Some(one) if (&one.sigma2, one.shift) == (sigma2, counts.shift) => one.count += counts.count,
                Some(_) => return None,
            }
        }
        equal
    }

    /// The variances below that of these counts at which delta(epsilon) ends to fall, sigma2 = s (T - n s / 2) / epsilon for whole numbers T, in increasing
    /// order; `None` where there are too many.
    fn ends_of_falls(&self, epsilon: &Rational) -> Option<Vec<Rational>> {
        if *epsilon <= 0 {
            return None;
        }
        let (shift, half) = (Rational::from(self.shift), Rational::from((Integer::from(self.count) * self.shift, 2)));
        let most = Rational::from(&self.sigma2 * epsilon) / &shift + &half;
        let [first, last] = [Rational::from(&half + 1_u32), most].map(|bound| bound.floor().into_numer_denom().0);
        let ends = Integer::from(&last - &first).to_u32().filter(|ends| *ends <= MOST_ENDS);
        Some((0..=ends?).map(|k| (Rational::from(Integer::from(&first + k)) - &half) * &shift / epsilon).collect())
    }
}

/// A point of a grid below another one at which equal counts have delta(epsilon) <= delta, the least that was found; `None` if the counts are not equal, or none was found.
/// The variances of `family` are in proportion to the points of the grid.
///
/// As in [`Multiples::least_where`], the value was found to hold and the one before it not to; that no smaller one holds is not proven. Errors are those of `family` and `holds`.
pub(super) fn below<A: Account>(
    point: &Rational,
    grid: &Multiples,
    family: impl Fn(&Rational) -> Result<A>,
    (epsilon, delta): (&Enclosure, &Delta),
    holds: impl Fn(&Rational) -> Result<bool>,
) -> Result<Option<Least>> {
    let top = point;
    let account = family(top)?;
    let Some(equal) = account.single().and_then(Equal::of_composition) else { return Ok(None) };
    let Some(epsilon) = epsilon.lower_rational() else { return Ok(None) };
    let Some(ends) = equal.ends_of_falls(&epsilon) else { return Ok(None) };
    let ln_delta = Enclosure::rational(delta, 100).ln().approximate();
    let scale = Integer::from(10).pow(grid.decimals);
    // The grid may begin inside of a stretch on which delta rises: then its first point is the best of the stretch.
    let ends = ends.into_iter().map(|end| Rational::from(top / &equal.sigma2) * end);
    for end in std::iter::once(grid.least.clone()).chain(ends) {
        let index = end * &scale;
        for index in [Rational::from(index.floor_ref()), Rational::from(index.ceil_ref())] {
            let point = index / &scale;
            if point < grid.least || point <= 0 || point >= *top {
                continue;
            }
            // In doubles, with room for their errors: only what is close is proven.
            let near = family(&point)?.evaluator().ln_hockey_stick_approx(&epsilon)?;
            if near <= ln_delta + 1e-6 && holds(&point)? {
                return grid.least_where(grid.guess_at(&point), holds);
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            Counts,
            promise::{Grid, Promise, calibrate},
        },
        *,
    };
    use crate::{loss::parameter::Epsilon, numeric::rational::parse};

    /// Every point of the grid below, by its own account.
    #[test]
    fn no_smaller_noise_of_the_grid_keeps_the_promise() {
        for (sigma2, count, shift, epsilon, delta, expected) in [
            ("30", 1, 1, "6", "1e-6", "0.59"),
            ("5", 1, 1, "2", "0.024812", "0.75"),
            ("9", 1, 2, "8", "4.5e-12", "3"),
            ("5", 1, 1, "4", "7.2639e-9", "1.88"),
            ("40", 2, 1, "5", "1e-7", ""),
        ] {
            let composition =
                Composition::new([Counts::discrete_gaussian(parse(sigma2).unwrap(), count, shift).unwrap()]).unwrap();
            let (epsilon, delta) = (Epsilon::new(parse(epsilon).unwrap()).unwrap(), delta.parse::<Delta>().unwrap());
            let promise = Promise::Epsilon { delta: delta.clone(), epsilon: epsilon.clone() };
            let found = calibrate(&composition, &promise, Grid::sigma2(2)).unwrap();
            let value = found.factor * parse(sigma2).unwrap();
            let delta_of = |sigma2: Rational| {
                let counts = Counts::discrete_gaussian(sigma2, count, shift).unwrap();
                Composition::new([counts]).unwrap().delta(&epsilon, 12).unwrap().value
            };
            assert!(*delta_of(value.clone()).upper() <= *delta, "{sigma2}x{count}@{shift}");
            for hundredths in 10.. {
                let below = Rational::from((hundredths, 100));
                if below >= value {
                    break;
                }
                assert!(*delta_of(below).lower() > *delta, "{sigma2}x{count}@{shift}: {hundredths}");
            }
            if !expected.is_empty() {
                assert_eq!(value, parse(expected).unwrap());
            }
        }
    }
}
