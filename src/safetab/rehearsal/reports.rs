//! The reports of a rehearsal as CSV: two in the bureau's columns, and others with what these lack.
//!
//! They differ from the bureau's reports in three ways. The size of a group of households counts each household once, and errors are those
//! of measured cells only, without their sums. The number of groups counts groups, not cells. The expected margin is the exact one of the
//! noise, with the stability of the specification; it is empty for a table that no group has.

use std::{collections::BTreeSet, path::Path};

use rug::{Float, float::Round};

use super::results::{Rehearsed, RehearsedLevel, Stratum, TableErrors, table_of};
use crate::{
    error::Result,
    io::files::{fill_folder, fill_private_folder},
    safetab::{
        country::ALGORITHM,
        csv_file::CsvFile,
        groups::Specification,
        household_tables::HouseholdTopic,
        schema::{IterationCode, RegionType},
        tables::PublishedTable,
    },
};

/// The bureau's names for the workloads.
const WORKLOADS: [&str; 4] = ["Total", "Sex x Age(4)", "Sex x Age(9)", "Sex x Age(23)"];
/// The common columns of all reports on one run.
const OF_GROUP: [&str; 6] =
    ["REGION_ID", "REGION_TYPE", "ITERATION_CODE", "DETAILED_ONLY", "COARSE_ONLY", "Population group size"];

/// `error_report.csv`: one row for each published group of one run.
pub(super) struct OneRun<'a> {
    csv: CsvFile<'a>,
    detailed_only: BTreeSet<IterationCode>,
    coarse_only: BTreeSet<IterationCode>,
}

impl<'a> OneRun<'a> {
    /// An empty report for persons or for households.
    pub(super) fn create(path: &'a Path, specification: &Specification, of_households: bool) -> Result<Self> {
        let own: &[&str] = match of_households {
            false => &["Workload selected", "Total absolute error", "Total squared error"],
            true => &[
                "Total absolute error in T3",
                "Total squared error in T3",
                "Total absolute error in T4",
                "Total squared error in T4",
            ],
        };
        let iterations = specification.all_iterations();
        Ok(OneRun {
            csv: CsvFile::create(path, OF_GROUP.iter().chain(own))?,
            detailed_only: iterations.iter().filter(|it| it.detailed_only).map(|it| it.code).collect(),
            coarse_only: iterations.iter().filter(|it| it.coarse_only).map(|it| it.code).collect(),
        })
    }

    fn head(&self, region: &str, region_type: RegionType, iteration: IterationCode, size: i64) -> Vec<String> {
        let flag = |known: &BTreeSet<IterationCode>| if known.contains(&iteration) { "True" } else { "False" };
        vec![
            region.to_string(),
            region_type.name().to_string(),
            iteration.to_string(),
            flag(&self.detailed_only).to_string(),
            flag(&self.coarse_only).to_string(),
            size.to_string(),
        ]
    }

    /// Adds a group of persons.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn person(
        &mut self,
        region: &str,
        region_type: RegionType,
        iteration: IterationCode,
        size: i64,
        table: PublishedTable,
        published: &[i64],
        exact: &[i64],
    ) -> Result<()> {
        let mut row = self.head(region, region_type, iteration, size);
        row.push(WORKLOADS[table as usize].to_string());
        let errors = published.iter().zip(exact).map(|(noisy, exact)| i128::from(*noisy) - i128::from(*exact));
        row.extend(absolute_and_squared(errors));
        self.csv.row(row)
    }

    /// Adds a group of households, with the errors of its measured cells in T3 and T4.
    pub(super) fn household(
        &mut self,
        region: &str,
        region_type: RegionType,
        iteration: IterationCode,
        size: i64,
        errors: &[Option<Vec<i128>>; 2],
    ) -> Result<()> {
        let mut row = self.head(region, region_type, iteration, size);
        for errors in errors {
            match errors {
                Some(errors) => row.extend(absolute_and_squared(errors.iter().copied())),
                None => row.extend([String::new(), String::new()]),
            }
        }
        self.csv.row(row)
    }

    pub(super) fn finish(self) -> Result<()> {
        self.csv.finish().map(drop)
    }
}

/// The sums of absolute and of squared errors.
fn absolute_and_squared(errors: impl Iterator<Item = i128>) -> [String; 2] {
    let (absolute, squared) = errors.fold((0_u128, 0_u128), |(absolute, squared), error| {
        let size = error.unsigned_abs();
        (absolute.saturating_add(size), squared.saturating_add(size.saturating_mul(size)))
    });
    [absolute.to_string(), squared.to_string()]
}

/// A number as the bureau prints it: two decimals, or like 1.23E-03 between 0 and 0.01; empty for `None`.
fn as_the_bureau(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        Some(value) if value > 0.0 && value < 0.01 => {
            let (digits, exponent) = format!("{value:.2e}").split_once('e').map_or_else(
                || (value.to_string(), 0),
                |(digits, exponent)| (digits.to_string(), exponent.parse::<i32>().unwrap_or(0)),
            );
            format!("{digits}E{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
        }
        Some(value) => format!("{value:.2}"),
    }
}

