//! A row for each query of the mechanism: its noise, its share of rho, and its own epsilon.

use anyhow::Result;
use dp_assay::{
    account::{Account, Answer, Delta},
    document::fields::{Fields, certified, said},
    loss::law::Law,
    numeric::{Enclosure, parallel},
    release::subject::QueryPart,
};
use rug::Rational;
use serde_json::{Value, json};

use super::{
    output::{exact, exact_text, rho_exact},
    progress::Steps,
    subject::Resolved,
};

/// A query and its account alone.
pub struct QueryRow {
    /// Its level; empty for counts given one by one.
    pub level: String,
    /// Its name, and the number of queries like it.
    pub name: String,
    /// The law of its noise.
    pub law: Law,
    /// The number of its counts that one record changes.
    pub count: u64,
    /// By how much each.
    pub shift: u64,
    /// Its budget.
    pub rho: Rational,
    /// Its budget over that of all queries.
    pub share: Rational,
    /// Its own epsilon.
    pub epsilon: Answer,
}

/// The rows of all queries.
pub fn rows(subject: &Resolved, delta: &Delta, digits: u32) -> Result<Vec<QueryRow>> {
    let steps = Steps::of_stage("epsilon of each query", subject.queries.len() as u64);
    let row = |query: &QueryPart| {
        let row = QueryRow::of_query(query, subject.total.rho(), delta, digits);
        steps.step();
        row
    };
    parallel::try_map_any(&subject.queries, row)
}

impl QueryRow {
    /// The row of a query; all queries together spend `total`.
    fn of_query(query: &QueryPart, total: &Rational, delta: &Delta, digits: u32) -> Result<QueryRow> {
        let rho: Rational = query.composition.rho().clone().into();
        Ok(QueryRow {
            level: query.level.clone().unwrap_or_default(),
            name: query.shown(),
            law: query.counts.law.clone(),
            count: query.counts.count,
            shift: query.counts.shift,
            share: Rational::from(&rho / total),
            rho,
            epsilon: query.composition.epsilon(delta, digits)?,
        })
    }

    /// The row, with epsilon to this number of digits in tables.
    pub fn fields(&self, digits: usize) -> Fields {
        let parameter = self.law.parameter();
        let sigma2 = self.law.sigma2().map(|_| exact(parameter));
        Fields::new()
            .shown("level", "level", &self.level)
            .shown("query", "query", &self.name)
            .shown("counts", "counts", self.count)
            .shown("shift", "shift", self.shift)
            .with("law", self.law.key())
            .shown("sigma2", "sigma2", said(sigma2, noise(&self.law)))
            .with("laplace_epsilon", is_laplace(&self.law).then(|| exact(parameter)))
            .with("parameters", parameters(&self.law))
            .shown("rho", "rho", said(exact(&self.rho), Enclosure::rational(&self.rho, 64).shown(6)))
            .with("rho_exact", rho_exact(&self.rho, self.law.has_exact_rho()))
            .shown("share_of_rho", "share of rho", said(exact(&self.share), percent(&self.share)))
            .shown("epsilon", "epsilon", certified(&self.epsilon.value, digits))
            .with("status", self.epsilon.status())
    }

    /// The row as an object.
    pub fn json(&self) -> Value {
        self.fields(1).object()
    }
}

/// A query before and after its noise was calibrated.
pub struct CalibratedQuery {
    before: Law,
    after: QueryRow,
    /// Its share of rho before.
    share: Rational,
}

/// The rows of all queries, each with the factor on its noise that `factor` gives for its level.
pub fn calibrated<'f>(
    subject: &Resolved,
    factor: impl Fn(&QueryPart) -> Option<&'f Rational> + Sync,
    delta: &Delta,
    digits: u32,
) -> Result<Vec<CalibratedQuery>> {
    let one = Rational::from(1);
    let row = |query: &QueryPart| {
        let total = subject.total.rho();
        let after = query.with_noise_times(factor(query).unwrap_or(&one))?;
        Ok(CalibratedQuery {
            before: query.counts.law.clone(),
            share: Rational::from(&**query.composition.rho() / &**total),
            after: QueryRow::of_query(&after, total, delta, digits)?,
        })
    };
    parallel::try_map_any(&subject.queries, row)
}

impl CalibratedQuery {
    /// The row, with epsilon to this number of digits in tables.
    pub fn fields(&self, digits: usize) -> Fields {
        let (before, after) = (self.before.parameter(), self.after.law.parameter());
        let sigma2 = |value: &Rational| self.before.sigma2().map(|_| exact(value));
        let epsilon = |value: &Rational| is_laplace(&self.before).then(|| exact(value));
        Fields::new()
            .shown("level", "level", &self.after.level)
            .shown("query", "query", &self.after.name)
            .with("counts", self.after.count)
            .with("shift", self.after.shift)
            .with("law", self.before.key())
            .shown("share_of_rho", "share of rho", said(exact(&self.share), percent(&self.share)))
            .shown("sigma2", "sigma2", said(sigma2(before), noise(&self.before)))
            .shown("calibrated_sigma2", "calibrated", said(sigma2(after), noise(&self.after.law)))
            .with("laplace_epsilon", epsilon(before))
            .with("calibrated_laplace_epsilon", epsilon(after))
            .with("calibrated_exact", after.to_string())
            .shown("epsilon", "epsilon", certified(&self.after.epsilon.value, digits))
            .with("status", self.after.epsilon.status())
    }

    /// The row as an object.
    pub fn json(&self) -> Value {
        self.fields(1).object()
    }
}

/// Whether its one parameter is the epsilon of Laplace noise.
fn is_laplace(law: &Law) -> bool {
    let is_one = law.other_parameters().is_empty() && law.parameter_name() == "epsilon";
    is_one && law.sigma2().is_none() && !law.is_guarantee()
}

/// All parameters of a law by their names, exactly.
fn parameters(law: &Law) -> Value {
    let own = (law.parameter_name(), law.parameter().clone());
    let all = std::iter::once(own).chain(law.other_parameters());
    all.map(|(name, value)| (name.to_string(), json!(value.to_string()))).collect::<serde_json::Map<_, _>>().into()
}

/// The noise in a cell: sigma2, with the law if it is not the discrete Gaussian.
pub fn noise(law: &Law) -> String {
    let shown = short(law.parameter());
    match law.sigma2() {
        Some(_) if law.is_continuous() => format!("{shown}, continuous"),
        Some(_) => shown,
        None if law.is_continuous() => format!("continuous {}, {} {shown}", law.name(), law.parameter_name()),
        None => {
            let others = law.other_parameters();
            let others: String = others.iter().map(|(name, value)| format!(", {name} {}", short(value))).collect();
            format!("{}, {} {shown}{others}", law.name().trim_start_matches("discrete "), law.parameter_name())
        }
    }
}

/// An exact number if it is short, otherwise its first digits.
pub fn short(value: &Rational) -> String {
    let text = exact_text(value);
    if text.len() <= 10 { text } else { Enclosure::rational(value, 64).shown(7) }
}

/// A share in percent.
pub fn percent(share: &Rational) -> String {
    format!("{} %", Enclosure::rational(&Rational::from(share * 100_u32), 64).shown(4))
}
