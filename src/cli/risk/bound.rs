//! `assay risk bound`: bounds for all adversaries.

use anyhow::Result;
use dp_assay::{
    account::{Account, Delta, outputs::Exceeded},
    chart::ranks::{self, Ranks},
    document::fields::Fields,
    numeric::{Enclosure, parallel, rational},
    release::{Neighbors, Unit, subject::Part},
    risk::{
        bound::{self, Bound, Known, PureBound},
        outputs,
    },
};
use rug::Rational;
use serde_json::{Value, json};

use super::super::{
    arguments::{prior, quantity},
    drawn::Drawn,
    exit::Exit,
    of_ledger::{OfLedger, ways_note},
    output::{self, exact, exact_text},
    progress::Steps,
    subject::{self, Format, Resolved, Subject},
};

/// Bounds on the risk from any adversary, with any other knowledge, compared with those from rho or pure DP alone
///
/// The adversary decides whether a given record is in the data (or which of two records is), with the prior probability P
/// of the first.
#[derive(clap::Args)]
pub struct Args {
    /// The mechanism.
    #[command(flatten)]
    pub subject: Subject,
    #[command(flatten)]
    of_ledger: OfLedger,
    /// The prior probability, 0 < P < 1
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    prior: String,
    /// The least probability of the events for which the posterior is bounded, and the probability of the outputs that are excepted
    #[arg(long, value_name = "DELTA", default_value = "1e-10", allow_hyphen_values = true)]
    delta: String,
    #[command(flatten)]
    format: Format,
    #[command(flatten)]
    drawn: Drawn,
}

/// A part of the subject, or the whole, with its bounds.
pub struct Line {
    /// Its name.
    pub name: String,
    /// The bounds.
    pub bound: Bound,
    /// The block paths, or the mix of groups, that determine the probability of a correct decision, in words.
    pub decided_by: Option<String>,
    /// The posterior that is exceeded with probability at most delta, if requested: it can take longer than all others.
    exceeded: Option<Exceeded>,
    prior: Rational,
}

/// All results.
pub struct Found {
    /// Each level; empty if there is only the whole.
    pub levels: Vec<Line>,
    /// Everything composed.
    pub total: Line,
}

/// The standard account with which the bounds are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// rho alone.
    Zcdp,
    /// The largest loss alone.
    Pure,
}

/// The bounds of an account.
pub struct Bounds<'b> {
    /// The probability of a correct decision.
    pub correct: &'b Enclosure,
    /// The total variation distance.
    pub advantage: &'b Enclosure,
    /// The posterior.
    pub posterior: &'b Enclosure,
}

impl Allowed {
    /// The name of the account.
    pub fn name(self) -> &'static str {
        match self {
            Allowed::Zcdp => "zCDP",
            Allowed::Pure => "pure DP",
        }
    }

    /// The heading of its columns.
    pub fn heading(self) -> &'static str {
        match self {
            Allowed::Zcdp => "by zCDP",
            Allowed::Pure => "by pure DP",
        }
    }

    /// The name of that account, at the beginning of a sentence.
    pub fn known(self, bound: &Bound) -> String {
        match (self, &bound.pure) {
            (Allowed::Pure, Some(pure)) => format!("Pure DP (epsilon = {})", pure.epsilon.shown(6)),
            _ => "zCDP (rho)".to_string(),
        }
    }

    /// Its bounds, for one line.
    pub fn bounds(self, bound: &Bound) -> Bounds<'_> {
        match (self, &bound.pure) {
            (Allowed::Pure, Some(PureBound { correct, advantage, posterior, .. })) => {
                Bounds { correct, advantage, posterior }
            }
            _ => Bounds {
                correct: &bound.correct_by_zcdp,
                advantage: &bound.advantage_by_zcdp,
                posterior: &bound.posterior_by_zcdp,
            },
        }
    }

    /// The formula of its bounds.
    pub fn formula(self) -> &'static str {
        match self {
            Allowed::Zcdp => {
                "The bounds by zCDP follow from rho: a total variation distance of at most the t with t ln((1 + t) / (1 - t)) = rho, and delta <= \
                 exp(-(epsilon - rho)^2 / (4 rho)). The posterior by zCDP is that of events, by the same bound on the profile."
            }
            Allowed::Pure => {
                "The bounds by pure DP follow from the largest loss: posterior odds are at most exp(epsilon) times the prior odds."
            }
        }
    }
}

