//! Faults planted in drawn folders, of the size that the power names and with half the draws; and folders of every shape.

use std::{fs, path::Path};

use dp_assay::{
    audit::{
        Audited,
        power::{Fault, Level, SIZED, smallest_approx},
    },
    law::Law,
    noise::{DiscreteGaussian, Sampler, Streams},
    release::Release,
    topdown::nmf::{
        audit::{self, Asked, Kind, NmfAudit},
        totals::GivenTotals,
    },
};
use rayon::prelude::*;
use rug::Rational;

use crate::common::{
    program::{assay, json, refusal},
    tiny_nmf::{self, Noise, QUERIES, Tiny, sigma2},
};

const RATE: (u32, u32) = (1, 100);

/// A folder of the product in a folder, with its release.
struct Drawn {
    folder: tempfile::TempDir,
    release: Release,
}

impl Drawn {
    fn new(tiny: &Tiny, noise: impl FnMut(&tiny_nmf::Unit, usize, usize) -> i64) -> Drawn {
        let folder = tempfile::tempdir().unwrap();
        let release = tiny_nmf::release(folder.path());
        let product = folder.path().join("US_TINY");
        tiny.write_constraints(&product);
        tiny.write_counts(&product, noise);
        Drawn { folder, release }
    }

    fn clean(tiny: &Tiny, seed: u64) -> Drawn {
        let mut noise = Noise::new(seed);
        Drawn::new(tiny, |unit, query, _| noise.draw(unit, query))
    }

    fn product(&self) -> std::path::PathBuf {
        self.folder.path().join("US_TINY")
    }

    fn audit(&self, totals: &[(u32, i64)]) -> NmfAudit {
        self.try_audit(totals).unwrap()
    }

    fn try_audit(&self, totals: &[(u32, i64)]) -> dp_assay::Result<NmfAudit> {
        let path = self.folder.path().join("totals.csv");
        let lines: String = totals.iter().map(|(state, total)| format!("{state:02},{total}\n")).collect();
        fs::write(&path, format!("state,total\n{lines}")).unwrap();
        let totals = if totals.is_empty() { GivenTotals::default() } else { GivenTotals::read(&path)? };
        let asked = Asked { states: Vec::new(), totals };
        audit::audit(&self.product(), &self.release, &asked, &Rational::from(RATE))
    }
}

/// The tests that reject, as level, query, kind and test.
fn rejected(audit: &NmfAudit) -> Vec<String> {
    let name = |at: &usize| {
        let test = &audit.tests[*at];
        let source = &audit.sources[test.source];
        format!("{} {} {} {}", source.level, source.query, source.kind.name(), test.test.name)
    };
    audit.verdict.rejected.iter().map(name).collect()
}

/// The number of draws of a source.
fn draws(audit: &NmfAudit, level: &str, query: &str, carried: usize, kind: Kind) -> u64 {
    let own = audit.sources.iter().filter(|source| {
        (source.level.as_str(), source.query.as_str()) == (level, query)
            && (source.carried, source.kind) == (carried, kind)
    });
    own.filter_map(|source| source.shown.as_ref()).map(|shown| shown.draws).sum()
}

