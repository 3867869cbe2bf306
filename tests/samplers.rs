//! The samplers have the exact law: compared with certified masses, tails and moments, and with the random words that they use.
//!
//! Every run has a fixed seed, so a test that passes always passes. `ALARM` is the probability with which a test of a correct sampler would
//! fail for a random seed; there are about 60 statistics in this file.

use std::sync::Arc;

use dp_assay::{
    law::{Law, NoiseTable},
    noise::{DiscreteGaussian, DiscreteLaplace, Distribution, Sampler, Source, Streams},
    numeric::Enclosure,
};
use rug::{Float, Rational};

use crate::common::numbers::number;

const ALARM: f64 = 1e-6;
const SAMPLES: usize = 1 << 20;

fn gaussian(sigma2: &str) -> DiscreteGaussian {
    DiscreteGaussian::new(number(sigma2)).unwrap()
}

fn laplace(epsilon: &str) -> DiscreteLaplace {
    DiscreteLaplace::new(number(epsilon)).unwrap()
}

fn drawn(sampler: &Sampler, count: usize, seed: u64) -> Vec<i64> {
    let mut out = vec![0; count];
    Streams::with_insecure_seed(seed).fill(sampler, &mut out);
    out
}

/// P[chi-square with `freedom` degrees >= statistic], by the finite sum for the upper incomplete gamma function at half integers: with y =
/// statistic / 2, the sum over j < freedom / 2 of exp(-y) y^j / Gamma(j + 1), where j runs over integers, or over half-integers after the
/// term erfc(sqrt(y)).
fn chi_square_tail(statistic: f64, freedom: usize) -> f64 {
    let y = statistic / 2.0;
    let (mut sum, mut j, mut term) = match freedom % 2 {
        0 => (0.0, 0.0, (-y).exp()),
        _ => {
            let erfc = Float::with_val(64, y.sqrt()).erfc().to_f64();
            (erfc, 0.5, (-y).exp() * 2.0 * (y / std::f64::consts::PI).sqrt())
        }
    };
    while j < freedom as f64 / 2.0 - 0.25 {
        sum += term;
        j += 1.0;
        term *= y / j;
    }
    sum
}

#[test]
fn the_chi_square_tail_is_the_tabulated_one() {
    // The 5 % and 0.1 % points, as in every table.
    for (freedom, point, p) in
        [(1, 3.841, 0.05), (2, 5.991, 0.05), (5, 20.515, 0.001), (10, 18.307, 0.05), (100, 149.449, 0.001)]
    {
        let tail = chi_square_tail(point, freedom);
        assert!((tail / p - 1.0).abs() < 2e-3, "{freedom}: {tail}");
    }
}

/// The probability of a statistic at least as large as that of these counts, if each cell has its share.
fn chi_square(observed: &[u64], shares: &[f64]) -> f64 {
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "shares sum to one");
    let total = observed.iter().sum::<u64>() as f64;
    let term = |(&count, share): (&u64, &f64)| (count as f64 - total * share).powi(2) / (total * share);
    let statistic: f64 = observed.iter().zip(shares).map(term).sum();
    chi_square_tail(statistic, shares.len() - 1)
}

/// The number of samples in each of the cells (..., e0], (e0, e1], ..., (en, ...).
fn counted(samples: &[i64], edges: &[i64]) -> Vec<u64> {
    let mut counts = vec![0; edges.len() + 1];
    for x in samples {
        counts[edges.partition_point(|edge| edge < x)] += 1;
    }
    counts
}

/// At most 36 cells with their certified shares: of equal share or, if the law is narrow, of one value.
fn cells(quantile: impl Fn(&Rational) -> i64, cdf: impl Fn(i64) -> Enclosure) -> (Vec<i64>, Vec<f64>) {
    let mut edges: Vec<i64> = (1..32).map(|k| quantile(&Rational::from((k, 32)))).collect();
    // Separate tails, down to shares that a million samples hit a hundred times.
    edges.extend(["0.0001", "0.001", "0.999", "0.9999"].map(|p| quantile(&number(p))));
    edges.sort_unstable();
    edges.dedup();
    let below: Vec<f64> = edges.iter().map(|&edge| cdf(edge).approximate()).collect();
    let starts = [0.0].into_iter().chain(below.iter().copied());
    let shares = starts.zip(below.iter().copied().chain([1.0])).map(|(start, end)| end - start).collect();
    (edges, shares)
}

