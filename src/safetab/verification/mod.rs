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
//! | `verified` | the tables of a program, as a trait |
//! | `persons` | T1 and T2 |
//! | `households` | T3 and T4 |

mod certificate;
mod households;
mod persons;
mod rows;
mod verified;

use std::{fs, path::Path};

use self::{rows::Tables, verified::Verified};
use super::{
    country::ALGORITHM,
    schema::{Rule, ValidationReport, rows::name_of, validation::Location},
    tabulate::{HouseholdInputs, PersonInputs, ProgramInputs, PublicJob},
};
use crate::error::{Error, Result};

/// Why the release of a country's specification is not verified.
const OF_A_COUNTRY: &str = "only releases in the bureau's format can be verified, and this one has a country's own specification: run the same command with \
                            --dry-run --json, and compare what it prints with certificate.json";

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

/// Checks the tables in a folder and, if the public side of a job is given, whether they can be a release of its inputs. An error if an
/// input of the job breaks a rule, or a file cannot be read; violations of the release are in the report.
pub fn verify_release(folder: &Path, job: Option<&PublicJob>) -> Result<VerifiedRelease> {
    match job {
        Some(job) => match job.program {
            ProgramInputs::Persons { .. } => verify::<PersonInputs>(folder, Some(job)),
            ProgramInputs::Households { .. } => verify::<HouseholdInputs>(folder, Some(job)),
            ProgramInputs::Country => Err(Error::unsuitable(OF_A_COUNTRY)),
        },
        None if is_of_country(folder)? => Err(Error::unsuitable(OF_A_COUNTRY)),
        None if names_in(folder)?.iter().any(|name| HouseholdInputs::FOLDERS.contains(&name.as_str())) => {
            verify::<HouseholdInputs>(folder, None)
        }
        None => verify::<PersonInputs>(folder, None),
    }
}

/// Whether a release is of a country's own specification: by its certificate, or by its files, if it has no certificate.
fn is_of_country(folder: &Path) -> Result<bool> {
    let text = fs::read_to_string(folder.join(certificate::FILES[0])).unwrap_or_default();
    let stated: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    Ok(stated["algorithm"] == ALGORITHM || names_in(folder)?.iter().any(|name| name == "totals.csv"))
}

fn verify<P: Verified>(folder: &Path, job: Option<&PublicJob>) -> Result<VerifiedRelease> {
    let mut report = ValidationReport::new();
    let inputs = match job {
        None => None,
        Some(job) => {
            let mut broken = ValidationReport::new();
            let inputs = job.inputs::<P>(&mut broken)?;
            broken.into_result()?;
            inputs
        }
    };
    let names = check_folder(folder, &mut report)?;
    let mut tables = Tables::read(folder, P::TABLES, &mut report);
    check_others(folder, &names, P::FOLDERS, &mut report);
    tables.sort(&mut report);
    certificate::check(folder, &tables, job.zip(inputs.as_ref()), &mut report)?;
    let groups = P::check(&tables, inputs.as_ref(), &mut report)?;
    Ok(VerifiedRelease { report, algorithm: P::ALGORITHM, groups, rows: tables.lengths() })
}

/// The names in a folder, sorted.
fn names_in(folder: &Path) -> Result<Vec<String>> {
    let wrong = |why: std::io::Error| crate::io::files::file_error(folder, why);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(wrong)? {
        names.push(entry.map_err(wrong)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// The names in the folder of a release, which has some of the tables.
fn check_folder(folder: &Path, report: &mut ValidationReport) -> Result<Vec<String>> {
    let names = names_in(folder)?;
    if !names.iter().any(|name| ["t1", "t2", "t3", "t4"].contains(&name.as_str())) {
        let file = name_of(folder);
        report.add(Location { file: &file, ..Location::default() }, Rule::Empty, "", "the tables of a release");
        return Err(Error::Input { report: report.to_string().trim_end().to_string() });
    }
    Ok(names)
}

/// Checks that a release has its tables and its certificate, and nothing else.
fn check_others(folder: &Path, names: &[String], tables: [&str; 2], report: &mut ValidationReport) {
    for name in names {
        if !tables.contains(&name.as_str()) && !certificate::FILES.contains(&name.as_str()) {
            let file = name_of(&folder.join(name));
            let allowed = format!("{}, {} and the certificate", tables[0], tables[1]);
            report.add(Location { file: &file, ..Location::default() }, Rule::UnexpectedGroup, name, &allowed);
        }
    }
}
