//! The tables of a report: certified numbers as text.

use dp_assay::{account::Delta, document::Table, numeric::Enclosure};
use rug::Rational;

use super::super::{
    calibrate::Row,
    compared::{self, Columns},
    epsilon,
    output::{change, ends, exact_text},
    risk::bound,
};
use super::{answers::Spared, words};

/// Epsilon, from both sides; `may_be_less` where it is that of an account, which is an upper bound.
pub fn of_epsilon(delta: &Delta, found: &epsilon::Found, may_be_less: bool) -> Table {
    let columns = Columns::of_compared(found.lines().map(|line| &line.compared));
    let row = |line: &epsilon::Line| {
        let (lower, upper) = ends(&line.epsilon.value);
        let rho = Enclosure::rational(&line.rho, 64).shown(6);
        let less = compared::percent_below(&line.epsilon.value, &line.compared);
        [vec![line.name.clone(), rho, lower, upper], columns.cells(&line.compared), vec![less]].concat()
    };
    let caption = match may_be_less {
        false => format!("Epsilon at delta = {}: the truth lies between both ends.", exact_text(delta)),
        true => format!(
            "Epsilon at delta = {} by this account lies between both ends; the upper end bounds that of the mechanism.",
            exact_text(delta)
        ),
    };
    let heading =
        [&["", "rho", "epsilon, at least", "epsilon, at most"][..], &columns.heading(), &["lower by"]].concat();
    Table::numbers(caption, &heading, found.lines().map(row).collect()).with_whole(!found.levels.is_empty())
}

/// Bounds for all adversaries.
pub fn of_bound(prior: &Rational, found: &bound::Found) -> Table {
    let by = found.allowed();
    let row = |line: &bound::Line| {
        let (bound, allowed) = (&line.bound, by.bounds(&line.bound));
        vec![
            line.name.clone(),
            at_most(&bound.correct.value),
            allowed.correct.upper_text(6),
            words::in_hundred_beside(&words::upper(&bound.correct.value), &words::guessing(prior)),
            at_most(&bound.advantage),
            allowed.advantage.upper_text(6),
            bound.posterior_of_events.value.upper_text(12),
            allowed.posterior.upper_text(12),
        ]
    };
    let by = by.heading();
    let heading = ["", "right, at most", by, "in 100", "advantage", by, "posterior, at most", by];
    let caption = format!("Bounds for all adversaries, at a prior of {}.", exact_text(prior));
    Table::numbers(caption, &heading, found.lines().map(row).collect()).with_whole(!found.levels.is_empty())
}

/// A number whose column is of upper ends.
fn at_most(value: &Enclosure) -> String {
    const DIGITS: usize = 6;
    if value.is_tight(DIGITS as u32) { value.shown(DIGITS) } else { value.upper_text(DIGITS) }
}

/// The least noise of each level; `may_be_less` as in [`of_epsilon`]. If there is only a whole, without Gaussian noise, there is no row.
pub fn of_noise(spared: &Spared, digits: u32, may_be_less: bool) -> Table {
    let digits = digits.min(40) as usize;
    let cells = |(name, row): &(String, Option<Row>)| {
        let Some(row) = row else { return [vec![name.clone()], vec!["-".to_string(); 6]].concat() };
        vec![
            row.name.clone(),
            row.variances.first().map(|sigma2| words::shown(sigma2, 7)).unwrap_or_default(),
            exact_text(&row.calibrated(&row.factor)),
            change(&row.factor, 6),
            row.reached.value.shown(digits),
            row.target.shown(digits),
            row.compared.as_ref().map_or("-", |compared| compared.by.name()).to_string(),
        ]
    };
    let is_shown = spared.parts.len() > 1 || spared.rows().next().is_some();
    let caption = match may_be_less {
        false => "Noise of each level that is proven to be enough, while the next smaller step is proven not to be.",
        true => {
            "Noise of each level that is proven to be enough, while the next smaller step is not by this account, which is an upper bound."
        }
    };
    let heading = ["", "present sigma2", "sigma2, least", "change", "new epsilon", "target epsilon", "by"];
    Table::numbers(caption, &heading, spared.parts.iter().filter(|_| is_shown).map(cells).collect())
}
