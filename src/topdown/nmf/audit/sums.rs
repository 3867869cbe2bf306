//! Sums of a query's counts minus an exact total: of single units, and of states whose parts are added.

use std::collections::{BTreeMap, HashMap};

use crate::{
    audit::{Test, proven::ProvenP},
    error::Result,
    topdown::nmf::{
        fit::ln_tail_bound,
        folder::{NmfFile, of_part},
        noise::Noise,
        observe::PartSeen,
        rows,
        units::Meanings,
    },
};

/// Sums whose law is too wide to be enumerated: the bound on sums of squares of noise with a parameter decides, see
/// [`fit`](crate::topdown::nmf::fit). It finds noise that is too large, not noise that is too small.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Wide {
    pub(super) sums: u64,
    /// The sum of squares over variances, and over parameters.
    statistic: f64,
    bounded: f64,
}

impl Wide {
    /// Adds a sum with this noise.
    pub(super) fn add(&mut self, sum: i64, noise: Noise) {
        let square = (sum as f64).powi(2);
        self.sums += 1;
        self.statistic += square / noise.variance;
        self.bounded += square / noise.proxy;
    }

    /// The test of the sum of squares.
    pub(super) fn test(&self) -> Test {
        let ratio = self.statistic / self.sums.max(1) as f64;
        let what = format!(
            "sum of squares over variances {:.1} of {} sums, ratio {ratio:.4}; the law is too wide to be enumerated",
            self.statistic, self.sums
        );
        let p = ProvenP::of_bound(ln_tail_bound(self.sums.max(1), self.bounded));
        Test { name: "squares", draws: self.sums, statistic: ratio, p, what }
    }
}

/// The sums of all counts of each query of a part of a state.
#[derive(Clone, Debug)]
pub(super) struct PartSums {
    pub(super) part: String,
    pub(super) carried: usize,
    /// Query by query.
    pub(super) sums: Vec<i128>,
    /// Whether the part has an exact total of its own.
    pub(super) has_total: bool,
}

/// Of each state the sums of all its parts minus its exact total, where all parts have counts and are not all compared with totals of their
/// own: by query, with the numbers of carried levels of the parts in their order.
pub(super) fn of_states(
    parts: &[PartSums],
    totals: &BTreeMap<u32, i64>,
    state_of: impl Fn(&str) -> u32,
    is_whole: impl Fn(u32, usize) -> bool,
) -> (Vec<StateSum>, Vec<u32>) {
    let mut of_state: BTreeMap<u32, Vec<&PartSums>> = BTreeMap::new();
    parts.iter().for_each(|part| of_state.entry(state_of(&part.part)).or_default().push(part));
    let (mut found, mut unused) = (Vec::new(), Vec::new());
    for (state, total) in totals {
        let Some(own) = of_state.get_mut(state) else { continue };
        own.sort_by(|a, b| a.part.cmp(&b.part));
        if !is_whole(*state, own.len()) {
            unused.push(*state);
            continue;
        }
        if own.iter().all(|part| part.has_total) {
            continue;
        }
        for query in 0..own[0].sums.len() {
            let sum: i128 = own.iter().map(|part| part.sums[query]).sum();
            let carried = own.iter().map(|part| part.carried).collect();
            found.push(StateSum { query, carried, noise: minus(sum, *total) });
        }
    }
    (found, unused)
}

/// The noise in the sum of a query over a state.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StateSum {
    pub(super) query: usize,
    pub(super) carried: Vec<usize>,
    pub(super) noise: i64,
}

/// The sum of whole counts. Counts are below 2^50 and fewer than 2^64: their sum is below 2^114.
pub(super) fn sum(counts: &[f64]) -> i128 {
    counts.iter().map(|count| *count as i128).sum()
}

/// A sum minus a total. A difference beyond 64 bits, which no law reaches, becomes the largest or smallest number.
pub(super) fn minus(sum: i128, total: i64) -> i64 {
    (sum - i128::from(total)).clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

/// The exact totals of the units of a level: constraints that give the sum of all cells.
pub(super) fn exact_totals(part: &PartSeen, level: usize) -> Result<HashMap<usize, i64>> {
    let (names, codes) = (part.names, &part.units.codes[level]);
    let files: Vec<&NmfFile> = of_part(&part.folder.levels[part.first + level].constraints, &part.units.part).collect();
    let (mut found, mut meanings, mut near) = (HashMap::new(), Meanings::default(), 0);
    for file in files {
        rows::read(&file.path, &names.constraint_columns(), |row| {
            let meaning = meanings.meaning(names, row).map_err(|why| rows::refuse(&file.path, row, &why))?;
            let is_total = meanings.known[meaning].constraint.is_total();
            let unit = if is_total { codes.find(row.geocode, near) } else { None };
            if let (Some(unit), [total]) = (unit, row.values) {
                near = unit + 1;
                found.insert(unit, *total);
            }
            Ok(())
        })?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_any_counts_do_not_wrap() {
        assert_eq!(minus(sum(&[3.0, -5.0, 11.0]), 7), 2);
        let most = (1_u64 << 50) as f64;
        assert_eq!(minus(sum(&[most; 4096]), 5), (1 << 62) - 5);
        assert_eq!(minus(sum(&vec![most; 20_000]), 0), i64::MAX);
        assert_eq!(minus(sum(&vec![-most; 20_000]), 0), i64::MIN);
    }

    #[test]
    fn wide_sums_are_bounded_by_their_squares() {
        let mut wide = Wide::default();
        [30, -20, 10].into_iter().for_each(|sum| wide.add(sum, Noise { variance: 100.0, proxy: 100.0 }));
        // 9 + 4 + 1 of 3 squares.
        let test = wide.test();
        assert!((test.statistic - 14.0 / 3.0).abs() < 1e-12 && test.draws == 3);
        let ratio: f64 = 14.0 / 3.0;
        assert!((test.p.ln() + 1.5 * (ratio - 1.0 - ratio.ln())).abs() < 1e-4);
        assert!(
            (1..4)
                .fold(Wide::default(), |mut wide, sum| {
                    wide.add(sum, Noise { variance: 100.0, proxy: 100.0 });
                    wide
                })
                .test()
                .p
                == ProvenP::ONE
        );
    }

    #[test]
    fn parts_of_a_state_are_added() {
        let part = |part: &str, sums: &[i128], has_total| PartSums {
            part: part.to_string(),
            carried: 1 + usize::from(part.starts_with('1')),
            sums: sums.to_vec(),
            has_total,
        };
        let parts = [
            part("109", &[7, 8], false),
            part("009", &[100, 90], true),
            part("044", &[50, 51], true),
            part("010", &[1, 1], false),
        ];
        let totals = BTreeMap::from([(9, 100), (44, 50), (10, 1), (72, 5)]);
        let state_of = |part: &str| part[1..].parse().unwrap();
        let (found, unused) = of_states(&parts, &totals, state_of, |state, _| state != 10);
        let sum = |query, noise| StateSum { query, carried: vec![1, 2], noise };
        assert_eq!((found, unused), (vec![sum(0, 7), sum(1, -2)], vec![10]));
    }
}
