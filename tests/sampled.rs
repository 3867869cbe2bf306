//! Poisson-sampled Gaussian noise against integrals in doubles, convolutions on both sides, closed forms and figures of other accountants.

use dp_assay::{
    Error,
    account::{Account, Composition, Counts, Delta, Epsilon, conversions},
    numeric::{Enclosure, rational::parse},
    release::{Neighbors, Release, subject::Subject},
};
use rug::Rational;

use crate::common::{
    composition, counts,
    program::{assay, json},
};

fn sampled(text: &str) -> Composition {
    Composition::new(text.split(' ').map(|text| Counts::parse_sampled(text).unwrap())).unwrap()
}

/// Groups of records on samples, beside the epsilons of dp-accounting 0.6.0 (mixtures of Gaussians, discretized to 10^-4), which are upper bounds that err by less than 10^-5.
#[test]
fn groups_agree_with_mixtures_of_another_accountant() {
    for (text, group, delta, theirs) in [
        ("0.01:gaussian:1x1000", 2, "1e-5", 3.9790897452699907),
        ("0.01:gaussian:1x1000", 5, "1e-5", 11.637976521158341),
        ("0.1:gaussian:4x100", 3, "1e-6", 9.392890098217638),
        ("0.001:gaussian:0.64x500", 10, "1e-5", 2.803331889073948),
    ] {
        let account = sampled(text).for_groups_of(group).unwrap();
        let own = account.epsilon(delta, 12).unwrap();
        let (low, high) = own.value.doubles();
        assert!(own.met && high < theirs && theirs - low < 1e-5, "{text} {group}: {low} {theirs}");
    }
    // A group of two that moves sums by three each is one that moves them by one, with a third of the noise.
    let [wide, narrow] =
        ["0.01:gaussian:9x10@3", "0.01:gaussian:1x10"].map(|text| sampled(text).for_groups_of(2).unwrap());
    assert_eq!(wide.delta("1", 12).unwrap().value, narrow.delta("1", 12).unwrap().value);
    // Three groups of two are six records.
    let delta = |account: Composition| account.delta("1", 12).unwrap().value;
    let of = |group| sampled("0.01:gaussian:4x10").for_groups_of(group).unwrap();
    assert_eq!(delta(of(2).for_groups_of(3).unwrap()), delta(of(6)));
    // Sampled with certainty they are all there: Gaussian noise moved by as many.
    let certain = sampled("1:gaussian:4").for_groups_of(3).unwrap().delta("1", 12).unwrap().value;
    assert!(certain.overlaps(&composition("gaussian:4@3").delta("1", 12).unwrap().value));
}

/// The double, exactly.
fn exactly(x: f64) -> Rational {
    Rational::from_f64(x).unwrap()
}

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

/// delta of both directions, a record removed and one added: both ends, in doubles.
fn directions(account: &Composition, at: f64) -> [(f64, f64); 2] {
    let at = Epsilon::new(exactly(at)).unwrap();
    let both = account.delta_of_directions(&at, 12).unwrap().unwrap();
    both.map(|one| {
        let (low, high) = one.value.doubles();
        // Few steps of little noise do not reach all digits.
        assert!(one.met || high - low < 1e-6 * high, "{one:?}");
        (low, high)
    })
}

/// P[N(0, 1) <= x].
fn normal(x: f64) -> f64 {
    Enclosure::double(-x / 2_f64.sqrt(), 64).erfc().approximate() / 2.0
}

/// One step with rate g and noise of standard deviation 1 / mu, in doubles.
#[derive(Clone, Copy)]
struct Step {
    g: f64,
    mu: f64,
}

impl Step {
    /// The ratio of the mixture to the noise at the standardized output x.
    fn ratio(self, x: f64) -> f64 {
        1.0 - self.g + self.g * (self.mu * x - self.mu * self.mu / 2.0).exp()
    }

    /// E[(r - y)_+] over the noise.
    fn above(self, y: f64) -> f64 {
        if y <= 1.0 - self.g {
            return 1.0 - y;
        }
        let at = ((y - 1.0 + self.g) / self.g).ln() / self.mu + self.mu / 2.0;
        self.g * normal(self.mu - at) - (y - 1.0 + self.g) * normal(-at)
    }

    /// E[(y - r)_+] over the noise.
    fn below(self, y: f64) -> f64 {
        self.above(y) + y - 1.0
    }

