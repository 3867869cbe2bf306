//! Every statistic of an audit again from the definition, densely and in exact fractions, on tiny drawn folders. Of the library it uses the
//! audit itself, the reader of rows and interval arithmetic.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
};

use dp_assay::topdown::nmf::{
    audit::{self, Asked, Kind, NmfAudit},
    totals::GivenTotals,
};
use rug::{Float, Integer, Rational, ops::Pow};

use crate::common::{
    Masses, nmf_rows,
    tiny_nmf::{self, AXES, CELLS, LEVELS, Noise, QUERIES, Tiny, Unit, sigma2},
};

/// A law by its masses from -reach to reach.
#[derive(Clone)]
struct Law {
    reach: i64,
    masses: Vec<f64>,
}

impl Law {
    fn single(sigma2: &Rational) -> Law {
        let masses = Masses::new(sigma2);
        Law {
            reach: *masses.at.keys().last().unwrap(),
            masses: masses.at.values().map(|mass| mass.approximate()).collect(),
        }
    }

    fn plus(&self, other: &Law) -> Law {
        let mut masses = vec![0.0; self.masses.len() + other.masses.len() - 1];
        for (a, p) in self.masses.iter().enumerate() {
            other.masses.iter().enumerate().for_each(|(b, q)| masses[a + b] += p * q);
        }
        Law { reach: self.reach + other.reach, masses }
    }

    fn sum(&self, which: impl Fn(i64) -> bool) -> f64 {
        (-self.reach..).zip(&self.masses).filter(|(x, _)| which(*x)).map(|(_, mass)| mass).sum()
    }

    fn mean_of(&self, score: impl Fn(i64) -> f64) -> f64 {
        (-self.reach..).zip(&self.masses).map(|(x, mass)| score(x) * mass).sum()
    }

    fn tail(&self, m: i64) -> f64 {
        if m <= 0 { 1.0 } else { self.sum(|x| x.abs() >= m) }
    }
}

/// Draws of one law, in the order of the files, and pairs of them by their kind.
#[derive(Default)]
struct Group {
    draws: Vec<i64>,
    pairs: HashMap<&'static str, Vec<(i64, i64)>>,
    last: Vec<i64>,
}

/// Level, query, number of carried levels, kind.
type Place = (usize, usize, usize, &'static str);

/// All pure noise of a folder.
struct Dense<'a> {
    tiny: &'a Tiny,
    /// By code of a unit (levels have distinct lengths) and query.
    counts: BTreeMap<(String, usize), Vec<i64>>,
    groups: BTreeMap<Place, Group>,
}

