//! `assay risk single`: one noisy count, or one at each of several levels.

use anyhow::{Context, Result, bail};
use dp_assay::{
    chart::outputs,
    document::fields::Fields,
    error::unknown,
    numeric::{Enclosure, rational},
    release::{Changed, Neighbors, Release},
    risk::single::Attack,
};
use rug::Rational;
use serde_json::Value;

use super::super::{
    arguments::prior,
    drawn::Drawn,
    exit::Exit,
    output::{self, exact, exact_text},
    page,
    subject::Format,
};
use super::common::{alone_or_all, count, counts, numbers, proven, shown};

/// Disclosure by one noisy count of a target, to an adversary who knows everybody else
///
/// The adversary knows the count without the target, and believes with probability P that the target counts: that it has
/// the characteristics, answered at all, answered truthfully, or has a value of an unknown variable. Several rho are counts of
/// several levels at which the target is unique, or of several releases.
#[derive(clap::Args)]
pub struct Args {
    /// The rho of the count, with noise of variance proxy 1 / (2 RHO); several, separated by commas
    #[arg(long, value_name = "RHO[,RHO...]", allow_hyphen_values = true, required_unless_present = "release")]
    rho: Option<String>,
    /// Instead of RHO: a bundled release or a TOML file, with --level and --query
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "rho", requires = "level", requires = "query")]
    release: Option<String>,
    /// The geolevel of the count
    #[arg(long, value_name = "NAME", requires = "release", conflicts_with = "rho")]
    level: Option<String>,
    /// The query of the count
    #[arg(long, value_name = "NAME", requires = "release", conflicts_with = "rho")]
    query: Option<String>,
    /// The prior probability that the target counts, 0 < P < 1
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    prior: String,
    /// The released count minus the known count; one for each rho, separated by commas; or a range as in -5..10
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    noisy: Option<String>,
    #[command(flatten)]
    format: Format,
    #[command(flatten)]
    drawn: Drawn,
}

/// A count of a release.
pub struct Origin {
    /// Release, level and query.
    pub title: String,
    /// The variance proxy of the noise.
    pub sigma2: Rational,
    query_rho: Rational,
    /// The counts of the query that a change of one record affects, and the words for this change.
    counts: u64,
    change: &'static str,
}

impl Origin {
    /// The adversary who sees all counts of the query that the target changes; `None` where this is one count, or too many.
    fn on_all_counts(&self, attack: &Attack) -> Result<Option<Attack>> {
        const MOST_COUNTS: u64 = 8;
        if !(2..=MOST_COUNTS).contains(&self.counts) {
            return Ok(None);
        }
        let each = vec![self.sigma2.clone(); self.counts as usize];
        Ok(Some(Attack::on_counts(attack.prior().clone(), &each, attack.shift())?))
    }
}

pub fn run(args: &Args) -> Result<Exit> {
    let (attack, origin) = args.attack(&Release::find)?;
    let is_range = args.noisy.as_deref().is_some_and(|noisy| noisy.contains(".."));
    if let Some(flag) = args.drawn.flag().filter(|_| !is_range) {
        bail!("{flag}: a single output is no series; give a range, as in --noisy=-5..10");
    }
    match args.noisy.as_deref() {
        None => average(args, &attack, origin.as_ref()),
        Some(noisy) => match noisy.split_once("..") {
            Some((from, to)) => range(args, &attack, (count("--noisy", from)?, count("--noisy", to)?), origin.as_ref()),
            None => output_of(args, &attack, &counts("--noisy", noisy)?, origin.as_ref()),
        },
    }
}

impl Args {
    /// The adversary, and the source of the rho of the count; `find` finds the release by its name.
    pub fn attack(&self, find: &dyn Fn(&str) -> dp_assay::Result<Release>) -> Result<(Attack, Option<Origin>)> {
        let prior = prior(&self.prior)?;
        match (&self.rho, &self.release) {
            (Some(rho), _) => Ok((Attack::new(prior, numbers("--rho", rho)?).context("--rho")?, None)),
            (None, Some(name)) => {
                let (shift, origin) = self.of_release(&find(name).context("--release")?)?;
                let attack =
                    Attack::on_counts(prior, std::slice::from_ref(&origin.sigma2), shift).context("--query")?;
                Ok((attack, Some(origin)))
            }
            (None, None) => bail!("--rho: give a rho, or --release NAME --level NAME --query NAME"),
        }
    }