/// The smallest larger sigma2 that the zeros of blocks show with probability 0.99 is found, and half as many draws find the stated share.
#[test]
fn a_deviation_of_the_stated_size_is_found() {
    let blocks = 120;
    let whole = Tiny::new(&[("009", blocks)]);
    let clean = Drawn::clean(&whole, 1).audit(&[]);
    let query = QUERIES.iter().position(|query| query.name == "detailed").unwrap();
    let many = draws(&clean, "Block", "detailed", 1, Kind::Zeros);
    assert_eq!(many, 2 * 40 + 4 * 80);
    let declared = sigma2(2, 1, query);
    let law = Audited::of_law(&Law::DiscreteGaussian { sigma2: declared.clone() }).unwrap();
    let level = Level { rate: 0.01, tests: clean.tests.len() as u64 };
    let smallest = smallest_approx(&law, &SIZED[0], 0.99, many, level).unwrap();
    let Fault::Parameter(size) = smallest.fault else { panic!("{smallest:?}") };
    assert!(size > 0.2 && size < 1.0, "{size}");
    let faulty: Rational = declared * Rational::from_f64(1.0 + size).unwrap();
    let found = |blocks: usize| {
        let tiny = Tiny::new(&[("009", blocks)]);
        let sampler: Sampler = DiscreteGaussian::new(faulty.clone()).unwrap().sampler().unwrap();
        let trials = 16_u64;
        let found = (0..trials).into_par_iter().filter(|trial| {
            let mut noise = Noise::new(50 + trial);
            let mut other = Streams::with_insecure_seed(900 + trial).take();
            let drawn = Drawn::new(&tiny, |unit, own, _| match (unit.level, own == query) {
                (2, true) => sampler.sample(&mut other),
                _ => noise.draw(unit, own),
            });
            drawn.audit(&[]).verdict.deviates()
        });
        found.count() as f64 / trials as f64
    };
    let share = found(blocks);
    assert!(share >= 0.85, "{share} with all draws");
    let stated = smallest.fault.power_approx(&law, many / 2, level).power;
    let half = found(blocks / 2);
    // Four standard deviations of 16 trials; residuals see the fault, too.
    let noise = 4.0 * (stated * (1.0 - stated) / 16.0).sqrt();
    assert!(half >= stated - noise && half <= stated + noise + 0.2, "{half} {stated}");
}

/// Bypassed units, recodes and files of several states: each of their draws is in its own source.
#[test]
fn bypassed_units_recodes_and_several_states_are_sources() {
    let tiny = Tiny::usual();
    let found = Drawn::clean(&tiny, 2).audit(&[(9, tiny.total_of_09)]);
    assert!(!found.verdict.deviates(), "{:?}", rejected(&found));
    // 14 blocks with counts, 5 of which have type 1; the block of state 44 is bypassed, and the state carries both shares.
    assert_eq!(draws(&found, "Block", "detailed", 1, Kind::Zeros), 2 * 5 + 4 * 9);
    assert_eq!(draws(&found, "State", "detailed", 2, Kind::Zeros), 2);
    assert_eq!(draws(&found, "State", "detailed", 1, Kind::Zeros), 4);
    // Upper bounds of the nation are not read as zeros.
    assert_eq!(draws(&found, "US", "hhgq", 1, Kind::Zeros), 0);
    assert_eq!(draws(&found, "US", "hhgq", 1, Kind::Totals), 1);
    // The recode joins types 1 and 2.
    assert_eq!(draws(&found, "Block", "inst", 1, Kind::Zeros), 9);
    assert_eq!(draws(&found, "State", "total", 2, Kind::Totals), 1);
    assert_eq!(draws(&found, "State", "detailed", 0, Kind::StateTotals), 1);
    // The noise of the levels that a unit does not carry is another law.
    let mut noise = Noise::new(3);
    let wrong = Drawn::new(&tiny, |unit, query, _| {
        let times = if unit.code == "044" { 9 } else { 1 };
        times * noise.draw(unit, query)
    });
    let found = rejected(&wrong.audit(&[]));
    assert!(found.iter().any(|name| name.starts_with("State ") || name.starts_with("US ")), "{found:?}");
}

