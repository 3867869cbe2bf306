//! `assay risk single`: one noisy count, or one at each of several levels.

use anyhow::{Context, Result, bail};
use dp_assay::{
    chart::outputs,
    error::unknown,
    numeric::{Enclosure, rational},
    release::Release,
    risk::single::Attack,
};
use rug::Rational;
use serde_json::{Value, json};

use super::super::{
    drawn::Drawn,
    exit::Exit,
    output::{self, ends, exact, exact_text},
    page,
    subject::Format,
};
use super::common::{arrays, count, counts, numbers, prior, row, shown};

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
    #[arg(long, value_name = "NAME", requires = "release")]
    level: Option<String>,
    /// The query of the count
    #[arg(long, value_name = "NAME", requires = "release")]
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

/// The source of the rho of a count of a release.
pub struct Origin {
    /// Release, level and query.
    pub title: String,
    /// The variance proxy of the noise.
    pub sigma2: Rational,
    query_rho: Rational,
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
            Some((from, to)) => range(args, &attack, count("--noisy", from)?, count("--noisy", to)?),
            None => output_of(args, &attack, &counts("--noisy", noisy)?, origin.as_ref()),
        },
    }
}

impl Args {
    /// The adversary, and the source of the rho of the count; `find` finds the release by its name.
    pub fn attack(&self, find: &dyn Fn(&str) -> dp_assay::Result<Release>) -> Result<(Attack, Option<Origin>)> {
        let prior = prior(&self.prior)?;
        let (rhos, origin) = match (&self.rho, &self.release) {
            (Some(rho), _) => (numbers("--rho", rho)?, None),
            (None, Some(name)) => {
                let (rho, origin) = self.of_release(&find(name).context("--release")?)?;
                (vec![rho], Some(origin))
            }
            (None, None) => bail!("--rho: give a rho, or --release NAME --level NAME --query NAME"),
        };
        let attack = Attack::new(prior, rhos).context(if origin.is_some() { "--query" } else { "--rho" })?;
        Ok((attack, origin))
    }

    /// Relative widths of 10^-digits.
    pub fn digits(&self) -> u32 {
        self.format.digits
    }

    fn of_release(&self, release: &Release) -> Result<(Rational, Origin)> {
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
        let sigma2 = query.sigma2().context("--query")?;
        let rho = Rational::from(query.shift).square() / Rational::from(sigma2 * 2_u32);
        let origin = Origin { title, sigma2: sigma2.clone(), query_rho: query.rho.clone() };
        Ok((rho, origin))
    }
}

fn describe(attack: &Attack, origin: Option<&Origin>) -> String {
    let rhos: Vec<String> = attack.rhos().iter().map(|rho| Enclosure::rational(rho, 64).shown(6)).collect();
    let prior = rational::display(attack.prior());
    let Some(origin) = origin else {
        return format!("rho = {}, prior = {prior}\n\n", rhos.join(", "));
    };
    let real = |value: &Rational| Enclosure::rational(value, 64).shown(6);
    let mut text = format!(
        "{}\nnoise of variance proxy {}, so that one count spends rho = {}; prior = {prior}\n",
        origin.title,
        real(&origin.sigma2),
        rhos.join(", ")
    );
    if origin.query_rho != attack.rhos()[0] {
        text += &format!(
            "(the query spends {}, because a changed record moves more than one of its counts)\n",
            real(&origin.query_rho)
        );
    }
    text + "\n"
}

fn base(attack: &Attack, origin: Option<&Origin>) -> Value {
    let rhos = attack.rhos();
    let rho = match rhos {
        [rho] => exact(rho),
        rhos => rhos.iter().map(exact).collect(),
    };
    let mut object = json!({ "rho": rho, "prior": exact(attack.prior()), "prior_exact": attack.prior().to_string() });
    if let Some(origin) = origin {
        object["sigma2"] = exact(&origin.sigma2);
        object["query_rho"] = exact(&origin.query_rho);
    }
    object
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
    /// Posterior, risk and decisions by the rho of the query, if that differs.
    other: Option<[Enclosure; 3]>,
    met: bool,
}

