//! Attacks: random questions to everything that prints a proven number, against oracles that share no code with it.
//!
//! An oracle here is a plain convolution or enumeration in exact integers (`fixed`, `enumerated`). Of every answer three
//! things are checked: it and the oracle have a number in common; it has the width that was asked for, or says that it does
//! not; and it moves in the direction that theory says.
//!
//! A case is a function of its class and number. `ASSAY_ATTACK` multiplies how many cases there are: `scripts/soak` runs for
//! hours and writes `results/soak.csv`. `ASSAY_ATTACK_CASES=CLASS:FROM:TO` with the test `worker` runs these cases alone.

mod account;
mod cases;
mod decisions;
mod enumerated;
mod fixed;
mod harness;
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

/// What the harness starts: the cases that the surroundings name.
#[test]
#[ignore = "the harness starts it"]
fn worker() {
    harness::work();
}
