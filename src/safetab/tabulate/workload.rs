//! The workload of a population group: one total, or sex crossed with 4, 9 or 23 ages, as sums of the finest cells.

use crate::safetab::tables::PublishedTable;

/// The number of finest cells: sex by 23 ages.
pub const CELLS: usize = 2 * 23;

/// The greatest age allowed in a record.
pub const OLDEST: u8 = 115;

/// The table for a noisy total (Algorithm 2, lines 17 to 25): one step finer for each threshold that it reaches.
pub fn called_for(noisy_total: i64, thresholds: &[i64; 3]) -> PublishedTable {
    PublishedTable::ALL[thresholds.iter().filter(|&&threshold| noisy_total >= threshold).count()]
}

/// The counts of a table: sums of the finest cells, males before females, ages ascending, because every bin is a union of finest bins.
pub fn sums(table: PublishedTable, cells: &[i64], out: &mut Vec<i64>) {
    let ages = table.ages();
    if ages.is_empty() {
        out.push(cells.iter().sum());
        return;
    }
    for sex in cells.chunks_exact(CELLS / 2) {
        let mut at = 0;
        for bin in 0..ages.len() {
            let next = ages.get(bin + 1).map_or(CELLS / 2, |&age| bin_of(age));
            out.push(sex[at..next].iter().sum());
            at = next;
        }
    }
}

/// The first and the last age of a bin.
pub fn bounds(table: PublishedTable, bin: usize) -> (u8, u8) {
    let ages = table.ages();
    (ages[bin], ages.get(bin + 1).map_or(OLDEST, |next| next - 1))
}

/// The finest bin of an age.
fn bin_of(age: u8) -> usize {
    PublishedTable::SexAge23.ages().partition_point(|&first| first <= age) - 1
}

/// The finest cell of a person: sex 1 or 2, any age.
pub fn cell_of(sex: u8, age: u8) -> usize {
    usize::from(sex == 2) * (CELLS / 2) + bin_of(age)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bin_holds_the_ages_between_its_bounds() {
        for table in PublishedTable::ALL {
            let bins = table.ages().len();
            for sex in [1, 2] {
                for age in 0..=OLDEST {
                    let mut cells = [0; CELLS];
                    cells[cell_of(sex, age)] = 7;
                    let mut sums = Vec::new();
                    super::sums(table, &cells, &mut sums);
                    assert_eq!(sums.len(), table.noisy_cells() as usize);
                    let expected: Vec<i64> = match bins {
                        0 => vec![7],
                        _ => (0..2 * bins)
                            .map(|i| {
                                let (first, last) = bounds(table, i % bins);
                                let inside = (first..=last).contains(&age) && i / bins == usize::from(sex) - 1;
                                if inside { 7 } else { 0 }
                            })
                            .collect(),
                    };
                    assert_eq!(sums, expected, "{table:?}, sex {sex}, age {age}");
                }
            }
        }
    }

    #[test]
    fn a_threshold_that_is_reached_moves_up() {
        let thresholds = [5, 20, 20];
        for (total, expected) in [
            (i64::MIN, PublishedTable::Total),
            (4, PublishedTable::Total),
            (5, PublishedTable::SexAge4),
            (19, PublishedTable::SexAge4),
            (20, PublishedTable::SexAge23),
            (i64::MAX, PublishedTable::SexAge23),
        ] {
            assert_eq!(called_for(total, &thresholds), expected);
        }
    }
}
