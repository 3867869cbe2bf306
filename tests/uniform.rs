//! Continuous Laplace noise and bounded range against closed forms of one count, recursions on a grid by Simpson's rule, and integrals in doubles.

use std::sync::Arc;

use dp_assay::{
    account::{Account, Composition, Counts, Delta, Epsilon, conversions},
    law::{Law, Pair},
    numeric::{Enclosure, rational::parse},
    release::Release,
};
use rug::Rational;

use crate::common::{composition, counts};

/// The double, exactly.
fn exactly(x: f64) -> Rational {
    Rational::from_f64(x).unwrap()
}

fn delta(account: &Composition, at: f64) -> Enclosure {
    let answer = account.delta(exactly(at), 12).unwrap();
    assert!(answer.met, "{at}: {answer:?}");
    answer.value
}

fn near(value: &Enclosure, truth: f64, slack: f64, what: &str) {
    let (lower, upper) = value.doubles();
    assert!(lower <= truth + slack && upper >= truth - slack, "{what}: [{lower}, {upper}] against {truth}");
}

/// The profile of one count with Laplace noise, for epsilon of either sign.
fn of_laplace(x: f64, epsilon: f64) -> f64 {
    match epsilon {
        above if above >= x => 0.0,
        below if below <= -x => 1.0 - below.exp(),
        epsilon => 1.0 - ((epsilon - x) / 2.0).exp(),
    }
}

/// That of the pair that dominates all mechanisms of a range.
fn of_range(x: f64, epsilon: f64) -> f64 {
    match epsilon {
        above if above >= x => 0.0,
        below if below <= -x => 1.0 - below.exp(),
        epsilon => (1.0 - ((epsilon - x) / 2.0).exp()).powi(2) / (1.0 - (-x).exp()),
    }
}

/// A profile at the multiples of 1 / `STEPS`, from -`REACH` on.
struct Profile(Vec<f64>);

const STEPS: i64 = 240;
const REACH: i64 = 12;

impl Profile {
    fn new(of: impl Fn(f64) -> f64) -> Profile {
        Profile((-REACH * STEPS..=REACH * STEPS).map(|k| of(k as f64 / STEPS as f64)).collect())
    }

    /// At the k-th multiple; of a perfectly private mechanism beyond the ends, where no loss of a few counts is.
    fn at(&self, k: i64) -> f64 {
        let inside = usize::try_from(k + REACH * STEPS).ok().and_then(|at| self.0.get(at));
        inside.copied().unwrap_or_else(|| (1.0 - (k as f64 / STEPS as f64).exp()).max(0.0))
    }

    /// Beside another loss, a multiple of 1 / `STEPS` with some probabilities, and one with a density on [-x, x].
    fn beside(&self, atoms: &[(i64, f64)], x: i64, density: impl Fn(f64) -> f64) -> Profile {
        let at = |k: i64| {
            let listed: f64 = atoms.iter().map(|(loss, p)| p * self.at(k - loss)).sum();
            // Simpson's rule, whose error is largest at kinks: about 1e-7.
            let simpson: f64 = (-x..=x)
                .map(|j| {
                    let weight = if j.abs() == x {
                        1.0
                    } else if (j + x) % 2 == 1 {
                        4.0
                    } else {
                        2.0
                    };
                    weight * density(j as f64 / STEPS as f64) * self.at(k - j)
                })
                .sum();
            listed + simpson / (3.0 * STEPS as f64)
        };
        Profile((-REACH * STEPS..=REACH * STEPS).map(at).collect())
    }

    fn beside_laplace(&self, x: f64) -> Profile {
        let k = (x * STEPS as f64).round() as i64;
        self.beside(&[(k, 0.5), (-k, (-x).exp() / 2.0)], k, |loss| ((loss - x) / 2.0).exp() / 4.0)
    }

    fn beside_range(&self, x: f64) -> Profile {
        let k = (x * STEPS as f64).round() as i64;
        self.beside(&[], k, |loss| ((loss - x) / 2.0).exp() / (2.0 * (1.0 - (-x).exp())))
    }

