//! `assay epsilon`: the exact epsilon at a delta, for every level and for all together.

use anyhow::{Context, Result, bail};
use dp_assay::{
    Error,
    account::{
        Account, Answer, DecidingRows, Delta, Epsilon,
        compared::{Against, Compared, Conversion, gaussian_noise, pure_epsilon},
        conversions::GaussianProfile,
    },
    document::fields::Fields,
    loss::{answer::Proof, second::SecondEnclosure},
    numeric::{Enclosure, parallel},
    release::subject::{Certified, Part},
};
use rug::Rational;
use serde_json::Value;

use super::{
    arguments::{number, quantity},
    compared::{self, Columns},
    epsilon_together::Together,
    exit::Exit,
    output::{self, exact, exact_text},
    page::{Form, Page},
    progress::Steps,
    queries::{self, QueryRow},
    subject::{self, Format, Resolved, Subject},
};

/// The exact epsilon at a delta, compared with the published figure or the smallest standard account
#[derive(clap::Args)]
pub struct Args {
    /// The mechanism.
    #[command(flatten)]
    pub subject: Subject,
    /// The delta at which epsilon is computed, 0 < delta < 1; 0 for noise whose loss is bounded
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    delta: String,
    /// Also a row for each query: its noise, its share of rho, and its own epsilon
    #[arg(long)]
    queries: bool,
    #[command(flatten)]
    format: Format,
}

/// Digits of the probability of an infinite loss.
const FEW_DIGITS: u32 = 12;

/// An epsilon above the finite losses of perturbation tables.
const BEYOND_LOSSES: u32 = 1000;

/// A part of the subject, or the whole, with its epsilons.
pub struct Line {
    /// Its name.
    pub name: String,
    /// Its budget.
    pub rho: Rational,
    /// Whether that is a formula of the parameters, and no upper bound on logarithms.
    has_exact_rho: bool,
    /// The exact epsilon.
    pub epsilon: Answer,
    /// The number with which it is compared.
    pub compared: Compared,
    /// Epsilon by zCDP (Bun-Steinke); none at delta = 0, where it is infinite.
    pub zcdp: Option<Enclosure>,
    /// The block paths, the mix of groups, or the rows of perturbation tables that determine it, in words.
    pub decided_by: Option<String>,
    /// The rows of perturbation tables that determine it.
    rows: Option<DecidingRows>,
    /// Epsilon by GDP, if requested: it takes longer than all others.
    gdp: Option<Enclosure>,
    /// Epsilon by methods that share no code with the engines, if requested.
    second: Option<SecondEnclosure>,
    /// Epsilon where a record is removed, and where it is added, if requested and different.
    directions: Option<[Answer; 2]>,
}

impl Line {
    fn of_part(part: &Part, request: &Request) -> Result<Line> {
        let Request { delta, digits, for_records } = *request;
        let (rho, (epsilon, second)) = (part.rho(), request.both(&part.whole)?);
        let gdp = || GaussianProfile::new(rho.clone()).epsilon(delta, digits);
        let rows = match epsilon.value.upper_rational() {
            Some(upper) => part.whole.deciding_rows(&Epsilon::new(upper)?)?,
            None => None,
        };
        let decided_by = part.deciding(&epsilon).or_else(|| rows.as_ref().and_then(DecidingRows::in_words));
        Ok(Line {
            name: part.name.clone(),
            zcdp: Conversion::BunSteinke.epsilon(&part.whole, delta, digits)?,
            compared: part.compared(Against::Usual, delta, digits)?,
            decided_by,
            rows,
            // The account is about Gaussian counts alone.
            gdp: (for_records && gaussian_noise(&part.whole)?.is_some()).then(gdp).transpose()?,
            directions: match for_records {
                true => part.whole.epsilon_of_directions(delta, digits)?,
                false => None,
            },
            rho: rho.into(),
            has_exact_rho: part.whole.has_exact_rho(),
            epsilon,
            second,
        })
    }

    /// The line at delta = 0: the largest loss, exactly.
    fn at_zero(part: &Part, digits: u32) -> Result<Line> {
        let largest = pure_epsilon(&part.whole)?.context(
            "--delta: delta = 0 is out of range: expected a probability 0 < delta < 1, because the loss of Gaussian noise is \
             unbounded",
        )?;
        let value = Enclosure::rational(&largest, 64 + 4 * digits);
        let compared = Compared { by: Conversion::Pure, epsilon: value.clone(), published: None };
        let epsilon = Answer { value, proof: Proof::bound("the largest loss"), met: true };
        let (name, rho) = (part.name.clone(), part.rho().into());
        Ok(Line {
            name,
            rho,
            has_exact_rho: part.whole.has_exact_rho(),
            epsilon,
            compared,
            zcdp: None,
            decided_by: None,
            rows: None,
            gdp: None,
            second: None,
            directions: None,
        })
    }

