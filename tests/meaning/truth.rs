//! Every claim by its definition, in exact fractions: all events by sorted likelihoods, all outputs, every pair of a world.

use rug::Rational;

/// Outcomes of an experiment: their probability with the record, and without it.
pub type Pair = Vec<(Rational, Rational)>;

/// The same outcomes, with both laws exchanged.
pub fn exchanged(pair: &Pair) -> Pair {
    pair.iter().map(|(with, without)| (without.clone(), with.clone())).collect()
}

fn one() -> Rational {
    Rational::from(1)
}

fn largest(values: impl Iterator<Item = Rational>) -> Rational {
    values.max().expect("a world has a pair")
}

/// sup over events S of P(S) - x Q(S).
pub fn delta(pairs: &[Pair], x: &Rational) -> Rational {
    largest(
        pairs
            .iter()
            .map(|pair| pair.iter().map(|(p, q)| p - Rational::from(x * q)).filter(|over| *over > 0).sum::<Rational>()),
    )
}

/// The probability of outcomes that the other law cannot have.
pub fn infinite(pairs: &[Pair]) -> Rational {
    largest(pairs.iter().map(|pair| pair.iter().filter(|one| one.1 == 0).map(|one| &one.0).sum::<Rational>()))
}

/// Outcomes in falling order of P / Q.
fn sorted(pair: &Pair) -> Pair {
    let mut sorted: Pair = pair.iter().filter(|one| one.0 != 0 || one.1 != 0).cloned().collect();
    sorted.sort_by(|one, other| Rational::from(&other.0 * &one.1).cmp(&Rational::from(&one.0 * &other.1)));
    sorted
}

/// The least probability under P of no report, where reports have at most probability alpha under Q: the best randomized test.
fn beta_of(pair: &Pair, alpha: &Rational) -> Rational {
    let (mut left, mut power) = (alpha.clone(), Rational::new());
    for (p, q) in sorted(pair) {
        if q <= left {
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
        for (p, q) in sorted(pair) {
            alpha += q;
            beta -= p;
            corners.push((alpha.clone(), beta.clone()));
        }
    }
    corners
}

/// The convex hull of the trade-off functions of both directions: a bound from below, and no type II error of a test.
pub fn hull(up: &[Pair], down: &[Pair], alpha: &Rational) -> Rational {
    let mut all = corners(up);
    all.extend(corners(down));
    let mut least = beta(up, alpha).min(beta(down, alpha));
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
    largest(pairs.iter().map(|pair| {
        pair.iter().map(|(p, q)| Rational::from(p * prior).max(Rational::from(q * &rest))).sum::<Rational>()
    }))
}

fn posterior(prior: &Rational, p: &Rational, q: &Rational) -> Rational {
    let with = Rational::from(p * prior);
    let both = with.clone() + (one() - prior) * q;
    with / both
}

/// The posterior of events that have at least probability d under P.
pub fn events(pairs: &[Pair], prior: &Rational, d: &Rational) -> Rational {
    largest(pairs.iter().map(|pair| {
        let (mut left, mut least) = (d.clone(), Rational::new());
        for (p, q) in sorted(pair) {
            if p >= left {
                least += if p == 0 { Rational::new() } else { q * left / p };
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
        let sorted = sorted(pair);
        let above = |t: &Rational| -> Rational {
            sorted.iter().filter(|(p, q)| posterior(prior, p, q) > *t).map(|one| &one.0).sum()
        };
        let mut levels: Vec<Rational> = sorted.iter().map(|(p, q)| posterior(prior, p, q)).collect();
        levels.push(Rational::new());
        levels.sort();
        levels.into_iter().find(|t| above(t) <= *d).expect("nothing is above the largest")
    }))
}

/// The least x = e^epsilon of at least 1 with delta at most d, if there is one: delta is linear between likelihoods.
pub fn ratio(pairs: &[Pair], d: &Rational) -> Option<Rational> {
    let mut most = one();
    for pair in pairs {
        let (mut above, mut below) = (Rational::new(), Rational::new());
        for (p, q) in sorted(pair) {
            // While delta at this outcome's own likelihood is at most d, the crossing is below it.
            if q != 0 && Rational::from(&p / &q) * &below + d < above {
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