    /// E of a function of the output of the noise, by the trapezoid rule.
    fn mean(self, of: impl Fn(f64) -> f64) -> f64 {
        const STEP: f64 = 1.0 / 256.0;
        let last = (12.0 + 3.0 * self.mu) / STEP;
        let density = STEP / std::f64::consts::TAU.sqrt();
        (-(last as i64)..=last as i64).map(|k| k as f64 * STEP).map(|x| density * (-x * x / 2.0).exp() * of(x)).sum()
    }
}

const STEPS: [(&str, Step); 4] = [
    ("0.1:gaussian:1", Step { g: 0.1, mu: 1.0 }),
    ("0.5:gaussian:4", Step { g: 0.5, mu: 0.5 }),
    ("1/4:gaussian:25/4@5", Step { g: 0.25, mu: 2.0 }),
    ("0.9:gaussian:1/4", Step { g: 0.9, mu: 2.0 }),
];

fn close(found: f64, expected: f64, relative: f64) -> bool {
    (found - expected).abs() <= relative * expected.abs() + 1e-15
}

/// Whether an enclosure contains a number that is known to this relative error.
fn holds((low, high): (f64, f64), expected: f64, relative: f64) -> bool {
    let error = relative * expected.abs() + 1e-14;
    low - error <= expected && expected <= high + error
}

/// One step, and two of them with the inner integral in closed form and the outer one by a sum.
#[test]
fn one_step_and_two_agree_with_integrals() {
    for (text, step) in STEPS {
        for eps in [0.0, 0.3, 1.0, 2.0] {
            let order = f64::exp(eps);
            let [remove, add] = directions(&sampled(text), eps);
            assert!(holds(remove, step.above(order), 1e-9), "{text} at {eps}: {remove:?}");
            assert!(holds(add, order * step.below(1.0 / order), 1e-9), "{text} at {eps}: {add:?}");
            // Two steps of little noise take much longer.
            if step.mu > 1.0 {
                continue;
            }
            let text = format!("{text}x2");
            let [remove, add] = directions(&sampled(&text), eps);
            let of_remove = step.mean(|x| step.ratio(x) * step.above(order / step.ratio(x)));
            let of_add = step.mean(|x| order * step.ratio(x) * step.below(1.0 / (order * step.ratio(x))));
            assert!(holds(remove, of_remove, 1e-6), "{text} at {eps}: {remove:?} and not {of_remove}");
            assert!(holds(add, of_add, 1e-6), "{text} at {eps}: {add:?} and not {of_add}");
        }
    }
}

/// Losses on a lattice with their probabilities, from the smallest multiple up.
struct Losses {
    first: i64,
    masses: Vec<f64>,
}

impl Losses {
    const STEP: f64 = 0.008;

    /// The losses of one step, rounded down or up; `added` under the noise, otherwise under the mixture.
    fn of_step(step: Step, added: bool, up: bool) -> Losses {
        const FINE: f64 = 1.0 / 256.0;
        let last = ((7.5 + step.mu) / FINE) as i64;
        let mut found: Vec<(i64, f64)> = Vec::new();
        for k in -last..last {
            let (x, next) = (k as f64 * FINE, (k + 1) as f64 * FINE);
            let ends = [x, next].map(|x| if added { -step.ratio(x).ln() } else { step.ratio(x).ln() });
            let cell = |mean: f64| normal(next - mean) - normal(x - mean);
            let mass = if added { cell(0.0) } else { (1.0 - step.g) * cell(0.0) + step.g * cell(step.mu) };
            let loss = if up { ends[0].max(ends[1]) } else { ends[0].min(ends[1]) } / Losses::STEP;
            found.push((if up { loss.ceil() } else { loss.floor() } as i64, mass));
        }
        let first = found.iter().map(|(at, _)| *at).min().unwrap();
        let length = found.iter().map(|(at, _)| at - first).max().unwrap() as usize + 1;
        let mut masses = vec![0.0; length];
        found.into_iter().for_each(|(at, mass)| masses[(at - first) as usize] += mass);
        Losses { first, masses }
    }

    fn plus(&self, other: &Losses) -> Losses {
        let mut masses = vec![0.0; self.masses.len() + other.masses.len() - 1];
        for (i, a) in self.masses.iter().enumerate() {
            for (j, b) in other.masses.iter().enumerate() {
                masses[i + j] += a * b;
            }
        }
        Losses { first: self.first + other.first, masses }
    }

