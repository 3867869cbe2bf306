//! The results of a rehearsal, level by level.

use serde_json::Value;

use super::errors::{Errors, StatedMargin, SuppressedSize};
use crate::safetab::{household_tables::HouseholdTopic, tabulate::certified_level::CertifiedLevel};

/// The number of size bins: 0 and 1, then up to each power of ten in 64 bits.
pub(super) const BINS: usize = 21;
/// Suppression is reported for each size up to this.
pub(super) const SIZES: usize = 64;

/// The results of a rehearsal.
#[derive(Clone, Debug)]
pub struct Rehearsed {
    /// `SafeTab-P` or `SafeTab-H`.
    pub algorithm: &'static str,
    /// The number of trials.
    pub trials: u32,
    /// The seed, if it is public.
    pub insecure_seed: Option<u64>,
    /// Whether the records are synthetic.
    pub made_up: bool,
    /// The number of records that were read.
    pub records: u64,
    /// The number of records that the passes tabulate.
    pub tabulated: u64,
    /// Whether the records are households, and not persons.
    pub of_households: bool,
    /// The names of the tables, coarsest first: T01001 to T02003, or T03001 to T04002.
    pub tables: Vec<String>,
    /// The kinds of population groups: `level 1` and `level 2` of the iterations.
    pub kinds: Vec<String>,
    /// The levels of all passes.
    pub levels: Vec<RehearsedLevel>,
}

/// The results for a level.
#[derive(Clone, Debug)]
pub struct RehearsedLevel {
    /// The name of the pass.
    pub pass: String,
    /// Its name, such as `COUNTY level 2`.
    pub name: String,
    /// The type of region.
    pub region_type: String,
    /// The level of the iterations, a number; of a country's own specification the name of the grouping.
    pub level: Value,
    /// The kind of its groups, by its index among [`Rehearsed::kinds`].
    pub kind: usize,
    /// The number of groups, including empty ones.
    pub groups: u64,
    /// The number of empty groups.
    pub empty: u64,
    /// The stated margin of each kind of count, and the errors before suppression and replacement.
    pub margins: Vec<StatedMargin>,
    /// The published counts, by the size of the groups.
    pub strata: Vec<Stratum>,
    /// How often small groups were suppressed, detailed-only groups separately. Empty if nothing is suppressed.
    pub suppression: Vec<(bool, SuppressedSize)>,
    /// The effect of coterminous regions; `None` for households, which have no replacement.
    pub coterminous: Option<CoterminousEffect>,
}

/// Groups of one range of sizes, detailed-only or not.
#[derive(Clone, Debug, Default)]
pub struct Stratum {
    /// Whether only the total of these groups is counted. Always false for households.
    pub detailed_only: bool,
    /// The range of sizes: 0 is sizes 0 and 1, k is sizes above 10^(k-1) up to 10^k.
    pub bin: usize,
    /// The number of groups, summed over all trials.
    pub groups: u64,
    /// The number of groups suppressed by their own noisy total.
    pub suppressed: u64,
    /// The published counts by table, coarsest first, after coterminous groups were filled in.
    pub tables: Vec<TableErrors>,
}

/// The published counts of one table.
#[derive(Clone, Debug, Default)]
pub struct TableErrors {
    /// The number of groups, summed over all trials.
    pub groups: u64,
    /// The errors of their measured cells.
    pub errors: Errors,
    /// The number of these errors within the stated margin of their noise.
    pub covered: u64,
}

/// The effect of publishing the same counts for coterminous regions.
#[derive(Clone, Debug, Default)]
pub struct CoterminousEffect {
    /// The number of groups that published the counts of another one, in all trials.
    pub replaced: u64,
    /// The number of them that would have been suppressed.
    pub filled: u64,
    /// The number of them that would have published another total.
    pub contradicted: u64,
    /// The errors of the totals that they would have published themselves.
    pub own: Errors,
    /// The errors of the totals that they published instead.
    pub given: Errors,
}

/// The bin of a size: 0 up to 1, 1 up to 10, 2 up to 100.
pub(super) fn bin_of(size: u64) -> usize {
    size.saturating_sub(1).checked_ilog10().map_or(0, |digits| digits as usize + 1)
}

impl Stratum {
    /// The smallest and the largest size of the range; `None` if the largest exceeds 64 bits.
    pub fn sizes(&self) -> (u64, Option<u64>) {
        let power = |exponent: usize| 10_u64.checked_pow(exponent as u32);
        match self.bin {
            0 => (0, Some(1)),
            bin => (power(bin - 1).map_or(0, |below| below + 1), power(bin)),
        }
    }

