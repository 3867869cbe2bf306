//! The tests of draws against their declared law. Each has a proven p-value for any law and any number of draws.

use rug::{Float, Rational};

use super::{
    asymptotic::chi_square_tail_approx,
    bins::Bins,
    declared::Declared,
    proven::{self, ProvenP},
    tally::{LAGS, Magnitudes, Pairs, Stream, Tally},
};
use crate::{
    error::Result,
    law::Law,
    numeric::{Enclosure, halving::bisect},
};

/// A law prepared for tests.
#[derive(Clone, Debug)]
pub struct Audited {
    /// The declared law.
    pub law: Declared,
    pub(super) bins: Bins,
    /// The law by its name, for the interval of its parameter; `None` for sums of draws.
    pub named: Option<Law>,
}

/// A test and its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// Its name, as `variance`.
    pub name: &'static str,
    /// The number of draws, or of pairs of draws.
    pub draws: u64,
    /// The statistic, an approximation.
    pub statistic: f64,
    /// The proven p-value.
    pub p: ProvenP,
    /// The statistic in words.
    pub what: String,
}

/// Numbers that are shown beside the tests: approximations that decide nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The number of draws.
    pub draws: u64,
    /// Mean, variance, skewness and kurtosis of the draws, without those beyond the reach.
    pub moments: [f64; 4],
    /// The number of draws beyond the reach, and the reach.
    pub beyond: (u64, i64),
    /// The variance of the law.
    pub variance: f64,
    /// The chi-square statistic over cells with an expectation of at least 5, its degrees of freedom and its asymptotic p-value.
    pub chi_square: (f64, u64, f64),
    /// The likelihood-ratio statistic over the same cells, and its asymptotic p-value.
    pub likelihood_ratio: (f64, f64),
}

/// All tests of one law.
#[derive(Clone, Debug, PartialEq)]
pub struct Tested {
    /// The tests.
    pub tests: Vec<Test>,
    /// Approximations beside them.
    pub shown: Shown,
}

/// A statistic that is a sum of scores of the draws: Hermite polynomials of the draws in standard deviations, so that each shows what
/// the others leave.
pub(super) struct Linear {
    pub name: &'static str,
    pub score: fn(f64) -> f64,
    about: &'static str,
}

pub(super) const MEAN: Linear = Linear { name: "mean", score: |z| z, about: "sum of the draws" };
pub(super) const SQUARES: Linear = Linear { name: "variance", score: |z| z * z, about: "sum of squares" };
pub(super) const MAGNITUDES: Linear = Linear { name: "scale", score: f64::abs, about: "sum of magnitudes" };
pub(super) const THIRD: Linear = Linear { name: "skewness", score: |z| z * (z * z - 3.0), about: "sum of z^3 - 3 z" };
pub(super) const FOURTH: Linear =
    Linear { name: "kurtosis", score: |z| z * z * (z * z - 6.0) + 3.0, about: "sum of z^4 - 6 z^2 + 3" };

impl Audited {
    /// The law of single draws.
    pub fn of_law(law: &Law) -> Result<Audited> {
        let declared = Declared::of_law(law)?;
        let bins = Bins::new(&declared);
        Ok(Audited { law: declared, bins, named: Some(law.clone()) })
    }

    /// A law that is given by its masses, as that of a sum.
    pub fn of_sum(law: Declared) -> Audited {
        let bins = Bins::new(&law);
        Audited { law, bins, named: None }
    }

    /// The statistics that are sums of scores; the second is the sufficient one for the parameter.
    pub(super) fn linear(&self) -> [&'static Linear; 4] {
        let is_laplace = self.named.as_ref().is_some_and(|law| law.sigma2().is_none());
        [&MEAN, if is_laplace { &MAGNITUDES } else { &SQUARES }, &THIRD, &FOURTH]
    }

    /// The tests of a histogram.
    pub fn tests(&self, tally: &Tally) -> Tested {
        let counts = self.bins.counts(tally);
        let mut tests: Vec<Test> = self.linear().into_iter().map(|of| self.linear_test(of, &counts, tally)).collect();
        tests.push(self.sign_test(tally));
        tests.push(self.parity_test(tally));
        tests.push(self.mass_test(&counts, tally.draws()));
        tests.push(self.tail_test(tally));
        tests.push(self.largest_test(tally));
        Tested { tests, shown: self.shown(&counts, tally) }
    }

