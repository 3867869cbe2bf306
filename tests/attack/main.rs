//! Attacks: random requests to everything that prints a proven number, against oracles that share no code with it.
//!
//! An oracle here is a convolution or enumeration in exact integers (`fixed`, `enumerated`). Three things are checked of every answer: its
//! enclosure overlaps that of the oracle; it has the requested precision, or its status says otherwise; and it is monotone as theory says.
//!
//! A case is a function of its class and number. `ASSAY_ATTACK` multiplies the number of cases: `scripts/soak` runs for hours and writes
//! `results/soak.csv`. `ASSAY_ATTACK_CASES=CLASS:FROM:TO` with the test `worker` runs these cases only.
// Truths are computed with the functions of the C library as well.
#![allow(clippy::disallowed_methods)]
#![cfg(unix)]

use std::path::Path;

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
mod mutations;
mod noise;
mod program;
mod record;
mod risk;

#[test]
fn compositions_keep_their_enclosures() {
    harness::attack(&[
        ("tiny", 6),
        ("one group", 3),
        ("near-commensurate", 4),
        ("lattice", 4),
        ("bounded", 1),
        ("mixed", 3),
        ("thousands", 1),
        ("large sigma2", 3),
        ("small sigma2", 3),
        ("shifts", 4),
        ("three groups", 4),
        ("coarse and fine", 3),
        ("nearly equal", 3),
        ("edges", 8),
        ("continuous", 4),
        // Without optimization the contour, which is tried at any cost, takes more than 20 s in the third case.
        ("bounded laws", 1),
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
fn killed_runs_and_full_disks_leave_no_partial_file() {
    harness::attack(&[
        ("kill noise", 9),
        ("kill spine", 9),
        ("kill measure", 9),
        ("kill estimate", 9),
        ("full disk", 9),
    ]);
}

/// The seeds of the fuzzer, its findings worth keeping, and bundled files.
#[test]
fn every_input_of_the_fuzzer_is_answered_or_refused() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut read = 0;
    for (name, _) in formats::FORMATS {
        let bench = formats::Bench::new(name, root).expect("a format");
        let inputs = formats::inputs(name, root);
        assert!(!inputs.is_empty() || name == "specification", "{name} has no input");
        for input in inputs {
            bench.read(&input);
            read += 1;
        }
    }
    assert!(read > 40, "{read} inputs");
}

/// A quick form of the fuzzer: inputs with seeded random changes. No reader panics, and every record is either read or refused.
/// ASSAY_MUTATIONS sets the number of changed inputs per format.
#[test]
fn changed_inputs_lose_no_record() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let many = std::env::var("ASSAY_MUTATIONS").ok().and_then(|many| many.parse().ok()).unwrap_or(150);
    let mut failed = Vec::new();
    for (name, _) in formats::FORMATS {
        let bench = formats::Bench::new(name, root).expect("a format");
        let inputs = formats::inputs(name, root);
        if inputs.is_empty() {
            continue;
        }
        for seed in 0..many {
            let input = mutations::changed(&inputs, seed);
            let read = std::panic::AssertUnwindSafe(|| bench.read(&input));
            if std::panic::catch_unwind(read).is_err() {
                let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{seed}"));
                std::fs::write(&kept, &input).expect("written");
                failed.push(format!("{name}: {}", kept.display()));
            }
        }
    }
    assert!(failed.is_empty(), "{} of {many} of each format:\n{}", failed.len(), failed.join("\n"));
}

/// The entry point of workers: runs the cases named by the environment variable.
#[test]
#[ignore = "the harness starts it"]
fn worker() {
    harness::work();
}