impl<'a> Dense<'a> {
    fn read(tiny: &'a Tiny, folder: &Path) -> Dense<'a> {
        let mut counts = BTreeMap::new();
        for level in LEVELS {
            let mut open = vec![folder.join(format!("{level}.parquet/DPQuery"))];
            while let Some(path) = open.pop() {
                if path.is_dir() {
                    open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
                    continue;
                }
                for row in nmf_rows::read(&path, &AXES) {
                    let query = QUERIES.iter().position(|query| row.name == format!("{}_dpq", query.name)).unwrap();
                    counts.insert((row.code, query), row.values.into_iter().map(i64::from).collect());
                }
            }
        }
        let mut dense = Dense { tiny, counts, groups: BTreeMap::new() };
        dense.gather();
        dense
    }

    fn of(&self, unit: &Unit, query: usize) -> &[i64] {
        &self.counts[&(unit.code.clone(), query)]
    }

    /// The zero counts of a query of a unit. Of the nation upper bounds are not read as zeros: no type is empty there.
    fn zeros(unit: &Unit, query: usize) -> Vec<usize> {
        let counts = if unit.level == 0 { 0 } else { QUERIES[query].counts() };
        (0..counts).filter(|count| unit.is_zero(&QUERIES[query], *count)).collect()
    }

    /// The nation, then part by part the blocks and the part itself.
    fn gather(&mut self) {
        let units = &self.tiny.units;
        let mut parts: Vec<&str> = units.iter().filter(|unit| unit.level == 1).map(|unit| unit.part()).collect();
        parts.sort_unstable();
        let mut levels = vec![units[..1].to_vec()];
        for part in parts {
            for level in [2, 1] {
                levels.push(units.iter().filter(|unit| unit.level == level && unit.part() == part).cloned().collect());
            }
        }
        for level in levels {
            self.groups.values_mut().for_each(|group| group.last.clear());
            level.iter().filter(|unit| unit.carried > 0).for_each(|unit| self.see(unit));
        }
        self.totals();
    }

    fn see(&mut self, unit: &Unit) {
        let mut before: Vec<i64> = Vec::new();
        for query in 0..QUERIES.len() {
            let zeros = Self::zeros(unit, query);
            if zeros.is_empty() {
                continue;
            }
            let own = self.of(unit, query).to_vec();
            let draws: Vec<i64> = zeros.iter().map(|count| own[*count]).collect();
            // The first child with counts, and its draws at the same counts.
            let child = self.tiny.units.iter().find(|other| {
                unit.level == 1
                    && other.level == 2
                    && other.carried > 0
                    && other.part() == unit.part()
                    && !Self::zeros(other, query).is_empty()
            });
            let below: Vec<(i64, i64)> = child.map_or_else(Vec::new, |child| {
                let of_child = self.of(child, query);
                let shared = Self::zeros(child, query).into_iter().filter(|count| zeros.contains(count));
                shared.map(|count| (own[count], of_child[count])).collect()
            });
            // The first count that is not zero of the smallest other query.
            let other = (0..QUERIES.len()).filter(|at| *at != query).min_by_key(|at| QUERIES[*at].counts()).unwrap();
            let free = (0..QUERIES[other].counts()).find(|count| !unit.is_zero(&QUERIES[other], *count));
            let other = free.map(|count| self.of(unit, other)[count]);
            let group = self.groups.entry((unit.level, query, unit.carried, "zeros")).or_default();
            let pairs = &mut group.pairs;
            pairs.entry("neighbors in a row").or_default().extend(draws.windows(2).map(|pair| (pair[0], pair[1])));
            // The same counts of the unit before, if both have the same zeros.
            if group.last.len() == draws.len() {
                pairs.entry("neighboring units").or_default().extend(group.last.iter().copied().zip(draws.clone()));
            }
            pairs.entry("parent and child").or_default().extend(below);
            pairs.entry("other query").or_default().extend(before.iter().copied().zip(draws.clone()));
            pairs.entry("other count").or_default().extend(other.iter().flat_map(|y| draws.iter().map(|x| (*x, *y))));
            group.draws.extend(&draws);
            group.last.clone_from(&draws);
            before = draws;
        }
    }

    /// Sums minus exact totals: of the nation, of state 44 in its rows, and of both parts of state 09.
    fn totals(&mut self) {
        for (query, name) in QUERIES.iter().enumerate() {
            for unit in self.tiny.units.iter().filter(|unit| unit.level == 0 || unit.code == "044") {
                let noise = self.of(unit, query).iter().sum::<i64>() - unit.cells.iter().sum::<i64>();
                self.groups.entry((unit.level, query, unit.carried, "totals")).or_default().draws.push(noise);
            }
            let both: i64 = ["009", "109"].iter().flat_map(|part| &self.counts[&(part.to_string(), query)]).sum();
            let noise = both - self.tiny.total_of_09;
            self.groups.entry((1, query, 0, "state totals")).or_default().draws.push(noise);
            assert!(name.counts() > 0);
        }
    }

    fn law(&self, (level, query, carried, kind): Place) -> Law {
        let single = Law::single(&sigma2(level, carried.max(1), query));
        let copies = match kind {
            "zeros" => 1,
            "totals" => QUERIES[query].counts(),
            _ => 2 * QUERIES[query].counts(),
        };
        (1..copies).fold(single.clone(), |sum, _| sum.plus(&single))
    }
}

/// P[B >= k] of n trials, as an exact fraction of p.
fn at_least(n: usize, k: usize, p: &Rational) -> Rational {
    let miss = Rational::from(1 - p);
    let term = |j: usize| {
        Rational::from(Integer::from(n).binomial(j as u32)) * p.clone().pow(j as u32) * miss.clone().pow((n - j) as u32)
    };
    (k..=n).map(term).sum()
}

/// Twice the tail on the side of k, at most 1.
fn binomial(n: usize, k: usize, p: f64) -> f64 {
    let p = Rational::from_f64(p).unwrap();
    let one = if k as f64 >= n as f64 * p.to_f64() {
        at_least(n, k, &p)
    } else {
        at_least(n, n - k, &Rational::from(1 - &p))
    };
    (2.0 * one.to_f64()).min(1.0)
}

fn deviance(n: usize, k: usize, p: f64) -> f64 {
    let (n, k) = (n as f64, k as f64);
    let part = |k: f64, e: f64| if k > 0.0 { k * (k / e).ln() } else { 0.0 };
    2.0 * (part(k, n * p) + part(n - k, n * (1.0 - p)))
}

/// The tests of a group by name: statistic, and p-value if it is known exactly.
fn expected(group: &Group, law: &Law) -> BTreeMap<String, (f64, Option<f64>)> {
    let (draws, n) = (&group.draws, group.draws.len());
    let many = |which: &dyn Fn(i64) -> bool| draws.iter().filter(|x| which(**x)).count();
    let mut tests: BTreeMap<String, (f64, Option<f64>)> = BTreeMap::new();
    let mut put = |name: &str, statistic: f64, p: Option<f64>| {
        tests.insert(name.to_string(), (statistic, p));
    };
    let std_dev = law.mean_of(|x| (x * x) as f64).sqrt();
    type Score = fn(f64) -> f64;
    let scores: [(&str, Score); 4] = [
        ("mean", |z| z),
        ("variance", |z| z * z),
        ("skewness", |z| z * (z * z - 3.0)),
        ("kurtosis", |z| z * z * (z * z - 6.0) + 3.0),
    ];
    for (name, score) in scores {
        let whole = |x: i64| (score(x as f64 / std_dev) * 65_536.0).round();
        let sum: f64 = draws.iter().map(|x| whole(*x)).sum();
        let (mean, square) = (law.mean_of(whole), law.mean_of(|x| whole(x).powi(2)));
        let z = (sum - n as f64 * mean) / (n as f64 * (square - mean * mean)).sqrt();
        put(name, z, None);
    }
    let (signed, positive) = (many(&|x| x != 0), many(&|x| x > 0));
    put("sign", positive as f64, Some(binomial(signed, positive, 0.5)));
    let even = many(&|x| x % 2 == 0);
    put("parity", even as f64, Some(binomial(n, even, law.sum(|x| x % 2 == 0))));
    let cells: Vec<i64> = (-law.reach..=law.reach).filter(|x| n as f64 * law.sum(|y| y == *x) >= 5.0).collect();
    let of_cell = |x: i64| (many(&|y| y == x), law.sum(|y| y == x));
    let distance = |x: &i64| deviance(n, of_cell(*x).0, of_cell(*x).1);
    match cells.iter().copied().max_by(|a, b| distance(a).total_cmp(&distance(b))) {
        None => put("masses", 0.0, Some(1.0)),
        Some(x) => {
            let (count, mass) = of_cell(x);
            let p = binomial(n, count, mass) * cells.len() as f64;
            put("masses", distance(&x).max(0.0).sqrt(), Some(p.min(1.0)));
        }
    }
    let mut thresholds: Vec<i64> = [10_000.0, 3000.0, 1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0]
        .into_iter()
        .filter(|e| n as f64 >= 2.0 * e)
        .filter_map(|e| (1..=law.reach).rev().find(|m| n as f64 * law.tail(*m) >= e))
        .collect();
    thresholds.dedup();
    let beyond = |m: i64| many(&|x| x.abs() >= m);
    let distance = |m: &i64| deviance(n, beyond(*m), law.tail(*m));
    match thresholds.iter().copied().max_by(|a, b| distance(a).total_cmp(&distance(b))) {
        None => put("tails", 0.0, Some(1.0)),
        Some(m) => {
            let p = binomial(n, beyond(m), law.tail(m)) * thresholds.len() as f64;
            put("tails", beyond(m) as f64, Some(p.min(1.0)));
        }
    }
    let largest = draws.iter().map(|x| x.abs()).max().unwrap();
    let too_large = if largest == 0 { 1.0 } else { n as f64 * law.tail(largest) };
    let too_small = (1.0 - law.tail(largest + 1)).powi(n as i32);
    put("largest", largest as f64, Some((2.0 * too_large.min(too_small)).min(1.0)));
    tests.extend(expected_of_pairs(group));
    tests
}

/// The tests of the pairs of a group.
fn expected_of_pairs(group: &Group) -> BTreeMap<String, (f64, Option<f64>)> {
    let mut tests: BTreeMap<String, (f64, Option<f64>)> = BTreeMap::new();
    let mut put = |name: &str, statistic: f64, p: Option<f64>| {
        tests.insert(name.to_string(), (statistic, p));
    };
    for (name, pairs) in group.pairs.iter().filter(|(_, pairs)| !pairs.is_empty()) {
        let sum: i64 = pairs.iter().map(|(x, y)| x * y).sum();
        let squares: i64 = pairs.iter().map(|(x, y)| x * x * y * y).sum();
        let z = if squares == 0 { 0.0 } else { sum as f64 / (squares as f64).sqrt() };
        put(name, z, Some((2.0 * (-z * z / 2.0).exp()).min(1.0)));
        if *name == "neighbors in a row" {
            let signed = pairs.iter().filter(|(x, y)| x * y != 0).count();
            let agree = pairs.iter().filter(|(x, y)| x * y > 0).count();
            put("signs in a row", agree as f64, Some(binomial(signed, agree, 0.5)));
        }
    }
    tests
}

/// The exact P[sum of n draws >= t] by convolution.
fn tail_of_sum(law: &Law, n: usize, t: i64) -> f64 {
    let all = (1..n).fold(law.clone(), |sum, _| sum.plus(law));
    all.sum(|x| x >= t)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

fn audited(tiny: &Tiny, seed: u64) -> (tempfile::TempDir, NmfAudit) {
    let folder = tempfile::tempdir().unwrap();
    let release = tiny_nmf::release(folder.path());
    let product = folder.path().join("US_TINY");
    tiny.write_constraints(&product);
    let mut noise = Noise::new(seed);
    tiny.write_counts(&product, |unit, query, _| noise.draw(unit, query));
    let totals = folder.path().join("totals.csv");
    fs::write(&totals, format!("state,total\n09,{}\n", tiny.total_of_09)).unwrap();
    let asked = Asked { totals: GivenTotals::read(&totals).unwrap(), ..Asked::default() };
    let found = audit::audit(&product, &release, &asked, &Rational::from((1, 1000))).unwrap();
    (folder, found)
}

/// Draws, moments and every test of the first two kinds of pure noise.
#[test]
fn every_test_of_draws_agrees_with_its_definition() {
    for seed in [1, 2] {
        let tiny = Tiny::usual();
        let (folder, found) = audited(&tiny, seed);
        let mut dense = Dense::read(&tiny, &folder.path().join("US_TINY"));
        let groups = std::mem::take(&mut dense.groups);
        let of_draws = found.sources.iter().filter(|source| source.kind != Kind::Consistency).count();
        assert_eq!(of_draws, groups.len());
        for (place, group) in &groups {
            let (level, query, carried, kind) = *place;
            let name = format!("{} {} x{carried} {kind}", LEVELS[level], QUERIES[query].name);
            let at = found.sources.iter().position(|source| {
                (source.level.as_str(), source.query.as_str()) == (LEVELS[level], QUERIES[query].name)
                    && (source.carried, source.kind.name()) == (carried, kind)
            });
            let at = at.unwrap_or_else(|| panic!("{name}: not among the sources"));
            let (source, law) = (&found.sources[at], dense.law(*place));
            let shown = source.shown.as_ref().unwrap_or_else(|| panic!("{name}: no enumerated law"));
            // Mean and variance as exact fractions.
            let n = Rational::from(group.draws.len() as u64);
            let moment = |k: u32| Rational::from(group.draws.iter().map(|x| x.pow(k)).sum::<i64>()) / &n;
            let variance = moment(2) - moment(1).square();
            assert_eq!(shown.draws as usize, group.draws.len(), "{name}");
            assert!(
                close(shown.moments[0], moment(1).to_f64()) && close(shown.moments[1], variance.to_f64()),
                "{name}"
            );
            assert!(close(shown.variance, law.mean_of(|x| (x * x) as f64)), "{name}");
            let expected = expected(group, &law);
            let tests: Vec<_> = found.tests.iter().filter(|test| test.source == at).map(|test| &test.test).collect();
            assert_eq!(tests.len(), expected.len(), "{name}: {:?}", expected.keys());
            for test in tests {
                let (statistic, p) = expected[test.name];
                assert!(close(test.statistic, statistic), "{name} {}: {} {statistic}", test.name, test.statistic);
                let stated = test.p.value().to_f64();
                if let Some(p) = p {
                    assert!(stated >= p * (1.0 - 1e-9), "{name} {}: {stated} below {p}", test.name);
                    assert!(stated <= p * 1.01, "{name} {}: {stated} far above {p}", test.name);
                }
                if test.name == "mean" && group.draws.len() <= 120 {
                    // Scores are within one half of a multiple of the draws.
                    let (n, sum) = (group.draws.len(), group.draws.iter().sum::<i64>());
                    let slack = n as f64 * shown.variance.sqrt() / 65_536.0;
                    let at_least = (sum.abs() as f64 + slack).ceil() as i64;
                    assert!(stated >= (2.0 * tail_of_sum(&law, n, at_least)).min(1.0) * (1.0 - 1e-9), "{name}");
                    let below = 2.0 * tail_of_sum(&law, n, (sum.abs() as f64 - slack).floor() as i64);
                    assert!(stated <= 30.0 * below, "{name}: {stated} {below}");
                }
            }
        }
    }
}

/// The least sum of (y - A x)^2 / v over x, in exact fractions, by the normal equations.
fn least_squares(counts: &[Vec<i64>], variances: &[Rational]) -> Rational {
    let zero = || vec![Rational::new(); CELLS + 1];
    let mut rows: Vec<Vec<Rational>> = (0..CELLS).map(|_| zero()).collect();
    let mut squares = Rational::new();
    for ((query, own), variance) in QUERIES.iter().zip(counts).zip(variances) {
        for (count, y) in own.iter().enumerate() {
            let weight = Rational::from(variance.recip_ref());
            squares += Rational::from(y * y) * &weight;
            let cells: Vec<usize> = (0..CELLS).filter(|cell| query.count_of[*cell] == count).collect();
            for a in &cells {
                cells.iter().for_each(|b| rows[*a][*b] += &weight);
                rows[*a][CELLS] += Rational::from(*y) * &weight;
            }
        }
    }
    let right: Vec<Rational> = rows.iter().map(|row| row[CELLS].clone()).collect();
    for pivot in 0..CELLS {
        let own = rows[pivot].clone();
        for (at, row) in rows.iter_mut().enumerate() {
            if at != pivot {
                let factor = Rational::from(&row[pivot] / &own[pivot]);
                row.iter_mut().zip(&own).for_each(|(to, from)| *to -= Rational::from(from * &factor));
            }
        }
    }
    let fitted: Rational = (0..CELLS).map(|at| Rational::from(&rows[at][CELLS] / &rows[at][at]) * &right[at]).sum();
    squares - fitted
}

/// By level and query: degrees of freedom, the sum over variances, and the sum over parameters.
type QuadraticForms = BTreeMap<(usize, String), (u64, f64, f64)>;

fn quadratic_forms(tiny: &Tiny, dense: &Dense) -> QuadraticForms {
    let variance = |level: usize, carried: usize, query: usize| {
        Law::single(&sigma2(level, carried, query)).mean_of(|x| (x * x) as f64)
    };
    let mut rows: QuadraticForms = BTreeMap::new();
    let mut put = |level: usize, query: &str, freedom: u64, statistic: f64, bounded: f64| {
        let row = rows.entry((level, query.to_string())).or_default();
        *row = (row.0 + freedom, row.1 + statistic, row.2 + bounded);
    };
    for parent in tiny.units.iter().filter(|unit| unit.level < 2) {
        let below = |unit: &&Unit| unit.level == parent.level + 1 && unit.code.starts_with(&parent.code);
        let children: Vec<&Unit> = tiny.units.iter().filter(below).collect();
        if children.iter().any(|child| child.carried == 0) {
            continue;
        }
        for (at, query) in QUERIES.iter().enumerate() {
            let all = || children.iter().copied().chain([parent]);
            let noise: f64 = all().map(|unit| variance(unit.level, unit.carried, at)).sum();
            let proxy: f64 = all().map(|unit| sigma2(unit.level, unit.carried, at).to_f64()).sum();
            for count in 0..query.counts() {
                let sum: i64 = children.iter().map(|child| dense.of(child, at)[count]).sum();
                let residual = (sum - dense.of(parent, at)[count]) as f64;
                put(parent.level, query.name, 1, residual.powi(2) / noise, residual.powi(2) / proxy);
            }
        }
    }
    // Exact totals by the query with the least noise, `total`: of the nation from its states, and of state 44.
    for unit in tiny.units.iter().filter(|unit| unit.level == 0 || unit.code == "044") {
        let states: Vec<&Unit> =
            tiny.units.iter().filter(|other| other.level == 1 && other.code.starts_with(&unit.code)).collect();
        let sum: i64 = states.iter().map(|state| dense.of(state, 0)[0]).sum();
        let residual = (sum - unit.cells.iter().sum::<i64>()) as f64;
        let noise: f64 = states.iter().map(|state| variance(1, state.carried, 0)).sum();
        let proxy: f64 = states.iter().map(|state| sigma2(1, state.carried, 0).to_f64()).sum();
        put(unit.level, "exact total", 1, residual.powi(2) / noise, residual.powi(2) / proxy);
    }
    for unit in tiny.units.iter().filter(|unit| unit.carried > 0) {
        let noise: Vec<f64> = (0..QUERIES.len()).map(|query| variance(unit.level, unit.carried, query)).collect();
        // Weights are those of the variances as floats.
        let stored: Vec<Rational> = noise.iter().map(|noise| Rational::from_f32(*noise as f32).unwrap()).collect();
        let counts: Vec<Vec<i64>> = (0..QUERIES.len()).map(|query| dense.of(unit, query).to_vec()).collect();
        let ratio = stored
            .iter()
            .enumerate()
            .map(|(query, stored)| Rational::from(&sigma2(unit.level, unit.carried, query) / stored).to_f64());
        let statistic = least_squares(&counts, &stored).to_f64();
        let all: usize = QUERIES.iter().map(|query| query.counts()).sum();
        put(unit.level, "least squares", (all - CELLS) as u64, statistic, statistic / ratio.fold(0.0, f64::max));
    }
    rows
}

/// The third kind: residuals of children and parents, of exact totals, and least squares within units.
#[test]
fn every_quadratic_form_agrees_with_its_definition() {
    let tiny = Tiny::usual();
    let (folder, found) = audited(&tiny, 3);
    let dense = Dense::read(&tiny, &folder.path().join("US_TINY"));
    let rows = quadratic_forms(&tiny, &dense);
    let fit = &found.report.fit[0];
    assert_eq!(fit.rows.len(), rows.len());
    for ((level, query), (freedom, statistic, bounded)) in rows {
        let row = fit.rows.iter().find(|row| row.level == LEVELS[level] && row.query == query).unwrap();
        let name = format!("{} {query}", LEVELS[level]);
        assert_eq!(row.residuals, freedom, "{name}");
        assert!(close(row.chi_square, statistic), "{name}: {} {statistic}", row.chi_square);
        let ratio = bounded / freedom as f64;
        let bound = if ratio > 1.0 { -(freedom as f64 / 2.0) * (ratio - 1.0 - ratio.ln()) } else { 0.0 };
        assert!(row.ln_p >= bound && row.ln_p - bound < 1e-4 * (1.0 + bound.abs()), "{name}: {} {bound}", row.ln_p);
        // The same statistic is among the tests of the audit.
        let test = found.tests.iter().find(|test| {
            let source = &found.sources[test.source];
            source.kind == Kind::Consistency && source.level == LEVELS[level] && source.query == query
        });
        assert!(close(test.unwrap().test.statistic, statistic / freedom as f64), "{name}");
    }
    assert_eq!(fit.within.iter().map(|row| row.residuals).sum::<u64>(), 8 * (1 + 3 + 14));
}

/// Least squares within units find one changed count of a unit that has no children and no siblings to compare it with.
#[test]
fn a_changed_count_of_a_unit_is_found_by_its_other_queries() {
    let tiny = Tiny::new(&[("044", 1)]);
    let folder = tempfile::tempdir().unwrap();
    let release = tiny_nmf::release(folder.path());
    let product = folder.path().join("US_TINY");
    tiny.write_constraints(&product);
    let mut noise = Noise::new(8);
    tiny.write_counts(&product, |unit, query, count| {
        noise.draw(unit, query) + if unit.level == 1 && (query, count) == (4, 0) { 60 } else { 0 }
    });
    let found = audit::audit(&product, &release, &Asked::default(), &Rational::from((1, 1000))).unwrap();
    let rejected = found.verdict.rejected.iter().map(|at| &found.tests[*at]);
    let names: Vec<String> = rejected.map(|test| found.sources[test.source].query.clone()).collect();
    assert!(names.contains(&"least squares".to_string()), "{names:?}");
    // The bound is no less than the tail of the chi-square law, which normal noise would have.
    for row in found.report.fit.iter().flat_map(|fit| &fit.rows) {
        let half = Float::with_val(100, row.residuals) / 2_u32;
        let tail = half.clone().gamma_inc(&Float::with_val(100, row.chi_square / 2.0)) / half.gamma();
        assert!(row.ln_p.exp() >= tail.to_f64() * 0.999, "{} {}", row.level, row.query);
    }
}