    fn beside_pure(&self, epsilon: f64) -> Profile {
        let k = (epsilon * STEPS as f64).round() as i64;
        let likely = 1.0 / (1.0 + (-epsilon).exp());
        self.beside(&[(k, likely), (-k, 1.0 - likely)], 0, |_| 0.0)
    }
}

#[test]
fn one_count_has_its_closed_form() {
    for x in ["1/100", "1/2", "1", "3", "40"] {
        let size = parse(x).unwrap().to_f64();
        let scale = Rational::from(parse(x).unwrap().recip_ref());
        let laplace = composition(&format!("laplace:{scale}"));
        let range = composition(&format!("exponential:{x}"));
        for share in [0.0, 0.125, 0.5, 0.875, 1.0, 1.5] {
            let at = exactly(share) * parse(x).unwrap();
            let at_double = at.to_f64();
            let value = |account: &Composition| account.delta(at.clone(), 25).unwrap();
            near(&value(&laplace).value, of_laplace(size, at_double), 1e-14, x);
            near(&value(&range).value, of_range(size, at_double), 1e-14, x);
            assert!(value(&laplace).met && value(&range).met, "{x} {share}");
        }
    }
}

#[test]
fn a_few_counts_are_those_of_a_recursion() {
    let nothing = || Profile::new(|epsilon| (1.0 - epsilon.exp()).max(0.0));
    let five = (0..5).fold(nothing(), |profile, _| profile.beside_laplace(1.0));
    let four = (0..4).fold(nothing(), |profile, _| profile.beside_range(1.5));
    let mixed =
        nothing().beside_laplace(1.0).beside_laplace(1.0).beside_laplace(0.5).beside_range(2.0).beside_pure(0.5);
    let three = nothing().beside_laplace(0.5).beside_laplace(0.5).beside_pure(1.0).beside_pure(1.0);
    for (text, profile) in [
        ("laplace:1x5", five),
        ("exponential:3/2x4", four),
        ("laplace:1x2 laplace:2 exponential:2 pure:1/2", mixed),
        ("laplace:4x2@2 pure:1x2", three),
    ] {
        let account = composition(text);
        for k in [0, 24, 120, 240, 360, 408, 600, 840, 1080] {
            let at = Rational::from((k, STEPS));
            let answer = account.delta(at, 12).unwrap();
            assert!(answer.met, "{text:?}: {answer:?}");
            near(&answer.value, profile.at(k), 1e-6, &format!("{text:?} at {k}"));
        }
    }
}

/// The profile of n equal counts with Laplace noise, from the number of losses at either end, and the spline of the other ones: their losses are uniform once they are
/// tilted.
fn by_splines(x: f64, n: u32, epsilon: f64) -> f64 {
    let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
    let choose = |n: u32, k: u32| factorial(n) / (factorial(k) * factorial(n - k));
    let mut total = 0.0;
    for (m, above) in (0..=n).flat_map(|m| (0..=n - m).map(move |above| (m, above))) {
        let below = n - m - above;
        let ends =
            choose(n, m) * choose(n - m, above) * 0.5_f64.powi(above as i32) * ((-x).exp() / 2.0).powi(below as i32);
        let from = epsilon - (f64::from(above) - f64::from(below)) * x;
        let reach = f64::from(m) * x;
        if m == 0 {
            total += ends * (1.0 - from.exp()).max(0.0);
            continue;
        }
        let spline = |y: f64| -> f64 {
            let term = |j: u32| {
                let sign = if j.is_multiple_of(2) { 1.0 } else { -1.0 };
                let left = y + reach - 2.0 * f64::from(j) * x;
                if left > 0.0 { sign * choose(m, j) * left.powi(m as i32 - 1) } else { 0.0 }
            };
            (0..=m).map(term).sum::<f64>() / factorial(m - 1)
        };
        let density =
            |y: f64| 0.25_f64.powi(m as i32) * ((y - reach) / 2.0).exp() * spline(y) * (1.0 - (from - y).exp());
        // Simpson's rule between knots, where the integrand is smooth.
        for j in 0..m {
            let low = (2.0 * f64::from(j) * x - reach).max(from);
            let high = 2.0 * f64::from(j + 1) * x - reach;
            if low + 1e-9 < high {
                const PARTS: u32 = 1000;
                // Inside of both ends, where the first spline has a jump.
                let h = (high - low) / f64::from(PARTS);
                let at = |k: u32| density(low + (f64::from(k) * h).clamp(1e-13, high - low - 1e-13));
                let weight = |k: u32| {
                    if k == 0 || k == PARTS {
                        1.0
                    } else if k % 2 == 1 {
                        4.0
                    } else {
                        2.0
                    }
                };
                total += ends * (0..=PARTS).map(|k| weight(k) * at(k)).sum::<f64>() * h / 3.0;
            }
        }
    }
    total
}