    fn delta(&self, eps: f64) -> f64 {
        let loss = |at: usize| (self.first + at as i64) as f64 * Losses::STEP;
        self.masses.iter().enumerate().map(|(at, mass)| mass * (1.0 - (eps - loss(at)).exp()).max(0.0)).sum()
    }
}

/// Five steps, of one phase and of two, lie between the convolutions of losses rounded down and up, in both directions.
#[test]
fn many_steps_lie_between_convolutions() {
    let [(_, a), (_, b), ..] = STEPS;
    for (text, parts) in
        [("0.1:gaussian:1x5", [(a, 5), (b, 0)]), ("0.1:gaussian:1x2 0.5:gaussian:4x3", [(a, 2), (b, 3)])]
    {
        let account = sampled(text);
        for (at, added) in [false, true].into_iter().enumerate() {
            let [low, high] = [false, true].map(|up| {
                let steps = parts.iter().flat_map(|(step, times)| std::iter::repeat_n(*step, *times));
                steps.map(|step| Losses::of_step(step, added, up)).reduce(|sum, one| sum.plus(&one)).unwrap()
            });
            for eps in [0.0, 0.2, 0.5, 0.8] {
                let found = directions(&account, eps)[at];
                let (low, high) = (low.delta(eps), high.delta(eps));
                let is_between = low * (1.0 - 1e-9) <= found.1 + 1e-13 && found.0 <= high * (1.0 + 1e-9) + 1e-13;
                assert!(is_between, "{text} {added} {eps}: {low} {found:?} {high}");
                assert!(high < 2.0 * low + 2e-3, "the convolutions are too coarse to show anything: {low} {high}");
            }
        }
    }
}

/// A rate close to one, and one of one, against no sampling.
#[test]
fn without_sampling_it_is_gaussian_noise() {
    let plain = composition("gaussian:2x10");
    let delta = |account: &Composition| account.delta(epsilon("3"), 14).unwrap().value;
    assert_eq!(delta(&sampled("1:gaussian:2x10")), delta(&plain));
    let nearly = delta(&sampled("0.999999999:gaussian:2x10")).approximate();
    let (exact, apart) = (delta(&plain).approximate(), nearly / delta(&plain).approximate() - 1.0);
    assert!(apart < 0.0 && apart > -1e-7, "{nearly} {exact}");
}

/// delta falls in epsilon and in the noise, and rises in the rate and the number of steps.
#[test]
fn delta_is_monotone() {
    let of = |text: &str, eps: &str| sampled(text).delta(epsilon(eps), 12).unwrap().value;
    let falls = |values: Vec<Enclosure>| {
        assert!(values.windows(2).all(|pair| pair[0].lower() > pair[1].upper()), "{values:?}");
    };
    let base = "0.02:gaussian:1x200";
    falls(["0", "1/2", "1", "2", "4", "8"].iter().map(|eps| of(base, eps)).collect());
    falls(["0.5", "1", "1.1", "4"].iter().map(|s2| of(&format!("0.02:gaussian:{s2}x200"), "1")).collect());
    falls(["0.05", "0.02", "0.019", "0.001"].iter().map(|rate| of(&format!("{rate}:gaussian:1x200"), "1")).collect());
    falls(["400", "200", "199", "2"].iter().map(|steps| of(&format!("0.02:gaussian:1x{steps}"), "1")).collect());
}

/// Two precisions, two kinds of arithmetic: the narrower lies in the wider.
#[test]
fn more_digits_lie_within_fewer() {
    for (text, eps) in [("0.01:gaussian:1x1000", "1.5"), ("0.3:gaussian:2x5 0.01:gaussian:1x50", "2")] {
        let account = sampled(text);
        let few = account.delta(epsilon(eps), 12).unwrap();
        let many = account.delta(epsilon(eps), 30).unwrap();
        assert!(few.met && many.met && many.value.is_tight(30), "{text}: {many:?}");
        assert!(few.value.lower() <= many.value.lower() && many.value.upper() <= few.value.upper(), "{text}");
    }
}

