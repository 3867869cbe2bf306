//! The oracle of meaning: small worlds whose answers follow from the definitions alone, by listing all neighbors, outputs and events
//! in exact fractions. The program must print intervals with these answers.
//!
//! | file | purpose |
//! | --- | --- |
//! | `world` | a random mechanism with its relation and group, and the pairs of laws of all neighbors |
//! | `truth` | every claim by its definition |
//! | `program` | the commands, and the functions of the library that they call |
//! | `asked` | the answers in JSON, compared |
//! | `sentences` | the answers in text, compared by the templates of `sentences.txt` |
//! | `calibrated` | the promises of `calibrate` |
//!
//! ASSAY_WORLDS=N asks about N worlds instead of 60 (scripts/meaning), ASSAY_WORLDS_SEED=S about others.
// Truths are computed with the functions of the C library as well.
#![allow(clippy::disallowed_methods)]

mod asked;
mod calibrated;
mod program;
mod sentences;
mod truth;
mod world;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicUsize, Ordering},
};

use asked::{Disagreement, Interval, Tally, ask};
use rug::Rational;
use world::{Dice, Noise, World};

/// A claim that the program does not yet answer as defined.
#[allow(dead_code, reason = "none is known where the list is empty")]
struct Known {
    claim: &'static str,
    /// Only where a table moves by at most 2.
    is_moved: bool,
    /// The reason, and its place.
    why: &'static str,
}

impl Known {
    fn excuses(&self, wrong: &Disagreement) -> bool {
        (self.claim.is_empty() || self.claim == wrong.claim) && (!self.is_moved || wrong.is_moved)
    }
}

/// All of them. Whoever repairs one removes its line: the test fails where a line alone excuses nothing.
const KNOWN: &[Known] = &[];

/// The worlds of the test suite.
const SEED: u64 = 2020;

/// The number of worlds in which the command line is asked, in text as well: a process takes longer than most answers.
const PRINTED: usize = 12;
/// So it is in one of this number of all further ones.
const PRINTED_EVERY: usize = 100;

/// Worlds in which the program has printed something false, and random ones.
fn worlds(count: usize, seed: u64) -> Vec<World> {
    let masses = |numbers: &[u32]| -> Vec<Rational> {
        let total: u32 = numbers.iter().sum();
        numbers.iter().map(|number| Rational::from((*number, total))).collect()
    };
    let [low, two, ends] = [&[60, 2, 27, 54][..], &[1, 0, 1], &[8, 1, 2, 1, 8]]
        .map(|numbers| World::simple(Noise::Table(masses(numbers))));
    let (with, without) = (masses(&[1, 1, 1, 0]), masses(&[0, 2, 1, 1]));
    let pair = World::simple(Noise::Pair(with.into_iter().zip(without).collect()));
    let mut cells = World::simple(Noise::Cells(vec![masses(&[1]), masses(&[1, 1])]));
    cells.parts[0].count = 3;
    let mut moved = two;
    moved.parts[0].shift = 2;
    let bounded_noise = World::simple(Noise::Truncated(Rational::from(1), 2));
    // The largest loss of one is a multiple of 1/2, all finite losses of the other are zero.
    let mut shown = World::simple(Noise::Pair(masses(&[2, 3, 0]).into_iter().zip(masses(&[0, 3, 2])).collect()));
    shown.parts.extend(World::simple(Noise::Truncated(Rational::from((1, 2)), 2)).parts);
    // Corners of trade-off functions, between few losses.
    let mut corners = World::simple(Noise::Table(masses(&[2, 9, 2, 9])));
    (corners.parts[0].count, corners.parts[0].shift) = (2, 2);
    let low = World { bounded: true, ..low };
    let found = [bounded_noise, low, moved, World { group: 2, ..ends }, pair, cells, shown, corners];
    let mut dice = Dice(seed);
    found.into_iter().chain(std::iter::from_fn(|| Some(World::random(&mut dice)))).take(count).collect()
}

