//! Audit of the noise in a folder of noisy measurement files: does the pure noise in it have the laws of its release?
//!
//! Three kinds of pure noise are in such files:
//!
//! 1. Zeros: a count whose cells are all zero by constraints, as those of a group quarters type without a facility, is one draw.
//! 2. Totals: where a constraint gives the exact total of a unit, the sum of the counts of a query minus the total is a sum of as
//!    many draws.
//! 3. Consistency: the counts of children and their parent differ by noise alone, see [`fit`](super::fit).
//!
//! All are read in the one pass of a [`check`](super::check), so a folder that an audit accepts as readable has passed its checks. Memory: the
//! histograms, a hash of each row of zeros, the draws of first children, and lists of zero counts. Of a query at most 4096 zeros of one unit are
//! used. Signs are fair coins given all magnitudes, so products of draws of any two places are tested without any asymptotics: neighbors in a row,
//! the same count of neighboring units, of parents and children and of two queries, and a count that is not zero.
//!
//! Counts that were changed after the noise, as published tables, hold no pure noise: nothing here applies to them.

mod groups;
mod volume;
mod zeros;

use std::path::Path;

use rayon::prelude::*;
use rug::Rational;

use super::{
    budgets::Budgets,
    check::{NmfReport, observed},
    names::Names,
};
use crate::{
    audit::{
        Shown, Test, Verdict,
        battery::{agreement_test, product_test},
        interval::Interval,
        proven::ProvenP,
        report::key,
    },
    error::Result,
    release::Release,
};
pub use groups::Kind;
use groups::{Group, Groups, PAIRS, Place};
pub use volume::{Volume, volumes};
pub use zeros::MOST;

/// The draws of one law in a folder.
#[derive(Clone, Debug)]
pub struct Source {
    /// The level.
    pub level: String,
    /// The query.
    pub query: String,
    /// The number of levels whose shares the units carry.
    pub carried: usize,
    /// The kind of pure noise.
    pub kind: Kind,
    /// The parameter of the noise of one count.
    pub sigma2: Rational,
    /// Approximations; `None` for comparisons of children and parents.
    pub shown: Option<Shown>,
    /// Factors on sigma2 that are not rejected: all intervals of a folder together hold except with the false alarm
    /// rate.
    pub interval: Option<Interval>,
    /// Observed and declared masses, as [`crate::audit::Audited::masses_approx`].
    pub masses: Vec<(i64, f64, f64, f64)>,
}

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
    /// Draws without an exact law, because it is too wide or that of a sum of too many draws: level, query, and their number.
    pub untested: Vec<(String, String, u64)>,
    /// The number of draws of single counts, and of sums.
    pub draws: (u64, u64),
}

/// Reads the files of some states, or of all if none is named, and tests all pure noise in them.
pub fn audit(folder: &Path, release: &Release, states: &[u32], false_alarm_rate: &Rational) -> Result<NmfAudit> {
    let names = Names::new(release)?;
    let budgets = Budgets::new(release, &names)?;
    let mut groups = Groups::new(&names, &budgets, key()?);
    let report = observed(folder, release, states, &mut groups)?;
    let untested = groups.untested.iter().map(|((level, query), many)| {
        (names.levels[*level].clone(), names.queries(*level)[*query].name.clone(), *many)
    });
    let untested = untested.collect();
    let of = std::mem::take(&mut groups.of);
    let draws =
        |kind: Kind| of.iter().filter(|(place, _)| place.3 == kind).map(|(_, group)| group.tally.draws()).sum::<u64>();
    let draws = (draws(Kind::Zeros), draws(Kind::Totals));
    let level = Rational::from(false_alarm_rate / (of.len().max(1) as u64));
    let all: Vec<(Place, Group)> = of.into_iter().collect();
    let tested: Vec<(Source, Vec<Test>)> = all
        .into_par_iter()
        .map(|(place, group)| tested(&names, &budgets, place, group, &level))
        .collect::<Result<_>>()?;
    let (mut sources, mut tests) = (Vec::new(), Vec::new());
    for (source, own) in tested.into_iter().chain(consistency(&report)) {
        tests.extend(own.into_iter().map(|test| NmfTest { source: sources.len(), test }));
        sources.push(source);
    }
    let ps: Vec<ProvenP> = tests.iter().map(|test| test.test.p).collect();
    let verdict = Verdict::new(&ps, false_alarm_rate);
    Ok(NmfAudit { report, sources, tests, verdict, untested, draws })
}

/// The tests of the draws of one law.
fn tested(
    names: &Names,
    budgets: &Budgets,
    (level, query, carried, kind): Place,
    mut group: Group,
    interval_level: &Rational,
) -> Result<(Source, Vec<Test>)> {
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
        level: names.levels[level].clone(),
        query: names.queries(level)[query].name.clone(),
        carried,
        kind,
        sigma2: budgets.sigma2(level, carried, query).clone(),
        interval: Interval::of(&group.law, &group.tally, interval_level)?,
        masses: group.law.masses_approx(&group.tally),
        shown: Some(tested.shown),
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
            sigma2: Rational::new(),
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
    /// The verdict in words.
    pub fn words(&self) -> String {
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
                        "; sigma2 of {} {} is within {lower} and {upper} of the declared",
                        source.level, source.query
                    )
                });
                format!("consistent: no deviation that {draws} draws could show{}", within.unwrap_or_default())
            }
        }
    }

    /// The test of a source with the least corrected p-value.
    pub fn worst(&self, source: usize) -> Option<(&Test, ProvenP)> {
        let own = self.tests.iter().zip(&self.verdict.corrected).filter(|(test, _)| test.source == source);
        own.min_by(|a, b| a.0.test.p.order(b.0.test.p)).map(|(test, corrected)| (&test.test, *corrected))
    }
}