/// The request, the same for every part.
#[derive(Clone)]
pub struct Request {
    /// The prior probability.
    pub prior: Rational,
    /// The least probability of the events for which the posterior is bounded, and that of the outputs that are excepted.
    pub delta: Delta,
    /// Relative widths of 10^-digits.
    pub digits: u32,
    /// Whether the posterior that is exceeded with probability at most delta is requested as well.
    pub with_exceeded: bool,
}

impl Line {
    fn of_part(part: &Part, subject: &Resolved, request: &Request, known: Known) -> Result<Line> {
        let neighbors = subject.neighbors;
        let Request { prior, delta, digits, with_exceeded } = request;
        let bound = bound::bound_knowing(&part.whole, prior, neighbors, delta, *digits, known)?;
        let exceeded = || outputs::exceeded_epsilon(&part.whole, part.whole.single(), prior, delta, Some(&bound));
        // Releases of the same counts change the same ones: their tails are among those of all changes, and the largest of all is an upper bound.
        let of_all = |exceeded: Exceeded| Exceeded { is_least: exceeded.is_least && subject.repeat == 1, ..exceeded };
        let exceeded = with_exceeded.then(exceeded).transpose()?.map(of_all);
        let (name, decided_by) = (part.name.clone(), part.deciding(&bound.correct));
        Ok(Line { name, exceeded, bound, decided_by, prior: prior.clone() })
    }

    /// The part of it that also answers another request about the same mechanism.
    fn known(&self, then: &Request, now: &Request) -> Known {
        if then.digits != now.digits {
            return Known::default();
        }
        Known {
            epsilon: (then.delta == now.delta).then(|| self.bound.epsilon.clone()),
            correct: (then.prior == now.prior).then(|| self.bound.correct.clone()),
            advantage: Some(self.bound.advantage.clone()),
        }
    }

    /// The posterior that is exceeded with probability at most delta.
    fn exceeded(&self) -> Option<Enclosure> {
        self.exceeded.as_ref().map(|exceeded| outputs::posterior_of_outputs(&self.prior, exceeded))
    }

    fn fields(&self) -> Fields {
        let Bound { correct, correct_by_epsilon, correct_by_zcdp, advantage, advantage_by_zcdp, .. } = &self.bound;
        let exceeded = self.exceeded.as_ref().zip(self.exceeded()).map(|(exceeded, posterior)| {
            let by = match exceeded.by_tail {
                true => "tail of the privacy loss",
                false => "posterior after events, privacy profile, zCDP or the largest loss",
            };
            Fields::new()
                .with("posterior_upper", &posterior)
                .with("posterior_exceeded", &posterior)
                .with("posterior_exceeded_by", by)
                .with("posterior_exceeded_is_least", exceeded.is_least)
        });
        let zcdp = json!({
            "epsilon": finite(&self.bound.zcdp_epsilon),
            "correct_decision_upper": correct_by_zcdp,
            "correct_decision_by_epsilon": self.bound.correct_by_zcdp_pair,
            "posterior_events": self.bound.posterior_by_zcdp,
            "posterior_upper": self.bound.posterior_of_outputs_by_zcdp,
            "advantage": advantage_by_zcdp,
        });
        let pure = self.bound.pure.as_ref().map(|pure| {
            json!({
                "epsilon": pure.epsilon,
                "correct_decision_upper": pure.correct,
                "posterior_upper": pure.posterior,
                "advantage": pure.advantage,
            })
        });
        Fields::new()
            .with("correct_decision_upper", &correct.value)
            .with("guess", exact(&bound::blind_guess(&self.prior)))
            .with("posterior_events", &self.bound.posterior_of_events.value)
            .with("advantage", advantage)
            .and(exceeded.unwrap_or_default())
            .with("epsilon", finite(&self.bound.epsilon))
            .with("correct_decision_by_epsilon", correct_by_epsilon)
            .with("zcdp", zcdp)
            .with("pure", pure)
            .with_some("worst_pair", self.decided_by.as_ref())
            .with("status", correct.status())
    }

    /// Its fields after its name.
    fn named(&self) -> Fields {
        output::named(&self.name, self.fields())
    }
}

