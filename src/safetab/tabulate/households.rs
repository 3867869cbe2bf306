//! SafeTab-H: households, for the groups that the published totals select.

use std::path::Path;

use rug::Rational;
use serde_json::{Value, json};

use super::{
    certificate::WrittenRows,
    household_counts::{HouseholdBatch, HouseholdTabulation},
    household_levels::{HouseholdLevel, household_levels},
    household_output::HouseholdTables,
    inputs::{Checked, HouseholdInputs, InputPaths, PublicInputs, RecordSource, SeeRecord, each_record},
    program::{BureauProgram, Passes},
};
use crate::{
    error::Result,
    noise::Streams,
    safetab::{
        counting::Counted,
        schema::{
            HouseholdCheck, HouseholdConfig, LeftOut, Pass, PublishedTotals, RecordKind, RunScope, TotalsCheck,
            ValidationReport,
        },
    },
};

impl BureauProgram for HouseholdInputs {
    type Level = HouseholdLevel;

    const KIND: RecordKind = RecordKind::Households;

    const CUT_BLOCKS: &'static str = "cut to blocks that hold a housing unit, as the bureau's reader does: which these are is taken from the unit \
                                      files, is no secret here, and is not part of the guarantee";

    fn read(paths: &InputPaths, report: &mut ValidationReport) -> Option<Self> {
        let config = HouseholdConfig::read(paths.config, report)?;
        let (public, whole) = paths.public(config.scope(), RecordKind::Households, report)?;
        let (path, check) = paths.totals?;
        let PublicInputs { specification, geography, .. } = &public;
        let both = (geography, whole.as_ref().unwrap_or(geography));
        let totals = PublishedTotals::read_of_cut(path, config.scope(), specification, both, check, report)?;
        Some(HouseholdInputs { config, totals, check, public })
    }

    fn scope(&self) -> &RunScope {
        self.config.scope()
    }

    fn public(&self) -> &PublicInputs {
        &self.public
    }

    fn gamma(&self) -> Option<&Rational> {
        None
    }

    fn notes(&self) -> Vec<(&'static str, Value)> {
        let LeftOut { other_states, other_areas, without_units, not_tabulated } = self.totals.left_out;
        let given = match self.check {
            TotalsCheck::SameVintage => {
                "every region is one of the geography, and no nation or state is without totals"
            }
            TotalsCheck::AsGiven => {
                "taken as given: groups of regions that the geography does not have are noise alone"
            }
        };
        vec![
            ("totals", json!(given)),
            ("totals_of_other_states", json!(other_states)),
            ("totals_of_other_areas", json!(other_areas)),
            ("totals_without_units", json!(without_units)),
            ("totals_not_tabulated", json!(not_tabulated)),
        ]
    }

    fn each_record(
        &self,
        from: RecordSource,
        report: &mut ValidationReport,
        progress: &mut dyn FnMut(u64, u64),
        see: &mut SeeRecord,
    ) -> Result<Checked> {
        let PublicInputs { specification, geography, cef } = &self.public;
        let rules = |name: &str| HouseholdCheck::new(name, self.config.scope(), specification, geography);
        each_record(cef.as_ref(), RecordKind::Households, from, rules, report, progress, see)
    }

    fn levels(&self, pass: Pass) -> Result<Vec<HouseholdLevel>> {
        household_levels(pass, &self.config, &self.public.specification, &self.totals)
    }

    fn write(
        &self,
        (pass, levels): (Pass, &[HouseholdLevel]),
        counted: &Counted,
        folder: &Path,
        streams: &mut Streams,
        progress: &mut dyn FnMut(u64),
    ) -> Result<WrittenRows> {
        let mut tables = HouseholdTables::create(folder, pass, streams.insecure_seed())?;
        for level in levels {
            let tabulation = HouseholdTabulation::new(level, self.config.scope().allow_negative_counts(), streams)?;
            count(tabulation, level, counted, &mut |batch| {
                progress(batch.groups.len() as u64);
                tables.write(level, &batch)
            })?;
        }
        Ok(WrittenRows { rows: tables.finish()?, coterminous: None })
    }
}

/// Writes the tables of all passes without noise.
pub(super) fn write_exact(passes: &Passes<HouseholdInputs>, counted: &Counted, folder: &Path) -> Result<()> {
    for (pass, levels) in passes {
        let mut tables = HouseholdTables::create(folder, *pass, None)?;
        for level in levels {
            count(HouseholdTabulation::exact(level), level, counted, &mut |batch| tables.write(level, &batch))?;
        }
        tables.finish()?;
    }
    Ok(())
}

/// Passes the counts of a level to a tabulation.
fn count(
    mut tabulation: HouseholdTabulation,
    level: &HouseholdLevel,
    counted: &Counted,
    publish: &mut dyn FnMut(HouseholdBatch) -> Result<()>,
) -> Result<()> {
    counted.each_count(level.region_type, level.level, &mut |region, iteration, cell, count| {
        tabulation.count((region, iteration), cell, count, publish)
    })?;
    tabulation.finish(publish)
}
