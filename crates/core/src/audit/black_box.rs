//! Lower bounds on the privacy loss of any program, from its outputs alone.
//!
//! P is the law of the outputs of data with a record, Q that without it; all runs are independent. (epsilon, delta) of the program says P(S) <= e^epsilon Q(S) + delta for every
//! event S, and the same with P and Q exchanged. One event is chosen by every other run, and is a fixed set of outputs for the rest. On the rest, p <= P(S) and Q(S) <= q hold together with probability at least
//! 1 - errors, each by the exact binomial bound (Clopper & Pearson 1934) at half of that. Where they do,
//!
//! ```text
//! epsilon >= ln((p - delta) / q)    and, from the complement of S,    epsilon >= ln((1 - q - delta) / (1 - p)),
//! ```
//!
//! and the test that reports S has a type I error of at most q and a type II error of at most 1 - p. Several events share the errors equally (Bonferroni); several claims are
//! refuted by Holm's procedure.

use std::collections::HashSet;

use rug::{Float, Rational, float::Round};

use super::{
    battery::at_most,
    proven::binomial_at_least,
    runs::{Column, Runs, Words, number},
};
use crate::{error::Result, numeric::Enclosure};

/// The most thresholds of a column of numbers that are tried, and the most different words.
const MOST_THRESHOLDS: usize = 1000;
const MOST_WORDS: usize = 20_000;
const BITS: u32 = 128;

/// An event of the outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The name of the column that decides.
    pub column: String,
    /// Its outputs in that column.
    pub outputs: Outputs,
}

/// The outputs of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Outputs {
    /// All numbers of at least this.
    AtLeast(f64),
    /// All numbers of at most this.
    AtMost(f64),
    /// These words.
    OneOf(Vec<String>),
}

impl Event {
    /// In words, with at most this number of outputs.
    pub fn in_words(&self, most: usize) -> String {
        let column = &self.column;
        match &self.outputs {
            Outputs::AtLeast(number) => format!("{column} >= {number}"),
            Outputs::AtMost(number) => format!("{column} <= {number}"),
            Outputs::OneOf(words) => {
                let shown = words[..words.len().min(most)].join(", ");
                let more = if words.len() > most { format!(" and {} more", words.len() - most) } else { String::new() };
                format!("{column} is one of {{{shown}}}{more}")
            }
        }
    }
}

/// How often an event occurred in the runs that test it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The runs with it.
    pub hits: u64,
    /// All of them.
    pub runs: u64,
}

/// An event with what was seen of it, and the bounds on its probabilities at a delta.
#[derive(Clone, Debug)]
pub struct Found {
    /// The delta.
    pub delta: Rational,
    /// The event that one half of the runs chose.
    pub event: Event,
    /// Occurrences in the other half of the runs with the record.
    pub with: Seen,
    /// Occurrences in the other half of the runs without it.
    pub without: Seen,
    /// A lower bound on the probability of the event with the record.
    pub with_lower: Rational,
    /// An upper bound on that without it; both hold together.
    pub without_upper: Rational,
    /// A lower bound on epsilon, rounded down; at least zero.
    pub epsilon_lower: Float,
}

/// A claim of a program, and whether the runs refute it.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its epsilon.
    pub epsilon: Rational,
    /// Its delta.
    pub delta: Rational,
    /// Whether the runs refute it.
    pub is_refuted: bool,
}

/// The bounds and decisions that runs prove.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// One for each delta.
    pub found: Vec<Found>,
    /// The decisions.
    pub claims: Vec<Claim>,
}

impl Bounds {
    /// The bounds at these deltas and the decisions on these claims (epsilon, delta), each kind wrong with probability at most `errors`.
    pub fn of_runs(
        runs: &Runs,
        deltas: &[Rational],
        claims: &[(Rational, Rational)],
        errors: &Rational,
    ) -> Result<Bounds> {
        let events: Vec<Chosen> = deltas.iter().map(|delta| Chosen::of_runs(runs, delta, errors)).collect();
        let level = Rational::from(errors / (2 * deltas.len().max(1) as u64));
        let found = events.iter().zip(deltas).map(|(chosen, delta)| chosen.found(delta, &level)).collect();
        let of_claims: Vec<Chosen> = claims.iter().map(|(_, delta)| Chosen::of_runs(runs, delta, errors)).collect();
        let refutes = |at: usize, level: Rational| of_claims[at].refutes(&claims[at].0, &claims[at].1, &level);
        let refuted = holm(claims.len(), errors, refutes);
        let claims = claims.iter().zip(refuted).map(|((epsilon, delta), is_refuted)| Claim {
            epsilon: epsilon.clone(),
            delta: delta.clone(),
            is_refuted,
        });
        Ok(Bounds { found, claims: claims.collect() })
    }
}

