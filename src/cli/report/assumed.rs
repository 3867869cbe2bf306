//! The assumptions beside each answer.

use dp_assay::account::Delta;
use rug::Rational;

use super::super::{
    calibrate::{DECIMALS, FACTOR_DECIMALS},
    compared, epsilon,
    output::exact_text,
    risk::bound::Allowed,
};

/// Those of epsilon.
pub fn of_epsilon(delta: &Delta, found: &epsilon::Found) -> Vec<String> {
    let notes = compared::notes(found.lines().map(|line| (line.name.as_str(), &line.compared)), true);
    let first = [
        "The noise that was added is the noise that was declared.".to_string(),
        format!(
            "Delta = {}: the amount by which the probability of an event may exceed e^epsilon times its probability for the other data set.",
            exact_text(delta)
        ),
    ];
    let last = "The table is certified; the charts are drawn from approximations.".to_string();
    first.into_iter().chain(notes).chain([last]).collect()
}

/// Those of the adversary.
pub fn of_bound(prior: &Rational, allowed: Allowed) -> Vec<String> {
    vec![
        "The adversary may know all other records, and the law of the noise.".to_string(),
        format!("They believe the first of both answers with probability {} beforehand.", exact_text(prior)),
        "The probability that they are right is an average over the noise.".to_string(),
        "Information from elsewhere, and counts that are published without noise, are not included.".to_string(),
        allowed.formula().to_string(),
    ]
}

/// Those of the noise that could be spared.
pub fn of_noise(delta: &Delta) -> Vec<String> {
    vec![
        format!(
            "The target is the epsilon with which the present noise is compared, at delta = {}, and at no other delta.",
            exact_text(delta)
        ),
        "In the table each level meets its own target. All levels composed meet theirs with one common factor."
            .to_string(),
        "sigma2 is the variance proxy of the noise. Margins of error go about with its square root: 20 % less sigma2 makes them 10.6 % smaller."
            .to_string(),
        format!("Searched in steps of 1e-{DECIMALS} of sigma2, and of 1e-{FACTOR_DECIMALS} of the common factor."),
    ]
}

/// Beside the audit of noise.
pub fn of_noise_drawn() -> Vec<String> {
    vec![
        "Every p-value is a proven upper bound; Holm's correction over all tests decides.".to_string(),
        "Tested are counts that constraints make zero, sums with an exact total, and the residuals of children, parents and the queries of one unit."
            .to_string(),
        "Published tables were changed after the noise: they hold no pure noise, and are not tested.".to_string(),
        "Consistent draws prove no sampler: draws from a predictable source pass.".to_string(),
    ]
}
