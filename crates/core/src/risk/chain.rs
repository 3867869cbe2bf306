//! How often the adversary who uses three or more levels decides correctly: a sum over all outputs above and beside.
//!
//! Counts are relative to m. Let g_i(a) = exp(-rho_i a^2), and let h_i be the mass of the noise in the sum over the
//! other groups of level i. The likelihood of all outputs from level i upwards is a function of X_i = c,
//!
//! A_i(c) = g_i(x_i - c) S_i(c),   S_i(c) = sum over l >= 0 of h_i(y_i - l) A_(i+1)(c + l),   S_L = 1,
//!
//! and the adversary decides for the target where exp(rho_1 (2 n - 1)) (p / (1 - p)) W_1 > W_0 with W_k = sum over j >=
//! 0 of h_1(y_1 - j) A_2(k + j). This is for the uniform prior, the only one for three or more levels.
//!
//! As for two levels ([`decision`](super::decision)) the threshold of n does not fall as y_1 grows. g_i, h_i and the
//! indicator of l >= 0 are log-concave, so S_i, a convolution of log-concave functions, and A_i are log-concave too
//! (Hoggar 1974). Then A_2(1 + j) / A_2(j) falls with j, and a larger y_1 moves the weight of W_0 to larger j. So if
//! two y_1 have the same threshold, every y_1 between them has it.
//!
//! The computation is in doubles with outward bounds. Each output is weighted by a lower bound on its probability. The
//! sum of these lower bounds subtracted from 1 bounds the error from outputs that are not visited and from the gap
//! between bound and truth; the enclosure is widened by it. If doubles do not decide a threshold, the enclosure covers
//! both candidates.

use rug::Rational;

use super::{
    decision::Decision,
    exp, first_true,
    hierarchical::{Hierarchy, Upper},
    odds,
    others::{MassTable, check_count},
    single::Attack,
};
use crate::{
    error::{Error, Result},
    numeric::{Enclosure, parallel, precision::bits},
};

/// Limit on the number of products of doubles, about ten seconds of work.
const MOST_WORK: f64 = 2e10;
/// Upper bound on twice the relative rounding error of an operation on doubles, 2^-53.
const ROUNDING: f64 = 2.5e-16;

/// Lower and upper bound on a number.
type Pair = (f64, f64);

/// The noise of a published sum over other groups.
struct Beside {
    /// The true sum over the other groups.
    truth: i64,
    /// Outputs are visited up to this distance from the truth.
    reach: i64,
    /// Bounds on the masses of the noise, from `first`; every other mass is at most `slack`.
    masses: Vec<Pair>,
    first: i64,
    slack: f64,
}

/// A published count above the lowest level.
struct Above {
    /// The true count.
    truth: i64,
    /// Outputs are visited up to this distance from the truth.
    reach: i64,
    /// Lower bounds on the mass of the noise at 0, 1, ... up to the reach.
    masses: Vec<f64>,
    /// Bounds on exp(-rho a^2) at a = 0, 1, ...; beyond, it is at most the last upper bound.
    decays: Vec<Pair>,
    /// The first and the last count at which its likelihood is computed.
    counts: (i64, i64),
}

/// Sums over outputs, each weighted by a lower bound on its probability.
#[derive(Clone, Copy, Default)]
struct Sums {
    visited: f64,
    correct: Pair,
    gained: Pair,
    lost: Pair,
}

/// The tables that do not depend on the output.
struct Chain {
    present: bool,
    above: Vec<Above>,
    beside: Vec<Beside>,
    /// Bounds on (1 - p) / p exp(-rho_1 (2 n - 1)), n from some first one.
    against: Vec<Pair>,
    /// Bounds on the probability that the released n is at that index or above; one entry more than `against`.
    decided: Vec<Pair>,
    /// The threshold, as an index, of the adversary who sees the lowest level alone.
    alone: usize,
}