    /// Relative widths of 10^-digits.
    pub fn digits(&self) -> u32 {
        self.format.digits
    }

    /// By how much a record changes a count of the query, and the query.
    fn of_release(&self, release: &Release) -> Result<(u64, Origin)> {
        if release.budget_only {
            // The library's own refusal states the reason.
            release.composition(&[] as &[&str], None).context("--release")?;
        }
        let level = release.level(self.level.as_deref().unwrap_or_default()).context("--level")?;
        let request = self.query.as_deref().unwrap_or_default();
        let Some(query) = level.queries.iter().find(|query| query.name == request) else {
            let known = level.queries.iter().map(|query| query.name.as_str());
            let has = format!("the level {} has", level.name);
            bail!("--query: {}", unknown("query", request, &has, known));
        };
        let title = format!("{}: {}, {}", release.name, level.name, query.name);
        if query.changed.times(release.neighbors).context("--query")? == 0 {
            bail!(
                "--query: {title}: no count of it moves (moves = 0): a changed record leaves the query as it is, so that it says nothing about that record; name another query"
            );
        }
        let sigma2 = query.sigma2().context("--query")?.clone();
        let each = query.changed.times(release.neighbors).context("--query")?;
        let change = match (release.neighbors, query.changed) {
            (Neighbors::AddRemove, _) => "an added or removed record",
            (Neighbors::Bounded, Changed::Twice) => "a changed record, if it leaves its counts and enters others,",
            (Neighbors::Bounded, _) => "a changed record",
        };
        let origin =
            Origin { title, sigma2, query_rho: query.rho.clone(), counts: query.cells.saturating_mul(each), change };
        Ok((query.shift, origin))
    }
}

fn describe(attack: &Attack, origin: Option<&Origin>) -> String {
    let spent = attack.rhos();
    let rhos: Vec<String> = spent.iter().map(|rho| Enclosure::rational(rho, 64).shown(6)).collect();
    let prior = rational::display(attack.prior());
    let Some(origin) = origin else {
        return format!("rho = {}, prior = {prior}\n\n", rhos.join(", "));
    };
    let real = |value: &Rational| Enclosure::rational(value, 64).shown(6);
    let moved = match attack.shift() {
        1 => String::new(),
        shift => format!("; the target changes the count by {shift}, as much as one record can"),
    };
    let mut text = format!(
        "{}\nnoise of variance proxy {}, so that one count spends rho = {}; prior = {prior}{moved}\n",
        origin.title,
        real(&origin.sigma2),
        rhos.join(", ")
    );
    match origin.counts {
        0 => text += "(a changed record leaves all counts of this query as they are)\n",
        1 => {}
        counts => {
            let (change, rho) = (origin.change, real(&origin.query_rho));
            text += &format!("({change} changes {counts} counts of the query, which spend rho = {rho} together)\n");
        }
    }
    text + "\n"
}

fn base(attack: &Attack, origin: Option<&Origin>) -> Fields {
    let rhos: Vec<Value> = attack.rhos().iter().map(exact).collect();
    let base = Fields::new()
        .with("rho", alone_or_all(&rhos))
        .with("prior", exact(attack.prior()))
        .with("prior_exact", attack.prior().to_string());
    match origin {
        None => base,
        Some(origin) => base
            .with("sigma2", exact(&origin.sigma2))
            .with("shift", attack.shift())
            .with("query_rho", exact(&origin.query_rho))
            .with("query_counts", origin.counts),
    }
}

