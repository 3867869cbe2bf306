//! Every published value recomputed and judged: agrees, differs, disproved, undecided or needs data.

use std::collections::HashMap;

use rayon::prelude::*;
use rug::Rational;

use super::{
    account_claims::Measure,
    accounts, block_paths,
    published::{Compute, Paper, Published, Unit},
    risk::{self, claims::RiskClaim},
    safetab, spines,
    su_su_wang_2025::{self, Sum},
    verdict::{Computed, Verdict, rounds_to},
};
use crate::{
    error::{Error, Result},
    noise::DiscreteGaussian,
    numeric::{Certainty, Enclosure, rational::parse},
    release::Release,
};

/// A row of the verification.
#[derive(Clone, Debug)]
pub struct Row {
    /// The claim.
    pub published: Published,
    /// The certified value, or whether the statement holds.
    pub computed: Computed,
    /// What that says of the printed value.
    pub verdict: Verdict,
    /// The value of the computation that the printed value seems to come from, if one is recorded.
    pub printed_by: Option<Computed>,
    /// What each of its readings gives, and what that says of the printed value.
    pub readings: Vec<(Computed, Verdict)>,
    /// What each of the numbers beside it is.
    pub beside: Vec<Computed>,
}

impl Row {
    /// The computed value to as many digits as are printed and one more, at least eight.
    pub fn shown(&self) -> String {
        self.computed.shown(self.digits())
    }

    fn digits(&self) -> usize {
        (self.published.significant_digits() as usize + 1).max(8)
    }

    /// Whether the reader must be told: the value neither agrees nor has a recorded erratum.
    pub fn is_unexplained(&self) -> bool {
        !matches!(self.verdict, Verdict::Agrees | Verdict::AgreesAsRead | Verdict::NeedsData)
            && self.published.erratum.is_none()
    }

    /// A sentence for each computation beside that of the row: what the printed value comes from, readings, other numbers.
    pub fn sentences(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        all.extend(self.printed_by.as_ref().map(|value| format!("That computation gives {}.", value.shown(8))));
        for (reading, (value, verdict)) in self.published.readings.iter().zip(&self.readings) {
            let word = verdict.word();
            all.push(format!("Read as {}: {}, {word}.", reading.words, value.shown(self.digits())));
        }
        for (beside, value) in self.published.beside.iter().zip(&self.beside) {
            all.push(format!("Beside it, {}: {}.", beside.words, value.shown(8)));
        }
        all
    }
}

/// Recomputes every value of a paper, on all cores, in the paper's order.
pub fn verify(paper: &Paper) -> Result<Vec<Row>> {
    verify_with(paper, &|| {})
}

/// The same; `done` is told of each value.
pub fn verify_with(paper: &Paper, done: &(dyn Fn() + Sync)) -> Result<Vec<Row>> {
    let answers = answers(paper, done)?;
    let rows = paper.values.iter().zip(answers);
    rows.map(|(published, answers)| {
        row(published, answers.into_iter()).map_err(|error| published.refuse(paper, &error))
    })
    .collect()
}

/// All that a row asks for, its own computation first.
fn asked(published: &Published) -> impl Iterator<Item = &Compute> {
    let others = published.readings.iter().chain(&published.beside).map(|beside| &beside.compute);
    std::iter::once(&published.compute).chain(published.printed_by.as_ref()).chain(others)
}

/// A computation, and the row that asked for it first.
struct Task<'a> {
    asked_by: &'a Published,
    what: &'a Compute,
    /// How many rows are recomputed by it.
    rows: usize,
}

/// What a task finds: an answer, or that which several answers come from.
enum Found {
    Answer(Computed),
    Basis(risk::Basis),
}