impl Average {
    pub fn of(attack: &Attack, origin: Option<&Origin>, digits: u32) -> Result<Average> {
        let marginal = attack.marginal(digits)?;
        let correct = attack.correct_decision(digits)?;
        // The results for the paper's interpretation of a query's rho, if that differs.
        let other = (origin.filter(|origin| origin.query_rho != attack.rhos()[0]))
            .map(|origin| Attack::new(attack.prior().clone(), vec![origin.query_rho.clone()]))
            .transpose()?;
        let other = other.map(|other| -> Result<_> {
            let marginal = other.marginal(digits)?;
            Ok([marginal.clone(), other.per_prior(&marginal), other.correct_decision(digits)?])
        });
        Ok(Average {
            absent: attack.marginal_if_absent(digits)?,
            risk: attack.per_prior(&marginal),
            correct_absent: attack.correct_if_absent(digits)?,
            threshold: if attack.rhos().len() == 1 { Some(attack.threshold()?) } else { None },
            other: other.transpose()?,
            met: [&marginal, &correct].iter().all(|value| value.is_tight(digits)),
            marginal,
            correct,
        })
    }

    /// The answer as an object.
    pub fn object(&self, attack: &Attack, origin: Option<&Origin>) -> Value {
        let mut object = base(attack, origin);
        object["marginal_posterior"] = self.marginal.to_json();
        object["marginal_posterior_if_absent"] = self.absent.to_json();
        object["risk"] = self.risk.to_json();
        object["correct_decision"] = self.correct.to_json();
        object["correct_decision_if_absent"] = self.correct_absent.to_json();
        object["threshold"] = json!(self.threshold);
        object["status"] = json!(output::status(self.met));
        if let Some([marginal, risk, correct]) = &self.other {
            object["at_query_rho"] = json!({
                "marginal_posterior": marginal.to_json(),
                "risk": risk.to_json(),
                "correct_decision": correct.to_json(),
            });
        }
        object
    }

    /// The heading and the rows of a table.
    pub fn table(&self, attack: &Attack, digits: u32) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let cell = |value: &Enclosure| shown(value, digits);
        let mut rows = vec![
            vec!["posterior probability, averaged over outputs".into(), cell(&self.marginal), cell(&self.absent)],
            vec!["risk: that over the prior".into(), cell(&self.risk), cell(&attack.per_prior(&self.absent))],
            vec!["probability of a correct decision".into(), cell(&self.correct), cell(&self.correct_absent)],
        ];
        let mut heading = vec!["", "target counts", "does not"];
        if let Some(other) = &self.other {
            heading.push("counts, at the query's rho");
            rows.iter_mut().zip(other).for_each(|(row, value)| row.push(cell(value)));
        }
        (heading, rows)
    }
}

/// The average over all outputs.
fn average(args: &Args, attack: &Attack, origin: Option<&Origin>) -> Result<Exit> {
    let average = Average::of(attack, origin, args.digits())?;
    let object = average.object(attack, origin);
    let mut page = args.format.page();
    page.records([object.clone()]);
    page.object(object);
    page.text(describe(attack, origin));
    let (heading, rows) = average.table(attack, args.digits());
    page.table(&heading, rows);
    if let Some(threshold) = average.threshold {
        page.text(format!(
            "\nThe adversary decides for the target if the released count exceeds the known one by {threshold} or more.\n"
        ));
    }
    page.print()?;
    Ok(Exit::Done)
}

