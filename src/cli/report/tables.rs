//! The tables of a report: certified numbers as they are read.

use dp_assay::{account::Delta, numeric::Enclosure};
use rug::Rational;

use super::super::{
    calibrate::Row,
    epsilon,
    output::{ends, exact_text, percent_below},
    risk::bound,
};
use super::{answers::Spared, words};

/// A table whose first column names its rows.
pub struct Table {
    /// What it says.
    pub caption: String,
    /// A heading for each column.
    pub heading: Vec<&'static str>,
    /// Cells as they are read.
    pub rows: Vec<Vec<String>>,
    /// Whether the last row is that of all others together.
    pub has_whole: bool,
}

/// Epsilon, from both sides.
pub fn of_epsilon(delta: &Delta, found: &epsilon::Found) -> Table {
    let row = |line: &epsilon::Line| {
        let (lower, upper) = ends(&line.epsilon.value);
        let rho = Enclosure::rational(&line.rho, 64).shown(6);
        let less = percent_below(&line.epsilon.value, &line.zcdp);
        vec![line.name.clone(), rho, lower, upper, line.zcdp.shown(6), less]
    };
    Table {
        caption: format!("Epsilon at delta = {}: the truth lies between both ends.", exact_text(delta)),
        heading: vec!["", "rho", "epsilon, at least", "epsilon, at most", "epsilon by zCDP", "lower by"],
        rows: found.lines().map(row).collect(),
        has_whole: !found.levels.is_empty(),
    }
}

/// What no adversary exceeds.
pub fn of_bound(prior: &Rational, found: &bound::Found) -> Table {
    let row = |line: &bound::Line| {
        let bound = &line.bound;
        vec![
            line.name.clone(),
            bound.correct.value.shown(6),
            bound.correct_by_zcdp.shown(6),
            words::in_hundred(&words::upper(&bound.correct.value)),
            bound.advantage.shown(6),
            bound.advantage_by_zcdp.shown(6),
            bound.posterior.upper_text(12),
            bound.posterior_by_zcdp.upper_text(12),
        ]
    };
    Table {
        caption: format!("What no adversary exceeds, at a prior of {}.", exact_text(prior)),
        heading: vec![
            "",
            "right, at most",
            "by zCDP",
            "in 100",
            "advantage",
            "by zCDP",
            "belief afterwards, at most",
            "by zCDP",
        ],
        rows: found.lines().map(row).collect(),
        has_whole: !found.levels.is_empty(),
    }
}

/// The least noise of each level. Where there is only a whole, and it has no Gaussian noise, there is no row.
pub fn of_noise(spared: &Spared, digits: u32) -> Table {
    let digits = digits.min(40) as usize;
    let cells = |(name, row): &(String, Option<Row>)| {
        let Some(row) = row else { return [vec![name.clone()], vec!["-".to_string(); 5]].concat() };
        vec![
            row.name.clone(),
            row.variances.first().map(|sigma2| words::shown(sigma2, 7)).unwrap_or_default(),
            exact_text(&row.calibrated(&row.factor)),
            format!("{} %", words::shown(&row.reduction(), 6)),
            row.epsilon.value.shown(digits),
            row.target.shown(digits),
        ]
    };
    let is_shown = spared.parts.len() > 1 || spared.rows().next().is_some();
    Table {
        caption: "The least noise of each level: proven to be enough, and the next smaller step proven not to be."
            .to_string(),
        heading: vec!["", "sigma2 as it is", "sigma2, least", "lower by", "epsilon then", "epsilon to keep"],
        rows: spared.parts.iter().filter(|_| is_shown).map(cells).collect(),
        has_whole: false,
    }
}
