//! `assay curve --over shift`: epsilon at one delta over the size of a record.

use anyhow::{Context, Result, bail};
use dp_assay::{
    account::{Answer, Delta},
    chart::{Figure, curves},
    document::fields::Fields,
    law::Changes,
    numeric::Enclosure,
};
use serde_json::Value;

use crate::cli::{
    arguments::quantity,
    drawn::{Drawn, Points},
    exit::Exit,
    output::{self, exact},
    page, progress,
    subject::{self, Format, Subject},
};

/// The most sizes of one curve.
const MOST: usize = 10_000;

/// The meaning of a size: with noise that is not log-concave, one record that moves its counts further has another epsilon than a group.
const SIZES: &str = "Each size stands for one record that moves its counts that many times as far, and for a group of as many records (--group), who may move other \
                     counts: epsilon is that of the worse.";

/// The request: the arguments of the command.
pub(super) struct Request<'a> {
    pub subject: &'a Subject,
    pub from: Option<&'a str>,
    pub to: Option<&'a str>,
    pub delta: Option<&'a str>,
    pub points: Option<u32>,
    pub format: &'a Format,
    pub drawn: &'a Drawn,
}

pub(super) fn run(args: &Request) -> Result<Exit> {
    if args.points.is_some() {
        bail!("--points: with --over shift there is a point for each whole number from --from to --to");
    }
    let delta = args.delta.context("--over shift needs --delta: the delta at which epsilon is computed")?;
    let delta: Delta = quantity("--delta", delta)?;
    let (from, to) = (size("--from", args.from.unwrap_or("1"))?, size("--to", args.to.unwrap_or("50"))?);
    if from > to || to - from >= MOST as u64 {
        bail!(
            "the range from {from} to {to}: give --from and --to from the smaller to the larger shift, at most {MOST} of them"
        );
    }
    let (described, digits) = (args.subject.described()?, args.format.digits);
    if let Some(exact) = described.singles.iter().find(|counts| counts.changes == Changes::Exactly) {
        bail!("{exact}: --over shift is about changes of at most each size: give @{} in place of @={0}", exact.shift);
    }
    let subject = args.subject.resolve()?;
    progress::stage("epsilon of each size");
    let sizes: Vec<u64> = (from..=to).collect();
    let found = described.epsilon_by_shift(&sizes, &delta, digits)?;
    let columns = output::columns_of_ends("shift", &["epsilon"]);
    let row = |(size, answer): (&u64, &Answer)| output::cells_of_ends(size.to_string(), [&answer.value]);
    let rows: Vec<Vec<String>> = sizes.iter().zip(&found).map(row).collect();
    let mut page = args.drawn.page(args.format)?;
    let answer = Fields::new()
        .with("delta", exact(&delta))
        .and(subject::of_relation(&subject))
        .and(output::arrays(&columns, &rows));
    page.object(answer.with("status", found.iter().map(Answer::status).collect::<Value>()));
    let records = rows.iter().zip(&found).map(|(row, answer)| page::record(&columns, row, answer.status()));
    page.records(records.collect::<Vec<_>>());
    page.text(subject::heading(&subject, &format!(", delta = {delta}")));
    let digits = args.format.shown();
    let shown =
        |value: &Enclosure| if value.lower().is_finite() { value.shown(digits) } else { "infinite".to_string() };
    let cells = sizes.iter().zip(&found).map(|(size, answer)| vec![size.to_string(), shown(&answer.value)]);
    Points::all(found.len()).put(&mut page, &["shift", "epsilon"], cells, args.drawn);
    page.note(Some(SIZES.to_string()));
    page.note(subject.note());
    page.note(subject::more_private_note(&subject));
    page.say_wider(rows.iter().map(|row| row[0].as_str()).zip(&found));
    args.drawn.write(|| draw(&subject.title, &sizes, &found))?;
    page.done()
}

/// A whole number of an end of the range.
fn size(name: &str, text: &str) -> Result<u64> {
    let size = text.trim().parse::<u64>().ok().filter(|size| *size > 0);
    size.with_context(|| format!("{name} {text:?}: expected a positive whole number, a multiple of the given shifts"))
}

/// Drawn from approximations; the table has the certified values.
fn draw(title: &str, sizes: &[u64], found: &[Answer]) -> Figure {
    let finite = sizes.iter().zip(found).filter(|(_, answer)| answer.value.lower().is_finite());
    let points = finite.map(|(size, answer)| (*size as f64, answer.value.approximate()));
    curves::by_shift(title, points.collect())
}
