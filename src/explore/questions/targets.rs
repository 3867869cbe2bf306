//! Which noise does a risk need, and which epsilon does an accuracy need? The targets that people set first.

use anyhow::{Context, Result, bail};
use dp_assay::{
    account::{allocate::QueryTarget, promise::variances},
    chart::{Axis, Ink, Series},
    document::Table,
    numeric::{Enclosure, parallel, rational},
    release::{Neighbors, Release, Unit, query_targets, subject::Part},
    risk::promise::RiskPromise,
};
use rug::Rational;

use super::super::{
    ask::Question,
    exports::{Export, epsilon_line, from_toml, of_subject, text},
    parts::{Parts, chart, table, wider},
    store::Store,
};
use crate::cli::{
    allocate::accuracy::{self, Accuracy},
    arguments::quantity,
    calibrate::{self, Goal, Row},
    output::{change_in_words, exact_text},
    report::{
        charts::of_levels,
        words::{command_line, in_hundred, shown, upper},
    },
    subject::Relation,
};

/// The factor on all noise with which a target of risk is met.
pub fn risk(store: &Store, question: &Question) -> Result<Parts> {
    let args: calibrate::Args = question.args()?;
    let known = store.subject(question.subject(), &args.subject)?;
    let subject = &known.subject.until(&question.stop);
    let (request, found) = args.find_with(subject, false)?;
    let (Goal::Risk(risk), Some(row)) = (&request.goal, found.rows.first()) else {
        bail!("give a target of risk: posterior with prior, advantage, or alpha with beta");
    };
    let answer = args.object(subject, &request, &found)?;
    let present = risk.value(&subject.whole, request.digits.min(8))?;
    let parts = subject.parts_or(crate::cli::subject::whole_name(subject));
    let of_part = |part: &Part| {
        let known = variances(&part.noise()?).unwrap_or_default();
        let Some(sigma2) = known.first() else { return Ok(vec![part.name.clone(), "-".into(), "-".into()]) };
        let needed = Rational::from(sigma2 * &row.factor);
        Ok(vec![part.name.clone(), shown(sigma2, 7), shown(&needed, 7)])
    };
    let rows: Vec<Vec<String>> = parts.iter().map(of_part).collect::<Result<_>>()?;
    let noise = Table::numbers(
        "The smallest sigma2 of each level: at present, and as the target needs it.",
        &["", "present sigma2", "needed sigma2"],
        rows,
    );
    Ok(Parts {
        records: calibrate::records(&answer),
        answer,
        said: said(risk, &subject.unit(), row, &present.value),
        tables: vec![table(&noise)],
        charts: charts_of(&parts.iter().map(|part| part.name.clone()).collect::<Vec<_>>(), row)?,
        notes: wider([("the reached value", row.reached.met)].into_iter()).into_iter().collect(),
        assumed: vec![
            "The adversary may know all other records, and the law of the noise.".to_string(),
            "One factor on all noise, for everything composed; sigma2 is a variance.".to_string(),
            "Information from elsewhere, and counts that are published without noise, are not included.".to_string(),
        ],
        exports: of_subject(
            question,
            &args.subject.described_with(&|name| store.release(name))?,
            &cell(question, request.digits),
        ),
        ..Parts::default()
    })
}

/// The expression with this factor in a notebook.
fn cell(question: &Question, digits: u32) -> String {
    let given = |name: &&str| question.value(name).map(|value| format!("{name}={}, ", text(value)));
    let target: String = ["advantage", "alpha", "beta", "posterior", "prior"].iter().filter_map(given).collect();
    let decimals = question.value("decimals").map_or(String::new(), |decimals| format!("decimals={decimals}, "));
    format!("release.calibrate({target}grid=\"factor\", {decimals}digits={digits})[\"factor\"]")
}

fn said(risk: &RiskPromise, unit: &Unit, row: &Row, present: &Enclosure) -> Vec<String> {
    let is_more = row.factor > 1;
    let needs = match row.factor == 1 {
        true => "the present noise is the least.".to_string(),
        false if is_more => {
            format!("all noise has to be scaled by {} ({}).", exact_text(&row.factor), change_in_words(&row.factor, 4))
        }
        false => {
            format!("all noise may be scaled by {} ({}).", exact_text(&row.factor), change_in_words(&row.factor, 4))
        }
    };
    let mut said = vec![format!("So that {}, {needs}", in_words(risk, unit))];
    said.push(format!(
        "With the present noise the {} is {}; with the scaled noise it is {}.",
        risk.name(),
        present.shown(6),
        row.reached.value.shown(6)
    ));
    said.extend(
        row.before.as_ref().map(|before| format!("A factor of {} is proven not to be enough.", exact_text(before))),
    );
    said
}

