//! Audit of the noise in a folder of noisy measurement files: does the pure noise in it have the laws of its release?
//!
//! Three kinds of pure noise are in such files:
//!
//! 1. Zeros: a count whose cells are all zero by constraints, as those of a group quarters type without a facility, is one draw.
//! 2. Totals: where a constraint gives the exact total of a unit, the sum of the counts of a query minus the total is a sum of as
//!    many draws. The exact total of a state, from the files or given, is that of all its parts together. Where the law of such a sum is too
//!    wide to be enumerated, sums of squares are bounded.
//! 3. Consistency: the counts of children and their parent differ by noise alone, and so do the queries of one unit, see
//!    [`fit`](super::fit).
//!
//! All are read in the one pass of a [`check`](super::check), so a folder that an audit accepts as readable has passed its checks. Memory: the
//! histograms, a hash of each row of zeros, the draws of first children, and lists of zero counts. Of a query at most 4096 zeros of one unit are
//! used. Signs are fair coins given all magnitudes, so products of draws of any two places are tested without any asymptotics: neighbors in a row,
//! the same count of neighboring units, of parents and children and of two queries, and a count that is not zero.
//!
//! Counts that were changed after the noise, as published tables, hold no pure noise: nothing here applies to them. Files of tables are refused,
//! and a folder whose counts agree exactly is said to hold none.

mod groups;
mod source;
mod sums;
mod tables;
mod volume;
mod zeros;

use std::{collections::BTreeMap, path::Path};

use rayon::prelude::*;
use rug::Rational;

use super::{
    budgets::Budgets,
    check::{NmfReport, keep_states, observed},
    complete::state_of,
    folder::NmfFolder,
    names::Names,
    totals::{self, GivenTotals},
};
use crate::{
    audit::{
        Test, Verdict,
        battery::{agreement_test, product_test},
        interval::Interval,
        proven::ProvenP,
        report::key,
    },
    error::{Error, Result},
    release::Release,
};
use groups::{Group, Groups, PAIRS};
pub use source::{Kind, Source};
pub use volume::{Volume, volumes};
pub use zeros::MOST;

/// A test of a source.
#[derive(Clone, Debug)]
pub struct NmfTest {
    /// The number of its source.
    pub source: usize,
    /// The test.
    pub test: Test,
}

/// The audit of a folder.
#[derive(Clone, Debug)]
pub struct NmfAudit {
    /// The check of the same files.
    pub report: NmfReport,
    /// The sources of pure noise.
    pub sources: Vec<Source>,
    /// All tests.
    pub tests: Vec<NmfTest>,
    /// The verdict over all tests.
    pub verdict: Verdict,
    /// The states whose exact totals are not used, because a part of the state is not in the folder or has no counts.
    pub unused_totals: Vec<u32>,
    /// A note about given totals of states that are not in the folder.
    pub note: Option<String>,
    /// The number of draws of single counts, and of sums.
    pub draws: (u64, u64),
}

/// The parts of a folder to audit, and exact totals.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Only these states; all if none is named.
    pub states: Vec<u32>,
    /// Exact totals of states beside those of the files.
    pub totals: GivenTotals,
}

/// Reads the files of some states, or of all if none is named, and tests all pure noise in them.
pub fn audit(folder: &Path, release: &Release, asked: &Asked, false_alarm_rate: &Rational) -> Result<NmfAudit> {
    let names = Names::new(release)?;
    tables::refuse(folder, &names.levels)?;
    let budgets = Budgets::new(release, &names)?;
    let mut groups = Groups::new(&names, &budgets, key()?);
    let report = observed(folder, release, &asked.states, &mut groups)?;
    let (unused_totals, note) = add_states(folder, &names, asked, (&report, &mut groups))?;
    let found = groups.found();
    let of_kind = |kinds: [Kind; 2]| {
        let own = found.single.iter().filter(|group| kinds.contains(&group.0.kind)).map(|group| group.1.tally.draws());
        let wide = found.wide.iter().filter(|wide| kinds.contains(&wide.0.kind)).map(|wide| wide.1.sums);
        own.chain(wide).sum::<u64>()
    };
    let draws = (of_kind([Kind::Zeros; 2]), of_kind([Kind::Totals, Kind::StateTotals]));
    let level = Rational::from(false_alarm_rate / (found.single.len().max(1) as u64));
    let tested: Vec<(Source, Vec<Test>)> =
        found.single.into_par_iter().map(|(source, group)| tested(source, group, &level)).collect::<Result<_>>()?;
    let wide = found.wide.into_iter().map(|(source, wide)| (source, vec![wide.test()]));
    let (mut sources, mut tests) = (Vec::new(), Vec::new());
    for (source, own) in tested.into_iter().chain(wide).chain(consistency(&report)) {
        tests.extend(own.into_iter().map(|test| NmfTest { source: sources.len(), test }));
        sources.push(source);
    }
    let ps: Vec<ProvenP> = tests.iter().map(|test| test.test.p).collect();
    let verdict = Verdict::new(&ps, false_alarm_rate);
    Ok(NmfAudit { report, sources, tests, verdict, unused_totals, note, draws })
}

