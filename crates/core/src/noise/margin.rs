//! The margin of error of one noisy count, from the law of its noise: the least m with P[|X| <= m] of at least a given confidence.

use std::collections::BTreeMap;

use rug::Rational;

use super::Distribution;
use crate::{
    error::{Error, Result},
    law::{Law, PerturbationTable, Shape},
    numeric::{Enclosure, normal, rational},
};

/// The margin of error of one count.
#[derive(Clone, Debug)]
pub enum Margin {
    /// Encloses the least m with P[|X| <= m] >= the confidence; for noise on the integers m is an integer, and both ends are m.
    Known(Enclosure),
    /// None follows from the law: the reason, as the end of a sentence.
    Unknown(&'static str),
}

const BITS: u32 = 128;

impl Margin {
    /// Its upper end as text, rounded up to this number of digits unless it is an integer; a dash where none is known.
    pub fn shown(&self, digits: usize) -> String {
        match self {
            Margin::Known(margin) => match margin.upper_rational().filter(|_| margin.lower() == margin.upper()) {
                Some(integer) => rational::display(&integer),
                None => margin.upper_text(digits),
            },
            Margin::Unknown(_) => "-".to_string(),
        }
    }

    /// That of a law, for 0 < confidence < 1. Of a perturbation table the largest over all true counts.
    pub fn of_law(law: &Law, confidence: &Rational) -> Result<Margin> {
        if *confidence <= 0 || *confidence >= 1 {
            return Err(Error::out_of_range("the confidence of a margin", rational::display(confidence), "0 < p < 1"));
        }
        let integer = |margin: i64| Margin::Known(Enclosure::rational(&Rational::from(margin), BITS));
        Ok(match law {
            // P[|X| <= m] = erf(m / sqrt(2 sigma2)): m is the quantile of the standard law times sqrt(sigma2).
            Law::Gaussian { sigma2 } => {
                Margin::Known(two_sided_normal(confidence)?.mul(&Enclosure::rational(sigma2, BITS).sqrt()))
            }
            // P[|X| > m] = exp(-m / scale).
            Law::Laplace { scale } => {
                let rest = Enclosure::rational(&Rational::from(1 - confidence), BITS);
                Margin::Known(rest.ln().negate().mul(&Enclosure::rational(scale, BITS)))
            }
            Law::Table(_) => match law.shape()? {
                Shape::Listed(rows) => integer(of_masses(rows.iter().map(|(x, mass)| (*x, mass)), confidence)),
                _ => Margin::Unknown("its masses are not listed"),
            },
            Law::Perturbation(table) => integer(of_table(table, confidence)),
            Law::DiscreteGaussian { .. }
            | Law::DiscreteLaplace { .. }
            | Law::TruncatedLaplace { .. }
            | Law::TruncatedGaussian { .. }
            | Law::Staircase { .. } => return of_symmetric(law, confidence),
            Law::SampledGaussian { .. } | Law::Sampled(_) => {
                Margin::Unknown("it is on sums over a sample, whose own error comes on top")
            }
            Law::RandomizedResponse { .. } => {
                Margin::Unknown("an answer is randomized, and the error of a count of answers depends on the true one")
            }
            Law::UnknownKey(_) => Margin::Unknown("a key whose noisy count is below the threshold is not published"),
            Law::Pair(_) | Law::Responses(_) | Law::Outcomes(_) => {
                Margin::Unknown("the probabilities of outcomes are given, and not an error of counts")
            }
            Law::BoundedRange { .. } | Law::Pure { .. } | Law::Approximate { .. } => {
                Margin::Unknown("a guarantee is given, and not the noise")
            }
        })
    }
}

/// The margin of X with the same distribution as -X: P[|X| <= m] = 2 P[X <= m] - 1 is at least p if and only if P[X <= m] is at least (1 + p) / 2.
fn of_symmetric(law: &Law, confidence: &Rational) -> Result<Margin> {
    let quantile = Distribution::of_law(law)
        .and_then(|noise| noise.quantile(&Rational::from(&Rational::from(1 + confidence) / 2_u32)));
    match quantile {
        Ok(margin) => Ok(Margin::Known(Enclosure::rational(&Rational::from(margin), BITS))),
        Err(error) if error.is_fatal() => Err(error),
        Err(_) => Ok(Margin::Unknown("its parameter is out of the range in which quantiles are computed")),
    }
}

/// The least m with P[|X| <= m] >= p, of masses that add up to one.
fn of_masses<'m>(masses: impl Iterator<Item = (i64, &'m Rational)>, confidence: &Rational) -> i64 {
    let mut by_size: BTreeMap<u64, Rational> = BTreeMap::new();
    for (x, mass) in masses {
        *by_size.entry(x.unsigned_abs()).or_default() += mass;
    }
    let mut within = Rational::new();
    let mut margin = 0;
    for (size, mass) in by_size {
        (within, margin) = (within + mass, size);
        if within >= *confidence {
            break;
        }
    }
    i64::try_from(margin).unwrap_or(i64::MAX)
}

