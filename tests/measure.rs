//! Drawing on a spine: the budget by enumeration of neighbors, and the noise that is drawn.

use dp_assay::{
    account::{Account, Composition, Counts, Delta},
    loss::law::Law,
    noise::Streams,
    numeric::rational::parse,
    release::{Neighbors, schema::QueryGroup},
    spine::bypass::{self, Privacy, Spine},
    topdown::{
        histograms::{Entry, Histograms},
        measure::{MeasurementPlan, NoisyCounts},
    },
};
use rug::Rational;

use crate::common::spines::{Numbers, numbered, release, small_tree};

fn shares(release: &dp_assay::release::Release) -> Vec<Rational> {
    release.levels.iter().map(|level| Rational::from(&level.rho / &release.rho)).collect()
}

/// Counts of units, with the parameter of the noise on each.
type Answers = Vec<(Vec<i64>, Option<Rational>)>;

/// All counts of all units for a single record, by level, unit, query and count, with the law of the noise on each.
fn answers(mechanism: &MeasurementPlan, place: u32, cell: u32) -> Answers {
    let spine = mechanism.spine();
    let one = Histograms::new(vec![Entry { place, cell, count: 1 }]).unwrap();
    let mut all = Vec::new();
    for (level, queries) in mechanism.levels().iter().enumerate() {
        for unit in 0..spine.tree.units(level) {
            for query in queries {
                let mut counts = vec![0; query.group.counts()];
                one.add_answers(&query.group, spine.tree.blocks(level, unit), &mut counts);
                all.push((counts, query.law(spine.carried(level, unit)).map(numbered)));
            }
        }
    }
    all
}

/// The budget that a change from x to y spends, or to no record: epsilon of pure differential privacy, or rho.
fn spent(x: &Answers, y: Option<&Answers>, is_pure: bool) -> Rational {
    let mut sum = Rational::new();
    for (at, (counts, law)) in x.iter().enumerate() {
        let Some(parameter) = law else { continue };
        for (k, count) in counts.iter().enumerate() {
            let d = count - y.map_or(0, |y| y[at].0[k]);
            // |d| epsilon, or d^2 / (2 sigma2).
            sum += match is_pure {
                true => Rational::from(parameter * d.abs()),
                false => Rational::from(d * d) / parameter / 2_u32,
            };
        }
    }
    sum
}