fn boolean(value: bool) -> String {
    if value { "True" } else { "False" }.to_string()
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// An end of an enclosure, rounded outward.
fn end(value: &Float, round: Round) -> String {
    value.to_f64_round(round).to_string()
}

fn share(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

/// Rehearses into a folder, which is written completely or not at all, with the reports. `more` may add to it before it gets its name. Reports
/// beside the truth of real records are as confidential as the records.
pub(super) fn written(
    out: &Path,
    is_made_up: bool,
    more: &mut dyn FnMut(&Rehearsed, &Path) -> Result<()>,
    rehearse: impl FnOnce(&Path) -> Result<Rehearsed>,
) -> Result<Rehearsed> {
    let fill = |folder: &Path| {
        let found = rehearse(folder)?;
        write(&found, folder)?;
        more(&found, folder)?;
        Ok(found)
    };
    if is_made_up { fill_folder(out, fill) } else { fill_private_folder(out, fill) }
}

/// Writes all reports on many runs into a folder.
fn write(found: &Rehearsed, folder: &Path) -> Result<()> {
    let of_households = found.of_households;
    // The bureau's columns are for its tables.
    let is_of_bureau = found.algorithm != ALGORITHM;
    let many = folder.join("multi_run_error_report.csv");
    if of_households {
        many_households(found, &many)?
    } else if is_of_bureau {
        many_persons(found, &many)?
    }
    margins(found, &folder.join("margins.csv"))?;
    errors(found, &folder.join("errors.csv"))?;
    if !of_households {
        suppression(found, &folder.join("suppression.csv"))?;
    }
    if !of_households && is_of_bureau {
        coterminous(found, &folder.join("coterminous.csv"))?;
    }
    Ok(())
}

/// The report on many runs over persons: how often each workload was chosen, and the 95 % quantile of its absolute errors.
fn many_persons(found: &Rehearsed, path: &Path) -> Result<()> {
    let of_workload =
        |name: &&str| [format!("Average proportion of pop groups with workload = {name}"), format!("MOE of {name}")];
    let heading = ["REGION_TYPE", "ITERATION_LEVEL", "DETAILED_ONLY", "Population group size"].map(String::from);
    let mut csv = CsvFile::create(path, heading.into_iter().chain(WORKLOADS.iter().flat_map(of_workload)))?;
    for level in &found.levels {
        for stratum in level.strata.iter().filter(|stratum| stratum.published() > 0) {
            let mut row = vec![
                level.region_type.clone(),
                level.level.to_string(),
                boolean(stratum.detailed_only),
                stratum.interval(),
            ];
            for table in &stratum.tables {
                row.push(as_the_bureau(share(table.groups, stratum.published())));
                row.push(as_the_bureau(table.errors.quantile_95()));
            }
            csv.row(row)?;
        }
    }
    csv.finish().map(drop)
}

/// The report on many runs over households: the 95 % quantile of the absolute errors, with the stated margin.
fn many_households(found: &Rehearsed, path: &Path) -> Result<()> {
    let heading = [
        "Table",
        "REGION_TYPE",
        "ITERATION_LEVEL",
        "Population group size",
        "STAT_LEVEL",
        "Number of pop groups",
        "Expected MOE",
        "MOE",
    ];
    let mut csv = CsvFile::create(path, heading)?;
    for topic in HouseholdTopic::ALL {
        for level in &found.levels {
            let cell = format!("{} cell", topic.name());
            let expected = level.margins.iter().find(|margin| margin.of == cell).map(|margin| margin.margin);
            for stratum in &level.strata {
                for detail in 0..topic.tables().len() {
                    let table = &stratum.tables[table_of(topic, detail)];
                    if table.groups == 0 {
                        continue;
                    }
                    csv.row([
                        topic.name().to_string(),
                        level.region_type.clone(),
                        level.level.to_string(),
                        stratum.interval(),
                        detail.to_string(),
                        as_the_bureau(Some(table.groups as f64 / f64::from(found.trials))),
                        expected.map_or_else(String::new, |margin| margin.to_string()),
                        as_the_bureau(table.errors.quantile_95()),
                    ])?;
                }
            }
        }
    }
    csv.finish().map(drop)
}

/// The names of a level.
fn names(level: &RehearsedLevel) -> [String; 3] {
    let kind = level.level.as_str().map_or_else(|| level.level.to_string(), str::to_string);
    [level.pass.clone(), level.region_type.clone(), kind]
}

/// `margins.csv`: the stated margin of each kind of count, and the errors before suppression and replacement.
fn margins(found: &Rehearsed, path: &Path) -> Result<()> {
    let heading = "pass,region_type,level,count_of,margin,coverage_stated_lower,coverage_stated_upper,counts,covered,\
                   coverage_seen,bias,bias_standard_error,root_mean_square_error,holds";
    let mut csv = CsvFile::create(path, heading.split(','))?;
    for level in &found.levels {
        for stated in &level.margins {
            let (covered, count) = (stated.covered(), stated.errors.count());
            let own = [
                stated.of.clone(),
                stated.margin.to_string(),
                end(stated.coverage.lower(), Round::Down),
                end(stated.coverage.upper(), Round::Up),
                count.to_string(),
                covered.to_string(),
                number(share(covered, count)),
                number(stated.errors.mean()),
                number(stated.errors.standard_error()),
                number(stated.errors.root_mean_square()),
                stated.holds().to_string(),
            ];
            csv.row(names(level).into_iter().chain(own))?;
        }
    }
    csv.finish().map(drop)
}

/// `errors.csv`: the errors of published counts, by size and table.
fn errors(found: &Rehearsed, path: &Path) -> Result<()> {
    let heading = "pass,region_type,level,detailed_only,size_from,size_to,groups,suppressed,table,published,share,counts,\
                   covered,coverage,bias,bias_standard_error,mean_absolute_error,root_mean_square_error,quantile_95";
    let mut csv = CsvFile::create(path, heading.split(','))?;
    for level in &found.levels {
        for stratum in &level.strata {
            let none = stratum.published() == 0;
            let shown = |(_, table): &(usize, &TableErrors)| table.groups > 0;
            for (place, table) in stratum.tables.iter().enumerate().filter(shown) {
                csv.row(names(level).into_iter().chain(error_row(stratum, &found.tables[place], table)))?;
            }
            if none {
                csv.row(names(level).into_iter().chain(error_row(stratum, "none", &TableErrors::default())))?;
            }
        }
    }
    csv.finish().map(drop)
}

fn error_row(stratum: &Stratum, name: &str, table: &TableErrors) -> Vec<String> {
    let (from, to) = stratum.sizes();
    let errors = &table.errors;
    vec![
        stratum.detailed_only.to_string(),
        from.to_string(),
        to.map_or_else(String::new, |to| to.to_string()),
        stratum.groups.to_string(),
        stratum.suppressed.to_string(),
        name.to_string(),
        table.groups.to_string(),
        number(share(table.groups, stratum.groups)),
        errors.count().to_string(),
        table.covered.to_string(),
        number(share(table.covered, errors.count())),
        number(errors.mean()),
        number(errors.standard_error()),
        number(errors.mean_absolute()),
        number(errors.root_mean_square()),
        number(errors.quantile_95()),
    ]
}

/// `suppression.csv`: how often groups of each small size were suppressed, with the probability.
fn suppression(found: &Rehearsed, path: &Path) -> Result<()> {
    let heading = "pass,region_type,level,detailed_only,size,groups,suppressed,rate,probability_lower,\
                   probability_upper,holds";
    let mut csv = CsvFile::create(path, heading.split(','))?;
    for level in &found.levels {
        for (detailed_only, size) in &level.suppression {
            let own = [
                detailed_only.to_string(),
                size.size.to_string(),
                size.groups.to_string(),
                size.suppressed.to_string(),
                number(share(size.suppressed, size.groups)),
                end(size.probability.lower(), Round::Down),
                end(size.probability.upper(), Round::Up),
                size.holds().to_string(),
            ];
            csv.row(names(level).into_iter().chain(own))?;
        }
    }
    csv.finish().map(drop)
}

/// `coterminous.csv`: the effect of publishing the same counts for coterminous regions.
fn coterminous(found: &Rehearsed, path: &Path) -> Result<()> {
    let heading = "pass,region_type,level,groups,replaced,filled,contradicted,mean_absolute_error_own,\
                   mean_absolute_error_given,root_mean_square_error_own,root_mean_square_error_given";
    let mut csv = CsvFile::create(path, heading.split(','))?;
    for level in &found.levels {
        let Some(effect) = &level.coterminous else { continue };
        let own = [
            (level.groups * u64::from(found.trials)).to_string(),
            effect.replaced.to_string(),
            effect.filled.to_string(),
            effect.contradicted.to_string(),
            number(effect.own.mean_absolute()),
            number(effect.given.mean_absolute()),
            number(effect.own.root_mean_square()),
            number(effect.given.root_mean_square()),
        ];
        csv.row(names(level).into_iter().chain(own))?;
    }
    csv.finish().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_the_bureau_prints_them() {
        let expected = [(0.5, "0.50"), (8.65, "8.65"), (0.0, "0.00"), (0.00123, "1.23E-03"), (0.01, "0.01")];
        expected.iter().for_each(|(value, text)| assert_eq!(as_the_bureau(Some(*value)), *text));
        assert_eq!(as_the_bureau(None), "");
    }

    #[test]
    fn sums_of_errors_agree_with_the_bureaus_vector() {
        let errors =
            |noisy: [i128; 5], exact: [i128; 5]| absolute_and_squared((0..5).map(move |k| noisy[k] - exact[k]));
        assert_eq!(errors([-1, 3, -2, 1, 3], [0, 2, 0, 2, 2]), ["6", "8"]);
        assert_eq!(errors([-1, -4, -4, -3, 0], [0, 0, 0, 3, 0]), ["15", "69"]);
    }
}