impl Hierarchy {
    /// The probability that the decision for the larger posterior is correct, over all outputs, if the true counts of
    /// the levels are X_1, X_2, .... For two levels it has relative width 10^-digits. For more levels it reaches that
    /// width up to about eleven digits, unless an output of non-negligible probability is a tie.
    pub fn correct_decision_at(&self, truth: &[i64], digits: u32) -> Result<Decision> {
        if truth.len() != self.rhos.len() {
            let (given, levels) = (truth.len(), self.rhos.len());
            return Err(Error::conflict(format!("{given} true counts for {levels} levels: give one for each level")));
        }
        if let [x1, x2] = *truth {
            return self.correct_decision(super::decision::TrueCounts { x1, x2 }, digits);
        }
        self.check_chain(truth)?;
        Chain::new(self, truth, bits(digits, 10))?.decision(digits)
    }

    fn check_chain(&self, truth: &[i64]) -> Result<()> {
        if self.upper != Upper::Uniform {
            return Err(Error::unsuitable("with more than two levels the prior of X2 must be uniform"));
        }
        truth.iter().try_for_each(|count| check_count("a true count", *count))?;
        if truth[0] != self.known && truth[0] != self.known + 1 {
            let expected = format!("exactly {} or {}: the known count or one more", self.known, self.known + 1);
            return Err(Error::out_of_range("the true x1", truth[0], &expected));
        }
        for (level, pair) in truth.windows(2).enumerate() {
            let what = format!("the true x{}", level + 2);
            if pair[1] < pair[0] {
                let expected = format!("at least {}, as x{} is a part of it", pair[0], level + 1);
                return Err(Error::out_of_range(&what, pair[1], &expected));
            }
            if self.others[level].count() == 0 && pair[1] != pair[0] {
                let expected = format!("exactly {}, as x{}: there are no other groups", pair[0], level + 1);
                return Err(Error::out_of_range(&what, pair[1], &expected));
            }
        }
        Ok(())
    }
}

impl Beside {
    fn new(table: &MassTable, truth: i64, reach: i64) -> Beside {
        let slack = table.slack().doubles().1;
        let masses = (table.first()..=table.last()).map(|y| {
            let (low, high) = table.stored(y).doubles();
            (low.max(0.0), high + slack)
        });
        Beside { truth, reach, masses: masses.collect(), first: table.first(), slack }
    }

    /// Bounds on the mass of the noise at y.
    fn at(&self, y: i64) -> Pair {
        let index = usize::try_from(y - self.first).ok();
        index.and_then(|index| self.masses.get(index)).copied().unwrap_or((0.0, self.slack))
    }
}

impl Above {
    /// Bounds on exp(-rho a^2).
    fn decay(&self, a: i64) -> Pair {
        let beyond = || (0.0, self.decays.last().map_or(1.0, |last| last.1));
        self.decays.get(a.unsigned_abs() as usize).copied().unwrap_or_else(beyond)
    }

    /// The first and the last count, from 0, at which exp(-rho (x - c)^2) is computed for a published x; none if the
    /// last is below the first.
    fn followed(&self, x: i64) -> (i64, i64) {
        let window = self.decays.len() as i64 - 1;
        ((x - window).max(self.counts.0), (x + window).min(self.counts.1))
    }

    /// Upper bound on the likelihood of each count at which it is not computed.
    fn rest(&self) -> f64 {
        self.decays.last().map_or(1.0, |last| last.1)
    }
}

impl Sums {
    /// Adds other sums times a weight.
    fn add(&mut self, other: &Sums, weight: f64) {
        self.visited += weight * other.visited;
        for (sum, more) in
            [(&mut self.correct, other.correct), (&mut self.gained, other.gained), (&mut self.lost, other.lost)]
        {
            sum.0 += weight * more.0;
            sum.1 += weight * more.1;
        }
    }
}