/// epsilon at delta, down to 1e-100: delta at both ends decides.
#[test]
fn epsilon_is_the_root_of_delta() {
    for (text, delta) in
        [("0.01:gaussian:1x1000", "1e-5"), ("0.01:gaussian:1x1000", "1e-100"), ("0.5:gaussian:10000x1000", "1e-8")]
    {
        let (account, target) = (sampled(text), parse(delta).unwrap());
        let found = account.epsilon(delta.parse::<Delta>().unwrap(), 12).unwrap();
        assert!(found.met, "{text} {found:?}");
        let at = |end: &rug::Float| {
            let epsilon = Epsilon::new(end.to_rational().unwrap()).unwrap();
            account.delta(epsilon, 15).unwrap().value
        };
        assert!(*at(found.value.upper()).upper() <= target && *at(found.value.lower()).lower() >= target, "{text}");
    }
}

/// E[r^p] of integer order by the binomial formula bounds the RDP conversion from the same moments: the library's lies at or below every one of them.
#[test]
fn the_account_by_moments_agrees_with_the_binomial_formula() {
    let (g, steps) = (0.01_f64, 1000.0);
    let delta = 1e-5_f64;
    let of_order = |p: u32| {
        let mut ln_binomial = 0.0;
        let mut sum = 0.0;
        for k in 0..=p {
            let (n, k) = (f64::from(p), f64::from(k));
            sum += f64::exp(ln_binomial + (n - k) * (-g).ln_1p() + k * g.ln() + k * (k - 1.0) / 2.0);
            ln_binomial += ((n - k) / (k + 1.0)).ln();
        }
        let (p, s) = (f64::from(p), f64::from(p) - 1.0);
        (steps * sum.ln() + s * s.ln() - p * p.ln() - delta.ln()) / s
    };
    let least = (2..60).map(of_order).fold(f64::INFINITY, f64::min);
    let found = conversions::renyi_epsilon(&sampled("0.01:gaussian:1x1000"), &"1e-5".parse().unwrap()).unwrap();
    let found = found.epsilon.approximate();
    assert!(found <= least && found > least * 0.99, "{found} {least}");
}

/// One step has a trade-off function in closed form: that of the direction with the larger profile where its slope is below -1, and a line of slope -1
/// between it and its inverse.
#[test]
fn the_tradeoff_function_is_the_hull_of_both_directions() {
    for (text, step) in STEPS {
        let account = sampled(text);
        let f = |alpha: f64| {
            let answer = account.tradeoff_hull_by(&account.evaluator(), &exactly(alpha), 12).unwrap().unwrap();
            assert!(answer.met, "{text} {alpha}: {answer:?}");
            answer.value.approximate()
        };
        // Reject where the output is above t.
        let errors = |t: f64| (normal(-t), (1.0 - step.g) * normal(t) + step.g * normal(t - step.mu));
        for t in [0.6, 1.2, 2.0, 3.0] {
            let (alpha, beta) = errors(step.mu / 2.0 + t);
            assert!(close(f(alpha), beta, 1e-9), "{text} {alpha}: {} {beta}", f(alpha));
            assert!(close(f(beta), alpha, 1e-9), "{text} {beta}: {} {alpha}", f(beta));
        }
        let (alpha, beta) = errors(step.mu / 2.0);
        let middle = (alpha + beta) / 2.0;
        assert!(close(f(middle), middle, 1e-9), "{text} {middle}: {}", f(middle));
    }
}

/// Neyman and Pearson, one step: of absence against presence the best tests report outputs above t, of presence against absence those below. The smaller of
/// both is what any test reaches; their hull is below.
#[test]
fn the_tradeoff_functions_of_one_step_are_those_of_thresholds() {
    let mut apart = 0;
    for (text, step) in STEPS {
        let account = sampled(text);
        let evaluator = account.evaluator();
        let both = |alpha: f64| {
            let both = account.tradeoff_of_directions_by(&evaluator, &exactly(alpha), 12).unwrap().unwrap();
            both.map(|answer| answer.value.approximate())
        };
        let errors = |t: f64| (normal(-t), (1.0 - step.g) * normal(t) + step.g * normal(t - step.mu));
        for t in [-1.5, -0.3, 0.2, 0.9, 2.1] {
            let (alpha, beta) = errors(t);
            assert!(close(both(alpha)[0], beta, 1e-9), "{text} {alpha}: {:?} {beta}", both(alpha));
            assert!(close(both(beta)[1], alpha, 1e-9), "{text} {beta}: {:?} {alpha}", both(beta));
            let (least, [remove, add]) = (account.tradeoff(&exactly(alpha), 12).unwrap().value, both(alpha));
            assert!(close(least.approximate(), remove.min(add), 1e-9), "{text} {alpha}: {least}");
            let hull = account.tradeoff_hull_by(&evaluator, &exactly(alpha), 12).unwrap().unwrap().value;
            assert!(*hull.lower() <= *least.upper());
            apart += u32::from(hull.approximate() < least.approximate() * (1.0 - 1e-6));
        }
    }
    assert!(apart > 0);
}

