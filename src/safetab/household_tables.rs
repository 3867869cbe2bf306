//! The published tables of households, T3 and T4 of the Detailed DHC-B: which cells get noise, and which are sums of noisy cells.
//!
//! T3 counts households by type, T4 by tenure. Each has several levels of detail. At each level some cells are measured and all other cells
//! are sums of these, so every table is consistent (2024 documentation of SafeTab-H).

use crate::error::{Error, Result};

/// The property by which a table counts households.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HouseholdTopic {
    /// T3: the type of household.
    Type,
    /// T4: the tenure.
    Tenure,
}

/// A table at one level of detail.
#[derive(Debug, PartialEq, Eq)]
pub struct DetailTable {
    /// The bureau's name.
    pub name: &'static str,
    /// Its contents.
    pub about: &'static str,
    /// The cells with their own noise.
    pub measured: &'static [u8],
    /// The printed cells, in ascending order.
    pub printed: &'static [u8],
}

/// The finest cells contained in each cell of T3, one bit for each: married couples; other families with a male, with a female householder;
/// nonfamilies living alone, not alone.
const TYPE_CELLS: [u8; 9] = [0b11111, 0b00111, 0b00001, 0b00110, 0b00010, 0b00100, 0b11000, 0b01000, 0b10000];
/// The same for T4: owned with a mortgage or loan, owned free and clear, rented.
const TENURE_CELLS: [u8; 4] = [0b111, 0b001, 0b010, 0b100];

const T3: [DetailTable; 4] = [
    DetailTable { name: "T03001", about: "total", measured: &[0], printed: &[0] },
    DetailTable { name: "T03002", about: "family or not", measured: &[1, 6], printed: &[0, 1, 6] },
    DetailTable {
        name: "T03003",
        about: "household type (6)",
        measured: &[2, 3, 7, 8],
        printed: &[0, 1, 2, 3, 6, 7, 8],
    },
    DetailTable {
        name: "T03004",
        about: "household type (8)",
        measured: &[2, 4, 5, 7, 8],
        printed: &[0, 1, 2, 3, 4, 5, 6, 7, 8],
    },
];
const T4: [DetailTable; 2] = [
    DetailTable { name: "T04001", about: "total", measured: &[0], printed: &[0] },
    DetailTable { name: "T04002", about: "tenure", measured: &[1, 2, 3], printed: &[0, 1, 2, 3] },
];

impl HouseholdTopic {
    /// Both topics.
    pub const ALL: [HouseholdTopic; 2] = [HouseholdTopic::Type, HouseholdTopic::Tenure];

