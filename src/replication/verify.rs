//! Every published value recomputed and judged: agrees, differs, disproved, undecided, needs data, circular or not printed.

use std::collections::HashMap;

use super::{
    account_claims::Measure,
    accounts,
    claims::{Basis, Context, Shared},
    printed::Stated,
    published::{Compute, Paper, Published, Unit},
    registry,
    verdict::{Computed, Verdict},
};
use crate::{
    error::{Error, Result},
    numeric::{
        Certainty, Enclosure,
        effort::{self, Effort},
    },
};
use rayon::prelude::*;

/// A row of the verification.
#[derive(Clone, Debug)]
pub struct Row {
    /// The claim.
    pub published: Published,
    /// The certified value, or whether the statement holds.
    pub computed: Computed,
    /// The verdict on the printed value.
    pub verdict: Verdict,
    /// The value of the computation from which the printed value seems to come, if one is recorded.
    pub printed_by: Option<Computed>,
    /// The result of each of its readings, with the verdict on the printed value.
    pub readings: Vec<(Computed, Verdict)>,
    /// The value of each of the numbers beside it.
    pub beside: Vec<Computed>,
}

impl Row {
    /// The computed value to one digit more than printed, at least eight.
    pub fn shown(&self) -> String {
        self.computed.shown(self.digits())
    }

    /// Whether the printed number is neither proven nor disproved because a bound alone is known of the computed one.
    fn is_not_decided_by_bound(&self) -> bool {
        self.verdict == Verdict::Undecided && matches!(self.computed, Computed::Bounded(_))
    }

    fn digits(&self) -> usize {
        let least = if self.published.fraction().is_some() { 10 } else { 8 };
        (self.published.digits as usize + 1).max(least)
    }

    /// Whether the value neither agrees nor has a recorded erratum.
    pub fn is_unexplained(&self) -> bool {
        match self.verdict {
            Verdict::Agrees | Verdict::AgreesAsRead | Verdict::NeedsData | Verdict::Circular | Verdict::NotPrinted => {
                false
            }
            Verdict::HoldsToDigits
            | Verdict::Misprint
            | Verdict::HypothesisMissing
            | Verdict::NotOfTheStatedModel
            | Verdict::Differs
            | Verdict::Disproved
            | Verdict::Undecided => self.published.remarks.erratum.is_none(),
        }
    }

    /// The key of the fault that it shows: its own if it names none; `None` if it shows none.
    pub fn fault(&self, paper: &str) -> Option<String> {
        let own = || format!("{paper}/{}", self.published.id);
        self.verdict.is_fault().then(|| self.published.remarks.fault.clone().unwrap_or_else(own))
    }

    /// To how many digits a printed bound holds that the number misses.
    fn digits_held(&self) -> Option<u32> {
        match &self.computed {
            Computed::Value(value) if self.verdict == Verdict::HoldsToDigits => {
                self.published.stated.digits_held(value, self.published.digits)
            }
            _ => None,
        }
    }

    /// The printed number minus the computed one, if they do not agree.
    pub fn difference(&self) -> Option<Enclosure> {
        let is_off = self.verdict.is_fault() || matches!(self.verdict, Verdict::Undecided | Verdict::AgreesAsRead);
        match &self.computed {
            Computed::Value(value) if is_off => self.published.stated.less(value),
            _ => None,
        }
    }

    /// The difference in words: its size, also in units of the last printed digit, and whether another rounding
    /// explains it.
    fn difference_in_words(&self) -> Option<String> {
        let (difference, Computed::Value(value)) = (self.difference()?, &self.computed) else { return None };
        let mut words = format!("Printed less computed: {}", difference.shown(3));
        if let Some(step) = self.published.stated.step() {
            let units = difference.div(&Enclosure::rational(step, 200));
            words += &format!(", {} units of the last printed digit", units.shown(3));
        }
        if let Some(other) = self.published.stated.other_rounding(value) {
            words += &format!("; {other}");
        }
        Some(words + ".")
    }

    /// A sentence on the difference, and one for each further computation: the source of the printed value, readings,
    /// other numbers.
    pub fn sentences(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        all.extend(self.difference_in_words());
        all.extend(self.digits_held().map(|digits| match digits {
            1 => "It holds to 1 digit.".to_string(),
            _ => format!("It holds to {digits} digits."),
        }));
        all.extend(
            (self.published.remarks.chosen.as_ref())
                .map(|chosen| format!("Chosen for this test, and not by the text: {chosen}.")),
        );
        all.extend(self.is_not_decided_by_bound().then(|| {
            "Not decided: a bound alone follows from what is given, and the printed number is within it.".to_string()
        }));
        all.extend(
            (self.verdict == Verdict::Circular).then(|| "Circular: the source of the bundled release.".to_string()),
        );
        all.extend(self.printed_by.as_ref().map(|value| format!("That computation gives {}.", value.shown(8))));
        for (reading, (value, verdict)) in self.published.remarks.readings.iter().zip(&self.readings) {
            let word = verdict.word();
            all.push(format!("Read as {}: {}, {word}.", reading.words, value.shown(self.digits())));
        }
        for (beside, value) in self.published.remarks.beside.iter().zip(&self.beside) {
            all.push(format!("Beside it, {}: {}.", beside.words, value.shown(8)));
        }
        all
    }
}