    /// The range as the bureau's program prints it: `[0.0, 1.0]`, `(1.0, 10.0]`.
    pub fn interval(&self) -> String {
        match self.bin {
            0 => "[0.0, 1.0]".to_string(),
            bin => format!("({:.1}, {:.1}]", 10_f64.powi(bin as i32 - 1), 10_f64.powi(bin as i32)),
        }
    }

    /// The number of published groups.
    pub fn published(&self) -> u64 {
        self.tables.iter().map(|table| table.groups).sum()
    }
}

impl RehearsedLevel {
    /// A level without results so far, of a pass with this name and with groups of this kind.
    pub(super) fn of(plan: &impl CertifiedLevel, pass: String, kind: usize) -> RehearsedLevel {
        let [region_type, level] = [0, 1].map(|entry| plan.place()[entry].1.clone());
        RehearsedLevel {
            pass,
            name: plan.name(),
            region_type: region_type.as_str().unwrap_or_default().to_string(),
            level,
            kind,
            groups: plan.groups(),
            empty: 0,
            margins: Vec::new(),
            strata: Vec::new(),
            suppression: Vec::new(),
            coterminous: None,
        }
    }

    /// Whether every stated property agrees with the observations.
    pub fn holds(&self) -> bool {
        self.margins.iter().all(StatedMargin::holds) && self.suppression.iter().all(|(_, size)| size.holds())
    }

    /// The number of groups suppressed by their own noisy totals, in all trials.
    pub fn suppressed(&self) -> u64 {
        self.strata.iter().map(|stratum| stratum.suppressed).sum()
    }
}

impl Rehearsed {
    /// Whether every stated property agrees with the observations.
    pub fn holds(&self) -> bool {
        self.levels.iter().all(RehearsedLevel::holds)
    }
}

/// Strata in progress.
#[derive(Clone, Debug)]
pub(super) struct Strata {
    /// Detailed-only groups are last.
    all: Vec<Stratum>,
}

impl Strata {
    /// Empty strata with this number of tables.
    pub(super) fn new(tables: usize) -> Strata {
        let of = |detailed_only: bool, bin| Stratum {
            detailed_only,
            bin,
            tables: vec![TableErrors::default(); tables],
            ..Stratum::default()
        };
        Strata { all: [false, true].into_iter().flat_map(|only| (0..BINS).map(move |bin| of(only, bin))).collect() }
    }

    /// The stratum of a group of a size.
    pub(super) fn stratum(&mut self, detailed_only: bool, size: u64) -> &mut Stratum {
        &mut self.all[usize::from(detailed_only) * BINS + bin_of(size)]
    }

    /// The strata with groups.
    pub(super) fn finish(self) -> Vec<Stratum> {
        self.all.into_iter().filter(|stratum| stratum.groups > 0).collect()
    }
}

impl TableErrors {
    /// Adds a group whose measured cells were published with a margin.
    pub(super) fn add(&mut self, published: &[i64], exact: &[i64], margin: i64) {
        self.groups += 1;
        for (published, exact) in published.iter().zip(exact) {
            let error = i128::from(*published) - i128::from(*exact);
            self.errors.add(error);
            self.covered += u64::from(error.unsigned_abs() <= u128::from(margin.unsigned_abs()));
        }
    }
}

/// The index of a table among those of both topics.
pub(super) fn table_of(topic: HouseholdTopic, detail: usize) -> usize {
    match topic {
        HouseholdTopic::Type => detail,
        HouseholdTopic::Tenure => HouseholdTopic::Type.tables().len() + detail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_lies_in_its_bin() {
        let expected = [(0, 0), (1, 0), (2, 1), (10, 1), (11, 2), (100, 2), (101, 3), (u64::MAX, 20)];
        for (size, bin) in expected {
            assert_eq!(bin_of(size), bin);
            let (from, to) = Stratum { bin, ..Stratum::default() }.sizes();
            assert!(from <= size && to.is_none_or(|to| size <= to), "{size}: {from} to {to:?}");
        }
        let interval = |bin| Stratum { bin, ..Stratum::default() }.interval();
        assert_eq!([interval(0), interval(1), interval(3)], ["[0.0, 1.0]", "(1.0, 10.0]", "(100.0, 1000.0]"]);
    }
}