fn gaussian_cells(noise: &DiscreteGaussian) -> (Vec<i64>, Vec<f64>) {
    cells(|p| noise.quantile(p).unwrap(), |x| noise.cdf(x, 15).unwrap())
}

fn laplace_cells(noise: &DiscreteLaplace) -> (Vec<i64>, Vec<f64>) {
    cells(|p| noise.quantile(p).unwrap(), |x| noise.cdf(x, 15))
}

/// Whether sup over the edges of |F_n - F| is within the bound of Dvoretzky, Kiefer, Wolfowitz and Massart: for any law it exceeds
/// sqrt(ln(2 / ALARM) / (2 n)) with probability at most ALARM.
fn kolmogorov(samples: &[i64], edges: &[i64], shares: &[f64]) -> bool {
    let total = samples.len() as f64;
    let (mut seen, mut truth, mut largest) = (0.0, 0.0, 0.0_f64);
    for (count, share) in counted(samples, edges).iter().zip(shares) {
        seen += *count as f64 / total;
        truth += share;
        largest = largest.max((seen - truth).abs());
    }
    largest <= ((2.0 / ALARM).ln() / (2.0 * total)).sqrt()
}

const GAUSSIANS: [&str; 9] = ["0.02", "0.3", "1", "5", "456.62", "1e4", "1e6", "104e9/4099", "1e18"];
const LAPLACES: [&str; 6] = ["3", "1", "1/7", "0.01", "1e-3", "1e-6"];

#[test]
fn gaussian_samples_pass_chi_square_and_kolmogorov() {
    for (seed, sigma2) in GAUSSIANS.iter().enumerate() {
        let noise = gaussian(sigma2);
        let samples = drawn(&noise.sampler().unwrap(), SAMPLES, seed as u64);
        let (edges, shares) = gaussian_cells(&noise);
        let p = chi_square(&counted(&samples, &edges), &shares);
        assert!(p > ALARM, "{sigma2}: {p}");
        assert!(kolmogorov(&samples, &edges, &shares), "{sigma2}");
    }
}

#[test]
fn laplace_samples_pass_chi_square_and_kolmogorov() {
    for (seed, epsilon) in LAPLACES.iter().enumerate() {
        let noise = laplace(epsilon);
        let samples = drawn(&noise.sampler().unwrap(), SAMPLES, 100 + seed as u64);
        let (edges, shares) = laplace_cells(&noise);
        let p = chi_square(&counted(&samples, &edges), &shares);
        assert!(p > ALARM, "{epsilon}: {p}");
        assert!(kolmogorov(&samples, &edges, &shares), "{epsilon}");
    }
}

/// Noise on finitely many integers: truncated laws narrower and wider than their bound, and tables of which one is far from symmetric.
#[test]
fn bounded_samples_pass_chi_square_and_kolmogorov() {
    let truncated = |sigma2: &str, bound| Law::TruncatedGaussian { sigma2: number(sigma2), bound };
    let laplace = |epsilon: &str, bound| Law::TruncatedLaplace { epsilon: number(epsilon), bound };
    let table = |rows: &[(i64, &str)]| {
        Law::Table(Arc::new(NoiseTable::new("rows", rows.iter().map(|(x, mass)| (*x, number(mass)))).unwrap()))
    };
    let laws = [
        truncated("5", 2),
        truncated("5", 100_000),
        truncated("1e6", 50),
        truncated("9e6", 9_000),
        laplace("1/2", 3),
        laplace("1e-6", 9),
        laplace("1/300", 30_000),
        table(&[(-2, "1/20"), (-1, "1/5"), (0, "1/2"), (1, "1/5"), (2, "1/20")]),
        table(&[(-1_000_000_000, "1/7"), (5, "5/7"), (6, "0.1"), (7, "3/70")]),
    ];
    for (seed, law) in laws.into_iter().enumerate() {
        let (noise, sampler) = (Distribution::of_law(&law).unwrap(), Sampler::new(law.clone()).unwrap());
        let samples = drawn(&sampler, SAMPLES, 400 + seed as u64);
        let (mut edges, mut shares) = cells(|p| noise.quantile(p).unwrap(), |x| noise.cdf(x, 15).unwrap());
        // No sample is beyond the last value: a cell for it would have no share.
        if shares.last() == Some(&0.0) {
            shares.pop();
            let last = edges.pop().unwrap();
            assert!(samples.iter().all(|x| *x <= last), "{law}");
        }
        let p = chi_square(&counted(&samples, &edges), &shares);
        assert!(p > ALARM, "{law}: {p}");
        assert!(kolmogorov(&samples, &edges, &shares), "{law}");
        let mut single = Streams::with_insecure_seed(7).take();
        assert!((0..100).all(|_| *noise.mass(sampler.sample(&mut single), 5).lower() > 0), "{law}");
    }
}