/// Recomputes every value of a paper, on all cores, in the paper's order.
pub fn verify(paper: &Paper) -> Result<Vec<Row>> {
    verify_with(paper, &|| {})
}

/// Recomputes every value of a paper; calls `done` after each value.
pub fn verify_with(paper: &Paper, done: &(dyn Fn() + Sync)) -> Result<Vec<Row>> {
    let answers = answers(paper, done)?;
    let rows = paper.values.iter().zip(answers);
    rows.map(|(published, answers)| {
        row(published, answers.into_iter()).map_err(|error| published.refuse(paper, &error))
    })
    .collect()
}

/// All computations of a row, its own first.
fn asked(published: &Published) -> impl Iterator<Item = &Compute> {
    let others = published.remarks.readings.iter().chain(&published.remarks.beside).map(|beside| &beside.compute);
    std::iter::once(&published.compute).chain(published.remarks.printed_by.as_ref()).chain(others)
}

/// A computation, and the first row that needs it.
struct Task<'a> {
    asked_by: &'a Published,
    what: &'a Compute,
    /// The number of rows that it recomputes.
    rows: usize,
}

/// The result of a task: an answer, or a basis from which several answers are computed.
enum Found {
    Answer(Computed),
    Basis(Basis),
}

/// The results of all computations of each row, in the order of [`asked`]. A computation that several rows need is done
/// once.
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
    for kind in registry::KINDS.iter().filter(|kind| tasks.iter().any(|task| task.what.is_of(kind.name))) {
        (kind.prepare)()?;
    }
    let settings = paper.settings.as_deref().unwrap_or(&paper.paper);
    let find = |task: &Task| {
        let found = match shared(task.what) {
            Some(shared) => (shared.compute)().map(Found::Basis),
            None => compute(settings, task.what, digits(task.asked_by)).map(Found::Answer),
        };
        (0..task.rows).for_each(|_| done());
        found.map_err(|error| task.asked_by.refuse(paper, &error))
    };
    // Tasks are handed out one at a time to idle threads: halves of the list would take unequally long.
    let mut found: Vec<(usize, Found)> = (tasks.iter().enumerate().par_bridge())
        .map(|(place, task)| Ok((place, effort::apart(Effort::default(), || find(task)).0?)))
        .collect::<Result<_>>()?;
    found.sort_unstable_by_key(|(place, _)| *place);
    let answer = |(what, place): &(&Compute, usize)| match (&found[*place].1, what) {
        (Found::Answer(answer), _) => Ok(answer.clone()),
        (Found::Basis(basis), Compute::Claim(_, claim)) => {
            claim.by_basis(&Context { settings, digits: accounts::DIGITS }, basis)
        }
        (Found::Basis(_), other) => compute(settings, other, accounts::DIGITS),
    };
    rows.iter()
        .zip(&paper.values)
        .map(|(row, published)| {
            row.iter().map(answer).collect::<Result<_>>().map_err(|error| published.refuse(paper, &error))
        })
        .collect()
}

/// The part that a computation has in common with others.
fn shared(what: &Compute) -> Option<&Shared> {
    match what {
        Compute::Claim(_, claim) => claim.shared(),
        Compute::Account(_) => None,
    }
}

/// One digit more than printed, if many are printed.
fn digits(published: &Published) -> u32 {
    accounts::DIGITS.max(published.digits + 1)
}

/// The key of computations that share an answer; `None` for an account, which holds a whole release.
fn shared_by(published: &Published, what: &Compute) -> Option<String> {
    match what {
        Compute::Account(_) => None,
        what => Some(match shared(what) {
            Some(shared) => shared.key.clone(),
            None => format!("{} {:?}", digits(published), what.asked()),
        }),
    }
}

/// Judges a value by the results of its computations, in the order of [`asked`].
fn row(published: &Published, answers: impl Iterator<Item = Computed>) -> Result<Row> {
    let is_beside = |position: usize| {
        position > usize::from(published.remarks.printed_by.is_some()) + published.remarks.readings.len()
    };
    // A number beside a value has its own unit.
    let mut answers = (asked(published).zip(answers).enumerate())
        .map(|(position, (what, answer))| if is_beside(position) { answer } else { in_unit(answer, what, published) });
    let missing = || Error::fault(format!("the row {} has a computation without an answer", published.id));
    let computed = answers.next().ok_or_else(missing)?;
    let mut verdict = judge(published, &computed)?;
    let printed_by = published.remarks.printed_by.as_ref().map(|_| answers.next().ok_or_else(missing)).transpose()?;
    verdict = of_fault(published, verdict, printed_by.as_ref())?;
    let mut readings = Vec::new();
    for _ in &published.remarks.readings {
        let value = answers.next().ok_or_else(missing)?;
        let of_reading = judge(published, &value)?;
        if of_reading == Verdict::Agrees
            && !matches!(verdict, Verdict::Agrees | Verdict::Circular | Verdict::NotPrinted)
        {
            verdict = Verdict::AgreesAsRead;
        }
        readings.push((value, of_reading));
    }
    let beside = answers.collect();
    Ok(Row { published: published.clone(), computed, verdict, printed_by, readings, beside })
}