/// The target in the words of its slider.
fn in_words(risk: &RiskPromise, unit: &Unit) -> String {
    match risk {
        RiskPromise::CorrectDecision { prior, most, .. } => format!(
            "an adversary with prior {} is right at most {} times in 100",
            rational::display(prior),
            rational::display(&Rational::from(most * 100_u32))
        ),
        other => other.in_words(unit),
    }
}

/// The noise before and after, in percent, at each level.
fn charts_of(names: &[String], row: &Row) -> Result<Vec<serde_json::Value>> {
    let percent = 100.0 * row.factor.to_f64();
    let all = |value: f64| std::iter::repeat_n(value, names.len());
    let series = vec![
        Series::of_rows("present", Ink::Vermillion, all(100.0)),
        Series::of_rows("needed", Ink::Blue, all(percent)),
    ];
    let x = Axis::linear("sigma2, percent of the present one", 0.0, 1.03 * percent.max(100.0));
    let drawn = chart(
        &of_levels(names.iter().map(String::as_str), x, series),
        "risk",
        "The present noise of each level, and the noise that the target needs",
        "The present noise (squares), and the noise that the target needs (circles), as a share of the present sigma2.",
    )?;
    Ok(vec![drawn])
}

/// The request about margins of error.
#[derive(clap::Args)]
pub struct Margins {
    #[arg(long)]
    release: String,
    #[arg(long)]
    level: Vec<String>,
    #[arg(long, value_parser = Relation)]
    neighbors: Option<Neighbors>,
    /// LEVEL=MARGIN: the largest error of a count of the level in 95 of 100 cases.
    #[arg(long)]
    margin: Vec<String>,
    #[arg(long)]
    delta: String,
    #[arg(long, default_value_t = 4)]
    decimals: u32,
}

impl Margins {
    /// The margin of a level.
    fn margin(&self, level: &str) -> Result<u64> {
        const USUAL: u64 = 10;
        let found = self.margin.iter().filter_map(|text| text.rsplit_once('=')).find(|(name, _)| *name == level);
        let Some((_, margin)) = found else { return Ok(USUAL) };
        let margin = margin.trim().parse().ok().filter(|margin| *margin <= 1_000_000);
        margin.with_context(|| format!("--margin: {level}: expected a whole number from 0 to 1000000"))
    }
}

/// The epsilon that margins of error need: that of the largest noise within all of them.
pub fn margins(store: &Store, question: &Question) -> Result<Parts> {
    let args: Margins = question.args()?;
    let delta = quantity("--delta", &args.delta)?;
    let release = store.release(&args.release).context("--release")?.only(&args.level).context("--level")?;
    let neighbors = args.neighbors.unwrap_or(release.neighbors);
    release.shares_budget(neighbors).context("--release")?;
    for text in &args.margin {
        let (name, _) = text.rsplit_once('=').with_context(|| format!("--margin {text}: expected LEVEL=MARGIN"))?;
        release.level(name).context("--margin")?;
    }
    let given = release.query_targets(Some(neighbors)).context("--release")?;
    let of_query: Vec<u64> = (release.levels.iter())
        .flat_map(|level| level.queries.iter().map(|_| args.margin(&level.name)))
        .collect::<Result<_>>()?;
    let text = query_targets::text_with_margins(given.iter().zip(of_query.iter().copied()));
    let targets = query_targets::parse(&text, "accuracy.toml")?;
    let asked = Accuracy { targets: &targets, neighbors, taken: 1, delta: &delta };
    question.stop.check()?;
    let found = accuracy::find(&asked, args.decimals)?;
    let queries = release.levels.iter().flat_map(|level| &level.queries);
    let sigma2: Vec<&Rational> = queries.map(|query| query.sigma2()).collect::<dp_assay::Result<_>>()?;
    let present: Vec<i64> = parallel::try_map_any(&sigma2, |sigma2| store.margin(sigma2))?;
    let noise = noise_within(&targets, &of_query, &found, &present);
    Ok(Parts {
        answer: found.object(&asked),
        records: found.records(&asked),
        said: vec![
            format!(
                "These margins need an epsilon of {} at delta = {}; less noise would need more.",
                found.epsilon.value.shown(6),
                exact_text(&delta)
            ),
            format!(
                "With even odds beforehand an adversary who knows all other records is then right at most {} times in 100.",
                in_hundred(&upper(&found.correct.value))
            ),
        ],
        tables: vec![table(&noise)],
        charts: vec![margins_chart(&release, &of_query, &present)?],
        notes: wider([("epsilon", found.epsilon.met)].into_iter()).into_iter().collect(),
        assumed: vec![
            "A margin holds in 95 of 100 cases, for one noisy count, before any post-processing.".to_string(),
            "All levels are composed, as for a record that enters a count of every level.".to_string(),
        ],
        exports: exports(&args, release, &found.noise.sigma2, neighbors)?,
        command: Some(command_of(&args, neighbors)),
        file: Some(("accuracy.toml".to_string(), text)),
    })
}