    /// The tests of a stream: its histogram, its order, and repetitions.
    pub fn stream_tests(&self, stream: &Stream) -> Tested {
        let mut tested = self.tests(&stream.tally);
        let (near, far) = stream.lags.split_at(LAG_NAMES.len());
        tested.tests.extend(LAG_NAMES.into_iter().zip(near).map(|(name, pairs)| product_test(name, pairs)));
        tested.tests.extend(far_lags_test(far));
        tested.tests.push(agreement_test("signs", &stream.lags[0]));
        tested.tests.push(self.magnitude_test(&stream.magnitudes));
        if let Some(window) = stream.repeats.window() {
            let (many, first) = stream.repeats.found();
            let what = match first {
                None => format!("no stretch of {} draws occurs twice", stream.repeats.found_from_approx()),
                Some((a, b)) => {
                    format!("{many} windows of {window} draws occur twice, first those that end at draws {a} and {b}")
                }
            };
            let draws = stream.tally.draws();
            tested.tests.push(Test { name: "repeats", draws, statistic: many as f64, p: stream.repeats.p(), what });
        }
        tested
    }

    /// A sum of scores on the side of its expectation where it lies.
    fn linear_test(&self, of: &Linear, counts: &[u64], tally: &Tally) -> Test {
        let draws = tally.draws();
        let scores = self.bins.scores(of.score);
        let sum: i128 = scores.iter().zip(counts).map(|(score, count)| i128::from(*score) * i128::from(*count)).sum();
        let (p, z) = score_test(&self.bins, &scores, draws, sum);
        // Draws beyond the last bin have its score.
        let (last, score) = (self.bins.end(), self.bins.middle(self.bins.last()));
        let cut = match tally.at_least(last + 1) {
            0 => String::new(),
            many => format!(" ({many} of them beyond {last} or its negative, taken as {score} or its negative)"),
        };
        let what = format!("{}{cut}: {} standard deviations from its expectation", of.about, signed(z));
        Test { name: of.name, draws, statistic: z, p, what }
    }

    fn sign_test(&self, tally: &Tally) -> Test {
        let (draws, positive) = (tally.at_least(1), tally.side(1, true));
        let p = proven::binomial(draws, positive, &half());
        Test {
            name: "sign",
            draws,
            statistic: positive as f64,
            p,
            what: format!("{positive} of {draws} draws besides zero are positive"),
        }
    }

    fn parity_test(&self, tally: &Tally) -> Test {
        let (draws, even, mass) = (tally.draws(), tally.even(), self.law.even());
        let what = format!("{even} draws are even, expected {:.1}", draws as f64 * mass.approximate());
        Test { name: "parity", draws, statistic: even as f64, p: proven::binomial(draws, even, &mass), what }
    }

    /// The count of each value, or of each bin of a wide law: the least binomial p-value times the number of cells.
    fn mass_test(&self, counts: &[u64], draws: u64) -> Test {
        let approx = self.bins.approx();
        let cells: Vec<usize> = (0..counts.len()).filter(|at| draws as f64 * approx[*at] >= LEAST_EXPECTED).collect();
        let distance = |at: &usize| deviance(draws, counts[*at], approx[*at]);
        let worst = cells.iter().copied().max_by(|a, b| distance(a).total_cmp(&distance(b)));
        let Some(worst) = worst else {
            return Test { name: "masses", draws, statistic: 0.0, p: ProvenP::ONE, what: "too few draws".to_string() };
        };
        let k = worst as i64 - self.bins.last();
        let mass = self.bins.mass(&self.law, k);
        // The p-value of any one cell is an upper bound on the least one.
        let p = proven::binomial(draws, counts[worst], &mass).times(cells.len() as u64);
        let (count, expected) = (counts[worst], draws as f64 * mass.approximate());
        let what =
            format!("of {} cells the farthest is {}: {count}, expected {expected:.1}", cells.len(), self.bins.words(k));
        Test { name: "masses", draws, statistic: distance(&worst).sqrt(), p, what }
    }

    /// The thresholds of the tail test: the magnitudes with about these expected numbers of draws beyond.
    pub(super) fn thresholds(&self, draws: u64) -> Vec<i64> {
        let expects = |m: i64| draws as f64 * self.law.tail_approx(m);
        let mut found: Vec<i64> = TAIL_EXPECTED
            .iter()
            .filter(|expected| draws as f64 >= 2.0 * **expected)
            .filter_map(|expected| {
                // The tail decreases.
                let (mut below, mut at) = (0, self.law.reach() + 1);
                while at - below > 1 {
                    let middle = below + (at - below) / 2;
                    if expects(middle) < *expected { at = middle } else { below = middle }
                }
                (below > 0).then_some(below)
            })
            .collect();
        found.dedup();
        found
    }

