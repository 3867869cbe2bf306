//! The slowest figures of Kazan & Reiter (2023): Figure 4 (tiles of decisions), Figure 5 (30 true counts to 6 digits) and Figure 6 (200
//! values of rho for each of 3 true counts).

use criterion::{Criterion, criterion_group, criterion_main};
use dp_assay::replication::risk::{curves, settings::settings};

fn figures(criterion: &mut Criterion) {
    let settings = settings().expect("the bundled settings");
    let grid = curves::log_grid(-2.0, 2.0, 200);
    let counts: Vec<rug::Rational> = (1..=30).map(rug::Rational::from).collect();
    let mut group = criterion.benchmark_group("risk");
    group.sample_size(10);
    group.bench_function("Figure 4", |b| b.iter(|| curves::figure_4(&settings)));
    group.bench_function("Figure 5, 30 points, 6 digits", |b| b.iter(|| curves::figure_5(&settings, &counts, 6)));
    group.bench_function("Figure 6, 3 x 200 points, 6 digits", |b| b.iter(|| curves::figure_6(&settings, &grid, 6)));
    group.finish();
}

criterion_group!(benches, figures);
criterion_main!(benches);