/// One output.
fn output_of(args: &Args, attack: &Attack, noisy: &[i64], origin: Option<&Origin>) -> Result<Exit> {
    let digits = args.format.digits;
    let posterior = attack.posterior(noisy, digits).context("--noisy")?;
    let risk = attack.risk(noisy, digits)?;
    let probability = [true, false].map(|present| attack.probability(noisy, present, digits));
    let [present, absent] = probability;
    let (present, absent) = (present?, absent?);
    let sequence = attack.sequence(noisy, digits)?;
    let mut page = args.format.page();
    let mut object = base(attack, origin);
    object["noisy"] = if noisy.len() == 1 { json!(noisy[0]) } else { json!(noisy) };
    object["posterior"] = posterior.to_json();
    object["risk"] = risk.to_json();
    object["probability"] = present.to_json();
    object["probability_if_absent"] = absent.to_json();
    object["status"] = json!(output::status(posterior.is_tight(digits)));
    if noisy.len() > 1 {
        object["risk_steps"] = sequence.steps.iter().map(Enclosure::to_json).collect();
    }
    page.records([object.clone()]);
    page.object(object);
    page.text(describe(attack, origin));
    let mut rows = vec![
        row("posterior probability that the target counts", &posterior, digits),
        row("risk: that over the prior", &risk, digits),
        row("probability of this output if it counts", &present, digits),
        row("probability of this output if it does not", &absent, digits),
    ];
    if noisy.len() > 1 {
        let steps = sequence.steps.iter().enumerate();
        rows.extend(steps.map(|(k, step)| row(&format!("risk of count {} after those before", k + 1), step, digits)));
    }
    page.table(&["", "value"], rows);
    page.print()?;
    Ok(Exit::Done)
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
fn range(args: &Args, attack: &Attack, from: i64, to: i64) -> Result<Exit> {
    const MOST: i64 = 100_000;
    if to < from || to - from >= MOST {
        bail!("--noisy {from}..{to}: give a range from the smaller to the larger, of at most {MOST} counts");
    }
    let digits = args.format.digits;
    let values: Vec<[Enclosure; 5]> =
        (from..=to).map(|n| of_range(attack, n, digits)).collect::<dp_assay::Result<_>>().context("--noisy")?;
    let rows: Vec<Vec<String>> = ((from..=to).zip(&values))
        .map(|(n, values)| {
            let ends = values.iter().flat_map(|value| <[String; 2]>::from(ends(value)));
            std::iter::once(n.to_string()).chain(ends).collect()
        })
        .collect();
    let names = |columns: &[&str]| -> Vec<String> {
        let both = columns.iter().flat_map(|name| ["lower", "upper"].map(|end| format!("{name}_{end}")));
        std::iter::once("noisy".to_string()).chain(both).collect()
    };
    let mut page = args.drawn.page(&args.format)?;
    let mut object = base(attack, None);
    arrays(
        &mut object,
        &names(&["probability", "posterior", "risk", "probability_if_absent", "probability_overall"]),
        &rows,
    );
    page.object(object);
    page.text(format!("rho = {}, prior = {}\n\n", exact_text(&attack.rhos()[0]), rational::display(attack.prior())));
    let columns =
        names(&["probability_if_counts", "posterior", "risk", "probability_if_absent", "probability_overall"]);
    let all: Vec<&str> = columns.iter().map(String::as_str).collect();
    let shown = |(n, values): (i64, &[Enclosure; 5])| {
        let cells = values.iter().map(|value| value.shown(args.format.shown()));
        std::iter::once(n.to_string()).chain(cells).collect()
    };
    let heading = ["noisy", "if it counts", "posterior", "risk", "if absent", "overall"];
    page.records(rows.iter().map(|row| page::words(&all, row)));
    page.table(&heading, (from..=to).zip(&values).map(shown).collect());
    page.text(
        "\nProbabilities of the noisy count, the released one minus the known one: if the target counts, if it does not, and overall, by the \
         prior.\n",
    );
    let points = |k: usize| (from..=to).zip(&values).map(|(n, row)| (n as f64, row[k].approximate())).collect();
    let title = format!("One noisy count: rho = {}, prior = {}", exact_text(&attack.rhos()[0]), attack.prior());
    args.drawn.write(|| outputs::of_one_count(&title, points(1), points(0)))?;
    page.print()?;
    Ok(Exit::Done)
}
