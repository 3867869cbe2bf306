//! Checks whether the tables of a release agree with each other, and with the public inputs that they were made from.
//!
//! Without inputs: every table exists and there are no other files; every row has the form of its columns; no row is a duplicate; the cells
//! of a group are all cells of one table; all sums agree. With inputs: every region and iteration is one of theirs and is tabulated; no
//! group is missing that is never suppressed; no suppressed group is published; the detail follows the inputs; and the certificate is
//! recomputed. All of it is held in memory: 24 bytes for each row.
//!
//! | file | subject |
//! | --- | --- |
//! | `certificate` | both files of the certificate, and their recomputation |
//! | `rows` | the rows of tables, read and sorted |
//! | `persons` | T1 and T2 |
//! | `households` | T3 and T4 |

mod certificate;
mod households;
mod persons;
mod rows;

use std::{fs, path::Path};

use self::rows::Tables;
use super::{
    schema::{Rule, ValidationReport, rows::name_of, validation::Location},
    tabulate::{Inputs, Job},
};
use crate::error::{Error, Result};

/// The result of verifying the folder of a release.
#[derive(Clone, Debug)]
pub struct VerifiedRelease {
    /// Every broken rule.
    pub report: ValidationReport,
    /// The program of the release: `SafeTab-P` or `SafeTab-H`.
    pub algorithm: &'static str,
    /// The number of published groups.
    pub groups: u64,
    /// The number of rows by table.
    pub rows: Vec<(&'static str, u64)>,
}

/// Checks the tables in a folder and, if a job is given, whether they can be a release of its public inputs. An error if an input of the
/// job breaks a rule, or a file cannot be read; violations of the release are in the report.
pub fn verify_release(folder: &Path, job: Option<&Job>) -> Result<VerifiedRelease> {
    let mut report = ValidationReport::new();
    let inputs = match job {
        None => None,
        Some(job) => {
            let mut broken = ValidationReport::new();
            let inputs = job.inputs(&mut broken);
            broken.into_result()?;
            inputs
        }
    };
    let names = check_folder(folder, &mut report)?;
    let is_of_households = match &inputs {
        Some(Inputs::Persons(_)) => false,
        Some(Inputs::Households(_)) => true,
        None => names.iter().any(|name| name == "t3" || name == "t4"),
    };
    let (mut tables, algorithm) = match is_of_households {
        true => (Tables::read(folder, &households::TABLES, &mut report), "SafeTab-H"),
        false => (Tables::read(folder, &persons::TABLES, &mut report), "SafeTab-P"),
    };
    check_others(folder, &names, is_of_households, &mut report);
    tables.sort(&mut report);
    certificate::check(folder, &tables, job.zip(inputs.as_ref()), &mut report)?;
    let groups = match (&inputs, is_of_households) {
        (Some(Inputs::Persons(inputs)), _) => persons::check(&tables, Some(inputs), &mut report)?,
        (Some(Inputs::Households(inputs)), _) => households::check(&tables, Some(inputs), &mut report)?,
        (None, false) => persons::check(&tables, None, &mut report)?,
        (None, true) => households::check(&tables, None, &mut report)?,
    };
    Ok(VerifiedRelease { report, algorithm, groups, rows: tables.lengths() })
}

/// The names in the folder of a release.
fn check_folder(folder: &Path, report: &mut ValidationReport) -> Result<Vec<String>> {
    let wrong = |why: std::io::Error| crate::io::files::file_error(folder, why);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(wrong)? {
        names.push(entry.map_err(wrong)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    if !names.iter().any(|name| ["t1", "t2", "t3", "t4"].contains(&name.as_str())) {
        let file = name_of(folder);
        report.add(Location { file: &file, ..Location::default() }, Rule::Empty, "", "the tables of a release");
        return Err(Error::Input { report: report.to_string().trim_end().to_string() });
    }
    Ok(names)
}

/// Checks that a release has its tables and its certificate, and nothing else.
fn check_others(folder: &Path, names: &[String], is_of_households: bool, report: &mut ValidationReport) {
    let tables = if is_of_households { ["t3", "t4"] } else { ["t1", "t2"] };
    for name in names {
        if !tables.contains(&name.as_str()) && !certificate::FILES.contains(&name.as_str()) {
            let file = name_of(&folder.join(name));
            let allowed = format!("{}, {} and the certificate", tables[0], tables[1]);
            report.add(Location { file: &file, ..Location::default() }, Rule::UnexpectedGroup, name, &allowed);
        }
    }
}