impl Chain {
    /// `share`: about 2^-share of the probability is not visited at each count.
    fn new(attack: &Hierarchy, truth: &[i64], share: u32) -> Result<Chain> {
        let levels = attack.rhos.len();
        // A likelihood is a product of 2 `levels` factors, each at least about 2^-share at visited outputs.
        let drop = f64::from((2 * levels as u32 * share + 60).min(900)) * std::f64::consts::LN_2;
        let nats = f64::from(share) * std::f64::consts::LN_2;
        let reach = |rate: f64| (nats / rate).sqrt().ceil() as i64 + 1;
        let table_bits = 2 * share + 60;
        let windows: Vec<i64> =
            attack.rhos[1..].iter().map(|rho| (drop / rho.to_f64()).sqrt().ceil() as i64 + 1).collect();
        let reaches: Vec<i64> = attack.rhos.iter().map(|rho| reach(rho.to_f64())).collect();
        let reaches_beside: Vec<i64> = (attack.others.iter())
            .map(|others| if others.count() == 0 { 0 } else { reach(0.5 / others.sigma2().to_f64()) })
            .collect();
        check_work(&reaches[1..], &reaches_beside, &windows)?;
        let beside = (attack.others.iter().zip(truth.windows(2)).zip(&reaches_beside))
            .map(|((others, pair), reach)| Ok(Beside::new(&others.table(table_bits)?, pair[1] - pair[0], *reach)))
            .collect::<Result<_>>()?;
        let above = (attack.rhos[1..].iter().zip(&truth[1..]).zip(reaches[1..].iter().zip(&windows)))
            .map(|((rho, truth), (&reach, &window))| {
                let table = MassTable::of_one(rho, table_bits)?;
                let truth = truth - attack.known;
                let decay = |a: i64| exp(&-(Rational::from(a).square() * rho), 96).doubles();
                Ok(Above {
                    truth,
                    reach,
                    masses: (0..=reach).map(|a| table.stored(a).doubles().0.max(0.0)).collect(),
                    decays: (0..=window).map(decay).collect(),
                    counts: ((truth - reach - window).max(0), truth + reach + window),
                })
            })
            .collect::<Result<_>>()?;
        let (n1, reach1) = (truth[0] - attack.known, reaches[0]);
        let (first_n, last_n) = (n1 - reach1, n1 + reach1 + 1);
        let prior = Enclosure::rational(&(Rational::from(1) / odds(&attack.prior)), 96);
        let against = (first_n..=last_n).map(|n| {
            let exponent = (Rational::from(1) - Rational::from(2 * n)) * &attack.rhos[0];
            exp(&exponent, 96).mul(&prior).doubles()
        });
        let own = MassTable::of_one(&attack.rhos[0], table_bits)?;
        let tail = |n: i64| own.between(n - n1, i64::MAX).doubles();
        let mut decided: Vec<Pair> = (first_n..=last_n).map(tail).collect();
        // At the first index the threshold may be lower, and after the last one it may be higher.
        decided[0].1 = 1.0;
        decided.push((0.0, tail(last_n).1));
        let alone = Attack::new(attack.prior.clone(), vec![attack.rhos[0].clone()])?.threshold()?;
        let alone = (alone.clamp(first_n, last_n + 1) - first_n) as usize;
        Ok(Chain { present: n1 == 1, above, beside, against: against.collect(), decided, alone })
    }

    fn decision(&self, digits: u32) -> Result<Decision> {
        let top = self.above.len() - 1;
        let count = (self.above[top].counts.1 - self.above[top].counts.0 + 1).max(0) as usize;
        let sums = self.over_count(top, &vec![(1.0, 1.0); count]);
        // Every term is a product of few factors and passes through nested sums of at most `terms` terms in total.
        let terms: i64 = self.above.iter().map(|above| 2 * above.reach + 20).sum::<i64>()
            + self.beside.iter().map(|beside| 2 * beside.reach + 20).sum::<i64>();
        let error = terms as f64 * ROUNDING;
        let bits = 64;
        let rest = 1.0 - (sums.visited * (1.0 - error)).min(1.0);
        // low (1 - error) <= truth <= high (1 + error) + rest + the rounding of this line.
        let enclosed = |(low, high): Pair| {
            let upper = high * (1.0 + error) + rest + 4.0 * ROUNDING;
            Enclosure::double((low * (1.0 - error)).max(0.0), bits).hull(&Enclosure::double(upper.min(1.0), bits))
        };
        let correct = enclosed(sums.correct);
        let met = correct.is_tight(digits);
        Ok(Decision { correct, gained: enclosed(sums.gained), lost: enclosed(sums.lost), met })
    }