impl Args {
    /// The request.
    pub fn request(&self, with_exceeded: bool) -> Result<Request> {
        let (prior, delta) = (prior(&self.prior)?, quantity("--delta", &self.delta)?);
        Ok(Request { prior, delta, digits: self.format.digits, with_exceeded })
    }
}

/// Each level, and everything composed.
pub fn find(subject: &Resolved, request: &Request) -> Result<Found> {
    find_after(subject, request, None)
}

/// The bounds after an earlier request about the same subject, whose answer is reused where possible.
pub fn find_after(subject: &Resolved, request: &Request, earlier: Option<&(Request, Found)>) -> Result<Found> {
    let known = |line: &dyn Fn(&Found) -> Option<&Line>| {
        earlier.and_then(|(then, found)| Some(line(found)?.known(then, request))).unwrap_or_default()
    };
    let whole = subject.as_part(subject::whole_name(subject));
    let steps = Steps::of_stage("risk of the levels and the whole", subject.levels.len() as u64 + 1);
    let numbered: Vec<(usize, &Part)> = subject.levels.iter().enumerate().collect();
    let level = |(at, part): &(usize, &Part)| {
        let line = Line::of_part(part, subject, request, known(&|found| found.levels.get(*at)));
        steps.step();
        line
    };
    let levels = || parallel::try_map_any(&numbered, level);
    let (levels, total) =
        parallel::join(levels, || Line::of_part(&whole, subject, request, known(&|found| Some(&found.total))));
    Ok(Found { levels: levels?, total: total? })
}

impl Found {
    /// The account of the comparison: pure DP if losses are bounded and its epsilon for the whole is the smaller one.
    pub fn allowed(&self) -> Allowed {
        let bound = &self.total.bound;
        let is_pure = bound.pure.as_ref().is_some_and(|pure| pure.epsilon.upper() <= bound.zcdp_epsilon.upper());
        if is_pure { Allowed::Pure } else { Allowed::Zcdp }
    }

    /// The levels, and the whole last.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.levels.iter().chain([&self.total])
    }

    /// The block paths or mixes of groups that determine each line, the whole last.
    pub fn decided(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.lines().map(|line| (line.name.as_str(), line.decided_by.as_deref()))
    }

    /// A record for each line.
    pub fn records(&self) -> Vec<Value> {
        self.lines().map(|line| line.named().object()).collect()
    }

    /// The answer as an object.
    pub fn object(&self, subject: &Resolved, request: &Request) -> Value {
        self.total
            .fields()
            .with("prior", exact(&request.prior))
            .with("delta", exact(&request.delta))
            .and(subject::of_relation(subject))
            .with_any("levels", self.levels.iter().map(Line::named))
            .into()
    }
}

pub fn run(args: &Args) -> Result<Exit> {
    let request = args.request(true)?;
    let subject = args.of_ledger.resolve(&args.subject)?;
    let found = find(&subject, &request)?;
    let mut page = args.drawn.page(&args.format)?;
    page.object(found.object(&subject, &request));
    page.records(found.records());
    let (prior, delta) = (rational::display(&request.prior), exact_text(&request.delta));
    page.text(subject::heading(&subject, &format!(", prior = {prior}, delta = {delta}")));
    let allowed = found.allowed();
    let rows = found.lines().map(|line| table_row(line, allowed));
    let by = allowed.heading();
    page.table(&["", "correct", by, "guess", "advantage", by, "posterior", by, "exceeded"], rows);
    page.lines(&subject::decided(found.decided()));
    page.text(format!("\ncorrect: {}\n", about_correct(&subject)));
    let is_bound = subject.may_be_more_private().is_some();
    about_numbers(subject.unit(), is_bound).iter().for_each(|line| page.text(format!("{line}\n")));
    if finite(&found.total.bound.epsilon).is_none() {
        page.text(
            "Outputs that only one of two neighbors can have are accounted for: no epsilon is finite at this delta.\n",
        );
    }
    page.text(format!("{}\n", allowed.formula()));
    if matches!(allowed, Allowed::Zcdp) && subject.whole.infinite_loss().is_some() {
        page.text(
            "Where outputs of infinite loss have probability m, rho is about all others, and by zCDP the distance is at most m + (1 - m) min(sqrt(rho / 2), sqrt(1 - exp(-rho))).\n",
        );
    }
    ways_note(&subject).iter().for_each(|note| page.text(format!("{note}\n")));
    page.note(subject.note());
    page.say_wider(found.lines().map(|line| (line.name.as_str(), &line.bound.correct)));
    args.drawn.write(|| ranks::figure(&subject.title, &ranked(&found)))?;
    page.done()
}

