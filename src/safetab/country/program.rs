//! SafeTab-P by a country's specification, as a run needs it.

use std::path::{Path, PathBuf};

use rug::Rational;
use serde_json::{Value, json};

use super::{
    algorithm::ALGORITHM,
    counts::{CountryCounting, CountryCounts},
    geography::Areas,
    levels::{self, CountryLevel},
    output::{self, CountryTables, TABLES},
    records::{PersonRecord, SeePerson, each_record},
    same_places::SamePlaces,
    specification::CountrySpecification,
};
use crate::{
    error::{Error, Result},
    noise::Streams,
    safetab::{
        schema::{Privacy, ValidationReport, cef::CefFiles},
        tabulate::{
            Checked, InputPaths, Passes, Program, RecordSource,
            certificate::WrittenRows,
            two_stage::{GroupBatch, StagedLevel, Tabulation},
        },
    },
    topdown::jobs::Progress,
};

/// A country's specification and geography.
pub(in crate::safetab) struct CountryInputs {
    /// The specification.
    pub(in crate::safetab) specification: CountrySpecification,
    /// The geography.
    pub(in crate::safetab) areas: Areas,
}

impl CountryInputs {
    /// Reads both files. Broken rules of the geography are in the report.
    pub(in crate::safetab) fn read_files(
        specification: &Path,
        geography: &Path,
        report: &mut ValidationReport,
    ) -> Result<CountryInputs> {
        let specification = CountrySpecification::read(specification)?;
        let areas = Areas::read(geography, &specification, report)?;
        Ok(CountryInputs { specification, areas })
    }

    fn each_record(
        &self,
        from: RecordSource,
        mut report: ValidationReport,
        progress: &mut dyn FnMut(Progress),
        see: &mut SeePerson,
    ) -> Result<Checked> {
        let of = (&self.specification, &self.areas);
        let mut tabulated = 0;
        let mut see = |record: &PersonRecord| {
            tabulated += u64::from(self.areas.is_tabulated(record.area));
            see(record)
        };
        let records = each_record(from.path, from.files, of, &mut report, progress, &mut see)?;
        report.into_result()?;
        Ok(Checked { records, tabulated })
    }
}

impl Program for CountryInputs {
    type Level = CountryLevel;
    type Pass = usize;
    type Counts<'a> = CountryCounts<'a>;

    const CUT_BLOCKS: &'static str = "";

    fn read(paths: &InputPaths, report: &mut ValidationReport) -> Result<Option<Self>> {
        CountryInputs::read_files(paths.specification, paths.geography, report).map(Some)
    }

    fn files(paths: &InputPaths) -> Result<Vec<(String, PathBuf)>> {
        let files = [("specification", paths.specification), ("geography", paths.geography)];
        let files = files.map(|(role, path)| (role.to_string(), path.to_path_buf()));
        let companions = CountrySpecification::read(paths.specification)?.companions;
        Ok(files.into_iter().chain(companions).collect())
    }

    fn algorithm(&self) -> &'static str {
        ALGORITHM
    }

    fn is_of_households(&self) -> bool {
        false
    }

    fn privacy(&self) -> Privacy {
        self.specification.privacy
    }

    fn allow_negative_counts(&self) -> bool {
        self.specification.allow_negative_counts
    }

    fn gamma(&self) -> Option<&Rational> {
        self.specification.gamma.as_ref()
    }

    fn notes(&self) -> Vec<(&'static str, Value)> {
        let mut notes = vec![("title", json!(self.specification.title))];
        if self.specification.geography.same_places {
            let by = self
                .areas
                .land_column
                .as_ref()
                .map_or("all areas".to_string(), |column| format!("areas with land, by {column}"));
            notes.push(("coterminous_regions_share", json!(by)));
        }
        notes
    }

    fn edited(&self) -> Option<&CefFiles> {
        None
    }

    fn passes(&self) -> Result<Passes<Self>> {
        let parts = levels::by_part(&self.specification, Some(&self.areas))?;
        if parts.iter().flat_map(|(_, levels)| levels).all(|level| StagedLevel::groups(level) == 0) {
            return Err(Error::missing("nothing to tabulate: no area is in a region of a level that is tabulated"));
        }
        Ok(parts)
    }

    fn pass_name(&self, part: usize) -> String {
        self.specification.geography.parts[part].name.clone()
    }

    /// The area of a record, its row in the geography, and the codes of every part decide.
    fn parts(&self, files: &[(String, String)]) -> String {
        let geography = files.iter().find(|(role, _)| role == "geography").map(|(_, hash)| hash);
        let rules = &self.specification.geography;
        let parts: Vec<_> = rules.parts.iter().map(|part| (&part.name, &part.chosen)).collect();
        json!([geography, rules.area, parts]).to_string()
    }

    fn check_records(
        &self,
        from: RecordSource,
        report: ValidationReport,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Checked> {
        self.each_record(from, report, progress, &mut |_| Ok(()))
    }

    fn count<'a>(
        &'a self,
        from: RecordSource,
        folder: &Path,
        report: ValidationReport,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(CountryCounts<'a>, Checked)> {
        // Broken rules of the geography come first: records are checked against it.
        let mut counting = CountryCounting::new(&self.specification, &self.areas, folder)?;
        let checked = self.each_record(from, report, progress, &mut |record| counting.add(record))?;
        progress(Progress { stage: "counting", done: 0, of: 0 });
        Ok((counting.finish()?, checked))
    }

    fn write(
        &self,
        (part, levels): (usize, &[CountryLevel]),
        counted: &CountryCounts<'_>,
        folder: &Path,
        streams: &mut Streams,
        progress: &mut dyn FnMut(u64),
    ) -> Result<WrittenRows> {
        let paths = output::paths(folder, &self.specification, part);
        let mut tables = CountryTables::create(&paths, &self.specification, streams.insecure_seed())?;
        let mut same_places = SamePlaces::new(&self.specification, &self.areas, levels);
        for (place, level) in levels.iter().enumerate() {
            let mut tabulation = Tabulation::new(level, self.specification.allow_negative_counts)?;
            let mut publish = |batch: GroupBatch<usize>| {
                progress(batch.tables.len() as u64);
                tables.write(level, &batch, |region| !same_places.holds(place, region))?;
                same_places.write(place, &batch, &mut tables)
            };
            counted.each_count(level, &mut |region, group, cell, count| {
                tabulation.count((region, group), cell, count, streams, &mut publish)
            })?;
            tabulation.finish(streams, &mut publish)?;
        }
        let rows = TABLES.into_iter().zip(tables.finish()?);
        let coterminous = self.specification.geography.same_places.then(|| same_places.replaced());
        Ok(WrittenRows { rows: rows.collect(), coterminous })
    }
}