    fn tail_test(&self, tally: &Tally) -> Test {
        let draws = tally.draws();
        let thresholds = self.thresholds(draws);
        let many = thresholds.len() as u64;
        let distance = |m: &i64| deviance(draws, tally.at_least(*m), self.law.tail_approx(*m));
        let Some(m) = thresholds.into_iter().max_by(|a, b| distance(a).total_cmp(&distance(b))) else {
            return Test { name: "tails", draws, statistic: 0.0, p: ProvenP::ONE, what: "too few draws".to_string() };
        };
        let (count, tail) = (tally.at_least(m), self.law.tail(m));
        // The p-value of any one threshold is an upper bound on the least one.
        let p = proven::binomial(draws, count, &tail).times(many);
        let expected = draws as f64 * tail.approximate();
        let what = format!(
            "of {many} thresholds the farthest is magnitude {m}: {count} draws from there on, expected {expected:.1}"
        );
        Test { name: "tails", draws, statistic: count as f64, p, what }
    }

    fn largest_test(&self, tally: &Tally) -> Test {
        let (draws, largest) = (tally.draws(), tally.largest());
        let m = i64::try_from(largest).unwrap_or(i64::MAX - 1).min(i64::MAX - 1);
        let too_large = if m == 0 { ProvenP::ONE } else { proven::at_least_one(draws, self.law.tail(m).upper()) };
        let too_small = proven::none(draws, self.law.tail(m + 1).lower());
        let p = if draws == 0 { ProvenP::ONE } else { too_large.min(too_small).times(2) };
        let expected = draws as f64 * self.law.tail_approx(m);
        let what = format!("the largest magnitude is {largest}: expected number of draws from there on {expected:.3}");
        Test { name: "largest", draws, statistic: largest as f64, p, what }
    }

    fn magnitude_test(&self, of: &Magnitudes) -> Test {
        let q = self.law.tail(i64::try_from(of.threshold).unwrap_or(i64::MAX));
        let rest = Enclosure::double(1.0, 160).sub(&q);
        let both = q.mul(&q).add(&rest.mul(&rest)).clamp(0.0, 1.0);
        let (pairs, agree, m) = (of.pairs, of.agree, of.threshold);
        let what = format!(
            "in {agree} of {pairs} pairs of neighbors both or neither reach {m}, expected {:.1}",
            pairs as f64 * both.approximate()
        );
        Test {
            name: "magnitudes",
            draws: pairs,
            statistic: agree as f64,
            p: proven::binomial(pairs, agree, &both),
            what,
        }
    }

    fn shown(&self, counts: &[u64], tally: &Tally) -> Shown {
        let draws = tally.draws();
        let expected = self.bins.approx().iter().map(|mass| mass * draws as f64);
        let (mut chi, mut ratio, mut cells) = (0.0, 0.0, 0_u64);
        // Cells of small expectation are joined to one.
        let mut rest = (0.0, 0.0);
        let mut add = |count: f64, expected: f64| {
            chi += (count - expected).powi(2) / expected;
            ratio += if count > 0.0 { 2.0 * count * libm::log(count / expected) } else { 0.0 };
            cells += 1;
        };
        for (count, expected) in counts.iter().zip(expected) {
            if expected >= LEAST_EXPECTED {
                add(*count as f64, expected);
            } else {
                rest = (rest.0 + *count as f64, rest.1 + expected);
            }
        }
        if rest.1 >= LEAST_EXPECTED {
            add(rest.0, rest.1);
        }
        let free = cells.saturating_sub(1);
        Shown {
            draws,
            moments: tally.moments_approx(),
            beyond: tally.beyond(),
            variance: self.law.variance_approx(),
            chi_square: (chi, free, chi_square_tail_approx(free, chi)),
            likelihood_ratio: (ratio.max(0.0), chi_square_tail_approx(free, ratio.max(0.0))),
        }
    }

    /// Observed and declared masses by bin, for a drawing: the middle of the bin, both masses, and the standard deviation of the
    /// observed one. Approximations.
    pub fn masses_approx(&self, tally: &Tally) -> Vec<(i64, f64, f64, f64)> {
        let draws = tally.draws().max(1) as f64;
        let counts = self.bins.counts(tally);
        let row = |(at, count): (usize, &u64)| {
            let mass = self.bins.approx()[at];
            let spread = (mass * (1.0 - mass) / draws).sqrt();
            (self.bins.middle(at as i64 - self.bins.last()), *count as f64 / draws, mass, spread)
        };
        counts.iter().enumerate().map(row).collect()
    }

    /// The number of integers in each of these bins.
    pub fn bin_width(&self) -> i64 {
        self.bins.width()
    }
}

/// Cells with a smaller expectation are not compared one by one.
const LEAST_EXPECTED: f64 = 5.0;
const TAIL_EXPECTED: [f64; 9] = [10_000.0, 3000.0, 1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0];
/// The lags with a test of their own; all others have one together.
const LAG_NAMES: [&str; 4] = ["lag 1", "lag 2", "lag 3", "lag 4"];