/// The adversary's gain, averaged over all outputs.
pub struct Average {
    /// The posterior probability, if the target counts.
    pub marginal: Enclosure,
    absent: Enclosure,
    risk: Enclosure,
    /// The probability that they decide correctly, if the target counts.
    pub correct: Enclosure,
    correct_absent: Enclosure,
    /// The least excess over the known count at which they decide for the target; `None` for several counts.
    pub threshold: Option<i64>,
    /// The same for an adversary who sees all counts of the query that the target changes, if these are several.
    all_counts: Option<Box<Average>>,
    met: bool,
}

impl Average {
    pub fn of_attack(attack: &Attack, origin: Option<&Origin>, digits: u32) -> Result<Average> {
        let marginal = attack.marginal(digits)?;
        let correct = attack.correct_decision(digits)?;
        let all = origin.map(|origin| origin.on_all_counts(attack)).transpose()?.flatten();
        let all_counts = all.map(|all| Average::of_attack(&all, None, digits).map(Box::new));
        Ok(Average {
            absent: attack.marginal_if_absent(digits)?,
            risk: attack.per_prior(&marginal),
            correct_absent: attack.correct_if_absent(digits)?,
            threshold: if attack.rhos().len() == 1 { Some(attack.threshold()?) } else { None },
            all_counts: all_counts.transpose()?,
            met: [&marginal, &correct].iter().all(|value| value.is_tight(digits)),
            marginal,
            correct,
        })
    }

    /// The answer as an object.
    pub fn object(&self, attack: &Attack, origin: Option<&Origin>) -> Value {
        base(attack, origin)
            .and(self.numbers())
            .with("threshold", self.threshold)
            .with("status", output::status(self.met))
            .with_some("all_counts", self.all_counts.as_ref().map(|all| all.numbers()))
            .into()
    }

    fn numbers(&self) -> Fields {
        Fields::new()
            .with("marginal_posterior", &self.marginal)
            .with("marginal_posterior_if_absent", &self.absent)
            .with("risk", &self.risk)
            .with("correct_decision", &self.correct)
            .with("correct_decision_if_absent", &self.correct_absent)
    }

    /// The heading and the rows of a table.
    pub fn table(&self, attack: &Attack, digits: u32) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let names = [
            "posterior probability, averaged over outputs",
            "risk: that over the prior",
            "probability of a correct decision",
        ];
        let mut heading = vec!["", "target counts", "does not"];
        let mut columns = self.columns(attack).to_vec();
        if let Some(all_counts) = &self.all_counts {
            heading.extend(["all counts: counts", "does not"]);
            columns.extend(all_counts.columns(attack));
        }
        let cells = |row: usize| columns.iter().map(move |column| shown(&column[row], digits));
        let rows = (0..names.len()).map(|row| std::iter::once(names[row].to_string()).chain(cells(row)).collect());
        (heading, rows.collect())
    }

    /// Posterior, risk and correct decision, if the target counts and if not.
    fn columns(&self, attack: &Attack) -> [[Enclosure; 3]; 2] {
        [
            [self.marginal.clone(), self.risk.clone(), self.correct.clone()],
            [self.absent.clone(), attack.per_prior(&self.absent), self.correct_absent.clone()],
        ]
    }
}

/// The average over all outputs.
fn average(args: &Args, attack: &Attack, origin: Option<&Origin>) -> Result<Exit> {
    let average = Average::of_attack(attack, origin, args.digits())?;
    let mut page = args.format.page();
    page.answer(average.object(attack, origin));
    page.text(describe(attack, origin));
    let (heading, rows) = average.table(attack, args.digits());
    page.table(&heading, rows);
    if let Some(threshold) = average.threshold {
        page.text(format!(
            "\nThe adversary decides for the target if the released count exceeds the known one by {threshold} or more.\n"
        ));
    }
    page.done()
}

