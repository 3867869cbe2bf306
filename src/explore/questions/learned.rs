//! What does an adversary learn? Bounds for all adversaries, and the information of one noisy count about one record.

use anyhow::Result;
use dp_assay::{
    chart::{Axis, Figure, Ink, Panel, Series},
    document::Table,
    numeric::{Enclosure, rational},
    risk::single::Attack,
};

use super::super::{
    ask::Question,
    exports::{of_subject, text},
    parts::{Parts, chart, table, wider},
    store::Store,
};
use crate::cli::{
    report::{
        assumed, charts, tables,
        words::{self, guessing, in_hundred_beside, upper},
    },
    risk::{bound, single},
};

/// Bounds for all adversaries, by level.
pub fn bound(store: &Store, question: &Question) -> Result<Parts> {
    let args: bound::Args = question.args()?;
    let known = store.subject(question.subject(), &args.subject)?;
    let subject = &known.subject;
    let learned = known.learned(args.request(!question.is_moving)?, &question.stop)?;
    let (request, found) = &*learned;
    let drawn = chart(
        &charts::right_decisions(&request.prior, found),
        "learned",
        "How many of 100 decisions of an adversary are right at most, by level",
        &words::about_decisions(subject, found),
    )?;
    Ok(Parts {
        answer: found.object(subject, request),
        records: found.records(),
        said: words::what_is_learned(&request.prior, subject, found),
        charts: vec![drawn],
        tables: vec![table(&tables::of_bound(&request.prior, found))],
        notes: wider(found.lines().map(|line| (line.name.as_str(), line.bound.correct.met))).into_iter().collect(),
        assumed: assumed::of_bound(&request.prior, found.allowed()),
        exports: of_subject(
            question,
            &args.subject.described_with(&|name| store.release(name))?,
            &cell_of_risk(question.value("prior"), question.value("delta"), request.digits),
        ),
        ..Parts::default()
    })
}

/// The expression with these bounds in a notebook.
pub fn cell_of_risk(prior: Option<&str>, delta: Option<&str>, digits: u32) -> String {
    let delta = delta.map_or(String::new(), |delta| format!(", delta={}", text(delta)));
    format!("release.risk({}{delta}, digits={digits})", text(prior.unwrap_or_default()))
}

/// The information in one noisy count for an adversary who knows all other records.
pub fn single(store: &Store, question: &Question) -> Result<Parts> {
    let args: single::Args = question.args()?;
    question.stop.check()?;
    let (attack, origin) = args.attack(&|name| store.release(name))?;
    let average = single::Average::of_attack(&attack, origin.as_ref(), args.digits())?;
    let answer = average.object(&attack, origin.as_ref());
    let (heading, rows) = average.table(&attack, args.digits());
    let what =
        origin.as_ref().map_or("one noisy count".to_string(), |origin| format!("one noisy count of {}", origin.title));
    let mut said = vec![format!(
        "One record, one count: to an adversary who knows all others, {what} raises the belief that a given record counts there from {} to {} on average, \
         if it does. They then decide correctly {} % of the time.",
        rational::display(attack.prior()),
        average.marginal.shown(4),
        in_hundred_beside(&upper(&average.correct), &guessing(attack.prior())),
    )];
    if attack.shift() > 1 {
        said.push(format!("The record changes this count by {}, as much as one record can.", attack.shift()));
    }
    said.extend(average.threshold.map(|threshold| {
        format!("They decide that it counts there if the released count exceeds the known one by {threshold} or more.")
    }));
    let charts = match average.threshold {
        Some(_) => vec![chart(
            &posteriors(&attack)?,
            "single",
            "The adversary's posterior, by the released count",
            "The adversary's posterior after seeing the count, by its excess over the known count: the dotted line is the prior.",
        )?],
        None => Vec::new(),
    };
    let averaged = Table::numbers("One noisy count, averaged over possible outputs.", &heading, rows);
    Ok(Parts {
        records: vec![answer.clone()],
        answer,
        said,
        charts,
        tables: vec![table(&averaged)],
        assumed: vec!["For one count, the adversary knows the true count of all other records.".to_string()],
        ..Parts::default()
    })
}

/// The posterior over the released count minus the known one, up to three standard deviations.
fn posteriors(attack: &Attack) -> Result<Figure> {
    const DIGITS: u32 = 6;
    const POINTS: i64 = 40;
    let rho = attack.rhos().first().map_or(1.0, |rho| rho.to_f64());
    // sigma2 = shift^2 / (2 rho).
    let shift = attack.shift() as f64;
    let reach = (3.0 * shift / (2.0 * rho).sqrt()).max(shift).ceil().clamp(3.0, 1e6) as i64;
    let step = (2 * reach / POINTS).max(1);
    let posterior = |n: i64| -> Result<(f64, f64)> {
        let value: Enclosure = attack.posterior(&[n], DIGITS)?;
        Ok((n as f64, value.approximate()))
    };
    let points: Vec<(f64, f64)> = (-reach / step..=reach / step).map(|k| posterior(k * step)).collect::<Result<_>>()?;
    let (from, to) = (points.first().map_or(-1.0, |point| point.0), points.last().map_or(1.0, |point| point.0));
    let prior = attack.prior().to_f64();
    let series = vec![
        Series::line("before", Ink::Black, vec![(from, prior), (to, prior)]),
        Series::dots("after", Ink::Blue, points),
    ];
    let x = Axis::linear("released count minus known count", from - 0.5, to + 0.5);
    let panel = Panel { title: String::new(), x, y: Axis::linear("belief", 0.0, 1.0), series };
    Ok(Figure { title: String::new(), panels: vec![panel], columns: 1 })
}
