//! The tables and figures of Su, Su & Wang (2025).
//!
//! "Ours" is the paper's word for the exact account, "the Bureau's" is rho-zCDP converted by Bun & Steinke. What the
//! paper prints, such as the reduced noise of its Table 1, is read from data/published; everything else is computed.

mod counts;
mod profiles;
mod tables;
mod tradeoffs;

use rug::{Integer, Rational, ops::Pow};

use super::{Drawing, Item, Sources};
use crate::{
    account::{Composition, Counts},
    chart::svg::Axis,
    error::{Error, Result},
    numeric::{Enclosure, rational::parse},
    release::Release,
    replication::published,
};

const PAPER: &str = "su-su-wang-2025";

pub(super) const ITEMS: &[Item] = &[
    item("figure-2", "privacy profiles of the eight geolevels", profiles::figure_2),
    item("figure-3", "epsilon of the geolevels at two deltas", profiles::figure_3),
    item("figure-4", "trade-off functions of the eight geolevels", tradeoffs::figure_4),
    item("figure-5", "privacy profiles with reduced noise", profiles::figure_5),
    item("figure-6", "expected errors of population counts", counts::figure_6),
    item("figure-7", "privacy profile of all geolevels together", profiles::figure_7),
    item("figure-8", "expected errors of nine block counts", counts::figure_8),
    item("figure-10", "the sum of two draws and its approximation", tables::figure_10),
    item("figure-11", "privacy profiles of 1890 counts", profiles::figure_11),
    item("figure-12", "trade-off function of all geolevels together", tradeoffs::figure_12),
    item("figure-13", "where the curves of County cross", tradeoffs::figure_13),
    item("figure-14", "by how much epsilon is lower, in nats", profiles::figure_14),
    item("figure-15", "by how much epsilon is lower, in percent", profiles::figure_15),
    item("table-1", "the noise that matches the Bureau's epsilon", tables::table_1),
    item("table-2", "the residual of the approximation", tables::table_2),
    item("table-3", "shares of the budget and numbers of counts", tables::table_3),
];

const fn item(name: &'static str, about: &'static str, draw: fn(&Sources) -> Result<Drawing>) -> Item {
    Item { paper: PAPER, name, about, draw }
}

const OURS: &str = "exact (ours)";
const BUREAU: &str = "zCDP (the Bureau's)";

fn release() -> Result<Release> {
    Release::find(PAPER)
}

/// Everything composed.
fn whole(release: &Release) -> Result<Composition> {
    release.composition(&[] as &[&str], None)
}

/// The variance proxy of a level, whose counts are all alike, and their number.
fn noise(release: &Release, level: &str) -> Result<(Rational, u64)> {
    let composition = release.composition(&[level], None)?;
    let count = composition.counts().iter().map(|counts| counts.count).sum();
    Ok((release.level(level)?.queries[0].sigma2.clone(), count))
}

fn alike(sigma2: &Rational, count: u64) -> Result<Composition> {
    Composition::new([Counts::discrete_gaussian(sigma2.clone(), count, 1)?])
}

/// All variances multiplied by a factor.
fn scaled(composition: &Composition, factor: &Rational) -> Result<Composition> {
    let counts: Result<Vec<Counts>> =
        composition.counts().iter().map(|counts| counts.with_noise_times(factor)).collect();
    Composition::new(counts?)
}

/// A number as the paper prints it, by its id in data/published.
fn printed(id: &str) -> Result<Rational> {
    let paper = published::papers(&[PAPER.to_string()])?.remove(0);
    match paper.values.iter().find(|value| value.id == id) {
        Some(value) => parse(&value.printed),
        None => {
            Err(Error::NeedsData { what: id.to_string(), needed: format!("a row {id} in data/published/{PAPER}.toml") })
        }
    }
}

/// The level's name in the ids of data/published.
fn slug(level: &str) -> String {
    level.to_lowercase().replace(' ', "-")
}

/// The reduced noise that Table 1 prints for a level.
fn printed_sigma2(level: &str) -> Result<Rational> {
    printed(&format!("table-1-{}-ours", slug(level)))
}

/// One less the percentage by which Section 3.3 reduces all noise.
fn printed_factor() -> Result<Rational> {
    Ok(Rational::from(1) - printed("section-3.3-reduction")? / 100_u32)
}

/// 100 (1 - value / whole).
fn percent_below(value: &Enclosure, whole: &Enclosure) -> Enclosure {
    let one = Enclosure::double(1.0, 100);
    one.sub(&value.div(whole)).mul(&Enclosure::double(100.0, 100))
}

/// 1, 2 and 5 times 10^-most up to 10^-2, and more of them from 1/10 on, where the curves turn.
fn deltas(most: u32) -> Vec<Rational> {
    let power = |k: u32| Rational::from((1, Integer::from(10).pow(k)));
    let decades = (2..=most).rev().flat_map(|k| [1_u32, 2, 5].map(|digit| power(k) * digit));
    decades.chain((4..=18).map(|k| Rational::from((k, 40)))).chain([Rational::from((1, 2))]).collect()
}

fn delta_axis(from: f64) -> Axis {
    Axis::log("δ", from, 1.0)
}
