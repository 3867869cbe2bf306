//! Attacks: random requests to everything that prints a proven number, against oracles that share no code with it.
//!
//! An oracle here is a convolution or enumeration in exact integers (`fixed`, `enumerated`). Three things are checked of every answer: its
//! enclosure overlaps that of the oracle; it has the requested precision, or its status says otherwise; and it is monotone as theory says.
//!
//! A case is a function of its class and number. `ASSAY_ATTACK` multiplies the number of cases: `scripts/soak` runs for hours and writes
//! `results/soak.csv`. `ASSAY_ATTACK_CASES=CLASS:FROM:TO` with the test `worker` runs these cases only.

#![cfg(unix)]

use std::{fs, path::Path};

mod account;
mod cases;
mod continuous;
mod decisions;
mod engines;
mod enumerated;
mod fixed;
#[path = "../../fuzz/src/formats.rs"]
mod formats;
mod harness;
mod kills;
mod noise;
mod program;
mod record;
mod risk;

#[test]
fn compositions_keep_their_enclosures() {
    harness::attack(&[
        ("tiny", 6),
        ("one group", 3),
        ("near-commensurate", 8),
        ("lattice", 4),
        ("bounded", 1),
        ("mixed", 3),
        ("thousands", 1),
        ("large sigma2", 3),
        ("small sigma2", 3),
        ("shifts", 8),
        ("three groups", 4),
        ("coarse and fine", 6),
        ("nearly equal", 6),
        ("edges", 12),
        ("continuous", 8),
    ]);
}

#[test]
fn decisions_are_right_on_both_sides() {
    harness::attack(&[("calibrate", 8), ("allocate", 2), ("paths", 6), ("conversions", 4), ("crossings", 8)]);
}

#[test]
fn noise_and_what_is_derived_from_it_keep_their_enclosures() {
    harness::attack(&[("noise", 40), ("Laplace noise", 60), ("SafeTab", 12)]);
}

#[test]
fn risks_keep_their_enclosures() {
    harness::attack(&[("risk single", 24), ("risk bound", 4), ("risk hierarchical", 16)]);
}

#[test]
fn the_program_prints_what_contains_the_truth() {
    harness::attack(&[("program", 6)]);
}

#[test]
fn what_is_killed_or_finds_no_room_leaves_nothing_half() {
    harness::attack(&[
        ("kill noise", 9),
        ("kill spine", 9),
        ("kill measure", 9),
        ("kill estimate", 9),
        ("full disk", 9),
    ]);
}

/// The seeds of the fuzzer, and its findings worth keeping.
#[test]
fn every_input_of_the_fuzzer_is_answered_or_refused() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut read = 0;
    for (name, _) in formats::FORMATS {
        let bench = formats::Bench::new(name, root).expect("a format");
        for folder in ["seeds", "kept"] {
            // Not every format has its own files.
            let Ok(entries) = fs::read_dir(root.join("fuzz").join(folder).join(name)) else { continue };
            for entry in entries {
                bench.read(&fs::read(entry.expect("an entry").path()).expect("a readable file"));
                read += 1;
            }
        }
    }
    assert!(read > 20, "{read} inputs");
}

/// The entry point of workers: runs the cases named by the environment variable.
#[test]
#[ignore = "the harness starts it"]
fn worker() {
    harness::work();
}
