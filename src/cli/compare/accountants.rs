//! What each accountant makes of one subject.

use anyhow::Result;
use dp_assay::{
    account::{
        Account, Answer, Delta,
        conversions::{self, GaussianProfile},
    },
    chart::ranks::Ranks,
    numeric::Enclosure,
};
use serde_json::{Value, json};

use super::super::{
    output::{enclosure, exact_text, percent_above},
    subject::Resolved,
};

/// An accountant's answer; `None` if it is infinite.
pub(super) struct Row {
    pub name: &'static str,
    pub epsilon: Option<Enclosure>,
    pub is_bound: bool,
    note: String,
}

/// All of them, the exact one first.
pub(super) struct Accountants {
    pub rows: Vec<Row>,
    pub exact: Answer,
}

impl Accountants {
    pub fn of(subject: &Resolved, delta: &Delta, digits: u32) -> Result<Accountants> {
        let total = &subject.total;
        let row = |name, epsilon, is_bound, note: &str| Row { name, epsilon, is_bound, note: note.to_string() };
        let exact = subject.whole.epsilon(delta, digits)?;
        // These bounds may be below 0 at a large delta, where they say no more than that epsilon is 0.
        let least_zero = |epsilon: Enclosure| epsilon.clamp(0.0, f64::INFINITY);
        let renyi = conversions::renyi_epsilon(total, delta)?;
        let optimal = conversions::zcdp_epsilon_optimal(total.rho(), delta)?;
        let order = |order: f64| format!("best order alpha = {order:.4}");
        let rows = vec![
            row("exact", Some(exact.value.clone()), true, "the privacy profile itself"),
            row("RDP", Some(least_zero(renyi.epsilon)), true, &order(renyi.order)),
            row("zCDP (optimal order)", Some(least_zero(optimal.epsilon)), true, &order(optimal.order)),
            row(
                "zCDP (Bun-Steinke)",
                Some(conversions::zcdp_epsilon(total.rho(), delta, digits)),
                true,
                "rho + 2 sqrt(rho ln(1/delta)), as the bureau published",
            ),
            row(
                "GDP",
                Some(GaussianProfile::new(total.rho().clone()).epsilon(delta, digits)?),
                false,
                "continuous noise of the same rho: an approximation for integers",
            ),
            match total.pure_epsilon() {
                Some(epsilon) => {
                    row("pure DP", Some(Enclosure::rational(&epsilon, 100)), true, "the largest loss, at delta = 0")
                }
                None => row("pure DP", None, true, "the loss of Gaussian noise is unbounded"),
            },
        ];
        Ok(Accountants { rows, exact })
    }

    pub fn json(&self) -> Vec<Value> {
        let object = |row: &Row| json!({ "name": row.name, "epsilon": enclosure(row.epsilon.as_ref()), "is_bound": row.is_bound, "note": row.note });
        self.rows.iter().map(object).collect()
    }

    /// The epsilons as they are drawn; an infinite one has no mark.
    pub fn ranks(&self, delta: &Delta) -> Ranks {
        Ranks {
            title: String::new(),
            label: label(delta),
            names: self.rows.iter().map(|row| row.name.to_string()).collect(),
            series: vec![("epsilon".to_string(), self.drawn())],
        }
    }

    /// The epsilon of each row as an approximation.
    pub fn drawn(&self) -> Vec<Option<f64>> {
        self.rows.iter().map(|row| row.epsilon.as_ref().map(Enclosure::approximate)).collect()
    }

    /// The lines of the table.
    pub fn cells(&self) -> Vec<Vec<String>> {
        let cells = |row: &Row| {
            let above = |epsilon: &Enclosure| percent_above(epsilon, &self.exact.value);
            let over = row.epsilon.as_ref().map_or_else(String::new, above);
            vec![
                row.name.to_string(),
                row.shown(),
                over,
                if row.is_bound { "yes" } else { "no" }.to_string(),
                row.note.clone(),
            ]
        };
        self.rows.iter().map(cells).collect()
    }
}

/// What the epsilons are, for an axis.
pub(super) fn label(delta: &Delta) -> String {
    format!("epsilon at delta = {}", exact_text(delta))
}

impl Row {
    pub fn shown(&self) -> String {
        self.epsilon.as_ref().map_or_else(|| "infinite".to_string(), |epsilon| epsilon.shown(10))
    }
}
