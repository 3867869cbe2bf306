//! Enumeration of few groups and bounded losses: compositions that are too large for a contour, and the largest enumerations allowed.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use dp_assay::{
    loss::{
        atoms::Atoms,
        law::{Group, Law},
        sum::LossSum,
    },
    numeric::rational::parse,
};
use rug::Rational;

fn number(text: &str) -> Rational {
    parse(text).expect("a number of this file")
}

fn gaussian(sigma2: &str, shift: u64, copies: u64) -> Group {
    Group { law: Law::DiscreteGaussian { sigma2: number(sigma2) }, shift, copies }
}

fn laplace(epsilon: &str, shift: u64, copies: u64) -> Group {
    Group { law: Law::DiscreteLaplace { epsilon: number(epsilon) }, shift, copies }
}

fn atoms(groups: &[Group]) -> Atoms {
    Atoms::new(&LossSum::new(groups.iter().cloned()).expect("a sum")).expect("a sum on a lattice")
}

/// One request to a new table, so that the time includes its construction.
fn questions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("atoms, lists and one question");
    let four = [gaussian("3.1", 1, 2), gaussian("4.7", 1, 3), gaussian("2.9", 1, 1), gaussian("5.3", 1, 2)];
    let wide = [gaussian("1000.1", 1, 1), gaussian("1110.7", 1, 2), gaussian("990.3", 1, 1), gaussian("2000.9", 1, 2)];
    let bounded = [laplace("39/97", 4, 2), laplace("153/100", 2, 5)];
    let thousands = [gaussian("1/50", 1, 1000), gaussian("50", 1, 10)];
    for (name, groups, epsilon) in [
        ("3.1x2 4.7x3 2.9x1 5.3x2", &four[..], "6"),
        ("3.1x2 4.7x3 2.9x1 5.3x2, delta below 1e-300", &four, "47"),
        ("1000.1x1 1110.7x2 990.3x1 2000.9x2", &wide, "0.1"),
        ("two bounded laws", &bounded, "6.7"),
        ("1/50x1000 50x10, delta below 1e-3700", &thousands, "43500"),
    ] {
        let epsilon = number(epsilon);
        group.sample_size(10);
        for digits in [12, 40] {
            group.bench_function(format!("delta of {name}, {digits} digits"), |b| {
                b.iter(|| atoms(groups).hockey_stick(black_box(&epsilon), digits));
            });
        }
    }
    for (name, groups, alpha) in [
        ("3.1x2 4.7x3 2.9x1 5.3x2", &four[..], "0.1"),
        ("5x10 at a knot", &[gaussian("5", 1, 10)], "0.000153542657843602841586210410350"),
        ("5x10 next to one", &[gaussian("5", 1, 10)], "0.999999999999999999999"),
        ("bounded laws of long reach", &[laplace("153/100", 18, 20), laplace("6/25", 6, 1)], "0.362534"),
    ] {
        let alpha = number(alpha);
        group.bench_function(format!("trade-off of {name}, 12 digits"), |b| {
            b.iter(|| atoms(groups).tradeoff(black_box(&alpha), 12));
        });
    }
    group.finish();
}

/// Many requests to one sum: the tables are constructed once.
fn curves(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("atoms, 200 points");
    group.sample_size(10);
    let epsilons: Vec<Rational> = (0..200).map(|k| Rational::from((k * 30, 199))).collect();
    let groups = [gaussian("2", 1, 4), gaussian("1000003/1000001", 1, 2)];
    group.bench_function("delta of 2x4 1000003/1000001x2, 12 digits", |b| {
        b.iter(|| {
            let atoms = atoms(&groups);
            for epsilon in &epsilons {
                black_box(atoms.hockey_stick(epsilon, 12).expect("an answer"));
            }
        });
    });
    group.finish();
}

criterion_group!(benches, questions, curves);
criterion_main!(benches);