/// Holm's procedure: of those left, one that is refuted at an equal share of the errors is refuted, as long as there is one.
fn holm(count: usize, errors: &Rational, refutes: impl Fn(usize, Rational) -> bool) -> Vec<bool> {
    let mut refuted = vec![false; count];
    while let left @ 1.. = refuted.iter().filter(|refuted| !**refuted).count() {
        // Half for each of both bounds.
        let level = Rational::from(errors / (2 * left as u64));
        let next = (0..count).find(|at| !refuted[*at] && refutes(*at, level.clone()));
        let Some(next) = next else { break };
        refuted[next] = true;
    }
    refuted
}

/// The largest p of 53 bits, as far as halving finds it, with P[B >= hits] <= level for B binomial of that p: the true probability is at least p but with probability level.
pub(super) fn probability_lower(seen: Seen, level: &Rational) -> Rational {
    let (mut low, mut high) = (0.0_f64, seen.hits as f64 / seen.runs as f64);
    for _ in 0..60 {
        let middle = low.midpoint(high);
        let is_rejected = at_most(binomial_at_least(seen.runs, seen.hits, &Float::with_val(53, middle)), level);
        if middle > 0.0 && is_rejected { low = middle } else { high = middle }
    }
    // Zero is a lower bound in any case.
    Rational::from_f64(low).unwrap_or_default()
}

/// The same from above, by the runs without the event.
pub(super) fn probability_upper(seen: Seen, level: &Rational) -> Rational {
    1 - probability_lower(Seen { hits: seen.runs - seen.hits, ..seen }, level)
}

/// An event that one half of the runs chose, with what the other half shows.
struct Chosen {
    event: Event,
    with: Seen,
    without: Seen,
}

impl Chosen {
    /// The event with the largest bound at this delta, as far as the runs that choose foresee it.
    fn of_runs(runs: &Runs, delta: &Rational, errors: &Rational) -> Chosen {
        let score =
            Score { delta: delta.to_f64(), ln_inverse: -libm::log(errors.to_f64() / 2.0), tested: runs.testing() };
        let all = runs.columns.iter().filter_map(|(name, column)| best_of(name, column, &score));
        let best = all.reduce(|best, next| if next.0 > best.0 { next } else { best });
        // Of words that are too many to sort nothing is tried: the event of every output has no bound.
        let nothing = || Event { column: runs.columns[0].0.clone(), outputs: Outputs::OneOf(Vec::new()) };
        let event = best.map_or_else(nothing, |(_, event)| event);
        let [with, without] = seen(runs, &event);
        Chosen { event, with, without }
    }

    fn found(&self, delta: &Rational, level: &Rational) -> Found {
        let (with_lower, without_upper) = (probability_lower(self.with, level), probability_upper(self.without, level));
        let epsilon_lower = epsilon_lower(&with_lower, &without_upper, delta);
        Found {
            delta: delta.clone(),
            event: self.event.clone(),
            with: self.with,
            without: self.without,
            with_lower,
            without_upper,
            epsilon_lower,
        }
    }

    /// Whether the claim is false, where both bounds hold at this level.
    fn refutes(&self, epsilon: &Rational, delta: &Rational, level: &Rational) -> bool {
        exceeds(&probability_lower(self.with, level), &probability_upper(self.without, level), epsilon, delta)
    }
}