/// The answers to all that each row asks for, in the order of [`asked`]. What several rows ask for is computed once.
fn answers(paper: &Paper, done: &(dyn Fn() + Sync)) -> Result<Vec<Vec<Computed>>> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut tasks: Vec<Task> = Vec::new();
    let mut rows: Vec<Vec<(&Compute, usize)>> = Vec::new();
    for published in &paper.values {
        let mut row = Vec::new();
        for (position, what) in asked(published).enumerate() {
            let place = match shared_by(published, what) {
                Some(key) => *places.entry(key).or_insert(tasks.len()),
                None => tasks.len(),
            };
            if place == tasks.len() {
                tasks.push(Task { asked_by: published, what, rows: 0 });
            }
            tasks[place].rows += usize::from(position == 0);
            row.push((what, place));
        }
        rows.push(row);
    }
    // What a paper's own methods have in common is computed once, too.
    let release = Release::find(&paper.paper).ok();
    let has_own = tasks.iter().any(|task| matches!(task.what, Compute::Own { .. }));
    let sum = release.as_ref().filter(|_| has_own).map(Sum::of).transpose()?;
    let find = |task: &Task| {
        let found = match basis_of(task.what) {
            Some((claim, _)) => risk::basis(claim).map(Found::Basis),
            None => compute(&paper.paper, sum.as_ref(), task.what, digits(task.asked_by)).map(Found::Answer),
        };
        (0..task.rows).for_each(|_| done());
        found.map_err(|error| task.asked_by.refuse(paper, &error))
    };
    // One after the other to whoever is free: halves of the list take unequally long.
    let mut found: Vec<(usize, Found)> =
        (tasks.iter().enumerate().par_bridge()).map(|(place, task)| Ok((place, find(task)?))).collect::<Result<_>>()?;
    found.sort_unstable_by_key(|(place, _)| *place);
    let answer = |(what, place): &(&Compute, usize)| match (&found[*place].1, what) {
        (Found::Answer(answer), _) => Ok(answer.clone()),
        (Found::Basis(basis), Compute::Risk(claim)) => risk::by_basis(claim, basis),
        (Found::Basis(_), other) => compute(&paper.paper, sum.as_ref(), other, accounts::DIGITS),
    };
    rows.iter()
        .zip(&paper.values)
        .map(|(row, published)| {
            row.iter().map(answer).collect::<Result<_>>().map_err(|error| published.refuse(paper, &error))
        })
        .collect()
}

/// That which the answer to a computation comes from along with others, and its name.
fn basis_of(what: &Compute) -> Option<(&RiskClaim, String)> {
    match what {
        Compute::Risk(claim) => risk::basis_of(claim).map(|name| (claim, name)),
        _ => None,
    }
}

/// One digit more than are printed, if those are many.
fn digits(published: &Published) -> u32 {
    accounts::DIGITS.max(published.significant_digits() + 1)
}

/// What computations have in common that share an answer; `None` for an account, which holds a whole release.
fn shared_by(published: &Published, what: &Compute) -> Option<String> {
    match what {
        Compute::Account(_) => None,
        what => Some(match basis_of(what) {
            Some((_, name)) => name,
            None => format!("{} {what:?}", digits(published)),
        }),
    }
}

/// Judges a value by the answers to what it asks, in the order of [`asked`].
fn row(published: &Published, answers: impl Iterator<Item = Computed>) -> Result<Row> {
    let is_beside = |position: usize| position > usize::from(published.printed_by.is_some()) + published.readings.len();
    // What stands beside a value has a unit of its own.
    let mut answers = (asked(published).zip(answers).enumerate())
        .map(|(position, (what, answer))| if is_beside(position) { answer } else { in_unit(answer, what, published) });
    let missing = || Error::out_of_range("the computations of a row", &published.id, "an answer for each");
    let computed = answers.next().ok_or_else(missing)?;
    let mut verdict = judge(published, &computed)?;
    let printed_by = published.printed_by.as_ref().map(|_| answers.next().ok_or_else(missing)).transpose()?;
    let mut readings = Vec::new();
    for _ in &published.readings {
        let value = answers.next().ok_or_else(missing)?;
        let of_reading = judge(published, &value)?;
        if of_reading == Verdict::Agrees && verdict != Verdict::Agrees {
            verdict = Verdict::AgreesAsRead;
        }
        readings.push((value, of_reading));
    }
    let beside = answers.collect();
    Ok(Row { published: published.clone(), computed, verdict, printed_by, readings, beside })
}

