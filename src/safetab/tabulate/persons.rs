//! SafeTab-P: persons, in two stages.

use std::path::Path;

use rug::Rational;
use serde_json::{Value, json};

use super::{
    certificate::WrittenRows,
    coterminous::{self, Coterminous},
    inputs::{Checked, InputPaths, PersonInputs, PublicInputs, RecordSource, SeeRecord, each_record},
    levels::{self, TabulatedLevel},
    output::ReleaseTables,
    program::BureauProgram,
    two_stage::{GroupBatch, Tabulation},
};
use crate::{
    error::Result,
    noise::Streams,
    safetab::{
        counting::Counted,
        schema::{LandColumn, Pass, RecordKind, RowCheck, RunScope, SafeTabConfig, ValidationReport},
    },
};

impl BureauProgram for PersonInputs {
    type Level = TabulatedLevel;

    const KIND: RecordKind = RecordKind::Persons;

    const CUT_BLOCKS: &'static str = "cut to blocks that hold a unit, as the bureau's reader does: which these are is taken from the unit files, \
                                      is no secret here, and is not part of the guarantee";

    fn read(paths: &InputPaths, report: &mut ValidationReport) -> Option<Self> {
        let config = SafeTabConfig::read(paths.config, report)?;
        let (public, _) = paths.public(config.scope(), RecordKind::Persons, report)?;
        Some(PersonInputs { config, order: paths.order.clone(), public })
    }

    fn scope(&self) -> &RunScope {
        self.config.scope()
    }

    fn public(&self) -> &PublicInputs {
        &self.public
    }

    fn gamma(&self) -> Option<&Rational> {
        Some(self.config.gamma())
    }

    fn notes(&self) -> Vec<(&'static str, Value)> {
        let by = match self.public.geography.land_column() {
            Some(LandColumn::Area) => "blocks with land, by AREALAND",
            Some(LandColumn::BlockType) => "blocks with land, by LWBLKTYP",
            None => "all blocks: no column of the geography distinguishes land from water",
        };
        vec![("coterminous_regions_share", json!(by)), ("summary_levels", json!(self.order.to_string()))]
    }

    fn each_record(
        &self,
        from: RecordSource,
        report: &mut ValidationReport,
        progress: &mut dyn FnMut(u64, u64),
        see: &mut SeeRecord,
    ) -> Result<Checked> {
        let PublicInputs { specification, geography, cef } = &self.public;
        let rules = |name: &str| RowCheck::new(name, &self.config, specification, geography);
        each_record(cef.as_ref(), RecordKind::Persons, from, rules, report, progress, see)
    }

    fn levels(&self, pass: Pass) -> Result<Vec<TabulatedLevel>> {
        let PublicInputs { specification, geography, .. } = &self.public;
        levels::levels(self.order.region_types(pass), &self.config, specification, geography)
    }

    fn write(
        &self,
        (pass, levels): (Pass, &[TabulatedLevel]),
        counted: &Counted,
        folder: &Path,
        streams: &mut Streams,
        progress: &mut dyn FnMut(u64),
    ) -> Result<WrittenRows> {
        let types = self.order.region_types(pass);
        let coterminous = Coterminous::new(coterminous::sets(&self.public.geography, types));
        let mut tables = ReleaseTables::create(folder, pass, types, coterminous, streams.insecure_seed())?;
        for level in levels {
            let mut tabulation = Tabulation::new(level, self.config.scope().allow_negative_counts())?;
            let mut publish = |batch: GroupBatch| {
                progress(batch.tables.len() as u64);
                tables.write(level, &batch)
            };
            counted.each_count(level.region_type, level.level, &mut |region, iteration, cell, count| {
                tabulation.count((region, iteration), cell, count, streams, &mut publish)
            })?;
            tabulation.finish(streams, &mut publish)?;
        }
        let written = tables.finish()?;
        let rows = vec![("t1", written.totals), ("t2", written.cells)];
        Ok(WrittenRows { rows, coterminous: Some(written.coterminous) })
    }
}