/// Whether P(S) > e^epsilon Q(S) + delta, or the same of the complement with both exchanged, where p <= P(S) and Q(S) <= q.
pub(super) fn exceeds(p: &Rational, q: &Rational, epsilon: &Rational, delta: &Rational) -> bool {
    let factor = Enclosure::rational(epsilon, BITS).exp();
    let exceeds = |own: &Rational, other: &Rational| {
        // At most e^epsilon other + delta, rounded up.
        let most = factor.mul(&Enclosure::rational(other, BITS)).add(&Enclosure::rational(delta, BITS));
        *most.upper() < *own
    };
    exceeds(p, q) || exceeds(&Rational::from(1 - q), &Rational::from(1 - p))
}

/// The larger of ln((p - delta) / q) and ln((1 - q - delta) / (1 - p)), rounded down, and of zero.
fn epsilon_lower(p: &Rational, q: &Rational, delta: &Rational) -> Float {
    let of = |own: Rational, other: &Rational| -> Option<Float> {
        let left = own - delta;
        // p < 1 and q > 0, because no bound reaches them.
        (left > 0 && *other > 0).then(|| Enclosure::rational(&(left / other), BITS).ln().lower().clone())
    };
    let both = [of(p.clone(), q), of(Rational::from(1 - q), &Rational::from(1 - p))];
    let zero = Float::with_val(53, 0);
    let largest = both.into_iter().flatten().fold(zero, |most, next| if next > most { next } else { most });
    Float::with_val_round(53, largest, Round::Down).0
}

/// How often an event occurs in the runs that test it, with the record and without it.
fn seen(runs: &Runs, event: &Event) -> [Seen; 2] {
    let column = runs.columns.iter().position(|(own, _)| *own == event.column).unwrap_or(runs.columns.len());
    let members: HashSet<&str> = match &event.outputs {
        Outputs::OneOf(words) => words.iter().map(String::as_str).collect(),
        Outputs::AtLeast(_) | Outputs::AtMost(_) => HashSet::new(),
    };
    let is_in = |output: &str| match &event.outputs {
        Outputs::AtLeast(least) => number(output).is_some_and(|own| own >= *least),
        Outputs::AtMost(most) => number(output).is_some_and(|own| own <= *most),
        Outputs::OneOf(_) => members.contains(output),
    };
    let [with, without] = runs.tested(column).map(|outputs| outputs.filter(|output| is_in(output)).count() as u64);
    let [all_with, all_without] = runs.testing().map(|count| count as u64);
    [Seen { hits: with, runs: all_with }, Seen { hits: without, runs: all_without }]
}

/// An approximation of the bound that an event will have.
struct Score {
    delta: f64,
    /// ln of the inverse of the level.
    ln_inverse: f64,
    /// The runs that will test it.
    tested: [usize; 2],
}

impl Score {
    /// By the shares of the runs with the record and without it that have the event.
    fn value(&self, with: f64, without: f64) -> f64 {
        let p = self.lower_approx(with, self.tested[0]);
        let q = 1.0 - self.lower_approx(1.0 - without, self.tested[1]);
        let ln = |own: f64, other: f64| {
            if own > self.delta { libm::log((own - self.delta) / other) } else { f64::NEG_INFINITY }
        };
        ln(p, q).max(ln(1.0 - q, 1.0 - p))
    }

    /// The p below a share whose divergence from it, times the runs, is ln of the inverse of the level (Chernoff).
    fn lower_approx(&self, share: f64, runs: usize) -> f64 {
        let part = |share: f64, p: f64| if share > 0.0 { share * libm::log(share / p) } else { 0.0 };
        let divergence = |p: f64| part(share, p) + part(1.0 - share, 1.0 - p);
        let (mut low, mut high) = (0.0, share);
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            if runs as f64 * divergence(middle) > self.ln_inverse { low = middle } else { high = middle }
        }
        low
    }
}