/// Recomputes what a row of a paper asks for.
fn compute(paper: &str, sum: Option<&Sum>, what: &Compute, digits: u32) -> Result<Computed> {
    let value = match what {
        Compute::Account(claim) => return accounts::compute(claim, digits),
        Compute::Own { method } => {
            let expected = "that of Su, Su & Wang, whose methods are meant";
            let sum = sum.ok_or_else(|| Error::out_of_range("the release of the paper", paper, expected))?;
            return su_su_wang_2025::compute(sum, method);
        }
        Compute::Risk(what) => return risk::compute(what),
        Compute::Spine(what) => return spines::compute(what),
        Compute::Paths { release, value } => return block_paths::compute(&Release::find(release)?, value, digits),
        Compute::Safetab(what) => return safetab::compute(paper, what),
        Compute::VarianceDeficit { sigma2 } => {
            DiscreteGaussian::new(parse(sigma2)?)?.variance_deficit(accounts::DIGITS)
        }
    };
    Ok(Computed::Value(value))
}

/// A value in the unit in which it is printed: probabilities are printed in percent by some.
fn in_unit(computed: Computed, what: &Compute, published: &Published) -> Computed {
    let percent = matches!(published.unit, Unit::Percent | Unit::LeastPercent);
    let probability = match what {
        Compute::Risk(_) => true,
        Compute::Account(claim) => claim.question.measure() == Measure::Probability,
        _ => false,
    };
    match computed {
        Computed::Value(value) if percent && probability => Computed::Value(value.mul(&Enclosure::double(100.0, 100))),
        computed => computed,
    }
}

/// What the computed value says of the printed one.
fn judge(published: &Published, computed: &Computed) -> Result<Verdict> {
    match computed {
        Computed::Statement(Certainty::Yes) => Ok(Verdict::Agrees),
        Computed::Statement(Certainty::No) => Ok(Verdict::Disproved),
        Computed::Statement(Certainty::Undecided) => Ok(Verdict::Undecided),
        Computed::NeedsData(_) => Ok(Verdict::NeedsData),
        Computed::Value(value) => judge_value(value, published),
    }
}

fn judge_value(value: &Enclosure, published: &Published) -> Result<Verdict> {
    let printed = || parse(&published.printed);
    Ok(match published.unit {
        Unit::Bound => match value.at_most(&printed()?) {
            Certainty::Yes => Verdict::Agrees,
            Certainty::No => Verdict::Disproved,
            Certainty::Undecided => Verdict::Undecided,
        },
        Unit::LeastPercent => match value.at_most(&printed()?) {
            Certainty::Yes => Verdict::Disproved,
            Certainty::No => Verdict::Agrees,
            Certainty::Undecided => Verdict::Undecided,
        },
        Unit::Least => {
            let printed = printed()?;
            match (*value.lower() >= printed, *value.upper() < printed) {
                (true, _) => Verdict::Agrees,
                (_, true) => Verdict::Disproved,
                _ => Verdict::Undecided,
            }
        }
        Unit::Sum => match value.contains(&printed()?) {
            true => Verdict::Agrees,
            false => Verdict::Differs,
        },
        Unit::RoundedUp => {
            let printed = printed()?;
            let floor = &printed - Rational::from((1, 100_000));
            match (value.at_most(&printed), value.at_most(&floor)) {
                (Certainty::Yes, Certainty::No) => Verdict::Agrees,
                (Certainty::No, _) | (_, Certainty::Yes) => Verdict::Differs,
                _ => Verdict::Undecided,
            }
        }
        Unit::Nats | Unit::Percent | Unit::Sigma2 | Unit::Rho | Unit::Probability | Unit::Ratio | Unit::Claim => {
            rounds_to(value, &published.printed)?
        }
    })
}

/// How many rows have each verdict, in the order of [`Verdict::ALL`].
pub fn tally(rows: &[Row]) -> [(Verdict, usize); 6] {
    Verdict::ALL.map(|verdict| (verdict, rows.iter().filter(|row| row.verdict == verdict).count()))
}