/// What the other columns are.
fn about_numbers(unit: Unit, is_bound: bool) -> [String; 4] {
    let (records, cases) = (unit.the_records(), unit.cases());
    let [are, change] = if unit.group == 1 { ["is", "a record changes"] } else { ["are", "the records change"] };
    [
        "guess: without any output, who decides for what is likelier beforehand.".to_string(),
        match is_bound {
            true => format!("advantage: the total variation distance of the outputs {cases} is at most this."),
            false => format!("advantage: the total variation distance of the outputs {cases}."),
        },
        match unit.neighbors {
            Neighbors::AddRemove => format!(
                "posterior: no event that has at least probability delta if {records} {are} there lifts the posterior of presence above this number; the same of \
                 absence at that prior of absence."
            ),
            Neighbors::Bounded => "posterior: no event that has at least probability delta under one of both possibilities lifts the posterior of that one, from this \
                                   prior, above this number."
                .to_string(),
        },
        format!(
            "exceeded: the posterior after the outputs is above this number with at most probability delta, whichever of these counts {change}."
        ),
    ]
}

/// What the probability of a correct decision is: the largest, or a bound.
fn about_correct(subject: &Resolved) -> &'static str {
    if subject.may_be_more_private().is_some() {
        "no adversary decides correctly with a larger probability."
    } else if subject.neighbors == Neighbors::Bounded && !subject.total.is_symmetric() {
        "the largest probability with which any adversary decides correctly, for the worse order of both records."
    } else {
        "the largest probability with which any adversary decides correctly."
    }
}

/// The correct decisions and the posteriors of the drawing.
fn ranked(found: &Found) -> [Ranks; 2] {
    let allowed = found.allowed();
    let ranks = |label: &str, values: [&dyn Fn(&Bound) -> Enclosure; 2]| Ranks {
        title: String::new(),
        label: label.to_string(),
        names: found.lines().map(|line| line.name.clone()).collect(),
        series: (["exact", allowed.name()].into_iter().zip(values))
            .map(|(name, value)| {
                (name.to_string(), found.lines().map(|line| Some(value(&line.bound).approximate())).collect())
            })
            .collect(),
    };
    let correct = |bound: &Bound| allowed.bounds(bound).correct.clone();
    let posterior = |bound: &Bound| allowed.bounds(bound).posterior.clone();
    [
        ranks("largest probability of a correct decision", [&|bound| bound.correct.value.clone(), &correct]),
        ranks("largest posterior after events", [&|bound| bound.posterior_of_events.value.clone(), &posterior]),
    ]
}

fn table_row(line: &Line, allowed: Allowed) -> Vec<String> {
    let (bound, by) = (&line.bound, allowed.bounds(&line.bound));
    vec![
        line.name.clone(),
        bound.correct.value.shown(6),
        by.correct.upper_text(6),
        Enclosure::rational(&bound::blind_guess(&line.prior), 64).shown(6),
        bound.advantage.shown(6),
        by.advantage.upper_text(6),
        near_one(&bound.posterior_of_events.value),
        near_one(by.posterior),
        line.exceeded().as_ref().map_or_else(String::new, near_one),
    ]
}

/// An epsilon, if it is finite.
fn finite(epsilon: &Enclosure) -> Option<&Enclosure> {
    epsilon.upper().is_finite().then_some(epsilon)
}

/// A probability close to 1 with two digits of its complement.
fn near_one(value: &Enclosure) -> String {
    let missing = Enclosure::double(1.0, value.lower().prec()).sub(value);
    if *missing.upper() >= 1e-4 || *missing.upper() == 0 {
        return value.shown(6);
    }
    // The same digits with an exponent, which is shorter.
    let from_one =
        |digits: String| format!("1 - {}", digits.parse::<f64>().map_or(digits, |digits| format!("{digits:e}")));
    match missing.shown(2) {
        // The lower end lacks the most.
        both if both.contains(" to ") => {
            format!("{} to {}", from_one(missing.upper_text(2)), from_one(missing.lower_text(2)))
        }
        one => from_one(one),
    }
}