    fn fields(&self) -> Fields {
        let (exact_rho, epsilon) = (output::rho_exact(&self.rho, self.has_exact_rho), &self.epsilon);
        let second = match (&self.second, &self.zcdp) {
            (Some(second), _) => Some(output::second_json(second)),
            // At delta = 0.
            (None, None) => {
                Some(output::no_second("the largest loss is a sum of exact numbers: no engine is involved"))
            }
            // It was not requested, as while a slider moves.
            (None, Some(_)) => None,
        };
        Fields::new()
            .with("epsilon", &epsilon.value)
            .with("rho", exact(&self.rho))
            .with("rho_exact", exact_rho)
            .with("zcdp_epsilon", &self.zcdp)
            .with("compared_with", compared::json(&self.compared))
            .with_some("gdp_epsilon", self.gdp.as_ref())
            .with_some("worst_pair", self.decided_by.as_ref())
            .with_some("deciding_rows", self.rows.as_ref().map(output::rows_json))
            .and(subject::of_directions(self.directions.as_ref()))
            .with("method", epsilon.proof.to_string())
            .with("status", epsilon.status())
            .with_some("second_enclosure", second)
    }

    /// Its fields after its name.
    fn named(&self) -> Fields {
        output::named(&self.name, self.fields())
    }

    fn row(&self, digits: usize, columns: &Columns) -> Vec<String> {
        let rho = Enclosure::rational(&self.rho, 64);
        let mut cells = vec![self.name.clone(), rho.shown(6), self.epsilon.value.shown(digits)];
        cells.extend(columns.cells(&self.compared));
        cells.push(compared::percent_below(&self.epsilon.value, &self.compared));
        cells
    }
}

/// The request, the same for every part.
#[derive(Clone, Copy)]
pub struct Request<'d> {
    /// The delta of the epsilons.
    pub delta: &'d Delta,
    /// Relative widths of 10^-digits.
    pub digits: u32,
    /// Whether everything in JSON and CSV is requested: also GDP's epsilon, and the second enclosure.
    pub for_records: bool,
}

impl Request<'_> {
    /// The epsilon, and its second enclosure if requested.
    fn both(&self, account: &impl Account) -> Result<(Answer, Option<SecondEnclosure>)> {
        let evaluator = account.evaluator();
        let epsilon = account.epsilon_by(&evaluator, self.delta, self.digits)?;
        let second = self.for_records.then(|| account.second_epsilon(&evaluator, self.delta, &epsilon)).transpose()?;
        Ok((epsilon, second))
    }
}

/// All results.
pub struct Found {
    /// Each level; empty if there is only the whole.
    pub levels: Vec<Line>,
    /// Everything composed.
    pub total: Line,
    /// Empty unless queries were requested.
    queries: Vec<QueryRow>,
}

pub fn run(args: &Args) -> Result<Exit> {
    let subject = args.subject.resolve()?;
    // Tables have no columns for some of the numbers.
    let for_records = matches!(args.format.form(), Form::Json | Form::Csv);
    let (delta, found) = match number("--delta", &args.delta)? {
        zero if zero == 0 => (zero, args.at_zero(&subject)?),
        delta => match args.find(&subject, for_records) {
            Ok((delta, found)) => (delta.into(), found),
            Err(error) => return no_epsilon(args, &subject, &delta, error),
        },
    };
    let mut page = args.format.page();
    let together = Together::of_subject(&args.subject, &subject, &delta, args.format.digits)?;
    let answer = Fields::from(found.object(&subject, &delta));
    page.object(answer.with_some("together", together.as_ref().map(Together::json)));
    page.records(found.records());
    put_tables(&mut page, args, &subject, &delta, &found);
    if let Some(sentence) = together.as_ref().and_then(Together::sentence) {
        page.text(format!("{sentence}\n"));
    }
    page.done()
}

/// The answer where no epsilon is finite at delta; every other error is returned.
fn no_epsilon(args: &Args, subject: &Resolved, delta: &Rational, error: anyhow::Error) -> Result<Exit> {
    let (Some(Error::InfiniteLoss { .. }), Some(infinite)) =
        (error.downcast_ref::<Error>(), subject.whole.infinite_loss())
    else {
        return Err(error);
    };
    let mut page = args.format.page();
    let answer = Fields::new().with("epsilon", Value::Null).with("delta", exact(delta));
    let infinite = subject::of_infinite_loss(Some(infinite), args.format.digits);
    // At an epsilon above every finite loss of a table, outputs of infinite loss alone are left.
    let rows = subject.whole.deciding_rows(&Epsilon::new(Rational::from(BEYOND_LOSSES))?)?;
    let answer = answer.with_some("deciding_rows", rows.as_ref().map(output::rows_json));
    page.answer(answer.and(infinite).and(subject::of_relation(subject)));
    page.text(subject::heading(subject, &format!(", delta = {}", exact_text(delta))));
    page.text(format!("{error}.\n"));
    if let Some(rows) = rows.as_ref().and_then(DecidingRows::in_words) {
        page.text(format!("That probability is that of {rows}.\n"));
    }
    page.answered(false)
}

