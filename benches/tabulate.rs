//! Noise, suppression and rows of ten million counts, in memory: README quotes it.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use dp_assay::{
    noise::Streams,
    numeric::{rational::parse, sum::Law},
    safetab::{
        groups::Key,
        schema::{IterationCode, Level, Pass, RegionType},
        tabulate::{
            algorithm::Tabulation,
            coterminous::Coterminous,
            output::Tables,
            plan::{LevelPlan, Noise},
        },
    },
};

fn noise(sigma2: &str) -> Noise {
    Noise { law: Law::DiscreteGaussian { sigma2: parse(sigma2).expect("a number") }, margin: 0 }
}

/// A level of `regions` entities with 1000 iterations; groups get one count each unless `threshold` is low.
fn plan(regions: usize, threshold: i64) -> LevelPlan {
    let code = |number: usize| IterationCode::read(format!("{number:04}").as_bytes()).expect("a code");
    LevelPlan {
        region_type: RegionType::Tract,
        level: Level::Two,
        budget: parse("0.159").expect("a number"),
        stability: 9,
        total_only: noise("1500/53"),
        stage_1: noise("15000/53"),
        stage_2: noise("5000/159"),
        thresholds: [threshold; 3],
        suppression: Some([20, 21]),
        iterations: (0..1000).map(|i| Key { iteration: code(i), detailed_only: false }).collect(),
        regions: (0..regions).map(|i| format!("{i:011}")).collect(),
    }
}

fn tabulate(plan: &LevelPlan) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut streams = Streams::from_system().expect("random numbers");
    let mut tables = Tables::create(folder.path(), Pass::UnitedStates, Coterminous::default(), None).expect("tables");
    let tabulation = Tabulation::new(plan, true).expect("a tabulation");
    tabulation.finish(&mut streams, &mut |piece| tables.write(plan, &piece)).expect("noise");
    black_box(tables.finish().expect("tables"));
}

fn ten_million_counts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ten million counts");
    group.sample_size(10);
    // Two draws for each of 5 million groups, nearly all of which are suppressed.
    let sparse = plan(5000, i64::MAX);
    group.bench_function("5 million totals, suppressed", |bencher| bencher.iter(|| tabulate(&sparse)));
    // All cells are published.
    let dense = plan(213, i64::MIN);
    group.bench_function("sex by 23 ages, published", |bencher| bencher.iter(|| tabulate(&dense)));
    group.finish();
}

criterion_group!(benches, ten_million_counts);
criterion_main!(benches);