/// The points of the hull support the profile: f(alpha) >= 1 - delta(eps) - exp(eps) alpha, with equality somewhere.
#[test]
fn the_tradeoff_function_of_many_steps_is_dual_to_the_profile() {
    let account = sampled("0.01:gaussian:1x1000");
    for alpha in [0.9, 0.3, 0.01, 1e-6] {
        let f = account.tradeoff_hull_by(&account.evaluator(), &exactly(alpha), 10).unwrap().unwrap();
        assert!(f.met, "{f:?}");
        let line = |eps: f64| {
            let delta = account.delta(Epsilon::new(exactly(eps.abs())).unwrap(), 10).unwrap().value.approximate();
            if eps >= 0.0 { 1.0 - delta - eps.exp() * alpha } else { (1.0 - delta - alpha) * eps.exp() }
        };
        let highest = (-120..=120).map(|k| line(f64::from(k) * 0.03)).fold(0.0, f64::max);
        let f = f.value.approximate();
        assert!(highest <= f * (1.0 + 1e-9) && highest > f * (1.0 - 5e-3), "{alpha}: {highest} {f}");
    }
}

fn is_unsuitable<T: std::fmt::Debug>(result: Result<T, Error>, words: &str) {
    match result {
        Err(error) => assert!(error.to_string().contains(words), "{error}"),
        Ok(value) => panic!("{value:?}"),
    }
}

/// Nothing that the account does not cover is answered.
#[test]
fn other_pairs_are_refused() {
    for (text, words) in [
        ("0.01", "RATE:LAW:PARAMETER"),
        ("0.01:1", "RATE:LAW:PARAMETER"),
        ("0.01:laplace:1", "discrete-laplace"),
        ("0.01:staircase:1:4:2", "randomized-response"),
        ("0:discrete-laplace:1", "rate"),
        ("1.5:discrete-gaussian:1", "rate"),
        ("0.01:discrete-gaussian:10001", "at most 10000 on samples"),
        ("0.01:discrete-laplace:0", "epsilon"),
        ("0.01:randomized-response:1:1", "answers"),
        ("0:gaussian:1", "rate"),
        ("1.1:gaussian:1", "rate"),
        ("-0.1:gaussian:1", "rate"),
        ("1e-10:gaussian:1", "rate"),
        ("x:gaussian:1", "x"),
        ("0.1:gaussian:0", "sigma2"),
        ("0.1:gaussian:1x0", "count"),
        ("0.1:gaussian:1@0", "shift"),
        ("0.1:gausian:1", "gaussian"),
    ] {
        is_unsuitable(Counts::parse_sampled(text), words);
    }
    let own = sampled("0.01:gaussian:1x10");
    is_unsuitable(own.for_changed_records(), "add-remove");
    is_unsuitable(own.for_groups_of(101), "a group of up to 100 records");
    assert!(own.for_groups_of(1).is_ok());
    is_unsuitable(own.knot(&Rational::from(1), 10), "Poisson");
    let subject = |neighbors, counts_as_given| Subject {
        release: None,
        levels: Vec::new(),
        singles: counts("sampled:0.01:gaussian:1x10"),
        neighbors: Some(neighbors),
        counts_as_given,
        group: 1,
        repeat: 1,
    };
    is_unsuitable(subject(Neighbors::Bounded, false).resolve().map(drop), "add-remove");
    is_unsuitable(subject(Neighbors::Bounded, true).resolve().map(drop), "add-remove");
    assert!(subject(Neighbors::AddRemove, false).resolve().is_ok());
}

const RUN: &str = r#"name = "run"
title = "A training run"
source = "made up for a test"
neighbors = "add-remove"

[[level]]
name = "warm-up"
[[level.query]]
name = "steps"
law = "sampled-gaussian"
rate = "0.02"
sigma2 = "4"
times = 100