/// A wrong exact total, and a state of which a part is missing.
#[test]
fn totals_of_states_are_those_of_both_parts() {
    let tiny = Tiny::usual();
    let drawn = Drawn::clean(&tiny, 4);
    let found = rejected(&drawn.audit(&[(9, tiny.total_of_09 + 400)]));
    assert!(found.iter().all(|name| name.contains("state totals")) && found.len() >= 5, "{found:?}");
    assert!(drawn.try_audit(&[(44, 1)]).unwrap_err().to_string().contains("is given as 1"));
    // The description of the files names a part that is not there.
    let parts = Path::new("nmf.json");
    fs::write(drawn.product().join(parts), "{\"parts\": [\"009\", \"044\", \"109\"]}").unwrap();
    for level in ["State", "Block"] {
        for kind in ["Constraint", "DPQuery"] {
            fs::remove_dir_all(drawn.product().join(format!("{level}.parquet/{kind}/State=109"))).unwrap();
        }
    }
    let found = drawn.audit(&[(9, tiny.total_of_09)]);
    assert_eq!(found.unused_totals, [9]);
    assert!(!found.sources.iter().any(|source| source.kind == Kind::StateTotals));
}

/// Without the nation a folder is audited; without blocks, or with counts of a level missing, it is refused.
#[test]
fn missing_levels_are_left_out_or_refused() {
    let tiny = Tiny::usual();
    let drawn = Drawn::clean(&tiny, 5);
    fs::remove_dir_all(drawn.product().join("US.parquet")).unwrap();
    let found = drawn.audit(&[(9, tiny.total_of_09)]);
    assert!(!found.verdict.deviates() && found.sources.iter().all(|source| source.level != "US"));
    assert!(draws(&found, "Block", "detailed", 1, Kind::Zeros) > 0);
    assert!(found.sources.iter().any(|source| source.kind == Kind::StateTotals));
    fs::rename(drawn.product().join("Block.parquet/DPQuery"), drawn.folder.path().join("kept")).unwrap();
    let message = drawn.try_audit(&[]).unwrap_err().to_string();
    assert!(message.contains("Block"), "{message}");
    fs::remove_dir_all(drawn.product().join("Block.parquet")).unwrap();
    let message = drawn.try_audit(&[]).unwrap_err().to_string();
    assert!(message.contains("no folder Block.parquet"), "{message}");
}

/// Counts without noise, and files of tables, are said to hold no pure noise.
#[test]
fn tables_after_the_noise_are_not_tested() {
    let tiny = Tiny::usual();
    let exact = Drawn::new(&tiny, |_, _, _| 0);
    let found = exact.audit(&[]);
    assert!(found.verdict.deviates() && found.is_exactly_consistent());
    assert!(found.words().contains("made consistent after the noise"), "{}", found.words());
    assert!(!Drawn::clean(&tiny, 6).audit(&[]).is_exactly_consistent());
    let release = exact.folder.path().join("tiny-audit.toml").display().to_string();
    let tables = exact.folder.path().join("tables");
    fs::create_dir_all(&tables).unwrap();
    let table = tables.join("whole.csv");
    fs::write(&table, "level,geoid,count\n").unwrap();
    for path in [&tables, &table] {
        let message = refusal(&["nmf", "audit", &path.display().to_string(), "--release", &release]);
        let flat = message.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("Published tables and whole counts cannot be audited"), "{message}");
    }
}

/// The command takes exact totals of states.
#[test]
fn the_command_takes_totals_of_states() {
    let tiny = Tiny::usual();
    let drawn = Drawn::clean(&tiny, 7);
    let release = drawn.folder.path().join("tiny-audit.toml").display().to_string();
    let totals = drawn.folder.path().join("totals.csv");
    fs::write(&totals, format!("state,total\n09,{}\n", tiny.total_of_09)).unwrap();
    let (product, totals) = (drawn.product().display().to_string(), totals.display().to_string());
    let words = ["nmf", "audit", &product, "--release", &release, "--state-totals", &totals];
    let answer = json(&words);
    let sources = answer["sources"].as_array().unwrap().iter();
    let own = sources.filter(|source| source["kind"] == "state totals");
    assert!(own.clone().all(|source| source["sigma2"].is_null() && source["draws"] == 1) && own.count() == 5);
    assert_eq!(answer["unused_state_totals"], serde_json::json!([]));
    let printed = assay(&words).assert().success().get_output().stdout.clone();
    assert!(String::from_utf8(printed).unwrap().contains("state totals"));
}