/// Theorem 3, both parts, on random trees with bypassed units: every change of a record, count by count.
#[test]
fn no_pair_of_neighbors_spends_more_than_the_budget_and_the_account_says_so() {
    let mut numbers = Numbers(71);
    let (mut attained, mut still) = (0, 0);
    for round in 0..12 {
        let tree = small_tree(&mut numbers, 8);
        let bounded = round % 2 == 0;
        let release = release(&mut numbers, bounded);
        let schema = release.schema.clone().unwrap();
        let pure = Spine::new(tree.clone(), shares(&release), Privacy::Pure { cutoff: 150 }).unwrap();
        let concentrated = Spine::new(tree, shares(&release), Privacy::Concentrated).unwrap();
        let neighbors = release.neighbors;
        let epsilon = Rational::from((5, 2));
        let names = |level: &dp_assay::release::GeoLevel| -> Vec<(String, Rational)> {
            level.queries.iter().map(|query| (query.name.clone(), Rational::from(&query.rho / &level.rho))).collect()
        };
        let queries: Vec<Vec<(String, Rational)>> = release.levels.iter().map(names).collect();
        let laplace = MeasurementPlan::pure(&pure, &schema, neighbors, &epsilon, &queries).unwrap();
        let gaussian = MeasurementPlan::of_release(&concentrated, &release).unwrap();
        for (mechanism, is_pure) in [(&laplace, true), (&gaussian, false)] {
            let blocks = mechanism.spine().tree.order().len() as u32;
            let records: Vec<(u32, u32)> =
                (0..blocks).flat_map(|place| (0..6).map(move |cell| (place, cell))).collect();
            let all: Vec<_> = records.iter().map(|(place, cell)| answers(mechanism, *place, *cell)).collect();
            let budget = if is_pure { &epsilon } else { &release.rho };
            let worst = all.iter().flat_map(|x| match neighbors {
                Neighbors::AddRemove => vec![spent(x, None, is_pure)],
                Neighbors::Bounded => all.iter().map(|y| spent(x, Some(y), is_pure)).collect(),
            });
            let worst = worst.max().unwrap();
            assert!(worst <= *budget, "{worst} of {budget}");
            attained += u32::from(worst == *budget);
            // The budget charges every path in full.
            let account = mechanism.worst_path().unwrap();
            if is_pure {
                let sides = if bounded { 2_u32 } else { 1 };
                for path in mechanism.paths().unwrap() {
                    assert_eq!(path.pure_epsilon().unwrap() * sides, epsilon);
                }
            } else {
                assert_eq!(account.rho(), release.rho);
                let delta = parse("1e-6").unwrap();
                Delta::try_from(&delta).unwrap();
                // From the laws that are drawn from, and from the release with the paths that occur.
                let by_release = bypass::worst_path(&concentrated.release(&release).unwrap()).unwrap();
                let pair = [account.delta(parse("3").unwrap(), 8), by_release.delta(parse("3").unwrap(), 8)];
                let [one, two] = pair.map(|answer| answer.unwrap().value);
                assert!(one.overlaps(&two));
            }
            still += u32::from(account_is_that_of_all_records(mechanism, neighbors, &all, is_pure));
        }
    }
    assert!(attained >= 6 && still >= 4, "{attained} {still}");
}

/// The account of the mechanism is that of the worst record, or pair of records, of all that there are: from the counts that change. Whether
/// that is less than the worst path in full.
fn account_is_that_of_all_records(
    mechanism: &MeasurementPlan,
    neighbors: Neighbors,
    all: &[Answers],
    is_pure: bool,
) -> bool {
    let changed = |x: &Answers, y: Option<&Answers>| {
        let mut changed: Vec<Rational> = Vec::new();
        for (at, (counts, law)) in x.iter().enumerate() {
            let moved = counts.iter().enumerate().map(|(k, count)| count - y.map_or(0, |y| y[at].0[k]));
            let number = moved.map(i64::abs).inspect(|d| assert!(*d <= 1)).sum::<i64>() as usize;
            changed.extend(law.iter().flat_map(|law| vec![law.clone(); number]));
        }
        changed.sort();
        changed
    };
    let mut ways: Vec<Vec<Rational>> = all
        .iter()
        .flat_map(|x| match neighbors {
            Neighbors::AddRemove => vec![changed(x, None)],
            Neighbors::Bounded => all.iter().map(|y| changed(x, Some(y))).collect(),
        })
        .collect();
    ways.sort();
    ways.dedup();
    let law = |parameter: Rational| match is_pure {
        true => Law::DiscreteLaplace { epsilon: parameter },
        false => Law::DiscreteGaussian { sigma2: parameter },
    };
    let delta: Delta = "1e-6".parse().unwrap();
    let of_way = |way: Vec<Rational>| {
        let counts = way.into_iter().map(|parameter| Counts::new(law(parameter), 1, 1).unwrap());
        Composition::new(counts).unwrap().epsilon(&delta, 8).unwrap().value
    };
    let each = ways.into_iter().filter(|way| !way.is_empty()).map(of_way);
    let truth = each.reduce(|worst, each| worst.max(&each));
    let found = mechanism.account().unwrap().epsilon(&delta, 8).unwrap();
    assert!(found.reason.is_none());
    let Some(truth) = truth else {
        assert!(mechanism.account().unwrap().is_still() && *found.value.upper() == 0.0);
        return true;
    };
    assert!(found.value.overlaps(&truth) && found.value.is_tight(7), "{:?} {truth:?}", found.value);
    let full = mechanism.worst_path().unwrap().epsilon(&delta, 8).unwrap().value;
    assert!(found.value.lower() <= full.upper());
    found.value.upper() < full.lower()
}

