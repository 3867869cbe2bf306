//! The timings quoted in README and the guide: certified and fast points of the profile, its inverse, a whole curve, and the cost of many
//! copies.

#[path = "../tests/common/numbers.rs"]
mod numbers;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use dp_assay::{
    account::{Account, Composition, Counts, paths::WorstPath},
    loss::family::Units,
    release::Release,
};
use numbers::number;
use rug::Rational;

fn whole_release() -> Composition {
    let release = Release::find("su-su-wang-2025").expect("a bundled release");
    release.composition(&[] as &[&str], None).expect("its composition")
}

fn copies(count: u64) -> Composition {
    Composition::new([format!("5x{count}").parse().expect("counts")]).expect("a composition")
}

fn points(criterion: &mut Criterion) {
    let all = whole_release();
    let epsilon = number("30");
    let mut group = criterion.benchmark_group("80 counts");
    group.bench_function("delta, 12 digits", |b| b.iter(|| all.delta(black_box(&epsilon), 12)));
    group.bench_function("delta, 40 digits", |b| b.iter(|| all.delta(black_box(&epsilon), 40)));
    group.bench_function("delta, doubles", |b| b.iter(|| all.ln_delta_approx(black_box(&epsilon))));
    let delta = number("1e-10");
    group.bench_function("epsilon, 12 digits", |b| b.iter(|| all.epsilon(black_box(&delta), 12)));
    group.bench_function("tradeoff, 12 digits", |b| b.iter(|| all.tradeoff(black_box(&number("0.05")), 12)));
    group.bench_function("whole release read and composed", |b| b.iter(whole_release));
    group.finish();
}

fn curves(criterion: &mut Criterion) {
    let all = whole_release();
    let epsilons: Vec<Rational> = (0..200).map(|k| Rational::from((k * 30, 199))).collect();
    let mut group = criterion.benchmark_group("200 points");
    group.sample_size(10);
    group.bench_function("all cores", |b| b.iter(|| all.curve(black_box(&epsilons), 12)));
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread");
    group.bench_function("one core", |b| b.iter(|| one.install(|| all.curve(black_box(&epsilons), 12))));
    group.finish();
    let epsilons: Vec<Rational> = (0..1000).map(|k| Rational::from((k * 40, 999))).collect();
    let mut group = criterion.benchmark_group("1000 points");
    group.sample_size(10);
    group.bench_function("all cores", |b| b.iter(|| all.curve(black_box(&epsilons), 12)));
    group.finish();
}

fn many_copies(criterion: &mut Criterion) {
    let delta = number("1e-10");
    let mut group = criterion.benchmark_group("epsilon, 12 digits");
    for count in [10, 1_000_000] {
        let composition = copies(count);
        group.bench_function(format!("{count} copies"), |b| b.iter(|| composition.epsilon(black_box(&delta), 12)));
    }
    group.finish();
}

/// Allocations whose lattice is too fine to sum over, all pairs of block paths, and hundreds of two-point losses.
fn any_allocation(criterion: &mut Criterion) {
    let delta = number("1e-10");
    let release = |name: &str| Release::find(name).expect("a bundled release");
    let mut group = criterion.benchmark_group("any allocation");
    group.sample_size(10);
    let pl94 = release("pl94-persons-us");
    let fresh = || pl94.composition(&[] as &[&str], None).expect("its composition");
    let (known, evaluator) = (fresh(), fresh().evaluator());
    group.bench_function("P.L. 94-171, no level dropped: epsilon, 8 digits, sieve included", |b| {
        b.iter(|| fresh().epsilon(black_box(&delta), 8));
    });
    group.bench_function("P.L. 94-171, no level dropped: a further epsilon", |b| {
        b.iter(|| known.epsilon_by(&evaluator, black_box(&delta), 8));
    });
    let worst = |release: &Release| {
        WorstPath::new(release.path_compositions().expect("its paths"), Units::Pairs).expect("paths")
    };
    group.bench_function("P.L. 94-171, 136 pairs: epsilon, 8 digits, sieve included", |b| {
        b.iter(|| worst(&pl94).epsilon(black_box(&delta), 8));
    });
    let (pairs, evaluator) = (worst(&pl94), worst(&pl94).evaluator());
    group.bench_function("P.L. 94-171, 136 pairs: a further epsilon", |b| {
        b.iter(|| pairs.epsilon_by(&evaluator, black_box(&delta), 8))
    });
    let dhc = worst(&release("dhc-persons-us"));
    let epsilons: Vec<Rational> = (0..200).map(|k| Rational::from((k * 40, 199))).collect();
    group.bench_function("DHC persons, 946 pairs: 20 of 200 points, 10 digits, all cores", |b| {
        let some: Vec<Rational> = epsilons.iter().step_by(10).cloned().collect();
        b.iter(|| dhc.curve(black_box(&some), 10));
    });
    let geometric =
        ["1/10x300", "3/70x200@2", "1/9x100"].map(|text| Counts::parse_discrete_laplace(text).expect("counts"));
    let geometric = Composition::new(geometric).expect("a composition");
    group.bench_function("600 geometric counts: epsilon, 12 digits", |b| {
        b.iter(|| geometric.epsilon(black_box(&delta), 12));
    });
    group.finish();
}

criterion_group!(benches, points, curves, many_copies, any_allocation);
criterion_main!(benches);
