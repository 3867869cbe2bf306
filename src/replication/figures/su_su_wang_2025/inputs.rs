//! What the figures are drawn from: the release, its compositions, and the numbers that the paper prints.

use rug::{Integer, Rational, ops::Pow};

use crate::{
    account::{Composition, Counts},
    chart::Axis,
    error::{Error, Result},
    numeric::rational::parse,
    release::Release,
    replication::published,
};

pub(super) const PAPER: &str = "su-su-wang-2025";

pub(super) const OURS: &str = "exact (ours)";
pub(super) const BUREAU: &str = "zCDP (the Bureau's)";

pub(super) fn release() -> Result<Release> {
    Release::find(PAPER)
}

/// Everything composed.
pub(super) fn whole(release: &Release) -> Result<Composition> {
    release.composition(&[] as &[&str], None)
}

/// The variance proxy of a level whose counts all have the same noise, and their number.
pub(super) fn noise(release: &Release, level: &str) -> Result<(Rational, u64)> {
    let composition = release.composition(&[level], None)?;
    let count = composition.counts().iter().map(|counts| counts.count).sum();
    Ok((release.level(level)?.queries[0].sigma2()?.clone(), count))
}

/// Counts that all have the same noise.
pub(super) fn alike(sigma2: &Rational, count: u64) -> Result<Composition> {
    Composition::new([Counts::discrete_gaussian(sigma2.clone(), count, 1)?])
}

/// A number as the paper prints it, by its id in data/published.
pub(super) fn printed(id: &str) -> Result<Rational> {
    let paper = published::papers(&[PAPER.to_string()])?.remove(0);
    match paper.values.iter().find(|value| value.id == id) {
        Some(value) => parse(&value.printed),
        None => {
            Err(Error::NeedsData { what: id.to_string(), needed: format!("a row {id} in data/published/{PAPER}.toml") })
        }
    }
}

/// The level's name in the ids of data/published.
pub(super) fn slug(level: &str) -> String {
    level.to_lowercase().replace(' ', "-")
}

/// The reduced noise that Table 1 prints for a level.
pub(super) fn printed_sigma2(level: &str) -> Result<Rational> {
    printed(&format!("table-1-{}-ours", slug(level)))
}

/// One less the percentage by which Section 3.3 reduces all noise.
pub(super) fn printed_factor() -> Result<Rational> {
    Ok(Rational::from(1) - printed("section-3.3-reduction")? / 100_u32)
}

/// 1, 2 and 5 times 10^-most up to 10^-2, and more of them from 1/10 on, where the curves bend.
pub(super) fn deltas(most: u32) -> Vec<Rational> {
    let power = |k: u32| Rational::from((1, Integer::from(10).pow(k)));
    let decades = (2..=most).rev().flat_map(|k| [1_u32, 2, 5].map(|digit| power(k) * digit));
    decades.chain((4..=18).map(|k| Rational::from((k, 40)))).chain([Rational::from((1, 2))]).collect()
}

pub(super) fn delta_axis(from: f64) -> Axis {
    Axis::log("δ", from, 1.0)
}
