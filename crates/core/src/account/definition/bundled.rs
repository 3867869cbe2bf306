//! Many different laws of noise on Poisson samples, by a few between which they lie.
//!
//! A step of more noise is one of less noise with more noise added to its output, under both hypotheses; and a step of a smaller rate is one of a larger rate
//! whose output is replaced, with some probability, by one that no record has entered. Either is data processing, so that delta(epsilon) falls and the trade-off
//! function rises as noise grows or the rate falls. Steps that are sorted into cells of rate and noise lie between the corners of their cells.

use rug::Rational;

use super::Definition;
use crate::{account::Counts, law::Law};

/// Up to this number of different laws each is listed by itself.
const MOST_APART: usize = 12;
/// The largest number of cells along the noise, and along the rate.
const CELLS_OF_NOISE: usize = 4;
const CELLS_OF_RATE: usize = 3;

/// The least, the largest, and geometric steps between them.
struct Edges(Vec<Rational>);

impl Edges {
    /// `None` without numbers.
    fn of_numbers(numbers: &[&Rational], cells: usize) -> Option<Self> {
        let (least, most) = (*numbers.iter().min()?, *numbers.iter().max()?);
        if least == most {
            return Some(Edges(vec![least.clone(), most.clone()]));
        }
        let ratio = Rational::from(most / least).to_f64();
        let between = (1..cells).map(|k| {
            let factor = libm::pow(ratio, k as f64 / cells as f64);
            let edge = Rational::from_f64(factor).map_or_else(|| least.clone(), |factor| factor * least);
            Ord::clamp(edge, least.clone(), most.clone())
        });
        Some(Edges([least.clone()].into_iter().chain(between).chain([most.clone()]).collect()))
    }

    /// The ends of the cell of a number.
    fn around(&self, x: &Rational) -> Option<[&Rational; 2]> {
        self.0.windows(2).find(|cell| cell[0] <= *x && *x <= cell[1]).map(|cell| [&cell[0], &cell[1]])
    }
}

fn rate_and_sigma2(counts: &Counts) -> Option<(&Rational, &Rational)> {
    match &counts.law {
        Law::SampledGaussian { rate, sigma2 } => Some((rate, sigma2)),
        _ => None,
    }
}

impl Definition {
    /// Where there are many laws of noise on samples: definitions of few laws, the first at least as private as this one and the second at most.
    pub(super) fn bundled(&self) -> Option<[Definition; 2]> {
        let laws: Vec<(&Rational, &Rational)> = self.counts.iter().filter_map(rate_and_sigma2).collect();
        if laws.len() <= MOST_APART {
            return None;
        }
        let (rates, sigmas): (Vec<&Rational>, Vec<&Rational>) = laws.into_iter().unzip();
        let (rates, sigmas) = (Edges::of_numbers(&rates, CELLS_OF_RATE)?, Edges::of_numbers(&sigmas, CELLS_OF_NOISE)?);
        let mut both = [false, true].map(|_| Definition { counts: Vec::new(), ..self.clone() });
        for counts in &self.counts {
            let Some((rate, sigma2)) = rate_and_sigma2(counts) else {
                both.iter_mut().for_each(|one| one.counts.push(counts.clone()));
                continue;
            };
            let ([rare, frequent], [little, much]) = (rates.around(rate)?, sigmas.around(sigma2)?);
            for (one, (rate, sigma2)) in both.iter_mut().zip([(rare, much), (frequent, little)]) {
                one.add(Counts {
                    law: Law::SampledGaussian { rate: rate.clone(), sigma2: sigma2.clone() },
                    ..counts.clone()
                })?;
            }
        }
        Some(both)
    }

    /// Adds counts to equal ones.
    fn add(&mut self, counts: Counts) -> Option<()> {
        let same = |other: &&mut Counts| **other == Counts { count: other.count, ..counts.clone() };
        match self.counts.iter_mut().find(same) {
            Some(other) => other.count = other.count.checked_add(counts.count)?,
            None => self.counts.push(counts),
        }
        Some(())
    }
}
