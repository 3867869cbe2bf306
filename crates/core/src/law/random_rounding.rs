//! Random rounding: a count is published as one of the two multiples of a base around it, without bias.
//!
//! A count of residue r is published as the multiple above with probability r / base, and as the one below with the rest. Counts that are multiples stay. The rows of the
//! counts 0, ..., base - 1 are repeated for all larger counts, so that this is a perturbation table whose rows are all repeated. From a multiple to the next
//! count, the multiple above occurs with probability 1 / base, and never without the record: delta is at least 1 / base at every epsilon.

use rug::Rational;

use super::perturbation::PerturbationTable;
use crate::{
    error::{Error, Result},
    numeric::rational,
};

/// The largest base: each remainder has a pair of rows of its own, which an account compares.
const MOST_BASE: u64 = 100;

impl PerturbationTable {
    /// Random rounding to multiples of a base, without bias. An error unless the base is from 2 to 100.
    pub fn random_rounding(base: u64) -> Result<Self> {
        if !(2..=MOST_BASE).contains(&base) {
            return Err(Error::out_of_range("base", base, &format!("a whole number from 2 to {MOST_BASE}")));
        }
        let row = |r: u64| {
            let below = (r, 0, Rational::from((base - r, base)));
            let above = (r, base, Rational::from((r, base)));
            [Some(below), Some(above).filter(|(_, _, p)| *p > 0)].into_iter().flatten()
        };
        let name = format!("random rounding to base {}", rational::display(&Rational::from(base)));
        PerturbationTable::new(&name, (0..base).flat_map(row))?.with_period(base).map(|table| table.of_base(base))
    }
}