/// The exact answers of every unit from entries.
fn truth(spine: &Spine, group: &QueryGroup, level: usize, unit: usize, entries: &[Entry]) -> Vec<i64> {
    let mut counts = vec![0; group.counts()];
    for entry in entries.iter().filter(|entry| spine.tree.blocks(level, unit).contains(&(entry.place as usize))) {
        counts[group.cell_of[entry.cell as usize] as usize] += entry.count as i64;
    }
    counts
}

/// The sum of squared noise over its variance, and the sum of noise over its deviation, are close to their expectations: with this number
/// of samples the probability of a false alarm at 6 standard deviations is below 10^-8; the seed is fixed.
#[test]
fn the_noise_has_the_declared_variance_and_depends_on_the_seed_alone() {
    let mut numbers = Numbers(83);
    let tree = small_tree(&mut numbers, 14);
    let release = release(&mut numbers, true);
    let spine = Spine::new(tree, shares(&release), Privacy::Concentrated).unwrap();
    let mechanism = MeasurementPlan::of_release(&spine, &release).unwrap();
    let blocks = spine.tree.order().len() as u32;
    let entries: Vec<Entry> = (0..blocks)
        .flat_map(|place| (0..6).map(move |cell| Entry { place, cell, count: u64::from(place * 100 + cell) }))
        .collect();
    let histograms = Histograms::new(entries.clone()).unwrap();
    let draw = |seed: u64, threads: usize| {
        let mut all: Vec<(usize, usize, Vec<u32>, Vec<i64>)> = Vec::new();
        let pool = rayon_pool(threads);
        pool.install(|| {
            let each = |measured: NoisyCounts| Ok((measured.units.to_vec(), measured.values));
            let mut streams = Streams::with_insecure_seed(seed);
            mechanism
                .measure(&histograms, &mut streams, each, |level, query, (units, values)| {
                    all.push((level, query, units, values));
                    Ok(())
                })
                .unwrap();
        });
        all
    };
    assert!(draw(3, 1) == draw(3, 4) && draw(3, 1) != draw(4, 1));
    let (mut squares, mut sum, mut count) = (0.0, 0.0, 0.0);
    let mut variances: std::collections::HashMap<Rational, f64> = Default::default();
    for seed in 0..200 {
        for (level, query, units, values) in draw(seed, 1) {
            let query = &mechanism.levels()[level][query];
            for (unit, noisy) in units.iter().zip(values.chunks(query.group.counts())) {
                let carried = spine.carried(level, *unit as usize);
                assert!(carried > 0, "a unit without a share answers nothing");
                let Some(Law::DiscreteGaussian { sigma2 }) = query.law(carried) else { panic!() };
                let variance = *variances.entry(sigma2.clone()).or_insert_with(|| {
                    let noise = dp_assay::noise::DiscreteGaussian::new(sigma2.clone()).unwrap();
                    noise.variance(10).approximate()
                });
                for (noisy, truth) in noisy.iter().zip(truth(&spine, &query.group, level, *unit as usize, &entries)) {
                    let noise = (noisy - truth) as f64;
                    squares += noise * noise / variance;
                    sum += noise / variance.sqrt();
                    count += 1.0;
                }
            }
        }
    }
    // The kurtosis of a discrete Gaussian is at most about 3.1 at these variances, so the variance of a square is about 2.
    assert!((squares / count - 1.0).abs() < 6.0 * (2.5_f64 / count).sqrt(), "{} of {count}", squares / count);
    assert!((sum / count).abs() < 6.0 / count.sqrt());
}

fn rayon_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}