    /// The bureau's name for all its tables.
    pub fn name(self) -> &'static str {
        match self {
            HouseholdTopic::Type => "T3",
            HouseholdTopic::Tenure => "T4",
        }
    }

    /// Its tables, coarsest first.
    pub fn tables(self) -> &'static [DetailTable] {
        match self {
            HouseholdTopic::Type => &T3,
            HouseholdTopic::Tenure => &T4,
        }
    }

    /// The number of finest cells.
    pub fn finest(self) -> usize {
        self.masks()[0].count_ones() as usize
    }

    /// The finest cell of a household with this type, 1 to 5, and tenure, 1 to 4.
    pub fn cell(self, household_type: u8, tenure: u8) -> usize {
        match self {
            HouseholdTopic::Type => usize::from(household_type) - 1,
            // Rented and occupied without rent are one cell.
            HouseholdTopic::Tenure => usize::from(tenure.min(3)) - 1,
        }
    }

    fn masks(self) -> &'static [u8] {
        match self {
            HouseholdTopic::Type => &TYPE_CELLS,
            HouseholdTopic::Tenure => &TENURE_CELLS,
        }
    }

    /// The exact counts of the measured cells of a table, from those of the finest cells.
    pub fn measured(self, table: &DetailTable, finest: &[i64], out: &mut Vec<i64>) {
        for &cell in table.measured {
            let mask = self.masks()[usize::from(cell)];
            let inside = finest.iter().enumerate().filter(|(place, _)| mask >> place & 1 == 1);
            out.push(inside.map(|(_, count)| count).sum());
        }
    }

    /// The number of measured cells that are summed in a printed one.
    pub fn parts(self, table: &DetailTable, printed: u8) -> usize {
        self.cells_of(table, printed).count()
    }

    /// The measured cells that are summed in a printed one.
    pub fn cells_of(self, table: &DetailTable, printed: u8) -> impl Iterator<Item = u8> {
        let mask = self.masks()[usize::from(printed)];
        table.measured.iter().copied().filter(move |part| self.masks()[usize::from(*part)] & !mask == 0)
    }

    /// The printed counts of a table, each a sum of noisy measured counts. An error if a sum overflows 64 bits.
    pub fn printed(self, table: &DetailTable, measured: &[i64], out: &mut Vec<i64>) -> Result<()> {
        for &cell in table.printed {
            let mask = self.masks()[usize::from(cell)];
            let inside = |part: u8| self.masks()[usize::from(part)] & !mask == 0;
            let parts = table.measured.iter().zip(measured).filter(|(part, _)| inside(**part));
            let sum: i128 = parts.map(|(_, &count)| i128::from(count)).sum();
            let fits = i64::try_from(sum);
            out.push(fits.map_err(|_| Error::out_of_range("the sum of noisy cells", sum, "a sum within 64 bits"))?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printed_cell_is_the_sum_of_its_measured_ones() {
        for topic in HouseholdTopic::ALL {
            for table in topic.tables() {
                // Measured cells are disjoint and cover all households.
                let masks: Vec<u8> = table.measured.iter().map(|&cell| topic.masks()[usize::from(cell)]).collect();
                assert_eq!(masks.iter().map(|mask| mask.count_ones()).sum::<u32>(), topic.masks()[0].count_ones());
                assert_eq!(masks.iter().fold(0, |all, mask| all | mask), topic.masks()[0]);
                for &cell in table.printed {
                    let mask = topic.masks()[usize::from(cell)];
                    let inside = masks.iter().filter(|part| *part & !mask == 0).fold(0, |all, part| all | part);
                    assert_eq!(inside, mask, "{} cell {cell}", table.name);
                }
            }
        }
    }

    #[test]
    fn marginals_agree_with_the_bureaus_vector() {
        let table = &T3[3];
        let mut printed = Vec::new();
        HouseholdTopic::Type.printed(table, &[3, 1, 1, 3, 1], &mut printed).unwrap();
        let of = |cell: u8| printed[table.printed.iter().position(|&known| known == cell).unwrap()];
        assert_eq!([0, 1, 3, 6].map(of), [9, 5, 2, 4]);
        assert!(HouseholdTopic::Tenure.printed(&T4[1], &[i64::MAX, 1, 0], &mut printed).is_err());
    }

    #[test]
    fn a_household_is_in_one_measured_cell() {
        // The cells of the documentation, by type and by tenure.
        let expected: [&[u8]; 4] = [&[0; 5], &[1, 1, 1, 6, 6], &[2, 3, 3, 7, 8], &[2, 4, 5, 7, 8]];
        for (table, expected) in T3.iter().zip(expected) {
            for household_type in 1..=5 {
                let mut finest = [0; 5];
                finest[HouseholdTopic::Type.cell(household_type, 1)] = 1;
                let mut counts = Vec::new();
                HouseholdTopic::Type.measured(table, &finest, &mut counts);
                let cells: Vec<u8> =
                    table.measured.iter().zip(&counts).filter(|(_, n)| **n == 1).map(|(c, _)| *c).collect();
                assert_eq!(cells, [expected[usize::from(household_type) - 1]]);
            }
        }
        for (tenure, cell) in [(1, 1), (2, 2), (3, 3), (4, 3)] {
            assert_eq!(HouseholdTopic::Tenure.cell(5, tenure) + 1, cell);
        }
    }
}
