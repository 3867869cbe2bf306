//! `assay risk curve`: the risk from the best test of each type I error.

use anyhow::{Context, Result};
use dp_assay::{
    account::Account,
    chart::curves,
    document::fields::Fields,
    numeric::parallel,
    risk::curve::{self, RiskPoint},
};
use rug::Rational;
use serde_json::Value;

use super::super::{
    arguments::{number, prior},
    curve::short,
    drawn::{Drawn, Points},
    exit::Exit,
    of_ledger::OfLedger,
    output::{self, exact, exact_text},
    page,
    progress::{self, Steps},
    subject::{self, Format, Subject},
};

/// The largest posterior of a reported record, and its ratio to the prior, over the type I error
///
/// An adversary reports a record as present by some test. Of absent records it reports a share alpha. The posterior is the largest
/// probability, over all tests with this alpha, that a reported record is present; the relative risk is that over the prior.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    of_ledger: OfLedger,
    /// The prior probability, 0 < Q < 1
    #[arg(long, value_name = "Q", allow_hyphen_values = true)]
    prior: String,
    /// Number of type I errors from --from to 1, in equal steps of their logarithm [default: 201, of which a table shows every tenth]
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    points: Option<u32>,
    /// The least type I error
    #[arg(long, value_name = "ALPHA", default_value = "1e-6", allow_hyphen_values = true)]
    from: String,
    /// Only this type I error (repeatable)
    #[arg(long, value_name = "ALPHA", conflicts_with_all = ["points", "from"], allow_hyphen_values = true)]
    alpha: Vec<String>,
    #[command(flatten)]
    format: Format,
    #[command(flatten)]
    drawn: Drawn,
}

pub fn run(args: &Args) -> Result<Exit> {
    let prior = prior(&args.prior)?;
    let (alphas, points) = args.alphas()?;
    let subject = args.of_ledger.resolve(&args.subject)?;
    progress::stage("best test of each type I error");
    let steps = Steps::new(alphas.len() as u64);
    let evaluator = subject.whole.evaluator();
    let point = |alpha: &Rational| {
        let point = curve::point_by(&subject.whole, &evaluator, &prior, subject.neighbors, alpha, args.format.digits)
            .context("--alpha");
        steps.step();
        point
    };
    let found = parallel::try_map_any(&alphas, point)?;
    let columns = output::columns_of_ends("alpha", &["power", "posterior", "relative_risk"]);
    let cells = |point: &RiskPoint| {
        output::cells_of_ends(exact_text(&point.alpha), [&point.power, &point.posterior, &point.relative_risk])
    };
    let rows: Vec<Vec<String>> = found.iter().map(cells).collect();
    let status = || found.iter().map(|point| point.beta.status());
    let mut page = args.drawn.page(&args.format)?;
    let answer = Fields::new()
        .with("prior", exact(&prior))
        .and(subject::of_relation(&subject))
        .and(output::arrays(&columns, &rows));
    page.object(answer.with("status", status().collect::<Value>()));
    page.records(rows.iter().zip(status()).map(|(row, status)| page::record(&columns, row, status)));
    page.text(subject::heading(&subject, &format!(", prior = {}", exact_text(&prior))));
    let line = |point: &RiskPoint| {
        let shown = [&point.power, &point.posterior, &point.relative_risk].map(|value| value.shown(6));
        [vec![short(&point.alpha)], shown.to_vec()].concat()
    };
    points.put(&mut page, &["alpha", "power", "posterior", "relative risk"], found.iter().map(line), &args.drawn);
    let one = if subject.group == 1 { "record" } else { "group" };
    let each = match subject.may_be_more_private().is_some() {
        true => format!("No test that reports a share alpha of absent {one}s has more."),
        false => format!("Each is the largest of all tests that report a share alpha of absent {one}s."),
    };
    page.text(format!(
        "\n{each} power: the share of present {one}s that the test reports. posterior: the probability that a reported {one} is \
         present. relative risk: that over the prior.\n"
    ));
    page.note(subject.note());
    page.say_wider(rows.iter().map(|row| row[0].as_str()).zip(found.iter().map(|point| &point.beta)));
    args.drawn.write(|| {
        let of =
            |value: fn(&RiskPoint) -> f64| found.iter().map(|point| (point.alpha.to_f64(), value(point))).collect();
        let prior = prior.to_f64();
        curves::risk(
            &subject.title,
            prior,
            [of(|point| point.posterior.approximate()), of(|point| point.power.approximate())],
        )
    })?;
    page.done()
}

impl Args {
    /// The type I errors, and those that a table shows.
    fn alphas(&self) -> Result<(Vec<Rational>, Points)> {
        if !self.alpha.is_empty() {
            let alphas = self.alpha.iter().map(|text| number("--alpha", text)).collect::<Result<Vec<_>>>()?;
            let points = Points::all(alphas.len());
            return Ok((alphas, points));
        }
        let points = self.drawn.points(self.points, &self.format);
        let alphas = curve::alphas(&number("--from", &self.from)?, points.count).context("--from")?;
        Ok((alphas, points))
    }
}
