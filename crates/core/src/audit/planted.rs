//! Planted faults, and clean draws: the share of alarms agrees with the stated power and rate.

use rayon::prelude::*;
use rug::Rational;

use super::{
    battery::{Audited, Tested},
    interval::Interval,
    power::{Fault, Level, SIZED, draws_approx, smallest_approx},
    proven::ProvenP,
    tally::{Stream, Tally},
    verdict::Verdict,
};
use crate::{
    law::Law,
    loss::testing::law,
    noise::{DiscreteGaussian, DiscreteLaplace, Source, Streams},
    numeric::{Enclosure, rational::parse},
};

fn gaussian(sigma2: &str) -> Audited {
    Audited::of_law(&law(sigma2)).unwrap()
}

fn uniform(source: &mut Source) -> f64 {
    (f64::from(source.word()) + 0.5) / 4_294_967_296.0
}

fn normal(source: &mut Source) -> f64 {
    (-2.0 * uniform(source).ln()).sqrt() * (std::f64::consts::TAU * uniform(source)).cos()
}

/// A binomial number: by inversion if few events are expected, else by the normal law, which differs little from it.
fn binomial(n: u64, p: f64, source: &mut Source) -> u64 {
    if p > 0.5 {
        return n - binomial(n, 1.0 - p, source);
    }
    let mean = n as f64 * p;
    if mean > 200.0 {
        return (mean + (mean * (1.0 - p)).sqrt() * normal(source)).round().clamp(0.0, n as f64) as u64;
    }
    let (mut k, mut mass, mut left) = (0, (n as f64 * (-p).ln_1p()).exp(), uniform(source));
    while left > mass && k < n {
        left -= mass;
        mass *= (n - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
        k += 1;
    }
    k
}

/// The histogram of draws with these masses at -reach, ..., reach.
fn histogram(draws: u64, reach: i64, masses: &[f64], source: &mut Source) -> Tally {
    let mut tally = Tally::new(reach);
    let (mut left, mut rest) = (draws, masses.iter().sum::<f64>());
    for (x, mass) in (-reach..=reach).zip(masses) {
        let many = if rest > 0.0 { binomial(left, (mass / rest).clamp(0.0, 1.0), source) } else { 0 };
        tally.add_many(x, many);
        left -= many;
        rest -= mass;
    }
    tally
}

fn alarm(tested: &Tested, rate: &Rational) -> bool {
    let ps: Vec<ProvenP> = tested.tests.iter().map(|test| test.p).collect();
    Verdict::new(&ps, rate).deviates()
}

/// The share of histograms with a fault that the audit finds.
fn share(law: &Audited, masses: &[f64], draws: u64, trials: u64, rate: &Rational) -> f64 {
    let found = (0..trials).into_par_iter().filter(|trial| {
        let mut source = Streams::with_insecure_seed(1000 + trial).take();
        alarm(&law.tests(&histogram(draws, law.law.reach(), masses, &mut source)), rate)
    });
    found.count() as f64 / trials as f64
}

/// Faults are found with the number of draws that the power names, and half as many find the stated share.
#[test]
fn faults_are_found_with_the_stated_power() {
    let rate = Rational::from((1, 100));
    let level = Level { rate: 0.01, tests: 9 };
    let trials = 30;
    for (sigma2, fault, about) in [
        ("5", Fault::Parameter(0.001), 1e8),
        ("5", Fault::Parameter(-0.01), 1e6),
        ("5", Fault::Rounded, 3e5),
        ("5", Fault::Even(0.001), 7e7),
        ("5", Fault::Cut(6.0), 5e9),
        ("0.6", Fault::Parameter(0.01), 1e6),
        ("5", Fault::Shift(0.001), 3e7),
        ("5", Fault::Positive, 30.0),
        ("5", Fault::Clipped, 30.0),
        // The noise of a level with half the budget.
        ("5", Fault::Parameter(1.0), 250.0),
        ("2000", Fault::Parameter(0.01), 1e6),
    ] {
        let law = gaussian(sigma2);
        let draws = draws_approx(&law, fault, 0.99, level).unwrap();
        assert!((0.3..3.0).contains(&(draws as f64 / about)), "{sigma2} {fault:?}: {draws}");
        let masses = fault.masses_for_tests(&law);
        let found = share(&law, &masses, draws, trials, &rate);
        assert!(found >= 0.9, "{sigma2} {fault:?} with {draws}: {found}");
        let stated = fault.power_approx(&law, draws / 2, level).power;
        let found = share(&law, &masses, draws / 2, trials, &rate);
        // Other tests than the best one add to the share; four standard deviations of 30 trials.
        let noise = 4.0 * (stated.clamp(0.05, 0.95) * (1.0 - stated.clamp(0.05, 0.95)) / trials as f64).sqrt();
        // Of a handful of draws the normal approximation states too little.
        let most = if draws < 1000 { 1.0 } else { stated + noise + 0.15 };
        assert!(found >= stated - noise && found <= most, "{sigma2} {fault:?} half: {found}, {stated}");
    }
}

/// True counts that leak: neighbors are correlated, with the declared law of each draw. Half as many draws find the stated share.
#[test]
fn correlated_draws_are_found_with_the_stated_power() {
    let (law, rate, level) = (gaussian("400"), Rational::from((1, 100)), Level { rate: 0.01, tests: 16 });
    let fault = Fault::Correlated(0.2);
    let draws = draws_approx(&law, fault, 0.99, level).unwrap();
    assert!((600..1800).contains(&draws), "{draws}");
    let trials = 40;
    let found = |draws: u64| {
        let found = (0..trials).into_par_iter().filter(|trial| {
            let mut source = Streams::with_insecure_seed(500 + trial).take();
            let mut stream = Stream::new(&law.law, [3, 4]);
            let mut at = normal(&mut source);
            for _ in 0..draws {
                // Rounding adds 1/12 to the variance of 400, which such numbers of draws do not show.
                stream.add((20.0 * at).round() as i64);
                at = 0.2 * at + (1.0_f64 - 0.04).sqrt() * normal(&mut source);
            }
            alarm(&law.stream_tests(&stream), &rate)
        });
        found.count() as f64 / trials as f64
    };
    assert!(found(draws) >= 0.9, "{}", found(draws));
    let stated = fault.power_approx(&law, draws / 2, level).power;
    let half = found(draws / 2);
    // Four standard deviations of 40 trials; the tests of signs and of magnitudes add to the share.
    let noise = 4.0 * (stated * (1.0 - stated) / trials as f64).sqrt();
    assert!(half >= stated - noise && half <= stated + noise + 0.15, "{half} {stated}");
}

/// A stream that is used twice: a repeated stretch of the stated length is found, half of it about as often as a window of it is kept.
#[test]
fn repeated_stretches_are_found_with_the_stated_power() {
    let law = gaussian("5");
    let sampler = DiscreteGaussian::new(parse("5").unwrap()).unwrap().sampler().unwrap();
    let mut draws = vec![0; 300_000];
    sampler.fill(&mut draws, &mut Streams::with_insecure_seed(21).take());
    let repeats = |draws: &[i64], key: u64| {
        let mut repeats = super::repeats::Repeats::new(&law.law, [key, key + 99]);
        draws.iter().for_each(|x| repeats.add(*x));
        repeats
    };
    let clean = repeats(&draws, 1 << 40);
    let (window, long) = (clean.window().unwrap() as u64, clean.found_from_approx());
    assert!(clean.found().0 == 0 && long > window);
    // Of a stretch of L draws L - window + 1 windows are whole, and one in 2^bits is kept; 4.6 such distances are found with 0.99.
    let apart = (long - window) as f64 / 4.605;
    let share = |length: u64| {
        let found = (0..40_u64).into_par_iter().filter(|trial| {
            let (from, to, length) = (1000 + 137 * *trial as usize, 200_000, length as usize);
            let mut copied = draws.clone();
            copied.copy_within(from..from + length, to);
            repeats(&copied, (1 << 40) + 7919 * trial).found().0 > 0
        });
        found.count() as f64 / 40.0
    };
    assert!(share(long) >= 0.9);
    let half = long / 2;
    let stated = if half < window { 0.0 } else { 1.0 - (-((half - window) as f64) / apart).exp() };
    let found = share(half);
    let noise = 4.0 * (stated.clamp(0.02, 0.98) * (1.0 - stated.clamp(0.02, 0.98)) / 40.0_f64).sqrt();
    assert!((found - stated).abs() <= noise + 0.1, "{found} {stated}");
}

/// Of a thousand clean histograms no more alarm than the rate allows, by the exact binomial law; with few and with many draws.
#[test]
fn clean_draws_alarm_no_more_often_than_stated() {
    let rate = Rational::from((1, 20));
    let mut alarms = 0;
    for (sigma2, draws) in [("5", 200_u64), ("0.3", 10_000), ("30", 50_000_000), ("400", 3000)] {
        let law = gaussian(sigma2);
        let reach = law.law.reach();
        let masses: Vec<f64> = (-reach..=reach).map(|x| law.law.mass_approx(x)).collect();
        alarms += (share(&law, &masses, draws, 250, &rate) * 250.0).round() as u64;
    }
    let stated = Enclosure::rational(&rate, 64);
    // P[at least this number of alarms] at the stated rate.
    let p = super::proven::binomial_at_least(1000, alarms, stated.upper());
    assert!(alarms <= 50 || p.value() > 1e-6, "{alarms} alarms of 1000");
}

/// Faults of the order of real draws: repeated and correlated streams, alternating signs, constant draws; and the true order.
#[test]
fn faults_of_the_order_are_found() {
    let law = gaussian("5");
    let rate = Rational::from((1, 1000));
    let sampler = DiscreteGaussian::new(parse("5").unwrap()).unwrap().sampler().unwrap();
    let mut draws = vec![0; 40_000];
    sampler.fill(&mut draws, &mut Streams::with_insecure_seed(11).take());
    let rejected = |draws: &mut dyn Iterator<Item = i64>| {
        let mut stream = Stream::new(&law.law, [3, 4]);
        draws.for_each(|x| stream.add(x));
        let tested = law.stream_tests(&stream);
        let ps: Vec<ProvenP> = tested.tests.iter().map(|test| test.p).collect();
        let names = Verdict::new(&ps, &rate).rejected.into_iter().map(|at| tested.tests[at].name);
        names.collect::<Vec<_>>()
    };
    assert_eq!(rejected(&mut draws.iter().copied()), [""; 0]);
    assert!(rejected(&mut draws.iter().chain(&draws[..20_000]).copied()).contains(&"repeats"));
    // The sign of each draw is that of the one before it in half of the cases: the histogram stays the same.
    let mut sign = 1;
    let mut copied = draws.iter().map(|x| {
        sign = if x % 4 == 0 { sign } else { x.signum() };
        x.abs() * sign
    });
    let names = rejected(&mut copied);
    assert!(names.contains(&"signs") && names.contains(&"lag 1"), "{names:?}");
    // Each block of five draws, of 24 and of 48 twice in a row: no stretch is long enough to be found as a repetition.
    for length in [5, 24, 48] {
        let mut twice = draws.chunks(length).flat_map(|block| block.iter().chain(block).copied());
        assert!(rejected(&mut twice).contains(&"later lags"), "{length}");
    }
    let mut sorted = draws.clone();
    sorted.sort_by_key(|x| x.abs());
    assert!(rejected(&mut sorted.iter().copied()).contains(&"magnitudes"));
    // Counts that were cut at zero, and those that are all even.
    assert!(rejected(&mut draws.iter().map(|x| *x.max(&0))).contains(&"mean"));
    assert!(rejected(&mut draws.iter().map(|x| x / 2 * 2)).contains(&"parity"));
    assert!(rejected(&mut std::iter::repeat_n(0, 1000)).contains(&"masses"));
    assert_eq!(rejected(&mut std::iter::empty()), [""; 0]);
    assert!(rejected(&mut [i64::MAX, i64::MIN, 0].into_iter()).contains(&"largest"));
}

/// Every statistic again in exact fractions, for a handful of draws.
#[test]
fn statistics_of_few_draws_agree_with_exact_fractions() {
    let law = gaussian("1.5");
    let draws = [0, 1, -2, 1, 3, -1, 0, 0];
    let mut stream = Stream::new(&law.law, [8, 9]);
    draws.iter().for_each(|x| stream.add(*x));
    let tested = law.stream_tests(&stream);
    let of = |name: &str| tested.tests.iter().find(|test| test.name == name).unwrap();
    assert_eq!((of("sign").statistic, of("sign").draws), (3.0, 5));
    assert_eq!(of("parity").statistic, 4.0);
    assert_eq!((of("largest").statistic, of("lag 1").draws, of("lag 4").draws), (3.0, 7, 4));
    // Products of draws five apart: 0, 0 and 0.
    assert_eq!((of("later lags").statistic, of("later lags").p), (0.0, ProvenP::ONE));
    // Products of neighbors: 0, -2, -2, 3, -3, 0, 0 with the sum -4 and squares 4 + 4 + 9 + 9.
    assert!((of("lag 1").statistic + 4.0 / 26_f64.sqrt()).abs() < 1e-12);
    assert_eq!((of("signs").statistic, of("signs").draws), (1.0, 4));
    let [mean, variance, ..] = tested.shown.moments;
    assert_eq!((mean, variance), (0.25, 2.0 - 0.0625));
    // 3 of 5 fair signs: twice P[B >= 3] is one.
    assert_eq!(of("sign").p, ProvenP::ONE);
    let parity = of("parity").p.value().to_f64();
    let even = law.law.even().approximate();
    let tail = |k: i32| (k..=8).map(|j| binomial_mass(8, j, even)).sum::<f64>();
    let exact = if 4.0 >= 8.0 * even { 2.0 * tail(4) } else { 2.0 * (1.0 - tail(5)) };
    assert!(parity >= exact.min(1.0) - 1e-12 && parity <= exact.min(1.0) * 1.001, "{parity} {exact}");
}

fn binomial_mass(n: i32, k: i32, p: f64) -> f64 {
    let choose = (0..k).map(|j| f64::from(n - j) / f64::from(j + 1)).product::<f64>();
    choose * p.powi(k) * (1.0 - p).powi(n - k)
}

/// The interval of the parameter holds the truth and rejects the neighbors; a Laplace law by its scale.
#[test]
fn the_interval_of_the_parameter_holds_the_truth() {
    let level = Rational::from((1, 100));
    let mut misses = 0;
    for (seed, sigma2) in (0..30).zip(["5", "0.7", "120"].into_iter().cycle()) {
        let law = gaussian(sigma2);
        let mut draws = vec![0; 20_000];
        let sampler = DiscreteGaussian::new(parse(sigma2).unwrap()).unwrap().sampler().unwrap();
        sampler.fill(&mut draws, &mut Streams::with_insecure_seed(seed).take());
        let mut tally = Tally::new(law.law.reach());
        draws.iter().for_each(|x| tally.add(*x));
        let found = Interval::of_tally(&law, &tally, &level).unwrap().unwrap();
        misses += u32::from(!(found.lower < 1.0 && found.upper > 1.0));
        // About 3.3 standard deviations of sqrt(2 / n) to each side.
        assert!(found.upper / found.lower < 1.09, "{sigma2} {found:?}");
    }
    assert!(misses <= 3, "{misses} of 30 at a level of one percent");
    let epsilon = parse("0.4").unwrap();
    let law = Audited::of_law(&Law::DiscreteLaplace { epsilon: epsilon.clone() }).unwrap();
    let mut draws = vec![0; 50_000];
    DiscreteLaplace::new(epsilon)
        .unwrap()
        .sampler()
        .unwrap()
        .fill(&mut draws, &mut Streams::with_insecure_seed(5).take());
    let mut tally = Tally::new(law.law.reach());
    draws.iter().for_each(|x| tally.add(*x));
    let found = Interval::of_tally(&law, &tally, &level).unwrap().unwrap();
    assert!(found.lower < 1.0 && found.upper > 1.0 && found.upper / found.lower < 1.05, "{found:?}");
    assert!(!alarm(&law.tests(&tally), &level));
    // The same draws twice as large.
    let mut wide = Tally::new(law.law.reach());
    draws.iter().for_each(|x| wide.add(2 * x));
    assert!(alarm(&law.tests(&wide), &level));
}

/// The smallest fault that a number of draws shows decreases as the square root of the number.
#[test]
fn more_draws_show_smaller_faults() {
    let (law, level) = (gaussian("10"), Level { rate: 0.01, tests: 20 });
    for kind in &SIZED[..5] {
        let size = |draws| match smallest_approx(&law, kind, 0.99, draws, level).unwrap().fault {
            Fault::Parameter(size) | Fault::Even(size) | Fault::Shift(size) | Fault::Correlated(size) => size.abs(),
            other => panic!("{other:?}"),
        };
        let ratio = size(1_000_000) / size(100_000_000);
        assert!((9.0..12.5).contains(&ratio), "{ratio}");
    }
    let cut = |draws| smallest_approx(&law, &SIZED[5], 0.99, draws, level).unwrap().fault;
    let (Fault::Cut(few), Fault::Cut(many)) = (cut(10_000), cut(10_000_000_000)) else { panic!() };
    assert!(few < many && many < 7.0 && few > 2.0, "{few} {many}");
    assert_eq!(draws_approx(&law, Fault::Parameter(1e-9), 0.99, level), None);
}