/// One output.
fn output_of(args: &Args, attack: &Attack, noisy: &[i64], origin: Option<&Origin>) -> Result<Exit> {
    let digits = args.format.digits;
    let posterior = attack.posterior(noisy, digits).context("--noisy")?;
    let risk = attack.risk(noisy, digits)?;
    let probability = |present| attack.probability(noisy, present, digits);
    let (present, absent) = (probability(true)?, probability(false)?);
    let sequence = attack.sequence(noisy, digits)?;
    let steps = || sequence.steps.iter().enumerate().filter(|_| noisy.len() > 1);
    let number = |value: &Enclosure| proven(value, digits);
    let answer = base(attack, origin)
        .with("noisy", alone_or_all(noisy))
        .shown("posterior", "posterior probability that the target counts", number(&posterior))
        .shown("risk", "risk: that over the prior", number(&risk))
        .shown("probability", "probability of this output if it counts", number(&present))
        .shown("probability_if_absent", "probability of this output if it does not", number(&absent))
        .with("status", output::status(posterior.is_tight(digits)))
        .with_any("risk_steps", steps().map(|(_, step)| step));
    let answer = steps().fold(answer, |answer, (k, step)| {
        answer.cell(format!("risk of count {} after those before", k + 1), shown(step, digits))
    });
    let mut page = args.format.page();
    page.answer(answer.object());
    page.text(describe(attack, origin));
    page.push(answer.table("value"));
    page.done()
}

/// Of one noisy count: its probability if the target counts, the posterior, the risk, its probability if the target does not count,
/// and its probability overall: prior times the first plus (1 - prior) times the second.
fn of_range(attack: &Attack, n: i64, digits: u32) -> dp_assay::Result<[Enclosure; 5]> {
    let [present, absent] = [true, false].map(|present| attack.probability(&[n], present, digits));
    let (present, absent) = (present?, absent?);
    let bits = present.lower().prec().max(absent.lower().prec());
    let weight = |share: &Rational| Enclosure::rational(share, bits);
    let rest = Rational::from(1 - attack.prior());
    let overall = weight(attack.prior()).mul(&present).add(&weight(&rest).mul(&absent));
    Ok([present, attack.posterior(&[n], digits)?, attack.risk(&[n], digits)?, absent, overall])
}

/// A range of outputs of one count.
fn range(args: &Args, attack: &Attack, (from, to): (i64, i64), origin: Option<&Origin>) -> Result<Exit> {
    const MOST: i64 = 100_000;
    if to < from || to - from >= MOST {
        bail!("--noisy {from}..{to}: give a range from the smaller to the larger, of at most {MOST} counts");
    }
    let digits = args.format.digits;
    let values: Vec<[Enclosure; 5]> =
        (from..=to).map(|n| of_range(attack, n, digits)).collect::<dp_assay::Result<_>>().context("--noisy")?;
    let cells = |(n, values): (i64, &[Enclosure; 5])| output::cells_of_ends(n.to_string(), values);
    let rows: Vec<Vec<String>> = (from..=to).zip(&values).map(cells).collect();
    let columns = |first: &str| {
        let names = [first, "posterior", "risk", "probability_if_absent", "probability_overall"];
        output::columns_of_ends("noisy", &names)
    };
    let mut page = args.drawn.page(&args.format)?;
    page.object(base(attack, origin).and(output::arrays(&columns("probability"), &rows)));
    page.text(describe(attack, origin));
    let shown = |(n, values): (i64, &[Enclosure; 5])| {
        let cells = values.iter().map(|value| value.shown(args.format.shown()));
        std::iter::once(n.to_string()).chain(cells).collect()
    };
    let heading = ["noisy", "if it counts", "posterior", "risk", "if absent", "overall"];
    let columns = columns("probability_if_counts");
    page.records(rows.iter().map(|row| page::words(&columns, row)));
    page.table(&heading, (from..=to).zip(&values).map(shown));
    page.text(
        "\nProbabilities of the noisy count, the released one minus the known one: if the target counts, if it does not, and overall, by the \
         prior.\n",
    );
    let points = |k: usize| (from..=to).zip(&values).map(|(n, row)| (n as f64, row[k].approximate())).collect();
    let title = format!("One noisy count: rho = {}, prior = {}", exact_text(&attack.rhos()[0]), attack.prior());
    args.drawn.write(|| outputs::of_one_count(&title, points(1), points(0)))?;
    page.done()
}
