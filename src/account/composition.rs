//! Compositions: which counts are published, with which noise, and by how much one person moves them.

use std::{fmt, str::FromStr};

use rug::Rational;

use crate::{
    error::{Error, Result},
    noise::check_sigma2,
    numeric::{
        rational,
        sum::{GaussianSum, Group},
    },
};

/// At most so many counts of one noise.
const MOST_COUNTS: u64 = 1_000_000_000_000;
/// At most so large a change of one count.
const MOST_SHIFT: u64 = 1_000_000;

/// `count` counts, each published with independent noise N_Z(0, sigma2) and changed by `shift` between neighbors.
///
/// Its text form is that of the command line: `SIGMA2[xCOUNT][@SHIFT]`, as in `5x10`, `500/73x10@2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The variance proxy of the noise.
    pub sigma2: Rational,
    /// How many counts there are.
    pub count: u64,
    /// By how much one count differs between neighboring data sets.
    pub shift: u64,
}

impl Counts {
    /// Counts with discrete Gaussian noise, checked: sigma2 from 10^-6 to 10^18, 1 to 10^12 counts, shifts from 1 to
    /// 10^6.
    pub fn discrete_gaussian(sigma2: Rational, count: u64, shift: u64) -> Result<Self> {
        check_sigma2(&sigma2)?;
        if !(1..=MOST_COUNTS).contains(&count) {
            return Err(Error::out_of_range("count", count, "1 to 10^12 counts"));
        }
        if !(1..=MOST_SHIFT).contains(&shift) {
            return Err(Error::out_of_range("shift", shift, "an integer change from 1 to 10^6"));
        }
        Ok(Counts { sigma2, count, shift })
    }
}

impl FromStr for Counts {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let whole = |part: &str, what: &str| {
            part.trim().parse::<u64>().map_err(|_| Error::Number {
                text: part.chars().take(40).collect(),
                why: format!("expected SIGMA2[xCOUNT][@SHIFT], such as 5x10@1, with a whole number for {what}"),
            })
        };
        let (rest, shift) = match text.split_once('@') {
            Some((rest, shift)) => (rest, whole(shift, "SHIFT")?),
            None => (text, 1),
        };
        let (sigma2, count) = match rest.split_once('x') {
            Some((sigma2, count)) => (sigma2, whole(count, "COUNT")?),
            None => (rest, 1),
        };
        Counts::discrete_gaussian(rational::parse(sigma2)?, count, shift)
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}x{}@{}", rational::display(&self.sigma2), self.count, self.shift)
    }
}

/// Independent mechanisms about the same person, composed: the pair of product laws that neighbors give.
///
/// The privacy loss L = ln dP/dQ of the pair is a [`GaussianSum`]; the pair is symmetric, so the order of the
/// neighbors does not matter.
///
/// ```
/// use dp_assay::{account::Composition, numeric::rational::parse};
/// // Ten counts with variance proxy 5: one geolevel of the 2020 Census, about.
/// let level = Composition::new(["5x10".parse()?])?;
/// let epsilon = level.epsilon(&parse("1e-11")?, 12)?;
/// assert!(epsilon.value.contains(&parse("10.124830934480989")?));
/// # Ok::<(), dp_assay::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Composition {
    counts: Vec<Counts>,
    loss: GaussianSum,
}

impl Composition {
    /// The composition of the given counts, of which there must be some.
    pub fn new(counts: impl IntoIterator<Item = Counts>) -> Result<Self> {
        let counts: Vec<Counts> = counts.into_iter().collect();
        let loss = GaussianSum::new((counts.iter()).map(|counts| Group {
            sigma2: counts.sigma2.clone(),
            shift: counts.shift,
            copies: counts.count,
        }))?;
        Ok(Composition { counts, loss })
    }

    /// What it is made of, as it was given.
    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// The law of the privacy loss ln dP/dQ under P.
    pub fn loss(&self) -> &GaussianSum {
        &self.loss
    }

    /// The rho of zero-concentrated differential privacy: sum of count shift^2 / (2 sigma2).
    pub fn rho(&self) -> &Rational {
        self.loss.rho()
    }

    /// Both together.
    pub fn compose(&self, other: &Self) -> Result<Self> {
        Composition::new(self.counts.iter().chain(&other.counts).cloned())
    }

    /// The same for groups of `size` people who leave or enter together: every shift times `size`.
    pub fn for_groups_of(&self, size: u64) -> Result<Self> {
        let counts: Result<Vec<Counts>> = (self.counts.iter())
            .map(|counts| {
                let shift = counts.shift.saturating_mul(size);
                Counts::discrete_gaussian(counts.sigma2.clone(), counts.count, shift)
            })
            .collect();
        Composition::new(counts?)
    }

    /// The same when a record is changed rather than added or removed: it leaves one cell and enters another, so
    /// every count is there twice.
    pub fn for_changed_records(&self) -> Result<Self> {
        self.compose(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_as_they_are_written() {
        for (text, shown) in
            [("5", "5x1@1"), ("5.00x10", "5x10@1"), ("500/73x10@2", "500/73x10@2"), ("1e2@3", "100x1@3")]
        {
            assert_eq!(text.parse::<Counts>().unwrap().to_string(), shown);
        }
        for text in [
            "",
            "x10",
            "5x",
            "5x1.5",
            "5x-1",
            "0x10",
            "5x0",
            "5@0",
            "-5",
            "NaN",
            "inf",
            "5x10@",
            "5x99999999999999999999",
        ] {
            assert!(text.parse::<Counts>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn groups_and_changed_records_scale_rho() {
        let one = Composition::new(["5x10".parse().unwrap()]).unwrap();
        assert_eq!(*one.rho(), 1);
        assert_eq!(*one.for_groups_of(3).unwrap().rho(), 9);
        assert_eq!(*one.for_changed_records().unwrap().rho(), 2);
        assert!(one.for_groups_of(u64::MAX).is_err());
        assert!(matches!(Composition::new([]), Err(Error::EmptyComposition)));
    }
}