/// The noise of each query, beside its margin as requested, as found and at present.
fn noise_within(targets: &[QueryTarget], of_query: &[u64], found: &accuracy::Needed, present: &[i64]) -> Table {
    let row = |(k, target): (usize, &QueryTarget)| {
        vec![
            target.name.clone(),
            target.count.to_string(),
            of_query[k].to_string(),
            exact_text(&found.noise.sigma2[k]),
            found.margins[k].to_string(),
            present[k].to_string(),
        ]
    };
    Table::numbers(
        "The largest noise of each query within its margin.",
        &["", "counts", "margin, at most", "sigma2", "margin, 95 %", "at present"],
        targets.iter().enumerate().map(row).collect(),
    )
}

/// The command about the file of margins.
fn command_of(args: &Margins, neighbors: Neighbors) -> String {
    let mut words = vec!["assay".to_string(), "allocate".into(), "accuracy.toml".into(), "--accuracy".into()];
    words.push(format!("--delta={}", args.delta));
    if neighbors == Neighbors::Bounded {
        // The counts of the file are those that differ.
        words.extend([format!("--neighbors={}", neighbors.name()), "--counts-as-given".to_string()]);
    }
    words.extend([format!("--decimals={}", args.decimals), "--json".to_string()]);
    command_line(&words)
}

/// The release with the noise that was found, and a notebook cell with its epsilon. All levels are composed: it has no block paths.
fn exports(args: &Margins, release: Release, sigma2: &[Rational], neighbors: Neighbors) -> Result<Vec<Export>> {
    const DIGITS: u32 = 8;
    let about = [format!("{}-accurate", release.name), format!("{}, noise within margins", release.title)];
    let source = concat!("assay explore ", env!("CARGO_PKG_VERSION"), ": the largest noise within margins of error");
    let release = Release { paths: None, ..release };
    let release = release.with_sigma2(sigma2, neighbors, [&about[0], &about[1], source])?;
    let options = [format!("--delta={}", args.delta), format!("--digits={DIGITS}"), "--json".to_string()];
    let expression = format!("release.epsilon({}, digits={DIGITS})", text(&args.delta));
    let line = epsilon_line(&release, &options);
    Ok(vec![Export::release(&release, &line), Export::cell(&from_toml(&release, None), &expression)])
}

/// The margin of each level: that of its noisiest query at present, and the largest that is allowed.
fn margins_chart(release: &Release, allowed: &[u64], present: &[i64]) -> Result<serde_json::Value> {
    let (mut now, mut at_most) = (Vec::new(), Vec::new());
    let mut from = 0;
    for (place, level) in release.levels.iter().enumerate() {
        let own = from..from + level.queries.len();
        from = own.end;
        let largest = present.get(own.clone()).into_iter().flatten().max();
        now.extend(largest.map(|margin| (*margin as f64, place as f64)));
        at_most.extend(allowed.get(own.start).map(|margin| (*margin as f64, place as f64)));
    }
    let most = now.iter().chain(&at_most).map(|point| point.0).fold(1.0, f64::max);
    let series = vec![Series::dots("present", Ink::Vermillion, now), Series::dots("at most", Ink::Blue, at_most)];
    let names = release.levels.iter().map(|level| level.name.as_str());
    chart(
        &of_levels(names, Axis::linear("margin of error, 95 %", 0.0, 1.05 * most), series),
        "accuracy",
        "The margin of error of each level, at present and as it may be at most",
        "The margin of error of the noisiest query of each level at present (squares), and the largest that is allowed (circles).",
    )
}
