//! The certified numbers of a sheet.

use std::collections::BTreeMap;

use rug::Rational;

use crate::{
    account::{
        Account, Answer, Delta,
        compared::{Against, Compared, pure_epsilon},
    },
    error::{Error, Result},
    io::provenance::Input,
    law::Law,
    noise::{Distribution, Margin},
    numeric::{Enclosure, parallel, rational},
    release::{
        Neighbors, Release,
        subject::{Part, QueryPart, Resolved},
    },
    risk::{bound::most_correct, events::posterior_of_events},
};

/// The request of a sheet.
#[derive(Clone, Debug)]
pub struct Request {
    /// The delta of every epsilon.
    pub delta: Delta,
    /// The prior of the adversary.
    pub prior: Rational,
    /// Enclosures of relative width 10^-digits.
    pub digits: u32,
    /// The words of the command that writes the sheet.
    pub command: Vec<String>,
    /// The inputs.
    pub inputs: Vec<Input>,
}

/// All numbers of a sheet, and the release that they are about.
#[derive(Clone, Debug)]
pub struct Figures<'s> {
    /// The subject.
    pub subject: &'s Resolved,
    /// Its release, for the texts of the file; `None` for counts alone.
    pub release: Option<&'s Release>,
    /// The request.
    pub request: &'s Request,
    /// The levels, each alone.
    pub levels: Vec<Line>,
    /// Everything composed.
    pub whole: Line,
    /// The queries.
    pub queries: Vec<QueryLine>,
    /// The largest loss of the whole, where losses are bounded.
    pub pure: Option<Rational>,
}

/// The numbers of a part.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Its zCDP rho; `None` where rho does not describe it: on Poisson samples, or where some outputs have an infinite loss.
    pub rho: Option<Rational>,
    /// Its epsilon.
    pub epsilon: Answer,
    /// The largest probability of a correct decision.
    pub correct: Answer,
    /// The largest posterior after any event that has at least probability delta if the record is there; the same of its absence at that prior of absence.
    pub posterior: Answer,
    /// The standard account beside it.
    pub compared: Compared,
}

/// A query and the error of its noise.
#[derive(Clone, Debug)]
pub struct QueryLine {
    /// Its level and name.
    pub name: String,
    /// Its counts.
    pub query: QueryPart,
    /// The standard deviation of the noise of one count; `None` for a guarantee, and for noise that is no closed law.
    pub deviation: Option<Enclosure>,
    /// The margin of error of one count at 95 %.
    pub margin: Margin,
}

impl<'s> Figures<'s> {
    /// Certifies the numbers of a subject, of which `release` is the release, if it has one. An error where no epsilon is finite at delta.
    pub fn of_subject(
        subject: &'s Resolved,
        release: Option<&'s Release>,
        request: &'s Request,
    ) -> Result<Figures<'s>> {
        crate::risk::check_prior(&request.prior)?;
        let levels = parallel::try_map(&subject.levels, |part| Line::of_part(part, subject.neighbors, request))?;
        let whole = subject.as_part(if levels.is_empty() { "all" } else { "all composed" });
        let whole = Line::of_part(&whole, subject.neighbors, request)?;
        let pure = pure_epsilon(&subject.whole)?;
        let queries = query_lines(&subject.queries)?;
        Ok(Figures { subject, release, request, levels, whole, queries, pure })
    }

    /// The levels, and the whole last.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.levels.iter().chain([&self.whole])
    }

    /// The proven upper end of the epsilon of the whole, rounded up to a decimal.
    pub fn epsilon_text(&self) -> String {
        self.whole.epsilon.value.upper_text(SHOWN)
    }
}

/// Digits of numbers in texts.
pub(super) const SHOWN: usize = 8;

impl Line {
    fn of_part(part: &Part, neighbors: Neighbors, request: &Request) -> Result<Line> {
        let Request { delta, prior, digits, .. } = request;
        let epsilon = part.whole.epsilon(delta, *digits)?;
        let compared = part.compared(Against::Usual, delta, *digits)?;
        let is_described = !part.total.is_sampled() && part.whole.infinite_loss().is_none();
        Ok(Line {
            name: part.name.clone(),
            rho: is_described.then(|| part.rho().into()),
            correct: most_correct(&part.whole, prior, neighbors, *digits)?,
            posterior: posterior_of_events(&part.whole, prior, delta, *digits)?,
            epsilon,
            compared,
        })
    }

    /// The correct decisions of a hundred, rounded up to the next hundredth.
    pub fn right_of_100(&self) -> String {
        let upper = self.correct.value.upper_rational().unwrap_or_else(|| Rational::from(1));
        let hundredths = (upper * 10_000_u32).ceil().min(Rational::from(10_000));
        rational::display(&(hundredths / 100_u32))
    }
}

/// A line for each query.
fn query_lines(queries: &[QueryPart]) -> Result<Vec<QueryLine>> {
    let line = |((query, deviation), margin): ((&QueryPart, Option<Enclosure>), Margin)| QueryLine {
        name: query.place(),
        query: query.clone(),
        deviation,
        margin,
    };
    Ok(queries.iter().zip(of_laws(queries, deviation)?).zip(margins(queries)?).map(line).collect())
}

/// The margins of error of one count of each query, in 95 of 100 cases: that of a law once for all queries that have it.
pub fn margins(queries: &[QueryPart]) -> Result<Vec<Margin>> {
    of_laws(queries, |law| Margin::of_law(law, &Rational::from((19, 20))))
}

/// The figures that follow from the law of each query, computed once for each law.
fn of_laws<T: Clone + Send>(queries: &[QueryPart], of: impl Fn(&Law) -> Result<T> + Sync) -> Result<Vec<T>> {
    let mut laws: Vec<&Law> = queries.iter().map(|query| &query.counts.law).collect();
    laws.sort();
    laws.dedup();
    let known = parallel::try_map(&laws, |&law| Ok((law, of(law)?)))?;
    let known: BTreeMap<&Law, T> = known.into_iter().collect();
    let of = |query: &QueryPart| known.get(&query.counts.law).cloned();
    queries.iter().map(|query| of(query).ok_or_else(|| Error::fault("a query has a law that was not listed"))).collect()
}

/// The standard deviation of the noise of one count, where it is known.
fn deviation(law: &Law) -> Result<Option<Enclosure>> {
    const DIGITS: u32 = 12;
    if let Some(sigma2) = law.sigma2().filter(|_| law.is_continuous()) {
        return Ok(Some(Enclosure::rational(sigma2, 128).sqrt()));
    }
    match Distribution::of_law(law) {
        Ok(noise) => Ok(Some(noise.variance(DIGITS).sqrt())),
        Err(error) if error.is_fatal() => Err(error),
        Err(_) => Ok(None),
    }
}
