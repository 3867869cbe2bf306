//! The published tables of a population group (2024, Tables 1 to 4), and their marginals as sums of noisy cells (Section 5.3.1).

use crate::error::{Error, Result};

const AGES_4: &[u8] = &[0, 18, 45, 65];
const AGES_9: &[u8] = &[0, 5, 18, 25, 35, 45, 55, 65, 75];
const AGES_23: &[u8] = &[0, 5, 10, 15, 18, 20, 21, 22, 25, 30, 35, 40, 45, 50, 55, 60, 62, 65, 67, 70, 75, 80, 85];

/// A published table of a population group (2024, Tables 1 to 4), coarsest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PublishedTable {
    /// T01001: one total.
    Total,
    /// T02001: sex by 4 ages.
    SexAge4,
    /// T02002: sex by 9 ages.
    SexAge9,
    /// T02003: sex by 23 ages.
    SexAge23,
}

impl PublishedTable {
    /// All of them, coarsest first.
    pub const ALL: [PublishedTable; 4] =
        [PublishedTable::Total, PublishedTable::SexAge4, PublishedTable::SexAge9, PublishedTable::SexAge23];

    /// The bureau's name.
    pub fn name(self) -> &'static str {
        match self {
            PublishedTable::Total => "T01001",
            PublishedTable::SexAge4 => "T02001",
            PublishedTable::SexAge9 => "T02002",
            PublishedTable::SexAge23 => "T02003",
        }
    }

    /// Its contents.
    pub fn about(self) -> &'static str {
        match self {
            PublishedTable::Total => "total",
            PublishedTable::SexAge4 => "sex by age (4)",
            PublishedTable::SexAge9 => "sex by age (9)",
            PublishedTable::SexAge23 => "sex by age (23)",
        }
    }

    /// The first age of each bin; none for a total.
    pub fn ages(self) -> &'static [u8] {
        match self {
            PublishedTable::Total => &[],
            PublishedTable::SexAge4 => AGES_4,
            PublishedTable::SexAge9 => AGES_9,
            PublishedTable::SexAge23 => AGES_23,
        }
    }

    /// The number of cells with their own noise.
    pub fn noisy_cells(self) -> u32 {
        (2 * self.ages().len()).max(1) as u32
    }

    /// The number of printed counts: the cells, the sums over ages and the sum over all.
    pub fn printed_counts(self) -> u32 {
        match self {
            PublishedTable::Total => 1,
            _ => self.noisy_cells() + 3,
        }
    }
}

/// The sums of a table of sex by age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marginals {
    /// All ages of males.
    pub male: i64,
    /// All ages of females.
    pub female: i64,
    /// All ages of both sexes.
    pub total: i64,
}

/// The marginals of noisy cells: each sex over all ages, and the total, so that the table is consistent. An error if a sum overflows 64
/// bits.
pub fn marginals(male: &[i64], female: &[i64]) -> Result<Marginals> {
    let sum = |cells: &[i64]| cells.iter().map(|&cell| i128::from(cell)).sum::<i128>();
    let fits = |sum: i128| {
        i64::try_from(sum).map_err(|_| Error::out_of_range("the sum of noisy cells", sum, "a sum within 64 bits"))
    };
    let (male, female) = (sum(male), sum(female));
    Ok(Marginals { male: fits(male)?, female: fits(female)?, total: fits(male + female)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marginals_are_sums_and_overflow_is_refused() {
        let sums = marginals(&[3, -1, 0, 7], &[2, 2, -9, 1]).unwrap();
        assert_eq!(sums, Marginals { male: 9, female: -4, total: 5 });
        assert!(marginals(&[i64::MAX, 1], &[0, 0]).is_err() && marginals(&[i64::MAX], &[1]).is_err());
    }

    #[test]
    fn the_bins_of_every_table_are_unions_of_finer_ones() {
        for pair in PublishedTable::ALL.windows(2) {
            assert!(pair[0].ages().iter().all(|age| pair[1].ages().contains(age)));
        }
        assert_eq!(PublishedTable::ALL.map(PublishedTable::printed_counts), [1, 11, 21, 49]);
        assert_eq!(PublishedTable::ALL.map(PublishedTable::noisy_cells), [1, 8, 18, 46]);
    }
}
