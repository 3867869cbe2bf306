//! Accuracy first: the noise that all accuracy targets allow, and what it costs.

use anyhow::{Context, Result};
use dp_assay::{
    account::{
        Account, Answer, Composition, Counts, Delta,
        allocate::{Allocation, QueryTarget, largest_noise, weighted_error},
    },
    document::fields::{Fields, exactly, objects},
    noise::DiscreteGaussian,
    numeric::{Enclosure, parallel},
    release::Neighbors,
    risk::bound::most_correct,
};
use rug::Rational;
use serde_json::{Value, json};

use crate::cli::{
    output::{exact, exact_text},
    page::Page,
};

/// The request.
pub struct Accuracy<'q> {
    /// The queries, each with the counts that change between neighbors.
    pub targets: &'q [QueryTarget],
    pub neighbors: Neighbors,
    /// How often each count is counted.
    pub taken: u64,
    /// The delta of the epsilon.
    pub delta: &'q Delta,
}

/// The margin of error at 95 % of one count.
pub fn margin(sigma2: &Rational) -> Result<i64> {
    // All except 2.5 % on each side.
    Ok(DiscreteGaussian::new(sigma2.clone())?.quantile(&Rational::from((39, 40)))?)
}

/// The largest noise that the accuracy targets allow, and its privacy.
pub struct Needed {
    /// The noise.
    pub noise: Allocation,
    /// Its epsilon at delta.
    pub epsilon: Answer,
    /// The largest probability of a correct decision at prior 1/2.
    pub correct: Answer,
    /// The zCDP rho.
    pub rho: Rational,
    /// The margin at 95 % of each query.
    pub margins: Vec<i64>,
}

/// Certifies the largest noise that the accuracy targets of the queries allow.
pub fn find(question: &Accuracy, decimals: u32) -> Result<Needed> {
    const DIGITS: u32 = 8;
    let targets = question.targets;
    let sigma2 = largest_noise(targets, decimals)?;
    let counts = (targets.iter().zip(&sigma2))
        .map(|(target, sigma2)| Counts::discrete_gaussian(sigma2.clone(), target.count, target.shift))
        .collect::<dp_assay::Result<Vec<Counts>>>()?;
    let composition = Composition::new(counts)?;
    let epsilon = composition.epsilon(question.delta, DIGITS)?;
    let correct = most_correct(&composition, &Rational::from((1, 2)), question.neighbors, DIGITS)?;
    let margins = parallel::try_map_any(&sigma2, margin)?;
    let error = weighted_error(targets, &sigma2)?;
    let at = composition.delta(Rational::new(), DIGITS)?;
    let noise = Allocation { sigma2, delta: at.value, met: at.met, error };
    Ok(Needed { noise, epsilon, correct, rho: Rational::clone(composition.rho()), margins })
}

impl Needed {
    /// A record for each query.
    pub fn records(&self, question: &Accuracy) -> Vec<Value> {
        objects(&self.rows(question))
    }

    /// A row for each query.
    fn rows(&self, question: &Accuracy) -> Vec<Fields> {
        let query = |(k, target): (usize, &QueryTarget)| {
            Fields::new()
                .shown("name", "", &target.name)
                .shown("count", "counts", target.count)
                .with("sensitivity", target.shift)
                .with("most_sigma2", target.most.as_ref().map(exact))
                .shown("sigma2", "sigma2", exactly(&self.noise.sigma2[k]))
                .shown("margin_95", "95 % margin", self.margins[k])
        };
        question.targets.iter().enumerate().map(query).collect()
    }

    /// The answer as an object.
    pub fn object(&self, question: &Accuracy) -> Value {
        json!({
            "mode": "accuracy",
            "epsilon": self.epsilon.value.to_json(),
            "status": self.epsilon.status(),
            "delta": exact(question.delta),
            "rho": exact(&self.rho),
            "correct_decision": self.correct.value.to_json(),
            "prior": exact(&Rational::from((1, 2))),
            "neighbors": question.neighbors.name(),
            "times_each_count": question.taken,
            "weighted_squared_error": self.noise.error.to_json(),
            "queries": self.rows(question),
        })
    }

    /// The answer as text.
    pub fn put_tables(&self, page: &mut Page, question: &Accuracy) {
        let twice =
            if question.taken == 2 { ", every count twice: a record leaves one and enters another" } else { "" };
        page.text(format!(
            "the largest noise within all accuracy targets, {} neighbors{twice}\n\n",
            question.neighbors.name()
        ));
        page.rows(&self.rows(question));
        page.text(format!(
            "\nepsilon {} at delta = {}; rho {}\nWith even odds beforehand an adversary is right at most {} times in 100.\n",
            self.epsilon.value.shown(8),
            exact_text(question.delta),
            Enclosure::rational(&self.rho, 64).shown(8),
            in_hundred(&self.correct.value)
        ));
    }
}

/// A probability in percent, rounded up.
fn in_hundred(value: &Enclosure) -> String {
    value.mul(&Enclosure::double(100.0, 64)).upper_text(4)
}

/// The delta of `--accuracy`, which needs one.
pub fn delta(delta: Option<Delta>) -> Result<Delta> {
    delta.context("--accuracy: give the --delta at which epsilon is computed")
}
