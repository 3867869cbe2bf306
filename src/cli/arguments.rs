//! Numbers on the command line, read exactly.

use anyhow::{Context, Result};

/// A quantity on the command line, such as a delta: exact, and in its range.
pub fn quantity<Q: std::str::FromStr<Err = dp_assay::Error>>(name: &str, text: &str) -> Result<Q> {
    text.parse().with_context(|| name.to_string())
}

/// A count on the command line, as 100 or 1e9: a whole number, 0 or more.
pub fn count(text: &str) -> std::result::Result<u64, String> {
    let exact = dp_assay::numeric::rational::parse(text).ok().filter(|value| value.is_integer());
    let count = exact.as_ref().and_then(|value| value.numer().to_u64());
    count.ok_or_else(|| {
        format!("{text:?} is not a count: expected a whole number from 0 to {}, as 100 or 1e9", u64::MAX)
    })
}

/// An exact number on the command line.
pub fn number(name: &str, text: &str) -> Result<rug::Rational> {
    dp_assay::numeric::rational::parse(text).with_context(|| name.to_string())
}

/// A quantity of an option that may be left out.
pub fn optional<Q: std::str::FromStr<Err = dp_assay::Error>>(name: &str, text: &Option<String>) -> Result<Option<Q>> {
    text.as_deref().map(|text| quantity(name, text)).transpose()
}

/// The prior probability of an adversary.
pub fn prior(text: &str) -> Result<rug::Rational> {
    let prior = number("--prior", text)?;
    dp_assay::risk::check_prior(&prior).context("--prior")?;
    Ok(prior)
}

/// The first of these options that is given.
pub fn first_given<const N: usize>(options: [(&'static str, bool); N]) -> Option<&'static str> {
    options.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
}