    /// The sums over the outputs of the count at `above[level]` and of all counts and sums below it; `factors` is S of
    /// that level at its counts.
    fn over_count(&self, level: usize, factors: &[Pair]) -> Sums {
        let above = &self.above[level];
        let of_noise = |noise: i64| -> Sums {
            let x = above.truth + noise;
            let (from, to) = above.followed(x);
            let likelihood: Vec<Pair> = (from..=to)
                .map(|c| {
                    let ((d_low, d_high), (s_low, s_high)) =
                        (above.decay(x - c), factors[(c - above.counts.0) as usize]);
                    (d_low * s_low * (1.0 - ROUNDING), d_high * s_high * (1.0 + ROUNDING))
                })
                .collect();
            let mut sums = Sums::default();
            sums.add(&self.over_sum(level, from, &likelihood), above.masses[noise.unsigned_abs() as usize]);
            sums
        };
        let all = parallel::map(&(-above.reach..=above.reach).collect::<Vec<i64>>(), |&noise| of_noise(noise));
        total(&all)
    }

    /// The same over the outputs of the sum beside the level below, and of everything below that: `likelihood` is A of
    /// the level above, from the count `first` on.
    fn over_sum(&self, level: usize, first: i64, likelihood: &[Pair]) -> Sums {
        let (beside, rest) = (&self.beside[level], self.above[level].rest());
        if level == 0 {
            return self.over_lowest(first, likelihood, rest);
        }
        let (from, to) = self.above[level - 1].counts;
        let of_noise = |noise: i64| -> Sums {
            let y = beside.truth + noise;
            let factor = |c: i64| convolved(beside, y + c, c, first, likelihood, rest);
            let factors: Vec<Pair> = (from..=to).map(factor).collect();
            let mut sums = Sums::default();
            sums.add(&self.over_count(level - 1, &factors), beside.at(noise).0);
            sums
        };
        let all = parallel::map(&(-beside.reach..=beside.reach).collect::<Vec<i64>>(), |&noise| of_noise(noise));
        total(&all)
    }

    /// The sums over y_1, with consecutive outputs of equal threshold added as one run.
    fn over_lowest(&self, first: i64, likelihood: &[Pair], rest: f64) -> Sums {
        let beside = &self.beside[0];
        let threshold = |y: i64| -> (usize, usize) {
            let [none, some] = [0, 1].map(|k| convolved(beside, y + k, k, first, likelihood, rest));
            let surely_for = |n: usize| some.0 > self.against[n].1 * none.1 * (1.0 + ROUNDING) + f64::MIN_POSITIVE;
            let surely_against = |n: usize| some.1 <= self.against[n].0 * none.0 * (1.0 - ROUNDING) - f64::MIN_POSITIVE;
            // `against` falls with n, so both are monotone in n.
            let end = self.against.len();
            (first_true(end, |n| !surely_against(n)), first_true(end, surely_for))
        };
        let (from, to) = (beside.truth - beside.reach, beside.truth + beside.reach);
        let mut sums = Sums::default();
        // Intervals of outputs, with the thresholds at both ends; the last interval first.
        let mut open = vec![(from, threshold(from), to, threshold(to))];
        while let Some((from, low, to, high)) = open.pop() {
            // The threshold does not fall inside the interval.
            if low.0 == high.1 || to - from <= 1 {
                let last = if low.0 == high.1 { to } else { from };
                self.add_run(&mut sums, (from, last), (low.0, if last == to { high.1 } else { low.1 }));
                if last < to {
                    self.add_run(&mut sums, (to, to), high);
                }
                continue;
            }
            let middle = from + (to - from) / 2;
            let (before, after) = (threshold(middle), threshold(middle + 1));
            open.push((middle + 1, after, to, high));
            open.push((from, low, middle, before));
        }
        sums
    }

