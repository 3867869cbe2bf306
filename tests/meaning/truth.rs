//! Every claim by its definition, in exact fractions: all events by sorted likelihoods, all outputs, every pair of a world.

use std::cmp::Ordering;

use rug::Rational;

/// Outcomes of an experiment: their probability with the record, and without it.
pub type Pair = Vec<(Rational, Rational)>;

/// The same outcomes, with both laws exchanged.
pub fn exchanged(pair: &Pair) -> Pair {
    pair.iter().map(|(with, without)| (without.clone(), with.clone())).collect()
}

/// Outcomes in falling order of P / Q; those of one likelihood are one.
pub fn sorted(pair: &Pair) -> Pair {
    let by_likelihood = |one: &(Rational, Rational), other: &(Rational, Rational)| -> Ordering {
        Rational::from(&other.0 * &one.1).cmp(&Rational::from(&one.0 * &other.1))
    };
    let mut sorted: Pair = pair.iter().filter(|one| one.0 != 0 || one.1 != 0).cloned().collect();
    sorted.sort_by(by_likelihood);
    let mut merged: Pair = Vec::with_capacity(sorted.len());
    for one in sorted {
        match merged.last_mut() {
            Some(last) if by_likelihood(last, &one) == Ordering::Equal => {
                last.0 += one.0;
                last.1 += one.1;
            }
            _ => merged.push(one),
        }
    }
    merged
}

/// The pairs of all neighbors, sorted: a record is removed (its law comes first), and a record is added.
pub struct Truth {
    pub up: Vec<Pair>,
    pub down: Vec<Pair>,
}

impl Truth {
    /// The larger of both directions.
    pub fn worst(&self, of: impl Fn(&[Pair]) -> Rational) -> Rational {
        of(&self.up).max(of(&self.down))
    }

    /// The least type II error over both directions.
    pub fn beta(&self, alpha: &Rational) -> Rational {
        beta(&self.up, alpha).min(beta(&self.down, alpha))
    }

    /// The largest likelihood ratio; `None` if it is infinite.
    pub fn worst_ratio(&self) -> Option<Rational> {
        self.ratio(&Rational::new())
    }

    /// The least x = e^epsilon with delta at most d; `None` if there is none.
    pub fn ratio(&self, d: &Rational) -> Option<Rational> {
        Some(ratio(&self.up, d)?.max(ratio(&self.down, d)?))
    }
}

fn one() -> Rational {
    Rational::from(1)
}

fn largest(values: impl Iterator<Item = Rational>) -> Rational {
    values.max().expect("a world has a pair")
}

/// sup over events S of P(S) - x Q(S).
pub fn delta(pairs: &[Pair], x: &Rational) -> Rational {
    let over = |pair: &Pair| pair.iter().map(|(p, q)| p - Rational::from(x * q)).filter(|over| *over > 0).sum();
    largest(pairs.iter().map(over))
}

/// The probability of outcomes that the other law cannot have.
pub fn infinite(pairs: &[Pair]) -> Rational {
    largest(pairs.iter().map(|pair| pair.iter().filter(|one| one.1 == 0).map(|one| &one.0).sum::<Rational>()))
}

/// The least probability under P of no report, where reports have at most probability alpha under Q: the best randomized test.
fn beta_of(pair: &Pair, alpha: &Rational) -> Rational {
    let (mut left, mut power) = (alpha.clone(), Rational::new());
    for (p, q) in pair {
        if *q <= left {
            left -= q;
            power += p;
        } else {
            power += p * left / q;
            break;
        }
    }
    one() - power
}

/// The least type II error over the pairs, all of one direction.
pub fn beta(pairs: &[Pair], alpha: &Rational) -> Rational {
    pairs.iter().map(|pair| beta_of(pair, alpha)).min().expect("a world has a pair")
}

/// The corners of the trade-off functions of one direction.
fn corners(pairs: &[Pair]) -> Vec<(Rational, Rational)> {
    let mut corners = Vec::new();
    for pair in pairs {
        let (mut alpha, mut beta) = (Rational::new(), one());
        corners.push((alpha.clone(), beta.clone()));
        for (p, q) in pair {
            alpha += q;
            beta -= p;
            corners.push((alpha.clone(), beta.clone()));
        }
    }
    corners.sort();
    corners.dedup_by(|later, first| later.0 == first.0);
    corners
}

/// The convex hull of the trade-off functions of both directions: a bound from below, and no type II error of a test.
pub fn hull(truth: &Truth, alpha: &Rational) -> Rational {
    let mut all = corners(&truth.up);
    all.extend(corners(&truth.down));
    let mut least = truth.beta(alpha);
    for (left, high) in all.iter().filter(|corner| corner.0 <= *alpha) {
        for (right, low) in all.iter().filter(|corner| corner.0 > *alpha) {
            let share = Rational::from(alpha - left) / Rational::from(right - left);
            least = least.min(high + share * Rational::from(low - high));
        }
    }
    least
}

/// The largest probability of a right decision, with prior p for P.
pub fn correct(pairs: &[Pair], prior: &Rational) -> Rational {
    let rest = one() - prior;
    let right = |pair: &Pair| pair.iter().map(|(p, q)| Rational::from(p * prior).max(Rational::from(q * &rest))).sum();
    largest(pairs.iter().map(right))
}

/// The posterior of an outcome or event with these probabilities.
pub fn posterior(prior: &Rational, p: &Rational, q: &Rational) -> Rational {
    let with = Rational::from(p * prior);
    let both = with.clone() + (one() - prior) * q;
    with / both
}

/// The posterior of events that have at least probability d under P.
pub fn events(pairs: &[Pair], prior: &Rational, d: &Rational) -> Rational {
    largest(pairs.iter().map(|pair| {
        let (mut left, mut least) = (d.clone(), Rational::new());
        for (p, q) in pair {
            if *p >= left {
                least += if *p == 0 { Rational::new() } else { q * left / p };
                break;
            }
            left -= p;
            least += q;
        }
        posterior(prior, d, &least)
    }))
}

/// The least t such that outputs whose posterior exceeds t have at most probability d under P.
pub fn outputs(pairs: &[Pair], prior: &Rational, d: &Rational) -> Rational {
    largest(pairs.iter().map(|pair| {
        // Posteriors fall from outcome to outcome: the least t is that of the first whose mass, with that before it, exceeds d.
        let mut above = Rational::new();
        let decides = |(p, _): &&(Rational, Rational)| {
            above += p;
            above > *d
        };
        pair.iter().find(decides).map_or_else(Rational::new, |(p, q)| posterior(prior, p, q))
    }))
}

/// The least x = e^epsilon of at least 1 with delta at most d, if there is one: delta is linear between likelihoods.
pub fn ratio(pairs: &[Pair], d: &Rational) -> Option<Rational> {
    let mut most = one();
    for pair in pairs {
        let (mut above, mut below) = (Rational::new(), Rational::new());
        for (p, q) in pair {
            // While delta at this outcome's own likelihood is at most d, the crossing is below it.
            if *q != 0 && Rational::from(p / q) * &below + d < above {
                break;
            }
            above += p;
            below += q;
        }
        let over = Rational::from(&above - d);
        if over > 0 {
            if below == 0 {
                return None;
            }
            most = most.max(over / below);
        }
    }
    Some(most)
}