/// The event of a column with the largest score.
fn best_of(name: &str, column: &Column, score: &Score) -> Option<(f64, Event)> {
    let name = name.to_string();
    match column {
        Column::Numbers(both) => {
            let sorted = both.each_ref().map(|all| {
                let mut chosen = all.clone();
                chosen.sort_by(f64::total_cmp);
                chosen
            });
            let share = |of: usize, below: f64, or_equal: bool| {
                let all = &sorted[of];
                let count = all.partition_point(|own| *own < below || or_equal && *own == below);
                count as f64 / all.len() as f64
            };
            let each = thresholds(&sorted).into_iter().flat_map(|number| {
                let above = score.value(1.0 - share(0, number, false), 1.0 - share(1, number, false));
                let below = score.value(share(0, number, true), share(1, number, true));
                [(above, Outputs::AtLeast(number)), (below, Outputs::AtMost(number))]
            });
            let (own, outputs) = each.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
            Some((own, Event { column: name, outputs }))
        }
        Column::Words(Words { words, at }) => {
            let counts = at.each_ref().map(|at| {
                let mut counts = vec![0_u64; words.len()];
                at.iter().for_each(|own| counts[*own as usize] += 1);
                counts
            });
            let totals = counts.each_ref().map(|counts| counts.iter().sum::<u64>() as f64);
            let mut order: Vec<usize> = (0..words.len()).filter(|at| counts[0][*at] + counts[1][*at] > 0).collect();
            if order.len() > MOST_WORDS {
                return None;
            }
            // Smoothed, so that words that were seen once come in between.
            let ratio =
                |at: usize| (counts[0][at] as f64 + 0.5) / totals[0] / ((counts[1][at] as f64 + 0.5) / totals[1]);
            order.sort_by(|a, b| ratio(*b).total_cmp(&ratio(*a)).then(a.cmp(b)));
            let (mut hits, mut best) = ([0_u64; 2], None::<(f64, usize)>);
            for (length, at) in order.iter().enumerate() {
                hits = [hits[0] + counts[0][*at], hits[1] + counts[1][*at]];
                let own = score.value(hits[0] as f64 / totals[0], hits[1] as f64 / totals[1]);
                if best.is_none_or(|(most, _)| own > most) {
                    best = Some((own, length + 1));
                }
            }
            let (own, length) = best?;
            let words = order[..length].iter().map(|at| words[*at].clone()).collect();
            Some((own, Event { column: name, outputs: Outputs::OneOf(words) }))
        }
    }
}

/// All numbers of both, or quantiles of them and the outermost.
fn thresholds(sorted: &[Vec<f64>; 2]) -> Vec<f64> {
    let mut all: Vec<f64> = sorted.iter().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    if all.len() <= MOST_THRESHOLDS {
        return all;
    }
    const OUTERMOST: usize = MOST_THRESHOLDS / 10;
    let (last, step) = (all.len() - 1, all.len().div_ceil(MOST_THRESHOLDS - 2 * OUTERMOST));
    let is_tried = |at: usize| at < OUTERMOST || at + OUTERMOST > last || at.is_multiple_of(step);
    (0..all.len()).filter(|at| is_tried(*at)).map(|at| all[at]).collect()
}

#[cfg(test)]
mod tests {
    use rug::{Integer, ops::Pow};

    use super::*;
    use crate::numeric::rational::parse;

    fn binomial(n: u32, k: u32, p: &Rational) -> Rational {
        Rational::from(Integer::from(n).binomial(k)) * p.clone().pow(k) * Rational::from(1 - p).pow(n - k)
    }

    /// All outcomes of few runs: both bounds are wrong with probability at most the level each, and hardly less.
    #[test]
    fn bounds_hold_as_often_as_they_say() {
        for (n, p) in [(1_u32, (1, 3)), (5, (1, 2)), (12, (1, 50)), (20, (9, 10))] {
            let p = Rational::from(p);
            for level in ["1/40", "1/5"].map(|level| parse(level).unwrap()) {
                let seen = |hits: u32| Seen { hits: hits.into(), runs: n.into() };
                let wrong_low: Rational =
                    (0..=n).filter(|k| probability_lower(seen(*k), &level) > p).map(|k| binomial(n, k, &p)).sum();
                let wrong_high: Rational =
                    (0..=n).filter(|k| probability_upper(seen(*k), &level) < p).map(|k| binomial(n, k, &p)).sum();
                assert!(wrong_low <= level && wrong_high <= level, "{n} {p} {wrong_low} {wrong_high}");
            }
        }
        // All of ten: p^10 = 1/40.
        let all = probability_lower(Seen { hits: 10, runs: 10 }, &parse("1/40").unwrap()).to_f64();
        assert!((all - libm::pow(0.025, 0.1)).abs() < 1e-9);
        assert_eq!(probability_lower(Seen { hits: 0, runs: 10 }, &parse("1/40").unwrap()), 0);
    }

