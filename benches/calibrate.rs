//! Calibration: single levels, one factor for a whole release, and the worst of all block paths.

#[path = "../tests/common/numbers.rs"]
mod numbers;

use criterion::{Criterion, criterion_group, criterion_main};
use dp_assay::{
    account::{
        Account, Composition, Delta, Rho,
        calibrate::{self, Multiples},
        conversions, crossing,
        paths::WorstPath,
    },
    loss::family::Units,
    numeric::Enclosure,
    release::Release,
};
use numbers::number;
use rug::Rational;

fn grid(decimals: u32) -> Multiples {
    Multiples { decimals, least: number("1e-4"), most: number("1e4") }
}

fn guess(composition: &Composition, target: &Enclosure, delta: &Delta) -> f64 {
    let family = |factor: &Rational| composition.with_noise_times(factor);
    calibrate::guess(family, target, delta, (1e-3, 0.87, 1e3)).expect("a guess")
}

fn levels(criterion: &mut Criterion) {
    let release = Release::find("su-su-wang-2025").expect("bundled");
    let delta: Delta = "1e-11".parse().expect("a delta");
    let all = || {
        for level in &release.levels {
            let composition = release.composition(&[&level.name], None).expect("a level");
            let (sigma2, target) = (
                level.queries[0].sigma2().unwrap(),
                conversions::zcdp_epsilon(&Rho::try_from(&level.rho).expect("a budget"), &delta, 40),
            );
            let start = guess(&composition, &target, &delta) * sigma2.to_f64();
            let family = |point: &Rational| composition.with_noise_times(&Rational::from(point / sigma2));
            calibrate::least_in(&grid(2), family, &target, &delta, start).expect("a search").expect("a point");
        }
    };
    criterion.bench_function("calibrate eight levels, two decimals", |b| b.iter(all));
    let state = Composition::new(["4.25x10".parse().expect("counts")]).expect("a composition");
    let rho: Rho = "1.0001".parse().expect("a budget");
    let (from, to) = (number("1e-40"), number("1"));
    criterion.bench_function("crossings of one level", |b| b.iter(|| crossing::stretches(&state, &rho, &from, &to)));
}

fn whole(criterion: &mut Criterion) {
    let delta: Delta = "1e-10".parse().expect("a delta");
    let mut group = criterion.benchmark_group("one factor, four decimals");
    group.sample_size(10);
    let release = Release::find("su-su-wang-2025").expect("bundled");
    let composition = release.composition(&[] as &[&str], None).expect("a composition");
    let target = conversions::zcdp_epsilon(composition.rho(), &delta, 40);
    group.bench_function("80 counts", |b| {
        b.iter(|| {
            let family = |factor: &Rational| composition.with_noise_times(factor);
            calibrate::least_in(&grid(4), family, &target, &delta, guess(&composition, &target, &delta))
        });
    });
    let census = Release::find("pl94-persons-us").expect("bundled");
    let paths = census.path_compositions().expect("paths");
    let target = conversions::zcdp_epsilon(&Rho::try_from(&census.rho).expect("a budget"), &delta, 40);
    group.bench_function("P.L. 94-171, all pairs of paths", |b| {
        b.iter(|| {
            let worst = WorstPath::new(paths.clone(), Units::Pairs).expect("a family");
            let near = target.lower().to_rational().expect("finite");
            let pair = worst.delta(&near, 3).expect("an answer").pair().expect("a worst pair");
            let start = guess(&worst.composition(pair).expect("a pair"), &target, &delta);
            let family = |factor: &Rational| worst.with_noise_times(factor);
            calibrate::least_in(&grid(4), family, &target, &delta, start)
        });
    });
    group.finish();
}

criterion_group!(benches, levels, whole);
criterion_main!(benches);