    /// Adds the outputs from `from` to `to`, whose threshold lies between the indices `low` and `high`.
    fn add_run(&self, sums: &mut Sums, (from, to): (i64, i64), (low, high): (usize, usize)) {
        let beside = &self.beside[0];
        let weight: f64 = (from..=to).map(|y| beside.at(y - beside.truth).0).sum();
        let right = |(low, high): Pair| if self.present { (low, high) } else { (1.0 - high, 1.0 - low) };
        let own = right((self.decided[high].0, self.decided[low].1));
        let before = right(self.decided[self.alone]);
        let same = low == self.alone && high == self.alone;
        let change = if same { (0.0, 0.0) } else { (own.0 - before.1, own.1 - before.0) };
        // 1 minus a double, and a difference of two doubles, err by 2^-53 at most: both are at most 1.
        let (gained, lost) = match same {
            true => ((0.0, 0.0), (0.0, 0.0)),
            false => (
                ((change.0 - ROUNDING).max(0.0), (change.1 + ROUNDING).max(0.0)),
                ((-change.1 - ROUNDING).max(0.0), (-change.0 + ROUNDING).max(0.0)),
            ),
        };
        let correct = ((own.0 - ROUNDING).max(0.0), (own.1 + ROUNDING).min(1.0));
        sums.add(&Sums { visited: 1.0, correct, gained, lost }, weight);
    }
}

fn total(all: &[Sums]) -> Sums {
    let mut sums = Sums::default();
    all.iter().for_each(|one| sums.add(one, 1.0));
    sums
}

/// Bounds on the sum over t >= `from` of h(`top` - t) f(t). f lies between the pairs of `likelihood` from `first` on,
/// and between 0 and `rest` elsewhere; that part adds at most `rest`, since the h sum to at most 1.
///
/// A sum of n products of non-negative doubles has relative error at most (n + 1) 2^-53 (1 + 2^-20) for n < 2^30, and
/// absolute error of at most the least normal double for each product that underflows.
fn convolved(h: &Beside, top: i64, from: i64, first: i64, likelihood: &[Pair], rest: f64) -> Pair {
    let (mut low, mut high) = (0.0, rest);
    let skipped = (from - first).max(0);
    for (t, (below, above)) in (first + skipped..).zip(likelihood.iter().skip(skipped as usize)) {
        let (least, most) = h.at(top - t);
        low += below * least;
        high += above * most;
    }
    let terms = likelihood.len() as f64 + 4.0;
    let (relative, least) = (terms * ROUNDING, terms * f64::MIN_POSITIVE);
    ((low * (1.0 - relative) - least).max(0.0), high * (1.0 + relative) + least)
}