/// A number of standard deviations as text.
fn signed(z: f64) -> String {
    if z.abs() < 1e6 { format!("{z:+.2}") } else { format!("{z:+.2e}") }
}

fn half() -> Enclosure {
    Enclosure::rational(&Rational::from((1, 2)), 64)
}

/// Twice the log-likelihood ratio of a count against its expectation: a distance in squared standard deviations.
fn deviance(n: u64, k: u64, p: f64) -> f64 {
    let (n, k) = (n as f64, k as f64);
    let part = |k: f64, e: f64| if k > 0.0 && e > 0.0 { k * libm::log(k / e) } else { 0.0 };
    (2.0 * (part(k, n * p) + part(n - k, n * (1.0 - p)))).max(0.0)
}

/// The two-sided proven p-value of a sum of scores, and its distance from the expectation in standard deviations.
pub(super) fn score_test(bins: &Bins, scores: &[i64], draws: u64, sum: i128) -> (ProvenP, f64) {
    let approx = bins.approx();
    let moment = |k: i32| approx.iter().zip(scores).map(|(mass, score)| mass * (*score as f64).powi(k)).sum::<f64>();
    let (mean, square) = (moment(1), moment(2));
    let spread = (square - mean * mean).max(0.0).sqrt();
    let n = draws as f64;
    let z = if draws == 0 || spread == 0.0 { 0.0 } else { (sum as f64 - n * mean) / (n.sqrt() * spread) };
    if z == 0.0 {
        return (ProvenP::ONE, z);
    }
    let s = tilt(approx, scores, sum as f64 / n);
    // Each side has half of the level.
    (proven::chernoff(bins.upper(), scores, draws, sum, s).times(2), z)
}

/// The tilt s at which the mean of the scores is about `target`: an approximation, as any s gives a bound.
pub(super) fn tilt(masses: &[f64], scores: &[i64], target: f64) -> f64 {
    let mean_at = |s: f64| {
        let most = scores.iter().map(|score| s * *score as f64).fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut weighted) = (0.0, 0.0);
        for (mass, score) in masses.iter().zip(scores) {
            let weight = mass * libm::exp(s * *score as f64 - most);
            sum += weight;
            weighted += weight * *score as f64;
        }
        weighted / sum
    };
    let up = target > mean_at(0.0);
    let is_before = |s: f64| if up { mean_at(s) < target } else { mean_at(s) > target };
    let largest = scores.iter().map(|score| score.unsigned_abs()).max().unwrap_or(1).max(1) as f64;
    // Beyond this tilt only the extreme scores remain.
    let end = 500.0 / largest.min(65_536.0);
    let mut step = 1e-9 / largest;
    while step < end && is_before(if up { step } else { -step }) {
        step *= 2.0;
    }
    let [near, far] = bisect([step / 2.0, step], 24, |s| is_before(if up { s } else { -s }));
    let s = near.midpoint(far).min(end);
    if up { s } else { -s }
}

/// Whether products of pairs of draws are larger than those of fair signs.
pub fn product_test(name: &'static str, pairs: &Pairs) -> Test {
    let (sum, squares) = pairs.sums();
    let z = pairs.z_approx();
    let what = format!("sum of products of {} pairs: {} standard deviations from 0", pairs.pairs(), signed(z));
    Test { name, draws: pairs.pairs(), statistic: z, p: proven::fair_signs(sum, squares), what }
}

/// The farthest of the lags without a test of their own: its p-value times their number. None without pairs.
fn far_lags_test(lags: &[Pairs]) -> Option<Test> {
    let tests = lags.iter().map(|pairs| product_test("later lags", pairs));
    let (at, farthest) = tests.enumerate().min_by(|(_, a), (_, b)| a.p.order(b.p))?;
    let (first, last) = (LAG_NAMES.len() + 1, LAGS);
    let what = format!("of lags {first} to {last} the farthest is {}: {}", first + at, farthest.what);
    Some(Test { p: farthest.p.times(lags.len() as u64), what, ..farthest })
}

/// Whether the signs of pairs agree as often as fair coins do.
pub fn agreement_test(name: &'static str, pairs: &Pairs) -> Test {
    let (signed, agree) = pairs.signs();
    let what = format!("in {agree} of {signed} pairs of draws besides zero the signs agree");
    Test { name, draws: signed, statistic: agree as f64, p: proven::binomial(signed, agree, &half()), what }
}

/// An upper bound as a double, for decisions against a level.
pub fn at_most(p: ProvenP, level: &Rational) -> bool {
    let value: Float = p.value();
    value <= *level
}