/// Adds the sums over states with exact totals; the states whose totals are not used, and a note about others.
fn add_states(
    folder: &Path,
    names: &Names,
    asked: &Asked,
    (report, groups): (&NmfReport, &mut Groups),
) -> Result<(Vec<u32>, Option<String>)> {
    let given = asked.totals.totals();
    if names.are_two() {
        return match given.is_empty() {
            true => Ok((Vec::new(), None)),
            false => Err(Error::unsuitable(
                "exact totals of states are not taken for households: a home that is vacant in a neighboring data set is no household there",
            )),
        };
    }
    let mut folder = NmfFolder::open(folder, &names.levels)?;
    keep_states(&mut folder, &asked.states)?;
    let mut states: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    report.parts.iter().for_each(|part| states.entry(state_of(part)).or_default().push(part.clone()));
    let here: Vec<u32> = states.keys().copied().collect();
    let note = if given.is_empty() { None } else { asked.totals.held_against(&here, &report.missing)? };
    let given = given.into_iter().filter(|(state, _)| here.contains(state)).collect();
    let totals = totals::joined(given, &totals::of_files(&folder, names, groups.first(), &states)?)?;
    let halves: Vec<u32> = report.missing.halves_of(&here).map(|part| state_of(part)).collect();
    let is_whole =
        |state: u32, parts: usize| !halves.contains(&state) && states.get(&state).is_some_and(|all| all.len() == parts);
    Ok((groups.add_states(&totals, is_whole), note))
}

/// The tests of the draws of one law.
fn tested(source: Source, mut group: Group, interval_level: &Rational) -> Result<(Source, Vec<Test>)> {
    let mut tested = group.law.tests(&group.tally);
    for (name, pairs) in PAIRS.into_iter().zip(&group.pairs).filter(|(_, pairs)| pairs.pairs() > 0) {
        tested.tests.push(product_test(name, pairs));
    }
    if group.pairs[0].pairs() > 0 {
        tested.tests.push(agreement_test("signs in a row", &group.pairs[0]));
    }
    let (rows, repeated) = group.rows.found();
    if rows > 1 {
        let p = if repeated == 0 { ProvenP::ONE } else { group.rows.p() };
        let what = format!("{repeated} of {rows} rows of {} draws repeat another one", group.rows.window());
        tested.tests.push(Test { name: "repeats", draws: rows, statistic: repeated as f64, p, what });
    }
    let source = Source {
        interval: Interval::of_tally(&group.law, &group.tally, interval_level)?,
        masses: group.law.masses_approx(&group.tally),
        shown: Some(tested.shown),
        ..source
    };
    Ok((source, tested.tests))
}

/// The comparisons of children and parents, by level and query.
fn consistency(report: &NmfReport) -> impl Iterator<Item = (Source, Vec<Test>)> {
    report.fit.iter().flat_map(|fit| &fit.rows).map(|row| {
        let source = Source {
            level: row.level.clone(),
            query: row.query.clone(),
            carried: 0,
            kind: Kind::Consistency,
            sigma2: None,
            shown: None,
            interval: None,
            masses: Vec::new(),
        };
        let ratio = row.chi_square / row.residuals.max(1) as f64;
        let what = format!(
            "chi-square {:.1} with {} degrees of freedom, ratio {ratio:.4} (asymptotic p {:.3})",
            row.chi_square, row.residuals, row.p_asymptotic
        );
        let p = ProvenP::of_bound(row.ln_p);
        (source, vec![Test { name: "residuals", draws: row.residuals, statistic: ratio, p, what }])
    })
}

impl NmfAudit {
    /// Whether all compared counts agree exactly, as those of tables that were made consistent after the noise.
    pub fn is_exactly_consistent(&self) -> bool {
        /// Fewer differences may all be zero by chance.
        const ENOUGH: u64 = 64;
        let rows = || self.report.fit.iter().flat_map(|fit| &fit.rows);
        rows().all(|row| row.chi_square == 0.0) && rows().map(|row| row.residuals).sum::<u64>() >= ENOUGH
    }

    /// The verdict in words.
    pub fn words(&self) -> String {
        let found = self.found_in_words();
        match self.is_exactly_consistent() {
            true => format!(
                "{found}. All counts agree exactly: they were made consistent after the noise, and hold none of it"
            ),
            false => found,
        }
    }

    fn found_in_words(&self) -> String {
        let draws = self.draws.0 + self.draws.1;
        match self.verdict.rejected.first() {
            Some(first) => {
                let NmfTest { source, test } = &self.tests[*first];
                let source = &self.sources[*source];
                let many = self.verdict.rejected.len();
                format!(
                    "DEVIATES in {many} of {} tests; farthest: {} {} ({}), {}: {}",
                    self.tests.len(),
                    source.level,
                    source.query,
                    source.kind.name(),
                    test.name,
                    test.what
                )
            }
            None if draws == 0 => {
                "consistent, but no count in the files is noise alone: only residuals were tested".to_string()
            }
            None => {
                let drawn = |source: &&Source| source.shown.as_ref().map_or(0, |shown| shown.draws);
                let most = self.sources.iter().filter(|source| source.interval.is_some()).max_by_key(drawn);
                let within = most.and_then(|source| Some((source, source.interval?))).map(|(source, found)| {
                    let (lower, upper) = found.words();
                    format!(
                        "; sigma2 of {} {}, of independent draws, is within {lower} and {upper} of the declared",
                        source.level, source.query
                    )
                });
                format!("consistent: none of {} tests rejects{}", self.tests.len(), within.unwrap_or_default())
            }
        }
    }

    /// The test of a source with the least corrected p-value.
    pub fn worst(&self, source: usize) -> Option<(&Test, ProvenP)> {
        let own = self.tests.iter().zip(&self.verdict.corrected).filter(|(test, _)| test.source == source);
        own.min_by(|a, b| a.0.test.p.order(b.0.test.p)).map(|(test, corrected)| (&test.test, *corrected))
    }
}