/// Refuses too many outputs, by the approximate number of products of doubles.
fn check_work(reaches: &[i64], beside: &[i64], windows: &[i64]) -> Result<()> {
    let count = |reach: i64| 2.0 * reach as f64 + 1.0;
    // From the top: the outputs of the count and of the sum below it, and for both a convolution at every computed
    // count.
    let (mut outputs, mut work) = (1.0, 0.0);
    for level in (1..reaches.len()).rev() {
        outputs *= count(reaches[level]) * count(beside[level]);
        work += outputs * count(reaches[level - 1] + windows[level - 1]) * count(windows[level]);
    }
    let looked_at = count(beside[0]).min(40.0 * libm::log2(2.0 + beside[0] as f64));
    work += outputs * count(reaches[0]) * looked_at * 2.0 * count(windows[0]);
    if work > MOST_WORK || windows.iter().chain(reaches).chain(beside).any(|reach| *reach > 100_000) {
        let expected = "at most 2e10: fewer digits, fewer levels or other groups, or a larger rho";
        return Err(Error::out_of_range("the number of outputs to sum over", format!("{work:.1e}"), expected));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{numeric::rational::parse, risk::decision::TrueCounts};

    fn attack(prior: &str, rhos: &[&str], others: &[u64]) -> Hierarchy {
        let rhos = rhos.iter().map(|rho| parse(rho).unwrap()).collect();
        Hierarchy::new(parse(prior).unwrap(), rhos, others.to_vec(), Upper::Uniform).unwrap()
    }

    /// For two levels, `correct_decision` computes the same in another way.
    #[test]
    fn a_chain_of_two_levels_agrees_with_the_sum_for_two() {
        for (prior, rhos, others, truth, digits) in [
            ("0.4", ["0.5", "0.8"], 3, [1, 4], 9),
            ("2/7", ["0.099", "0.246"], 27, [0, 2], 6),
            ("0.7", ["1", "0.2"], 1, [1, 1], 8),
            ("0.7", ["1", "0.2"], 0, [0, 0], 8),
        ] {
            let attack = attack(prior, &rhos, &[others]);
            let two = attack.correct_decision(TrueCounts { x1: truth[0], x2: truth[1] }, 12).unwrap();
            let chain = Chain::new(&attack, &truth, bits(digits, 10)).unwrap().decision(digits).unwrap();
            assert!(chain.met, "{prior} {others}: {chain:?}");
            for (a, b) in [(&chain.correct, &two.correct), (&chain.gained, &two.gained), (&chain.lost, &two.lost)] {
                assert!(a.overlaps(b), "{prior} {others}: {a:?} {b:?}");
            }
        }
    }

    /// Three levels: the posterior of every output, summed.
    #[test]
    fn three_levels_agree_with_the_sum_of_all_posteriors() {
        for (prior, rhos, others, truth) in
            [("0.45", ["1.5", "2", "1.2"], [1, 1], [1, 1, 2]), ("0.55", ["1.2", "2.5", "3"], [2, 1], [0, 1, 1])]
        {
            let attack = attack(prior, &rhos, &others);
            let found = attack.correct_decision_at(&truth, 6).unwrap();
            assert!(found.met, "{found:?}");
            let one = |rho: &str| MassTable::of_one(&parse(rho).unwrap(), 80).unwrap();
            let counts: Vec<MassTable> = rhos.iter().map(|rho| one(rho)).collect();
            let sums: Vec<MassTable> = attack.others.iter().map(|others| others.table(80).unwrap()).collect();
            let reach = 3;
            let (mut right, mut visited) = (0.0, 0.0);
            let mass = |table: &MassTable, noise: i64| table.stored(noise).approximate();
            for x2 in -reach..=reach {
                for x3 in -reach..=reach {
                    for (y1, y2) in (-reach..=reach).flat_map(|y1| (-reach..=reach).map(move |y2| (y1, y2))) {
                        let weight =
                            mass(&counts[1], x2) * mass(&counts[2], x3) * mass(&sums[0], y1) * mass(&sums[1], y2);
                        if weight < 1e-6 {
                            continue;
                        }
                        for x1 in -reach..=reach {
                            let noisy = [truth[0] + x1, truth[1] + x2, truth[2] + x3];
                            let beside = [truth[1] - truth[0] + y1, truth[2] - truth[1] + y2];
                            let present = attack.posterior(&noisy, &beside, 4).unwrap().present.approximate();
                            let own = weight * mass(&counts[0], x1);
                            visited += own;
                            right += if (present > 0.5) == (truth[0] == 1) { own } else { 0.0 };
                        }
                    }
                }
            }
            let correct = found.correct.approximate();
            assert!(
                visited > 0.99 && right <= correct + 1e-9 && correct <= right + 1.0 - visited + 1e-9,
                "{correct} {right} {visited}"
            );
        }
    }

    #[test]
    fn impossible_counts_and_too_much_work_are_refused() {
        let three = attack("1/2", &["0.1", "0.2", "0.3"], &[3, 0]);
        let message = |truth: &[i64]| three.correct_decision_at(truth, 6).unwrap_err().to_string();
        assert!(message(&[1, 2]).contains("3 levels") && message(&[2, 2, 2]).contains("exactly 0 or 1"));
        assert!(message(&[1, 0, 0]).contains("x2") && message(&[1, 2, 3]).contains("no other groups"));
        let many = attack("1/2", &["0.01", "0.01", "0.01", "0.01"], &[50, 50, 50]);
        assert!(many.correct_decision_at(&[1, 5, 9, 20], 6).unwrap_err().to_string().contains("fewer levels"));
    }
}
