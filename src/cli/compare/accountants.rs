//! The results of all accountants for one subject.

use anyhow::Result;
use dp_assay::{
    account::{
        Account, Answer, Delta,
        compared::{Accountant, accountants},
    },
    chart::ranks::Ranks,
    document::fields::{Fields, said},
    numeric::Enclosure,
    release::subject::Certified,
};

use super::super::{
    output::{exact_text, percent_above},
    subject::Resolved,
};

/// All of them, the exact one first.
pub(super) struct Accountants {
    pub rows: Vec<Accountant>,
    pub exact: Answer,
}

impl Accountants {
    pub fn of_subject(subject: &Resolved, delta: &Delta, digits: u32) -> Result<Accountants> {
        let exact = subject.whole.epsilon(delta, digits)?;
        let note = match subject.certified_for() {
            Certified::Mechanism => "the privacy profile itself".to_string(),
            Certified::Account => "the profile of this account".to_string(),
            Certified::WorstOfGuarantees => "the profile of the worst mechanism with these guarantees".to_string(),
        };
        let first = Accountant { name: "exact", epsilon: Some(exact.value.clone()), is_bound: true, note };
        let rows = [first].into_iter().chain(accountants(&subject.whole, delta, digits)?).collect();
        Ok(Accountants { rows, exact })
    }

    /// The epsilons of the drawing; an infinite one has no mark.
    pub fn ranks(&self, delta: &Delta) -> Ranks {
        Ranks {
            title: String::new(),
            label: label(delta),
            names: self.rows.iter().map(|row| row.name.to_string()).collect(),
            series: vec![("epsilon".to_string(), self.drawn(&self.names()))],
        }
    }

    /// The row of this name.
    pub fn row(&self, name: &str) -> Option<&Accountant> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// The names of all rows.
    pub fn names(&self) -> Vec<&'static str> {
        self.rows.iter().map(|row| row.name).collect()
    }

    /// The epsilon of each of the named rows as an approximation; none where there is no such row.
    pub fn drawn(&self, names: &[&str]) -> Vec<Option<f64>> {
        names.iter().map(|name| self.row(name)?.epsilon.as_ref().map(Enclosure::approximate)).collect()
    }

    /// The rows of the answer.
    pub fn rows(&self) -> Vec<Fields> {
        let fields = |row: &Accountant| {
            let above = |epsilon: &Enclosure| percent_above(epsilon, &self.exact.value);
            Fields::new()
                .shown("name", "accountant", row.name)
                .shown("epsilon", "epsilon", said(&row.epsilon, shown(row)))
                .cell("over exact", row.epsilon.as_ref().map_or_else(String::new, above))
                .shown("is_bound", "upper bound?", said(row.is_bound, if row.is_bound { "yes" } else { "no" }))
                .shown("note", "note", &row.note)
        };
        self.rows.iter().map(fields).collect()
    }
}

/// The label of the axis of epsilons.
pub(super) fn label(delta: &Delta) -> String {
    format!("epsilon at delta = {}", exact_text(delta))
}

/// The epsilon as it is shown: a bound is rounded up, so that it is not below the exact value.
pub(super) fn shown(row: &Accountant) -> String {
    let shown = |epsilon: &Enclosure| match row.is_bound && row.name != "exact" {
        true => epsilon.upper_text(10),
        false => epsilon.shown(10),
    };
    row.epsilon.as_ref().map_or_else(|| "infinite".to_string(), shown)
}