/// The verdict on a text that is wrong: what kind of fault it has, where the row says so. A figure that is right of itself has to be given by
/// the computation that the row names for it. What the test chose disproves nothing.
fn of_fault(published: &Published, verdict: Verdict, printed_by: Option<&Computed>) -> Result<Verdict> {
    if !matches!(verdict, Verdict::Differs | Verdict::Disproved) {
        return Ok(verdict);
    }
    let is_claim = published.stated == Stated::Statement;
    let is_given = match printed_by {
        Some(computed) if matches!(computed, Computed::Statement(_)) == is_claim => {
            judge(published, computed)? == Verdict::Agrees
        }
        Some(_) | None => false,
    };
    Ok(match published.remarks.fault_kind {
        Some(Verdict::NotOfTheStatedModel) if !is_given => verdict,
        Some(kind) => kind,
        None if published.remarks.chosen.is_some() => Verdict::Differs,
        None => verdict,
    })
}

/// Runs a computation of a row.
fn compute(settings: &str, what: &Compute, digits: u32) -> Result<Computed> {
    match what {
        Compute::Account(claim) => accounts::compute(claim, digits),
        Compute::Claim(_, claim) => claim.compute(&Context { settings, digits }),
    }
}

/// A value in the printed unit: some probabilities are printed in percent.
fn in_unit(computed: Computed, what: &Compute, published: &Published) -> Computed {
    let percent = matches!(published.unit, Unit::Percent | Unit::LeastPercent);
    let probability = match what {
        Compute::Account(claim) => claim.kind.measure == Measure::Probability,
        what => what.is_of("risk"),
    };
    match computed {
        Computed::Value(value) if percent && probability => Computed::Value(value.mul(&Enclosure::double(100.0, 100))),
        Computed::Bounded(bounded) if percent && probability => Computed::Bounded(bounded.times(100)),
        computed => computed,
    }
}

/// The verdict of the computed value on the printed one.
fn judge(published: &Published, computed: &Computed) -> Result<Verdict> {
    let is_claim = published.stated == Stated::Statement;
    let verdict = match computed {
        _ if published.stated == Stated::NotPrinted => return Ok(Verdict::NotPrinted),
        Computed::NeedsData(_) => Verdict::NeedsData,
        Computed::Value(_) | Computed::Bounded(_) if is_claim => {
            return Err(Error::conflict("the unit is claim, and a number is computed: use a unit for numbers"));
        }
        Computed::Statement(_) if !is_claim => {
            let unit = published.unit.name();
            return Err(Error::conflict(format!(
                "the unit is {unit}, and a statement is computed: use the unit claim, with printed = true"
            )));
        }
        Computed::Statement(Certainty::Yes) => Verdict::Agrees,
        Computed::Statement(Certainty::No) => Verdict::Disproved,
        Computed::Statement(Certainty::Undecided) => Verdict::Undecided,
        Computed::Value(value) => published.stated.judge(value),
        Computed::Bounded(bounded) => published.stated.judge_by_bound(bounded),
    };
    Ok(if verdict == Verdict::Agrees && published.remarks.is_circular { Verdict::Circular } else { verdict })
}

/// The number of rows with each verdict, in the order of [`Verdict::ALL`].
pub fn tally(rows: &[Row]) -> [(Verdict, usize); 12] {
    Verdict::ALL.map(|verdict| (verdict, rows.iter().filter(|row| row.verdict == verdict).count()))
}

/// The number of rows whose value some document prints.
pub fn printed(rows: &[Row]) -> usize {
    rows.iter().filter(|row| row.verdict != Verdict::NotPrinted).count()
}

/// The number of each verdict that occurs, in words, as `3 agree, 1 differs`.
pub fn tally_in_words(rows: &[Row]) -> String {
    let said = |(verdict, count): (Verdict, usize)| format!("{count} {}", verdict.in_words(count));
    let words: Vec<String> = tally(rows).into_iter().filter(|(_, count)| *count > 0).map(said).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{numeric::rational::parse, replication::published};

    #[test]
    fn unprinted_values_are_not_counted_and_circular_ones_are_marked() {
        let paper = published::papers(&["census-2020".to_string()]).unwrap().remove(0);
        let mut rows =
            paper.values.iter().filter(|value| value.remarks.is_circular || value.stated == Stated::NotPrinted);
        let (value, none) =
            (rows.find(|value| value.remarks.is_circular).unwrap(), Computed::Value(Enclosure::double(1.5, 60)));
        let exact = Computed::Value(Enclosure::rational(&parse(&value.printed).unwrap(), 200));
        let verdict = |value, computed| judge(value, computed).unwrap();
        assert_eq!((verdict(value, &exact), verdict(value, &none)), (Verdict::Circular, Verdict::Differs));
        let not_printed = paper.values.iter().find(|value| value.stated == Stated::NotPrinted).unwrap();
        assert_eq!(verdict(not_printed, &none), Verdict::NotPrinted);
    }
}