    /// Numbers from a fixed sequence, as a program without a random generator makes them.
    struct Sequence(u64);

    impl Sequence {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / 9_007_199_254_740_992.0
        }
    }

    fn runs(count: usize, mut output: impl FnMut(bool) -> String) -> Runs {
        let lines = [true, false].map(|is_with| (0..count).map(|_| output(is_with)).collect());
        Runs::of_lines(lines, ["with.txt", "without.txt"]).unwrap()
    }

    /// Randomized response of epsilon 1 keeps a claim of 1 and breaks one of 0.9; one that is always right beside it has no bound at its delta.
    #[test]
    fn true_claims_stand_and_false_ones_fall() {
        let mut random = Sequence(1);
        let truth = libm::exp(1.0) / (1.0 + libm::exp(1.0));
        let response =
            runs(40_000, |is_with| ["no", "yes"][usize::from((random.next() < truth) == is_with)].to_string());
        let zero = Rational::new();
        let claim = |epsilon: &str| (parse(epsilon).unwrap(), zero.clone());
        let errors = parse("1/20").unwrap();
        let bounds =
            Bounds::of_runs(&response, std::slice::from_ref(&zero), &[claim("1"), claim("0.9")], &errors).unwrap();
        assert_eq!(bounds.claims.iter().map(|claim| claim.is_refuted).collect::<Vec<_>>(), [false, true]);
        let found = &bounds.found[0];
        assert!(found.epsilon_lower > 0.93 && found.epsilon_lower < 1.0, "{}", found.epsilon_lower);
        assert_eq!(found.event.outputs, Outputs::OneOf(vec!["yes".to_string()]));
        // With probability 1/50 the program names the record: no epsilon at a smaller delta, and nothing above it.
        let shown = runs(40_000, |is_with| {
            let draw = random.next();
            if is_with && draw < 0.02 { "found".to_string() } else { format!("{}", (draw * 10.0).floor()) }
        });
        let at = ["0", "0.01", "0.03"].map(|delta| parse(delta).unwrap());
        let bounds = Bounds::of_runs(&shown, &at, &[], &errors).unwrap();
        let [none, less, more] = [0, 1, 2].map(|at| bounds.found[at].epsilon_lower.to_f64());
        assert!(none > 3.0 && less > 2.5 && more < 0.1, "{none} {less} {more}");
    }

    /// Sums with Laplace noise of scale 1, twice: thresholds find the shift of one column among two.
    #[test]
    fn thresholds_find_a_shift() {
        let mut random = Sequence(7);
        let shifted = runs(30_000, |is_with| {
            let mut laplace = || {
                let u = random.next() - 0.5;
                -libm::copysign(libm::log(1.0 - 2.0 * u.abs()), u)
            };
            format!("{},{}", laplace(), laplace() + if is_with { 1.0 } else { 0.0 })
        });
        let bounds = Bounds::of_runs(&shifted, &[Rational::new()], &[], &parse("0.05").unwrap()).unwrap();
        let found = &bounds.found[0];
        assert!(found.epsilon_lower > 0.85 && found.epsilon_lower < 1.0, "{found:?}");
        assert!(found.event.in_words(5).starts_with("column 2"), "{}", found.event.in_words(5));
    }

    /// Of claims that are true, with equality, no more than the errors are refuted.
    #[test]
    fn true_claims_are_refuted_as_seldom_as_stated() {
        let mut random = Sequence(11);
        let truth = libm::exp(1.0) / (1.0 + libm::exp(1.0));
        let refuted = (0..200).filter(|_| {
            let response = runs(200, |is_with| u8::from((random.next() < truth) == is_with).to_string());
            let claims = [(Rational::from(1), Rational::new())];
            Bounds::of_runs(&response, &[], &claims, &parse("1/5").unwrap()).unwrap().claims[0].is_refuted
        });
        // At most 1/5 by the theorem, at most 1/10 for one side: 40 and 20 of 200.
        assert!(refuted.count() <= 30);
    }
}