/// A truncated law with a bound that is never reached is the law itself, sample for sample.
#[test]
fn a_bound_far_away_changes_no_sample() {
    let sigma2 = number("5");
    let samplers = [
        Sampler::new(Law::TruncatedGaussian { sigma2: sigma2.clone(), bound: 1000 }).unwrap(),
        Sampler::discrete_gaussian(sigma2).unwrap(),
    ];
    let [bounded, free] = samplers.map(|sampler| drawn(&sampler, SAMPLES, 11));
    assert_eq!(bounded, free);
}

#[test]
fn randomized_response_gives_each_answer_its_share() {
    for (epsilon, answers) in [("1", 2_u64), ("2", 5), ("1/100", 3), ("30", 2)] {
        let sampler = Sampler::new(Law::RandomizedResponse { epsilon: number(epsilon), answers }).unwrap();
        let mut given: Vec<i64> = (0..SAMPLES as i64).map(|row| row % answers as i64).collect();
        Streams::with_insecure_seed(answers).add_noise(&sampler, &mut given).unwrap();
        let mut differences = vec![0; answers as usize];
        for (row, answer) in given.iter().enumerate() {
            let truth = row as i64 % answers as i64;
            differences[(answer - truth).rem_euclid(answers as i64) as usize] += 1;
        }
        let odds = number(epsilon).to_f64().exp();
        let share = |at: usize| if at == 0 { odds } else { 1.0 } / (odds + answers as f64 - 1.0);
        let shares: Vec<f64> = (0..answers as usize).map(share).collect();
        match epsilon {
            // Of a million answers 10^-7 would be another one.
            "30" => assert_eq!(differences, [SAMPLES as u64, 0]),
            _ => assert!(chi_square(&differences, &shares) > ALARM, "{epsilon}:{answers}"),
        }
    }
    let sampler = Sampler::new(Law::RandomizedResponse { epsilon: number("1"), answers: 3 }).unwrap();
    for wrong in [3, -1, i64::MIN, i64::MAX] {
        let mut counts = vec![0, wrong];
        let message = Streams::with_insecure_seed(1).add_noise(&sampler, &mut counts).unwrap_err().to_string();
        assert!(message.contains("from 0 to 2") && counts == [0, wrong], "{message}");
    }
}

/// Mean and variance within 4.9 standard errors of the certified ones: two-sided, 10^-6 each.
#[test]
fn moments_are_the_certified_ones() {
    let check = |samples: &[i64], variance: f64, fourth: f64, name: &str| {
        let n = samples.len() as f64;
        let mean = samples.iter().map(|&x| x as f64).sum::<f64>() / n;
        let square = samples.iter().map(|&x| (x as f64).powi(2)).sum::<f64>() / n;
        assert!(mean.abs() < 4.9 * (variance / n).sqrt(), "{name}: mean {mean}");
        let error = ((fourth - variance * variance) / n).sqrt();
        assert!((square - variance).abs() < 4.9 * error, "{name}: variance {square}, not {variance}");
    };
    for (seed, sigma2) in GAUSSIANS.iter().enumerate().skip(1) {
        let noise = gaussian(sigma2);
        let variance = noise.variance(15).approximate();
        // 3 Var^2 is too small for the fourth moment at small sigma2, so the moment is summed there.
        let fourth = match number(sigma2) < 10 {
            true => (1..60).map(|x| 2.0 * f64::from(x).powi(4) * noise.mass(x.into(), 15).approximate()).sum(),
            false => 3.0 * variance * variance,
        };
        check(&drawn(&noise.sampler().unwrap(), SAMPLES, 200 + seed as u64), variance, fourth, sigma2);
    }
    for (seed, epsilon) in LAPLACES.iter().enumerate() {
        let noise = laplace(epsilon);
        let variance = noise.variance(15).approximate();
        let p = (-number(epsilon).to_f64()).exp();
        // The fourth moment of the two-sided geometric law: 2 p (p^2 + 10 p + 1) / (1 - p)^4.
        let fourth = 2.0 * p * (p * p + 10.0 * p + 1.0) / (1.0 - p).powi(4);
        check(&drawn(&noise.sampler().unwrap(), SAMPLES, 300 + seed as u64), variance, fourth, epsilon);
    }
}