/// A number of the environment.
fn number<N: std::str::FromStr>(name: &str, default: N) -> N {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

#[test]
fn the_program_agrees_with_the_definitions() {
    let count = number("ASSAY_WORLDS", 60);
    let tally = asked(&worlds(count, number("ASSAY_WORLDS_SEED", SEED)));
    let (questions, sentences, wrong) = (tally.questions, tally.sentences, &tally.disagreements);
    println!(
        "{count} worlds, {questions} questions, {sentences} sentences, {} refusals, {} disagreements",
        tally.refusals,
        wrong.len()
    );
    let mut by_claim: BTreeMap<(&str, bool), Vec<&Disagreement>> = BTreeMap::new();
    wrong.iter().for_each(|one| by_claim.entry((&one.claim, one.is_moved)).or_default().push(one));
    for ((claim, is_moved), cases) in &by_claim {
        let moved = if *is_moved { ", moved by at most 2" } else { "" };
        println!("{claim}{moved}: {} times, as {}", cases.len(), cases[0].what);
    }
    let sentences =
        wrong.iter().filter(|one| one.claim == sentences::UNKNOWN).filter_map(|one| one.what.lines().next());
    sentences.collect::<BTreeSet<_>>().iter().for_each(|sentence| println!("no template: {sentence}"));
    let excuses = |one: &Disagreement| KNOWN.iter().filter(|known| known.excuses(one)).count();
    let unknown: Vec<_> = by_claim.iter().filter(|(_, cases)| excuses(cases[0]) == 0).map(|(claim, _)| claim).collect();
    assert!(unknown.is_empty(), "not as defined: {unknown:?}");
    let alone = |known: &Known| wrong.iter().any(|one| known.excuses(one) && excuses(one) == 1);
    let repaired: Vec<_> = KNOWN.iter().filter(|known| !alone(known)).map(|known| known.why).collect();
    assert!(repaired.is_empty(), "as defined now, to be removed from KNOWN: {repaired:?}");
}

/// Asks about all worlds, with a thread for each core.
fn asked(worlds: &[World]) -> Tally {
    let (threads, next) = (std::thread::available_parallelism().map_or(1, usize::from), AtomicUsize::new(0));
    let work = || {
        let (mut tally, folder) = (Tally::default(), tempfile::tempdir().expect("a folder"));
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(world) = worlds.get(at) else { return tally };
            ask(world, at < PRINTED || at % PRINTED_EVERY == 0, folder.path(), &mut tally);
        }
    };
    let mut all = Tally::default();
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        started.into_iter().for_each(|thread| all.add(thread.join().expect("a thread of the test")));
    });
    all
}

/// By hand: masses 1/4, 1/2, 1/4, one count, prior 1/2, d = 0.3. Outputs 2/3; events 12/13.
#[test]
fn the_definitions_give_the_example_by_hand() {
    let quarter = |n| Rational::from((n, 4));
    let up = World::simple(Noise::Table(vec![quarter(1), quarter(2), quarter(1)])).truth().up;
    let (prior, d) = (Rational::from((1, 2)), Rational::from((3, 10)));
    assert_eq!(truth::outputs(&up, &prior, &d), Rational::from((2, 3)));
    assert_eq!(truth::events(&up, &prior, &d), Rational::from((12, 13)));
    assert_eq!(truth::infinite(&up), quarter(1));
    assert_eq!(truth::delta(&up, &Rational::from(1)), quarter(2));
}

/// False formulas that programs have used, in place of the definitions: each differs from them in at least one world.
#[test]
fn false_formulas_are_found() {
    let (d, prior) = (Rational::from((3, 10)), Rational::from((1, 2)));
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for world in worlds(200, SEED) {
        let truth = world.truth();
        let mut differ = |name, claimed: Rational, truth: &Rational| {
            let claimed = Interval { lower: claimed.clone(), upper: claimed };
            *found.entry(name).or_default() += usize::from(!claimed.holds(truth, truth));
        };
        let x = Rational::from((3, 2));
        let delta = truth.worst(|pairs| truth::delta(pairs, &x));
        let mut twice = World { bounded: false, ..world.clone() };
        twice.parts.iter_mut().for_each(|part| part.count *= 2);
        if world.bounded && world.parts.len() == 1 {
            differ("one direction twice", twice.truth().worst(|pairs| truth::delta(pairs, &x)), &delta);
        }
        if let (Some(claimed), true) = (world.together(), world.group > 1) {
            differ("shift times K", truth::delta(&[claimed], &x), &delta);
        }
        differ("hull for minimum", truth::hull(&truth, &d), &truth.beta(&d));
        if let Some(ratio) = truth::ratio(&truth.up, &d) {
            let odds = Rational::from(&ratio + 1u32);
            differ("delta for tail", ratio / odds, &truth::outputs(&truth.up, &prior, &d));
        }
        differ("mass of one direction for both", truth::infinite(&truth.up), &truth::infinite(&truth.down));
        // An interval that ends in its middle no longer reaches the truth at its upper end.
        differ("middle for end", delta.clone() * Rational::from((999, 1000)), &delta);
    }
    println!("{found:?}");
    assert_eq!(found.len(), 6);
    assert!(found.values().all(|times| *times > 0), "{found:?}");
}
