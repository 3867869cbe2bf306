//! The second histogram of a release, whose rows stand among those of the first: the same units answer its queries, with noise that
//! carries the same levels' shares.

use crate::{
    error::{Error, Result},
    release::Release,
    topdown::{
        gls::pass::{Measurements, UnitCounts},
        nmf::{
            budgets::Budgets,
            counts::{PartCounts, read_units},
            folder::NmfFolder,
            names::{Names, Which},
            units::{Geocodes, PartUnits},
        },
    },
};

/// Its queries and the variances of its noise.
pub(super) struct Second {
    names: Names,
    budgets: Budgets,
}

impl Second {
    /// Those of a release with two histograms.
    pub(super) fn new(release: &Release) -> Result<Second> {
        let names = Names::of(release, Which::Beside)?;
        let budgets = Budgets::new(release, &names)?;
        Ok(Second { names, budgets })
    }

    /// Holds the nation against how many levels' shares its first histogram carries.
    pub(super) fn check_nation(&self, folder: &NmfFolder, carried: u8) -> Result<()> {
        let files: Vec<_> = folder.levels[0].queries.iter().collect();
        let mut seen = 0;
        read_units(&files, &self.names, 0, &Geocodes::nation(), b"", &mut |units| {
            for unit in units {
                seen = self.carried(0, &unit, String::new)?;
            }
            Ok(())
        })?;
        self.agree(0, "", carried, seen)
    }

    /// The same for the units of a part.
    pub(super) fn check_part(
        &self,
        folder: &NmfFolder,
        units: &PartUnits,
        first: usize,
        carried: &[Vec<u8>],
    ) -> Result<()> {
        let counts = PartCounts { folder, names: &self.names, units, first, budgets: &self.budgets, seen: None };
        for (level, carried) in carried.iter().enumerate() {
            let mut seen = vec![0; carried.len()];
            counts.read(level, &mut |found| {
                for unit in found {
                    seen[unit.unit] = self.carried(first + level, &unit, || units.code(level, unit.unit))?;
                }
                Ok(())
            })?;
            for (unit, (carried, seen)) in carried.iter().zip(seen).enumerate() {
                self.agree(first + level, &units.code(level, unit), *carried, seen)?;
            }
        }
        Ok(())
    }

    fn carried(&self, level: usize, unit: &UnitCounts, code: impl FnOnce() -> String) -> Result<u8> {
        // There are fewer levels than a byte has numbers.
        Ok(self.budgets.carried_by(&self.names, level, unit, code)? as u8)
    }

    fn agree(&self, level: usize, code: &str, first: u8, second: u8) -> Result<()> {
        if first == second {
            return Ok(());
        }
        let names: Vec<&str> = self.names.queries(level).iter().map(|query| query.name.as_str()).collect();
        let what = format!("the shares that {} of the {} {code:?} carries", names.join(", "), self.names.levels[level]);
        let expected = format!("those of {first} levels, as the other queries of the unit");
        Err(Error::out_of_range(&what, format!("those of {second} levels"), &expected))
    }
}
