//! What is published of a population group: one total, or sex crossed with 4, 9 or 23 ages.

/// Sex by the finest ages.
pub const CELLS: usize = 2 * 23;

/// Sex by age in the finest cells, males before females, ages ascending.
pub type Cells = [i64; CELLS];

/// The oldest age that a record may have.
pub const OLDEST: u8 = 115;

const AGES_4: [u8; 4] = [0, 18, 45, 65];
const AGES_9: [u8; 9] = [0, 5, 18, 25, 35, 45, 55, 65, 75];
const AGES_23: [u8; 23] = [0, 5, 10, 15, 18, 20, 21, 22, 25, 30, 35, 40, 45, 50, 55, 60, 62, 65, 67, 70, 75, 80, 85];

/// The workload of a population group (Algorithm 2, lines 17 to 25), coarsest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Statistics {
    /// One total.
    Total,
    /// Sex by 4 ages.
    SexAge4,
    /// Sex by 9 ages.
    SexAge9,
    /// Sex by 23 ages.
    SexAge23,
}

impl Statistics {
    /// All of them, coarsest first.
    pub const ALL: [Statistics; 4] =
        [Statistics::Total, Statistics::SexAge4, Statistics::SexAge9, Statistics::SexAge23];

    /// The workload that a noisy total calls for: as many steps as there are thresholds that it reaches.
    pub fn of(noisy_total: i64, thresholds: &[i64; 3]) -> Statistics {
        Statistics::ALL[thresholds.iter().filter(|&&threshold| noisy_total >= threshold).count()]
    }

    /// The first age of each bin; none for a total.
    pub fn ages(self) -> &'static [u8] {
        match self {
            Statistics::Total => &[],
            Statistics::SexAge4 => &AGES_4,
            Statistics::SexAge9 => &AGES_9,
            Statistics::SexAge23 => &AGES_23,
        }
    }

    /// How many noisy counts it has.
    pub fn width(self) -> usize {
        (2 * self.ages().len()).max(1)
    }

    /// The counts of this workload: sums of the finest cells, for every bin is a union of finest bins.
    pub fn sums(self, cells: &Cells, out: &mut Vec<i64>) {
        let ages = self.ages();
        if ages.is_empty() {
            out.push(cells.iter().sum());
            return;
        }
        for sex in cells.chunks_exact(AGES_23.len()) {
            let mut at = 0;
            for bin in 0..ages.len() {
                let next = ages.get(bin + 1).map_or(AGES_23.len(), |&age| bin_of(age));
                out.push(sex[at..next].iter().sum());
                at = next;
            }
        }
    }

    /// The first and the last age of a bin.
    pub fn bounds(self, bin: usize) -> (u8, u8) {
        let ages = self.ages();
        (ages[bin], ages.get(bin + 1).map_or(OLDEST, |next| next - 1))
    }
}

/// The finest bin of an age.
fn bin_of(age: u8) -> usize {
    AGES_23.partition_point(|&first| first <= age) - 1
}

/// The finest cell of a person: sex 1 or 2, any age.
pub fn cell_of(sex: u8, age: u8) -> usize {
    usize::from(sex == 2) * AGES_23.len() + bin_of(age)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bin_holds_the_ages_between_its_bounds() {
        for statistics in Statistics::ALL {
            let bins = statistics.ages().len();
            for sex in [1, 2] {
                for age in 0..=OLDEST {
                    let mut cells = [0; CELLS];
                    cells[cell_of(sex, age)] = 7;
                    let mut sums = Vec::new();
                    statistics.sums(&cells, &mut sums);
                    assert_eq!(sums.len(), statistics.width());
                    let expected: Vec<i64> = match bins {
                        0 => vec![7],
                        _ => (0..2 * bins)
                            .map(|i| {
                                let (first, last) = statistics.bounds(i % bins);
                                let inside = (first..=last).contains(&age) && i / bins == usize::from(sex) - 1;
                                if inside { 7 } else { 0 }
                            })
                            .collect(),
                    };
                    assert_eq!(sums, expected, "{statistics:?}, sex {sex}, age {age}");
                }
            }
        }
    }

    #[test]
    fn a_threshold_that_is_reached_moves_up() {
        let thresholds = [5, 20, 20];
        for (total, expected) in [
            (i64::MIN, Statistics::Total),
            (4, Statistics::Total),
            (5, Statistics::SexAge4),
            (19, Statistics::SexAge4),
            (20, Statistics::SexAge23),
            (i64::MAX, Statistics::SexAge23),
        ] {
            assert_eq!(Statistics::of(total, &thresholds), expected);
        }
    }
}