impl Args {
    /// The delta of the request.
    pub fn delta(&self) -> Result<Delta> {
        quantity("--delta", &self.delta)
    }

    /// The digits of the request.
    #[cfg(feature = "explore")]
    pub fn digits(&self) -> u32 {
        self.format.digits
    }

    /// The answers at delta = 0, which exist for noise of bounded loss.
    fn at_zero(&self, subject: &Resolved) -> Result<Found> {
        let digits = self.format.digits;
        if self.queries {
            bail!("--queries needs a delta above 0");
        }
        let total = Line::at_zero(&subject.as_part(subject::whole_name(subject)), digits)?;
        let levels = subject.levels.iter().map(|part| Line::at_zero(part, digits)).collect::<Result<_>>()?;
        Ok(Found { levels, total, queries: Vec::new() })
    }

    /// The answers, and their delta.
    pub fn find(&self, subject: &Resolved, for_records: bool) -> Result<(Delta, Found)> {
        let delta = self.delta()?;
        let mut found = find(subject, Request { delta: &delta, digits: self.format.digits, for_records })?;
        if self.queries {
            found.queries = queries::rows(subject, &delta, self.format.digits)?;
        }
        Ok((delta, found))
    }
}

/// Each level, and everything composed.
pub fn find(subject: &Resolved, request: Request) -> Result<Found> {
    let steps = Steps::of_stage("epsilon of the levels and the whole", subject.levels.len() as u64 + 1);
    let line = |part: &Part| {
        let line = Line::of_part(part, &request);
        steps.step();
        line
    };
    let whole = subject.as_part(subject::whole_name(subject));
    let levels = || parallel::try_map_any(&subject.levels, line);
    let (levels, total) = parallel::join(levels, || line(&whole));
    Ok(Found { levels: levels?, total: total?, queries: Vec::new() })
}

impl Found {
    /// The levels, and the whole last.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.levels.iter().chain([&self.total])
    }

    /// The block paths or mixes of groups that determine each line, the whole last.
    pub fn decided(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.lines().map(|line| (line.name.as_str(), line.decided_by.as_deref()))
    }

    /// A record for each line, and then for each query.
    pub fn records(&self) -> Vec<Value> {
        self.lines().map(|line| line.named().object()).chain(self.queries.iter().map(QueryRow::json)).collect()
    }

    /// The answer as an object.
    pub fn object(&self, subject: &Resolved, delta: &Rational) -> Value {
        self.total
            .fields()
            .with("delta", exact(delta))
            .and(subject::of_infinite_loss(subject.whole.infinite_loss(), FEW_DIGITS))
            .and(subject::of_relation(subject))
            .with_any("levels", self.levels.iter().map(Line::named))
            .with_any("queries", self.queries.iter().map(QueryRow::json))
            .into()
    }
}

/// The answer as text.
fn put_tables(page: &mut Page, args: &Args, subject: &Resolved, delta: &Rational, found: &Found) {
    page.text(subject::heading(subject, &format!(", delta = {}", exact_text(delta))));
    let lines: Vec<&Line> = found.lines().collect();
    let columns = Columns::of_compared(lines.iter().map(|line| &line.compared));
    let rows = lines.iter().map(|line| line.row(args.format.shown(), &columns));
    page.table(&[vec!["", "rho", "epsilon"], columns.heading(), vec!["lower by"]].concat(), rows);
    if !found.queries.is_empty() {
        page.text("\n");
        page.push_pairs(found.queries.iter().map(|query| query.fields(args.format.shown())));
    }
    page.lines(&subject::decided(found.decided()));
    let queries = found.queries.iter().map(|query| (query.name.as_str(), &query.epsilon));
    page.say_wider(lines.iter().map(|line| (line.name.as_str(), &line.epsilon)).chain(queries));
    // The middle of an enclosure below the requested precision may be shown.
    let all_met = lines.iter().all(|line| line.epsilon.met) && found.queries.iter().all(|query| query.epsilon.met);
    let certified = if all_met {
        "the truth differs from what is shown by at most one unit in the last digit"
    } else {
        "between both ends, which --json gives"
    };
    let certified_for = subject.certified_for();
    let of = match certified_for {
        Certified::WorstOfGuarantees => " for the worst mechanism with these guarantees",
        Certified::Account => " for this account",
        Certified::Mechanism => "",
    };
    page.text(format!("\nepsilon is certified{of}: {certified}.\n"));
    if let (Certified::Account, Some(why)) = (certified_for, subject.may_be_more_private()) {
        page.text(format!("The mechanism may be more private: {why}.\n"));
    }
    let notes = compared::notes(lines.iter().map(|line| (line.name.as_str(), &line.compared)), true);
    notes.iter().for_each(|note| page.text(format!("{note}\n")));
    page.lines(&subject::law_notes(subject));
    page.note(subject.note());
}