#[test]
fn equal_counts_are_those_of_splines() {
    for (x, n) in [("1", 2), ("1/2", 3), ("3", 4), ("3/10", 5), ("1/7", 6)] {
        let size = parse(x).unwrap();
        let account = composition(&format!("laplace:{}x{n}", Rational::from(size.recip_ref())));
        for share in [0.0, 0.1, 0.35, 0.5, 0.75, 0.95] {
            let epsilon = share * size.to_f64() * f64::from(n);
            near(&delta(&account, epsilon), by_splines(size.to_f64(), n, epsilon), 1e-11, &format!("{x} {n} {share}"));
        }
    }
}

/// One count beside others whose losses are enumerated: the mean of its profile in closed form, at negative epsilons too.
#[test]
fn other_losses_are_taken_into_account() {
    let laplace = |epsilon: f64| of_laplace(0.5, epsilon);
    let account = composition("laplace:2 discrete-laplace:1/2x2@2");
    // The losses of a discrete Laplace with a shift of two: 1, 0 and -1.
    let q = (-0.5_f64).exp();
    let one = [(1.0, 1.0 / (1.0 + q)), (0.0, (1.0 - q) * q / (1.0 + q)), (-1.0, q * q / (1.0 + q))];
    for at in [0.0, 0.3, 1.1, 1.75, 2.25] {
        let truth: f64 = one.iter().flat_map(|(a, p)| one.map(|(b, q)| p * q * laplace(at - a - b))).sum();
        near(&delta(&account, at), truth, 1e-13, &format!("discrete Laplace at {at}"));
    }
    // Discrete Gaussian noise, whose tails are cut.
    let account = composition("laplace:2 discrete-gaussian:3x1");
    let weight = |x: i64| (-(x * x) as f64 / 6.0).exp();
    let total: f64 = (-60..=60).map(weight).sum();
    for at in [0.0, 0.7, 2.0, 4.5] {
        let truth: f64 = (-60..=60).map(|x| weight(x) / total * laplace(at - (x as f64 / 3.0 + 1.0 / 6.0))).sum();
        near(&delta(&account, at), truth, 1e-12 * truth.max(1e-3), &format!("discrete Gaussian at {at}"));
    }
    // Continuous Gaussian noise, by the trapezoid rule.
    let account = composition("laplace:2 gaussian:2x3");
    let (rho, step) = (0.75_f64, 1e-4);
    for at in [0.0, 1.0, 3.0] {
        let density = |z: f64| (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
        let loss = |z: f64| rho + (2.0 * rho).sqrt() * z;
        let truth: f64 =
            (-100_000..=100_000).map(|k| f64::from(k) * step).map(|z| density(z) * laplace(at - loss(z))).sum();
        near(&delta(&account, at), truth * step, 1e-9, &format!("continuous Gaussian at {at}"));
    }
}

/// Beside pairs that are not symmetric: both directions, to all digits.
#[test]
fn both_directions_of_pairs_are_answered() {
    let outcomes = [("1/2", "1/4"), ("1/3", "1/3"), ("1/12", "5/12"), ("1/12", "0")];
    let parsed = outcomes.map(|(p, q)| (parse(p).unwrap(), parse(q).unwrap()));
    let pair = Law::Pair(Arc::new(Pair::new("pair.csv", parsed.clone()).unwrap()));
    let account = Composition::new(counts("laplace:1").into_iter().chain([Counts::new(pair, 1, 1).unwrap()])).unwrap();
    for at in [0.0, 0.5, 1.25] {
        let sides = [false, true].map(|is_added| {
            let sides = parsed.iter().map(|(p, q)| (p.to_f64(), q.to_f64()));
            let term = |(p, q): (f64, f64)| match (p, q) {
                (p, 0.0) => p,
                (0.0, _) => 0.0,
                (p, q) => p * of_laplace(1.0, at - (p / q).ln()),
            };
            sides.map(|(p, q)| if is_added { (q, p) } else { (p, q) }).map(term).sum::<f64>()
        });
        let found = account.delta_of_directions(&Epsilon::new(exactly(at)).unwrap(), 12).unwrap().unwrap();
        for (found, truth) in found.iter().zip(sides) {
            near(&found.value, truth, 1e-13, &format!("at {at}"));
            assert!(found.met, "{found:?}");
        }
        near(&delta(&account, at), sides[0].max(sides[1]), 1e-13, "the larger");
    }
    // Keys of which the data decide.
    let keys = composition("laplace:1x2 unknown-key:discrete-laplace:1/2:40x3");
    let found = keys.epsilon("1e-3", 10).unwrap();
    assert!(found.met && keys.infinite_loss().is_some(), "{found:?}");
    // Keys with continuous noise: a new one is shown with the probability of the tail.
    let keys = composition("unknown-key:laplace:2:10");
    near(&keys.infinite_loss().unwrap().mass(12), (-4.5_f64).exp() / 2.0, 1e-15, "a new key");
    let shown = (-4.5_f64).exp() / 2.0;
    near(&delta(&keys, 0.25), of_laplace(0.5, 0.25).max(shown), 1e-13, "a known key");
    near(&delta(&keys, 3.0), shown, 1e-13, "a new key");
}

#[test]
fn epsilon_inverts_delta_and_the_second_enclosure_agrees() {
    for text in [
        "laplace:1x3",
        "laplace:10x30",
        "exponential:1x4",
        "laplace:2x2 gaussian:5",
        "laplace:1x2 pure:1/2 approximate:1:1e-9",
        "laplace:5x4 discrete-gaussian:5x3",
    ] {
        let account = composition(text);
        for target in ["1e-3", "1e-7"] {
            let target: Delta = target.parse().unwrap();
            let found = account.epsilon(&target, 10).unwrap();
            assert!(found.met, "{text:?}: {found:?}");
            let (lower, upper) = (found.value.lower_rational().unwrap(), found.value.upper_rational().unwrap());
            assert!(account.delta(upper, 12).unwrap().value.lower() <= &*target, "{text:?}");
            assert!(account.delta(lower, 12).unwrap().value.upper() >= &*target, "{text:?}");
            let second = account.second_epsilon(&account.evaluator(), &target, &found).unwrap();
            assert!(second.value.overlaps(&found.value), "{text:?}: {second:?}");
            // No account is smaller.
            if account.infinite_loss().is_none() {
                let renyi = conversions::renyi_epsilon(&account, &target).unwrap().epsilon;
                assert!(renyi.upper() >= found.value.lower(), "{text:?}");
            }
        }
    }
}

/// f of one count: 1 - e^x a, then e^-x / (4 a), then e^-x (1 - a).
#[test]
fn trade_off_functions_are_those_of_one_count_and_invert_themselves() {
    let x = 1.0_f64;
    let account = composition("laplace:1");
    for alpha in ["0", "1/100", "1/10", "1/5", "3/10", "1/2", "4/5", "1"] {
        let a = parse(alpha).unwrap().to_f64();
        let truth = if a <= (-x).exp() / 2.0 {
            1.0 - x.exp() * a
        } else if a <= 0.5 {
            (-x).exp() / (4.0 * a)
        } else {
            (-x).exp() * (1.0 - a)
        };
        let found = account.tradeoff(&parse(alpha).unwrap(), 10).unwrap();
        assert!(found.met, "{alpha}: {found:?}");
        near(&found.value, truth, 1e-12, alpha);
    }
    for text in ["laplace:1x3", "exponential:2x3", "laplace:2x2 approximate:1/2:1e-3"] {
        let account = composition(text);
        for alpha in ["1/50", "1/5", "3/5"] {
            let beta = account.tradeoff(&parse(alpha).unwrap(), 9).unwrap().value;
            let back = account.tradeoff(&exactly(beta.approximate()), 9).unwrap().value;
            near(&back, parse(alpha).unwrap().to_f64(), 1e-7, &format!("{text:?} at {alpha}"));
        }
        let many = account.tradeoff_curve(&[parse("1/5").unwrap()], 9).unwrap();
        assert!(many[0].value.overlaps(&account.tradeoff(&parse("1/5").unwrap(), 9).unwrap().value), "{text:?}");
    }
}

/// A pure guarantee of the same loss is at most as private, less noise too, and more counts; and scales times shifts do not matter.
#[test]
fn delta_is_monotone() {
    let at = |text: &str, epsilon: f64| delta(&composition(text), epsilon).approximate();
    for epsilon in [0.0, 0.4, 1.3, 2.6] {
        assert!(at("laplace:1x3", epsilon) < at("pure:1x3", epsilon));
        assert!(at("exponential:1x3", epsilon) < at("laplace:1x3", epsilon));
        assert!(at("laplace:1x3", epsilon) < at("laplace:9/10x3", epsilon));
        assert!(at("laplace:1x3", epsilon) < at("laplace:1x4", epsilon));
        assert_eq!(at("laplace:1x3", epsilon), at("laplace:7x3@7", epsilon));
    }
    // Small steps of many integers are nearly continuous noise.
    let close = [at("laplace:1x3", 0.7), at("discrete-laplace:1/900x3@900", 0.7)];
    assert!((close[0] / close[1] - 1.0).abs() < 1e-3, "{close:?}");
}

/// Many counts, by the contour and by the closed form.
#[test]
fn many_counts_are_answered() {
    for (text, target) in
        [("laplace:10x300", "1e-6"), ("laplace:100x100000", "1e-9"), ("exponential:1/20x2000", "1e-6")]
    {
        let account = composition(text);
        let found = account.epsilon(target.parse::<Delta>().unwrap(), 8).unwrap();
        let renyi = conversions::renyi_epsilon(&account, &target.parse().unwrap()).unwrap().epsilon;
        assert!(
            found.met && found.value.upper() < renyi.upper() && found.value.approximate() > 0.8 * renyi.approximate(),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn what_is_out_of_range_is_refused() {
    for (key, text, part) in [
        ("laplace", "0", "a scale from 1e-3 to 1e6"),
        ("laplace", "1e7", "a scale from 1e-3 to 1e6"),
        ("laplace", "1:2", "no more"),
        ("laplace", "1@1001", "from 1 to 1000"),
        ("laplace", "x", "x"),
        ("exponential", "0", "above 0"),
        ("exponential", "1:1", "no more"),
        ("exponential", "1x0", "1 to 10^12"),
    ] {
        let refused = Counts::parse(key, text).unwrap_err().to_string();
        assert!(refused.contains(part), "{key} {text}: {refused}");
    }
    assert!(composition("laplace:1").knot(&parse("0").unwrap(), 8).is_err());
}

#[test]
fn a_release_file_has_such_noise() {
    let file = |law: &str| {
        format!(
            "name='g'\ntitle='t'\nsource='s'\nneighbors='add-remove'\n[[level]]\nname='A'\n[[level.query]]\nname='q'\ncells=3\n{law}\n"
        )
    };
    let parsed = |law: &str| Release::parse(&file(law), "f").unwrap().composition(&[] as &[&str], None).unwrap();
    assert_eq!(parsed("law='laplace'\nscale='7/2'").counts(), counts("laplace:7/2x3"));
    assert_eq!(parsed("law='exponential'\nepsilon='1/2'").counts(), counts("exponential:1/2x3"));
    let refused = Release::parse(&file("law='laplace'\nepsilon=1"), "f").unwrap_err().to_string();
    assert!(refused.contains("scale"), "{refused}");
}