/// The benefit of an exact sampler: a rounded continuous Gaussian fails the same test with the same number of samples.
#[test]
fn a_rounded_gaussian_would_fail() {
    for sigma2 in ["0.3", "1", "5"] {
        let noise = gaussian(sigma2);
        let (edges, shares) = gaussian_cells(&noise);
        let sigma = number(sigma2).to_f64().sqrt();
        let mut source = Streams::with_insecure_seed(400).take();
        let mut uniform = || (f64::from(source.word()) + 0.5) / 2_f64.powi(32);
        let rounded: Vec<i64> = (0..SAMPLES)
            .map(|_| {
                let (u, v) = (uniform(), uniform());
                (sigma * (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()).round() as i64
            })
            .collect();
        let p = chi_square(&counted(&rounded, &edges), &shares);
        assert!(p < ALARM, "{sigma2}: the rounded Gaussian passes with {p}");
        let exact = drawn(&noise.sampler().unwrap(), SAMPLES, 400);
        assert!(chi_square(&counted(&exact, &edges), &shares) > ALARM);
    }
}

/// Every sample is the inverse of its word: with V in [v, v + 1) / 2^31, the digits without the sign, P[|X| > x] <= V < P[|X| > x - 1] for
/// the certified tails. The words are read from a copy of the stream.
#[test]
fn every_sample_is_the_inverse_of_its_word() {
    for (sigma2, step) in [("0.3", 1), ("5", 1), ("456.62", 1), ("104e6/4099", 7), ("1e6", 7)] {
        let noise = gaussian(sigma2);
        let sampler = noise.sampler().unwrap();
        assert_eq!(sampler.method(), "inversion of a table");
        let source = || Streams::with_insecure_seed(500).take();
        let (mut out, mut words) = ([0; 1024], [0; 1024]);
        sampler.fill(&mut out, &mut source());
        source().words(&mut words);
        for (&x, &word) in out.iter().zip(&words).step_by(step) {
            assert!(x == 0 || (x < 0) == (word >> 31 == 1));
            let beyond = |m: i64| noise.survival(m + 1, 20).unwrap();
            let digits = word & 0x7fff_ffff;
            // P[X > x] = P[|X| > x] / 2, in units of 2^-32.
            let units = |tail: &Float| tail.to_rational().unwrap() << 32_u32;
            assert!(units(beyond(x.abs()).lower()) <= digits + 1, "{sigma2} {x} {word}");
            assert!(x == 0 || units(beyond(x.abs() - 1).upper()) >= digits, "{sigma2} {x} {word}");
        }
    }
}

/// Wide laws are drawn block by block: within a block all places are equally likely, up to differences below 10^-9.
#[test]
fn places_within_a_block_are_uniform() {
    let sampler = gaussian("1e12").sampler().unwrap();
    assert_eq!(sampler.method(), "rejection from blocks");
    let samples = drawn(&sampler, SAMPLES, 600);
    for modulus in [2_i64, 64, 2048, 4096] {
        let cells = modulus.min(64);
        let mut counts = vec![0; cells as usize];
        samples.iter().for_each(|x| counts[(x.rem_euclid(modulus) * cells / modulus) as usize] += 1);
        let shares = vec![1.0 / counts.len() as f64; counts.len()];
        let p = chi_square(&counts, &shares);
        assert!(p > ALARM, "{modulus}: {p}");
    }
}

/// Neighboring streams of one key, and samples 2^16 apart in one call: pairs have the product of their laws.
#[test]
fn streams_are_independent() {
    let noise = gaussian("5");
    let sampler = noise.sampler().unwrap();
    let edges = [-4, -2, -1, 0, 1, 3];
    let ends: Vec<f64> = edges.iter().map(|&x| noise.cdf(x, 15).unwrap().approximate()).collect();
    let starts = [0.0].into_iter().chain(ends.iter().copied());
    let single: Vec<f64> = starts.zip(ends.iter().copied().chain([1.0])).map(|(start, end)| end - start).collect();
    let shares: Vec<f64> = single.iter().flat_map(|p| single.iter().map(move |q| p * q)).collect();
    let cell = |x: i64| edges.partition_point(|&edge| edge < x);
    let check = |pairs: &mut dyn Iterator<Item = (i64, i64)>, what: &str| {
        let mut counts = vec![0; shares.len()];
        pairs.for_each(|(x, y)| counts[cell(x) * single.len() + cell(y)] += 1);
        let p = chi_square(&counts, &shares);
        assert!(p > ALARM, "{what}: {p}");
    };
    let samples = drawn(&sampler, SAMPLES, 700);
    let ahead = |by: usize| samples.iter().copied().zip(samples.iter().copied().skip(by));
    for by in [1, 2, 1024, 1 << 16, 1 << 17] {
        check(&mut ahead(by), &format!("samples {by} apart"));
    }
    let mut streams = Streams::with_insecure_seed(700);
    let mut sources: Vec<Source> = (0..16).map(|_| streams.take()).collect();
    let mut rows = Vec::new();
    for source in &mut sources {
        let mut row = vec![0; SAMPLES / 16];
        sampler.fill(&mut row, source);
        rows.push(row);
    }
    let neighbors = rows.windows(2).flat_map(|pair| pair[0].iter().copied().zip(pair[1].iter().copied()));
    check(&mut neighbors.collect::<Vec<_>>().into_iter(), "neighboring streams");
    // And two seeds that differ by one.
    let other = drawn(&sampler, SAMPLES, 701);
    check(&mut samples.iter().copied().zip(other), "neighboring seeds");
}

/// Single samples use the words in another order, with the same law.
#[test]
fn single_samples_have_the_law() {
    for sigma2 in ["5", "456.62", "1e10"] {
        let noise = gaussian(sigma2);
        let sampler = noise.sampler().unwrap();
        let mut source = Streams::with_insecure_seed(800).take();
        let samples: Vec<i64> = (0..SAMPLES / 4).map(|_| sampler.sample(&mut source)).collect();
        let (edges, shares) = gaussian_cells(&noise);
        assert!(chi_square(&counted(&samples, &edges), &shares) > ALARM, "{sigma2}");
    }
}

/// Integer arithmetic and little-endian words throughout: these values are the same on every platform. Each follows from the words of
/// ChaCha20 by the tests above; this test only fixes them.
#[test]
fn samples_do_not_depend_on_the_platform() {
    let first = |sampler: Sampler| drawn(&sampler, 1 << 17, 2020)[..8].to_vec();
    let last = |sampler: Sampler| drawn(&sampler, 1 << 17, 2020)[(1 << 17) - 4..].to_vec();
    assert_eq!(first(gaussian("5").sampler().unwrap()), GOLDEN_5);
    assert_eq!(first(gaussian("1e12").sampler().unwrap()), GOLDEN_WIDE);
    assert_eq!(first(laplace("1/7").sampler().unwrap()), GOLDEN_LAPLACE);
    assert_eq!(last(gaussian("456.62").sampler().unwrap()), GOLDEN_LAST);
}

const GOLDEN_5: [i64; 8] = [-2, -2, 0, -1, -2, -1, 3, 1];
const GOLDEN_WIDE: [i64; 8] = [-812_441, -261_504, 1_501_736, -679_007, -678_045, 296_495, -501_145, 593_384];
const GOLDEN_LAPLACE: [i64; 8] = [-6, -6, -1, -2, -7, -3, 14, 4];
const GOLDEN_LAST: [i64; 4] = [32, -10, 47, -38];
