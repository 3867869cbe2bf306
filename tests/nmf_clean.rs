//! Clean folders: true noise is reported as deviating no more often than stated, by the exact binomial law.

use std::{fs, path::Path};

use dp_assay::{
    release::Release,
    topdown::nmf::{
        audit::{self, Asked},
        totals::GivenTotals,
    },
};
use rayon::prelude::*;
use rug::{Integer, Rational, ops::Pow};

use crate::common::tiny_nmf::{self, Noise, Tiny};

/// The stated rate of false alarms.
const RATE: (u32, u32) = (1, 20);

/// P[B >= k] of n trials, as an exact fraction.
fn at_least(n: u32, k: u32, p: &Rational) -> Rational {
    let miss = Rational::from(1 - p);
    let term = |j: u32| Rational::from(Integer::from(n).binomial(j)) * p.clone().pow(j) * miss.clone().pow(n - j);
    (k..=n).map(term).sum()
}

/// Whether the audit of a folder with true noise from a seed reports a deviation, and its number of tests.
fn alarms(folder: &Path, release: &Release, seed: u64) -> (bool, usize) {
    let tiny = Tiny::usual();
    let product = folder.join("US_TINY");
    tiny.write_constraints(&product);
    let mut noise = Noise::new(seed);
    tiny.write_counts(&product, |unit, query, _| noise.draw(unit, query));
    let totals = folder.join("totals.csv");
    fs::write(&totals, format!("state,total\n09,{}\n", tiny.total_of_09)).unwrap();
    let asked = Asked { totals: GivenTotals::read(&totals).unwrap(), ..Asked::default() };
    let found = audit::audit(&product, release, &asked, &Rational::from(RATE)).unwrap();
    (found.verdict.deviates(), found.tests.len())
}

/// The number of alarms of some folders; refuses more than the stated rate explains.
fn check(folders: u32) -> u32 {
    let place = tempfile::tempdir().unwrap();
    let release = tiny_nmf::release(place.path());
    let found: Vec<(bool, usize)> = (0..folders)
        .into_par_iter()
        .map(|seed| {
            let own = tempfile::tempdir().unwrap();
            alarms(own.path(), &release, 7_000 + u64::from(seed))
        })
        .collect();
    let many = found.iter().filter(|(deviates, _)| *deviates).count() as u32;
    assert!(found.iter().all(|(_, tests)| *tests > 200), "{:?}", found[0]);
    // If each folder alarms with at most the stated probability, this many alarms are as improbable as this or more.
    let p = at_least(folders, many, &Rational::from(RATE)).to_f64();
    assert!(p > 1e-6, "{many} alarms of {folders} folders at a rate of 0.05: probability {p:.1e}");
    many
}

#[test]
fn clean_folders_alarm_no_more_often_than_stated() {
    check(24);
}

/// The whole number of the guide: minutes of two cores, as each folder is written, read and tested against some twenty laws.
#[test]
#[ignore = "1,000 folders take minutes of two cores; a smaller number is in the suite"]
fn a_thousand_clean_folders_alarm_no_more_often_than_stated() {
    println!("{} alarms of 1000 folders", check(1000));
}
