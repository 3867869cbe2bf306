//! Whether the unit of a published value fits what is computed.

use super::{
    account_claims::{AccountClaim, Measure},
    published_value::Compute,
    unit::Unit,
};

/// Refuses a unit that does not fit the answer of a question, with the reason.
pub(super) fn check(claim: &AccountClaim, unit: Unit, name: &str) -> std::result::Result<(), String> {
    let measure = claim.kind.measure;
    let is_right = match unit {
        Unit::Nats => measure == Measure::Nats,
        Unit::Rho => measure == Measure::Rho,
        Unit::Sigma2 => measure == Measure::Sigma2,
        Unit::Probability => measure == Measure::Probability,
        Unit::Percent | Unit::LeastPercent => matches!(measure, Measure::Percent | Measure::Probability),
        Unit::Ratio => false,
        Unit::Sum => claim.question.is_exact(),
        Unit::Bound | Unit::Least | Unit::RoundedUp | Unit::RoundedUpAtDigit | Unit::Truncated | Unit::About => {
            measure != Measure::Statement
        }
        Unit::Claim => measure == Measure::Statement,
    };
    if is_right {
        return Ok(());
    }
    let expected = match measure {
        Measure::Nats => "an epsilon: nats, bound, least, about, truncated, rounded-up or rounded-up-at-digit",
        Measure::Rho => "a rho: rho, sum, bound, least, about, truncated, rounded-up or rounded-up-at-digit",
        Measure::Sigma2 => {
            "a variance proxy: sigma2, bound, least, about, truncated, rounded-up or rounded-up-at-digit"
        }
        Measure::Probability => "a probability: probability, percent, bound, least, least-percent, about or truncated",
        Measure::Percent => "a percentage: percent, bound, least, least-percent, about or truncated",
        Measure::Statement => "a statement: claim",
    };
    let exact = if claim.question.is_exact() { "; sum for one that is printed exactly" } else { "" };
    Err(format!("unit: {name:?} does not fit: what is computed is {expected}{exact}"))
}

/// Whether the computed value is in percent in this unit.
pub(super) fn is_in_percent(compute: &Compute, unit: Unit) -> bool {
    let is_percentage = matches!(compute, Compute::Account(claim) if claim.kind.measure == Measure::Percent);
    is_percentage || matches!(unit, Unit::Percent | Unit::LeastPercent)
}

/// Whether the computed value is a probability or a ratio, which a percentage multiplies by 100.
pub(super) fn is_probability(compute: &Compute, unit: Unit) -> bool {
    match compute {
        Compute::Account(claim) => claim.kind.measure == Measure::Probability,
        Compute::Claim(kind, _) => kind.name == "risk" || matches!(unit, Unit::Probability | Unit::Ratio),
    }
}