/// The largest over all rows of a perturbation table, whose noise is the published value less the true count.
fn of_table(table: &PerturbationTable, confidence: &Rational) -> i64 {
    let mut rows: BTreeMap<u64, Vec<(i64, &Rational)>> = BTreeMap::new();
    for (i, j, mass) in table.entries() {
        rows.entry(i).or_default().push((j as i64 - i as i64, mass));
    }
    rows.into_values().map(|row| of_masses(row.into_iter(), confidence)).max().unwrap_or(0)
}

/// Encloses the z with P[|Z| <= z] = p for the standard normal Z: erfc(z / sqrt(2)) falls with z, and is above 1 - p at the lower end and below it at
/// the upper one.
fn two_sided_normal(confidence: &Rational) -> Result<Enclosure> {
    let rest = Rational::from(1 - confidence);
    let near = normal::upper_quantile_approx(libm::log(rest.to_f64() / 2.0));
    let tail = |z: f64| {
        let half = Enclosure::rational(&Rational::from((1, 2)), BITS).sqrt();
        Enclosure::double(z, BITS).mul(&half).erfc()
    };
    let mut width = 1e-13 * near.abs().max(1e-3);
    // Doubled at most until the lower end is zero and the upper one far above every quantile.
    for _ in 0..64 {
        let (lower, upper) = ((near - width).max(0.0), near + width);
        let is_below = lower == 0.0 || *tail(lower).lower() > rest;
        if is_below && *tail(upper).upper() < rest {
            return Ok(Enclosure::double(lower, BITS).hull(&Enclosure::double(upper, BITS)));
        }
        width *= 2.0;
    }
    Err(Error::fault("no quantile of the normal law was found for a confidence"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::NoiseTable;
    use std::sync::Arc;

    fn margin(law: &Law) -> Enclosure {
        match Margin::of_law(law, &Rational::from((19, 20))).unwrap() {
            Margin::Known(margin) => margin,
            Margin::Unknown(why) => panic!("{why}"),
        }
    }

    #[test]
    fn continuous_margins_are_those_of_tables_of_quantiles() {
        // 1.959963984540054 is the quantile of the normal law at 97.5 %, ln 20 that of the exponential law at 95 %.
        let gaussian = margin(&Law::Gaussian { sigma2: Rational::from(4) });
        let of = |text: &str| rational::parse(text).unwrap();
        assert!(*gaussian.lower() < of("3.919927969080109") && *gaussian.upper() > of("3.919927969080107"));
        assert!(gaussian.upper().to_f64() - gaussian.lower().to_f64() < 1e-11);
        let laplace = margin(&Law::Laplace { scale: Rational::from(3) });
        assert!(*laplace.lower() < of("8.98719682066198") && *laplace.upper() > of("8.98719682066197"));
    }

    #[test]
    fn integer_margins_are_the_least_by_summing_masses() {
        for law in [
            Law::DiscreteGaussian { sigma2: Rational::from((29, 4)) },
            Law::DiscreteLaplace { epsilon: Rational::from((1, 3)) },
            Law::TruncatedLaplace { epsilon: Rational::from((1, 4)), bound: 9 },
            Law::TruncatedGaussian { sigma2: Rational::from(30), bound: 8 },
        ] {
            let found = margin(&law);
            let noise = Distribution::of_law(&law).unwrap();
            let within = |m: i64| (-m..=m).map(|x| noise.mass(x, 15).approximate()).sum::<f64>();
            let m = found.lower().to_f64() as i64;
            assert!(found.lower() == found.upper() && within(m) >= 0.95 && within(m - 1) < 0.95, "{law}: {m}");
        }
    }

    /// A table that is not symmetric: one-sided quantiles would miss its long side. -9 has mass 1/10, 0 has 8/10, 1 has 1/10.
    #[test]
    fn a_margin_counts_both_sides() {
        let rows = [(-9, (1, 10)), (0, (8, 10)), (1, (1, 10))].map(|(x, mass)| (x, Rational::from(mass)));
        let law = Law::Table(Arc::new(NoiseTable::new("t", rows).unwrap()));
        assert_eq!(margin(&law).lower().to_f64(), 9.0);
        let ninety = Margin::of_law(&law, &Rational::from((9, 10))).unwrap();
        assert!(matches!(ninety, Margin::Known(one) if *one.lower() == 1 && *one.upper() == 1));
        // Row 0 is exact, and row 1 goes to 0, 1 or 3: by at most 2 in all cases, by at most 1 in 19 of 20.
        let entry = |i, j, mass: (u32, u32)| (i, j, Rational::from(mass));
        let entries = [entry(0, 0, (1, 1)), entry(1, 0, (1, 4)), entry(1, 1, (7, 10)), entry(1, 3, (1, 20))];
        let law = Law::Perturbation(Arc::new(PerturbationTable::new("p", entries).unwrap()));
        assert_eq!(margin(&law).lower().to_f64(), 1.0);
        assert!(matches!(
            Margin::of_law(&Law::Pure { epsilon: Rational::from(1) }, &Rational::from((1, 2))),
            Ok(Margin::Unknown(_))
        ));
        assert!(Margin::of_law(&law, &Rational::from(1)).is_err());
    }
}