[[level]]
name = "training"
[[level.query]]
name = "steps"
law = "sampled-gaussian"
rate = "0.01"
sigma2 = "1"
times = 1000
"#;

/// The same from a release file, whose cells and relations do not slip through.
#[test]
fn release_files_have_sampled_noise() {
    let release = |text: &str| Release::parse(text, "run.toml");
    let own = release(RUN).unwrap().composition(&[] as &[&str], None).unwrap();
    let known = sampled("0.02:gaussian:4x100 0.01:gaussian:1x1000");
    let of = |account: &Composition| account.delta(epsilon("2"), 12).unwrap().value;
    assert_eq!(of(&own), of(&known));
    is_unsuitable(release(&RUN.replace("rate = \"0.01\"\n", "")), "rate");
    is_unsuitable(release(&RUN.replace("sigma2 = \"1\"\n", "rho = \"1/2\"\n")), "sigma2");
    is_unsuitable(release(&RUN.replace("times = 100\n", "times = 100\ncells = 2\n")), "cells = 1");
    is_unsuitable(release(&RUN.replace("times = 100\n", "times = 100\nrows = 2\n")), "rows");
    is_unsuitable(release(&RUN.replace("add-remove", "bounded")), "add-remove");
    is_unsuitable(release(RUN).unwrap().composition(&[] as &[&str], Some(Neighbors::Bounded)), "add-remove");
}

/// An epsilon far beyond every likely loss ended in a panic: its grid would have more nodes than there are integers of 64 bits.
#[test]
fn an_epsilon_far_beyond_every_likely_loss_is_answered() {
    let answer = json(&["delta", "--epsilon", "1e6", "--sampled", "1.04e-6:gaussian:0.274x2"]);
    let upper = answer["delta"]["upper"].to_string();
    let exponent = upper.split("e-").nth(1).and_then(|exponent| exponent.parse::<u64>().ok());
    assert!(exponent.is_some_and(|exponent| exponent > 1_000_000), "{answer}");
}

/// The options of a training run are its steps by rate and sigma2, and a search answers in noise multipliers.
#[test]
fn training_runs_are_samples_by_their_noise_multiplier() {
    let run =
        ["--noise-multiplier", "1.2", "--batch-size", "600", "--records", "60000", "--epochs", "3", "--delta", "1e-5"];
    let own = json(&[&["epsilon"][..], &run].concat());
    let same = json(&["epsilon", "--sampled", "1/100:gaussian:1.44x300", "--delta", "1e-5"]);
    assert_eq!(own["epsilon"], same["epsilon"]);
    let phases = json(&["epsilon", "--dp-sgd", "0.02:2x100", "--dp-sgd", "0.01:1x1000", "--delta", "1e-5"]);
    let both = ["epsilon", "--sampled", "0.02:gaussian:4x100", "--sampled", "0.01:gaussian:1x1000", "--delta", "1e-5"];
    assert_eq!(phases["epsilon"], json(&both)["epsilon"]);
    // 60,000 / 256 is no whole number: the loader of Opacus has another rate, and the answer says so.
    let batches = [
        "epsilon",
        "--noise-multiplier",
        "1",
        "--batch-size",
        "256",
        "--records",
        "60000",
        "--steps",
        "9",
        "--delta",
        "1e-5",
    ];
    assert!(json(&batches)["conditions"].to_string().contains("1/235"));
    // Other noise that breaks the target alone ends the search with an answer.
    let beside = ["calibrate", "--noise-multiplier", "?", "--sample-rate", "0.01", "--steps", "10", "--gaussian", "1"];
    let output = assay(&[&beside[..], &["--epsilon", "0.5", "--delta", "1e-5"]].concat()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.code() == Some(1) && said.contains("no noise_multiplier keeps the target"), "{said}");
    let target = ["--sample-rate", "0.01", "--steps", "1000", "--epsilon", "8", "--delta", "1e-5", "--decimals", "3"];
    let found = json(&[&["calibrate", "--noise-multiplier", "?"][..], &target].concat());
    assert_eq!(found["sought"], "noise_multiplier");
    // 0.58655 by the accountants of Opacus 1.6.
    assert_eq!((found["value"].to_string(), found["not_enough"].to_string()), ("0.587".into(), "0.586".into()));
}
